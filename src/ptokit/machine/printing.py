"""Output of programs: matrices in the format of the CPU simulator, numbers as C's `printf`."""

from __future__ import annotations

import re
import sys

import numpy as np

from ptokit.isa.model.words import PrintFormat
from ptokit.isa.pages.debug import CONVERSION
from ptokit.machine.evaluation import NumpyArray
from ptokit.values.arrays import Array

UNSIGNED = "uxXo"  # conversions that read the bits of a whole number as an unsigned one


class StandardOutput:
    """The standard output, to which programs print."""

    @staticmethod
    def matrix(title: str, array: Array, form: PrintFormat) -> None:
        """Print a line with a title and the extents, and one line for each row."""
        assert isinstance(array, NumpyArray)
        (rows, cols), (width, precision) = array.shape, form.places
        cell = f"%{width}.{precision}f" if array.dtype.is_float else f"%{width}d"
        cells: list[list[str]] = [[]] * rows
        if array.codes.size:
            cells = np.char.mod(cell, array.values).tolist()
        lines = [f"{title} {rows}x{cols}", *(" ".join(line) for line in cells), ""]
        sys.stdout.write("\n".join(lines))

    @staticmethod
    def number(format: str, array: Array) -> None:
        """Print a format with a number in place of its conversion, and a new line."""
        assert isinstance(array, NumpyArray)

        def converted(match: re.Match[str]) -> str:
            if match["letter"] is None:
                return "%"
            how, letter, value = match["how"], match["letter"], array.values[0, 0].item()
            if letter in UNSIGNED:
                value %= 1 << max(32, array.dtype.bits)
            return f"%{how}{'d' if letter in 'iu' else letter}" % value

        text = CONVERSION.sub(converted, format)
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
