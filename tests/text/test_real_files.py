"""Types and statements that real files hold: read by their pages, printed, read again the same."""

from __future__ import annotations

import pytest

from ptokit.ir.module import Module, OpaqueOp
from ptokit.ir.same import same
from ptokit.isa.model.types import OpaqueType
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

HEAD = """\
!T = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major,
                   slayout=none_box, fractal=512, pad=0>
!W = !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=32, v_row=?, v_col=?, blayout=row_major,
                   slayout=none_box, fractal=512, pad=0>
!P = !pto.partition_tensor_view<16x64xf32>
!S = !pto.struct<f32, !pto.struct<i8, !pto.struct<i16>>>
func.func @f(%p: !pto.ptr<f32>, %t: !T, %u: !T, %v: !P, %c0: index, %c1: index, %n: i32, %q: i64) {
  %cf = arith.constant 1.0 : f32
  %b = arith.cmpi slt, %c0, %c1 : index
  %s = pto.declare_struct -> !S
"""
STATEMENTS = """\
%e = arith.constant dense<0> : vector<4xi16>
%e = arith.select %b, %t, %u : !T
%e = arith.select %b, %p, %p : !pto.ptr<f32>
%e = arith.select %b, %s, %s : !S
%w = pto.subview %t[%c0, %c1] sizes [8, 32] valid [%c0, %c1] : !T -> !W
%w = pto.subset %t[%c0, %c0] sizes [16, 16] : !T
pto.textract ins(%t, %c0, %c0, fp %u : !T, index, index, !T) outs(%u : !T)
pto.tstore ins(%t, fp %u : !T, !T) outs(%v : !P)
pto.tstore ins(%t : !T, pre_quant %q : i64) outs(%v : !P)
pto.tmov ins(%t, pre_quant %q : !T, i64) outs(%u : !T)
pto.set_quant_scalar(%cf : f32) {id = 0}
pto.set_quant_vector(%t : !T) {id = 0}
pto.tload ins(%v : !P) outs(%t : !T) {layout = #pto.layout<nd>, pto.inferred_layout = true}
pto.tquant.mx ins(%t : !T)
  outs(%u, %u, %u, %u : !T, !T, !T, !T) {grpAxis = #pto<mx_group_axis axis0>}
pto.texp ins(%t : !T) outs(%u : !T) {precisionType = #pto<exp_precision high_precision>}
pto.texp ins(%t {precisionType = #pto<exp_precision high_precision>} : !T) outs(%u : !T)
pto.trsqrt ins(%t : !T) outs(%u : !T) {precisionType = #pto<rsqrt_precision high_precision>}
pto.tdiv ins(%t, %t : !T, !T) outs(%u : !T) {precisionType = #pto<div_precision high_precision>}
pto.tdiv ins(%t, %t : !T, !T) outs(%u : !T) {precision_mode = #pto<precision_mode HIGH_PRECISION>}
pto.tfmod ins(%t, %t : !T, !T) outs(%u : !T) {precisionType = #pto<fmod_precision high_precision>}
pto.trecip ins(%t : !T) outs(%u : !T) {precisionType = #pto<recip_precision high_precision>}
pto.tinsert ins(%t, %c0, %c0 : !T, index, index)
  outs(%u : !T) {tinsertMode = #pto.tinsert_mode<split2>}
pto.tfillpad ins(%t : !T) outs(%u : !T) {mode = "expand"}
pto.tfillpad ins(%t : !T) outs(%t : !T) {mode = "inplace"}
pto.trowexpandmul ins(%t, %t : !T, !T) outs(%u : !T) {src1Col = 1 : i64, src0eqdst = true}
pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : !T, "row") outs(%u : !T)
pto.tgather ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : !T, "col") outs(%u : !T)
pto.tcvt ins(%t {rmode = "ROUND"} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = <ROUND>} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = #pto.round_mode<ROUND>} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = #pto.round_mode<"ROUND">} : !T) outs(%u : !T)
pto.tcmp ins(%t, %t {cmpMode = #pto<cmp less_than>} : !T, !T) outs(%u : !T)
pto.tcolsum ins(%t, %t : !T, !T) outs(%u : !T) isBinary = false
pto.tcolsum ins(%t, %t {isBinary = false} : !T, !T) outs(%u : !T)
%ex = arith.constant dense<0> : vector<4xi16>
  pto.tmrgsort ins(%t, %t, %t {exhausted = false} : !T, !T, !T) outs(%u, %ex : !T, vector<4xi16>)
pto.tmrgsort ins(%t, %n : !T, i32) outs(%u : !T)
pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
pto.tquant ins(%t, %u : !T, !T) outs(%t : !T) {quant_type = #pto<quant_type INT8_SYM>}
pto.tprint ins(%t {printFormat = #pto<print_format width10_precision6>} : !T)
pto.tload ins(%v : !P) outs(%t : !T) pad_mode = #pto.padmode<PadNull> init_out_buffer = false
pto.tload ins(%v : !P) outs(%t : !T) {pad_mode = #pto.padmode<PadNull>, init_out_buffer = false}
pto.tstore ins(%t : !T)
  outs(%v : !P)
  {atomicType = #pto<atomic_type atomic_add>, stPhase = #pto<st_phase final>}
pto.mgather ins(%v, %t : !P, !T)
  outs(%u : !T) {coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}
pto.mscatter ins(%t, %t : !T, !T)
  outs(%v : !P) {coalesce = "elem", scatterAtomicOp = #pto<scatter_atomic_op add>}
pto.thistogram ins(%t, %t : !T, !T) outs(%u : !T) {isMSB = true}
pto.tci ins(%n {descending = true} : i32) outs(%u : !T)
pto.ttri ins(%n {upperOrLower = 1 : i32} : i32) outs(%u : !T)
pto.trandom ins(%n, %n, %n, %n, %n, %n {rounds = 7 : i32}
  : i32, i32, i32, i32, i32, i32)
  outs(%u : !T)
pto.tmov ins(%t : !T) outs(%u : !T) {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}
%z = pto.load %p[%c0] : !pto.ptr<f32> -> f32
  pto.store %z, %p[%c0] : !pto.ptr<f32>, f32
pto.tscatter ins(%t, {maskPattern = #pto.mask_pattern<P0101>} : !T) outs(%u : !T)
%z = pto.tassign %t, %q : !T -> !T
pto.tconcatidx ins(%t, %t, %u, %u : !T, !T, !T, !T) outs(%u : !T)
pto.set_validshape %t, %c0, %c1 : !T
pto.tpow ins(%t, %t, %t : !T, !T, !T) outs(%u : !T)
"""
ARGUMENTS = """\
!pto.ptr<f32, ub>
!pto.ptr<f32, l0c>
!pto.ptr<f32, #pto.address_space<gm>>
!pto.ptr<!pto.f8E8M0>
!pto.tile_buf<loc=vec, dtype=f8E4M3FN, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major,
 slayout=none_box, fractal=512, pad=0>
!pto.tile_buf<vec, 16x64x!pto.hif8>
!pto.partition_tensor_view<16x64x!pto.f4E2M1x2>
!pto.partition_tensor_view<16x64x!pto.f4E1M2x2>
!pto.struct<f32, !pto.struct<i8, !pto.local_array<4xi16>>>
memref<16x16xf16, #pto.address_space<vec>>
memref<?x?xf16, strided<[?, 1], offset: ?>, #pto.address_space<gm>>
vector<4xi16>
memref<256xi64>
"""
KEPT = """\
!pto.ptr<!pto.hif8x2>
!pto.tile_buf<vec, 16x64x!pto.bf16x2>
!pto.partition_tensor_view<16x64xf64>
memref<16x16xf16, strided<[?, ?], offset: ?>, #pto.address_space<vec>>
"""


def pieces(text: str) -> list[str]:
    """One for each line; what is indented belongs to the line before."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def reads_back(text: str) -> Module:
    module = read(text)
    printed = print_module(module, "dps")
    assert same(read(printed), module), printed
    assert print_module(read(printed), "dps") == printed
    return module


@pytest.mark.parametrize("statement", pieces(STATEMENTS))
def test_a_statement(statement: str) -> None:
    module = reads_back(f"{HEAD}{statement}\n  return\n}}\n")
    assert not [op for op in module.funcs[0].body.walk() if isinstance(op, OpaqueOp)]


@pytest.mark.parametrize("kind", pieces(ARGUMENTS))
def test_a_type(kind: str) -> None:
    module = reads_back(f"func.func @f(%a: {kind}) {{\n  return\n}}\n")
    assert not isinstance(module.funcs[0].args[0].type, OpaqueType)


@pytest.mark.parametrize("kind", pieces(KEPT))
def test_a_type_of_another_level_is_kept_as_written(kind: str) -> None:
    module = reads_back(f"func.func @f(%a: {kind}) {{\n  return\n}}\n")
    assert module.funcs[0].args[0].type == OpaqueType(kind)


def test_constants_of_other_dialects_are_kept() -> None:
    text = "%e = arith.constant dense<[1, 2]> : vector<2xi32>\n%f = arith.constant 1.0 : f64\n"
    module = reads_back(text)
    assert [op.name for op in module.funcs[0].body.walk()] == ["arith.constant"] * 2
