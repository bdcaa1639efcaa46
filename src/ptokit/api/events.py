"""Events between instructions of a Python program, as in C++: `Event<SrcOp, DstOp>`."""

from __future__ import annotations

from ptokit.diagnostics.callsite import caller
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.words import Pipe
from ptokit.isa.pages.synchronisation import pipe_of
from ptokit.launch.settings import current_core


class Event:
    """An order between an instruction of `source` and one of `target` on another pipe.

    Call `e.record()` after the first instruction, then `e.wait()`, or pass `events=[e]` to the
    second. Each pair of pipes has eight ids, assigned in rotation. PtoError if an event is recorded
    twice or awaited before it is recorded.
    """

    def __init__(self, source: str, target: str) -> None:
        self.source, self.target = source.upper(), target.upper()
        pipes = _pipe(source), _pipe(target)
        self._flags = current_core().state.flags
        self.key = (*pipes, self._flags.allocate(*pipes))

    def record(self) -> None:
        """Record that all instructions so far have been issued."""
        try:
            self._flags.set(*self.key)
        except PtoError as problem:
            raise problem.at(caller()) from None

    def wait(self) -> None:
        """Wait until all recorded instructions are complete."""
        try:
            self._flags.wait(*self.key)
        except PtoError as problem:
            raise problem.at(caller()) from None

    def __repr__(self) -> str:
        return f"<Event {self.source} -> {self.target}, id {self.key[2]}>"


def _pipe(operation: str) -> Pipe:
    found = pipe_of(operation)
    if found is None:
        raise ValueError(f"unknown operation {operation!r}; give its path where pipes differ")
    return found
