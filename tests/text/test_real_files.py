"""Types and statements that real files hold: read by their pages, printed, read again the same."""

from __future__ import annotations

from readback import reads_back

from every import every
from ptokit.ir.module import OpaqueOp
from ptokit.isa.model.types import OpaqueType

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
pto.tload ins(%v : !P) outs(%t : !T) {layout = #pto.layout<nd>, pto.inferred_layout = true}
pto.texp ins(%t {precisionType = #pto<exp_precision high_precision>} : !T) outs(%u : !T)
pto.tdiv ins(%t, %t : !T, !T) outs(%u : !T) {precision_mode = #pto<precision_mode HIGH_PRECISION>}
pto.tfmod ins(%t, %t : !T, !T) outs(%u : !T) {precisionType = #pto<fmod_precision high_precision>}
pto.trecip ins(%t : !T) outs(%u : !T) {precisionType = #pto<recip_precision high_precision>}
pto.trowexpandmul ins(%t, %t : !T, !T) outs(%u : !T) {src1Col = 1 : i64, src0eqdst = true}
pto.tcvt ins(%t {rmode = "ROUND"} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = <ROUND>} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = #pto.round_mode<ROUND>} : !T) outs(%u : !T)
pto.tcvt ins(%t {rmode = #pto.round_mode<"ROUND">} : !T) outs(%u : !T)
pto.tcmp ins(%t, %t {cmpMode = #pto<cmp less_than>} : !T, !T) outs(%u : !T)
pto.tcolsum ins(%t, %t : !T, !T) outs(%u : !T) isBinary = false
%ex = arith.constant dense<0> : vector<4xi16>
  pto.tmrgsort ins(%t, %t, %t {exhausted = false} : !T, !T, !T) outs(%u, %ex : !T, vector<4xi16>)
pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
pto.tprint ins(%t {printFormat = #pto<print_format width10_precision6>} : !T)
pto.tload ins(%v : !P) outs(%t : !T) {pad_mode = #pto.padmode<PadNull>, init_out_buffer = false}
pto.tstore ins(%t : !T)
  outs(%v : !P)
  {atomicType = #pto<atomic_type atomic_add>, stPhase = #pto<st_phase final>}
pto.mgather ins(%v, %t : !P, !T)
  outs(%u : !T) {coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}
pto.mscatter ins(%t, %t : !T, !T)
  outs(%v : !P) {coalesce = "elem", scatterAtomicOp = #pto<scatter_atomic_op add>}
pto.thistogram ins(%t, %t : !T, !T) outs(%u : !T) {isMSB = true}
pto.tmov ins(%t : !T) outs(%u : !T) {accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_m>}
%z = pto.tassign %t, %q : !T -> !T
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


@every("statement", pieces(STATEMENTS))
def test_a_statement(statement: str) -> None:
    module = reads_back(f"{HEAD}{statement}\n  return\n}}\n")
    assert not [op for op in module.funcs[0].body.walk() if isinstance(op, OpaqueOp)]


@every("kind", pieces(ARGUMENTS))
def test_a_type(kind: str) -> None:
    module = reads_back(f"func.func @f(%a: {kind}) {{\n  return\n}}\n")
    assert not isinstance(module.funcs[0].args[0].type, OpaqueType)


@every("kind", pieces(KEPT))
def test_a_type_of_another_level_is_kept_as_written(kind: str) -> None:
    module = reads_back(f"func.func @f(%a: {kind}) {{\n  return\n}}\n")
    assert module.funcs[0].args[0].type == OpaqueType(kind)


def test_constants_of_other_dialects_are_kept() -> None:
    text = "%e = arith.constant dense<[1, 2]> : vector<2xi32>\n%f = arith.constant 1.0 : f64\n"
    module = reads_back(text)
    assert [op.name for op in module.funcs[0].body.walk()] == ["arith.constant"] * 2
