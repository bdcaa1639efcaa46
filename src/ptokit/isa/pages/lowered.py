"""The level below tiles: registers, modes and scopes of partly lowered text.

Transfers and the fix-pipe at that level take counts, strides and modes from registers. ptokit does
not execute them, so it does not execute writes of the registers either. Bit operations on numbers
belong to any level.
"""

from ptokit.isa.lang.asm import EVERYWHERE, CppOn
from ptokit.isa.lang.localmemory import (
    COMBINED,
    COMBINING,
    COUNTS,
    INTO_UB,
    OUT_OF_UB,
    PADDING,
    STEPS,
    Quantity,
)
from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import in_type, shifted_left

REGISTER = "ptokit does not execute register instructions below the level of tiles"
COMBINES = "ptokit executes modes of stores where no instruction works on tiles"
ONCE = ((OUTSIDE, 0), (0, OUTSIDE))
IN_UB, IN_GM = 21, 40  # bits of a stride in the vector buffer, and in global memory
OF_NUMBER = "func.func @example(%n: i64) {\n  NAME %n : i64\n  return\n}"
OF_NUMBERS = "func.func @example(%n: i64, %m: i64) {\n  NAME %n, %m : i64, i64\n  return\n}"


def calling(function: str, on: CppOn = CHIPS) -> Asm:
    """Return the Asm of a C++ function."""
    return Asm(cpp_on=on, cpp_text=f"{function};")


def fields_of(low: Operand, bits: int, high: Operand, more: int) -> Rules:
    """Require numbers that fit into their fields of the register."""
    return (
        named("operand-value", low >= 0, low < 1 << bits, help=f"the field has {bits} bits"),
        named("operand-value", high >= 0, high < 1 << more, help=f"the field has {more} bits"),
    )


class Register(Instr, abstract=True, pipe=S, unexecuted=REGISTER, traits=(BY_SCALAR,)):
    """A register of the level below tiles."""


class OfOneField(Register, abstract=True, example=OF_NUMBER):
    """A register that holds one number unchanged."""

    value = In(Scalar, scalar="i64", doc="what the register holds from now on")


class OfTwoFields(Register, abstract=True, example=OF_NUMBERS):
    """A register of two numbers."""

    first = In(Scalar, scalar="i64")
    second = In(Scalar, scalar="i64")


class OfTransfers(OfTwoFields, abstract=True, unexecuted=""):
    """Two numbers for the loops of later transfers that do not state their loops."""

    def lowered(cls, make, first, second):
        make.registers.update(dict.fromkeys(cls.changes, (first, second)))
        return []


class LoopCounts(OfTransfers, abstract=True, disputes=("V23",)):
    """The iterations of the inner and the outer loop of a transfer."""

    first, second = OfTransfers.first, OfTransfers.second
    rules = fields_of(first, 21, second, 22)


class LoopsOutToUb(LoopCounts, name="set_loop_size_outtoub", changes={f"{COUNTS} {INTO_UB}": None}):
    """The iterations of the inner and outer loop of transfers into the vector buffer."""

    asm = calling("set_loop_size_outtoub({second} << 21 | {first})")


class LoopsUbToOut(
    LoopCounts, name="set_loop_size_ubtoout", changes={f"{COUNTS} {OUT_OF_UB}": None}
):
    """The iterations of the inner and outer loop of transfers out of the vector buffer."""

    asm = calling("set_loop_size_ubtoout({second} << 21 | {first})")


class StridesIntoUb(OfTransfers, abstract=True):
    """The increments of a transfer's loop for addresses in global memory, and in the buffer."""

    first, second = OfTransfers.first, OfTransfers.second
    rules = fields_of(first, IN_GM, second, IN_UB)


class InnerIntoUb(
    StridesIntoUb, name="set_loop1_stride_outtoub", changes={f"{STEPS[0]} {INTO_UB}": None}
):
    """The address increments of the inner loop, in bytes, of transfers into the vector buffer."""

    asm = calling("set_loop1_stride_outtoub({second} << 40 | {first})")


class OuterIntoUb(
    StridesIntoUb, name="set_loop2_stride_outtoub", changes={f"{STEPS[1]} {INTO_UB}": None}
):
    """The address increments of the outer loop, in bytes, of transfers into the vector buffer."""

    asm = calling("set_loop2_stride_outtoub({second} << 40 | {first})")


class StridesOutOfUb(OfTransfers, abstract=True):
    """The increments of a transfer's loop for addresses in the buffer, and in global memory."""

    first, second = OfTransfers.first, OfTransfers.second
    rules = fields_of(first, IN_UB, second, IN_GM)


class InnerOutOfUb(
    StridesOutOfUb, name="set_loop1_stride_ubtoout", changes={f"{STEPS[0]} {OUT_OF_UB}": None}
):
    """The address increments of the inner loop, in bytes, of transfers out of the vector buffer."""

    asm = calling("set_loop1_stride_ubtoout({second} << 21 | {first})")


class OuterOutOfUb(
    StridesOutOfUb, name="set_loop2_stride_ubtoout", changes={f"{STEPS[1]} {OUT_OF_UB}": None}
):
    """The address increments of the outer loop, in bytes, of transfers out of the vector buffer."""

    asm = calling("set_loop2_stride_ubtoout({second} << 21 | {first})")


class Loop3(OfTwoFields, name="set_loop3_para"):
    """The iterations and the increment of the third loop of transfers of the cube."""

    asm = Asm(cpp_on=NOWHERE, cpp_text="set_loop3_para({first}, {second});")


class SetChannel(OfTwoFields, name="set_channel_para"):
    """The step of the fix-pipe from one channel to the next."""

    asm = Asm(cpp_on=NOWHERE, cpp_text="set_channel_para({first}, {second});")


class SetLanes(OfTwoFields, name="ub.set_mask"):
    """The vector lanes that vector instructions on the buffer write: 0 to 63, and 64 to 127."""

    asm = calling("set_vector_mask({second}, {first})", EVERYWHERE)


class LoopsIntoL1(
    OfOneField, name="set_loop_size_outtol1", asm=calling("set_loop_size_outtol1({value})")
):
    """The iterations of the loops of transfers into L1."""


class InnerIntoL1(
    OfOneField, name="set_loop1_stride_outtol1", asm=calling("set_loop1_stride_outtol1({value})")
):
    """The address increments of the inner loop of transfers into L1."""


class OuterIntoL1(
    OfOneField, name="set_loop2_stride_outtol1", asm=calling("set_loop2_stride_outtol1({value})")
):
    """The address increments of the outer loop of transfers into L1."""


class BoxesIntoL1(OfOneField, name="set_mte2_nz_para", asm=calling("set_mte2_nz_para({value})")):
    """The layout of boxes in transfers that make boxes in L1."""


class PadIntoL1(
    OfOneField, name="set_pad_val_outtol1", asm=calling("set_pad_val_outtol1({value})")
):
    """The pad value of transfers into L1."""


class SetControl(OfOneField, name="set_ctrl", asm=calling("set_ctrl({value})", EVERYWHERE)):
    """The control register: saturation, the formats of products, and other modes, bit by bit."""


class StoreAtomics(
    OfOneField, name="set_store_atomic_cfg", asm=calling("set_store_atomic_cfg({value})", NOWHERE)
):
    """The combination of stored values with those in global memory."""


class QuantPre(OfOneField, name="set_quant_pre", asm=calling("set_quant_pre({value})")):
    """The parameter of the fix-pipe's quantisation."""


class ReluAlpha(OfOneField, name="set_relu_alpha", asm=calling("set_relu_alpha({value})", NOWHERE)):
    """The slope of the fix-pipe's leaky relu."""


class ClipRelu(
    OfOneField, name="set_fix_clip_relu", asm=calling("set_fix_clip_relu({value})", NOWHERE)
):
    """The upper limit of the fix-pipe's relu."""


class Parameters(OfOneField, name="set_fpc", asm=calling("set_fpc({value})")):
    """The address of the fix-pipe's parameters."""


class PadOfMoves(
    Register,
    name="set_mov_pad_val",
    asm=calling("set_mov_pad_val({value})"),
    changes={PADDING: None},
    unexecuted="",
):
    """The pad value of transfers into the vector buffer: the bits of a number."""

    example = OF_NUMBER
    value = In(Scalar, doc="a number of any type")

    def lowered(make, value):
        make.registers[PADDING] = value
        return []


class OfMode(Register, abstract=True):
    """A mode, which stays until another one is set."""

    example = "NAME"


class OfStores(OfMode, abstract=True, unexecuted=COMBINES):
    """A mode by which stores of the level below tiles combine values with global memory."""

    example = f"""\
func.func @example(%x: {VEC_F32}) {{
  NAME
  pto.tadd ins(%x, %x : {VEC_F32}, {VEC_F32}) outs(%x : {VEC_F32})
  return
}}"""
    register: ClassVar[str] = COMBINED
    content: ClassVar[Quantity]

    def lowered(cls, make):
        if not make.alone:
            return None
        make.registers[cls.register] = cls.content
        return []


class AtomicAdd(
    OfStores,
    name="set_atomic_add",
    asm=calling("set_atomic_add()"),
    register=COMBINING,
    content="add",
    changes={COMBINING: None},
):
    """Make stores add to the values in global memory."""


class AtomicMax(
    OfStores,
    name="set_atomic_max",
    asm=calling("set_atomic_max()", NOWHERE),
    register=COMBINING,
    content="max",
    changes={COMBINING: None},
):
    """Make stores keep the larger of the stored value and the one in global memory."""


class AtomicMin(
    OfStores,
    name="set_atomic_min",
    asm=calling("set_atomic_min()", NOWHERE),
    register=COMBINING,
    content="min",
    changes={COMBINING: None},
):
    """Make stores keep the smaller of the stored value and the one in global memory."""


class AtomicNone(
    OfStores,
    name="set_atomic_none",
    asm=calling("set_atomic_none()"),
    register=COMBINING,
    content="",
    changes={COMBINING: None},
):
    """Make stores replace the values in global memory."""


class AtomicF32(
    OfStores,
    name="set_atomic_f32",
    asm=calling("set_atomic_f32()"),
    content=f32,
    changes={COMBINED: None},
):
    """Atomic stores are of f32."""


class AtomicF16(
    OfStores,
    name="set_atomic_f16",
    asm=calling("set_atomic_f16()"),
    content=f16,
    changes={COMBINED: None},
):
    """Atomic stores are of f16."""


class AtomicBf16(
    OfStores,
    name="set_atomic_bf16",
    asm=calling("set_atomic_bf16()"),
    content=bf16,
    changes={COMBINED: None},
):
    """Atomic stores are of bf16."""


class AtomicS32(
    OfStores,
    name="set_atomic_s32",
    asm=calling("set_atomic_s32()"),
    content=i32,
    changes={COMBINED: None},
):
    """Atomic stores are of i32."""


class AtomicS16(
    OfStores,
    name="set_atomic_s16",
    asm=calling("set_atomic_s16()"),
    content=i16,
    changes={COMBINED: None},
):
    """Atomic stores are of i16."""


class AtomicS8(
    OfStores,
    name="set_atomic_s8",
    asm=calling("set_atomic_s8()"),
    content=i8,
    changes={COMBINED: None},
):
    """Atomic stores are of i8."""


class CountedLanes(OfMode, name="ub.set_mask_count", asm=calling("set_mask_count()")):
    """Select counted vector lanes for writes of vector instructions on the buffer."""


class MaskedLanes(OfMode, name="ub.set_mask_norm", asm=calling("set_mask_norm()", EVERYWHERE)):
    """Select masked vector lanes for writes of vector instructions on the buffer."""


class GetControl(Register, name="get_ctrl"):
    """The current content of the control register."""

    asm = Asm(cpp_text="const {type} {result} = get_ctrl();")
    example = "%c = pto.get_ctrl : i64"
    result = Result(Scalar)
    kind = TypeOf(result)
    rules = named("element-type", kind.name == "i64", help="the register has 64 bits")


class OneBit(Instr, abstract=True, pipe=S):
    """A number of 64 bits with one bit changed."""

    example = "%n = arith.constant 5 : i64\n%m = NAME %n, %n : i64, i64 -> i64"
    result = Result(Scalar, scalar="i64")
    value = In(Scalar, scalar="i64")
    bit = In(Scalar, scalar="i64", doc="the number of the bit, the lowest is 0")
    inside = both(bit >= 0, bit < 64)
    rules = named("shift-too-far", inside, help="a number has the bits 0 to 63")


class ClearBit(OneBit, name="sbitset0"):
    """`value` with this bit 0."""

    asm = Asm(cpp_text="const {type} {result} = sbitset0({value}, {bit});")

    def run(value, bit, result):
        return in_type(value & -1 - shifted_left(1, bit), result)


class SetBit(OneBit, name="sbitset1"):
    """`value` with this bit 1."""

    asm = Asm(cpp_text="const {type} {result} = sbitset1({value}, {bit});")

    def run(value, bit, result):
        return in_type(value | shifted_left(1, bit), result)


class VecScope(Instr, name="vecscope", core=VECTOR, pipe=V, routes=ONCE, uses=(REGIONS, FLOW)):
    """An interval of computation in registers of the vector core.

    `strict_vecscope(%a) { ^bb0(%x: T): ... } : (T) -> ()` is one whose region sees %x alone.
    """

    asm = Asm(
        shape="section",
        spellings=("pto.strict_vecscope",),
        cpp_on=CHIPS,
        cpp_text="__VEC_SCOPE__",
    )
    example = "pto.vecscope {\n}"

    def run(regions, flow):
        return flow.branch(1, regions)
