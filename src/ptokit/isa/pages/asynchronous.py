"""Asynchronous transfers: between ranks while others work, and prefetches by the same engine."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.communication import ROW, Remote, part_of, program

FLAT = "an asynchronous transfer moves one line of static length"


def flat(*views: Operand) -> tuple[Ruled, ...]:
    """Lines of memory of known length."""
    return named("shape", *(v.flat for v in views), help=FLAT)


SESSION_OF = """\
%scratch = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi8>
%session = pto.{prefix}build_async_session(%scratch, %room : !pto.tile_buf<vec, 1x32xi8>, \
!pto.ptr<i8>) -> !pto.async_session
%event = pto.{prefix}t{way}_async(%{dst}, %{src}, %session : {ROW}, {ROW}, !pto.async_session) \
-> !pto.async_event
%done = pto.{prefix}wait_async_event(%event, %session : !pto.async_event, !pto.async_session) \
-> i1"""


def asynchronous(prefix: str, way: str = "put") -> str:
    names = ("theirs", "mine") if way == "put" else ("mine", "theirs")
    text = SESSION_OF.replace("{ROW}", ROW).replace("{prefix}", prefix).replace("{way}", way)
    return program(text.replace("{dst}", names[0]).replace("{src}", names[1]))


BUILT = (
    "comm::AsyncSession {session}; @ comm::BuildAsyncSession<comm::DmaEngine::SDMA>"
    "({scratch}, ROOM, {session}[, {sync_id}]);"
)


class BuildSession(Remote, abstract=True, pipe=S):
    """What asynchronous transfers need: room for their descriptions, and their queues."""

    asm = Asm(cpp_on=CHIPS, cpp_text=BUILT.replace("ROOM", "{workspace}"))
    session = Result(Handle, handle=SESSION)
    scratch = Scratch(Tile, doc="8 bytes at least")
    workspace = Scratch(Ptr, doc="room in global memory, of bytes")
    sync_id = Attr(int, None, bits=32)
    block_bytes = Attr(int, None)
    comm_block_offset = Attr(int, None)
    queue_num = Attr(int, None, bits=32)
    channel_group_idx = Attr(int, None)
    rules = (
        *(scratch.loc == VEC, workspace.dtype.isin(i8, u8)),
        named("shape", scratch.nbytes >= 8, help="a description has 8 bytes"),
        named("attribute", both(sync_id >= 0, sync_id <= 7), block_bytes > 0, queue_num > 0),
        named("attribute", comm_block_offset >= 0),
        named("attribute", both(channel_group_idx >= 0, channel_group_idx < 1 << 32)),
    )

    @staticmethod
    def run() -> int:
        """Nothing is kept there: transfers are done at once."""
        return 0


class AsyncTransfer(Remote, abstract=True, traits=(BEGINS,)):
    """Begin a transfer between ranks; its event tells when it is done."""

    asm = Asm(order=("dst", "src", "session"))
    event = Result(Handle, handle=EVENT)
    dst = Out(Global, doc="where it goes")
    src = In(Global, doc="where it comes from")
    session = In(Handle, handle=SESSION)
    rules = (
        *flat(src),
        dst.dtype == src.dtype,
        named("shape", dst.extents == src.extents, help="use the same shape on both sides"),
    )

    @staticmethod
    def run(dst: View, src: View, session: object) -> object:
        """It may be done at any time until its event is waited for: here at once."""
        part_of(dst, src)[:, :] = src[:, :]
        return session


def begun(function: str) -> Asm:
    return Asm(cpp_text=f"auto {{event}} = comm::{function}({{dst}}, {{src}}, {{session}});")


class AsyncEvent(Instr, abstract=True, pipe=S, traits=(AWAITS,), asm=Asm(shape="called")):
    """Whether an asynchronous transfer or prefetch is done.

    What is begun is done at once.
    """

    done = Result(Scalar, scalar="i1")
    event = In(Handle, handle=EVENT)
    session = In(Handle, handle=SESSION)

    @staticmethod
    def run(event: object, session: object) -> int:
        return 1


def asked(method: str) -> Asm:
    return Asm(cpp_text=f"const bool {{done}} = {{event}}.{method}({{session}});")


class BuildAsyncSession(BuildSession, name="build_async_session", example=asynchronous("")):
    """What asynchronous transfers need: the older spelling."""


class BuildAsyncSessionInView(BuildSession, name="build_async_session", form="in a memref"):
    """What asynchronous transfers need: the older spelling, where front ends wrote memrefs."""

    asm = Asm(cpp_text=BUILT.replace("ROOM", "{workspace}.data()"))
    workspace = Scratch(Global, doc="room in global memory, of bytes")
    example = asynchronous("").replace("!pto.ptr<i8>", "memref<1024xi8, #pto.address_space<gm>>")


class CommBuildAsyncSession(BuildSession, name="comm.build_async_session"):
    """What asynchronous transfers need: room for their descriptions, and their queues."""

    example = asynchronous("comm.")


class TPutAsync(AsyncTransfer, name="tput_async", asm=begun("TPUT_ASYNC")):
    """Begin to write into another rank's memory: the older spelling."""

    example = asynchronous("")


class CommTPutAsync(AsyncTransfer, name="comm.tput_async", asm=begun("TPUT_ASYNC")):
    """Begin to write a part of this rank's memory into another rank's."""

    example = asynchronous("comm.")


class TGetAsync(AsyncTransfer, name="tget_async", asm=begun("TGET_ASYNC")):
    """Begin to read from another rank's memory: the older spelling."""

    example = asynchronous("", "get")


class CommTGetAsync(AsyncTransfer, name="comm.tget_async", asm=begun("TGET_ASYNC")):
    """Begin to read a part of another rank's memory into this rank's."""

    example = asynchronous("comm.", "get")


def prefetched(asks: str) -> str:
    """A program that prefetches and asks in this way whether that is done."""
    return program(
        "%context = pto.make_prefetch_async_context(%room : !pto.ptr<i8>) "
        "-> !pto.prefetch_async_context\n"
        f"%event = pto.tprefetch_async(%mine, %context : {ROW}, !pto.prefetch_async_context) "
        "-> !pto.async_event\n"
        "%session = pto.get_prefetch_async_session %context : !pto.prefetch_async_context "
        "-> !pto.async_session\n"
        f"%done = pto.{asks}_async_event(%event, %session : !pto.async_event, "
        "!pto.async_session) -> i1"
    )


PREFETCHED = prefetched("wait")


class WaitAsyncEvent(AsyncEvent, name="wait_async_event", asm=asked("Wait")):
    """Wait until it is done: the older spelling."""

    example = PREFETCHED


class CommWaitAsyncEvent(AsyncEvent, name="comm.wait_async_event", asm=asked("Wait")):
    """Wait until an asynchronous transfer or prefetch is done."""

    example = prefetched("comm.wait")


class TestAsyncEvent(AsyncEvent, name="test_async_event", asm=asked("Test")):
    """Whether it is done: the older spelling."""

    example = prefetched("test")


class CommTestAsyncEvent(AsyncEvent, name="comm.test_async_event", asm=asked("Test")):
    """Whether an asynchronous transfer or prefetch is done."""

    example = prefetched("comm.test")


class MakePrefetchAsyncContext(Instr, name="make_prefetch_async_context", pipe=S):
    """What asynchronous prefetches need. ptokit keeps nothing there."""

    asm = Asm(
        shape="called", cpp_text="PrefetchAsyncContext {context}((__gm__ uint8_t *){workspace});"
    )
    example = PREFETCHED
    context = Result(Handle, handle=PREFETCHING)
    workspace = Scratch(Ptr, doc="room in global memory, of bytes")
    rules = workspace.dtype.isin(i8, u8)

    @staticmethod
    def run() -> int:
        return 0


class GetPrefetchAsyncSession(Instr, name="get_prefetch_async_session", pipe=S):
    """The session of a context, to wait for its prefetches."""

    asm = Asm(cpp_text="auto {session} = {context}.session;")
    example = PREFETCHED
    session = Result(Handle, handle=SESSION)
    context = In(Handle, handle=PREFETCHING)

    @staticmethod
    def run(context: object) -> object:
        return context


class TPrefetchAsync(Instr, name="tprefetch_async", pipe=MTE2):
    """Begin to bring a part of global memory nearer. No data changes."""

    asm = Asm(shape="called", cpp_text="auto {event} = TPREFETCH_ASYNC({src}, {context});")
    example = PREFETCHED
    event = Result(Handle, handle=EVENT)
    src = In(Global, doc="what is brought nearer")
    context = In(Handle, handle=PREFETCHING)
    rules = flat(src)

    @staticmethod
    def run(src: object, context: object) -> object:
        return context
