"""Generated programs of any length, which `make bench` times and tests of growth check."""

from __future__ import annotations

TILE = "!pto.tile_buf<vec, 1x32xf32>"
LISTED = ("lengths", "used", "slots", "found")
ELEMENT = "!pto.ptr<i32>"
# one request that is listed if it is long enough: branches around scalar loads and stores
DECISION = f"""\
  %n_N = arith.constant N : index
  %some_N = arith.cmpi slt, %n_N, %requests : index
  scf.if %some_N {{
    %loaded_N = pto.load_scalar %lengths[%n_N] : {ELEMENT} -> i32
    %length_N = arith.index_cast %loaded_N : i32 to index
    %long_N = arith.cmpi slt, %least, %length_N : index
    scf.if %long_N {{
      %at_N = pto.load_scalar %used[%c0] : {ELEMENT} -> i32
      %slot_N = arith.index_cast %at_N : i32 to index
      %id_N = arith.index_cast %n_N : index to i32
      pto.store_scalar %id_N, %slots[%slot_N] : {ELEMENT}, i32
      %next_N = arith.addi %slot_N, %c1 : index
      %count_N = arith.index_cast %next_N : index to i32
      pto.store_scalar %count_N, %used[%c0] : {ELEMENT}, i32
    }}
  }}
"""


def chain(count: int, kind: str = TILE) -> str:
    """A tile of its own for each sum, each read by the next one only."""
    lines = [f"%t0 = pto.alloc_tile : {kind}", "%x = arith.constant 1.0 : f32"]
    lines.append(f"pto.texpands ins(%x : f32) outs(%t0 : {kind})")
    for n in range(1, count):
        lines.append(f"%t{n} = pto.alloc_tile : {kind}")
        lines.append(f"pto.tadd ins(%t{n - 1}, %t{n - 1} : {kind}, {kind}) outs(%t{n} : {kind})")
    return "\n".join(["func.func @f() {", *lines, "return", "}"])


def straight(count: int) -> str:
    """So many sums on eight tiles, each written before."""
    lines = ["%x = arith.constant 1.0 : f32"]
    for n in range(8):
        lines.append(f"%t{n} = pto.alloc_tile : {TILE}")
        lines.append(f"pto.texpands ins(%x : f32) outs(%t{n} : {TILE})")
    for n in range(count):
        a, b, c = n % 8, n % 7, n % 5
        lines.append(f"pto.tadd ins(%t{a}, %t{b} : {TILE}, {TILE}) outs(%t{c} : {TILE})")
    return "\n".join(["func.func @f() {", *lines, "return", "}"])


def decisions(count: int) -> str:
    """A kernel that lists requests, without a loop, as models that are unrolled have them."""
    head = ", ".join(f"%{name}: {ELEMENT}" for name in LISTED)
    ends = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    each = (DECISION.replace("_N", f"_{n}").replace(" N ", f" {n} ") for n in range(count))
    lines = [f"func.func @f({head}, %requests: index, %least: index) {{", *ends, *each]
    return "\n".join([*lines, "return", "}"])


HALF, WIDE = "16x64xf16", "16x64xf32"
TYPES = f"""\
!mat = !pto.tile_buf<mat, {HALF}, blayout=col_major, slayout=row_major>
!keys = !pto.tile_buf<mat, 64x64xf16, slayout=col_major>
!values = !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
!left = !pto.tile_buf<left, {HALF}, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 64x64xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, {WIDE}, blayout=col_major, slayout=row_major, fractal=1024>
!rows = !pto.tile_buf<vec, {WIDE}>
!rows16 = !pto.tile_buf<vec, {HALF}>
!column = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!half = !pto.tensor_view<?x64xf16>
!wide = !pto.tensor_view<?x64xf32>
!part = !pto.partition_tensor_view<{HALF}>
!large = !pto.partition_tensor_view<64x64xf16>
!sums = !pto.partition_tensor_view<{WIDE}>
"""
PHASES = """\
func.func @phases(%q: !pto.ptr<f16>, %k: !pto.ptr<f16>, %o: !pto.ptr<f32>, %pages: !pto.ptr<i32>, \
%requests: i32, %first: i32, %batch: i32, %row: i32, %tile: index, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %c64 = arith.constant 64 : index
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %count = arith.index_cast %requests : i32 to index
  %seen = arith.index_cast %first : i32 to index
  %base = arith.index_cast %batch : i32 to index
  %from = arith.index_cast %row : i32 to index
  %at = arith.constant 0 : i32
  %scores = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 2, flag_base = 0} \
(%at : i32) -> !pto.pipe
  %weights = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 2048, slot_num = 2, flag_base = 2} \
(%at : i32) -> !pto.pipe
  %sums = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 4096, slot_num = 2, flag_base = 4} \
(%at : i32) -> !pto.pipe
  pto.section.cube {
    %qv = pto.make_tensor_view %q, shape = [%size, %c64], strides = [%c64, %c1] : !half
    %kv = pto.make_tensor_view %k, shape = [%size, %c64], strides = [%c64, %c1] : !half
    scf.for %work = %block to %c64 step %c24 {
"""
WORK = """\
      %group_S = arith.divsi %work, %c8 : index
      %begin_S = arith.muli %group_S, %c8 : index
      %own_S = arith.cmpi slt, %begin_S, %count : index
      scf.if %own_S {
        %left_S = arith.subi %count, %begin_S : index
        %many_S = arith.minsi %left_S, %c8 : index
        %start_S = arith.addi %base, %begin_S : index
"""
CONDITIONS = """\
        %n_N = arith.constant N : index
        %any_N = arith.cmpi slt, %n_N, %many_S : index
        scf.if %any_N {
          %request_N = arith.addi %start_S, %n_N : index
          %length_N = arith.addi %seen, %request_N : index
          %upper_N = arith.addi %length_N, %c64 : index
          %tiles_N = arith.divsi %upper_N, %c64 : index
          %more_N = arith.cmpi slt, %tile, %tiles_N : index
          scf.if %more_N {
"""
CUBE = """\
            %index_N = pto.load_scalar %pages[%n_N] : !pto.ptr<i32> -> i32
            %page_N = arith.index_cast %index_N : i32 to index
            %far_N = arith.muli %page_N, %c64 : index
            %keys_N = arith.addi %from, %far_N : index
            %rows_N = arith.muli %request_N, %c16 : index
            %qp_N = pto.partition_view %qv, offsets = [%rows_N, %c0], sizes = [%c16, %c64] \
: !half -> !part
            %kp_N = pto.partition_view %kv, offsets = [%keys_N, %c0], sizes = [%c64, %c64] \
: !half -> !large
            %mq_N = pto.alloc_tile : !mat
            %mk_N = pto.alloc_tile : !values
            %l_N = pto.alloc_tile : !left
            %r_N = pto.alloc_tile : !right
            %s_N = pto.alloc_tile : !acc
            pto.tload ins(%qp_N : !part) outs(%mq_N : !mat)
            pto.tload ins(%kp_N : !large) outs(%mk_N : !values)
            pto.tmov ins(%mq_N : !mat) outs(%l_N : !left)
            pto.tmov ins(%mk_N : !values) outs(%r_N : !right)
            pto.tmatmul ins(%l_N, %r_N : !left, !right) outs(%s_N : !acc)
            pto.tpush(%s_N, %scores : !acc, !pto.pipe) {split = 0}
            %mp_N = pto.declare_tile -> !mat
            %lp_N = pto.alloc_tile : !left
            %sum_N = pto.alloc_tile : !acc
            pto.tpop(%mp_N, %weights : !mat, !pto.pipe) {split = 0}
            pto.tmov ins(%mp_N : !mat) outs(%lp_N : !left)
            pto.tfree(%weights : !pto.pipe) {split = 0}
            pto.tmatmul ins(%lp_N, %r_N : !left, !right) outs(%sum_N : !acc)
            pto.tpush(%sum_N, %sums : !acc, !pto.pipe) {split = 0}
          }
        }
"""
VECTOR = """\
            %place_N = arith.muli %request_N, %c16 : index
            %s_N = pto.declare_tile -> !rows
            %x_N = pto.alloc_tile : !rows
            %t_N = pto.alloc_tile : !rows
            %top_N = pto.alloc_tile : !column
            pto.tpop(%s_N, %scores : !rows, !pto.pipe) {split = 0}
            pto.tmuls ins(%s_N, %scale : !rows, f32) outs(%x_N : !rows)
            pto.tfree(%scores : !pto.pipe) {split = 0}
            pto.trowmax ins(%x_N, %t_N : !rows, !rows) outs(%top_N : !column)
            pto.trowexpandsub ins(%x_N, %top_N : !rows, !column) outs(%x_N : !rows)
            pto.texp ins(%x_N : !rows) outs(%x_N : !rows)
            %p_N = pto.alloc_tile : !rows16
            pto.tcvt ins(%x_N {rmode = #pto<round_mode RINT>} : !rows) outs(%p_N : !rows16)
            pto.tpush(%p_N, %weights : !rows16, !pto.pipe) {split = 0}
            %sum_N = pto.declare_tile -> !rows
            %y_N = pto.alloc_tile : !rows
            pto.tpop(%sum_N, %sums : !rows, !pto.pipe) {split = 0}
            pto.tmuls ins(%sum_N, %scale : !rows, f32) outs(%y_N : !rows)
            pto.tfree(%sums : !pto.pipe) {split = 0}
            %op_N = pto.partition_view %ov, offsets = [%place_N, %c0], sizes = [%c16, %c64] \
: !wide -> !sums
            %none_N = arith.cmpi eq, %tile, %c0 : index
            scf.if %none_N {
              pto.tstore ins(%y_N : !rows) outs(%op_N : !sums)
            } else {
              %z_N = pto.alloc_tile : !rows
              pto.tload ins(%op_N : !sums) outs(%z_N : !rows)
              pto.tadd ins(%z_N, %y_N : !rows, !rows) outs(%z_N : !rows)
              pto.tstore ins(%z_N : !rows) outs(%op_N : !sums)
            }
          }
        }
"""
BETWEEN = """\
      }
    }
  }
  pto.section.vector {
    %scale = arith.constant 0.125 : f32
    %ov = pto.make_tensor_view %o, shape = [%size, %c64], strides = [%c64, %c1] : !wide
    scf.for %work = %block to %c64 step %c24 {
"""


def phases(count: int) -> str:
    """One phase of attention over pages, of so many requests on the cube and vector cores.

    Which requests there are, and how long, is known at run time only: %requests, %first, %tile.
    """

    def steps(core: str, text: str) -> str:
        each = ((CONDITIONS + text).replace("_S", core) for _ in range(count))
        every = (
            step.replace("_N", f"{core}{n}").replace(" N ", f" {n} ") for n, step in enumerate(each)
        )
        return WORK.replace("_S", core) + "".join(every)

    inner = steps("_c", CUBE) + BETWEEN + steps("_v", VECTOR)
    return f"{TYPES}{PHASES}{inner}      }}\n    }}\n  }}\n  return\n}}\n"
