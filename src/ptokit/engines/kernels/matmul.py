"""The matrix product as LLVM IR; a block of sums stays in registers over the whole depth.

B and C lie in panels of 16 columns: each panel is row-major, and the next one starts `pb` or `pc`
elements later. So a block of sums reads B from start to end, and an accumulator tile may be C.

- A is m x k and row-major, with `lda` elements from row to row; rows up to a multiple of 8 are
  read, with any value.
- B is k x n, padded to a multiple of 16 columns; the padding is read, with any value.
- C is m x n, padded likewise; garbage is written to the padding.

Sizes are at least 1. Each sum starts at +0, or at the value in C if `onto` is true, and takes one
fused multiply-add per step of the depth in ascending order. For f64 factors, product and sum are
rounded to f64, then to f32. `ahead` is the queue of loads to prefetch (`kernels/ahead.py`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import zip_longest
from typing import cast

from ptokit.engines.kernels.ahead import fetch
from ptokit.engines.kernels.lanes import Lanes
from ptokit.machine.record.code import Code, Int, Num, Truth, text

PANEL, ROWS = 16, 8  # columns of a panel; A has a multiple of so many rows
PARAMETERS = """ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %m, i64 %n, i64 %k,
    i64 %lda, i64 %pb, i64 %pc, i1 %onto, ptr %ahead"""


@dataclass(frozen=True)
class RegisterBlock:
    """A block of `rows` x `vectors` sums in registers, each with some lanes of `kind`.

    Its vectors are whole panels. `factor` is the type of the multiplied elements.
    """

    code: Code
    lanes: Lanes
    kind: str
    factor: str
    rows: int
    vectors: int
    fma: bool
    partial: bool  # some blocks may have fewer rows

    @property
    def edge(self) -> int:
        """The number of sums of a block."""
        return self.rows * -(-self.width // PANEL) * PANEL

    @property
    def width(self) -> int:
        return self.vectors * self.lanes.count

    def strip(self, col: Num, start: Num, end: Num) -> None:
        """Emit the block's columns from `col` on, for the rows from `start` to `end`."""
        code, kinds, lda = self.code, self.lanes.type(self.kind), Int(self.code, "%lda")
        what = f"blocks of {self.rows} rows"
        with code.loop(end - start, what, self.rows) as number:
            row = number + start
            first = self.at(self.factor, "%a", row * lda)
            left = [self.at(self.factor, first, number * lda) for number in range(self.rows)]
            panels = [self.at(self.kind, "%c", at + row * PANEL) for at in self._panels(col, "%pc")]
            fetch(code)
            with self._whole(panels, end - row) as sums:
                places = [
                    self.at(self.kind, sums[at // PANEL], number * PANEL + at % PANEL)
                    for number in range(self.rows)
                    for at in self._columns()
                ]
                begin = self._begin([f"load {kinds}, ptr {place}, align 4" for place in places])
                right = [self.at(self.factor, "%b", at) for at in self._panels(col, "%pb")]
                done = self._depth(left, right, begin)
                done = self.canonical(done) if self.kind == "float" else done
                for place, value in zip(places, done, strict=True):
                    code.do(f"store {kinds} {value}, ptr {place}, align 4")

    @contextmanager
    def _whole(self, panels: list[str], rows: Num) -> Generator[list[str]]:
        """Yield the panels of a block's sums; a block of fewer rows is `%edge`, copied back."""
        if not self.partial:
            yield panels
            return
        code = self.code
        part = code.let(f"icmp slt i64 {text(rows)}, {self.rows}")
        edge = [self.at(self.kind, "%edge", at) for at in range(0, self.edge, self.rows * PANEL)]
        self._copy(panels, edge, rows, part)
        select = f"select i1 {part}, ptr {{}}, ptr {{}}"
        yield [code.let(select.format(*pair)) for pair in zip(edge, panels, strict=True)]
        self._copy(edge, panels, rows, part)

    def _copy(self, source: list[str], into: list[str], rows: Num, met: str) -> None:
        """Emit copies of the first rows of panels, if the condition holds."""
        code, kinds = self.code, self.lanes.type(self.kind)
        with code.when(met), code.loop(rows, "a part of a block") as row:
            for at in self._columns():
                old, new = (
                    self.at(self.kind, p[at // PANEL], row * PANEL + at % PANEL)
                    for p in (source, into)
                )
                value = code.let(f"load {kinds}, ptr {old}, align 4")
                code.do(f"store {kinds} {value}, ptr {new}, align 4")

    def _begin(self, loads: list[str]) -> list[str]:
        """Return the initial sums."""
        code, kinds, before = self.code, self.lanes.type(self.kind), self.code.block
        onto, begin = code.name("onto"), code.name("begin")
        code.branch("%onto", onto, begin)
        code.start(onto)
        old = [code.let(load) for load in loads]
        code.jump(begin)
        code.start(begin)
        phi = f"phi {kinds} [ {{}}, %{onto} ], [ zeroinitializer, %{before} ]"
        return [code.let(phi.format(value)) for value in old]

    def _depth(self, left: list[str], right: list[str], begin: list[str]) -> list[str]:
        """Return the final sums of a block by rows; `left` has rows of A, `right` panels of B."""
        code, kinds = self.code, self.lanes.type(self.kind)
        loop, done, before = code.name("depth"), code.name("done"), code.block
        code.jump(loop)
        code.start(loop)
        head = len(code.lines)  # of the phi instructions, written at the end
        step = Int(code, f"%{code.name('p')}")
        code.do(f"; for {step} in range(0, %k): {len(left)} x {self.vectors} multiply-adds")
        size = 8 if self.factor == "double" else 4
        load = f"load {self.lanes.type(self.factor)}, ptr {{}}, align {size}"
        places = (
            self.at(self.factor, right[at // PANEL], step * PANEL + at % PANEL)
            for at in self._columns()
        )
        vectors = [code.let(load.format(place)) for place in places]
        old, new = list[str](), list[str]()
        for row in left:
            where = self.at(self.factor, row, step)
            one = code.let(f"load {self.factor}, ptr {where}, align {size}")
            factor = self.lanes.spread(self.factor, one)
            for vector in vectors:
                old.append(f"%{code.name('sum')}")
                new.append(self.multiply_add(factor, vector, old[-1]))
        after = code.let(f"add nuw nsw i64 {step}, 1")
        phi = [f"  {step} = phi i64 [ 0, %{before} ], [ {after}, %{loop} ]"]
        for value, first, later in zip(old, begin, new, strict=True):
            phi.append(f"  {value} = phi {kinds} [ {first}, %{before} ], [ {later}, %{loop} ]")
        code.lines[head:head] = phi
        code.branch(code.let(f"icmp slt i64 {after}, %k"), loop, done)
        code.start(done)
        return new

    def canonical(self, sums: list[str]) -> list[str]:
        """Return the sums with canonical NaNs; without any NaN, one comparison serves two sums."""
        code, lanes, before = self.code, self.lanes, self.code.block
        pairs = zip_longest(sums[::2], sums[1::2], fillvalue=sums[0])
        found = [lanes.op("fcmp uno", "float", *pair) for pair in pairs]
        flags = reduce(lambda a, b: lanes.op("or", "i1", a, b), found)
        kinds = lanes.type("i1")
        some = code.let(f"call i1 @llvm.vector.reduce.or.v{lanes.count}i1({kinds} {flags})")
        nans, done = code.name("nans"), code.name("done")
        code.branch(some, nans, done)
        code.start(nans)
        new = [lanes.canonical(value) for value in sums]
        code.jump(done)
        code.start(done)
        phi = f"phi {lanes.type(self.kind)} [ {{}}, %{before} ], [ {{}}, %{nans} ]"
        return [code.let(phi.format(*pair)) for pair in zip(sums, new, strict=True)]

    def at(self, kind: str, start: str, offset: Num) -> str:
        """Return the address `offset` elements after `start`."""
        return self.code.let(f"getelementptr inbounds {kind}, ptr {start}, i64 {text(offset)}")

    def _columns(self) -> range:
        """Return the first column of each vector of the block."""
        return range(0, self.width, self.lanes.count)

    def _panels(self, col: Num, stride: str) -> list[Num]:
        """Return the offsets of the block's panels; `col` is a multiple of their width."""
        first, stride_ = col // PANEL, Int(self.code, stride)
        return [(first + number) * stride_ for number in range(-(-self.width // PANEL))]

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Return a * b + c: for f32 rounded once, for f64 rounded three times."""
        lanes = self.lanes
        if self.factor == "double":
            wide = lanes.convert("fpext", "float", c, "double")
            total = lanes.op("fadd", "double", wide, lanes.op("fmul", "double", a, b))
            return lanes.convert("fptrunc", "double", total, "float")
        if self.kind == "i32":
            return lanes.op("add", "i32", lanes.op("mul", "i32", a, b), c)
        return lanes.call("fma", "float", a, b, c) if self.fma else _emulated(lanes, a, b, c)


@cache
def kernel(name: str, kind: str, lanes: int, fma: bool, few: int = 0) -> str:
    """Return a function that multiplies; `kind` is f64, f32 or i32, `lanes` the vector length.

    Without `fma`, the fused multiply-add is emulated exactly. `few`: the maximum number of rows, 0
    if unknown.
    """
    code = Code()
    # what 32 registers (AVX-512, NEON) or 16 hold
    rows, vectors = {16: (8, 2), 8: (6, 2), 4: (4, 4)}[lanes] if fma else (2, 4)
    if 0 < few < rows:  # as many sums of fewer rows
        rows, vectors = few, vectors << (rows // few).bit_length() - 1
    factor = {"f64": "double", "f32": "float", "i32": "i32"}[kind]
    element = "i32" if kind == "i32" else "float"
    m, padded = Int(code, "%m"), (Int(code, "%n") + (PANEL - 1)) & -PANEL
    block = RegisterBlock(code, Lanes(code, lanes), element, factor, rows, vectors, fma, False)
    blocks: list[tuple[RegisterBlock, Num, Num]] = [(block, 0, m)]
    if rows != few:
        lower = replace(block, rows=rows - rows // 3, partial=True)
        code.do(f"%edge = alloca [{lower.edge} x {element}], align 64")
        middle = _rows_of_blocks(m, rows, lower.rows)
        blocks = [(block, 0, middle), (lower, middle, m)]
    whole = padded & -block.width
    with code.loop(whole, f"strips of {block.width} columns", block.width) as col:
        for each, start, end in blocks:
            each.strip(col, start, end)
    if block.width > PANEL:
        with code.loop(padded - whole, "the last columns", PANEL) as col:
            for each, start, end in blocks:
                replace(each, vectors=PANEL // lanes).strip(whole + col, start, end)
    code.do("ret void")
    head = f"define internal void @{name}({PARAMETERS})"
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *code.lines, "}", ""])


def _rows_of_blocks(m: Int, rows: int, lower: int) -> Num:
    """Return how many of m rows blocks of `rows` take; two blocks of `lower` take more than one."""
    rest = cast(Int, m % rows)
    both = cast(Truth, (rest > 0) & (rest <= 2 * lower - rows) & (m > rows))
    return m - rest - both.number() * rows


def _emulated(lanes: Lanes, a: str, b: str, c: str) -> str:
    """Return a * b + c with one rounding: exact product in f64, sum rounded to odd, then f32."""
    wide, whole = "double", "i64"
    a, b, c = (lanes.convert("fpext", "float", each, wide) for each in (a, b, c))
    product = lanes.op("fmul", wide, a, b)
    total = lanes.op("fadd", wide, product, c)
    back = lanes.op("fsub", wide, total, product)
    rest = lanes.op("fsub", wide, total, back)
    short = lanes.op("fsub", wide, product, rest), lanes.op("fsub", wide, c, back)
    lost = lanes.op("fadd", wide, *short)  # exact; NaN where total is not finite
    bits = [lanes.bits(wide, each, whole) for each in (total, lost)]
    differ = lanes.op("xor", whole, *bits)
    inward = lanes.op("lshr", whole, differ, "splat (i64 63)")  # 1: the exact sum is nearer to 0
    down = lanes.op("sub", whole, bits[0], inward)
    odd = lanes.bits(whole, lanes.op("or", whole, down, "splat (i64 1)"), wide)
    inexact = lanes.op("fcmp one", wide, lost, "zeroinitializer")
    rounded = lanes.select(inexact, wide, odd, total)
    return lanes.convert("fptrunc", wide, rounded, "float")
