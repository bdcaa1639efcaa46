"""Kirin 9030 and X90: A5 but for what their declarations say. Facts are those of public headers."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from account.files import ROOT
from every import every
from fuzz.scale import scaled, tried
from ptokit.isa.formula.formulas import Const, Field
from ptokit.isa.formula.rules import A5, KIRIN, KIRIN9030, at, on, without
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import A5_TARGET, MACHINES, TARGETS, Target, type_rules
from ptokit.tools.cli import main
from ptokit.values.dtypes import DTYPES
from ptokit.values.layouts import NZ, ZZ

NAMES = ("kirin9030", "kirinX90")
KIB = 1024
WHOLE_BUFFER = f"addr + result.nbytes is {256 * KIB} (0 + {256 * KIB})"
# KiB of UB, L1, L0A, L0B, L0C, BT, FB: include/pto/common/buffer_limits.hpp and the page of TASSIGN
CAPACITIES = {
    "kirin9030": (128, 512, 32, 32, 64, 1, 7),
    "kirinX90": (128, 1024, 64, 64, 128, 1, 6),
}


# which errors a target may have that A5 has not


def overriding(page: type[Instr], target: Target) -> set[str]:
    """The formulas of rules that A5 has not."""
    shared = {id(rule.formula) for rule in page.rules_on(A5_TARGET)}
    own = {str(r.formula) for r in page.rules_on(target) if id(r.formula) not in shared}
    return own and own - {str(rule.formula) for rule in page.rules_on(A5_TARGET)}


def test_what_is_legal_on_a5_is_legal_unless_an_override_forbids_it() -> None:
    stated = {n: {r for p in pages() for r in overriding(p, MACHINES[n])} for n in NAMES}
    for name in NAMES:
        stated[name] |= {str(rule.formula) for rule in type_rules(MACHINES[name])}
    refused = {name: set[str]() for name in NAMES}
    for page in tried(pages(), 3, 8):
        program = pto.loads(example_program(page))
        if any(d.is_error for d in program.check("a5")):
            continue
        for name in NAMES:
            for found in (d for d in program.check(name) if d.is_error):
                refused[name].add(found.slug)
                if found.slug == "address-out-of-range":  # gathers below tiles reach all of A5's UB
                    assert str(found.seen).startswith(WHOLE_BUFFER), (page.__name__, found)
                elif found.slug != "memory-missing":  # of scales
                    rule = str(found.rule).partition(", when ")[0]
                    assert rule in stated[name], (page.__name__, found)
    slugs = {"not-on-target", "element-type", "memory-missing", "address-out-of-range"}
    assert all(found <= slugs for found in refused.values())
    assert scaled(1) < 8 or [*refused.values()] == [slugs] * 2  # a sample has not each of them


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_is_lacking_is_of_a_page_of_a5(name: str) -> None:
    lacking = {one for one in MACHINES[name].lacks if isinstance(one, str)}
    assert lacking <= {page.name for page in pages() if page.exists_on(A5_TARGET)}


# names


def test_all_stands_for_the_usual_targets() -> None:
    program = pto.loads("%c = arith.constant 1 : index")
    assert [v.target for v in program.verdicts("all")] == ["cpu", "a2a3", "a5"] == [*TARGETS]
    assert [v.target for v in program.verdicts(*NAMES)] == [*NAMES]


@every("word", [*NAMES, "kirinx90"])
def test_the_command_line_knows_the_names(word: str) -> None:
    page = CliRunner().invoke(main, ["explain", word])
    assert page.exit_code == 0
    assert "It is like a5" in page.output
    ran = CliRunner().invoke(main, ["check", str(ROOT / "examples/gemm.pto"), "--target", word])
    assert ran.exit_code == 1
    assert f"{MACHINES.get(word, MACHINES['kirinX90'])}: " in ran.output


# facts


@pytest.mark.parametrize("name", NAMES)
def test_capacities(name: str) -> None:
    spaces = ("UB", "L1", "L0A", "L0B", "L0C", "BT", "FB", "L0A_MX", "L0B_MX")
    sizes = [MACHINES[name].capacity[space] // KIB for space in spaces]
    assert sizes == [*CAPACITIES[name], 0, 0]


def test_the_alias_of_left_tiles() -> None:
    """pto_tile.hpp: zz on A2/A3 and X90, else nz."""
    assert [MACHINES[name].left for name in NAMES] == [NZ, ZZ]


@pytest.mark.parametrize(("name", "wide"), [("kirin9030", False), ("kirinX90", True)])
def test_conversions_are_those_of_a5_between_types_that_are_there(name: str, wide: bool) -> None:
    """TCvt.hpp of each; without functions from and to 64 bits in that of 9030."""
    tiles = {dtype: f"!pto.tile_buf<vec, 16x64x{dtype}>" for dtype in DTYPES}
    for source in DTYPES:
        lines = [f"%from = pto.alloc_tile : {tiles[source]}"]
        for dtype in DTYPES:
            lines.append(f"%{dtype} = pto.alloc_tile : {tiles[dtype]}")
            lines.append(f"pto.tcvt ins(%from : {tiles[source]}) outs(%{dtype} : {tiles[dtype]})")
        program = pto.loads("\n".join(lines))
        wrong = {
            target: {d.span.line for d in program.check(target) if d.is_error and d.span}
            for target in ("a5", name)
        }
        for number, dtype in enumerate(DTYPES):
            own = {1, 2 + 2 * number, 3 + 2 * number}
            there = not {source, dtype} & {*MACHINES[name].lacks}
            there &= wide or "64" not in f"{source} {dtype}"
            fits = own.isdisjoint(wrong["a5"]) and there
            assert own.isdisjoint(wrong[name]) is fits, (source, dtype)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_has_published_times(name: str) -> None:
    """Those of A5's cores would be a guess."""
    with pytest.raises(ValueError, match=f"no times published for {name}"):
        pto.load(ROOT / "examples/stream.pto").profile(target=name)


# products of f16

KINDS = {
    "m": "loc=mat, dtype=f16, blayout=col_major, slayout=row_major, fractal=512",
    "a": "loc=left, dtype=f16, blayout=col_major, slayout=row_major, fractal=512",
    "b": "loc=right, dtype=f16, blayout=row_major, slayout=col_major, fractal=512",
    "c": "loc=acc, dtype=f16, blayout=col_major, slayout=row_major, fractal=1024",
    "u": "loc=vec, dtype=TYPE, blayout=row_major, slayout=none_box, fractal=512",
}
TILES = "".join(
    f"!{name} = !pto.tile_buf<{kind}, rows=32, cols=32, v_row=32, v_col=32, pad=0>\n"
    for name, kind in KINDS.items()
)
PRODUCT = f"""{TILES}
!v = !pto.partition_tensor_view<32x32xf16>
!w = !pto.partition_tensor_view<32x32xTYPE>
func.func @product(%x: !v, %z: !v, %y: !w) {{
  %word = arith.constant WORD : i64
  %m = pto.alloc_tile : !m
  %n = pto.alloc_tile : !m
  %a = pto.alloc_tile : !a
  %b = pto.alloc_tile : !b
  %c = pto.alloc_tile : !c
  %u = pto.alloc_tile : !u
  pto.tload ins(%x : !v) outs(%m : !m)
  pto.tload ins(%z : !v) outs(%n : !m)
  pto.tmov ins(%m : !m) outs(%a : !a)
  pto.tmov ins(%n : !m) outs(%b : !b)
  pto.tmatmul ins(%a, %b : !a, !b) outs(%c : !c)
  pto.tmatmul.acc ins(%c, %a, %b : !c, !a, !b) outs(%c : !c)
  MOVE
  pto.tstore ins(%u : !u) outs(%y : !w)
  return
}}"""
PLAIN = "pto.tmov ins(%c : !c) outs(%u : !u)"
SCALED = "pto.tmov ins(%c, %word : !c, i64) outs(%u : !u)"  # by 1.0


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "move"), [("f16", PLAIN), ("i16", SCALED), ("i8", SCALED), ("u8", SCALED)]
)
def test_accumulators_of_floats_are_f16(name: str, engine: str, dtype: str, move: str) -> None:
    """One core multiplies, adds up, moves to its vector unit and stores."""
    numbers = np.random.default_rng(7)
    x, z = (numbers.integers(-4, 5, (32, 32)).astype(np.float16) for _ in "xz")
    word = 0x3F800000 | (dtype == "i8") << 46  # a scale of 1.0, the sign of the result
    text = PRODUCT.replace("TYPE", dtype).replace("MOVE", move).replace("WORD", str(word))
    program = pto.loads(text)
    assert {"element-type"} == {d.slug for d in program.check("a5") if d.is_error}
    stored = np.dtype({"f16": "float16", "i16": "int16", "i8": "int8", "u8": "uint8"}[dtype])
    given = {"x": x, "z": z, "y": np.zeros((32, 32), stored)}
    found = program.execute(given, target=name, engine=engine).outputs["y"]
    sums = 2 * (x.astype(np.float32) @ z.astype(np.float32))
    least, most = {"i8": (-128, 127), "u8": (0, 255)}.get(dtype, (-30000, 30000))
    assert np.array_equal(found, sums.clip(least, most).astype(stored))


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", NAMES)
def test_biases_of_f16_lie_four_bytes_apart_on_x90(name: str, engine: str) -> None:
    row = "dtype=f16, rows=1, cols=64, v_row=1, v_col=64, blayout=row_major, slayout=none_box"
    extra = "".join(
        f"!{k} = !pto.tile_buf<loc={loc}, {row}, fractal=512, pad=0>\n"
        for k, loc in (("p", "mat"), ("q", "bias"))
    )
    text = extra + PRODUCT.replace("TYPE", "f16").replace("MOVE", PLAIN).replace("WORD", "0")
    lines = [one for one in text.splitlines() if "tmatmul.acc" not in one and "%word" not in one]
    text = "\n".join(lines).replace("%z: !v,", "%z: !v, %d: !pto.partition_tensor_view<1x64xf16>,")
    biased = """
  %p = pto.alloc_tile : !p
  %q = pto.alloc_tile : !q
  pto.tload ins(%d : !pto.partition_tensor_view<1x64xf16>) outs(%p : !p)
  pto.tmov ins(%p : !p) outs(%q : !q)
  pto.tmatmul.bias ins(%a, %b, %q : !a, !b, !q)"""
    program = pto.loads(text.replace("  pto.tmatmul ins(%a, %b : !a, !b)", biased))
    numbers = np.random.default_rng(8)
    x, z = (numbers.integers(-4, 5, (32, 32)).astype(np.float16) for _ in "xz")
    d = numbers.integers(-90, 90, (1, 64)).astype(np.float16)
    given = {"x": x, "z": z, "d": d, "y": np.zeros((32, 32), np.float16)}
    found = program.execute(given, target=name, engine=engine).outputs["y"]
    own = d[:, ::2] if name == "kirinX90" else d[:, :32]
    assert np.array_equal(found, (x.astype(np.float32) @ z.astype(np.float32) + own))


def test_stores_do_not_add() -> None:
    text = PRODUCT.replace("TYPE", "f16").replace("MOVE", PLAIN).replace("WORD", "0")
    adding = "outs(%y : !w) {atomicType = #pto<atomic_type atomic_add>}"
    text = text.replace("outs(%y : !w)", adding)
    found = {t: {d.slug for d in pto.loads(text).check(t) if d.is_error} for t in NAMES}
    assert found == {name: {"attribute"} for name in NAMES}


# what names of targets say of one another


def test_rules_hold_on_targets_that_are_like_others_unless_excepted() -> None:
    formula = Field("x") == Const(1)
    for rules, there in (
        (on(A5, formula), [A5, *NAMES]),
        (at(KIRIN, (A5,), formula), [*NAMES]),
        (without(KIRIN, (A5,), formula), [A5]),
        (on((A5, "a2a3"), at(KIRIN9030, (A5,), formula)), ["kirin9030"]),
        (without(KIRIN9030, (A5,), formula), [A5, "kirinX90"]),
    ):
        (rule,) = rules
        assert [name for name, t in MACHINES.items() if t.follows(rule.targets)] == there


@pytest.mark.parametrize(("name", "legal"), [("kirin9030", False), ("kirinX90", True)])
def test_sums_that_keep_their_type_ignore_parameters_on_x90(name: str, legal: bool) -> None:
    """NoQuant where the types are one (kirin9030/common.hpp:71-112); 9030 refuses it (D28)."""
    sums = np.arange(-128, 128, dtype=np.int32).reshape(16, 16) << 20
    with pto.target(name):
        dst = pto.tile("vec", pto.i32, 16, 16)
        src = pto.tile("acc", pto.i32, 16, 16, layout="nz", fractal=1024, data=sums)
        factors = pto.tile("scaling", pto.u64, 1, 16, data=np.full((1, 16), 3, np.uint64))
        calls = (
            lambda: pto.textract(dst, src, quant=3),
            lambda: pto.textract_fp(dst, src, factors),
        )
        for call in calls:
            if legal:
                call()
                np.testing.assert_array_equal(dst.numpy(), sums)
            else:
                with pytest.raises(pto.PtoError, match="unsupported element type"):
                    call()
