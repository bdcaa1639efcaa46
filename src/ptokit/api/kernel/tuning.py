"""Tuning: the parameter values of a kernel that are predicted or measured to be fastest."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod
from numbers import Real
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeAlias

from ptokit.api.kernel.kernel import Kernel
from ptokit.api.profiling import Profile, table, timed_target
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.rich import Rich

Params: TypeAlias = dict[str, Any]  # Any: values of Python's, by the names of parameters
Measure: TypeAlias = Callable[[Kernel[...], Sequence[Any], Params], float]  # Any: arguments
WAYS = ("cycles", "measured")
PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class TuningRow:
    """One legal combination: `cycles` and `microseconds` are predicted, `seconds` measured.

    `bound_by` is the busiest pipe, with its share of all cycles.
    """

    params: Params
    cycles: int
    microseconds: float
    bound_by: str
    seconds: float | None = None


@dataclass(frozen=True)
class RefusedParams:
    """A skipped combination and the reason: the first line of the error."""

    params: Params
    reason: str


@dataclass(frozen=True)
class Tuning(Rich):
    """The result of `autotune`: `rows` from the fastest on; it prints as a table."""

    kernel: str
    target: str
    by: str
    rows: tuple[TuningRow, ...]
    refused: tuple[RefusedParams, ...]

    @property
    def best(self) -> Params:
        """Return the parameters of the fastest row; ValueError if every combination was refused."""
        if not self.rows:
            first = f", the first: {self.refused[0].reason}" if self.refused else ""
            raise ValueError(f"{self.kernel}: every combination is refused on {self.target}{first}")
        return dict(self.rows[0].params)

    def __str__(self) -> str:
        counts = f"{len(self.rows)} legal combinations, {len(self.refused)} refused"
        lines = [f"{self.kernel} on {self.target} by {self.by}: {counts}", *self._table()]
        refused = [f"{_named(one.params)}: {one.reason}" for one in self.refused]
        return "\n".join([*lines, *(["", "refused:", *refused] if refused else [])])

    def _table(self) -> list[str]:
        names = list(self.rows[0].params) if self.rows else []
        measured = any(row.seconds is not None for row in self.rows)
        head = ("rank", *names, "cycles", "us", *(["measured us"] if measured else []), "bound by")
        rows = [
            (rank, *map(_shown, row.params.values()), *_numbers(row), row.bound_by)
            for rank, row in enumerate(self.rows, 1)
        ]
        return table(head, rows)


def _shown(value: object) -> object:
    return value if type(value) is int else str(value)


def _numbers(row: TuningRow) -> tuple[int | float, ...]:
    measured = () if row.seconds is None else (float(row.seconds) * 1e6,)
    return row.cycles, row.microseconds, *measured


def _named(params: Params) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items())


def autotune(
    kernel: Kernel[...],
    *args: object,
    space: Mapping[str, Iterable[object]],
    target: str | None = None,
    by: str = "cycles",
    measure: Measure | None = None,
) -> Tuning:
    """Try a kernel with every combination of the values in `space` and rank the legal ones.

    `space` has values for keyword-only parameters. `by`: "cycles", as `Kernel.profile` predicts, or
    "measured": the seconds that `measure(kernel, args, params)` returns, for example on a board.
    `target`: that of `kernel.on`, else the current one, or the first with times. A combination is
    skipped, with the reason, if the target refuses it, or the kernel raises ValueError or fails its
    own assertion. ValueError if the call is wrong.
    """
    if not isinstance(kernel, Kernel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"autotune: expected a @pto.kernel, got {type(kernel).__name__}")
    if by not in WAYS:
        raise ValueError(f"unknown ranking {by!r}: choose one of {', '.join(WAYS)}")
    if by == "measured" and measure is None:
        raise ValueError('by="measured" needs measure=, a function that returns seconds')
    points = _points(kernel, space)
    chosen = timed_target(target or kernel.target).name
    found = [_tried(kernel, args, params, chosen, measure) for params in _counted(points)]
    rows = [row for row in found if isinstance(row, TuningRow)]
    rows.sort(key=lambda row: row.cycles if by == "cycles" else row.seconds or 0.0)
    refused = tuple(one for one in found if isinstance(one, RefusedParams))
    return Tuning(kernel.function.__name__, chosen, by, tuple(rows), refused)


def _points(kernel: Kernel[...], space: Mapping[str, Iterable[object]]) -> list[Params]:
    """Return every combination; the last parameter varies fastest."""
    if not isinstance(space, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        raise TypeError("space has lists of values by the names of parameters")
    values: dict[str, list[object]] = {}
    for name, several in space.items():
        if name not in kernel.static:
            known = ", ".join(kernel.static) or "none"
            raise ValueError(f"{name!r} is no keyword-only parameter of {kernel}: it has {known}")
        if isinstance(several, str) or not isinstance(several, Iterable):  # pyright: ignore
            raise ValueError(f"{name!r}: give a list of values, not {several!r}")
        values[name] = list(several)
    if not prod(map(len, values.values())):
        empty = ", ".join(name for name, found in values.items() if not found)
        raise ValueError(f"no values for {empty}")
    if not values:
        raise ValueError('the space is empty: give space={"name": [values...]}')
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def _tried(
    kernel: Kernel[...],
    args: Sequence[object],
    params: Params,
    target: str,
    measure: Measure | None,
) -> TuningRow | RefusedParams:
    try:
        profile = kernel.profile(*args, target=target, **params)
    except (PtoError, ValueError) as problem:
        return RefusedParams(params, _first_line(problem))
    except AssertionError as problem:
        if _ours(problem):
            raise
        return RefusedParams(params, _first_line(problem))
    seconds = None
    if measure is not None:
        try:
            seconds = measure(kernel, args, params)
        except Exception as problem:  # a board may fail in any way; keep the other measurements
            return RefusedParams(params, f"measure: {_first_line(problem)}")
        _require_seconds(seconds)
    return TuningRow(params, profile.cycles, profile.microseconds, _bound_by(profile), seconds)


def _require_seconds(seconds: object) -> None:
    if not isinstance(seconds, Real) or not isfinite(seconds) or seconds < 0:
        raise ValueError(f"measure must return seconds, a number >= 0, got {seconds!r}")


def _first_line(problem: Exception) -> str:
    lines = str(problem).splitlines()
    name = type(problem).__name__
    if isinstance(problem, PtoError):
        return lines[0]
    return f"{name}: {lines[0]}" if lines else name


def _ours(problem: AssertionError) -> bool:
    """Return whether the assertion is in ptokit, not in the kernel."""
    *_, (frame, _) = walk_tb(problem.__traceback__)
    return PACKAGE in Path(frame.f_code.co_filename).parents


def _bound_by(profile: Profile) -> str:
    busy = profile.timeline.busy
    if not busy or not profile.cycles:
        return ""
    most = max(busy, key=lambda queue: busy[queue])
    return f"{most} {busy[most] / profile.cycles:.0%}"


def _counted(points: Sequence[Params]) -> Iterator[Params]:
    """Yield the combinations, with a progress bar on a terminal."""
    if not sys.stderr.isatty():
        yield from points
        return
    import click  # imported here: few programs need it

    with click.progressbar(points, label="tuning", show_pos=True, file=sys.stderr) as bar:
        yield from bar
