"""Numbers, control flow, handles and flags: what is only seen in programs."""

from __future__ import annotations

import numpy as np

from oracles.registry import NoData, Program, say

T = "!pto.tile_buf<vec, 1x8xi32>"
PLANE = "!pto.tile_buf<vec, 4x8xi32>"
PART = "!pto.tile_buf<vec, 4x8xi32, valid=2x4>"
NUMBERS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 8))
ONE = "  %one = arith.constant 1 : i32\n  %two = arith.constant 2 : i32\n"
ADD_K = f"pto.tadds ins(%out, %i : {T}, i32) outs(%out : {T})"
ZEROS = np.zeros((1, 8), np.int32)
COUNT = np.arange(32, dtype=np.int32)


def program(arguments: str, lines: str) -> str:
    return f"func.func @f({arguments}) {{\n{NUMBERS}{ONE}{lines}\n  return\n}}\n"


say(
    "For",
    Program(
        program(
            f"%out: {T}",
            f"""
  %sum = scf.for %k = %c1 to %c8 step %c3 iter_args(%s = %c2) -> (index) {{
    %n = arith.addi %s, %k : index
    scf.yield %n : index
  }}
  %i = arith.index_cast %sum : index to i32
  {ADD_K}""",
        ),
        {"out": [[2 + 1 + 4 + 7] * 8]},
        {"out": ZEROS},
    ),
)
CHOICE = Program(
    program(
        f"%out: {T}, %a: i32",
        f"""
  %q = arith.cmpi slt, %a, %two : i32
  %i = scf.if %q -> (i32) {{
    %x = arith.addi %a, %two : i32
    scf.yield %x : i32
  }} else {{
    scf.yield %a : i32
  }}
  {ADD_K}
  scf.if %q {{
    pto.tadds ins(%out, %two : {T}, i32) outs(%out : {T})
  }}""",
    ),
    {"out": [[-5 + 2 + 2] * 8]},
    {"out": ZEROS, "a": -5},
)
say("If", CHOICE)
say("Yield", CHOICE)
HALVED = Program(
    program(
        f"%out: {T}, %n: i32",
        f"""
  %i = scf.while (%left = %n) : (i32) -> i32 {{
    %more = arith.cmpi sgt, %left, %two : i32
    pto.tadds ins(%out, %one : {T}, i32) outs(%out : {T})
    scf.condition(%more) %left : i32
  }} do {{
  ^bb0(%now: i32):
    %half = arith.divsi %now, %two : i32
    pto.tadds ins(%out, %now : {T}, i32) outs(%out : {T})
    scf.yield %half : i32
  }}
  {ADD_K}""",
    ),
    {"out": [[4 + 20 + 10 + 5 + 2] * 8]},
    {"out": ZEROS, "n": 20},
)
say("While", HALVED)
BLOCKS = Program(
    program(
        f"%out: {T}, %n: i32",
        f"""
  cf.br ^head(%n : i32)
^head(%left: i32):
  %odd = arith.andi %left, %one : i32
  %even = arith.cmpi ne, %odd, %one : i32
  cf.cond_br %even, ^half, ^end(%left : i32)
^half:
  pto.tadds ins(%out, %left : {T}, i32) outs(%out : {T})
  %next = arith.divsi %left, %two : i32
  cf.br ^head(%next : i32)
^end(%i: i32):
  {ADD_K}""",
    ),
    {"out": [[40 + 20 + 10 + 5] * 8]},
    {"out": ZEROS, "n": 40},
)
say("Br", BLOCKS)
say("CondBr", BLOCKS)
say("ScfCondition", HALVED)
SWITCHED = Program(
    program(
        f"%out: {T}, %n: i32",
        f"""
  %even = arith.cmpi ne, %n, %one : i32
  cf.assert %even, "n is not 1"
  pto.assert %even {{message = "n is not 1"}} : i1
  %i = scf.execute_region -> (i32) {{
    cf.switch %n : i32, [default: ^end(%one : i32), -3: ^more(%n : i32), 5: ^end(%two : i32)]
  ^more(%m: i32):
    pto.tadds ins(%out, %two : {T}, i32) outs(%out : {T})
    cf.br ^end(%m : i32)
  ^end(%found: i32):
    scf.yield %found : i32
  }}
  {ADD_K}""",
    ),
    {"out": [[2 - 3] * 8]},
    {"out": ZEROS, "n": -3},
)
for page in ("Switch", "Assert", "Check", "ExecuteRegion"):
    say(page, SWITCHED)
say(
    "IndexSwitch",
    Program(
        program(
            f"%out: {T}, %n: index",
            f"""
  %i = scf.index_switch %n -> i32
  case 3 {{
    scf.yield %two : i32
  }}
  case -1 {{
    pto.tadds ins(%out, %two : {T}, i32) outs(%out : {T})
    scf.yield %one : i32
  }}
  default {{
    scf.yield %two : i32
  }}
  {ADD_K}
  scf.index_switch %n
  case 1 {{
  }}
  default {{
    pto.tadds ins(%out, %two : {T}, i32) outs(%out : {T})
  }}""",
        ),
        {"out": [[2 + 1 + 2] * 8]},
        {"out": ZEROS, "n": -1},
    ),
)
say(
    "FuncCall",
    Program(
        f"""func.func private @more(%t: {T}, %n: i32) -> (i32, {T}) {{
  pto.tadds ins(%t, %n : {T}, i32) outs(%t : {T})
  %m = arith.addi %n, %n : i32
  return %m, %t : i32, {T}
}}
func.func private @twice(%t: {T}, %n: i32) -> i32 {{
  %m, %u = func.call @more(%t, %n) : ({T}, i32) -> (i32, {T})
  %k, %v = call @more(%u, %m) : ({T}, i32) -> (i32, {T})
  return %k : i32
}}
"""
        + program(
            f"%out: {T}, %n: i32",
            f"""
  %i = scf.for %j = %c0 to %c2 step %c1 iter_args(%k = %n) -> (i32) {{
    %l = func.call @twice(%out, %k) : ({T}, i32) -> i32
    scf.yield %l : i32
  }}
  {ADD_K}""",
        ),
        {"out": [[3 + 6 + 12 + 24 + 48] * 8]},
        {"out": ZEROS, "n": 3},
    ),
)
say("Return", Program(f"func.func @f(%out: {T}) {{\n  return\n}}\n", {}, {"out": ZEROS}))
say(
    "AllocTile",
    Program(
        program(
            f"%x: {T}, %out: {T}",
            f"""
  %near = arith.constant 64 : i64
  %t = pto.alloc_tile addr = %near : {T}
  %u = pto.alloc_tile addr = %near : {T}
  %v = pto.alloc_tile : {T}
  pto.tadds ins(%x, %one : {T}, i32) outs(%t : {T})
  pto.tadds ins(%x, %two : {T}, i32) outs(%v : {T})
  pto.tadd ins(%u, %v : {T}, {T}) outs(%out : {T})""",
        ),
        {"out": [[2 * n + 3 for n in range(8)]]},
        {"x": COUNT[:8].reshape(1, 8), "out": ZEROS},
    ),
)
MAP = "!pto.conv_tile<nc1hwc0, 1x1x1x2x8xi32, loc=vec>"
PLANES = "!pto.conv_tile<nchw, 1x8x1x2xi32, loc=vec>"
say(
    "AllocConv",
    Program(
        program(
            f"%out: {PLANES}",
            f"""
  %near = arith.constant 64 : i64
  %t = pto.alloc_tile addr = %near : {MAP}
  %u = pto.alloc_tile addr = %near : {MAP}
  %v = pto.alloc_tile : {MAP}
  pto.texpands ins(%one : i32) outs(%t : {MAP})
  pto.texpands ins(%two : i32) outs(%v : {MAP})
  pto.ttrans ins(%u : {MAP}) outs(%out : {PLANES})""",
        ),
        {"out": np.ones((1, 8, 1, 2)).tolist()},
        {"out": np.zeros((1, 8, 1, 2), np.int32)},
    ),
)
say(
    "TAssign",
    Program(
        program(
            f"%x: {T}, %out: {T}",
            f"""
  %near = arith.constant 64 : i64
  %far = arith.constant 4096 : i64
  %t = pto.alloc_tile addr = %near : {T}
  %s = pto.alloc_tile addr = %far : {T}
  %u = pto.tassign %t, %far : {T} -> {T}
  pto.tadds ins(%x, %one : {T}, i32) outs(%t : {T})
  pto.tadds ins(%x, %two : {T}, i32) outs(%s : {T})
  pto.tadd ins(%u, %u : {T}, {T}) outs(%out : {T})""",
        ),
        {"out": [[2 * n + 4 for n in range(8)]]},
        {"x": COUNT[:8].reshape(1, 8), "out": ZEROS},
    ),
)
WINDOW = [
    [8 * r + c + (2 if r in (1, 2) and c in (2, 3, 4, 5) else 0) for c in range(8)]
    for r in range(4)
]
say(
    "SubSet",
    Program(
        program(
            f"%x: {PLANE}",
            f"""
  %w = pto.subset %x[%c1, %c2] sizes [2, 4] : {PLANE}
  pto.tadds ins(%w, %two : {PART}, i32) outs(%w : {PART})""",
        ),
        {"x": WINDOW},
        {"x": COUNT.reshape(4, 8)},
    ),
)
VIEW, PIECE = "!pto.tensor_view<?x?xi32>", "!pto.partition_tensor_view<?x?xi32>"
TO_PART = f"""
  %v = pto.make_tensor_view %g, shape = [%c4, %c8], strides = [%c8, %c1] : {VIEW}
  %p = pto.partition_view %v, offsets = [%c2, %c4], sizes = [%c2, %c4] : {VIEW} -> {PIECE}
  pto.tstore ins(%x : {PART}) outs(%p : {PIECE})"""
PARTITION = Program(
    program(f"%x: {PART}, %g: !pto.ptr<i32>", TO_PART),
    {
        "g": [
            *([n for n in range(20)]),
            *(100, 101, 102, 103, 24, 25, 26, 27, 104, 105, 106, 107),
        ]
    },
    {"x": 100 + np.arange(8, dtype=np.int32).reshape(2, 4), "g": COUNT},
)
say("PartitionView", PARTITION)
say(
    "MakeTensorView",
    Program(
        program(
            f"%x: {T}, %g: !pto.ptr<i32>",
            f"""
  %v = pto.make_tensor_view %g, shape = [%c1, %c8], strides = [%c0, %c4] : {VIEW}
  pto.tstore ins(%x : {T}) outs(%v : {VIEW})""",
        ),
        {"g": [100 + n // 4 if n % 4 == 0 else n for n in range(32)]},
        {"x": 100 + COUNT[:8].reshape(1, 8), "g": COUNT},
    ),
)


def on_blocks(query: str, wanted: list[int]) -> Program:
    """Every block of three writes what it asks for into its own row."""
    lines = f"""
  %block = pto.get_block_idx
  %row = arith.index_cast %block : i64 to index
  %asked = pto.{query}
  %i = arith.trunci %asked : i64 to i32
  %v = pto.make_tensor_view %g, shape = [%c3, %c8], strides = [%c8, %c1] : {VIEW}
  %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c1, %c8] : {VIEW} -> {PIECE}
  %t = pto.alloc_tile : {T}
  pto.tload ins(%p : {PIECE}) outs(%t : {T})
  pto.tadds ins(%t, %i : {T}, i32) outs(%t : {T})
  pto.tstore ins(%t : {T}) outs(%p : {PIECE})"""
    out = [n for number in wanted for n in [number] * 8]
    zeros = np.zeros(24, np.int32)
    return Program(program("%g: !pto.ptr<i32>", lines), {"g": out}, {"g": zeros}, blocks=3)


say("GetBlockIdx", on_blocks("get_block_idx", [0, 1, 2]))
say("GetL2CacheOffset", on_blocks("get_l2_cache_offset", [0, 0, 0]))
say("GetBlockNum", on_blocks("get_block_num", [3, 3, 3]))
say("GetSubblockIdx", on_blocks("get_subblock_idx", [0, 0, 0]))
say("GetSubblockNum", on_blocks("get_subblock_num", [1, 1, 1]))

for page in ("SetFlag", "WaitFlag", "SetFlagDyn", "WaitFlagDyn", "RecordEvent", "WaitEvent"):
    say(page, NoData("orders two pipes (C3.3); the engines run instructions in program order"))
for page in ("Barrier", "BarrierSync", "TSync", "TSyncOp"):
    say(page, NoData("waits for pipes (C3.3); the engines run instructions in program order"))

ELEMENT = program(
    f"%out: {T}, %k: index",
    f"%i = pto.tgetval ins(%out, %k : {T}, index) outs : i32\n  {ADD_K}",
)
say(
    "TGetVal",
    Program(
        ELEMENT,
        {"out": [[5, 6, 7, 8, 9, 10, 11, 12]]},
        {"out": COUNT[None, 1:9].copy(), "k": 3},
    ),
)
THREADS = Program(
    """\
func.func private @threads(%o: !pto.ptr<i32>, %k: i32) attributes {pto.simt_entry} {
  %four = arith.constant 4 : i32
  %pair = arith.constant dense<[1.0, 2.0]> : vector<2xf16>
  %bits = llvm.bitcast %pair : vector<2xf16> to i32
  %t = pto.get_tid_x : i32
  %first = arith.muli %k, %four : i32
  %at = arith.addi %first, %t : i32
  %i = arith.index_castui %at : i32 to index
  %n = arith.addi %bits, %t : i32
  pto.stg %n, %o[%i] : !pto.ptr<i32>, i32
  return
}
func.func @f(%o: !pto.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  pto.simt_launch @threads<<<%four, %one, %one>>>(%o, %zero) : (!pto.ptr<i32>, i32) -> ()
  pto.store_vfsimt_info %one, %one, %two : i32, i32, i32
  func.call @threads(%o, %one) : (!pto.ptr<i32>, i32) -> ()
  pto.section.simt<<<3, 1, 1>>> {
    %t = pto.get_tid_x : i32
    %eight = arith.constant 8 : i32
    %at = arith.addi %t, %eight : i32
    %i = arith.index_castui %at : i32 to index
    pto.store_scalar %t, %o[%i] : !pto.ptr<i32>, i32
  }
  return
}
""",
    {"o": [*(0x40003C00 + np.array([0, 1, 2, 3, 0, 1])), -1, -1, 0, 1, 2, -1]},
    {"o": np.full(12, -1, np.int32)},
)
for page in ("ConstantParts", "BitcastOfParts", "SectionSimt", "SimtLaunch", "StoreVfSimtInfo"):
    say(page, THREADS)
