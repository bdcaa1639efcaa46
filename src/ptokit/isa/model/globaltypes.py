"""Views of global memory: extents, strides, layout, and the logical matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeAlias

from ptokit.isa.formula.formulas import Const, Field, Many, Static
from ptokit.isa.formula.rules import COMPILED, Rules, both, either, named, rules_of, when
from ptokit.isa.formula.rules import by as refused_by
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.values.dtypes import DType
from ptokit.values.layouts import IndexMap, Shape, axis, known, times


class Steps(NamedTuple):
    """Strides of a view in elements, named by the extent to which each belongs."""

    n0: int | None
    n1: int | None
    n2: int | None
    n3: int | None
    n4: int | None


@dataclass(frozen=True)
class GlobalType:
    """A view of global memory: extents and strides in elements, up to five of them.

    None stands for an extent or stride that is known at run time only. Shorter ranks are
    right-aligned to five. `stated` is the layout that the program gives, or None.
    """

    dtype: DType
    shape: tuple[int | None, ...]
    stride: tuple[int | None, ...] | None = None
    stated: GlobalLayout | None = None
    partition: bool = False
    written: str = field(default="", compare=False)  # the spelling of older text, a memref

    def __str__(self) -> str:
        dims = "x".join("?" if n is None else str(n) for n in self.shape)
        return f"global {self.dtype} {dims}{f' {self.stated}' if self.stated else ''}"

    @property
    def size(self) -> int:
        return self.dtype.size

    @property
    def is_tile(self) -> bool:
        """False, for formulas about FIFO entries, which are tiles or views."""
        return False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @cached_property
    def extents(self) -> Many:
        """The extents, for formulas."""
        return Many(self.shape)

    @cached_property
    def static_extents(self) -> Static:
        """The extents for formulas that compare them with a list: an unknown extent is equal."""
        return Static(self.shape)

    @property
    def static_strides(self) -> Static:
        """The strides, for comparisons as with `static_extents`."""
        return Static(self.stride or ())

    @property
    def count(self) -> int | None:
        """The number of elements, or None if unknown."""
        return times(*self.shape)

    @property
    def reach(self) -> int | None:
        """Elements from the first element to the end of the last one, or None if unknown."""
        stride = self.stride or ()
        if None in (*self.shape, *stride) or len(stride) != len(self.shape):
            return None
        steps = zip(self.shape, stride, strict=True)
        return 1 + sum((n - 1) * s for n, s in steps)  # type: ignore[operator]  # none is None

    @property
    def begins(self) -> bool:
        """True if it starts at the start of its array; older text gives others an `offset`."""
        return "offset:" not in self.written

    @property
    def filled(self) -> bool:
        """True if no known extent is 0."""
        return all(n is None or n > 0 for n in self.shape)

    @property
    def fixed(self) -> bool:
        """True if every extent is known."""
        return None not in self.shape

    @property
    def flat(self) -> bool:
        """True if it may be one contiguous line of known length."""
        step = self.stride[-1] if self.stride else 1
        return self.fixed and all(n == 1 for n in self.shape[:-1]) and step in (1, None)

    @property
    def n0(self) -> int | None:
        return five(self.shape)[0]

    @property
    def n1(self) -> int | None:
        return five(self.shape)[1]

    @property
    def n2(self) -> int | None:
        return five(self.shape)[2]

    @property
    def n3(self) -> int | None:
        return five(self.shape)[3]

    @property
    def n4(self) -> int | None:
        return five(self.shape)[4]

    @property
    def along(self) -> int | None:
        """The extent of the axis that is cut into parts: rows, or elements if the rank is 1."""
        return self.n4 if self.rank == 1 else self.n3

    @property
    def across(self) -> int | None:
        """The extent beside `along`: the last one, or 1 if the rank is 1."""
        return 1 if self.rank == 1 else self.n4

    @property
    def outer(self) -> int | None:
        """The product of the three outer extents."""
        return times(*five(self.shape)[:3])

    @property
    def single_outer(self) -> bool | None:
        """True if at most one of the three outer extents is more than 1; None if unknown."""
        outer = five(self.shape)[:3]
        return None if None in outer else outer.count(1) >= 2

    @property
    def buffer(self) -> bool:
        """True if text spells it as a memref, whose extents assemblers do not compare."""
        return self.written.startswith("memref")

    @property
    def named_layout(self) -> bool:
        """True if the program states the layout."""
        return self.stated is not None

    @cached_property
    def layout(self) -> GlobalLayout | None:
        """The stated layout, or the layout that the strides imply; None: unknown or ambiguous."""
        if self.stated is not None or not self.stride:
            return self.stated
        (n3, n4), strides = five(self.shape)[-2:], self.stride
        m3, m4 = (None, *strides)[-2:]
        if self.made_of_boxes:
            return None if self.outer == 1 else GlobalLayout.NZ  # one box is nd as well
        row_major, col_major = known(n4, 1) or known(m4, 1), known(n3, 1) or known(m3, 1)
        if None in (n3, n4, m4) or (row_major and col_major):
            return None
        return GlobalLayout.DN if col_major else GlobalLayout.ND

    @property
    def made_of_boxes(self) -> bool:
        """True if extents and strides are those of a dense matrix of boxes of 16 lines."""
        if self.rank != 5 or self.stride is None or self.shape[0] != 1:
            return False
        wanted, dense = (16, 32 // self.dtype.size), list[int | None]((1,))
        for extent in self.shape[:0:-1]:
            dense.insert(0, times(extent, dense[0]))
        return self.shape[3:] == wanted and None not in dense and tuple(dense) == self.stride

    @cached_property
    def in_each_layout(self) -> tuple[GlobalType, ...]:
        """The view in each layout that its numbers imply, if they imply more than one."""
        if self.stated is not None or self.layout is not None or self._open or self.stride is None:
            return ()
        one_line = 1 in (self.n3, self.n4) or self.steps.n3 == 1
        other = GlobalLayout.DN if one_line else GlobalLayout.NZ
        return tuple(self.laid_out(layout) for layout in (GlobalLayout.ND, other))

    def laid_out(self, layout: GlobalLayout) -> GlobalType:
        """Return the same view in a layout that the program does not state."""
        given = {f.name: getattr(self, f.name) for f in fields(GlobalType) if f.name != "stated"}
        return _LaidOut(**given, implied=layout)

    @property
    def boxed(self) -> bool:
        """True if the program states the layout nz."""
        return self.stated is GlobalLayout.NZ

    @property
    def steps(self) -> Steps:
        """The strides of the last five extents; None if unknown."""
        return Steps(*(*(None,) * 5, *(self.stride or ()))[-5:])

    @property
    def of_scales(self) -> bool:
        """True if the stated layout is one of scale factors."""
        return self.stated is not None and self.stated.name.startswith("MX")

    @property
    def _open(self) -> bool:
        """True if the layout follows from extents and strides that are not all known."""
        known = self.stride is not None and None not in (self.n3, self.n4, *self.stride[-2:])
        return self.stated is None and self.layout is None and not known

    @property
    def matrix(self) -> Shape:
        """Rows and columns of the logical matrix; None if unknown."""
        if self._open and self.outer != 1:
            return Shape(None, None)
        rows, cols = axes_of(self.layout, self.rank)
        extents = five(self.shape)
        return Shape(times(*(extents[i] for i in rows)), times(*(extents[i] for i in cols)))


@dataclass(frozen=True)
class _LaidOut(GlobalType):
    """A view in one of the layouts that its extents and strides imply."""

    implied: GlobalLayout = GlobalLayout.ND

    @cached_property
    def layout(self) -> GlobalLayout:
        return self.implied


def _view_rules() -> Rules:
    v = Field("view")
    # the accumulator stores 32-bit elements in blocks of 16, too
    lines = either(
        v.dtype.bits < 8, v.n4 * v.dtype.bits == 256, both(v.dtype.bits == 32, v.n4 == 16)
    )
    extents = named("layout", v.rank == 5, v.n3 == 16, lines, help=BOXES)
    steps = (v.steps.n2 == v.n4 * 16, v.steps.n3 == v.n4, v.steps.n4 == 1)
    bits = v.dtype.bits
    on_lines = both(v.steps.n1 * bits % 256 == 0, v.steps.n0 * bits % 256 == 0)
    enough = (  # a single box or batch has no step
        either(v.n1 <= 1, v.steps.n1 >= v.n2 * v.steps.n2),
        either(v.n0 <= 1, v.steps.n0 >= v.n1 * v.steps.n1),
    )
    apart = named("layout", *enough, on_lines, help=BOXES)
    boxes = extents, named("layout", *steps, help=BOXES), apart
    return when(v.boxed == Const(True), refused_by(COMPILED, boxes))


BOXES = "nz has extents N, columns / C0, rows / 16, 16, C0, and boxes of 16 x C0 one after another"
VIEW_RULES = tuple(rules_of(_view_rules()))

# the extents that form the rows of the logical matrix, and those that form the columns
MATRIX_AXES: dict[GlobalLayout, tuple[tuple[int, ...], tuple[int, ...]]] = {
    GlobalLayout.DN: ((3,), (0, 1, 2, 4)),
    GlobalLayout.NZ: ((2, 3), (0, 1, 4)),
    GlobalLayout.MX_A_ZZ: ((0, 1, 3), (2, 4)),
    GlobalLayout.MX_A_ND: ((2,), (3, 4)),
    GlobalLayout.MX_A_DN: ((3,), (2, 4)),
    GlobalLayout.MX_B_NN: ((2, 4), (0, 1, 3)),
    GlobalLayout.MX_B_ND: ((2, 4), (3,)),
    GlobalLayout.MX_B_DN: ((3, 4), (2,)),
}


def axes_of(layout: GlobalLayout | None, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of the extents that form the rows, and the columns, of the matrix."""
    if rank > 5:
        return tuple(range(rank - 1)), (rank - 1,)
    return MATRIX_AXES.get(layout or GlobalLayout.ND, ((0, 1, 2, 3), (4,)))


def five(extents: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Right-align extents to rank five."""
    return (1,) * (5 - len(extents)) + extents


def global_map(
    layout: GlobalLayout | None, shape: tuple[int, ...], stride: tuple[int, ...]
) -> IndexMap:
    """Return the index map of the logical matrix of a global tensor."""
    digits = list(zip(shape, stride, strict=True))
    while len(digits) < 5:
        digits.insert(0, (1, digits[0][0] * digits[0][1] if digits else 1))
    rows, cols = axes_of(layout, len(shape))
    return IndexMap(axis(*(digits[i] for i in rows)), axis(*(digits[i] for i in cols)))


DataType: TypeAlias = "TileType | GlobalType | ConvTileType"


OPEN = 1 << 20  # the value that is assumed for an unknown extent


def widened(kind: GlobalType) -> GlobalType:
    """Return the view with all extents and strides known: an unknown extent becomes OPEN."""
    shape = tuple(OPEN if n is None else n for n in kind.shape)
    dense = tuple(prod(shape[n + 1 :]) for n in range(len(shape)))
    steps = zip(kind.stride or dense, dense, strict=True)
    return replace(kind, shape=shape, stride=tuple(d if s is None else s for s, d in steps))
