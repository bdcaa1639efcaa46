"""The cores that a compiled kernel runs on: calls made ready on their memories, and FIFOs."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ptokit.analysis.checker import type_errors
from ptokit.analysis.cores import core_of
from ptokit.analysis.fifos import COUNTERS, Fifo
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import spoiled
from ptokit.analysis.violation import broken, tolerated, violation
from ptokit.api.cxx.callbinding import CxxCall, Value
from ptokit.api.cxx.calloperands import (
    NOWHERE,
    VIEW,
    HostMemory,
    Placed,
    PlacedConv,
    PlacedPointer,
    PlacedTile,
    PlacedView,
    Reported,
    leads_nowhere,
    put,
)
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, PtoError, Severity, error
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.engines.reference.interpreter import InterpretedMachine
from ptokit.ir.editing import instance
from ptokit.isa.formula.formulas import fields
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.lang.environment import Offer, environment
from ptokit.isa.lang.instr import CORES, Instr, Role
from ptokit.isa.lang.traits import FIFO, MACHINE, READDRESSES, SIGNALS, FifoRole
from ptokit.isa.model.epilogues import ONE, EpilogueMode
from ptokit.isa.model.targets import ADDRESS_RULES, Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import VECTOR, AccToVecMode, KernelKind, ShortF32
from ptokit.machine.arguments import Given
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.execute import ReadyOp
from ptokit.machine.memory import Memory, address_of
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile
from ptokit.order.fifoend import POPPED, PUSHED, EngineFifoEnd
from ptokit.order.group import Grid, GroupedCore
from ptokit.order.signalcounters import CoreSignals, SignalBoard, no_cores
from ptokit.values.arrays import Array
from ptokit.values.dtypes import u64
from ptokit.values.enumerations import SCALING, VEC, ReluPreMode
from ptokit.values.fixpipe import FixPipe, narrowed
from ptokit.values.layouts import ND, Shape

SET_FIRST = "set the scale, or the address of the column scales, before the push"
REPORT = 16  # elements of a tile that stands for numbers of the scalar unit


class SharedFifo:
    """A FIFO of a block in one direction: its counters and its slots."""

    def __init__(self, fifo: Fifo) -> None:
        self.fifo = fifo
        self.counters = np.zeros(COUNTERS + 2 * fifo.slots, np.int64)
        room = np.zeros(max(fifo.stride * fifo.slots, 1), np.uint8)
        self.slots = Memory(fifo.name, room, written=True)


class CxxFifoEnd(InterpretedFifoEnd):
    """One end of a FIFO that a compiled kernel opened."""

    def __init__(self, shared: SharedFifo, core: GroupedCore) -> None:
        EngineFifoEnd.__init__(self, shared.fifo, core)
        self.core, self.counters, self.shared = core, shared.counters, shared

    def slots(self) -> Memory:
        return self.shared.slots

    def scaled(self, value: Array, mode: EpilogueMode, *, relu: bool) -> Array:
        """Convert by the scale that a register has, or by those that it leads to."""
        core, cols = self.core, value.shape[1]
        register = "QUANT_PRE" if mode.scale == ONE else "FPC"
        if register not in core.state.registers:
            message = "fix-pipe conversion without a scale register"
            raise error("operand-value", message, seen=self.epilogue, help=SET_FIRST)
        word = core.state.registers[register]
        if mode.scale == ONE:
            given: Array = NumpyArray(np.full((1, 1), word, np.uint64), u64)
        else:
            kind = TileType(SCALING, u64, 1, cols, Shape(1, cols), ND)
            given = Tile(kind, core.space(SCALING), word >> 8 << 7)[0, :cols]
        made, positive = mode.made[0], ReluPreMode.NORMAL_RELU if relu else ReluPreMode.NO_RELU
        return narrowed(value, made, given, positive, core.fixpipe, by_column=mode.scale != ONE)

    @property
    def taken(self) -> int:
        """Return the number of entries that this core has popped."""
        return self.count(self._cell(POPPED))

    @property
    def given(self) -> int:
        """Return the number of entries that this core has pushed."""
        return self.count(self._cell(PUSHED))


class _AnyValue:
    """A value of a register that equals each value an instruction asks for."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment] - it equals everything


class StartedRegisters(dict[str, Any]):  # Any: numbers
    """The registers of a core; kernels need not set those whose first value they want."""

    def get(self, name: str, default: object = None) -> Any:  # Any: as above
        return super().get(name, _AnyValue())


@dataclass
class UnmixedSignals(CoreSignals):
    """Signals of a launch whose cores are of one kind, which nothing but the kernel's calls say.

    The board has all of them as vector cores; `core` knows what was executed.
    """

    core: CxxCore = field(kw_only=True)

    def sync_all(self, kinds: Sequence[KernelKind], used: int, place: object) -> None:
        """Wait for the cores of the launch; PtoError where they are of another kind."""
        if len(kinds) == 1:
            self.core.meet_as(kinds[0])
        super().sync_all((VECTOR,), used, place)


class CxxCore(GroupedCore):
    """A core that a compiled kernel runs on.

    `made` are calls, by their words, ready to run; `calls` and `places` what was executed. `met`:
    as which kind the cores of an unmixed launch have met.
    """

    def __init__(
        self,
        target: Target,
        fixpipe: FixPipe,
        place: CorePlace,
        grid: Grid,
        board: SignalBoard,
        arrays: Mapping[int, Memory],
    ) -> None:
        super().__init__(target, fixpipe, place, grid, board)
        self.arrays = arrays
        self.made: dict[object, ReadyCall | PlacedHandle] = {}
        self.problem: BaseException | None = None
        self.calls, self.places = array("q"), array("q")
        self.sent: CxxCore | None = None  # whose vec a call of the cube means
        self.peers: Sequence[CxxCore] = ()  # of the cube: the vector cores of its block
        self.met: set[KernelKind] = set()
        self.short: ShortF32 | None = None  # how products round f32

    @property
    def signals(self) -> CoreSignals:
        """The signals between cores."""
        if self.kind is not None:
            return super().signals
        how = self.board, self.place, self.grid.separate, self.target.most_signals
        return UnmixedSignals(*how, core=self)

    def meet_as(self, kind: KernelKind) -> None:
        """Note that cores of this kind meet; PtoError where calls say that there are none."""
        ready = (made for made in self.made.values() if isinstance(made, ReadyCall))
        said = self.met or {own for made in ready if (own := core_of(made.op)) is not None}
        if said and kind not in said:
            raise no_cores((kind,), next(iter(said)))
        self.met.add(kind)

    def enter_block(self, block: int) -> None:
        """Begin a block on memories of which nothing is written."""
        self.enter(block)
        self.state.clear()
        for memory in self.spaces.values():
            memory.clear()
        self.state.registers = StartedRegisters()
        self.problem, self.calls, self.places = None, array("q"), array("q")
        self.short = None

    def _host(self) -> Iterator[HostMemory]:
        """Yield the arrays that the kernel may access."""
        for memory in self.arrays.values():
            yield HostMemory(address_of(memory.data), memory.size, memory.name)

    def handle(self, value: Value) -> Any:  # Any: a handle or a number
        """Return the handle on this core's memories that data says."""
        match value:
            case PlacedTile():
                home = self.sent if value.type.loc is VEC and self.sent is not None else self
                return Tile(value.type, home.space(value.type.loc), value.address)
            case PlacedConv():
                return ConvTile(value.type, self.space(value.type.loc), value.address)
            case PlacedView() if value.array == NOWHERE:
                raise leads_nowhere(value.origin, VIEW, self._host())
            case PlacedView():
                return GlobalView(value.type, self.arrays[value.array], value.origin)
            case PlacedPointer() if value.dtype is not None and value.array >= 0:
                return Pointer(value.dtype, self.arrays[value.array], value.offset)
            case Reported():
                kind = TileType(VEC, value.dtype, 1, REPORT, Shape(1, value.length), ND)
                return Tile(kind, Memory.blank("the numbers", kind.nbytes), 0)
            case _:
                return value


class ReadyCall:
    """A call made ready on one core; `number` is its own in the record."""

    def __init__(
        self, call: CxxCall, core: CxxCore, number: int, end: CxxFifoEnd | None = None
    ) -> None:
        """`end`: the end of the FIFO that it is about."""
        self.call, self.core, self.number, self.end = call, core, number, end
        self.split = split_of(call) if core.peers else None
        given = operands_of(call, core)
        self.written_first = next((given[o.name] for o in call.page.outs()), None)
        self.warnings = tuple(judged(call, given, core.target))
        attrs = {k: v for k, v in call.attrs.items() if v is not None}
        self.op, _ = instance(call.page, given, attrs)
        self.ready = ReadyOp(self.op)
        self.values = self.ready.converted(given)
        self.spoiled = [given[name] for name in spoiled(self.op, Facts(core.target))]
        self.written = [v for v in given.values() if isinstance(v, GlobalView)]
        reported = ((n, v) for n, v in call.operands.items() if isinstance(v, Reported))
        self.reported = [(v, given[n]) for n, v in reported]
        self.entry = 0  # the C++ object of the entry of a FIFO
        self.waits = not CORES.isdisjoint(call.page.uses)

    def offer(self) -> Offer:
        """Return what the body may use."""
        core = self.core
        if self.ready.standalone:
            return {}
        found = {**core.offer(), MACHINE: InterpretedMachine(core)}
        if self.waits:
            found[SIGNALS] = core.signals
        if self.end is not None:
            found[FIFO] = self.end
        return found

    def run(self) -> int:
        """Execute the call; return its number for the kernel, 0 where it has none."""
        answer = self.ready.run(self.values, self.offer())
        if self.spoiled and not self.ready.does_nothing(self.values):
            for tile in self.spoiled:
                if isinstance(tile, Tile):
                    tile.spoil()
        for value, tile in self.reported:
            _copied_back(value, tile)
        if self.split is not None:
            _shared_out(self.call, self.core, self.split, self.written_first)
        return max(answer, 0) if isinstance(answer, int) else 0


def operands_of(call: CxxCall, core: CxxCore) -> dict[str, Any]:  # Any: handles, numbers
    """Return the operands of a call on the memories of a core."""
    alone = not core.peers or split_of(call) is None
    core.sent = _receiver(call, core) if alone else None
    given: dict[str, object] = {}
    for name, value in call.operands.items():
        if call.page.operand(name).many and isinstance(value, tuple):  # the parts of a group
            given[name] = tuple([core.handle(each) for each in cast("Sequence[Value]", value)])
            continue
        given[name] = found = _placed_by(call, value) or core.handle(value)
        if isinstance(found, Matrix):
            found.label = name
    return given


def _placed_by(call: CxxCall, value: Value) -> GlobalView | None:
    """Return a view without a place where the call gives it one."""
    places = call.page.fifo_role in (FifoRole.ALLOCATES, FifoRole.POPS)
    if places and isinstance(value, PlacedView):
        return GlobalView(value.type, Memory.nothing(), 0)
    return None


def split_of(call: CxxCall) -> int | None:
    """Return the axis by which the cube shares a tile out to both vector cores, if it does."""
    words = [*call.attrs.values()]
    if AccToVecMode.DUAL_SPLIT_M in words:
        return 0
    return 1 if AccToVecMode.DUAL_SPLIT_N in words else None


def _receiver(call: CxxCall, core: CxxCore) -> CxxCore | None:
    """Return the vector core in whose memory a tile lies that the cube writes."""
    if not core.peers:
        return None
    second = AccToVecMode.SINGLE_VEC1 in call.attrs.values()
    return core.peers[int(second)]


def _shared_out(call: CxxCall, core: CxxCore, axis: int, whole: object) -> None:
    """Give each vector core its half of a tile that the cube has written."""
    own = (call.stated or call.operands)[next(o.name for o in call.page.outs())]
    assert isinstance(own, PlacedTile)
    assert isinstance(whole, Tile)
    codes = whole.codes()
    for peer, half in zip(core.peers, np.array_split(codes, 2, axis), strict=True):
        kind = replace(own.type, valid=Shape(*half.shape))
        Tile(kind, peer.space(VEC), own.address).assign(np.ascontiguousarray(half))


BY_SOURCE = "the code of the chip goes by the layout of src: declare dst in the layout that is read"
BY_CHIP = "the chip takes the line count from the view and the length from the tile"
BY_SIMULATOR = "the CPU simulator moves what is valid, from the upper left of the view"
PITCH = "line-pitch"  # where chips move consecutive elements, whatever the stride
OUTSIDE = ("window-out-of-bounds", "location")  # faults of an address; chips see nothing else of it


class PlacedHandle:
    """A call that says where a tile lies: it moves nothing, and is no part of the record."""

    def __init__(self, call: CxxCall, core: CxxCore, place: int) -> None:
        """`place`: the C++ object of the tile."""
        self.place = place
        page, given = call.page, {n: core.handle(v) for n, v in call.operands.items()}
        found = [*_of_rules(call, given, core.target)]
        if any(d.slug in OUTSIDE for d in found):
            raise PtoError(found)
        self.warnings = tuple(replace(d, severity=Severity.WARNING) for d in found)
        if READDRESSES in page.traits:
            made = page.results()[0].name
            values = {**given, made: given[made].type}
            self.address = page.run(machine=InterpretedMachine(core), **values).elements.address
        else:
            page.run(**_taken(page, given))
            self.address = next(given[o.name] for o in page.outs()).elements.address

    def run(self) -> None:
        """Tell the kernel."""
        put(self.place, self.address)


def _taken(page: type[Instr], given: Mapping[str, object]) -> dict[str, object]:
    """Return what a body takes, with the defaults of what is not given."""
    usual = {o.name: o.default for o in page.operands if not o.required}
    every = {**usual, **given}
    return {name: every[name] for name in page.body_names}


def _copied_back(value: Reported, tile: Tile) -> None:
    """Write the numbers of a tile to where C++ has them."""
    codes = np.ascontiguousarray(tile.codes()).view(np.uint8).reshape(-1)
    if tile.has_value().all():
        ctypes.memmove(value.place, codes.ctypes.data, codes.size)


def judged(call: CxxCall, given: Mapping[str, object], target: Target) -> Iterator[Diagnostic]:
    """Yield the warnings of a call on handles; PtoError where boards do not take it."""
    found = [*_of_extents(call, target), *_of_types(call, target), *_of_rules(call, given, target)]
    errors = [d for d in found if d.is_error]
    if errors:
        raise PtoError(errors)
    yield from found


def _of_extents(call: CxxCall, target: Target) -> Iterator[Diagnostic]:
    """Warn where the chip moves other extents or strides than a type has (dispute D3)."""
    given = {name: getattr(value, "type", None) for name, value in (call.stated or {}).items()}
    if call.unlike and _differ_in_layout(call, given):
        src, dst = given["src"], given["dst"]
        yield Diagnostic(
            "layout",
            f"{call.page.mnemonic()}: the layouts of src and dst differ",
            severity=Severity.WARNING,
            rule="rows and columns are kept only between tiles of one layout",
            seen=f"src is {src} and dst is {dst}",
            help=BY_SOURCE,
            targets=(target.name,),
            by=(Judge.ASSEMBLER,),
        )
    elif call.unlike:
        yield Diagnostic(
            "shape",
            f"{call.page.mnemonic()}: the view and the valid region differ",
            severity=Severity.WARNING,
            rule="make the view as large as the valid region, in whole bytes",
            seen=call.unlike,
            help=BY_CHIP if target.is_chip else BY_SIMULATOR,
            targets=(target.name,),
            by=(Judge.HEADERS,),
        )
    elif call.stated:
        types = {name: getattr(value, "type", value) for name, value in call.stated.items()}
        env = environment(call.page, types, call.attrs, target)
        pitch = (rule for rule in call.page.rules_on(target) if rule.slug == PITCH)
        yield from (violation(call.page, r, env, None) for r in pitch if r.holds(env) is False)


def _differ_in_layout(call: CxxCall, given: Mapping[str, object]) -> bool:
    """True where the chip moves a tile in another layout than its type has."""
    moved = {n: v.type for n, v in call.operands.items() if isinstance(v, PlacedTile)}
    types = ((moved[n], kind) for n, kind in given.items() if isinstance(kind, TileType))
    return any(one.layout is not other.layout for one, other in types)


def _of_types(call: CxxCall, target: Target) -> Iterator[Diagnostic]:
    """Judge the types of operands, and the addresses of tiles."""
    for name, value in call.operands.items():
        if not isinstance(value, PlacedTile | PlacedConv | PlacedView):
            continue
        scratch = call.page.operand(name).role is Role.SCRATCH
        for found in (*_of_type(value, target, name), *_of_address(value, target, name)):
            known = found.judged(Judge.HARDWARE)
            yield replace(known, severity=Severity.WARNING) if scratch else known


def _of_type(value: Placed, target: Target, name: str) -> Iterator[Diagnostic]:
    assert isinstance(value, PlacedTile | PlacedConv | PlacedView)
    yield from type_errors(value.type, target, name, None)


def _of_address(value: Placed, target: Target, name: str) -> Iterator[Diagnostic]:
    if isinstance(value, PlacedTile | PlacedConv):
        env = {"addr": value.address, "tile": value.type, "machine": target}
        wrong = (rule for rule in ADDRESS_RULES if rule.holds(env) is False)
        for rule in list(wrong)[:1]:
            found = broken(name, rule, env, None)
            yield replace(found, severity=Severity.WARNING) if _fits(value, target) else found


def _fits(value: PlacedTile | PlacedConv, target: Target) -> bool:
    """True where what is valid of a tile lies in its memory, whatever its declared shape."""
    if isinstance(value, PlacedConv) or value.address % target.alignment:
        return False
    rows, cols = value.type.valid
    if not rows or not cols:
        return True
    last = value.type.map.offset(rows - 1, cols - 1)
    end = value.address + value.type.dtype.nbytes(last + 1)
    return value.address >= 0 and end <= target.capacity_of(value.type.loc)


def _of_rules(call: CxxCall, given: Given, target: Target) -> Iterator[Diagnostic]:
    """Judge the rules of the page, as boards do: they run what was compiled."""
    page = call.page
    attrs = {k: v for k, v in call.attrs.items() if v is not None}
    types = {name: tuple(v.type for v in given[name]) for name in page.lists if name in given}
    env = environment(page, {**given, **types}, attrs, target)
    scratch = {o.name for o in page.operands if o.role is Role.SCRATCH}
    for rule, outcome in doubtful(page.rules_on(target), env):
        if outcome is False and not rule.early:
            found = violation(page, rule, env, None).judged(Judge.HARDWARE)
            spoken = (rule.formula, *rule.conditions)
            spills = any(f.operand in scratch for formula in spoken for f in fields(formula))
            goes_on = spills or tolerated(rule, env)
            yield replace(found, severity=Severity.WARNING) if goes_on else found
