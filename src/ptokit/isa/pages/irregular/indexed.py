"""MGATHER and MSCATTER: between tiles and elements or rows of global memory, at indices."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.irregular.tgather import column

T, IDX = VEC_F32, VEC_I32
TABLE, LINE = "!pto.tensor_view<16x32xf16>", "!pto.tensor_view<1x16xi32>"
L1_TABLE = "!pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>"
ELEM, ROW = Coalesce.ELEM, Coalesce.ROW
COUNTS = "every addition takes effect, in any order"
MOVED = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
GATHERED = f"""\
%t = pto.alloc_tile : {T}
%i = pto.alloc_tile : {IDX}
%last = arith.constant 15 : i32
pto.texpands ins(%last : i32) outs(%i : {IDX})
pto.mgather ins(%view, %i : {VIEW_F32}, {IDX}) outs(%t : {T}) {{coalesce = #pto<coalesce elem>}}
"""


def by_index(
    tile: Operand,
    table: Operand,
    index: Field,
    coalesce: Attr,
    silent: tuple[str, ...] = (CPU, A2A3, A5),
) -> Rules:
    """Require an index for each element, or a line of one for each row.

    On the targets `silent` the text need not say which.
    """
    rows, cols = tile.valid.rows, tile.valid.cols
    each = both(index.rows == rows, index.cols == cols)
    line = either(
        both(index.rows == 1, index.cols == rows), both(index.cols == 1, index.rows == rows)
    )
    return (
        when(coalesce == ELEM, named("shape", each, help="an index for each element")),
        when(coalesce == ROW, named("shape", line, help="a line of indices, one for each row")),
        on(silent, when(~coalesce.given, named("shape", either(each, line)))),
        when(~each, named("shape", cols <= table.matrix.cols, help="make the rows longer")),
    )


ALONG = "a row of indices lies row-major, a column of them column-major"


def along(indices: Operand) -> Expr:
    """Require a contiguous line of indices."""
    return either(
        both(indices.valid.rows == 1, indices.layout == ND),
        both(indices.valid.cols == 1, indices.layout == DN),
    )


def accessed(tile: Operand, table: Operand, indices: Operand, coalesce: Attr) -> Rules:
    """Return the rules that gather and scatter share."""
    nz = both(table.layout == GlobalLayout.NZ, tile.layout == NZ)
    return (
        named("element-type", tile.dtype == table.dtype),
        on(CPU, named("element-type", tile.dtype.bits >= 8, help="whole bytes: no 4-bit elements")),
        named("element-type", indices.dtype.isin(i32, u32), help="indices have 32 bits"),
        named("layout", either(table.layout == GlobalLayout.ND, nz), help="use rows of memory"),
        by_index(tile, table, indices.valid, coalesce),
        on(HARDWARE, both(tile.loc == VEC, indices.loc == VEC)),
        on(A2A3, tile.dtype.isin(*MOVED), either(tile.layout == ND, nz)),
        on(A2A3, indices.layout.isin(ND, DN)),
        on(HARDWARE, when(coalesce == ROW, named("layout", along(indices), help=ALONG))),
        on(A5, tile.dtype.isin(*MOVED, f8e4m3, f8e5m2, hif8), tile.layout.isin(ND, DN)),
    )


def chosen(coalesce: Attr) -> Rules:
    """Require text that selects elements or rows."""
    return named("attribute", coalesce.given, help="give coalesce = elem or coalesce = row")


def places(
    tile: Cells,
    table: Cells,
    indices: Cells,
    coalesce: Coalesce | None,
    outside: GatherOOB | ScatterOOB | None,
) -> tuple[Array, Array | None]:
    """Return the row-major index of each element in the table, and the mask of used ones."""
    rows, cols = tile.valid
    region = getattr(indices, "valid", indices)  # all of a view is valid
    each = coalesce is ELEM or (coalesce is None and region.rows == rows and region.cols == cols)
    index = indices[:rows, :cols] if each else column(indices, rows)
    count = table.rows * table.cols if each else table.rows
    index = index.bitcast(u32).cast(i64)
    used = index < count if outside in (GatherOOB.ZERO, ScatterOOB.SKIP) else None
    if outside in (GatherOOB.CLAMP, ScatterOOB.CLAMP):
        index = index.minimum(count - 1)
    if outside in (GatherOOB.WRAP, ScatterOOB.WRAP):
        index = index % count
    return index if each else index * table.cols + tile.iota(rows, cols)[1], used


class FromTable(
    Instr,
    inner_flags=(A2A3, A5),
    abstract=True,
    pipe=V,
    asm=Asm(deduced=True),
    traits=(BY_INDEX,),
    specials=NAN_MOVES,
):
    """Elements or rows of global memory at indices."""

    dst = Out(Tile, doc="receives the elements")
    src = In(Global, doc="the table")
    tmp = Scratch(Tile, None, idle=HARDWARE, doc="of newer text; ignored")
    coalesce = Attr(Coalesce, None)
    outside = Attr(GatherOOB, None, key="gatherOob")
    disputes = ("D5", "D7", "D19", "X73")

    def run(dst, src, indices, coalesce, outside):
        index, used = places(dst, src, indices, coalesce, outside)
        dst[dst.valid] = src.take(index, where=used)


class MGather(FromTable, recorded={form: {"outside": "oob"} for form in ("elem", "row")}):
    """Read elements, or with `coalesce` row whole rows, of global memory at indices.

    dst[r, c] = src[indices[r, c]], counting src's elements row by row; or row indices[r] of src.
    Indices are unsigned. `outside` is the policy for an index out of range: clamp to the last, wrap
    modulo the count, zero for 0; error, also written undefined, is an error. Without `coalesce` a
    line of indices means rows. Bits move unchanged, NaN too.
    """

    dst, src = FromTable.dst, FromTable.src
    indices = In(Tile, doc="one for each element of dst, or a line of one for each row")
    tmp, coalesce, outside = FromTable.tmp, FromTable.coalesce, FromTable.outside
    drains_before = {A2A3: coalesce == ELEM}  # with rows, it does not wait for the indices
    drains_behind = (A2A3,)
    example = in_view(f"{GATHERED}pto.tstore ins(%t : {T}) outs(%view : {VIEW_F32})")
    rules = (
        accessed(dst, src, indices, coalesce),
        on(HARDWARE, when(outside.given, chosen(coalesce))),
        on(HARDWARE, when(~outside.given, by(ASSEMBLER, chosen(coalesce)))),
    )


class MGatherToL1(FromTable, name="mgather", form="l1", pipe=MTE2):
    """Read elements, or with `coalesce` row whole rows, of global memory into L1.

    As the other form, with indices in global memory.
    """

    dst = Out(Tile, loc=MAT, doc="receives the elements")
    src = FromTable.src
    indices = In(Global, doc="one for each element of dst, or a line of one for each row")
    tmp = Scratch(Global, None, doc="room in global memory; ignored")
    coalesce, outside = FromTable.coalesce, FromTable.outside

    example = f"""\
func.func @example(%x: !pto.ptr<f16>, %n: !pto.ptr<i32>) {{
  %rows = arith.constant 16 : index
  %cols = arith.constant 32 : index
  %one = arith.constant 1 : index
  %v = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%cols, %one] : {TABLE}
  %i = pto.make_tensor_view %n, shape = [%one, %rows], strides = [%rows, %one] : {LINE}
  %t = pto.alloc_tile : {L1_TABLE}
  pto.mgather ins(%v, %i : {TABLE}, {LINE}) outs(%t : {L1_TABLE}) {{coalesce = #pto<coalesce row>}}
  return
}}"""
    rules = (
        named("element-type", dst.dtype == src.dtype, indices.dtype.isin(i32, u32)),
        on(CPU, named("element-type", dst.dtype.bits >= 8, help="whole bytes: no 4-bit elements")),
        named("layout", src.layout == GlobalLayout.ND, help="use rows of memory"),
        named("layout", ~indices.of_scales, help="a layout of scales is not for indices"),
        named("layout", dst.layout == NZ),
        by_index(dst, src, indices.matrix, coalesce, silent=(CPU,)),
        on(A2A3, dst.dtype.isin(*MOVED)),
        on(A5, dst.dtype.isin(*MOVED, f8e4m3, f8e5m2, hif8)),
        on(HARDWARE, chosen(coalesce)),
        on(HARDWARE, when(coalesce == ROW, named("operand-count", ~tmp.given, help="remove tmp"))),
        on(HARDWARE, when(coalesce == ELEM, named("operand-count", tmp.given, help="give tmp"))),
        on(HARDWARE, when(tmp.given, named("element-type", tmp.dtype == dst.dtype))),
    )


class MScatter(
    Instr,
    inner_flags=(A2A3, A5),
    pipe=V,
    asm=Asm(deduced=True),
    traits=(BY_INDEX,),
    disputes=("D5", "D6", "D7", "D19", "X73"),
    drains_before={A2A3: Const(True)},
    drains_behind=(A2A3,),
):
    """Write elements, or with `coalesce` row whole rows, to global memory at indices.

    dst[indices[r, c]] = src[r, c], or row indices[r] of dst, with indices as in MGATHER; in
    row-major order, so of equal indices the last one wins. `atomic` adds to the element, or takes
    the greater or the lesser; each addition is rounded, and a NaN never replaces a number.
    `outside` is the policy for an index out of range: clamp, wrap, skip; error, also written
    undefined, is an error.
    """

    dst = InOut(Global, doc="the table; other elements stay")
    src = In(Tile, doc="the elements")
    indices = In(Tile, doc="one for each element of src, or a line of one for each row")
    tmp = Scratch(Tile, None, idle=HARDWARE, doc="of newer text; ignored")
    coalesce = Attr(Coalesce, None)
    atomic = Attr(AtomicOp, AtomicOp.NONE, key="scatterAtomicOp")
    outside = Attr(ScatterOOB, None, key="scatterOob")
    conflict = Attr(ScatterConflict, ScatterConflict.DEFAULT, key="scatterConflict")
    example = in_view(f"{GATHERED}NAME ins(%t, %i : {T}, {IDX}) outs(%view : {VIEW_F32})")
    no_last = either(atomic == AtomicOp.NONE, conflict == ScatterConflict.DEFAULT)
    last = conflict != ScatterConflict.DEFAULT
    modes = either(atomic != AtomicOp.NONE, last, outside.isin(*(o for o in ScatterOOB)))
    extreme = atomic.isin(AtomicOp.MAX, AtomicOp.MIN)
    rules = (
        accessed(src, dst, indices, coalesce),
        on(HARDWARE, when(modes, chosen(coalesce))),
        on(A2A3, named("attribute", conflict == ScatterConflict.DEFAULT, help="a5 has it")),
        on((CPU, A5), named("attribute", no_last, help=COUNTS)),
        on(A2A3, named("attribute", atomic.isin(AtomicOp.NONE, AtomicOp.ADD))),
        when(
            atomic == AtomicOp.ADD,
            on(A2A3, named("element-type", src.dtype.isin(i8, i16, i32, f16, bf16, f32))),
            on(A5, named("element-type", src.dtype.isin(i32, u32, f16, bf16, f32))),
        ),
        on(A5, when(extreme, named("element-type", src.dtype.isin(i32, u32, f32)))),
    )
    recorded = {form: {"outside": "oob"} for form in ("elem", "row")}

    def run(dst, src, indices, coalesce, atomic, outside):
        index, used = places(src, dst, indices, coalesce, outside)
        word = None if atomic is AtomicOp.NONE else str(atomic)
        dst.scatter(index, src[src.valid], used, word)
