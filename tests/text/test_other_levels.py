"""Text that a compiler has begun to lower, or that its later versions print: read, judged, kept.

What is computed with vectors, by threads and by maps of other dialects is not run.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from readback import reads_back

import ptokit as pto
from every import every
from fuzz.scale import sampled
from ptokit.isa.below import NAMES, unsaid

TABLE = "memref<16xi64, #pto.address_space<gm>>"
FOREIGN = {
    "memref.load": "%x = memref.load %m[%i] : memref<8xi32>",
    "pto.set_ffts": f"pto.set_ffts %t : {TABLE}",
    "pto.store_scalar": "pto.store_scalar %n, %m[%i] : memref<8xi32>, i32",
    "pto.load_scalar": "%x = pto.load_scalar %q[%i] : !pto.ptr<!pto.ptr<f32>> -> !pto.ptr<f32>",
    "vector.broadcast": "%x = vector.broadcast %n : i32 to vector<4xi32>",
}


@every("name", FOREIGN)
def test_an_operation_of_another_level_leaves_the_verdict_open(name: str) -> None:
    args = f"%m: memref<8xi32>, %q: !pto.ptr<!pto.ptr<f32>>, %t: {TABLE}, %i: index, %n: i32"
    text = f"func.func @f({args}) {{\n  {FOREIGN[name]}\n  return\n}}\n"
    assert FOREIGN[name] in pto.loads(text).text("dps")
    reads_back(text)
    (found,) = pto.loads(text).check("a2a3")
    assert (found.slug, found.is_error, name in found.message) == ("foreign-op", False, True)


@every("kind", ["!pto.hif8x2", "!pto.bf16x2", "f64", "!pto.ptr<vector<4xf32>>"])
def test_types_that_no_instruction_takes_are_known(kind: str) -> None:
    text = f"func.func @f(%a: {kind}) {{\n  return\n}}\n"
    reads_back(text)
    assert pto.loads(text).check("a5") == []


@pytest.mark.parametrize("kind", ["!pto.tile_buf<vec, 8x8xf64>", "!pto.tile<8x8xf64>"])
def test_no_instruction_computes_with_tiles_of_f64(kind: str) -> None:
    line = f"pto.tabs ins(%a : {kind}) outs(%a : {kind})"
    text = f"func.func @f(%a: {kind}) {{\n  {line}\n  return\n}}\n"
    (found,) = pto.loads(text).check("a5")
    assert (found.slug, found.is_error) == ("element-type", True)


def test_the_counts_of_a_merge_have_no_address_at_level_3() -> None:
    text = (
        "%a = arith.constant 64 : i64\n"
        "%t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 1x16xf32>\n"
        "%e = arith.constant dense<0> : vector<4xi16>\n"
    )
    assert "dense<0> : vector<4xi16>" in pto.loads(text).text("dps")
    assert pto.loads(text).check("a2a3") == []


@pytest.mark.parametrize(("loc", "layout"), [("acc", "nz"), ("right", "zn")])
def test_a_memory_with_one_layout_may_leave_it_out(loc: str, layout: str) -> None:
    text = f"%t = pto.alloc_tile : !pto.tile_buf<{loc}, 16x16xf32>\n"
    assert layout in str(reads_back(text).funcs[0].body.ops[-1].results[0].type)


def test_castptr_takes_and_gives_addresses() -> None:
    text = (
        "func.func @f(%p: !pto.ptr<i32>) {\n"
        "  %n = pto.castptr %p : !pto.ptr<i32> -> i64\n"
        "  %q = pto.castptr %n : i64 -> !pto.ptr<f32>\n"
        "  return\n}\n"
    )
    reads_back(text)
    assert pto.loads(text).check("a5") == []


BOX = """\
func.func @f(%p: !pto.ptr<f16>) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %p, shape = [%c1, %c1, %c1, %c16, %c16],
    strides = [%c16, %c16, %c16, %c16, %c1] : !pto.tensor_view<1x1x1x16x16xf16>
  %t = pto.alloc_tile : !pto.tile_buf<{tile}>
  pto.tload ins(%v : !pto.tensor_view<1x1x1x16x16xf16>) outs(%t : !pto.tile_buf<{tile}>)
  return
}}
"""


@pytest.mark.parametrize("layout", ["", ", blayout=col_major, slayout=row_major"])
def test_one_box_of_global_memory_lies_as_rows_and_as_a_fractal(layout: str) -> None:
    text = BOX.format(tile=f"vec, 16x16xf16{layout}")
    assert not any(d.is_error for d in pto.loads(text).check("a5", judge="assembler"))


OFFSETS = """\
%s = pto.alloc_tile : !pto.tile_buf<vec, 4x256xi8>
%o = pto.alloc_tile : !pto.tile_buf<vec, {offsets}>
%d = pto.alloc_tile : !pto.tile_buf<vec, 4x256xi8>
pto.tgatherb ins(%s, %o : !pto.tile_buf<vec, 4x256xi8>, !pto.tile_buf<vec, {offsets}>)
  outs(%d : !pto.tile_buf<vec, 4x256xi8>)
"""


@every(
    ("offsets", "slug"),
    [("4x8xu32", None), ("4x16xu32", "shape"), ("8x8xu32, valid=4x8, blayout=col_major", "layout")],
)
def test_offsets_of_blocks_lie_close(offsets: str, slug: str | None) -> None:
    found = pto.loads(OFFSETS.format(offsets=offsets)).check("a2a3")
    assert {d.slug for d in found} - {"uninitialised-read"} == ({slug} if slug else set())


PROMISES = {
    "addi": "%r = arith.addi %i, %i overflow<nsw, nuw> : i32",
    "mulf": "%r = arith.mulf %x, %x fastmath<fast> : f32",
    "cmpf": "%r = arith.cmpf ogt, %x, %x fastmath<nnan> : f32",
    "trunci": "%r = arith.trunci %i overflow<nsw> : i32 to i16",
}


@every("name", PROMISES)
def test_what_an_optimiser_may_assume_is_kept_without_a_word(name: str) -> None:
    text = f"func.func @f(%i: i32, %x: f32) {{\n  {PROMISES[name]}\n  return\n}}\n"
    assert pto.loads(text).check("all") == []
    assert "#arith." in pto.loads(text).text("dps")
    reads_back(text)


def test_a_private_function_without_a_body_may_name_its_arguments() -> None:
    text = "func.func private @g(%n: index) -> index\nfunc.func @f() {\n  return\n}\n"
    assert [f.declared for f in reads_back(text).funcs] == [True, False]
    with pytest.raises(pto.PtoError, match="the body of the function"):
        pto.loads(text.replace(" private", ""))


OF_F64 = {
    "a number made": "%a = arith.constant 7 : i32\n%n = arith.sitofp %a : i32 to f64\n",
    "a wider number": "%a = arith.constant 7.0 : f32\n%n = arith.extf %a : f32 to f64\n",
    "generic form": '%a = arith.constant 7.0 : f32\n%n = "arith.extf"(%a) : (f32) -> f64\n',
    "an argument": "func.func @f(%i: memref<16x32xf64>) {\n  return\n}\n",
    "no element type": "func.func @f(%i: memref<f32 16x32xf32>) {\n  return\n}\n",
}


@every("case", OF_F64)
def test_types_of_another_level_are_never_computed_with(case: str, engine: str) -> None:
    program = pto.loads(OF_F64[case])
    assert {d.slug for d in program.check("all")} <= {"foreign-op"}
    given: dict[str, Any] = {"i": 3} if "@f" in OF_F64[case] else {}
    with suppress(pto.PtoError):  # not executed: no fault of ours
        program.run(engine=engine, **given)


def test_a_word_is_no_operand() -> None:
    text = "%t = pto.alloc_tile valid_row = x32 : !pto.tile_buf<vec, 16x32xf32>"
    with pytest.raises(pto.PtoError, match="valid_row is an operand"):
        pto.loads(text)


@every("name", sampled([f"pto.{name}" for name in sorted(NAMES)], 20))
def test_every_name_below_tiles_has_one_answer(name: str) -> None:
    """Also without an operand of that level: none is taken for a slip of a tile instruction."""
    text = f"func.func @f(%n: index) {{\n  {name} %n, %n : index, index\n  return\n}}\n"
    (found,) = pto.loads(text).check("a5")
    assert (found.slug, found.is_error) == ("foreign-op", False)
    if said := unsaid(name.removeprefix("pto.")):
        assert found.message == f"{name}: not checked: below the level of tiles"
        assert found.help == said
    else:
        assert found.message == f"{name}: not checked: no form has these operands"
        assert found.help is not None
        assert found.help.startswith("expected ")
        assert f"{name} " in found.help


def test_types_and_prefixes_below_tiles_have_the_same_answer() -> None:
    lines = [
        "%a = pto.vmi.ensure_mask_layout %m : !pto.vmi.mask<8xpred> -> !pto.vmi.mask<8xpred>",
        "pto.ub.vadd %p, %p : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>",
        "%b = pto.later %v, %k : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.align",
    ]
    args = "%p: !pto.ptr<f32, ub>, %v: !pto.vreg<64xf32>, %k: !pto.mask<b32>"
    args += ", %m: !pto.vmi.mask<8xpred>"
    text = f"func.func @f({args}) {{\n  " + "\n  ".join(lines) + "\n  return\n}\n"
    found = pto.loads(text).check("a5")
    inner = "a name between the passes of a compiler, not of the public level pto.vmi"
    assert {(d.slug, d.message.partition(": ")[2]) for d in found} == {
        ("foreign-op", f"not checked: {inner}"),
        ("foreign-op", "not checked: below the level of tiles"),
    }
    assert len(found) == len(lines)
    reads_back(text)


COUNTS = """
func.func @f(%p: !pto.ptr<i32>) {
  %a = arith.constant dense<0> : vector<4xi16>
  %b = arith.addi %a, %a : vector<4xi16>
  return
}
"""
MAPPED = """
func.func @f(%p: !pto.ptr<i32>, %n: index) {
  %k = affine.apply affine_map<(d0) -> (d0 * 2)>(%n)
  return
}
"""
THREADS = """
func.func @f(%p: !pto.ptr<i32>, %n: i32) {
  %c1 = arith.constant 1 : i32
  pto.section.simt <<<%n, %c1, %c1>>> {
  } : i32, i32, i32
  return
}
"""


@every(
    ("text", "message"),
    [
        (COUNTS, "vector<4xi16> holds what a merge counts and cannot be an operand"),
        (MAPPED, "affine.apply: not checked: from another level"),
    ],
)
def test_a_run_says_what_it_does_not_take(text: str, message: str, engine: str) -> None:
    program = pto.loads(text)
    (warning,) = program.check("a5")
    assert message in warning.message
    numbers = {"n": 1} if "%n:" in text else {}
    with pytest.raises(pto.PtoError) as caught:
        program.run(target="a5", engine=engine, p=np.zeros(4, np.int32), **numbers)  # type: ignore[arg-type]
    (problem,) = caught.value.diagnostics
    assert (problem.slug, problem.is_error) == ("foreign-op", True)
    assert message in problem.message


def test_extents_of_threads_are_known_before_the_run() -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(THREADS)
    (problem,) = caught.value.diagnostics
    assert "section.simt: dim_x is not known statically" in problem.message
    assert problem.seen == "dim_x is %n"
    assert problem.rule is not None
    assert "the name of a constant" in str(problem.help)
