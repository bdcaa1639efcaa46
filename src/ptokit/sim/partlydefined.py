"""Arrays some elements of which are undefined: computed from what nothing wrote.

A chip computes with whatever the bytes hold, and programs leave those elements out later. So words
pass on which elements have no value, element by element, and tiles keep it in their shadow. Any
other use of such an array, as a store to global memory, is the error that its read would have been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import error
from ptokit.isa.lang.arrays import BOOL, SHAPING, Array, Term
from ptokit.sim.evaluation import WORDS, NumpyArray
from ptokit.sim.memory import Codes, Elements, Index, Memory

Mask: TypeAlias = "NDArray[np.bool_]"
MOVING = ("transpose", "reshape", "window", "repeat")  # of `SHAPING`, what only moves elements

NOWHERE = np.zeros((1, 1), np.bool_)


class PartlyDefined(NumpyArray):
    """An array whose elements have a value but where `undefined`; `refuse` raises the error."""

    partly = True

    def __init__(
        self, values: NumpyArray, undefined: Mask, memory: Memory, refuse: Callable[[], NoReturn]
    ) -> None:
        self.defined, self.dtype = values, values.dtype
        self.undefined, self.memory, self.refuse = undefined, memory, refuse

    @property
    def codes(self) -> Codes:  # type: ignore[override]  # whoever asks for values has none
        self.refuse()

    @property
    def shape(self) -> tuple[int, int]:
        return self.defined.shape

    def kept(self) -> NoReturn:
        """The scalar unit takes no element without a value."""
        self.refuse()

    def store(self, cells: Elements, rows: range, cols: range) -> None:
        """Write a window of the memory that the elements without a value came from."""
        cells.write(rows, cols, self.defined.codes)
        cells.void(rows, cols, np.broadcast_to(self.undefined, (len(rows), len(cols))))

    def taken(self, take: Callable[[Array], Array]) -> Array:
        """What `take` gives for these indices: nothing tells which element an undefined one is."""
        codes = np.where(self.undefined, 0, self.defined.codes).astype(self.defined.codes.dtype)
        found = take(NumpyArray(codes, self.dtype))
        assert isinstance(found, NumpyArray)
        undefined = np.broadcast_to(self.undefined, found.shape)
        if isinstance(found, PartlyDefined):
            found, undefined = found.defined, undefined | found.undefined
        return PartlyDefined(found, undefined, self.memory, self.refuse)

    def passed(self, word: str, args: Sequence[Term], parameters: dict[str, Any]) -> Array:
        """The result of a word on arrays of which this is one."""
        if word == "number":  # only the type of the first matters
            return WORDS[word](self.defined, *args[1:])
        if word in SHAPING and word not in (*MOVING, "fold"):
            self.refuse()
        plain = [x.defined if isinstance(x, PartlyDefined) else x for x in args]
        result = WORDS[word](*plain, **parameters)
        masks = [
            x.undefined if isinstance(x, PartlyDefined) else np.zeros((1, 1), bool) for x in args
        ]
        mask = _without_value(word, masks, plain[0], parameters)
        mask = np.broadcast_to(mask, result.shape)
        return PartlyDefined(result, mask, self.memory, self.refuse) if mask.any() else result


def _without_value(word: str, masks: list[Mask], first: Term, parameters: dict[str, Any]) -> Mask:
    """Which elements of a word's result have no value, by those of its arguments."""
    if word in MOVING:
        moved = WORDS[word](NumpyArray(masks[0].astype(np.uint8), BOOL), **parameters)
        return np.asarray(moved.codes != 0)
    if word == "fold":
        return np.asarray(masks[0].any(axis=parameters["axis"], keepdims=True))
    if word == "where":
        assert isinstance(first, NumpyArray)
        return np.asarray(masks[0] | np.where(first.codes != 0, masks[1], masks[2]))
    return np.asarray(reduce(np.logical_or, masks))


def partly_read(matrix: Any, rows: range, cols: range, found: NumpyArray) -> Array:
    """A window of a matrix of which something was not written: an error but for what is undefined.

    That is what was computed from such elements, and what lies outside the valid region.
    """
    missing = ~matrix.elements.written(rows, cols)
    undefined = matrix.elements.voids(rows, cols, missing) | missing & matrix.beyond(rows, cols)
    wrong = missing if matrix.dtype.packed else missing & ~undefined
    if wrong.any():
        matrix.require_written(_first(wrong, rows, cols))
    refuse = partial(_refuse, matrix, _first(undefined, rows, cols))
    return PartlyDefined(found, undefined, matrix.memory, refuse)


def partly_taken(matrix: Any, rows: Index, cols: Index, missing: Mask, found: NumpyArray) -> Array:
    """Elements of a matrix some of which were not written: an error but for what is undefined."""
    undefined = matrix.elements.taken_voids(rows, cols, missing)
    wrong = missing if matrix.dtype.packed else missing & ~undefined
    if wrong.any():
        matrix.require_written(first_taken(wrong, rows, cols))
    refuse = partial(_refuse, matrix, first_taken(undefined, rows, cols))
    return PartlyDefined(found, undefined, matrix.memory, refuse)


def first_taken(mask: Mask, rows: Index, cols: Index) -> tuple[int, int]:
    """The first of some elements for which a mask holds."""
    at = tuple(np.argwhere(mask)[0])
    return int(rows[at]), int(cols[at])


def leave_undefined(tile: Any, *, inside: bool) -> None:
    """What nothing wrote has no value: of the valid region, `inside`, or of the rest of a tile."""
    rows, cols = range(tile.rows), range(tile.cols)
    missing = ~tile.elements.written(rows, cols) & (tile.beyond(rows, cols) ^ inside)
    if missing.any() and not tile.dtype.packed:
        tile.elements.void_more(rows, cols, missing)


def _refuse(matrix: Any, first: tuple[int, int]) -> NoReturn:
    seen = f"element {first} of {matrix.type} was computed from elements that were never written"
    raise error(
        "uninitialised-read",
        f"{matrix.label or 'a tile'} is read where it has no value",
        seen=seen,
        help="write all that its operands read, or make its valid region as small as theirs",
    )


def _first(mask: Mask, rows: range, cols: range) -> tuple[int, int]:
    """The first element of a window for which a mask holds."""
    row, col = np.argwhere(mask)[0]
    return rows.start + int(row), cols.start + int(col)
