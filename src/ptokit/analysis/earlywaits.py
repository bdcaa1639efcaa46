"""Flags that are awaited above the line that sets them, which is legal between two queues.

The scalar unit only issues. A waiting pipe blocks its own queue, while other queues go on and reach
the set of the flag. In such a function pipes do not execute in program order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ptokit.ir.module import Block, Func, Op, once
from ptokit.isa.lang.environment import arguments
from ptokit.isa.lang.traits import FLAGS, FifoRole
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe

if TYPE_CHECKING:
    from ptokit.machine.state import Queue


class _Flag(NamedTuple):
    source: Queue
    target: Queue
    event: int | None  # None: not known statically

    def may_be(self, other: _Flag) -> bool:
        """Return whether the two may be the same flag."""
        known = None not in (self.event, other.event)
        return self[:2] == other[:2] and (not known or self.event == other.event)


class _Signal(NamedTuple):
    """A set or a wait of a flag by an instruction."""

    flag: _Flag
    raises: bool


class _Noted:
    """A recorder of the flags that an instruction sets and awaits."""

    def __init__(self) -> None:
        self.found: list[_Signal] = []

    def set(self, source: Queue, target: Queue, event: int | None) -> None:
        self.found.append(_Signal(_Flag(source, target, event), raises=True))

    def wait(self, source: Queue, target: Queue, event: int | None) -> None:
        if source is not target:
            self.found.append(_Signal(_Flag(source, target, event), raises=False))

    def otherwise(self, *_: object) -> None:
        """Ignore operations other than sets and waits."""

    join = barrier = acquire = release = otherwise


class _Reader:
    """A walk over a function in text order that counts the sets of each flag that may be up."""

    def __init__(self) -> None:
        self.up = Counter[_Flag]()
        self.early: list[_Flag] = []
        self.late: list[_Flag] = []  # awaited early, and set below

    def read(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, Op) and op.page.uses == (FLAGS,):
                for signal in _signals(op):
                    self._signal(*signal)
            before, after = self.up.copy(), Counter[_Flag]()
            for region in op.regions:  # at most one region runs
                self.up = before.copy()
                self.read(region)
                after |= self.up
            self.up = before | after

    def _signal(self, flag: _Flag, raises: bool) -> None:
        if raises:
            self.up[flag] += 1
            self.late += (one for one in self.early if flag.may_be(one))
            return
        perhaps = [other for other, times in self.up.items() if times and flag.may_be(other)]
        if not perhaps and flag.target is not Pipe.S:  # a waiting scalar unit issues nothing
            self.early.append(flag)
        if perhaps == [flag] and flag.event is not None:
            self.up[flag] -= 1


def _signals(op: Op) -> list[_Signal]:
    from ptokit.machine.execute import given  # needs NumPy: imported late

    noted = _Noted()
    unknown = {name: () if op.page.operand(name).many else None for name, _ in op.values()}
    op.page.run(**arguments(op.page, given(op) | unknown, {FLAGS: noted}))
    return noted.found


def waits_apart(funcs: Iterable[Func], target: Target) -> bool:
    """Return whether a queue that waits for another core may block less than program order.

    This holds on targets where each queue waits separately, for functions that push and pop and
    order their queues by flags only.
    """
    return target.separate and any(func.orders_pipes and _pops_and_pushes(func) for func in funcs)


def _pops_and_pushes(func: Func) -> bool:
    roles = {op.page.fifo_role for op in func.ops if isinstance(op, Op)}
    return {FifoRole.POPS, FifoRole.PUSHES} <= roles


@once
def waits_early(func: Func) -> bool:
    """Return whether a function awaits a flag that is only set below, in another queue."""
    reader = _Reader()
    reader.read(func.body)
    return bool(reader.late)
