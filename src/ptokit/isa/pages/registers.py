"""Registers: SETFMATRIX, SET_IMG2COL_*, SET_QUANT_*, read by later instructions."""

from numpy import asarray

from ptokit.isa.lang.page import *
from ptokit.isa.pages.windows import PARAMETERS_DOC
from ptokit.values.formats import encode

SIDES = Many((255, 255, 255, 255))
MAPS = (ConvLayout.NC1HWC0, ConvLayout.NDC1HWC0)


class FmatrixMode(Word, mlir="fmatrix_mode", cpp_type="SetFmatrixMode"):
    """The bank of registers, and its writer: the unroll itself, or the program."""

    A_AUTO = "fmatrix_a_auto", "FMATRIX_A_AUTO", "a_auto"
    B_AUTO = "fmatrix_b_auto", "FMATRIX_B_AUTO", "b_auto"
    A_MANUAL = "fmatrix_a_manual", "FMATRIX_A_MANUAL", "a_manual"
    B_MANUAL = "fmatrix_b_manual", "FMATRIX_B_MANUAL", "b_manual"

    @property
    def bank(self) -> str:
        return self.name[0]

    @property
    def manual(self) -> bool:
        return self.name.endswith("MANUAL")


A_MANUAL = FmatrixMode.A_MANUAL


def packed(*fields: tuple[int, int]) -> int:
    """Return a register from (value, lowest bit) of its fields."""
    return sum(value << low for value, low in fields)


def fmatrix(src: Images) -> int:
    """Return width, height and padding left, right, top, bottom."""
    left, right, top, bottom = src.padding
    sizes = (src.width, 0), (src.height, 16)
    return packed(*sizes, (left, 32), (right, 40), (top, 48), (bottom, 56))


def padding(src: Images) -> int:
    """Return the bits of the pad value; an 8-bit value fills both bytes."""
    bits = code(src.pad_value, src.dtype)
    return bits * 0x101 if src.dtype.size == 1 else bits


def code(value: float, dtype: DType) -> int:
    """Return the bits of a number."""
    return int(encode(asarray(value), dtype))


def repeat(src: Images) -> int:
    """Return stride, times, mode; on A5 also the stride and the first row in dst."""
    stride, times, mode = src.repeat
    step, first = src.into
    return packed((stride, 0), (times, 16), (mode, 24), (step, 32), (first, 48))


def unrolling(src: Images, mode: FmatrixMode) -> dict[str, int]:
    """Return all registers of a bank as the unroll of `src` reads them."""
    values = {"FMATRIX": fmatrix(src), "PADDING": padding(src), "RPT": repeat(src)}
    return {f"{name}_{mode.bank}": value for name, value in values.items()}


def fits_registers(src: Operand) -> Rules:
    """Require a feature map whose extents fit the fields of the registers."""
    fields = "16 bits for each extent, 8 for each side of the padding"
    return (
        src.layout.isin(*MAPS),
        named("shape", src.rank == src.extents.rank, help="give each extent of the layout"),
        named("shape", both(src.height > 0, src.width > 0), help="the feature map is empty"),
        named("shape", both(src.height < 1 << 16, src.width < 1 << 16), help=fields),
        named("attribute", src.pads.least >= 0, src.pads <= SIDES, help=fields),
    )


class SetOfMap(Instr, abstract=True, uses=(REGISTERS,), pipe=S):
    """A register of the unroll, computed from a feature map by `f`."""

    register: ClassVar[str]
    src = In(Conv, doc="the feature map")
    mode = Attr(FmatrixMode, A_MANUAL, key="fmatrixMode")
    example = {"src": "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"}
    rules = fits_registers(src)

    def run(cls, registers, src, mode):
        registers[f"{cls.register}_{mode.bank}"] = cls.f(src)


class SetFmatrix(SetOfMap, register="FMATRIX", f=fmatrix, asm=Asm(spellings=("set_fmatrix",))):
    """Tell the unroll the size and padding of `src`: register FMATRIX of the mode's bank.

    Width is bits 0-15, height 16-31; padding left 32-39, right 40-47, top 48-55, bottom 56-63.
    """


class SetPadding(SetOfMap, name="set_img2col_padding", register="PADDING", f=padding):
    """Tell the unroll the value outside of `src`; an 8-bit value fills both bytes."""


class SetRepeat(SetOfMap, name="set_img2col_rpt", register="RPT", f=repeat):
    """Tell the unroll its number of repetitions: stride bits 0-15, times 16-23, mode 24.

    On A5 also the place in dst: stride bits 32-47, first row 48-63.
    """

    nothing = named("attribute", SetOfMap.src.into == (0, 0), help="A2/A3 has no such fields")
    rules = (*SetOfMap.rules, on(A2A3, nothing))


class QuantOut(Word, mlir="quant_out"):
    """The element type of the result of a quantisation."""

    I8 = "i8", "int8_t"
    U8 = "u8", "uint8_t"
    F16 = "f16", "half"
    BF16 = "bf16", "bfloat16_t"


SET = Asm(shape="called", always=("id",))  # the text of instructions that set parameters


def of_pipe(number: Attr) -> Rules:
    """Require a valid number of the FIFO between cores whose parameters are set."""
    return named("attribute", number >= 0, help="ids of FIFOs are at least 0")


class SetQuantScalar(
    Instr, name="set_quant_scalar", uses=(REGISTERS,), pipe=S, fifo_role=FifoRole.SETS
):
    """Set the one scale of the fix-pipe: its f32 bits, and bit 46 if the result is an i8."""

    asm = Asm(cpp_text="SET_QUANT_SCALAR<{out}>({scale});").over(SET)
    scale = In(Scalar, doc="the scale, an f32")
    out = Attr(QuantOut, QuantOut.I8, key="outType")
    number = Attr(int, 0, key="id", cpp=False)
    kind = TypeOf(scale)
    single = named("element-type", Exact(kind, Const(f32)), help="give the value as an f32")
    rules = (of_pipe(number), on(HARDWARE, single))
    example = "%half = arith.constant 0.5 : f32\nNAME %half : f32"

    def run(registers, scale, out):
        signed = out is QuantOut.I8
        registers["QUANT_PRE"] = packed((code(scale, f32), 0), (int(signed), 46))


FACTORS = "the assembler of A5 takes factors, f16, bf16 or f32, not words of 64 bits"


class SetQuantVector(
    Instr, name="set_quant_vector", uses=(REGISTERS,), pipe=S, fifo_role=FifoRole.SETS
):
    """Set the address of the fix-pipe's parameters, one for each column: 128-byte granules."""

    asm = SET
    disputes = ("X80",)
    fp = In(Tile, loc=SCALING, doc=PARAMETERS_DOC)
    number = Attr(int, 0, key="id", cpp=False)
    example = {"fp": PARAMETERS}
    rules = (
        of_pipe(number),
        both(fp.rows == 1, fp.layout == ND),
        on((CPU, A2A3), fp.dtype.isin(u64, i64)),
        on(
            A5,
            fp.dtype.isin(u64, i64, f16, bf16, f32),
            by(
                ASSEMBLER, warns(named("element-type", fp.dtype.isin(f16, bf16, f32), help=FACTORS))
            ),
        ),
        on(HARDWARE, named("address-misaligned", fp.address % 128 == 0, help="128-byte granules")),
    )

    def run(registers, fp):
        registers["FPC"] = packed((fp.address >> 7, 8))


class SetShortF32(Instr, abstract=True, uses=(REGISTERS,), pipe=S, disputes=("D9",)):
    """Allow later products to shorten the f32 that they multiply, and set the rounding.

    ptokit keeps the register and computes with whole f32.
    """

    enable = Attr(bool)
    mode = Attr(RoundMode, RoundMode.ROUND)
    example = "NAME {enable = true}"


def shortening(enable: bool, mode: RoundMode) -> int:
    return packed((int(enable), 0), ([*RoundMode].index(mode), 1))


class SetHf32Mode(SetShortF32):
    """Allow later products to shorten f32 to HF32: enabled bit 0, rounding bits 1 to 3.

    ptokit keeps the register and computes with whole f32.
    """

    asm = Asm(
        spellings=("tsethf32mode",),
        cpp_on=NOWHERE,
        cpp_text="SETHF32MODE<{enable}, RoundMode::{mode}>();",
    )

    def run(registers, enable, mode):
        registers["HF32"] = shortening(enable, mode)


class SetTf32Mode(SetShortF32, uses=(REGISTERS, TARGET)):
    """Allow later products to shorten f32 to TF32: enabled bit 0, rounding bits 1 to 3.

    ptokit keeps the register and computes with whole f32. On A2/A3 nothing happens.
    """

    asm = Asm(
        spellings=("tsettf32mode",),
        cpp_on=NOWHERE,
        cpp_text="SETTF32MODE<{enable}, RoundMode::{mode}>();",
    )

    def run(registers, enable, mode, target):
        if target.tf32:
            registers["TF32"] = shortening(enable, mode)
