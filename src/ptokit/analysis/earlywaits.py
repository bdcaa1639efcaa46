"""Flags that are awaited above the line that raises them: legal between the queues of two pipes.

The scalar unit only issues: a pipe that waits holds up its own queue, while the others go on to
what raises the flag. Then the order of the text is not the order of what the pipes do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptokit.ir.module import Func, Op
from ptokit.isa.lang.environment import arguments
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.words import Pipe

if TYPE_CHECKING:
    from ptokit.sim.state import Queue


class _Flag(NamedTuple):
    source: Queue
    target: Queue
    event: int | None  # None: only the run knows

    def may_be(self, other: _Flag) -> bool:
        """Whether two are perhaps the same flag."""
        known = None not in (self.event, other.event)
        return self[:2] == other[:2] and (not known or self.event == other.event)


class _Noted:
    """The words of flags: those that instructions raise and await are noted."""

    def __init__(self) -> None:
        self.raised: list[_Flag] = []
        self.early: list[_Flag] = []

    def set(self, source: Queue, target: Queue, event: int | None) -> None:
        self.raised.append(_Flag(source, target, event))

    def wait(self, source: Queue, target: Queue, event: int | None) -> None:
        flag = _Flag(source, target, event)
        if source is not target and not any(flag.may_be(other) for other in self.raised):
            self.early.append(flag)

    def otherwise(self, *_: object) -> None:
        """Nothing else raises or awaits a flag."""

    join = barrier = acquire = release = otherwise


def waits_early(func: Func) -> bool:
    """Whether a function awaits a flag that only a line below raises, in another queue."""
    signals = [op for op in func.body.walk() if isinstance(op, Op) and op.page.uses == (FLAGS,)]
    if not signals:
        return False
    from ptokit.sim.execute import given  # it needs numpy, which most checks do without

    noted = _Noted()
    for op in signals:
        unknown = {name: () if op.page.operand(name).many else None for name, _ in op.values()}
        op.page.run(**arguments(op.page, given(op) | unknown, {FLAGS: noted}))
    late = [flag for flag in noted.early if flag.target is not Pipe.S]
    return any(flag.may_be(other) for flag in late for other in noted.raised)
