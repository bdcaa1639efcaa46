"""Synchronisation across cores: signals between the cores of a block and of a launch (C3.3)."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.synchronisation import PipeOf, known

CORES = "it waits for other cores or is waited for, and ptokit runs the cores one after another"
SENDERS = (FIX, MTE1, MTE2, MTE3, V)
SIGNALS = """\
%id = arith.constant 3 : index
pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}
pto.sync.wait <PIPE_MTE3>, %id"""
BLOCKS = """\
%id = arith.constant 3 : index
pto.set_cross_block <PIPE_FIX>, 3
pto.wait_cross_block <PIPE_MTE3>, %id"""
INTRA = """\
%id = arith.constant 17 : index
pto.set_intra_block <PIPE_MTE3>, 3
pto.wait_intra_block <PIPE_V>, 3"""


class Signal(Instr, abstract=True, pipe=S):
    """A counter of another core that goes up, or one of this core that is waited for."""

    unexecuted = CORES
    asm = Asm(shape="angled", order=("event_id",))
    of = Attr(Pipe, key="pipe")
    event_id = Attr(int, None)
    event_id_dyn = In(Index, None, doc="the number, where the program computes it")
    one = "give the number, or a value that has it"
    rules = named("attribute", event_id.given != event_id_dyn.given, help=one)


def numbered(largest: int) -> tuple[Ruled, ...]:
    """Numbers from 0 up to the largest."""
    numbers = (Signal.event_id, Signal.event_id_dyn)
    limits = (both(n >= 0, n <= largest) for n in numbers)
    return named("attribute", *limits, help=f"numbers are 0 to {largest}")


def sent_by(of: Attr) -> tuple[Ruled, ...]:
    """From a pipe that signals, or waits."""
    return named("attribute", of.isin(*SENDERS), help="FIX, MTE1, MTE2, MTE3 and V do so")


def signalled(function: str) -> Asm:
    return Asm(cpp_text=f"{function}({{of}}, [{{event_id}}][{{event_id_dyn}}]);")


class OfFfts(Signal, abstract=True, example=SIGNALS, disputes=("X61",)):
    """By the counters of the launch: mode 0 all cores of a kind, 1 both vector cores of a block,
    2 the cube and its vector cores."""

    ffts_mode = Attr(int, None)
    rules = (
        *(Signal.rules, on(A5, sent_by(Signal.of), numbered(15))),
        named("attribute", both(ffts_mode >= 0, ffts_mode <= 2), help="modes are 0, 1, 2"),
    )


class SyncSet(OfFfts, name="sync.set"):
    """Count one up at other cores, once what the pipe had to do is done."""

    asm = Asm(
        cpp_text="ffts_cross_core_sync({of}, getFFTSMsg([{ffts_mode}, ][{event_id}]"
        "[{event_id_dyn}]));"
    )


class SyncWait(OfFfts, name="sync.wait"):
    """Wait for a signal of other cores, and count one down."""

    asm = Asm(cpp_text="wait_flag_dev([{event_id}][{event_id_dyn}]);")


class OfBlocks(Signal, abstract=True, example=BLOCKS):
    """Between blocks."""

    rules = (Signal.rules, sent_by(Signal.of), numbered(15))


class SetCrossBlock(OfBlocks, name="set_cross_block", asm=signalled("set_cross_block")):
    """Count one up at the cores of all blocks, once what the pipe had to do is done."""

    ffts_mode = Attr(int, None)
    rules = (*OfBlocks.rules, named("attribute", ffts_mode == 0, help="its mode is 0"))


class WaitCrossBlock(OfBlocks, name="wait_cross_block", asm=signalled("wait_cross_block")):
    """Wait for a signal of the cores of all blocks, and count one down."""


class WithinBlock(Signal, abstract=True, example=INTRA):
    """Between the cube and one vector core of its block; from 16 on it is the second one."""

    rules = (
        *(Signal.rules, sent_by(Signal.of)),
        *(on(A2A3, numbered(15)), on(A5, numbered(31))),
    )


class SetIntraBlock(WithinBlock, name="set_intra_block", asm=signalled("set_intra_block")):
    """Count one up at another core of the block, once what the pipe had to do is done."""


class WaitIntraBlock(WithinBlock, name="wait_intra_block", asm=signalled("wait_intra_block")):
    """Let the pipe wait for another core of the block, and count one down."""


class SetFfts(Instr, name="set_ffts", traits=(BY_SCALAR,), pipe=S):
    """Say where the counters between cores lie: the launch has a block of memory for them.

    Nothing that ptokit executes depends on it.
    """

    asm = Asm(cpp_text="set_ffts_base_addr((uint64_t){base});")
    base = Scratch(Ptr, doc="the block of memory, of 64-bit numbers or of bytes")
    example = (
        "func.func @example(%base: !pto.ptr<i64>) {\n  NAME %base : !pto.ptr<i64>\n  return\n}"
    )
    rules = base.dtype.isin(i64, u64, i8, u8)

    @staticmethod
    def run() -> None:
        """The counters are nobody's business here."""


class SyncAllMode(Word, mlir="sync_all_mode", cpp_type="SyncAllMode"):
    """By the counters of the hardware, or by numbers in global memory."""

    HARD = "hard", "Hard"
    SOFT = "soft", "Soft"


class SyncCores(Word, mlir="sync_core_type", cpp_type="SyncCoreType"):
    """Which cores wait for one another."""

    AIV_ONLY = "aiv_only", "AIVOnly", "aiv"
    AIC_ONLY = "aic_only", "AICOnly", "aic"
    MIX = "mix", "Mix"


class SyncAll(Instr, name="syncall", pipe=S):
    """Wait until all cores of the launch, or all of a kind, have come to this place.

    It does not make visible what caches of global memory hold.
    """

    unexecuted = CORES
    asm = Asm(
        shape="worded",
        cpp_text="SYNCALL<SyncAllMode::{mode}, SyncCoreType::{cores}>([{workspace}][, {used}]);",
    )
    example = "NAME() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
    workspace = Scratch(Any_, None, doc="numbers in global memory, 16 i32 at least")
    used = In(Scalar, None, scalar="i32", doc="how many cores take part")
    mode = Attr(SyncAllMode)
    cores = Attr(SyncCores, key="core_type")
    soft = "soft synchronisation has numbers in global memory, hard has none"
    rules = (
        named("attribute", (mode == SyncAllMode.SOFT) == workspace.given, help=soft),
        when(used.given, named("attribute", workspace.given, help=soft)),
    )


TURNS = """\
%id = arith.constant 5 : index
pto.get_buf[#pto.pipe_event_type<TLOAD>, 5]
pto.rls_buf[#pto.pipe_event_type<TLOAD>, 5]
pto.get_buf_dyn[#pto.pipe_event_type<TVEC>, %id]
pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, %id]"""


class BufferTurn(Instr, abstract=True, pipe=S, targets=(CPU, A5), example=TURNS):
    """The pipes that use a buffer take turns: the k-th acquire waits for the release before it.

    In text order every turn has come already: no data depends on it.
    """

    asm = Asm(shape="bracketed", order=("mode",))
    op = Attr(str, key="op_type")
    mode = Attr(int, 0)
    rules = (
        *known(op),
        named("attribute", PipeOf(op) != Pipe.ALL, help="a turn is that of one pipe"),
        named("attribute", mode >= 0, help="modes count from 0"),
    )

    @staticmethod
    def run() -> None:
        """The release before it is done already."""


BUFFERS = "buffers are 0 to 31"


class KnownTurn(BufferTurn, abstract=True):
    """Of a buffer that the text names."""

    op = BufferTurn.op
    buffer = Attr(int, key="buf_id")
    rules = (*BufferTurn.rules, named("attribute", both(buffer >= 0, buffer <= 31), help=BUFFERS))


class ComputedTurn(BufferTurn, abstract=True):
    """Of a buffer that the program computes."""

    buffer = In(Index, doc="its number, 0 to 31")
    rules = (
        *BufferTurn.rules,
        named("operand-value", both(buffer >= 0, buffer <= 31), help=BUFFERS),
    )


def turn(function: str) -> Asm:
    return Asm(cpp_text=f"{function}(pipe_of(Op::{{op}}), {{buffer}}, {{mode}});")


class GetBuf(KnownTurn, name="get_buf", asm=turn("get_buf")):
    """Let the pipe of an operation go on only when the buffer is its own."""


class RlsBuf(KnownTurn, name="rls_buf", asm=turn("rls_buf")):
    """Give a buffer on, once what the pipe of an operation had to do is done."""


class GetBufDyn(ComputedTurn, name="get_buf_dyn", asm=turn("get_buf")):
    """Let the pipe of an operation go on only when the buffer is its own."""


class RlsBufDyn(ComputedTurn, name="rls_buf_dyn", asm=turn("rls_buf")):
    """Give a buffer on, once what the pipe of an operation had to do is done."""
