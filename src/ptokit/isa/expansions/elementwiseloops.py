"""Expansions element by element: each register of the result from registers of the sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ptokit.isa.expansions.expansionlanguage import (
    Chunk,
    Expansion,
    Inexpressible,
    LaneValue,
    TileBytes,
    Vectors,
)
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.pages.elementwise import binary, bitwise, fused, unary, withscalar
from ptokit.values.dtypes import f16

# the result of one register: the instructions, registers of the sources, and the mask
Step: TypeAlias = "Callable[..., LaneValue]"


def each(v: Vectors, dst: TileBytes, sources: tuple[TileBytes, ...], step: Step) -> None:
    """Compute each register of `dst` from those of the sources at its place."""

    def body(at: Chunk) -> None:
        at.store(step(v, *map(at.load, sources), at.mask), dst)

    v.each(dst, body)


def named(name: str) -> Step:
    """Return the step that is one instruction."""

    def step(v: Vectors, *given: LaneValue) -> LaneValue:
        return v.add(name, *given)[0]

    return step


def on_pairs(step: str | Step) -> Expansion:
    """Return the expansion of dst = f(src0, src1)."""
    f = named(step) if isinstance(step, str) else step

    def expansion(v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
        each(v, dst, (src0, src1), f)

    return expansion


def on_one(step: str | Step) -> Expansion:
    """Return the expansion of dst = f(src)."""
    f = named(step) if isinstance(step, str) else step

    def expansion(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
        each(v, dst, (src,), f)

    return expansion


def on_three(step: Step) -> Expansion:
    """Return the expansion of dst = f(src0, src1, src2)."""

    def expansion(
        v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes, src2: TileBytes
    ) -> None:
        each(v, dst, (src0, src1, src2), step)

    return expansion


def on_old(step: Step) -> Expansion:
    """Return the expansion of dst = f(dst, src0, src1)."""

    def expansion(v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
        each(v, dst, (dst, src0, src1), step)

    return expansion


def with_number(name: str) -> Expansion:
    """Return the expansion of dst = f(src, scalar) with an instruction that takes numbers."""

    def expansion(v: Vectors, dst: TileBytes, src: TileBytes, scalar: Quantity) -> None:
        def step(v: Vectors, x: LaneValue, mask: LaneValue) -> LaneValue:
            return v.add(name, x, scalar, mask)[0]

        each(v, dst, (src,), step)

    return expansion


def with_register(step: str | Step) -> Expansion:
    """Return the expansion of dst = f(src, scalar) with the number in all lanes of a register."""
    f = named(step) if isinstance(step, str) else step

    def expansion(v: Vectors, dst: TileBytes, src: TileBytes, scalar: Quantity) -> None:
        number = v.filled(scalar, dst.dtype)

        def step(v: Vectors, x: LaneValue, mask: LaneValue) -> LaneValue:
            return f(v, x, number, mask)

        each(v, dst, (src,), step)

    return expansion


def between(first: str) -> Expansion:
    """Return the expansion of dst = f(src0, scalar) + src1."""

    def expansion(
        v: Vectors, dst: TileBytes, src0: TileBytes, scalar: Quantity, src1: TileBytes
    ) -> None:
        number = v.filled(scalar, dst.dtype)

        def step(v: Vectors, x: LaneValue, y: LaneValue, mask: LaneValue) -> LaneValue:
            return v.vadd(v.add(first, x, number, mask)[0], y, mask)

        each(v, dst, (src0, src1), step)

    return expansion


def shifted(name: str) -> Step:
    """Return the step of a shift; amounts of 64-bit elements are modulo 64 (X119)."""

    def step(v: Vectors, x: LaneValue, amount: LaneValue, mask: LaneValue) -> LaneValue:
        dtype = x.kind.dtype
        if dtype.bits == 64:
            amount = v.vand(amount, v.constant(63, dtype), mask)
        return v.add(name, x, amount, mask)[0]

    return step


def inverse(v: Vectors, x: LaneValue, mask: LaneValue) -> LaneValue:
    """Divide 1 by each lane."""
    return v.vdiv(v.constant(1, x.kind.dtype), x, mask)


def inverse_root(v: Vectors, x: LaneValue, mask: LaneValue) -> LaneValue:
    """Divide 1 by the rounded root of each lane."""
    return inverse(v, v.vsqrt(x, mask), mask)


def swapped_quotient(v: Vectors, x: LaneValue, number: LaneValue, mask: LaneValue) -> LaneValue:
    return v.vdiv(number, x, mask)


def positive(v: Vectors, x: LaneValue, mask: LaneValue) -> LaneValue:
    """Return lanes that are greater than 0; all others, and NaN, become 0."""
    zero = v.constant(0, x.kind.dtype)
    holds = v.vcmp(x, zero, mask, to=mask.kind, relation="gt")
    return v.vsel(x, zero, holds)


def in_steps(*names: str) -> Step:
    """Return a step that folds registers from the left with one instruction after another."""

    def step(v: Vectors, *given: LaneValue) -> LaneValue:
        *sources, mask = given
        x = sources[0]
        for name, y in zip(names, sources[1:], strict=True):
            x = v.add(name, x, y, mask)[0]
        return x

    return step


def rectified(step: Step) -> Step:
    """Return a step followed by 0 for what is not greater than 0."""

    def rectifying(v: Vectors, *given: LaneValue) -> LaneValue:
        return positive(v, step(v, *given), given[-1])

    return rectifying


def product_and_old(
    v: Vectors, old: LaneValue, x: LaneValue, y: LaneValue, mask: LaneValue
) -> LaneValue:
    return v.vadd(v.vmul(x, y, mask), old, mask)


def scaled_old(
    v: Vectors, old: LaneValue, x: LaneValue, y: LaneValue, mask: LaneValue
) -> LaneValue:
    return v.vadd(v.vmul(x, old, mask), y, mask)


def axpy(v: Vectors, dst: TileBytes, src: TileBytes, scalar: Quantity) -> None:
    """Expand dst = dst + src * scalar: f16 is rounded once, f32 after each step."""
    if src.dtype != dst.dtype:
        raise Inexpressible

    def step(v: Vectors, old: LaneValue, x: LaneValue, mask: LaneValue) -> LaneValue:
        if dst.dtype == f16:
            return v.vaxpy(x, old, scalar, mask)
        return v.vadd(v.vmuls(x, scalar, mask), old, mask)

    each(v, dst, (dst, src), step)


def fill(v: Vectors, dst: TileBytes, scalar: Quantity) -> None:
    """Expand dst = scalar."""
    number = v.filled(scalar, dst.dtype)
    v.each(dst, lambda at: at.store(number, dst))


PAIRS: dict[type[Instr], str | Step] = {
    **{binary.TAdd: "vadd", binary.TSub: "vsub", binary.TMul: "vmul", binary.TDiv: "vdiv"},
    **{binary.TMax: "vmax", binary.TMin: "vmin", binary.TPRelu: "vprelu"},
    **{bitwise.TAnd: "vand", bitwise.TOr: "vor", bitwise.TXor: "vxor"},
    **{bitwise.TShl: shifted("vshl"), bitwise.TShr: shifted("vshr")},
}
ONES: dict[type[Instr], str | Step] = {
    **{unary.TExp: "vexp", unary.TLog: "vln", unary.TSqrt: "vsqrt", unary.TRelu: "vrelu"},
    **{unary.TAbs: "vabs", unary.TNeg: "vneg", unary.TNot: "vnot"},
    **{unary.TRecip: inverse, unary.TRsqrt: inverse_root},
}
NUMBERS = {
    **{withscalar.TAddS: "vadds", withscalar.TMulS: "vmuls", withscalar.TMaxS: "vmaxs"},
    **{withscalar.TMinS: "vmins", withscalar.TLRelu: "vlrelu"},
}
IN_REGISTERS: dict[type[Instr], str | Step] = {
    **{withscalar.TSubS: "vsub", withscalar.TDivS: "vdiv", withscalar.TSDiv: swapped_quotient},
    **{withscalar.TAndS: "vand", withscalar.TOrS: "vor", withscalar.TXorS: "vxor"},
    **{withscalar.TShlS: shifted("vshl"), withscalar.TShrS: shifted("vshr")},
}
ELEMENTWISE: dict[type[Instr], Expansion] = {
    **{page: on_pairs(name) for page, name in PAIRS.items()},
    **{page: on_one(step) for page, step in ONES.items()},
    **{page: with_number(name) for page, name in NUMBERS.items()},
    **{page: with_register(step) for page, step in IN_REGISTERS.items()},
    withscalar.TAddSC: between("vadd"),
    withscalar.TSubSC: between("vsub"),
    fused.TAddC: on_three(in_steps("vadd", "vadd")),
    fused.TSubC: on_three(in_steps("vsub", "vadd")),
    fused.TSubRelu: on_pairs(rectified(named("vsub"))),
    fused.TMulAddDst: on_old(product_and_old),
    fused.TFusedMulAdd: on_old(scaled_old),
    fused.TFusedMulAddRelu: on_old(rectified(scaled_old)),
    fused.TAxpy: axpy,
    withscalar.TExpandS: fill,
}
