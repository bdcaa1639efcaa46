"""The flags between the pipes of a core in compiled code: one byte of memory each."""

from __future__ import annotations

from functools import partial

from ptokit.engines.native.mainfunction import MainFunction
from ptokit.machine.record.code import Int, NotNative, Num, Truth, text
from ptokit.machine.state import FLAG_MEMORY, Queue, flag_number


def lowered(main: MainFunction) -> str:
    """Return code that lowers all flags at the start of a block."""
    space = next((s for s in main.spaces if s.name == FLAG_MEMORY), None)
    if space is None:
        return ""
    return (
        f"  %flags.at = getelementptr i64, ptr %memories, i64 {3 * space.number}\n"
        "  %flags = load ptr, ptr %flags.at\n"
        f"  call void @llvm.memset.p0.i64(ptr %flags, i8 0, i64 {space.size}, i1 false)\n"
    )


class CompiledFlags:
    """The operations of `machine.state.Flags`; faults are left to the reference."""

    def __init__(self, main: MainFunction) -> None:
        self.main = main

    def set(self, source: Queue, target: Queue, event: Num) -> None:
        """Raise a flag that is down."""
        self._move(source, target, event, up=True)

    def wait(self, source: Queue, target: Queue, event: Num) -> None:
        """Lower a flag that is up."""
        self._move(source, target, event, up=False)

    @staticmethod
    def join(event: object) -> None:
        """Do nothing: in program order all events have happened."""

    @staticmethod
    def barrier(pipe: Queue) -> None:
        """Do nothing: in program order all earlier instructions are complete."""

    @staticmethod
    def acquire(pipe: Queue, buffer: Num, mode: int) -> None:
        """Do nothing: in program order a buffer is always free."""

    release = acquire

    def _move(self, source: Queue, target: Queue, event: Num, *, up: bool) -> None:
        number = flag_number(source, target, event)
        if number is None:
            raise NotNative("a flag of an operation that no page has")
        if source is target:
            return
        main = self.main
        base = main.memory(main.flag_space().number, 0)
        place = main.code.let(f"getelementptr i8, ptr {base}, i64 {text(number)}")
        byte = main.code.let(f"load i8, ptr {place}")
        now = Int(main.code, main.code.let(f"zext i8 {byte} to i64"), limits=(0, 1))
        ready: Truth = now == (0 if up else 1)
        main.recording.guards.append(ready)
        main.recording.after.append(partial(main.code.do, f"store i8 {int(up)}, ptr {place}"))
