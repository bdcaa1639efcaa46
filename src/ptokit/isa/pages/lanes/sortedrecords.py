"""Records of a score and an index, sorted in the vector buffer."""

from ptokit.isa.lang.localmemory import LocalPointer, Lowering, Quantity
from ptokit.isa.lang.page import *
from ptokit.isa.pages.irregular.sorting import BLOCK, RECORD, codes, descending
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

    @staticmethod
    def lowered(
        make: Lowering, dst: LocalPointer, src: LocalPointer, index: LocalPointer, count: Quantity
    ) -> list[Quantity]:
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

    asm = Asm(shape="op")
    dst = Out(Tile)
    src = In(Tile)
    index = In(Tile)

    @staticmethod
    def run(dst: Cells, src: Cells, index: Cells) -> None:
        x = src[:1, :BLOCK]
        records = codes(x).cast(u64) | index[:1, :BLOCK].cast(u64) << 32
        dst[:1, :BLOCK] = records.sorted_by(descending(x).cast(u64), BLOCK)
