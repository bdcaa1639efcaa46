"""Which instructions surely overwrite all of a tile: asked of their recorded bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ptokit.analysis.known import Facts
from ptokit.ir.module import STORED, Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.tiles import ConvTileType, GlobalType, Shape, TileType
from ptokit.isa.model.types import Elided, ScalarType, Type
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.sim.execute import Core, given
from ptokit.sim.memory import WRITTEN
from ptokit.sim.record.code import Code, Int, NotNative, Undecided
from ptokit.sim.record.definite import Initial
from ptokit.sim.record.trace import Recording, Scalar, Space, TracedConv, TracedTile, TracedView

MOST_BYTES = 1 << 24  # of a tile: more than any memory holds
MOST_CONDITIONS = 6  # of one body; each is tried both ways
Operands: TypeAlias = "tuple[tuple[str, tuple[tuple[str, Type], ...]], ...]"
Attributes: TypeAlias = "tuple[tuple[str, object], ...]"


def covers(op: Op, name: str) -> bool:
    """Whether the op surely writes every byte of the tile that its output `name` is.

    False where it may leave some: elements that no window has or no condition selects, an empty
    valid region, extents known only when the program runs, a body that cannot be recorded. Numbers
    may be anything that the rules let them be. True only if it holds on every target that takes the
    instruction; one that no target takes never runs.
    """
    results = {n: (v,) for n, v in op.named_results()}
    bound = ((o.name, op.bound(o.name) or results.get(o.name, ())) for o in op.page.operands)
    operands = tuple((n, tuple((v.name, v.type) for v in some)) for n, some in bound if some)
    return name in _covered(op.page, _anonymous(operands), tuple(sorted(op.attrs.items())))


def _anonymous(operands: Operands) -> Operands:
    """Names by order of appearance: they only tell which operands are one value."""
    numbers: dict[str, str] = {}
    return tuple(
        (n, tuple((numbers.setdefault(v, str(len(numbers))), kind) for v, kind in values))
        for n, values in operands
    )


@lru_cache(maxsize=4096)
def _covered(page: type[Instr], operands: Operands, attrs: Attributes) -> frozenset[str]:
    """The outputs that an instruction covers on every target that may take it."""
    values: dict[str, Value] = {}
    op = Op(page, attrs=dict(attrs))
    for name, bound in operands:
        some = tuple(values.setdefault(v, Value(v, kind)) for v, kind in bound)
        op.operands[name] = some if page.operand(name).many else some[0]
    found = [_covered_on(op, target) for target in TARGETS.values() if _possible(op, target)]
    return _outputs(op).intersection(*found)


def _possible(op: Op, target: Target) -> bool:
    env = Facts(target).environment(op)
    return not any(
        rule.holds(env) is False for rule in op.page.rules_on(target) if not rule.warning
    )


def _covered_on(op: Op, target: Target) -> frozenset[str]:
    outs = _outputs(op)
    if all(isinstance(op.bound(name)[0].type, Elided) and name in op.page.elided for name in outs):
        return outs  # completed to what the instruction writes
    if not all(_has_elements(op.bound(name)[0].type) for name in outs):
        return frozenset()
    try:
        ways = list(_ways(op, target, []))
    except NotNative:
        return frozenset()
    return frozenset(name for name in outs if all(op.bound(name)[0] in way for way in ways))


def _outputs(op: Op) -> frozenset[str]:
    return frozenset(o.name for o in op.page.outs() if o.kind in STORED and op.bound(o.name))


def _has_elements(kind: Type) -> bool:
    """Without elements an instruction does nothing."""
    if isinstance(kind, TileType):
        return kind.valid.static and bool(kind.valid.rows and kind.valid.cols)
    return isinstance(kind, ConvTileType)


def _ways(op: Op, target: Target, answers: list[bool]) -> Iterator[set[Value]]:
    """The tiles that are covered on each way through the body."""
    trial = _Trial(op, target)
    trial.code.answers = answers
    try:
        yield trial.covered()
    except Undecided:
        if len(answers) == MOST_CONDITIONS:
            raise
        for answer in (True, False):
            yield from _ways(op, target, [*answers, answer])


@dataclass
class _Trial:
    """One recording of an instruction, each value in a memory of its own."""

    op: Op
    target: Target
    code: Code = field(default_factory=Code)
    recording: Recording = field(default_factory=Recording)
    spaces: dict[Value, Space] = field(default_factory=dict[Value, Space])

    def covered(self) -> set[Value]:
        page = self.op.page
        handles = {value: self._handle(value) for _, value in self.op.values()}
        values = given(self.op) | Core(self.target, CPU_READING).offer()
        for operand in page.operands:
            bound = tuple(handles[v] for v in self.op.bound(operand.name))
            dtype = ScalarType(operand.scalar or "").dtype
            if bound and dtype is not None:
                bound = tuple(Scalar(number, dtype) for number in bound)
            if bound:
                values[operand.name] = bound if operand.many else bound[0]
        if {"core", "registers", "flags"} & {*page.body_names}:
            raise NotNative("it works on the core's state")
        if any(name not in values for name in page.body_names):
            raise NotNative("an operand is missing")
        getattr(page, "run")(**{n: values[n] for n in page.body_names})  # noqa: B009
        return self._filled()

    def _filled(self) -> set[Value]:
        sizes = {s.name: s.size for s in self.spaces.values()}
        initial = Initial(lambda name: np.zeros(sizes[name], np.uint8), lambda _: None)
        initial.effects(self.recording)
        full = {n for n, shadow in initial.shadows.items() if (shadow == WRITTEN).all()}
        return {value for value, space in self.spaces.items() if space.name in full}

    def _handle(self, value: Value) -> Any:  # Any: a handle or a number
        kind: Any = value.type
        if isinstance(kind, TileType):
            return self._tile(value, self.target.resolve(kind))
        if isinstance(kind, ConvTileType):
            return TracedConv(kind, self._space(value, kind.nbytes), 0)  # type: ignore[arg-type]
        if isinstance(kind, GlobalType):
            numbers = tuple(self._number() if n is None else n for n in kind.shape)
            strides = kind.stride or (None,) * kind.rank
            steps = tuple(self._number() if n is None else n for n in strides)
            full: Any = replace(kind, shape=numbers, stride=steps)
            return TracedView(full, self._space(value, 0), 0)  # type: ignore[arg-type]
        if isinstance(kind, ScalarType):
            return self._number()
        raise NotNative(f"%{value.name} is no tile, view or number")

    def _tile(self, value: Value, kind: TileType) -> TracedTile:
        rows, cols = kind.valid.rows, kind.valid.cols
        valid: Any = Shape(
            self._number(kind.rows) if rows is None else rows,  # type: ignore[arg-type]
            self._number(kind.cols) if cols is None else cols,  # type: ignore[arg-type]
        )
        space = self._space(value, kind.nbytes)
        return TracedTile(replace(kind, valid=valid), space, 0)  # type: ignore[arg-type]

    def _space(self, value: Value, size: int) -> Space:
        if not 0 <= size <= MOST_BYTES:
            raise NotNative(f"%{value.name} fits no memory")
        number = len(self.spaces)
        self.spaces[value] = Space(number, str(number), self, size, None)
        return self.spaces[value]

    def _number(self, most: int | None = None) -> Int:
        """A number that only the running program knows."""
        limits = (0, most or (1 << 40))
        return Int(self.code, f"%{self.code.name()}", upper=most, limits=limits)
