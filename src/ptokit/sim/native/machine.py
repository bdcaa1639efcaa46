"""The core as bodies of handle pages see it while they are compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import Offer
from ptokit.isa.lang.traits import CORE, FIXPIPE, FLOW, GATHERS, MACHINE, REGIONS
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.pages.grid import LARGEST_GRID
from ptokit.sim.arguments import Env
from ptokit.sim.execute import Core
from ptokit.sim.native.flow import Flow, Region
from ptokit.sim.native.plan import BLOCK, BLOCKS
from ptokit.sim.record.code import Int, Num, Truth
from ptokit.sim.record.trace import Recorded, TracedConv, TracedTile

if TYPE_CHECKING:
    from ptokit.sim.native.generator import Compiler


@dataclass
class Machine:
    """Makes tiles, and knows the block."""

    compiler: Compiler
    value: Value | None  # that is about to be defined

    @property
    def block_idx(self) -> Int:
        index = self.compiler.load(self.compiler.place(BLOCK), (0, LARGEST_GRID))
        self.compiler.code.by_block.add(index.text)
        return index

    @property
    def block_num(self) -> Int:
        return self.compiler.load(self.compiler.place(BLOCKS), (0, LARGEST_GRID))

    subblock_idx, subblock_num = Core.subblock_idx, Core.subblock_num

    def tile(self, kind: TileType | ConvTileType, address: Num) -> Recorded:
        """A handle on the bytes at `address` of the memory of the type's location."""
        target, planned = self.compiler.facts.target, self.compiler.planned
        if isinstance(address, int):
            if any(True for _ in planned.conflict(kind, address, target, None)):
                self.compiler.recording.guards.append(Truth(self.compiler.code, "false"))
        else:
            apart = (
                (address <= start - kind.nbytes) | (address >= end)
                for start, end in planned.ranges(kind)
            )
            self.compiler.recording.guards += [c for c in apart if isinstance(c, Truth)]
        return self._handle(kind, address)

    def _handle(self, kind: TileType | ConvTileType, address: Num) -> Recorded:
        if isinstance(kind, TileType):
            return TracedTile(kind, self.compiler.space(kind.loc), address)  # type: ignore[arg-type]
        return TracedConv(kind, self.compiler.space(kind.loc), address)  # type: ignore[arg-type]

    def new(self, kind: TileType | ConvTileType) -> Recorded:
        """A new tile at the planned address of the value: its content is undefined."""
        assert self.value is not None
        address = self.compiler.planned.addresses[self.value]
        handle = self._handle(kind, address)
        space = self.compiler.space(kind.loc)
        self.compiler.initial.forget(space.name, address, kind.nbytes)
        if space.name in self.compiler.tracked:
            base = self.compiler.memory(space.number, 1)
            where = self.compiler.code.let(f"getelementptr i8, ptr {base}, i64 {address}")
            arguments = f"ptr {where}, i8 0, i64 {kind.nbytes}, i1 false"
            self.compiler.code.do(f"call void @llvm.memset.p0.i64({arguments})")
        return handle


def offer(compiler: Compiler, op: Op, env: Env) -> Offer:
    """What a body may use while it is compiled: the state of the core is the reference's."""
    core, machine = compiler.core, Machine(compiler, next(iter(op.results), None))
    readings = {FIXPIPE: core.fixpipe, GATHERS: core.target.gathers}
    regions = tuple(Region(compiler, r, env) for r in op.regions)
    return {**readings, CORE: machine, MACHINE: machine, FLOW: Flow(compiler, op), REGIONS: regions}
