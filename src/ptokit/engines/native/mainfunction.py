"""The main function of a module under construction: memories, frame numbers and requests."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import spoiled
from ptokit.analysis.placement import Planned
from ptokit.engines.native.coroutines import suspend
from ptokit.engines.native.firstiteration import FirstIteration
from ptokit.engines.native.forwarding import Forwarding
from ptokit.engines.native.frame import CELL, FIRST_SLOT, LEAST, WAITING, Purpose
from ptokit.engines.native.localregisters import REGISTERS, LocalRegisters, moved
from ptokit.engines.native.plan import Request
from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.lang.environment import ByName
from ptokit.isa.model.targets import SPACES
from ptokit.machine.arguments import Env
from ptokit.machine.cache import Host
from ptokit.machine.execute import LOG, LOG_WORDS, QUEUE_WORDS, QUEUES, Core
from ptokit.machine.executionlog import LogPoint
from ptokit.machine.memory import NO_MEMORY, Memory
from ptokit.machine.record.code import Code, Condition, Int, NotNative, Num, Truth, text
from ptokit.machine.record.definitelanes import DefiniteLanes
from ptokit.machine.record.expressions import Recording
from ptokit.machine.record.handles import FrameSlot, MemoryNumber, mapped
from ptokit.machine.record.intervals import EXTREMES, Limits
from ptokit.machine.record.trace import FRAME, NOWHERE, Space, TracedTile, TracedView, space_of
from ptokit.machine.state import FLAG_MEMORY
from ptokit.machine.tile import Pointer, Tile
from ptokit.values.enumerations import Loc
from ptokit.values.host import AnyArray

LARGEST_MEMORY = 1 << 48  # bytes that a processor can address
OVERFLOW = "overflow"  # the label where compiled code gives up
MOST_COUNTED = 1 << 40  # entries that go through a FIFO in one run, or signals


def field_of(place: int) -> str:
    """Return the load of a field of the table of memories: data, shadow or size of one of them."""
    kind, name = "i64" if place % 3 == 2 else "ptr", f"%own{place}"
    where = f"  {name}.at = getelementptr i64, ptr %memories, i64 {place}"
    return f"{where}\n  {name} = load {kind}, ptr {name}.at"


@dataclass
class MainFunction:
    """The code so far, and the core and facts that it is generated for.

    `tracked`: memories whose shadow is kept and checked.
    """

    host: Host
    core: Core
    facts: Facts
    planned: Planned
    initial: DefiniteLanes
    tracked: set[str]
    limited: bool = False  # the code counts the remaining instructions
    logged: bool = False  # the code writes an execution log
    suspends: bool = False  # the code is a coroutine, which suspends to wait for a counter
    whole_entries: bool = False  # assume that popped entries fill their tiles
    code: Code = field(default_factory=Code)
    spaces: list[Space] = field(default_factory=list[Space])
    tables: list[AnyArray] = field(default_factory=list[AnyArray])
    requests: list[Request] = field(default_factory=list[Request])
    slots: int = FIRST_SLOT
    variables: list[str] = field(default_factory=list[str])  # allocas at the start of the function
    loaded: set[int] = field(default_factory=set[int])  # fields of the table, see `memory`
    recording: Recording = field(default_factory=Recording)
    opening: FirstIteration | None = None  # of the innermost loop, if its counter is known
    inside: tuple[tuple[Block, tuple[object, ...]], ...] = ()
    ahead: int = 0  # counted instructions that are still to come
    kept: dict[str, int] = field(default_factory=dict[str, int])  # numbers in slots
    opened: dict[str, Pointer] = field(default_factory=dict[str, Pointer])  # slots, by FIFO
    points: list[LogPoint] = field(default_factory=list[LogPoint])
    places: dict[int, int] = field(default_factory=dict[int, int])  # in the text, by id
    registers: LocalRegisters | None = None  # without them registers are memory
    forwarding: Forwarding = field(default_factory=Forwarding)
    extents: dict[str, Num] = field(default_factory=dict[str, Num])  # known here, by variable

    # memories

    @cached_property
    def frame(self) -> Space:
        """Return the frame as a memory, for scalar arrays."""
        return Space(FRAME.number, FRAME.name, self, 0, None)

    @cached_property
    def nowhere(self) -> Space:
        """Return the memory of a view without a slot, which must not be accessed."""
        return Space(NOWHERE, NO_MEMORY, self, 0, None)

    def space(self, loc: Loc) -> Space:
        """Return the memory of a location."""
        name = SPACES[loc]
        found = next((s for s in self.spaces if s.name == name), None)
        return found or self.new_space(name, self.core.space_named(name).size)

    def shared_space(self, name: str) -> Space:
        """Return a memory that the core shares with others."""
        found = next((s for s in self.spaces if s.name == name), None)
        return found or self.new_space(name, self.core.shared[name].size)

    def flag_space(self) -> Space:
        """Return the memory of the flags between the pipes of the core."""
        found = next((s for s in self.spaces if s.name == FLAG_MEMORY), None)
        return found or self.new_space(FLAG_MEMORY, self.core.space_named(FLAG_MEMORY).size)

    def log_space(self) -> Space:
        """Return the memory of the execution log."""
        found = next((s for s in self.spaces if s.name == LOG), None)
        return found or self.new_space(LOG, 8 * LOG_WORDS)

    def queue_space(self) -> Space:
        """Return the memory of the queues of the core."""
        found = next((s for s in self.spaces if s.name == QUEUES), None)
        return found or self.new_space(QUEUES, 8 * QUEUE_WORDS)

    def new_space(self, name: str, size: int, memory: Memory | None = None) -> Space:
        space = Space(len(self.spaces), name, self, size, memory)
        self.spaces.append(space)
        return space

    def spoiled(self, op: Op, values: ByName) -> Iterator[TracedTile]:
        """Yield the tiles in the core's memories that hardware uses as scratch."""
        for tile in (values[name] for name in spoiled(op, self.facts)):
            if isinstance(tile, TracedTile) and tile.memory.memory is None:  # type: ignore[attr-defined]  # a Space
                if tile.memory.name in self.tracked and not tile.contiguous():
                    raise NotNative("hardware computes in a part of a tile")
                yield tile

    def spoil(self, tiles: Iterable[TracedTile], size: Condition) -> None:
        """Mark tiles as never written if the instruction executes."""
        for tile in tiles:
            space = space_of(tile)
            self.initial.forget(space.name, tile.elements.address, tile.type.nbytes)
            if space.name not in self.tracked:
                continue
            with self.code.when(size) if isinstance(size, Truth) else nullcontext():
                where = self.pointer(space.number, 1, tile.elements.address)
                arguments = f"ptr {where}, i8 0, i64 {tile.type.nbytes}, i1 false"
                self.code.do(f"call void @llvm.memset.p0.i64({arguments})")

    def memory(self, number: int, part: int) -> str:
        """Return a field of the table of memories: data, shadow or size.

        The field is loaded once per basic block, since only call backs, which end basic blocks,
        change the table. Fields of the core's own memories never change and are loaded at the
        start.
        """
        if number == FRAME.number:
            return "%frame"
        if self.spaces[number].memory is None:
            return self.field(number * 3 + part)
        where = self.code.let(f"getelementptr i64, ptr %memories, i64 {number * 3 + part}")
        load = f"load {'i64' if part == 2 else 'ptr'}, ptr {where}"
        self.code.known[load] = field = self.code.let(load)
        return field

    def pointer(self, number: int, part: int, address: Num) -> str:
        """Return a pointer to the bytes at an address of a memory, or to their shadow (part 1)."""
        if self.registers is not None and self.is_registers(number):
            return self.registers.pointer(part, address)
        return self.pointer_to_memory(number, part, address)

    def is_registers(self, number: int) -> bool:
        """Return whether this is the memory of the registers of vector functions."""
        return number >= 0 and self.spaces[number].name == REGISTERS

    def pointer_to_memory(self, number: int, part: int, address: Num) -> str:
        """Return a pointer into the memory itself, which the reference sees."""
        base = self.memory(number, part)
        if text(address) == "0":
            return base
        return self.code.let(f"getelementptr i8, ptr {base}, i64 {text(address)}")

    def field(self, place: int) -> str:
        """Return a field of the table of memories that does not change: see `memory`."""
        name = f"%own{place}"
        if place not in self.loaded:
            self.loaded.add(place)
            self.variables.append(field_of(place))
        return name

    def ends(self, starts: Mapping[int, Int] | None = None) -> list[Truth]:
        """Return conditions that the windows of views end inside their arrays.

        `starts`: the addresses of views whose elements are counted from the first one, by space.
        """
        found: list[Truth] = []
        for space, dtype, end in self.recording.ends:
            if space.number == FRAME.number:  # rules guarantee that indices are inside local arrays
                continue
            size = Int(self.code, self.memory(space.number, 2), limits=(0, LARGEST_MEMORY))
            bits = end * dtype.bits
            if starts is not None and space.number in starts:
                bits = starts[space.number] * 8 + bits
            enough = size >= -(-bits // 8) if isinstance(bits, int) else size * 8 >= bits
            found.append(enough)
        return found

    def beside(self) -> Iterable[str]:
        """Return further functions of the module."""
        return ()

    # numbers

    def add(self, slot: int, number: int) -> Int:
        """Add to a number in the frame; return the sum."""
        where = self.place(slot)
        total = Int(self.code, self.code.let(f"add i64 {self.load(where).text}, {number}"))
        self.store(where, total)
        return total

    def slot(self) -> int:
        """Return a new slot in the frame, which the reference can read."""
        self.slots += 1
        return self.slots - 1

    def place(self, slot: int) -> str:
        return self.code.let(f"getelementptr i64, ptr %frame, i64 {slot}")

    def variable(self) -> str:
        """Return a new local variable, initially 0, which LLVM keeps in a register."""
        name = f"%x{len(self.variables)}"
        self.variables.append(f"  {name} = alloca i64\n  store i64 0, ptr {name}")
        return name

    def load(self, where: str, limits: Limits = EXTREMES) -> Int:
        """Return the number in a place."""
        return Int(self.code, self.code.let(f"load i64, ptr {where}"), limits=limits)

    def store(self, where: str, value: int | Int) -> None:
        """Store a number in a place."""
        self.code.do(f"store i64 {text(value)}, ptr {where}")

    # ends of a run, and waits for other cores

    def leave_unless(self, condition: Truth) -> None:
        """Let the reference restart the run unless the condition holds."""
        fits = self.code.name("fits")
        self.code.branch(condition, fits, OVERFLOW)
        self.code.start(fits)

    def leave_where_too_large(self) -> None:
        """Let the reference restart the run if a number exceeds 64 bits."""
        wrong = self.code.overflow()
        if wrong is not None:
            fits = self.code.name("fits")
            self.code.branch(wrong, OVERFLOW, fits)
            self.code.start(fits)

    def wait(self, op: AnyOp, place: str, least: Num) -> None:
        """Wait until the counter in a place is at least `least`."""
        missing = self.load(place, (0, MOST_COUNTED)) < least
        with self.code.when(missing):
            self.code.do(f"store ptr {place}, ptr {self.place(CELL)}")
            self.store(self.place(LEAST), least)
            self.request(op, Purpose.WAIT)

    # requests to the reference

    @contextmanager
    def within(self, block: Block, args: tuple[object, ...]) -> Generator[None]:
        """Compile the code inside as part of this region, with these arguments."""
        before, self.inside = self.inside, (*self.inside, (block, args))
        try:
            yield
        finally:
            self.inside = before

    @contextmanager
    def repeating(self, first: FirstIteration | None) -> Generator[None]:
        """Compile the code inside as the body of a loop."""
        before, self.opening = self.opening, first
        try:
            yield
        finally:
            self.opening = before

    def now(self, value: Any) -> Any:  # Any: a handle or a number
        """Return the current value: the address of a tile that became a view is a variable."""
        if isinstance(value, TracedView) and value.since is not None:
            self._require_inside(value)
        if isinstance(value, TracedTile) and value.slot is not None:
            value = copy(value)  # the load is valid in this basic block only
            value.elements = copy(value.elements)
            value.elements.address = self.load(value.slot)
        if isinstance(value, TracedTile) and value.sizes is not None:
            kind, value = value.type, copy(value)
            assert value.sizes is not None
            sizes = zip(value.sizes, (kind.rows, kind.cols), strict=True)
            rows, cols = (self._extent(place, most) for place, most in sizes)
            Tile.resize(value, rows, cols)  # type: ignore[arg-type]  # symbolic numbers
        return value

    def _require_inside(self, view: TracedView) -> None:
        """Raise NotNative if a reassigned view is used outside the region that assigned it."""
        regions = tuple(block for block, _ in self.inside)
        if view.since is not None and regions[: len(view.since)] != view.since:
            raise NotNative("a view that a pipe gave is used where it may be another one")

    def resizable(self, value: Value, handle: object) -> None:
        """Keep the valid region of a resized tile in variables."""
        if value.resized and isinstance(handle, TracedTile):
            handle.sizes = self.variable(), self.variable()
            self.resize(handle.sizes, handle.valid)

    def resize(self, places: tuple[str, str], extents: Iterable[Num]) -> None:
        """Store the extents of a valid region, which are known from here on."""
        for place, number in zip(places, extents, strict=True):
            self.store(place, number)
            self.extents[place] = number

    def _extent(self, place: str, most: int) -> Any:  # Any: a Num; the declared types say int
        """Return a valid extent of a resized tile, which a rule bounds by `most`."""
        number = self.extents.get(place)
        if isinstance(number, int):
            return number
        found = self.load(place) if number is None else Int(self.code, text(number))
        found.upper, found.limits = most, (0, most)
        found.multiple = getattr(number, "multiple", 1)
        return found

    @contextmanager
    def keeping_extents(self, regions: Iterable[Block], env: Env) -> Generator[None]:
        """Compile a region of these: forget extents that one of them may change."""
        ops = (op for region in regions for op in region.walk() if isinstance(op, Op))
        tiles = (env.get(v) for op in ops if op.page.resizes for _, v in op.values())
        changed = {place for tile in tiles for place in getattr(tile, "sizes", None) or ()}
        kept = {place: n for place, n in self.extents.items() if place not in changed}
        self.extents = dict(kept)
        yield
        self.extents = kept

    def request(
        self,
        op: AnyOp,
        purpose: Purpose,
        values: tuple[object, ...] = (),
        result: int | None = None,
        after: str = "",
        registers: Iterable[object] = (),
    ) -> None:
        """Call back, then continue at the label `after`; the program ends if the answer is not 0.

        `result`: the slot for the number that the op defines. `registers`: handles of the op; of
        those that are registers the reference sees the content, and may change it.
        """
        inside = tuple(
            (self.places[id(block)], tuple(self.kept_value(a) for a in args))
            for block, args in self.inside
        )
        number = len(self.requests)
        place = self.places[id(op)]
        self.requests.append(Request(place, values, inside, purpose, self.ahead, result))
        if purpose is Purpose.WAIT and self.suspends:
            self.store(self.place(WAITING), number)
            suspend(self.code)
            return
        local = self._places_of_registers(registers)
        for variable, memory, size in local:
            moved(self.code, variable, memory, size)
        answer = self.code.let(f"call i32 %callback(i64 {number})")
        self.code.fail(self.code.let(f"icmp ne i32 {answer}, 0"), "" if local else after)
        for variable, memory, size in local:
            moved(self.code, memory, variable, size)
        if local and after:
            self.code.jump(after)
            self.code.start(after)

    def _places_of_registers(self, handles: Iterable[object]) -> list[tuple[str, str, int]]:
        """Return variables, places in memory and sizes of the registers among some handles."""
        found = [] if self.registers is None else self.registers.of(handles)
        number = self.space(Loc.REGISTER).number if found else 0
        return [
            (r.variable, self.pointer_to_memory(number, r.part, r.address), r.size) for r in found
        ]

    def kept_value(self, value: object) -> object:
        """Return a value as a template; store its numbers in slots."""

        def keep(number: int | Int) -> Any:  # Any: a number or its slot
            if isinstance(number, int):
                return number
            if number.text not in self.kept:
                self.kept[number.text] = self.slot()
            slot, done = self.kept[number.text], f"the store of {number.text}"
            if done not in self.code.known:  # once per basic block
                self.code.known[done] = number.text
                self.store(self.place(slot), number)
            return FrameSlot(slot)

        return mapped(self.now(value), keep, lambda space: MemoryNumber(space.number))
