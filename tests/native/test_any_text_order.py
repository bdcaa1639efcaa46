"""The order of the text between queues makes no difference where flags leave one order."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import scaled
from native.textorder import STYLES, Writer, arrays, written
from ptokit.engines.reference.interpretedkernel import InterpretedKernel

SEEDS = scaled(1)


def expected(entries: int) -> dict[str, Any]:
    """What the kernel computes, by NumPy."""
    x = arrays(entries)["x"].reshape(entries, 16, 16) + 1
    folded = np.zeros((16, 16), np.float32)
    for entry in x:
        folded = folded * 2 + entry
    return {"y": folded, "z": x.reshape(-1, 16)}


def shown(text: str, found: Any, want: dict[str, Any]) -> None:
    for name, array in want.items():
        np.testing.assert_array_equal(found[name], array, err_msg=text)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("style", STYLES)
def test_lines_of_other_queues_may_stand_anywhere(style: str, target: str, seed: int) -> None:
    random = Random(f"{style} {target} {seed}")
    in_place = target == "a5"
    pops = ("MTE1", "V") if in_place else ("MTE2", "MTE2")
    entries, iterations = random.choice([(1, 3), (2, 2), (3, 2), (2, 4)])
    shared = style not in ("views", "signals") and random.random() < 0.5
    whole = target == "a2a3" or (style == "signals" and not in_place)
    writer = Writer(style, shared, entries, pops, whole=whole)
    want, given = expected(entries * iterations), arrays(entries * iterations)
    plain = written(writer, iterations, seed, anyhow=False)
    shown(plain, pto.loads(plain).run(target=target, **given), want)
    text = written(writer, iterations, seed, anyhow=True)
    shown(text, pto.loads(text).run(target=target, engine="reference", **given), want)
    by_reference = AssertionError("the reference ran it")
    with patch.object(InterpretedKernel, "run", side_effect=by_reference):
        shown(text, pto.loads(text).run(target=target, engine="native", **given), want)
