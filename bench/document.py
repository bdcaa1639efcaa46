"""docs/speed.md: the figures of `make bench` as tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import exp, log, log2
from pathlib import Path
from typing import Any

from bounds import AT_MEMORY, EQUAL, EXPLAINED, MOVES, NUMBA, missed, speed, verdict

Figures = dict[str, Any]  # Any: what `run.bench` gives
BAR, LINE, LEFT, WIDTH = 11, 16, 520, 900  # pixels of a picture
NOTHING: Figures = {"rows": (), "kernels": (), "starts": (), "limits": ()}
GOOD, SHORT = "#2a7f62", "#b5532a"  # as fast as the opponent, and slower


def write(found: Figures, path: Path) -> None:
    """Write the document, and its pictures beside it."""
    c_rows = [row for row in found["rows"] if row["opponent"].startswith("C ")]
    pictures = {
        "speed-instructions.svg": bars((name(r), speed(r)) for r in c_rows if r["opponent_ns"]),
        "speed-kernels.svg": bars((label(r), r["numpy_ns"] / r["ns"]) for r in found["kernels"]),
    }
    for file, drawn in pictures.items():
        (path.parent / file).write_text(drawn, encoding="utf-8")
    path.write_text("\n".join(text(found, c_rows)) + "\n", encoding="utf-8")


def text(found: Figures, c_rows: Sequence[Figures]) -> Iterator[str]:
    yield "# Speed"
    yield ""
    yield "Written by `make bench`. All figures are of one run and one thread; opponents alternate"
    yield "with ours. A time is the smallest of many, the processor's time stands beside it."
    yield "Speed is the opponent's time over ours: above 1 we are faster."
    yield ""
    yield from (f"- {key}: {value}" for key, value in found["machine"].items())
    yield from ("", "## What misses its bound", "")
    lines = missed(found)
    yield from [f"- {line}" for line in lines] or ["Nothing: every row below keeps its bound."]
    yield from kernels(found["kernels"])
    yield from plain(c_rows)
    yield from others([row for row in found["rows"] if row not in c_rows and row["opponent_ns"]])
    yield from limits(found["limits"])
    yield from starts(found["starts"])


def kernels(rows: Sequence[Figures]) -> Iterator[str]:
    yield from ("", "## Whole kernels next to NumPy and numba", "")
    yield "NumPy computes in f32 with its own best BLAS. Results are compared first. Bounds are 1.0"
    yield "on target cpu; 0.9 for GEMM and on the chips, where a stated order of sums costs; and"
    yield f"{NUMBA} of numba, whose loops (`bench/numbakernels.py`) use fast-math: LLVM may take"
    yield "sums in any order and assume that no element is a NaN."
    if not any(row["numba_ns"] for row in rows):
        yield "In this run numba was not installed: its column is empty."
    yield from ("", "![speed of kernels](speed-kernels.svg)", "")
    yield "| kernel | target | ours, ms | processor, ms | NumPy, ms | speed | numba, ms | speed | |"
    yield "| --- | --- | --: | --: | --: | --: | --: | --: | --- |"
    for row in rows:
        times = (f"{row[key] / 1e6:.2f}" for key in ("ns", "processor_ns", "numpy_ns"))
        numba = row["numba_ns"]
        by_numba = (f"{numba / 1e6:.2f}", f"{numba / row['ns']:.2f}") if numba else ("", "")
        holds = "**misses**" if missed({**NOTHING, "kernels": [row]}) else ""
        speed_ = f"{row['numpy_ns'] / row['ns']:.2f}"
        yield f"| {' | '.join((row['name'], row['target'], *times, speed_, *by_numba, holds))} |"


def plain(rows: Sequence[Figures]) -> Iterator[str]:
    """The table of plain C."""
    timed = [row for row in rows if row["opponent_ns"]]
    yield from ("", "## Instructions next to plain C", "")
    if timed:
        mean = exp(sum(log(speed(row)) for row in timed) / len(timed))
        slower = sum(speed(row) < 1 for row in timed)
        yield f"The geometric mean of {len(timed)} rows is {mean:.2f}; {slower} are slower than C."
    yield "The C is `bench/plain.c`, compiled with -O3 -march=native by gcc, and by clang if there"
    yield "is one, and again (quiet) with -fno-math-errno -fno-trapping-math; the fastest counts."
    yield f"A row keeps its bound at 1.0 ({EQUAL}, since two runs of one code differ by that); if"
    yield f"both take at most {AT_MEMORY} of memcpy's time for as many bytes (memory speed); with"
    yield f"a reason and at least {EXPLAINED}. Others miss it."
    yield from ("", "![speed of instructions](speed-instructions.svg)", "")
    yield "| instruction | ours, ns | processor, ns | C, ns | compiler | speed | | why |"
    yield "| --- | --: | --: | --: | --- | --: | --- | --- |"
    for row in sorted(timed, key=speed):
        ours, theirs = (f"{row[key]:.0f}" for key in ("ns", "opponent_ns"))
        cells = (name(row), ours, f"{row['processor_ns']:.0f}", theirs, row["variant"])
        yield f"| {' | '.join(cells)} | {speed(row):.2f} | {verdict(row)} | {row['why']} |"


def others(rows: Sequence[Figures]) -> Iterator[str]:
    """The table of memcpy and NumPy."""
    yield from ("", "## Instructions next to memcpy and NumPy", "")
    yield "Memcpy moves as many bytes, and rearranges none. Our time over the opponent's:"
    yield ""
    yield from (f"- {what}: at most {most}" for what, most in MOVES.values())
    yield ""
    yield "| instruction | ours, ns | opponent | its ns | speed | | why |"
    yield "| --- | --: | --- | --: | --: | --- | --- |"
    for row in rows:
        times = f"{row['ns']:.0f} | {row['opponent']} | {row['opponent_ns']:.0f}"
        yield f"| {name(row)} | {times} | {speed(row):.2f} | {verdict(row)} | {row['why']} |"


def limits(rows: Sequence[Figures]) -> Iterator[str]:
    """The ratios that have bounds."""
    yield from ("", "## Other bounds", "")
    yield "| what | value | bound | |"
    yield "| --- | --: | --: | --- |"
    for row in rows:
        bound = f"{'at least' if row['least'] else 'at most'} {row['bound']:.1f}"
        holds = "" if row["holds"] else "**misses**"
        yield f"| {row['what']} | {row['value']:.2f} | {bound} | {holds} |"


def starts(rows: Sequence[Figures]) -> Iterator[str]:
    """Also first calls, growth and the cluster: the least should be the bound or less."""
    yield from ("", "## Start, first calls, growth, cluster", "")
    yield "A bound is one of the project's own; `misses`: the least is above it. A first call is"
    yield "timed in a process of its own, after the imports of a user's file; what ptokit imports"
    yield "at the call counts."
    yield ""
    yield "| what | least | median | at most | |"
    yield "| --- | --: | --: | --: | --- |"
    for row in rows:
        least, middle = min(row["times"]), sorted(row["times"])[len(row["times"]) // 2]
        most = "" if row["most"] is None else f"{row['most']:.0f} {row['unit']}"
        cells = f"{least:.1f} {row['unit']} | {middle:.1f} | {most}"
        yield f"| {row['name']} | {cells} | {'' if row['holds'] else '**misses**'} |"


def name(row: Figures) -> str:
    return f"{row['op']} {row['case']}"


def label(row: Figures) -> str:
    return f"{row['name']}, {row['target']}"


def bars(rows: Iterable[tuple[str, float]]) -> str:
    """Bars from 1 to the right where ours is faster, to the left where it is not; a log scale."""
    every = sorted(rows, key=lambda row: row[1])
    reach = max((abs(log2(value)) for _, value in every), default=1.0)
    middle, unit = LEFT + (WIDTH - LEFT) / 2, (WIDTH - LEFT - 90) / 2 / max(reach, 1.0)
    height = LINE * (len(every) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="{BAR}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{middle}" y="{BAR}" text-anchor="middle">speed, opponent = 1</text>',
        f'<line x1="{middle}" y1="{LINE}" x2="{middle}" y2="{height - LINE}" stroke="#888"/>',
    ]
    for number, (what, value) in enumerate(every, 1):
        top, length = number * LINE + 2, abs(log2(value)) * unit
        left = middle if value >= 1 else middle - length
        end, anchor = (middle + length + 4, "start") if value >= 1 else (left - 4, "end")
        base, colour = top + BAR - 1, GOOD if value >= 1 else SHORT
        lines += [
            f'<text x="{LEFT - 90}" y="{base}" text-anchor="end">{escape(what)}</text>',
            f'<rect x="{left:.1f}" y="{top}" width="{max(length, 1):.1f}" height="{BAR}" '
            f'fill="{colour}"/>',
            f'<text x="{end:.1f}" y="{base}" text-anchor="{anchor}">{value:.2f}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"
