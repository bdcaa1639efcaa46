"""Views of global memory: extents, strides, layout, and the matrix that they are."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from math import prod
from typing import NamedTuple, TypeAlias

from ptokit.isa.formula.formulas import Const, Field, Many, Static
from ptokit.isa.formula.rules import COMPILED, Rule, both, either, named, rules_of, when
from ptokit.isa.formula.rules import by as refused_by
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.values.dtypes import DType
from ptokit.values.layouts import IndexMap, Shape, axis, known, times


class Steps(NamedTuple):
    """Strides of a view in elements, each by the extent it belongs to."""

    n0: int | None
    n1: int | None
    n2: int | None
    n3: int | None
    n4: int | None


@dataclass(frozen=True)
class GlobalType:
    """A view of global memory: extents and strides in elements, up to five of them.

    None stands for an extent or stride that is known only when the program runs. Shorter ranks are
    right-aligned to five. `stated` is the layout the program gives, None if it does not.
    """

    dtype: DType
    shape: tuple[int | None, ...]
    stride: tuple[int | None, ...] | None = None
    stated: GlobalLayout | None = None
    partition: bool = False
    written: str = field(default="", compare=False)  # as of tiles

    def __str__(self) -> str:
        dims = "x".join("?" if n is None else str(n) for n in self.shape)
        return f"global {self.dtype} {dims}{f' {self.stated}' if self.stated else ''}"

    @property
    def size(self) -> int:
        return self.dtype.size

    @property
    def is_tile(self) -> bool:
        """For formulas about entries of pipes, which are tiles or views."""
        return False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def extents(self) -> Many:
        """The extents, for formulas."""
        return Many(self.shape)

    @property
    def static_extents(self) -> Static:
        """The extents, for formulas that ask whether they agree with a list: ? always does."""
        return Static(self.shape)

    @property
    def static_strides(self) -> Static:
        """The strides, as `static_extents`."""
        return Static(self.stride or ())

    @property
    def count(self) -> int | None:
        """How many elements it has; None where not known."""
        return times(*self.shape)

    @property
    def reach(self) -> int | None:
        """Elements from the first one to behind the last one; None where not known."""
        stride = self.stride or ()
        if None in (*self.shape, *stride) or len(stride) != len(self.shape):
            return None
        steps = zip(self.shape, stride, strict=True)
        return 1 + sum((n - 1) * s for n, s in steps)  # type: ignore[operator]

    @property
    def begins(self) -> bool:
        """Whether its first element is that of the array: older text says of others `offset`."""
        return "offset:" not in self.written

    @property
    def filled(self) -> bool:
        """Whether no extent that is known is empty."""
        return all(n is None or n > 0 for n in self.shape)

    @property
    def fixed(self) -> bool:
        """Whether every extent is known."""
        return None not in self.shape

    @property
    def flat(self) -> bool:
        """Whether it is one line of memory whose length is known, for all that is known of it."""
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
        """The extent along which parts follow one another: rows, or elements of one dimension."""
        return self.n4 if self.rank == 1 else self.n3

    @property
    def across(self) -> int | None:
        """The last extent, beside that: 1 where there is one dimension."""
        return 1 if self.rank == 1 else self.n4

    @property
    def outer(self) -> int | None:
        """The product of the three outer extents."""
        return times(*five(self.shape)[:3])

    @property
    def single_outer(self) -> bool | None:
        """Whether at most one of the three outer extents is more than 1."""
        outer = five(self.shape)[:3]
        return None if None in outer else outer.count(1) >= 2

    @property
    def buffer(self) -> bool:
        """Whether text spells it as a memref: of those, assemblers compare no extents."""
        return self.written.startswith("memref")

    @property
    def named_layout(self) -> bool:
        """Whether the program gives its layout."""
        return self.stated is not None

    @property
    def layout(self) -> GlobalLayout | None:
        """The stated layout, or the one the strides imply; None: unknown, or more than one."""
        if self.stated is not None or not self.stride:
            return self.stated
        (n3, n4), strides = five(self.shape)[-2:], self.stride
        m3, m4 = (None, *strides)[-2:]
        if self.made_of_boxes:
            return None if self.outer == 1 else GlobalLayout.NZ  # one box lies as nd lies
        row_major, col_major = known(n4, 1) or known(m4, 1), known(n3, 1) or known(m3, 1)
        if None in (n3, n4, m4) or (row_major and col_major):
            return None
        return GlobalLayout.DN if col_major else GlobalLayout.ND

    @property
    def made_of_boxes(self) -> bool:
        """Whether its numbers are those of one matrix of boxes of 16 lines, without gaps."""
        if self.rank != 5 or self.stride is None or self.shape[0] != 1:
            return False
        wanted, dense = (16, 32 // self.dtype.size), list[int | None]((1,))
        for extent in self.shape[:0:-1]:
            dense.insert(0, times(extent, dense[0]))
        return self.shape[3:] == wanted and None not in dense and tuple(dense) == self.stride

    @property
    def in_each_layout(self) -> tuple[GlobalType, ...]:
        """Itself in each layout that its numbers imply, where they imply more than one."""
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
        """Whether the program states that it is made of boxes."""
        return self.stated is GlobalLayout.NZ

    @property
    def steps(self) -> Steps:
        """The strides of the last four extents; None where not known."""
        return Steps(*(*(None,) * 5, *(self.stride or ()))[-5:])

    @property
    def of_scales(self) -> bool:
        """Whether the stated layout is one of scale factors."""
        return self.stated is not None and self.stated.name.startswith("MX")

    @property
    def _open(self) -> bool:
        """Whether the layout is implied by numbers of which some are not known yet."""
        known = self.stride is not None and None not in (self.n3, self.n4, *self.stride[-2:])
        return self.stated is None and self.layout is None and not known

    @property
    def matrix(self) -> Shape:
        """Rows and columns of the logical matrix; None where not known."""
        if self._open and self.outer != 1:
            return Shape(None, None)
        rows, cols = axes_of(self.layout, self.rank)
        extents = five(self.shape)
        return Shape(times(*(extents[i] for i in rows)), times(*(extents[i] for i in cols)))


@dataclass(frozen=True)
class _LaidOut(GlobalType):
    """A view in one of the layouts that its numbers imply."""

    implied: GlobalLayout = GlobalLayout.ND

    @property
    def layout(self) -> GlobalLayout:
        return self.implied


def _view_rules() -> tuple[Rule, ...]:
    v = Field("view")
    # the accumulator stores numbers of 32 bits in blocks of 16, too
    lines = either(
        v.dtype.bits < 8, v.n4 * v.dtype.bits == 256, both(v.dtype.bits == 32, v.n4 == 16)
    )
    extents = named("layout", v.rank == 5, v.n3 == 16, lines, help=BOXES)
    steps = (v.steps.n2 == v.n4 * 16, v.steps.n3 == v.n4, v.steps.n4 == 1)
    bits = v.dtype.bits
    on_lines = both(v.steps.n1 * bits % 256 == 0, v.steps.n0 * bits % 256 == 0)
    enough = (  # one box or one batch takes no step
        either(v.n1 <= 1, v.steps.n1 >= v.n2 * v.steps.n2),
        either(v.n0 <= 1, v.steps.n0 >= v.n1 * v.steps.n1),
    )
    apart = named("layout", *enough, on_lines, help=BOXES)
    boxes = (*extents, *named("layout", *steps, help=BOXES), *apart)
    return when(v.boxed == Const(True), refused_by(COMPILED, *boxes))


BOXES = "nz has extents N, columns / C0, rows / 16, 16, C0, and boxes of 16 x C0 one after another"
VIEW_RULES = tuple(rules_of(_view_rules()))

# which of the five extents make up the rows of the logical matrix, and which the columns
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
    """The extents of the rows and of the columns."""
    if rank > 5:
        return tuple(range(rank - 1)), (rank - 1,)
    return MATRIX_AXES.get(layout or GlobalLayout.ND, ((0, 1, 2, 3), (4,)))


def five(extents: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Right-align extents to rank five."""
    return (1,) * (5 - len(extents)) + extents


def global_map(
    layout: GlobalLayout | None, shape: tuple[int, ...], stride: tuple[int, ...]
) -> IndexMap:
    """The logical matrix of a global tensor as an index map."""
    digits = list(zip(shape, stride, strict=True))
    while len(digits) < 5:
        digits.insert(0, (1, digits[0][0] * digits[0][1] if digits else 1))
    rows, cols = axes_of(layout, len(shape))
    return IndexMap(axis(*(digits[i] for i in rows)), axis(*(digits[i] for i in cols)))


DataType: TypeAlias = "TileType | GlobalType | ConvTileType"


OPEN = 1 << 20  # what an extent is taken for that nobody gives


def widened(kind: GlobalType) -> GlobalType:
    """A view with all extents and strides: what is open is as large as no kernel has it."""
    shape = tuple(OPEN if n is None else n for n in kind.shape)
    dense = tuple(prod(shape[n + 1 :]) for n in range(len(shape)))
    steps = zip(kind.stride or dense, dense, strict=True)
    return replace(kind, shape=shape, stride=tuple(d if s is None else s for s, d in steps))
