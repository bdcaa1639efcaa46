"""Whole programs: a grid on one thread and on all, a fresh process, the compiler alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from unittest.mock import patch

import firstcalls
import numpy as np
from clock import Clock, Measure, Times, median, random, sums, took
from kernel import Kernel, compiled, timed

import ptokit as pto
from ptokit.engines.native.session import Session, Worker

ROOT = Path(__file__).parents[1]
BLOCKS, LAUNCHES = 16, 10
PARTS, REPEATED = 5, 2  # parts of a program, and instructions in each that occurred before


ONE = "grid, one thread"
MANY = {"its blocks alone": "grid, blocks", "with its start": "grid, launch"}


def add_grid(clock: Clock) -> None:
    """examples/gemm_grid.pto, launched on one thread and on all, and its blocks on all.

    A launch also makes the memories of each core and starts the threads; the blocks alone find
    threads that wait for them.
    """
    text = (ROOT / "examples" / "gemm_grid.pto").read_text(encoding="utf-8")
    arrays = {name: random(np.float16, 1024, 1024) for name in "ab"}
    arrays["c"] = random(np.float32, 1024, 1024)
    session = compiled(text, arrays, BLOCKS)
    blocks, launch = MANY.values()
    threads = os.cpu_count() or 1
    clock.add(ONE, _grid(1, lambda: took(lambda: session.run(BLOCKS))))
    clock.add(launch, _grid(threads, lambda: took(lambda: session.run(BLOCKS))))
    clock.add(blocks, _grid(threads, lambda: _blocks(session)))


def _grid(threads: int, work: Measure) -> Measure:
    """The smallest of several times, on a machine that seems to have that many processors."""

    def measure() -> Times:
        with patch("os.cpu_count", lambda: threads):
            return min(work() for _ in range(LAUNCHES))

    return measure


def _blocks(session: Session) -> Times:
    workers = session.workers(BLOCKS)
    with ThreadPoolExecutor(len(workers)) as pool:
        ready = Barrier(len(workers) + 1)
        waiting = [pool.submit(ready.wait) for _ in workers]  # a thread for each
        ready.wait()
        for future in waiting:
            future.result()
        return took(lambda: list(pool.map(Worker.run, workers)))


EAGER, CHAIN, ENTRY = "eager tadd", "warm program of nine instructions", "its machine code"
SUMS = "add 64x64"


def add_calls(clock: Clock) -> None:
    """A warm eager call beside NumPy's, and a warm executable beside the machine code in it."""
    first, second = (pto.tile("vec", "f32", 64, 64, data=random(np.float32, 64, 64)) for _ in "ab")
    total = pto.tile("vec", "f32", 64, 64)
    clock.add(EAGER, clock.calling(lambda: pto.tadd(total, first, second)))
    clock.add(SUMS, clock.calling(sums(64).make()))
    kernel = chain()
    executable = pto.loads(kernel.text()).compile(engine="native")
    clock.add(CHAIN, clock.calling(lambda: executable.run(**kernel.arrays)))
    clock.add(ENTRY, timed(compiled(kernel.text(), kernel.arrays)))


def chain() -> Kernel:
    """Nine instructions on 16 x 16: two loads, six sums, a store."""
    kernel = Kernel()
    for name in ("a", "b", "c"):
        kernel.matrix(name, "f32", 16, 16)
    for name in ("x", "y"):
        kernel.tile(name, "vec", "f32", 16, 16, local=True)
    for op, ins, outs in (
        ("tload", "a", "x"),
        ("tload", "b", "y"),
        *[("tadd", "x y", "x")] * 6,
        ("tstore", "x", "c"),
    ):
        kernel.op(op, ins, outs)
    return kernel


def part(kernel: Kernel, n: int) -> None:
    """Twenty instructions on n x n: a product of f16, and a vector part that ends with a cast."""
    names = {k: f"{k}{n}" for k in ("a", "b", "x", "y", "z", "ma", "mb", "le", "ri", "ac")}
    names |= {k: f"{k}{n}" for k in ("u", "v", "w", "t", "s", "h", "out")}
    a, b, x, y, z, ma, mb, le, ri, ac, u, v, w, t, s, h, out = names.values()
    for name, dtype in ((a, "f16"), (b, "f16"), (x, "f32"), (y, "f32"), (z, "f32"), (out, "f16")):
        kernel.matrix(name, dtype, n, n)
    for name, loc in ((ma, "mat"), (mb, "mat"), (le, "left"), (ri, "right")):
        kernel.tile(name, loc, "f16", n, n, layout="nz" if loc == "mat" else "", local=True)
    kernel.tile(ac, "acc", "f32", n, n, local=True)
    for name in (u, v, w, t):
        kernel.tile(name, "vec", "f32", n, n, local=True)
    kernel.tile(s, "vec", "f32", n, 8, valid=(n, 1), local=True)
    kernel.tile(h, "vec", "f16", n, n, local=True)
    for op, ins, outs in (
        ("tload", a, ma),
        ("tload", b, mb),
        ("textract", f"{ma} 0 0", le),
        ("textract", f"{mb} 0 0", ri),
        ("tmatmul", f"{le} {ri}", ac),
        ("tmatmul.acc", f"{ac} {le} {ri}", ac),
        ("tstore", ac, z),
        ("tload", x, u),
        ("tload", y, v),
        ("tadd", f"{u} {v}", w),
        ("tmul", f"{w} {v}", w),
        ("tsub", f"{w} {u}", w),
        ("tmax", f"{w} {v}", w),
        ("trelu", w, w),
        ("trowmax", f"{w} {t}", s),
        ("tadds", f"{w} half", w),
        ("texp", w, w),
        ("ttrans", w, t),
        ("tcvt", t, h),
        ("tstore", h, out),
    ):
        kernel.op(op, ins, outs, "rmode = #pto<round_mode RINT>" if op == "tcvt" else "")


def program(parts: int) -> Kernel:
    """Twenty instructions of each of several shapes; in each part two loads occur twice."""
    kernel = Kernel()
    kernel.before.append("%half = arith.constant 0.5 : f32")
    kernel.types["half"] = "f32"
    for n in range(1, parts + 1):
        part(kernel, 16 * n)
    return kernel


@dataclass
class Start:
    """How long something takes when nothing is warm but the disk, in milliseconds.

    Other rows have another unit. The least figure should be `most` or less.
    """

    name: str
    times: list[float] = field(default_factory=list[float])
    distinct: int = 0  # instructions that are compiled, of which no two are alike
    most: float | None = None
    unit: str = "ms"

    @property
    def holds(self) -> bool:
        return self.most is None or min(self.times) <= self.most

    @property
    def line(self) -> str:
        line = f"{self.name:<58}{min(self.times):>9.1f}{median(self.times):>9.1f} {self.unit}"
        if self.most is None:
            return line
        return f"{line}  at most {self.most:.0f}  {'holds' if self.holds else 'misses'}"

    def to_json(self) -> dict[str, object]:
        return {**vars(self), "holds": self.holds}


IMPORT, CHECK = 20, 150  # milliseconds of `import ptokit` beyond Python, and of a small check


def starts(repeats: int) -> Iterator[Start]:
    """Start-up, as a user meets it. Rows as they are done."""
    rows = [
        repeated(f"python -c '{statement}'", repeats, lambda s=statement: _process("-c", s))
        for statement in ("pass", "import numpy", "import ptokit")
    ]
    yield from rows
    beyond = [there - alone for alone, there in zip(rows[0].times, rows[2].times, strict=True)]
    yield Start("import of ptokit beyond Python", [median(beyond)], most=IMPORT)
    check = "-m", "ptokit", "check", str(ROOT / "examples" / "gemm.pto")
    name = "ptokit check, 56 lines, one target"
    yield repeated(name, repeats, lambda: _process(*check, "--target", "a5"), most=CHECK)
    yield from runs(repeats)
    yield from first_calls(repeats)
    large = program(PARTS)
    text, arrays, count = large.text(), large.arrays, len(large.body)
    work = f"reading and compiling {count} instructions"
    cold = repeated(f"{work}, nothing cached", repeats, lambda: compiled(text, arrays), fresh=True)
    cold.distinct = count - REPEATED * PARTS
    yield cold
    yield repeated(f"{work}, cached", repeats, lambda: compiled(text, arrays))


def runs(repeats: int) -> Iterator[Start]:
    """`ptokit run` of three instructions: by default no slower than by the reference engine."""
    small = Kernel()
    for name in "ab":
        small.matrix(name, "f32", 16, 16)
    small.tile("x", "vec", "f32", 16, 16, local=True)
    for op, ins, outs in (("tload", "a", "x"), ("tadd", "x x", "x"), ("tstore", "x", "b")):
        small.op(op, ins, outs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.pto").write_text(small.text(), encoding="utf-8")
        for argument, array in small.arrays.items():
            np.save(folder / f"{argument}.npy", array)
        run = ["-m", "ptokit", "run", str(folder / "small.pto")]
        run += [f"{a}={folder / a}.npy" for a in small.arrays]
        for fresh, state in ((True, "nothing cached"), (False, "cached")):
            what, most = f"ptokit run, 3 instructions, {state}", None
            for engine in ("reference", "native"):
                command = [*run, "--engine", engine]
                work = lambda command=command: _process(*command)  # noqa: E731 - of this command
                row = repeated(f"{what}, {engine}", repeats, work, fresh=fresh, most=most)
                most = min(row.times)
                yield row


def first_calls(repeats: int) -> Iterator[Start]:
    """Kernels in fresh processes."""
    for name, bars in firstcalls.MOST.items():
        for state, most in zip(("nothing cached", "cached"), bars, strict=True):
            row = Start(f"first call, {name}, {state}", most=most)
            for _ in range(repeats):
                with _empty_cache() if state == "nothing cached" else nullcontext():
                    if not row.times and state == "cached":
                        firstcalls.milliseconds(name)
                    row.times.append(firstcalls.milliseconds(name))
            yield row


def repeated(
    name: str,
    repeats: int,
    work: Callable[[], object],
    *,
    fresh: bool = False,
    most: float | None = None,
) -> Start:
    """A row; `fresh`: every time with an empty cache, otherwise once before it counts."""
    row = Start(name, most=most)
    if not fresh:
        work()
    for _ in range(repeats):
        with _empty_cache() if fresh else nullcontext():
            row.times.append(took(work).wall / 1e6)
    return row


@contextmanager
def _empty_cache() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, PTOKIT_CACHE=name):
        yield


def _process(*arguments: str) -> None:
    """A fresh interpreter."""
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
