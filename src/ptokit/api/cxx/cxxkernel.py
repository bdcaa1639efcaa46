"""`ptokit.cxx`: kernels in C++ on NumPy arrays, and what a launch of one leaves behind."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptokit.analysis.legality import merged
from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.calloperands import HostMemory
from ptokit.api.cxx.callrecord import LaunchRecord
from ptokit.api.cxx.callwords import BOOL, VOID, Tag
from ptokit.api.cxx.childprocess import STILL, Beat, Crash, run_in_child, shared
from ptokit.api.cxx.compiler import Build
from ptokit.api.cxx.compiler import library as compiled
from ptokit.api.cxx.door import Door, Tables, tables
from ptokit.api.cxx.kernelpipes import OpenedPipe
from ptokit.api.cxx.parameternames import parameter_names
from ptokit.api.cxx.recordedchecks import as_launched
from ptokit.api.cxx.recordedprogram import program_of
from ptokit.api.cxx.recordedraces import AS_HARDWARE, races_of_launches
from ptokit.api.cxx.recordvalues import NamedArray
from ptokit.api.cxx.sourcelines import base_of, lines_of, with_lines
from ptokit.api.kernel.hostside import LaunchArguments
from ptokit.api.program import Program
from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, PtoError, call_error
from ptokit.diagnostics.rich import RichList
from ptokit.diagnostics.source import Span
from ptokit.isa.model.targets import Target
from ptokit.launch.settings import current_target, reading, target_named
from ptokit.machine.launchoptions import Options
from ptokit.machine.undefinedstore import require_defined
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.fixpipe import CPU_READING, HARDWARE_READING, FixPipe
from ptokit.values.host import AnyArray

if TYPE_CHECKING:
    from ptokit.api.profiling import Profile

BYTES = (VOID, 3, 4)  # element types of pointers to memory of any type
Library = Path


class Left(NamedTuple):
    """The result that a child sends back when a launch has ended."""

    base: int
    calls: list[CxxCall]
    pipes: list[OpenedPipe]
    launches: list[LaunchRecord]
    found: list[Diagnostic]


class CxxRun:
    """A launch that has ended: its warnings, its printed text, and the program it was."""

    def __init__(self, left: Left, printed: str, library: Library, how: Launched) -> None:
        self._left, self._library, self._how = left, library, how
        self.printed = printed
        self.warnings: list[Diagnostic] = with_lines(left.found, left.base, library)

    @property
    def launches(self) -> Sequence[LaunchRecord]:
        """The launches that took place, in order: one, or those of a function that launches."""
        return self._left.launches

    @cached_property
    def _lines(self) -> Mapping[int, Span | None]:
        """Each place that made a call, with its line."""
        every = {a for launch in self._left.launches for a in launch.addresses()}
        return lines_of(every, self._left.base, self._library)

    @cached_property
    def program(self) -> Program:
        """The instructions that ran as a program: straight lines with addresses and flags."""
        return Program(program_of(self._left, self._lines, self._how.arrays))

    def text(self, form: str = "dps") -> str:
        """Return the program's text."""
        return self.program.text(form)

    def check(self, *targets: str, **how: Any) -> list[Diagnostic]:  # Any: see `Program.check`
        """Return what is wrong with the program on each target, by default the launch's.

        Without a `judge` a launch on the target decides: what it would take is a warning.
        """
        chosen = targets or (self._how.target,)
        judge = how.pop("judge", None)
        if judge is not None:
            return self.program.check(*chosen, judge=judge, **how)
        every = self.program.verdicts(*chosen, judge=Judge.HARDWARE.value, **how)
        here = ((one, target_named(one.target)) for one in every)
        return RichList(merged(as_launched(v, self._left, self._lines, t) for v, t in here))

    def races(self, *targets: str) -> list[Diagnostic]:
        """Return what the order of the pipes leaves open on each target, launch by launch."""
        chosen = targets or (self._how.target,)
        launches = self._left.launches
        found = (races_of_launches(self.program, launches, target_named(name)) for name in chosen)
        return RichList(one for some in found for one in some)

    def profile(self, launch: int = 0, target: str | None = None) -> Profile:
        """Predict how long a launch, by its number, takes on a chip, by default the launch's.

        As in the launch hardware decides what is legal.
        """
        name = self.program.module.funcs[launch].name
        blocks = self._left.launches[launch].blocks
        chosen = f"{target or self._how.target}:{AS_HARDWARE}"
        return self.program.profile(target=chosen, func=name, blocks=blocks)

    def instructions(self) -> Iterator[str]:
        """Yield the name of each instruction that ran, as a report counts them."""
        calls = self._left.calls
        for core in (core for launch in self._left.launches for core in launch.cores):
            pages = (calls[number].page for number in core.calls)
            yield from (page.mnemonic() for page in pages if page.reported)

    def __repr__(self) -> str:
        count = sum(1 for _ in self.instructions())
        return f"<CxxRun {self._how.name}: {count} instructions>"


class Launched(NamedTuple):
    """The arguments of a launch: its kernel and its arrays by number."""

    name: str
    target: str
    blocks: int
    arrays: Mapping[int, NamedArray]


class CxxKernel:
    """Kernels of C++ files, compiled when first launched."""

    def __init__(
        self,
        *files: str | os.PathLike[str],
        target: str | None = None,
        include: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
        define: Mapping[str, str | int | None] | str | Sequence[str] = (),
        compiler: str | None = None,
        fixpipe: str | FixPipe | None = None,
    ) -> None:
        if not files:
            raise call_error("operand-count", "no file is given", help='pto.cxx("kernel.cpp")')
        self.files = [Path(file) for file in files]
        self._target, self.fixpipe = target, fixpipe
        self.include = (include,) if isinstance(include, str | os.PathLike) else include
        self.define = (define,) if isinstance(define, str) else define
        self.compiler = compiler

    @property
    def target(self) -> Target:
        """The target that it is compiled for and runs on."""
        return current_target() if self._target is None else target_named(self._target)

    @door
    def launch(
        self,
        name: str,
        *given: object,
        blocks: int = 1,
        timeout: float | None = STILL,
        strict: bool = False,
    ) -> CxxRun:
        """Launch `name<...>` on arrays and numbers; outputs are written in place.

        PtoError where the kernel is wrong on the target, crashes, or makes no call for `timeout`
        seconds; then no array was changed. With `strict` it is an error to store what nothing
        computed.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            help = 'write launch("name", ...): a file may have several kernels'
            raise call_error(
                "operand-kind", "the first argument of a launch is the kernel name", help=help
            )
        _ = Options(self.target, blocks=blocks, timeout=timeout)  # says what is wrong
        library = compiled(self.files, self.build(), name)
        known = parameter_names(self.files, name)
        words = known if len({*known}) == len(given) else [f"a{n}" for n in range(len(given))]
        host = LaunchArguments(dict(zip(words, given, strict=True)), {})
        room = {n: _Room(kind, array) for n, (kind, array) in host.contiguous().items()}
        how = (*self.readings, tables())

        def work(beat: Beat) -> Left:
            return _launch(library, how, beat, (name, blocks), host, room, words)

        try:
            left, printed, _ = run_in_child(work, timeout)
        except Crash as crash:
            base = crash.beat[2]
            raise PtoError(with_lines(crash.problem.diagnostics, base, library)) from None
        wrong = [d for d in left.found if d.is_error]
        if wrong:
            raise PtoError(with_lines(wrong, left.base, library))
        every = enumerate(room.items())
        arrays = {number: NamedArray(name, one.kind) for number, (name, one) in every}
        launched = Launched(name, self.target.name, blocks, arrays)
        ran = CxxRun(left, printed, library, launched)
        if strict:
            require_defined(ran.warnings)
        changed = {n: one.array() for n, one in room.items() if one.changed()}
        host.put_back(changed)
        return ran

    @property
    def readings(self) -> tuple[Target, FixPipe]:
        """The target, and how the fix-pipe computes: as hardware does, where that is a chip."""
        usual = HARDWARE_READING if self.target.chip else CPU_READING
        return self.target, usual if self.fixpipe is None else reading(self.fixpipe)

    def build(self, flags: Sequence[str] = ()) -> Build:
        """Return how its files are compiled; `flags` are further ones of the compiler."""
        listed = self.define if isinstance(self.define, Mapping) else dict(map(_macro, self.define))
        include = tuple(map(Path, self.include))
        return Build(self.target, include, listed, self.compiler, tuple(flags))


def _macro(text: str) -> tuple[str, str | None]:
    """Return the name and the value of a macro in the form NAME or NAME=VALUE."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a macro is a str, as in define=['NAME=1'], not {type(text).__name__}")
    name, given, value = text.partition("=")
    return name, value if given else None


class _Room:
    """An array in memory that a child shares."""

    def __init__(self, kind: DType, array: AnyArray) -> None:
        self.kind, self.given = kind, array
        self.memory = shared(array.nbytes)
        self.memory.write(np.ascontiguousarray(array).tobytes())
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def array(self) -> AnyArray:
        """Return what the kernel left."""
        made = np.frombuffer(self.memory, self.given.dtype, self.given.size)
        return made.reshape(self.given.shape)

    def changed(self) -> bool:
        return self.memory[: self.given.nbytes] != self.given.tobytes()


def _launch(
    library: Library,
    how: tuple[Target, FixPipe, Tables],
    beat: Beat,
    what: tuple[str, int],
    host: LaunchArguments,
    room: Mapping[str, _Room],
    parameters: Sequence[str],
) -> Left:
    """Launch in the child."""
    name, blocks = what
    entrance = Door(*how, beat)
    loaded = entrance.attach(str(library))
    beat[2] = base = base_of(loaded, "ptokit_words")
    words = [*_arguments(loaded, name, host, room, parameters)]
    for array, one in room.items():
        entrance.add_array(HostMemory(one.address, one.given.nbytes, array))
    arguments = (ctypes.c_int64 * max(len(words), 1))(*words)
    loaded.ptokit_start(ctypes.c_int64(blocks), arguments)
    entrance.close()
    return Left(base, entrance.calls, entrance.pipes, entrance.launches, entrance.found)


def _arguments(
    loaded: ctypes.PyDLL,
    name: str,
    host: LaunchArguments,
    room: Mapping[str, _Room],
    parameters: Sequence[str],
) -> Iterator[int]:
    """Yield a word for each parameter; CallError where what is given is of another kind."""
    loaded.ptokit_parameters.restype = ctypes.c_void_p
    start = loaded.ptokit_parameters()
    count = ctypes.c_int64.from_address(start).value
    words = (ctypes.c_int64 * (2 * count)).from_address(start + 8)
    given = len(host.numbers) + len(room)
    if given != count:
        many = "1 argument is" if given == 1 else f"{given} arguments are"
        raise call_error("unknown-argument", f"{name} takes {count}, and {many} given")
    for number in range(count):
        what, tag, kind = parameters[number], Tag(words[2 * number]), words[2 * number + 1]
        yield _argument(what, tag, kind, host.numbers.get(what), room.get(what))


def _argument(what: str, tag: Tag, kind: int, value: float | None, array: _Room | None) -> int:
    if tag is Tag.OTHER and array is not None and array.given.nbytes == kind:
        return array.address
    if tag is Tag.POINTER and array is not None:
        _require_element(what, kind, array)
        return array.address
    if tag is Tag.INTEGER and isinstance(value, int):
        return value
    if tag is Tag.REAL and value is not None:
        return int(np.float64(value).view(np.int64))
    wanted = {
        Tag.POINTER: f"an array of {_name(kind)}",
        Tag.INTEGER: "an integer",
        Tag.REAL: "a number",
    }.get(tag, f"{kind} bytes as a NumPy array")
    seen = f"an array of {array.kind}" if array is not None else repr(value)
    message = f"{what} is {wanted}"
    raise call_error("argument-type", message, seen=f"given {seen}")


def _require_element(what: str, kind: int, array: _Room) -> None:
    """CallError where a pointer's elements are others than the array's."""
    if kind in BYTES or kind >= len(DTYPES) or DTYPES[kind] == array.kind:
        return
    wanted, unsigned = DTYPES[kind], array.given.dtype.kind == "u"
    if wanted.bits == array.kind.bits and unsigned:  # its bits
        return
    help = "convert the array, for example with astype"
    if wanted.bits >= 8:
        help = f"{help}, or pass the bits as u{wanted.bits}"
    message = f"{what} points to {wanted}, but the array holds {array.kind}"
    raise call_error("argument-type", message, help=help)


def _name(kind: int) -> str:
    return str(DTYPES[kind]) if kind < len(DTYPES) else "u8" if kind == BOOL else "any type"


def cxx(*files: str | os.PathLike[str], **how: Any) -> CxxKernel:  # Any: see `CxxKernel`
    """Make the kernels of C++ files launchable."""
    return CxxKernel(*files, **how)
