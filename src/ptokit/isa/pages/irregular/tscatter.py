"""TSCATTER by index and by mask."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.irregular.tgather import matching

WIDER = "dst is as wide as src, or wider"
EXACT = "make dst as large as the selection"


def scattered(dst: Operand, src: Operand, *others: Operand) -> Rules:
    """Return the rules that both forms share."""
    return (
        named("element-type", dst.dtype == src.dtype),
        named("element-type", dst.dtype.bits >= 8, help="whole bytes: no 4-bit elements"),
        *(in_vec(dst, src, *others), row_major(dst, src, *others)),
        on(A2A3, named("element-type", dst.size.isin(1, 2, 4))),
    )


class TScatter(
    Instr, inner_flags=(A2A3,), uses=(TARGET,), pipe=V, form="index", specials=NAN_MOVES
):
    """dst.storage[indexes[r, c]] = src[r, c], row by row: of equal indices the last one wins.

    On A2/A3 and A5 all other elements of dst become 0, on the CPU simulator they stay.
    """

    dst = Out(Tile, doc="receives the elements; indices count its storage")
    src = In(Tile, doc="the elements")
    indexes = In(Tile, doc="where they go, each an element of dst's storage")
    mask = Attr(MaskPattern, None, key="maskPattern", cpp=False)
    example = {"indexes": VEC_I32}
    enough = both(indexes.valid.rows <= src.valid.rows, indexes.valid.cols <= src.valid.cols)
    room = both(dst.valid.rows >= src.valid.rows, dst.valid.cols >= src.valid.cols)
    width = either(
        both(dst.size.isin(4, 8), indexes.dtype.isin(i32, u32)),
        both(dst.size.isin(1, 2), indexes.dtype.isin(i16, u16)),
    )
    rules = (
        scattered(dst, src, indexes),
        on(CPU, named("element-type", indexes.dtype.isin(i16, u16, i32, u32))),
        on(HARDWARE, named("element-type", width, help="32-bit indices for 4 bytes, else 16")),
        named("shape", enough, help="an element for each index"),
        on(HARDWARE, when(enough, by(ASSEMBLER, same_region(indexes, src)))),
        on(HARDWARE, named("shape", room, help="dst has src's rows and columns")),
        named("attribute", ~mask.given, help="give indices or a mask, not both"),
    )
    recorded = {"index": {"indexes": "indices"}}
    disputes = ("X5", "X7", "X114", "C60")

    def run(dst, src, indexes, target):
        x, index = src[indexes.valid], indexes[indexes.valid].cast(i64)
        if target.chip:
            dst.fill(0)
        dst.flat().scatter(index, x)


def spread(given: Expr, wanted: Expr, pattern: Attr) -> Rules:
    """Require the number of rows or columns that the pattern gives."""
    exact = named("shape", given == matching(wanted, pattern), help=EXACT)
    return on(CPU, exact), on(HARDWARE, named("shape", wanted == given * pattern.period))


class TScatterMask(
    Instr,
    name="tscatter",
    inner_flags=(A2A3,),
    uses=(TARGET,),
    form="mask",
    pipe=V,
    specials=NAN_MOVES,
    asm=Asm(attrs_inside=", ", call="TSCATTER<pattern, axis?>(dst, src)"),
):
    """Spread columns (or rows) over those whose index matches `pattern`; the others become 0.

    The pattern's digits count from the right: P0001 fills indices 0, 4, 8, ...; bits move
    unchanged. On A2/A3 and A5 elements outside dst's valid region become 0, too, and by column
    those beyond src's columns.
    """

    dst = Out(Tile, doc="receives the elements, and zeros between them")
    src = In(Tile, doc="the columns or rows")
    pattern = Attr(MaskPattern, None, key="maskPattern")
    axis = Attr(ScatterAxis, ScatterAxis.ROW, key="scatterAxis", quoted=True)
    example = {"dst": WIDE, "pattern": MaskPattern.P0101}
    selects = True  # chosen among the forms by its attribute
    rules = (
        named("attribute", pattern.given, help="give maskPattern, P0101 to P1111"),
        scattered(dst, src),
        when(
            axis == ScatterAxis.ROW,
            named("shape", dst.valid.rows == src.valid.rows),
            spread(src.valid.cols, dst.valid.cols, pattern),
        ),
        when(
            axis == ScatterAxis.COL,
            on(CPU, named("shape", dst.valid.cols == src.valid.cols)),
            on(HARDWARE, named("shape", dst.valid.cols >= src.valid.cols, help=WIDER)),
            spread(src.valid.rows, dst.valid.rows, pattern),
        ),
    )
    elided = {"dst": Like(src, src.valid.rows, src.valid.cols * pattern.period)}
    recorded = {"mask_row": {"pattern": "mask_pattern"}, "mask_col": {"pattern": "mask_pattern"}}
    disputes = ("X5", "X7", "X114")

    def run(dst, src, pattern, axis, target):
        (rows, cols), first, step = dst.valid, pattern.first, pattern.period
        row, col = dst.iota(rows, cols)
        if axis is ScatterAxis.COL:
            filled, place = (row % step).equals(first), (row // step) * src.cols + col
            filled = filled & (col < src.valid.cols)
        else:
            filled, place = (col % step).equals(first), row * src.cols + col // step
        x = src.take(place, where=filled)
        if target.chip:
            dst.fill(0)
        dst[:rows, :cols] = x
