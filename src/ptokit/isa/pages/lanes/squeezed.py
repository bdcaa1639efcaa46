"""Stores by way of the registers AR, an address, and SQZN, which a squeeze sets.

AR is known behind `sprclr`, in straight code and loops whose iterations are known; other uses are
not executed.
"""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.model.tiles import register
from ptokit.isa.pages.lanes.accesses import InitAlign
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, in_buffer, one_of, same_size
from ptokit.isa.pages.lanes.sortedrecords import LaneAsNumber

AR, SQZN = "AR", "SQZN"
CLEARED = lanes(
    'pto.sprclr "AR"',
    "%k = arith.constant 3 : i32",
    "%r = pto.castptr %a : i64 -> !pto.ptr<ui32, ub>",
    "%o = pto.castptr %a : i64 -> !pto.ptr<f32, ub>",
    "%y = pto.vsqz %x, %m : V, M -> V",
    "%z = pto.init_align : !pto.align",
    '%w = pto.vstur %z, %y, %o, "NO_POST_UPDATE" : !pto.align, V, !pto.ptr<f32, ub> -> !pto.align',
    'pto.sprsti "AR", %r[%k] : !pto.ptr<ui32, ub>, i32',
    'pto.sprsts "AR", %r[%k] : !pto.ptr<ui32, ub>, i32',
)
GOING_ON = 'pto.sprclr "AR"', "%k = arith.constant 3 : i32"
POINTER = "%r = pto.castptr %a : i64 -> !pto.ptr<ui32, ub>"
NEXT = '%q = NAME "AR", %r[%k] : !pto.ptr<ui32, ub>, i32 -> !pto.ptr<ui32, ub>'


class SprClr(Below, name="sprclr", changes={AR: None}, example=CLEARED):
    """Set a register to 0: AR, the address of stores that squeezed lanes take."""

    register = Attr(str, quoted=True)
    rules = one_of(register, AR)

    def lowered(make, register):
        make.registers[register] = 0
        return []


class RegisterStore(AtAddress, abstract=True, example=CLEARED):
    """Store a register of 32 bits, AR."""

    asm = Asm(order=("dst", "offset"), brackets=("offset",), flag="dst")
    dst = Out(Ptr)
    offset = In(Scalar, scalar="i32")
    register = Attr(str, quoted=True)
    rules = (
        in_buffer(dst),
        one_of(register, AR),
        named("element-type", dst.dtype.isin(u32, i32), help="the register has 32 bits"),
    )
    unit: ClassVar[int] = 1  # bytes that the offset counts

    @classmethod
    def behind(
        cls, make: Lowering, pointer: LocalPointer, steps: Quantity, **_: Quantity
    ) -> LocalPointer:
        """Return the pointer so many units further on."""
        return LocalPointer(make.sum(pointer.address, make.times(steps, cls.unit)), pointer.dtype)

    def lowered(cls, make, dst, offset, register):
        value = make.registers.get(register)
        if value is None:
            return None
        place = dst if offset is None else cls.behind(make, dst, offset)
        make.op(StoredNumber, {"dst": make.window(line(u32, 1), place.address), "value": value})
        return []


class SprStI(RegisterStore, name="sprsti", unit=4):
    """Store the register AR, `offset` words of 4 bytes behind a pointer."""

    going_on = lanes(*GOING_ON, POINTER, NEXT)


class SprStS(RegisterStore, name="sprsts"):
    """Store the register AR, `offset` bytes behind a pointer."""

    going_on = lanes(*GOING_ON, POINTER, NEXT)


class StoredNumber(Below, name="sprsti", form="to bytes", example=CLEARED):
    """Store a number of 32 bits."""

    dst = Out(Tile)
    value = In(Scalar, scalar="i64")

    def run(dst, value):
        dst[:1, :1] = value.cast(dst.dtype)


class VStur(AtAddress, name="vstur", example=CLEARED, changes={AR: None}):
    """Store the lanes of the last squeeze, at `dst` and as many bytes on as AR has.

    With POST_UPDATE AR grows by the bytes that are stored. Hardware keeps the last bytes in the
    state until `vstar` stores them; ptokit stores all at once.
    """

    asm = Asm(order=("state", "src", "dst"))
    after = Out(Lanes)
    dst = Out(Ptr)
    state = In(Lanes)
    src = In(Lanes)
    mode = Attr(str, quoted=True)
    rules = (in_buffer(dst), same_size(dst, src), one_of(mode, "POST_UPDATE", "NO_POST_UPDATE"))

    def lowered(make, after, dst, src, mode):
        first, chosen = make.registers.get(AR), make.registers.get(SQZN)
        if first is None or chosen is None:
            return None
        row = line(dst.dtype, BYTES * 8 // dst.dtype.bits)
        target = make.window(row, make.sum(dst.address, first))
        make.op(SqueezedStored, {"dst": target, "src": src, "mask": chosen})
        if mode == "POST_UPDATE":
            given = {"src": src, "mask": chosen}
            (counts,) = make.op(LanesCounted, given, {}, [register(u64)])
            (count,) = make.op(LaneAsNumber, {"src": counts}, {"lane": 0}, [I64])
            make.registers[AR] = make.sum(first, make.times(count, dst.dtype.size))
        return make.op(InitAlign, {}, {}, [after])


class SqueezedStored(Below, name="vstur", form="to bytes", example=CLEARED):
    """Store as many lanes of a register as a mask selects."""

    dst = Out(Tile)
    src = In(Lanes)
    mask = In(Lanes)

    def run(dst, src, mask):
        _, count = whole(src).compacted(active(mask, src.cols))
        _, lane = src.iota(1, src.cols)
        dst.put((slice(0, 1), slice(0, dst.cols)), whole(src), lane < count.cast(i64))


class LanesCounted(Below, name="vstur", form="the lanes", example=CLEARED):
    """dst[i] = the number of lanes that a mask selects."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)

    def run(dst, src, mask):
        _, count = whole(src).compacted(active(mask, src.cols))
        dst[:1, : dst.cols] = count.cast(dst.dtype)
