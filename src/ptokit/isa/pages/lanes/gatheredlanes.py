"""Blocks and single elements of the vector buffer: loaded, stored, gathered, scattered."""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.accesses import InitAlign
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, ByIndex, in_buffer, same_size

J = "%j = pto.vci %s : T -> V"


def blocks_at(
    make: Lowering, at: LocalPointer, block: Quantity, repeat: Quantity
) -> list[Quantity]:
    """Return eight blocks of 32 bytes, `block` blocks apart, the first `repeat` blocks on."""
    first = make.sum(at.address, make.times(repeat, LINE))
    steps = [make.times(make.times(block, n), LINE) for n in range(8)]
    return [make.window(line(u8, LINE), make.sum(first, step)) for step in steps]


class EightBlocks(AtAddress, abstract=True, advance="repeat", still={"repeat": 0}):
    """Eight blocks of 32 bytes of the vector buffer."""

    @classmethod
    def behind(
        cls, make: Lowering, pointer: LocalPointer, steps: Quantity, **_: Quantity
    ) -> LocalPointer:
        """Return the pointer so many blocks further on."""
        return LocalPointer(make.sum(pointer.address, make.times(steps, LINE)), pointer.dtype)


class VLdsB(EightBlocks, name="vsldb"):
    """Load eight blocks; block i becomes 0 if lane i of the mask is not selected."""

    dst = Out(Lanes)
    src = In(Ptr)
    block = In(Scalar, scalar="i16")
    repeat = In(Scalar, scalar="i16")
    mask = In(Lanes)
    rules = in_buffer(src)
    going_on = lanes(
        "%k = arith.constant 1 : i16", "%y, %q = NAME %p, %k, %k, %m : P, i16, i16, M -> V, P"
    )

    def lowered(make, dst, src, block, repeat, mask):
        (made,) = make.op(InitAlign, {}, {}, [dst])
        for number, source in enumerate(blocks_at(make, src, block, repeat)):
            given = {"dst": made, "src": source, "mask": mask}
            (made,) = make.op(LoadedBlock, given, {"number": number}, [dst])
        return [made]


class LoadedBlock(Below, name="vsldb", form="of bytes"):
    """Load block `number` of a register, if that lane of the mask is selected."""

    dst = InOut(Lanes)
    src = In(Tile)
    mask = In(Lanes)
    number = Attr(int, 0)
    example = lanes(
        "%k = arith.constant 1 : i16", "%y = pto.vsldb %p, %k, %k, %m : P, i16, i16, M -> V"
    )

    def run(dst, src, mask, number):
        chosen = active(mask)[:, number : number + 1].repeated(LINE)
        at = slice(number * LINE, (number + 1) * LINE)
        dst.lines(u8).put((slice(0, 1), at), whole(src), chosen)


class VStsB(EightBlocks, name="vsstb"):
    """Store eight blocks; block i stays as it is if lane i of the mask is not selected."""

    asm = Asm(order=("src", "dst", "block", "repeat", "mask"))
    dst = Out(Ptr)
    src = In(Lanes)
    block = In(Scalar, scalar="i16")
    repeat = In(Scalar, scalar="i16")
    mask = In(Lanes)
    rules = in_buffer(dst)
    going_on = lanes(
        "%k = arith.constant 1 : i16", "%q = NAME %x, %p, %k, %k, %m : V, P, i16, i16, M -> P"
    )

    def lowered(make, src, dst, block, repeat, mask):
        for number, target in enumerate(blocks_at(make, dst, block, repeat)):
            given = {"dst": target, "src": src, "mask": mask}
            make.op(StoredBlock, given, {"number": number})
        return []


class StoredBlock(Below, name="vsstb", form="to bytes"):
    """Store block `number` of a register, if that lane of the mask is selected."""

    dst = Out(Tile)
    src = In(Lanes)
    mask = In(Lanes)
    number = Attr(int, 0)
    example = lanes(
        "%k = arith.constant 1 : i16", "pto.vsstb %x, %p, %k, %k, %m : V, P, i16, i16, M"
    )

    def run(dst, src, mask, number):
        chosen = active(mask)[:, number : number + 1].repeated(LINE)
        x = src.lines(u8)[:1, number * LINE : (number + 1) * LINE]
        dst.put((slice(0, 1), slice(0, LINE)), x, chosen)


def indices(register: Cells, count: int) -> Array:
    """Return numbers without sign of the first lanes."""
    x = register[:1, :count]
    return x.bitcast(UNSIGNED[x.dtype.bits]).cast(i64)


class OfElements(ByIndex, abstract=True):
    """dst[i] = element index[i] behind `src` where the mask selects lane i, else 0.

    Elements of 8 bits go into lanes of 16, with zeros above them.
    """

    dst = Out(Lanes)
    src = In(Ptr)
    index = In(Lanes)
    mask = In(Lanes)
    rules = (
        in_buffer(src),
        when(src.dtype.isin(i8, u8), named("element-type", dst.dtype.isin(i16, u16))),
        when(~src.dtype.isin(i8, u8), same_size(src, dst)),
        named("element-type", index.cols >= dst.cols, help="an index for each lane"),
        granular(mask, dst),
    )

    example = lanes(J, "%y = pto.vgather2 %p, %j, %m : P, V, M -> V", dtype=i32)

    def run(dst, src, index, mask, first):
        chosen = active(mask, dst.cols)
        found = src.take(chosen.where(indices(index, dst.cols), 0) + first, where=chosen)
        if found.dtype.bits < dst.dtype.bits:
            found = found.bitcast(u8).cast(dst.dtype)
        dst[:1, : dst.cols] = found


class VGather2(OfElements, name="vgather2"):
    __doc__ = OfElements.__doc__


class VGather2Bc(OfElements, name="vgather2_bc"):
    __doc__ = OfElements.__doc__


class VGatherB(ByIndex, name="vgatherb"):
    """Eight blocks of 32 bytes, index[i] bytes behind `src`; 0 where the mask lacks lane i."""

    dst = Out(Lanes)
    src = In(Ptr)
    index = In(Lanes)
    mask = In(Lanes)
    rules = (in_buffer(src), same_size(src, dst), of(index, i32, u32))

    example = lanes(J, "%y = pto.vgatherb %p, %j, %m : P, V, M -> V", dtype=i32)

    of_bytes = True

    def run(dst, src, index, mask, first):
        _, byte = dst.iota(1, BYTES)
        at = (indices(index, BYTES // LINE) + first).repeated(LINE) + byte % LINE
        chosen = active(mask)[:, : BYTES // LINE].repeated(LINE)
        dst.lines(u8)[:1, :BYTES] = src.take(at, where=chosen)


class VScatter(ByIndex, name="vscatter"):
    """Element index[i] behind `dst` becomes src[i] where the mask selects lane i.

    Of elements of 8 bits it is src[2 * i]: there are 128 indices, and a mask of 16 bits. Of equal
    indices the last one wins; hardware leaves open which does.
    """

    asm = Asm(order=("src", "dst", "index", "mask"))
    dst = Out(Ptr)
    src = In(Lanes)
    index = In(Lanes)
    mask = In(Lanes)
    rules = (
        in_buffer(dst),
        same_size(dst, src),
        when(
            src.dtype.bits > 8,
            named("element-type", index.cols >= src.cols, help="an index for each lane"),
            granular(mask, src),
        ),
        when(
            src.dtype.bits == 8,
            named(
                "element-type",
                index.cols * 2 == src.cols,
                mask.dtype.bits == 16,
                help="of bytes every second one is stored: 128 indices of 16 bits, and mask<b16>",
            ),
        ),
    )

    example = lanes(J, "pto.vscatter %x, %p, %j, %m : V, P, V, M", dtype=i32)

    def run(dst, src, index, mask, first):
        step = 2 if src.dtype.bits == 8 else 1
        count = src.cols // step
        at = indices(index, count) + first
        dst.scatter(at, src[:1, 0 : src.cols : step], where=active(mask, count))
