"""What changes no data: prefetches, acquires and releases of buffers, the place of counters."""

from __future__ import annotations

import numpy as np

from oracles.handles import COUNT, P, changed, program
from oracles.registry import MEANINGS, Program, say

V, LINE = "!pto.tensor_view<8xi32>", "!pto.partition_tensor_view<8xi32>"
CONTEXT, SESSION = "!pto.prefetch_async_context", "!pto.async_session"
PREFETCH = f"""
  %one = pto.load_scalar %g[%c1] : {P} -> i32
  %v = pto.make_tensor_view %g, shape = [%c8], strides = [%c1] : {V}
  %p = pto.partition_view %v, offsets = [%c0], sizes = [%c8] : {V} -> {LINE}
  %context = pto.make_prefetch_async_context(%room : !pto.ptr<i8>) -> {CONTEXT}
  %session = pto.get_prefetch_async_session %context : {CONTEXT} -> {SESSION}
  %event = pto.tprefetch_async(%p, %context : {LINE}, {CONTEXT}) -> !pto.async_event
  %done = pto.ASK_async_event(%event, %session : !pto.async_event, {SESSION}) -> i1
  scf.if %done {{
    pto.store_scalar %one, %g[%c8] : {P}, i32
  }}"""
FFTS = f"""
  pto.set_ffts %counters : !pto.ptr<i64>
  %one = pto.load_scalar %g[%c1] : {P} -> i32
  pto.store_scalar %one, %g[%c8] : {P}, i32"""
ACQUIRES = f"""
  %one = pto.load_scalar %g[%c1] : {P} -> i32
  pto.get_buf[#pto.pipe_event_type<TLOAD>, 5]
  pto.get_buf_dyn[#pto.pipe_event_type<TVEC>, %c3]
  pto.store_scalar %one, %g[%c8] : {P}, i32
  pto.rls_buf[#pto.pipe_event_type<TLOAD>, 5]
  pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, %c3]"""


def only_stores(text: str, **more: np.ndarray) -> Program:
    """A program that stores the element 1 as element 8 and leaves all else as it is."""
    heads = "".join(f", %{name}: !pto.ptr<i{8 * a.itemsize}>" for name, a in more.items())
    return Program(program(text, f"%g: {P}{heads}"), {"g": changed(at8=1)}, {"g": COUNT, **more})


for asked in ("Wait", "Test"):
    for page, dialect in (("", ""), ("Comm", "comm.")):
        text = PREFETCH.replace("ASK", dialect + asked.lower())
        say(f"{page}{asked}AsyncEvent", only_stores(text, room=np.zeros(8, np.int8)))
for page in ("MakePrefetchAsyncContext", "GetPrefetchAsyncSession", "TPrefetchAsync"):
    say(page, MEANINGS["WaitAsyncEvent"])
say("SetFfts", only_stores(FFTS, counters=np.arange(4)))
for page in ("GetBuf", "RlsBuf", "GetBufDyn", "RlsBufDyn"):
    say(page, only_stores(ACQUIRES))

# registers of transfers that state their loops themselves, and a scope that only groups
LOOPS = """
  %one = pto.load_scalar %g[%c1] : !pto.ptr<i32> -> i32
  %none = arith.constant 0 : i64
  pto.NAME %none, %none : i64, i64
  pto.store_scalar %one, %g[%c8] : !pto.ptr<i32>, i32"""
for page, called in {
    "LoopsOutToUb": "set_loop_size_outtoub",
    "LoopsUbToOut": "set_loop_size_ubtoout",
    "InnerIntoUb": "set_loop1_stride_outtoub",
    "OuterIntoUb": "set_loop2_stride_outtoub",
    "InnerOutOfUb": "set_loop1_stride_ubtoout",
    "OuterOutOfUb": "set_loop2_stride_ubtoout",
}.items():
    say(page, only_stores(LOOPS.replace("NAME", called)))
SCOPE = """
  pto.vecscope {
    %one = pto.load_scalar %g[%c1] : !pto.ptr<i32> -> i32
    pto.store_scalar %one, %g[%c8] : !pto.ptr<i32>, i32
  }"""
say("VecScope", only_stores(SCOPE))
