"""What the tests of this folder share: types of tiles, refusals, lines that must parse.

The expected values are formulas in the tests; nothing here asks ptokit what an instruction means.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Instr
from tiles import made, parameter, shape_of

Array = NDArray[Any]  # Any: one helper serves all element types
ALL = ("cpu", "a2a3", "a5")
HARDWARE = ("a2a3", "a5")
T, B = "!pto.tile<...>", "!pto.tile_buf<...>"

TYPES = (
    *("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"),
    *("hif8", "f8e4m3", "f8e5m2", "f8e8m0"),
)
FP4 = ("f4e2m1x2", "f4e1m2x2")


def ramp(rows: int, cols: int, start: int = 0) -> Array:
    """0, 1, 2, ... row by row, so that every element tells where it came from."""
    return np.arange(start, start + rows * cols, dtype=np.float32).reshape(rows, cols)


def f32(values: object) -> Array:
    return np.array(values, np.float32)


def refused(
    slug: str, call: Callable[..., object], *args: object, **how: object
) -> list[Diagnostic]:
    """The diagnostics of a call that must be refused, and for this reason."""
    with pytest.raises(pto.PtoError) as problem:
        call(*args, **how)
    found = [d for d in problem.value.diagnostics if d.slug == slug and d.is_error]
    assert found, f"{slug} is not among {[d.slug for d in problem.value.diagnostics]}"
    return found


def rules(found: list[Diagnostic]) -> str:
    return "\n".join(d.rule or "" for d in found)


def accepts(call: Callable[..., None], *args: object, **how: object) -> bool:
    """Whether a call on initialised operands is legal for the current target."""
    try:
        call(*args, **how)
    except pto.PtoError:
        return False
    return True


def only_op(text: str) -> Op:
    """The one instruction of a program."""
    ops = [op for op in pto.loads(text).module.funcs[0].body.ops if isinstance(op, Op)]
    (op,) = (op for op in ops if op.page.asm.dialect == "pto")
    return op


def page_of(text: str) -> type[Instr]:
    return only_op(text).page


def run(text: str, target: str = "cpu", **arrays: object) -> dict[str, Array]:
    return pto.loads(text).execute(arrays, target=target).outputs


def cpp_names(page: type[Instr]) -> list[str]:
    """The parameter names of the C++ function, in order."""
    return [o.cpp_name or o.name for o in page.operands]


def spec(text: str) -> str:
    """The `!pto.tile_buf` type of a short text."""
    s = shape_of(text)
    name = re.sub(r"^u(\d+)$", r"ui\1", s.dtype)
    words = [f"{s.loc}, {s.rows}x{s.cols}x{name}"]
    if s.valid != (s.rows, s.cols):
        words.append(f"valid={s.valid[0]}x{s.valid[1]}")
    block = "row_major" if s.layout in ("nd", "zn", "zz") else "col_major"
    inner = {"d": "none_box", "z": "row_major", "n": "col_major"}[s.layout[1]]
    words += [f"blayout={block}", f"slayout={inner}", f"fractal={s.fractal}"]
    return f"!pto.tile_buf<{', '.join(words)}>"


def parameters(scales: Array, *, signed: bool = True) -> pto.Tile:
    """A scaling tile with one parameter for each column."""
    row = np.array([[parameter(s, signed=signed) for s in scales]], np.uint64)
    return made(f"scaling u64 1x{len(scales)}", row)
