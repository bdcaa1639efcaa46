"""The array vocabulary: all that a body may say about data.

A body reads windows of its operands as `Array` values, computes with them and assigns windows of
its outputs. Two engines implement the words: the reference on NumPy arrays, the native one by
recording expressions. Values never change after they are made, so overlapping operands are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, cast

from ptokit.values.dtypes import DType, NumberKind
from ptokit.values.enumerations import GatherOOB, Loc, PadValue, Rounding
from ptokit.values.layouts import Extents, Layout, Shape, known
from ptokit.values.pads import CustomPad

# A truth value per element: what comparisons give and `where` takes.
BOOL = DType("i1", 8, NumberKind.UINT, "bool")
# words whose elements depend on elements elsewhere; of all others each is a formula of its own
SHAPING = (
    *("transpose", "reshape", "window", "pad", "repeat"),
    *("compact", "count", "pack", "bits", "fold", "matmul"),
    *("join_columns", "sort", "merge", "taken", "tally"),
)

Number: TypeAlias = "int | float"
Term: TypeAlias = "Array | Number"
Window: TypeAlias = "slice | int"
Windows: TypeAlias = "tuple[Window, Window] | ValidRegion"


class Array:
    """A matrix of elements of one type. Two operands broadcast; a number takes the array's type.

    A number is converted as `cast` converts: half to even to floats, toward zero to integers.
    Arithmetic rounds to the element type after each operation, integers wrap. A NaN that an
    arithmetic word gives (`+ - * /`, `remainder`, `sqrt`, `rint`, `matmul`, `fold` over them) is
    the positive quiet NaN of its type, whatever came in. What selects, like `maximum` and `where`,
    moves bits. f64 converts to and from f32, and to narrower floats, half to even.
    """

    dtype: DType

    # no abstract methods: of such classes `isinstance` is slow, and the compiler asks it often

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        raise NotImplementedError

    def apply(self, word: str, /, *others: Term, **parameters: object) -> Array:
        """The engine's meaning of one vocabulary word."""
        raise NotImplementedError

    def __add__(self, other: Term) -> Array:
        return self.apply("add", other)

    def __sub__(self, other: Term) -> Array:
        return self.apply("sub", other)

    def __mul__(self, other: Term) -> Array:
        return self.apply("mul", other)

    def __truediv__(self, other: Term) -> Array:
        """Floats: the rounded quotient. Integers: truncated toward zero; by 0 it is 0."""
        return self.apply("div", other)

    def number(self, value: Number) -> Array:
        """A number as one element of this array's type."""
        return self.apply("number", value)

    def __rtruediv__(self, other: Number) -> Array:
        return self.number(other) / self

    def __rsub__(self, other: Number) -> Array:
        return self.number(other) - self

    def remainder(self, other: Term) -> Array:
        """What truncated division leaves, exact, with the sign of self; of integers by 0: 0."""
        return self.apply("rem", other)

    def sqrt(self) -> Array:
        """The square root of floats, correctly rounded."""
        return self.apply("sqrt")

    def __and__(self, other: Term) -> Array:
        return self.apply("and", other)

    def __or__(self, other: Term) -> Array:
        return self.apply("or", other)

    def __xor__(self, other: Term) -> Array:
        return self.apply("xor", other)

    def __rshift__(self, other: Term) -> Array:
        """Arithmetic for signed types, logical for unsigned ones.

        By the width or more, and by less than 0, every bit leaves: 0, or -1 where self < 0.
        """
        return self.apply("shr", other)

    def __lshift__(self, other: Term) -> Array:
        """By the width or more, and by less than 0, it is 0."""
        return self.apply("shl", other)

    def __lt__(self, other: Term) -> Array:
        return self.apply("lt", other)

    def __gt__(self, other: Term) -> Array:
        return self.apply("gt", other)

    def __ge__(self, other: Term) -> Array:
        return self.apply("ge", other)

    def __le__(self, other: Term) -> Array:
        return self.apply("le", other)

    def __eq__(self, other: object) -> bool:
        """Refuse `==`, which would compare identities; AssertionError."""
        raise AssertionError("elements are compared by `equals`")

    __hash__ = object.__hash__

    def equals(self, other: Term) -> Array:
        return self.apply("eq", other)

    def maximum(self, other: Term) -> Array:
        """`other` where self < other, else self: NaN and equal values keep self.

        The bits of the one that is taken do not change.
        """
        return self.apply("max", other)

    def minimum(self, other: Term) -> Array:
        """`other` where other < self, else self; the bits of the one taken do not change."""
        return self.apply("min", other)

    def clamp(self, low: Term, high: Term) -> Array:
        return self.maximum(low).minimum(high)

    def __mod__(self, other: Term) -> Array:
        """The remainder of integers, with the sign of the divisor."""
        return self.apply("mod", other)

    def __floordiv__(self, other: Term) -> Array:
        """The quotient of integers, rounded down."""
        return self.apply("floordiv", other)

    @property
    def T(self) -> Array:
        """The transpose."""
        return self.apply("transpose")

    def reshaped(self, rows: int, cols: int) -> Array:
        """The same elements in row-major order in another shape."""
        return self.apply("reshape", rows=rows, cols=cols)

    def __getitem__(self, window: tuple[slice, slice]) -> Array:
        """A part of the elements, by half-open windows with a step; inside, and of known size."""
        rows, cols = window
        return self.apply("window", rows=rows, cols=cols)

    def padded(self, count: int, axis: int, value: Number) -> Array:
        """So many rows (axis 0) or columns: the elements, and `value` behind them."""
        extents = [*self.shape]
        if known(extents[axis], count):
            return self
        extents[axis] = count
        return self.apply("pad", self.number(value), rows=extents[0], cols=extents[1])

    def repeated(self, count: int) -> Array:
        """Each column `count` times in a row."""
        return self.apply("repeat", count=count)

    def compacted(self, keep: Array) -> tuple[Array, Array]:
        """The elements of each row where `keep` holds, moved left; and how many (R x 1, i32).

        What stands to the right of them has no meaning.
        """
        return self.apply("compact", keep), keep.apply("count")

    def join_columns(self, *others: Array) -> Array:
        """The columns of this array, and those of others to the right of them."""
        return self.apply("join_columns", *others)

    def sorted_by(self, keys: Array, block: int) -> Array:
        """Each row in ascending order of unsigned keys, in blocks of so many columns.

        Equal keys keep their order; the last block may be shorter.
        """
        return self.apply("sort", keys, block=block)

    def merged(self, keys: Array, lengths: Sequence[int], count: int) -> tuple[Array, Array]:
        """The first `count` elements of each row's runs, of `lengths`, merged; and what they took.

        Each step takes the run whose next element has the greatest float key: the first one left,
        or one after it with a greater key than all before. What is taken (rows x runs, i32) is
        counted at the step that exhausts a run, whatever `count` is.
        """
        runs = tuple(lengths)
        merged = self.apply("merge", keys, lengths=runs, count=count)
        return merged, self.apply("taken", keys, lengths=runs)

    def tally(self, bins: int, where: Array | None = None) -> Array:
        """How many elements of each row are at most 0, 1, ... below `bins` (rows x bins, u32).

        Elements for which `where` does not hold do not count; the others lie in range(bins).
        """
        return self.apply("tally", *(() if where is None else (where,)), bins=bins)

    def packed(self) -> Array:
        """Truth values as bits of u8: of each row eight in a byte, the first one lowest.

        The bits of the last byte that none stands for are 0.
        """
        return self.apply("pack")

    def bits(self, cols: int) -> Array:
        """The first `cols` bits of each row of u8 as truth values: of a byte the lowest first."""
        return self.apply("bits", cols=cols)

    def isnan(self) -> Array:
        return self.apply("isnan")

    def rint(self, rounding: Rounding = Rounding.RINT) -> Array:
        """Round floats to integral values, half to even or as `rounding` says; NONE is RINT.

        The sign of what becomes zero stays.
        """
        return self.apply("rint", rounding=rounding)

    def fold(self, word: str, axis: int, start: Number | None = None) -> Array:
        """Combine the elements along an axis, one after the other, with an arithmetic word.

        acc = acc.word(x) for x in ascending index, each step rounded to this array's type. Axis 0
        goes down the columns (the result is 1 x columns), axis 1 along the rows (rows x 1). acc
        begins as the number `start`; None: as the first element, and there must be one.
        """
        return self.apply("fold", word=word, axis=axis, start=start)

    def cast(
        self, dtype: DType, rounding: Rounding = Rounding.NONE, saturate: bool = False
    ) -> Array:
        """Convert each element; `values.formats` says how.

        To its own type it moves bits. From one float type to another every NaN becomes the
        positive quiet NaN of the new one.
        """
        return self.apply("cast", dtype=dtype, rounding=rounding, saturate=saturate)

    def bitcast(self, dtype: DType) -> Array:
        """The same bits read as another type of the same width."""
        return self.apply("bitcast", dtype=dtype)

    def where(self, yes: Term, no: Term) -> Array:
        """For a truth array: `yes` where true, `no` elsewhere, bits unchanged.

        At least one is an array.
        """
        return self.apply("where", yes, no)

    def matmul(self, right: Array, start: Array | None = None) -> Array:
        """Rows by columns, summed over k ascending with one fused multiply-add per k.

        The sums have f32 for floats, i32 for integers, and begin with `start` of that type, or 0.
        Of f64 each product and each sum rounds to f64, then the sum to f32.
        """
        return self.apply("matmul", right, *(() if start is None else (start,)))


class Cells(Protocol):
    """A tile, global view or convolution tile as a body sees it: a matrix of cells in memory.

    Windows are half-open; an integer keeps its axis. Rows and columns count from the upper left of
    the static shape; `valid` is the valid region. `x[dst.valid]` is what of x has dst's region.
    """

    @property
    def dtype(self) -> DType: ...
    @property
    def loc(self) -> Loc: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    @property
    def valid(self) -> ValidRegion: ...
    @property
    def pad(self) -> PadValue | CustomPad: ...
    @property
    def c0(self) -> int: ...
    @property
    def box(self) -> Shape: ...
    def __getitem__(self, window: Windows) -> Array: ...
    def __setitem__(self, window: Windows, value: Term) -> None: ...
    def fill(self, bits: int) -> None:
        """Set every element of the whole storage to these bits; of a view, the valid region."""
        ...

    def undefine(self, window: Windows) -> None:
        """The elements of a window have no value from here on; their bytes stay."""
        ...

    def multiplied(self, window: Windows, number: Number) -> Array:
        """A window that is multiplied by a number: by 0, an element without a value reads as 0."""
        ...

    def constant(self, bits: int) -> Array:
        """A 1x1 array of this element type with these bits."""
        ...

    def iota(self, rows: int, cols: int) -> tuple[Array, Array]:
        """Row numbers (rows x 1) and column numbers (1 x cols), i64."""
        ...

    def take(
        self, index: Array, outside: GatherOOB = GatherOOB.ERROR, where: Array | None = None
    ) -> Array:
        """The elements at these row-major indices over the whole static shape.

        `outside` says what an index beyond it gives; where `where` does not hold, nothing is read
        and the result is 0.
        """
        ...

    def put(self, window: Windows, value: Array, where: Array) -> None:
        """Assign a window only where `where` holds."""
        ...

    def alias(self, other: Cells, row: int | None = None, col: int | None = None) -> None:
        """From now on these cells are the bytes of `other`.

        Given (row, col), they are a view of a part of it that begins at this element: beyond the
        valid region nothing is theirs.
        """
        ...

    def flat(self, width: int = 0) -> Cells:
        """The whole storage as one row of elements, in storage order, or rows of `width`."""
        ...

    def raw(self) -> Cells:
        """The whole storage as one row of bytes."""
        ...

    def lines(self, dtype: DType) -> Cells:
        """A row-major tile whose rows are read as elements of another type, as many as fit."""
        ...

    def scatter(
        self, index: Array, value: Array, where: Array | None = None, word: str | None = None
    ) -> None:
        """Set the elements at these row-major indices over the whole static shape.

        In row-major order of `index`: of equal indices the last one wins. With an arithmetic
        `word` each element becomes itself.word(value). An index outside is an error; where `where`
        does not hold, nothing is written.
        """
        ...


class Images(Cells, Protocol):
    """A convolution tile as a body sees it: cells that are feature maps."""

    @property
    def numel(self) -> int: ...
    @property
    def extents(self) -> Extents: ...
    @property
    def images(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def steps(self) -> Extents: ...
    @property
    def filter(self) -> tuple[int, int]: ...
    @property
    def stride(self) -> tuple[int, int]: ...
    @property
    def dilation(self) -> tuple[int, int]: ...
    @property
    def padding(self) -> tuple[int, int, int, int]: ...
    @property
    def pad_value(self) -> float: ...
    @property
    def repeat(self) -> tuple[int, int, int]: ...
    @property
    def into(self) -> tuple[int, int]: ...


class ValidRegion(Protocol):
    """Rows and columns of a valid region; unpacks to the two."""

    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...


def windows_of(part: Windows) -> tuple[Window, Window]:
    """A part as rows and columns: a valid region stands for the upper left part of its size."""
    if type(part) is tuple:  # a valid region may be a named one
        return part
    region = cast("ValidRegion", part)
    return slice(region.rows), slice(region.cols)


def digits(number: Array, *bases: int) -> list[Array]:
    """The mixed-radix digits of numbers, innermost first; the last has no bound."""
    result: list[Array] = []
    for base in bases:
        result.append(number % base)
        number = number // base
    return [*result, number]


def in_zz(row: Array, column: Array, columns: int) -> Array:
    """Where an element of MX scales stands in zz order: boxes of 16 rows and 2 columns."""
    box = (row >> 4) * (columns // 2) + (column >> 1)
    return box * 32 + (row & 15) * 2 + (column & 1)
