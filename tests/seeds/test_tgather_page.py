"""The gather page: the index form, the mask form, and what holds for all forms."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest
from seed_pages import (
    ALL,
    HARDWARE,
    TYPES,
    Array,
    B,
    T,
    accepts,
    cpp_names,
    f32,
    only_op,
    page_of,
    ramp,
    refused,
    rules,
    run,
    spec,
)

import ptokit as pto
from every import every
from ptokit.isa.index import lookup
from ptokit.isa.model.words import CmpMode, GatherAxis, MaskPattern, Pipe
from tiles import bits, made

# pattern -> (period, selected index): the digits are read from the right
PATTERNS = {
    "P0101": (2, 0),
    "P1010": (2, 1),
    "P0001": (4, 0),
    "P0010": (4, 1),
    "P0100": (4, 2),
    "P1000": (4, 3),
    "P1111": (1, 0),
}
MASK = "{maskPattern = #pto.mask_pattern<P0101>}"


def gathered(src: Array, indices: Array) -> Array:
    """dst[i, j] = src[indices[i, j]], indices counting src row by row."""
    dst = np.empty(indices.shape, src.dtype)
    for i, j in itertools.product(*map(range, indices.shape)):
        q = int(indices[i, j])
        dst[i, j] = src[q // src.shape[1], q % src.shape[1]]
    return dst


def tmp_for(target: str, indices: str) -> dict[str, Any]:
    """The scratch tile of A2/A3, as large as the indices."""
    return {"tmp": made(indices)} if target == "a2a3" else {}


def indices_like(rows: int, cols: int, extent: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).integers(0, extent, (rows, cols)).astype(np.int32)


# The index form ----------------------------------------------------------------------------------


def test_set_and_pipe() -> None:
    forms = lookup("tgather")
    assert {p.__module__.split(".")[3] for p in forms} == {"irregular"}
    assert {p.form for p in forms} == {"index", "mask", "compare", "compare with a number"}
    assert all(p.pipe is Pipe.V for p in forms)


@every("target", ALL)
@every("dtype", ["f32", "f16", "i32", "u16"])
def test_index_form(target: str, dtype: str) -> None:
    x = ramp(8, 32).astype({"f32": "f4", "f16": "f2", "i32": "i4", "u16": "u2"}[dtype])
    index = indices_like(4, 16, 256)
    with pto.target(target):
        src, dst = made(f"vec {dtype} 8x32", x), made(f"vec {dtype} 4x16")
        tmp = tmp_for(target, "vec i32 4x16")
        pto.tgather(dst, src, made("vec i32 4x16", index), **tmp)
    assert np.array_equal(dst.numpy(), gathered(x, index))


def test_valid_region_is_iterated() -> None:
    """Elements of dst outside its valid region keep their bytes."""
    x, index, old = ramp(4, 8), indices_like(3, 8, 32), ramp(6, 8, start=900)
    whole = made("vec f32 6x8", old)
    part = made("vec f32 6x8 valid 3x8")
    pto.subview(part, whole, 0, 0)
    pto.tgather(part, made("vec f32 4x8", x), made("vec i32 3x8", index))
    old[:3] = gathered(x, index)
    assert np.array_equal(whole.numpy(), old)


OUTSIDE = np.array([[0, 15, 16, -1, 8, 100, 7, -16]], np.int32)


def test_outside_wraps_on_the_simulator() -> None:
    """Modulo the extent of the source: the reading of the page's first part, and the default."""
    x = ramp(2, 8)
    dst = made("vec f32 1x8")
    pto.tgather(dst, made("vec f32 2x8", x), made("vec i32 1x8", OUTSIDE))
    assert np.array_equal(dst.numpy()[0], f32([q % 16 for q in OUTSIDE[0].tolist()]))


def test_outside_clamps_if_asked() -> None:
    """The reading of the page's list of constraints; so are the two others of public sources."""
    x = ramp(2, 8) + 1
    flat = x.reshape(-1)
    readings = {
        "clamp": [flat[min(max(q, 0), 15)] for q in OUTSIDE[0].tolist()],
        "wrap": [flat[q % 16] for q in OUTSIDE[0].tolist()],
        "zero": [flat[q] if 0 <= q < 16 else 0 for q in OUTSIDE[0].tolist()],
    }
    for word, wanted in readings.items():
        dst = made("vec f32 1x8")
        index: Any = made("vec i32 1x8", OUTSIDE)
        how: dict[str, Any] = {"outside": word}
        pto.tgather(dst, made("vec f32 2x8", x), index, **how)
        assert np.array_equal(dst.numpy()[0], f32(wanted)), word


@pytest.mark.parametrize("target", HARDWARE)
def test_outside_is_undefined_on_hardware(target: str) -> None:
    """Undefined there, so reported, with the index."""
    with pto.target(target):
        src, dst = bits("vec f32 2x8"), made("vec f32 1x8")
        index, tmp = made("vec i32 1x8", OUTSIDE), tmp_for(target, "vec i32 1x8")
        found = refused("gather-out-of-bounds", pto.tgather, dst, src, index, **tmp)
        assert "16" in (found[0].seen or "")


# The mask form -----------------------------------------------------------------------------------


@every("pattern", PATTERNS)
@every("target", ALL)
def test_mask_by_row(pattern: Any, target: str) -> None:
    """The selected columns of each row, all rows one after another; on every target alike."""
    period, first = PATTERNS[pattern]
    x = ramp(4, 32)
    kept = [x[i, j] for i in range(4) for j in range(32) if j % period == first]
    with pto.target(target):
        dst = made(f"vec f32 {len(kept) // 8}x8")
        pto.tgather(dst, made("vec f32 4x32", x), pattern=pattern)
    assert np.array_equal(dst.numpy().reshape(-1), f32(kept))


@every("pattern", PATTERNS)
@every("target", ALL)
def test_mask_by_column(pattern: Any, target: str) -> None:
    """Along the other axis whole rows are selected."""
    period, first = PATTERNS[pattern]
    x = ramp(8, 16)
    kept = [x[i] for i in range(8) if i % period == first]
    with pto.target(target):
        dst = made(f"vec f32 {len(kept)}x16")
        pto.tgather(dst, made("vec f32 8x16", x), pattern=pattern, axis="col")
    assert np.array_equal(dst.numpy(), np.stack(kept))


def test_mask_words() -> None:
    """The patterns, the axes, and row as the default."""
    assert {w.name for w in MaskPattern} == set(PATTERNS)
    assert [w.cpp for w in GatherAxis] == ["GATHER_ROW", "GATHER_COL"]
    axis = next(a for a in page_of(SYNTAX["mask"]).attrs if a.name == "axis")
    assert axis.default is GatherAxis.ROW


def test_mask_moves_bits() -> None:
    """Any type of the same size: what was f32 may be read as i32."""
    x = ramp(2, 16)
    dst = made("vec i32 2x8")
    pto.tgather(dst, made("vec f32 2x16", x), pattern="P1010")
    assert np.array_equal(dst.numpy(), x[:, 1::2].view(np.int32))


# Syntax and signatures ---------------------------------------------------------------------------

SYNTAX = {
    "index": f"%dst = tgather %src0, %indices : {T} -> {T}",
    "mask": f"%dst = tgather %src {MASK} : {T} -> {T}",
    "index-ssa": f"%dst = pto.tgather %src, %indices : ({T}, {T}) -> {T}",
    "mask-ssa": f"%dst = pto.tgather %src {MASK}: {T} -> {T}",
    "index-dps": f"pto.tgather ins(%src, %indices : {B}, {B}) outs(%dst : {B})",
    "mask-dps": f"pto.tgather ins(%src, {MASK} : {B}) outs(%dst : {B})",
}


@every("form", [f for f in SYNTAX if f.startswith("index")])
@every("target", ["cpu", "a5"])
def test_index_syntax(form: str, target: str) -> None:
    op, x, index = only_op(SYNTAX[form]), ramp(8, 32), indices_like(8, 32, 256)
    assert op.page.form == "index"
    names = {n: op.bound(n)[0].name for n in ("src0", "indices")}
    got = run(SYNTAX[form], target, **{names["src0"]: x, names["indices"]: index})["dst"]
    assert np.array_equal(got, gathered(x, index))


@every("form", [f for f in SYNTAX if f.startswith("mask")])
@every("target", ALL)
def test_mask_syntax(form: str, target: str) -> None:
    op, x = only_op(SYNTAX[form]), ramp(8, 32)
    assert op.page.form == "mask"
    assert op.attrs["pattern"] is MaskPattern.named("P0101")
    typed = SYNTAX[form]
    for elided in (T, B):
        typed = typed.replace(elided, spec("vec f32 8x32"), 1)
        typed = typed.replace(elided, spec("vec f32 8x16"), 1)
    if form == "mask-dps":
        typed = f"pto.tgather ins(%src, {MASK} : {spec('vec f32 8x32')})"
        typed += f" outs(%dst : {spec('vec f32 8x16')})"
    assert np.array_equal(run(typed, target, src=x)["dst"], x[:, ::2])


@every("form", [f for f in SYNTAX if f.startswith("mask")])
def test_mask_syntax_with_elided_types(form: str) -> None:
    """The line exactly as printed, without the type of dst: what is selected, in order."""
    got = run(SYNTAX[form], src=ramp(8, 32))["dst"]
    assert np.array_equal(got.reshape(-1), ramp(8, 32)[:, ::2].reshape(-1))


COMPARE = f"pto.tgather ins(%s, %k, %t, %o : {B}, {B}, {B}, i32) outs(%d, %c : {B}, {B})"


def test_cpp_index() -> None:
    page = page_of(SYNTAX["index"])
    assert cpp_names(page) == ["dst", "src0", "src1", "tmp"]
    text = f"pto.tgather ins(%s, %i, %t : {B}, {B}, {B}) outs(%d : {B})"
    assert "TGATHER(d, s, i, t);" in pto.loads(text).text("cpp")
    assert page.operand("tmp").default is None


def test_cpp_mask() -> None:
    assert cpp_names(page_of(SYNTAX["mask"])) == ["dst", "src"]
    call = "TGATHER<decltype(dst), decltype(src), MaskPattern::P0101>(dst, src);"
    assert call in pto.loads(SYNTAX["mask"]).text("cpp")
    text = SYNTAX["mask"].replace("}", ", gatherAxis = #pto.gather_axis<col>}")
    call = "MaskPattern::P0101, GatherAxis::GATHER_COL>(dst, src);"
    assert call in pto.loads(text).text("cpp")


@pytest.mark.filterwarnings("ignore::ptokit.text.write.cpplacking.CppWarning")
def test_cpp_compare() -> None:
    """Five types, then the comparison; scratch and offset stand last."""
    text = COMPARE + " {cmpMode = #pto.cmp<gt>}"
    assert cpp_names(page_of(text)) == ["dst", "src0", "k_value", "cdst", "tmp", "offset"]
    types = ", ".join(f"decltype({n})" for n in ("d", "s", "k", "c", "t"))
    assert f"TGATHER<{types}, CmpMode::GT>(d, s, k, c, t, o);" in pto.loads(text).text("cpp")


def test_python_signatures() -> None:
    """The three forms are one function: destination first, scratch by keyword."""
    assert list(inspect.signature(pto.tgather).parameters) == [
        "dst",
        "src0",
        "indices",
        "tmp",
        "outside",
        "events",
    ]
    page = page_of(COMPARE)
    assert [o.name for o in page.operands] == ["dst", "src0", "k_value", "cdst", "tmp", "offset"]
    assert {str(w) for w in CmpMode} >= {"gt", "eq"}


# Side effects and exceptions ---------------------------------------------------------------------


def test_no_side_effects() -> None:
    """One instruction, no fence; only dst changes."""
    x, index = ramp(8, 32), indices_like(8, 32, 256)
    done = pto.loads(SYNTAX["index"]).execute({"src0": x, "indices": index}, target="cpu")
    assert done.instructions == {"pto.tgather": 1}
    src, ind = made("vec f32 8x32", x), made("vec i32 8x32", index)
    before = src.storage(), ind.storage()
    pto.tgather(made("vec f32 8x32"), src, ind)
    assert np.array_equal(src.storage(), before[0])
    assert np.array_equal(ind.storage(), before[1])


def test_illegal_operands_are_refused() -> None:
    """Operands, types, layouts and modes, before anything is written."""
    dst, src, index = made("vec f32 2x8"), bits("vec f32 2x8"), made("vec i32 2x8", ramp(2, 8))
    refused("element-type", pto.tgather, dst, src, made("vec f32 2x8", ramp(2, 8)))
    refused("element-type", pto.tgather, made("vec f16 2x16 valid 2x8"), src, index)
    refused("shape", pto.tgather, dst, src, made("vec i32 1x8", ramp(1, 8)))
    refused("layout", pto.tgather, made("vec f32 8x2 dn"), src, pattern="P0101")
    refused("attribute", pto.tgather, dst, src)
    assert not dst.handle.memory.shadow.any()
    with pytest.raises(TypeError):
        pto.tgather(dst, src, 3)  # type: ignore[call-overload]  # pyright: ignore
    with pytest.raises(ValueError, match="P0101"):
        pto.tgather(dst, src, pattern="P0110")  # type: ignore[call-overload]  # pyright: ignore


def test_legal_domain_is_per_target() -> None:
    """One backend accepts it, the verifier of the others does not."""
    text = SYNTAX["index"].replace(T, spec("vec i8 8x32"), 1)
    text = f"%dst = pto.tgather %src, %indices : ({spec('vec i8 8x32')}, {spec('vec i32 8x32')})"
    text += f" -> {spec('vec i8 8x32')}"
    program = pto.loads(text)
    assert program.check("cpu") == []
    for target in HARDWARE:
        assert "element-type" in {d.slug for d in program.check(target)}


# Tables of the index and the mask form -----------------------------------------------------------

SIZES = {"i8": 1, "u8": 1, "hif8": 1, "f8e4m3": 1, "f8e5m2": 1, "f8e8m0": 1, "i64": 8, "u64": 8}
INDEX_A5 = {"i16", "u16", "i32", "u32", "f16", "f32"}  # the page's table
WIDE_A5 = {"i64", "u64"}  # dispute C60: calls take them, as headers and boards do; text does not


def text_takes(operands: str, dst: str) -> bool:
    """Whether every judge of A5 takes a line: the assembler too, which calls do not ask."""
    text = f"%dst = pto.tgather {operands} -> {spec(dst)}"
    return not any(d.is_error for d in pto.loads(text).check("a5"))


@every("dtype", TYPES)
def test_index_data_types(dtype: str) -> None:
    index = made("vec i32 2x32", ramp(2, 32))
    dst, src = made(f"vec {dtype} 2x32"), bits(f"vec {dtype} 4x32")
    with pto.target("a2a3"):
        legal = SIZES.get(dtype, 2) in (2, 4)
        assert accepts(pto.tgather, dst, src, index, tmp=made("vec i32 2x32")) == legal
    with pto.target("a5"):
        assert accepts(pto.tgather, dst, src, index) == (dtype in INDEX_A5 | WIDE_A5)
    types = f"({spec(f'vec {dtype} 4x32')}, {spec('vec i32 2x32')})"
    assert text_takes(f"%src, %indices : {types}", f"vec {dtype} 2x32") == (dtype in INDEX_A5)


@pytest.mark.parametrize("dtype", sorted(WIDE_A5))
def test_wide_elements(dtype: str) -> None:
    """By indices of 32 bits, and by a pattern along rows: dispute C60."""
    dst, src = made(f"vec {dtype} 2x16"), bits(f"vec {dtype} 4x16")
    short = made("vec i16 2x16", ramp(2, 16))
    with pto.target("a5"):
        refused("element-type", pto.tgather, dst, src, short)
        refused("element-type", pto.tgather, dst, src, pattern="P0101", axis="col")


@every("dtype", TYPES)
def test_index_index_types(dtype: str) -> None:
    """Four-byte integers on A2/A3, two-byte ones too on A5."""
    dst, src = made("vec f32 2x32"), bits("vec f32 4x32")
    index = made(f"vec {dtype} 2x32", ramp(2, 32) % 4)
    with pto.target("a2a3"):
        tmp = made(f"vec {dtype} 2x32")
        assert accepts(pto.tgather, dst, src, index, tmp=tmp) == (dtype in ("i32", "u32"))
    with pto.target("a5"):
        legal = dtype in ("i16", "u16", "i32", "u32")
        assert accepts(pto.tgather, dst, src, index) == legal


@pytest.mark.parametrize("target", HARDWARE)
def test_index_same_type(target: str) -> None:
    with pto.target(target):
        found = refused(
            "element-type",
            pto.tgather,
            made("vec i32 2x8"),
            bits("vec f32 2x8"),
            made("vec i32 2x8", ramp(2, 8)),
            **tmp_for(target, "vec i32 2x8"),
        )
        assert "dst.dtype == src0.dtype" in rules(found)


@pytest.mark.parametrize("target", HARDWARE)
def test_index_contiguous(target: str) -> None:
    """dst's valid columns are its columns; on A5 those of the indices too."""
    with pto.target(target):
        src, index = bits("vec f32 4x16"), made("vec i32 2x16 valid 2x8", ramp(2, 8))
        tmp = tmp_for(target, "vec i32 2x8")
        dst = made("vec f32 2x16 valid 2x8")
        found = refused("shape", pto.tgather, dst, src, index, **tmp)
        assert "dst.valid.cols == dst.cols" in rules(found) or target == "a5"
        full = made("vec f32 2x8")
        assert accepts(pto.tgather, full, src, index, **tmp) == (target == "a2a3")
        if target == "a5":
            found = refused("shape", pto.tgather, full, src, index)
            assert "indices.valid.cols == indices.cols" in rules(found)
            fitting = made("vec i32 2x16", ramp(2, 16))
            refused("shape", pto.tgather, made("vec f32 2x32 valid 2x16"), src, fitting)


MASK_A2A3 = {"i16", "u16", "i32", "u32", "f16", "bf16", "f32"}
MASK_A5 = MASK_A2A3 | {"i8", "u8", "f8e4m3", "f8e5m2", "hif8"}


@every("dtype", TYPES)
@every(("target", "types"), [("a2a3", MASK_A2A3), ("a5", MASK_A5 | WIDE_A5)])
def test_mask_data_types(dtype: str, target: str, types: set[str]) -> None:
    dst, src = made(f"vec {dtype} 4x32"), bits(f"vec {dtype} 4x64")
    with pto.target(target):
        assert accepts(pto.tgather, dst, src, pattern="P0101") == (dtype in types)
    if target == "a5":
        line = f"%src {MASK}: {spec(f'vec {dtype} 4x64')}"
        assert text_takes(line, f"vec {dtype} 4x32") == (dtype in MASK_A5)


@pytest.mark.parametrize("target", HARDWARE)
def test_mask_places(target: str) -> None:
    """Both in vector memory, both row-major, elements of one size, dst without gaps."""
    src = bits("vec f32 4x32")
    with pto.target(target):
        pto.tgather(made("vec f32 4x16"), src, pattern="P0101")
        refused("location", pto.tgather, made("mat f32 4x16"), src, pattern="P0101")
        refused(
            "location", pto.tgather, made("vec f32 4x16"), bits("mat f32 4x32"), pattern="P0101"
        )
        refused("layout", pto.tgather, made("vec f32 8x16 dn"), src, pattern="P0101")
        refused(
            "layout", pto.tgather, made("vec f32 4x16"), bits("vec f32 8x32 dn"), pattern="P0101"
        )
        found = refused("element-type", pto.tgather, made("vec f16 4x16"), src, pattern="P0101")
        assert "dst.size == src.size" in rules(found)
        gap = made("vec f32 8x32 valid 8x16")
        assert "dst.valid.cols == dst.cols" in rules(
            refused("shape", pto.tgather, gap, src, pattern="P0101")
        )


# Programs ----------------------------------------------------------------------------------------


def test_auto_example() -> None:
    """As printed, without scratch: runs on cpu and A5, refused on A2/A3, which needs it."""
    x, index = ramp(16, 16), indices_like(16, 16, 256)
    for target in ALL:
        with pto.target(target):
            src0, idx = made("vec f32 16x16", x), made("vec i32 16x16", index)
            dst = made("vec f32 16x16")
            if target == "a2a3":
                found = refused("operand-count", pto.tgather, dst, src0, idx)
                assert found[0].rule == "tmp.given"
            pto.tgather(dst, src0, idx, **tmp_for(target, "vec i32 16x16"))
        assert np.array_equal(dst.numpy(), gathered(x, index))


@every("target", ALL)
def test_manual_example(target: str) -> None:
    """As printed dst has one row for 128 elements: refused. With eight rows it runs."""
    with pto.target(target):
        src = made("vec f32 16x16", ramp(16, 16))
        found = refused("shape", pto.tgather, made("vec f32 1x16"), src, pattern="P0101")
        assert "128" in (found[0].seen or "")
        dst = made("vec f32 8x16")
        pto.tgather(dst, src, pattern="P0101")
    assert np.array_equal(dst.numpy().reshape(-1), ramp(16, 16)[:, ::2].reshape(-1))


def manual(dst: str) -> str:
    src = spec("vec f32 16x16")
    return (
        f"%a = arith.constant 4096 : i64\n%b = arith.constant 8192 : i64\n"
        f"%src = pto.alloc_tile : {src}\n%dst = pto.alloc_tile : {spec(dst)}\n"
        f"pto.tassign %src, @tile(0x1000)\npto.tassign %dst, @tile(0x2000)\n"
        f"pto.tmov ins(%x : {src}) outs(%src : {src})\n"
        f"pto.tgather ins(%src, {MASK} : {src}) outs(%dst : {spec(dst)})\n"
        f"pto.tmov ins(%dst : {spec(dst)}) outs(%y : {spec(dst)})\n"
    )


@pytest.mark.parametrize("target", ALL)
def test_manual_example_at_its_addresses(target: str) -> None:
    assert "shape" in {d.slug for d in pto.loads(manual("vec f32 1x16")).check(target)}
    program = pto.loads(manual("vec f32 8x16"))
    assert [d for d in program.check(target) if d.is_error] == []
    got = program.run(target=target, x=ramp(16, 16))["y"]
    assert np.array_equal(got.reshape(-1), ramp(16, 16)[:, ::2].reshape(-1))


def test_assembly_examples() -> None:
    """Three times the same line, under comments; then the DPS line."""
    x, index = ramp(16, 16), indices_like(16, 16, 256)
    comments = "# manual: bind resources first\n# pto.tassign %arg0, @tile(0x1000)\n"
    line = SYNTAX["index-ssa"]
    for text in (f"# auto\n{line}", comments + line, line):
        assert np.array_equal(run(text, src=x, indices=index)["dst"], gathered(x, index))
    both = f"{line.replace('%dst', '%first')}\n# AS Level 2 (DPS)\n{SYNTAX['index-dps']}"
    out = run(both, src=x, indices=index, dst=np.zeros((16, 16), np.float32))
    assert np.array_equal(out["first"], out["dst"])
