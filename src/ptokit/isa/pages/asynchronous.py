"""Asynchronous transfers: between ranks, concurrent with other work, and prefetches."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.communication import ROW, Remote, part_of, program

FLAT = "an asynchronous transfer moves one line of static length"


def flat(*views: Operand) -> Rules:
    """Require contiguous lines of memory of known length."""
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
    """A session of asynchronous transfers: room for their descriptions, and their queues."""

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

    def run():
        """Return 0: ptokit keeps nothing in a session, as transfers complete at once."""
        return 0


class AsyncTransfer(Remote, abstract=True, traits=(BEGINS,)):
    """Start a transfer between ranks; its event tells when it is complete."""

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

    def run(dst, src, session):
        """Complete the transfer at once: allowed at any time before the wait for its event."""
        part_of(dst, src)[:, :] = src[:, :]
        return session


def begun(function: str) -> Asm:
    return Asm(cpp_text=f"auto {{event}} = comm::{function}({{dst}}, {{src}}, {{session}});")


class AsyncEvent(Instr, abstract=True, pipe=S, traits=(AWAITS,), asm=Asm(shape="called")):
    """A test of an asynchronous transfer or prefetch: 1 if it is complete.

    In ptokit it completes when it starts.
    """

    done = Result(Scalar, scalar="i1")
    event = In(Handle, handle=EVENT)
    session = In(Handle, handle=SESSION)

    def run(event, session):
        return 1


def asked(method: str) -> Asm:
    return Asm(cpp_text=f"const bool {{done}} = {{event}}.{method}({{session}});")


class BuildAsyncSession(BuildSession, name="build_async_session", example=asynchronous("")):
    """A session of asynchronous transfers: the older spelling."""


class BuildAsyncSessionInView(BuildSession, name="build_async_session", form="in a memref"):
    """A session of asynchronous transfers: the older spelling, with a memref."""

    asm = Asm(cpp_text=BUILT.replace("ROOM", "{workspace}.data()"))
    workspace = Scratch(Global, doc="room in global memory, of bytes")
    example = asynchronous("").replace("!pto.ptr<i8>", "memref<1024xi8, #pto.address_space<gm>>")


class CommBuildAsyncSession(BuildSession, name="comm.build_async_session"):
    """A session of asynchronous transfers: room for their descriptions, and their queues."""

    example = asynchronous("comm.")


class TPutAsync(AsyncTransfer, name="tput_async", asm=begun("TPUT_ASYNC")):
    """Start a write into another rank's memory: the older spelling."""

    example = asynchronous("")


class CommTPutAsync(AsyncTransfer, name="comm.tput_async", asm=begun("TPUT_ASYNC")):
    """Start a write of a part of this rank's memory into another rank's."""

    example = asynchronous("comm.")


class TGetAsync(AsyncTransfer, name="tget_async", asm=begun("TGET_ASYNC")):
    """Start a read from another rank's memory: the older spelling."""

    example = asynchronous("", "get")


class CommTGetAsync(AsyncTransfer, name="comm.tget_async", asm=begun("TGET_ASYNC")):
    """Start a read of a part of another rank's memory into this rank's."""

    example = asynchronous("comm.", "get")


def prefetched(asks: str) -> str:
    """Return a program that prefetches, and waits for or tests the event."""
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
    """Wait until an asynchronous transfer or prefetch is complete: the older spelling."""

    example = PREFETCHED


class CommWaitAsyncEvent(AsyncEvent, name="comm.wait_async_event", asm=asked("Wait")):
    """Wait until an asynchronous transfer or prefetch is complete."""

    example = prefetched("comm.wait")


class TestAsyncEvent(AsyncEvent, name="test_async_event", asm=asked("Test")):
    """Test if an asynchronous transfer or prefetch is complete: the older spelling."""

    example = prefetched("test")


class CommTestAsyncEvent(AsyncEvent, name="comm.test_async_event", asm=asked("Test")):
    """Test if an asynchronous transfer or prefetch is complete."""

    example = prefetched("comm.test")


class MakePrefetchAsyncContext(Instr, name="make_prefetch_async_context", pipe=S):
    """A context of asynchronous prefetches. ptokit keeps nothing in it."""

    asm = Asm(
        shape="called", cpp_text="PrefetchAsyncContext {context}((__gm__ uint8_t *){workspace});"
    )
    example = PREFETCHED
    context = Result(Handle, handle=PREFETCHING)
    workspace = Scratch(Ptr, doc="room in global memory, of bytes")
    rules = workspace.dtype.isin(i8, u8)

    def run():
        return 0


class GetPrefetchAsyncSession(Instr, name="get_prefetch_async_session", pipe=S):
    """The session of a context, to wait for its prefetches."""

    asm = Asm(cpp_text="auto {session} = {context}.session;")
    example = PREFETCHED
    session = Result(Handle, handle=SESSION)
    context = In(Handle, handle=PREFETCHING)

    def run(context):
        return context


class TPrefetchAsync(Instr, name="tprefetch_async", pipe=MTE2):
    """Start to prefetch a part of global memory. No data changes."""

    asm = Asm(shape="called", cpp_text="auto {event} = TPREFETCH_ASYNC({src}, {context});")
    example = PREFETCHED
    event = Result(Handle, handle=EVENT)
    src = In(Global, doc="what is brought nearer")
    context = In(Handle, handle=PREFETCHING)
    rules = flat(src)

    def run(src, context):
        return context
