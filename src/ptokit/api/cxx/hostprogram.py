"""Whole host programs: their `main` runs in a child, and each kernel that it launches runs here."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.callrecord import LaunchRecord
from ptokit.api.cxx.childprocess import Beat, Crash, run_in_child
from ptokit.api.cxx.door import Door, Tables, tables
from ptokit.api.cxx.kernelpipes import OpenedPipe
from ptokit.api.cxx.sourcelines import base_of, with_lines
from ptokit.diagnostics.diagnostic import Diagnostic, error
from ptokit.isa.model.targets import Target
from ptokit.values.fixpipe import FixPipe

NO_MAIN = "add the file with main, or launch one kernel: ptokit cxx run FILE --launch NAME"
# Python's lock is free while it runs: threads of the program call kernels, too.
MAIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
FAILED = 1  # the status of a program whose kernels fail, where it says itself that all is well


class HostRun(NamedTuple):
    """A host program that has ended: its status, the faults and the record of its kernels."""

    status: int
    base: int
    found: list[Diagnostic]
    calls: list[CxxCall]
    pipes: list[OpenedPipe]
    launches: list[LaunchRecord]


class _Telling(Door):
    """A door that tells of what is wrong with a kernel at once, on standard error."""

    def __init__(self, how: tuple[Target, FixPipe], names: Tables, beat: Beat, file: Path) -> None:
        super().__init__(*how, names, beat)
        self.library, self.base, self.said = file, 0, 0

    def launch(self, name: str, blocks: int, body: int, cube: int) -> None:
        """Run a kernel and tell what is wrong with it."""
        super().launch(name, blocks, body, cube)
        self.tell()

    def fail(self, problem: BaseException) -> None:
        """Tell of an error at once where no launch ends with it."""
        super().fail(problem)
        if self.core is self.outside:
            self.tell()

    def tell(self) -> None:
        """Tell of what was found since the last time."""
        for one in with_lines(self.found[self.said :], self.base, self.library):
            sys.stderr.write(f"{one.render()}\n")
        sys.stderr.flush()
        self.said = len(self.found)


def run_host_program(
    library: Path,
    arguments: Sequence[str],
    how: tuple[Target, FixPipe],
    *,
    timeout: float | None = None,
    recorded: bool = False,
) -> HostRun:
    """Run the `main` of a library on these arguments; Crash where it does not come to its end.

    `timeout`: seconds without a call after which the program is ended. With `recorded` the result
    has what its kernels executed.
    """
    ready = tables()

    def work(beat: Beat) -> HostRun:
        entrance = _Telling(how, ready, beat, library)
        loaded = entrance.attach(str(library))
        beat[2] = entrance.base = base_of(loaded, "ptokit_words")
        if not hasattr(loaded, "main"):
            raise error("cxx-launch", "no file of the program defines `main`", help=NO_MAIN)
        words = [str(library), *arguments]
        texts = [ctypes.create_string_buffer(word.encode()) for word in words]
        given = (ctypes.c_char_p * (len(words) + 1))(*(ctypes.addressof(t) for t in texts), None)
        main = MAIN(ctypes.cast(loaded.main, ctypes.c_void_p).value or 0)
        status = main(len(words), ctypes.addressof(given))
        entrance.close()
        entrance.tell()  # of calls without a launch
        ctypes.CDLL(None).fflush(None)
        if not status and any(each.is_error for each in entrance.found):
            status = FAILED
        found = status, entrance.base, entrance.found
        if not recorded:
            return HostRun(*found, [], [], [])
        return HostRun(*found, entrance.calls, entrance.pipes, entrance.launches)

    try:
        found = run_in_child(work, timeout, captured=False).value
    except Crash as crash:
        if crash.status is not None:  # it called exit
            return HostRun(crash.status, crash.beat[2], [], [], [], [])
        crash.problem = type(crash.problem)(
            with_lines(crash.problem.diagnostics, crash.beat[2], library)
        )
        raise
    return found
