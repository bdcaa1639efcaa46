"""Long programs as front ends write them, at level 3: how long reading and checking take."""

from __future__ import annotations

from collections.abc import Iterator

from whole import Start, repeated

import ptokit as pto

TILE = "!pto.tile_buf<loc=vec, dtype={}, rows=16, cols={}, v_row=?, v_col={}, blayout={}, "
REST = "slayout=none_box, fractal=512, pad=0>"
F32 = (TILE + REST).format("f32", 64, "?", "row_major")
BF16 = (TILE + REST).format("bf16", 64, "?", "row_major")
COLUMN = (TILE + REST).format("f32", 1, "1", "col_major")
VIEW, PART = "!pto.tensor_view<?x?xbf16>", "!pto.partition_tensor_view<16x64xbf16>"
NUMBERS = {"zero": 0, "one": 1, "rows": 16, "cols": 64, "all": 4096}
ADDRESSES = {"at_in": 0, "at_wide": 2048, "at_more": 6144, "at_sums": 10240}
HEAD = """\
module attributes {pto.target_arch = "a2a3"} {
func.func @normalised(%x: !pto.ptr<bf16>, %y: !pto.ptr<bf16>, %block: i32) \
attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
"""
VIEWS = f"""\
  %from = pto.make_tensor_view %x, shape = [%all, %cols], strides = [%cols, %one] : {VIEW}
  %to = pto.make_tensor_view %y, shape = [%all, %cols], strides = [%cols, %one] : {VIEW}
"""
SIZES = "valid_row = %rows valid_col = %cols"
# sixteen rows, each divided by its sum of squares; N stands for their number
ROWS = f"""\
  %row_N = arith.constant {{row}} : index
  %p_N = pto.partition_view %from, offsets = [%row_N, %zero], sizes = [%rows, %cols]\
 : {VIEW} -> {PART}
  %t_N = pto.alloc_tile addr = %at_in {SIZES} : {BF16}
  %w_N = pto.alloc_tile addr = %at_wide {SIZES} : {F32}
  %m_N = pto.alloc_tile addr = %at_more {SIZES} : {F32}
  %s_N = pto.alloc_tile addr = %at_sums valid_row = %rows : {COLUMN}
  pto.tload ins(%p_N : {PART}) outs(%t_N : {BF16})
  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
  pto.tcvt ins(%t_N {{rmode = #pto<round_mode RINT>}} : {BF16}) outs(%w_N : {F32})
  pto.barrier <PIPE_V>
  pto.tmul ins(%w_N, %w_N : {F32}, {F32}) outs(%w_N : {F32})
  pto.trowsum ins(%w_N, %m_N : {F32}, {F32}) outs(%s_N : {COLUMN})
  pto.trowexpandmul ins(%w_N, %s_N : {F32}, {COLUMN}) outs(%m_N : {F32})
  pto.tcvt ins(%m_N {{rmode = #pto<round_mode RINT>}} : {F32}) outs(%t_N : {BF16})
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  %q_N = pto.partition_view %to, offsets = [%row_N, %zero], sizes = [%rows, %cols]\
 : {VIEW} -> {PART}
  pto.tstore ins(%t_N : {BF16}) outs(%q_N : {PART})
"""


def program(lines: int) -> str:
    """A kernel of about so many lines."""
    numbers = "".join(f"  %{n} = arith.constant {v} : index\n" for n, v in NUMBERS.items())
    numbers += "".join(f"  %{n} = arith.constant {v} : i64\n" for n, v in ADDRESSES.items())
    count = max(1, (lines - 16) // ROWS.count("\n"))
    some = (ROWS.replace("_N", f"_{n}").replace("{row}", str(n * 16 % 4080)) for n in range(count))
    return f"{HEAD}{numbers}{VIEWS}{''.join(some)}  return\n}}\n}}\n"


def readings(repeats: int) -> Iterator[Start]:
    """Reading, and with all that `check` does for one target, a usual and a long program."""
    for lines in (100, 10_000):
        text = program(lines)
        assert not any(found.is_error for found in pto.loads(text).check("a2a3"))
        yield repeated(f"reading {lines} lines", repeats, lambda text=text: pto.loads(text))
        # a program keeps what was found out about it
        work = lambda text=text: pto.loads(text).check("a2a3")  # noqa: E731 - of this text
        yield repeated(f"reading and checking {lines} lines", repeats, work)
