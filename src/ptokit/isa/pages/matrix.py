"""Matrix multiplication: TMATMUL and TGEMV, with their accumulating and biased forms."""

from math import gcd

from ptokit.isa.formula.formulas import SameStorage
from ptokit.isa.lang.page import *

BIASES = "!pto.tile_buf<bias, 1x64xf32>"
ROW_EXAMPLE = {"a": L0A_ROW, "b": L0B, "c": L0C_ROW, "bias": BIASES}
PRODUCT_FP8 = (f8e4m3, f8e5m2)
SAME_K = "the columns of a are the rows of b"
PACKED = "declare the tile no larger than what is valid, in whole boxes, or set compact=1"
EXTENT = "hardware counts M, K and N with 12 bits"
BOX = 16  # rows and columns of the boxes of an accumulator


def sum_type(a: DType) -> DType:
    """Return the accumulator type of a product: i32 for integers, f32 for floats."""
    return i32 if a.is_int else f32


def of_boxes(extent: Expr, box: Expr | int = BOX) -> Expr:
    """Return the number of rows or columns rounded up to whole boxes."""
    return (extent + (box - 1)) // box * box


def pitch(rule: Expr) -> Ruled:
    """Require that the boxes lie where the cube unit expects them."""
    return named("box-pitch", rule, help=PACKED)


class MatMul(Instr, abstract=True, pipe=M, specials=NAN_COMPUTED):
    """Common to all products: c = a x b on M = a.valid.rows, K = a.valid.cols, N = b.valid.cols."""

    c = Out(Tile, loc=ACC, doc="the accumulator tile; M x N of it is written, whatever is valid")
    a = In(Tile, loc=LEFT, doc="the left matrix, M x K")
    b = In(Tile, loc=RIGHT, doc="the right matrix, K x N")
    phase = Attr(AccPhase, AccPhase.UNSPECIFIED, key="accPhase")
    short = Attr(ShortF32, None, key="shortF32", cpp=False)
    example = {"a": L0A, "b": L0B, "c": L0C_64, "bias": BIASES}
    extents = (
        named("shape", a.valid.cols == b.valid.rows, help=SAME_K),
        on(CPU, named("layout", a.slayout == SLayout.ROW_MAJOR, help="left tiles are nz or zz")),
        of_left(a),
        named("layout", b.layout == ZN, help="right tiles are zn"),
        named("layout", c.layout == NZ, help="accumulators are nz"),
        on(
            HARDWARE,
            named("shape", a.valid.cols <= 4095, b.valid.cols <= 4095, help=EXTENT),
        ),
    )
    rows_of_a, of_k = of_boxes(a.valid.rows), of_boxes(a.valid.cols, a.c0)
    many, whole = c.cols > BOX, c.compact == CompactMode.NULL
    packed = warns(on(HARDWARE, when(both(many, whole), pitch(rows_of_a == c.declared.rows))))
    packed_rows = warns(
        on(HARDWARE, when(both(many, ~whole), pitch(rows_of_a == of_boxes(c.valid.rows))))
    )
    # some moves pack elements of 8 bits and less in every mode
    loose_a = both(a.compact == CompactMode.NULL, a.size >= 2, a.rows > 1)
    loose_b = both(b.compact == CompactMode.NULL, b.size >= 2, b.valid.rows > b.c0)
    wide_elements = warns(
        on(HARDWARE, when(loose_b, pitch(of_boxes(b.valid.cols) == b.declared.cols))),
        on(A5, when(both(loose_a, a.valid.cols > a.c0), pitch(rows_of_a == a.declared.rows))),
    )
    wide_rows = warns(
        on(
            A2A3,
            when(
                both(loose_a, a.valid.rows > BOX, a.valid.cols >= 1),
                pitch(of_k == a.declared.cols),
            ),
        ),
    )
    of_integers = both(a.dtype == i8, b.dtype == i8, c.dtype == i32)
    product = (
        extents,
        named("attribute", either(~short.given, a.dtype == f32), help="only f32 has spare bits"),
        wide_elements,
        without(
            *(F16_SUMS, (CPU, *HARDWARE)),
            either(
                of_integers,
                both(a.dtype.isin(f16, bf16, f32), b.dtype == a.dtype, c.dtype == f32),
                both(a.dtype.isin(*PRODUCT_FP8), b.dtype.isin(*PRODUCT_FP8), c.dtype == f32),
                both(a.dtype == hif8, b.dtype == hif8, c.dtype == f32),
            ),
        ),
        at(
            *(F16_SUMS, (A5,)),
            either(of_integers, both(a.dtype == f16, b.dtype == f16, c.dtype == f16)),
        ),
        on((CPU, A2A3), a.dtype.isin(i8, f16, bf16, f32)),
    )
    inner = both(a.cols == b.rows, b.cols == c.cols)
    valid_inner = both(a.valid.cols == b.valid.rows, b.valid.cols == c.valid.cols)
    matching = both(a.rows == c.rows, inner)
    fitting = either(matching, both(a.valid.rows == c.valid.rows, valid_inner))
    alike = "C++ asks that the declared shapes fit too"
    some_rows = (
        packed,
        packed_rows,
        on(CPU, named("shape", matching)),
        on(
            HARDWARE,
            named("shape", fitting),
            when(fitting, by(HEADERS, warns(named("shape", matching, help=alike)))),
        ),
        on(HARDWARE, named("shape", a.valid.rows <= 4095, help=EXTENT)),
    )
    one_row = (
        packed,
        on(CPU, named("shape", matching)),
        on(
            HARDWARE,
            named("shape", a.valid.rows == 1, help="use tmatmul for more than one row"),
            named("shape", c.valid.rows == 1, help="the product of one row is one row"),
            named("shape", c.valid.cols == b.valid.cols, help="a sum for each column of b"),
        ),
    )
    elided = {"c": Like(a, a.valid.rows, b.valid.cols, loc=ACC, dtype=sum_type)}


def shortened(x: Array, short: ShortF32 | None) -> Array:
    """Round f32 to fewer bits, to nearest; NaN stays as it is."""
    if short is None:
        return x
    dropped = 13 if short in (ShortF32.RINT_10, ShortF32.ROUND_10) else 12
    bits, half = x.bitcast(u32), 1 << (dropped - 1)
    if short in (ShortF32.ROUND_10, ShortF32.ROUND_11):  # a tie away from 0
        nearest = bits + half
    else:
        nearest = bits + (half - 1) + ((bits >> dropped) & 1)
    kept = (nearest & ((1 << 32) - (1 << dropped))).bitcast(f32)
    return x.equals(x).where(kept, x)


def kept_bits(target: Target, *, away: bool) -> ShortF32:
    """Return the bits of f32 that a chip keeps in short mode; ties away from 0 if `away` (D9)."""
    if target.tf32:
        return ShortF32.ROUND_10 if away else ShortF32.RINT_10
    return ShortF32.ROUND_11 if away else ShortF32.RINT_11


def factors(a: Cells, b: Cells, short: ShortF32 | None) -> tuple[Array, Array]:
    """Return both matrices, with f32 rounded as `short` says."""
    (m, k), n = a.valid, b.valid.cols
    return shortened(a[:m, :k], short), shortened(b[:k, :n], short)


def product(a: Array, b: Array, start: Array, order: Order) -> Array:
    """Return a x b plus `start`, which is added first, or last in the order of the recordings."""
    start = start.cast(f32) if start.dtype is f16 else start
    return a.matmul(b) + start if order is Order.RECORDED else a.matmul(b, start)


def write_boxes(c: Cells, m: int, n: int, sums: Array) -> None:
    """Write m x n sums; the other elements of their boxes become undefined (X95).

    The cube unit works on boxes of 16 x 16.
    """
    down, across = gcd(c.rows, BOX), gcd(c.cols, BOX)  # the simulator takes a tile of one row
    rows, cols = (m + down - 1) // down * down, (n + across - 1) // across * across
    c[:m, :n] = sums if sums.dtype is c.dtype else sums.cast(c.dtype)  # to f16, see E66
    c.undefine((slice(0, m), slice(n, cols)))
    c.undefine((slice(m, rows), slice(0, cols)))


class Product(
    MatMul,
    abstract=True,
    disputes=("D9", "D21", "X95", "E65", "E66"),
    recorded={"plain": {"c": "dst"}},
):
    """c = a x b."""

    def run(c, a, b, short):
        m, n = a.valid.rows, b.valid.cols
        left, right = factors(a, b, short)
        write_boxes(c, m, n, left.matmul(right))


class TMatMul(Product, rules=(MatMul.product, MatMul.wide_rows, MatMul.some_rows)):
    """c = a x b, summed over k ascending with one fused multiply-add per k."""


class TGemv(Product, example=ROW_EXAMPLE, rules=(MatMul.product, MatMul.one_row)):
    """c = a x b for one row, summed over k ascending with one fused multiply-add per k."""


class Accumulation(MatMul, abstract=True, asm=Asm(order=("acc", "a", "b")), uses=(TARGET,)):
    """c = acc + a x b: each sum starts with acc's element.

    The recordings were made by a simulator that started with 0 and added acc last.
    """

    c = MatMul.c
    acc = In(Tile, loc=ACC, doc="the sum so far; may be c itself")
    a, b = MatMul.a, MatMul.b

    onto = (
        acc.dtype == c.dtype,
        named("shape", both(acc.rows >= a.valid.rows, acc.cols >= b.valid.cols)),
        on(HARDWARE, named("aliasing", SameStorage(acc, c), help="accumulate in place")),
    )
    recorded = {"acc": {"c": "dst"}}
    disputes = ("D8", "D9", "D21", "X95", "E65", "E66")

    def run(c, acc, a, b, target, short):
        m, n = a.valid.rows, b.valid.cols
        left, right = factors(a, b, short)
        write_boxes(c, m, n, product(left, right, acc[:m, :n], target.order))


def accumulating(product: str, c: str, **factors: str) -> str:
    """Return an example that adds to the accumulator of a product of factors of these types."""
    uses, types = ", ".join(f"%{name}" for name in factors), ", ".join(factors.values())
    return f"""\
%acc = {product} {uses} : {types} -> {c}
NAME ins(%acc, {uses} : {c}, {types}) outs(%acc : {c})"""


class TMatMulAcc(Accumulation, name="tmatmul.acc", verb="accumulate", recorded_op="tmatmul"):
    """c = acc + a x b: each sum starts with acc's element; in recordings acc is added last."""

    asm = Asm(also=("TMATMUL_ACC<phase>(c=acc, a, b)",)).over(Accumulation.asm)
    example = accumulating("tmatmul", L0C_64, a=L0A, b=L0B)
    rules = (MatMul.product, Accumulation.onto, MatMul.wide_rows, MatMul.some_rows)


class TGemvAcc(Accumulation, name="tgemv.acc", recorded_op="tgemv"):
    """c = acc + a x b for one row: each sum starts with acc's element (recorded: last)."""

    example = accumulating("tgemv", L0C_ROW, a=L0A_ROW, b=L0B)
    rules = (MatMul.product, Accumulation.onto, MatMul.one_row)


class Biased(
    MatMul,
    abstract=True,
    uses=(TARGET,),
    disputes=("D8", "D9", "D21", "X95", "E65", "E66", "X120"),
):
    """c = bias + a x b: each sum starts with its column's bias.

    The recordings were made by a simulator that started with 0 and added the bias last.
    """

    c, a, b = MatMul.c, MatMul.a, MatMul.b
    bias = In(Tile, loc=BIAS, doc="one row of N biases")

    spaced = named("shape", bias.valid.cols >= b.valid.cols * 2, help="give each one four bytes")
    onto = (
        bias.dtype == c.dtype,
        both(bias.rows == 1, bias.layout == ND),
        named("shape", bias.valid.cols >= b.valid.cols, help="give a bias for each column"),
        at(SPACED_BIASES, (A5,), when(bias.dtype == f16, spaced)),
    )
    recorded = {"bias": {"c": "dst"}}

    def run(c, a, b, bias, target, short):
        m, n = a.valid.rows, b.valid.cols
        left, right = factors(a, b, short)
        step = 2 if target.spaced_biases and bias.dtype is f16 else 1
        given = bias[0, 0 : step * n : step]
        write_boxes(c, m, n, product(left, right, given, target.order))


class TMatMulBias(Biased, name="tmatmul.bias", recorded_op="tmatmul"):
    """c = bias + a x b: each sum starts with its column's bias; in recordings it is added last."""

    rules = (MatMul.product, Biased.onto, MatMul.wide_rows, MatMul.some_rows)


class TGemvBias(Biased, name="tgemv.bias", recorded_op="tgemv"):
    """c = bias + a x b for one row: each sum starts with its column's bias (recorded: last)."""

    example = ROW_EXAMPLE
    rules = (MatMul.product, Biased.onto, MatMul.one_row)
