"""Timelines as trace events, the JSON format of Perfetto and chrome://tracing.

Each core is a process, each pipe a thread, each entry of its queue a slice. Arrows start at the
entries that queues waited for. Times are microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ptokit.api.profiling import Profile
from ptokit.launch.files import write_files
from ptokit.machine.costs.estimate import microseconds
from ptokit.order.timeline import Bar, Pause, TimedEntry, Timeline
from ptokit.order.waiting import PipeQueue

DIGITS = 6  # of microseconds


class TraceEvent(NamedTuple):
    """One event: its time in cycles, and its further fields in the format."""

    cycle: float
    fields: dict[str, object]


def write_trace(profile: Profile, path: str | Path) -> None:
    """Write the trace events of a profile; CallError if the file cannot be written."""
    shown = {"function": profile.func, "target": str(profile.timeline.target)}
    whole = {
        "traceEvents": trace_events(profile.timeline, profile.issue.names),
        "displayTimeUnit": "ns",
    }
    text = json.dumps({**whole, "otherData": {**shown, "cycles": profile.cycles}})
    write_files([(Path(path), text.encode())])


def trace_events(timeline: Timeline, cores: Sequence[str]) -> list[dict[str, object]]:
    """Return names of processes, from `cores`, and threads, then slices and arrows by time."""
    found = sorted(chain(_slices(timeline), _arrows(timeline)), key=lambda event: event.cycle)
    timed = [{**e.fields, "ts": _time(e.cycle, timeline)} for e in found]
    return [*_names(timeline, cores), *timed]


def _names(timeline: Timeline, cores: Sequence[str]) -> Iterator[dict[str, object]]:
    for core in sorted({queue.core for queue in timeline.queues}):
        yield {"ph": "M", **_named("process_name", core, {"name": cores[core]})}
        yield {"ph": "M", **_named("process_sort_index", core, {"sort_index": core})}
    for queue, thread in _threads(timeline).items():
        yield {"ph": "M", **_named("thread_name", queue.core, {"name": str(queue)}), **thread}
        order = _named("thread_sort_index", queue.core, {"sort_index": thread["tid"]})
        yield {"ph": "M", **order, **thread}


def _named(name: str, core: int, args: dict[str, object]) -> dict[str, object]:
    return {"name": name, "pid": core + 1, "args": args}


def _slices(timeline: Timeline) -> Iterator[TraceEvent]:
    """Yield instructions while they execute, and waits and flags that take time."""
    threads = _threads(timeline)
    for entry in timeline.entries:
        start = entry.start if isinstance(entry, Pause) else entry.ready
        kind = "work" if isinstance(entry, Bar) else "wait" if isinstance(entry, Pause) else "flag"
        length = _time(entry.end, timeline) - _time(start, timeline)
        event = {"name": entry.entry.op.name, "cat": kind, "dur": round(length, DIGITS)}
        yield TraceEvent(start, {"ph": "X", **event, **threads[entry.queue], "args": _shown(entry)})


def _shown(entry: TimedEntry) -> dict[str, object]:
    """Return the details of a slice."""
    place, _ = entry.line
    shown: dict[str, object] = {} if place is None else {"file": place[0], "line": place[1]}
    shown |= {f"%{name}": number for name, number in entry.entry.iteration}
    shown |= {"cycle": entry.ready, "cycles": entry.cycles}
    if isinstance(entry, Bar):
        cost = entry.cost
        shown |= {"bytes": cost.bytes, "flop": cost.flop, "source": str(cost.source)}
    return shown


def _arrows(timeline: Timeline) -> Iterator[TraceEvent]:
    """Yield arrows from flags to their waits; without flags from the awaited instruction."""
    threads = _threads(timeline)
    pairs = [(p.posted, p) for p in timeline.pauses if p.posted is not None]
    pairs += [(b.after, b.entry) for b in timeline.bubbles if isinstance(b.entry, Bar)]
    for number, (source, target) in enumerate(pairs):
        event = {"name": "after", "cat": "order", "id": number}
        yield TraceEvent(_within(source), {"ph": "s", **event, **threads[source.queue]})
        yield TraceEvent(target.ready, {"ph": "f", "bp": "e", **event, **threads[target.queue]})


def _within(entry: TimedEntry) -> float:
    """Return a time inside an entry's slice, since an arrow belongs to the slice it starts in."""
    return (entry.ready + entry.end) / 2


def _threads(timeline: Timeline) -> dict[PipeQueue, dict[str, object]]:
    """Return the process and the thread of each queue."""
    return {q: {"pid": q.core + 1, "tid": n + 1} for n, q in enumerate(timeline.queues)}


def _time(cycle: float, timeline: Timeline) -> float:
    return round(microseconds(cycle, timeline.target), DIGITS)
