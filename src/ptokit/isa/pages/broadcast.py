"""Broadcasts: one value for each row or column, alone or with every element."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import precise, precision
from ptokit.values.functions import exp

EXPAND_CPU = (f16, f32, i16, u16, i32, u32)
BLOCK = 32  # bytes that a row-major narrow operand has in each row
FIRST_COLUMN = "C++ needs one value for each row of dst, in the first column"
FOR_EACH = "one value for each column of dst"
NARROW = "one operand is as wide as dst, the other has a dn column or 32 bytes in each row"


class RowExpand(Instr, abstract=True, uses=(TARGET,), pipe=V, specials=NAN_COMPUTED):
    """dst[i, j] = f(src0[i, j], src1[i]), or the other way round."""

    dst = Out(Tile, doc="receives the results")
    src0 = In(Tile, doc="the left operands: as wide as dst, or narrow")
    src1 = In(Tile, doc="the right operands: narrow, or as wide as dst")
    tmp = scratch_of_a2a3()
    src1_col = Attr(int, None, key="src1Col")  # hints of compilers, without a meaning of their own
    src0_is_dst = Attr(bool, None, key="src0eqdst")
    high_precision = Attr(bool, None, key="highPrecision")
    example = {"src1": "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"}
    elided = {"dst": like(src0)}
    recorded = {"block": {}, "dn": {}, "dn_src0": {}, "block_src0": {}}
    disputes = ("E45",)

    def run(cls, dst, src0, src1, target):
        rows, cols = dst.valid
        left = src0.valid.cols == cols if narrow(src1, src0) else not narrow(src0, src1)
        whole = src0 if left else src1
        few = spread(src1 if left else src0, rows, cols, target.first_columns)
        many = whole[:rows, :cols]
        dst[:rows, :cols] = cls.f(many, few) if left else cls.f(few, many)


def thin(src: Cells) -> bool:
    """Return whether the declared shape alone makes an operand a column or a block."""
    return src.layout is DN or src.cols * src.dtype.size == BLOCK


def narrow(src: Cells, other: Cells) -> bool:
    """Return whether an operand is the column or the block; if both fit, one is as wide as dst."""
    if DN in (src.layout, other.layout):
        return src.layout is DN
    return thin(src) or (not thin(other) and src.valid.cols == BLOCK // src.dtype.size)


def spread(src: Cells, rows: int, cols: int, first: bool) -> Array:
    """Return the narrow operand as wide as dst: a column, or the first or all values of a block."""
    if first or src.layout is DN:
        return src[:rows, 0]
    row, col = src.iota(rows, cols)
    return src.take(row * src.cols + col % (BLOCK // src.dtype.size))


def expanding(cpu: DTypes, a2a3: DTypes, a5: DTypes, judges: tuple[Judge, ...] = ()) -> Rules:
    """Return the rules of an expand along rows; `judges` are those that compare valid regions."""
    dst, src0, src1, tmp = RowExpand.dst, RowExpand.src0, RowExpand.src1, RowExpand.tmp
    rows = dst.valid.rows
    narrow_dn = either(src0.layout == DN, src1.layout == DN)
    column = named("layout", narrow_dn, help="the form with tmp takes a dn column")
    few = when(rows < 256, tmp.nbytes >= (rows + 7) // 8 * 256)
    room = (few, when(rows >= 256, tmp.nbytes >= 7680))

    def full(src: Operand) -> Expr:
        return both(src.layout == ND, src.valid.cols == dst.valid.cols)

    def narrow(src: Operand) -> Expr:
        block = both(src.layout == ND, src.valid.cols * src.size == BLOCK)
        return either(both(src.layout == DN, src.valid.cols == 1), block)

    shapes = either(both(full(src0), narrow(src1)), both(narrow(src0), full(src1)))
    return (
        elements(dst, cpu=cpu, a2a3=a2a3, a5=a5),
        one_type(dst, src0, src1),
        by(
            judges,
            of_types(named("shape", src0.valid.rows == rows), enough=rows <= src0.rows),
            of_types(named("shape", src1.valid.rows == rows), enough=rows <= src1.rows),
            named("shape", shapes, help=NARROW),
        ),
        named("layout", dst.layout == ND, help="store dst row-major"),
        in_vec(dst, src0, src1),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        on(A2A3, when(tmp.given, column, one_type(dst, tmp))),
        on(A2A3, named("shape", *room, help="256 bytes for each 8 rows, at most 7680")),
    )


UNUSED = named("element-type", one_type(RowExpand.dst, RowExpand.tmp))
ALIKE = on(A5, when(RowExpand.tmp.given, UNUSED))  # the assembler checks unused scratch, too
LEFT_IS_FULL = on(
    HARDWARE,
    by(
        ASSEMBLER,
        named(
            "shape",
            RowExpand.src0.valid.cols == RowExpand.dst.valid.cols,
            help="src0 is as wide as dst, src1 is narrow",
        ),
    ),
)


class TRowExpandAdd(
    RowExpand, f=operator.add, rules=(*expanding(EXPAND_CPU, VEC_A2A3, VEC_A5), LEFT_IS_FULL)
):
    """dst[i, j] = src0[i, j % n0] + src1[i, j % n1], n0 and n1 the operands' valid columns.

    One operand is as wide as dst; the other has a value for each row, or a block of 32 bytes that
    is repeated along the row. On a5 only the first value of a block is used. Integers wrap.
    """

    disputes = ("E45", "E80")


class TRowExpandSub(
    RowExpand, f=operator.sub, rules=expanding(EXPAND_CPU, VEC_A2A3, VEC_A5, COMPILED)
):
    """dst[i, j] = src0[i, j % n0] - src1[i, j % n1], operands as of trowexpandadd."""


class TRowExpandMul(
    RowExpand, f=operator.mul, rules=expanding((*EXPAND_CPU, u8), VEC_A2A3, VEC_A5, COMPILED)
):
    """dst[i, j] = src0[i, j % n0] * src1[i, j % n1], operands as of trowexpandadd."""


class TRowExpandDiv(RowExpand, f=Array.__truediv__):
    """dst[i, j] = src0[i, j % n0] / src1[i, j % n1], operands as of trowexpandadd.

    Floats are correctly rounded, x / 0 is infinite or NaN; integers truncate, x / 0 is 0.
    """

    precision = precision(DIV)
    rules = (
        *expanding(EXPAND_CPU, F16_F32, VEC_A5, COMPILED),
        on(A2A3, precise(precision == DIV["HIGH"], RowExpand.tmp)),
        on(A5, by(ASSEMBLER, precise(precision == DIV["HIGH"], RowExpand.tmp))),
    )
    disputes = ("E40", "E45", "E77")


class TRowExpandMax(
    RowExpand,
    f=Array.maximum,
    rules=(*expanding(EXPAND_CPU, VEC_A2A3, VEC_A5), *ALIKE),
):
    """dst[i, j] = the larger of src0[i, j % n0] and src1[i, j % n1], as in trowexpandadd.

    For equal values, and if one is NaN, the result is src0's.
    """

    disputes = ("E2", "E45", "V9")


class TRowExpandMin(
    RowExpand,
    f=Array.minimum,
    rules=(*expanding(EXPAND_CPU, VEC_A2A3, VEC_A5), *ALIKE),
):
    """dst[i, j] = the smaller of src0[i, j % n0] and src1[i, j % n1], as in trowexpandadd.

    For equal values, and if one is NaN, the result is src0's.
    """

    disputes = ("E2", "E45", "V9")


def exp_of_difference(a: Array, b: Array) -> Array:
    """Return exp(a - b), where the difference is rounded to the element type first."""
    return exp(a - b)


class TRowExpandExpDif(
    RowExpand,
    f=exp_of_difference,
    rules=(*expanding(F16_F32, F16_F32, F16_F32), *ALIKE),
):
    """dst[i, j] = e ** (src0[i, j % n0] - src1[i, j % n1]), operands as of trowexpandadd.

    The difference is rounded to the element type; the power is as texp's, one unit in the last
    place from the rounded exact value at most.
    """


class TRowExpand(Instr, inner_flags=(A2A3,), pipe=V, specials=NAN_MOVES):
    """dst[i, j] = src[i, 0] for every column of dst's valid region."""

    dst = Out(Tile, doc="receives the values")
    src = In(Tile, doc="a value for each row, in its first column")
    example = {"src": "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"}
    elided = {"dst": Like(src, src.valid.rows, src.cols)}
    rules = (
        on(CPU, both(dst.dtype.isin(*NUMBERS), src.dtype.isin(*NUMBERS))),
        on(HARDWARE, one_type(dst, src)),
        on(A2A3, named("element-type", dst.size.isin(1, 2, 4))),
        of_types(
            named("shape", src.valid.rows == dst.valid.rows, help="one value for each row of dst"),
            enough=dst.valid.rows <= src.rows,
        ),
        on(HARDWARE, named("shape", dst.valid.cols >= 1, help="dst has a column")),
        named("shape", src.valid.cols >= 1, help="use at least one column"),
        when(
            src.valid.cols >= 1,
            on(A5, warns(named("shape", src.valid.cols == 1, help=FIRST_COLUMN))),
        ),
        named("layout", both(dst.layout == ND, src.layout.isin(ND, DN)), help="dst is row-major"),
        in_vec(dst, src),
    )

    def run(dst, src):
        rows, cols = dst.valid
        dst[:rows, :cols] = src[:rows, 0].cast(dst.dtype)


class TColExpand(Instr, pipe=V, specials=NAN_MOVES):
    """dst[i, j] = src[0, j] for every row of dst's valid region; bits move unchanged."""

    dst = Out(Tile, doc="receives the values")
    src = In(Tile, doc="a value for each column, in its first row")
    example = {"src": "!pto.tile_buf<vec, 1x32xf32>"}
    elided = {"dst": Like(src, src.rows, src.valid.cols)}
    rules = (
        on(CPU, named("element-type", dst.size == src.size, help="elements of the same width")),
        on(HARDWARE, one_type(dst, src)),
        named("element-type", dst.dtype.bits >= 8, help="whole bytes: no 4-bit elements"),
        on(A2A3, named("element-type", dst.size.isin(1, 2, 4))),
        of_types(
            named("shape", src.valid.cols == dst.valid.cols, help=FOR_EACH),
            enough=dst.valid.cols <= src.cols,
        ),
        named("shape", src.valid.rows >= 1, help="use at least one row"),
        named("layout", both(dst.layout == ND, src.layout == ND), help="store both row-major"),
        in_vec(dst, src),
    )

    def run(dst, src):
        rows, cols = dst.valid
        dst[:rows, :cols] = src[0, :cols].bitcast(dst.dtype)


class ColExpand(Instr, abstract=True, pipe=V, specials=NAN_COMPUTED):
    """dst[i, j] = f(src0[i, j], src1[0, j])."""

    dst = Out(Tile, doc="receives the results")
    src0 = In(Tile, doc="the left operands")
    src1 = In(Tile, doc="the right operands, in its first row")
    example = {"src1": "!pto.tile_buf<vec, 1x32xf32>"}
    elided = {"dst": like(src0)}

    def run(cls, dst, src0, src1):
        rows, cols = dst.valid
        dst[:rows, :cols] = cls.f(src0[:rows, :cols], src1[0, :cols])


def expanding_columns(cpu: DTypes, a2a3: DTypes, a5: DTypes) -> Rules:
    """Return the rules of an expand along columns."""
    dst, src0, src1 = ColExpand.dst, ColExpand.src0, ColExpand.src1
    stored = both(*(tile.layout == ND for tile in (dst, src0, src1)))
    return (
        elements(dst, cpu=cpu, a2a3=a2a3, a5=a5),
        one_type(dst, src0, src1),
        over_region(dst, src0),
        on(HARDWARE, same_extents(dst, src0)),
        named("shape", src1.valid.rows >= 1, help="use at least one row"),
        on(CPU, named("shape", src1.valid.cols >= dst.valid.cols, help=FOR_EACH)),
        on(
            HARDWARE,
            of_types(
                named("shape", src1.valid.cols == dst.valid.cols, help=FOR_EACH),
                enough=dst.valid.cols <= src1.cols,
            ),
        ),
        named("layout", stored, help="store all row-major"),
        in_vec(dst, src0, src1),
    )


COLUMNS = expanding_columns(EXPAND_CPU, VEC_A2A3, VEC_A5)


class TColExpandAdd(ColExpand, f=operator.add, rules=COLUMNS):
    """dst[i, j] = src0[i, j] + src1[0, j]; integers wrap."""


class TColExpandSub(ColExpand, f=operator.sub, rules=COLUMNS):
    """dst[i, j] = src0[i, j] - src1[0, j]; integers wrap."""


class TColExpandMul(
    ColExpand, f=operator.mul, rules=expanding_columns((*EXPAND_CPU, u8), VEC_A2A3, VEC_A5)
):
    """dst[i, j] = src0[i, j] * src1[0, j]; integers wrap."""


class TColExpandDiv(
    ColExpand, f=Array.__truediv__, rules=expanding_columns(EXPAND_CPU, F16_F32, VEC_A5)
):
    """dst[i, j] = src0[i, j] / src1[0, j].

    Floats are correctly rounded, x / 0 is infinite or NaN; integers truncate, x / 0 is 0.
    """

    asm = Asm(also=("TCOLEXPANDDIV<DivAlgorithm::HIGH_PRECISION>(dst, src0, src1)",))
    disputes = ("E40",)


class TColExpandMax(ColExpand, f=Array.maximum, rules=COLUMNS, disputes=("E2", "V9")):
    """dst[i, j] = src1[0, j] where src0[i, j] < src1[0, j], else src0[i, j], NaN too."""


class TColExpandMin(ColExpand, f=Array.minimum, rules=COLUMNS, disputes=("E2", "V9")):
    """dst[i, j] = src1[0, j] where src1[0, j] < src0[i, j], else src0[i, j], NaN too."""


class TColExpandExpDif(
    ColExpand, f=exp_of_difference, rules=expanding_columns(F16_F32, F16_F32, F16_F32)
):
    """dst[i, j] = e ** (src0[i, j] - src1[0, j]), the difference rounded to the element type.

    The power is as texp's: one unit in the last place from the rounded exact value at most.
    """
