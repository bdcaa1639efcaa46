"""`make bench`: what an instruction costs in a compiled program, and what a program costs to start.

Each row is one instruction, several times in a row in a loop of a small PTO program over written
memory, so that one reads what another wrote; compiled by the native engine, the smallest of many
runs divided by the number of instructions. Beside it stands

- the public C++ CPU simulator's recorded time, with its default threads and with one, scaled by
  what the same NumPy call took there and takes here: copyto for moves, add for elementwise work and
  reductions, matmul for products. An alias leaves no code behind: below one nanosecond counts as
  one.
- a yardstick: memcpy of the bytes that are written, in a loop as tight (see `clock.copies`), or
  NumPy's f32 matmul on one thread.

    python bench/run.py [PART OF A ROW'S NAME | grid | start]... [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np
import whole
from clock import COPIES, Clock, add_calibrations, calibrated, copies, product
from kernel import turning
from rows import Row, rows

RECORD = Path(__file__).parents[2] / "shared" / "bench" / "cpusim.json"
LEAST = 0.1  # nanoseconds: an alias leaves no code
WAYS = ("default_threads_ns", "one_thread_ns")
RULES = {  # of ratios to the yardstick: what they are about, and the most they may be
    "runs": ("moving contiguous runs, to memcpy", 1.3),
    "transposing": ("transposing moves, to memcpy", 4.0),
    "products": ("128x128x128 products, to NumPy", 1.3),
}
NARROW = 2.0  # the most a sum of a 16-bit type may take, in sums of f32
SPEEDUP = 1.8  # of a grid, the least on two threads


@dataclass
class Record:
    """The simulator's times by row, and its machine's calibration."""

    times: dict[str, dict[str, Any]] = field(default_factory=dict[str, Any])
    calibration: dict[str, float] = field(default_factory=dict[str, float])

    @staticmethod
    def read(path: Path) -> Record:
        """Nothing where the file is not there."""
        if not path.exists():
            return Record()
        data = json.loads(path.read_text(encoding="utf-8"))
        found = re.findall(r"numpy\.(\w+)[^,]*? (\d+) ns", data["calibration"])
        times = {f"{row['op']} {row['case']}": row for row in data["rows"]}
        return Record(times, {name: float(ns) for name, ns in found})


@dataclass
class Line:
    """A row with its figures."""

    row: Row
    ns: float
    simulator: list[float]  # scaled, in the order of WAYS
    yardstick: float | None

    @property
    def ratios(self) -> list[float]:
        return [theirs / max(self.ns, LEAST) for theirs in self.simulator]

    @property
    def held(self) -> float | None:
        return self.ns / self.yardstick if self.yardstick else None

    def __str__(self) -> str:
        times = [f"{t:>11.0f}" if t >= 100 else f"{t:>11.1f}" for t in self.simulator]
        ratios = [f"{r:>8.1f}" for r in self.ratios]
        held = f"{self.held:>8.2f} {self.row.yardstick}" if self.held else ""
        blank = [" " * 38] if not self.simulator else []
        return (
            f"{self.row.op:<10}{self.row.case:<42}{self.ns:>10.1f}"
            + "".join([*times, *ratios, *blank])
            + held
        ).rstrip()

    def to_json(self) -> dict[str, Any]:
        return {
            **{"op": self.row.op, "case": self.row.case, "ns": self.ns, "rule": self.row.rule},
            "simulator_scaled_ns": dict(zip(WAYS, self.simulator, strict=False)),
            "simulator_ratio": dict(zip(WAYS, self.ratios, strict=False)),
            "yardstick": self.row.yardstick,
            "yardstick_ratio": self.held,
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


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What instructions and programs cost.")
    parser.add_argument(
        "rows", nargs="*", help="only rows with one of these in their name; also: grid, start"
    )
    parser.add_argument("--quick", action="store_true", help="one short pass: rough figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE too")
    return parser.parse_args(arguments)


def bench(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure and print; the figures for a file."""

    def wanted(name: str) -> bool:
        return not chosen.rows or any(part in name for part in chosen.rows)

    clock = Clock(passes=1, runs=2, seconds=0.002) if chosen.quick else Clock()
    selected = [row for row in rows() if wanted(row.name)]
    grid, start = wanted("grid"), wanted("start")
    if not (selected or grid or start):
        sys.exit(f"no row has {' or '.join(chosen.rows)} in its name")
    prepare(clock, selected)
    if grid:
        whole.add_grid(clock)
    clock.take_turns()
    record = Record.read(RECORD)
    calibration = calibrated(clock)
    scales = {name: calibration[name] / ns for name, ns in record.calibration.items()}
    lines = [line_of(row, clock, record, scales) for row in selected]
    if lines:
        print_table(lines, scales)
        print_summary(lines)
    limits = [*limits_of(lines), *(grid_limits(clock) if grid else ())]
    print(*limits, sep="\n", end="\n" if limits else "")
    for name in sorted(set(record.times) - {row.name for row in rows()}):
        print(f"recorded but not measured: {name}")
    started = list(print_starts(3 if chosen.quick else 9)) if start else []
    return {
        "calibration_ns": calibration,
        "rows": [line.to_json() for line in lines],
        "limits": [{**vars(limit), "holds": limit.holds} for limit in limits],
        "starts_ms": {start.name: start.times for start in started},
    }


def prepare(clock: Clock, selected: list[Row]) -> None:
    """All measures, in the order in which they take turns."""
    add_calibrations(clock)
    for row in selected:
        clock.add(row.name, turning(row.kernel, clock.seconds))
        if row.copied:
            clock.add(row.yardstick, clock.calling(copies(row.copied), 2 * COPIES))
        if row.product:
            clock.add(row.yardstick, clock.calling(product(row.product)))


def line_of(row: Row, clock: Clock, record: Record, scales: dict[str, float]) -> Line:
    known = record.times.get(row.name)
    simulator = [known[way] * scales[row.calibration] for way in WAYS] if known else []
    return Line(row, clock.best[row.name], simulator, clock.best.get(row.yardstick))


def print_table(lines: list[Line], scales: dict[str, float]) -> None:
    scaled = ", ".join(f"{name} {scale:.2f}" for name, scale in scales.items())
    print(f"this machine's NumPy over the simulator's machine's: {scaled or 'no record'}\n")
    print(f"{'':<62}{'C++ simulator, ns':>22}{'times ours':>16}")
    print(f"{'instruction':<52}{'ns':>10}" + f"{'default':>11}{'1 thread':>11}", end="")
    print(f"{'default':>8}{'1 thr.':>8}   ratio to")
    print(*lines, sep="\n")


def print_summary(lines: list[Line]) -> None:
    known = [line for line in lines if line.ratios]
    print()
    for number, name in enumerate(("default threads", "one thread")):
        if known:
            ratios = [line.ratios[number] for line in known]
            least = min(known, key=lambda line: line.ratios[number])
            mean = float(np.exp(np.mean(np.log(ratios))))
            print(f"C++ simulator, {name}, over ours: geometric mean {mean:.1f}, ", end="")
            print(f"smallest {min(ratios):.2f} ({least.row.name})")
    print()


def limits_of(lines: list[Line]) -> Iterator[Limit]:
    """Of moves and products the largest ratio; of narrow sums each."""
    for rule, (what, most) in RULES.items():
        held = [line for line in lines if line.row.rule == rule and line.held]
        for line in held if rule == "products" else held[:0]:
            yield Limit(f"{what}: {line.row.case}", line.held or 0.0, most)
        if held and rule != "products":
            worst = max(held, key=lambda line: line.held or 0.0)
            over = sum((line.held or 0.0) > most for line in held)
            counted = f"; {over} of {len(held)} over" if over else ""
            yield Limit(f"{what}: {worst.row.name}{counted}", worst.held or 0.0, most)
    sums = {line.row.case: line.ns for line in lines if line.row.op == "tadd"}
    for dtype in ("f16", "bf16"):
        if {"f32 64x64", f"{dtype} 64x64"} <= set(sums):
            ratio = sums[f"{dtype} 64x64"] / sums["f32 64x64"]
            yield Limit(f"tadd {dtype} 64x64, to f32 64x64", ratio, NARROW)


def grid_limits(clock: Clock) -> Iterator[Limit]:
    """The speed-up by threads."""
    one = clock.best[whole.ONE]
    for name, key in whole.MANY.items():
        many = clock.best[key]
        times = f"{one / 1e6:.2f} ms over {many / 1e6:.2f} ms on {os.cpu_count()} threads"
        yield Limit(f"gemm_grid.pto, {name}: {times}", one / many, SPEEDUP, least=True)


def print_starts(repeats: int) -> Iterator[whole.Start]:
    print(f"\n{'from a cold start, ms':<58}{'least':>9}{'median':>9}")
    for start in whole.starts(repeats):
        print(start.line, flush=True)
        yield start


if __name__ == "__main__":
    main()
