"""What scalar instructions leave in a core's data cache, and find there: ranks, and pipes."""

from __future__ import annotations

import ptokit as pto
from every import every

STORE = "pto.store_scalar 1, %x[0] : !pto.ptr<i32>, i32"
OTHER = STORE.replace("%x", "%y")
LOAD = "%n = pto.load_scalar %x[0] : !pto.ptr<i32> -> i32"
LINE = "pto.cmo.cacheinvalid %x single_cache_line : !pto.ptr<i32>"
VIEW = "pto.cmo.cacheinvalid %xs single_cache_line : !V"
MOVED = "pto.cmo.cacheinvalid %far single_cache_line : !pto.ptr<i32>"
ALL = "pto.cmo.cacheinvalid all #pto.address_space<gm>"
FENCE = "pto.fence.barrier_all #pto.fence_scope<gm>"
LOCAL = FENCE.replace("<gm>", "<local_memory>")
SIGNAL = "pto.comm.tnotify(%flag, 1 : !S, i32) {notifyOp = #pto<notify_op set>}"
WAIT = "pto.comm.twait(%flag, 1 : !S, i32) {cmp = #pto<wait_cmp ge>}"
TEST = "%met = pto.comm.ttest(%flag, 1 : !S, i32) {cmp = #pto<wait_cmp ge>} -> i1"
T = "!pto.tile_buf<vec, 1x8xi32>"
TILE = f"%t = pto.alloc_tile : {T}\n  pto.texpands ins(1 : i32) outs(%t : {T})"
TSTORE = f"pto.tstore ins(%t : {T}) outs(%row : !P)"
TLOAD = f"pto.tload ins(%row : !P) outs(%t : {T})"
PUT = f"pto.comm.tput(%other, %row, buf(%t) : !P, !P, {T})"
GET = PUT.replace("tput", "tget")
BARRIER = "pto.barrier <PIPE_ALL>"
CALL = "func.call @helper(%x) : (!pto.ptr<i32>) -> ()"
UNKNOWN = "func.call @elsewhere(%x) : (!pto.ptr<i32>) -> ()"
DECLARED = "func.func private @elsewhere(!pto.ptr<i32>)\n"
HELPER = f"""\
func.func private @helper(%x: !pto.ptr<i32>) {{
  {LINE}
  {FENCE}
  return
}}
"""
PROGRAM = """\
!S = !pto.partition_tensor_view<1xi32>
!V = !pto.tensor_view<1xi32>
!W = !pto.tensor_view<1x8xi32>
!P = !pto.partition_tensor_view<1x8xi32>
func.func @f(%x: !pto.ptr<i32>, %y: !pto.ptr<i32>, %flags: !pto.ptr<i32>, %c: i1) {{
  %xs = pto.make_tensor_view %x, shape = [1], strides = [1] : !V
  %far = pto.addptr %x, 4 : !pto.ptr<i32> -> !pto.ptr<i32>
  %fv = pto.make_tensor_view %flags, shape = [1], strides = [1] : !V
  %flag = pto.partition_view %fv, offsets = [0], sizes = [1] : !V -> !S
  %xw = pto.make_tensor_view %x, shape = [1, 8], strides = [8, 1] : !W
  %row = pto.partition_view %xw, offsets = [0, 0], sizes = [1, 8] : !W -> !P
  %yw = pto.make_tensor_view %y, shape = [1, 8], strides = [8, 1] : !W
  %other = pto.partition_view %yw, offsets = [0, 0], sizes = [1, 8] : !W -> !P
  {}
  return
}}
"""


def inside(*lines: str, head: str = "scf.if %c") -> str:
    return "\n".join((f"{head} {{", *lines, "}"))


LOOP = "scf.for %i = 0 to 4 step 1"
SIGNALLED = {
    "published": [STORE, LINE, FENCE, SIGNAL],
    "published by a view": [STORE, VIEW, FENCE, SIGNAL],
    "published by a pointer to the same array": [STORE, MOVED, FENCE, SIGNAL],
    "published as all that is cached": [STORE, ALL, FENCE, SIGNAL],
    "published in what is called": [STORE, CALL, SIGNAL],
    "called in between is what nobody knows": [STORE, WAIT, UNKNOWN, LOAD, SIGNAL],
    "published on the way": [STORE, inside(LINE, FENCE, SIGNAL)],
    "published in each iteration": [inside(STORE, LINE, FENCE, SIGNAL, head=LOOP)],
    "another array, where it is said what others read": [STORE, LINE, FENCE, OTHER, SIGNAL],
    "signalled before": [SIGNAL, STORE],
    "no signal": [STORE],
    "forgotten after a wait": [WAIT, ALL, LOAD],
    "the line is forgotten after a wait": [WAIT, LINE, LOAD],
    "read before the wait": [LOAD, WAIT],
    "fenced behind a tile store": [TILE, TSTORE, FENCE, SIGNAL],
    "fenced with all memories": [TILE, TSTORE, FENCE.replace("<gm>", "<all>"), SIGNAL],
    "fenced once for several": [TILE, TSTORE, PUT, FENCE, SIGNAL],
    "fenced in each iteration": [TILE, inside(TSTORE, FENCE, SIGNAL, head=LOOP)],
    "stored behind the signal": [TILE, SIGNAL, TSTORE],
    "stored, and nobody told": [TILE, TSTORE, WAIT],
    "in memory before a pipe loads it": [TILE, STORE, LINE, FENCE, TLOAD],
    "another array than a pipe loads": [TILE, OTHER, TLOAD],
    "loaded by a pipe before": [TILE, TLOAD, STORE],
    "written by a pipe": [TILE, STORE, TSTORE],
}
WRONG = {
    "nothing between": ([STORE, SIGNAL], "unpublished-store"),
    "no fence": ([STORE, LINE, SIGNAL], "unpublished-store"),
    "no fence behind all that is cached": ([STORE, ALL, SIGNAL], "unpublished-store"),
    "no line forgotten": ([STORE, FENCE, SIGNAL], "unpublished-store"),
    "the fence comes first": ([STORE, FENCE, LINE, SIGNAL], "unpublished-store"),
    "a fence of local memory": ([STORE, LINE, LOCAL, SIGNAL], "unpublished-store"),
    "stored again": ([STORE, LINE, FENCE, STORE, SIGNAL], "unpublished-store"),
    "published on one side only": ([STORE, inside(LINE, FENCE), SIGNAL], "unpublished-store"),
    "stored on one side": ([inside(STORE), SIGNAL], "unpublished-store"),
    "in the iteration before": ([inside(SIGNAL, STORE, head=LOOP)], "unpublished-store"),
    "tile store, nothing between": ([TILE, TSTORE, SIGNAL], "unfenced-store"),
    "only a barrier of pipes": ([TILE, TSTORE, BARRIER, SIGNAL], "unfenced-store"),
    "only the cache": ([TILE, TSTORE, ALL, SIGNAL], "unfenced-store"),
    "only a fence of local memory": ([TILE, TSTORE, LOCAL, SIGNAL], "unfenced-store"),
    "put": ([TILE, PUT, SIGNAL], "unfenced-store"),
    "got": ([TILE, GET, SIGNAL], "unfenced-store"),
    "a tile store on one side": ([TILE, inside(TSTORE), SIGNAL], "unfenced-store"),
    "fenced on one side": ([TILE, TSTORE, inside(FENCE), SIGNAL], "unfenced-store"),
    "told behind a wait": ([TILE, TSTORE, WAIT, SIGNAL], "unfenced-store"),
    "a tile store in the iteration before": (
        [TILE, inside(SIGNAL, TSTORE, head=LOOP)],
        "unfenced-store",
    ),
    "loaded by a pipe": ([TILE, STORE, TLOAD], "unpublished-store"),
    "loaded by a pipe with no fence": ([TILE, STORE, LINE, TLOAD], "unpublished-store"),
    "sent by a pipe": ([TILE, STORE, PUT], "unpublished-store"),
    "loaded in the next iteration": (
        [TILE, inside(TLOAD, STORE, head=LOOP)],
        "unpublished-store",
    ),
    "read after a wait": ([WAIT, LOAD], "stale-load"),
    "read after a test": ([TEST, LOAD], "stale-load"),
    "read where it waited": ([WAIT, inside(LOAD)], "stale-load"),
    "waited on one side": ([inside(WAIT), LOAD], "stale-load"),
    "a fence forgets nothing": ([WAIT, FENCE, LOAD], "stale-load"),
}


def found(lines: list[str], *targets: str) -> list[tuple[str, bool]]:
    helper = HELPER if CALL in lines else DECLARED if UNKNOWN in lines else ""
    program = pto.loads(PROGRAM.format("\n  ".join(lines)) + helper)
    return [(d.slug, d.is_error) for d in program.check(*(targets or ("a2a3", "a5")))]


@every("lines", SIGNALLED.values(), ids=SIGNALLED)
def test_what_others_may_read_is_in_memory(lines: list[str]) -> None:
    assert found(lines) == []


@every(("lines", "slug"), WRONG.values(), ids=WRONG)
def test_what_the_cache_keeps_from_others_is_a_warning(lines: list[str], slug: str) -> None:
    """The assembler takes such programs; what they compute depends on what is cached."""
    assert found(lines) == [(slug, False)]


@every("lines", [[STORE, SIGNAL], [WAIT, LOAD], [TILE, TSTORE, SIGNAL]])
def test_nothing_is_cached_on_the_cpu(lines: list[str]) -> None:
    assert found(lines, "cpu") == []


def test_each_signal_is_warned_of_and_each_wait_once() -> None:
    """Behind the first one the array may be in memory, so only what is stored later counts."""
    assert len(found([STORE, SIGNAL, SIGNAL])) == 1
    assert len(found([STORE, SIGNAL, STORE, SIGNAL])) == 2
    again = LOAD.replace("%n", "%m")
    assert len(found([WAIT, LOAD, again])) == 1
    assert len(found([WAIT, LOAD, WAIT, again])) == 2


def test_loads_of_pipes_are_warned_of_once() -> None:
    assert len(found([TILE, STORE, TLOAD, TLOAD])) == 1
    assert len(found([TILE, STORE, TLOAD, STORE, TLOAD])) == 2
    assert len(found([TILE, OTHER, STORE, TLOAD, SIGNAL])) == 2


def test_what_local_memory_holds_is_not_cached() -> None:
    tile = "%t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xi32>"
    put = "pto.tsetval ins(0, 1 : index, i32) outs(%t : !pto.tile_buf<vec, 1x8xi32>)"
    assert found([tile, put, SIGNAL]) == []


def test_a_signal_of_both_kinds_of_stores_is_warned_of_twice() -> None:
    told = [("unpublished-store", False), ("unfenced-store", False)]
    assert found([TILE, TSTORE, STORE, SIGNAL]) == told


def test_what_has_an_event_of_its_own_needs_no_fence() -> None:
    """Its event tells when it is done, and nothing orders it before that."""
    room = "%r = pto.castptr %y : !pto.ptr<i32> -> !pto.ptr<i8>"
    begun = [
        "%session = pto.comm.build_async_session(%t, %r : T, !pto.ptr<i8>) -> !pto.async_session",
        "%event = pto.comm.tput_async(%other, %row, %session : !P, !P, !pto.async_session) "
        "-> !pto.async_event",
    ]
    assert found([TILE, room, *(line.replace(" T,", f" {T},") for line in begun), SIGNAL]) == []
