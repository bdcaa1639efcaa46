"""A kernel of both kinds of core as text: scores on the cube, exp on the vector core, a product.

The cube needs the vector core's answer in each iteration. With `preload` it computes the scores of
the next iteration before it waits for the answer of this one.
"""

from __future__ import annotations

TYPES = """\
!mat = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!left = !pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>
!vec = !pto.tile_buf<vec, 64x64xf32>
!half = !pto.tile_buf<vec, 64x64xf16>
!all = !pto.tensor_view<?x64xf16>
!part = !pto.partition_tensor_view<64x64xf16>
!out = !pto.tensor_view<?x64xf32>
!opart = !pto.partition_tensor_view<64x64xf32>"""
WEIGHTED = """
      %p = pto.declare_tile -> !mat
      pto.tpop(%p, %to_c : !mat, !pto.pipe) {split = 0}
      pto.tmov ins(%p : !mat) outs(%pl : !left)
      pto.tfree(%to_c : !pto.pipe) {split = 0}
      %row = arith.muli %i, %c64 : index
      %vp = pto.partition_view %vv, offsets = [%row, %c0], sizes = [%c64, %c64] : !all -> !part
      pto.tload ins(%vp : !part) outs(%vm : !mat)
      pto.tmov ins(%vm : !mat) outs(%vr : !right)
      pto.tmatmul ins(%pl, %vr : !left, !right) outs(%oa : !acc)
      %op = pto.partition_view %ov, offsets = [%row, %c0], sizes = [%c64, %c64] : !out -> !opart
      pto.tstore ins(%oa : !acc) outs(%op : !opart)"""
TILES = {
    "qm": "mat",
    "ql": "left",
    "km": "mat",
    "kr": "right",
    "sa": "acc",
    "pl": "left",
    "vm": "mat",
    "vr": "right",
    "oa": "acc",
}


def scores(i: str) -> str:
    """The scores of one iteration, which the vector core pops."""
    return f"""
      %row_{i} = arith.muli %{i}, %c64 : index
      %kp_{i} = pto.partition_view %kv, offsets = [%row_{i}, %c0], sizes = [%c64, %c64] \
: !all -> !part
      pto.tload ins(%kp_{i} : !part) outs(%km : !mat)
      pto.tmov ins(%km : !mat) outs(%kr : !right)
      pto.tmatmul ins(%ql, %kr : !left, !right) outs(%sa : !acc)
      pto.tpush(%sa, %to_v : !acc, !pto.pipe) {{split = 0}}"""


def score_kernel(slots: int, *, preload: bool) -> str:
    """The program; `slots` of the FIFOs in both directions."""
    ahead = f"""
      %j = arith.addi %i, %c1 : index
      %more = arith.cmpi slt, %j, %n : index
      scf.if %more {{{scores("j")}
      }}"""
    first, body = (scores("c0"), ahead) if preload else ("", scores("i"))
    tiles = "\n".join(f"    %{name} = pto.alloc_tile : !{kind}" for name, kind in TILES.items())
    arrays = ", ".join(f"%{name}: !pto.ptr<f16>" for name in "qkv")
    views = "\n".join(
        f"    %{name}v = pto.make_tensor_view %{name}, shape = [%size, %c64], "
        f"strides = [%c64, %c1] : !{'out' if name == 'o' else 'all'}"
        for name in "qkvo"
    )
    return f"""\
{TYPES}
func.func @kernel({arrays}, %o: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %size = arith.muli %n, %c64 : index
  %at_v = arith.constant 0 : i32
  %at_c = arith.constant 65536 : i32
  %to_v = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 16384, slot_num = {slots}, \
flag_base = 0}} (%at_v : i32) -> !pto.pipe
  %to_c = pto.initialize_l2l_pipe {{dir_mask = 2, slot_size = 8192, slot_num = {slots}, \
flag_base = 4}} (%at_c : i32) -> !pto.pipe
  pto.section.cube {{
{views}
{tiles}
    %qp = pto.partition_view %qv, offsets = [%c0, %c0], sizes = [%c64, %c64] : !all -> !part
    pto.tload ins(%qp : !part) outs(%qm : !mat)
    pto.tmov ins(%qm : !mat) outs(%ql : !left){first}
    scf.for %i = %c0 to %n step %c1 {{{body}{WEIGHTED}
    }}
  }}
  pto.section.vector {{
    %e = pto.alloc_tile : !vec
    %h = pto.alloc_tile : !half
    scf.for %i = %c0 to %n step %c1 {{
      %s = pto.declare_tile -> !vec
      pto.tpop(%s, %to_v : !vec, !pto.pipe) {{split = 0}}
      pto.texp ins(%s : !vec) outs(%e : !vec)
      pto.tfree(%to_v : !pto.pipe) {{split = 0}}
      pto.tcvt ins(%e : !vec) outs(%h : !half)
      pto.tpush(%h, %to_c : !half, !pto.pipe) {{split = 0}}
    }}
  }}
  return
}}
"""
