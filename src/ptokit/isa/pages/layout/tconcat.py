"""TCONCAT: join two tiles side by side, all columns or counts that differ by row."""

from ptokit.isa.lang.page import *

DATA = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
COUNTS = (i8, u8, i16, u16, i32, u32)
SIGNED = (i8, i16, i32, f16, bf16, f32)


class Concat(
    Instr, inner_flags=(A2A3,), abstract=True, pipe=V, disputes=("C20",), specials=NAN_MOVES
):
    """The columns of `src0`, then of `src1`, in each row of `dst`: one element type, equal rows."""

    dst = Out(Tile, doc="receives both, side by side")
    src0 = In(Tile, doc="the left part")
    src1 = In(Tile, doc="the right part")

    joined = (
        one_type(dst, src0, src1),
        named("shape", src0.valid.rows == dst.valid.rows, src1.valid.rows == dst.valid.rows),
        in_vec(dst, src0, src1),
    )


class TConcat(Concat):
    """Each row of `dst` is the row of `src0` followed by the row of `src1`.

    dst[i, j] = src0[i, j] for j < n0, src1[i, j - n0] from there on; n0 = src0.valid.cols.
    """

    dst, src0, src1 = Concat.dst, Concat.src0, Concat.src1
    example = {"dst": WIDE}
    width = src0.valid.cols + src1.valid.cols
    fits = width <= dst.cols
    rules = (
        Concat.joined,
        dst.dtype.isin(*DATA),
        named("shape", fits, help="make dst wider"),
        when(fits, on(A5, warns(named("shape", width == dst.valid.cols)))),
        on(A5, both(dst.layout == ND, src0.layout == ND, src1.layout == ND)),
    )
    elided = {"dst": Like(src0, src0.valid.rows, src0.valid.cols + src1.valid.cols)}

    def run(dst, src0, src1):
        rows, cols = dst.valid
        first = least(src0.valid.cols, cols)
        second = least(src1.valid.cols, cols - first)
        left, right = src0[:rows, :first], src1[:rows, :second]
        dst[:rows, :first] = left
        dst[:rows, first : first + second] = right


def counted(count: Cells, rows: int) -> Array:
    """Return elements per row: the index tile counts bytes of its own element size."""
    return count[:rows, 0].cast(i64) // count.dtype.size


def join(dst: Cells, src0: Cells, src1: Cells, count0: Cells, count1: Cells) -> Array:
    """Write the counted elements of each row, cut off at dst's width; return the counts."""
    rows, cols = dst.valid
    row, col = dst.iota(rows, cols)
    first = counted(count0, rows).minimum(cols)
    total = (first + counted(count1, rows)).minimum(cols)
    left, inside = col < first, col < total
    a = src0.take(row * src0.cols + col, where=left)
    b = src1.take(row * src1.cols + col - first, where=inside & (col >= first))
    dst.put((slice(0, rows), slice(0, cols)), left.where(a, b), inside)
    return total


def counts(dst: Operand, *tiles: Operand) -> Rules:
    """Require index tiles: integers of one type, a row for each row of dst."""
    first, *others = tiles
    return (
        first.dtype.isin(*COUNTS),
        *(tile.dtype == first.dtype for tile in others),
        named("shape", (both(t.valid.rows == dst.valid.rows, t.valid.cols >= 1) for t in tiles)),
    )


class TConcatIndex(Concat, name="tconcat", form="counts by row", recorded={"index": {}}):
    """Row r of `dst`: src0Idx[r] / size elements of `src0`, then src1Idx[r] / size of `src1`.

    An index counts bytes of its own element type. Elements beyond dst's width are cut off; columns
    of dst after the last element stay.
    """

    asm = Asm(since=(("v0.57", "tconcatidx"),))
    src0_idx = In(Tile, cpp="src0Idx", doc="how much of src0, by row")
    src1_idx = In(Tile, cpp="src1Idx", doc="how much of src1, by row")

    example = (
        f"NAME ins(%src0, %src1, %n0, %n1 : {VEC_F32}, {VEC_F32}, {COUNT}, {COUNT})"
        f" outs(%dst : {WIDE})"
    )
    signed = "the assembler takes no types without sign here"
    rules = (
        Concat.joined,
        on(CPU, Concat.dst.dtype.isin(*DATA)),
        counts(Concat.dst, src0_idx, src1_idx),
        on(HARDWARE, named("element-type", Concat.dst.dtype.isin(*SIGNED), help=signed)),
        on(HARDWARE, named("element-type", src0_idx.dtype.isin(*SIGNED), help=signed)),
    )

    def run(dst, src0, src1, src0_idx, src1_idx):
        join(dst, src0, src1, src0_idx, src1_idx)


class TConcatDstIndex(Concat, name="tconcat", form="counts by row, and the sum"):
    """The form with counts, which also writes the bytes of each result row to `dst_idx`."""

    dst_idx = Out(Tile, cpp="dstIdx", doc="one column: what each row of dst holds")
    src0_idx = In(Tile, cpp="src0Idx", doc="how much of src0, by row")
    src1_idx = In(Tile, cpp="src1Idx", doc="how much of src1, by row")
    example = {"src0_idx": COUNT, "src1_idx": COUNT, "dst": WIDE, "dst_idx": COUNT}
    rules = (
        Concat.joined,
        Concat.dst.dtype.isin(*DATA),
        counts(Concat.dst, src0_idx, src1_idx, dst_idx),
        named("shape", dst_idx.valid.cols == 1, help="dst_idx has one column"),
    )
    recorded = {"dst_index": {}}

    def run(dst, src0, src1, dst_idx, src0_idx, src1_idx):
        total = join(dst, src0, src1, src0_idx, src1_idx)
        dst_idx[: dst.valid.rows, 0] = (total * dst_idx.dtype.size).cast(dst_idx.dtype)
