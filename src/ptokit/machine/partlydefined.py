"""Arrays with undefined elements.

A chip computes with whatever the bytes hold, and programs drop those elements later. So operations
propagate which elements are undefined, and tiles record that in their shadow. An array of the host
gets `DOCUMENTED` instead, and the run warns. An undefined index, or an undefined number of the
scalar unit, is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple, NoReturn, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from ptokit.machine.evaluation import WORDS, How, NumpyArray
from ptokit.machine.memory import Codes, Index
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL, Array, Number, Term

Mask: TypeAlias = "NDArray[np.bool_]"
DOCUMENTED = 0  # the code that an array of the host gets for an undefined element
# operations that only move elements, and those in which `keys`, the second argument, decide
MOVING = ("transpose", "reshape", "window", "repeat", "join_columns")
BY_KEYS = ("compact", "sort", "merge")
BY_ROW = ("count", "taken", "tally")  # each row of the result depends on one row

NOWHERE = np.zeros((1, 1), np.bool_)


class LostElements(NamedTuple):
    """Undefined elements that an instruction stored in an array of the host."""

    number: int
    first: tuple[int, int]


class PartlyDefined(NumpyArray):
    """An array with undefined elements, for which the mask `undefined` holds.

    `refuse` raises the error of their use. `outside`: they lie outside the valid region of the tile
    that was read.
    """

    partly = True

    def __init__(
        self,
        values: NumpyArray,
        undefined: Mask,
        refuse: Callable[[], NoReturn],
        *,
        outside: bool = False,
    ) -> None:
        self.defined, self.dtype = values, values.dtype
        self.undefined, self.refuse, self.outside = undefined, refuse, outside

    @property
    def codes(self) -> Codes:  # type: ignore[override]  # a property that raises
        self.refuse()

    @property
    def shape(self) -> tuple[int, int]:
        return self.defined.shape

    def kept(self) -> NoReturn:
        """Raise the error: the scalar unit takes no undefined element."""
        self.refuse()

    def _zeroed(self) -> NumpyArray:
        """Return the values, with 0 for undefined elements, for operations that count."""
        codes = np.where(self.undefined, 0, self.defined.codes)
        return NumpyArray(codes.astype(self.defined.codes.dtype), self.dtype)

    def taken(self, take: Callable[[Array], Array]) -> Array:
        """Return the elements that `take` gives for these indices.

        An undefined index inside a valid region is an error. An index that a chip reads beyond the
        valid region selects undefined elements.
        """
        if not self.outside:
            self.refuse()
        found = take(self._zeroed())
        assert isinstance(found, NumpyArray)
        undefined = np.broadcast_to(self.undefined, found.shape)
        if isinstance(found, PartlyDefined):
            found, undefined = found.defined, undefined | found.undefined
        return PartlyDefined(found, undefined, self.refuse, outside=True)

    def passed(self, word: str, args: Sequence[Term], parameters: How) -> Array:
        """Return the result of an operation on arrays of which this is one."""
        if word == "number":  # only the type of the first matters
            return WORDS[word](self.defined, *args[1:])
        counts = word in BY_ROW
        plain = [
            x._zeroed() if counts and isinstance(x, PartlyDefined) else defined(x) for x in args
        ]
        result = WORDS[word](*plain, **parameters)
        mask = undefined_in_result(word, [undefined(x) for x in args], plain, parameters)
        mask = np.broadcast_to(mask, result.shape)
        if not mask.any():
            return result
        outside = all(x.outside for x in args if isinstance(x, PartlyDefined))
        return PartlyDefined(result, mask, self.refuse, outside=outside)


@overload
def defined(term: Array) -> NumpyArray: ...
@overload
def defined(term: Term) -> NumpyArray | Number: ...
def defined(term: Term) -> Term:
    """Return the values of an array, also for undefined elements."""
    return term.defined if isinstance(term, PartlyDefined) else term


def undefined(term: Term) -> Mask:
    """Return which elements of an array are undefined; for a number, none."""
    if isinstance(term, PartlyDefined):
        return term.undefined
    return np.zeros(term.shape if isinstance(term, NumpyArray) else (1, 1), np.bool_)


def undefined_in_result(
    word: str, masks: list[Mask], args: Sequence[Term], parameters: How
) -> Mask:
    """Return which elements of a result are undefined, given those of the arguments."""
    if word in MOVING:
        return _moved(word, masks, parameters)
    if word == "pad":
        return _moved(word, [masks[0], NOWHERE], parameters)
    if word == "bits":
        eight = np.repeat(masks[0], 8, axis=1)
        return np.asarray(eight[:, : parameters["cols"]])
    if word == "pack":
        rows, cols = masks[0].shape
        whole = np.zeros((rows, -(-cols // 8) * 8), np.bool_)
        whole[:, :cols] = masks[0]
        return np.asarray(whole.reshape(rows, -1, 8).any(axis=2))
    if word == "fold":
        return np.asarray(masks[0].any(axis=parameters["axis"], keepdims=True))
    if word == "matmul":
        product = masks[0].any(axis=1, keepdims=True) | masks[1].any(axis=0, keepdims=True)
        return np.asarray(reduce(np.logical_or, [product, *masks[2:]]))
    if word in BY_ROW:
        return np.asarray(reduce(np.logical_or, masks).any(axis=1, keepdims=True))
    if word in BY_KEYS:
        payload = np.broadcast_to(masks[0], masks[1].shape)
        moved = WORDS[word](NumpyArray(payload.astype(np.uint8), BOOL), args[1], **parameters)
        return np.asarray((moved.codes != 0) | _unordered(word, masks[1], parameters))
    if word == "where":
        assert isinstance(args[0], NumpyArray)
        return np.asarray(masks[0] | np.where(args[0].codes != 0, masks[1], masks[2]))
    return np.asarray(reduce(np.logical_or, masks))


def _moved(word: str, masks: Sequence[Mask], parameters: How) -> Mask:
    """Return which elements are undefined after an operation that moves elements."""
    marks = [NumpyArray(mask.astype(np.uint8), t.u8) for mask in masks]
    return np.asarray(WORDS[word](*marks, **parameters).codes != 0)


def _unordered(word: str, keys: Mask, parameters: How) -> Mask:
    """Return the elements that undefined keys may move: a row, or the blocks of a sort."""
    rows, cols = keys.shape
    block = parameters["block"] if word == "sort" else max(cols, 1)
    whole = np.zeros((rows, -(-cols // block) * block), np.bool_)
    whole[:, :cols] = keys
    spoilt = np.asarray(whole.reshape(rows, -1, block).any(axis=2))
    return spoilt if word != "sort" else np.repeat(spoilt, block, axis=1)[:, :cols]


def first_taken(mask: Mask, rows: Index, cols: Index) -> tuple[int, int]:
    """Return the first of some elements for which a mask holds."""
    at = tuple(np.argwhere(mask)[0])
    return int(rows[at]), int(cols[at])
