"""Shapes of tiles of group quantisation on A5, whose code makes assumptions about them."""

from ptokit.isa.lang.page import *

GROUP = 32  # elements with a common exponent
WHOLE = "make the declared columns as many as the valid ones"
GROUPS = "declare the columns of the groups, and no more"
SRC_COLUMNS = "declare as many columns as src"
WORDS, HALVES = 64, 128  # elements of f32, of 16 bits, in a vector register
IN_REGISTERS = "whole vector registers are stored: declare more columns"
FILLED = "zeros are written into src, behind each row"
PADDED = "zeros reach the columns of a whole register, behind src too"
PAIRED_ROWS = "two rows of groups are one row of exp, declared and valid"


def filled(tile: Operand) -> Expr:
    """Return the formula 'the valid elements follow one another'."""
    return either(tile.valid.rows == 1, tile.cols == tile.valid.cols)


def is_region(tile: Operand, rows: Expr | int, cols: Expr | int) -> Expr:
    return both(tile.valid.rows == rows, tile.valid.cols == cols)


def of_groups(cols: Expr) -> Expr:
    """Return the number of columns rounded up to whole groups."""
    return (cols + GROUP - 1) // GROUP * GROUP


def made_of(dst: Operand, src: Operand, whole: Expr) -> Rules:
    """Require lines of dst as long as src's: A5 stores such lines."""
    cols = either(dst.valid.cols == src.valid.cols, dst.valid.cols == whole)
    return (
        named("shape", dst.valid.rows == src.valid.rows, cols),
        named("shape", dst.cols == src.cols, help=SRC_COLUMNS),
    )


def in_rows(types: Env, target: Target) -> Env:
    """Return a dst of one row as A5 fills it: with the rows of src."""
    dst, src = types["dst"], types["src"]
    pitch = dst.dtype == f4e2m1x2 or types.get("axis") is GroupAxis.ALONG
    if not target.is_chip or dst.rows != 1 or src.rows == 1 or not pitch:
        return {}
    return {"dst": replace(dst, rows=src.rows, cols=src.cols, valid=src.valid)}


def is_row(tile: Operand, count: Expr) -> Expr:
    """Return the formula 'one row of at least `count` elements': those after them are unchanged."""
    return both(tile.valid.rows == 1, tile.valid.cols >= count)


def stored_along(dst: Operand, src: Operand, exp: Operand, notes: tuple[Operand, Operand]) -> Rules:
    """Require the shapes for groups along rows on A5: exp is one row of them, or has src's rows."""
    whole = of_groups(src.valid.cols)
    per_row = whole // GROUP
    count = src.valid.rows * per_row
    flat, filled_up = exp.rows == 1, src.valid.cols == whole
    in_one = tuple(either(is_region(t, src.valid.rows, per_row), is_row(t, count)) for t in notes)
    held = both(exp.valid.rows >= src.valid.rows, exp.valid.cols >= per_row)
    return on(
        A5,
        made_of(dst, src, whole),
        when(src.dtype == f32, named("shape", filled_up, help="groups of f32 have 32 elements")),
        when(src.dtype != f32, warns(named("shape", filled_up, help=FILLED))),
        named("shape", *in_one, help="a number for each group: a row of all, or src's rows"),
        named("shape", *(filled(note) for note in notes), help=WHOLE),
        when(
            flat,
            named("shape", src.cols == whole, help=GROUPS),
            named("shape", is_row(exp, count)),
            warns(named("shape", registers(src, notes[1], count), help=IN_REGISTERS)),
        ),
        when(~flat, named("shape", held, help="a row for each of src")),
    )


def registers(src: Operand, scaling: Operand, count: Expr) -> Expr:
    """Return the formula '`scaling` has room for the stored registers', twice for large f32."""
    room = scaling.rows * scaling.cols
    elements, used = src.rows * src.cols, src.valid.rows * src.cols
    unrolled = both(elements > 1024, elements % 256 == 0, used % 256 == 0)
    once = either(unrolled, room >= (count + WORDS - 1) // WORDS * WORDS)
    twice = either(~unrolled, room >= (count * 2 + WORDS - 1) // WORDS * WORDS)
    halves = room >= (count + HALVES - 1) // HALVES * HALVES
    return either(both(src.dtype == f32, once, twice), both(src.dtype != f32, halves))


def stored_down(
    dst: Operand, src: Operand, exp: Operand, notes: tuple[Operand, Operand], pairs: Attr
) -> Rules:
    """Require the shapes for groups down columns on A5: all tiles have src's columns."""
    lines, cols = src.valid.rows // GROUP, src.valid.cols
    fp4 = dst.dtype == f4e2m1x2
    packed = "f16 becomes fp4 in whole 32-byte lines"
    return on(
        A5,
        same_region(dst, src),
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
            named("shape", src.rows % 64 == 0, exp.rows == src.rows // 64, help=PAIRED_ROWS),
            named("shape", is_region(exp, src.valid.rows // 64, cols * 2), help=PAIRED_ROWS),
            named("shape", exp.cols == (src.cols * 2 + 31) // 32 * 32, help=PAIRED_ROWS),
        ),
    )


def padded(src: Operand) -> Rules:
    """Require whole registers where A5 pads lines of 16-bit elements."""
    short = both(src.dtype != f32, src.valid.cols < src.cols, Const(HALVES) % src.cols == 0)
    whole = named("shape", src.valid.rows * src.cols % HALVES == 0, help=PADDED)
    return on(A5, warns(when(short, whole)))


def known_shapes(*tiles: Operand) -> Rules:
    """Require static shapes: compilers choose the code for A5 by them."""
    known = (both(~t.dynamic_rows, ~t.dynamic_cols) for t in tiles)
    return on(A5, named("dynamic-valid", both(*known), help="use static valid extents"))
