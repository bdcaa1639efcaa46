"""Quotients and remainders of 8-bit integers, all pairs, of operands that lie by columns."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TEXT = """
func.func @f(%a: {dn}, %b: {dn}, %quotient: {nd}, %rest: {nd}) {{
  pto.tdiv ins(%a, %b : {dn}, {dn}) outs(%quotient : {nd})
  pto.tfmod ins(%a, %b : {dn}, {dn}) outs(%rest : {nd})
  return
}}"""
TILE = "!pto.tile_buf<vec, 256x256x{}, blayout={}>"


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_every_pair(dtype: type[np.int8 | np.uint8]) -> None:
    name = {np.int8: "i8", np.uint8: "u8"}[dtype]
    tiles = {"dn": TILE.format(name, "col_major"), "nd": TILE.format(name, "row_major")}
    every = np.arange(256, dtype=np.uint8).view(dtype)
    a, b = np.meshgrid(every, every, indexing="ij")
    none = np.zeros((256, 256), dtype)
    executable = pto.loads(TEXT.format(**tiles)).compile(target="cpu", engine="native")
    run = executable.execute({"a": a, "b": b, "quotient": none, "rest": none})
    assert not run.interpreted
    x, y = a.astype(np.int32), b.astype(np.int32)
    safe = np.where(y == 0, 1, y)
    quotient = np.where(y == 0, 0, np.trunc(x / safe)).astype(np.int32)
    assert (run.outputs["quotient"] == quotient.astype(dtype)).all()
    expected = np.where(y == 0, 0, x - quotient * y)
    assert (run.outputs["rest"] == expected.astype(dtype)).all()
