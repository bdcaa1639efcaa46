"""Structs of the scalar unit: numbers of several types that a core keeps together."""

from typing import cast

from ptokit.isa.lang.page import *
from ptokit.isa.pages.localarrays import Declaration

PAIR = "!pto.struct<!pto.struct<f32, i8>, i16>"
KEPT = f"""\
%n = arith.constant 7 : i8
%s = pto.declare_struct -> {PAIR}
pto.struct_set %s[0, 1], %n : {PAIR}, i8
%x = pto.struct_get %s[0, 1] : {PAIR} -> i8"""

NO_ARRAYS = "newer assemblers refuse arrays in structs: declare the array separately"


@formula("{0}[{1}]")
def number_at_path(struct: Value, path: Value) -> Value:
    """Return the type of the number at a path."""
    if not isinstance(struct, StructType) or not isinstance(path, tuple):
        return UNKNOWN
    found = struct.place(cast("tuple[int, ...]", path))
    return found[0] if found else ABSENT


@formula("{0} is a number")
def is_number(kind: Value) -> Value:
    return kind if kind is UNKNOWN else kind is not ABSENT


class DeclareStruct(Declaration, name="declare_struct", example=KEPT):
    """A new struct. Fields that are never set are 0; C++ leaves them undefined.

    A function that gets the struct works on the same fields; there is no other way out of its
    scope.
    """

    result = Result(Struct)
    kind = TypeOf(result)
    plain = named("element-type", kind.arrays == 0, help=NO_ARRAYS)
    rules = (*Declaration.rules, on(HARDWARE, plain))
    disputes = ("X25", "X26")


class OnField(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S, example=KEPT):
    """One number of a struct, at a path: the index of a field, then of a field of that struct..."""

    asm = Asm(shape="field", brackets=("path",))


def field_of(struct: Operand, path: Attr, number: TypeOf) -> Rules:
    """Require a path to a number of the operand's type."""
    ends = "a path ends at a number: one index for each struct on the way"
    return (
        named("operand-value", is_number(number_at_path(struct, path)), help=ends),
        named(
            "element-type", number == number_at_path(struct, path), help="use the type of the field"
        ),
    )


class StructGet(OnField, name="struct_get"):
    """The number at a path through nested structs; indices start at 0."""

    asm = Asm(order=("struct",), cpp_text="const {type} {result} = field<{path}>({struct});")
    result = Result(Scalar)
    struct = In(Struct)
    path = Attr(tuple)
    kind, whole = TypeOf(result), TypeOf(struct)
    rules = field_of(struct, path, kind)

    def run(struct, path, whole, kind):
        return number_at(struct, whole, path)[0, 0].bitcast(kind.element)


class StructSet(OnField, name="struct_set"):
    """The number at a path becomes `value`."""

    asm = Asm(order=("struct", "value"), cpp_text="field<{path}>({struct}) = {value};")
    struct = Out(Struct)
    path = Attr(tuple)
    value = In(Scalar, element=True)
    kind, whole = TypeOf(value), TypeOf(struct)
    rules = field_of(struct, path, kind)

    def run(struct, path, value, whole):
        cells = number_at(struct, whole, path)
        cells[0, 0] = value.bitcast(cells.dtype)


def number_at(struct: Place, kind: StructType, path: tuple[int, ...]) -> Cells:
    """Return the number of a struct as a matrix of one element."""
    found = kind.place(path)
    assert found is not None
    field, start = found
    return struct.moved(start).cast(field.element).element(0)
