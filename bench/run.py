"""`make bench`: nanoseconds per executed instruction, next to NumPy in the same run.

The ratio is to a memcpy of the same bytes (data movement) or to NumPy's matmul of the same values
(products). The public C++ CPU simulator's figure, where recorded, was taken on another machine: it
is scaled by the memcpy time of its calibration against ours.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import ptokit as pto

RECORDED = Path(__file__).parents[1].parent / "shared" / "bench" / "cpusim.json"
Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One measured instruction. `yardstick` is what its time is divided by."""

    op: str
    case: str
    work: Work
    yardstick: Work
    what: str = "memcpy"


def nanoseconds(work: Work, seconds: float = 0.15) -> float:
    """The smallest time of one call over repeated rounds."""
    work()
    best, spent = float("inf"), 0.0
    while spent < seconds:
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best * 1e9


def copying(count: int, kind: type[np.generic]) -> Work:
    """A memcpy of `count` elements over written memory."""
    source = np.arange(count).astype(kind)
    target = source.copy()
    return lambda: np.copyto(target, source)


def random(rows: int, cols: int, kind: type[np.generic] = np.float32) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((rows, cols)).astype(kind)


def extract_row(dtype: pto.DType, kind: type[np.generic], layout: str, rows: int) -> Row:
    mat = pto.tile("mat", dtype, rows, 256, layout=layout, data=random(rows, 256, kind))
    left = pto.tile_left(dtype, rows, 64)
    case = f"{dtype} mat {layout} {rows}x256 -> left {rows}x64"
    return Row("textract", case, lambda: pto.textract(left, mat, 0, 64), copying(rows * 64, kind))


def load_row(loc: str, layout: str) -> Row:
    source = pto.tensor(random(128, 128))
    target = pto.tile(loc, pto.f32, 128, 128, layout=layout)
    name = "vec" if loc == "vec" else f"{loc} {layout}"
    case = f"f32 128x128 nd -> {name}"
    return Row("tload", case, lambda: pto.tload(target, source), copying(128 * 128, np.float32))


def store_row(loc: str, layout: str, fractal: int) -> Row:
    source = pto.tile(loc, pto.f32, 128, 128, layout=layout, fractal=fractal, data=random(128, 128))
    target = pto.tensor(random(128, 128))
    case = f"f32 128x128 {'vec' if loc == 'vec' else f'{loc} {layout}'} -> nd"
    return Row("tstore", case, lambda: pto.tstore(target, source), copying(128 * 128, np.float32))


def product_row(dtype: pto.DType, kind: type[np.generic], n: int) -> Row:
    left = pto.tile_left(dtype, n, n, data=random(n, n, kind))
    right = pto.tile_right(dtype, n, n, data=random(n, n, kind))
    acc = pto.tile_acc(pto.f32, n, n)
    a, b = random(n, n), random(n, n)
    name = "f32" if dtype is pto.f32 else f"{dtype}->f32"
    return Row(
        *("tmatmul", f"{name} {n}x{n}x{n}", lambda: pto.tmatmul(acc, left, right), lambda: a @ b),
        "numpy matmul",
    )


def tile(rows: int, cols: int, layout: str = "nd", loc: str = "vec", **how: object) -> pto.Tile:
    """A tile of f32 with data."""
    valid = how.get("valid", (rows, cols))
    return pto.tile(loc, pto.f32, rows, cols, layout=layout, data=random(*valid), **how)


def move_rows() -> list[Row]:
    """TMOV, TTRANS, TFILLPAD, TINSERT, TCONCAT and the two aliases."""
    big, other, small = tile(128, 128), tile(128, 128), tile(64, 64)
    mat, left = tile(128, 128, "nz", "mat"), pto.tile_left(pto.f32, 128, 128)
    narrow, padded = tile(128, 128, valid=(128, 100)), tile(128, 128, pad="zero")
    wide, half = tile(64, 128), tile(64, 64)
    flat, view = pto.tile("vec", pto.f32, 32, 128), pto.tile("vec", pto.f32, 64, 64, valid=(32, 32))
    copy = copying(128 * 128, np.float32)
    quarter = copying(64 * 64, np.float32)
    return [
        Row("tmov", "f32 vec nd 128x128", lambda: pto.tmov(other, big), copy),
        Row("tmov", "f32 vec nd 64x64", lambda: pto.tmov(half, small), quarter),
        Row("tmov", "f32 mat nz 128x128 -> left", lambda: pto.tmov(left, mat), copy),
        Row("ttrans", "f32 vec 128x128", lambda: pto.ttrans(other, big), copy),
        Row("tfillpad", "f32 vec 128x100 -> 128x128", lambda: pto.tfillpad(padded, narrow), copy),
        Row(
            "tinsert", "f32 vec 64x64 into 128x128", lambda: pto.tinsert(big, small, 8, 8), quarter
        ),
        Row(
            "tconcat",
            "f32 64x64 + 64x64",
            lambda: pto.tconcat(wide, small, half),
            copying(8192, np.float32),
        ),
        Row("treshape", "alias", lambda: pto.treshape(flat, small), quarter),
        Row("subview", "alias", lambda: pto.subview(view, small, 16, 16), quarter),
    ]


def gather_rows() -> list[Row]:
    """TGATHER by index and by mask, TIMG2COL."""
    rng = np.random.default_rng(0)
    made: list[Row] = []
    for rows, cols in ((16, 16), (64, 128)):
        table, out = tile(rows, cols), tile(rows, cols)
        numbers = rng.integers(0, rows * cols, (rows, cols)).astype(np.int32)
        index = pto.tile("vec", pto.i32, rows, cols, data=numbers)
        case = f"index f32 {rows}x{cols} from {rows}x{cols}, i32 indices"
        work = partial(pto.tgather, out, table, index)
        made.append(Row("tgather", case, work, copying(rows * cols, np.float32)))
    table, half = tile(64, 128), tile(64, 64)
    mask = partial(pto.tgather, half, table, pattern="P0101")
    made.append(Row("tgather", "mask P0101 f32 64x128 -> 64x64", mask, copying(4096, np.float32)))
    image = pto.conv_tile(
        *(pto.f16, (1, 4, 16, 16, 16)),
        layout="nc1hwc0",
        filter=(3, 3),
        padding=(1, 1, 1, 1),
        data=rng.standard_normal((1, 4, 16, 16, 16)).astype(np.float16),
    )
    left = pto.tile_left(pto.f16, 128, 64)
    case = "f16 1x4x16x16x16, 3x3 pad 1 -> 128x64"
    unroll = partial(pto.timg2col, left, image)
    return [*made, Row("timg2col", case, unroll, copying(8192, np.float16))]


def rows() -> list[Row]:
    return [
        *(extract_row(pto.f32, np.float32, layout, 64) for layout in ("zn", "nz")),
        *(extract_row(pto.f16, np.float16, layout, 128) for layout in ("zn", "nz")),
        *move_rows(),
        *gather_rows(),
        *(load_row("vec", "nd"), load_row("mat", "nz")),
        *(store_row("vec", "nd", 512), store_row("acc", "nz", 1024)),
        *(product_row(pto.f16, np.float16, n) for n in (64, 128)),
        *(product_row(pto.f32, np.float32, n) for n in (64, 128)),
    ]


def recorded() -> tuple[dict[tuple[str, str], float], float]:
    """The simulator's one-thread times, and the memcpy time of its calibration."""
    if not RECORDED.exists():
        return {}, 0.0
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    found = re.search(r"copyto of 128x128 float32 takes (\d+) ns", data["calibration"])
    memcpy = float(found.group(1)) if found else 0.0
    return {(r["op"], r["case"]): r["one_thread_ns"] for r in data["rows"]}, memcpy


def main() -> None:
    simulator, their_memcpy = recorded()
    scale = nanoseconds(copying(128 * 128, np.float32)) / their_memcpy if their_memcpy else 1.0
    print(f"{'instruction':<42}{'ns':>12}{'ratio':>8}  to             ", end="")
    print("C++ simulator, scaled" if simulator else "")
    for row in rows():
        ours, theirs = nanoseconds(row.work), nanoseconds(row.yardstick)
        line = f"{row.op + ' ' + row.case:<42}{ours:>12.0f}{ours / theirs:>8.1f}  {row.what:<15}"
        known = simulator.get((row.op, row.case))
        print(line + (f"{known * scale:>10.0f} ns, {ours / (known * scale):.1f}x" if known else ""))


if __name__ == "__main__":
    main()
