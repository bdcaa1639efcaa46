"""The product of few rows whose right factor lies in boxes, as LLVM IR.

A box has BOX rows and the columns of a panel, and its columns are contiguous. Packing the boxes
into panels would read and write the whole matrix for one use of each element. Here, each box is
read once, in the order of memory, and turned in registers; the sums stay in the result.
"""

from __future__ import annotations

from functools import cache

from ptokit.engines.kernels.lanes import Lanes
from ptokit.engines.kernels.matmul import PANEL, RegisterBlock
from ptokit.engines.kernels.transposition import Square
from ptokit.machine.record.code import Code, Int, Num, text

BOX = 8  # rows of a box of f32
STRIP = 8 * PANEL  # columns whose sums stay in the first cache
PARAMETERS = """ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n, i64 %k, i64 %lda,
    i64 %pb, i64 %pc, i64 %pk, i1 %onto"""


@cache
def kernel(name: str, lanes: int, fma: bool, rows: int) -> str:
    """Return a function that multiplies `rows` rows of f32; parameters as of `matmul.kernel`.

    `pb` and `pk` are the distances of boxes along a row and along a column; k is a multiple of BOX.
    """
    code = Code()
    RowsByBoxes(code, Lanes(code, min(lanes, BOX)), rows, fma).emit()
    head = f"define internal void @{name}({PARAMETERS}) noinline nounwind {{"
    return "\n".join([head, "entry:", *code.lines, "  ret void", "}", ""])


class RowsByBoxes:
    """The loops over the boxes of a right factor."""

    def __init__(self, code: Code, lanes: Lanes, rows: int, fma: bool) -> None:
        self.code, self.lanes, self.rows = code, lanes, range(rows)
        self.square = Square("float", 32, lanes.count)
        across = PANEL // lanes.count
        self.vectors = rows * across
        self.block = RegisterBlock(code, lanes, "float", "float", rows, across, fma, False)

    def emit(self) -> None:
        """Emit strips of columns, each with its sums side by side in `%sums`."""
        code = self.code
        code.do(f"%sums = alloca [{len(self.rows) * STRIP} x float], align 64")
        padded = (Int(code, "%n") + (PANEL - 1)) & -PANEL
        new = code.let("xor i1 %onto, true")
        with code.loop(padded, "strips", STRIP) as strip:
            count = Int(code, text(padded - strip)).least(STRIP)
            with code.when(new), code.loop(count, "sums begin", PANEL) as col:
                self._store(self._sums(col), ["zeroinitializer"] * self.vectors)
            with code.when("%onto"), code.loop(count, "sums go on", PANEL) as col:
                self._store(self._sums(col), self._load(self._results(strip + col)))
            with code.loop(Int(code, "%k"), "rows of boxes", BOX) as step:
                factors = [self._factors(row, step) for row in self.rows]
                with code.loop(count, "boxes", PANEL) as col:
                    self._box(factors, step, strip, col)
            with code.loop(count, "results", PANEL) as col:
                done = self.block.canonical(self._load(self._sums(col)))
                self._store(self._results(strip + col), done)

    def _load(self, places: list[str]) -> list[str]:
        kinds = self.lanes.type("float")
        return [self.code.let(f"load {kinds}, ptr {place}, align 4") for place in places]

    def _store(self, places: list[str], values: list[str]) -> None:
        kinds = self.lanes.type("float")
        for place, value in zip(places, values, strict=True):
            self.code.do(f"store {kinds} {value}, ptr {place}, align 4")

    def _sums(self, col: Num) -> list[str]:
        """Return the addresses of the sums of a panel of the strip, by rows."""
        return self._vectors("%sums", col, STRIP)

    def _results(self, col: Num) -> list[str]:
        """Return the addresses of a panel of the result, by rows."""
        return self._vectors("%c", (col // PANEL) * Int(self.code, "%pc"), PANEL)

    def _vectors(self, start: str, first: Num, line: int) -> list[str]:
        offsets = (n * line + at for n in self.rows for at in range(0, PANEL, self.lanes.count))
        return [self.block.at("float", start, first + offset) for offset in offsets]

    def _factors(self, row: int, step: Num) -> list[str]:
        """Return BOX elements of a row of A, each in all lanes."""
        first = self.block.at("float", "%a", Int(self.code, "%lda") * row + step)
        places = [self.block.at("float", first, n) for n in range(BOX)]
        ones = [self.code.let(f"load float, ptr {place}, align 4") for place in places]
        return [self.lanes.spread("float", one) for one in ones]

    def _box(self, factors: list[list[str]], step: Num, strip: Num, col: Num) -> None:
        """Emit the products of a box; each sum takes its rows in ascending order."""
        code, size = self.code, self.lanes.count
        first = ((strip + col) // PANEL) * Int(code, "%pb") + (step // BOX) * Int(code, "%pk")
        places, across = self._sums(col), PANEL // size
        for number in range(across):
            mine = places[number::across]
            sums = self._load(mine)
            for part in range(0, BOX, size):
                where = self.block.at("float", "%b", first + (number * size * BOX + part))
                for n, line in enumerate(self.square.columns(code, where, BOX)):
                    pairs = zip(factors, sums, strict=True)
                    sums = [self.block.multiply_add(f[part + n], line, s) for f, s in pairs]
            self._store(mine, sums)
