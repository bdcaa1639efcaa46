"""The plan of a launch of threads: which of its instructions lie between two waits, and where.

Threads wait for each other at barriers, and before they use values of other threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ptokit.ir.graph import inner_uses
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.traits import COLLECTIVE, THREADS
from ptokit.isa.model.types import ScalarType


@dataclass(eq=False)
class Segment:
    """Instructions that a thread executes without a wait."""

    ops: list[AnyOp] = field(default_factory=list[AnyOp])


@dataclass(eq=False)
class Divided:
    """A loop or branch in which threads wait, with the items of each region."""

    op: Op
    parts: list[list[Item]] = field(default_factory=list["list[Item]"])


Item: TypeAlias = "Segment | Divided"


def of_launch(op: AnyOp) -> bool:
    """Return whether an op is a launch of threads with the instructions that they execute."""
    return isinstance(op, Op) and THREADS in op.page.traits and bool(op.regions)


class LaunchPlan:
    """The items of a launch. `home` has the item in which a value is defined.

    `kept` are the values that are stored because they are used in other items.
    """

    def __init__(self, launch: Op) -> None:
        self.home: dict[Value, Item] = {}
        self.makers: dict[Value, Op] = {}
        self.items = self._items(launch.regions[0].ops)
        self.kept = dict.fromkeys(v for v in self._elsewhere(self.items) if self.again(v) is None)
        shared = self._shared(self.items)
        self.kept |= dict.fromkeys(v for v in shared if isinstance(v.type, ScalarType))

    def _items(self, ops: list[AnyOp]) -> list[Item]:
        found, current = list[Item](), Segment()
        found.append(current)
        for op in ops:
            if not isinstance(op, Op) or op.page.asm.shape in ENDS:
                if not isinstance(op, Op):
                    current.ops.append(op)
                continue
            meet = COLLECTIVE in op.page.traits and not op.results
            if _divides(op):
                item = Divided(op)
                found.append(item)
                self.home |= dict.fromkeys((v for r in op.regions for v in r.args), item)
                self.home |= dict.fromkeys(op.results, item)
                item.parts = [self._items(region.ops) for region in op.regions]
            if _divides(op) or meet or self._waits(op, current):
                current = Segment()
                found.append(current)
            if _divides(op) or meet:
                continue
            current.ops.append(op)
            self.home |= dict.fromkeys(op.results, current)
            self.makers |= dict.fromkeys(op.results, op)
        return found

    def _waits(self, op: Op, current: Segment) -> bool:
        """Return whether an op uses what other threads define in the current segment."""
        if COLLECTIVE not in op.page.traits:
            return False
        return any(self.home.get(value) is current for _, value in op.values())

    def _elsewhere(self, items: list[Item]) -> Iterator[Value]:
        """Yield the values that are used outside of the segment in which they are defined."""
        for item in items:
            if isinstance(item, Segment):
                uses = (v for op in item.ops for _, _, v in inner_uses(op))
                yield from (v for v in uses if self._differs(v, item))
                continue
            given = [v for _, v in item.op.values()]
            passed = [v for region in item.op.regions for v in region.outcome]
            yield from (v for v in (*given, *passed) if v in self.home)
            for part in item.parts:
                yield from self._elsewhere(part)

    def _differs(self, value: Value, item: Item) -> bool:
        return self.home.get(value, item) is not item

    def _shared(self, items: list[Item]) -> Iterator[Value]:
        """Yield the values that other threads use."""
        for item in items:
            ops = item.ops if isinstance(item, Segment) else []
            for op in ops:
                if isinstance(op, Op) and COLLECTIVE in op.page.traits:
                    yield from (v for _, v in op.values() if v in self.home)
            for part in item.parts if isinstance(item, Divided) else ():
                yield from self._shared(part)

    def again(self, value: Value) -> Op | None:
        """Return the op that computes a value again where it is used; None if it is stored.

        Pointers and tiles cannot be stored, constants and numbers of the thread need not be.
        """
        op = self.makers.get(value)
        if op is None or COLLECTIVE in op.page.traits:
            return None
        free = not op.operands and not op.regions
        of_thread = free and (op.page.in_thread is not None or op.page.asm.shape == "constant")
        return op if of_thread or not isinstance(value.type, ScalarType) else None

    def same_for_all(self, value: Value) -> bool:
        """Return whether a value is known to be the same for all threads."""
        op = self.makers.get(value)
        return value not in self.home or (op is not None and op.page.asm.shape == "constant")


ENDS = ("yield", "condition", "return")


def _divides(op: Op) -> bool:
    """Return whether threads wait inside of an op."""
    inner = (i for region in op.regions for i in region.walk())
    return any(isinstance(i, Op) and COLLECTIVE in i.page.traits for i in inner)
