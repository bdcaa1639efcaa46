"""Feature maps unrolled at positions that only the running program knows, by a formula.

Channels of a position lie side by side: compiled code moves them in runs where it can prove that.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import ptokit as pto
from every import every
from oracles.feature_maps import patches
from ptokit.machine import cache
from ptokit.machine.objectcode import ParsedModule

SHAPE, ROWS, COLS = (2, 2, 5, 4, 8), 40, 44  # the last group of channels is half a group
HOW = SimpleNamespace(
    dtype=pto.f32,
    filter=(2, 3),
    stride=(2, 1),
    dilation=(1, 1),
    padding=(1, 1, 1, 0),
    pad_value=-7,
)
MAP = f"""!pto.conv_tile<nc1hwc0, {"x".join(map(str, SHAPE))}xf32, padding=[1, 1, 1, 0],
pad_value=-7, filter=[2, 3], stride=[2, 1]>"""
LEFT = f"!pto.tile_buf<left, 48x48xf32, valid={ROWS}x{COLS}>"
AUTO = "{fmatrixMode = #pto.fmatrix_mode<fmatrix_a_auto>}"


TIMES = 3


def program(down: int, across: int) -> str:
    """Return a kernel that unrolls at (i * down, i * across) for each i, the last one last."""
    return f"""
func.func @kernel(%a: {MAP}, %l: {LEFT}) {{
  %none = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = arith.constant {TIMES} : index
  %down = arith.constant {down} : index
  %across = arith.constant {across} : index
  scf.for %i = %none to %times step %one {{
    %m = arith.muli %i, %down : index
    %k = arith.muli %i, %across : index
    pto.timg2col ins(%a, %m, %k, {AUTO} : {MAP}, index, index) outs(%l : {LEFT})
  }}
  return
}}"""


@every("steps", [(7, 8), (7, 3), (0, 0)])
def test_at_run_time_positions(steps: tuple[int, int]) -> None:
    image = np.arange(1, np.prod(SHAPE) + 1, dtype=np.float32).reshape(SHAPE)
    arrays = image, np.zeros((ROWS, COLS), np.float32)
    found = pto.loads(program(*steps)).run(*arrays, engine="native")["l"]
    last = steps[0] * (TIMES - 1), steps[1] * (TIMES - 1)
    assert np.array_equal(found, patches(image, HOW, last, (ROWS, COLS)))


def test_channels_are_loaded_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    texts, original = list[str](), cache.parsed

    def parsed(text: str, processor: cache.Processor) -> ParsedModule:
        texts.append(text)
        return original(text, processor)

    monkeypatch.setattr(cache, "parsed", parsed)
    arrays = np.ones(SHAPE, np.float32), np.zeros((ROWS, COLS), np.float32)
    for steps in ((7, 8), (0, 0)):
        pto.loads(program(*steps)).run(*arrays, engine="native")
    text = "\n".join(texts)
    assert "x float>, ptr" in text
    assert not re.search(r"insertelement <\d+ x float>", text)
