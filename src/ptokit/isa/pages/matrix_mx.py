"""Matrix multiplication: products with a scale for each group of 32 elements."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.matrix import (
    BIASES,
    PRODUCT_FP8,
    Accumulation,
    Biased,
    MatMul,
    accumulating,
    product,
    write_boxes,
)
from ptokit.isa.pages.quantisation import GROUP
from ptokit.isa.pages.windows import FP4
from ptokit.values.functions import wide

A_SCALE = "!pto.tile_buf<scaleleft, 64x2xf8E8M0FNU, slayout=row_major, fractal=32>"
ROW_SCALE = A_SCALE.replace(", slayout", ", valid=1x2, slayout")
B_SCALE = (
    "!pto.tile_buf<scaleright, 2x64xf8E8M0FNU, blayout=col_major, slayout=col_major, fractal=32>"
)
A, A_ROW, B = (t.replace("f16", "f8E4M3FN") for t in (L0A, L0A_ROW, L0B))
FACTORS = {"a": A, "a_scale": A_SCALE, "b": B, "b_scale": B_SCALE}
ROW_FACTORS = FACTORS | {"a": A_ROW, "a_scale": ROW_SCALE}
EXAMPLE = FACTORS | {"c": L0C_64, "bias": BIASES}
ROW_EXAMPLE = EXAMPLE | ROW_FACTORS | {"c": L0C_ROW}
IN_ZZ, IN_NN = "zz, fractal 32", "nn, fractal 32"
ENOUGH = "give a scale for each group of 32 along k"
ANY_SCALES = "the assembler takes any type, hardware reads exponents of 8 bits: f8e8m0"
EXACTLY = "the scales of a are M x ceil(K/32), those of b ceil(K/32) x N"


def groups(k: Expr) -> Expr:
    """Return the number of groups of 32 elements along k."""
    return (k + (GROUP - 1)) // GROUP


def grouped(scales: Expr, k: Expr, of: Operand) -> Expr:
    """Require a scale for each group along k; assembler text may count k in pairs."""
    return either(scales == groups(k), both(of.dtype.isin(*FP4), scales == groups((k + 1) // 2)))


class Scaled(
    MatMul, abstract=True, targets=(CPU, A5), disputes=("D10", "D13", "D21", "D24", "X41", "X43")
):
    """c = the sum over k of a x b x their scales."""

    specials = "Each step rounds to f32. A scale of 255 makes NaN, so does NaN or infinity times 0."
    c, a = MatMul.c, MatMul.a
    a_scale = In(Tile, cpp="aScale", doc="a scale for each 32 columns of a row of a")
    b = MatMul.b
    b_scale = In(Tile, cpp="bScale", doc="a scale for each 32 rows of a column of b")
    example = EXAMPLE
    scales = both(a_scale.dtype == f8e8m0, b_scale.dtype == f8e8m0)
    enough = both(
        a_scale.valid.cols * GROUP >= a.valid.cols, b_scale.valid.rows * GROUP >= b.valid.rows
    )
    sizes = (
        *(a_scale.rows == a.rows, b_scale.cols == b.cols),
        *(grouped(a_scale.cols, a.cols, a), grouped(b_scale.rows, b.rows, b)),
    )
    ordered = (
        named("layout", a_scale.layout == ZZ, help=IN_ZZ),
        named("layout", b_scale.layout == NN, help=IN_NN),
    )
    scaled = (
        MatMul.extents,
        on(HARDWARE, named("shape", both(a.valid.rows >= 1, a.valid.cols >= 1, b.valid.cols >= 1))),
        named("shape", a.cols % 64 == 0, help="declare whole pairs of groups along k"),
        either(
            both(a.dtype.isin(*PRODUCT_FP8), b.dtype.isin(*PRODUCT_FP8)),
            both(a.dtype.isin(*FP4), b.dtype.isin(*FP4)),
        ),
        c.dtype == f32,
        on(CPU, scales),
        on(A5, by(BOARDS, warns(named("element-type", scales, help=ANY_SCALES)))),
        named("location", a_scale.loc.isin(SCALE_LEFT, SCALING)),
        named("location", b_scale.loc.isin(SCALE_RIGHT, SCALING)),
        named("layout", a_scale.fractal == 32, help=IN_ZZ),
        named("layout", b_scale.fractal == 32, help=IN_NN),
        on(
            CPU,
            named("shape", a_scale.valid.rows >= a.valid.rows, help=ENOUGH),
            named("shape", a_scale.valid.cols * GROUP >= a.valid.cols, help=ENOUGH),
            named("shape", b_scale.valid.rows * GROUP >= b.valid.rows, help=ENOUGH),
            named("shape", b_scale.valid.cols >= b.valid.cols, help=ENOUGH),
        ),
        on(
            A5,
            by(ASSEMBLER, named("shape", *sizes, help=EXACTLY)),
            named("shape", a_scale.valid.rows == a.valid.rows, help=EXACTLY),
            named("shape", grouped(a_scale.valid.cols, a.valid.cols, a), help=EXACTLY),
            named("shape", grouped(b_scale.valid.rows, b.valid.rows, b), help=EXACTLY),
            named("shape", b_scale.valid.cols == b.valid.cols, help=EXACTLY),
            when(
                both(a.dtype.isin(*FP4), b.dtype.isin(*FP4)),
                by(BOARDS, named("shape", enough, help=ENOUGH)),
            ),
        ),
    )
    elided = {"c": Like(a, a.valid.rows, b.valid.cols, loc=ACC, dtype=lambda _: f32)}


def factors(a: Cells, a_scale: Cells, b: Cells, b_scale: Cells) -> tuple[Array, Array]:
    """Return both matrices times their scales, in f64: exact."""
    (m, k), n = a.valid, b.valid.cols
    scales = (k + GROUP - 1) // GROUP
    left = a_scale[:m, :scales].repeated(GROUP)[:m, :k]
    right = b_scale[:scales, :n].T.repeated(GROUP).T[:k, :n]
    return wide(a[:m, :k]) * wide(left), wide(b[:k, :n]) * wide(right)


def gemv(page: type[Scaled]) -> str:
    """Return the C++ call for one row."""
    return (page.asm.cpp_text or "").replace("TMATMUL", "TGEMV")


class ScaledProduct(Scaled, abstract=True, recorded={"plain": {"c": "dst"}}):
    """c = the sum over k of a x b x their scales."""

    def run(c, a, a_scale, b, b_scale):
        left, right = factors(a, a_scale, b, b_scale)
        write_boxes(c, a.valid.rows, b.valid.cols, left.matmul(right))


class TMatMulMx(ScaledProduct, name="tmatmul.mx", recorded_op="tmatmul_mx"):
    """c[i, j] = the sum of a[i, k] a_scale[i, g] b[k, j] b_scale[g, j], g = k // 32.

    Over k ascending; each step rounds to f32.
    """

    rules = (Scaled.scaled, Scaled.ordered, MatMul.some_rows)


class TGemvMx(ScaledProduct, name="tgemv.mx", recorded_op="tgemv_mx"):
    """c[0, j] = the sum of a[0, k] a_scale[0, g] b[k, j] b_scale[g, j], g = k // 32.

    Over k ascending; each step rounds to f32.
    """

    example = ROW_EXAMPLE
    rules = (Scaled.scaled, by(COMPILED, Scaled.ordered), MatMul.one_row)


class ScaledAccumulation(Scaled, abstract=True, uses=(TARGET,), disputes=(*Scaled.disputes, "D8")):
    """c = acc + the sum over k of a x b x their scales: each sum starts with acc's element."""

    c, acc = MatMul.c, Accumulation.acc

    asm = Asm(
        order=("acc", "a", "a_scale", "b", "b_scale"),
        cpp_text="TMATMUL_MX<AccPhase::{phase}>({c}, {acc}, {a}, {a_scale}, {b}, {b_scale});",
    )
    recorded = Accumulation.recorded

    def run(c, acc, a, a_scale, b, b_scale, target):
        m, n = a.valid.rows, b.valid.cols
        sums = product(*factors(a, a_scale, b, b_scale), acc[:m, :n], target.order)
        write_boxes(c, m, n, sums)


class TMatMulMxAcc(ScaledAccumulation, name="tmatmul.mx.acc", recorded_op="tmatmul_mx"):
    """c = acc + a x b with their scales: each sum starts with acc's element (recorded: last)."""

    example = accumulating("tmatmul.mx", L0C_64, **FACTORS)
    rules = (Scaled.scaled, Scaled.ordered, Accumulation.onto, MatMul.some_rows)


class TGemvMxAcc(ScaledAccumulation, name="tgemv.mx.acc", recorded_op="tgemv_mx"):
    """c = acc + a x b with their scales, for one row: as `tmatmul.mx.acc`."""

    asm = Asm(cpp_text=gemv(ScaledAccumulation))
    example = accumulating("tgemv.mx", L0C_ROW, **ROW_FACTORS)
    rules = (Scaled.scaled, by(COMPILED, Scaled.ordered), Accumulation.onto, MatMul.one_row)


class ScaledBiased(Scaled, abstract=True, uses=(TARGET,), disputes=(*Scaled.disputes, "D8")):
    """c = bias + the sum over k of a x b x their scales: each sum starts with its column's bias."""

    bias = Biased.bias

    asm = Asm(
        cpp_text="TMATMUL_MX<AccPhase::{phase}>({c}, {a}, {a_scale}, {b}, {b_scale}, {bias});"
    )
    recorded = Biased.recorded

    def run(c, a, a_scale, b, b_scale, bias, target):
        m, n = a.valid.rows, b.valid.cols
        sums = product(*factors(a, a_scale, b, b_scale), bias[0, :n], target.order)
        write_boxes(c, m, n, sums)


class TMatMulMxBias(ScaledBiased, name="tmatmul.mx.bias", recorded_op="tmatmul_mx"):
    """c = bias + a x b with their scales: sums start with their column's bias (recorded: last)."""

    rules = (Scaled.scaled, Scaled.ordered, Biased.onto, MatMul.some_rows)


class TGemvMxBias(ScaledBiased, name="tgemv.mx.bias", recorded_op="tgemv_mx"):
    """c = bias + a x b with their scales, for one row: as `tmatmul.mx.bias`."""

    asm = Asm(cpp_text=gemv(ScaledBiased))
    example = ROW_EXAMPLE
    rules = (Scaled.scaled, by(COMPILED, Scaled.ordered), Biased.onto, MatMul.one_row)


class TGetScaleAddr(
    Instr, name="tget_scale_addr", uses=(MACHINE,), traits=(READDRESSES,), pipe=S, targets=(CPU, A5)
):
    """The scales that belong to `src`: a handle on the scale memory at a 16th of its address.

    No data moves: hardware expects the scales of a tile at this address.
    """

    addressed = "{type} {dst}; TGET_SCALE_ADDR({dst}, {src});"
    asm = Asm(spellings=("get_scale_addr",), typed=("src",), cpp_text=addressed)
    dst = Result(Tile, doc="the scales")
    src = In(Tile, doc="the left or right matrix that they scale")

    example = f"""\
%a = pto.alloc_tile : {A}
%s = pto.tget_scale_addr %a : {A} -> {A_SCALE}"""
    across, down = (src.valid.cols + 31) // 32, (src.valid.rows + 31) // 32
    rules = (
        named("location", src.loc.isin(LEFT, RIGHT), help="scales belong to left and right tiles"),
        when(src.loc == LEFT, named("location", dst.loc.isin(SCALE_LEFT, SCALING))),
        when(src.loc == RIGHT, named("location", dst.loc.isin(SCALE_RIGHT, SCALING))),
        on(
            A5,
            when(
                both(src.loc == LEFT, ~src.dynamic_cols), dst.rows == src.rows, dst.cols == across
            ),
            when(both(src.loc == RIGHT, ~src.dynamic_rows), dst.rows == down, dst.cols == src.cols),
        ),
    )
    disputes = ("D11",)

    def type_of(dst):
        if dst is None:
            return None
        whole = (
            n if v is None else v for n, v in zip((dst.rows, dst.cols), dst.valid, strict=True)
        )
        return replace(dst, valid=Shape(*whole))

    def run(machine, dst, src):
        return machine.tile(dst, src.address // 16)
