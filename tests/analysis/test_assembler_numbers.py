"""Numbers of instructions, declared shapes, storage and regions behind `?`: as the assembler."""

from __future__ import annotations

import pytest
from test_assembler import ACC, HARD, of, program, require_slugs, tile, windowed, wrong

import ptokit as pto
from every import every

TILE, TALL = tile("vec", "16x64xf32"), tile("vec", "32x64xf32", "valid=16x64")
HALVES, WORDS, NARROW = (tile("vec", f"16x64x{t}") for t in ("f16", "i32", "ui16"))
SHORT, BYTES = tile("vec", "16x64xi16"), tile("vec", "16x64xui8")
FINE: set[str] = set()


def wide(kind: str) -> str:
    return tile("vec", f"16x64x{kind}")


def indexed(name: str, values: str, indices: str) -> str:
    given = {"a": wide(values), "b": wide(values), "i": wide(indices), "j": wide(indices)}
    outs = {"d": wide(values), "k": wide(indices)}
    return program(
        given | outs,
        f"pto.{name} ins({', '.join('%' + n for n in given)} : {', '.join(given.values())})"
        f" outs({', '.join('%' + n for n in outs)} : {', '.join(outs.values())})",
    )


ROWS_OF_L1, BOXES = tile("mat", "16x16xf16"), ("blayout=col_major", "slayout=row_major")
L0A, L0B = tile("left", "16x16xf16", *BOXES), tile("right", "16x16xf16", "slayout=col_major")
CASES = {
    "rows of L1 that go to L0A": (of("tmov", {"a": ROWS_OF_L1, "d": L0A}), FINE),
    "rows of L1 that go to L0B": (of("tmov", {"a": ROWS_OF_L1, "d": L0B}), FINE),
    "a power of the type": (of("tpows", {"a": TILE, "s": "f32", "d": TILE}), FINE),
    "a power of another type": (of("tpows", {"a": TILE, "s": "f16", "d": TILE}), {"element-type"}),
    "a fill of the type": (of("texpands", {"s": "i32", "d": wide("ui32")}), FINE),
    "a fill of another type": (of("texpands", {"s": "i16", "d": WORDS}), {"element-type"}),
    "a factor of src": (of("taxpy", {"a": HALVES, "s": "f16", "d": TILE}), FINE),
    "a factor of dst": (of("taxpy", {"a": HALVES, "s": "f32", "d": TILE}), {"element-type"}),
    "a sum with any float": (of("tadds", {"a": TILE, "s": "f16", "d": TILE}), FINE),
    "a conversion of one shape": (of("tcvt", {"a": TILE, "d": HALVES}), FINE),
    "a conversion of two": (of("tcvt", {"a": TALL, "d": HALVES}), {"shape"}),
    "an expand of one shape": (of("tcolexpandmul", {"a": TILE, "b": TALL, "d": TILE}), FINE),
    "an expand of two": (of("tcolexpandmul", {"a": TALL, "b": TILE, "d": TILE}), {"shape"}),
    "indices of 32 bits": (indexed("tpartargmax", "f16", "ui32"), FINE),
    "indices of 16 bits": (indexed("tpartargmin", "f16", "i16"), {"element-type"}),
    "sorted by signed indices": (
        of("tsort32", {"a": TILE, "i": WORDS, "d": tile("vec", "16x128xf32")}),
        FINE,
    ),
    "a sum of columns that says how": (
        of("tcolsum", {"a": TILE, "t": TILE, "d": tile("vec", "1x64xf32")}, " {isBinary = true}"),
        FINE,
    ),
    "one that does not": (
        of("tcolsum", {"a": TILE, "t": TILE, "d": tile("vec", "1x64xf32")}),
        {"attribute"},
    ),
    "as many indices as elements": (
        of("tscatter", {"a": TILE, "i": tile("vec", "16x64xi32", "valid=8x64"), "d": TILE}),
        {"shape"},
    ),
}


@every(("text", "slugs"), CASES.values(), ids=CASES)
def test_numbers_that_it_takes(text: str, slugs: set[str]) -> None:
    require_slugs(text, HARD, slugs)


def stored(*lines: str) -> str:
    return program({}, "%zero = arith.constant 0 : index", "%s = arith.constant 7 : i16", *lines)


def new(name: str, kind: str, address: int | None = None) -> tuple[str, ...]:
    """A tile, at an address of the program's own where one is given."""
    if address is None:
        return (f"%{name} = pto.alloc_tile : {kind}",)
    number = f"%of_{name} = arith.constant {address} : i64"
    return number, f"%{name} = pto.alloc_tile addr = %of_{name} : {kind}"


def masked(src: str, dst: str) -> str:
    return f"pto.tands ins(%{src}, %s : {SHORT}, i16) outs(%{dst} : {SHORT})"


def window(rows: int, row: int, whole: str, part: str) -> str:
    return f"%w = pto.subview %t[%{row}, %zero] sizes [{rows}, 64] : {whole} -> {part}"


UPPER = tile("vec", "8x64xi16")
SAME = f"%w = pto.treshape %t : {SHORT} -> {SHORT}"
ZZ = tile("vec", "16x64xui8", "slayout=row_major")
ROOM = tile("vec", "1x128xui8", "valid=1x1")
ALONG = " {grpAxis = #pto<mx_group_axis axis0>}"


def reordered(src: int | None, tmp: int | None, dst: int | None) -> str:
    move = f"pto.tmov ins(%a, %t : {BYTES}, {ROOM}) outs(%d : {ZZ}){ALONG}"
    return program({}, *new("a", BYTES, src), *new("t", ROOM, tmp), *new("d", ZZ, dst), move)


SHARED = {"shared-storage"}
STORAGE = {
    "tiles of their own": (stored(*new("t", SHORT), *new("w", SHORT), masked("t", "w")), FINE),
    "one tile": (stored(*new("t", SHORT), masked("t", "t")), SHARED),
    "a reshape of it": (stored(*new("t", SHORT), SAME, masked("t", "w")), SHARED),
    "a placed tile and its reshape": (stored(*new("t", SHORT, 0), SAME, masked("w", "t")), SHARED),
    "halves of a tile": (
        stored(
            *new("t", SHORT),
            f"%u = pto.subview %t[%zero, %zero] sizes [8, 64] : {SHORT} -> {UPPER}",
            f"%l = pto.subview %t[8, %zero] sizes [8, 64] : {SHORT} -> {UPPER}",
            masked("u", "l").replace(SHORT, UPPER),
        ),
        FINE,
    ),
    "halves that overlap": (
        stored(
            *new("t", SHORT),
            f"%u = pto.subview %t[%zero, %zero] sizes [8, 64] : {SHORT} -> {UPPER}",
            f"%l = pto.subview %t[7, %zero] sizes [8, 64] : {SHORT} -> {UPPER}",
            masked("u", "l").replace(SHORT, UPPER),
        ),
        SHARED,
    ),
}
PLACED = {
    "scales without addresses": (reordered(None, None, None), FINE),
    "scales side by side": (reordered(0, 2048, 1024), FINE),
    "scales over one another": (reordered(0, 2048, 512), SHARED),
    "scales over the scratch": (reordered(0, 1536, 1024), SHARED),
}


@every(("text", "slugs"), STORAGE.values(), ids=STORAGE)
def test_operands_that_share_storage(text: str, slugs: set[str]) -> None:
    require_slugs(text, HARD, slugs)
    assert wrong(text, "cpu") == FINE


def test_tiles_at_one_address_are_what_the_code_of_a2a3_refuses() -> None:
    """The assembler looks at handles only; C++ fills dst with the number before it reads src."""
    text = stored(*new("t", SHORT, 0), *new("w", SHORT, 0), masked("t", "w"))
    assert wrong(text, "a2a3") == SHARED
    assert wrong(text, "a5") == FINE


@every("case", PLACED)
def test_scales_share_no_bytes_of_memory(case: str) -> None:
    text, slugs = PLACED[case]
    assert wrong(text, "a5") == slugs


def test_a_reciprocal_in_place_is_refused_on_a2a3_alone() -> None:
    text = program({"t": TILE}, f"pto.trecip ins(%t : {TILE}) outs(%t : {TILE})")
    assert wrong(text, "a2a3") == SHARED
    assert wrong(text, "a5") == FINE


def test_a_run_refuses_shared_storage_too() -> None:
    text = stored(*new("t", SHORT), masked("t", "t"))
    with pytest.raises(pto.PtoError, match=r"\[shared-storage\]"):
        pto.loads(text).run(target="a5")


OPEN = tile("vec", "16x64xf32", "valid=?x?")
LARGEST = program(
    {},
    "%one = arith.constant 1.0 : f32",
    *(f"%h{n} = arith.constant {h} : index" for n, h in enumerate((8, 2, 8))),
    *(f"%t{n} = pto.alloc_tile valid_row = %h{n} valid_col = 64 : {OPEN}" for n in range(3)),
    *(f"pto.texpands ins(%one : f32) outs(%t{n} : {OPEN})" for n in range(2)),
    f"pto.tmax ins(%t0, %t1 : {OPEN}, {OPEN}) outs(%t2 : {OPEN})",
)


@pytest.mark.parametrize("target", HARD)
def test_regions_behind_question_marks_are_warned_of_and_left_to_the_run(target: str) -> None:
    (verdict,) = pto.loads(LARGEST).verdicts(target)
    assert [(d.slug, d.is_error) for d in verdict.diagnostics] == [("shape", False)]
    assert "deferred to run time" in str(verdict)
    (warned,) = pto.loads(LARGEST).execute({}, target=target).warnings
    assert (warned.slug, warned.is_error) == ("shape", False)


def test_the_simulator_looks_behind_question_marks() -> None:
    assert wrong(LARGEST, "cpu") == {"shape"}


SOFT = "mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<aiv_only>"
WORKSPACES = {
    "a pointer": ("!pto.ptr<i32>", FINE),
    "a pointer to floats": ("!pto.ptr<f32>", {"shape"}),
    "a pointer into tiles": ("!pto.ptr<i32, ub>", {"shape"}),
    "a view": ("!pto.partition_tensor_view<2x8xi32>", FINE),
    "a small view": ("!pto.partition_tensor_view<15xi32>", {"shape"}),
    "a view of open extents": ("!pto.partition_tensor_view<?xi32>", FINE),
}


@every("case", WORKSPACES)
def test_soft_synchronisation_counts_in_sixteen_numbers(case: str) -> None:
    kind, slugs = WORKSPACES[case]
    for target in HARD:
        assert wrong(program({"w": kind}, f"pto.syncall(%w : {kind}) {SOFT}"), target) == slugs


@every("kind", ["f32", "f16", "bf16"])
def test_an_accumulator_goes_to_rows_of_a_vector_tile_with_a_warning_on_a5(kind: str) -> None:
    text = windowed("textract", ACC, tile("vec", f"16x32x{kind}"))
    found = pto.loads(text).check("a5")
    assert [(d.slug, d.is_error) for d in found] == [("layout", False)]
    assert "location" in wrong(text, "a2a3")


def scaled(kind: str) -> str:
    """A product of which the scales have such elements."""
    a = tile("left", "16x64xf8E4M3FN", *BOXES)
    b = tile("right", "64x16xf8E4M3FN", "slayout=col_major")
    of_a = tile("scaling", f"16x2x{kind}", "slayout=row_major", "fractal=32")
    of_b = tile("scaling", f"2x16x{kind}", "blayout=col_major", "slayout=col_major", "fractal=32")
    c = tile("acc", "16x16xf32", *BOXES, "fractal=1024")
    return of("tmatmul.mx", {"a": a, "s": of_a, "b": b, "t": of_b, "c": c})


@pytest.mark.parametrize("kind", ["!pto.f8E8M0", "f16"])
def test_scales_of_a_product_have_any_type(kind: str) -> None:
    assert wrong(scaled(kind), "a5") == FINE


LOADED = "%n = pto.load_scalar %p[%z] : !pto.ptr<TYPE> -> TYPE"
WORKED_ON = {
    "constant": "%k = arith.constant 1 : TYPE",
    "sum": "%k = arith.addi %n, %n : TYPE",
    "quotient": "%k = arith.divui %n, %n : TYPE",
    "shift": "%k = arith.shli %n, %n : TYPE",
    "comparison": "%k = arith.cmpi ult, %n, %n : TYPE",
    "index": "%k = arith.index_cast %n : TYPE to index",
    "wider": "%z0 = arith.constant 0 : i8\n%k = arith.extui %z0 : i8 to TYPE",
    "float": "%k = arith.uitofp %n : TYPE to f32",
    "of a float": "%f = arith.constant 1.5 : f32\n%k = arith.fptoui %f : f32 to TYPE",
    "bits": "%k = arith.bitcast %n : TYPE to f32",
    "absolute": "%k = math.absi %n : TYPE",
}


@every("work", WORKED_ON.values(), ids=WORKED_ON)
def test_operations_on_numbers_know_no_unsigned_types(work: str) -> None:
    zero = "%z = arith.constant 0 : index"
    for kind in ("i32", "si32", "ui32"):
        lines = (line.replace("TYPE", kind) for line in (LOADED, work))
        text = program({"p": f"!pto.ptr<{kind}>"}, zero, *lines)
        for target in HARD:
            assert wrong(text, target) == ({"element-type"} if kind == "ui32" else FINE)
        assert wrong(text, "cpu") == FINE


@every("kind", ["si64", "ui64", "i64", "si8", "ui16"])
def test_integers_of_any_spelling_are_moved(kind: str) -> None:
    view, part = f"!pto.tensor_view<1x32x{kind}>", f"!pto.partition_tensor_view<1x32x{kind}>"
    lines = (
        "%z = arith.constant 0 : index",
        "%one = arith.constant 1 : index",
        "%n = arith.constant 32 : index",
        LOADED.replace("%n", "%first").replace("TYPE", kind),
        f"pto.store_scalar %first, %p[%z] : !pto.ptr<{kind}>, {kind}",
        f"%v = pto.make_tensor_view %p, shape = [%one, %n], strides = [%n, %one] : {view}",
        f"%w = pto.partition_view %v, offsets = [%z, %z], sizes = [%one, %n] : {view} -> {part}",
        f"%t = pto.alloc_tile : {tile('vec', f'1x32x{kind}')}",
        f"pto.tload ins(%w : {part}) outs(%t : {tile('vec', f'1x32x{kind}')})",
    )
    for target in (*HARD, "cpu"):
        assert wrong(program({"p": f"!pto.ptr<{kind}>"}, *lines), target) == FINE


@every("target", [*HARD, "cpu"])
def test_a_number_has_the_very_type_of_its_pointer(target: str) -> None:
    zero, p = "%z = arith.constant 0 : index", {"p": "!pto.ptr<ui64>", "m": "i64"}
    loaded = LOADED.replace("-> TYPE", "-> i64").replace("TYPE", "ui64")
    stored = "pto.store_scalar %m, %p[%z] : !pto.ptr<ui64>, i64"
    viewed = "%v = pto.make_tensor_view %p, shape = [%o], strides = [%o] : !pto.tensor_view<?xi64>"
    assert wrong(program(p, zero, loaded), target) == {"element-type"}
    assert wrong(program(p, zero, stored), target) == {"element-type"}
    one = "%o = arith.constant 1 : index"
    assert wrong(program(p, one, viewed), target) == {"shape"}


@every("kinds", ["f32 to i64", "f32 to f16", "f32 to bf16"])
def test_bits_are_reinterpreted_in_their_width(kinds: str) -> None:
    bits = ("%a = arith.constant 1.5 : f32", f"%n = arith.bitcast %a : {kinds}")
    for target in (*HARD, "cpu"):
        assert wrong(program({}, *bits), target) == {"element-type"}
