"""What is measured: one row for each instruction and shape, with what it is held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clock import NumPy, below, exponentials, gather, product, row_sums, sums
from kernel import Kernel

CHAIN = 4  # instructions in an iteration of the loop


@dataclass
class Row:
    """An instruction of one shape, several times in a loop.

    Its opponent in the same run is a memcpy of `copied` bytes (half of all read and written), one
    call of `numpy`, or a `plain` function of plain.c, beside which memcpy tells the speed of
    memory; an alias, which does nothing, has none.
    `rule` names the limit that the ratio to it has; `why` it is slower.
    """

    op: str
    case: str
    kernel: Kernel
    copied: int = 0
    numpy: NumPy | None = None
    rule: str = ""
    plain: str = ""
    shape: tuple[int, int] = (0, 0)  # what the plain function loops over
    close: float = 0.0  # how far results may lie apart, in relation
    why: str = ""

    @property
    def name(self) -> str:
        return f"{self.op} {self.case}{' next to C' if self.plain else ''}"

    @property
    def opponent(self) -> str:
        if self.numpy is not None:
            return self.numpy.name
        if self.plain:
            return f"C {self.plain}"
        return self.memcpy

    @property
    def memcpy(self) -> str:
        return f"memcpy {self.copied}" if self.copied else ""


def rows() -> Iterator[Row]:
    """All rows, in the order of the record."""
    yield from extracts()
    yield from moves()
    yield from gathers()
    yield from assemblies()
    yield from elementwise()
    yield from products()
    yield from transfers()


def again(op: str, ins: str, outs: str, kernel: Kernel, attrs: str = "") -> Kernel:
    """The same instruction CHAIN times: its operands' types allow no other order."""
    for _ in range(CHAIN):
        kernel.op(op, ins, outs, attrs)
    return kernel


def to_and_fro(op: str, kernel: Kernel, ins: str, outs: str) -> Kernel:
    """From a to b, and back: each reads what the last wrote."""
    for n in range(CHAIN):
        source, target = ("a", "b") if n % 2 == 0 else ("b", "a")
        kernel.op(op, ins.format(a=source, b=target), outs.format(a=source, b=target))
    return kernel


def pair(dtype: str, rows: int, cols: int) -> Kernel:
    kernel = Kernel()
    for name in "ab":
        kernel.tile(name, "vec", dtype, rows, cols)
    return kernel


def extracts() -> Iterator[Row]:
    for dtype, size, rows in (("f32", 4, 64), ("f16", 2, 128)):
        for layout, rule in (("zn", "transposing"), ("nz", "runs")):
            kernel = Kernel()
            kernel.tile("m", "mat", dtype, rows, 256, layout=layout)
            kernel.tile("l", "left", dtype, rows, 64)
            again("textract", "m 0 64", "l", kernel)
            case = f"{dtype} mat {layout} {rows}x256 -> left {rows}x64"
            why = (
                "boxes turn in registers: 3 unpacks a vector, two in a cycle"
                if layout == "zn"
                else ""
            )
            yield Row("textract", case, kernel, copied=rows * 64 * size, rule=rule, why=why)


def moves() -> Iterator[Row]:
    for n in (128, 64):
        kernel = to_and_fro("tmov", pair("f32", n, n), "{a}", "{b}")
        yield Row("tmov", f"f32 vec nd {n}x{n}", kernel, copied=4 * n * n, rule="runs")
    kernel = Kernel()
    kernel.tile("m", "mat", "f32", 128, 128, layout="nz")
    kernel.tile("l", "left", "f32", 128, 128)
    again("tmov", "m", "l", kernel)
    yield Row("tmov", "f32 mat nz 128x128 -> left", kernel, copied=65536, rule="runs")
    for dtype, size in (("f32", 4), ("f16", 2), ("i8", 1)):
        kernel = to_and_fro("ttrans", pair(dtype, 128, 128), "{a}", "{b}")
        bytes_ = 16384 * size
        why = "4 unpacks a vector of 32 bytes, two in a cycle" if size == 1 else ""
        case = f"{dtype} vec 128x128"
        yield Row("ttrans", case, kernel, copied=bytes_, rule="transposing", why=why)
    kernel = Kernel()
    kernel.tile("a", "vec", "f32", 128, 128, valid=(128, 100))
    kernel.tile("b", "vec", "f32", 128, 128, pad="zero")
    again("tfillpad", "a", "b", kernel)  # fills a fifth, in runs of 112 bytes: no contiguous run
    yield Row("tfillpad", "f32 vec 128x100 -> 128x128", kernel, copied=65536)


def gathers() -> Iterator[Row]:
    for rows, cols in ((16, 16), (64, 128)):
        kernel = pair("f32", rows, cols)
        indices = below(rows * cols, rows, cols)
        kernel.tile("at", "vec", "i32", rows, cols, data=indices)
        to_and_fro("tgather", kernel, "{a} at", "{b}")
        shape = f"{rows}x{cols}"
        case = f"index f32 {shape} from {shape}, i32 indices"
        yield Row("tgather", case, kernel, numpy=gather(rows, cols))
    kernel = Kernel()
    kernel.tile("a", "vec", "f32", 64, 128)
    kernel.tile("b", "vec", "f32", 64, 64)
    again("tgather", "a", "b", kernel, "maskPattern = #pto.mask_pattern<P0101>")
    yield Row("tgather", "mask P0101 f32 64x128 -> 64x64", kernel, copied=24576)


def assemblies() -> Iterator[Row]:
    kernel = Kernel()
    kernel.tile("a", "vec", "f32", 64, 64)
    kernel.tile("b", "vec", "f32", 128, 128)
    again("tinsert", "a 8 8", "b", kernel)
    why = "rows that lie 512 bytes apart fall into half of the cache"
    case = "f32 vec 64x64 into 128x128"
    yield Row("tinsert", case, kernel, copied=16384, rule="runs", why=why)
    kernel = Kernel()
    kernel.tile("a", "vec", "f32", 64, 64)
    kernel.tile("b", "vec", "f32", 32, 128)
    yield Row("treshape", "alias", again("treshape", "a", "b", kernel))
    kernel = Kernel()
    kernel.tile("a", "vec", "f32", 64, 64)
    kernel.tile("b", "vec", "f32", 64, 64, valid=(32, 32))
    yield Row("subview", "alias", again("subview", "a 16 16", "b", kernel))
    kernel = pair("f32", 64, 64)
    kernel.tile("c", "vec", "f32", 64, 128)
    to_and_fro("tconcat", kernel, "{a} {b}", "c")
    yield Row("tconcat", "f32 64x64 + 64x64", kernel, copied=32768, rule="runs")
    kernel = Kernel()
    kernel.feature_map("a", "f16", (1, 4, 16, 16, 16), "padding=[1, 1, 1, 1], filter=[3, 3]")
    kernel.tile("l", "left", "f16", 128, 64)
    again("timg2col", "a", "l", kernel, "fmatrixMode = #pto.fmatrix_mode<fmatrix_a_auto>")
    case, why = (
        "f16 1x4x16x16x16, 3x3 pad 1 -> 128x64",
        "a table has the place of each run of channels",
    )
    yield Row("timg2col", case, kernel, copied=16384, why=why)


def elementwise() -> Iterator[Row]:
    for dtype, n in (("f32", 16), ("f32", 64), ("f32", 128), ("f16", 64), ("bf16", 64)):
        kernel = pair(dtype, n, n)
        for name in ("c", "d", "e"):
            kernel.tile(name, "vec", dtype, n, n)
        for source, target in ("ab", "bd", "de", "ea"):  # grows by c: stays finite
            kernel.op("tadd", f"{source} c", target)
        yield Row("tadd", f"{dtype} {n}x{n}", kernel, numpy=sums(n))
    kernel = pair("f32", 64, 128)
    kernel.tile("s", "vec", "f32", 64, 8, valid=(64, 1))
    again("trowsum", "a b", "s", kernel)
    yield Row("trowsum", "f32 64x128", kernel, numpy=row_sums(64, 128))
    kernel = pair("f32", 64, 128)
    kernel.tile("c", "vec", "f32", 64, 128)
    for _ in range(CHAIN // 2):  # e^e^a is still finite
        kernel.op("texp", "a", "b")
        kernel.op("texp", "b", "c")
    yield Row("texp", "f32 64x128", kernel, numpy=exponentials(64, 128))


def products() -> Iterator[Row]:
    for dtype, n in (("f32", 16), ("f32", 64), ("f32", 128), ("f16", 128)):
        kernel = Kernel()
        kernel.tile("a", "left", dtype, n, n)
        kernel.tile("b", "right", dtype, n, n)
        kernel.tile("c", "acc", "f32", n, n)
        again("tmatmul", "a b", "c", kernel)
        case = f"{dtype}{'' if dtype == 'f32' else '->f32'} {n}x{n}x{n}"
        rule = "products" if n == 128 else ""
        yield Row("tmatmul", case, kernel, numpy=product(n), rule=rule)


def transfers() -> Iterator[Row]:
    for name, loc, layout, rule in (
        ("vec", "vec", "nd", "runs"),
        ("mat nz", "mat", "nz", "transposing"),
    ):
        kernel = Kernel()
        kernel.matrix("g", "f32", 128, 128)
        kernel.tile("t", loc, "f32", 128, 128, layout=layout)
        again("tload", "g", "t", kernel)
        yield Row("tload", f"f32 128x128 nd -> {name}", kernel, copied=65536, rule=rule)
    for name, loc, rule in (("vec", "vec", "runs"), ("acc nz", "acc", "transposing")):
        kernel = Kernel()
        kernel.matrix("g", "f32", 128, 128)
        kernel.tile("t", loc, "f32", 128, 128)
        again("tstore", "t", "g", kernel)
        yield Row("tstore", f"f32 128x128 {name} -> nd", kernel, copied=65536, rule=rule)
