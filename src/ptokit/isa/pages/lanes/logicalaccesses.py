"""Logical vectors in the vector buffer: loaded, stored, gathered, scattered."""

from typing import Any

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.gatheredlanes import indices
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, ByIndex, OnRow, in_buffer, one_of


def logical(*statements: str, dtype: DType = f32) -> str:
    """Return a program on logical vectors; its words are those of `lanes`."""
    return in_logical(lanes(*statements, dtype=dtype))


def one_for_each(index: Operand, vector: Operand) -> Ruled:
    """Require an index for each lane."""
    help = "an index for each lane: integers of 16 or 32 bits"
    kinds = index.dtype.isin(i32, u32, u16)
    return named("element-type", index.cols == vector.cols, kinds, help=help)


def of_one_size(ptr: Operand, vector: Operand) -> Ruled:
    """Require elements of one width; pairs of bf16 are numbers of 32 bits."""
    help = "the pointer and the vector have one element type"
    return named("element-type", ptr.dtype.bits == vector.unit_bits, help=help)


def started(make: Lowering, pointer: LocalPointer, offset: Quantity) -> LocalPointer:
    """Return the pointer `offset` elements further on; of elements of 4 bits text counts pairs."""
    if pointer.dtype.packed:
        return LocalPointer(make.sum(pointer.address, offset), pointer.dtype)
    return pointer.moved(make, offset)


class OnLogicalRow(OnRow, abstract=True):
    """An access to a row of elements."""

    def lowered(cls, make, **given):
        at = started(make, local_pointer(given[cls.pointer().name]), given["offset"])
        return super().lowered(make, **{**given, cls.pointer().name: at, "offset": None})


class LogicalLoad(OnLogicalRow, name="vmi.vload"):
    """Load a logical vector from the vector buffer, as `dist_mode` says.

    `continuous` reads one element for each lane. `brc` repeats one element. `unpack` fills elements
    of half the width up with zeros.
    """

    asm = Asm(brackets=("offset",), typed=("src",), spellings=("vmi.load",))
    dst = Out(Vector)
    src = In(Ptr)
    offset = In(Index, doc="in elements")
    dist_mode = Attr(str, "continuous")
    pmode = Attr(str, "zero")
    rules = (
        in_buffer(src),
        one_of(dist_mode, "continuous", "brc", "unpack"),
        when(dist_mode != "unpack", of_one_size(src, dst)),
        when(
            dist_mode == "unpack",
            named(
                "element-type",
                src.dtype.bits * 2 == dst.dtype.bits,
                help="elements of half the width",
            ),
        ),
    )
    example = logical()

    @staticmethod
    def row(dst: LogicalType, unit: DType, dist_mode: str) -> TileType:
        count = 1 if dist_mode == "brc" else dst.cols
        return line(UNSIGNED[unit.bits] if dist_mode == "unpack" else dst.dtype, count)

    def run(dst, src, dist_mode):
        x = whole(src)
        if dist_mode == "brc":
            x = x.repeated(dst.cols)
        elif dist_mode == "unpack":
            x = x.cast(UNSIGNED[dst.dtype.bits]).bitcast(dst.dtype)
        dst[:1, : dst.cols] = x


class LogicalStore(OnLogicalRow, name="vmi.vstore", disputes=("V13",)):
    """Store the lanes of a logical vector that a mask selects, or all of them."""

    asm = Asm(
        order=("src", "dst", "offset", "mask"),
        brackets=("offset",),
        typed=("src", "dst", "mask"),
        spellings=("vmi.store", "vmi.masked_store"),
    )
    dst = Out(Ptr)
    src = In(Vector)
    offset = In(Index, doc="in elements")
    mask = In(Vector, default=None)
    dist_mode = Attr(str, "continuous")
    pmode = Attr(str, "zero")
    rules = (
        in_buffer(dst),
        of_one_size(dst, src),
        one_of(dist_mode, "continuous"),
        one_of(pmode, "zero", "merge"),
        when(mask.given, lanes_of(mask, src)),
    )
    example = logical()

    @staticmethod
    def row(src: Any) -> TileType:  # Any: a value with its type
        return line(src.type.dtype, src.type.cols)

    def run(dst, src, mask):
        stored(dst, whole(src), mask)


def stored(dst: Cells, value: Array, mask: Cells | None) -> None:
    """Write the lanes that a mask selects."""
    if mask is None:
        dst[:1, : dst.cols] = value
    else:
        chosen = active(mask).repeated(dst.cols // mask.cols)  # a bit for both of a pair
        dst.put((slice(0, 1), slice(0, dst.cols)), value, chosen)


def rows_of(
    make: Lowering, vector: LogicalType, at: LocalPointer, stride: Quantity, group: int | None
) -> list[Quantity]:
    """Return rows in the buffer: of each group, elements apart, or of each block, blocks apart."""
    width = LINE * 8 // vector.dtype.bits if group is None else vector.cols // group
    step = make.times(stride, LINE if group is None else at.dtype.bits // 8)
    dtype = vector.dtype if at.dtype.bits >= vector.dtype.bits else at.dtype
    return [
        make.window(line(dtype, width), make.sum(at.address, make.times(step, n)))
        for n in range(vector.cols // width)
    ]


STRIDE = In(Scalar, doc="elements between groups, or blocks of 32 bytes between blocks")


ROW_STEP = "%k = arith.constant 16 : index"
FROM_ROWS = logical(ROW_STEP, "%y = pto.vload %p[%c0], %k {group = 8} : P -> V")
TO_ROWS = logical(ROW_STEP, "pto.vstore %x, %p[%c0], %k {group = 8} : V, P")


def by_rows(vector: Operand, group: Attr) -> Ruled:
    """Require rows of one length."""
    return (
        when(
            group.given,
            named("attribute", group > 0, vector.cols % group == 0, help="a divisor of the lanes"),
        ),
        when(~group.given, of_blocks(vector)),
    )


def of_blocks(vector: Operand) -> Ruled:
    """Require whole blocks of 32 bytes."""
    return named("shape", vector.cols * vector.dtype.bits % 256 == 0, help="whole blocks")


class LogicalLoadRows(AtAddress, name="vmi.vload", form="by rows"):
    """Load a logical vector from rows of the vector buffer, `stride` apart.

    With `group` each of so many rows has the same number of lanes, and `stride` counts elements.
    Without it rows are blocks of 32 bytes, and `stride` counts blocks.
    """

    asm = Asm(brackets=("offset",), typed=("src",))
    dst = Out(Vector)
    src = In(Ptr)
    offset = In(Index, doc="in elements")
    stride = STRIDE
    group = Attr(int, None)
    pmode = Attr(str, "zero")
    rules = (in_buffer(src), of_one_size(src, dst), by_rows(dst, group))
    example = FROM_ROWS

    def lowered(make, dst, src, offset, stride, group):
        rows = rows_of(make, dst, started(make, src, offset), stride, group)
        return make.op(LoadedRows, {"rows": rows}, {}, [dst])


class LoadedRows(Below, name="vmi.vload", form="of rows"):
    """Load the lanes of a logical vector from rows, one after another."""

    dst = Out(Vector)
    rows = In(Tile, many=True)
    example = FROM_ROWS

    def run(dst, rows):
        for number, row in enumerate(rows):
            dst[:1, number * row.cols : (number + 1) * row.cols] = whole(row)


class StoreRows(AtAddress, abstract=True):
    """Store a logical vector to rows of the vector buffer, `stride` apart."""

    asm = Asm(
        order=("src", "dst", "offset", "stride", "mask"),
        brackets=("offset",),
        typed=("src", "dst", "mask"),
    )
    dst = Out(Ptr)
    src = In(Vector)
    offset = In(Index, doc="in elements")
    stride = STRIDE
    mask = In(Vector, default=None)
    pmode = Attr(str, "zero")

    def lowered(make, **given):
        at = started(make, given["dst"], given["offset"])
        source, mask = given["src"], given["mask"]
        rows = rows_of(make, source.type, at, given["stride"], given.get("group"))
        for number, row in enumerate(rows):
            make.op(StoredRow, {"dst": row, "src": source, "mask": mask}, {"number": number})
        return []


class LogicalStoreRows(StoreRows, name="vmi.vstore", form="by rows"):
    """Store a logical vector to rows of the vector buffer, `stride` apart.

    With `group` each of so many rows has the same number of lanes, `stride` counts elements, and
    there is no mask. Without it rows are blocks of 32 bytes, and `stride` counts blocks. Of single
    integers the low bits are stored that the pointer's elements have.
    """

    disputes = ("V16",)
    group = Attr(int, None)
    single = both(StoreRows.src.cols == group, StoreRows.dst.dtype.bits < StoreRows.src.dtype.bits)
    rules = (
        in_buffer(StoreRows.dst),
        when(~single, of_one_size(StoreRows.dst, StoreRows.src)),
        by_rows(StoreRows.src, group),
        when(StoreRows.mask.given, lanes_of(StoreRows.mask, StoreRows.src)),
        named(
            "attribute",
            either(~group.given, ~StoreRows.mask.given),
            help="groups are stored as a whole: leave out the mask",
        ),
    )
    example = TO_ROWS


class LogicalStoreBlocks(StoreRows, name="vmi.vsstb"):
    """Store a logical vector as blocks of 32 bytes, `stride` blocks apart."""

    rules = (
        in_buffer(StoreRows.dst),
        of_one_size(StoreRows.dst, StoreRows.src),
        named(
            "shape", StoreRows.src.cols * StoreRows.src.dtype.bits % 256 == 0, help="whole blocks"
        ),
        when(StoreRows.mask.given, lanes_of(StoreRows.mask, StoreRows.src)),
    )
    example = logical("%k = arith.constant 2 : i16", "NAME %x, %p[%c0], %k, %m : V, P, i16, M")


class StoredRow(Below, name="vmi.vstore", form="to a row"):
    """Store row `number` of a logical vector, of which the mask selects lanes."""

    dst = Out(Tile)
    src = In(Vector)
    mask = In(Vector, default=None)
    number = Attr(int, 0)
    example = TO_ROWS

    def run(dst, src, mask, number):
        at = slice(number * dst.cols, (number + 1) * dst.cols)
        if mask is None:
            dst[:1, : dst.cols] = src[:1, at].cast(dst.dtype)
        else:
            chosen = active(mask).repeated(src.cols // mask.cols)[:, at]
            dst.put((slice(0, 1), slice(0, dst.cols)), src[:1, at], chosen)


class LogicalIndexed(ByIndex, abstract=True):
    """An access by the index of each lane."""

    index = In(Vector)
    mask = In(Vector)
    pmode = Attr(str, "zero")


INDEXED = '%j = pto.vci %s {order = "ASC"} : T -> V'


class LogicalGather(LogicalIndexed, name="vmi.vgather"):
    """dst[i] = element index[i] behind `src` where the mask selects lane i, else 0."""

    dst = Out(Vector)
    src = In(Ptr)
    index, mask, pmode = LogicalIndexed.index, LogicalIndexed.mask, LogicalIndexed.pmode
    rules = (
        in_buffer(src),
        of_one_size(src, dst),
        one_for_each(index, dst),
        lanes_of(mask, dst),
        zeroing(pmode, "zero"),
    )
    example = logical(INDEXED, "%y = NAME %p, %j, %m : P, V, M -> V", dtype=i32)

    def run(dst, src, index, mask, first):
        chosen = active(mask)
        at = chosen.where(indices(index, dst.cols), 0) + first
        dst[:1, : dst.cols] = src.take(at, where=chosen).bitcast(dst.dtype)


class LogicalGatherB(LogicalIndexed, name="vmi.vgatherb", disputes=("V14",)):
    """Blocks of 32 bytes, index[i] bytes behind `src`; 0 where the mask lacks lane i."""

    dst = Out(Vector)
    src = In(Ptr)
    index, mask, pmode = LogicalIndexed.index, LogicalIndexed.mask, LogicalIndexed.pmode
    rules = (
        in_buffer(src),
        of_one_size(src, dst),
        of(index, i32, u32),
        lanes_of(mask, dst),
        zeroing(pmode, "zero"),
    )
    of_bytes = True
    example = logical(INDEXED, "%y = NAME %p, %j, %m : P, V, M -> V", dtype=i32)

    def run(dst, src, index, mask, first):
        blocks = dst.cols * dst.dtype.bits // 8 // LINE
        _, byte = dst.iota(1, blocks * LINE)
        at = (indices(index, blocks) + first).repeated(LINE) + byte % LINE
        chosen = active(mask)[:, :blocks].repeated(LINE)
        dst.lines(u8)[:1, : blocks * LINE] = src.take(at, where=chosen)


class LogicalScatter(LogicalIndexed, name="vmi.vscatter"):
    """Element index[i] behind `dst` becomes src[i] where the mask selects lane i.

    Of equal indices the last one wins; hardware leaves open which does.
    """

    asm = Asm(order=("src", "dst", "index", "mask"))
    dst = Out(Ptr)
    src = In(Vector)
    index, mask, pmode = LogicalIndexed.index, LogicalIndexed.mask, LogicalIndexed.pmode
    rules = (
        in_buffer(dst),
        of_one_size(dst, src),
        one_for_each(index, src),
        lanes_of(mask, src),
        one_of(pmode, "zero", "merge"),
    )
    example = logical(INDEXED, "NAME %x, %p, %j, %m : V, P, V, M", dtype=i32)

    def run(dst, src, index, mask, first):
        chosen = active(mask)
        at = chosen.where(indices(index, src.cols), 0) + first
        dst.scatter(at, whole(src).bitcast(dst.dtype), where=chosen)
