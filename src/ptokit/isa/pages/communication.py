"""Communication between ranks: puts, gets, signals, collectives; prefetching by the same engine."""

from ptokit.isa.lang.page import *

RANKS = "it works on the memory of other ranks, and ptokit runs one"
ROW = "!pto.partition_tensor_view<128xf32>"
SIGNAL = "!pto.partition_tensor_view<1xi32>"
STAGE = "!pto.tile_buf<vec, 1x128xf32>"
NUMBERS_32 = "signals are numbers of 32 bits"


def program(statements: str) -> str:
    """A program of these on %mine and %theirs, rows in global memory, and %stage, a tile."""
    lines = "".join(f"  {line}\n" for line in statements.splitlines())
    return f"""\
func.func @example(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %flags: !pto.ptr<i32>, \
%room: !pto.ptr<i8>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 128 : index
  %value = arith.constant 1 : i32
  %a = pto.make_tensor_view %x, shape = [%n], strides = [%one] : !pto.tensor_view<128xf32>
  %b = pto.make_tensor_view %y, shape = [%n], strides = [%one] : !pto.tensor_view<128xf32>
  %c = pto.make_tensor_view %flags, shape = [%one], strides = [%one] : !pto.tensor_view<1xi32>
  %mine = pto.partition_view %a, offsets = [%zero], sizes = [%n] : !pto.tensor_view<128xf32> -> \
{ROW}
  %theirs = pto.partition_view %b, offsets = [%zero], sizes = [%n] : !pto.tensor_view<128xf32> -> \
{ROW}
  %flag = pto.partition_view %c, offsets = [%zero], sizes = [%one] : !pto.tensor_view<1xi32> -> \
{SIGNAL}
  %stage = pto.alloc_tile : {STAGE}
  %more = pto.alloc_tile : {STAGE}
{lines}  return
}}"""


POSITIVE = "extents count from 1"
STATIC = "every extent is in the type"


def positive(*views: Operand) -> tuple[Ruled, ...]:
    """Extents, where they are known, count from 1."""
    return named("shape", *(v.filled for v in views), help=POSITIVE)


def static(*views: Operand) -> tuple[Ruled, ...]:
    """Extents that the types say, from 1 on."""
    return (*positive(*views), *named("shape", *(v.fixed for v in views), help=STATIC))


def staged(ping: Operand, pong: Operand, data: Operand) -> tuple[Ruled, ...]:
    """Tiles of the vector memory through which data goes, of its element type; two are alike."""
    alike = both(pong.dtype == ping.dtype, pong.rows == ping.rows, pong.cols == ping.cols)
    return (
        ping.loc == VEC,
        ping.dtype == data.dtype,
        named("shape", alike, help="both stages have one type"),
    )


class Remote(Instr, abstract=True, pipe=MTE2, asm=Asm(shape="called")):
    """What reaches the memory of other ranks."""

    unexecuted = RANKS


class Transfer(Remote, abstract=True):
    """A part of the memory of one rank becomes that of another one, by way of a tile."""

    asm = Asm(order=("dst", "src"), clauses=(("buf", ("ping", "pong")),))
    dst = Out(Global, doc="where it goes")
    src = In(Global, doc="where it comes from")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one, to be filled while the first one is emptied")
    rules = (
        *positive(src),
        named("shape", dst.extents == src.extents, help="both sides have one shape"),
        dst.dtype == src.dtype,
        *staged(ping, pong, src),
    )


def remote(function: str, words: str = "") -> Asm:
    template = f"<{words}>" if words else ""
    return Asm(cpp_text=f"comm::{function}{template}({{dst}}, {{src}}, {{ping}}[, {{pong}}]);")


class CommTPut(Transfer, name="comm.tput", asm=remote("TPUT", "AtomicType::{atomic}")):
    """Write a part of this rank's memory into another rank's."""

    example = program(f"NAME(%theirs, %mine, buf(%stage, %more) : {ROW}, {ROW}, {STAGE}, {STAGE})")
    atomic = Attr(AtomicType, AtomicType.NONE, key="atomicType")


class CommTGet(Transfer, name="comm.tget", asm=remote("TGET")):
    """Read a part of another rank's memory into this rank's."""

    example = program(f"NAME(%mine, %theirs, buf(%stage) : {ROW}, {ROW}, {STAGE})")


class NotifyOp(Word, mlir="notify_op", cpp_type="comm::NotifyOp", bare=True):
    """How a signal changes."""

    ADD = "atomic_add", "AtomicAdd", "add"
    SET = "set", "Set"


class WaitCmp(Word, mlir="wait_cmp", cpp_type="comm::WaitCmp", bare=True):
    """When a signal is as it is waited for."""

    EQ = "eq", "EQ"
    NE = "ne", "NE"
    GT = "gt", "GT"
    GE = "ge", "GE"
    LT = "lt", "LT"
    LE = "le", "LE"


class OfSignals(Remote, abstract=True, pipe=S):
    """A signal: numbers in the memory of a rank."""

    asm = Asm(order=("signal", "value"))


def signals(signal: Operand) -> tuple[Ruled, ...]:
    """A part of global memory whose type says its extents, of i32."""
    return (*static(signal), *named("element-type", signal.dtype == i32, help=NUMBERS_32))


class CommTNotify(OfSignals, name="comm.tnotify"):
    """Change a signal of another rank."""

    asm = Asm(cpp_text="comm::TNOTIFY({signal}, {value}, comm::NotifyOp::{how});")
    example = program(f"NAME(%flag, %value : {SIGNAL}, i32) {{notifyOp = #pto<notify_op set>}}")
    signal = InOut(Global, doc="the numbers")
    value = In(Scalar, scalar="i32", doc="what is written, or added")
    how = Attr(NotifyOp, key="notifyOp")
    rules = signals(signal)


class Compared(OfSignals, abstract=True):
    """A signal compared with a number."""

    signal = In(Global, doc="the numbers")
    value = In(Scalar, scalar="i32", doc="what they are compared with")
    how = Attr(WaitCmp, key="cmp")
    rules = signals(signal)


EXPECTED = f"(%flag, %value : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"


class CommTWait(Compared, name="comm.twait", example=program(f"NAME{EXPECTED}")):
    """Wait until a signal of this rank is as expected."""

    asm = Asm(cpp_text="comm::TWAIT({signal}, {value}, comm::WaitCmp::{how});")


class CommTTest(Compared, name="comm.ttest", example=program(f"%met = NAME{EXPECTED} -> i1")):
    """Whether a signal of this rank is as expected."""

    asm = Asm(cpp_text="const bool {met} = comm::TTEST({signal}, {value}, comm::WaitCmp::{how});")
    met = Result(Scalar, scalar="i1")


GROUP = (("recv", ("ping", "pong")), ("group", ("group",)))
INDEXED = "root counts the members of the group from 0"


class Collective(Remote, abstract=True):
    """What all ranks of a group take part in; `root` is the number of one of them."""

    root = Attr(int)


def collects(data: Operand, group: Operand, root: Attr) -> tuple[Ruled, ...]:
    """The parts of all members of a group, of the data's element type."""
    return (
        *static(data),
        *named("attribute", both(root >= 0, root < group.count), help=INDEXED),
        *named("element-type", group.first.dtype == data.dtype),
        *named("shape", group.alike, help="the parts of all members have one type"),
        *named("shape", group.first.fixed, help=STATIC),
    )


def filled(group: Operand) -> tuple[Ruled, ...]:
    """The parts of the members have elements."""
    return named("shape", group.first.filled, help=POSITIVE)


def collective(function: str, data: str, acc: str = "") -> Asm:
    text = f"comm::{function}(comm::ParallelGroup({{root}}, {{group}}), {{{data}}}, "
    return Asm(
        order=(data, *((acc,) if acc else ()), "ping", "pong", "group"),
        clauses=GROUP,
        cpp_text=text + (f"{{{acc}}}, " if acc else "") + "{ping}[, {pong}]);",
    )


class FromRoot(Collective, abstract=True):
    """From the root to all members."""

    src = In(Global, doc="what the root has")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one")
    group = Out(Global, many=True, doc="the parts of all members")
    rules = (collects(src, group, Collective.root), staged(ping, pong, src))


class ToRoot(Collective, abstract=True):
    """From all members to the root."""

    dst = Out(Global, doc="what the root gets")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one")
    group = In(Global, many=True, doc="the parts of all members")
    rules = (collects(dst, group, Collective.root), filled(group), staged(ping, pong, dst))


def among(data: str, more: str = "", words: str = "") -> str:
    """A program of a collective of two ranks."""
    types = ", ".join((ROW, *((STAGE,) if more else ()), STAGE, ROW, ROW))
    return program(
        f"NAME(%{data}, {more}recv(%stage), group(%mine, %theirs) : {types}) {{{words}root = 0}}"
    )


class CommTBroadcast(FromRoot, name="comm.tbroadcast", asm=collective("TBROADCAST", "src")):
    """Every member gets what the root has."""

    example = among("mine")
    whole = FromRoot.src.static_extents == FromRoot.group.first.extents
    rules = (*FromRoot.rules, named("shape", whole, help="every member gets all of it"))


class CommTScatter(FromRoot, name="comm.tscatter", asm=collective("TSCATTER", "src")):
    """Every member gets its part of what the root has."""

    example = among("mine")
    rules = (*FromRoot.rules, filled(FromRoot.group))


class CommTGather(ToRoot, name="comm.tgather", asm=collective("TGATHER", "dst")):
    """The root gets the parts of all members, one after another."""

    example = among("mine")


class ReduceOp(Word, mlir="reduce_op", cpp_type="comm::ReduceOp", bare=True):
    """How the parts of the members become one."""

    SUM = "sum", "Sum"
    MAX = "max", "Max"
    MIN = "min", "Min"


class CommTReduce(ToRoot, name="comm.treduce", asm=collective("TREDUCE", "dst", "acc")):
    """The root gets the sum, or the largest or smallest, of the parts of all members."""

    example = among("mine", "%more, ", "reduceOp = #pto<reduce_op sum>, ")
    acc = Scratch(Tile, doc="a tile for what is reduced so far")
    how = Attr(ReduceOp, key="reduceOp")
    alike = both(
        acc.dtype == ToRoot.ping.dtype, acc.rows == ToRoot.ping.rows, acc.cols == ToRoot.ping.cols
    )
    rules = (*ToRoot.rules, named("shape", alike, help="both tiles have one type"))


FLAT = "an asynchronous transfer moves one line of memory whose type says its length"


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


class BuildSession(Remote, abstract=True, pipe=S):
    """What asynchronous transfers need: room for their descriptions, and their queues."""

    asm = Asm(
        cpp_text="comm::AsyncSession {session}; comm::BuildAsyncSession<comm::DmaEngine::SDMA>"
        "({scratch}, {workspace}, {session}[, {sync_id}]);"
    )
    session = Result(Handle, handle=SESSION)
    scratch = Scratch(Tile, doc="8 bytes at least")
    workspace = Scratch(Ptr, doc="room in global memory, of bytes")
    sync_id = Attr(int, None)
    block_bytes = Attr(int, None)
    comm_block_offset = Attr(int, None)
    queue_num = Attr(int, None)
    channel_group_idx = Attr(int, None)
    rules = (
        *(scratch.loc == VEC, workspace.dtype.isin(i8, u8)),
        named("shape", scratch.nbytes >= 8, help="a description has 8 bytes"),
        named("attribute", both(sync_id >= 0, sync_id <= 7), block_bytes > 0, queue_num > 0),
        named("attribute", comm_block_offset >= 0),
        named("attribute", both(channel_group_idx >= 0, channel_group_idx < 1 << 32)),
    )


class AsyncTransfer(Remote, abstract=True):
    """Begin a transfer between ranks; its event tells when it is done."""

    asm = Asm(order=("dst", "src", "session"))
    event = Result(Handle, handle=EVENT)
    dst = Out(Global, doc="where it goes")
    src = In(Global, doc="where it comes from")
    session = In(Handle, handle=SESSION)
    rules = (
        *flat(src),
        dst.dtype == src.dtype,
        named("shape", dst.extents == src.extents, help="both sides have one shape"),
    )


def begun(function: str) -> Asm:
    return Asm(cpp_text=f"auto {{event}} = comm::{function}({{dst}}, {{src}}, {{session}});")


class AsyncEvent(Instr, abstract=True, pipe=S, asm=Asm(shape="called")):
    """Whether an asynchronous transfer or prefetch is done.

    A prefetch, which is all that ptokit begins, is done at once.
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

    asm = Asm(shape="called", cpp_text="PrefetchAsyncContext {context}({workspace});")
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
