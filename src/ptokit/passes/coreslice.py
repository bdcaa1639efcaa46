"""A slice of a kernel for one kind of core: its instructions and all that they depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptokit.analysis.aliases import flows
from ptokit.forms.percore import OTHER
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import OUTSIDE, PRINTS
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import PtrType
from ptokit.isa.model.words import VECTOR, KernelKind
from ptokit.passes.coretransfers import KNOWN_TO_BOTH, CoreAssignment, CoreTransfer, cannot_split


class CoreSlice:
    """The ops and values of a function that one kind of core needs, with its transfers.

    If a loop carries a value that the core needs, the core needs it wherever it is passed. PtoError
    if only the other kind of core has a needed value.
    """

    def __init__(
        self,
        func: Func,
        kind: KernelKind,
        assignment: CoreAssignment,
        found: Sequence[CoreTransfer],
    ) -> None:
        self.kind, self.assignment = kind, assignment
        self.transfers = {transfer.op: transfer for transfer in found}
        self.popped = {transfer.dst for transfer in found if not transfer.copied}
        self.values, self.ops = set[Value](), set[AnyOp]()
        size = -1
        while size != len(self.values) + len(self.ops):
            size = len(self.values) + len(self.ops)
            self._block(func.body)

    def _need(self, values: Iterable[Value], op: AnyOp) -> None:
        for value in values:
            if self.assignment.of(value) is OTHER[self.kind]:
                theirs = f"known only on the {OTHER[self.kind].text} core"
                seen = f"the {self.kind.text} core needs %{value.name}, {theirs}"
                raise cannot_split(op, seen, KNOWN_TO_BOTH, *self.assignment.where(value))
            if value not in self.popped:
                self.values.add(value)

    def _block(self, block: Block) -> None:
        for op in reversed(block.ops):
            for region in op.regions:
                self._block(region)
            if op.regions:
                self._control(op)
            elif op is not block.terminator:
                assert isinstance(op, Op), "unknown ops are refused before"
                self._op(op)

    def _op(self, op: Op) -> None:
        transfer = self.transfers.get(op)
        if transfer is None:
            if self._own(op):
                self.ops.add(op)
                self._need((v for _, v in op.values()), op)
            return
        self.ops.add(op)
        self._need((v for v in transfer.valid if isinstance(v, Value)), op)
        if transfer.to is not self.kind:
            self._need([transfer.src], op)
        elif transfer.copied:
            self._need([transfer.dst], op)

    def _own(self, op: Op) -> bool:
        """Return whether the core executes an op, for its effects or for its results.

        Visible effects of an instruction of no kind of core come from the vector core alone.
        """
        kind = self.assignment.core_for(op)
        if kind is OTHER[self.kind]:
            return False
        if any(value in self.values for value in op.results):
            return True
        changes = op.dps or not op.results
        return changes and (kind is not None or self.kind is VECTOR or not _seen(op))

    def _control(self, op: AnyOp) -> None:
        """Add a loop or branch that contains needed ops or has needed results."""
        ways = list(flows(op))
        inner = (i for region in op.regions for i in region.ops if i is not region.terminator)
        gives = any(name in self.values for _, _, pairs in ways for _, name in pairs)
        if not gives and not any(i in self.ops for i in inner):
            return
        self.ops.add(op)
        self._need(_deciding(op), op)
        kept, size = set[tuple[int, int]](), -1
        while size != len(kept):  # a value kept at one edge is kept at all that follow
            size = len(kept)
            for source, _, pairs in ways:
                for place, pair in enumerate(pairs):
                    if pair[1] in self.values or (source, place) in kept:
                        kept.add((source, place))
                        self._need(pair, op)

    def passed(self, op: AnyOp, source: int, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values that the core needs among those passed from region `source`."""
        kept = {
            place
            for start, _, pairs in flows(op)
            for place, (_, name) in enumerate(pairs)
            if start == source and name in self.values
        }
        return tuple(v for n, v in enumerate(values) if len(values) - 1 - n in kept)

    def carried(self, op: Op, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the values that the core needs among those that enter a region."""
        return self.passed(op, OUTSIDE, values)

    def named(self, op: AnyOp, values: Sequence[Value]) -> list[Value]:
        """Return the results, or region arguments, that the core needs, and counters."""
        every = {name for _, _, pairs in flows(op) for _, name in pairs}
        return [v for v in values if v in self.values or v not in every]


def _deciding(op: AnyOp) -> Iterator[Value]:
    """Yield the values on which the control flow of an op depends."""
    for one in (op, *(region.terminator for region in op.regions)):
        if isinstance(one, Op):
            yield from (v for name, v in one.values() if not one.page.operand(name).many)


def _seen(op: Op) -> bool:
    """Return whether an instruction has visible effects: output, or global memory."""
    memory = any(isinstance(v.type, PtrType | GlobalType) for _, v in op.values())
    return memory or PRINTS in op.page.uses
