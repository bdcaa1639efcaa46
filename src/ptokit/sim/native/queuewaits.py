"""What the queues of a core wait for that is in a deadlock, in the order of the reference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptokit.analysis.fifos import Fifo
from ptokit.ir.module import Op
from ptokit.sim.cores.fifoend import COUNTERS, reason
from ptokit.sim.cores.group import GroupedCore
from ptokit.sim.cores.schedule import WaitingLine
from ptokit.sim.memory import address_of
from ptokit.sim.native.plan import CELL, WAITING
from ptokit.sim.native.queuecode import HEADS, OWN, STATE, TAILS, WAIT, WAITS, capacity
from ptokit.sim.native.session import Worker
from ptokit.sim.state import IDS, PIPES


def waiting_lines(worker: Worker) -> Iterator[WaitingLine]:
    """The scalar unit, where it waits for another core, and the head of each queue that waits."""
    session, core = worker.session, worker.core
    assert isinstance(core, GroupedCore)
    words, counters = core.queues.data.view(np.int64), address_of(core.shared[COUNTERS].data)
    plan, things = session.plan, session.things

    def awaited(op: Op, address: int) -> WaitingLine:
        fifo: Fifo = core.ends[op]
        return op.name, op.span, reason(fifo, (address - counters) // 8)

    if number := int(worker.frame[WAITING]):
        yield awaited(things[number - 1], int(worker.frame[CELL]))
    count = capacity(plan.width)
    for queue in range(len(PIPES)):
        head, tail = int(words[HEADS + queue]), int(words[TAILS + queue])
        record = STATE + (queue * count + head % count) * plan.width
        if head == tail:
            continue
        entry, *fields = (int(n) for n in words[record : record + 3])
        if entry == WAIT:
            op, (pair, event) = things[fields[1]], divmod(fields[0], IDS)
            source, target = (PIPES[n] for n in divmod(pair, len(PIPES)))
            yield op.name, op.span, f"event {event} of {source} -> {target}"
        else:
            yield awaited(things[plan.entries[entry - OWN]], int(words[WAITS + 3 * queue]))
