"""Synchronisation across cores: signals between the cores of a block and of a launch."""

from collections.abc import Mapping
from math import prod

from ptokit.isa.formula.formulas import Missing
from ptokit.isa.lang.asm import CppOn
from ptokit.isa.lang.page import *
from ptokit.isa.pages.synchronisation import (
    OPERATION,
    CoreFlags,
    known,
    order,
    pipe_in,
    pipe_in_cpp,
)

SENDERS = (FIX, MTE1, MTE2, MTE3, V)


def signalling(sent: str, awaited: str, first: str = "cube", second: str = "vector") -> str:
    """Return a kernel in which one kind of core signals and the other waits."""
    return f"""\
func.func @example() {{
  %id = arith.constant 3 : index
  pto.section.{first} {{
    pto.{sent}
  }}
  pto.section.{second} {{
    pto.{awaited}
  }}
  return
}}"""


SIGNALLED = signalling("sync.set <PIPE_FIX>, 3 {ffts_mode = 2}", "sync.wait <PIPE_MTE2>, %id")
BLOCKS = """\
%id = arith.constant 3 : index
pto.set_cross_block <PIPE_FIX>, 3
pto.wait_cross_block <PIPE_MTE3>, %id"""
INTRA = signalling(
    "set_intra_block <PIPE_MTE3>, 3", "wait_intra_block <PIPE_MTE1>, 3", "vector", "cube"
)


class Signals(Protocol):
    """The signal counters of a launch, for one core."""

    def of_kind(self, number: int) -> None: ...
    def of_block(self, number: int) -> None: ...
    def across(self, number: int, *, every_lane: bool) -> None: ...
    def direct(self, number: int) -> None: ...
    def wait(self, number: int) -> None: ...
    def sync_all(self, kinds: tuple[KernelKind, ...], used: int, place: object) -> None: ...
    def pause(self) -> None: ...
    def changed(self, numbers: Cells) -> None: ...
    def until(self, numbers: Cells, word: str, value: int) -> None: ...
    def test(self, numbers: Cells, word: str, value: int) -> int: ...


ALL_OF_KIND, OF_BLOCK, ACROSS = range(3)


class Signal(Instr, abstract=True, pipe=S, uses=(SIGNALS,)):
    """A counter that is incremented at another core, or awaited at this core."""

    asm = Asm(shape="angled", order=("event_id",))
    up: ClassVar[bool] = True  # True: increment the counter; False: wait for it
    of = Attr(Pipe, key="pipe")
    event_id = Attr(int, None)
    event_id_dyn = In(Index, None, doc="the number, where the program computes it")

    @classmethod
    def pipe_of(cls, env: Env) -> Pipe | None:
        """Return the pipe that the attribute names."""
        of = env.get("of")
        return of if isinstance(of, Pipe) else super().pipe_of(env)

    one = "give the number, or a value that has it"
    rules = (
        *named("attribute", event_id.given != event_id_dyn.given, help=one),
        *named("attribute", event_id >= 0, event_id_dyn >= 0, help="numbers are at least 0"),
    )


def number_of(event_id: int | None, event_id_dyn: int | None) -> int:
    """Return the number, constant or computed; a rule requires exactly one of them."""
    return event_id_dyn if event_id is None else event_id  # type: ignore[return-value]  # given


class Awaited(Signal, abstract=True):
    """A wait for a counter of this core."""

    up = False

    @classmethod
    def pipe_of(cls, env: Env) -> Pipe | None:
        """Return the pipe, or S if the vector cores share counters, where the whole core waits."""
        separate = getattr(env.get("machine"), "separate", False)
        return super().pipe_of(env) if separate else S

    def run(signals, event_id, event_id_dyn):
        signals.wait(number_of(event_id, event_id_dyn))


OF_SECOND = 16  # the first number of the second vector core, at the cube


def numbered(largest: int) -> Rules:
    """Require numbers up to `largest`; a further rule requires at least 0."""
    limits = (number <= largest for number in (Signal.event_id, Signal.event_id_dyn))
    return named("attribute", *limits, help=f"numbers are 0 to {largest}")


def sent_by(of: Attr) -> Rules:
    """Require a pipe that can signal or wait; the assembler does not accept S."""
    known, told = of.isin(*SENDERS, S), by(ASSEMBLER, of != S)
    return named("attribute", known, told, help="use FIX, MTE1, MTE2, MTE3 or V")


def signalled(function: str, on: CppOn = CHIPS) -> Asm:
    cpp = f"{function}({{of}}, [{{event_id}}][{{event_id_dyn}}]);"
    return Asm(cpp_text=cpp, cpp_on=on)


class OfFfts(Signal, abstract=True, example=SIGNALLED, disputes=("X61",)):
    """A signal by the counters of the launch.

    Mode 0 reaches all cores of a kind, 1 both vector cores of a block, 2 the cube and its vector
    cores.
    """

    ffts_mode = Attr(int, None, bits=32)
    rules = (
        *(Signal.rules, on(A5, sent_by(Signal.of))),
        *(on(A2A3, numbered(15)), on(A5, numbered(31))),
        named("attribute", both(ffts_mode >= 0, ffts_mode <= 2), help="modes are 0, 1, 2"),
    )


class SyncSet(OfFfts, name="sync.set"):
    """Increment a counter at other cores, after the earlier work of the pipe."""

    asm = Asm(
        cpp_on=CHIPS,
        cpp_text="ffts_cross_core_sync({of}, getFFTSMsg([{ffts_mode}, ][{event_id}]"
        "[{event_id_dyn}]));",
    )

    @classmethod
    def grid_wide(cls, attrs: Mapping[str, object]) -> bool:
        return attrs.get("ffts_mode") == ALL_OF_KIND

    def run(signals, of, event_id, event_id_dyn, ffts_mode):
        number = number_of(event_id, event_id_dyn)
        if ffts_mode == ALL_OF_KIND:
            signals.of_kind(number)
        elif ffts_mode == OF_BLOCK:
            signals.of_block(number)
        elif event_id is not None and event_id >= OF_SECOND:
            signals.direct(number)
        else:
            signals.across(number, every_lane=of is FIX)


class SyncWait(OfFfts, Awaited, name="sync.wait"):
    """Wait for a signal of other cores, and decrement the counter."""

    asm = Asm(cpp_on=CHIPS, cpp_text="wait_flag_dev([{event_id}][{event_id_dyn}]);")


class OfBlocks(Signal, abstract=True, example=BLOCKS):
    """A signal between blocks."""

    @classmethod
    def grid_wide(cls, attrs: Mapping[str, object]) -> bool:
        return True

    rules = (Signal.rules, sent_by(Signal.of), numbered(15))


class SetCrossBlock(OfBlocks, name="set_cross_block", asm=signalled("set_cross_block", NOWHERE)):
    """Increment a counter at the cores of all blocks, after the earlier work of the pipe."""

    ffts_mode = Attr(int, None, bits=32)
    rules = (*OfBlocks.rules, named("attribute", ffts_mode == 0, help="use mode 0"))

    def run(signals, event_id, event_id_dyn):
        signals.of_kind(number_of(event_id, event_id_dyn))


class WaitCrossBlock(
    OfBlocks, Awaited, name="wait_cross_block", asm=signalled("wait_cross_block", NOWHERE)
):
    """Wait for a signal of the cores of all blocks, and decrement the counter."""


class WithinBlock(Signal, abstract=True, example=INTRA, disputes=("X61",)):
    """A signal between the cube and one vector core of its block; from 16 on, the second one.

    On A2/A3 both vector cores signal together; elsewhere the cube reaches both with a number below
    16.
    """

    of_one_core = True
    rules = (
        *(Signal.rules, sent_by(Signal.of)),
        *(on((CPU, A5), numbered(31)), on(A2A3, numbered(15))),
    )

    @classmethod
    def names_second(cls, env: Env) -> bool:
        numbers = (env.get(n.name) for n in (Signal.event_id, Signal.event_id_dyn))
        return any(isinstance(number, int) and number > 15 for number in numbers)


class SetIntraBlock(WithinBlock, name="set_intra_block", asm=signalled("set_intra_block")):
    """Increment a counter at another core of the block, after the earlier work of the pipe."""

    def run(signals, event_id, event_id_dyn):
        signals.direct(number_of(event_id, event_id_dyn))


class WaitIntraBlock(
    WithinBlock, Awaited, name="wait_intra_block", asm=signalled("wait_intra_block")
):
    """Let the pipe wait for another core of the block, and decrement the counter."""


class SetFfts(Instr, name="set_ffts", traits=(BY_SCALAR,), pipe=S):
    """Set the address of the counters between cores: the launch has memory for them.

    No execution by ptokit depends on it.
    """

    asm = Asm(cpp_on=CHIPS, cpp_text="set_ffts_base_addr((uint64_t){base});")
    base = Scratch(Ptr, doc="the block of memory, of 64-bit numbers or of bytes")
    example = (
        "func.func @example(%base: !pto.ptr<i64>) {\n  NAME %base : !pto.ptr<i64>\n  return\n}"
    )
    rules = base.dtype.isin(i64, u64, i8, u8)

    def run():
        """Do nothing: ptokit keeps the counters elsewhere."""


class SyncAllMode(Word, mlir="sync_all_mode", cpp_type="SyncAllMode"):
    """The counters of a synchronisation: the hardware's, or numbers in global memory."""

    HARD = "hard", "Hard"
    SOFT = "soft", "Soft"


class SyncCores(Word, mlir="sync_core_type", cpp_type="SyncCoreType"):
    """The cores that wait for one another."""

    AIV_ONLY = "aiv_only", "AIVOnly", "aiv"
    AIC_ONLY = "aic_only", "AICOnly", "aic"
    MIX = "mix", "Mix"


KINDS_OF = {
    SyncCores.AIV_ONLY: (VECTOR,),
    SyncCores.AIC_ONLY: (CUBE,),
    SyncCores.MIX: (CUBE, VECTOR),
}


COUNTERS = 16  # numbers that soft synchronisation counts in


@formula(f"{{0.of.name}} has {COUNTERS} numbers of 32 bits in global memory")
def has_counters(kind: Value) -> Value:
    """Return whether a pointer or view leads to 16 numbers of 32 bits in global memory."""
    if isinstance(kind, PtrType):
        return kind.space == "gm" and kind.dtype in (i32, u32)
    if not isinstance(kind, GlobalType):
        return isinstance(kind, Missing)
    room = None in kind.shape or prod(n for n in kind.shape if n) >= COUNTERS
    return room and kind.dtype in (i32, u32)


class SyncAll(Instr, name="syncall", pipe=S, uses=(FLAGS, SIGNALS)):
    """Wait until all cores of the launch, or all of a kind, have reached this instruction.

    It does not make cached writes to global memory visible. Hard synchronisation ignores the
    numbers in global memory and the count of cores.
    """

    asm = Asm(
        shape="worded",
        cpp_text="SYNCALL<[{workspace?}SyncAllMode::{mode}, ][SyncCoreType::{cores}]>("
        "[{workspace}][, {used}]);",
    )
    example = "NAME() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
    workspace = Scratch(Any_, None, doc="numbers in global memory, 16 i32 at least")
    used = In(Scalar, None, scalar="i32", doc="how many cores take part; 0: all")
    mode = Attr(SyncAllMode)
    cores = Attr(SyncCores, key="core_type")
    kind, counted = TypeOf(workspace), TypeOf(used)
    soft = "soft synchronisation counts by numbers in global memory"
    rules = (
        on(HARDWARE, named("shape", has_counters(kind), help="give an array of 16 i32")),
        when(mode == SyncAllMode.SOFT, named("attribute", workspace.given, help=soft)),
        when(used.given, named("attribute", workspace.given, help=soft)),
        on(HARDWARE, named("element-type", Exact(counted, Const(i32)), help="use an i32 count")),
    )

    @classmethod
    def grid_wide(cls, attrs: Mapping[str, object]) -> bool:
        return True

    def run(flags, signals, mode, cores, workspace, used):
        flags.barrier(Pipe.ALL)
        if mode is SyncAllMode.HARD:
            workspace, used = None, None
        signals.sync_all(KINDS_OF[cores], 0 if used is None else used, workspace)


ACQUIRES = """\
%id = arith.constant 5 : index
pto.get_buf[#pto.pipe_event_type<TLOAD>, 5]
pto.rls_buf[#pto.pipe_event_type<TLOAD>, 5]
pto.get_buf_dyn[#pto.pipe_event_type<TVEC>, %id]
pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, %id]"""


ON_A5 = "only A5 has buffers that pipes acquire; the assembler takes them on A2/A3 too"


class BufferSync(Instr, abstract=True, uses=(FLAGS,), pipe=S, example=ACQUIRES):
    """Acquires and releases of a buffer by pipes: acquire k waits for release k - 1.

    In text order the buffer is always free: no data depends on these instructions.
    """

    asm = Asm(shape="bracketed", order=("mode",))
    op = Attr(str, key="op_type", family=OPERATION, in_cpp=pipe_in_cpp)
    mode = Attr(int, 0)
    rules = (
        *known(op),
        named("attribute", pipe_in(op) != Pipe.ALL, help="name one pipe"),
        named("attribute", mode >= 0, help="modes are at least 0"),
        on(A2A3, warns(named("not-on-target", Field("machine").kinds == Const(False), help=ON_A5))),
    )


BUFFER_NUMBERS = "buffers are 0 to 31"


class FixedBuffer(BufferSync, abstract=True):
    """An acquire or release of a buffer with a constant number."""

    op = BufferSync.op
    buffer = Attr(int, key="buf_id")
    rules = (
        *BufferSync.rules,
        named("attribute", both(buffer >= 0, buffer <= 31), help=BUFFER_NUMBERS),
    )


class ComputedBuffer(BufferSync, abstract=True):
    """An acquire or release of a buffer with a computed number."""

    buffer = In(Index, doc="its number, 0 to 31")
    rules = (
        *BufferSync.rules,
        named("operand-value", both(buffer >= 0, buffer <= 31), help=BUFFER_NUMBERS),
    )


def buffer_asm(function: str) -> Asm:
    return Asm(cpp_on=CHIPS, cpp_text=f"{function}({{op}}, {{buffer}}, {{mode}});")


def acquired(flags: CoreFlags, op: str, buffer: int, mode: int) -> None:
    flags.acquire(order(op), buffer, mode)


def released(flags: CoreFlags, op: str, buffer: int, mode: int) -> None:
    flags.release(order(op), buffer, mode)


class GetBuf(FixedBuffer, name="get_buf", asm=buffer_asm("get_buf")):
    """Let the pipe of an operation wait until the buffer is free, and acquire it."""

    run = staticmethod(acquired)


class RlsBuf(FixedBuffer, name="rls_buf", asm=buffer_asm("rls_buf")):
    """Release a buffer, after the earlier work of an operation's pipe."""

    run = staticmethod(released)


class GetBufDyn(ComputedBuffer, name="get_buf_dyn", asm=buffer_asm("get_buf")):
    """Let the pipe of an operation wait until the buffer is free, and acquire it."""

    run = staticmethod(acquired)


class RlsBufDyn(ComputedBuffer, name="rls_buf_dyn", asm=buffer_asm("rls_buf")):
    """Release a buffer, after the earlier work of an operation's pipe."""

    run = staticmethod(released)
