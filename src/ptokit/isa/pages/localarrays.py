"""Arrays of the scalar unit: numbers and event ids that a core stores by index."""

from ptokit.isa.lang.page import *

KEPT = """\
%c1 = arith.constant 1 : index
%n = arith.constant 7 : i32
%a = pto.declare_local_array -> !pto.local_array<8xi32>
pto.local_array_set %a[%c1], %n : !pto.local_array<8xi32>, i32
%x = pto.local_array_get %a[%c1] : !pto.local_array<8xi32> -> i32"""
EVENTS = """\
%c1 = arith.constant 1 : index
%a = pto.declare_eventid_array -> !pto.eventid_array<4>
pto.eventid_array_set %a[%c1], %c1 : !pto.eventid_array<4>
%x = pto.eventid_array_get %a[%c1] : !pto.eventid_array<4>"""
UNTYPED = Asm(untyped=True, typed=("array",))  # event ids are of type index
ONE_TYPE = "use the type that the array was declared with"
STACK = 32 << 10  # bytes: what compilers of kernels give a core
ON_STACK = "arrays and structs are on the stack of a core, 32 KiB: use smaller ones"
COUNTED = "the index must be in bounds of the array"


def number_of(index: tuple[int, ...], kind: ArrayType) -> int:
    """Return the position of an element in storage order."""
    number, *others = index
    for extent, inner in zip(kind.shape[1:], others, strict=True):
        number = number * extent + inner
    return number


class Declaration(Instr, abstract=True, uses=(MACHINE,), pipe=S, disputes=("X25",)):
    """A new array. Elements that were not set are 0; C++ leaves them undefined."""

    asm = Asm(shape="declared", cpp_text="{type} {result}{{}};")
    result = Result(Numbers)
    kind = TypeOf(result)
    rules = named("out-of-memory", kind.nbytes <= STACK, help=ON_STACK)

    def run(machine, result):
        return machine.array(result)


class DeclareLocalArray(Declaration, name="declare_local_array", example=KEPT):
    """A new array of numbers. Elements that were not set are 0; C++ leaves them undefined."""


class DeclareEventIdArray(Declaration, name="declare_eventid_array", example=EVENTS):
    """A new array of event ids. Elements that were not set are 0; C++ leaves them undefined."""


class Got(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S):
    """An element of an array."""

    asm = Asm(
        shape="element",
        order=("array", "index"),
        brackets=("index",),
        cpp_text="const {type} {result} = {array}{index_subscripts};",
    )
    result = Result(Scalar)
    array = In(Numbers)
    index = In(Index, many=True, doc="one for each extent")
    kind, array_type = TypeOf(result), TypeOf(array)
    inside = both(index.least >= 0, index <= array_type.greatest)
    rules = (
        named("operand-count", index.count == array_type.rank, help="an index for each extent"),
        named("operand-value", inside, help=COUNTED),
    )

    def run(array, index, kind, array_type):
        return array.element(number_of(index, array_type))[0, 0].bitcast(kind.element)


def numbers(kind: TypeOf, array_type: TypeOf) -> Rules:
    """Return the rules of an element that is a number."""
    same = named("element-type", kind.name == array_type.unit.name, help=ONE_TYPE)
    return (*Got.rules, same)


class LocalArrayGet(Got, name="local_array_get", example=KEPT):
    """The element at an index."""

    rules = numbers(Got.kind, Got.array_type)


class EventIdArrayGet(Got, name="eventid_array_get", example=EVENTS, asm=UNTYPED):
    """The event id at an index."""


class PutElement(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S):
    """An assignment to an element of an array."""

    asm = Asm(
        shape="element",
        order=("array", "index", "value"),
        brackets=("index",),
        cpp_text="{array}{index_subscripts} = {value};",
    )
    array = Out(Numbers)
    index = In(Index, many=True, doc="one for each extent")
    value = In(Scalar, element=True)
    kind, array_type = TypeOf(value), TypeOf(array)
    rules = Got.rules

    def run(array, index, value, array_type):
        cells = array.element(number_of(index, array_type))
        cells[0, 0] = value.bitcast(cells.dtype)


class LocalArraySet(PutElement, name="local_array_set", example=KEPT):
    """Set the element at an index to `value`."""

    rules = numbers(PutElement.kind, PutElement.array_type)


class EventIdArraySet(PutElement, name="eventid_array_set"):
    """Set the event id at an index to `value`."""

    asm, example = UNTYPED, EVENTS
    value = In(Scalar, whole=True, element=True)
