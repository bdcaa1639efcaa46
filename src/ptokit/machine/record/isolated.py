"""The recording of one instruction alone: each value in a memory of its own, at address 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import arguments
from ptokit.isa.lang.traits import CORE, FLAGS, PRINTS, REGISTERS
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ScalarType
from ptokit.machine.execute import Core, element_of, given
from ptokit.machine.record.code import Code, Int, NotNative, Num, Undecided
from ptokit.machine.record.expressions import Recording, Scalar
from ptokit.machine.record.trace import Recorded, Space, TracedConv, TracedTile, TracedView
from ptokit.values.fixpipe import CPU_READING
from ptokit.values.layouts import Shape

MOST_CONDITIONS = 6  # undecided conditions of one body; each is tried both ways


def recordings(op: Op, target: Target, numbers: Mapping[Value, int]) -> Iterator[Isolated]:
    """Yield a recording for each path through the body that types and `numbers` leave open.

    NotNative if the body cannot be recorded.
    """
    return _ways(op, target, numbers, [])


def _ways(
    op: Op,
    target: Target,
    numbers: Mapping[Value, int],
    answers: list[bool],
) -> Iterator[Isolated]:
    way = Isolated(op, target, numbers)
    way.code.answers = answers
    try:
        way.run()
        yield way
    except Undecided:
        if len(answers) == MOST_CONDITIONS:
            raise
        for answer in (True, False):
            yield from _ways(op, target, numbers, [*answers, answer])


def spanned(kind: GlobalType) -> int | None:
    """Return the bytes from the first element of a view to its last; None if unknown."""
    last = 0
    for count, step in zip(kind.shape, kind.stride or (None,) * kind.rank, strict=True):
        if count is None or step is None:
            return None
        last += max(count - 1, 0) * step
    return kind.dtype.nbytes(last + 1)


class Registers(dict[str, int]):
    """The registers of a core that a body sets, by name."""


class Silent:
    """An output that prints nothing."""

    @staticmethod
    def matrix(*_: object) -> None: ...

    number = matrix


@dataclass
class Isolated:
    """One recording of an instruction."""

    op: Op
    target: Target
    numbers: Mapping[Value, int]
    code: Code = field(default_factory=Code)
    recording: Recording = field(default_factory=Recording)
    spaces: dict[Value, Space] = field(default_factory=dict[Value, Space])
    registers: Registers = field(default_factory=Registers)

    def run(self) -> None:
        """Run the body on symbols."""
        page = self.op.page
        handles = {value: self._handle(value) for _, value in self.op.values()}
        values, offer = given(self.op), Core(self.target, CPU_READING).offer()
        for operand in page.operands:
            bound = tuple(handles[v] for v in self.op.bound(operand.name))
            dtype = element_of(self.op, operand) if bound else None
            if dtype is not None:
                bound = tuple(Scalar(self._number(), dtype) for _ in bound)
            if bound:
                values[operand.name] = bound if operand.many else bound[0]
        if {CORE, FLAGS} & {*page.uses}:
            raise NotNative("it works on the core's state")
        try:
            inputs = arguments(page, values, {**offer, REGISTERS: self.registers, PRINTS: Silent})
        except KeyError as missing:
            raise NotNative(f"{missing} is missing") from None
        page.run(**inputs)

    def _handle(self, value: Value) -> Recorded | Num | float:
        kind = value.type
        if isinstance(kind, TileType):
            return self._tile(value, self.target.resolve(kind))
        if isinstance(kind, ConvTileType):
            return TracedConv(kind, self._space(value, kind.nbytes), 0)  # type: ignore[arg-type]  # Space
        if isinstance(kind, GlobalType):
            return self._view(value, kind)
        if isinstance(kind, ScalarType):
            if kind.is_float:
                return 1.0  # bodies only put such a number into registers
            return self.numbers[value] if value in self.numbers else self._number()
        raise NotNative(f"%{value.name} is no tile, view or number")

    def _view(self, value: Value, kind: GlobalType) -> TracedView:
        strides = kind.stride or (None,) * kind.rank
        extents, steps = (
            tuple(self._number() if n is None else n for n in some)
            for some in (kind.shape, strides)
        )
        full = replace(kind, shape=extents, stride=steps)  # type: ignore[arg-type]  # Nums
        space = self._space(value, spanned(kind) or 0)
        return TracedView(full, space, 0)  # type: ignore[arg-type]  # Space

    def _tile(self, value: Value, kind: TileType) -> TracedTile:
        rows, cols = kind.valid.rows, kind.valid.cols
        valid = Shape(
            self._number(kind.rows) if rows is None else rows,  # type: ignore[arg-type]  # a Num
            self._number(kind.cols) if cols is None else cols,  # type: ignore[arg-type]  # a Num
        )
        space = self._space(value, kind.nbytes)
        return TracedTile(replace(kind, valid=valid), space, 0)  # type: ignore[arg-type]  # Space

    def _space(self, value: Value, size: int) -> Space:
        number = len(self.spaces)
        self.spaces[value] = Space(number, str(number), self, size, None)
        return self.spaces[value]

    def _number(self, most: int | None = None) -> Int:
        """Return a symbolic number from 0 to `most`."""
        limits = (0, most or (1 << 40))
        return Int(self.code, f"%{self.code.name()}", upper=most, limits=limits)
