"""The array vocabulary: the operations with which a body computes on data.

A body reads windows of its operands as `Array` values, computes with them and assigns windows of
its outputs. Two engines implement the operations: the reference on NumPy arrays, the native one by
recording expressions. An array never changes after it is made, so overlapping operands are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, cast

from ptokit.values.dtypes import DType, NumberKind
from ptokit.values.enumerations import GatherOOB, Loc, PadValue, Rounding
from ptokit.values.layouts import Extents, Layout, Shape, known
from ptokit.values.pads import CustomPad

# The element type of comparisons and of the condition of `where`.
BOOL = DType("i1", 8, NumberKind.UINT, "bool")
# operations whose elements depend on elements at other positions; all others are elementwise
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
    Arithmetic rounds to the element type after each operation; integers wrap. A NaN that arithmetic
    produces (`+ - * /`, `remainder`, `sqrt`, `rint`, `matmul`, `fold` over them) is the positive
    quiet NaN of its type, whatever the operands are. Selections, such as `maximum` and `where`,
    move bits. f64 converts to and from f32, and to narrower floats, half to even.
    """

    dtype: DType

    # no abstract methods: of such classes `isinstance` is slow, and the compiler asks it often

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        raise NotImplementedError

    def apply(self, word: str, /, *others: Term, **parameters: object) -> Array:
        """Return the result of one operation of the vocabulary, as the engine implements it."""
        raise NotImplementedError

    def __add__(self, other: Term) -> Array:
        return self.apply("add", other)

    def __sub__(self, other: Term) -> Array:
        return self.apply("sub", other)

    def __mul__(self, other: Term) -> Array:
        return self.apply("mul", other)

    def __truediv__(self, other: Term) -> Array:
        """Return the rounded quotient of floats; of integers truncated, and 0 for divisor 0."""
        return self.apply("div", other)

    def number(self, value: Number) -> Array:
        """Return a number as a 1x1 array of this array's type."""
        return self.apply("number", value)

    def __rtruediv__(self, other: Number) -> Array:
        return self.number(other) / self

    def __rsub__(self, other: Number) -> Array:
        return self.number(other) - self

    def remainder(self, other: Term) -> Array:
        """Return the exact remainder of truncated division, with the sign of self.

        The remainder of integers by 0 is 0.
        """
        return self.apply("rem", other)

    def sqrt(self) -> Array:
        """Return the square root of floats, correctly rounded."""
        return self.apply("sqrt")

    def __and__(self, other: Term) -> Array:
        return self.apply("and", other)

    def __or__(self, other: Term) -> Array:
        return self.apply("or", other)

    def __xor__(self, other: Term) -> Array:
        return self.apply("xor", other)

    def __rshift__(self, other: Term) -> Array:
        """Shift right: arithmetically for signed types, logically for unsigned ones.

        A shift by the width or more, or by less than 0, gives 0, or -1 where self < 0.
        """
        return self.apply("shr", other)

    def __lshift__(self, other: Term) -> Array:
        """Shift left; a shift by the width or more, or by less than 0, gives 0."""
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
        """Raise AssertionError: `==` would compare identities; `equals` compares elements."""
        raise AssertionError("elements are compared by `equals`")

    __hash__ = object.__hash__

    def equals(self, other: Term) -> Array:
        return self.apply("eq", other)

    def maximum(self, other: Term) -> Array:
        """Return `other` where self < other, else self: for NaN and equal values, self.

        The bits of the selected element do not change.
        """
        return self.apply("max", other)

    def minimum(self, other: Term) -> Array:
        """Return `other` where other < self, else self; the selected bits do not change."""
        return self.apply("min", other)

    def clamp(self, low: Term, high: Term) -> Array:
        return self.maximum(low).minimum(high)

    def __mod__(self, other: Term) -> Array:
        """Return the remainder of integers, with the sign of the divisor."""
        return self.apply("mod", other)

    def __floordiv__(self, other: Term) -> Array:
        """Return the quotient of integers, rounded down."""
        return self.apply("floordiv", other)

    @property
    def T(self) -> Array:
        """The transpose."""
        return self.apply("transpose")

    def reshaped(self, rows: int, cols: int) -> Array:
        """Return the same elements, in row-major order, in another shape."""
        return self.apply("reshape", rows=rows, cols=cols)

    def __getitem__(self, window: tuple[slice, slice]) -> Array:
        """Return the elements of half-open windows with steps, inside and of known size."""
        rows, cols = window
        return self.apply("window", rows=rows, cols=cols)

    def padded(self, count: int, axis: int, value: Number) -> Array:
        """Append `value` up to `count` rows (axis 0) or columns (axis 1)."""
        extents = [*self.shape]
        if known(extents[axis], count):
            return self
        extents[axis] = count
        return self.apply("pad", self.number(value), rows=extents[0], cols=extents[1])

    def repeated(self, count: int) -> Array:
        """Repeat each column `count` times."""
        return self.apply("repeat", count=count)

    def compacted(self, keep: Array) -> tuple[Array, Array]:
        """Move the elements of each row where `keep` holds to the left; also return counts.

        The counts are R x 1, i32. Elements to the right of the count are undefined.
        """
        return self.apply("compact", keep), keep.apply("count")

    def join_columns(self, *others: Array) -> Array:
        """Return the columns of this array followed by the columns of `others`."""
        return self.apply("join_columns", *others)

    def sorted_by(self, keys: Array, block: int) -> Array:
        """Sort each row in ascending order of unsigned `keys`, in blocks of `block` columns.

        Equal keys keep their order; the last block may be shorter.
        """
        return self.apply("sort", keys, block=block)

    def merged(self, keys: Array, lengths: Sequence[int], count: int) -> tuple[Array, Array]:
        """Merge the runs of each row; return `count` elements, and how many each run gave.

        Runs have these `lengths`. Each step takes the run whose next element has the greatest float
        key: the first run that is left, or a later one with a greater key than all before. The
        second result (rows x runs, i32) counts the elements taken up to the step that exhausts a
        run, whatever `count` is.
        """
        runs = tuple(lengths)
        merged = self.apply("merge", keys, lengths=runs, count=count)
        return merged, self.apply("taken", keys, lengths=runs)

    def tally(self, bins: int, where: Array | None = None) -> Array:
        """Count the elements of each row that are at most 0, 1, ... `bins` - 1 (rows x bins, u32).

        Elements for which `where` does not hold are not counted; all others lie in range(bins).
        """
        return self.apply("tally", *(() if where is None else (where,)), bins=bins)

    def packed(self) -> Array:
        """Return truth values as bits of u8: eight elements of a row per byte, the first lowest.

        Unused bits of the last byte are 0.
        """
        return self.apply("pack")

    def bits(self, cols: int) -> Array:
        """Return the first `cols` bits of each row of u8 as truth values, the lowest first."""
        return self.apply("bits", cols=cols)

    def isnan(self) -> Array:
        return self.apply("isnan")

    def rint(self, rounding: Rounding = Rounding.RINT) -> Array:
        """Round floats to integral values, half to even or as `rounding` says; NONE is RINT.

        A value that rounds to zero keeps its sign.
        """
        return self.apply("rint", rounding=rounding)

    def fold(self, word: str, axis: int, start: Number | None = None) -> Array:
        """Combine the elements along an axis, one after the other, with an arithmetic `word`.

        acc = acc.word(x) for x in ascending index, each step rounded to this array's type. Axis 0
        goes down the columns (the result is 1 x columns), axis 1 along the rows (rows x 1). acc
        starts with the number `start`, or with the first element if `start` is None; then there
        must be one.
        """
        return self.apply("fold", word=word, axis=axis, start=start)

    def cast(
        self, dtype: DType, rounding: Rounding = Rounding.NONE, saturate: bool = False
    ) -> Array:
        """Convert each element as `values.formats` defines.

        A cast to the array's own type moves bits. From one float type to another every NaN becomes
        the positive quiet NaN of the new type.
        """
        return self.apply("cast", dtype=dtype, rounding=rounding, saturate=saturate)

    def bitcast(self, dtype: DType) -> Array:
        """Return the same bits as elements of another type of the same width."""
        return self.apply("bitcast", dtype=dtype)

    def where(self, yes: Term, no: Term) -> Array:
        """Select `yes` where this truth array is true, `no` elsewhere; bits do not change.

        At least one of the two is an array.
        """
        return self.apply("where", yes, no)

    def matmul(self, right: Array, start: Array | None = None) -> Array:
        """Multiply matrices: sum over ascending k with one fused multiply-add per k.

        The sums are f32 for floats and i32 for integers, and start with `start` of that type, or 0.
        For f64 each product and each sum rounds to f64, and the last sum rounds to f32.
        """
        return self.apply("matmul", right, *(() if start is None else (start,)))


class Cells(Protocol):
    """A tile, global view or convolution tile in a body: a matrix of cells in memory.

    Windows are half-open; an integer keeps its axis. Rows and columns count from the upper left of
    the static shape; `valid` is the valid region. `x[dst.valid]` has the rows and columns of x that
    lie in dst's valid region.
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
        """Make the elements of a window undefined; their bytes stay."""
        ...

    def multiplied(self, window: Windows, number: Number) -> Array:
        """Return a window times a number; times 0, an undefined element gives 0."""
        ...

    def constant(self, bits: int) -> Array:
        """Return a 1x1 array of this element type with these bits."""
        ...

    def iota(self, rows: int, cols: int) -> tuple[Array, Array]:
        """Return row numbers (rows x 1) and column numbers (1 x cols), i64."""
        ...

    def take(
        self, index: Array, outside: GatherOOB = GatherOOB.ERROR, where: Array | None = None
    ) -> Array:
        """Return the elements at row-major indices over the static shape.

        `outside` is the policy for an index beyond the shape; where `where` does not hold, nothing
        is read and the result is 0.
        """
        ...

    def put(self, window: Windows, value: Array, where: Array) -> None:
        """Assign a window only where `where` holds."""
        ...

    def alias(self, other: Cells, row: int | None = None, col: int | None = None) -> None:
        """Make these cells the bytes of `other` from now on.

        With (row, col), the cells are the part of `other` that begins at this element, and end at
        its valid region.
        """
        ...

    def flat(self, width: int = 0) -> Cells:
        """Return the whole storage as one row in storage order, or as rows of `width`."""
        ...

    def raw(self) -> Cells:
        """Return the whole storage as one row of bytes."""
        ...

    def lines(self, dtype: DType) -> Cells:
        """Return a row-major tile whose rows hold as many elements of another type as fit."""
        ...

    def scatter(
        self, index: Array, value: Array, where: Array | None = None, word: str | None = None
    ) -> None:
        """Set the elements at row-major indices over the static shape.

        Elements are set in row-major order of `index`: of equal indices the last one wins. With an
        arithmetic operation `word` each element becomes itself.word(value). An index outside is an
        error; where `where` does not hold, nothing is written.
        """
        ...


class Images(Cells, Protocol):
    """A convolution tile in a body: cells that are feature maps."""

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
    """The rows and columns of a valid region; unpacks to the two."""

    @property
    def rows(self) -> int: ...
    @property
    def cols(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...


def windows_of(part: Windows) -> tuple[Window, Window]:
    """Return the row and column windows of a part; a valid region means the upper left part."""
    if type(part) is tuple:  # a valid region may be a named one
        return part
    region = cast("ValidRegion", part)
    return slice(region.rows), slice(region.cols)


def digits(number: Array, *bases: int) -> list[Array]:
    """Return the mixed-radix digits of numbers, innermost first; the last has no bound."""
    result: list[Array] = []
    for base in bases:
        result.append(number % base)
        number = number // base
    return [*result, number]


def in_zz(row: Array, column: Array, columns: int) -> Array:
    """Return the position of an MX scale in zz order: boxes of 16 rows and 2 columns."""
    box = (row >> 4) * (columns // 2) + (column >> 1)
    return box * 32 + (row & 15) * 2 + (column & 1)
