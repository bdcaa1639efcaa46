"""Windows of axes: of tiles, and of values that a body computed."""

from __future__ import annotations

from dataclasses import dataclass

from ptokit.machine.record.code import Num


@dataclass(frozen=True)
class AxisWindow:
    """A window of an axis: `count` indices from `start` on, every step-th, all below `limit`."""

    start: Num
    count: Num
    step: int = 1
    limit: int | None = None


def slice_windows(
    shape: tuple[Num, Num], *, rows: slice, cols: slice
) -> tuple[AxisWindow, AxisWindow]:
    """Return the windows of a matrix for half-open slices."""
    down, across = (
        _part(w.start or 0, n if w.stop is None else w.stop, w.step or 1)
        for w, n in zip((rows, cols), shape, strict=True)
    )
    return down, across


def _part(start: int, stop: Num, step: int) -> AxisWindow:
    count = stop - start
    return AxisWindow(start, count if step == 1 else -(-count // step), step)
