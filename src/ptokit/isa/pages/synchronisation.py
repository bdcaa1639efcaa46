"""Synchronisation: TSYNC, events, flags and barriers, the order between pipes.

ptokit executes in text order, so no data depends on them. ptokit checks which pipes a target can
wait for, and that each flag is set and cleared in turn.
"""

from functools import cache

from ptokit.isa.index import lookup
from ptokit.isa.lang.page import *

ALL = Pipe.ALL


class EventId(Word, mlir="event", cpp_type="event_t"):
    """One of the eight flags of a pair of pipes."""

    ID0, ID1, ID2, ID3, ID4, ID5, ID6, ID7 = (
        (f"EVENT_ID{n}", f"EVENT_ID{n}", str(n)) for n in range(8)
    )

    @property
    def number(self) -> int:
        return int(str(self))


# The ends of a path in the name of an operation: TMOV_M2L, TSTORE_VEC.
ENDS = {
    **{"V": Loc.VEC, "M": Loc.MAT, "L": Loc.LEFT, "R": Loc.RIGHT, "LR": Loc.LEFT},
    **{"B": Loc.BIAS, "S": Loc.SCALING, "A": Loc.ACC},
    **{"VEC": Loc.VEC, "MAT": Loc.MAT, "ACC": Loc.ACC},
}
ANY_VECTOR = ("TVEC", "TVECWAIT_EVENT", "VECTOR")  # any instruction of the vector pipe
FURTHER_OPERATIONS = (*ANY_VECTOR, "SCALAR")  # operations that are not instructions


@cache
def pipe_of(operation: str) -> Pipe | None:
    """Return the pipe of an operation by name: an instruction, with its path if pipes differ."""
    name = operation.upper()
    if name.startswith("PIPE_"):
        return Pipe.named(name)
    if name in FURTHER_OPERATIONS:
        return V if name in ANY_VECTOR else S
    base, _, way = name.rpartition("_")
    ends = tuple(ENDS.get(end) for end in way.split("2"))
    pages = lookup(name) or (() if None in ends else lookup(base))
    pipes = {page.pipe for page in pages if isinstance(page.pipe, Pipe)}
    if len(pipes) == 1 and all(isinstance(page.pipe, Pipe) for page in pages):
        return pipes.pop()
    for page in pages:
        if isinstance(page.pipe, dict) and (ends[0] in page.pipe or page.pipe.get(Loc.VEC) is V):
            return page.pipe.get(ends[0] or Loc.VEC)
        for p in page.paths:
            if (p.source, p.target) == ends:
                return p.event or p.pipe
    # forms of one pipe each: the name means the first, or the one that writes to its end
    forms = {p.outs()[0].fixed_loc: p.pipe for p in reversed(pages) if isinstance(p.pipe, Pipe)}
    return forms.get(ends[0], forms.get(None)) if lookup(name) or len(forms) > 1 else None


@formula("pipe of {0}")
def pipe_in(name: Value) -> Value:
    """Return the pipe of an operation."""
    return (pipe_of(name) or UNKNOWN) if isinstance(name, str) else ABSENT


@formula("{0} is an operation with one pipe")
def is_operation(name: Value) -> Value:
    return pipe_of(name) is not None if isinstance(name, str) else ABSENT


NAMES = "name an instruction, with its path where pipes differ: TMOV_M2L, TSTORE_VEC"


def known(*operations: Field) -> Rules:
    """Require names of operations; an unknown one counts as a pipe of its own."""
    return warns(named("unknown-op", *(is_operation(o) for o in operations), help=NAMES))


def order(operation: str) -> Pipe | str:
    """Return the queue of an operation."""
    return pipe_of(operation) or operation.upper()


def pipe_in_cpp(operation: str) -> str:
    """Return the pipe of an operation as C++ names it; the operation if its pipe is unknown."""
    pipe = pipe_of(operation)
    return f"PIPE_{operation.upper()}" if pipe is None else pipe.cpp


EACH_PIPE = ("TLOAD", "TSTORE_VEC", "TSTORE_ACC", "TMOV_M2L", "TMATMUL", "TVEC", "SCALAR")


def operation_on(pipe: str) -> str:
    """Return an operation of a pipe that C++ names; the pipe if no operation has it alone."""
    return next((name for name in EACH_PIPE if pipe_in_cpp(name) == pipe), pipe)


OPERATION = "pipe_event_type"  # the assembler takes it in full only

FLAGS_EXAMPLE = """\
pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"""
DYNAMIC = """\
%id = arith.constant 2 : index
pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]
pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]"""
EVENTS = """\
pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID0>]
pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TSTORE_VEC>, <EVENT_ID0>]"""


class CoreFlags(Protocol):
    """The flags as a body sees them."""

    def set(self, source: Pipe | str, target: Pipe | str, event: int) -> None: ...
    def wait(self, source: Pipe | str, target: Pipe | str, event: int) -> None: ...
    def join(self, event: object) -> None: ...
    def barrier(self, pipe: Pipe | str) -> None: ...
    def acquire(self, pipe: Pipe | str, buffer: int, mode: int) -> None: ...
    def release(self, pipe: Pipe | str, buffer: int, mode: int) -> None: ...


class Flag(Instr, abstract=True, uses=(FLAGS,), pipe=S, asm=Asm(shape="bracketed")):
    """A flag that is set (`up`), or that is waited for and cleared."""

    up: ClassVar[bool]

    @classmethod
    def moved(cls, flags: CoreFlags) -> Callable[[Pipe | str, Pipe | str, int], None]:
        return flags.set if cls.up else flags.wait


class OfPipes(Flag, abstract=True):
    """A flag between two pipes."""

    source = Attr(Pipe, key="src_pipe")
    target = Attr(Pipe, key="dst_pipe")
    flag = "a flag orders two different pipes; use a barrier within one"
    rules = (
        named("attribute", source != ALL, target != ALL, help="give one pipe for each end"),
        on(HARDWARE, named("attribute", source != target, help=flag)),
    )


class KnownFlag(OfPipes, abstract=True, disputes=("X13", "X14", "X112")):
    """A flag between two pipes with its id in the text."""

    example = FLAGS_EXAMPLE
    event = Attr(EventId, key="event_id")

    def run(cls, flags, source, target, event):
        cls.moved(flags)(source, target, event.number)


class SetFlag(KnownFlag, name="set_flag", up=True):
    """Set a flag when all earlier work of `source` is done."""

    asm = Asm(cpp_text="set_flag({source}, {target}, {event});")


class WaitFlag(KnownFlag, name="wait_flag", up=False):
    """Make `target` wait until the flag is set, and clear it."""

    asm = Asm(cpp_text="wait_flag({source}, {target}, {event});")


class ComputedFlag(OfPipes, abstract=True):
    """A flag between two pipes whose id the program computes."""

    example = DYNAMIC
    event = In(Index, doc="the id, 0 to 7")
    eight = "each pair of pipes has eight ids"
    rules = (*OfPipes.rules, named("operand-value", event >= 0, event <= 7, help=eight))

    def run(cls, flags, source, target, event):
        cls.moved(flags)(source, target, event)


class SetFlagDyn(ComputedFlag, name="set_flag_dyn", up=True):
    """Set a flag whose id is known at run time."""

    asm = Asm(cpp_text="set_flag({source}, {target}, (event_t){event});")


class WaitFlagDyn(ComputedFlag, name="wait_flag_dyn", up=False):
    """Wait for a flag whose id is known at run time."""

    asm = Asm(cpp_text="wait_flag({source}, {target}, (event_t){event});")


class OfOperations(Flag, abstract=True, disputes=("X13", "X14")):
    """A flag between the pipes of two operations."""

    example = EVENTS
    source = Attr(str, key="src_op", family=OPERATION, in_cpp=pipe_in_cpp)
    target = Attr(str, key="dst_op", family=OPERATION, in_cpp=pipe_in_cpp)
    event = Attr(EventId, key="event_id")
    rules = known(source, target)

    def run(cls, flags, source, target, event):
        cls.moved(flags)(order(source), order(target), event.number)


class RecordEvent(OfOperations, name="record_event", up=True):
    """Set the flag between the pipes of two operations when the first is done."""

    asm = Asm(cpp_text="set_flag({source}, {target}, {event});")


class WaitEvent(OfOperations, name="wait_event", up=False):
    """Make the second operation's pipe wait until the flag is set, and clear it."""

    asm = Asm(cpp_text="wait_flag({source}, {target}, {event});")


A5_PIPES = "A5 has barriers for MTE2, MTE3 and ALL; its vector pipe works in order"
UNSURE = "sources disagree whether A5 has barriers for M and FIX (dispute X12): ALL is safe"


class Barrier(
    Instr,
    uses=(FLAGS,),
    traits=(STOPS,),
    pipe=S,
    disputes=("X12",),
    asm=Asm(shape="angled", spellings=("pto.pipe_barrier",), cpp_text="pipe_barrier({of});"),
):
    """Make a pipe wait until all its earlier work is done; ALL: every pipe."""

    example = "NAME <PIPE_MTE2>"
    of = Attr(Pipe, key="pipe")
    rules = (
        on(A5, named("attribute", of.isin(MTE2, MTE3, ALL, M, FIX), help=A5_PIPES)),
        on(A5, warns(named("attribute", ~of.isin(M, FIX), help=UNSURE))),
    )

    def run(flags, of):
        flags.barrier(of)


class OfOperation(
    Instr,
    abstract=True,
    uses=(FLAGS,),
    traits=(STOPS,),
    pipe=S,
    asm=Asm(cpp_text="pipe_barrier({op});"),
):
    """A wait for the pipe of an operation."""

    op = Attr(str, key="op_type", in_cpp=pipe_in_cpp)

    def run(flags, op):
        flags.barrier(order(op))


class BarrierSync(OfOperation, name="barrier_sync", asm=Asm(shape="bracketed"), disputes=("X12",)):
    """Make the pipe of an operation wait until all its earlier work is done."""

    example = "NAME[<TVEC>]"
    here = pipe_in(OfOperation.op).isin(V, M, MTE2, MTE3, FIX)
    rules = (known(OfOperation.op), on(A5, named("attribute", here, help=A5_PIPES)))


class TSync(Instr, uses=(FLAGS,), pipe=S):
    """Wait for each of the events."""

    asm = Asm(cpp_on=NOWHERE)  # in C++ a call returns an event, here it is a value
    example = f"{EVENTS}\ntsync.op #pto.op<TLOAD>"
    events = In(Any_, (), many=True, doc="what was recorded")

    def run(flags, events):
        for event in events:
            flags.join(event)


class TSyncOp(
    OfOperation,
    name="tsync.op",
    asm=Asm(shape="angled", cpp_text="TSYNC<Op::{op}>();"),
    disputes=("X11",),
):
    """Make the pipe of an operation wait until all its earlier work is done."""

    example = "tsync.op #pto.op<TLOAD>"
    op = Attr(str, key="op_type", family="op")
    here = pipe_in(OfOperation.op).isin(MTE2, MTE3, ALL)
    rules = (known(OfOperation.op), on(A5, named("attribute", here, help=A5_PIPES)))
