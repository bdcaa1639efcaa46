"""Convolution tiles at run time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ptokit.isa.model.tiles import ConvTileType
from ptokit.machine.memory import Codes, Elements, Memory
from ptokit.machine.tile import Matrix
from ptokit.values.layouts import IndexMap, Shape


class ConvTile(Matrix):
    """A convolution tile, read as the weight matrix in it."""

    def __init__(self, kind: ConvTileType, memory: Memory, address: int) -> None:
        where: IndexMap = kind.map
        elements = Elements(memory, address, kind.dtype, where)
        super().__init__(kind, elements, where.rows.extent, where.cols.extent)
        self.type: ConvTileType = kind

    @property
    def inner(self) -> Shape:
        return self.type.inner

    def codes(self) -> Codes:
        """Return the element codes in the extents of the layout; 0 for undefined elements."""
        line = self.flat().elements
        return line.read_written(range(1), range(self.type.numel)).reshape(self.type.shape)

    def has_value(self) -> NDArray[np.bool_]:
        """Return which elements are defined, as one row."""
        return self.flat().elements.written(range(1), range(self.type.numel))

    def assign(self, codes: Codes) -> None:
        """Store the codes of all elements."""
        self.flat().elements.write(range(1), range(self.type.numel), codes.reshape(1, -1))

    def written(self) -> bool:
        """Return whether every element is defined."""
        return self.flat().elements.unwritten(range(1), range(self.type.numel)) is None
