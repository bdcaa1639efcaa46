"""Numbers of threads: conversions, comparisons and arrays with an element for each thread."""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.isa.lang.localmemory import Emitting, Quantity, Thread
from ptokit.isa.model.types import I1, I32, I64, INDEX, ArrayType, ScalarType, Type
from ptokit.isa.pages.arith import (
    AddI,
    AndI,
    CmpI,
    Constant,
    ExtUI,
    IndexCast,
    MinSI,
    OrI,
    Predicate,
    RemSI,
    Select,
    ShLI,
    ShRUI,
    TruncI,
    XOrI,
)
from ptokit.isa.pages.localarrays import DeclareLocalArray, LocalArrayGet, LocalArraySet
from ptokit.isa.pages.reals import Bitcast

WARP = 32  # threads whose lanes see each other


def cast(make: Thread, number: Quantity, kind: ScalarType) -> Quantity:
    """Return an index as an integer of a type, or an integer as an index."""
    return make.op(IndexCast, {"value": number}, {}, [kind])[0]


def word(make: Thread, number: Quantity) -> Quantity:
    """Return an index as i32."""
    return number if isinstance(number, int) else cast(make, number, I32)


def flag(make: Thread, truth: Quantity) -> Quantity:
    """Return an i1 as i32."""
    return make.op(ExtUI, {"value": truth}, {}, [I32])[0]


def low_word(make: Thread, number: Quantity) -> Quantity:
    """Return the lower half of an i64 as i32."""
    return make.op(TruncI, {"value": number}, {}, [I32])[0]


def is_set(make: Thread, number: Quantity) -> Quantity:
    """Return an i32 that is 0 or 1 as i1."""
    return make.op(TruncI, {"value": number}, {}, [I1])[0]


def chosen(make: Thread, condition: Quantity, yes: Quantity, no: Quantity, kind: Type) -> Quantity:
    """Return one of two values of a type."""
    return make.op(Select, {"condition": condition, "yes": yes, "no": no}, {}, [kind])[0]


def compared(make: Thread, how: Predicate, lhs: Quantity, rhs: Quantity) -> Quantity:
    """Return the i1 of a comparison of two integers."""
    return make.op(CmpI, {"lhs": lhs, "rhs": rhs}, {"predicate": how}, [I1])[0]


def below(make: Thread, lhs: Quantity, rhs: Quantity) -> Quantity:
    """Return whether one index is less than another."""
    return compared(make, Predicate.SLT, lhs, rhs)


def both(make: Thread, lhs: Quantity, rhs: Quantity) -> Quantity:
    """Return whether two i1 hold."""
    return make.op(AndI, {"lhs": lhs, "rhs": rhs}, {}, [I1])[0]


def either(make: Thread, lhs: Quantity, rhs: Quantity) -> Quantity:
    """Return whether one of two i1 holds."""
    return make.op(OrI, {"lhs": lhs, "rhs": rhs}, {}, [I1])[0]


def bits(make: Thread, lhs: Quantity, rhs: Quantity, kind: ScalarType = I32) -> Quantity:
    """Return the bits that one of two integers has."""
    return make.op(OrI, {"lhs": lhs, "rhs": rhs}, {}, [kind])[0]


def without(make: Thread, truth: Quantity) -> Quantity:
    """Return whether an i1 does not hold."""
    return chosen(make, truth, constant(make, 0, I1), constant(make, 1, I1), I1)


def constant(make: Thread, number: float, kind: Type) -> Quantity:
    """Return a number of a type."""
    return make.constant(number, kind)


def rest(make: Thread, number: Quantity, by: int) -> Quantity:
    """Return the remainder of an index."""
    known = make.known(number)
    if known is not None:
        return known % by
    return make.op(RemSI, {"lhs": number, "rhs": by}, {}, [INDEX])[0]


def shifted(make: Thread, one: Quantity, by: Quantity, kind: ScalarType = I32) -> Quantity:
    """Return an integer, shifted left."""
    return make.op(ShLI, {"lhs": one, "rhs": by}, {}, [kind])[0]


def flipped(make: Thread, lhs: Quantity, rhs: Quantity, kind: ScalarType = INDEX) -> Quantity:
    """Return the bits in which two integers differ."""
    return make.op(XOrI, {"lhs": lhs, "rhs": rhs}, {}, [kind])[0]


def added(make: Thread, lhs: Quantity, rhs: Quantity, kind: ScalarType) -> Quantity:
    """Return the sum of two integers of a type."""
    return make.op(AddI, {"lhs": lhs, "rhs": rhs}, {}, [kind])[0]


def least_of(make: Thread, lhs: Quantity, rhs: Quantity) -> Quantity:
    """Return the smaller index."""
    return make.op(MinSI, {"lhs": lhs, "rhs": rhs}, {}, [INDEX])[0]


# arrays: an i1 is stored as i32, an index as i64


def stored_as(kind: ScalarType) -> ScalarType:
    """Return the type in which an array stores values of a type."""
    return I32 if kind == I1 else I64 if kind == INDEX else kind


def declared(make: Thread, kind: ScalarType, count: int) -> Quantity:
    """Return a new array of values of a type."""
    return make.op(DeclareLocalArray, {}, {}, [ArrayType(stored_as(kind), (count,))])[0]


def got(make: Thread, array: Quantity, at: Quantity, kind: ScalarType) -> Quantity:
    """Return the value of a type at an index."""
    held = make.op(LocalArrayGet, {"array": array, "index": [at]}, {}, [stored_as(kind)])[0]
    if kind == I1:
        return is_set(make, held)
    return cast(make, held, INDEX) if kind == INDEX else held


def put(make: Thread, array: Quantity, at: Quantity, value: Quantity, kind: ScalarType) -> None:
    """Store a value of a type at an index."""
    held = flag(make, value) if kind == I1 else value
    held = cast(make, value, I64) if kind == INDEX else held
    make.op(LocalArraySet, {"array": array, "index": [at], "value": held})


# packed numbers: several in a word, the first lowest


def word_of(make: Emitting, parts: Sequence[Quantity], part: ScalarType) -> Quantity:
    """Return the bits of several numbers as one integer."""
    kind = ScalarType(f"i{part.bits * len(parts)}")
    found: Quantity = None
    for number, one in enumerate(parts):
        bits = make.op(Bitcast, {"value": one}, {}, [whole_of(part)])[0] if part.is_float else one
        wide = make.op(ExtUI, {"value": bits}, {}, [kind])[0]
        if found is None:
            found = wide
            continue
        by = make.op(Constant, {}, {"value": number * part.bits}, [kind])[0]
        moved = make.op(ShLI, {"lhs": wide, "rhs": by}, {}, [kind])[0]
        found = make.op(OrI, {"lhs": found, "rhs": moved}, {}, [kind])[0]
    return found


def parts_of(make: Emitting, word: Quantity, part: ScalarType, count: int) -> list[Quantity]:
    """Return the numbers that an integer consists of."""
    kind, found = ScalarType(f"i{part.bits * count}"), list[Quantity]()
    for number in range(count):
        by = make.op(Constant, {}, {"value": number * part.bits}, [kind])[0]
        moved = make.op(ShRUI, {"lhs": word, "rhs": by}, {}, [kind])[0] if number else word
        bits = make.op(TruncI, {"value": moved}, {}, [whole_of(part)])[0]
        found.append(make.op(Bitcast, {"value": bits}, {}, [part])[0] if part.is_float else bits)
    return found


def whole_of(part: ScalarType) -> ScalarType:
    """Return the integer type of a number's width."""
    return ScalarType(f"i{part.bits}")
