"""What the queues of a core wait for that is in a deadlock, in the order of the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ptokit.ir.module import Op
from ptokit.sim.cores.schedule import WaitingLine
from ptokit.sim.native.plan import CELL, WAITING
from ptokit.sim.native.queuecode import ACQUIRE, HEADS, OWN, STATE, TAILS, WAIT, WAITS, capacity
from ptokit.sim.native.session import Worker
from ptokit.sim.state import IDS, PIPES


def waiting_lines(worker: Worker, what: Callable[[Op, int], str]) -> Iterator[WaitingLine]:
    """The scalar unit, where it waits for another core, and the head of each queue that waits.

    `what` tells what an instruction waits for that waits for the counter at an address.
    """
    words, session = worker.core.queues.data.view(np.int64), worker.session
    plan, things = session.plan, session.things

    def awaited(op: Op, address: int) -> WaitingLine:
        return op.name, op.span, what(op, address)

    if number := int(worker.frame[WAITING]):
        yield awaited(things[number - 1], int(worker.frame[CELL]))
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
