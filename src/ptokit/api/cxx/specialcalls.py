"""SpecialCall calls of a compiled kernel: types, launches, flags, single elements, FIFOs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ptokit.api.cxx import devicecalls
from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.calloperands import LOCS, Arrays, Reader, Types
from ptokit.api.cxx.callwords import SpecialCall
from ptokit.api.cxx.kernelcores import CxxCore, ReadyCall
from ptokit.api.cxx.kernelpipes import DIRECTIONS, OpenedPipe
from ptokit.api.cxx.pending import pending
from ptokit.diagnostics.diagnostic import Diagnostic, Severity, error
from ptokit.isa.pages.matrix import kept_bits
from ptokit.machine.memory import WRITTEN, Memory
from ptokit.values.dtypes import u8
from ptokit.values.enumerations import Loc

Words = Sequence[int]
BELOW = (SpecialCall.BURST, SpecialCall.FILL)


class Entrance(Protocol):
    """The door that special calls go through."""

    reader: Reader
    types: Types
    arrays: Arrays
    pipes: list[OpenedPipe]
    outside: CxxCore | None
    failed: int

    @property
    def here(self) -> CxxCore | None: ...
    def note(self, call: CxxCall) -> int: ...
    def made(self, core: CxxCore, number: int) -> ReadyCall: ...
    def run(self, core: CxxCore, made: ReadyCall, place: int) -> int: ...
    def launch(self, name: str, blocks: int, body: int, cube: int) -> None: ...
    def warn(self, warnings: Sequence[Diagnostic], place: int) -> None: ...


class Specials:
    """The handlers of calls that are no intrinsics, by their numbers."""

    def __init__(self, door: Entrance) -> None:
        self.door = door
        self.made: dict[tuple[int, ...], int] = {}  # numbers of calls by their words
        each: dict[SpecialCall, Callable[[Words, int], int]] = {
            SpecialCall.TILE_TYPE: self.tile_type,
            SpecialCall.CONV_TYPE: self.conv_type,
            SpecialCall.LAUNCH: self.launch,
            SpecialCall.SPACE: self.space,
            SpecialCall.PLACE: self.placed,
            SpecialCall.VALUE: self.value,
            SpecialCall.PIPE_OPEN: self.open_pipe,
            SpecialCall.THROWN: self.thrown,
            SpecialCall.TRAP: self.trap,
            SpecialCall.SYNCHRONISE: self.synchronise,
            SpecialCall.DEVICE: self.device,
            SpecialCall.HOME: self.home,
            SpecialCall.SHORTEN: self.shorten,
        }
        calls: dict[SpecialCall, Callable[..., CxxCall]] = {
            SpecialCall.FLAG_SET: self.flag_set,
            SpecialCall.FLAG_WAIT: self.flag_wait,
            SpecialCall.BARRIER: devicecalls.barrier,
            SpecialCall.SIGNAL: self.signal,
            SpecialCall.AWAIT: self.wait,
            SpecialCall.BURST: self.burst,
            SpecialCall.FILL: self.fill,
            SpecialCall.DEVICE: self.function,
        }
        self.each, self.calls = each, calls

    def call(self, name: int, words: Words, place: int) -> int:
        """Do what a special call asks for; what it returns to the kernel."""
        special = SpecialCall(name)
        if special in self.each:
            return self.each[special](words, place)
        core = self.door.here
        if core is None or core.problem is not None:
            return 0
        self.execute(core, special, words, place)
        return 0

    def execute(self, core: CxxCore, special: SpecialCall, words: Words, place: int) -> None:
        """Execute the page that stands behind a special call."""
        door, key = self.door, (special, *words)
        made = core.made.get(key)
        if made is None:
            number = self.made.get(key)
            if number is None:
                number = self.made[key] = door.note(self.calls[special](*words))
            made = core.made[key] = door.made(core, number)
            if special in BELOW:  # rules of pages are about instructions
                made.warnings = ()
        assert isinstance(made, ReadyCall)
        door.run(core, made, place)

    # calls that are instructions

    @staticmethod
    def flag_set(source: int, target: int, number: int) -> CxxCall:
        return devicecalls.flag(source, target, number, up=True)

    @staticmethod
    def flag_wait(source: int, target: int, number: int) -> CxxCall:
        return devicecalls.flag(source, target, number, up=False)

    @staticmethod
    def signal(how: int, pipe: int, number: int, mode: int) -> CxxCall:
        return devicecalls.signal(how, pipe, number, mode, up=True)

    @staticmethod
    def wait(how: int, pipe: int, number: int, mode: int) -> CxxCall:
        return devicecalls.signal(how, pipe, number, mode, up=False)

    def burst(self, source: int, target: int, to: int, at: int, core: int, *lines: int) -> CxxCall:
        ends = self._memory(source), self._memory(target)
        arrays, what = self.door.arrays, "a builtin that moves bytes"
        each = zip(ends, (at, to), strict=True)
        places = [at if loc is not None else arrays.locate(at, u8, what) for loc, at in each]
        return devicecalls.burst(ends, places, core, lines)

    @staticmethod
    def fill(location: int, *words: int) -> CxxCall:
        at, count, nbytes, step, bits = words
        return devicecalls.fill(LOCS[location], at, count, nbytes, step, bits)

    def function(self, name: int, _: int, *words: int) -> CxxCall:
        return devicecalls.function(text(name), [*self.door.reader.values(words, 0)])

    @staticmethod
    def _memory(number: int) -> Loc | None:
        return None if number < 0 else LOCS[number]

    # types and launches

    def tile_type(self, words: Words, place: int) -> int:
        return self.door.types.add_tile(words)

    def conv_type(self, words: Words, place: int) -> int:
        return self.door.types.add_conv(words, self.door.reader.label("Layout", words[3]))

    def home(self, words: Words, place: int) -> int:
        """Tell the kernel where a tile without an address lies."""
        self.door.reader.home(words)
        return 0

    def launch(self, words: Words, place: int) -> int:
        name, blocks, body, cube = words[:4]
        self.door.launch(text(name), blocks, body, cube)
        return 0

    def synchronise(self, words: Words, place: int) -> int:
        """Tell what became of the launches; a reset device (first word) forgets failures."""
        failed = self.door.failed
        if words[0]:
            self.door.failed = 0
        return failed

    # memory of the running core

    def _core(self) -> CxxCore:
        core = self.door.here
        if core is None:
            help = "use tiles only inside a launched kernel"
            seen = "no launch runs, and only the CPU simulator has memory outside of one"
            raise error("scope", "a tile is used outside of a kernel", seen=seen, help=help)
        return core

    def space(self, words: Words, place: int) -> int:
        """Return where a memory lies; a host of the simulator writes there by plain pointers."""
        core = self._core()
        memory = core.space(LOCS[words[0]])
        if core is self.door.outside and core.target.in_order:
            memory.shadow[:] = WRITTEN
        return int(memory.data.ctypes.data)

    def placed(self, words: Words, place: int) -> int:
        """Bytes were written by the scalar unit."""
        core, memory, (_, at, nbytes) = self._core(), self._element(words, place), words[:3]
        memory.shadow[at : at + nbytes] = WRITTEN
        value = int.from_bytes(memory.data[at : at + nbytes].tobytes(), "little", signed=True)
        self._noted(core, words, place, value)
        return 0

    def value(self, words: Words, place: int) -> int:
        """Bytes are about to be read by the scalar unit; they need a value."""
        core, memory, (_, at, nbytes) = self._core(), self._element(words, place), words[:3]
        if not np.all(memory.shadow[at : at + nbytes] == WRITTEN):
            seen = f"{nbytes} bytes at {at:#x} of {memory.name} are undefined"
            help = "load or compute the element before the kernel reads it"
            message = "the kernel reads an undefined element"
            raise error("uninitialised-read", message, seen=seen, help=help).at(pending(place))
        self._noted(core, words, place, None)
        return 0

    def _element(self, words: Words, place: int) -> Memory:
        """Return the memory that holds an element; PtoError where none does."""
        memory, (at, nbytes) = self._core().space(LOCS[words[0]]), words[1:3]
        if not 0 <= at <= memory.size - nbytes:
            seen = f"{nbytes} bytes at {at:#x} of {memory.name}, which has {memory.size}"
            help = "count from 0, and no further than the tile has elements"
            message = "the kernel touches an element outside of the memory"
            raise error("address-out-of-range", message, seen=seen, help=help).at(pending(place))
        return memory

    def _noted(self, core: CxxCore, words: Words, place: int, value: int | None) -> None:
        """Keep the access for the record: the kernel's own code makes it."""
        key = (SpecialCall.VALUE, *words, value if value is not None else -1, value is None)
        if key not in self.made:
            for call in devicecalls.element(LOCS[words[0]], words[1], words[2], value):
                self.made[key] = self.door.note(call)
        if key in self.made:
            core.calls.append(self.made[key])
            core.places.append(place)

    def shorten(self, words: Words, place: int) -> int:
        """Let products of this core take f32 of fewer bits, as many as its chip keeps."""
        core = self._core()
        if core.target.is_chip:
            away = words[0] == 2
            core.short = kept_bits(core.target, away=away) if words[0] else None
        return 0

    # FIFOs

    def open_pipe(self, words: Words, place: int) -> int:
        _, flag, way, size, slots, local, shares, _, memory, vector, cube = words[:11]
        found = self.door.arrays.find(memory) if memory else None
        given = DIRECTIONS.get(way, way), size, slots, local, bool(shares), found, vector, cube
        opened = OpenedPipe(flag, *given)
        known = [pipe._replace(epilogue="", slot=None) for pipe in self.door.pipes]
        if opened not in known:  # each core opens its own end
            self.door.pipes.append(opened)
            known.append(opened)
        return known.index(opened)

    # what the kernel's own code runs into

    def thrown(self, words: Words, place: int) -> int:
        help = "catch the exception inside the kernel; the place is its last instruction"
        raise error("trapped", f"the kernel threw: {text(words[0])}", help=help)

    def trap(self, words: Words, place: int) -> int:
        help = "the line asserts a condition that does not hold, or calls what ptokit lacks"
        message = f"the kernel gave up: {text(words[0]) or 'without a reason'}"
        raise error("trapped", message, help=help)

    def device(self, words: Words, place: int) -> int:
        """A builtin of the device that moves no data by itself; a warning if it has no effect."""
        name, core = text(words[0]), self.door.here
        if devicecalls.is_executed(name) and core is not None:
            if core.problem is None:
                self.execute(core, SpecialCall.DEVICE, words, place)
            return 0
        reason = devicecalls.unexecuted().get(name)
        if reason is not None:
            message = f"{name} has no effect here: {reason}"
            help = "select the mode by arguments of the instruction, if it has any"
            told = Diagnostic("not-executed", message, severity=Severity.WARNING, help=help)
            self.door.warn([told], place)
        return 0


def text(address: int) -> str:
    """Return the C string at an address."""
    return ctypes.string_at(address).decode(errors="replace") if address else ""
