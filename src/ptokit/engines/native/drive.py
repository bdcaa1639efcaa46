"""The scheduler of the cores of each block, in compiled code.

The order is that of `order.schedule`: the first core that can run goes on, and then moves to the
end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ptokit.engines.native.frame import BLOCK, CELL, FAILED, LEAST, MORE
from ptokit.machine import cache as codes
from ptokit.machine.memory import Memory, address_of

if TYPE_CHECKING:
    from ptokit.engines.native.session import Worker

# the fields of a core; FIRST is its first block
BEGIN, FRAME, MEMORIES, SCRATCH, CALLBACK, COROUTINE, FIRST, FIELDS = range(8)
STUCK = -1  # result: all remaining cores wait; 1: a core failed; 0: all ended
LOOP = CFUNCTYPE(c_int64, *[c_void_p, c_int64] * 2, c_void_p, c_int64)


class SwitchedCore(NamedTuple):
    """The row of a core in the table of the scheduler: addresses, and its first block."""

    begin: int  # makes the coroutine
    frame: int
    memories: int
    scratch: int
    callback: int
    first: int


def drive(
    workers: Sequence[Worker],
    zeroed: Sequence[Memory],
    blocks: int,
    kept: Sequence[tuple[Memory, Memory]] = (),
) -> list[Worker]:
    """Run the cores for `blocks` blocks each; return the cores of a deadlock, or an empty list.

    `zeroed`, `kept`: see `switched`.
    """
    try:
        cores = [SwitchedCore(w.session.begin, *w.places, w.start(), w.first) for w in workers]
        return [workers[n] for n in switched(cores, zeroed, blocks, kept)]
    finally:
        for worker in workers:
            worker.stop()


def switched(
    cores: Sequence[SwitchedCore],
    zeroed: Sequence[Memory],
    blocks: int,
    kept: Sequence[tuple[Memory, Memory]] = (),
) -> list[int]:
    """Run the cores for `blocks` blocks each; return the numbers of the cores of a deadlock.

    Memories in `zeroed` are cleared when a block starts. For a pair in `kept`, the numbers of the
    first memory are added to the second before.
    """
    sums = {id(memory): address_of(total.data) for memory, total in kept}
    words = [word for *core, first in cores for word in (*core, 0, first)]
    for memory in zeroed:
        words += address_of(memory.data), memory.size, sums.get(id(memory), 0)
    count, start = len(cores), len(words)
    room = np.array(words + [0] * (count + 1), np.int64)
    at, (_, loop) = address_of(room), _loop(codes.this_processor())
    memories, order = at + 8 * FIELDS * count, at + 8 * start
    found = loop(at, count, memories, len(zeroed), order, blocks)
    left = room[start:].tolist()
    return left[: left[-1]] if found == STUCK else []


@cache
def _loop(processor: codes.Processor) -> tuple[codes.MachineCode, Callable[..., int]]:
    """Return the machine code of `drive`, which lives as long as it is kept, and the function."""
    code, _ = codes.compiled(TEXT, lambda: ([TEXT], b""), processor)
    return code, LOOP(code.address("drive"))


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

define i64 @drive(ptr %cores, i64 %count, ptr %memories, i64 %to_zero, ptr %order,
    i64 %last) {{
entry:
  br label %blocks
blocks:
  %block = phi i64 [ 0, %entry ], [ %following, %ended ]
  %more = icmp slt i64 %block, %last
  br i1 %more, label %clearing, label %good
clearing:
  %m = phi i64 [ 0, %blocks ], [ %m.next, %zeroes ]
  %clear = icmp slt i64 %m, %to_zero
  br i1 %clear, label %clears, label %make
clears:
  %m.row = mul i64 %m, 3
  %m.at = getelementptr ptr, ptr %memories, i64 %m.row
  %m.base = load ptr, ptr %m.at
  %m.size.at = getelementptr i64, ptr %m.at, i64 1
  %m.size = load i64, ptr %m.size.at
  %m.sum.at = getelementptr i64, ptr %m.at, i64 2
  %m.sum = load ptr, ptr %m.sum.at
  %m.kept = icmp ne ptr %m.sum, null
  br i1 %m.kept, label %summing, label %zeroes
summing:
  %w = phi i64 [ 0, %clears ], [ %w.next, %summing ]
  %w.from.at = getelementptr i64, ptr %m.base, i64 %w
  %w.from = load i64, ptr %w.from.at
  %w.to.at = getelementptr i64, ptr %m.sum, i64 %w
  %w.to = load i64, ptr %w.to.at
  %w.total = add i64 %w.from, %w.to
  store i64 %w.total, ptr %w.to.at
  %w.next = add i64 %w, 1
  %w.end = mul i64 %w.next, 8
  %w.more = icmp slt i64 %w.end, %m.size
  br i1 %w.more, label %summing, label %zeroes
zeroes:
  call void @llvm.memset.p0.i64(ptr %m.base, i8 0, i64 %m.size, i1 false)
  %m.next = add i64 %m, 1
  br label %clearing
make:
  %n = phi i64 [ 0, %clearing ], [ %n.next, %make ]
  %entry.of = call ptr @field(ptr %cores, i64 %n, i64 {BEGIN})
  %frame.of = call ptr @field(ptr %cores, i64 %n, i64 {FRAME})
  %memories.of = call ptr @field(ptr %cores, i64 %n, i64 {MEMORIES})
  %scratch.of = call ptr @field(ptr %cores, i64 %n, i64 {SCRATCH})
  %callback.of = call ptr @field(ptr %cores, i64 %n, i64 {CALLBACK})
  %block.at = getelementptr i64, ptr %frame.of, i64 {BLOCK}
  %row = mul i64 %n, {FIELDS}
  %first.index = add i64 %row, {FIRST}
  %first.at = getelementptr i64, ptr %cores, i64 %first.index
  %first = load i64, ptr %first.at
  %block.of = add i64 %first, %block
  store i64 %block.of, ptr %block.at
  %least.first = getelementptr i64, ptr %frame.of, i64 {LEAST}
  store i64 0, ptr %least.first
  %cell.first = getelementptr i64, ptr %frame.of, i64 {CELL}
  store ptr %least.first, ptr %cell.first
  %more.first = getelementptr i64, ptr %frame.of, i64 {MORE}
  store ptr null, ptr %more.first
  %made = call ptr %entry.of(ptr %frame.of, ptr %memories.of, ptr %scratch.of, ptr %callback.of)
  %made.index = add i64 %row, {COROUTINE}
  %made.at = getelementptr ptr, ptr %cores, i64 %made.index
  store ptr %made, ptr %made.at
  %order.first = getelementptr i64, ptr %order, i64 %n
  store i64 %n, ptr %order.first
  %n.next = add i64 %n, 1
  %unmade = icmp slt i64 %n.next, %count
  br i1 %unmade, label %make, label %steps
steps:
  %left = phi i64 [ %count, %make ], [ %left, %stands ], [ %fewer, %leaves ]
  %none = icmp eq i64 %left, 0
  br i1 %none, label %ended, label %look
look:
  %place = phi i64 [ 0, %steps ], [ %place.next, %waits ]
  %beyond = icmp eq i64 %place, %left
  br i1 %beyond, label %stuck, label %asked
asked:
  %order.at = getelementptr i64, ptr %order, i64 %place
  %core = load i64, ptr %order.at
  %frame = call ptr @field(ptr %cores, i64 %core, i64 {FRAME})
  %cell.first.at = getelementptr i64, ptr %frame, i64 {CELL}
  %place.next = add i64 %place, 1
  br label %waiting
waiting:
  %cell.at = phi ptr [ %cell.first.at, %asked ], [ %further, %not.yet ]
  %counter.at = load ptr, ptr %cell.at
  %least.at = getelementptr i64, ptr %cell.at, i64 {LEAST - CELL}
  %least = load i64, ptr %least.at
  %counter = load i64, ptr %counter.at
  %ready = icmp sge i64 %counter, %least
  br i1 %ready, label %goes, label %not.yet
not.yet:
  %more.at = getelementptr i64, ptr %cell.at, i64 {MORE - CELL}
  %further = load ptr, ptr %more.at
  %no.more = icmp eq ptr %further, null
  br i1 %no.more, label %waits, label %waiting
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
  br label %steps
finished:
  %failed.at = getelementptr i64, ptr %frame, i64 {FAILED}
  %failed = load i64, ptr %failed.at
  call void @llvm.coro.destroy(ptr %coroutine)
  %bad = icmp ne i64 %failed, 0
  br i1 %bad, label %give.up, label %leaves
leaves:
  br label %steps
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
