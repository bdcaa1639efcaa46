"""Effects: the bytes of operand storage that an instruction reads and writes.

A page's body is recorded once for each set of operand types. Effects that no body shows are
declared by the page: scratch operands, the pipe, and the registers that hardware needs. All
analyses use this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import scratch_of
from ptokit.ir.module import AnyOp, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Env
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.lang.environment import call
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.lang.operands import STORED
from ptokit.isa.lang.traits import ADDRESSES, ALIASES, FIFO, ONE_ELEMENT
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Elided, PtrType, Type
from ptokit.isa.model.words import Pipe
from ptokit.machine.memory import WRITTEN, Codes, Elements
from ptokit.machine.record.code import NotNative
from ptokit.machine.record.definite import around, exactly, mark
from ptokit.machine.record.expressions import UndefineStore
from ptokit.machine.record.isolated import Isolated, recordings, spanned

MOST_BYTES = 1 << 24  # of an operand; larger than any memory
Range: TypeAlias = tuple[int, int]
Signature: TypeAlias = "tuple[tuple[str, tuple[tuple[int, Type, int | None], ...]], ...]"
Attributes: TypeAlias = "tuple[tuple[str, object], ...]"


@dataclass(frozen=True)
class ByteRanges:
    """Bytes of one operand: disjoint ascending ranges [start, stop) from its first element.

    None: any bytes of the memory that holds the operand.
    """

    ranges: tuple[Range, ...] | None = ()

    def __bool__(self) -> bool:
        return self.ranges != ()

    def within(self, start: int, stop: int) -> bool:
        """Return whether all bytes lie inside [start, stop)."""
        return self.ranges is not None and all(start <= a and b <= stop for a, b in self.ranges)


ANYWHERE = ByteRanges(None)


@dataclass(frozen=True)
class Effects:
    """The effects of one instruction on the memory of its values, and its pipe.

    `reads` and `writes` hold every byte that it may access. `fills` are the bytes that it writes on
    each path through its body; `defines` those to which it may give a value. A view of a part of
    another tile has the strides of that tile; its bytes are counted as if the view stood alone.
    `scratch` are tiles that hardware may read and write as a whole; they are not repeated in the
    other fields. `pipe` is None for a path that no target has. Flags, which hold no data, are not
    included.
    """

    reads: Mapping[Value, ByteRanges] = field(default_factory=dict[Value, ByteRanges])
    writes: Mapping[Value, ByteRanges] = field(default_factory=dict[Value, ByteRanges])
    fills: Mapping[Value, ByteRanges] = field(default_factory=dict[Value, ByteRanges])
    defines: Mapping[Value, ByteRanges] = field(default_factory=dict[Value, ByteRanges])
    scratch: tuple[Value, ...] = ()
    pipe: Pipe | None = None
    registers_read: frozenset[str] = frozenset()
    registers_written: frozenset[str] = frozenset()


def effects(op: AnyOp, facts: Facts) -> Effects:
    """Return the effects of the op without its regions; in SSA form the outputs are its results.

    If the body cannot be recorded, whole operands are read and written. An unknown op may do
    anything to its operands.
    """
    if isinstance(op, Op) and op.calls:
        used = [value for _, value in op.values()]
        return _anywhere(used)
    if isinstance(op, Op) and op.page.declared:
        return _declared(op, facts)
    if isinstance(op, OpaqueOp):
        return _anywhere(op.uses)
    env = facts.environment(op)
    if not op.page.executes or ALIASES in op.page.traits:  # these ops make handles and numbers
        return Effects(pipe=op.page.pipe_of(env))
    values, signature = signature_of(op, facts)
    attrs = tuple(sorted(op.attrs.items()))
    *parts, registers = _recorded(op.page, signature, attrs, facts.target)
    reads, writes, fills, defines = ({values[n]: some for n, some in part} for part in parts)
    return Effects(
        reads,
        writes,
        fills,
        defines,
        tuple(v for name in scratch_of(op, facts.target) for v in op.bound(name)),
        op.page.pipe_of(env),
        _needed(op, env),
        registers,
    )


def _anywhere(values: Iterable[Value]) -> Effects:
    """Return the effects of arbitrary accesses to these values."""
    every = dict.fromkeys(values, ANYWHERE)
    return Effects(every, every, {}, every)


def _declared(op: Op, facts: Facts) -> Effects:
    """Return the declared effects: the bytes of one element, else any bytes."""
    used = [(op.page.operand(name), value) for name, value in op.values()]
    slots = FIFO in op.page.uses  # views of slots are passed on, their bytes are not accessed
    memory = [
        (o, v) for o, v in used if o.in_memory and not (slots and isinstance(v.type, GlobalType))
    ]
    stages = (v for name in scratch_of(op, facts.target) for v in op.bound(name))
    return Effects(
        {v: _part(op, v, facts) for o, v in memory if o.read and ADDRESSES not in op.page.traits},
        (written := {v: _part(op, v, facts) for o, v in memory if o.written}),
        defines=written,
        scratch=tuple(v for v in stages if isinstance(v.type, TileType)),
        pipe=op.page.pipe_of(facts.environment(op)),
    )


def _part(op: Op, value: Value, facts: Facts) -> ByteRanges:
    """Return the bytes of the accessed element, if it is known."""
    number = next((facts.numbers.get(v) for n, v in op.values() if n == "offset"), None)
    kind = facts.type_of(value)
    if ONE_ELEMENT not in op.page.traits or not isinstance(number, int):
        return ANYWHERE
    assert isinstance(kind, TileType | PtrType)
    bits = kind.dtype.bits
    return ByteRanges(((number * bits // 8, -(-(number + 1) * bits // 8)),))


def signature_of(op: Op, facts: Facts | None = None) -> tuple[list[Value], Signature]:
    """Return the values of an op, and its operands by number; equal for equivalent ops."""
    results = {n: (v,) for n, v in op.named_results()}
    bound = ((o.name, op.bound(o.name) or results.get(o.name, ())) for o in op.page.operands)
    named = [(name, some) for name, some in bound if some]
    values = list(dict.fromkeys(v for _, some in named for v in some))
    types = {v: v.type if facts is None else facts.type_of(v) for v in values}
    known = {} if facts is None else facts.numbers
    numbers = {v: n for v in values if isinstance(n := known.get(v), int)}
    return values, tuple(
        (name, tuple((values.index(v), types[v], numbers.get(v)) for v in some))
        for name, some in named
    )


def _needed(op: Op, env: Env) -> frozenset[str]:
    """Return the registers that hardware reads."""
    if op.page.needs is None or UNKNOWN in env.values():
        return frozenset()
    return frozenset(call(op.page.needs, {k: v for k, v in env.items() if v is not ABSENT}))


Found: TypeAlias = "tuple[tuple[int, ByteRanges], ...]"
Shadows: TypeAlias = "dict[Value, Codes | None]"  # None: any byte of the memory


@lru_cache(maxsize=4096)
def _recorded(
    page: type[Instr], signature: Signature, attrs: Attributes, target: Target
) -> tuple[Found, Found, Found, Found, frozenset[str]]:
    """Return reads, writes, fills and defines by value number, and the written registers."""
    op, numbers = rebuilt(page, signature, attrs)
    footprint, registers = _Footprint(op), set[str]()
    try:
        for way in ways(op, target, numbers) if _elements(op) is not False else ():
            footprint.add(way)
            registers |= way.registers.keys()
    except NotNative:
        footprint.give_up()
    if _elements(op) is not True:
        footprint.fills = {}
    parts = (footprint.reads, footprint.writes, footprint.fills, footprint.defines)
    found = [tuple((int(v.name), _bytes(s)) for v, s in part.items()) for part in parts]
    return found[0], found[1], found[2], found[3], frozenset(registers)


def ways(op: Op, target: Target, numbers: dict[Value, int]) -> Iterator[Isolated]:
    """Yield the recordings of an instruction, one for each path.

    NotNative if it breaks rules on which its body relies, or its tiles are too large.
    """
    if any(_size(v.type) is None for _, v in op.values() if isinstance(v.type, TileType)):
        raise NotNative("a tile is larger than any memory")
    env = Facts(target, dict(numbers)).environment(op)
    found = doubtful(op.page.rules_on(target), env)
    if any(outcome is False and rule.required for rule, outcome in found):
        raise NotNative("it breaks a rule")
    return recordings(op, target, numbers)


def rebuilt(
    page: type[Instr], signature: Signature, attrs: Attributes
) -> tuple[Op, dict[Value, int]]:
    """Return an op of this signature in DPS form, and its known numbers."""
    values: dict[int, Value] = {}
    numbers: dict[Value, int] = {}
    op = Op(page, attrs=dict(attrs))
    for name, bound in signature:
        for n, kind, number in bound:
            value = values.setdefault(n, Value(str(n), kind))
            numbers |= {} if number is None else {value: number}
        some = tuple(values[n] for n, _, _ in bound)
        op.operands[name] = some if page.operand(name).many else some[0]
    return op, numbers


def _bytes(shadow: Codes | None) -> ByteRanges:
    """Return the marked bytes of a shadow."""
    if shadow is None:
        return ANYWHERE
    return ByteRanges(marked(shadow))


def marked(shadow: Codes) -> tuple[Range, ...]:
    """Return the ranges of bytes that are not 0."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], shadow != 0, [False]))))
    return tuple((int(a), int(b)) for a, b in edges.reshape(-1, 2))


def _elements(op: Op) -> bool | None:
    """Return whether each output has elements; None if that is not known statically.

    An instruction with an empty output does nothing.
    """
    found: bool | None = True
    for operand in op.page.operands:
        kind = op.bound(operand.name)[0].type if op.bound(operand.name) else None
        if operand.role is Role.OUT and isinstance(kind, TileType):
            if 0 in kind.valid:
                return False
            found = found if kind.valid.static else None
    return found


class _Footprint:
    """Shadows of an instruction's values, each relative to its own first element."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.sizes = {v: _size(v.type) for _, v in op.values()}
        self.reads: Shadows = {}
        self.writes: Shadows = {}
        self.fills: Shadows = {}
        self.defines: Shadows = {}
        self.ways = 0

    def add(self, way: Isolated) -> None:
        """Add the accesses of one path through the body."""
        values = {id(space): value for value, space in way.spaces.items()}
        for read in way.recording.reads:
            value = values[id(read.cells.memory)]
            self._may(self.reads, value, read.cells, around(read.row_span), around(read.col_span))
        filled: dict[Value, Codes] = {}
        for store in way.recording.stores:
            value = values[id(store.cells.memory)]
            rows, cols = exactly(store.rows), exactly(store.cols)
            down, across = rows or around(store.rows), cols or around(store.cols)
            self._may(self.writes, value, store.cells, down, across)
            if not isinstance(store, UndefineStore):
                self._may(self.defines, value, store.cells, down, across)
            size = self.sizes[value]
            if size is not None and store.definite and rows and cols:
                mark(filled.setdefault(value, np.zeros(size, np.uint8)), store.cells, rows, cols)
        self._fill({v: np.where(s == WRITTEN, s, 0) for v, s in filled.items()})

    def _fill(self, filled: Shadows) -> None:
        """Intersect the filled bytes of this path with those of the paths before."""
        if self.ways:
            both = [(v, s, filled[v]) for v, s in self.fills.items() if v in filled]
            filled = {v: a & b for v, a, b in both if a is not None and b is not None}
        self.fills, self.ways = filled, self.ways + 1

    def _may(
        self,
        shadows: Shadows,
        value: Value,
        cells: Elements,
        rows: range | None,
        cols: range | None,
    ) -> None:
        shadow = shadows.setdefault(value, self._blank(value))
        if shadow is not None and (
            rows is None or cols is None or not mark(shadow, cells, rows, cols)
        ):
            shadow[:] = WRITTEN

    def _blank(self, value: Value) -> Codes | None:
        size = self.sizes[value]
        return None if size is None else np.zeros(size, np.uint8)

    def give_up(self) -> None:
        """Assume that the body, which cannot be recorded, reads and writes all of its operands."""
        self.fills = {}
        for operand in self.op.page.operands:
            for value in self.op.bound(operand.name):
                size = self.sizes[value]
                whole = None if size is None else np.full(size, WRITTEN, np.uint8)
                if operand.in_memory and operand.role in (Role.IN, Role.INOUT):
                    self.reads[value] = whole
                if operand.written:
                    self.writes[value] = self.defines[value] = whole


def _size(kind: Type) -> int | None:
    """Return the bytes of an operand's storage; None if unknown or too large for a shadow."""
    size = spanned(kind) if isinstance(kind, GlobalType) else getattr(kind, "nbytes", None)
    return size if size is not None and 0 <= size <= MOST_BYTES else None


def overwrites(op: Op, name: str) -> bool:
    """Return whether the op writes every byte of its output `name` on each path.

    False if some bytes may be left: elements outside every window or condition, an empty valid
    region, extents not known statically, or a body that cannot be recorded. Numbers may have any
    value that the rules allow. True only if it holds on every target that accepts the instruction.
    """
    return name in _overwritten(op.page, signature_of(op)[1], tuple(sorted(op.attrs.items())))


@lru_cache(maxsize=4096)
def _overwritten(page: type[Instr], signature: Signature, attrs: Attributes) -> frozenset[str]:
    """Return the outputs that an instruction overwrites on every target that accepts it."""
    op, _ = rebuilt(page, signature, attrs)
    outs = {o.name: op.bound(o.name)[0] for o in page.outs() if o.name in op.operands}
    outs = {name: v for name, v in outs.items() if page.operand(name).kind in STORED}
    if all(isinstance(v.type, Elided) and name in page.elided for name, v in outs.items()):
        return frozenset(outs)  # inferred as the type that the instruction writes
    takers = [Facts(target) for target in _takers(op)]
    return frozenset(n for n, v in outs.items() if all(_fills(op, v, f) for f in takers))


def _fills(op: Op, value: Value, facts: Facts) -> bool:
    """Return whether an instruction writes all of a tile."""
    kind = facts.type_of(value)
    size = kind.nbytes if isinstance(kind, TileType | ConvTileType) else 0
    return effects(op, facts).fills.get(value) == ByteRanges(((0, size),))


def _takers(op: Op) -> Iterator[Target]:
    """Yield the targets that may accept an instruction."""
    for target in TARGETS.values():
        env = Facts(target).environment(op)
        rules = op.page.rules_on(target)
        if not any(rule.holds(env) is False for rule in rules if rule.required):
            yield target
