"""A kernel of a vector core and the cube, on two FIFOs, as text."""

HEAD = """
!V = !pto.tensor_view<16x16xf32>
!T = !pto.tile_buf<vec, 16x16xf32>
!M = !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
func.func @f(%x: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %at = arith.constant 0 : i32
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !V
  %up = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 0} \
(%at : i32) -> !pto.pipe
  %down = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 2} \
(%at : i32) -> !pto.pipe
"""
PUSH = "pto.tpush(%t, %up : !T, !pto.pipe) {split = 0}"
POP = "pto.tpop(%m, %up : !M, !pto.pipe) {split = 0}"
FREE = "pto.tfree(%up : !pto.pipe) {split = 0}"
BACK = "pto.tpush(%m, %down : !M, !pto.pipe) {split = 0}"
TAKE = "pto.tpop(%u, %down : !T, !pto.pipe) {split = 0}"


def kernel(vector: str, cube: str) -> str:
    """What a vector core does with a tile, and the cube."""
    return f"""{HEAD}
  pto.section.vector {{
    %t = pto.alloc_tile : !T
    pto.tload ins(%v : !V) outs(%t : !T)
    %u = pto.declare_tile -> !T
    {vector}
  }}
  pto.section.cube {{
    %m = pto.declare_tile -> !M
    {cube}
  }}
  return
}}"""


def repeated(*lines: str) -> str:
    body = "\n".join(lines)
    return f"scf.for %i = %c0 to %c3 step %c1 {{\n{body}\n}}"
