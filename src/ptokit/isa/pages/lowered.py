"""The level below tiles: registers, modes and scopes of text that has begun to be lowered.

Transfers and the fix-pipe of that level find counts, strides and modes in registers. What reads
them is not executed, and so neither is what writes them. A bit of a number is of any level.
"""

from ptokit.isa.lang.asm import EVERYWHERE, CppOn
from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import bit_and, bit_or, in_type, shifted_left

REGISTER = "ptokit does not execute register instructions below the level of tiles"
SCOPE = "ptokit does not execute instructions below the level of tiles"
ONCE = ((OUTSIDE, 0), (0, OUTSIDE))
IN_UB, IN_GM = 21, 40  # bits of a stride in the vector buffer, of one in global memory
OF_NUMBER = "func.func @example(%n: i64) {\n  NAME %n : i64\n  return\n}"
OF_NUMBERS = "func.func @example(%n: i64, %m: i64) {\n  NAME %n, %m : i64, i64\n  return\n}"


def calling(function: str, on: CppOn = CHIPS) -> Asm:
    """C++ has a function for it."""
    return Asm(cpp_on=on, cpp_text=f"{function};")


def fields_of(low: Operand, bits: int, high: Operand, more: int) -> tuple[Ruled, ...]:
    """The numbers fit into their parts of the register."""
    return (
        named("operand-value", low >= 0, low < 1 << bits, help=f"the field has {bits} bits"),
        named("operand-value", high >= 0, high < 1 << more, help=f"the field has {more} bits"),
    )


class Register(Instr, abstract=True, pipe=S, unexecuted=REGISTER, traits=(BY_SCALAR,)):
    """A register of the level below tiles."""


class OfOneField(Register, abstract=True, example=OF_NUMBER):
    """A register that holds a number as it stands."""

    value = In(Scalar, scalar="i64", doc="what the register holds from now on")


class OfTwoFields(Register, abstract=True, example=OF_NUMBERS):
    """A register of two numbers."""

    first = In(Scalar, scalar="i64")
    second = In(Scalar, scalar="i64")


class LoopCounts(OfTwoFields, abstract=True):
    """How often the inner and the outer loop around a transfer are run."""

    first, second = OfTwoFields.first, OfTwoFields.second
    rules = fields_of(first, 21, second, 22)


class LoopsOutToUb(LoopCounts, name="set_loop_size_outtoub"):
    """Of transfers into the vector buffer: how often their inner and outer loop are run."""

    asm = calling("set_loop_size_outtoub({second} << 21 | {first})")


class LoopsUbToOut(LoopCounts, name="set_loop_size_ubtoout"):
    """Of transfers out of the vector buffer: how often their inner and outer loop are run."""

    asm = calling("set_loop_size_ubtoout({second} << 21 | {first})")


class StridesIntoUb(OfTwoFields, abstract=True):
    """What a loop around a transfer adds to its address in global memory, and in the buffer."""

    first, second = OfTwoFields.first, OfTwoFields.second
    rules = fields_of(first, IN_GM, second, IN_UB)


class InnerIntoUb(StridesIntoUb, name="set_loop1_stride_outtoub"):
    """Of transfers into the vector buffer: bytes that the inner loop adds to both addresses."""

    asm = calling("set_loop1_stride_outtoub({second} << 40 | {first})")


class OuterIntoUb(StridesIntoUb, name="set_loop2_stride_outtoub"):
    """Of transfers into the vector buffer: bytes that the outer loop adds to both addresses."""

    asm = calling("set_loop2_stride_outtoub({second} << 40 | {first})")


class StridesOutOfUb(OfTwoFields, abstract=True):
    """What a loop around a transfer adds to its address in the buffer, and in global memory."""

    first, second = OfTwoFields.first, OfTwoFields.second
    rules = fields_of(first, IN_UB, second, IN_GM)


class InnerOutOfUb(StridesOutOfUb, name="set_loop1_stride_ubtoout"):
    """Of transfers out of the vector buffer: bytes that the inner loop adds to both addresses."""

    asm = calling("set_loop1_stride_ubtoout({second} << 21 | {first})")


class OuterOutOfUb(StridesOutOfUb, name="set_loop2_stride_ubtoout"):
    """Of transfers out of the vector buffer: bytes that the outer loop adds to both addresses."""

    asm = calling("set_loop2_stride_ubtoout({second} << 21 | {first})")


class Loop3(OfTwoFields, name="set_loop3_para"):
    """The third loop around transfers of the cube: how often, and by how much."""

    asm = Asm(cpp_on=NOWHERE, cpp_text="set_loop3_para({first}, {second});")


class SetChannel(OfTwoFields, name="set_channel_para"):
    """How the fix-pipe goes from one channel to the next one."""

    asm = Asm(cpp_on=NOWHERE, cpp_text="set_channel_para({first}, {second});")


class SetLanes(OfTwoFields, name="ub.set_mask"):
    """The lanes that vector instructions on the buffer write: 0 to 63, and 64 to 127."""

    asm = calling("set_vector_mask({second}, {first})", EVERYWHERE)


class LoopsIntoL1(
    OfOneField, name="set_loop_size_outtol1", asm=calling("set_loop_size_outtol1({value})")
):
    """Of transfers into L1: how often their loops are run."""


class InnerIntoL1(
    OfOneField, name="set_loop1_stride_outtol1", asm=calling("set_loop1_stride_outtol1({value})")
):
    """Of transfers into L1: what the inner loop adds to both addresses."""


class OuterIntoL1(
    OfOneField, name="set_loop2_stride_outtol1", asm=calling("set_loop2_stride_outtol1({value})")
):
    """Of transfers into L1: what the outer loop adds to both addresses."""


class BoxesIntoL1(OfOneField, name="set_mte2_nz_para", asm=calling("set_mte2_nz_para({value})")):
    """Of transfers that make boxes in L1: how the boxes lie."""


class PadIntoL1(
    OfOneField, name="set_pad_val_outtol1", asm=calling("set_pad_val_outtol1({value})")
):
    """Of transfers into L1: what they pad with."""


class SetControl(OfOneField, name="set_ctrl", asm=calling("set_ctrl({value})", EVERYWHERE)):
    """The control register: saturation, the formats of products, and other modes, bit by bit."""


class StoreAtomics(
    OfOneField, name="set_store_atomic_cfg", asm=calling("set_store_atomic_cfg({value})", NOWHERE)
):
    """What stores do with what is already in global memory."""


class QuantPre(OfOneField, name="set_quant_pre", asm=calling("set_quant_pre({value})")):
    """The parameter of the fix-pipe's quantisation."""


class ReluAlpha(OfOneField, name="set_relu_alpha", asm=calling("set_relu_alpha({value})", NOWHERE)):
    """The slope of the fix-pipe's leaky relu."""


class ClipRelu(
    OfOneField, name="set_fix_clip_relu", asm=calling("set_fix_clip_relu({value})", NOWHERE)
):
    """The largest number that the fix-pipe's relu lets through."""


class Parameters(OfOneField, name="set_fpc", asm=calling("set_fpc({value})")):
    """Where the fix-pipe's parameters lie."""


class PadOfMoves(Register, name="set_mov_pad_val", asm=calling("set_mov_pad_val({value})")):
    """What transfers into the vector buffer pad with: the bits of a number."""

    example = OF_NUMBER
    value = In(Scalar, doc="a number of any type")


class OfMode(Register, abstract=True):
    """A mode, which stays until another one is set."""

    example = "NAME"


class AtomicAdd(OfMode, name="set_atomic_add", asm=calling("set_atomic_add()")):
    """Stores add to what is in global memory."""


class AtomicMax(OfMode, name="set_atomic_max", asm=calling("set_atomic_max()", NOWHERE)):
    """Stores keep the larger of what they store and what is in global memory."""


class AtomicMin(OfMode, name="set_atomic_min", asm=calling("set_atomic_min()", NOWHERE)):
    """Stores keep the smaller of what they store and what is in global memory."""


class AtomicNone(OfMode, name="set_atomic_none", asm=calling("set_atomic_none()")):
    """Stores replace what is in global memory."""


class AtomicF32(OfMode, name="set_atomic_f32", asm=calling("set_atomic_f32()")):
    """Atomic stores are of f32."""


class AtomicF16(OfMode, name="set_atomic_f16", asm=calling("set_atomic_f16()")):
    """Atomic stores are of f16."""


class AtomicBf16(OfMode, name="set_atomic_bf16", asm=calling("set_atomic_bf16()")):
    """Atomic stores are of bf16."""


class AtomicS32(OfMode, name="set_atomic_s32", asm=calling("set_atomic_s32()")):
    """Atomic stores are of i32."""


class AtomicS16(OfMode, name="set_atomic_s16", asm=calling("set_atomic_s16()")):
    """Atomic stores are of i16."""


class AtomicS8(OfMode, name="set_atomic_s8", asm=calling("set_atomic_s8()")):
    """Atomic stores are of i8."""


class CountedLanes(OfMode, name="ub.set_mask_count", asm=calling("set_mask_count()")):
    """The lanes that vector instructions on the buffer write are counted."""


class MaskedLanes(OfMode, name="ub.set_mask_norm", asm=calling("set_mask_norm()", EVERYWHERE)):
    """The lanes that vector instructions on the buffer write are those of bits."""


class GetControl(Register, name="get_ctrl"):
    """The control register as it is now."""

    asm = Asm(cpp_text="const {type} {result} = get_ctrl();")
    example = "%c = pto.get_ctrl : i64"
    result = Result(Scalar)
    kind = TypeOf(result)
    rules = named("element-type", kind.name == "i64", help="the register has 64 bits")


class OneBit(Instr, abstract=True, pipe=S):
    """A number of 64 bits with one of them chosen."""

    example = "%n = arith.constant 5 : i64\n%m = NAME %n, %n : i64, i64 -> i64"
    result = Result(Scalar, scalar="i64")
    value = In(Scalar, scalar="i64")
    bit = In(Scalar, scalar="i64", doc="the number of the bit, the lowest is 0")
    inside = both(bit >= 0, bit < 64)
    rules = named("shift-too-far", inside, help="a number has the bits 0 to 63")


class ClearBit(OneBit, name="sbitset0"):
    """`value` with this bit 0."""

    asm = Asm(cpp_text="const {type} {result} = sbitset0({value}, {bit});")

    @staticmethod
    def run(value: int, bit: int, result: ScalarType) -> int:
        return in_type(bit_and(value, -1 - shifted_left(1, bit)), result)


class SetBit(OneBit, name="sbitset1"):
    """`value` with this bit 1."""

    asm = Asm(cpp_text="const {type} {result} = sbitset1({value}, {bit});")

    @staticmethod
    def run(value: int, bit: int, result: ScalarType) -> int:
        return in_type(bit_or(value, shifted_left(1, bit)), result)


class VecScope(Instr, name="vecscope", core=VECTOR, pipe=V, routes=ONCE, unexecuted=SCOPE):
    """What registers of the vector core compute, one interval of it."""

    targets = (A5,)
    asm = Asm(shape="section", cpp_on=CHIPS, cpp_text="__VEC_SCOPE__")
    example = "pto.vecscope {\n}"
