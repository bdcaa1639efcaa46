"""`make bench`: what an instruction costs in a compiled program, and what a program costs to start.

Each row is one instruction, several times in a row in a loop of a small PTO program over written
memory, so that one reads what another wrote; compiled by the native engine, the smallest of many
runs divided by the number of instructions. Beside it stands its opponent of the same run: memcpy of
the bytes that are written, in a loop as tight (see `clock.copies`), or one call of NumPy on one
thread. An alias leaves no code behind, so it has none, and less than a nanosecond is shown as one.
The last columns are what the public C++ CPU simulator took on another machine, as recorded there:
no figure of this run is comparable with them.

A second table has our own plain C (`plain.c`) as the opponent, compiled in the same run by each
compiler that is found, with and without flags that let it vectorise compares and roots; the fastest
counts. Before anything is timed, results of both are compared.

    python bench/run.py [PART OF A ROW'S NAME | grid | calls | races | start | programs
        | growth | cluster | kernels | vectors]... [--quick] [--json FILE] [--document FILE.md]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported
os.environ.pop("OPENBLAS_CORETYPE", None)  # both keep NumPy from its best products
os.environ.pop("OPENBLAS_L2_SIZE", None)

import bounds
import clusters
import document
import growing
import numpy as np
import races
import reading
import vectorfunctions
import whole
import workloads
from clock import COPIES, Clock, copies
from families import families
from instructions import Row, rows
from kernel import per_instruction
from plain import Plain, libraries
from pythonkernels import python_kernels, speedups
from threadpoolctl import threadpool_info

import ptokit as pto

RECORD = Path(__file__).parents[2] / "shared" / "bench" / "cpusim.json"
LEAST = 1.0  # nanoseconds: an alias leaves no code
WAYS = ("default_threads_ns", "one_thread_ns")
MEAN = 1.0  # speed over that of plain C, of all rows
NARROW = 2.0  # the most a sum of a 16-bit type may take, in sums of f32
SPEEDUP = 1.8  # of a grid, the least on two threads
COMPILE = 2.0  # milliseconds, the most a distinct instruction may take


def recorded(path: Path) -> dict[str, dict[str, Any]]:
    """The simulator's times by row; none where the file is not there."""
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {f"{row['op']} {row['case']}": row for row in data["rows"]}


@dataclass
class Line:
    """A row with its figures, in nanoseconds."""

    row: Row
    ns: float
    processor: float  # nanoseconds of the processor
    opponent: float | None
    variant: str  # the compiler and the flags of the fastest C
    simulator: list[float]  # as recorded, in the order of WAYS
    memcpy: float | None = None  # of as many bytes

    @property
    def speed(self) -> float | None:
        """How many times as fast as the opponent."""
        return self.opponent / self.ns if self.opponent else None

    @property
    def ratio(self) -> float | None:
        """Ours over the opponent's."""
        return self.ns / self.opponent if self.opponent else None

    def __str__(self) -> str:
        against = " " * 8
        if self.ratio is not None:
            against = f"{self.ratio:>8.2f}"
        times = "".join(f"{t:>10.0f}" for t in self.simulator)
        line = f"{self.row.op:<18}{self.row.case:<34}{self.ns:>10.1f}{against}"
        return f"{line} {self.row.opponent:<22}{times}".rstrip()

    @property
    def next_to_c(self) -> str:
        """The row of the table of plain C."""
        line = f"{self.row.op:<18}{self.row.case:<58}{self.ns:>10.1f}"
        if self.opponent is None or self.speed is None:
            return line
        why = self.row.why if self.speed < 1 else ""
        verdict = bounds.verdict(self.to_json()).strip("*")
        line = f"{line}{self.opponent:>10.1f}{self.speed:>8.2f}  {self.variant:<12}"
        return f"{line} {verdict:<13}{why}".rstrip()

    def to_json(self) -> dict[str, Any]:
        return {
            **{"op": self.row.op, "case": self.row.case, "ns": self.ns, "rule": self.row.rule},
            "processor_ns": self.processor,
            "why": self.row.why,
            "opponent": self.row.opponent,
            "variant": self.variant,
            "opponent_ns": self.opponent,
            "memcpy_ns": self.memcpy,
            "ratio": self.ratio,
            "simulator_recorded_ns": dict(zip(WAYS, self.simulator, strict=False)),
        }


@dataclass
class Limit:
    """A measured ratio and the bound it should keep."""

    what: str
    value: float
    bound: float
    least: bool = False  # the bound is the smallest value allowed, not the largest

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.least else self.value <= self.bound

    def __str__(self) -> str:
        word = "at least" if self.least else "at most"
        verdict = "holds" if self.holds else "misses"
        return f"{self.what:<72}{self.value:>6.2f}  {word:<8} {self.bound:.1f}  {verdict}"


def main() -> None:
    chosen = options(sys.argv[1:])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PTOKIT_CACHE"] = cache
        found = bench(chosen)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if chosen.document:
        document.write(found, chosen.document)


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What instructions and programs cost.")
    parser.add_argument(
        "rows",
        nargs="*",
        help="rows with this in their name; also: grid, calls, races, start, programs, growth, "
        "cluster, kernels, vectors",
    )
    parser.add_argument("--quick", action="store_true", help="one short pass: rough figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE too")
    parser.add_argument("--document", type=Path, metavar="FILE.md", help="tables and pictures too")
    return parser.parse_args(arguments)


def bench(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure and print; the figures for a file."""

    def wanted(name: str) -> bool:
        return not chosen.rows or any(part in name for part in chosen.rows)

    clock = Clock(passes=1, runs=2, seconds=0.002) if chosen.quick else Clock()
    selected = [row for row in (*rows(), *families()) if wanted(row.name)]
    grid, calls, start = wanted("grid"), wanted("calls"), wanted("start")
    text, several, raced = wanted("programs"), wanted("kernels"), wanted("races")
    grown, cluster = wanted("growth"), wanted("cluster")
    by_lanes = [*vectorfunctions.vector_functions()] if wanted("vectors") else []
    parts = grid, calls, start, text, several, raced, by_lanes, grown, cluster
    if not (selected or any(parts)):
        sys.exit(f"no row has {' or '.join(chosen.rows)} in its name")
    about = machine()
    print(*(f"{name}: {value}" for name, value in about.items()), "", sep="\n")
    prepare(clock, selected, quick=chosen.quick)
    if grid:
        whole.add_grid(clock)
    if calls:
        whole.add_calls(clock)
    if several:
        for kernel in (*workloads.kernels(), *python_kernels()):
            kernel.add(clock)
    for function in by_lanes:
        function.add(clock)
    looked_at = races.add_races(clock) if raced else []
    clock.measure_all()
    record = recorded(RECORD)
    if calls:
        print_calls(clock)
    lines = [line_of(row, clock, record) for row in selected]
    print_tables(lines)
    limits = [*limits_of(lines), *plain_limits(lines), *(grid_limits(clock) if grid else ())]
    ratios = races.race_ratios(clock, looked_at)
    limits += [Limit(what, ratio, races.MOST_RATIO) for what, ratio in ratios]
    limits += [vector_limit(clock, function) for function in by_lanes]
    if several:
        limits += [Limit(*row, SPEEDUP, least=True) for row in speedups(clock)]
    print(*limits, sep="\n", end="\n" if limits else "")
    for name in sorted(set(record) - {row.name for row in rows()}):
        print(f"recorded but not measured: {name}")
    figures = [*workloads.print_kernels(clock), *print_kernels(clock)] if several else []
    repeats = 3 if chosen.quick else 9
    started = [
        *print_starts("from a cold start", whole.starts(repeats) if start else ()),
        *print_starts("long programs", reading.readings(repeats) if text else ()),
        *print_starts("growth", growing.growths(min(repeats, 2)) if grown else ()),
        *print_starts("on a cluster", clusters.cluster_rows(repeats) if cluster else ()),
    ]
    return {
        "machine": about,
        "rows": [line.to_json() for line in lines],
        "limits": [{**vars(limit), "holds": limit.holds} for limit in limits],
        "kernels": figures,
        "starts": [start.to_json() for start in started],
    }


def prepare(clock: Clock, selected: list[Row], *, quick: bool) -> None:
    """All measures, in the order in which they alternate."""
    used = any(row.plain for row in selected)
    plain = libraries(Path(os.environ["PTOKIT_CACHE"]), quick=quick) if used else {}
    for row in selected:
        clock.add(row.name, per_instruction(row.kernel, clock.seconds))
        if row.numpy is not None:
            clock.add(row.opponent, clock.calling(row.numpy.make()))
        if row.copied:
            clock.add(row.memcpy, clock.calling(copies(row.copied), 2 * COPIES))
        for variant, made in plain.items() if row.plain else ():
            opponent = Plain(made, row)
            opponent.compare()
            clock.add(f"{row.opponent}, {variant}", opponent.measure(clock.seconds))


def line_of(row: Row, clock: Clock, record: dict[str, dict[str, Any]]) -> Line:
    known = record.get(row.name)
    simulator = [known[way] for way in WAYS] if known else []
    theirs = {n: t for n, t in clock.best.items() if n.partition(", ")[0] == row.opponent}
    fastest = min(theirs, key=lambda name: theirs[name]) if theirs else ""
    ours = (max(clock.best[row.name], LEAST), clock.processor[row.name])
    variant, memcpy = fastest.partition(", ")[2], clock.best.get(row.memcpy)
    return Line(row, *ours, theirs.get(fastest), variant, simulator, memcpy)


def print_tables(lines: list[Line]) -> None:
    """Rows with other opponents, and rows next to plain C."""
    others = [line for line in lines if not line.row.plain]
    plain = [line for line in lines if line.row.plain]
    if others:
        print(f"{'':<93}{'C++ simulator, recorded':>20}")
        head = f"{'instruction':<52}{'ns':>10}{'ratio':>8} {'to':<22}"
        print(f"{head}{'default':>10}{'1 thread':>10}")
        print(*others, sep="\n")
        for kind in ("memcpy", "NumPy"):
            ratios = [x.ratio for x in others if x.ratio and bool(x.row.numpy) == (kind == "NumPy")]
            if ratios:
                mean = f"geometric mean of {len(ratios)} rows: {geometric_mean(ratios):.2f}"
                print(f"our time over that of {kind}, {mean}")
        print()
    if plain:
        head = f"{'instruction':<76}{'ours, ns':>10}{'C, ns':>10}{'speed':>8}  {'compiler':<12}"
        print(f"{head}             why")
        print(*(line.next_to_c for line in plain), sep="\n")
        print()


def machine() -> dict[str, str]:
    """Where and when the figures are from, and what the opponents are."""
    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        cpu = next(named, cpu)
    pools = [p for p in threadpool_info() if p["user_api"] == "blas"]
    blas = ", ".join(f"{p['internal_api']} {p['version']} {p.get('architecture')}" for p in pools)
    return {
        "machine": f"{cpu}, {os.cpu_count()} threads",
        "date": datetime.now(UTC).date().isoformat(),
        "software": f"ptokit {pto.__version__}, Python {platform.python_version()}",
        "NumPy": f"{np.__version__}, products by {blas}",
    }


def print_kernels(clock: Clock) -> list[dict[str, Any]]:
    """The table of kernels in Python on each target; its figures."""
    heads = "".join(f"{name:>9}" for name in ("NumPy", "speed", "numba", "speed"))
    print(f"\n{'kernels in Python, one thread':<46}{'ours, ms':>9}{heads}")
    found: list[dict[str, Any]] = []
    for kernel in python_kernels():
        for target in kernel.targets:
            ours, theirs = clock.best[kernel.row(target)], clock.best[kernel.opponent]
            numba, owed = clock.best.get(kernel.in_numba), kernel.owed(target)
            holds = theirs / ours >= owed and (not numba or numba / ours >= bounds.NUMBA)
            figures = f"{ours / 1e6:>9.2f}{theirs / 1e6:>9.2f}{theirs / ours:>9.2f}"
            figures += f"{numba / 1e6:>9.2f}{numba / ours:>9.2f}" if numba else ""
            verdict = "holds" if holds else "misses"
            print(f"{kernel.row(target):<46}{figures}  at least {owed:.1f}  {verdict}")
            row = {"name": kernel.name, "target": target, "ns": ours, "numpy_ns": theirs}
            row |= {"numba_ns": numba, "owed": owed}
            found.append(row | {"processor_ns": clock.processor[kernel.row(target)]})
    return found


def geometric_mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def limits_of(lines: list[Line]) -> Iterator[Limit]:
    """Of moves and products the largest ratio; of narrow sums each."""
    for rule, (what, most) in bounds.MOVES.items():
        held = [line for line in lines if line.row.rule == rule and line.ratio]
        for line in held if rule == "products" else held[:0]:
            yield Limit(f"{what}: {line.row.case}", line.ratio or 0.0, most)
        if held and rule != "products":
            worst = max(held, key=lambda line: line.ratio or 0.0)
            over = sum((line.ratio or 0.0) > most for line in held)
            counted = f"; {over} of {len(held)} over" if over else ""
            yield Limit(f"{what}: {worst.row.name}{counted}", worst.ratio or 0.0, most)
    sums = {line.row.case: line.ns for line in lines if line.row.op == "tadd"}
    for dtype in ("f16", "bf16"):
        if {"f32 64x64", f"{dtype} 64x64"} <= set(sums):
            ratio = sums[f"{dtype} 64x64"] / sums["f32 64x64"]
            yield Limit(f"tadd {dtype} 64x64, to f32 64x64", ratio, NARROW)


def plain_limits(lines: list[Line]) -> Iterator[Limit]:
    """How many times as fast as plain C all rows are, in the mean."""
    if speeds := [line.speed for line in lines if line.row.plain and line.speed]:
        mean = f"speed over that of plain C, geometric mean of {len(speeds)} rows"
        yield Limit(mean, geometric_mean(speeds), MEAN, least=True)


def vector_limit(clock: Clock, function: vectorfunctions.VectorFunction) -> Limit:
    """The time of a vector function over that of the tile instructions in its place."""
    ours, theirs = clock.best[function.name], clock.best[function.opponent]
    what = f"{function.name}: {ours / 1e3:.1f} us over {theirs / 1e3:.1f} us by tiles"
    return Limit(what, ours / theirs, vectorfunctions.MOST_RATIO)


def grid_limits(clock: Clock) -> Iterator[Limit]:
    """The speed-up by threads."""
    one = clock.best[whole.ONE]
    for name, key in whole.MANY.items():
        many = clock.best[key]
        times = f"{one / 1e6:.2f} ms over {many / 1e6:.2f} ms on {os.cpu_count()} threads"
        yield Limit(f"gemm_grid.pto, {name}: {times}", one / many, SPEEDUP, least=True)


def print_calls(clock: Clock) -> None:
    """What a call costs besides the work itself, in microseconds of the same run."""
    for what, other in ((whole.EAGER, whole.SUMS), (whole.CHAIN, whole.ENTRY)):
        ours, theirs = clock.best[what] / 1e3, clock.best[other] / 1e3
        ratio = ours / theirs
        print(f"{what}: {ours:.1f} us; {other}: {theirs:.1f} us; {ratio:.1f} times as long")
    print()


def print_starts(what: str, rows: Iterable[whole.Start]) -> Iterator[whole.Start]:
    for number, start in enumerate(rows):
        if not number:
            print(f"\n{what:<58}{'least':>9}{'median':>9}")
        print(start.line, flush=True)
        if start.distinct:
            each = min(start.times) / start.distinct
            print(Limit("compile per distinct instruction, ms:", each, COMPILE), flush=True)
        yield start


if __name__ == "__main__":
    main()
