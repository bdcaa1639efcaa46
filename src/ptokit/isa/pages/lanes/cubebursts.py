"""Transfers to and from L1, and into the tables of the cube, below tiles."""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.bytebursts import LOOP, NBURST, Bursts, fields_of, nest, row
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.lanefamilies import *

BIASES = 16  # of a unit of the bias table, 64 bytes
TABLE = 4096  # bytes
IN_NUMBERS = ("count", "length", "src_gap", "dst_gap")  # without the word `nburst`
UNIT = 64  # bytes of a unit of the tables of the fix-pipe


def within(ptr: Operand, loc: Loc) -> Ruled:
    """Require a pointer into a memory."""
    return named("location", ptr.space == str(loc), help=f"the pointer is into {loc}")


class CubeBursts(Bursts, abstract=True, core=CUBE, example=MULTIPLIED):
    """Bursts of bytes to or from L1."""

    src = In(Ptr)
    dst = Out(Ptr)
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    count = In(Scalar, scalar="i64", doc="bursts")
    src_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    dst_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    loops = In(Scalar, (), many=True, scalar="i64", doc="count and steps of each further loop")
    asm = Asm(
        order=("src", "dst", "length", "count", "src_step", "dst_step", "loops"),
        clauses=(NBURST, LOOP),
    )


class MteGmL1(CubeBursts, name="mte_gm_l1", pipe=MTE2, ends=(MAT, MAT)):
    """Copy bursts of bytes from global memory to L1.

    `length` bytes each, `src_step` and `dst_step` bytes from one to the next; each `loop` repeats
    what stands before it with further steps.
    """

    rules = (
        *fields_of(CubeBursts.length, CubeBursts.count),
        within(CubeBursts.dst, MAT),
    )

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstIntoL1, ends)


class MteL1Ub(CubeBursts, name="mte_l1_ub", pipe=MTE1, disputes=("V10",), ends=(MAT, VEC)):
    """Copy bursts of bytes from L1 to the vector buffer of the first vector core.

    `length` bytes each, `src_step` and `dst_step` bytes from one to the next; each `loop` repeats
    what stands before it with further steps. Several bursts with steps of 0 follow one another, and
    their length counts elements.
    """

    rules = (
        *fields_of(CubeBursts.length, CubeBursts.count),
        *(within(CubeBursts.src, MAT), within(CubeBursts.dst, VEC)),
    )

    def lowered(cls, make, **given):
        return super().lowered(make, **in_sequence(make, given, local_pointer(given["src"]).dtype))

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstFromL1, ends)


class CopyGmToL1(Bursts, name="copy_gm_to_cbuf", pipe=MTE2, core=CUBE, ends=(MAT, MAT)):
    """Copy bursts of bytes from global memory to L1.

    Several bursts with steps of 0 follow one another, and their length counts elements.
    """

    src = In(Ptr)
    dst = Out(Ptr)
    count = In(Scalar, scalar="i64", doc="bursts")
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    src_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    dst_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    asm = Asm(order=("src", "dst", "count", "length", "src_step", "dst_step"))
    rules = (*fields_of(length, count), within(dst, MAT))
    example = MULTIPLIED
    disputes = ("V10",)

    def lowered(cls, make, **given):
        return super().lowered(make, **in_sequence(make, given, local_pointer(given["dst"]).dtype))

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstIntoL1, ends)


def in_sequence(make: Lowering, given: dict[str, Quantity], dtype: DType) -> dict[str, Quantity]:
    """Return the operands of bursts: those without steps follow one another."""
    steps = make.known(given["src_step"]), make.known(given["dst_step"])
    if steps != (0, 0) or make.known(given["count"]) == 1:
        return given
    size = make.times(given["length"], dtype.size)
    return given | {"length": size, "src_step": size, "dst_step": size}


class MteUbL1(
    CubeBursts, name="mte_ub_l1", pipe=MTE3, core=VECTOR, unit=LINE, gaps=True, ends=(VEC, MAT)
):
    """Copy bursts from the vector buffer to L1; lengths and gaps count blocks of 32 bytes."""

    src = CubeBursts.src
    dst = CubeBursts.dst
    length = In(Scalar, scalar="i64", doc="blocks of a burst")
    count = CubeBursts.count
    src_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    dst_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    loops = CubeBursts.loops
    rules = (*fields_of(length, count), within(src, VEC), within(dst, MAT))

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstToL1, ends)


class BetweenBuffers(Bursts, abstract=True, unit=LINE, gaps=True, example=MULTIPLIED):
    """Bursts between L1 and a vector buffer; lengths and gaps count blocks of 32 bytes."""

    src = In(Ptr)
    dst = Out(Ptr)
    number = In(Scalar, scalar="i64", doc="the vector core whose buffer is meant, or no effect")
    count = In(Scalar, scalar="i64", doc="bursts")
    length = In(Scalar, scalar="i64", doc="blocks of a burst")
    src_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    dst_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    asm = Asm(order=("src", "dst", "number", "count", "length", "src_step", "dst_step"))
    rules = fields_of(length, count)


class CopyUbToL1(BetweenBuffers, name="copy_ubuf_to_cbuf", pipe=MTE3, ends=(VEC, MAT)):
    """Copy bursts from the vector buffer to L1; lengths and gaps count blocks of 32 bytes."""

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstToL1, ends)


class CopyL1ToUb(BetweenBuffers, name="copy_cbuf_to_ubuf", pipe=MTE1, core=CUBE, ends=(MAT, VEC)):
    """Copy bursts from L1 to a vector buffer; lengths and gaps count blocks of 32 bytes.

    Only the buffer of the first vector core is written: the copy to another one has no effect.
    """

    def lowered(cls, make, **given):
        known = make.known(given["number"])
        return [] if known else super().lowered(make, **given)

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstFromL1, ends)


def filled(dst: Cells, src: Cells) -> None:
    """Write the valid bytes of `dst`."""
    dst[dst.valid] = src[dst.valid]


class L1Burst(Below, abstract=True, form="a burst", core=CUBE, example=MULTIPLIED):
    """One burst of bytes to or from L1."""

    dst = Out(Tile)
    src = In(Tile)
    run = staticmethod(filled)


class BurstIntoL1(L1Burst, name="mte_gm_l1", pipe=MTE2):
    """Copy bytes of global memory to L1."""

    dst = L1Burst.dst
    src = In(Global)


class BurstFromL1(L1Burst, name="mte_l1_ub", pipe=MTE1):
    """Copy bytes of L1 to the vector buffer."""


class BurstToL1(L1Burst, name="mte_ub_l1", pipe=MTE3, core=VECTOR):
    """Copy bytes of the vector buffer to L1."""


TO_TABLE = Asm(
    order=("src", "dst", "length", "count", "src_gap", "dst_gap"),
    clauses=(("nburst", ("count", "src_gap", "dst_gap")),),
)


class CubeTable(Below, abstract=True, core=CUBE, example=MULTIPLIED):
    """Bursts of units of 64 bytes from L1 to a table, with gaps between them."""

    src = In(Ptr)
    dst = Out(Ptr)
    length = In(Scalar, scalar="i64", doc="units of a burst")
    count = In(Scalar, scalar="i64", doc="bursts")
    src_gap = In(Scalar, scalar="i64", doc="units between bursts")
    dst_gap = In(Scalar, scalar="i64", doc="units between bursts")
    rules = (*fields_of(length, count), within(src, MAT))


def bursts(
    make: Lowering, given: dict[str, Quantity], add: Callable[[Quantity, Quantity], None]
) -> list[Quantity]:
    """Add the bursts of a table; `add` takes the units before a burst in source and table."""
    length = given["length"]
    steps = (make.sum(length, given[gap]) for gap in ("src_gap", "dst_gap"))
    nest(make, (given["count"], *steps), add)
    return []


class BiasTable(CubeTable, abstract=True, pipe=MTE1):
    """Load biases from L1 into the bias table; f16 and bf16 become f32.

    A unit is 16 biases.
    """

    rules = (
        CubeTable.rules,
        within(CubeTable.dst, BIAS),
        named(
            "element-type",
            either(
                both(CubeTable.src.dtype.isin(f32, f16, bf16), CubeTable.dst.dtype == f32),
                both(CubeTable.src.dtype == i32, CubeTable.dst.dtype == i32),
            ),
            help="f32, f16 and bf16 become f32, i32 stays i32",
        ),
    )

    def lowered(make, src, dst, **given):
        count = make.times(given["length"], BIASES)

        def add(a: Quantity, b: Quantity) -> None:
            first, into = (p.moved(make, make.times(n, BIASES)) for p, n in ((src, a), (dst, b)))
            biases = row(make, dst.dtype, into.address, count, BIAS)
            make.op(
                BiasesLoaded,
                {"dst": biases, "src": row(make, src.dtype, first.address, count, MAT)},
            )

        return bursts(make, given, add)


class MteL1Bt(BiasTable, name="mte_l1_bt"):
    __doc__ = BiasTable.__doc__
    asm = TO_TABLE


class CopyToBiases(BiasTable, name="copy_cbuf_to_bt"):
    """As `mte_l1_bt`, with the number of bursts first."""

    src, dst = CubeTable.src, CubeTable.dst
    widened = In(Scalar, scalar="i1", doc="1 for f16, else 0")
    count, length = CubeTable.count, CubeTable.length
    src_gap, dst_gap = CubeTable.src_gap, CubeTable.dst_gap
    asm = Asm(order=("src", "dst", "widened", *IN_NUMBERS))
    widening = either(both(src.dtype == f16, widened == 1), both(src.dtype != f16, widened == 0))
    rules = (
        BiasTable.rules,
        named("operand-value", widening, help="it is 1 for biases of f16, and 0 for others"),
    )


class BiasesLoaded(Below, name="mte_l1_bt", form="a burst", core=CUBE, pipe=MTE1):
    """Load biases from L1 into the bias table; f16 and bf16 become f32."""

    dst = Out(Tile)
    src = In(Tile)
    example = MULTIPLIED

    def run(dst, src):
        dst[dst.valid] = src[dst.valid].cast(dst.dtype)


class ParameterTable(CubeTable, abstract=True, pipe=FIX):
    """Load parameters of the fix-pipe from L1 into their table, in units of 64 bytes."""

    rules = (CubeTable.rules, within(CubeTable.dst, SCALING))

    def lowered(make, src, dst, **given):
        size = make.times(given["length"], UNIT)

        def add(a: Quantity, b: Quantity) -> None:
            first, into = (
                make.sum(p.address, make.times(n, UNIT)) for p, n in ((src, a), (dst, b))
            )
            table = row(make, u8, in_table(make, into), size, SCALING)
            make.op(ParametersLoaded, {"dst": table, "src": row(make, u8, first, size, MAT)})

        return bursts(make, given, add)


class MteL1Fb(ParameterTable, name="mte_l1_fb"):
    __doc__ = ParameterTable.__doc__
    asm = TO_TABLE


class CopyToParameters(ParameterTable, name="copy_cbuf_to_fbuf"):
    """As `mte_l1_fb`, with the number of bursts first."""

    asm = Asm(order=("src", "dst", *IN_NUMBERS))


def in_table(make: Lowering, address: Quantity) -> Quantity:
    """Return an address in the table of parameters: of 4 KiB, the bits above it say no place."""
    known = make.known(address)
    return address if known is None else known % TABLE


class ParametersLoaded(L1Burst, name="mte_l1_fb", pipe=FIX):
    """Load parameters of the fix-pipe from L1 into their table."""


class Fills(Below, abstract=True, pipe=MTE2, core=CUBE, example=MULTIPLIED):
    """Fill blocks of 32 bytes of L1 with a word of 16 or 32 bits, in several runs with gaps."""

    dst = Out(Ptr)
    value = In(Scalar, scalar="i32", doc="the word, or its lower half")
    repeats = In(Scalar, scalar="i64", doc="runs")
    blocks = In(Scalar, scalar="i64", doc="blocks of a run")
    gap = In(Scalar, scalar="i64", doc="blocks between runs")
    bits = Attr(int, key="fill_word_bits")
    asm = Asm(order=("dst", "value", "repeats", "blocks", "gap"))
    rules = (
        within(dst, MAT),
        *(
            named("operand-value", n >= 0, n <= 32767, help="the field has 15 bits")
            for n in (repeats, blocks, gap)
        ),
        named("attribute", bits.isin(16, 32), help="use 16 or 32"),
    )

    def lowered(make, dst, bits, **given):
        dtype = UNSIGNED[bits]
        step = make.times(make.sum(given["blocks"], given["gap"]), LINE)
        first = make.sum(dst.address, given.get("offset", 0))

        def run_of(i: Quantity) -> None:
            words = make.times(given["blocks"], LINE * 8 // bits)
            into = row(make, dtype, make.sum(first, make.times(i, step)), words, MAT)
            make.op(WordsFilled, {"dst": into, "value": given["value"]})

        make.repeat(given["repeats"], run_of)
        return []


class RawFillL1(Fills, name="raw_fill_l1"):
    """Fill blocks of 32 bytes of L1 with a word of 16 or 32 bits, in several runs with gaps."""

    dst = Fills.dst
    offset = In(Scalar, scalar="i64", doc="bytes")
    value, repeats, blocks, gap = Fills.value, Fills.repeats, Fills.blocks, Fills.gap
    asm = Asm(order=("dst", "offset", "value", "repeats", "blocks", "gap"))
    rules = (
        Fills.rules,
        named("operand-value", offset >= 0, offset % LINE == 0, help="whole blocks of 32 bytes"),
    )


class CreateL1Matrix(Fills, name="create_cbuf_matrix"):
    """As `raw_fill_l1`, from the pointer on."""

    rules = (
        Fills.rules,
        named("element-type", Fills.dst.dtype.bits == Fills.bits, help="words of the pointer"),
    )


class WordsFilled(Below, name="raw_fill_l1", form="a run", pipe=MTE2, core=CUBE):
    """Fill words of L1."""

    dst = Out(Tile)
    value = In(Scalar, scalar="i32")
    example = MULTIPLIED

    def run(dst, value):
        dst[dst.valid] = value.cast(u32).cast(dst.dtype)
