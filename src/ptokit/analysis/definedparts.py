"""Elements that are stored although no instruction computes them, if the extents are known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ptokit.analysis.effects import effects
from ptokit.analysis.known import Facts
from ptokit.ir.module import Op, Value
from ptokit.isa.model.tiles import TileType
from ptokit.machine.memory import WRITTEN, Elements, Memory


def undefined_part(
    tile: Value, writers: Iterable[Op], facts: Facts
) -> tuple[int, tuple[int, int]] | None:
    """Return the number of undefined elements in a tile's valid region, and the first.

    None if there are none, or if the elements that the writers compute are not known.
    """
    kind = facts.type_of(tile)
    assert isinstance(kind, TileType)
    assert kind.valid.rows is not None
    assert kind.valid.cols is not None
    memory = Memory.blank("the tile", kind.nbytes)
    for op in writers:
        found = effects(op, facts).defines.get(tile)
        if found is None or found.ranges is None:
            return None
        for start, stop in found.ranges:
            memory.shadow[start:stop] = WRITTEN
    elements = Elements(memory, 0, kind.dtype, kind.map)
    missing = np.argwhere(~elements.written(range(kind.valid.rows), range(kind.valid.cols)))
    if not missing.size:
        return None
    row, col = missing[0]
    return len(missing), (int(row), int(col))
