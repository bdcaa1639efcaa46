"""Two runs side by side: the first instruction whose result differs, by the digests of traces."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ptokit.api.compare import ArrayPair
from ptokit.diagnostics.printable import counted
from ptokit.ir.module import AnyOp, Op
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.tile import GlobalView, Matrix
from ptokit.tools.shown import codes_shown, place_shown
from ptokit.tools.tracing import Tracer, defined_or_written
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray

LINE = re.compile(r"(?:\[([^\]]*)\])?\s*(\d+)  (.{8})(\S+)\s+(.*)")
RESULT = re.compile(r"%\S+?((?: \S+ #[0-9a-f]+)|(?:=.*))")
APART = 200  # instructions that one run may have alone before both go on alike


@dataclass(frozen=True)
class ResultEvent:
    """An instruction that gave results: its line, its name, and the results with digests."""

    line: int
    name: str
    shown: str  # the results as the trace has them, with their names
    results: tuple[str, ...]  # without

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """Return a key that a renamed or moved instruction with the same result has, too."""
        return self.name, self.results

    def __str__(self) -> str:
        return f"line {self.line:<5} {self.name:<15} {self.shown}"


Events = dict[str, list[ResultEvent]]  # by the core


def read_trace(lines: Iterable[str]) -> Events:
    """Return the instructions of a trace that gave results, by the place of their core."""
    found: Events = defaultdict(list)
    for line in lines:
        event = _event(line)
        if event is not None:
            found[event[0]].append(event[1])
    return dict(found)


def _event(line: str) -> tuple[str, ResultEvent] | None:
    match = LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    place, number, _, name, text = match.groups()
    outs = text.rpartition(" -> ")[2] if " -> " in text else ""
    results = tuple(m[1].strip() for out in outs.split(", ") if (m := RESULT.fullmatch(out)))
    return (place or "", ResultEvent(int(number), name, outs, results)) if results else None


@dataclass(frozen=True)
class Divergence:
    """Where two runs differ first on a core: the number of the instruction there in each run.

    `times`: how often each run has executed this line of its own by then.
    """

    place: str
    numbers: tuple[int, int]
    events: tuple[ResultEvent, ResultEvent]
    times: tuple[int, int]


@dataclass
class TraceDiff:
    """Two traces beside each other: how much is the same, and where they differ first."""

    same: int = 0
    alone: list[list[ResultEvent]] = field(default_factory=lambda: [[], []])
    first: Divergence | None = None


def compared_traces(one: Events, two: Events) -> TraceDiff:
    """Compare the results of both runs, core by core."""
    found = TraceDiff()
    for place in dict.fromkeys((*one, *two)):
        _walk(place, one.get(place, []), two.get(place, []), found)
    return found


def _walk(place: str, a: Sequence[ResultEvent], b: Sequence[ResultEvent], into: TraceDiff) -> None:
    """Go along both until they differ; instructions that one run has alone are passed over."""
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i].key == b[j].key:
            i, j, into.same = i + 1, j + 1, into.same + 1
            continue
        skip = _skipped(a[i : i + APART], b[j : j + APART])
        if skip is None:
            break
        into.alone[0] += a[i : i + skip[0]]
        into.alone[1] += b[j : j + skip[1]]
        i, j = i + skip[0], j + skip[1]
    ended = i == len(a) or j == len(b)
    if ended:
        into.alone[0] += a[i:]
        into.alone[1] += b[j:]
    elif into.first is None:
        times = _times(a[: i + 1]), _times(b[: j + 1])
        into.first = Divergence(place, (i, j), (a[i], b[j]), times)


def _times(events: Sequence[ResultEvent]) -> int:
    """Return the number of times that the line of the last event was executed."""
    last = events[-1]
    return sum(event.line == last.line and event.name == last.name for event in events)


def _skipped(a: Sequence[ResultEvent], b: Sequence[ResultEvent]) -> tuple[int, int] | None:
    """Return the number of instructions that only one run has here; None if the runs never meet."""
    for more in range(1, max(len(a), len(b))):
        if more < len(b) and b[more].key == a[0].key:
            return 0, more
        if more < len(a) and a[more].key == b[0].key:
            return more, 0
    return None


def trace_report(found: TraceDiff, labels: tuple[str, str]) -> Iterator[str]:
    """Tell where two traces differ first, and how much is the same before."""
    first, same = found.first, counted(found.same, "result")
    for label, alone in zip(labels, found.alone, strict=True):
        if alone:
            many = counted(len(alone), "instruction")
            yield f"{label} alone has {many}, the first is {alone[0]}".rstrip()
    if first is None:
        yield f"{same} agree{'s' * (found.same == 1)}, none differs"
        return
    core = f" on core {first.place}" if first.place else ""
    yield f"{same} agree{'s' * (found.same == 1)}, then the first that differs{core}:"
    width = max(map(len, labels))
    for label, event, times in zip(labels, first.events, first.times, strict=True):
        yield f"  {label:<{width}}  {event}{f', execution {times}' if times > 1 else ''}"


@dataclass(frozen=True)
class ResultKept:
    """A result as an array, for a report on its elements."""

    name: str
    codes: AnyArray
    dtype: DType


class ResultLog(Tracer):
    """The trace of a run as events; of the instruction with a number on a core, the results."""

    def __init__(self, keep: tuple[str, int] | None = None) -> None:
        self.events: Events = defaultdict(list)
        self.kept: list[ResultKept] = []
        self._keep = keep
        super().__init__(self._note)

    def _note(self, line: str) -> None:
        event = _event(line)
        self._last = event
        if event is not None:
            self.events[event[0]].append(event[1])

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """Note an instruction, and keep its results if they are asked for."""
        self._last = None
        super().after(op, env, core)
        if self._last is None or self._keep is None or not isinstance(op, Op):
            return
        place = self._last[0]
        if (place, len(self.events[place]) - 1) == self._keep:
            for value in defined_or_written(op):
                seen = env[value]
                if isinstance(seen, Matrix):
                    self.kept.append(ResultKept(value.name, codes_shown(seen).copy(), seen.dtype))

    _last: tuple[str, ResultEvent] | None = None


def kept_pairs(
    one: Sequence[ResultKept], two: Sequence[ResultKept]
) -> Iterator[tuple[str, ArrayPair]]:
    """The results of an instruction in two runs, as pairs, where extents and types agree."""
    for a, b in zip(one, two, strict=False):
        if a.dtype == b.dtype and a.codes.shape == b.codes.shape:
            yield f"%{a.name}", ArrayPair(a.codes, b.codes, a.dtype)


class LastStores(Tracer):
    """Which store of a run wrote each element of its arrays last."""

    def __init__(self) -> None:
        super().__init__(lambda _: None, lines=False)
        self.stores: list[tuple[Op, str]] = []  # and the place of the core
        self.last: dict[str, NDArray[np.int64]] = {}  # of each array, numbers of stores

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """Note what an instruction stored."""
        if not isinstance(op, Op):
            return
        for value in defined_or_written(op):
            seen = env[value]
            if isinstance(seen, GlobalView) and seen.memory.host:
                count = seen.memory.size * 8 // seen.dtype.bits
                name = seen.memory.name.removeprefix("%")
                last = self.last.setdefault(name, np.full(count, -1, np.int64))
                rows, cols = np.arange(seen.rows)[:, None], np.arange(seen.cols)
                last[seen.elements.offsets(rows, cols)] = len(self.stores)
                self.stores.append((op, place_shown(core)))

    def first(self, name: str, wrong: NDArray[np.bool_]) -> str | None:
        """The first store that wrote one of these elements last, in words."""
        last = self.last.get(name)
        if last is None or last.size < wrong.size:
            return None
        numbers = last[: wrong.size][wrong.reshape(-1)]
        known = numbers[numbers >= 0]
        if not known.size:
            return None
        before = self.stores[: int(known.min()) + 1]
        op, place = before[-1]
        times = sum((other, core) == (op, place) for other, core in before)
        line = "" if op.span is None else f" in line {op.span.line}"
        again = f", execution {times}" if times > 1 else ""
        return f"first where {op.name}{line} stores{again}{f', on core {place}' if place else ''}"
