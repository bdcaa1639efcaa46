"""HiFloat4: groups of 64 elements of 4 bits with scales of three levels, and products (A6).

The scales of a group are four bytes. The first byte is a number of 6 exponent and 2 mantissa bits,
(1 + m / 4) * 2**(e - 48), or NaN. The second doubles each of 8 eighths whose bit is set, the last
two double sixteenths; lower bits belong to earlier elements.
"""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.matrix import MatMul, write_boxes
from ptokit.isa.pages.quantisation import EACH, INFINITY, QUIET, side_by_side

GROUP, PART, BIT = 64, 8, 4  # elements that share the number, and a bit of each level
E6M2 = (127 - 48) << 2  # from codes of e6m2 to the exponents of f32
NAN, LARGEST = 255, 254  # codes of e6m2
ENOUGH = "give four bytes for each group of 64 along k"


class TQuantHif4(Instr, name="tquant_hif4", pipe=V, targets=(CPU,), disputes=("E52", "E53")):
    """Quantise groups of 64 columns to HiFloat4: dst = src / its scale, nearest, ties to even.

    The number of a group is the nearest to its largest magnitude / 7, at most 1.5 * 2**15. An
    eighth is doubled if it reaches 4 times the number, a sixteenth if it then reaches twice the
    doubled number. Each step rounds to bf16. Elements, infinities too, are at most 1.75. NaN makes
    the number of its group NaN and its elements 1.75. max receives the largest magnitudes of
    sixteenths, then of eighths, scaling the factors of sixteenths, each from the first byte on.
    """

    dst = Out(Tile, doc="receives the elements")
    src = In(Tile, doc="the numbers, bf16")
    exp = Out(Tile, doc="receives the four bytes of each group, side by side")
    max = Out(Tile, doc="receives magnitudes, bf16")
    scaling = Out(Tile, doc="receives factors, bf16")
    asm = Asm(
        cpp_on=CHIPS,
        cpp_text="TQUANT<1, MxQuantAlg::Hif4>({dst}, {src}, &{exp}, &{max}, &{scaling});",
    )
    example = {
        "src": "!pto.tile_buf<vec, 16x64xbf16>",
        "dst": "!pto.tile_buf<vec, 16x32x!pto.f4E1M2x2>",
        "exp": "!pto.tile_buf<vec, 16x32xui8, valid=16x4>",
        "max": "!pto.tile_buf<vec, 16x32xbf16>",
        "scaling": "!pto.tile_buf<vec, 16x16xbf16>",
    }
    rows, cols = src.valid.rows, src.valid.cols
    rules = (
        both(src.dtype == bf16, dst.dtype == f4e1m2x2, exp.dtype == u8),
        both(max.dtype == bf16, scaling.dtype == bf16),
        same_region(dst, src),
        named("shape", cols % GROUP == 0, help="groups have 64 elements"),
        named("shape", both(exp.rows >= rows, exp.cols >= cols // GROUP * 4), help=EACH),
        named("shape", max.rows * max.cols >= rows * (cols // PART) * 3, help=EACH),
        named("shape", scaling.rows * scaling.cols >= rows * (cols // BIT), help=EACH),
        named("layout", both(*(t.layout == ND for t in (dst, src, exp, max, scaling)))),
    )

    def run(dst, src, exp, max, scaling):
        rows, cols = src.valid
        x = src[:rows, :cols]
        fourths = [src[:rows, first:cols:BIT].bitcast(i16) & 0x7FFF for first in range(BIT)]
        of_4 = reduce(Array.maximum, fourths)
        of_8 = larger_of_pairs(of_4)
        whole = larger_of_pairs(larger_of_pairs(larger_of_pairs(of_8)))
        of_4, of_8, whole = map(magnitude, (of_4, of_8, whole))
        number = code(whole)
        inverse = (1.0 / value(number)).cast(bf16)
        eighths = of_8 * inverse.repeated(PART) >= 4.0
        halved = inverse.repeated(PART) * eighths.where(inverse.number(0.5), 1.0)
        sixteenths = of_4 * halved.repeated(2) >= 2.0
        factor = halved.repeated(2) * sixteenths.where(inverse.number(0.5), 1.0)
        y = x * factor.repeated(BIT)
        dst[:rows, :cols] = y.isnan().where(2.0, y).cast(f4e1m2x2, saturate=True)
        last, four = sixteenths.packed(), cols // GROUP * 4
        halves = [last[:, n::2] for n in (0, 1)]
        exp[:rows, :four] = side_by_side(
            exp.iota(rows, four)[1], number.cast(u8), eighths.packed(), *halves
        )
        fours, eights = rows * (cols // BIT), rows * (cols // PART)
        max.flat()[0, :fours] = of_4.reshaped(1, fours)
        max.flat()[0, fours : fours + eights] = of_8.reshaped(1, eights)
        scaling.flat()[0, :fours] = factor.reshaped(1, fours)


def larger_of_pairs(x: Array) -> Array:
    """Return the larger of each two columns."""
    return x[:, ::2].maximum(x[:, 1::2])


def magnitude(bits: Array) -> Array:
    """Return bf16 from the bits of magnitudes, of which those of NaN are the largest."""
    return (bits > INFINITY >> 16).where(QUIET >> 16, bits).bitcast(bf16)


def code(largest: Array) -> Array:
    """Return the codes of groups' numbers, i32, from the largest magnitudes: two mantissa bits."""
    bits = (largest * (1 / 7)).cast(f32).bitcast(i32)
    rounded = (bits + 0xFFFFF + ((bits >> 21) & 1)) >> 21
    return (bits > INFINITY).where(NAN, (rounded - E6M2).clamp(0, LARGEST))


def value(code: Array, doubled: Array | int = 0) -> Array:
    """Return the f32 of a code, times 2 ** `doubled`."""
    bits = (code + E6M2 << 21) + (code * 0 + doubled << 23)
    return code.equals(NAN).where(float("nan"), bits.bitcast(f32))


class TMatMulMxHif4(MatMul, name="tmatmul_mx_hif4", targets=(CPU,), disputes=("E52",)):
    """c = a x b in HiFloat4, summed over k ascending with one fused multiply-add per k, in f32.

    A group whose number is NaN gives NaN.
    """

    c, a = MatMul.c, MatMul.a
    a_scale = In(Tile, cpp="aScale", loc=SCALE_LEFT, doc="four bytes for each 64 columns of a row")
    b = MatMul.b
    b_scale = In(Tile, cpp="bScale", loc=SCALE_RIGHT, doc="four for each 64 rows of a column")
    asm = Asm(cpp_on=CHIPS, cpp_text="TMATMUL_MX({c}, {a}, {a_scale}, {b}, {b_scale});")
    example = {
        "a": L0A.replace("64x64xf16", "64x32x!pto.f4E1M2x2"),
        "a_scale": "!pto.tile_buf<scaleleft, 64x4xui8, slayout=row_major, fractal=32>",
        "b": L0B.replace("64x64xf16", "32x64x!pto.f4E1M2x2"),
        "b_scale": "!pto.tile_buf<scaleright, 4x64xui8, blayout=col_major, slayout=col_major, "
        "fractal=32>",
        "c": L0C_64,
    }
    k = a.valid.cols
    rules = (
        MatMul.extents,
        both(a.dtype == f4e1m2x2, b.dtype == f4e1m2x2, c.dtype == f32),
        both(a_scale.dtype == u8, b_scale.dtype == u8),
        named("layout", both(a_scale.layout == ZZ, a_scale.fractal == 32), help="zz, fractal 32"),
        named("layout", both(b_scale.layout == NN, b_scale.fractal == 32), help="nn, fractal 32"),
        named("shape", a_scale.valid.rows >= a.valid.rows, help=ENOUGH),
        named("shape", a_scale.valid.cols >= (k + 63) // GROUP * 4, help=ENOUGH),
        named("shape", b_scale.valid.rows >= (k + 63) // GROUP * 4, help=ENOUGH),
        named("shape", b_scale.valid.cols >= b.valid.cols, help=ENOUGH),
    )
    elided = {"c": Like(a, a.valid.rows, b.valid.cols, loc=ACC, dtype=lambda _: f32)}

    def run(c, a, a_scale, b, b_scale):
        (m, k), n = a.valid, b.valid.cols
        octets = (k + GROUP - 1) // GROUP * 4
        left = scales(a_scale, a_scale[:m, :octets])[:, :k]
        right = scales(b_scale, b_scale[:octets, :n].T)[:, :k].T
        sums = (a[:m, :k].cast(f32) * left).matmul(b[:k, :n].cast(f32) * right)
        write_boxes(c, m, n, sums)


def scales(cells: Cells, four: Array) -> Array:
    """Return the scales of elements along k from the four bytes of each group, side by side."""
    four = four.cast(i32)
    number, eighths, *sixteenths = (four[:, n::4].repeated(GROUP // BIT) for n in range(4))
    at = cells.iota(1, number.shape[1])[1].cast(i32)
    eighth = eighths >> at // 2 % 8
    sixteenth = (sixteenths[0] | sixteenths[1] << 8) >> at % 16
    return value(number, (eighth & 1) + (sixteenth & 1)).repeated(BIT)
