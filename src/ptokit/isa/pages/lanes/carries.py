"""Integers of 32 bits with their carries, and products of 64 bits."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *


class Carrying(Below, abstract=True):
    """Sums or differences of integers with the carry of each lane, for numbers of many lanes."""

    dst = Out(Lanes)
    carry = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y, %c = NAME %x, %x, %m : V, V, M -> V, M", dtype=i32)
    rules = (
        one_type(dst, lhs, rhs),
        of(dst, i32, u32),
        granular(mask, dst),
        granular(carry, dst),
    )


def carried(dst: Cells, carry: Cells, total: Array, out: Array, mask: Cells) -> None:
    """Write the low 32 bits of a sum of i64, and where it carries."""
    masked(dst, total.cast(u32).bitcast(dst.dtype), mask)
    chosen = active(mask)
    selecting(
        carry, chosen.where(out.where(carry.constant(1), carry.constant(0)), carry.constant(0)) > 0
    )


def unsigned(register: Cells) -> Array:
    """Return lanes of 32 bits as numbers of 64 bits without sign."""
    return whole(register).bitcast(u32).cast(i64)


class VAddC(Carrying, name="vaddc", logical=Logical((i32, u32), masks=("mask", "carry"))):
    """dst[i] = lhs[i] + rhs[i] without sign; carry[i] says whether the sum has a 33rd bit."""

    def run(dst, carry, lhs, rhs, mask):
        total = unsigned(lhs) + unsigned(rhs)
        carried(dst, carry, total, total > 0xFFFFFFFF, mask)


class VSubC(Carrying, name="vsubc"):
    """dst[i] = lhs[i] - rhs[i] without sign; carry[i] is 1 where nothing is borrowed."""

    def run(dst, carry, lhs, rhs, mask):
        total = unsigned(lhs) - unsigned(rhs)
        carried(dst, carry, total & 0xFFFFFFFF, total >= 0, mask)


class CarryingOn(Carrying, abstract=True):
    """Sums or differences of integers that begin with a carry."""

    dst = Carrying.dst
    carry = Carrying.carry
    lhs = Carrying.lhs
    rhs = Carrying.rhs
    carry_in = In(Lanes)
    mask = Carrying.mask
    example = lanes("%y, %c = NAME %x, %x, %m, %m : V, V, M, M -> V, M", dtype=i32)
    rules = (Carrying.rules, granular(carry_in, dst))


def ones(carry: Cells) -> Array:
    """Return the carry of each lane as a number."""
    return active(carry).where(carry.constant(1), carry.constant(0)).cast(i64)


CARRIES = Logical((i32, u32), masks=("mask", "carry", "carry_in"))


class VAddCs(CarryingOn, name="vaddcs", logical=CARRIES):
    """dst[i] = lhs[i] + rhs[i] + carry_in[i] without sign; carry[i] is the 33rd bit."""

    def run(dst, carry, lhs, rhs, carry_in, mask):
        total = unsigned(lhs) + unsigned(rhs) + ones(carry_in)
        carried(dst, carry, total & 0xFFFFFFFF, total > 0xFFFFFFFF, mask)


class VSubCs(CarryingOn, name="vsubcs"):
    """dst[i] = lhs[i] - rhs[i] - 1 + carry_in[i] without sign; carry[i]: nothing is borrowed."""

    def run(dst, carry, lhs, rhs, carry_in, mask):
        total = unsigned(lhs) - unsigned(rhs) - 1 + ones(carry_in)
        carried(dst, carry, total & 0xFFFFFFFF, total >= 0, mask)


def products(low: Cells, high: Cells, lhs: Array, rhs: Array, mask: Cells) -> None:
    """Write the halves of products of 64 bits."""
    product = lhs * rhs
    masked(low, product.cast(low.dtype), mask)
    masked(high, (product >> 32).cast(high.dtype), mask)


def signed_products(
    low: Cells, high: Cells, lhs: Cells, rhs: Cells, mask: Cells, kind: LogicalType
) -> None:
    """Write the halves of products, with a sign unless the type of the vectors denies it."""
    x, y = (whole(c).bitcast(i32) if kind.signless else whole(c) for c in (lhs, rhs))
    wide = i64 if x.dtype.signed else u64
    products(low, high, x.cast(wide), y.cast(wide), mask)


FACTORS = In(Vector)
OF_TYPE = {"lhs": FACTORS, "kind": TypeOf(FACTORS), "run": staticmethod(signed_products)}


class VMull(Below, name="vmull", logical=Logical((i32, u32), fields=OF_TYPE)):
    """The low and the high 32 bits of lhs[i] * rhs[i]. Other lanes become 0."""

    low = Out(Lanes)
    high = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y, %z = NAME %x, %x, %m : V, V, M -> V, V", dtype=i32)
    rules = (one_type(low, high, lhs, rhs), of(low, i32, u32), granular(mask, low))

    def run(low, high, lhs, rhs, mask):
        wide = i64 if low.dtype.signed else u64
        products(low, high, whole(lhs).cast(wide), whole(rhs).cast(wide), mask)
