"""Transposition of square blocks in registers, by functions that all instructions share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from ptokit.engines.kernels.lanes import Lanes
from ptokit.machine.record.code import Code, Int, Num, text
from ptokit.values.layouts import known

SHARED = 16  # rows; for larger blocks the cost of a call is negligible
NARROW = 16  # bits of elements that are turned in pieces of 16 bytes
PIECE, WIDEST, CACHED = 16, 32, 64  # bytes of a piece, of vectors of such, of a line of the cache
Place: TypeAlias = tuple[str, Num]  # an address, and a distance in elements
TURNED = "(ptr %block, i64 %step, ptr %to, i64 %apart, i64 %rows, i64 %columns)"
STORED = "(ptr %block, i64 %step, ptr %to, i64 %apart, i64 %count)"


class Line(NamedTuple):
    """The code for one column of a block: lines that compute `value` of %column, and its type."""

    text: str
    value: str
    kind: str
    bits: int


@dataclass(frozen=True)
class Square:
    """A square block of `size` rows and columns, with an LLVM element type of `bits` bits."""

    kind: str
    bits: int
    size: int

    @property
    def kinds(self) -> str:
        """Return the LLVM type of a row."""
        return f"<{self.size} x {self.kind}>"

    def columns(self, code: Code, where: str, step: Num) -> list[str]:
        """Return the columns of a block with rows `step` elements apart, from inline code."""
        return written(code, self, where, self.distance(step))

    def called(self, code: Code, where: str, step: Num) -> list[str]:
        """Return the columns of a block from a shared function, which keeps the text short."""
        self._share(code)
        return self.shared(code, where, self.distance(step))

    def shared(self, code: Code, where: str, step: str) -> list[str]:
        """Return the columns from the shared function, which exists already; `step` in bytes."""
        block = f"[{self.size} x {self.kinds}]"
        call = f"call {code.many}{block} @transposed_{self.kind}(ptr {where}, i64 {step})"
        found = code.let(call)
        return [code.let(f"extractvalue {block} {found}, {number}") for number in range(self.size)]

    def _share(self, code: Code) -> None:
        name = f"transposed_{self.kind}"
        if name not in code.kernels:
            code.kernels[name] = _function(self, name, f"{code.many}[{self.size} x {self.kinds}]")

    def first(self, code: Code, where: str, step: Num) -> str:
        """Return the first column of a block, from a shared function."""
        name = f"first_{self.kind}"
        if name not in code.kernels:
            code.kernels[name] = _picker(self, name)
        return code.let(f"call {self.kinds} @{name}(ptr {where}, i64 {self.distance(step)})")

    def move(
        self,
        code: Code,
        block: Place,
        to: Place,
        count: Num,
        line: Line | None = None,
    ) -> None:
        """Transpose a row of blocks with `count` columns in memory, by a shared function.

        `block` and `to` are pairs of an address and a step. `line` computes the stored value of a
        column.
        """
        name = f"moved_{self.kind}"
        if line is None:
            line = Line("", "%column", self.kind, self.bits)
        else:
            name += f"_{sha256(repr(line).encode()).hexdigest()[:12]}"
        self._share(code)
        code.kernels[name] = _mover(self, name, line, code.many)
        places = (
            f"ptr {where}, i64 {text(step * (bits // 8))}"
            for (where, step), bits in ((block, self.bits), (to, line.bits))
        )
        code.do(f"call void @{name}({', '.join(places)}, i64 {text(count)})")

    def turn(
        self, code: Code, block: Place, to: Place, counts: tuple[Num, Num], width: int
    ) -> None:
        """Transpose rows and columns of blocks in memory, in vectors of up to `width` bytes."""
        (where, step), (onto, apart) = block, to
        rows, columns = counts
        size = self.bits // 8
        while not known(rows, 0):
            copies = CACHED // width if isinstance(rows, int) and rows * size % CACHED == 0 else 1
            some = (rows * size // (width * copies)) * (width * copies // size)
            if not known(some, 0):
                name = f"turned_{self.kind}_{width}_{copies}"
                code.kernels[name] = _turner(self, name, width, copies)
                moved = f"ptr {where}, i64 {self.distance(step)}", f"i64 {text(some)}"
                onward = f"ptr {onto}, i64 {self.distance(apart)}", f"i64 {text(columns)}"
                pairs = (word for pair in zip(moved, onward, strict=True) for word in pair)
                code.do(f"call void @{name}({', '.join(pairs)})")
            if self.size * size % width == 0:  # as the rows are whole blocks, none is left
                return
            where, onto = (
                code.let(f"getelementptr {self.kind}, ptr {begin}, i64 {text(some * by)}")
                for begin, by in ((where, step), (onto, 1))
            )
            rows, width = rows - some, PIECE

    def distance(self, step: Num) -> str:
        """Return a distance in elements as bytes."""
        return text(step * (self.bits // 8))


def written(code: Code, square: Square, where: str, step: str) -> list[str]:
    """Emit the transposition of a block with rows `step` bytes apart; return its columns."""
    text, columns = _inlined(square)
    where = code.let(f"call ptr @llvm.launder.invariant.group.p0(ptr {where})")
    mine = f"%{code.name('b')}v"
    code.lines.append(text.replace("%v", mine).replace("%block", where).replace("%step", step))
    return [column.replace("%v", mine) for column in columns]


@cache
def _inlined(square: Square) -> tuple[str, list[str]]:
    """Return the code of a transposition with placeholders, and the names of the columns."""
    code = Code()
    columns = _columns(code, square)
    return "\n".join(code.lines), columns


@cache
def _function(square: Square, name: str, block: str) -> str:
    code, result = Code(), "poison"
    whole = block[block.index("[") :]
    for number, column in enumerate(_columns(code, square)):
        result = code.let(f"insertvalue {whole} {result}, {square.kinds} {column}, {number}")
    head = f"define internal {block} @{name}(ptr %block, i64 %step) noinline nounwind {{"
    return "\n".join([head, "entry:", *code.lines, f"  ret {whole} {result}", "}", ""])


@cache
def _picker(square: Square, name: str) -> str:
    code = Code()
    rows = (_row(code, "%block", "%step", number) for number in range(square.size))
    align = f"align {square.bits // 8}"
    column = [code.let(f"load {square.kind}, ptr {row}, {align}") for row in rows]
    result = Lanes(code, square.size).vector(square.kind, column)
    head = f"define internal {square.kinds} @{name}(ptr %block, i64 %step) noinline nounwind {{"
    return "\n".join([head, "entry:", *code.lines, f"  ret {square.kinds} {result}", "}", ""])


@cache
def _mover(square: Square, name: str, line: Line, many: str) -> str:
    """Return a function that stores columns of successive blocks as rows `apart` bytes apart."""
    code, size, kinds = Code(many), square.size, f"<{square.size} x {line.kind}>"
    with code.loop(Int(code, "%count"), f"{size} x {size}", size) as first:
        where = code.let(f"getelementptr {square.kind}, ptr %block, i64 {text(first)}")
        to = code.let(f"getelementptr i8, ptr %to, i64 {text(first * Int(code, '%apart'))}")
        to = code.let(f"call ptr @llvm.launder.invariant.group.p0(ptr {to})")
        for number, column in enumerate(square.shared(code, where, "%step")):
            mine = f"%{code.name('l')}v"
            lines, value = (
                part.replace("%v", mine).replace("%column", column)
                for part in (line.text, line.value)
            )
            code.lines += lines.splitlines()
            row = _row(code, to, "%apart", number)
            code.do(f"store {kinds} {value}, ptr {row}, align {line.bits // 8}")
    head = f"define internal void @{name}{STORED} noinline nounwind {{"
    return "\n".join([head, "entry:", *code.lines, "  ret void", "}", ""])


@cache
def _turner(square: Square, name: str, width: int, copies: int) -> str:
    """Return a function that stores the columns of a matrix as rows.

    A vector has pieces of rows that lie `across` rows apart. Interleaving all vectors turns each
    block of pieces, and the vector then has a column of all those rows.
    """
    code, kind = Code(), square.kind
    across, lanes = PIECE * 8 // square.bits, Lanes(code, width * 8 // square.bits)
    rows, columns = (Int(code, f"%{n}") for n in ("rows", "columns"))
    step, apart = Int(code, "%step"), Int(code, "%apart")
    high = lanes.count * copies
    with (
        code.loop(rows, f"{high} rows", high) as row,
        code.loop(columns, f"{across} columns", across) as column,
    ):
        begin = text(row * step + column * (square.bits // 8))
        begin = code.let(f"getelementptr i8, ptr %block, i64 {begin}")
        to = text(column * apart + row * (square.bits // 8))
        to = code.let(f"getelementptr i8, ptr %to, i64 {to}")
        for copy in range(copies):
            lines: list[str] = []
            for number in range(across):
                first = copy * lanes.count + number
                places = [
                    _row(code, begin, "%step", n)
                    for n in range(first, (copy + 1) * lanes.count, across)
                ]
                pieces = [_loaded(code, square, place, 0, across) for place in places]
                lines.append(_concatenated(code, kind, pieces, across))
            for number, line in enumerate(interleaved(lanes, kind, lines)):
                where = _row(code, to, "%apart", number)
                where = code.let(f"getelementptr i8, ptr {where}, i64 {copy * width}")
                code.do(f"store {lanes.type(kind)} {line}, ptr {where}, align {square.bits // 8}")
    head = f"define internal void @{name}{TURNED} noinline nounwind {{"
    return "\n".join([head, "entry:", *code.lines, "  ret void", "}", ""])


def _columns(code: Code, square: Square) -> list[str]:
    """Return the columns of a block whose rows are contiguous.

    Row pieces that are `width` rows apart are loaded into one vector. That saves the first exchange
    stages, and the remaining ones stay within 16 bytes, where processors are fast. Longer pieces
    halve the number of loads; their halves are exchanged first.
    """
    kind, size = square.kind, square.size
    lanes, width = Lanes(code, size), min(size, 128 // square.bits)
    apart = size // width
    piece = 2 * width if apart == 4 else width
    columns: list[str] = []
    for first in range(0, size, piece):
        lines: list[list[str]] = []
        for number in range(width):
            rows = [_row(code, "%block", "%step", number + n * width) for n in range(apart)]
            pieces = [_loaded(code, square, row, first, piece) for row in rows]
            if piece == width:
                lines.append([_concatenated(code, kind, pieces, width)])
            else:
                a, b = (_concatenated(code, kind, pieces[n : n + 2], piece) for n in (0, 2))
                lines.append(_halves(lanes, kind, a, b, width))
        for part in zip(*lines, strict=True):
            columns += interleaved(lanes, kind, list(part))
    return columns


def _row(code: Code, begin: str, step: str, number: int) -> str:
    """Return the address of a row. From row 8 on, row 8 * n is the base, which saves multiples."""
    for distance in (number // 8 * 8, number % 8):
        if distance:
            by = code.let(f"mul i64 {step}, {distance}")
            begin = code.let(f"getelementptr i8, ptr {begin}, i64 {by}")
    return begin


def _loaded(code: Code, square: Square, row: str, first: int, count: int) -> str:
    """Return contiguous elements of a row."""
    where = code.let(f"getelementptr {square.kind}, ptr {row}, i64 {first}")
    kinds = Lanes(code, count).type(square.kind)
    return code.let(f"load {kinds}, ptr {where}, align {square.bits // 8}")


def _halves(lanes: Lanes, kind: str, a: str, b: str, width: int) -> list[str]:
    """Return the even pieces of two vectors, and the odd ones."""
    found: list[str] = []
    for begin in (0, width):
        starts = range(begin, 2 * lanes.count, 2 * width)
        picks = [s + n for s in starts for n in range(width)]
        found.append(lanes.shuffle(kind, a, b, picks))
    return found


def _concatenated(code: Code, kind: str, pieces: list[str], width: int) -> str:
    """Return the concatenation of vectors."""
    while len(pieces) > 1:
        lanes, pairs = Lanes(code, width), zip(pieces[::2], pieces[1::2], strict=True)
        width *= 2
        pieces = [lanes.shuffle(kind, a, b, range(width)) for a, b in pairs]
    return pieces[0]


def interleaved(lanes: Lanes, kind: str, rows: list[str]) -> list[str]:
    """Return square blocks side by side, each transposed."""
    size, width, half = lanes.count, len(rows), len(rows) // 2
    places = [b + n // 2 + size * (n % 2) for b in range(0, size, width) for n in range(width)]
    masks = [[begin + p for p in places] for begin in (0, half)]
    for _ in range(width.bit_length() - 1):
        pairs = list(zip(rows[:half], rows[half:], strict=True))
        rows = [lanes.shuffle(kind, a, b, mask) for a, b in pairs for mask in masks]
    return rows
