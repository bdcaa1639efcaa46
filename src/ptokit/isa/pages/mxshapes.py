"""How tiles of quantisation by groups lie on A5: what its code stores without looking at shapes."""

from ptokit.isa.lang.page import *

GROUP = 32  # elements that share an exponent
WHOLE = "make the declared columns as many as the valid ones"
SRC_COLUMNS = "declare as many columns as src"
WORDS, HALVES = 64, 128  # elements of f32, of 16 bits, in a vector register
IN_REGISTERS = "whole vector registers are stored: declare more columns"
PAIRED_ROWS = "two rows of groups are one row of exp, declared and valid"


def filled(tile: Operand) -> Expr:
    """The valid elements follow each other."""
    return either(tile.valid.rows == 1, tile.cols == tile.valid.cols)


def is_region(tile: Operand, rows: Expr | int, cols: Expr | int) -> Expr:
    return both(tile.valid.rows == rows, tile.valid.cols == cols)


def is_row(tile: Operand, count: Expr) -> Expr:
    """One row of so many elements at least: those behind are left."""
    return both(tile.valid.rows == 1, tile.valid.cols >= count)


def stored_along(page: type[Any]) -> tuple[Ruled, ...]:  # Any: the base of these pages
    """Groups along the rows, on A5: exp is one row of them, or has src's rows."""
    dst, src, exp, notes = page.dst, page.src, page.exp, (page.max, page.scaling)
    per_row = src.valid.cols // GROUP
    count = src.valid.rows * per_row
    flat = exp.rows == 1
    in_one = tuple(either(is_region(t, src.valid.rows, per_row), is_row(t, count)) for t in notes)
    return on(
        A5,
        named("shape", dst.cols == src.cols, help=SRC_COLUMNS),
        named("shape", *in_one, help="a number for each group: a row of all, or src's rows"),
        named("shape", *(filled(note) for note in notes), help=WHOLE),
        when(
            flat,
            named("shape", src.cols == src.valid.cols, help=WHOLE),
            named("shape", is_row(exp, count)),
            warns(named("shape", registers(page, count), help=IN_REGISTERS)),
        ),
        when(~flat, named("shape", is_region(exp, src.valid.rows, per_row))),
    )


def registers(page: type[Any], count: Expr) -> Expr:
    """Room in `scaling` for the registers that are stored: twice as many of large tiles of f32."""
    src, scaling = page.src, page.scaling
    room = scaling.rows * scaling.cols
    elements, used = src.rows * src.cols, src.valid.rows * src.cols
    unrolled = both(elements > 1024, elements % 256 == 0, used % 256 == 0)
    once = either(unrolled, room >= (count + WORDS - 1) // WORDS * WORDS)
    twice = either(~unrolled, room >= (count * 2 + WORDS - 1) // WORDS * WORDS)
    halves = room >= (count + HALVES - 1) // HALVES * HALVES
    return either(both(src.dtype == f32, once, twice), both(src.dtype != f32, halves))


def stored_down(page: type[Any]) -> tuple[Ruled, ...]:  # Any: the base of these pages
    """Groups down the columns, on A5: everything has src's columns."""
    dst, src, exp, notes = page.dst, page.src, page.exp, (page.max, page.scaling)
    lines, cols = src.valid.rows // GROUP, src.valid.cols
    fp4, pairs = dst.dtype == f4e2m1x2, page.interleave
    packed = "f16 becomes fp4 in whole 32-byte lines"
    return on(
        A5,
        when(fp4, named("shape", dst.cols == src.cols, help=SRC_COLUMNS)),
        when(both(fp4, src.dtype == f16), named("shape", src.cols % 64 == 0, help=packed)),
        named("shape", *(is_region(note, lines, cols) for note in notes)),
        named("shape", *(note.cols == src.cols for note in notes), help=SRC_COLUMNS),
        when(
            ~pairs,
            named("shape", is_region(exp, lines, cols)),
            named("shape", exp.cols == src.cols, help=SRC_COLUMNS),
        ),
        when(
            pairs,
            named("element-type", src.dtype != f32, help="f32 is not interleaved"),
            named("shape", src.rows % 64 == 0, exp.rows == src.rows // 64, help=PAIRED_ROWS),
            named("shape", is_region(exp, src.valid.rows // 64, cols * 2), help=PAIRED_ROWS),
            named("shape", exp.cols == (src.cols * 2 + 31) // 32 * 32, help=PAIRED_ROWS),
        ),
    )


def padded(src: Operand) -> tuple[Ruled, ...]:
    """What A5 pads lines of 16-bit elements with are whole registers."""
    short = both(src.dtype != f32, src.valid.cols < src.cols, Const(HALVES) % src.cols == 0)
    whole = named("shape", src.valid.rows * src.cols % HALVES == 0, help="pad whole registers")
    return on(A5, when(short, whole))


def known_shapes(*tiles: Operand) -> tuple[Ruled, ...]:
    """Compilers choose the code for A5 by the shapes."""
    known = (both(~t.dynamic_rows, ~t.dynamic_cols) for t in tiles)
    return on(A5, named("dynamic-valid", both(*known), help="use static valid extents"))
