"""The product of few rows whose right factor lies in boxes, as LLVM IR.

A box has BOX rows and the columns of a panel, and its columns are contiguous. Packing the boxes
into panels would read and write the whole matrix for one use of each element. Here, each box is
read once, in the order of memory, and turned in registers; the sums stay in the result.
"""

from __future__ import annotations

from functools import cache

from ptokit.engines.kernels.lanes import Lanes
from ptokit.engines.kernels.matmul import PANEL, RegisterBlock
from ptokit.engines.kernels.transposition import Square, interleaved
from ptokit.machine.record.code import Code, Int, Num, text

BOX, PART = 8, 4  # rows of a box of f32; so many are turned at once
ELEMENTS = 16  # of a line of the cache
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
        across = PANEL // lanes.count
        self.vectors = rows * across
        self.block = RegisterBlock(code, lanes, "float", "float", rows, across, fma, False)

    def emit(self) -> None:
        """Emit strips of columns, each with its sums side by side in `%sums`."""
        code = self.code
        code.do(f"%sums = alloca [{len(self.rows) * STRIP} x float], align 64")
        padded = (Int(code, "%n") + (PANEL - 1)) & -PANEL
        new, pb = code.let("xor i1 %onto, true"), Int(code, "%pb")
        with code.loop(padded, "strips", STRIP) as strip:
            count = Int(code, text(padded - strip)).least(STRIP)
            with code.when(new), code.loop(count, "sums begin", PANEL) as col:
                self._store(self._sums(col), ["zeroinitializer"] * self.vectors)
            with code.when("%onto"), code.loop(count, "sums go on", PANEL) as col:
                self._store(self._sums(col), self._load(self._results(strip + col)))
            with code.loop(Int(code, "%k"), "rows of boxes", BOX) as step:
                down = (step // BOX) * Int(code, "%pk")
                begin = self.block.at("float", "%b", (strip // PANEL) * pb + down)
                for part in range(0, BOX, PART):
                    factors = [self._factors(row, step + part) for row in self.rows]
                    with code.loop(count, "boxes", PANEL) as col:
                        box = self.block.at("float", begin, (col // PANEL) * pb)
                        self._part(factors, box, part, self._sums(col))
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
        """Return PART elements of a row of A, each in all lanes."""
        first = self.block.at("float", "%a", Int(self.code, "%lda") * row + step)
        places = [self.block.at("float", first, n) for n in range(PART)]
        ones = [self.code.let(f"load float, ptr {place}, align 4") for place in places]
        return [self.lanes.spread("float", one) for one in ones]

    def _part(self, factors: list[list[str]], box: str, part: int, places: list[str]) -> None:
        """Emit the products of PART rows of a box; each sum takes its rows in ascending order.

        The second pass over a row of boxes waits for no memory, so each fetches half of the next.
        """
        half = BOX * PANEL // 2
        after = "getelementptr float, ptr {}, i64 {}"
        below = self.code.let(after.format(box, "%pk"))
        for line in range(0, half, ELEMENTS):
            ahead = self.code.let(after.format(below, part // PART * half + line))
            self.code.do(f"call void @llvm.prefetch.p0(ptr {ahead}, i32 0, i32 3, i32 1)")
        across = PANEL // self.lanes.count
        for number in range(across):
            mine = places[number::across]
            sums = self._load(mine)
            where = self.block.at("float", box, number * self.lanes.count * BOX)
            for n, line in enumerate(self._lines(where, part)):
                pairs = zip(factors, sums, strict=True)
                sums = [self.block.multiply_add(f[n], line, s) for f, s in pairs]
            self._store(mine, sums)

    def _lines(self, begin: str, part: int) -> list[str]:
        """Return PART rows of a box, from contiguous columns that begin at an address.

        The second of two columns is read such that its rows are in the upper half of a vector: to
        insert a half is as slow as an exchange, to blend two halves is not.
        """
        code, lanes, few = self.code, self.lanes, Lanes(self.code, PART)
        if lanes.count == PART:
            where = self.block.at("float", begin, part)
            return Square("float", 32, PART).columns(code, where, BOX)
        found: list[str] = []
        for col in range(PART):
            low, high = (
                self.block.at("float", begin, place + part)
                for place in (col * BOX, (col + PART) * BOX - PART)
            )
            upper = code.let(f"load {lanes.type('float')}, ptr {high}, align 4")
            lower = code.let(f"load {few.type('float')}, ptr {low}, align 4")
            lower = few.shuffle("float", lower, "poison", [*range(PART)] * 2)
            picks = [*range(PART), *range(lanes.count + PART, 2 * lanes.count)]
            found.append(lanes.shuffle("float", lower, upper, picks))
        return interleaved(lanes, "float", found)
