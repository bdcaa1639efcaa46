"""Compiled code in a process of its own: what it gives back, and what became of it if it crashed.

The parent watches numbers that the child writes into shared memory: how many calls there were so
far, and from where the last one came.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import pickle
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from typing import BinaryIO, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

from ptokit.api.cxx.pending import pending
from ptokit.diagnostics.diagnostic import PtoError, error

STILL, POLL = 60.0, 0.25  # seconds without a call until a kernel counts as stuck; between looks
BEATS = 4  # numbers that both processes see: calls, the last place, where the library lies
R = TypeVar("R")
Beat: TypeAlias = "ctypes.Array[ctypes.c_int64]"  # these numbers
SIGNALS = {
    signal.SIGSEGV: "invalid memory access",
    signal.SIGBUS: "invalid memory access",
    signal.SIGFPE: "integer division by zero",
    signal.SIGABRT: "abort, or a failed assertion",
    signal.SIGILL: "illegal instruction",
}


class Answer(NamedTuple, Generic[R]):
    """The result of a child, the text of its standard output, and the numbers it left."""

    value: R
    printed: str
    beat: tuple[int, ...]


class Crash(Exception):
    """The child ended before it answered."""

    def __init__(
        self, problem: PtoError, printed: str, beat: tuple[int, ...], status: int | None
    ) -> None:
        """`status`: that of a child that ended by itself."""
        super().__init__(str(problem))
        self.problem, self.printed, self.beat, self.status = problem, printed, beat, status


def shared(nbytes: int) -> mmap.mmap:
    """Return memory that a child shares."""
    return mmap.mmap(-1, max(nbytes, 1))


def run_in_child(
    work: Callable[[Beat], R], still: float | None = STILL, *, captured: bool = True
) -> Answer[R]:
    """Run `work` on the shared numbers in a child; Crash where it ends before it answers.

    `still`: the seconds without a call after which the child is ended; None: never. `captured`:
    what it prints is part of the answer, else it goes where the parent prints.
    """
    numbers = shared(8 * BEATS)
    beat = (ctypes.c_int64 * BEATS).from_buffer(numbers)
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        with warnings.catch_warnings():  # the child runs no other thread's code
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if not process:
            os.close(reading)
            _child(work, beat, writing, output if captured else None)
        os.close(writing)
        try:
            text, stuck = _listen(reading, beat, process, still)
        except BaseException:  # a signal that ends the parent ends the child
            os.kill(process, signal.SIGKILL)
            raise
        finally:
            os.close(reading)
            status = _ended(process)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    last = tuple(beat)
    del beat
    numbers.close()
    if not text:
        ended = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        raise Crash(_crash(status, stuck, last[1]), printed, last, ended)
    kind, value = pickle.loads(text)
    if kind == "raised":
        raise value
    if kind == "broken":
        raise AssertionError(f"ptokit failed on a compiled kernel, please report:\n{value}")
    return Answer(value, printed, last)


def _child(
    work: Callable[[Beat], object], beat: Beat, writing: int, output: BinaryIO | None
) -> NoReturn:
    """Work, answer, and end without what the parent would do at its own end."""
    faulthandler.disable()  # the parent tells
    try:
        for number in (signal.SIGINT, signal.SIGTERM):  # compiled code would go on after them
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        if output is not None:
            os.dup2(output.fileno(), 1)
        answer: tuple[str, object]
        try:
            answer = "value", work(beat)
        except PtoError as problem:
            answer = "raised", problem
        except BaseException:
            answer = "broken", traceback.format_exc()
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def _listen(reading: int, beat: Beat, process: int, still: float | None) -> tuple[bytes, bool]:
    """Read to the end; whether the child was ended since it did nothing for too long."""
    parts: list[bytes] = []
    seen, since = -1, time.monotonic()
    while True:
        ready, _, _ = select.select([reading], [], [], POLL)
        if ready:
            part = os.read(reading, 1 << 20)
            if not part:
                return b"".join(parts), False
            parts.append(part)
        elif beat[0] != seen:
            seen, since = beat[0], time.monotonic()
        elif still is not None and time.monotonic() - since > still:
            os.kill(process, signal.SIGKILL)
            return b"", True


def _ended(process: int) -> int:
    """Wait for the child; end it where the parent is interrupted."""
    try:
        return os.waitpid(process, 0)[1]
    except KeyboardInterrupt:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise


def _crash(status: int, stuck: bool, place: int) -> PtoError:
    """Return why a child ended without an answer."""
    if stuck:
        message = "the kernel does not terminate"
        help = "look for a loop that waits; raise timeout to continue"
        found = error("time-limit", message, help=help)
    elif os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        why = SIGNALS.get(signal.Signals(number), "another process killed it")
        found = error("crash", f"the kernel ended by {name}", seen=why, help=CRASHED)
    else:
        code = os.WEXITSTATUS(status)
        found = error("crash", f"the kernel ended the process, with status {code}", help=CRASHED)
    return found.at(pending(place)) if place else found


CRASHED = "the place is the last instruction before the fault; no array was changed"
