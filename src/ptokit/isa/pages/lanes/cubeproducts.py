"""Products of matrices in L0A and L0B, below tiles: they are executed as those of tiles."""

from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.cubebursts import within
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.cubeloads import (
    BOX,
    GROUP,
    across,
    boxes,
    left_scales,
    numbers,
    right_scales,
    whole_boxes,
)
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.matrix import TMatMul, TMatMulAcc, TMatMulBias, factors, write_boxes
from ptokit.isa.pages.matrix_mx import TMatMulMx, TMatMulMxAcc, TMatMulMxBias
from ptokit.values.fixpipe import FLT_MAX, HALF_MAX

SHORT = {"round_even": ShortF32.RINT_10, "round_away": ShortF32.ROUND_10}
# unit flags: a product waits for moves out of the sums, and lets later ones begin
UNITS = {"check_only": AccPhase.PARTIAL, "check_and_set": AccPhase.FINAL}
BF16_MAX = 3.3895313892515355e38
CLAUSES = (
    ("unit_flag", ("unit",)),
    ("", ("gemv", "disable_gemv")),
    ("", ("saturation", "sat", "nosat")),
    ("tf32_mode", ("rounding",)),
    ("", ("direction", "n_dir")),
)


class Mad(Below, abstract=True, pipe=M, core=CUBE, example=MULTIPLIED):
    """A product of matrices of m x k and k x n elements, summed over k ascending.

    A left matrix of one row stands in one row of memory, unless `disable_gemv` says that it stands
    in boxes. With `sat` infinities of floats count as the greatest number and NaN as 0, also in the
    result. `n_dir` has no effect.
    """

    lhs = In(Ptr)
    rhs = In(Ptr)
    dst = Out(Ptr)
    m = In(Scalar, scalar="i64")
    n = In(Scalar, scalar="i64")
    k = In(Scalar, scalar="i64")
    unit = Attr(str, None)
    gemv = Attr(str, None)
    saturation = Attr(str, None)
    rounding = Attr(str, None)
    direction = Attr(str, None)
    asm = Asm(order=("lhs", "rhs", "dst", "m", "n", "k"), clauses=CLAUSES, clause_types=())
    flags = named("attribute", unit.isin(*UNITS), help=f"use {' or '.join(UNITS)}")
    rules = (
        *(within(lhs, LEFT), within(rhs, RIGHT), within(dst, ACC)),
        *(named("operand-value", c >= 1, help="extents are at least 1") for c in (m, n, k)),
        when(unit.given, flags),
        when(
            rounding.given,
            named("attribute", rounding.isin(*SHORT), help=f"use {' or '.join(SHORT)}"),
            named("element-type", lhs.dtype == f32, help="only f32 has spare bits"),
        ),
    )

    def lowered(cls, make, **given):
        known = numbers(make, given["m"], given["n"], given["k"])
        if known is None:
            return None
        m, n, k = known
        lhs, rhs, dst = (local_pointer(given[name]) for name in ("lhs", "rhs", "dst"))
        left = left_operand(lhs.dtype, m, k, given["gemv"] is not None)
        c0 = across(rhs.dtype)
        right = boxes(RIGHT, rhs.dtype, whole_boxes(k, c0), whole_boxes(n, BOX), ZN)
        rows, cols = whole_boxes(m, BOX), whole_boxes(n, BOX)
        sums = TileType(ACC, dst.dtype, rows, cols, Shape(m, n), NZ, 1024)
        operands = {
            "a": make.window(left, lhs.address),
            "b": make.window(replace(right, valid=Shape(k, n)), rhs.address),
            "c": make.window(sums, dst.address),
            **cls.further(make, given, (m, n, k)),
        }
        short = SHORT.get(str(given["rounding"]))
        attrs: dict[str, object] = {} if short is None else {"short": short}
        if given["unit"] is not None:
            attrs["phase"] = UNITS[str(given["unit"])]
        if given["saturation"] == "sat" and "a_scale" not in operands and lhs.dtype.is_float:
            acc = {"acc": operands["c"]} if cls.dst.role is Role.INOUT else {}
            make.op(Saturated, operands | acc, attrs)
        else:
            cls.add(make, operands, attrs)
        return []

    @classmethod
    def further(
        cls, make: Lowering, given: dict[str, Quantity], extents: tuple[int, int, int]
    ) -> dict[str, Quantity]:
        """Return the operands that the product of tiles has besides three matrices."""
        return {}

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        """Add the product of tiles."""
        raise NotImplementedError


def left_operand(dtype: DType, m: int, k: int, in_boxes: bool) -> TileType:
    """Return the type of the left matrix."""
    rows = 1 if m == 1 and not in_boxes else whole_boxes(m, BOX)
    left = boxes(LEFT, dtype, rows, whole_boxes(k, across(dtype)), NZ)
    return replace(left, valid=Shape(m, k))


def finite(x: Array) -> Array:
    """Return numbers with the greatest one for infinity and 0 for NaN."""
    wide = x.cast(f32)
    most = {f16: HALF_MAX, bf16: BF16_MAX}.get(x.dtype, FLT_MAX)
    return wide.isnan().where(0.0, wide.clamp(-most, most))


class Saturated(Below, name="mad", form="saturated", pipe=M, core=CUBE, example=MULTIPLIED):
    """c = a x b, perhaps plus acc or biases; infinity counts as the greatest number, NaN as 0."""

    c = Out(Tile)
    a = In(Tile)
    b = In(Tile)
    acc = In(Tile, None)
    bias = In(Tile, None)
    short = Attr(ShortF32, None, key="shortF32")
    phase = Attr(AccPhase, AccPhase.UNSPECIFIED)

    def run(c, a, b, acc, bias, short):
        m, n = a.valid.rows, b.valid.cols
        left, right = (finite(x) for x in factors(a, b, short))
        start = acc[:m, :n] if acc is not None else bias[0:1, :n] if bias is not None else None
        write_boxes(c, m, n, finite(left.matmul(right, start)))


class MadZero(Mad, name="mad"):
    """dst = lhs x rhs, summed over k ascending with one fused multiply-add per k.

    A left matrix of one row stands in one row of memory, unless `disable_gemv` says that it stands
    in boxes. With `sat` infinities of floats count as the greatest number and NaN as 0, also in the
    result. `n_dir` has no effect.
    """

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMul, operands, attrs)


class MadAcc(Mad, name="mad_acc"):
    """dst = dst + lhs x rhs; as `mad`."""

    dst = InOut(Ptr)

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMulAcc, operands | {"acc": operands["c"]}, attrs)


class WithBias(Mad, abstract=True):
    """A product that starts with a bias for each column."""

    lhs, rhs, dst = Mad.lhs, Mad.rhs, Mad.dst
    bias = In(Ptr)
    m, n, k = Mad.m, Mad.n, Mad.k
    asm = Asm(order=("lhs", "rhs", "dst", "bias", "m", "n", "k"))
    rules = (
        Mad.rules,
        within(bias, BIAS),
        named("element-type", bias.dtype == dst.dtype, help="biases are as the result"),
    )


def biases(make: Lowering, bias: Quantity, n: int) -> Quantity:
    """Return a row of biases."""
    first, cols = local_pointer(bias), whole_boxes(n, BOX)
    return make.window(TileType(BIAS, first.dtype, 1, cols, Shape(1, n)), first.address)


class MadBias(WithBias, name="mad_bias"):
    """dst = bias + lhs x rhs, a bias for each column; as `mad`."""

    @classmethod
    def further(
        cls, make: Lowering, given: dict[str, Quantity], extents: tuple[int, int, int]
    ) -> dict[str, Quantity]:
        return {"bias": biases(make, given["bias"], extents[1])}

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMulBias, operands, attrs)


MX_CLAUSES = tuple(clause for clause in CLAUSES if clause[0] != "tf32_mode")


def scales(
    make: Lowering, given: dict[str, Quantity], extents: tuple[int, int, int]
) -> dict[str, Quantity]:
    """Return the scales of both matrices, which stand at a 16th of their addresses."""
    m, n, k = extents
    lhs, rhs = local_pointer(given["lhs"]), local_pointer(given["rhs"])
    groups = -(-k // GROUP)
    left = replace(left_scales(lhs.dtype, m, k, False)[1], valid=Shape(m, groups))
    right = replace(right_scales(rhs.dtype, k, n, False)[1], valid=Shape(groups, n))
    return {
        "a_scale": make.window(left, make.over(lhs.address, 16)),
        "b_scale": make.window(right, make.over(rhs.address, 16)),
    }


MX = named(
    "element-type",
    *(p.dtype.isin(f8e4m3, f8e5m2, f4e2m1x2, f4e1m2x2) for p in (Mad.lhs, Mad.rhs)),
    help="scales belong to elements of 8 and 4 bits",
)


class MxProduct(Mad, abstract=True):
    """A product with a scale for each 32 elements along k."""

    lhs, rhs, dst = Mad.lhs, Mad.rhs, Mad.dst
    m, n, k = Mad.m, Mad.n, Mad.k
    asm = Asm(clauses=MX_CLAUSES)
    rules = (Mad.rules, MX)

    @classmethod
    def further(
        cls, make: Lowering, given: dict[str, Quantity], extents: tuple[int, int, int]
    ) -> dict[str, Quantity]:
        return scales(make, given, extents)


class MadMx(MxProduct, name="mad_mx"):
    """dst = the sum of lhs x rhs x their scales, one for each 32 elements along k."""

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMulMx, operands, attrs)


class MadMxAcc(MxProduct, name="mad_mx_acc"):
    """dst = dst + the sum of lhs x rhs x their scales, one for each 32 elements along k."""

    dst = InOut(Ptr)

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMulMxAcc, operands | {"acc": operands["c"]}, attrs)


class MadMxBias(WithBias, name="mad_mx_bias"):
    """dst = bias + the sum of lhs x rhs x their scales, one for each 32 elements along k."""

    asm = Asm(clauses=MX_CLAUSES)
    rules = (WithBias.rules, MX)

    @classmethod
    def further(
        cls, make: Lowering, given: dict[str, Quantity], extents: tuple[int, int, int]
    ) -> dict[str, Quantity]:
        return {
            **scales(make, given, extents),
            "bias": biases(make, given["bias"], extents[1]),
        }

    @staticmethod
    def add(make: Lowering, operands: dict[str, Quantity], attrs: dict[str, object]) -> None:
        make.op(TMatMulMxBias, operands, attrs)
