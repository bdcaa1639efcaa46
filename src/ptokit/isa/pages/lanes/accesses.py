"""Loads and stores of registers and masks, at addresses in the vector buffer."""

from collections.abc import Mapping

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.rows import AtAddress, OnRow, in_buffer, one_of, same_size

WIDTHS = {"B8": 8, "B16": 16, "B32": 32, "B64": 64}


def width_of(dist: str) -> int:
    """Return the bits of the elements that a distribution moves: those of its last word."""
    return WIDTHS[dist.rpartition("_")[2]]


def count_of(dist: str) -> int:
    """Return the bytes that a load reads."""
    family, _, _ = dist.partition("_")
    parts = {"BRC": 0, "E2B": 0, "US": 2, "UNPK": 2, "UNPK4": 4}
    if dist == "BRC_BLK":
        return LINE
    if family in ("BRC", "E2B"):
        return width_of(dist) // 8 * (1 if family == "BRC" else 8)
    if family in ("DS", "SPLT2CHN"):
        return 2 * BYTES
    if dist == "SPLT4CHN":
        return 4 * BYTES
    return BYTES // parts.get(family, 1)


LOADS = (
    *("NORM", "BRC_B8", "BRC_B16", "BRC_B32", "BRC_BLK", "US_B8", "US_B16", "DS_B8", "DS_B16"),
    *("UNPK_B8", "UNPK_B16", "UNPK_B32", "UNPK4", "SPLT4CHN", "SPLT2CHN_B8", "SPLT2CHN_B16"),
    *("E2B_B16", "E2B_B32"),
)
STORES = (
    *("NORM_B8", "NORM_B16", "NORM_B32", "1PT_B8", "1PT_B16", "1PT_B32"),
    *("PK_B16", "PK_B32", "PK_B64", "PK4_B32"),
)


class VLds(OnRow, name="vlds"):
    """Load a register from the vector buffer, as `dist` says.

    NORM copies 256 bytes. BRC_B8, BRC_B16 and BRC_B32 repeat one element of so many bits, BRC_BLK
    32 bytes. US repeats each element, DS takes every second one; UNPK puts zeros behind each
    element, UNPK4 three. SPLT2CHN and SPLT4CHN take every second or fourth element; E2B repeats
    each of eight elements in a group of 32 bytes. The register has the bytes as lanes of its type.
    """

    asm = Asm(brackets=("offset",), typed=("src",))
    dst = Out(Lanes)
    src = In(Ptr)
    offset = In(Index, counts="elements", doc="in elements")
    dist = Attr(str, "NORM")
    rules = (in_buffer(src), one_of(dist, *LOADS))
    going_on = lanes("%y, %q = NAME %p[%c0] : P -> V, P")

    @staticmethod
    def row(dst: RegisterType, dist: str) -> TileType:
        dtype = dst.dtype if dist == "NORM" else u8
        return line(dtype, count_of(dist) * 8 // dtype.bits)

    def run(dst, src, dist):
        spread(dst, src, dist)


def spread(dst: Cells, src: Cells, dist: str) -> None:
    """Write the bytes of `src` to a register, as `dist` says."""
    family, _, _ = dist.partition("_")
    if dist == "NORM":
        dst[:1, : dst.cols] = src[:1, : src.cols]
        return
    if dist == "BRC_BLK":
        for group in range(BYTES // LINE):
            dst.lines(u8)[:1, group * LINE : (group + 1) * LINE] = src[:1, :LINE]
        return
    dtype = u8 if dist in ("UNPK4", "SPLT4CHN") else UNSIGNED[width_of(dist)]
    into, x = dst.lines(dtype), whole(src.lines(dtype))
    count = into.cols
    match family:
        case "BRC":
            into[:1, :count] = x.repeated(count)
        case "US":
            into[:1, :count] = x.repeated(2)
        case "E2B":
            into[:1, :count] = x.repeated(count // 8)
        case "DS" | "SPLT2CHN":
            into[:1, :count] = x[:, 0 : 2 * count : 2]
        case "SPLT4CHN":
            into[:1, :count] = x[:, 0 : 4 * count : 4]
        case _:
            in_turns(into, x, *([0] * (3 if family == "UNPK4" else 1)))


class VSts(OnRow, name="vsts"):
    """Store the lanes of a register that a mask selects, as `dist` says.

    1PT_B8, 1PT_B16 and 1PT_B32 store the first element alone, whatever the mask says. PK_B16,
    PK_B32 and PK_B64 store the lower half of each element, PK4_B32 its low byte, contiguously.
    """

    asm = Asm(
        order=("src", "dst", "offset", "mask"),
        brackets=("offset",),
        typed=("src", "dst", "mask"),
    )
    dst = Out(Ptr)
    src = In(Lanes)
    offset = In(Index, counts="elements", doc="in elements")
    mask = In(Lanes)
    dist = Attr(str, None)
    rules = (in_buffer(dst), one_of(dist, *STORES))
    going_on = lanes("%q = NAME %x, %p[%c0], %m : V, P, M -> P")

    @staticmethod
    def row(unit: DType, dist: str | None) -> TileType:
        family, _, _ = (dist or "NORM").partition("_")
        count = {"1PT": 0, "PK": BYTES // 2, "PK4": BYTES // 4}.get(family, BYTES)
        count = count or width_of(dist or "") // 8
        dtype = unit if count == BYTES else u8
        return line(dtype, count * 8 // dtype.bits)

    def run(dst, src, mask, dist):
        family, _, _ = (dist or "NORM").partition("_")
        if family == "NORM":
            unit = src.dtype if src.dtype.bits >= 8 else u8  # packed pairs have one bit of the mask
            into = dst.lines(unit)
            lanes = active(mask, into.cols)
            into.put((slice(0, 1), slice(0, into.cols)), whole(src.lines(unit)), lanes)
            return
        dtype = UNSIGNED[width_of(dist or "")]
        if family == "1PT":
            dst.lines(dtype)[:1, :1] = src.lines(dtype)[:1, :1]
            return
        part = 4 if family == "PK4" else 2
        narrow = UNSIGNED[dtype.bits // part]
        x = whole(src.lines(narrow))[:, 0 : BYTES * 8 // narrow.bits : part]
        step = mask.dtype.bits * mask.cols // x.shape[1] // 8
        lanes = mask.lines(u8)[:1, 0 : BYTES : BYTES // x.shape[1]] > 0 if step else active(mask)
        dst.lines(narrow).put((slice(0, 1), slice(0, x.shape[1])), x, lanes)


PAIRED = ("BDINTLV", "DINTLV_B8", "DINTLV_B16", "DINTLV_B32")
PAIRS = ("INTLV_B8", "INTLV_B16", "INTLV_B32")


class VLdsX2(OnRow, name="vldsx2"):
    """Load two registers: the even and the odd elements, or blocks, of 512 bytes."""

    asm = Asm(brackets=("offset",))
    low = Out(Lanes)
    high = Out(Lanes)
    src = In(Ptr)
    offset = In(Index, counts="elements", doc="in elements")
    dist = Attr(str, quoted=True)
    rules = (in_buffer(src), one_type(low, high), one_of(dist, *PAIRED))
    example = lanes('%y, %z = NAME %p[%c0], "DINTLV_B32" : P, index -> V, V')
    going_on = lanes('%y, %z, %q = NAME %p[%c0], "DINTLV_B32" : P, index -> V, V, P')

    @staticmethod
    def row() -> TileType:
        return line(u8, 2 * BYTES)

    def run(low, high, src, dist):
        if dist == "BDINTLV":
            for block in range(2 * BYTES // LINE):
                into = (low, high)[block % 2].lines(u8)
                at = block // 2 * LINE
                into[:1, at : at + LINE] = src[:1, block * LINE : (block + 1) * LINE]
            return
        dtype = UNSIGNED[width_of(dist)]
        for number, register in enumerate((low, high)):
            into = register.lines(dtype)
            into[:1, : into.cols] = src.lines(dtype)[:1, number : 2 * into.cols : 2]


class VStsX2(OnRow, name="vstsx2"):
    """Store the elements of two registers in turns; the mask has no effect."""

    asm = Asm(order=("low", "high", "dst", "offset", "mask"), brackets=("offset",), flag="mask")
    dst = Out(Ptr)
    low = In(Lanes)
    high = In(Lanes)
    offset = In(Index, counts="elements", doc="in elements")
    mask = In(Lanes)
    dist = Attr(str, quoted=True)
    rules = (in_buffer(dst), one_type(low, high), one_of(dist, *PAIRS))
    first_alone = ("offset", "mask")
    example = lanes('NAME %x, %x, %p[%c0], "INTLV_B32", %m : V, V, P, index, M')

    @staticmethod
    def row() -> TileType:
        return line(u8, 2 * BYTES)

    def run(dst, low, high, dist):
        dtype = UNSIGNED[width_of(dist)]
        into = dst.lines(dtype)
        in_turns(into, whole(low.lines(dtype)), whole(high.lines(dtype)))


class InitAlign(Below, name="init_align"):
    """The state before unaligned stores: nothing is left to store."""

    state = Out(Lanes)
    example = lanes("%z = NAME : !pto.align")

    def run(state):
        state[:1, : state.cols] = state.constant(0)


class VLdas(AtAddress, name="vldas"):
    """The state before unaligned loads from an address."""

    state = Out(Lanes)
    src = In(Ptr)
    rules = in_buffer(src)

    def lowered(make, state):
        return make.op(InitAlign, {}, {}, [state])


def loaded(make: Lowering, dst: RegisterType, src: LocalPointer) -> list[Quantity]:
    """Add the load of a register from an address."""
    row = make.window(line(dst.dtype, BYTES * 8 // dst.dtype.bits), src.address)
    return make.op(VLds.second, {"src": row}, {}, [dst])


class VLdus(AtAddress, name="vldus"):
    """Load a register from any address of an element."""

    dst = Out(Lanes)
    after = Out(Lanes)
    src = In(Ptr)
    state = In(Lanes)
    rules = in_buffer(src)
    advance = "step"
    further = {"step": In(Index, counts="elements", doc="in elements")}
    going_on = lanes(
        "%z = pto.vldas %p : P -> !pto.align",
        "%y, %w, %q = NAME %p, %z, %c0 : P, !pto.align, index -> V, !pto.align, P",
    )

    def lowered(make, dst, after, src):
        return [*loaded(make, dst, src), *make.op(InitAlign, {}, {}, [after])]


class UnalignedLoad(AtAddress, name="uvld"):
    """Load a register from any address of an element, without a state."""

    asm = Asm(brackets=("offset",), typed=("src",))
    dst = Out(Lanes)
    src = In(Ptr)
    offset = In(Index, counts="elements", doc="in elements")
    rules = in_buffer(src)
    example = lanes("%y = NAME %p[%c0] : P -> V")

    def lowered(cls, make, dst, src, offset):
        return loaded(make, dst, src.moved(make, offset))


class VStus(AtAddress, name="vstus"):
    """Store the first `offset` elements of a register at any address of an element.

    Hardware keeps the last bytes in the state until `vstas` or `vstar` stores them; ptokit stores
    all at once.
    """

    asm = Asm(order=("state", "offset", "src", "dst"))
    after = Out(Lanes)
    dst = Out(Ptr)
    state = In(Lanes)
    offset = In(Scalar, scalar="i32", doc="elements by which the stream goes on")
    src = In(Lanes)
    rules = (in_buffer(dst), same_size(dst, src))
    still = {}
    going_on = lanes(
        "%k = arith.constant 3 : i32",
        "%z = pto.init_align : !pto.align",
        "%w, %q = NAME %z, %k, %x, %p : !pto.align, i32, V, P -> !pto.align, P",
        "pto.vstar %w, %q : !pto.align, P",
    )

    def lowered(make, after, dst, offset, src):
        unit = dst.dtype if dst.dtype.bits >= 8 else u8  # packed pairs are counted as one
        target = make.window(line(unit, BYTES * 8 // unit.bits), dst.address)
        make.op(StoredFirst, {"dst": target, "src": src, "count": offset})
        return make.op(InitAlign, {}, {}, [after])


class StoredFirst(Below, name="vstus", form="to bytes"):
    """Store the first `count` lanes of a register."""

    dst = Out(Tile)
    src = In(Lanes)
    count = In(Scalar, scalar="i32")
    example = lanes(
        "%k = arith.constant 3 : i32",
        "%z = pto.init_align : !pto.align",
        "%w = pto.vstus %z, %k, %x, %p : !pto.align, i32, V, P -> !pto.align",
        "pto.vstas %w, %p, %k : !pto.align, P, i32",
    )

    def run(dst, src, count):
        _, lane = dst.iota(1, dst.cols)
        x = whole(src.lines(dst.dtype))
        dst.put((slice(0, 1), slice(0, dst.cols)), x, lane < count.cast(i64))


class VStas(AtAddress, name="vstas"):
    """Store what unaligned stores have left in the state: ptokit has stored it already."""

    asm = Asm(order=("state", "dst", "offset"))
    dst = In(Ptr)
    state = In(Lanes)
    offset = In(Scalar, scalar="i32", doc="in elements")
    rules = in_buffer(dst)
    going_on = lanes(
        "%k = arith.constant 3 : i32",
        "%z = pto.init_align : !pto.align",
        "%q = NAME %z, %p, %k : !pto.align, P, i32 -> P",
    )

    def lowered(make):
        return []


class VStar(AtAddress, name="vstar"):
    """Store what unaligned stores have left in the state: ptokit has stored it already."""

    asm = Asm(order=("state", "dst"))
    dst = In(Ptr)
    state = In(Lanes)
    rules = in_buffer(dst)

    def lowered(make):
        return []


class MemBar(Below, name="mem_bar"):
    """Order the accesses of vector instructions to the buffer."""

    kinds = tuple(
        f"{a}_{b}"
        for a, b in (
            *(("VV", "ALL"), ("VST", "VLD"), ("VLD", "VST"), ("VST", "VST"), ("VS", "ALL")),
            *(("VST", "LD"), ("VLD", "ST"), ("VST", "ST"), ("SV", "ALL"), ("ST", "VLD")),
            *(("LD", "VST"), ("ST", "VST")),
        )
    )
    kind = Attr(str, quoted=True)
    example = lanes('NAME "VV_ALL"')
    rules = one_of(kind, *kinds)

    def run():
        """Do nothing: vector instructions are executed in order."""


class Dcci(Below, name="dcci", pipe=S, core=None, traits=(BY_SCALAR, ADDRESSES, INVALIDATES)):
    """Clean and invalidate lines of the data cache, which ptokit keeps coherent."""

    scopes = ("SINGLE_CACHE_LINE", "ENTIRE_DATA_CACHE")
    lines = ("CACHELINE_ALL", "CACHELINE_UB", "CACHELINE_OUT", "CACHELINE_ATOMIC")
    place = In(Ptr)
    scope = Attr(str, quoted=True)
    destination = Attr(str, None, quoted=True)
    asm = Asm(order=("place",), attrs_inside=" ")
    example = lanes('NAME %p "SINGLE_CACHE_LINE", "CACHELINE_UB" : P')
    rules = (one_of(scope, *scopes), one_of(destination, *lines))

    def run():
        """Do nothing: ptokit's cache is always coherent with memory."""

    def lowered(make):
        return []


class Dsb(Below, name="dsb", pipe=S, core=None, uses=(FLAGS,), traits=(STOPS,)):
    """Wait until all earlier accesses to some memories are complete."""

    domains = ("ALL", "DDR", "UB", "SEQ")
    domain = Attr(str, quoted=True)
    example = lanes('NAME "ALL"')
    rules = one_of(domain, *domains)

    @classmethod
    def orders_memory(cls, attrs: Mapping[str, object]) -> bool:
        return attrs.get("domain") in ("ALL", "DDR")

    def run(flags):
        flags.barrier(Pipe.ALL)
