"""The example of every manual page runs, and is legal on the targets that have the instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.isa import pages
from ptokit.isa.examples import EXAMPLES
from ptokit.isa.lang import Instr
from ptokit.isa.tiles import ConvTileType, TileType
from ptokit.isa.types import PtrType, Type

ONLY_A5 = {"TMovScale", "TPack"}
WITH_EXAMPLE = [p for p in pages() if p.__name__ in EXAMPLES]
WITHOUT_DATA = {p.__name__ for p in pages() if not p.outs() or p.handle}


def array(kind: Type) -> Any:
    """Small numbers of the argument's type and shape."""
    if isinstance(kind, PtrType):
        return np.zeros(1024, np.float32 if kind.dtype.is_float else np.int8)
    assert isinstance(kind, TileType | ConvTileType)
    shape = kind.shape if isinstance(kind, ConvTileType) else valid(kind)
    values: Any = np.arange(int(np.prod(shape))) % 8
    codes: Any = values.reshape(shape).astype(kind.dtype.storage)
    if kind.dtype.size == 1 and kind.dtype.is_float:
        return codes
    return codes.view(f"{kind.dtype.kind.value[0]}{kind.dtype.size}")


def valid(kind: TileType) -> tuple[int, ...]:
    return tuple(n for n in (kind.valid.rows, kind.valid.cols) if n is not None)


@pytest.mark.parametrize("page", WITH_EXAMPLE, ids=lambda p: p.__name__)
def test_the_example_runs(page: type[Instr]) -> None:
    program = pto.loads(EXAMPLES[page.__name__])
    targets = ("cpu", "a5") if page.__name__ in ONLY_A5 else ("cpu", "a2a3", "a5")
    assert [d.render() for d in program.check(*targets) if d.is_error] == []
    arrays = {arg.name: array(arg.type) for arg in program.func().args}
    outputs = program.run(target=targets[-1], **arrays)
    assert outputs or page.__name__ in ("TLoad", *WITHOUT_DATA)


def test_every_instruction_with_data_has_an_example() -> None:
    missing = {p.__name__ for p in pages()} - set(EXAMPLES) - WITHOUT_DATA
    assert missing == set()
