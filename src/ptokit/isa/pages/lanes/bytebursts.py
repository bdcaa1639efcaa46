"""Transfers of bursts of bytes between global memory, the vector buffer and L1, below tiles."""

from typing import cast

from ptokit.isa.lang.localmemory import (
    COMBINED,
    COMBINING,
    COUNTS,
    INTO_UB,
    OUT_OF_UB,
    PADDING,
    STEPS,
    Lowering,
)
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.pointers import AddPtr, CastPtr
from ptokit.isa.pages.views import MakeTensorView

LONGEST = 1 << 16  # bytes of a burst
COPIED = """\
func.func @example(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %line = arith.constant 64 : i64
  %a = arith.constant 0 : i64
  %b = arith.constant 4096 : i64
  %p = pto.castptr %a : i64 -> !pto.ptr<f32, ub>
  %q = pto.castptr %b : i64 -> !pto.ptr<f32, ub>
  %two = arith.constant 2 : i64
  pto.mte_gm_ub %x, %p, %zero, %line nburst(%eight, %line, %line) : \
!pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.mte_ub_ub %p, %q, %two nburst(%eight, %zero, %zero) : \
!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64
  pto.mte_ub_gm %q, %y, %line nburst(%eight, %line, %line) : \
!pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64
  return
}"""
BYTE = PtrType(u8)
NBURST = ("nburst", ("count", "src_step", "dst_step"))
LOOP, PAD = ("loop", ("loops",)), ("pad", ("pad_value", "left", "right"))


class Bursts(Below, abstract=True, example=COPIED):
    """Bursts of bytes, in nested loops: the first is the innermost."""

    unit: ClassVar[int] = 1  # bytes that lengths and steps count
    gaps: ClassVar[bool] = False  # whether steps count from the end of a burst
    ends: ClassVar[tuple[Loc, Loc]] = (VEC, VEC)  # memories of local pointers: source, destination

    def lowered(cls, make, **given):
        return cls.bursts(make, given, cls.add)

    @classmethod
    def bursts(
        cls,
        make: Lowering,
        given: dict[str, Quantity],
        add: Callable[[Lowering, dict[str, Quantity]], None],
        dtype: DType = u8,
    ) -> list[Quantity]:
        """Add bursts of elements of a type; `add` adds one."""
        length, loops = given["length"], (given["src_step"], given["dst_step"])
        if cls.gaps:
            loops = tuple(make.sum(length, step) for step in loops)
        size, *steps = (make.times(n, cls.unit) for n in (length, *loops))

        def burst(a: Quantity, b: Quantity) -> None:
            names = zip(("src", "dst"), cls.ends, (a, b), strict=True)
            ends = {n: place(make, given[n], loc, offset, size, dtype) for n, loc, offset in names}
            add(make, ends)

        nest(make, (given["count"], *steps, *loops_of(given)), burst)
        return []

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        """Add one burst."""
        raise NotImplementedError


def place(
    make: Lowering,
    ptr: Quantity,
    loc: Loc,
    offset: Quantity,
    length: Quantity,
    dtype: DType = u8,
) -> Quantity:
    """Return so many bytes behind a pointer, in local or in global memory, as elements."""
    count = make.over(length, dtype.size)
    if isinstance(ptr, LocalPointer):
        return row(make, dtype, make.sum(ptr.address, offset), count, loc)
    return in_global(make, ptr, offset, count, dtype)


def fields_of(*counts: Operand) -> Rules:
    """Require counts and lengths that are not negative."""
    return tuple(named("operand-value", c >= 0, help="counts are at least 0") for c in counts)


class MteGmUb(Bursts, name="mte_gm_ub", pipe=MTE2, disputes=("V7",)):
    """Copy bursts of bytes from global memory into the vector buffer.

    `length` bytes each, `src_step` and `dst_step` bytes from one to the next; each `loop` repeats
    what stands before it with further steps. With `pad` elements of that value follow each burst up
    to `dst_step`, and `left` of them come before it.
    """

    src = In(Ptr)
    dst = Out(Ptr)
    cache = In(Scalar, scalar="i64", doc="no effect")
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    count = In(Scalar, scalar="i64", doc="bursts")
    src_step = In(Scalar, scalar="i64")
    dst_step = In(Scalar, scalar="i64")
    loops = In(Scalar, (), many=True, scalar="i64", doc="count and steps of each further loop")
    pad_value = In(Scalar, None)
    left = In(Scalar, None, scalar="i64", doc="elements")
    right = In(Scalar, None, scalar="i64", doc="elements; no effect")
    asm = Asm(
        order=(
            *("src", "dst", "cache", "length", "count", "src_step", "dst_step"),
            *("loops", "pad_value", "left", "right"),
        ),
        clauses=(NBURST, LOOP, PAD),
    )
    rules = fields_of(length, count)

    def lowered(cls, make, **given):
        size = local_pointer(given["dst"]).dtype.bits // 8
        left = given["left"]
        before = 0 if left is None else make.times(left, size)
        return padded_bursts(make, given, loops_of(given), given["pad_value"], before)


def padded_bursts(
    make: Lowering,
    given: dict[str, Quantity],
    loops: Sequence[Quantity],
    pad: Quantity,
    before: Quantity,
) -> list[Quantity]:
    """Add bursts into the vector buffer; if there is a pad, `before` bytes of it precede each."""
    names = ("src", "length", "count", "src_step", "dst_step")
    src, length, count, src_step, dst_step = (given[n] for n in names)
    dst, lead = local_pointer(given["dst"]), 0 if pad is None else before

    def burst(a: Quantity, b: Quantity) -> None:
        start = make.sum(dst.address, b)
        at = make.sum(start, lead)
        into = row(make, u8, at, length)
        make.op(BurstIn, {"dst": into, "src": in_global(make, src, a, length)})
        if pad is not None:
            end = make.sum(at, length)
            fill(make, start, lead, dst.dtype, pad)
            rest = make.less(make.less(dst_step, length), lead)
            fill(make, end, rest, dst.dtype, pad)

    nest(make, (count, src_step, dst_step, *loops), burst)
    return []


def loops_of(given: dict[str, Quantity]) -> Sequence[Quantity]:
    """Return the extents and steps of the outer loops."""
    return cast("Sequence[Quantity]", given.get("loops", ()))


def loops_of_registers(make: Lowering, way: str) -> Sequence[Quantity] | None:
    """Return the extents and steps of loops that registers have, or None if not known."""
    counts = make.registers.get(f"{COUNTS} {way}")
    if counts is None:
        return None
    loops: list[Quantity] = []
    for count, name in zip(cast("tuple[Quantity, Quantity]", counts), STEPS, strict=True):
        if make.known(count) != 1:
            steps = make.registers.get(f"{name} {way}")
            if steps is None:
                return None
            loops += [count, *cast("tuple[Quantity, Quantity]", steps)]
    return loops


def fill(make: Lowering, at: Quantity, count: Quantity, dtype: DType, value: Quantity) -> None:
    """Add the fill of so many bytes with a number."""
    if make.known(count) == 0:
        return
    cols = make.over(count, dtype.bits // 8)
    make.op(Filled, {"dst": row(make, dtype, at, cols), "value": value})


class StoredBursts(Bursts, abstract=True, pipe=MTE3):
    """Bursts to global memory, which a mode may combine with what is there."""

    def lowered(cls, make, **given):
        combining = make.registers.get(COMBINING)
        if not combining:
            return None if combining is None else cls.bursts(make, given, cls.add)
        dtype = element_type(given["dst"])
        if make.registers.get(COMBINED) is not dtype:
            return None

        def add(make: Lowering, ends: dict[str, Quantity]) -> None:
            make.op(BurstCombined, ends, {"combining": combining})

        return cls.bursts(make, given, add, dtype)

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstOut, ends)


class MteUbGm(StoredBursts, name="mte_ub_gm"):
    """Copy bursts of bytes from the vector buffer to global memory.

    `length` bytes each, `src_step` and `dst_step` bytes from one to the next; each `loop` repeats
    what stands before it with further steps.
    """

    dst = Out(Ptr)
    src = In(Ptr)
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    count = In(Scalar, scalar="i64", doc="bursts")
    src_step = In(Scalar, scalar="i64")
    dst_step = In(Scalar, scalar="i64")
    loops = In(Scalar, (), many=True, scalar="i64", doc="count and steps of each further loop")
    cache = In(Scalar, None, scalar="i64", doc="no effect")
    asm = Asm(
        order=("src", "dst", "length", "count", "src_step", "dst_step", "cache", "loops"),
        clauses=(NBURST, ("l2_cache_ctl", ("cache",)), LOOP),
    )
    rules = fields_of(length, count)


class CopyGmToUb(Bursts, name="copy_gm_to_ubuf", pipe=MTE2):
    """Copy bursts of bytes from global memory into the vector buffer.

    The registers of `set_loop_size_outtoub` and of its strides have loops around them. If `padded`,
    the number of `set_mov_pad_val` follows each burst up to `dst_step`, and comes `left` bytes
    before it.
    """

    src = In(Ptr)
    dst = Out(Ptr)
    number = In(Scalar, scalar="i64", doc="no effect")
    count = In(Scalar, scalar="i64", doc="bursts")
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    left = In(Scalar, scalar="i64", doc="bytes")
    right = In(Scalar, scalar="i64", doc="no effect")
    padded = In(Scalar, scalar="i1", doc="whether elements follow each burst")
    cache = In(Scalar, scalar="i64", doc="no effect")
    src_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    dst_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    asm = Asm(
        order=(
            *("src", "dst", "number", "count", "length", "left", "right", "padded", "cache"),
            *("src_step", "dst_step"),
        ),
    )
    rules = fields_of(length, count, left)

    def lowered(cls, make, **given):
        loops, padded = loops_of_registers(make, INTO_UB), make.known(given["padded"])
        pad = make.registers.get(PADDING) if padded else None
        if loops is None or padded is None or (padded and pad is None):
            return None
        return padded_bursts(make, given, loops, pad, given["left"])


class CopyUbToGm(StoredBursts, name="copy_ubuf_to_gm"):
    """Copy bursts of bytes from the vector buffer to global memory.

    The registers of `set_loop_size_ubtoout` and of its strides have loops around them.
    """

    dst = Out(Ptr)
    src = In(Ptr)
    number = In(Scalar, scalar="i64", doc="no effect")
    count = In(Scalar, scalar="i64", doc="bursts")
    length = In(Scalar, scalar="i64", doc="bytes of a burst")
    cache = In(Scalar, scalar="i64", doc="no effect")
    dst_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    src_step = In(Scalar, scalar="i64", doc="bytes from a burst to the next")
    asm = Asm(
        order=("src", "dst", "number", "count", "length", "cache", "dst_step", "src_step"),
    )
    rules = fields_of(length, count)

    def lowered(cls, make, **given):
        loops = loops_of_registers(make, OUT_OF_UB)
        return None if loops is None else super().lowered(make, **given, loops=loops)


class WithinBuffer(Bursts, abstract=True, unit=LINE, gaps=True):
    """Copy bursts within the vector buffer; lengths and gaps count blocks of 32 bytes."""

    dst = Out(Ptr)
    src = In(Ptr)
    length = In(Scalar, scalar="i64", doc="blocks of a burst")
    count = In(Scalar, scalar="i64", doc="bursts")
    src_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    dst_step = In(Scalar, scalar="i64", doc="blocks between bursts")
    rules = fields_of(length, count)

    @staticmethod
    def add(make: Lowering, ends: dict[str, Quantity]) -> None:
        make.op(BurstWithin, ends)


class MteUbUb(WithinBuffer, name="mte_ub_ub"):
    __doc__ = WithinBuffer.__doc__

    asm = Asm(order=("src", "dst", "length", "count", "src_step", "dst_step"), clauses=(NBURST,))


class CopyUbToUb(WithinBuffer, name="copy_ubuf_to_ubuf"):
    """As `mte_ub_ub`, with the number of bursts first."""

    number = In(Scalar, scalar="i64", doc="no effect")
    asm = Asm(order=("src", "dst", "number", "count", "length", "src_step", "dst_step"))


def nest(
    make: Lowering, counts: tuple[Quantity, ...], body: Callable[[Quantity, Quantity], None]
) -> None:
    """Add the loops of a transfer, the last outermost; `body` takes the offsets of a burst."""

    def level(left: tuple[Quantity, ...], a: Quantity, b: Quantity) -> None:
        if not left:
            body(a, b)
            return
        *inner, count, src, dst = left

        def once(i: Quantity) -> None:
            further = make.sum(a, make.times(i, src)), make.sum(b, make.times(i, dst))
            level(tuple(inner), *further)

        make.repeat(count, once)

    level(counts, 0, 0)


def in_global(
    make: Lowering, ptr: Quantity, offset: Quantity, count: Quantity, dtype: DType = u8
) -> Quantity:
    """Return a view of so many elements of global memory, `offset` bytes behind a pointer."""
    (start,) = make.op(CastPtr, {"ptr": ptr}, {}, [BYTE])
    (first,) = make.op(AddPtr, {"ptr": start, "offset": offset}, {}, [BYTE])
    if dtype is not u8:
        (first,) = make.op(CastPtr, {"ptr": first}, {}, [PtrType(dtype)])
    kind = GlobalType(dtype, (1, make.known(count)))
    given = {"ptr": first, "shape": [1, count], "strides": [count, 1]}
    return make.op(MakeTensorView, given, {}, [kind])[0]


def row(
    make: Lowering, dtype: DType, address: Quantity, cols: Quantity, loc: Loc = VEC
) -> Quantity:
    """Return so many elements of local memory."""
    known = make.known(cols)
    if known is not None:
        return make.window(TileType(loc, dtype, 1, known, Shape(1, known)), address)
    longest = LONGEST * 8 // dtype.bits
    return make.window(TileType(loc, dtype, 1, longest, Shape(1, None)), address, cols)


def filled(dst: Cells, src: Cells) -> None:
    """Write the valid bytes of `dst`."""
    dst[dst.valid] = src[dst.valid]


class BurstIn(Below, name="mte_gm_ub", form="a burst", pipe=MTE2, example=COPIED):
    """Copy bytes of global memory into the vector buffer."""

    dst = Out(Tile)
    src = In(Global)
    run = staticmethod(filled)


class BurstOut(Below, name="mte_ub_gm", form="a burst", pipe=MTE3, example=COPIED):
    """Copy bytes of the vector buffer to global memory."""

    dst = Out(Global)
    src = In(Tile)

    def run(dst, src):
        dst[src.valid] = src[src.valid]


class BurstCombined(Below, name="mte_ub_gm", form="a burst, combined", pipe=MTE3, example=COPIED):
    """Combine elements of global memory with those of the vector buffer: sums, maxima or minima."""

    dst = InOut(Global)
    src = In(Tile)
    combining = Attr(str)

    def run(dst, src, combining):
        dst[src.valid] = combined(dst[src.valid], src[src.valid], combining)


def combined(old: Array, value: Array, combining: str) -> Array:
    """Return the sums, maxima or minima of elements."""
    if combining == "add":
        return old + value
    return old.maximum(value) if combining == "max" else old.minimum(value)


class BurstWithin(Below, name="mte_ub_ub", form="a burst", example=COPIED):
    """Copy bytes of the vector buffer to other bytes of it."""

    dst = Out(Tile)
    src = In(Tile)
    run = staticmethod(filled)


class Filled(Below, name="mte_gm_ub", form="a pad", pipe=MTE2, example=COPIED):
    """Fill elements of the vector buffer with a number."""

    dst = Out(Tile)
    value = In(Scalar, element=True)

    def run(dst, value):
        dst[dst.valid] = in_type(value, dst.dtype)
