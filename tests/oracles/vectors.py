"""Elementwise, reductions and expands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles import orders
from oracles.conversions import converted
from oracles.elementwise import larger, quotient, smaller
from oracles.formats import FORMATS, Array, bits_of, is_float, quieted, typed, wrapped
from oracles.numbers import FINITE
from oracles.registry import (
    ULPS,
    Given,
    Oracle,
    Result,
    Seen,
    arithmetic,
    binary,
    by_target,
    meaning,
    number,
    say,
    unary,
)


def exponential(x: Array) -> Array:
    return np.exp(x.astype(np.float64))


binary(
    TAdd=arithmetic(np.add),
    TSub=arithmetic(np.subtract),
    TMul=arithmetic(np.multiply),
    TMax=larger,
    TAddS=arithmetic(np.add),
)


def in_double(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Computed in binary64, then rounded to the type (G8)."""

    def computed(x: Array) -> Array:
        return f(x.astype(np.float64))

    return arithmetic(computed)


def sign_bit(x: Array) -> Array:
    return np.asarray(1 << 8 * x.itemsize - 1, f"u{x.itemsize}")


def absolute(x: Array) -> Array:
    """IEEE 754: the sign bit is cleared (E15); integers wrap."""
    if x.dtype.kind in "iu":
        return np.where(x < 0, -x, x)
    return (x.view(f"u{x.itemsize}") & ~sign_bit(x)).view(x.dtype)


def negative(x: Array) -> Array:
    return -x if x.dtype.kind in "iu" else (x.view(f"u{x.itemsize}") ^ sign_bit(x)).view(x.dtype)


def inverse(x: Array) -> Array:
    return 1 / x


def inverse_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def root_first(x: Array) -> Array:
    """The root is rounded, then its reciprocal (X118)."""
    return in_double(inverse)(in_double(np.sqrt)(x))


def one_over(x: Array) -> Array:
    """G10: integers truncate; what is divided by 0 is target-defined, here 0."""
    if x.dtype.kind in "iu":
        return np.where(abs(x.astype(np.int64)) == 1, x, 0)
    return in_double(inverse)(x)


unary(
    TRelu=lambda x: np.where(x < 0, np.zeros_like(x), x),  # G12
    TAbs=absolute,
    TNeg=negative,
    TNot=lambda x: ~x,
    TSqrt=in_double(np.sqrt),
    TRecip=one_over,
)
by_target(in_double(inverse_root), "TRsqrt", a5=root_first)
unary(ulp=1, TLog=in_double(np.log))
unary(ulp=1, TExp=arithmetic(exponential))  # G8


Function = Callable[[Array, Array], Array]


def running(rows: Array, start: Array, f: Function = np.add) -> Array:
    """All rows combined, one after the other, each step rounded to the type of `start`."""
    total = start
    with np.errstate(all="ignore"):
        for row in rows:
            total = f(total, row).astype(start.dtype)
    return total


@meaning("TRowSum")
def row_sums(dst: Seen, src: Seen, order: str) -> Array | None:
    """Added in the order of the target: `orders`."""
    if not src.valid[1]:
        return None
    if not is_float(src.dtype) or order in ("cpu", "recorded", "left"):
        return sums_in_turn(dst, src, order)
    f = orders.on_a5 if order == "a5" else orders.on_a2a3
    if order == "a2a3" and dst.kind.layout.name == "DN" and src.dtype == "f32":
        shape = src.codes.shape
        f = (
            orders.special(orders.SPECIAL[shape])
            if shape == src.valid and shape in orders.SPECIAL
            else f
        )
    return quieted(orders.summed(src.values, src.dtype, f), src.dtype)


def sums_in_turn(dst: Seen, src: Seen, order: str) -> Array:
    """Left to right from 0; floats in f32 with one rounding at the end, integers in dst's."""
    inner = src.dtype if order == "left" else "f32"
    inner = inner if is_float(src.dtype) else dst.dtype
    columns = converted(src.values, src.dtype, inner).T
    total = running(columns, np.zeros(src.valid[0], FORMATS[inner][1]))
    return converted(quieted(total, inner), inner, dst.dtype)[:, None]


@meaning("TRowProd")
def products_of_rows(dst: Seen, src: Seen, order: str) -> Array | None:
    """Left to right from 1, rounded to the type at every step; floats of chips in their order."""
    if is_float(src.dtype) and order in ("a5", "a2a3") and src.valid[1]:
        f = orders.product_on_a5 if order == "a5" else orders.product_on_a2a3
        return quieted(orders.summed(src.values, src.dtype, f), src.dtype)
    total = running(src.values.T, np.ones(src.valid[0], FORMATS[src.dtype][1]), np.multiply)
    whole = converted(quieted(total, src.dtype), src.dtype, dst.dtype)
    return whole[:, None] if src.valid[1] else None


def down(start: int, f: Function) -> Oracle:
    """Top to bottom, in dst's type at every step."""

    def oracle(given: Given) -> Array | None:
        src: Seen = given["src"]
        dtype: str = given["dst"].dtype
        rows = converted(src.values, src.dtype, dtype)
        first: Array = np.full(src.valid[1], start, FORMATS[dtype][1])
        total = running(rows, first, f)
        return None if 0 in src.valid else quieted(total, dtype)[None, :]

    return oracle


@meaning("TColSum")
def column_sums(dst: Seen, src: Seen, is_binary: bool, order: str) -> Result:
    """In turn; binary on chips: in pairs."""
    if is_binary and order in ("a2a3", "a5") and is_float(dst.dtype) and 0 not in src.valid:
        with np.errstate(all="ignore"):
            return quieted(orders.pairs(list(src.values)), dst.dtype)[None, :]
    return down(0, np.add)({"src": src, "dst": dst})


say("TColProd", down(1, np.multiply))


def extreme(better: Function, across: bool, index: bool = False) -> Oracle:
    """The first element of a row or column, unless a later one is strictly better."""

    def oracle(given: Given) -> Result:
        src: Seen = given["src"]
        if 0 in src.valid:
            return None
        lines: Array = src.values.T if across else src.values
        best: Array = lines[0]
        place = np.zeros(len(best), np.int64)
        for at, line in enumerate(lines):
            with np.errstate(invalid="ignore"):
                wins = better(line, best)
            best, place = np.where(wins, line, best), np.where(wins, at, place)

        def told(name: str, *, place_too: bool) -> Array:
            dtype = given[name].dtype
            found = wrapped(place, dtype) if place_too else converted(best, src.dtype, dtype)
            return found[:, None] if across else found[None, :]

        if "dst" in given:
            return told("dst", place_too=index)
        return {n: told(n, place_too=n == "dst_idx") for n in ("dst_val", "dst_idx")}

    return oracle


for _word, _better in (("Max", np.greater), ("Min", np.less)):
    for _line, _across in (("Row", True), ("Col", False)):
        say(f"T{_line}{_word}", extreme(_better, _across))
        say(f"T{_line}Arg{_word}", extreme(_better, _across, index=True))
        say(f"T{_line}Arg{_word}Value", extreme(_better, _across))


@meaning("TPairReduceSum")
def sums_of_pairs(dst: Seen, src: Seen, target: str) -> Array:
    """Neighbours; a lone last element plus 0 on the CPU; the rest of dst's storage is 0."""
    whole = np.zeros_like(dst.all)
    x = np.concatenate([src.values, np.zeros_like(src.values[:, :1])], axis=1)
    pairs = (src.valid[1] + (target == "cpu")) // 2
    with np.errstate(all="ignore"):
        found = arithmetic(np.add)(x[:, : 2 * pairs : 2], x[:, 1 : 2 * pairs : 2])
    whole[: src.valid[0], :pairs] = found
    return whole


def spread(src: Seen, cols: int, first: bool) -> Array:
    """A narrow operand again and again along the row, or its first value (E45)."""
    return src.values[:, np.zeros(cols, int) if first else np.arange(cols) % src.valid[1]]


def each_row(f: Function) -> Oracle:
    def oracle(given: Given) -> Array:
        cols, left, right = given["dst"].valid[1], given["src0"], given["src1"]
        thick = [cols == t.valid[1] and t.kind.layout.name == "ND" for t in (left, right)]
        if all(thick):  # of two that are as wide as dst src1 is the narrow one, if it can be
            thick[1 if right.valid[1] * bits_of(right.dtype) // 8 == 32 else 0] = False
        whole = [t or given["target"] != "a5" for t in thick]
        with np.errstate(all="ignore"):
            return f(*(spread(t, cols, not w) for t, w in zip((left, right), whole, strict=True)))

    return oracle


def each_column(f: Function) -> Oracle:
    """The first row of src1 with every row of src0."""

    def oracle(given: Given) -> Array:
        (rows, cols), second = given["dst"].valid, given["src1"].all[:1]
        with np.errstate(all="ignore"):
            return f(given["src0"].values, np.broadcast_to(second[:, :cols], (rows, cols)))

    return oracle


def exponential_of_difference(a: Array, b: Array) -> Array:
    """The difference is rounded to the type first."""
    return arithmetic(exponential)(arithmetic(np.subtract)(a, b))


for _name, _f in {
    "Add": arithmetic(np.add),
    "Sub": arithmetic(np.subtract),
    "Mul": arithmetic(np.multiply),
    "Div": quotient,
    "Max": larger,
    "Min": smaller,
    "ExpDif": exponential_of_difference,
}.items():
    say(f"TRowExpand{_name}", each_row(_f))
    say(f"TColExpand{_name}", each_column(_f))
ULPS.update(TRowExpandExpDif=1, TColExpandExpDif=1)  # G8


@meaning("TRowExpand")
def first_column(dst: Seen, src: Seen) -> Array:
    cols = np.repeat(src.values[:, :1], dst.valid[1], axis=1)
    return converted(cols, src.dtype, dst.dtype)


@meaning("TColExpand")
def first_row(dst: Seen, src: Seen) -> Array:
    rows = np.repeat(src.codes[:1, : dst.valid[1]], dst.valid[0], axis=0)
    return typed(rows, dst.dtype)


def partly(f: Function, loses: str = "zero") -> Oracle:
    """`f` where both sources are, a copy where one is, 0 or what loses where none is (E26)."""

    def oracle(given: Given) -> Array:
        dst, src0, src1 = (given[n] for n in ("dst", "src0", "src1"))
        (rows, cols), result = dst.valid, np.zeros_like(dst.values)
        none = limit(dst.dtype, loses) if given["target"] == "a5" else 0
        for i in range(rows):
            for j in range(cols):
                here = [s.values[i : i + 1, j] for s in (src0, src1) if inside(s, i, j)]
                with np.errstate(all="ignore"):
                    value = f(*here) if len(here) == 2 else here[0] if here else none
                result[i, j] = np.asarray(value).reshape(-1)[0]
        return result

    return oracle


def limit(dtype: str, which: str) -> float:
    """The least or greatest number of a type; of a type of 64 bits, and otherwise, 0."""
    bits = bits_of(dtype)
    if which == "zero" or bits == 64:
        return 0
    if dtype in FINITE:
        return FINITE[dtype] * (-1 if which == "min" else 1)
    low = 0 if dtype[0] == "u" else -(1 << (bits - 1))
    return low if which == "min" else low + (1 << bits) - 1


def inside(tile: Seen, row: int, col: int) -> bool:
    return row < tile.valid[0] and col < tile.valid[1]


say("TPartAdd", partly(arithmetic(np.add)))
say("TPartMul", partly(arithmetic(np.multiply)))
say("TPartMax", partly(larger, "min"))
say("TPartMin", partly(smaller, "max"))


def partly_with_index(better: Function) -> Oracle:
    """`src0`'s value and index where it is better, else src1's; who keeps a tie: E7."""

    def oracle(given: Given) -> Result:
        rows, cols = given["dst_val"].valid
        value = np.zeros_like(given["dst_val"].codes[:rows, :cols])
        index = np.zeros_like(given["dst_idx"].codes[:rows, :cols])
        sources = [(given[f"src{n}_val"], given[f"src{n}_idx"]) for n in (0, 1)]
        for i in range(rows):
            for j in range(cols):
                here = [pair for pair in sources if inside(pair[0], i, j)]
                if len(here) == 2:
                    left, right = (pair[0].values[i : i + 1, j] for pair in here)
                    with np.errstate(all="ignore"):
                        first = {
                            "cpu": better(left, right),
                            "a2a3": better(left, right) | (left == right),
                            "a5": ~better(right, left),
                        }[given["target"]]
                    here = here[:1] if first[0] else here[1:]
                if here:
                    value[i, j], index[i, j] = (tile.codes[i, j] for tile in here[0])
        names = ("dst_val", value), ("dst_idx", index)
        return {name: typed(codes, given[name].dtype) for name, codes in names}

    return oracle


say("TPartArgMax", partly_with_index(np.greater))
say("TPartArgMin", partly_with_index(np.less))

COMPARED = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def compared(dst: Seen, a: Array, b: Array, mode: str) -> Result:
    """A bit for each column, the lowest first; the rest of dst's storage is 0."""
    with np.errstate(invalid="ignore"):
        truth = COMPARED[mode](a, b)
    size = bits_of(dst.dtype) // 8
    whole = np.zeros((dst.codes.shape[0], dst.codes.shape[1] * size), np.uint8)
    width = min(-(-a.shape[1] // (8 * size)), dst.valid[1]) * size
    packed = np.packbits(truth, axis=1, bitorder="little")[:, :width]
    whole[: packed.shape[0], : packed.shape[1]] = packed
    return typed(whole.view(f"u{size}"), dst.dtype)


@meaning("TCmp")
def comparison(dst: Seen, src0: Seen, src1: Seen, cmp: str) -> Result:
    return compared(dst, src0.values, src1.values, cmp)


def with_one(dst: Seen, src0: Seen, one: Array, mode: str, target: str) -> Result:
    """E57: on A5 one stream of bits, where dst declares a byte for each element of whole rows."""
    columns = src0.codes.shape[1]
    if target != "a5" or src0.valid[1] < columns or dst.valid[1] < columns:
        return compared(dst, src0.values, one, mode)
    with np.errstate(invalid="ignore"):
        bits = np.packbits(COMPARED[mode](src0.values, one), bitorder="little")
    whole = np.zeros(dst.codes.shape, np.uint8)
    whole.flat[: bits.size] = bits
    return typed(whole, dst.dtype)


@meaning("TCmpS")
def comparison_with_number(dst: Seen, src0: Seen, scalar: float, cmp: str, target: str) -> Result:
    return with_one(dst, src0, number(scalar, src0.dtype), cmp, target)


@meaning("TCmpSTile")
def comparison_with_first(dst: Seen, src0: Seen, src1: Seen, cmp: str, target: str) -> Result:
    return with_one(dst, src0, src1.values[:1, :1], cmp, target)


def chosen(mask: Seen, rows: int, cols: int) -> Array:
    """The bit of (r, c) is bit c % 8 of byte c // 8 of the mask's row r."""
    octets = np.ascontiguousarray(mask.codes).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:rows, :cols] != 0


@meaning("TSel")
def selection(dst: Seen, mask: Seen, src0: Seen, src1: Seen) -> Array:
    return np.where(chosen(mask, *dst.valid), src0.values, src1.values)


@meaning("TSelS")
def selection_or_number(dst: Seen, mask: Seen, src: Seen, scalar: float) -> Array:
    return np.where(chosen(mask, *dst.valid), src.values, number(scalar, dst.dtype))


@meaning("TCI", "TCITmp")
def counted(dst: Seen, start: int, descending: bool) -> Array:
    """C1.4: modulo the width of the type."""
    steps = np.arange(dst.valid[1], dtype=np.int64)
    return wrapped(start + (-steps if descending else steps), dst.dtype)[None, :]


@meaning("TTri")
def triangle(dst: Seen, diagonal: int, upper: int) -> Array:
    """C1.5."""
    row, col = np.indices(dst.valid)
    ones = ~(col < row + diagonal) if upper else col <= row + diagonal
    return ones.astype(FORMATS[dst.dtype][1])
