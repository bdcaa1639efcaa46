"""How an oracle is written, and the table of them by the names of pages.

    binary(TLeast=lambda a, b: np.where(b < a, b, a))           # a member of a family

    @meaning("TTrans")                                          # an irregular instruction
    def transposed(src: Seen) -> Array:
        return src.values.T

The parameters of an oracle are operands and attributes of the page by name; further `dst` (what the
output held before), `target` and `order` (names) and `fixpipe` (the options of the reading in
force). Tiles, views and convolution tiles are `Seen`, numbers are numbers, words of enumerations
are the names of their members. It returns what stands in the upper left of the one output
afterwards, everything else staying as it was: values of the output's element type. Several outputs
and registers: a mapping by name. None: nothing is written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from oracles.formats import FORMATS, Array, bits_of, is_float, quieted, typed, wrapped


@dataclass(frozen=True)
class Seen:
    """An operand as an oracle sees it.

    `codes`: the elements of the whole declared shape by row and column (of a convolution tile by
    its extents), as unsigned numbers. `storage`: all of them in the order of storage. `kind`: its
    type, for what it says besides. `together`: whether no other bytes lie between them.
    """

    dtype: str
    codes: Array
    valid: tuple[int, int]
    kind: Any  # Any: a type of any kind
    storage: Array
    together: bool

    @property
    def values(self) -> Array:
        """The valid region."""
        rows, cols = self.valid
        return self.all[:rows, :cols]

    @property
    def all(self) -> Array:
        """The whole declared shape, as values."""
        return typed(self.codes, self.dtype)

    @property
    def octets(self) -> Array:
        """The storage as bytes."""
        assert bits_of(self.dtype) >= 8
        return np.ascontiguousarray(self.storage).view(np.uint8)


@dataclass(frozen=True)
class InStorage:
    """Values in the order of storage, from the first element on."""

    values: Array


Result: TypeAlias = "Array | InStorage | Mapping[str, Array | InStorage | int] | None"
Given: TypeAlias = "dict[str, Any]"  # Any: Seen, numbers, names of words
Oracle: TypeAlias = Callable[[Given], Result]


class Refused(Exception):
    """The instruction must be refused with this slug."""


class Undefined(Exception):
    """The documents do not say what happens: whatever the engines agree on."""


@dataclass(frozen=True)
class NoData:
    """A page that orders others and holds no data: it writes nothing and defines nothing."""

    because: str


WAYS = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away", "to_odd")


@dataclass(frozen=True)
class Numbers:
    """A page of scalars: the result by the values, integers and NumPy's floats.

    `types` are those of operands and result, else the usual ones; `by_type`: f takes them as `kind`
    and `to`. `legal` makes random values such that the operation is defined. Conversions round by a
    word of `ways` and treat what is too large as one of `ends` says, which f takes too.
    """

    f: Callable[..., Any]  # Any: a number
    types: tuple[tuple[str, str], ...] = ()
    by_type: bool = False
    ulp: int = 0
    legal: Callable[[list[Any], str], list[Any]] = lambda values, kind: values
    ways: tuple[str, ...] = ("", *WAYS)
    ends: tuple[str, ...] = ("", "sat", "nosat")


@dataclass(frozen=True)
class Program:
    """A page that is only seen in a program: text, arguments, and what comes out."""

    text: str
    outputs: Mapping[str, Any]  # Any: nested lists of numbers
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])  # Any: arrays, numbers
    blocks: int = 1
    ranks: int = 1


MEANINGS: dict[str, Oracle | NoData | Numbers | Program] = {}
ULPS: dict[str, int] = {}  # pages whose results may be so many units in the last place away


def say(page: str, what: Oracle | NoData | Numbers | Program) -> None:
    assert page not in MEANINGS, f"{page} has two meanings"
    MEANINGS[page] = what


def meaning(*pages: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """The function is the oracle of these pages."""

    def declare(f: Callable[..., Result]) -> Callable[..., Result]:
        names = tuple(inspect.signature(f).parameters)
        for page in pages:
            say(page, lambda given: f(**{n: given[n] for n in names}))
        return f

    return declare


def binary(ulp: int = 0, **functions: Callable[[Array, Array], Array]) -> None:
    """Pages with two inputs of one type and one region: tiles, or numbers converted to it."""
    for page, f in functions.items():
        say(page, _each(f))
        ULPS[page] = ulp


def by_target(usual: Callable[..., Array], *names: str, **others: Callable[..., Array]) -> None:
    """Elementwise pages that some targets, by name, compute in a way of their own."""
    for page in names:
        say(page, lambda given: _each(others.get(given["target"], usual))(given))


def ternary(**functions: Callable[[Array, Array, Array], Array]) -> None:
    """Pages with three inputs of one type and one region: tiles, or numbers converted to it."""
    for page, f in functions.items():
        say(page, _each(f))


def unary(ulp: int = 0, **functions: Callable[[Array], Array]) -> None:
    """Pages with one input of dst's type and region."""
    for page, f in functions.items():
        say(page, _each(f))
        ULPS[page] = ulp


def _each(f: Callable[..., Array]) -> Oracle:
    def oracle(given: Given) -> Array:
        dst: Seen = given["dst"]
        inputs = [v for n, v in given["inputs"].items() if n != "tmp"]
        values = [v.values if isinstance(v, Seen) else number(v, dst.dtype) for v in inputs]
        with np.errstate(all="ignore"):
            return f(*values).astype(FORMATS[dst.dtype][1], copy=False)

    return oracle


def number(value: float, dtype: str) -> Array:
    """A scalar operand in the type of a tile."""
    if is_float(dtype):
        with np.errstate(all="ignore"):
            return np.asarray([[value]], np.float64).astype(FORMATS[dtype][1])
    if not np.isfinite(value):
        raise Undefined("no whole number")
    return wrapped(np.array([[int(value)]], np.int64), dtype)


def arithmetic(f: Callable[..., Array]) -> Callable[..., Array]:
    """Each result is rounded to the element type, NaN is the quiet one; integers wrap."""

    def computed(*values: Array) -> Array:
        first = values[0]
        name = next(n for n, (_, t) in FORMATS.items() if first.dtype == t)
        return quieted(np.asarray(f(*values)).astype(first.dtype), name)

    return computed
