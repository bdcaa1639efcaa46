"""Masks loaded from packed bits in the vector buffer, and stored there."""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.accesses import InitAlign
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, OnRow, in_buffer, one_of

BITS = BYTES // 8  # bytes of the packed bits of a mask


class MaskAccess(OnRow, abstract=True, disputes=("V12",)):
    """An access to packed bits; `immediate`: offsets count units of the distribution."""

    immediate: ClassVar[bool] = False

    @classmethod
    def behind(
        cls, make: Lowering, pointer: LocalPointer, steps: Quantity, **given: Quantity
    ) -> LocalPointer:
        halved = given["dist"] in ("US", "PK")
        unit = (BITS // 2 if halved else BITS) if cls.immediate else 1
        return LocalPointer(make.sum(pointer.address, make.times(steps, unit)), pointer.dtype)


class MaskLoad(MaskAccess, abstract=True):
    """Load a mask from packed bits: all of them, each twice (US), or every second one (DS).

    `offset` counts bytes of `plds`, units of 32 bytes of `pldi` (US: 16).
    """

    asm = Asm(brackets=("offset",))
    dst = Out(Lanes)
    src = In(Ptr)
    offset = In(Index)
    dist = Attr(str, quoted=True)
    rules = (in_buffer(src), one_of(dist, "NORM", "US", "DS"))
    example = lanes('%k = pto.plds %p[%c0], "NORM" : P, index -> M')

    @staticmethod
    def row(dist: str) -> TileType:
        return line(u8, {"US": BITS // 2, "DS": 2 * BITS}.get(dist, BITS))

    def run(dst, src, dist):
        into = dst.lines(u8)
        count = src.cols * 8
        bits = whole(src).bits(count).where(into.constant(1), into.constant(0))
        if dist == "US":
            bits = bits.repeated(2)
        into[:1, :BYTES] = bits[:, 0 : 2 * BYTES : 2] if dist == "DS" else bits


class PLds(MaskLoad, name="plds"):
    __doc__ = MaskLoad.__doc__

    going_on = lanes('%k, %q = NAME %p[%c0], "NORM" : P, index -> M, P')


class PLdi(MaskLoad, name="pldi", immediate=True):
    __doc__ = MaskLoad.__doc__

    going_on = lanes('%k, %q = NAME %p[%c0], "NORM" : P, index -> M, P')


class MaskStore(MaskAccess, abstract=True, disputes=("V6", "V12")):
    """Store a mask as packed bits: all of them, or every second one (PK).

    `offset` counts bytes of `psts`, units of 32 bytes of `psti` (PK: 16).
    """

    asm = Asm(order=("src", "dst", "offset"), brackets=("offset",))
    dst = Out(Ptr)
    src = In(Lanes)
    offset = In(Index)
    dist = Attr(str, quoted=True)
    rules = (in_buffer(dst), one_of(dist, "NORM", "PK"))
    example = lanes('pto.psts %m, %p[%c0], "NORM" : M, P, index')

    @staticmethod
    def row(dist: str) -> TileType:
        return line(u8, BITS // 2 if dist == "PK" else BITS)

    def run(dst, src):
        bits = src.lines(u8)[:1, 0 : BYTES : BITS // dst.cols] > 0
        dst[:1, : dst.cols] = bits.packed()


class PSts(MaskStore, name="psts"):
    __doc__ = MaskStore.__doc__

    going_on = lanes('%q = NAME %m, %p[%c0], "NORM" : M, P, index -> P')


class PSti(MaskStore, name="psti", immediate=True):
    __doc__ = MaskStore.__doc__

    going_on = lanes('%q = NAME %m, %p[%c0], "NORM" : M, P, index -> P')


class PStu(AtAddress, name="pstu"):
    """Store one bit for each lane of a mask, and go on behind them."""

    asm = Asm(order=("state", "src", "dst"))
    following = Result(Ptr)
    after = Out(Lanes)
    dst = Out(Ptr)
    state = In(Lanes)
    src = In(Lanes)
    rules = in_buffer(dst)

    def lowered(make, following, after, dst, src):
        count = BITS * 8 // dst.dtype.bits
        target = make.window(line(u8, count), dst.address)
        make.op(MaskStore.second, {"dst": target, "src": src})
        next_ = LocalPointer(make.sum(dst.address, count), following.dtype)
        return [next_, *make.op(InitAlign, {}, {}, [after])]
