"""Communication between ranks: puts, gets, signals, collectives."""

from ptokit.isa.lang.page import *

ROW = "!pto.partition_tensor_view<128xf32>"
SIGNAL = "!pto.partition_tensor_view<1xi32>"
STAGE = "!pto.tile_buf<vec, 1x128xf32>"
NUMBERS_32 = "signals are numbers of 32 bits"


def program(statements: str) -> str:
    """Return a program with rows %mine and %theirs in global memory, and tiles %stage, %more."""
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


POSITIVE = "extents are at least 1"
STATIC = "every extent is in the type"


def positive(*views: Operand) -> Rules:
    """Require known extents of at least 1."""
    return named("shape", *(v.filled for v in views), help=POSITIVE)


def static(*views: Operand) -> Rules:
    """Require static extents of at least 1."""
    return (*positive(*views), *named("shape", *(v.fixed for v in views), help=STATIC))


def parts_or_static(*views: Operand) -> Rules:
    """Require that dynamic extents belong to partitions, as the assembler does."""
    stated = both(*(either(v.fixed == Const(True), v.partition == Const(True)) for v in views))
    return on(HARDWARE, named("shape", stated, help="take a partition with these extents"))


def staged(ping: Operand, pong: Operand, data: Operand) -> Rules:
    """Require staging tiles in vec of the data's element type, and of the same type."""
    alike = both(pong.dtype == ping.dtype, pong.rows == ping.rows, pong.cols == ping.cols)
    return (
        ping.loc == VEC,
        ping.dtype == data.dtype,
        named("shape", alike, help="use the same type for both stages"),
    )


def part_of(whole: View, like: View, number: int = 0) -> View:
    """Return part `number` of `whole`, among parts with the extents of `like` one after another.

    Parts follow one another along the rows, or along the elements if there is one dimension.
    """
    kind = replace(like.type, stride=whole.type.stride)
    rows = max(kind.rank - 2, 0)
    offsets = tuple(number * (n or 0) if axis == rows else 0 for axis, n in enumerate(kind.shape))
    return whole.partition(kind, offsets)


def room(whole: Operand, part: Field, count: Expr | None = None) -> Rules:
    """Require room for `count` parts (None: one), one after another along the rows: see `part_of`.

    The assembler has no such rule: its own tests violate it.
    """
    numbers = part.along if count is None else part.along * count
    outer = (whole.n0 >= part.n0, whole.n1 >= part.n1, whole.n2 >= part.n2)
    holds = both(*outer, whole.along >= numbers, whole.across >= part.across)
    help = "give it as many rows as all parts together have: behind it is what belongs to others"
    return by(BOARDS, when(whole.filled, named("shape", holds, help=help)))


class Remote(Instr, abstract=True, pipe=MTE2, asm=Asm(shape="called")):
    """An instruction that accesses the memory of other ranks."""


class Transfer(Remote, abstract=True, uses=(SIGNALS,)):
    """A copy from one rank's memory to another's through a tile."""

    asm = Asm(order=("dst", "src"), clauses=(("buf", ("ping", "pong")),))
    dst = Out(Global, doc="where it goes")
    src = In(Global, doc="where it comes from")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one, to be filled while the first one is emptied")
    rules = (
        *positive(src),
        *parts_or_static(dst, src),
        named("shape", dst.extents == src.extents, help="use the same shape on both sides"),
        dst.dtype == src.dtype,
        *staged(ping, pong, src),
    )


def remote(function: str, words: str = "") -> Asm:
    template = f"<{words}>" if words else ""
    text = f"comm::{function}{template}({{dst}}, {{src}}, {{ping}}[, {{pong}}]);"
    return Asm(spellings=(function.lower(),), cpp_text=text)


class CommTPut(Transfer, name="comm.tput", asm=remote("TPUT", "AtomicType::{atomic}")):
    """Write a part of this rank's memory into another rank's."""

    example = program(f"NAME(%theirs, %mine, buf(%stage, %more) : {ROW}, {ROW}, {STAGE}, {STAGE})")
    atomic = Attr(AtomicType, AtomicType.NONE, key="atomicType")

    def run(signals, dst, src, atomic):
        """Copy or add the data; other ranks run afterwards and see the whole transfer."""
        place, data = part_of(dst, src), src[:, :]
        place[:, :] = place[:, :] + data if atomic is AtomicType.ADD else data
        signals.pause()


class CommTGet(Transfer, name="comm.tget", asm=remote("TGET")):
    """Read a part of another rank's memory into this rank's."""

    example = program(f"NAME(%mine, %theirs, buf(%stage) : {ROW}, {ROW}, {STAGE})")

    def run(signals, dst, src):
        part_of(dst, src)[:, :] = src[:, :]
        signals.pause()


class NotifyOp(Word, mlir="notify_op", cpp_type="comm::NotifyOp", bare=True):
    """The change of a signal."""

    ADD = "atomic_add", "AtomicAdd", "add"
    SET = "set", "Set"


class WaitCmp(Word, mlir="wait_cmp", cpp_type="comm::WaitCmp", bare=True):
    """The comparison of a signal with the expected value."""

    EQ = "eq", "EQ"
    NE = "ne", "NE"
    GT = "gt", "GT"
    GE = "ge", "GE"
    LT = "lt", "LT"
    LE = "le", "LE"


class OfSignals(Remote, abstract=True, pipe=S, uses=(SIGNALS,)):
    """A signal: numbers in the memory of a rank."""

    asm = Asm(order=("signal", "value"))


def of_signals(signal: Operand) -> Rules:
    """Require a signal of static extents and of i32."""
    return (*static(signal), *named("element-type", signal.dtype == i32, help=NUMBERS_32))


NOTIFIED = f"(%flag, %value : {SIGNAL}, i32) {{notifyOp = #pto<notify_op set>}}"


class CommTNotify(OfSignals, name="comm.tnotify", traits=(SIGNALLING,), disputes=("X66",)):
    """Change a signal of another rank: the first of its numbers."""

    example = program(f"NAME{NOTIFIED}")
    call = "comm::TNOTIFY({signal}, {value}, comm::NotifyOp::{how});"
    asm = Asm(spellings=("tnotify",), cpp_text=call)
    signal = InOut(Global, doc="the numbers")
    value = In(Scalar, scalar="i32", doc="what is written, or added")
    how = Attr(NotifyOp, key="notifyOp")
    rules = of_signals(signal)

    def run(signals, signal, value, how):
        signal[0, 0] = signal[0, 0] + value if how is NotifyOp.ADD else value
        signals.changed(signal)


class Compared(OfSignals, abstract=True, traits=(SIGNALLING,)):
    """A signal compared with a number."""

    signal = In(Global, doc="the numbers")
    value = In(Scalar, scalar="i32", doc="what they are compared with")
    how = Attr(WaitCmp, key="cmp")
    rules = of_signals(signal)


EXPECTED = f"(%flag, %value : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"


class CommTWait(Compared, name="comm.twait"):
    """Wait until all numbers of a signal of this rank are as expected."""

    call = "comm::TWAIT({signal}, {value}, comm::WaitCmp::{how});"
    asm = Asm(spellings=("twait",), cpp_text=call)
    example = program(f"pto.comm.tnotify{NOTIFIED}\nNAME{EXPECTED}")

    def run(signals, signal, value, how):
        signals.until(signal, how.name.lower(), value)


class CommTTest(Compared, name="comm.ttest", example=program(f"%met = NAME{EXPECTED} -> i1")):
    """Test if all numbers of a signal of this rank are as expected, while other ranks continue."""

    call = "const bool {met} = comm::TTEST({signal}, {value}, comm::WaitCmp::{how});"
    asm = Asm(spellings=("ttest",), cpp_text=call)
    met = Result(Scalar, scalar="i1")

    def run(signals, signal, value, how):
        return signals.test(signal, how.name.lower(), value)


TWICE = "!pto.partition_tensor_view<256xf32>"
MAKE_BOTH = f"""\
%twice = arith.constant 256 : index
%d = pto.make_tensor_view %x, shape = [%twice], strides = [%one] : !pto.tensor_view<256xf32>
%both = pto.partition_view %d, offsets = [%zero], sizes = [%twice] : !pto.tensor_view<256xf32> -> \
{TWICE}
"""
GROUP = (("recv", ("ping", "pong")), ("group", ("group",)))
INDEXED = "root counts the members of the group from 0"


class Collective(Remote, abstract=True, uses=(SIGNALS,)):
    """A collective of one rank, the root, which executes it, and all members of a group.

    `root` is its number in the group. Members neither execute the instruction nor wait: signals
    notify them.
    """

    root = Attr(int, bits=32)


def collects(data: Operand, group: Operand, root: Attr) -> Rules:
    """Require parts of all members of a group with the data's element type."""
    return (
        *static(data),
        *named("attribute", both(root >= 0, root < group.count), help=INDEXED),
        *named("element-type", group.first.dtype == data.dtype),
        *named("shape", group.alike, help="use the same type for the parts of all members"),
        *named("shape", group.first.fixed, help=STATIC),
        *named("shape", group.first.rank == data.rank, help="all have as many dimensions"),
    )


def filled(group: Operand) -> Rules:
    """Require parts with elements."""
    return named("shape", group.first.filled, help=POSITIVE)


def collective(function: str, data: str, acc: str = "", *, alone: bool = True) -> Asm:
    """Return the text forms. `alone`: no other instruction has the name that older text gives."""
    members = "{{ std::array members{{{group}}}; "
    group = "comm::ParallelGroup group(members.data(), int(members.size()), {root}); "
    text = f"{members}{group}comm::{function}(group, {{{data}}}, "
    return Asm(
        spellings=(function.lower(),) if alone else (),
        order=(data, *((acc,) if acc else ()), "ping", "pong", "group"),
        clauses=GROUP,
        cpp_text=text
        + (
            f"{{{acc}}}, {{ping}}[, {{pong}}], comm::ReduceOp::{{how}}"
            if acc
            else "{ping}[, {pong}]"
        )
        + "); }}",
    )


class FromRoot(Collective, abstract=True):
    """A collective from the root to all members."""

    src = In(Global, doc="what the root has")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one")
    group = Out(Global, many=True, doc="the parts of all members")
    rules = (collects(src, group, Collective.root), staged(ping, pong, src))


class ToRoot(Collective, abstract=True):
    """A collective from all members to the root."""

    dst = Out(Global, doc="what the root gets")
    ping = Scratch(Tile, doc="a tile by way of which it goes")
    pong = Scratch(Tile, None, doc="another one")
    group = In(Global, many=True, doc="the parts of all members")
    rules = (collects(dst, group, Collective.root), filled(group), staged(ping, pong, dst))


def among(data: str, more: str = "", words: str = "") -> str:
    """Return a program of a collective of two ranks: `both` has room for the rows of both."""
    kind, before = (TWICE, MAKE_BOTH) if data == "both" else (ROW, "")
    types = ", ".join((kind, *((STAGE,) if more else ()), STAGE, ROW, ROW))
    what = f"NAME(%{data}, {more}recv(%stage), group(%mine, %theirs) : {types})"
    return program(f"{before}{what} {{{words}root = 0}}")


class CommTBroadcast(FromRoot, name="comm.tbroadcast", asm=collective("TBROADCAST", "src")):
    """Every member gets the root's data."""

    example = among("mine")
    whole = FromRoot.src.static_extents == FromRoot.group.first.extents
    rules = (*FromRoot.rules, named("shape", whole, help="use the same extents for every member"))

    def run(signals, src, group):
        data = src[:, :]
        for member in group:
            part_of(member, src)[:, :] = data
        signals.pause()


class CommTScatter(FromRoot, name="comm.tscatter", asm=collective("TSCATTER", "src", alone=False)):
    """Every member gets its part of the root's data."""

    example = among("both")
    group = FromRoot.group
    rules = (*FromRoot.rules, filled(group), room(FromRoot.src, group.first, group.count))

    def run(signals, src, group):
        parts = [part_of(src, member, number) for number, member in enumerate(group)]
        for part, member in zip(parts, group, strict=True):
            member[:, :] = part[:, :]
        signals.pause()


class CommTGather(ToRoot, name="comm.tgather", asm=collective("TGATHER", "dst", alone=False)):
    """The root gets the parts of all members, one after another."""

    example = among("both")
    group = ToRoot.group
    rules = (*ToRoot.rules, room(ToRoot.dst, group.first, group.count))

    def run(signals, dst, group):
        parts = [part_of(dst, member, number) for number, member in enumerate(group)]
        for part, member in zip(parts, group, strict=True):
            part[:, :] = member[:, :]
        signals.pause()


class ReduceOp(Word, mlir="reduce_op", cpp_type="comm::ReduceOp", bare=True):
    """The combination of the members' parts."""

    SUM = "sum", "Sum"
    MAX = "max", "Max"
    MIN = "min", "Min"


REDUCED = {
    ReduceOp.SUM: operator.add,
    ReduceOp.MAX: Array.maximum,
    ReduceOp.MIN: Array.minimum,
}


class CommTReduce(ToRoot, name="comm.treduce", asm=collective("TREDUCE", "dst", "acc")):
    """The root gets the sum, or the largest or smallest, of the parts of all members.

    The reduction starts with the root's own part, then takes the others in ascending order.
    """

    example = among("mine", "%more, ", "reduceOp = #pto<reduce_op sum>, ")
    acc = Scratch(Tile, doc="a tile for what is reduced so far")
    how = Attr(ReduceOp, key="reduceOp")
    alike = both(
        acc.dtype == ToRoot.ping.dtype, acc.rows == ToRoot.ping.rows, acc.cols == ToRoot.ping.cols
    )
    alone = room(ToRoot.dst, ToRoot.group.first)
    rules = (*ToRoot.rules, named("shape", alike, help="use the same type for both tiles"), alone)

    def run(signals, dst, group, root, how):
        others = (member[:, :] for n, member in enumerate(group) if n != root)
        part_of(dst, group[root])[:, :] = reduce(REDUCED[how], others, group[root][:, :])
        signals.pause()
