"""What programs print: matrices of numbers, in the form of the CPU simulator."""

from __future__ import annotations

import sys

import numpy as np

from ptokit.isa.lang.arrays import Array
from ptokit.isa.model.words import PrintFormat
from ptokit.sim.evaluation import NumpyArray


def print_matrix(title: str, array: Array, form: PrintFormat) -> None:
    """A line with a title and the extents, and one for each row."""
    assert isinstance(array, NumpyArray)
    (rows, cols), (width, precision) = array.shape, form.places
    cell = f"%{width}.{precision}f" if array.dtype.is_float else f"%{width}d"
    cells: list[list[str]] = [[]] * rows
    if array.codes.size:
        cells = np.char.mod(cell, array.values).tolist()
    lines = [f"{title} {rows}x{cols}", *(" ".join(line) for line in cells), ""]
    sys.stdout.write("\n".join(lines))
