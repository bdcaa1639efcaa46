"""Tile types for the examples of pages, and example programs that belong to no page."""

VEC_F32 = "!pto.tile_buf<vec, 16x32xf32>"
VEC_I32 = "!pto.tile_buf<vec, 16x32xi32>"
COUNT = "!pto.tile_buf<vec, 16x8xi32, valid=16x1>"
ONE_OF_EACH_ROW = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
WIDE = "!pto.tile_buf<vec, 16x64xf32>"
VEC_NZ = "!pto.tile_buf<vec, 16x32xf32, blayout=col_major, slayout=row_major>"
PARTLY = "!pto.tile_buf<vec, 16x32xf32, valid=13x29>"
L1 = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
L1_I8 = "!pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>"
L0A = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"
L0A_ROW = "!pto.tile_buf<left, 64x64xf16, valid=1x64, blayout=col_major, slayout=row_major>"
L0B = "!pto.tile_buf<right, 64x64xf16, slayout=col_major>"
L0C = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
L0C_64 = "!pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
L0C_ROW = (
    "!pto.tile_buf<acc, 64x64xf32, valid=1x64, blayout=col_major, slayout=row_major, fractal=1024>"
)
PARAMETERS = "!pto.tile_buf<scaling, 1x64xu64>"

VIEW_F32 = "!pto.tensor_view<16x32xf32>"


def in_view(statements: str) -> str:
    """Return a program of `statements` on %view, a matrix; %one, %rows, %cols are numbers."""
    lines = "".join(f"  {line}\n" for line in statements.splitlines())
    return f"""\
func.func @example(%x: !pto.ptr<f32>) {{
  %one = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %cols = arith.constant 32 : index
  %view = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%cols, %one] : {VIEW_F32}
{lines}  return
}}"""


DOUBLE = f"""\
func.func @double(%x: {VEC_F32}, %y: {VEC_F32}) {{
  pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%y : {VEC_F32})
  return
}}"""
