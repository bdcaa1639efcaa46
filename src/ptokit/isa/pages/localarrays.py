"""Arrays of the scalar unit: numbers and event ids that a core keeps by index (spec 4.8)."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.pointers import Place

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
COUNTED = "elements count from 0 to the size of the array less one"


class Declaration(Instr, abstract=True, uses=(MACHINE,), pipe=S, disputes=("X25",)):
    """A new array. Elements that nobody set are 0; C++ leaves them undefined."""

    asm = Asm(shape="declared", cpp_text="{type} {result}{{}};")
    result = Result(Numbers)

    @staticmethod
    def run(machine: Any, result: ArrayType) -> Place:  # Any: the executor's
        return machine.array(result)


class DeclareLocalArray(Declaration, name="declare_local_array", example=KEPT):
    """A new array of numbers. Elements that nobody set are 0; C++ leaves them undefined."""


class DeclareEventIdArray(Declaration, name="declare_eventid_array", example=EVENTS):
    """A new array of event ids. Elements that nobody set are 0; C++ leaves them undefined."""


class Got(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S):
    """An element of an array."""

    asm = Asm(
        shape="element",
        order=("array", "index"),
        brackets=("index",),
        cpp_text="const {type} {result} = {array}.at({index});",
    )
    result = Result(Scalar)
    array = In(Numbers)
    index = In(Index)
    kind = TypeOf(result)
    rules = named("operand-value", both(index >= 0, index < array.count), help=COUNTED)

    @staticmethod
    def run(array: Place, index: int, kind: ScalarType) -> Array:
        return array.element(index)[0, 0].bitcast(kind.element)


class LocalArrayGet(Got, name="local_array_get", example=KEPT):
    """The element of that index."""


class EventIdArrayGet(Got, name="eventid_array_get", example=EVENTS, asm=UNTYPED):
    """The event id of that index."""


class PutElement(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S):
    """An element of an array becomes another one."""

    asm = Asm(
        shape="element",
        order=("array", "index", "value"),
        brackets=("index",),
        cpp_text="{array}.at({index}) = {value};",
    )
    array = Out(Numbers)
    index = In(Index)
    value = In(Scalar, element=True)
    rules = Got.rules

    @staticmethod
    def run(array: Place, index: int, value: Array) -> None:
        cells = array.element(index)
        cells[0, 0] = value.bitcast(cells.dtype)


class LocalArraySet(PutElement, name="local_array_set", example=KEPT):
    """The element of that index becomes `value`."""


class EventIdArraySet(PutElement, name="eventid_array_set"):
    """The event id of that index becomes `value`."""

    asm, example = UNTYPED, EVENTS
    value = In(Scalar, whole=True, element=True)
