"""Addresses as numbers: pointers to global memory turned into i64 and back."""

from ptokit.isa.lang.localmemory import LocalPointer
from ptokit.isa.lang.page import *

THERE_AND_BACK = """\
func.func @example(%p: !pto.ptr<i32>) {
  %c0 = arith.constant 0 : index
  %four = arith.constant 4 : i64
  %first = pto.ptrtoint %p : !pto.ptr<i32> -> i64
  %second = arith.addi %first, %four : i64
  %q = pto.inttoptr %second : i64 -> !pto.ptr<f32>
  %x = pto.load_scalar %q[%c0] : !pto.ptr<f32> -> f32
  return
}"""
CAST = THERE_AND_BACK.replace("ptrtoint", "castptr").replace("inttoptr", "castptr")


class AsNumber(Instr, abstract=True, uses=(MACHINE,), traits=(EXPOSES,), pipe=S):
    """The byte address of the element that a pointer leads to.

    Elements of one array follow each other; the address of an array is unspecified.
    """

    asm = in_cpp("reinterpret_cast<int64_t>({ptr})")
    example = THERE_AND_BACK
    result = Result(Scalar, scalar="i64", exact=True)
    ptr = In(Ptr)
    rules = named("location", ptr.space == "gm", help="tiles have no such address")

    def run(machine, ptr):
        return machine.address_of(ptr)


class PtrToInt(AsNumber, name="ptrtoint"):
    __doc__ = AsNumber.__doc__


class CastToInt(AsNumber, name="castptr", form="to a number", example=CAST):
    __doc__ = AsNumber.__doc__


class OfNumber(
    Instr, abstract=True, uses=(MACHINE,), traits=(RECOVERS,), pipe=S, disputes=("X42",)
):
    """The element at a byte address, as a pointer for the scalar unit.

    The address belongs to an array whose pointer became a number before, or is computed from one;
    any other address is an error of the run.
    """

    asm = Asm(cpp_text="{type} {result} = reinterpret_cast<{type}>({addr});")
    example = THERE_AND_BACK
    result = Result(Ptr)
    addr = In(Scalar, scalar="i64", exact=True)
    rules = named("location", result.space == "gm", help="global memory has addresses")

    def type_of(result):
        return result

    def run(machine, addr, result):
        return machine.pointer_to(addr, result)


class IntToPtr(OfNumber, name="inttoptr"):
    __doc__ = f"{OfNumber.__doc__}\n    No view is made of such a pointer, and none is moved."

    def type_of(result):
        return None if result is None else replace(result, by_number=True)


class CastFromInt(OfNumber, name="castptr", form="of a number", example=CAST):
    __doc__ = OfNumber.__doc__
    rules = ()

    def lowered(addr, result):
        return LocalPointer(addr, result.dtype)


def known_array(ptr: Operand) -> Rules:
    """Require a pointer that was not made from a number."""
    only = "such a pointer is for single elements at an offset; one that castptr gives is for all"
    return named("pointer-from-number", ptr.by_number == Const(False), help=only)
