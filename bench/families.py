"""One row for each instruction that has a function in plain C (`plain.c`).

Handles, scalars, registers and prints have no rows: they move no elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from clock import random
from instructions import Row, again
from kernel import KINDS, Kernel

ROWS, COLS = 64, 128
MOST = 3  # tiles of a row that are shown
DIVIDER = "both at the speed of the divider; our NaNs become the quiet one"
STORES = "nothing but stores: both at the speed of the second cache"
CHAIN_OF_POWERS = "a chain of f64 steps, none fused, each waiting for the last"
ROUNDED = 1e-6  # how far, in relation, functions may lie apart: some ulp


@dataclass
class Spec:
    """An instruction and its operands, separated by commas; outputs are named z, y, x and w.

    An operand is `DTYPE ROWSxCOLS` with, perhaps, `valid ROWSxCOLS`, `in LOCATION`, `as LAYOUT` and
    `of DATA`, or such a matrix in `global` memory; a constant, `1.5 : f32`; an index; or an output.
    """

    op: str
    inputs: str
    outs: str
    attrs: str = ""
    plain: str = ""  # the function, if its name is another
    shape: tuple[int, int] = (ROWS, COLS)
    close: float = 0.0  # how far results may lie apart
    why: str = ""  # it is slower


F, WHOLE = f"f32 {ROWS}x{COLS}", f"i32 {ROWS}x{COLS}"
AMOUNTS, PLACES = f"{WHOLE} of amounts", f"{WHOLE} of places"
LINE = f"f32 {ROWS}x8"
RESULT, PLACE = (f"{kind} {ROWS}x8 valid {ROWS}x1" for kind in ("f32", "i32"))
MASK = f"u8 {ROWS}x32 valid {ROWS}x16"
ROW = f"f32 1x{COLS}"
EACH_ROW = f"f32 {ROWS}x1 as dn"
NUMBER, WHOLE_NUMBER = "1.5 : f32", "3 : i32"
LESS = "cmp = #pto<cmp lt>"
LEFT, RIGHT = f"f32 16x{COLS} valid 1x{COLS} in left", f"f32 {COLS}x{COLS} in right"
ACC, BIAS = f"f32 16x{COLS} valid 1x{COLS} in acc", f"f32 1x{COLS} in bias"
OCTETS = (
    "f8e4m3 64x64 in left, f8e8m0 64x2 in scaleleft, "
    "f8e4m3 64x64 in right, f8e8m0 2x64 in scaleright"
)
OCTETS_OF_ROW = OCTETS.replace("64x64 in left", "64x64 valid 1x64 in left")
SUMS, SUMS_OF_ROW = "f32 64x64 in acc", "f32 64x64 valid 1x64 in acc"
MX = "quant_type = #pto<quant_type MXFP8>"
KEY = ", ".join([WHOLE_NUMBER] * 6)
RECORDS = "f32 1x1024"
BROADCASTS = ("add", "sub", "mul", "div", "max", "min")


def specs() -> Iterator[Spec]:
    """All rows, as the manual has its chapters."""
    yield from with_tiles()
    yield from with_numbers()
    yield from of_one_tile()
    yield from along_axes()
    yield from products()
    yield from quantisations()
    yield from irregular()


def with_tiles() -> Iterator[Spec]:
    two, three = f"{F}, {F}", f"{F}, {F}, {F}"
    for op in ("tmin", "tdiv", "trem", "tfmod", "tprelu", "taddrelu", "tsubrelu", "tmuladddst"):
        yield Spec(op, two, F, why=DIVIDER if op == "tdiv" else "")
    for op in ("tfusedmuladd", "tfusedmuladdrelu"):
        yield Spec(op, two, F)
    for op in ("tpartadd", "tpartmul", "tpartmax", "tpartmin"):
        yield Spec(op, two, F)
    yield Spec("tpow", two, F, close=ROUNDED, why=CHAIN_OF_POWERS)
    for op in ("tand", "tor", "txor"):
        yield Spec(op, f"{WHOLE}, {WHOLE}", WHOLE)
    for op in ("tshl", "tshr"):
        yield Spec(op, f"{WHOLE}, {AMOUNTS}", WHOLE)
    for op in ("taddc", "tsubc"):
        yield Spec(op, three, F)
    yield Spec("taddreluconv", two, f"f16 {ROWS}x{COLS}")
    yield Spec("tadddeqrelu", f"{AMOUNTS}, {AMOUNTS}, {NUMBER}", F)
    yield Spec("taxpy", f"{F}, {NUMBER}", F)
    yield Spec("tcmp", two, MASK, attrs=LESS)
    yield Spec("tsel", f"{MASK}, {two}", F)
    for op in ("tpartargmax", "tpartargmin"):
        why = "six streams of 32 KiB: at the speed of the second cache"
        yield Spec(op, f"{two}, {WHOLE}, {WHOLE}", f"{F}, {WHOLE}", why=why)


def with_numbers() -> Iterator[Spec]:
    why = "NaNs become the quiet one: a comparison and a selection beside each division"
    yield Spec("tdivs", f"{F}, {NUMBER}", F, why=why)
    for op in ("tsubs", "tmuls", "tmins", "tmaxs", "trems", "tfmods", "tlrelu"):
        yield Spec(op, f"{F}, {NUMBER}", F)
    yield Spec("tpows", f"{F}, {NUMBER}", F, close=ROUNDED, why=CHAIN_OF_POWERS)
    for op in ("tands", "tors", "txors", "tshls", "tshrs"):
        yield Spec(op, f"{WHOLE}, {WHOLE_NUMBER}", WHOLE)
    for op in ("taddsc", "tsubsc"):
        yield Spec(op, f"{F}, {NUMBER}, {F}", F)
    yield Spec("tcmps", f"{F}, {NUMBER}", MASK, attrs=LESS)
    yield Spec("tsels", f"{MASK}, {F}, {NUMBER}", F)
    yield Spec("texpands", NUMBER, F, why=STORES)


def of_one_tile() -> Iterator[Spec]:
    for op in ("tabs", "tneg", "tsqrt", "trecip"):
        yield Spec(op, F, F, why=DIVIDER if op in ("tsqrt", "trecip") else "")
    yield Spec("tnot", WHOLE, WHOLE)
    for op in ("texp", "tlog", "trsqrt"):
        yield Spec(op, F, F, close=ROUNDED, why=DIVIDER if op == "trsqrt" else "")


def along_axes() -> Iterator[Spec]:
    for op in ("trowsum", "trowprod", "trowmax", "trowmin"):
        yield Spec(op, f"{F}, {F}", RESULT)
    for op in ("trowargmax", "trowargmin"):
        yield Spec(op, f"{F}, {F}", PLACE)
    for op in ("tcolsum", "tcolprod", "tcolmax", "tcolmin"):
        yield Spec(op, F, ROW)
    for op in ("tcolargmax", "tcolargmin"):
        yield Spec(op, f"{F}, {F}", f"i32 1x{COLS}")
    yield Spec(
        "tpairreducesum", F, F, why="zeros and sums are two walks; NaNs become the quiet one"
    )
    yield Spec("trowexpand", RESULT, F, why=STORES)
    yield Spec("tcolexpand", ROW, F, why=STORES)
    for each in BROADCASTS:
        why = DIVIDER if each == "div" else ""
        yield Spec(f"trowexpand{each}", f"{F}, {LINE}", F, why=why)
        yield Spec(f"tcolexpand{each}", f"{F}, {ROW}", F, why=why)
    yield Spec("trowexpandexpdif", f"{F}, {LINE}", F, close=ROUNDED)
    yield Spec("tcolexpandexpdif", f"{F}, {ROW}", F, close=ROUNDED)


def products() -> Iterator[Spec]:
    few = "f32 1x64 in bias"
    transposed = "our right tile lies by columns: 32 instructions turn 8x8; C's lies in rows"
    for op, acc, pair, bias, shape, why in (
        ("tgemv", ACC, f"{LEFT}, {RIGHT}", BIAS, (1, COLS), transposed),
        ("tgemv.mx", SUMS_OF_ROW, OCTETS_OF_ROW, few, (1, 64), ""),
        ("tmatmul.mx", SUMS, OCTETS, few, (64, 64), ""),
    ):
        plain = op.replace(".", "_")
        yield Spec(op, pair, acc, "", plain, shape, why=why)
        yield Spec(f"{op}.acc", f"z, {pair}", acc, "", f"{plain}_acc", shape, why=why)
        yield Spec(f"{op}.bias", f"{pair}, {bias}", acc, "", f"{plain}_bias", shape, why=why)

    left, right = "f4e1m2 64x64 of codes in left", "f4e1m2 64x64 of codes in right"
    scales = "u8 64x4 of scales in scaleleft", "u8 4x64 of scales in scaleright"
    factors = f"{left}, {scales[0]}, {right}, {scales[1]}"
    yield Spec("tmatmul_mx_hif4", factors, SUMS, shape=(64, 64))


def quantisations() -> Iterator[Spec]:
    to_i8 = "quant_type = #pto<quant_type INT8_{}>"
    scaled, asymmetric = f"{F}, {EACH_ROW}", to_i8.format("ASYM")
    why = "NaN becomes 0, which C leaves out; 16 elements are narrowed a step"
    yield Spec("tquant", scaled, f"i8 {ROWS}x{COLS}", attrs=to_i8.format("SYM"), why=why)
    plain, out = "tquant_asymmetric", f"u8 {ROWS}x{COLS}"
    yield Spec("tquant", f"{scaled}, {EACH_ROW}", out, attrs=asymmetric, plain=plain, why=why)
    why = "NaNs become the quiet one, C leaves their bits"
    yield Spec("tdequant", f"i8 {ROWS}x{COLS}, {EACH_ROW}, {EACH_ROW}", F, why=why)
    notes = f"f32 {ROWS // 32}x{COLS}"
    for op, groups in (
        ("tquant.mx", f"u8 {ROWS}x32 valid {ROWS}x4"),
        ("tquant_dn", f"u8 2x{COLS}"),
    ):
        outs = f"i8 {ROWS}x{COLS}, {groups}, {notes}, {notes}"
        yield Spec(op, F, outs, attrs=MX, plain=op.replace(".", "_"))

    outs = f"f4e1m2 {ROWS}x{COLS}, u8 {ROWS}x32 valid {ROWS}x8, bf16 {ROWS}x48, bf16 {ROWS}x32"
    yield Spec("tquant_hif4", f"bf16 {ROWS}x{COLS}", outs)


def irregular() -> Iterator[Spec]:
    why = "a number is spread for every two vectors, C adds to the last vector"
    yield Spec("tci", "5 : i32", "i32 1x8192", shape=(1, 8192), why=why)
    yield Spec("ttri", "0", F, why="numbers of columns are read from a table, C counts them")
    yield Spec("trandom", KEY, "u32 32x256", shape=(32, 256))
    why = "counts are made in a temporary of their own, then copied"
    octets = "u16 16x512, u8 16x32 valid 16x1"
    yield Spec("thistogram", octets, "u32 16x256", shape=(16, 512), why=why)
    why = "all indices are checked before the first store"
    yield Spec("tscatter", f"{F}, {PLACES}", F, why=why)
    yield Spec("mgather", f"global {F}, {PLACES}", F)
    yield Spec("mscatter", f"{F}, {PLACES}", f"global {F}", why=why)
    yield Spec("tinterleave", f"{F}, {F}", f"{F}, {F}")
    why = "each half of the results is a walk of its own"
    yield Spec("tdeinterleave", f"{F}, {F}", f"{F}, {F}", why=why)
    yield Spec("tsort32", f"{ROW}, u32 1x{COLS} of numbers", f"f32 1x{2 * COLS}", shape=(1, COLS))
    yield Spec("tmrgsort", f"{RECORDS} of runs, 256", RECORDS, shape=(1, 1024))


def families() -> Iterator[Row]:
    for spec in specs():
        kernel = Kernel()
        first, *others = spec.outs.split(", ")
        operand(kernel, "z", first)
        inputs = [
            operand(kernel, name, text)
            for name, text in zip("abcdef", spec.inputs.split(", "), strict=False)
        ]
        outs = [
            "z",
            *(operand(kernel, name, text) for name, text in zip("yxw", others, strict=False)),
        ]
        kernel = again(spec.op, " ".join(inputs), " ".join(outs), kernel, spec.attrs)
        yield Row(
            spec.op,
            case(spec),
            kernel,
            copied=sum(array.nbytes for array in kernel.arrays.values()) // 2,
            plain=spec.plain or spec.op,
            shape=spec.shape,
            close=spec.close,
            why=spec.why,
        )


def case(spec: Spec) -> str:
    """The tiles it reads, and the first that it writes."""
    read = list(dict.fromkeys(shown(text) for text in spec.inputs.split(", ") if "x" in text))
    some = ", ".join([*read[:MOST], *["..."] * (len(read) > MOST)])
    return f"{some} -> {shown(spec.outs.split(', ')[0])}".strip()


def shown(text: str) -> str:
    """The type and the valid region of an operand."""
    dtype, shape, *more = text.removeprefix("global ").split()
    return f"{dtype} {more[1] if more[:1] == ['valid'] else shape}"


def operand(kernel: Kernel, name: str, text: str) -> str:
    """An operand of a kernel, and how the instruction names it."""
    if ":" in text:
        kernel.types[name] = text.split()[-1]
        kernel.before.append(f"%{name} = arith.constant {text}")
        return name
    if " " not in text:  # an index, or an output
        return text
    words = text.removeprefix("global ").split()
    dtype, shape = words[:2]
    more = dict(zip(words[2::2], words[3::2], strict=True))
    rows, cols = extents(shape)
    if text.startswith("global"):
        kernel.matrix(name, dtype, rows, cols)
        return name
    valid = extents(more.get("valid", shape))
    data = array(KINDS[dtype], valid, more.get("of", ""))
    layout = more.get("as", "")
    kernel.tile(
        name, more.get("in", "vec"), dtype, rows, cols, layout=layout, valid=valid, data=data
    )
    return name


def extents(text: str) -> tuple[int, int]:
    rows, cols = map(int, text.split("x"))
    return rows, cols


def array(kind: Any, shape: tuple[int, int], what: str) -> Any:  # Any: of NumPy
    """Data; floats are positive, so that logarithms and roots are numbers."""
    size = shape[0] * shape[1]
    if what == "places":
        return np.random.default_rng(1).permutation(size).reshape(shape).astype(kind)
    if what == "numbers":
        return np.arange(size).reshape(shape).astype(kind)
    if what == "runs":
        return runs(size // 2).reshape(shape)
    if np.issubdtype(kind, np.integer):
        found = random(kind, *shape)
        limits = {"amounts": (0, 31), "codes": (0, 16), "scales": (180, 20)}
        first, count = limits.get(what, (0, 0))
        return first + found % count if count else found
    return (np.abs(random(np.float32, *shape)) + 0.5).astype(kind)


def runs(count: int) -> np.ndarray:
    """Records of a value and a number, in four runs that are sorted, as f32."""
    values = -np.sort(-np.abs(random(np.float32, 4, count // 4)), axis=1)
    records = np.empty((count, 2), np.float32)
    records[:, 0], records.view(np.uint32)[:, 1] = values.reshape(-1), np.arange(count)
    return records
