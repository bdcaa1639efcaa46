"""The project's bounds on speeds, and which rows keep them.

A speed is the opponent's time over ours. An instruction keeps its bound if it is as fast as the C,
two runs of which differ by some 2 %; if both take what memcpy takes for as many bytes; or if its
row has a reason, down to EXPLAINED. So does a move, next to memcpy. MOVES are wider limits, which
no move may ever leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EQUAL = 0.98
EXPLAINED = 0.7  # of the C, with a reason
AT_MEMORY = 1.1  # of memcpy's time: what is at the speed of memory
MOVES = {  # to memcpy, which moves as many bytes: what it is about, and the most
    "runs": ("moving contiguous runs, to memcpy", 1.3),
    "transposing": ("transposing moves, to memcpy", 4.0),
    "products": ("128x128x128 products, to NumPy", 1.3),
}
NUMBA = 0.5  # of numba, which uses fast-math
MEMORY, MISSES = "memory speed", "**misses**"

Figures = Mapping[str, Any]  # Any: what `run.bench` gives for a row


def speed(row: Figures) -> float:
    return row["opponent_ns"] / row["ns"]


def verdict(row: Figures) -> str:
    """Return MISSES, MEMORY, or nothing where an instruction keeps its bound otherwise."""
    if speed(row) >= EQUAL:
        return ""
    if row["rule"] == "products":
        return "" if 1 / speed(row) <= MOVES["products"][1] else MISSES
    slowest = max(row["ns"], row["opponent_ns"])
    memcpy = row["opponent_ns"] if row["opponent"].startswith("memcpy") else row["memcpy_ns"]
    if memcpy and slowest <= AT_MEMORY * memcpy:
        return MEMORY
    return "" if row["why"] and speed(row) >= EXPLAINED else MISSES


def missed(found: Figures) -> list[str]:
    """Return all that misses its bound, a line each."""
    lines = [
        f"{row['op']} {row['case']}: {speed(row):.2f} of {row['opponent']}"
        for row in found["rows"]
        if row["opponent_ns"] and verdict(row) == MISSES
    ]
    for row in found["kernels"]:
        name = f"{row['name']}, {row['target']}"
        of_numpy, of_numba = row["numpy_ns"] / row["ns"], (row["numba_ns"] or 0) / row["ns"]
        if of_numpy < row["owed"]:
            lines.append(f"{name}: {of_numpy:.2f} of NumPy, {row['owed']:.1f} is owed")
        if row["numba_ns"] and of_numba < NUMBA:
            lines.append(f"{name}: {of_numba:.2f} of numba, {NUMBA:.1f} is owed")
    for row in found["starts"]:
        if not row["holds"]:
            least, unit = min(row["times"]), row["unit"]
            lines.append(f"{row['name']}: {least:.1f} {unit}, at most {row['most']:.0f} {unit}")
    lines += [
        f"{row['what']}: {row['value']:.2f}, {'at least' if row['least'] else 'at most'} "
        f"{row['bound']:.1f}"
        for row in found["limits"]
        if not row["holds"]
    ]
    return lines
