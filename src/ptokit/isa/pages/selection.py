"""Comparison and selection: a bit for each element, and elements chosen by bits."""

from ptokit.isa.lang.page import *

BYTES = (u8, i8)  # headers name u8, the assembler's manual and programs i8
EACH = "a bit for each element"
BITS = "!pto.tile_buf<vec, 16x32xu8, valid=16x4>"


def compared(x: Array, mode: CmpMode, y: Term) -> Array:
    """Return the truth of the comparison for each element; with NaN only NE is true."""
    if mode in (CmpMode.EQ, CmpMode.NE):
        return x.equals(y) if mode is CmpMode.EQ else x.equals(y) ^ 1
    return getattr(operator, mode.text)(x, y)


class Compare(Instr, abstract=True, pipe=V, asm=Asm(attrs_inside=" ")):
    """A bit for each element of `src0`, packed row by row."""

    dst = Out(Tile, doc="receives the bits: of each row, the lowest bit first")
    src0 = In(Tile, doc="the left operands")
    cmp = Attr(CmpMode, CmpMode.EQ, key="cmpMode")
    example = {"dst": BITS}
    elided = {"dst": Like(src0, src0.valid.rows, (src0.valid.cols + 7) // 8, dtype=lambda _: u8)}


def compared_region(dst: Cells, src0: Cells) -> tuple[int, int]:
    """Return the rows and columns whose bits fit into `dst`."""
    return src0.valid.rows, least(src0.valid.cols, dst.valid.cols * dst.dtype.size * 8)


def put_bits(dst: Cells, truth: Array, rows: int, cols: int) -> None:
    """Write a bit for each truth value; all other bits of dst's storage become 0."""
    bits = truth.packed()
    dst.fill(0)
    dst.lines(u8)[:rows, : (cols + 7) // 8] = bits


def put_compared(dst: Cells, src0: Cells, mode: CmpMode, y: Term, mask_streams: bool) -> None:
    """Compare all elements with `y`, and write the bits where the target has them."""
    rows, cols = compared_region(dst, src0)
    if mask_streams and src0.valid.cols >= src0.cols and dst.valid.cols >= src0.cols:
        bits = compared(src0[:rows, :cols].reshaped(1, rows * cols), mode, y).packed()
        lines = (rows * cols + 8 * dst.cols - 1) // (8 * dst.cols)
        stream = bits.padded(lines * dst.cols, 1, 0).reshaped(lines, dst.cols)
        dst.fill(0)
        dst[:lines, :] = stream.bitcast(dst.dtype)
    else:
        put_bits(dst, compared(src0[:rows, :cols], mode, y), rows, cols)


def comparing(*types: Ruled) -> Rules:
    """Return the rules of a comparison."""
    dst, src0 = Compare.dst, Compare.src0
    bits = dst.valid.cols * dst.size * 8 >= src0.valid.cols
    return (
        *types,
        named("shape", dst.valid.rows == src0.valid.rows, help="a row of bits for each row"),
        named("shape", bits, help=EACH),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst, src0),
        row_major(src0),
    )


class TCmp(
    Compare,
    asm=Asm(call="TCMP(dst, src0, src1, cmp)"),
    disputes=("E25", "E56"),
    recorded={"plain": {"cmp": "cmp_mode"}},
):
    """Bit j % w of dst[i, j // w] = src0[i, j] compares with src1[i, j] as `cmp` says.

    w is the width of dst's elements. NaN is unordered: only NE is true; -0 equals +0. Bits beyond
    src0's valid columns, and the rest of dst's storage, become 0.
    """

    dst, src0 = Compare.dst, Compare.src0
    src1 = In(Tile, doc="the right operands")

    rules = comparing(
        on((CPU, A5), dst.dtype.isin(*BYTES, u32)),
        on(A2A3, dst.dtype.isin(*BYTES)),
        one_type(src0, src1),
        same_region(src0, src1),
        on(A5, same_extents(src0, src1)),
        elements(src0, cpu=NUMBERS, a2a3=(i32, f16, f32), a5=VEC_A5),
        in_vec(src1),
        row_major(src1),
        on(A2A3, named("attribute", either(src0.dtype != i32, Compare.cmp == CmpMode.EQ))),
    )

    def run(dst, src0, src1, cmp):
        rows, cols = compared_region(dst, src0)
        put_bits(dst, compared(src0[:rows, :cols], cmp, src1[:rows, :cols]), rows, cols)


WITH_ONE = comparing(
    on(CPU, Compare.dst.dtype.isin(*BYTES, u32)),
    on(HARDWARE, Compare.dst.dtype.isin(*BYTES)),
    elements(Compare.src0, cpu=NUMBERS, a2a3=(i16, u16, i32, f16, f32), a5=VEC_A5),
    on(A2A3, named("attribute", either(Compare.src0.dtype != i32, Compare.cmp == CmpMode.EQ))),
)


class TCmpS(
    Compare,
    asm=Asm(call="TCMPS(dst, src0, scalar, cmp)"),
    inner_flags=(A2A3,),
    form="scalar",
    rules=WITH_ONE,
    uses=(TARGET,),
    disputes=("E8", "E9", "E25", "E56", "E57"),
):
    """Bit j % w of dst[i, j // w] = src0[i, j] compares with `scalar` as `cmp` says.

    w is the width of dst's elements; the comparison is exact. NaN is unordered: only NE is true.
    Bits beyond src0's valid columns, and the rest of dst's storage, become 0. On A5, if dst has as
    many valid columns as src0, and no more declared ones, it takes the bits of all rows one behind
    the other: for a selection declare as many columns of dst as hold the bits of a row.
    """

    scalar = In(Scalar, doc="the right operand of all; it takes src0's element type")
    recorded = {"scalar": {"cmp": "cmp_mode"}}

    def run(dst, src0, scalar, cmp, target):
        put_compared(dst, src0, cmp, scalar, target.mask_streams)


class TCmpSTile(
    Compare,
    asm=Asm(call="TCMPS(dst, src0, src1, cmp)", cpp_on=CHIPS),
    inner_flags=(A2A3,),
    name="tcmps",
    form="tile",
    uses=(TARGET,),
    disputes=("E8", "E9", "E10", "E25", "E56", "E57"),
):
    """As the form with a scalar, with the first element of `src1` in its place."""

    dst, src0 = Compare.dst, Compare.src0
    src1 = In(Tile, doc="its first element is the right operand of all")
    first = named("shape", src1.valid.rows >= 1, src1.valid.cols >= 1, help="src1 has an element")
    rules = (WITH_ONE, one_type(src0, src1), first, in_vec(src1))

    def run(dst, src0, src1, cmp, target):
        put_compared(dst, src0, cmp, src1[0, 0], target.mask_streams)


OF_WORDS, OF_DST = "scratch has elements of 32 bits", "scratch has dst's element type"
A_LINE = "scratch holds a line of src"


def masked(dst: Operand, mask: Operand, *sources: Operand) -> Rules:
    """Return the rules of a selection: a bit of the mask for each element of dst."""
    bits = mask.valid.cols * mask.size * 8 >= dst.valid.cols
    integers = mask.dtype.isin(i8, u8, i16, u16, i32, u32)
    return (
        one_type(dst, *sources),
        over_region(dst, *sources),
        on(CPU, named("element-type", integers, help="use an integer type")),
        on(HARDWARE, warns(named("element-type", integers, help="give the type of the bits"))),
        named("layout", mask.layout == ND, help="store the mask row-major"),
        named("shape", mask.valid.rows >= dst.valid.rows, bits, help=EACH),
        in_vec(dst, mask, *sources),
        row_major(dst, *sources),
    )


def chosen(mask: Cells, region: ValidRegion) -> Array:
    """Return the bits of the mask: for (i, j) bit j % 8 of byte j // 8 of its row i."""
    rows, cols = region
    return mask.lines(u8)[:rows, : (cols + 7) // 8].bits(cols)


class TSel(Instr, pipe=V, specials=NAN_MOVES, disputes=("E11", "E69", "E79")):
    """dst[i, j] = src0[i, j] where the bit of (i, j) in `mask` is 1, else src1[i, j].

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.
    """

    dst = Out(Tile, doc="receives the elements chosen; may be a source")
    mask = In(Tile, doc="a bit for each element")
    src0 = In(Tile, doc="elements for bits that are 1")
    src1 = In(Tile, doc="elements for bits that are 0")
    tmp = scratch_of_a2a3()
    written_over = ((dst, src0), (dst, src1))
    example = {"mask": BITS, "tmp": VEC_F32}
    elided = {"dst": like(src0)}
    rules = (
        masked(dst, mask, src0, src1),
        on(CPU, dst.dtype.isin(*NUMBERS)),
        on(A2A3, named("element-type", dst.size.isin(2, 4))),
        on(A5, dst.dtype.isin(*VEC_A5)),
        on(A2A3, by(ASSEMBLER, named("element-type", tmp.size == 4, help=OF_WORDS))),
        on(A2A3, named("shape", tmp.nbytes >= 16, help="scratch has 16 bytes")),
        named_scratch(tmp, (A2A3,)),
    )

    def run(dst, mask, src0, src1):
        dst[dst.valid] = chosen(mask, dst.valid).where(src0[dst.valid], src1[dst.valid])


class TSelS(Instr, inner_flags=(A2A3,), pipe=V, specials=NAN_MOVES, disputes=("E11", "E69", "E79")):
    """dst[i, j] = src[i, j] where the bit of (i, j) in `mask` is 1, else `scalar`.

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.
    """

    dst = Out(Tile, doc="receives the elements chosen; may be the source")
    mask = In(Tile, doc="a bit for each element")
    src = In(Tile, doc="elements for bits that are 1")
    tmp = scratch_of_a2a3()
    scalar = In(Scalar, doc="the element for bits that are 0; it takes src's element type")
    written_over = ((dst, src),)
    example = {"mask": BITS, "tmp": VEC_F32}
    elided = {"dst": like(src)}
    rules = (
        masked(dst, mask, src),
        on(CPU, dst.dtype.isin(*NUMBERS)),
        on(A2A3, named("element-type", dst.size.isin(2, 4))),
        on(A5, dst.dtype.isin(*(t for t in VEC_A5 if t is not bf16))),
        on(
            A2A3,
            by(
                ASSEMBLER,
                named("element-type", tmp.dtype == dst.dtype, help=OF_DST),
                row_major(tmp),
                named("shape", tmp.nbytes >= src.cols * src.size, help=A_LINE),
            ),
        ),
        named_scratch(tmp, (A2A3,)),
    )

    def run(dst, mask, src, scalar):
        dst[dst.valid] = chosen(mask, dst.valid).where(src[dst.valid], scalar)
