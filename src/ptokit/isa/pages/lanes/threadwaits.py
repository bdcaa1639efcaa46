"""Votes, shuffles and reductions over lanes, barriers, and what threads keep between launches."""

from ptokit.isa.lang.localmemory import Quantity, Thread
from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import AddI, MaxSI, MaxUI, MinSI, MinUI
from ptokit.isa.pages.lanes import threadnumbers as numbers
from ptokit.isa.pages.lanes.threadnumbers import WARP
from ptokit.isa.pages.lanes.threadqueries import STORED, OfThread, by_threads
from ptokit.isa.pages.reals import AddF, MaxNumF, MinNumF

ODD = ("%low = arith.andi %tid, %c1 : i32", "%p = arith.cmpi eq, %low, %c1 : i32")
AS_WORD = "%r = arith.extui %v : i1 to i32"
SIGN = (("", ("sign", "signed", "unsigned")),)
SLOTS = 123
INTEGERS = ("i1", "i8", "i16", "i32", "i64")


class Vote(OfThread, abstract=True, traits=(COLLECTIVE,), disputes=("V17",)):
    """A question to all threads of a group of 32 lanes that execute it together."""

    result = Result(Scalar, scalar="i1")
    value = In(Scalar, scalar="i1")
    example = by_threads(*ODD, "%v = NAME %p : i1 -> i1", AS_WORD, STORED)


def every(make: Thread) -> Quantity:
    """Return whether each lane has 1."""

    def step(found: Quantity, value: Quantity, lane: Quantity) -> Quantity:
        return numbers.both(make, found, value)

    return make.over_lanes("value", numbers.constant(make, 1, I1), step)


def some(make: Thread) -> Quantity:
    """Return whether a lane has 1."""

    def step(found: Quantity, value: Quantity, lane: Quantity) -> Quantity:
        return numbers.either(make, found, value)

    return make.over_lanes("value", numbers.constant(make, 0, I1), step)


class VoteAll(Vote, name="vote_all"):
    """1 if the value of each lane of the group is 1."""

    def in_thread(make):
        return every(make)


class VoteAny(Vote, name="vote_any"):
    """1 if the value of a lane of the group is 1."""

    def in_thread(make):
        return some(make)


class VoteUni(Vote, name="vote_uni"):
    """1 if all lanes of the group have the same value."""

    def in_thread(make):
        return numbers.either(make, every(make), numbers.without(make, some(make)))


class VoteBallot(Vote, name="vote_ballot"):
    """A word with the value of each lane as its bit, 0 for lanes that do not take part."""

    result = Result(Scalar, scalar="i32")
    value = In(Scalar, scalar="i1")
    example = by_threads(*ODD, "%r = NAME %p : i1 -> i32", STORED)

    def in_thread(make):
        def step(found: Quantity, value: Quantity, lane: Quantity) -> Quantity:
            bit = numbers.shifted(make, numbers.flag(make, value), numbers.word(make, lane))
            return numbers.bits(make, found, bit)

        return make.over_lanes("value", numbers.constant(make, 0, I32), step)


class Shuffle(OfThread, abstract=True, traits=(COLLECTIVE,), disputes=("V17",)):
    """The value of another lane of the group, of 32 lanes or of `width`.

    It is the thread's own value if that lane lies outside of the group, or does not take part.
    """

    result = Result(Scalar)
    value = In(Scalar)
    lane = In(Scalar, scalar="i32")
    width = Attr(int, WARP, bits=32)
    kind, source = TypeOf(result), TypeOf(value)
    rules = (
        named("element-type", kind.name == source.name, help="a shuffle keeps the type"),
        named("element-type", source.part.name.isin("i32", "i64", "f16", "f32"), help="cast it"),
        named("attribute", width.isin(16, WARP), help="groups of 16 or of 32 lanes"),
    )
    example = by_threads("%r = NAME %tid, %c1 : i32, i32 -> i32", STORED)

    @staticmethod
    def source_of(make: Thread, own: Quantity, lane: Quantity) -> Quantity:
        """Return the lane in the group whose value is taken, given the thread's own lane."""
        raise NotImplementedError

    def in_thread(cls, make, lane, width, result):
        number = make.number()
        own = numbers.rest(make, make.lane(), width)
        taken = cls.source_of(make, own, numbers.cast(make, lane, INDEX))
        first = numbers.below(make, -1, taken)
        inside = numbers.both(make, first, numbers.below(make, taken, width))
        thread = make.sum(make.less(number, own), taken)
        valid = numbers.both(make, inside, make.takes_part(thread))
        return make.of("value", numbers.chosen(make, valid, thread, number, INDEX))


class ShuffleIdx(Shuffle, name="shuffle_idx"):
    """The value of lane `lane` of the group, of 32 lanes or of `width`.

    It is the thread's own value if that lane lies outside of the group, or does not take part.
    """

    @staticmethod
    def source_of(make: Thread, own: Quantity, lane: Quantity) -> Quantity:
        return lane


class ShuffleUp(Shuffle, name="shuffle_up"):
    """The value of the lane that is `lane` lanes lower in the group, of 32 lanes or of `width`.

    It is the thread's own value if that lane lies outside of the group, or does not take part.
    """

    @staticmethod
    def source_of(make: Thread, own: Quantity, lane: Quantity) -> Quantity:
        return make.less(own, lane)


class ShuffleDown(Shuffle, name="shuffle_down"):
    """The value of the lane that is `lane` lanes higher in the group, of 32 lanes or of `width`.

    It is the thread's own value if that lane lies outside of the group, or does not take part.
    """

    @staticmethod
    def source_of(make: Thread, own: Quantity, lane: Quantity) -> Quantity:
        return make.sum(own, lane)


class ShuffleBfly(Shuffle, name="shuffle_bfly"):
    """The value of the lane whose number differs in the bits of `lane`.

    It is the thread's own value if that lane lies outside of the group, or does not take part.
    """

    @staticmethod
    def source_of(make: Thread, own: Quantity, lane: Quantity) -> Quantity:
        return numbers.flipped(make, own, lane)


class Redux(OfThread, abstract=True, traits=(COLLECTIVE,), disputes=("V17",)):
    """A reduction of the values of a group of 32 lanes; each thread gets its result."""

    specials = NAN_COMPUTED
    asm = Asm(clauses=SIGN, clause_types=())
    result = Result(Scalar)
    value = In(Scalar)
    sign = Attr(str, None)
    kind, source = TypeOf(result), TypeOf(value)
    example = by_threads("%r = NAME %tid signed : i32 -> i32", STORED)
    rules = (
        named("element-type", kind.name == source.name, help="a reduction keeps the type"),
        named("element-type", source.name.isin("i32", "f16", "f32"), help="cast it first"),
        named("attribute", either(source.name == "i32", ~sign.given), help="floats have a sign"),
    )


SAID = named(
    "attribute",
    either(Redux.source.name != "i32", Redux.sign.given),
    help="write signed or unsigned",
)
LEAST, GREATEST = -(1 << 31), (1 << 31) - 1


def combined(
    make: Thread, kind: ScalarType, start: float, step: Callable[[Quantity, Quantity], Quantity]
) -> Quantity:
    """Return the result of a reduction in the order of lanes."""
    first = numbers.constant(make, start, kind)
    return make.over_lanes("value", first, lambda found, value, lane: step(found, value))


class ReduxAdd(Redux, name="redux_add"):
    """The sum of the values of a group of 32 lanes, added in the order of lanes."""

    def in_thread(make, result):
        def step(a: Quantity, b: Quantity) -> Quantity:
            given = {"lhs": a, "rhs": b}
            if result.is_float:
                return make.op(AddF, given, {}, [result])[0]
            return make.op(AddI, given, {}, [result])[0]

        return combined(make, result, -0.0 if result.is_float else 0, step)


class ReduxMax(Redux, name="redux_max"):
    """The largest of the values of a group of 32 lanes; NaN counts only if all are."""

    rules = (Redux.rules, SAID)

    def in_thread(make, result, sign):
        def step(a: Quantity, b: Quantity) -> Quantity:
            given = {"lhs": a, "rhs": b}
            if result.is_float:
                return make.op(MaxNumF, given, {}, [result])[0]
            if sign == "unsigned":
                return make.op(MaxUI, given, {}, [result])[0]
            return make.op(MaxSI, given, {}, [result])[0]

        least = 0 if sign == "unsigned" else LEAST
        return combined(make, result, float("nan") if result.is_float else least, step)


class ReduxMin(Redux, name="redux_min"):
    """The smallest of the values of a group of 32 lanes; NaN counts only if all are."""

    rules = (Redux.rules, SAID)

    def in_thread(make, result, sign):
        def step(a: Quantity, b: Quantity) -> Quantity:
            given = {"lhs": a, "rhs": b}
            if result.is_float:
                return make.op(MinNumF, given, {}, [result])[0]
            if sign == "unsigned":
                return make.op(MinUI, given, {}, [result])[0]
            return make.op(MinSI, given, {}, [result])[0]

        greatest = -1 if sign == "unsigned" else GREATEST
        return combined(make, result, float("nan") if result.is_float else greatest, step)


class SyncThreads(OfThread, name="syncthreads", traits=(COLLECTIVE,)):
    """Wait until all threads of the launch have come here."""

    example = by_threads("NAME")

    def in_thread():
        return None


class Fence(OfThread, abstract=True):
    """Order the accesses of the thread to memory; ptokit executes them in order."""

    example = by_threads("NAME")

    def in_thread():
        return None


class ThreadFence(Fence, name="threadfence"):
    __doc__ = Fence.__doc__


class ThreadFenceBlock(Fence, name="threadfence_block"):
    __doc__ = Fence.__doc__


def of_slot(kind: TypeOf, slot: Attr) -> Rules:
    """Require a slot that has room for a value of the type."""
    wide = kind.name == "i64"
    return (
        named("element-type", kind.name.isin(*INTEGERS, "f16", "bf16", "f32"), help="cast it"),
        named("attribute", slot >= 0, slot < SLOTS, help=f"slots are 0 to {SLOTS - 1}"),
        named(
            "attribute",
            either(~wide, both(slot % 2 == 0, slot < SLOTS - 1)),
            help="64 bits take two slots, the first even",
        ),
    )


class Keep(OfThread, name="keep"):
    """Keep a value of the thread in a slot for the same thread of a later launch."""

    value = In(Scalar)
    slot = Attr(int)
    kind = TypeOf(value)
    rules = of_slot(kind, slot)
    example = by_threads("NAME %tid {slot = 0 : i64} : i32")

    def in_thread(make, value, slot):
        kind = make.kind_of("value")
        numbers.put(make, make.kept(slot, kind), make.number(), value, kind)


class Resume(OfThread, name="resume"):
    """The value that the same thread kept in a slot in an earlier launch; 0 if it kept none."""

    result = Result(Scalar)
    slot = Attr(int)
    kind = TypeOf(result)
    rules = of_slot(kind, slot)
    example = by_threads("%r = NAME {slot = 0 : i64} : i32", STORED)

    def in_thread(make, result, slot):
        return numbers.got(make, make.kept(slot, result), make.number(), result)
