"""The door between a compiled kernel and ptokit: what the kernel calls back for.

A call is found by its words, ready to run, so that what was seen before costs a look-up. An error
is kept by the core that met it, and the kernel is told to stop: nothing leaves through C++ frames.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from threading import get_native_id
from typing import NamedTuple

import numpy as np

from ptokit.api.cxx.callbinding import CxxCall, as_moved, bind, shortening
from ptokit.api.cxx.callforms import forms
from ptokit.api.cxx.calloperands import (
    Arrays,
    HostMemory,
    PipeHandle,
    PlacedView,
    Reader,
    Reported,
    Types,
)
from ptokit.api.cxx.callrecord import LaunchRecord
from ptokit.api.cxx.callwords import FIRST_INTRINSIC, HEAD, STOP, WORDS, KernelText, PlaceWord
from ptokit.api.cxx.childprocess import Beat
from ptokit.api.cxx.headers import enumerations, names
from ptokit.api.cxx.kernelcores import CxxCore, PlacedHandle, ReadyCall
from ptokit.api.cxx.kernelpipes import OpenedPipe, end_of, epilogue_of, moved, told_where
from ptokit.api.cxx.launching import CxxLaunch
from ptokit.api.cxx.pending import pending
from ptokit.api.cxx.specialcalls import Specials
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, error
from ptokit.isa.lang.traits import ALIASES, READDRESSES, FifoRole
from ptokit.isa.model.targets import MASK_STREAMS, ROW_BLOCKS, Target
from ptokit.isa.model.words import CUBE
from ptokit.machine.memory import Memory
from ptokit.values.fixpipe import FixPipe

ISSUE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
MEMORY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
PLACING = {ALIASES, READDRESSES}  # what has them says where a tile lies
MOST_CALLS = 1 << 24  # of one launch: a loop that calls for ever would fill the record
ROOM = 512  # bytes: devices allocate multiples of it
DEVICE_ERROR = 507015  # what acl returns where a kernel failed


class Tables(NamedTuple):
    """The names of intrinsics and of enumerations by the numbers that headers give them."""

    names: Mapping[int, str]
    enumerations: Mapping[int, tuple[str, Mapping[int, str]]]


HEADER = "a kernel includes <pto/pto-inst.hpp>, a host program <acl/acl.h>"


class Door:
    """The host side of a compiled library: it takes each call and keeps the record of them."""

    def __init__(self, target: Target, fixpipe: FixPipe, tables: Tables, beat: Beat) -> None:
        """`beat`: numbers that calls write: how many there were, the last place."""
        self.target, self.fixpipe = as_headers(target), fixpipe
        self.tables, self.beat = tables, beat
        self.arrays, self.types = Arrays(), Types(target)
        self.reader = Reader(self.types, self.arrays, tables.enumerations)
        self.memories: dict[int, Memory] = {}
        self.calls: list[CxxCall] = []
        self.pipes: list[OpenedPipe] = []
        self.numbers: dict[object, int] = {}  # of calls by their words
        self.launches: list[LaunchRecord] = []
        self.found: list[Diagnostic] = []
        self.told: set[object] = set()
        self.core: CxxCore | None = None
        self.outside: CxxCore | None = None  # what calls run on that no launch makes
        self.threads: dict[int, tuple[CxxLaunch, CxxCore]] = {}  # of hosts: each has such a core
        self.running: CxxLaunch | None = None
        self.failed = 0
        self.fault: BaseException | None = None  # of ptokit
        self.last = MOST_CALLS  # the number of the last call that may come
        self.specials = Specials(self)

    def attach(self, path: str) -> ctypes.PyDLL:
        """Load a library and set its callbacks; PtoError if none of its files has our headers."""
        library = ctypes.PyDLL(path)
        if not hasattr(library, "ptokit_words"):
            raise error(
                "cxx-launch", "no file of the program includes a header of PTO", help=HEADER
            )
        buffer = memoryview((ctypes.c_int64 * WORDS).in_dll(library, "ptokit_words"))
        self.bytes = buffer.cast("B")
        self.words = self.bytes.cast("q")
        self.place = (ctypes.c_int64 * len(PlaceWord)).in_dll(library, "ptokit_place")
        self.run_body = library.ptokit_run
        self.run_body.argtypes = (ctypes.c_int64, ctypes.c_int64)
        self._kept = ISSUE(self.issue), MEMORY(self.memory)
        for name, function in zip(("ptokit_issue", "ptokit_memory"), self._kept, strict=True):
            slot = ctypes.c_void_p.in_dll(library, name)
            slot.value = ctypes.cast(function, ctypes.c_void_p).value
        return library

    # what the library calls

    def memory(self, address: int, nbytes: int) -> int:
        """Note memory of the device, or that it is free again."""
        self.numbers.clear()
        self.specials.made.clear()
        if nbytes < 0:
            self.arrays.remove(address)
        else:
            room = -(-nbytes // ROOM) * ROOM  # what programs copy beyond the end is there
            self.add_array(HostMemory(address, room, f"the array of {nbytes} bytes"))
        return 0

    def add_array(self, array: HostMemory) -> int:
        """Let kernels touch an array; its number."""
        number = self.arrays.add(array)
        room = (ctypes.c_uint8 * max(array.nbytes, 1)).from_address(array.address)
        data = np.frombuffer(memoryview(room), np.uint8)[: array.nbytes]
        self.memories[number] = Memory(array.name, data, written=True, host=True)
        return number

    def issue(self, count: int) -> int:
        """Execute what the words say."""
        core, words = self.here, self.words
        name, place = words[0], words[1]
        beat = self.beat
        beat[0] += 1
        if place:
            beat[1] = place
        else:
            place = beat[1]
        try:
            if beat[0] > self.last:
                raise endless()
            if name < FIRST_INTRINSIC:
                return self.specials.call(name, words[HEAD:count].tolist(), place)
            if core is None or core.problem is not None:
                return 0
            key = name, self.bytes[16 : count * 8].tobytes(), core.short
            made = core.made.get(key)
            if made is None:
                made = self.bound(core, key, words[:count].tolist())
            if isinstance(made, PlacedHandle):
                made.run()
                self.warn(made.warnings, place)
                return 0
            return self.run(core, made, place)
        except PtoError as problem:
            return self.stop(core, problem.at(pending(place)))
        except BaseException as problem:
            return self.stop(core, problem)

    @property
    def here(self) -> CxxCore | None:
        """The core that runs; outside of launches the simulator has one for each host thread."""
        if self.core is self.outside and self.target.in_order:
            thread = get_native_id()
            if thread not in self.threads:
                launch = CxxLaunch("", 1, (self.target, self.fixpipe), self.memories, self.going_on)
                self.threads[thread] = launch, launch.alone()[0]
            self.running, core = self.threads[thread]
            if core is not self.core:
                self.outside = core
                self.going_on(core)
        return self.core

    def stop(self, core: CxxCore | None, problem: BaseException) -> int:
        """Keep what went wrong, and end the core that it went wrong on."""
        if core is None or core is self.outside:
            self.fail(problem)
        else:
            core.problem = problem
            self.going_on(core)
        return STOP

    def fail(self, problem: BaseException) -> None:
        """Keep an error for whoever asks what became of a launch.

        A fault of ptokit is kept, too: compiled code, which called, takes no exception.
        """
        self.failed = DEVICE_ERROR
        if isinstance(problem, PtoError):
            self.found += problem.diagnostics
        elif self.fault is None:
            self.fault = problem

    def close(self) -> None:
        """Raise the fault of ptokit that ended a launch, if one did."""
        if self.fault is not None:
            raise self.fault

    # instructions

    def bound(self, core: CxxCore, key: object, words: Sequence[int]) -> ReadyCall | PlacedHandle:
        """Bind the call of the words and make it ready on this core."""
        number = self.numbers.get(key)
        if number is not None:
            made = core.made[key] = self.made(core, number)
            return made
        values, epilogue = epilogue_of([*self.reader.values(words[HEAD:], words[2])])
        call = as_moved(bind(self.tables.names[words[0]], values, self.target), self.target)
        call = shortening(call, core.short)
        if not PLACING.isdisjoint(call.page.traits):
            made = core.made[key] = PlacedHandle(call, core, self.reader.objects[0])
            return made
        handle = call.operands.get("handle")
        if isinstance(handle, PipeHandle):  # entries lie elsewhere each time
            pipe, entry = self.pipes[handle.number], call.operands.get("entry")
            if epilogue:
                pipe = pipe._replace(epilogue=epilogue)
            if call.page.fifo_role is FifoRole.ALLOCATES and isinstance(entry, PlacedView):
                pipe = pipe._replace(slot=entry.type)
            self.pipes[handle.number] = pipe
            return self.piped(core, call, pipe, words)
        number = self.note(call)
        made = self.made(core, number)
        if not any(isinstance(value, Reported) for value in values):  # numbers that may differ
            self.numbers[key], core.made[key] = number, made
        return made

    def note(self, call: CxxCall) -> int:
        """Keep a call for the record; its number."""
        self.calls.append(call)
        return len(self.calls) - 1

    def made(self, core: CxxCore, number: int) -> ReadyCall:
        """Make a call ready on a core."""
        return ReadyCall(self.calls[number], core, number)

    def piped(
        self, core: CxxCore, call: CxxCall, pipe: OpenedPipe, words: Sequence[int]
    ) -> ReadyCall:
        """Make what is done with a FIFO ready, the entry where it comes to lie."""
        assert self.running is not None
        end = end_of(self.running, core, call, pipe)
        end.epilogue = pipe.epilogue
        call = moved(call, pipe, core, end.taken)
        made = ReadyCall(call, core, self.note(call), end)
        made.entry = words[-1]  # the C++ object of the entry, which is the last argument
        return made

    def run(self, core: CxxCore, made: ReadyCall, place: int) -> int:
        """Run a call, note it, and note what it warns of; return its answer."""
        core.calls.append(made.number)
        core.places.append(place)
        if made.waits:
            core.schedule.at(made.op.name, pending(place))
            answer = made.run()
            if made.end is not None:
                told_where(made)
            self.going_on(core)
        else:
            answer = made.run()
        self.warn(made.warnings, place)
        for view in made.written:
            if view.lost:
                core.note_lost(made.op, made.written, pending(place))
                break
        return answer

    def warn(self, warnings: Sequence[Diagnostic], place: int) -> None:
        """Keep warnings once for each place and rule."""
        for warning in warnings:
            key = place, warning.slug, warning.rule or warning.message
            if key not in self.told:
                self.told.add(key)
                self.found += PtoError(warning).at(pending(place)).diagnostics

    # launches

    def launch(self, name: str, blocks: int, body: int, cube: int) -> None:
        """Run a kernel on so many blocks; `cube` is its text for cube cores, if it has two."""
        before, core = self.running, self.core
        run = partial(self._run_core, body, cube)
        how = self.target, self.fixpipe
        launch = CxxLaunch(name, blocks, how, self.memories, run, mixed=bool(cube))
        self.running, ended = launch, False
        self.last = self.beat[0] + MOST_CALLS
        try:
            launch.run()
            ended = True
        except PtoError as problem:
            self.fail(problem)
        finally:
            self.found += [w for one in launch.cores for w in one.taken_warnings()]
            as_cube = CUBE in launch.met
            self.launches.append(launch.record._replace(ended=ended, as_cube=as_cube))
            self.running, self.core = before, core

    def _run_core(self, body: int, cube: int, core: CxxCore) -> None:
        """Run the text of a kernel on a core."""
        self.going_on(core)
        of_cube = core.place.kind is CUBE
        self.run_body(
            cube if of_cube else body, KernelText.CUBE_TEXT if of_cube else KernelText.VECTOR_TEXT
        )

    def going_on(self, core: CxxCore) -> None:
        """This core goes on: the kernel asks for its place."""
        self.core = core
        cube = core.kind is CUBE
        lanes, text = (1, KernelText.CUBE_TEXT) if cube else (core.lanes, KernelText.VECTOR_TEXT)
        self.place[:5] = (core.block_idx, core.block_num, core.subblock_idx, lanes, text)


def endless() -> PtoError:
    """Return the error of a launch that does not stop issuing instructions."""
    message = f"the kernel issues more than {MOST_CALLS} instructions"
    help = "look for a loop that does not end, or launch the kernel on less data"
    return error("instruction-limit", message, help=help)


@cache
def as_headers(target: Target) -> Target:
    """Return the target as the code of the headers computes on it (disputes E45 and E57)."""
    simulated = () if target.is_chip else (MASK_STREAMS,)
    return replace(target, like=target, readings=(*target.readings, ROW_BLOCKS, *simulated))


def tables() -> Tables:
    """Return what the headers call intrinsics and words; and read pages, once for all children."""
    forms()
    words = enumerate(enumerations().items(), 1)
    labels = {n: (name.rpartition("::")[2], _first(members)) for n, (name, members) in words}
    return Tables({n: name.rpartition("::")[2] for name, n in names().items()}, labels)


def _first(members: Mapping[str, int]) -> dict[int, str]:
    """Return the first label of each number."""
    found: dict[int, str] = {}
    for label, number in members.items():
        found.setdefault(number, label)
    return found
