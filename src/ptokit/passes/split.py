"""Splitting a kernel for both kinds of core into a function for each, with FIFOs between.

Both functions keep the loops and branches around their own instructions, and compute the numbers
for them. A tile that crosses is pushed where it was moved, and popped there by the other core. Both
do so in the same order, so there is no deadlock, however few slots a FIFO has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

from ptokit.analysis.aliases import Names, PointsTo, union
from ptokit.analysis.cores import KIND, kind_of
from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.diagnostic import Note
from ptokit.forms.percore import OTHER, section_kinds
from ptokit.ir.editing import FreshNames, allocation, constant, new_op, renamed, replaced
from ptokit.ir.module import AnyOp, Block, Func, Module, Op, Raw, Value
from ptokit.ir.strings import symbol
from ptokit.isa.lang.traits import TERMINATOR, FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import INDEX, PtrType, ScalarType
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.passes.coreslice import CoreSlice
from ptokit.passes.coretransfers import (
    CoreAssignment,
    CoreTransfer,
    cannot_split,
    side_of,
    transfers,
)
from ptokit.passes.splitfifos import FifoPlan, FunctionFifos, fifo_page, fifos_for
from ptokit.values.dtypes import i8
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import ND, NZ, Shape

NOT_SHARED = "store and load it on one core, or hand it over as a tile: t.to(...)"


def split(module: Module, target: Target) -> Module:
    """Return the module with two functions for each function that needs both kinds of core.

    The cube function keeps the name. PtoError if a kernel cannot be split.
    """
    taken = {func.name for func in module.funcs}

    def parts(inner: Module) -> Module:
        made: list[Func | Module] = []
        for part in inner.parts:
            if isinstance(part, Module):
                made.append(parts(part))
            elif is_mixed(part) and kind_of(module, part) is None:
                made += _halves(part, target, taken)
            else:
                made.append(part)
        return replace(inner, parts=made)

    return parts(module)


def is_mixed(func: Func) -> bool:
    """Return whether a function has tiles of both kinds of core, and no sections."""
    sides = {side_of(value.type) for value in func.named()} - {None}
    return len(sides) == 2 and not any(True for _ in section_kinds(func))


def _halves(func: Func, target: Target, taken: set[str]) -> list[Func]:
    """Return the cube function and the vector function."""
    assignment = CoreAssignment(func)
    found = transfers(func, assignment)
    fifos, name = fifos_for(found), f"{func.name}_{VECTOR.text}"
    while name in taken:
        name += "_core"
    taken.add(name)
    named = {CUBE: func.name, VECTOR: name}
    halves = {kind: _Half(func, kind, assignment, found, target) for kind in named}
    _require_apart(halves)
    if not found:
        first = next(op for op in func.ops if assignment.core_for(op) is not None)
        help = "write two kernels, or a section for each kind of core"
        raise cannot_split(first, "no value crosses between the kinds of cores", help)
    made: list[Func] = []
    for kind, half in halves.items():
        kept = func.attrs if kind is CUBE else {}  # a launch names the cube function
        attrs = {**kept, KIND: Raw(f"#pto.kernel_kind<{kind.text}>")}
        whole = half.with_fifos(fifos, symbol(named[OTHER[kind]]))
        made.append(replace(whole, name=named[kind], attrs=attrs))
    return [made[0], deepcopy(made[1])]  # the functions share no op and no value


class _Half:
    """The function for one kind of core."""

    def __init__(
        self,
        func: Func,
        kind: KernelKind,
        assignment: CoreAssignment,
        found: Sequence[CoreTransfer],
        target: Target,
    ) -> None:
        self.kind, self.target = kind, target
        self.slice, self.names = CoreSlice(func, kind, assignment, found), FreshNames(func)
        self.now: dict[Value, Value] = {}  # tile -> the popped tile that replaces it
        self.taken = set[str]()
        self.numbers: dict[tuple[int, ScalarType], Op] = {}
        self.func = replace(func, body=self._block(func.body))

    def with_fifos(self, fifos: Sequence[FifoPlan], peer: str) -> Func:
        """Return the function with the ops that set up its ends of the FIFOs at the start."""
        slots = None
        if self.target.releases:
            slots = Value(self.names.name("slots"), PtrType(i8))
        ends = FunctionFifos(self.kind, self.names, self._number, slots)
        ops = list(ends.set_up(fifos, peer))
        body = self.func.body
        args = [*body.args, *([slots] if slots else [])]
        ops = [*self.numbers.values(), *ops, *body.ops]
        return replace(self.func, body=replace(body, args=args, ops=ops))

    def _number(self, number: int, kind: ScalarType) -> Value:
        """Return a constant at the start of the function."""
        key = number, kind
        if key not in self.numbers:
            self.numbers[key] = constant(Value(self.names.name(f"c{number}"), kind), number)
        return self.numbers[key].results[0]

    def _block(self, block: Block) -> Block:
        every = [a for a in self.slice.transfers.values() if a.way[-1][0] is block]
        mine = [transfer for transfer in every if transfer.to is self.kind]
        new = replace(block, ops=list[AnyOp]())
        for index, op in enumerate(block.ops):
            new.ops += self._op(op)
            new.ops += (self._at_fifo(FifoRole.FREES, a) for a in mine if a.last == index)
        return new

    def _op(self, op: AnyOp) -> Iterator[AnyOp]:
        transfer = self.slice.transfers.get(op) if isinstance(op, Op) else None
        if transfer is not None:
            yield from (
                self._popped(transfer) if transfer.to is self.kind else self._pushed(transfer)
            )
        elif op.regions and op in self.slice.ops:
            yield self._control(op)
        elif op in self.slice.ops or (isinstance(op, Op) and TERMINATOR in op.page.traits):
            yield renamed(op, self.now)

    def _control(self, op: AnyOp) -> AnyOp:
        """Return a loop or branch with the part of its regions that the core needs."""
        assert isinstance(op, Op), "unknown ops are refused before"
        operands = {
            name: self.slice.carried(op, bound) if isinstance(bound, tuple) else bound
            for name, bound in op.operands.items()
        }
        operands = {name: replaced(bound, self.now) for name, bound in operands.items()}
        regions = [self._region(op, number) for number in range(len(op.regions))]
        results = self.slice.named(op, op.results)
        while len(regions) > 1 and not (regions[-1].ops or regions[-1].args):
            regions.pop()
        return replace(op, operands=operands, regions=regions, results=results)

    def _region(self, op: Op, number: int) -> Block:
        """Return a region, without values that only the other core carries or returns."""
        region = op.regions[number]
        new, end = self._block(region), region.terminator
        new.args = self.slice.named(op, region.args)
        if end is not None and region.passed:
            (name,) = end.page.lists
            values = self.slice.passed(op, number, region.passed)
            if values or len(end.operands) > 1:
                operands = {**end.operands, name: values}
                new.ops[-1] = renamed(replace(end, operands=operands), self.now)
            else:
                new.ops.pop()
        return new

    def _pushed(self, transfer: CoreTransfer) -> Iterator[Op]:
        """Yield the ops that push a tile. A slot in local memory has the layout of the consumer."""
        entry = self.now.get(transfer.src, transfer.src)
        given, wanted = entry.type, transfer.dst.type
        assert isinstance(given, TileType)
        assert isinstance(wanted, TileType)
        if not self.target.releases and (given.layout, wanted.layout) == (ND, NZ):
            boxed = replace(wanted, loc=VEC)
            numbers = zip(("valid_row", "valid_col"), boxed.valid, transfer.valid, strict=True)
            valid = {n: [v] for n, extent, v in numbers if extent is None and isinstance(v, Value)}
            tile = Value(self.names.name(f"{entry.name}_boxed"), boxed, entry.span)
            yield new_op(allocation(), valid, results=[tile], spans=transfer.op.spans)
            yield self._moved(transfer, tile, entry)
            entry = tile
        yield self._at_fifo(FifoRole.PUSHES, transfer, entry=[entry])

    def _popped(self, transfer: CoreTransfer) -> Iterator[Op]:
        """Yield the ops that pop the next entry into a tile in the FIFO's memory."""
        dst, given = transfer.dst, dict[str, list[Value]]()
        assert isinstance(dst.type, TileType)
        kind = dst.type
        if not kind.valid.static:
            kind = replace(kind, valid=Shape(None, None))
            numbers = [self._number(n, INDEX) if isinstance(n, int) else n for n in transfer.valid]
            given = {"valid_row": numbers[:1], "valid_col": numbers[1:]}
        fresh = transfer.copied or dst.name in self.taken
        entry = Value(self.names.name(dst.name) if fresh else dst.name, kind, dst.span)
        self.taken.add(dst.name)
        yield replace(self._at_fifo(FifoRole.POPS, transfer, **given), results=[entry])
        if transfer.copied:
            yield self._moved(transfer, dst, entry)
        else:
            self.now[dst] = entry

    def _moved(self, transfer: CoreTransfer, dst: Value, src: Value) -> Op:
        """Return the same move inside the memory of the core."""
        first, second = (operand.name for operand in transfer.op.page.operands[:2])
        return new_op(transfer.op.page, {first: [dst], second: [src]}, spans=transfer.op.spans)

    def _at_fifo(self, role: FifoRole, transfer: CoreTransfer, **operands: list[Value]) -> Op:
        number: dict[str, object] = {"id": transfer.fifo} if transfer.fifo else {}
        page, spans = fifo_page(role, self.kind), transfer.op.spans
        return new_op(page, operands, {**number, "split": 0}, spans=spans)


class _GlobalAccess(PointsTo):
    """The first ops that read, and write, each array in global memory."""

    def __init__(self, func: Func) -> None:
        self.read: dict[Value, Op] = {}
        self.writes: dict[Value, Op] = {}
        super().__init__(func)

    def _op(self, op: Op, names: Names) -> None:
        if not any(isinstance(v.type, PtrType | GlobalType) for v in op.results):
            for name, value in op.values():
                found = self.writes if op.page.operand(name).written else self.read
                for argument in union(names, (value,)):
                    found.setdefault(argument, op)
        super()._op(op, names)


def _require_apart(halves: Mapping[KernelKind, _Half]) -> None:
    """Raise PtoError if one core writes an array that the other reads or writes."""
    seen = {kind: facts_of(half.func).made(_GlobalAccess) for kind, half in halves.items()}
    for kind, own in seen.items():
        other = seen[OTHER[kind]]
        for argument in halves[kind].func.args:
            theirs = other.read.get(argument) or other.writes.get(argument)
            if (mine := own.writes.get(argument)) is not None and theirs is not None:
                note = Note(f"the {OTHER[kind].text} core uses it here", theirs.span)
                message = f"the {kind.text} core writes %{argument.name}, which the other core uses"
                raise cannot_split(mine, message, NOT_SHARED, note)
