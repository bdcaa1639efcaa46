"""Atomic changes of single elements in global memory and in the vector buffer."""

from typing import Any

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes import threadnumbers as numbers
from ptokit.isa.pages.lanes.lanefamilies import UNSIGNED, Below, page_of
from ptokit.isa.pages.lanes.rows import one_of
from ptokit.isa.pages.lanes.threadaccesses import CHANGED, CHANGING, OneElement
from ptokit.isa.pages.lanes.threadqueries import by_threads
from ptokit.isa.pages.pointers import CastPtr, element_at
from ptokit.isa.pages.reals import greater, ignoring, lesser

REPLACING = "%old = NAME %dst, %c1, %tid signed : !pto.ptr<i32>, i32 -> i32"
BITS = (i32, i64)
SIGNED = (("l2cache", ("l2",)), ("", ("sign", "signed", "unsigned")))


def changed(
    cells: Cells,
    kind: ScalarType,
    f: Callable[..., Array],
    sign: str | None,
    *values: Array,
) -> Array:
    """Replace the only element of a matrix by what `f` makes of it; return the old one."""
    old = cells[0, 0].bitcast(kind.element)
    unsigned = UNSIGNED[old.dtype.bits] if sign == "unsigned" else old.dtype
    new = f(old.bitcast(unsigned), *(value.bitcast(unsigned) for value in values))
    cells[0, 0] = new.bitcast(cells.dtype)
    return old


class UbElement(Below, abstract=True, traits=(BY_SCALAR,)):
    """Change one element in the vector buffer, and return its old value."""

    def run(cls, ptr, value, kind, sign):
        return changed(ptr, kind, cls.f, sign, value)


class UbComparison(Below, abstract=True, traits=(BY_SCALAR,)):
    """Replace one element in the vector buffer if it has a value, and return its old value."""

    def run(cls, ptr, expected, value, kind):
        return changed(ptr, kind, cls.f, None, expected, value)


class Atomic(OneElement, abstract=True, traits=(BY_SCALAR,), disputes=("V17",)):
    """Change one element in memory, and return its old value.

    No other thread accesses the element in between. `f` returns the new element; `second` is the
    form for an element of the vector buffer.
    """

    specials = NAN_COMPUTED
    asm = Asm(order=("ptr", "expected", "value"), clauses=SIGNED, clause_types=())
    second: ClassVar[type[Below]]
    result = Result(Scalar)
    ptr = InOut(Ptr)
    value = In(Scalar, element=True)
    l2 = Attr(str, None)
    sign = Attr(str, None)
    kind, of_value = TypeOf(result), TypeOf(value)
    dtype = ptr.dtype
    rules = (
        named(
            "element-type",
            both(kind.part.name == dtype.name, of_value.part.name == dtype.name),
            help="the result and the value have the type of the pointer's elements",
        ),
        named(
            "element-type",
            either(ptr.space == "gm", dtype != i64),
            help="the vector buffer has no atomic of 64 bits",
        ),
        named("attribute", either(dtype.isin(*BITS), ~sign.given), help="floats have a sign"),
        one_of(l2, *CHANGED),
    )
    example = by_threads(CHANGING)

    def __init_subclass__(
        cls, abstract: bool = False, **facts: Any
    ) -> None:  # Any: fields of a page
        super().__init_subclass__(abstract=abstract, **facts)
        if not abstract:
            fields = {f.name: f for f in (*cls.operands, *cls.attrs)}
            fields["ptr"] = InOut(Tile, buffer=True)
            text = {"f": staticmethod(cls.f), "kind": TypeOf(cls.result), "example": cls.example}
            made = {
                "name": cls.name,
                "form": "of a buffer",
                "asm": Asm(order=("ptr", "expected", "value")),
            }
            title = f"{cls.__name__}OfUbElement"
            cls.second = page_of(cls.family(), title, {**fields, **text}, **made)

    @classmethod
    def family(cls) -> type[Below]:
        """Return the family of the second forms."""
        raise NotImplementedError


class Changing(Atomic, abstract=True):
    """Change one element in memory by a value, and return its old value."""

    @classmethod
    def family(cls) -> type[Below]:
        return UbElement

    def lowered(cls, make, result, ptr, value, sign):
        given = {"ptr": element_at(make, ptr, 0), "value": value}
        return make.op(cls.second, given, {"sign": sign}, [result])

    def run(cls, ptr, value, kind, sign):
        return changed(ptr.element(0), kind, cls.f, sign, value)


def value_alone(old: Array, value: Array) -> Array:
    return value


def common(old: Array, value: Array) -> Array:
    return old & value


def any_of(old: Array, value: Array) -> Array:
    return old | value


def unlike(old: Array, value: Array) -> Array:
    return old ^ value


def least_of(old: Array, value: Array) -> Array:
    return ignoring(lesser)(old, value) if old.dtype.is_float else old.minimum(value)


def most_of(old: Array, value: Array) -> Array:
    return ignoring(greater)(old, value) if old.dtype.is_float else old.maximum(value)


NUMBERS_IN_MEMORY = named(
    "element-type", Atomic.ptr.dtype.isin(*BITS, f16, bf16, f32), help="i32, i64, f16, bf16 or f32"
)
INTEGERS_IN_MEMORY = named(
    "element-type", Atomic.ptr.dtype.isin(*BITS), help="bits are those of i32 or i64"
)


class OnNumber(Changing, abstract=True):
    """An atomic change of a number."""

    rules = (Atomic.rules, NUMBERS_IN_MEMORY)


class OnBits(Changing, abstract=True):
    """An atomic change of bits."""

    rules = (Atomic.rules, INTEGERS_IN_MEMORY)


class ExchInMemory(OnNumber, name="atomic_exch", f=value_alone):
    """The element becomes `value`; the result is the old element."""


class AddInMemory(OnNumber, name="atomic_add", f=operator.add):
    """The element becomes element + `value`; the result is the old element. Integers wrap."""


class SubInMemory(OnNumber, name="atomic_sub", f=operator.sub):
    """The element becomes element - `value`; the result is the old element. Integers wrap."""


class MinInMemory(OnNumber, name="atomic_min", f=least_of):
    """The element becomes `value` if that is smaller; the result is the old element.

    Integers are signed, unless the text says `unsigned`. Of a NaN and a number it is the number.
    """


class MaxInMemory(OnNumber, name="atomic_max", f=most_of):
    """The element becomes `value` if that is larger; the result is the old element.

    Integers are signed, unless the text says `unsigned`. Of a NaN and a number it is the number.
    """


class AndInMemory(OnBits, name="atomic_and", f=common):
    """The element keeps the bits that `value` has; the result is the old element."""


class OrInMemory(OnBits, name="atomic_or", f=any_of):
    """The element gets the bits that `value` has; the result is the old element."""


class XorInMemory(OnBits, name="atomic_xor", f=unlike):
    """The bits of the element that `value` has flip; the result is the old element."""


def replaced(old: Array, expected: Array, value: Array) -> Array:
    return old.equals(expected).where(value, old)


class CasInMemory(Atomic, name="atomic_cas", f=replaced):
    """The element becomes `value` if it equals `expected`; the result is the old element."""

    result = Atomic.result
    ptr = Atomic.ptr
    expected = In(Scalar, element=True)
    value = Atomic.value
    of_expected = TypeOf(expected)
    rules = (
        Atomic.rules,
        named(
            "element-type",
            of_expected.part.name == Atomic.ptr.dtype.name,
            help="the expected value has the type of the pointer's elements",
        ),
        named(
            "element-type",
            Atomic.ptr.dtype.isin(*BITS, f32, f16, bf16),
            help="i32, i64, f32 or a packed pair",
        ),
    )
    asm = Asm(typed=("ptr", "value"))
    example = by_threads(REPLACING)

    @classmethod
    def family(cls) -> type[Below]:
        return UbComparison

    def lowered(cls, make, result, ptr, expected, value):
        given = {"ptr": element_at(make, ptr, 0), "expected": expected, "value": value}
        return make.op(cls.second, given, {}, [result])

    def run(cls, ptr, expected, value, kind):
        return changed(ptr.element(0), kind, cls.f, None, expected, value)

    def in_parts(make, ptr, space, expected, value, result):
        words = [numbers.word_of(make, parts, result.of) for parts in (expected, value)]
        whole = ScalarType(f"i{result.bits}")
        (place,) = make.op(CastPtr, {"ptr": ptr}, {}, [PtrType(whole.element, space)])
        given = {"ptr": place, "expected": words[0], "value": words[1]}
        (old,) = make.op(CasInMemory, given, {}, [whole])
        return numbers.parts_of(make, old, result.of, result.count)
