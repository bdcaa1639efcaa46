"""Programs as front ends emit them, each with what NumPy makes of the same arrays.

NAME.pto is run in both engines on every target; `@reference(blocks)` above a function of that name
here gives its arguments and what must come out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from ptokit.isa.model.targets import TARGETS

HERE = Path(__file__).parent
Arrays: TypeAlias = "dict[str, Any]"  # Any: arrays and numbers
Reference: TypeAlias = "Callable[[np.random.Generator], tuple[Arrays, Arrays]]"
REFERENCES: dict[str, tuple[int, Reference]] = {}


def reference(blocks: int = 1) -> Callable[[Reference], Reference]:
    """The function gives arguments and outputs of the program of its name, on so many blocks."""

    def declare(f: Reference) -> Reference:
        REFERENCES[f.__name__] = blocks, f
        return f

    return declare


@reference(blocks=4)
def tails(random: np.random.Generator) -> tuple[Arrays, Arrays]:
    x, out = random.standard_normal((32, 32)).astype(np.float32), np.ones((32, 32), np.float32)
    lens, wanted = np.array([8, 3, 1, 5], np.int32), out.copy()
    for block, n in enumerate(lens):
        rows = slice(8 * block, 8 * block + n)
        wanted[rows] += np.abs(x[rows] * np.float32(2) ** n)
    return {"x": x, "lens": lens, "out": out}, {"out": wanted, "lens": np.zeros(4)}


@reference(blocks=3)
def parts(random: np.random.Generator) -> tuple[Arrays, Arrays]:
    x = random.integers(-4, 5, (40, 16)).astype(np.float16)
    s, o = np.array([0.5, 2, 3, 1, 1.5], ml_dtypes.bfloat16), np.ones((8, 16), np.float32)
    wanted = o.copy()
    for i, by in enumerate(s.astype(np.float32)):
        part = x[8 * i : 8 * i + 8].astype(np.float32)
        wanted += part * by if by > 1 else part + by
    return {"x": x, "s": s, "n64": np.array([5]), "o": o}, {"o": wanted}


@reference()
def paged(_: np.random.Generator) -> tuple[Arrays, Arrays]:
    g, idx = np.arange(96, dtype=np.int32).reshape(12, 8), np.array([2, 0, 1], np.int32)
    wanted, seen = g.copy(), [1]
    for page in idx:
        wanted[4 * page : 4 * page + 4] += page
        seen.append(wanted[4 * page, 1])
    return {"g": g, "idx": idx, "n": 3}, {"g": wanted, "idx": np.array([max(seen), 0, 1])}


def test_every_program_has_a_reference() -> None:
    assert {path.stem for path in HERE.glob("*.pto")} == set(REFERENCES)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", REFERENCES)
def test_it_computes_what_numpy_computes(name: str, target: str, engine: str) -> None:
    blocks, reference = REFERENCES[name]
    arguments, wanted = reference(np.random.default_rng(7))
    program = pto.load(HERE / f"{name}.pto")
    found = program.run(target=target, engine=engine, blocks=blocks, **arguments)
    for output, array in wanted.items():
        assert np.array_equal(found[output], array), output
