"""The matrix product as LLVM IR: a block of sums stays in registers over the whole depth.

All three matrices are row-major, element (row, col) at row * ld + col of its scratch:

- A is m x k; only its elements are read.
- B is k x n, its rows padded to a multiple of 16 columns: the padding is read, its value is free.
- C is m x n, padded likewise: garbage is written to the padding.

B and C begin at a multiple of 64 bytes, ldb and ldc are multiples of 16, sizes are at least 1.
Each sum starts at +0 and takes one fused multiply-add per step of the depth, in ascending order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptokit.sim.kernels.code import Code, Int, Num, text

PADDING = 16  # columns
NAN = "splat (float 0x7FF8000000000000)"  # 0x7FC00000, written as a double
PARAMETERS = "ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %m, i64 %n, i64 %k"


@dataclass(frozen=True)
class Block:
    """The sums kept in registers: `rows` x `vectors`, each of `lanes` elements."""

    rows: int
    vectors: int
    lanes: int
    element: str
    fma: bool

    @property
    def width(self) -> int:
        return self.vectors * self.lanes

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.element}>"


def kernel(name: str, kind: str, lanes: int, fma: bool) -> str:
    """A function that multiplies; `kind` is f32 or i32, `lanes` the elements of a register.

    Without `fma`, a machine that has no fused multiply-add, it is emulated exactly.
    """
    code = Code()
    rows, vectors = _shape(lanes, fma)
    block = Block(rows, vectors, lanes, {"f32": "float", "i32": "i32"}[kind], fma)
    padded = (Int(code, "%n") + (PADDING - 1)) & -PADDING
    whole = padded & -block.width
    with code.loop(whole, f"strips of {block.width} columns", block.width) as col:
        _strip(code, block, col)
    if block.width > PADDING:
        code.note("the last 16 columns")
        with code.when(code.let(f"icmp ne i64 {text(whole)}, {text(padded)}")):
            _strip(code, replace(block, vectors=PADDING // lanes), whole)
    code.do("ret void")
    head = f"define internal void @{name}({PARAMETERS},\n    i64 %lda, i64 %ldb, i64 %ldc)"
    return "\n".join([f"{head} noinline nounwind {{", "entry:", *code.lines, "}", ""])


def _shape(lanes: int, fma: bool) -> tuple[int, int]:
    """Rows and vectors of a block: what 32 registers (AVX-512, NEON) or 16 hold."""
    return {16: (8, 2), 8: (6, 2), 4: (4, 4)}[lanes] if fma else (2, 2)


def _strip(code: Code, block: Block, col: Num) -> None:
    """The columns of a block from `col` on, for all rows.

    Rows past the last are the last one again: its sums are computed, and stored, more than once.
    """
    what = f"blocks of {block.rows} rows; past the last row, the last one again"
    with code.loop(Int(code, "%m"), what, block.rows) as row:
        last = Int(code, "%m") - 1
        rows = [Int(code, text(row + number)).least(last) for number in range(block.rows)]
        left = [_at(code, block, "%a", each * Int(code, "%lda")) for each in rows]
        sums = iter(_depth(code, block, left, _at(code, block, "%b", col)))
        for each in rows:
            start = _at(code, block, "%c", each * Int(code, "%ldc") + col)
            for place in _vectors(code, block, start):
                value = _canonical(code, block, next(sums))
                code.do(f"store {block.vector} {value}, ptr {place}, align {block.lanes * 4}")


def _depth(code: Code, block: Block, left: list[str], right: str) -> list[str]:
    """The sums of a block, row by row: `left` are its rows of A, `right` its columns of B."""
    loop, done, before = code.name("depth"), code.name("done"), code.block
    code.jump(loop)
    code.start(loop)
    head = len(code.lines)  # of the phi instructions, written at the end
    step = Int(code, f"%{code.name('p')}")
    code.note(f"for {step} in range(0, %k): {len(left)} x {block.vectors} multiply-adds")
    start = _at(code, block, right, step * Int(code, "%ldb"))
    load = f"load {block.vector}, ptr {{}}, align {block.lanes * 4}"
    vectors = [code.let(load.format(place)) for place in _vectors(code, block, start)]
    old, new = list[str](), list[str]()
    for row in left:
        factor = _broadcast(code, block, _at(code, block, row, step))
        for vector in vectors:
            old.append(f"%{code.name('sum')}")
            new.append(_multiply_add(code, block, factor, vector, old[-1]))
    after = code.let(f"add nuw nsw i64 {step}, 1")
    phi = [f"  {step} = phi i64 [ 0, %{before} ], [ {after}, %{loop} ]"]
    for value, later in zip(old, new, strict=True):
        zero = f"[ zeroinitializer, %{before} ]"
        phi.append(f"  {value} = phi {block.vector} {zero}, [ {later}, %{loop} ]")
    code.lines[head:head] = phi
    code.branch(code.let(f"icmp slt i64 {after}, %k"), loop, done)
    code.start(done)
    return new


def _at(code: Code, block: Block, start: str, offset: Num) -> str:
    """The address `offset` elements further."""
    return code.let(f"getelementptr inbounds {block.element}, ptr {start}, i64 {text(offset)}")


def _vectors(code: Code, block: Block, start: str) -> list[str]:
    """The addresses of a block's vectors in one row."""
    return [_at(code, block, start, number * block.lanes) for number in range(block.vectors)]


def _broadcast(code: Code, block: Block, place: str) -> str:
    """The element at an address, in all lanes."""
    element = code.let(f"load {block.element}, ptr {place}, align 4")
    first = code.let(f"insertelement {block.vector} poison, {block.element} {element}, i32 0")
    lanes = f"<{block.lanes} x i32> zeroinitializer"
    return code.let(f"shufflevector {block.vector} {first}, {block.vector} poison, {lanes}")


def _multiply_add(code: Code, block: Block, a: str, b: str, c: str) -> str:
    """a * b + c; f32 in one rounding."""
    vector = block.vector
    if block.element == "i32":
        return code.let(f"add {vector} {code.let(f'mul {vector} {a}, {b}')}, {c}")
    if not block.fma:
        return _emulated(code, block, a, b, c)
    function = f"@llvm.fma.v{block.lanes}f32"
    return code.let(f"call {vector} {function}({vector} {a}, {vector} {b}, {vector} {c})")


def _emulated(code: Code, block: Block, a: str, b: str, c: str) -> str:
    """The product is exact in f64, the sum is rounded to odd: then f32 is the one rounding."""
    wide, whole, truths = (f"<{block.lanes} x {each}>" for each in ("double", "i64", "i1"))
    a, b, c = (code.let(f"fpext {block.vector} {each} to {wide}") for each in (a, b, c))
    product = code.let(f"fmul {wide} {a}, {b}")
    total = code.let(f"fadd {wide} {product}, {c}")
    back = code.let(f"fsub {wide} {total}, {product}")
    rest = code.let(f"fsub {wide} {total}, {back}")
    short = code.let(f"fsub {wide} {product}, {rest}"), code.let(f"fsub {wide} {c}, {back}")
    lost = code.let(f"fadd {wide} {short[0]}, {short[1]}")  # exact; NaN where total is not finite
    bits = [code.let(f"bitcast {wide} {each} to {whole}") for each in (total, lost)]
    differ = code.let(f"xor {whole} {bits[0]}, {bits[1]}")
    inward = code.let(f"lshr {whole} {differ}, splat (i64 63)")  # 1: the exact sum is nearer to 0
    down = code.let(f"sub {whole} {bits[0]}, {inward}")
    odd = code.let(f"bitcast {whole} {code.let(f'or {whole} {down}, splat (i64 1)')} to {wide}")
    inexact = code.let(f"fcmp one {wide} {lost}, zeroinitializer")
    rounded = code.let(f"select {truths} {inexact}, {wide} {odd}, {wide} {total}")
    return code.let(f"fptrunc {wide} {rounded} to {block.vector}")


def _canonical(code: Code, block: Block, value: str) -> str:
    """A NaN becomes the one NaN."""
    if block.element == "i32":
        return value
    nan = code.let(f"fcmp uno {block.vector} {value}, zeroinitializer")
    choice = f"{block.vector} {NAN}, {block.vector} {value}"
    return code.let(f"select <{block.lanes} x i1> {nan}, {choice}")
