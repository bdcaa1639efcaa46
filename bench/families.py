"""One row for each family of vector instructions, next to plain C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from clock import random
from kernel import KINDS, Kernel
from rows import Row, again

ROWS, COLS = 64, 128


@dataclass
class Spec:
    """Operands as `DTYPE ROWSxCOLS [valid ROWSxCOLS]`, inputs first; the output is the last."""

    op: str
    inputs: tuple[str, ...]
    out: str
    attrs: str = ""
    number: str = ""  # one more operand, in text
    second: bool = False  # another output like the first
    shape: tuple[int, int] = (ROWS, COLS)
    why: str = ""  # it may be slower than half as fast


F, WHOLE = f"f32 {ROWS}x{COLS}", f"i32 {ROWS}x{COLS}"
LINE = f"f32 {ROWS}x8"
RESULT = f"f32 {ROWS}x8 valid {ROWS}x1"
MASK = f"u8 {ROWS}x32 valid {ROWS}x16"
ROW = f"f32 1x{COLS}"
SPECS = (
    *(Spec(op, (F, F), F) for op in ("tmin", "tdiv", "tprelu", "taddrelu", "tmuladddst")),
    Spec("trem", (F, F), F, why="exact for every quotient; the C is wrong for large ones"),
    Spec("tfmod", (F, F), F),
    Spec("tpow", (F, F), F),
    Spec("tand", (WHOLE, WHOLE), WHOLE),
    Spec("tshl", (WHOLE, f"{WHOLE} amounts"), WHOLE),
    Spec("taddc", (F, F, F), F),
    Spec("taddreluconv", (F, F), f"f16 {ROWS}x{COLS}"),
    Spec("tcmp", (F, F), f"u8 {ROWS}x32 valid {ROWS}x16", attrs="cmp = #pto<cmp lt>"),
    Spec("tmuls", (F,), F, number="1.5 : f32"),
    Spec("tlrelu", (F,), F, number="1.5 : f32"),
    *(Spec(op, (F,), F) for op in ("tabs", "texp", "tlog", "tsqrt", "trsqrt", "trecip")),
    Spec("tpartadd", (F, F), F),
    *(Spec(op, (F, F), RESULT) for op in ("trowsum", "trowprod", "trowmin")),
    Spec("trowargmax", (F, F), f"i32 {ROWS}x8 valid {ROWS}x1"),
    Spec("tcolsum", (F,), ROW),
    Spec("tcolmax", (F,), ROW),
    Spec("tcolargmax", (F, F), f"i32 1x{COLS}"),
    Spec("trowexpand", (RESULT,), F),
    Spec("trowexpandmul", (F, LINE), F),
    Spec("trowexpandexpdif", (F, LINE), F),
    Spec("tcolexpandadd", (F, ROW), F),
    Spec("tsel", (MASK, F, F), F),
    Spec("tci", (), "i32 1x8192", number="5 : i32", shape=(1, 8192)),
    Spec("ttri", (), F, number="0 : index"),
    Spec("tscatter", (F, f"{WHOLE} places"), F),
    Spec("tinterleave", (F, F), F, second=True),
    Spec("tsort32", (ROW, f"u32 1x{COLS}"), f"f32 1x{2 * COLS}", shape=(1, COLS)),
)


def families() -> Iterator[Row]:
    for spec in SPECS:
        kernel = Kernel()
        names = [chr(ord("a") + n) for n in range(len(spec.inputs))]
        for name, kind in zip((*names, "z"), (*spec.inputs, spec.out), strict=True):
            operand(kernel, name, kind)
        if spec.number:
            names.append("k")
            kernel.types["k"] = spec.number.split()[-1]
            kernel.before.append(f"%k = arith.constant {spec.number}")
        if spec.second:
            operand(kernel, "y", spec.out)
        outs = "z y" if spec.second else "z"
        kernel = again(spec.op, " ".join(names), outs, kernel, spec.attrs)
        case = f"{(*spec.inputs, spec.out)[0]} plain"
        yield Row(spec.op, case, kernel, plain=spec.op, shape=spec.shape, why=spec.why)


def operand(kernel: Kernel, name: str, kind: str) -> None:
    """A vector tile of that kind; floats are positive, so that logarithms and roots are numbers."""
    dtype, shape, *more = kind.split()
    rows, cols = map(int, shape.split("x"))
    valid = tuple(map(int, more[1].split("x"))) if more[:1] == ["valid"] else (rows, cols)
    data: Any = random(KINDS[dtype], *valid)
    if dtype in ("f32", "f16"):
        data = (np.abs(data) + 0.5).astype(KINDS[dtype])
    elif more == ["places"]:
        data = np.random.default_rng(1).permutation(data.size).reshape(valid).astype(KINDS[dtype])
    elif more == ["amounts"]:
        data %= 31
    kernel.tile(name, "vec", dtype, rows, cols, valid=(valid[0], valid[1]), data=data)
