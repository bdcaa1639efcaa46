"""The results of a recorded body: expressions over windows, and the stores of their values.

An expression that depends on one axis and no run-time value is computed at once, in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

from ptokit.machine.evaluation import How, NumpyArray, scalar
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Coded, Int, Num, Truth
from ptokit.machine.record.slices import AxisWindow, slice_windows
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL, SHAPING, Array, Term
from ptokit.values.conversions import converted
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import GatherOOB, Rounding
from ptokit.values.fixpipe import HALF_MAX
from ptokit.values.layouts import known

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "isnan")
PLAIN_CASTS = (
    *((t.i32, t.f32), (t.u32, t.f32), (t.f32, t.i32)),
    *((t.f32, t.f64), (t.f64, t.f32), (t.i32, t.f64), (t.u32, t.f64)),
)
HALF_CASTS = ((t.f16, t.f32), (t.f32, t.f16))


class Traced(Array):
    """An expression for each element of a matrix."""

    native_half: ClassVar[bool] = False  # True if the host converts f16, see `module`
    of: DType | None = None  # the narrower type of which each element has a value

    def __init__(self, dtype: DType, rows: Num, cols: Num) -> None:
        self.dtype, self.rows, self.cols = dtype, rows, cols

    @property
    def shape(self) -> Any:  # Any: ints or symbols
        return self.rows, self.cols

    def apply(self, word: str, /, *others: Term, **parameters: Any) -> Traced:  # Any: see How
        model = next((o for o in others if isinstance(o, Array)), self) if word == "where" else self
        args = (self, *(as_expression(o, model.dtype) for o in others))
        if word == "bitcast" and parameters["dtype"] == self.dtype:
            return self
        if word == "number":
            return args[1]
        if word in SHAPING:
            return Whole(word, args, parameters)
        arrays = [a.array for a in args if isinstance(a, Known)]
        if len(arrays) == len(args) and 1 in _broadcast(args):  # a row or a column
            result = arrays[0].apply(word, *arrays[1:], **parameters)
            assert isinstance(result, NumpyArray)
            return Known(result)
        if word == "cast":
            return _cast(self, **parameters)
        return Apply(word, args, parameters)


class Known(Traced):
    """Numbers known statically: one, a row or a column."""

    def __init__(self, array: NumpyArray) -> None:
        super().__init__(array.dtype, *array.codes.shape)
        self.array = array

    @cached_property
    def constant(self) -> int | None:
        """The code of all elements, if they are equal."""
        flat = self.array.codes.reshape(-1)
        return int(flat[0]) if flat.size and (flat == flat[0]).all() else None


class Scalar(Traced):
    """One number known at run time only; `coded`: given by the code of its type."""

    def __init__(self, value: Num, dtype: DType, *, coded: bool = False) -> None:
        super().__init__(dtype, 1, 1)
        self.value, self.coded = value, coded


class Positions(Traced):
    """The row numbers (axis 0) or column numbers of a window whose size is symbolic."""

    def __init__(self, axis: int, count: Num) -> None:
        super().__init__(t.i64, *((count, 1) if axis == 0 else (1, count)))
        self.axis = axis


class WindowRead(Traced):
    """A window of a tile or view."""

    def __init__(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> None:
        super().__init__(cells.dtype, rows.count, cols.count)
        self.cells, self.row_span, self.col_span = cells, rows, cols


def spans(x: Traced) -> tuple[AxisWindow, AxisWindow]:
    """Return the windows that cover an expression."""
    return AxisWindow(0, x.rows), AxisWindow(0, x.cols)


class Taken(Traced):
    """Gathered elements at row-major indices over a static shape, 0 where `where` fails."""

    def __init__(
        self,
        cells: Elements,
        shape: tuple[int, int],
        index: Traced,
        outside: GatherOOB,
        where: Traced | None,
    ) -> None:
        rows, cols = _broadcast([index] if where is None else [index, where])
        super().__init__(cells.dtype, rows, cols)
        self.cells, self.over, self.index = cells, shape, index
        self.outside, self.where_ = outside, where


class Apply(Traced):
    """An elementwise operation on arguments that broadcast."""

    def __init__(self, word: str, args: Sequence[Traced], parameters: How) -> None:
        kind = parameters.get("dtype") or args[1 if word == "where" else 0].dtype
        super().__init__(BOOL if word in COMPARISONS else kind, *_broadcast(args))
        self.word, self.args, self.parameters = word, tuple(args), parameters


class Whole(Traced):
    """An operation that is not elementwise: transpose, fold, matmul, ..."""

    def __init__(self, word: str, args: Sequence[Traced], parameters: How) -> None:
        super().__init__(*_shaped(word, *args, **parameters))
        self.word, self.args, self.parameters = word, tuple(args), parameters

    @property
    def first(self) -> Traced:
        return self.args[0]


def _shaped(word: str, x: Traced, /, *others: Traced, **how: Any) -> tuple[DType, Num, Num]:
    """Return type and extents of an operation of `Whole`."""
    match word:
        case "transpose":
            return x.dtype, x.cols, x.rows
        case "reshape" | "pad":
            return x.dtype, how["rows"], how["cols"]
        case "window":
            rows, cols = slice_windows((x.rows, x.cols), **how)
            return x.dtype, rows.count, cols.count
        case "repeat":
            return x.dtype, x.rows, x.cols * how["count"]
        case "compact":
            return x.dtype, others[0].rows, others[0].cols
        case "count":
            return t.i32, x.rows, 1
        case "pack":
            return t.u8, x.rows, -(-x.cols // 8)
        case "bits":
            return BOOL, x.rows, how["cols"]
        case "join_columns":
            return x.dtype, x.rows, sum((o.cols for o in others), x.cols)
        case "sort":
            return x.dtype, x.rows, x.cols
        case "merge":
            return x.dtype, x.rows, how["count"]
        case "taken":
            return t.i32, x.rows, len(how["lengths"])
        case "tally":
            return t.u32, x.rows, how["bins"]
        case "fold":
            return (x.dtype, 1, x.cols) if how["axis"] == 0 else (x.dtype, x.rows, 1)
        case _:  # the product
            return t.i32 if x.dtype.is_int else t.f32, x.rows, others[0].cols


def as_expression(term: Term, dtype: DType) -> Traced:
    """Return an operand as an expression; a number becomes an element of this type."""
    if isinstance(term, Int):
        return Scalar(term, dtype)
    if isinstance(term, Coded):
        number = Scalar(cast(Num, term.bits), term.dtype, coded=True)
        return as_expression(number.isnan().where(float("nan"), number).cast(dtype), dtype)  # quiet
    if isinstance(term, Traced):
        return term
    assert isinstance(term, NumpyArray | int | float), "bodies compute with arrays and numbers"
    return Known(term if isinstance(term, NumpyArray) else scalar(term, dtype))


def _broadcast(arrays: Sequence[Traced]) -> tuple[Num, Num]:
    return _longest([a.rows for a in arrays]), _longest([a.cols for a in arrays])


def _longest(counts: Sequence[Num]) -> Num:
    for number in counts:
        if not known(number, 1):
            return number
    return 1


def _cast(x: Traced, *, dtype: DType, rounding: Rounding, saturate: bool) -> Traced:
    """Return a conversion: one cast if the host has it, else simpler operations."""
    nearest = rounding in (Rounding.NONE, Rounding.RINT)
    if x.dtype == dtype:
        return x
    if x.dtype.is_int and dtype.is_int and not saturate and not (x.dtype.packed or dtype.packed):
        plain = True
    elif (x.dtype, dtype) == PLAIN_CASTS[2]:
        plain = rounding is Rounding.NONE and not saturate
    elif (x.dtype, dtype) in HALF_CASTS and x.native_half:
        plain = dtype is t.f32 or (nearest and not saturate)
        if nearest and not plain:
            return _nearest_half(x)
    else:
        plain = (x.dtype, dtype) in PLAIN_CASTS and nearest
    if x.dtype is BOOL or plain:
        return Apply("cast", (x,), {"dtype": dtype})
    result = converted(x, dtype, rounding, saturate)
    assert isinstance(result, Traced)
    if x.dtype.is_float and x.dtype.bits <= 8 and dtype == t.f32:
        result.of = x.dtype
    return result


def _nearest_half(x: Traced) -> Traced:
    """Return f32 as the nearest finite f16, and NaN as 0."""
    finite = as_expression(x.isnan().where(0.0, x).clamp(-HALF_MAX, HALF_MAX), x.dtype)
    return Apply("cast", (finite,), {"dtype": t.f16, "finite": True})


@dataclass(eq=False)
class WindowStore:
    """A store to a window; with `where` only the elements for which it holds."""

    cells: Elements
    rows: AxisWindow
    cols: AxisWindow
    value: Traced
    where: Traced | None = None

    @property
    def definite(self) -> bool:
        """True if every element of the window is written."""
        return self.where is None

    @property
    def parts(self) -> list[Traced]:
        """The expressions that the store uses."""
        return [self.value] if self.where is None else [self.value, self.where]

    def mapped(self, made: Callable[[Traced], Traced]) -> WindowStore:
        """Return the store with `made` applied to its expressions."""
        where = None if self.where is None else made(self.where)
        return replace(self, value=made(self.value), where=where)


@dataclass(eq=False)
class UndefineStore(WindowStore):
    """An instruction's effect that makes a window undefined; its bytes stay."""

    @property
    def definite(self) -> bool:
        return False


@dataclass(eq=False)
class ScatterStore(WindowStore):
    """A store to elements at row-major indices over a static shape, one after another.

    With `word` each element is combined with the previous one.
    """

    index: Traced = field(default_factory=lambda: Traced(t.i64, 0, 0))
    word: str | None = None

    def mapped(self, made: Callable[[Traced], Traced]) -> WindowStore:
        return replace(super().mapped(made), index=made(self.index))  # type: ignore[call-arg]  # Self

    @property
    def definite(self) -> bool:
        return False

    @property
    def parts(self) -> list[Traced]:
        return [self.index, *super().parts]


@dataclass
class Recording:
    """The effects of one instruction's body: stores in order, and conditions to check before."""

    stores: list[WindowStore] = field(default_factory=list[WindowStore])
    reads: list[WindowRead] = field(default_factory=list[WindowRead])
    guards: list[Truth] = field(default_factory=list[Truth])
    ends: list[tuple[Any, DType, Num]] = field(default_factory=list[Any])  # Any: a Space
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])  # at the end

    def reached(self, space: object, dtype: DType, end: Num) -> None:  # a Space
        """Note that a window touches elements of a memory up to `end`."""
        self.ends.append((space, dtype, end))
