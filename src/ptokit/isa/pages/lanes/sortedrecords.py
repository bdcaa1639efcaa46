"""Records of a score and an index, sorted in the vector buffer."""

from ptokit.isa.lang.page import *
from ptokit.isa.model.tiles import register
from ptokit.isa.pages.irregular.sorting import BLOCK, RECORD, codes, descending, keys_of
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, in_buffer

SORTED = lanes(
    "%k = arith.constant 1 : index",
    "%behind = arith.constant 4096 : i64",
    "%i = pto.castptr %a : i64 -> !pto.ptr<ui32, ub>",
    "%o = pto.castptr %behind : i64 -> !pto.ptr<ui32, ub>",
    "pto.vbitsort %o, %p, %i, %k : !pto.ptr<ui32, ub>, P, !pto.ptr<ui32, ub>, index",
)


class VBitSort(AtAddress, name="vbitsort", example=SORTED):
    """Sort 32 scores, the greatest first, with their indices, `count` times.

    A record has 8 bytes: the score, zeros up to 4 bytes, and the index. Of equal scores the earlier
    one comes first. NaN with sign 0 comes first, NaN with sign 1 last.
    """

    dst = Out(Ptr)
    src = In(Ptr)
    index = In(Ptr)
    count = In(Index, doc="groups of 32")
    asm = Asm(order=("dst", "src", "index", "count"))
    rules = (
        *(in_buffer(dst), in_buffer(src), in_buffer(index)),
        named("element-type", src.dtype.isin(f16, f32), help="scores are f16 or f32"),
        named("element-type", index.dtype.isin(u32, i32), help="indices have 32 bits"),
        named("operand-value", count >= 0, help="counts are at least 0"),
    )

    def lowered(make, dst, src, index, count):
        def group(i: Quantity) -> None:
            def moved(ptr: LocalPointer, dtype: DType, size: int) -> Quantity:
                step = make.times(i, BLOCK * size)
                return make.window(line(dtype, BLOCK), make.sum(ptr.address, step))

            operands = {
                "dst": moved(dst, u64, RECORD),
                "src": moved(src, src.dtype, src.dtype.size),
                "index": moved(index, u32, u32.size),
            }
            make.op(GroupSorted, operands)

        make.repeat(count, group)
        return []


class GroupSorted(Below, name="vbitsort", form="to bytes", example=SORTED):
    """Sort 32 scores, the greatest first, with their indices."""

    dst = Out(Tile)
    src = In(Tile)
    index = In(Tile)

    def run(dst, src, index):
        x = src[:1, :BLOCK]
        records = codes(x).cast(u64) | index[:1, :BLOCK].cast(u64) << 32
        dst[:1, :BLOCK] = records.sorted_by(descending(x).cast(u64), BLOCK)


LISTS, FIELD = 4, 16  # lists of a merge; bits of a length
FINISHED = "VMS4_SR"  # the register of the records that a merge took from each list
MERGED = lanes(
    "%zero = pto.vbr %s : T -> V",
    "pto.vsts %zero, %p[%c0], %m : V, P, M",
    "%behind = arith.constant 4096 : i64",
    "%o = pto.castptr %behind : i64 -> P",
    "%lengths = arith.constant 281479271743489 : i64",
    "%how = arith.constant 7937 : i64",
    "pto.vmrgsort4 %o, %p, %p, %p, %p, %lengths, %how : P, P, P, P, P, i64, i64",
    "%i, %j, %k, %l = pto.get_vms4_sr : i16, i16, i16, i16",
)


class VMrgSort4(AtAddress, name="vmrgsort4", example=MERGED, changes={FINISHED: None}):
    """Merge up to four sorted lists of records of 8 bytes, the greatest score first.

    `lengths` has 16 bits for each list: its records. Of `config` the lowest 8 bits say how many
    groups of lists follow one another, bits 8 to 11 which lists there are, from the first on, and
    bit 12 that the merge stops when one list is used up. Both have to be known before the run.
    """

    dst = Out(Ptr)
    src0 = In(Ptr)
    src1 = In(Ptr)
    src2 = In(Ptr)
    src3 = In(Ptr)
    lengths = In(Scalar, scalar="i64", doc="16 bits for each list")
    config = In(Scalar, scalar="i64", doc="groups, lists and mode")
    asm = Asm(order=("dst", "src0", "src1", "src2", "src3", "lengths", "config"))
    rules = (
        *(in_buffer(dst), in_buffer(src0), in_buffer(src1), in_buffer(src2), in_buffer(src3)),
        named("element-type", dst.dtype.isin(f16, f32), help="scores are f16 or f32"),
    )

    def lowered(make, **given):
        packed, config = make.known(given["lengths"]), make.known(given["config"])
        if packed is None or config is None:
            return None
        lists = (config >> 8 & 15).bit_length()
        lengths = [packed >> FIELD * n & (1 << FIELD) - 1 for n in range(lists)]
        repeats, exhausted = config & 255, bool(config >> 12 & 1)
        if config >> 8 & 15 != (1 << lists) - 1 or lists < 2 or (exhausted and repeats != 1):
            return None
        total = sum(lengths)

        dst = local_pointer(given["dst"])

        def group(i: Quantity) -> None:
            def at(ptr: Quantity, count: int) -> Quantity:
                start = make.sum(local_pointer(ptr).address, make.times(i, total * RECORD))
                return make.window(line(dst.dtype, count * parts_of(dst)), start)

            operands = {f"src{n}": at(given[f"src{n}"], c) for n, c in enumerate(lengths)}
            if exhausted:
                (make.registers[FINISHED],) = make.op(ListsTaken, operands, {}, [register(u16)])
            make.op(
                ListsMerged,
                {**operands, "dst": at(dst, total)},
                {"exhausted": exhausted},
            )

        make.registers.pop(FINISHED, None)
        make.repeat(repeats, group)
        return []


def parts_of(ptr: LocalPointer) -> int:
    """Return the elements of a record."""
    return RECORD * 8 // ptr.dtype.bits


def merged_lists(*sources: Cells | None) -> tuple[Array, Array]:
    """Return the records of sorted lists in order, and how many each gave up to the end of one."""
    lists = [s for s in sources if s is not None]
    first, *others = [s.lines(u64)[0, : s.lines(u64).cols] for s in lists]
    records, lengths = first.join_columns(*others), [s.lines(u64).cols for s in lists]
    return records.merged(keys_of(records, lists[0].dtype), lengths, sum(lengths))


class ListsMerged(Below, name="vmrgsort4", form="to bytes", example=MERGED):
    """Merge sorted lists of records, up to the end of one if `exhausted`."""

    dst = Out(Tile)
    src0 = In(Tile)
    src1 = In(Tile)
    src2 = In(Tile, None)
    src3 = In(Tile, None)
    exhausted = Attr(bool, False)

    def run(dst, src0, src1, src2, src3, exhausted):
        merged, taken = merged_lists(src0, src1, src2, src3)
        into = dst.lines(u64)
        if not exhausted:
            into[0, : into.cols] = merged
            return
        stop = taken.fold("add", axis=1, start=0).cast(i64)
        into.put((0, slice(0, into.cols)), merged, into.iota(1, into.cols)[1] < stop)


class ListsTaken(Below, name="vmrgsort4", form="the records taken", example=MERGED):
    """The records that a merge takes from each list, up to the end of one."""

    dst = Out(Lanes)
    src0 = In(Tile)
    src1 = In(Tile)
    src2 = In(Tile, None)
    src3 = In(Tile, None)

    def run(dst, src0, src1, src2, src3):
        _, taken = merged_lists(src0, src1, src2, src3)
        dst[:1, : dst.cols] = dst.constant(0)
        dst[0, : taken.shape[1]] = taken.cast(dst.dtype)


class GetVms4Sr(Below, name="get_vms4_sr", example=MERGED):
    """The records that the last merge took from each list; it is known after one with bit 12."""

    list0 = Result(Scalar, scalar="i16")
    list1 = Result(Scalar, scalar="i16")
    list2 = Result(Scalar, scalar="i16")
    list3 = Result(Scalar, scalar="i16")

    def lowered(make):
        found = make.registers.get(FINISHED)
        if found is None:
            return None
        kinds = [ScalarType("i16")]
        numbers = [make.op(LaneAsNumber, {"src": found}, {"lane": n}, kinds) for n in range(LISTS)]
        return [number for (number,) in numbers]


class LaneAsNumber(
    Below,
    name="get_vms4_sr",
    form="a lane",
    example=MERGED,
    pipe=S,
    traits=(BY_SCALAR, ONE_ELEMENT),
):
    """One lane of a register as a number."""

    result = Result(Scalar)
    src = In(Lanes)
    lane = Attr(int, 0)

    def run(src, lane, result):
        return src[0, lane].bitcast(result.element)
