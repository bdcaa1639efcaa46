"""The loop in compiled code that gives the cores of each block their turns.

The turns are those of `sim.cores.schedule`: the first core that can goes on, and then stands last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache

import numpy as np

from ptokit.sim.cores.channel import COUNTERS, SLOTS
from ptokit.sim.memory import Memory, address_of
from ptokit.sim.native import cache as codes
from ptokit.sim.native.plan import BLOCK, CELL, FAILED, LEAST
from ptokit.sim.native.session import Worker

BEGIN, FRAME, MEMORIES, SCRATCH, CALLBACK, COROUTINE, FIELDS = range(7)  # a core's row
STUCK = -1  # the result where all cores that are left wait; 1: a core failed; 0: all ended
LOOP = CFUNCTYPE(c_int64, c_void_p, c_int64, c_void_p, *[c_void_p, c_int64] * 2, c_int64)


def drive(workers: Sequence[Worker], shared: Mapping[str, Memory], blocks: int) -> list[Worker]:
    """Run the cores of all blocks; the result is the cores in a deadlock, none if there is none."""
    table = np.zeros((len(workers), FIELDS), np.int64)
    order = np.zeros(len(workers) + 1, np.int64)
    with ExitStack() as stack:
        for row, worker in zip(table, workers, strict=True):
            entry = worker.session.code.address("begin")
            row[:COROUTINE] = entry, *worker.places, stack.enter_context(worker.answering())
        memories = [n for name in (COUNTERS, SLOTS) for n in _bytes(shared[name])]
        loop = LOOP(_code(codes.this_processor()).address("drive"))
        cores = address_of(table), len(workers)
        found = loop(*cores, address_of(order), *memories, blocks)
    return [workers[n] for n in order[: order[-1]]] if found == STUCK else []


def _bytes(memory: Memory) -> tuple[int, int]:
    return address_of(memory.data), memory.size


@cache
def _code(processor: codes.Processor) -> codes.MachineCode:
    code, _ = codes.compiled(TEXT, lambda: (TEXT, b""), processor)
    return code


TEXT = f"""declare void @llvm.coro.resume(ptr)
declare void @llvm.coro.destroy(ptr)
declare i1 @llvm.coro.done(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @field(ptr %cores, i64 %core, i64 %field) {{
  %row = mul i64 %core, {FIELDS}
  %index = add i64 %row, %field
  %at = getelementptr ptr, ptr %cores, i64 %index
  %found = load ptr, ptr %at
  ret ptr %found
}}

define i64 @drive(ptr %cores, i64 %count, ptr %order, ptr %counters, i64 %counted, ptr %slots,
    i64 %held, i64 %last) {{
entry:
  br label %blocks
blocks:
  %block = phi i64 [ 0, %entry ], [ %following, %ended ]
  %more = icmp slt i64 %block, %last
  br i1 %more, label %blank, label %good
blank:
  call void @llvm.memset.p0.i64(ptr %counters, i8 0, i64 %counted, i1 false)
  call void @llvm.memset.p0.i64(ptr %slots, i8 0, i64 %held, i1 false)
  br label %make
make:
  %n = phi i64 [ 0, %blank ], [ %n.next, %make ]
  %entry.of = call ptr @field(ptr %cores, i64 %n, i64 {BEGIN})
  %frame.of = call ptr @field(ptr %cores, i64 %n, i64 {FRAME})
  %memories.of = call ptr @field(ptr %cores, i64 %n, i64 {MEMORIES})
  %scratch.of = call ptr @field(ptr %cores, i64 %n, i64 {SCRATCH})
  %callback.of = call ptr @field(ptr %cores, i64 %n, i64 {CALLBACK})
  %block.at = getelementptr i64, ptr %frame.of, i64 {BLOCK}
  store i64 %block, ptr %block.at
  %least.first = getelementptr i64, ptr %frame.of, i64 {LEAST}
  store i64 0, ptr %least.first
  %cell.first = getelementptr i64, ptr %frame.of, i64 {CELL}
  store i64 0, ptr %cell.first
  %made = call ptr %entry.of(ptr %frame.of, ptr %memories.of, ptr %scratch.of, ptr %callback.of)
  %row = mul i64 %n, {FIELDS}
  %made.index = add i64 %row, {COROUTINE}
  %made.at = getelementptr ptr, ptr %cores, i64 %made.index
  store ptr %made, ptr %made.at
  %order.first = getelementptr i64, ptr %order, i64 %n
  store i64 %n, ptr %order.first
  %n.next = add i64 %n, 1
  %unmade = icmp slt i64 %n.next, %count
  br i1 %unmade, label %make, label %turns
turns:
  %left = phi i64 [ %count, %make ], [ %left, %stands ], [ %fewer, %leaves ]
  %none = icmp eq i64 %left, 0
  br i1 %none, label %ended, label %look
look:
  %place = phi i64 [ 0, %turns ], [ %place.next, %waits ]
  %beyond = icmp eq i64 %place, %left
  br i1 %beyond, label %stuck, label %asked
asked:
  %order.at = getelementptr i64, ptr %order, i64 %place
  %core = load i64, ptr %order.at
  %frame = call ptr @field(ptr %cores, i64 %core, i64 {FRAME})
  %cell.at = getelementptr i64, ptr %frame, i64 {CELL}
  %cell = load i64, ptr %cell.at
  %least.at = getelementptr i64, ptr %frame, i64 {LEAST}
  %least = load i64, ptr %least.at
  %counter.at = getelementptr i64, ptr %counters, i64 %cell
  %counter = load i64, ptr %counter.at
  %ready = icmp sge i64 %counter, %least
  %place.next = add i64 %place, 1
  br i1 %ready, label %goes, label %waits
waits:
  br label %look
goes:
  %fewer = sub i64 %left, 1
  %behind = sub i64 %fewer, %place
  %bytes = mul i64 %behind, 8
  %order.next = getelementptr i64, ptr %order, i64 %place.next
  call void @llvm.memmove.p0.p0.i64(ptr %order.at, ptr %order.next, i64 %bytes, i1 false)
  %coroutine = call ptr @field(ptr %cores, i64 %core, i64 {COROUTINE})
  call void @llvm.coro.resume(ptr %coroutine)
  %done = call i1 @llvm.coro.done(ptr %coroutine)
  br i1 %done, label %finished, label %stands
stands:
  %order.last = getelementptr i64, ptr %order, i64 %fewer
  store i64 %core, ptr %order.last
  br label %turns
finished:
  %failed.at = getelementptr i64, ptr %frame, i64 {FAILED}
  %failed = load i64, ptr %failed.at
  call void @llvm.coro.destroy(ptr %coroutine)
  %bad = icmp ne i64 %failed, 0
  br i1 %bad, label %give.up, label %leaves
leaves:
  br label %turns
ended:
  %following = add i64 %block, 1
  br label %blocks
good:
  ret i64 0
stuck:
  br label %give.up
give.up:
  %why = phi i64 [ {STUCK}, %stuck ], [ 1, %finished ]
  %rest = phi i64 [ %left, %stuck ], [ %fewer, %finished ]
  %many.at = getelementptr i64, ptr %order, i64 %count
  store i64 %rest, ptr %many.at
  br label %destroy
destroy:
  %d = phi i64 [ 0, %give.up ], [ %d.next, %destroys ]
  %all = icmp eq i64 %d, %rest
  br i1 %all, label %gone, label %destroys
destroys:
  %gone.at = getelementptr i64, ptr %order, i64 %d
  %gone.core = load i64, ptr %gone.at
  %gone.coroutine = call ptr @field(ptr %cores, i64 %gone.core, i64 {COROUTINE})
  call void @llvm.coro.destroy(ptr %gone.coroutine)
  %d.next = add i64 %d, 1
  br label %destroy
gone:
  ret i64 %why
}}
"""
