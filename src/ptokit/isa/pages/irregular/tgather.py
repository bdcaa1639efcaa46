"""TGATHER in its three forms, and TGATHERB."""

from ptokit.isa.lang.page import *
from ptokit.values.scalars import is_known

ROW_MAJOR = BLayout.ROW_MAJOR
EVERY = "dst must hold all that is selected"
CONTIGUOUS = "make dst's valid columns its declared columns"
NAMED = "A2/A3 needs the scratch tile tmp: `ptokit opt --passes scratch` names one, if it can"
MASK_A2A3 = (i16, u16, i32, u32, f16, bf16, f32)
MASK_A5 = (*MASK_A2A3, i8, u8, f8e4m3, f8e5m2, hif8)
BITS_64 = (i64, u64)
IN_HEADERS = "headers of A5 gather 64 bits, the assembler does not"
OF_WIDE = "use one of these types, with 32-bit indices for 64-bit elements"
BY_ROW = "use one of these types; 64-bit elements are kept by rows alone"
INDEX_A5 = (i8, u8, i16, u16, i32, u32, f16, f32, f8e4m3, f8e5m2)
COMPARED = (f32, f16, i32, u32, i16, u16)
BYTES = (i8, u8)
NO_BYTES = "documentation and assembler compare elements of 16 and 32 bits"
OF_BYTES = "the assembler takes indices of 32 bits, hardware reads 16 bits of each"


def each_in_vec(*tiles: Operand) -> Rules:
    return tuple(on(HARDWARE, named("location", tile.loc == VEC)) for tile in tiles)


class TGather(Instr, inner_flags=(A2A3,), uses=(TARGET,), pipe=V, form="index", specials=NAN_MOVES):
    """dst[i, j] = src0[indices[i, j]], indices counting src0's declared shape row by row.

    An index out of range wraps on the CPU simulator; on A2/A3 and A5 it is an error. `outside`
    selects another policy.
    """

    dst = Out(Tile, doc="receives one element for each index")
    src0 = In(Tile, doc="the table")
    indices = In(Tile, cpp="src1", doc="which elements")
    tmp = scratch_of_a2a3()
    outside = Attr(GatherOOB, None, key="gatherOob")
    written_over = ((dst, indices),)
    example = {"indices": VEC_I32, "tmp": VEC_I32}
    same = both(indices.valid.rows == dst.valid.rows, indices.valid.cols == dst.valid.cols)
    enough = both(dst.valid.rows <= indices.rows, dst.valid.cols <= indices.cols)
    as_large = both(tmp.rows == indices.valid.rows, tmp.cols == indices.valid.cols)
    of_wide = both(dst.dtype.isin(*BITS_64), indices.size == 4)
    gathered = either(dst.dtype.isin(*INDEX_A5), of_wide)
    rules = (
        dst.dtype == src0.dtype,
        named("element-type", indices.dtype.isin(i16, u16, i32, u32), help="indices are integers"),
        of_types(
            named("shape", same, help="give one index for each element of dst"), enough=enough
        ),
        each_in_vec(dst, src0, indices),
        on(
            A2A3,
            named("element-type", dst.size.isin(2, 4), indices.size == 4),
            named("operand-count", tmp.given, help=NAMED),
            tmp.dtype == indices.dtype,
            named("shape", as_large, help="tmp is as large as the indices"),
            of_types(named("shape", dst.valid.cols == dst.cols, help=CONTIGUOUS), enough=enough),
        ),
        on(
            A5,
            named("element-type", gathered, help=OF_WIDE),
            by(ASSEMBLER, named("element-type", ~dst.dtype.isin(*BITS_64), help=IN_HEADERS)),
            when(
                dst.size == 1,
                by(BOARDS, named("element-type", indices.size == 2, help=OF_BYTES)),
            ),
            of_types(
                named("shape", indices.valid.cols == indices.cols, dst.valid.cols == dst.cols),
                enough=enough,
            ),
        ),
    )
    elided = {"dst": Like(src0, indices.valid.rows, indices.valid.cols)}
    recorded = {"index": {"src0": "src"}}
    disputes = ("C1", "C17", "C52", "C60")

    def run(dst, src0, indices, outside, target):
        index = indices[dst.valid].cast(i64)
        dst[dst.valid] = src0.take(index, outside or target.gathers)


def matching(count: Expr, pattern: Attr) -> Expr:
    """Return how many of `count` indices a pattern selects."""
    return (count - pattern.first + pattern.period - 1) // pattern.period


class TGatherMask(
    Instr,
    inner_flags=(A2A3,),
    uses=(TARGET,),
    name="tgather",
    form="mask",
    pipe=V,
    asm=Asm(attrs_inside=", "),
    specials=NAN_MOVES,
    disputes=("C17", "C31", "C60", "X124"),
):
    """Keep the columns (or rows) whose index matches `pattern`, in order.

    By row, the selected elements of all rows follow one another in dst's storage without gaps. On
    A5, rows of 64-bit elements start dst.cols / period apart, with one element for each whole
    period, and at most 64. The pattern's digits count from the right: P0001 keeps indices 0, 4, 8,
    ...; bits move unchanged.
    """

    dst = Out(Tile, doc="receives the selected elements")
    src = In(Tile, doc="the tile to select from")
    pattern = Attr(MaskPattern, None, key="maskPattern")
    axis = Attr(GatherAxis, GatherAxis.ROW, key="gatherAxis", quoted=True)
    example = {"src": WIDE, "pattern": MaskPattern.P0101}
    selects = True  # the attribute selects this form
    kept = matching(src.valid.cols, pattern)
    fits = src.valid.rows * kept <= dst.numel
    by_row = both(dst.dtype.isin(*BITS_64), axis == GatherAxis.ROW)
    moved = either(dst.dtype.isin(*MASK_A5), by_row)
    rules = (
        named("attribute", pattern.given, help="give maskPattern, P0101 to P1111"),
        named("element-type", dst.size == src.size),
        named("layout", both(dst.blayout == ROW_MAJOR, src.blayout == ROW_MAJOR)),
        each_in_vec(dst, src),
        on(A2A3, src.dtype.isin(*MASK_A2A3)),  # so dst's: these are all types of 2 and 4 bytes
        on(
            A5,
            src.dtype.isin(*MASK_A5, *BITS_64),
            named("element-type", moved, help=BY_ROW),
            by(ASSEMBLER, named("element-type", ~dst.dtype.isin(*BITS_64), help=IN_HEADERS)),
        ),
        when(
            axis == GatherAxis.ROW,
            of_types(named("shape", dst.valid.cols == dst.cols, help=CONTIGUOUS), enough=fits),
            named("shape", fits, help=EVERY),
        ),
        when(
            axis == GatherAxis.COL,
            named("shape", matching(src.valid.rows, pattern) <= dst.valid.rows, help=EVERY),
            named("shape", src.valid.cols <= dst.cols, help=EVERY),
        ),
    )
    elided = {"dst": Like(src, src.valid.rows, kept)}
    recorded = {"mask_row": {"pattern": "mask_pattern"}, "mask_col": {"pattern": "mask_pattern"}}

    def run(dst, src, pattern, axis, target):
        (rows, cols), first, step = src.valid, pattern.first, pattern.period
        if axis is GatherAxis.COL:
            start = least(first, src.rows)
            kept = most(0, -(-(rows - first) // step))
            selected = src[start : most(start, rows) : step, :cols]
            dst[:kept, :cols] = selected.bitcast(dst.dtype)
        elif target.chip and dst.dtype.bits == 64:
            kept = least(cols // step, 64)
            selected = src[:rows, least(first, kept * step) : kept * step : step]
            row, col = dst.iota(rows, kept)
            dst.flat().scatter(row * (dst.cols // step) + col, selected.bitcast(dst.dtype))
        else:
            start = least(first, src.cols)
            kept = most(0, -(-(cols - first) // step))
            selected = src[:rows, start : most(start, cols) : step].bitcast(dst.dtype)
            if is_known(kept) and kept:
                dst.flat(kept)[:rows, :kept] = selected
            else:
                dst.flat()[0, : rows * kept] = selected.reshaped(1, rows * kept)


def one_each(tile: Operand, src: Operand) -> Rules:
    """Require a value for each row of `src`: in a column, or in the first row."""
    rows = src.valid.rows
    column = both(tile.valid.cols == 1, tile.valid.rows >= rows)
    line = both(tile.valid.cols != 1, tile.valid.cols >= rows)
    return named("shape", either(column, line), help="one for each row of src0")


class CompareGather(
    Instr, inner_flags=(A2A3,), abstract=True, pipe=V, disputes=("C17", "C39", "C40", "C63", "C64")
):
    """For each row, list the flat indices of the elements greater than (or equal to) its threshold.

    dst[i, n] = offset + i * src0.cols + j for the n-th match j of row i; cdst[i] = the number of
    matches, which must fit in the row. Elements of dst after them keep their value. `k_value` is
    converted to src0's type; A5 takes bytes as unsigned, and compares 32 bits.
    """

    dst = Out(Tile, doc="receives the indices of the matches, row by row")
    src0 = In(Tile, doc="the elements to compare")
    cdst = Out(Tile, doc="receives the number of matches of each row")
    tmp = scratch_of_a2a3()
    cmp = Attr(CmpMode, CmpMode.EQ, key="cmpMode")
    equal = either(src0.dtype != i32, cmp == CmpMode.EQ)
    shared = (
        named("attribute", cmp.isin(CmpMode.GT, CmpMode.EQ), help="cmpMode is gt or eq"),
        named("element-type", dst.dtype.isin(i32, u32), cdst.dtype.isin(i32, u32)),
        one_each(cdst, src0),
        named("shape", dst.valid.rows >= src0.valid.rows, help="dst has a row for each of src0"),
        each_in_vec(dst, src0, cdst),
        on(
            A2A3,
            named("element-type", src0.dtype.isin(f32, f16, i32)),
            named("attribute", equal, help="i32 compares eq"),
            named("operand-count", tmp.given, help=NAMED),
        ),
    )
    of_words = named("element-type", src0.dtype.isin(*COMPARED), help=NO_BYTES)
    rules = (shared, on((CPU, A5), of_words))


FOUND = {"dst": VEC_I32, "cdst": COUNT, "tmp": "!pto.tile_buf<vec, 16x64xu32>", "cmp": CmpMode.GT}


class TGatherCompare(CompareGather, name="tgather", form="compare"):
    __doc__ = CompareGather.__doc__

    asm = Asm(
        call="TGATHER<dst, src0, k_value, cdst, tmp, cmp>(dst, src0, k_value, cdst, tmp, offset|0)",
        cpp_needs=("tmp",),
        cpp_on=CHIPS,
    )
    dst, src0 = CompareGather.dst, CompareGather.src0
    k_value = In(Tile, doc="one threshold for each row")
    cdst, tmp, cmp = CompareGather.cdst, CompareGather.tmp, CompareGather.cmp
    offset = In(Index, 0, doc="the index of the first element")
    example = {**FOUND, "k_value": COUNT.replace("xi32", "xu32")}
    scratch = tmp.numel + src0.numel * dst.size + src0.rows * src0.size
    rules = (
        CompareGather.shared,
        on(CPU, CompareGather.of_words),
        on(
            A5,
            named("element-type", src0.dtype.isin(*COMPARED, *BYTES)),
            when(src0.dtype.isin(*BYTES, *COMPARED), by(ASSEMBLER, CompareGather.of_words)),
        ),
        one_each(k_value, src0),
        each_in_vec(k_value),
        on(
            A2A3,
            when(src0.dtype != f16, named("element-type", k_value.dtype.isin(i32, u32))),
            when(src0.dtype == f16, named("element-type", k_value.dtype.isin(i16, u16, i32, u32))),
            named("shape", tmp.numel * tmp.size >= scratch, help="bitmap, indices, thresholds"),
        ),
        on(A5, named("element-type", k_value.dtype.isin(u16, u32))),
    )

    def run(dst, src0, k_value, cdst, offset, cmp):
        x, limit = src0[src0.valid], column(k_value, src0.valid.rows)
        if x.dtype in BYTES:
            x = x.bitcast(u8).cast(u32)
        list_matches(dst, src0, x, limit.cast(x.dtype), cdst, offset, cmp)


class TGatherCompareNumber(CompareGather, name="tgather", form="compare with a number"):
    """tgather that compares every element with one number, as in the assembler's text."""

    asm = Asm(cpp_on=NOWHERE)
    dst, src0 = CompareGather.dst, CompareGather.src0
    k_value = In(Scalar, doc="the threshold of all rows; it takes src0's type")
    cdst, tmp, cmp = CompareGather.cdst, CompareGather.tmp, CompareGather.cmp
    offset = Attr(int, 0, bits=32)
    example = {**FOUND, "k_value": 0.5}

    def run(dst, src0, k_value, cdst, offset, cmp):
        x = src0[src0.valid]
        list_matches(dst, src0, x, x.number(k_value), cdst, offset, cmp)


def list_matches(
    dst: Cells, src0: Cells, x: Array, limit: Array, cdst: Cells, offset: int, cmp: CmpMode
) -> None:
    """List the indices of src0's elements x that match a row's limit; write their count."""
    rows, cols = src0.valid
    row, col = dst.iota(rows, cols)
    match = x > limit if cmp is CmpMode.GT else x.equals(limit)
    found, count = (row * src0.cols + col + offset).cast(dst.dtype).compacted(match)
    beyond = col + dst.rows * dst.cols
    place = (col < dst.valid.cols).where(row * dst.cols + col, beyond)
    dst.scatter(place, found, col < count.cast(i64))
    counts = count.cast(cdst.dtype)
    if cdst.valid.cols == 1:
        cdst[:rows, 0] = counts
    else:
        cdst[0, :rows] = counts.T


def column(tile: Cells, rows: int) -> Array:
    """Return one value for each row, from a column or from a row."""
    region = getattr(tile, "valid", tile)  # all of a view is valid
    return tile[:rows, 0] if region.cols == 1 else tile[0, :rows].T


BLOCK = 32  # bytes


COMPACT = "an offset for each block of a row, padded to 8"


class TGatherB(Instr, pipe=V, specials=NAN_MOVES, disputes=("C19",), recorded={"block": {}}):
    """Copy 32-byte blocks: block b of row r of `dst` comes from byte offsets[r, b] of `src`.

    On the CPU simulator a block that would reach past the source is not written.
    """

    dst = Out(Tile, doc="receives the blocks; only whole ones are written")
    src = In(Tile, doc="the bytes")
    offsets = In(Tile, cpp="offset", doc="a byte offset for each block")
    enough = offsets.valid.cols * BLOCK >= dst.valid.cols * dst.size - (BLOCK - 1)
    most = (dst.valid.cols * dst.size + (8 * BLOCK - 1)) // (8 * BLOCK) * 8
    example = {"offsets": "!pto.tile_buf<vec, 16x8xu32, valid=16x4>"}
    rules = (
        named("element-type", offsets.size == 4, help="offsets are u32"),
        named("element-type", dst.dtype.bits >= 8, help="whole bytes: no 4-bit elements"),
        named("layout", dst.layout == ND, help="store dst row-major, without boxes"),
        named("shape", offsets.valid.rows >= dst.valid.rows),
        named("shape", enough, help="give an offset for each block"),
        each_in_vec(dst, src, offsets),
        on(HARDWARE, named("element-type", dst.size.isin(1, 2, 4))),
        on(HARDWARE, named("layout", offsets.layout == ND, help="store offsets row-major")),
        on(
            A2A3, when(enough, by(BOARDS, named("shape", offsets.valid.cols <= most, help=COMPACT)))
        ),
    )

    def run(dst, src, offsets):
        rows, blocks = dst.valid.rows, dst.valid.cols * dst.dtype.size // 32
        source = src.raw()
        _, within = dst.iota(1, 32 * blocks)
        start = offsets[:rows, :blocks].bitcast(u32).cast(i64).repeated(32)  # of any 4-byte type
        inside = (start + 32) <= source.cols
        found = source.take(start + within % 32, where=inside)
        dst.lines(u8).put((slice(0, rows), slice(0, 32 * blocks)), found, inside)
