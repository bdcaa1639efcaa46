"""THISTOGRAM: cumulative counts of byte values in each row."""

from ptokit.isa.lang.page import *

BINS = 256
COLUMN = "of u16 the filters are a column, col_major"
HALVES = {
    "src": "!pto.tile_buf<vec, 32x64xu16, valid=4x64>",
    "dst": "!pto.tile_buf<vec, 32x256xu32, valid=4x256>",
}
FILTER = "!pto.tile_buf<vec, 32x1xu8, blayout=col_major, valid=4x1>"
LINES = "a line of filters for each byte above, as wide as src"
UNSIGNED = "C++ counts numbers without sign"


class Histogram(Instr, abstract=True, targets=(CPU, A5), pipe=V, disputes=("E21", "E71")):
    """Counts of one byte of the elements of each row, up to and including each value."""

    dst = Out(Tile, doc="256 counts for each row; columns behind them stay")
    src = In(Tile, doc="the elements")
    idx = In(Tile, doc="the bytes above that an element must have to count")
    example = {**HALVES, "idx": FILTER}
    elided = {"dst": Like(src, src.valid.rows, Const(BINS), dtype=lambda _: u32)}
    counted = (
        named("element-type", dst.dtype.isin(u32, i32), idx.dtype.isin(u8, i8)),
        warns(named("element-type", dst.dtype != i32, idx.dtype != i8, help=UNSIGNED)),
        named("shape", dst.valid.rows == src.valid.rows),
        named("shape", dst.valid.cols >= BINS, help="a column for each byte"),
        on(A5, warns(named("shape", dst.cols <= BINS)), dst.layout == ND, src.layout == ND),
        on(A5, named("shape", dst.rows == src.rows)),
        in_vec(dst, src, idx),
    )
    by_row = named("shape", idx.valid.rows >= src.valid.rows, idx.valid.cols >= 1)
    column = (
        named("layout", idx.layout == DN, help=COLUMN),
        when(
            idx.layout == DN,
            by(ASSEMBLER, named("shape", idx.rows == src.rows)),
            named("shape", idx.valid.rows == src.valid.rows, idx.cols == 1),
        ),
    )


def count(dst: Cells, src: Cells, idx: Cells, byte: int) -> None:
    """Count the elements whose bytes above `byte` equal those of `idx`.

    For u16 each row has a filter; for u32 all rows share one, with the highest byte first.
    """
    (rows, cols), top = src.valid, src.dtype.size - 1
    x, where = src[:rows, :cols], None
    for number, place in enumerate(range(top, byte, -1)):
        wanted = idx[:rows, :1] if top == 1 else idx[number, :1]
        same = ((x >> 8 * place) & 0xFF).equals(wanted.cast(src.dtype) & 0xFF)
        where = same if where is None else where & same
    dst[:rows, :BINS] = ((x >> 8 * byte) & 0xFF).tally(BINS, where)


class THistogram(Histogram, form="byte", recorded={"u16": {}, "u32": {}}):
    """dst[r, n] = the number of elements of row r with a byte of at most n; byte 0 is the lowest.

    Only elements whose bytes above it equal those of `idx` count: for u16 a filter for each row,
    for u32 one for all rows, idx[0, 0] the highest byte.
    """

    dst, src, idx = Histogram.dst, Histogram.src, Histogram.idx
    byte = Attr(int, 1, bits=32)
    asm = Asm(cpp_text="THISTOGRAM<HistByte::BYTE_{byte}>({dst}, {src}, {idx});")
    lines = (
        named("shape", idx.rows + byte == 3, idx.valid.rows + byte == 3, help=LINES),
        named("shape", idx.cols == src.cols, idx.valid.cols == src.valid.cols, help=LINES),
    )
    rules = (
        Histogram.counted,
        on(A5, when(src.size == 2, Histogram.column)),
        on(A5, when(both(src.size == 4, byte != 3), named("layout", idx.layout == ND), lines)),
        named("element-type", src.dtype.isin(u16, i16, u32, i32), help="use 16 or 32 bits"),
        warns(named("element-type", ~src.dtype.isin(i16, i32), help=UNSIGNED)),
        named("attribute", both(byte >= 0, byte < src.size), help="a byte of the elements"),
        on(CPU, when(both(src.size == 2, byte == 0), Histogram.by_row)),
        on(
            CPU,
            when(
                src.size == 4,
                named("shape", idx.valid.rows + byte >= 3, either(byte == 3, idx.valid.cols >= 1)),
            ),
        ),
    )

    def run(dst, src, idx, byte):
        count(dst, src, idx, byte)


class THistogramHalf(Histogram, form="half", name="thistogram"):
    """THISTOGRAM of u16 in older text: with `is_msb` the upper byte, else the lower one."""

    dst, src, idx = Histogram.dst, Histogram.src, Histogram.idx
    is_msb = Attr(bool, key="isMSB")
    newer = Attr(int, None, key="byte", cpp=False)
    upper, lower = both(is_msb, newer == 1), both(~is_msb, newer == 0)
    agree = either(~newer.given, upper, lower)

    asm = Asm(
        cpp_text="THISTOGRAM<{is_msb} ? HistByte::BYTE_1 : HistByte::BYTE_0>({dst}, {src}, {idx});"
    )
    rules = (
        Histogram.counted,
        on(A5, Histogram.column),
        named("element-type", src.dtype.isin(u16, i16)),
        warns(named("element-type", src.dtype != i16, help=UNSIGNED)),
        named("attribute", agree, help="give byte; isMSB is its older spelling"),
        on(CPU, Histogram.by_row),
    )

    def run(dst, src, idx, is_msb):
        count(dst, src, idx, int(is_msb))
