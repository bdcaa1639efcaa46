"""Products: factors packed as the product kernel reads them, and the call of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ptokit.engines.kernels import boxedproduct, matmul
from ptokit.engines.kernels.functionbase import FunctionBase, bound
from ptokit.engines.kernels.overlap import MUST_ALIAS
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Num, text
from ptokit.machine.record.expressions import (
    Apply,
    Traced,
    Whole,
    WindowRead,
    WindowStore,
    spans,
)
from ptokit.machine.record.trace import num
from ptokit.values import dtypes as t
from ptokit.values.arrays import Array
from ptokit.values.dtypes import DType
from ptokit.values.layouts import known

SHORT, LOWEST_BIT = 12, 149  # significant bits; of f32 the last bit is 2 ** -149
FEW = 4  # products with fewer rows have a function of their own


def cast_to(x: Array, dtype: DType) -> Traced:
    """Return a recorded conversion."""
    found = x.cast(dtype)
    assert isinstance(found, Traced)
    return found


def _few(rows: Num) -> int:
    """Return the rows of a product with a function for small row counts, else 0."""
    return rows if isinstance(rows, int) and rows < FEW else 0


def _in_f32(factor: Traced) -> Array | None:
    """Return f64 products of short floats as f32 products: exact, but beyond f32 infinite.

    Products of two such factors have 24 significant bits, see `_narrowed`.
    """
    if not (isinstance(factor, Apply) and factor.word == "mul"):
        return None
    casts = [x.args[0] for x in factor.args if isinstance(x, Apply) and x.word == "cast"]
    kinds = [x.of for x in casts if x.of is not None and x.of.exponent]
    if len(kinds) < 2 or sum(kind.mantissa + 1 for kind in kinds) > SHORT:
        return None
    lowest = sum(kind.bias + kind.mantissa for kind in kinds)
    return casts[0] * casts[1] if lowest < LOWEST_BIT else None


def _boxes(cells: Elements) -> tuple[Num, Num] | None:
    """Return the distances of boxes along a row and along a column; None for other layouts."""
    down, across = cells.map.rows.digits, cells.map.cols.digits
    box = boxedproduct.BOX
    if down[1:] != ((box, 1),):
        return None
    if across[1:] == ((matmul.PANEL, box),):
        return across[0][1], down[0][1]
    whole = len(across) == 1 and known(across[0][1], box)  # boxes without a gap
    return (matmul.PANEL * box, down[0][1]) if whole else None


class Products:
    """The generator of products.

    `fill` emits the loops that store a value into a temporary, `folded` those of a fold.
    """

    def __init__(
        self,
        function: FunctionBase,
        fill: Callable[[Elements, Traced], None],
        folded: Callable[[Whole], Elements],
    ) -> None:
        self.function, self.code, self.scratch = function, function.code, function.scratch
        self.fill, self.folded = fill, folded

    def in_place(self, store: WindowStore) -> bool:
        """Emit a product whose sums lie in its result, which has panels; return whether it can."""
        node, cells = store.value, store.cells
        if not (isinstance(node, Whole) and node.word == "matmul" and store.definite):
            return False
        across, onto = cells.map.cols.digits, node.args[2:]
        whole = isinstance(node.cols, int) and node.cols % matmul.PANEL == 0
        panels = len(across) == 2 and across[1] == (matmul.PANEL, 1)
        begins = known(store.rows.start, 0) and known(store.cols.start, 0)
        lines = known(cells.origin, 0) and cells.map.rows.digits[0][1:] == (matmul.PANEL,)
        if not (whole and panels and begins and lines and len(cells.map.rows.digits) == 1):
            return False
        same = all(
            isinstance(x, WindowRead) and self.function.related(cells, x.cells) is MUST_ALIAS
            for x in onto
        )
        if same:
            self.product(node, cells)
        return same

    def product(self, node: Whole, into: Elements | None = None) -> Elements:
        """Emit packed factors, initial sums and the call of the product kernel.

        `into`: panels for the sums, which hold the initial ones.
        """
        a, b, *start = node.args
        total = t.i32 if a.dtype.is_int else t.f32
        out = into or self.scratch.room(node.rows, node.cols, total, line=matmul.PANEL, panels=True)
        for value in start if into is None else ():
            store = WindowStore(out, *spans(node), value)
            self.function.store(*self.function.preparation(store).stores([store]))
        sizes = (node.rows, node.cols, a.cols)

        def multiply(kind: DType, factors: Sequence[Elements]) -> None:
            self._multiply(kind, factors, out, sizes, onto=bool(start))

        if a.dtype == t.f64:
            self._multiply_wide((a, b), multiply)
        else:
            multiply(total, self._packed_factors((a, b), total))
        return out

    def _multiply_wide(
        self, factors: tuple[Traced, Traced], multiply: Callable[[DType, Sequence[Elements]], None]
    ) -> None:
        """Emit a product of f64 factors: as f32 where that gives the same sums."""
        exact = [_in_f32(x) for x in factors]
        if all(exact):
            narrow = self._packed_factors(cast("list[Traced]", exact), t.f32)
            pairs = zip(narrow, factors, strict=True)
            found, wide = [self._is_finite(WindowRead(c, *spans(x))) for c, x in pairs], None
        else:
            wide = self._packed_factors(factors, t.f64)
            if _few(factors[0].rows):
                multiply(t.f64, wide)
                return
            triples = zip(factors, wide, (False, True), strict=True)
            narrow, found = zip(*(self._narrowed(*triple) for triple in triples), strict=True)
        short = self.code.let("and i1 {}, {}".format(*found))
        with self.code.when(short):
            multiply(t.f32, narrow)
        with self.code.when(self.code.let(f"xor i1 {short}, true")):
            multiply(t.f64, wide or self._packed_factors(factors, t.f64))

    def _packed_factors(self, factors: Sequence[Traced], kind: DType) -> list[Elements]:
        """Return both factors as the product kernel reads them."""
        a, b = factors
        left = self._packed_factor(a, kind)
        if _few(a.rows) and self._lies_boxed(b, kind):
            return [left, cast(WindowRead, b).cells]
        return [left, self._packed_factor(b, kind, panels=True)]

    def _is_finite(self, factor: WindowRead) -> str:
        """Return whether all elements are finite."""
        size = factor.bitcast(t.i32) & 0x7FFFFFFF
        most = cast(Whole, size.fold("max", 0).fold("max", 1))
        found = self.code.let(f"load i32, ptr {self.function.pointer(self.folded(most))}")
        return self.code.let(f"icmp slt i32 {found}, {0x7F800000}")

    def _packed_factor(self, factor: Traced, kind: DType, *, panels: bool = False) -> Elements:
        """Return a factor as the product kernel reads it: in rows, or in panels."""
        if self._lies_packed(factor, kind, panels=panels):
            assert isinstance(factor, WindowRead)
            return factor.cells
        line, rows = matmul.PANEL if panels else 1, factor.rows
        rows = rows if panels else -(-bound(rows) // matmul.ROWS) * matmul.ROWS
        cells = self.scratch.room(rows, factor.cols, kind, line, panels=panels)
        self.fill(cells, cast_to(factor, kind))
        return cells

    def _lies_packed(self, factor: Traced, kind: DType, *, panels: bool) -> bool:
        """Return whether the product kernel can read a factor where it lies."""
        if not isinstance(factor, WindowRead) or factor.dtype != kind:
            return False
        cells, windows = factor.cells, (factor.row_span, factor.col_span)
        begins = all(known(w.start, 0) and w.step == 1 for w in windows)
        if self.function.tracked(cells) or not begins:
            return False
        down, across = cells.map.rows.digits, cells.map.cols.digits
        if panels:
            lines = known(down[0][1], matmul.PANEL) and len(across) == 2
            return len(down) == 1 and lines and across[1] == (matmul.PANEL, 1)
        if len(down) != 1 or len(across) != 1 or not known(across[0][1], 1):
            return False
        last = cells.map.span + matmul.ROWS * down[0][1]  # further rows are read, too
        end = num(cells.address) + last * kind.size
        return isinstance(end, int) and end <= cells.memory.size

    def _lies_boxed(self, factor: Traced, kind: DType) -> bool:
        """Return whether the kernel of few rows can read a right factor in its boxes."""
        if not isinstance(factor, WindowRead) or not factor.dtype == kind == t.f32:
            return False
        begins = all(known(w.start, 0) and w.step == 1 for w in (factor.row_span, factor.col_span))
        whole = isinstance(factor.rows, int) and factor.rows % boxedproduct.BOX == 0
        lies = begins and whole and _boxes(factor.cells) is not None
        return lies and not self.function.tracked(factor.cells)

    def _narrowed(self, factor: Traced, cells: Elements, panels: bool) -> tuple[Elements, str]:
        """Return f64 factors as f32, and whether each is an f32 with 12 significant bits.

        In that case products have 24 significant bits, and an f64 sum of two 24-bit numbers rounded
        to f32 equals the exact sum rounded once, so an f32 product is sufficient.
        """
        wide = WindowRead(cells, *spans(factor))
        narrow = cast_to(wide, t.f32)
        room = self._packed_factor(narrow, t.f32, panels=panels)
        short = (narrow.bitcast(t.i32) & 0xFFF).equals(0) & cast_to(narrow, t.f64).equals(wide)
        every = cast(Whole, short.cast(t.i32).fold("min", 0).fold("min", 1))
        found = self.code.let(f"load i32, ptr {self.function.pointer(self.folded(every))}")
        return room, self.code.let(f"icmp ne i32 {found}, 0")

    def _multiply(
        self,
        kind: DType,
        factors: Sequence[Elements],
        out: Elements,
        sizes: tuple[Num, ...],
        *,
        onto: bool,
    ) -> None:
        """Call the function that multiplies elements of this type."""
        few, (left, right) = _few(sizes[0]), factors
        lanes, fma, kernels = self.function.lanes(4), self.function.host.fma, self.code.kernels
        steps = left.map.rows.digits[0][1], right.map.cols.digits[0][1], out.map.cols.digits[0][1]
        ahead = ", ptr %scratch"
        if boxes := _boxes(right):
            name, ahead = f"product_boxes{few}", ""
            kernels[name] = boxedproduct.kernel(name, lanes, fma, few)
            sizes, steps = sizes[1:], (steps[0], boxes[0], steps[2], boxes[1])
        else:
            name = f"product_{kind.name}{few or ''}"
            kernels[name] = matmul.kernel(name, kind.name, lanes, fma, few)
        pointers = ", ".join(f"ptr {self._begin(c)}" for c in (*factors, out))
        numbers = ", ".join(f"i64 {text(n)}" for n in (*map(self.function.number, sizes), *steps))
        start = f"i1 {str(onto).lower()}"
        self.code.do(f"call void @{name}({pointers}, {numbers}, {start}{ahead})")

    def _begin(self, cells: Elements) -> str:
        """Return the address of the first element of a view."""
        base, kind = self.function.pointer(cells), f"i{cells.dtype.bits}"
        origin = self.function.number(cells.origin)
        if known(origin, 0):
            return base
        return self.code.let(f"getelementptr {kind}, ptr {base}, i64 {text(origin)}")
