"""Profiles: the predicted time of a program, and where the time is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from ptokit.diagnostics.diagnostic import Note, PtoError, error
from ptokit.diagnostics.rich import Rich
from ptokit.explore.exploration import OfFunctions, launch_issues
from ptokit.forms.percore import whole_kernel
from ptokit.ir.module import Value
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import Pipe
from ptokit.launch.bind import launch_arguments
from ptokit.launch.fills import Fill
from ptokit.launch.settings import current_target, target_named
from ptokit.machine.costs.chip import Direction
from ptokit.machine.costs.figures import file_of, has_figures
from ptokit.machine.launchoptions import NO_LIMITS, RunLimits
from ptokit.order.hazards import Findings
from ptokit.order.issue import Issue
from ptokit.order.racereports import RaceReport
from ptokit.order.roofline import roofline
from ptokit.order.scheduling import predicted
from ptokit.order.timeline import Line, LineTime, Place, Timeline, first_across
from ptokit.order.waiting import QueueEntry
from ptokit.values.host import AnyArray

SHOWN = 5  # maximum number of waits and of critical lines
BAR = 20  # characters for all cycles
UNKNOWN_SIZE = 1 << 16  # elements
BY_VALUES = {"deadlock", "division-by-zero", "global-out-of-bounds"}  # errors that depend on data
MOVERS = {Pipe.MTE2, Pipe.MTE3}
BY_DATA = "no synchronisation found; assuming data-dependence order"


@dataclass(frozen=True)
class SampleArray(Fill):
    """Zeros for an array that was not given."""

    def array(
        self, arg: Value, count: int | None = None, limits: RunLimits = NO_LIMITS
    ) -> AnyArray | float:
        """Return as many zeros as the program views, at least `UNKNOWN_SIZE`."""
        known = max(count or 0, UNKNOWN_SIZE) if self.endless(arg) else count
        return super().array(arg, known, limits)


@dataclass(frozen=True)
class Profile(Rich):
    """The predicted times of one launch; it prints as a table.

    `func` is the name of the launched function, `issue` the issue trace of its cores.
    """

    func: str
    timeline: Timeline
    issue: Issue = field(repr=False)

    @property
    def cycles(self) -> int:
        return self.timeline.cycles

    @property
    def microseconds(self) -> float:
        return self.timeline.microseconds

    @property
    def busiest(self) -> tuple[Pipe, float] | None:
        """The pipe that is at work in the largest share of the launch, and that share."""
        if not self.cycles:
            return None
        shares = {pipe: each / self.cycles for pipe, (_, each) in _busy(self.timeline).items()}
        return max(shares.items(), key=lambda item: item[1], default=None)

    def to_json(self) -> dict[str, object]:
        """Return the facts of one launch as `docs/profile.schema.json` describes them."""
        lines = [
            {
                **dict(zip(("file", "line"), row.place or (None, None), strict=True)),
                **{"instruction": row.name, "times": row.times, "busy": row.busy},
                **{"waited": row.waited, "critical": row.critical},
            }
            for row in self.timeline.lines
        ]
        return {
            **{"function": self.func, "cycles": self.cycles},
            **{"microseconds": round(self.microseconds, 6), "bytes": self.timeline.bytes},
            "instructions": len(self.timeline.bars),
            "pipes": {str(pipe): busy for pipe, (busy, _) in _busy(self.timeline).items()},
            "lines": lines,
        }

    def by_line(self) -> list[LineTime]:
        """Return the cost of each line, in order of first execution."""
        return list(self.timeline.lines)

    def __str__(self) -> str:
        parts = [_head(self), _pipes(self.timeline), _critical(self.timeline)]
        parts += [_waits(self.timeline), _work(self.timeline)]
        return "\n\n".join("\n".join(part) for part in parts if part)


TOO_LONG = "the run is longer than a profile can hold"
SHORTER = "use fewer blocks or iterations"


def profile(
    program: OfFunctions,
    arrays: Mapping[str, object],
    target: str | None = None,
    func: str | None = None,
    blocks: int = 1,
) -> Profile:
    """Predict the times of a launch on these arguments; arrays that are not given are zeros.

    `target`: by default the current one, or the first with times if that has none. PtoError if the
    program is not legal, its queues deadlock or it runs too long; ValueError if the target has no
    times.
    """
    chosen = timed_target(target)
    program = program.on(chosen)
    entry = program.entry_named(func)
    whole = whole_kernel(program.module, entry)
    named = {arg.name for arg, _ in launch_arguments(whole, arrays)}
    open = [a for a in whole.args if a.name not in arrays and a.name not in named]
    zeros = {a.name: SampleArray() for a in open if not isinstance(a.type, ScalarType)}
    try:
        (issue,) = launch_issues(program, chosen, func, {**zeros, **arrays}, blocks)
    except PtoError as problem:
        raise _on_zeros(problem, list(zeros)) from None
    cores = issue.cores
    if issue.cut:
        raise error("instruction-limit", f"@{entry.name}: {TOO_LONG}", help=SHORTER)
    timeline, stuck = predicted(cores, chosen, issue.footprints.regions, blocks=issue.blocks)
    across = first_across(cores, timeline.shape) if timeline.shape.waits else None
    if across is not None:
        raise _no_room(entry.name, across, timeline)
    if stuck:
        raise PtoError([*RaceReport(issue, chosen, Findings(stuck=stuck)).diagnostics()])
    return Profile(entry.name, timeline, issue)


def _on_zeros(problem: PtoError, names: Sequence[str]) -> PtoError:
    """Return the error with a note about arrays not given, if their values cause it."""
    if not names or BY_VALUES.isdisjoint(d.slug for d in problem.diagnostics):
        return problem
    note = Note(f"not given, and zeros here: {', '.join(f'%{name}' for name in names)}")
    return PtoError([replace(d, notes=(*d.notes, note)) for d in problem.diagnostics])


def _no_room(name: str, wait: QueueEntry, timeline: Timeline) -> PtoError:
    """Return the error for blocks that wait for others that cannot start."""
    room, blocks = timeline.shape.room, len(timeline.shape.blocks)
    return error(
        "deadlock",
        f"@{name}: its blocks wait for each other, and {blocks} blocks cannot run at once",
        wait.op.span,
        seen=f"{timeline.target} has cores for {room}",
        help=f"launch at most {room} blocks",
    )


def timed_target(name: str | None) -> Target:
    """Return the target of that name; None: the current one, or the first with times.

    ValueError if there is no target of that name, or no times for it.
    """
    chosen = current_target() if name is None else target_named(name)
    if name is None and not has_figures(chosen):
        chosen = next(target for target in TARGETS.values() if has_figures(target))
    file_of(chosen)
    return chosen


# as text


def _head(found: Profile) -> list[str]:
    timeline = found.timeline
    cores = len({queue.core for queue in timeline.queues})
    on = f"{timeline.target}, {cores} cores" if cores > 1 else f"{timeline.target}"
    on += f", {timeline.shape.at_once(cores)} at once" if cores and timeline.shape.waits else ""
    count = f"{found.cycles} cycles, {found.microseconds:.2f} us"
    head = f"@{found.func} on {on}: {count} predicted, {len(timeline.bars)} instructions"
    return [head, BY_DATA] if timeline.by_data and timeline.bars else [head]


def _busy(timeline: Timeline) -> dict[Pipe, tuple[int, float]]:
    """Return the busy cycles of each pipe: of all cores, and the average of those at once."""
    busy, cores = Counter[Pipe](), Counter[Pipe]()
    for queue, cycles in timeline.busy.items():
        if cycles:
            busy[queue.pipe] += cycles
            cores[queue.pipe] += 1
    return {p: (n, n / timeline.shape.at_once(cores[p])) for p, n in busy.items()}


def _pipes(timeline: Timeline) -> list[str]:
    rows = [
        (str(p), n, _share(each, timeline), "#" * round(each * BAR / timeline.cycles))
        for p, (n, each) in _busy(timeline).items()
    ]
    return table(("pipe", "busy", "share", ""), rows)


def _critical(timeline: Timeline) -> list[str]:
    shown = _shown(timeline)
    rows = [(*shown(r.place, r.name), r.critical) for r in timeline.lines if r.critical]
    rows.sort(key=lambda row: -row[-1])
    shares = [(*row, _share(row[-1], timeline)) for row in rows]
    lines = table(("line", "critical path", "cycles", "share"), shares[:SHOWN])
    rest = sum(row[-1] for row in rows[SHOWN:])
    return [*lines, f"and {rest} cycles in {len(rows) - SHOWN} other lines"] if rest else lines


def _waits(timeline: Timeline) -> list[str]:
    shown = _shown(timeline)
    cycles, times = Counter[tuple[str, Line, str, Line]](), Counter[object]()
    for bubble in timeline.bubbles:
        mine, other = bubble.entry, bubble.cause
        key = str(mine.queue), mine.line, str(other.queue), other.line
        cycles[key] += bubble.cycles
        times[key] += 1
    rows = [
        (pipe, *shown(*line), of, *shown(*after), times[pipe, line, of, after], n)
        for (pipe, line, of, after), n in cycles.most_common(SHOWN)
    ]
    return table(("pipe", "line", "waits", "for", "line", "", "times", "cycles"), rows)


def _work(timeline: Timeline) -> list[str]:
    roof, all = roofline(timeline), sum(timeline.origins().values())
    lines = [f"{timeline.bytes} bytes moved, {roof.bytes} of global memory; {roof.flop} FLOP"]
    lines += _uncounted(timeline)
    if roof.compute or roof.memory:
        each = "" if roof.intensity is None else f", {roof.intensity:.2f} FLOP per byte"
        lines.append(f"{roof.bound} bound{each}: {roof.share:.0%} of the roofline")
    lines += sharing(timeline)
    shares = [f"{origin} {n / all:.0%}" for origin, n in timeline.origins().items() if n]
    return [*lines, f"cycles by the source of their figures: {', '.join(shares) or 'none'}"]


def _uncounted(timeline: Timeline) -> list[str]:
    """Return the transfers with unknown bytes, such as those between ranks."""
    moves = (bar for bar in timeline.bars if bar.queue.pipe in MOVERS and not bar.cost.bytes)
    names = sorted({bar.entry.op.name for bar in moves})
    return [f"without the bytes of {', '.join(names)}: no table has them"] if names else []


def sharing(timeline: Timeline) -> list[str]:
    """Return why transfers take longer than for one core alone, if they do."""
    ways = ((way, timeline.shared[way]) for way in Direction if way in timeline.slower)
    return [
        f"{shared.cores} cores {way} global memory at once: "
        f"{shared.rate:.0f} bytes a cycle, {shared.each:.1f} each"
        for way, shared in ways
    ]


def line_table(timeline: Timeline) -> list[str]:
    """Return the cost of each line as text."""
    shown = _shown(timeline)
    rows = [
        (*shown(r.place, r.name), r.times, r.busy, r.waited, r.critical) for r in timeline.lines
    ]
    return table(("line", "instruction", "times", "busy", "waited", "critical"), rows)


def _shown(timeline: Timeline) -> Callable[[Place, str], tuple[str, str]]:
    """Return a function that formats a line and its instruction, with the file if ambiguous."""
    several = len({row.place[0] for row in timeline.lines if row.place is not None}) > 1

    def shown(place: Place, name: str) -> tuple[str, str]:
        if place is None:
            return "-", name
        file, number = place
        return f"{PurePath(file).name}:{number}" if several else str(number), name

    return shown


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return columns under headings, numbers right-aligned; empty without rows."""
    rows = list(rows)
    if not rows:
        return []
    cells = [[*head], *([*map(_cell, row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numbers = [isinstance(cell, int | float) or str(cell).endswith("%") for cell in rows[0]]

    def padded(line: Sequence[str]) -> Iterator[str]:
        for cell, width, number in zip(line, widths, numbers, strict=True):
            yield cell.rjust(width) if number else cell.ljust(width)

    return ["  ".join(padded(line)).rstrip() for line in cells]


def _cell(cell: object) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _share(cycles: float, timeline: Timeline) -> str:
    return f"{cycles / timeline.cycles:.0%}"
