"""The waits of the queues of a core, in the order of the reference.

A deadlock error names each of them. The reference resumes a core when its scalar unit or any of its
queues can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ctypes import c_int64
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ptokit.engines.native.frame import CELL, LEAST, MORE, WAITING
from ptokit.engines.native.plan import Plan
from ptokit.engines.native.queuecode import ACQUIRE, HEADS, OWN, STATE, TAILS, WAIT, WAITS, capacity
from ptokit.engines.reference.heldqueues import NotYet, RetriedSchedule
from ptokit.ir.module import Op
from ptokit.machine.execute import Core
from ptokit.machine.memory import Index, address_of
from ptokit.machine.state import IDS, PIPES
from ptokit.order.fifoend import COUNTERS, reason
from ptokit.order.group import GroupedCore
from ptokit.order.schedule import Wait, WaitingLine


class QueuedCore(NamedTuple):
    """A core with queues: its frame, plan, and the instructions that the plan names."""

    core: Core
    frame: Index
    plan: Plan
    things: Sequence[Any]  # Any: ops and blocks


def waiting_lines(of: QueuedCore, what: Callable[[Op, int], str]) -> Iterator[WaitingLine]:
    """Yield the waits of the scalar unit for another core, and of the head of each queue.

    `what` describes the wait of an instruction, given the address of the counter.
    """
    words, plan, things = of.core.queues.data.view(np.int64), of.plan, of.things

    def awaited(op: Op, address: int) -> WaitingLine:
        return op.name, op.span, what(op, address)

    if number := int(of.frame[WAITING]):
        yield awaited(things[number - 1], int(of.frame[CELL]))
    count = capacity(plan.width)
    for queue in range(len(PIPES)):
        head, tail = int(words[HEADS + queue]), int(words[TAILS + queue])
        record = STATE + (queue * count + head % count) * plan.width
        if head == tail:
            continue
        entry, *fields = (int(n) for n in words[record : record + 3])
        if entry == ACQUIRE:
            op = things[fields[1]]
            yield op.name, op.span, f"buffer {fields[0]}"
        elif entry == WAIT:
            op, (pair, event) = things[fields[1]], divmod(fields[0], IDS)
            source, target = (PIPES[n] for n in divmod(pair, len(PIPES)))
            yield op.name, op.span, f"event {event} of {source} -> {target}"
        else:
            yield awaited(things[plan.entries[entry - OWN]], int(words[WAITS + 3 * queue]))


def tried(of: QueuedCore, op: Op, execute: Callable[[], None]) -> None:
    """Execute an instruction, or wait until it or a queue may go on, and then retry.

    LEAST in the frame is 0 if the instruction has executed, and negative otherwise.
    """
    core = of.core
    assert isinstance(core, GroupedCore)
    schedule = core.board.schedule
    if not isinstance(schedule, RetriedSchedule):
        schedule = RetriedSchedule(schedule, [], schedule.wait)
        core.board = replace(core.board, schedule=schedule)
    schedule.going.append(op)
    try:
        execute()
        of.frame[LEAST] = 0
    except NotYet as unmet:
        wait_for_any(of, (op, unmet.wait))
        of.frame[LEAST] = -1
    finally:
        schedule.going.clear()


def wait_for_any(of: QueuedCore, own: tuple[Op, Wait] | None = None) -> None:
    """Let other cores run until one of the counters is large enough.

    `own`: or until the scalar unit may go on at this instruction.
    """
    core, words = of.core, of.core.queues.data.view(np.int64)
    assert isinstance(core, GroupedCore)
    if own is None and not of.frame[LEAST]:
        core.schedule.yield_to_others()
        return
    awaited, counters = [(int(of.frame[CELL]), int(of.frame[LEAST]))], core.shared[COUNTERS]
    node = int(of.frame[MORE])
    while node:
        counter, least, node = words[
            (place := (node - address_of(words)) // 8) : place + 3
        ].tolist()
        awaited.append((counter, least))

    def met() -> bool:
        several = any(c_int64.from_address(at).value >= least for at, least in awaited)
        return several or (own is not None and own[1].met())

    def what(op: Op, address: int) -> str:
        return reason(core.ends[op], (address - address_of(counters.data)) // 8)

    def lines() -> Iterator[WaitingLine]:
        if own is not None:
            yield own[0].name, own[0].span, str(own[1])
        yield from waiting_lines(of, what)

    core.schedule.wait(Wait(met, "what its queues wait for", None, lines))
