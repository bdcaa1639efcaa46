"""Reductions: sums, products, extremes and their positions, along rows and columns."""

import operator

from ptokit.isa.lang.page import *
from ptokit.isa.model.targets import PEDANTIC
from ptokit.values.orders import (
    by_halves,
    by_register,
    in_groups,
    in_pairs,
    lanewise,
    products_by_lane,
    saturated,
)

SUM_A5 = (*VEC_A2A3, i64, u64)
MAX_A5 = (*SUM_A5, i8, u8)
PROD_COL_A5 = tuple(t for t in VEC_A5 if t not in (i8, u8))
WIDENING = ((f16, (f16, f32)), (bf16, (bf16, f32)), (f32, (f32,)))  # sums of the CPU simulator
OF_A_ROW = "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"
UNPAIRED = "tmp has a register of 256 bytes for each row of src: as a tile like src has"
PAIRED = "tmp has a register of 256 bytes for each two of src: as a tile like src has"
FOLDED = "this shape is folded in 4096 bytes"
REGISTER, LEAST = 256, 32  # bytes of a vector register, and of any scratch tile
NAN_IN_FRONT = "NaN in first place stays the extreme; later ones are skipped."
OF_A_COLUMN = "!pto.tile_buf<vec, 1x32xf32>"

Fold = Callable[[Array], Array]


def first_column(src: Cells) -> tuple[slice, slice]:
    """Return the place of a result for each row; nothing if rows are empty."""
    rows, cols = src.valid
    return slice(rows), slice(least(cols, 1))


def first_row(src: Cells) -> tuple[slice, slice]:
    """Return the place of a result for each column; nothing if columns are empty."""
    rows, cols = src.valid
    return slice(least(rows, 1)), slice(cols)


class RowReduce(Instr, inner_flags=(A2A3,), abstract=True, pipe=V, specials=NAN_COMPUTED):
    """One result for each row."""

    dst = Out(Tile, doc="one valid column: a result for each row")
    src = In(Tile, doc="the rows to reduce")
    tmp = scratch_of_a2a3()
    example = {"tmp": VEC_F32, "dst": OF_A_ROW}
    elided = {"dst": Like(src, src.valid.rows, Const(1))}


class RowFold(RowReduce, abstract=True):
    """dst[i, 0] = f(row i of src)."""

    def run(cls, dst, src):
        dst[first_column(src)] = cls.f(src[src.valid], dst.dtype)


def one_of_each_row(dst: Operand) -> Rules:
    """Require a tile with a result for each row of the source."""
    src = RowReduce.src
    column = either(dst.layout == ND, both(dst.layout == DN, dst.cols == 1))
    one = named("shape", dst.valid.cols == 1, help="dst has one valid column")
    return (
        of_types(
            named("shape", dst.valid.rows == src.valid.rows, help="one result for each row"),
            enough=src.valid.rows <= dst.rows,
        ),
        on(CPU, one),
        on(HARDWARE, by(ASSEMBLER, one)),
        named("layout", column, help="dst is nd, or dn with one column"),
        in_vec(dst),
    )


def room_of_rows(pairs: bool) -> Rules:
    """Require the scratch of floats on A2/A3 if a row of src fills more than one register.

    Each row has one register, or with `pairs` one for each two of the source. Four shapes of 8192
    f32 that are reduced to a column need 4096 bytes.
    """
    dst, src, tmp = RowReduce.dst, RowReduce.src, RowReduce.tmp
    wide = tmp.cols * src.size  # bytes
    whole = both(src.valid.rows == src.rows, src.valid.cols == src.cols, ~src.dynamic_cols)
    shaped = both(src.cols.isin(128, 256, 512, 1024), src.rows * src.cols == 8192)
    folded = both(dst.layout == DN, src.dtype == f32, shaped, whole)
    several = both(*(cols * src.size > REGISTER for cols in (src.cols, src.valid.cols)))
    columns = (src.valid.cols, src.cols) if pairs else ()
    halves = [wide >= cols * src.size // (2 * REGISTER) * REGISTER for cols in columns]
    rows = either(tmp.rows >= src.valid.rows, tmp.rows >= src.rows)
    width = (wide >= REGISTER, *(either(*halves) for _ in halves[:1]))
    return on(
        A2A3,
        when(
            both(tmp.given, src.dtype.isin(*FLOATS), several),
            when(folded, named("shape", tmp.nbytes >= 4096, help=FOLDED)),
            when(~folded, named("shape", *width, rows, help=PAIRED if pairs else UNPAIRED)),
        ),
    )


def of_rows() -> Rules:
    """Return the rules of the source and the scratch of a reduction along rows."""
    src, tmp = RowReduce.src, RowReduce.tmp
    return (
        in_vec(src),
        on(HARDWARE, when(tmp.given, in_vec(tmp))),
        on(A2A3, when(tmp.given, one_type(src, tmp), named("shape", tmp.nbytes >= LEAST))),
        row_major(src),
        named_scratch(tmp, (A2A3,)),
    )


def of_elements(dst: Operand, src: Operand, targets: tuple[str, ...]) -> Rules:
    """Require elements to reduce, unless all regions are empty, as the assembler does."""
    some = named("shape", src.filled == Const(True), help="the reduced extent is at least 1")
    return on(targets, when(dst.filled == Const(True), some))


def by_row(cpu: Expr, a2a3: DTypes, a5: DTypes) -> Rules:
    """Return the rules of a reduction along rows; `cpu`: its element types there."""
    dst, src = RowReduce.dst, RowReduce.src
    return (
        on(CPU, cpu),
        on(HARDWARE, one_type(dst, src)),
        on(A2A3, dst.dtype.isin(*a2a3)),
        on(A5, dst.dtype.isin(*a5)),
        on(PEDANTIC, warns(named("shape", both(src.valid.rows >= 1, src.valid.cols >= 1)))),
        one_of_each_row(dst),
        of_rows(),
    )


def total(x: Array, dtype: DType) -> Array:
    """Return row sums: floats in f32, rounded once at the end, integers in the result's type."""
    return x.cast(f32 if x.dtype.is_float else dtype).fold("add", 1, 0).cast(dtype)


def row_sums(dst: Cells, src: Cells, order: Order, saturates: bool) -> Array:
    """Return the sum of each row, in the order of a target."""
    add, x = (saturated if saturates else operator.add), src[src.valid]
    if x.dtype.is_int or order in (Order.CPU, Order.RECORDED):
        return total(x, dst.dtype)
    if order is Order.LEFT:
        return x.fold("add", 1, 0).cast(dst.dtype)
    if order is Order.A5:
        return by_register(src, add)
    grouped = in_groups(src) if dst.layout == DN and x.dtype == f32 else None
    return lanewise(src, add) if grouped is None else grouped


def across(word: str, start: int | None = None) -> Callable[[Array, DType], Array]:
    """Return a left-to-right fold of a row in the type of the elements."""
    return lambda x, dtype: x.fold(word, 1, start).cast(dtype)


def as_many_rows(dst: Operand, src: Operand) -> Rules:
    """Require sums with the rows of `src` in the CPU simulator, where a column fills lines."""
    lines = (src.rows + dst.c0 - 1) // dst.c0 * dst.c0
    rows = either(dst.rows == src.rows, both(dst.layout == DN, dst.rows == lines))
    return on(CPU, named("shape", rows, help="declare as many rows as src has, or whole lines"))


SUM_CPU = pairs(RowReduce.dst, RowReduce.src, *WIDENING, (i16, (i16, i32)), (i32, (i32,)))
MAX_CPU = both(RowReduce.dst.dtype.isin(*NUMBERS), RowReduce.src.dtype.isin(*NUMBERS))


class TRowSum(
    RowReduce,
    rules=(
        by_row(SUM_CPU, VEC_A2A3, SUM_A5),
        as_many_rows(RowReduce.dst, RowReduce.src),
        room_of_rows(pairs=True),
    ),
    uses=(TARGET,),
):
    """dst[i, 0] = src[i, 0] + src[i, 1] + ...; integers wrap in dst's type.

    Floats on cpu: from left to right, starting with 0, in f32, with one rounding at the end. On
    a2a3 and a5 every step rounds to the element type. A register of 256 bytes is added as a tree:
    neighbours, then neighbours of those sums. a5 adds the trees of one register after the other to
    0. a2a3 first adds register to register (the second of each two to the first, the remaining one
    to the sum of the first two, then neighbours again), and last the tree of that. A sum of NaN, or
    of infinities of both signs, is NaN. Under the reading saturated-sums each sum of two f16 that
    overflows is 65504 on these targets.
    """

    recorded = {"plain": {}, "f16_f32": {}, "bf16_f32": {}, "i16_i32": {}}
    disputes = ("E31", "E33", "E39", "E62", "E81")

    def run(dst, src, target):
        dst[first_column(src)] = row_sums(dst, src, target.order, target.saturated_sums)


def row_products(src: Cells, order: Order) -> Array:
    """Return the product of each row, in the order of a target."""
    x = src[src.valid]
    if x.dtype.is_int or order not in (Order.A2A3, Order.A5):
        return x.fold("mul", 1, 1)
    if order is Order.A5:
        return by_halves(products_by_lane(src, REGISTER))
    return products_by_lane(src, LEAST).cast(f32).fold("mul", 1).cast(x.dtype)


class TRowProd(RowReduce, rules=by_row(MAX_CPU, VEC_A2A3, VEC_A2A3), uses=(TARGET,)):
    """dst[i, 0] = src[i, 0] * src[i, 1] * ..., from left to right, starting with 1.

    Each step rounds to the element type; integers wrap. Floats on a5: registers of 256 bytes lane
    by lane, from the left, then the first half of the lanes by the second, and again. On a2a3:
    lines of 32 bytes lane by lane, then the lanes from the left; those of f16 in f32, rounded once.
    """

    disputes = ("E33", "E39")

    def run(dst, src, target):
        dst[first_column(src)] = row_products(src, target.order).cast(dst.dtype)


OF_EXTREME = (by_row(MAX_CPU, VEC_A2A3, MAX_A5), room_of_rows(pairs=False))


class RowExtreme(RowFold, abstract=True, rules=OF_EXTREME):
    """dst[i, 0] = an extreme of row i."""

    specials = NAN_IN_FRONT
    disputes = ("E2", "E39", "V9")


class TRowMax(RowExtreme, f=across("max")):
    """dst[i, 0] = the largest of src[i, 0], src[i, 1], ..., the first of equal ones."""


class TRowMin(RowExtreme, f=across("min")):
    """dst[i, 0] = the smallest of src[i, 0], src[i, 1], ..., the first of equal ones."""


class ColReduce(Instr, abstract=True, pipe=V, specials=NAN_COMPUTED):
    """One result for each column; a source without rows leaves `dst` unchanged."""

    dst = Out(Tile, doc="one valid row: a result for each column")
    src = In(Tile, doc="the columns to reduce")
    written_over = ((dst, src),)  # results start with the first row
    example = {"dst": OF_A_COLUMN}
    elided = {"dst": Like(src, Const(1), src.valid.cols)}
    recorded = {"plain": {}, "f16_f32": {}, "bf16_f32": {}}


class ColFold(ColReduce, abstract=True):
    """dst[0, j] = f(column j of src)."""

    f: ClassVar[Fold]

    def run(cls, dst, src):
        dst[first_row(src)] = cls.f(src[src.valid].cast(dst.dtype))


def one_of_each_column(dst: Operand, src: Operand) -> Rules:
    """Require a tile with a result for each column of the source."""
    return (
        named("shape", dst.valid.rows == 1, help="dst has one valid row"),
        of_types(
            named("shape", dst.valid.cols == src.valid.cols, help="one result for each column"),
            enough=src.valid.cols <= dst.cols,
        ),
        in_vec(dst, src),
    )


def by_column(a2a3: DTypes, a5: DTypes) -> Rules:
    """Return the rules of a reduction along columns."""
    dst, src = ColReduce.dst, ColReduce.src
    one = both(src.dtype == dst.dtype, src.dtype.isin(*NUMBERS))
    stored = both(dst.layout == ND, src.layout == ND)
    return (
        on(CPU, either(one, pairs(dst, src, *WIDENING))),
        on(HARDWARE, one_type(dst, src)),
        on(A2A3, dst.dtype.isin(*a2a3)),
        on(A5, dst.dtype.isin(*a5)),
        one_of_each_column(dst, src),
        named("layout", stored, help="store both row-major"),
    )


def down(word: str, start: int | None = None) -> Fold:
    """Return a top-to-bottom fold of a column."""
    return lambda x: x.fold(word, 0, start)


WHICH_ORDER = "set isBinary to tell whether the scratch is used"


class TColSum(ColReduce, uses=(TARGET,), disputes=("E29", "E33")):
    """dst[0, j] = src[0, j] + src[1, j] + ..., from top to bottom, starting with 0.

    Every step rounds to dst's element type; integers wrap. With `is_binary` a2a3 and a5 add
    neighbouring rows, then neighbours of these sums, until one is left; a single last one is added
    to the pair before it. The CPU simulator ignores it. A source without rows leaves `dst`
    unchanged.
    """

    dst, src = ColReduce.dst, ColReduce.src
    tmp = Scratch(Tile, None, doc="of the binary order")
    is_binary = Attr(bool, None, key="isBinary")
    asm = Asm(
        attrs_inside=" ",
        inside_with="tmp",
        cpp_text="TCOLSUM({dst}, {src}[, {tmp}, {is_binary}]);",
    )
    half = tmp.nbytes >= (src.valid.rows + 1) // 2 * src.valid.cols * src.size
    room = named("shape", tmp.cols >= src.valid.cols, tmp.rows >= src.valid.rows // 2, half)
    rules = (
        by_column(VEC_A2A3, VEC_A5),
        of_elements(dst, src, (A5,)),
        on(HARDWARE, when(tmp.given, in_vec(tmp), when(is_binary, one_type(src, tmp), room))),
        on(HARDWARE, when(tmp.given, named("attribute", is_binary.given, help=WHICH_ORDER))),
        when(is_binary, named_scratch(tmp, HARDWARE)),
    )
    recorded = {**ColReduce.recorded, "tmp": {}}

    def run(dst, src, is_binary, target):
        x = src[src.valid].cast(dst.dtype)
        pairs = bool(is_binary) and target.order in (Order.A2A3, Order.A5) and x.dtype.is_float
        dst[first_row(src)] = in_pairs(x, src) if pairs else x.fold("add", 0, 0)


class TColProd(ColFold, f=down("mul", 1), rules=by_column(VEC_A2A3, PROD_COL_A5)):
    """dst[0, j] = src[0, j] * src[1, j] * ..., from top to bottom, starting with 1.

    Every step rounds to dst's element type; integers wrap. A source without rows leaves `dst`
    unchanged.
    """

    disputes = ("E29", "E33")


EXTREME = (by_column(VEC_A2A3, VEC_A5), of_elements(ColReduce.dst, ColReduce.src, (A5,)))


class ColExtreme(ColFold, abstract=True, rules=EXTREME, specials=NAN_IN_FRONT):
    """dst[0, j] = an extreme of column j."""

    disputes = ("E2", "E29", "V9")


class TColMax(ColExtreme, f=down("max")):
    """dst[0, j] = the largest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.
    """


class TColMin(ColExtreme, f=down("min")):
    """dst[0, j] = the smallest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.
    """


class TPairReduceSum(Instr, pipe=V, uses=(TARGET,), specials=NAN_COMPUTED, disputes=("E61",)):
    """dst[i, k] = src[i, 2k] + src[i, 2k + 1].

    In an odd number of columns the last has no partner: the CPU simulator adds 0 to it, A2/A3 and
    A5 leave it out. Every other element of dst's storage becomes 0. Integers wrap.
    """

    dst = Out(Tile, doc="receives the sums, in the first half of its valid columns")
    src = In(Tile, doc="the elements to add in pairs")
    elided = {"dst": like(src)}
    same = both(dst.valid.rows == src.valid.rows, dst.valid.cols == src.valid.cols)
    rules = (
        one_type(dst, src),
        on(CPU, dst.dtype.isin(*NUMBERS)),
        on(HARDWARE, dst.dtype.isin(f16, f32)),
        named("shape", same, help="dst has the valid region of src"),
        named("layout", both(dst.layout == ND, src.layout == ND), help="store both row-major"),
        in_vec(dst, src),
    )

    def run(dst, src, target):
        rows, cols = src.valid
        halves = cols // 2
        left = src[:rows, 0 : 2 * halves : 2]
        right = src[:rows, least(1, cols) : most(2 * halves, least(1, cols)) : 2]
        last = src[:rows, 2 * halves : cols] + 0
        dst.fill(0)
        dst[:rows, :halves] = left + right
        if not target.chip:
            dst[:rows, halves : halves + cols % 2] = last
