"""What programs of several cores give: pipes between them, and signals."""

from __future__ import annotations

import numpy as np

from oracles.registry import Program, say
from ptokit.isa.pages.fifoexamples import BOTH_WAYS, HANDLED, OLDER, OUT_OF_MEMORY, TO_AIC, TO_AIV

THREES = np.full((16, 16), 3.0).tolist()
COUNT = np.arange(256, dtype=np.float32).reshape(16, 16)
EMPTY = np.zeros(256, np.float32)
HELD = np.concatenate([COUNT.reshape(-1), np.zeros(7 * 256, np.float32)])
BY_ID = Program(BOTH_WAYS, {"y": THREES}, {"y": np.zeros((16, 16), np.float32)})
BY_HANDLE = {"x": COUNT.reshape(-1), "y": EMPTY}

# the address is 0: it is added to the threes
ADDRESS_ADDED = """\
%given = arith.constant 3.0 : f32
  %address = arith.sitofp %up : i32 to f32
  %three = arith.addf %given, %address : f32"""
ADDED = BOTH_WAYS.replace("%three = arith.constant 3.0 : f32", ADDRESS_ADDED)
say("ImportReservedBuffer", Program(ADDED, BY_ID.outputs, BY_ID.arguments))
for page in (
    *("ReserveBuffer", "AicInitializePipe", "AivInitializePipe"),
    *("PushToAiv", "PushToAic", "PopFromAic", "PopFromAiv", "FreeFromAic", "FreeFromAiv"),
):
    say(page, BY_ID)
for page in ("InitializeL2LPipe", "TPush", "TPop", "TFree", "DeclareTile"):
    say(page, Program(HANDLED, {"y": COUNT.reshape(-1).tolist()}, BY_HANDLE))
say("DeclareTileMemref", Program(OLDER, {"y": COUNT.reshape(-1).tolist()}, BY_HANDLE))
for page in ("InitializeL2G2LPipe", "TAlloc", "DeclareGlobal"):
    given = {"x": COUNT.reshape(-1), "memory": np.zeros(8 * 256, np.float32)}
    say(page, Program(OUT_OF_MEMORY, {"memory": HELD.tolist()}, given))


def slots(text: str) -> Program:
    """A slot that is taken and handed over as it is, and shown by the end that pops it."""
    shown = """  %c0 = arith.constant 0 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%entry : !pto.tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) \
outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%entry : !pto.tensor_view<16x16xf32>)
"""
    last = "  pto.tpush_to_aic(" if "to_aic" in text else "  pto.tfree_from_aic("
    text = text.replace(last, shown + last)
    return Program(
        text, {"memory": (2 * COUNT).reshape(-1).tolist()}, {"memory": COUNT.reshape(-1)}
    )


say("AllocToAiv", slots(TO_AIV))
say("AllocToAic", slots(TO_AIC))

P = "!pto.ptr<i32>"


def in_turn(sent: str, awaited: str, first: str = "cube", second: str = "vector") -> str:
    """One kind of core stores a number and signals, the other waits and doubles it."""
    return f"""
func.func @f(%g: {P}) {{
  %c0 = arith.constant 0 : index
  %id = arith.constant 3 : index
  %seven = arith.constant 7 : i32
  pto.section.{second} {{
    {awaited}
    %n = pto.load_scalar %g[%c0] : {P} -> i32
    %m = arith.addi %n, %n : i32
    %number = pto.get_subblock_idx
    %lane = arith.index_cast %number : i64 to index
    %c1 = arith.constant 1 : index
    %at = arith.addi %lane, %c1 : index
    pto.store_scalar %m, %g[%at] : {P}, i32
  }}
  pto.section.{first} {{
    pto.store_scalar %seven, %g[%c0] : {P}, i32
    {sent}
  }}
  return
}}"""


ZEROS = {"g": np.zeros(3, np.int32)}
FFTS = in_turn("pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}", "pto.sync.wait <PIPE_MTE2>, %id")
for page in ("SyncSet", "SyncWait"):
    say(page, Program(FFTS, {"g": [7, 14, 14]}, ZEROS))
INTRA = in_turn(
    *("pto.set_intra_block <PIPE_MTE3>, 3", "pto.wait_intra_block <PIPE_MTE1>, 3"),
    *("vector", "cube"),
)
for page in ("SetIntraBlock", "WaitIntraBlock"):
    say(page, Program(INTRA, {"g": [7, 14, 0]}, ZEROS))

MEETING = """
func.func @f(%g: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %id = arith.constant 3 : index
  %one = arith.constant 1 : i32
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %count = arith.constant 4 : index
  %left = arith.constant 3 : index
  pto.store_scalar %one, %g[%block] : !pto.ptr<i32>, i32
  MEET
  %other = arith.subi %left, %block : index
  %n = pto.load_scalar %g[%other] : !pto.ptr<i32> -> i32
  %at = arith.addi %count, %block : index
  pto.store_scalar %n, %g[%at] : !pto.ptr<i32>, i32
  return
}"""
BLOCKS = MEETING.replace(
    "MEET", "pto.set_cross_block <PIPE_MTE3>, 3\n  pto.wait_cross_block <PIPE_MTE3>, %id"
)
WHOLE = MEETING.replace(
    "MEET",
    "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>",
)
GRID = {"g": np.zeros(8, np.int32)}
for page in ("SetCrossBlock", "WaitCrossBlock"):
    say(page, Program(BLOCKS, {"g": [1] * 8}, GRID, blocks=4))
say("SyncAll", Program(WHOLE, {"g": [1] * 8}, GRID, blocks=4))
