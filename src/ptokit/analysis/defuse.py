"""Definitions and uses of values in a structured program, and the values live after each write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ptokit.analysis.liveness import Liveness
from ptokit.ir.editing import is_tile, uses_of
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.traits import ALIASES, ALLOCATES

Frame: TypeAlias = "tuple[AnyOp, int]"  # an op and the index of a region


@dataclass(frozen=True, eq=False)
class ProgramPoint:
    """A place in the program: a position in text order and the enclosing regions."""

    position: int
    frames: tuple[Frame, ...]
    block: Block
    index: int


class DefUse(Liveness):
    """Definitions and uses of every value of a function, and the liveness of values."""

    def __init__(self, func: Func) -> None:
        self.defined: dict[Value, ProgramPoint] = {}
        self.used: dict[Value, list[ProgramPoint]] = {}
        self.written: dict[Value, Op] = {}  # SSA outputs
        self.clock = 0
        self.undefined: dict[Value, None] = {}  # new tiles without content
        self.source: dict[Value, Value] = {}  # a handle -> the tile whose bytes it names
        start = ProgramPoint(0, (), func.body, 0)
        self.defined |= dict.fromkeys(func.args, start)
        self._points(func.body, ())
        super().__init__(func)

    def _points(self, block: Block, frames: tuple[Frame, ...]) -> None:
        for index, op in enumerate(block.ops):
            self.clock += 1
            here = ProgramPoint(self.clock, frames, block, index)
            for value in self.uses(op):
                self.used.setdefault(value, []).append(here)
            for number, region in enumerate(op.regions):
                self.defined |= dict.fromkeys(region.args, here)
                self._points(region, (*frames, (op, number)))
            if op.regions:
                self.clock += 1
                here = ProgramPoint(self.clock, frames, block, index)
            self.defined |= dict.fromkeys(op.results, here)
            if isinstance(op, Op):
                self._results(op)

    def uses(self, op: AnyOp) -> Iterator[Value]:
        """Yield the values that an op uses, and the tiles whose bytes they name."""
        for value in self._needed(op):
            yield value
            if value in self.source:
                yield self.source[value]

    def kills(self, op: AnyOp) -> Iterable[Value]:
        return op.results

    def kept(self, func: Func) -> Iterable[Value]:
        return ()

    def _needed(self, op: AnyOp) -> Iterator[Value]:
        """Yield the values that an op uses, except undefined tiles that it only writes."""
        if not (isinstance(op, Op) and op.ssa):
            yield from uses_of(op)
            return
        for name, value in op.values():
            if value not in self.undefined or op.page.operand(name).role is not Role.OUT:
                yield value

    def _results(self, op: Op) -> None:
        if ALLOCATES in op.page.traits:
            self.undefined |= dict.fromkeys(op.results)
        if op.ssa:
            self.written |= dict.fromkeys(op.results[len(op.page.results()) :], op)
        new = op.page.executes or op.regions or ALLOCATES in op.page.traits
        if ALIASES in op.page.traits or not new:
            tiles = [v for v in uses_of(op) if is_tile(v)]
            if tiles:
                root = self.source.get(tiles[0], tiles[0])
                self.source |= {v: root for v in op.results if is_tile(v)}

    def needed_after(self, value: Value, write: Value) -> bool:
        """Return whether `value` is used after the op that writes `write`."""
        return value is not write and value in self.after[self.written[write]]
