"""The core as bodies of handle pages see it during compilation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptokit.engines.native.compiledwaits import CompiledFifoEnd, CompiledFlags, CompiledSignals
from ptokit.engines.native.flow import CompiledFlow, CompiledRegion
from ptokit.engines.native.frame import BLOCK, BLOCKS
from ptokit.engines.native.mainfunction import MainFunction
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import Offer
from ptokit.isa.lang.traits import CORE, FIFO, FLAGS, FLOW, MACHINE, REGIONS, SIGNALS, Resource
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ArrayType, OpaqueType, StructType
from ptokit.isa.pages.grid import LARGEST_GRID
from ptokit.machine.record.code import Int, NotNative, Num, Truth
from ptokit.machine.record.trace import Recorded, TracedConv, TracedPointer, TracedTile, TracedView
from ptokit.order.group import GroupedCore


@dataclass
class CompiledMachine:
    """A core that makes symbolic tiles and block numbers."""

    main: MainFunction
    value: Value | None  # the value that is being defined

    @property
    def block_idx(self) -> Int:
        index = self.main.load(self.main.place(BLOCK), (0, LARGEST_GRID))
        self.main.code.by_block.add(index.text)
        return index

    @property
    def block_num(self) -> Int:
        return self.main.load(self.main.place(BLOCKS), (1, LARGEST_GRID))

    @property
    def subblock_idx(self) -> int:
        return self.main.core.subblock_idx

    @property
    def subblock_num(self) -> int:
        return self.main.core.subblock_num

    def nowhere(self, kind: GlobalType) -> TracedView:
        """Return a view without an address, until a pop gives it a slot."""
        known = replace(kind, stride=kind.stride or (1,) * kind.rank)
        return TracedView(known, self.main.nowhere, 0)  # type: ignore[arg-type]  # a Space stands for a memory

    @staticmethod
    def address_of(*_: object) -> int:
        """Raise NotNative: compiled code must know the array of each pointer."""
        raise NotNative("a pointer becomes a number")

    pointer_to = address_of

    @staticmethod
    def trap() -> None:
        """Raise NotNative: the reference reports the trap."""
        raise NotNative("it ends the run")

    def tile(self, kind: TileType | ConvTileType, address: Num) -> Recorded:
        """Return a handle on the bytes at `address` of the memory of the type's location."""
        target, planned = self.main.facts.target, self.main.planned
        if isinstance(address, int):
            if any(True for _ in planned.conflict(kind, address, target, None)):
                self.main.recording.guards.append(Truth(self.main.code, "false"))
        else:
            apart = (
                (address <= start - kind.nbytes) | (address >= end)
                for start, end in planned.ranges(kind)
            )
            self.main.recording.guards += [c for c in apart if isinstance(c, Truth)]
        return self._handle(kind, address)

    def _handle(self, kind: TileType | ConvTileType, address: Num) -> Recorded:
        if isinstance(kind, TileType):
            return TracedTile(kind, self.main.space(kind.loc), address)  # type: ignore[arg-type]  # a Space stands for a memory
        return TracedConv(kind, self.main.space(kind.loc), address)  # type: ignore[arg-type]  # a Space stands for a memory

    def array(self, kind: ArrayType | StructType) -> TracedPointer:
        """Return a new zeroed array or struct of the scalar unit, in the frame."""
        dtype = kind.unit
        slots = [self.main.slot() for _ in range(max(1, -(-kind.nbytes // 8)))]
        for slot in slots:
            self.main.store(self.main.place(slot), 0)
        start = 64 * slots[0] // dtype.bits
        return TracedPointer(dtype, self.main.frame, start, kind.count)  # type: ignore[arg-type]  # a Space stands for a memory

    def new(self, kind: TileType | ConvTileType) -> Recorded:
        """Return a tile at the planned address of the value, with undefined content."""
        assert self.value is not None
        if isinstance(self.value.type, OpaqueType):  # the reference reports the unknown type
            raise NotNative("a tile of unknown type")
        address = self.main.planned.addresses[self.value]
        handle = self._handle(kind, address)
        if self.value in self.main.planned.over:
            return handle
        space = self.main.space(kind.loc)
        self.main.initial.forget(space.name, address, kind.nbytes)
        if space.name in self.main.tracked:
            where = self.main.pointer(space.number, 1, address)
            arguments = f"ptr {where}, i8 0, i64 {kind.nbytes}, i1 false"
            self.main.code.do(f"call void @llvm.memset.p0.i64({arguments})")
        return handle


def offer(main: MainFunction, op: Op, regions: tuple[CompiledRegion, ...]) -> Offer:
    """Return the resources for a body during compilation."""
    core, machine = main.core, CompiledMachine(main, next(iter(op.results), None))
    own: dict[Resource, object] = {
        CORE: machine,
        MACHINE: machine,
        FLOW: CompiledFlow(main, op),
        REGIONS: regions,
    }
    own[FLAGS] = CompiledFlags(main)
    if isinstance(core, GroupedCore) and op in core.ends:
        own[FIFO] = CompiledFifoEnd(core.ends[op], main, op)
    if isinstance(core, GroupedCore) and main.suspends:
        own[SIGNALS] = CompiledSignals(main, core, op)
    return {**core.readings(), **own}
