"""Numbers print as C's own printf prints them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import ptokit as pto

FORMATS = {
    **dict.fromkeys(("%d", "[%+05i]", "%-6d|", "%u", "%x", "%#X", "%o", "100%% %d"), ("i32", -77)),
    **dict.fromkeys(("%+08.3f", "%e", "%.2g", "%10.4F|", "%G%%"), ("f32", -2.5)),
    "%5hd!": ("i16", 12),
    "%lld": ("i64", -(1 << 40)),
}


def in_c(format: str, kind: str, value: float) -> str:
    """What the C library writes."""
    room = ctypes.create_string_buffer(200)
    number = ctypes.c_double(value) if kind == "f32" else ctypes.c_longlong(int(value))
    library = ctypes.CDLL(None)
    library.snprintf.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    library.snprintf(room, len(room), format.encode(), number)
    return room.value.decode()


@pytest.mark.parametrize("format", FORMATS)
def test_a_number(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind, value = FORMATS[format]
    text = f"""func.func @f(%o: !pto.ptr<{kind}>) {{
  %c0 = arith.constant 0 : index
  %x = arith.constant {value} : {kind}
  pto.print ins("{format}", %x : {kind})
  pto.store_scalar %x, %o[%c0] : !pto.ptr<{kind}>, {kind}
  return
}}"""
    for engine in ("reference", "native"):
        pto.loads(text).run(engine=engine)
        assert capsys.readouterr().out == in_c(format, kind, value) + "\n"


PRINTING = """\
func.func @blocks(%p: !pto.ptr<i32>) attributes {pto.entry} {
  %b = pto.get_block_idx -> i64
  %i = arith.index_cast %b : i64 to index
  %n = arith.trunci %b : i64 to i32
  pto.store_scalar %n, %p[%i] : !pto.ptr<i32>, i32
  pto.print ins("block %d", %n : i32)
  return
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("given", [{}, {"p": np.zeros(32, np.int32)}])
def test_blocks_print_in_order_and_once(
    engine: str, given: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    pto.loads(PRINTING).run(engine=engine, blocks=32, **given)
    assert capsys.readouterr().out == "".join(f"block {n}\n" for n in range(32))
