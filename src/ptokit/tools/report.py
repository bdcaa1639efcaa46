"""The HTML report of a profile: a single, self-contained file.

Its parts are `report.html`, `report.css` and `report.js` beside this file. Text from users is
escaped. The page's policy allows this script and this style only.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TypeAlias

from ptokit.api.profiling import BY_DATA, Profile, sharing
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.source import Source
from ptokit.launch.files import write_files
from ptokit.machine.costs.cost import Origin, weakest
from ptokit.order.racereports import races
from ptokit.order.roofline import roofline
from ptokit.order.timeline import Line, LineTime, Timeline, lifetimes
from ptokit.tools.reportcharts import (
    CORE,
    MOST_DRAWN,
    Chart,
    Label,
    LineNumbers,
    memory_charts,
    pipe_chart,
    short,
)

AROUND = 2  # lines of a source shown before and after those with instructions
Place: TypeAlias = "tuple[str, int]"
GAP = 12  # lines without instructions that are left out


def write_report(profile: Profile, path: str | Path) -> None:
    """Write the report of a profile; CallError if the file cannot be written."""
    write_files([(Path(path), report(profile).encode("utf-8", "replace"))])


def report(profile: Profile) -> str:
    """Return the page as text."""
    places, timeline = LineNumbers(), profile.timeline
    style, script = _part("report.css"), _part("report.js")
    by_line = profile.by_line()
    return Template(_part("report.html")).substitute(
        title=escape(f"@{profile.func} on {timeline.target}"),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        cycles=max(timeline.cycles, 1),
        per_cycle=repr(profile.microseconds / max(timeline.cycles, 1)),
        figures=figures(profile),
        pipes=_chart(pipe_chart(timeline, profile.issue.names, places), "pipes", timeline.cycles),
        source=_sources(profile, by_line, places),
        memory=_memories(profile, places),
        hazards=_hazards(profile, places),
        rows=line_rows(timeline, by_line, places),
    )


def _part(name: str) -> str:
    return (files("ptokit.tools") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which a policy names an inline script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def figures(profile: Profile) -> str:
    """Return the numbers of the whole launch."""
    timeline, roof = profile.timeline, roofline(profile.timeline)
    every = sum(timeline.origins().values()) or 1
    origins = (f"{n / every:.0%} {origin}" for origin, n in timeline.origins().items() if n)
    shown = {
        "cycles predicted": f"{profile.cycles:,}",
        "microseconds": f"{profile.microseconds:,.2f}",
        "instructions": f"{len(timeline.bars):,}",
        "bytes of global memory": f"{roof.bytes:,}",
        "FLOP": f"{roof.flop:,}",
        "of the roofline": f"{roof.share:.0%}, {roof.bound} bound" if roof.share else "unknown",
        "cycles by source of figures": ", ".join(origins) or "none",
    }
    told = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in shown.items())
    notes = [BY_DATA] * timeline.by_data + sharing(timeline)
    return f"<dl>{told}</dl>" + "".join(f"<p class=note>{note}</p>" for note in notes)


def _chart(chart: Chart, kind: str, cycles: int) -> str:
    labels = "".join(map(_label_of, chart.labels))
    note = f"<p class=note>{escape(chart.note)}</p>" if chart.note else ""
    high = chart.high
    return (
        f'<div class="chart {kind}"><div class=labels>{labels}</div><div class=view>'
        f'<svg class=time viewBox="0 0 {max(cycles, 1)} {high}" height="{high}" '
        f'preserveAspectRatio="none">\n{chart.shapes}</svg>'
        f'<svg class=words height="{high}"></svg></div></div>{note}'
    )


def _label_of(label: Label) -> str:
    text = escape(label.text)
    if label.kind in ("", CORE):
        return f'<div class="{label.kind}" title="{text}">{text}</div>'
    key = f'<svg viewBox="0 0 1 1"><rect class="{label.kind}" width="1" height="1"/></svg>'
    return f"<div>{key}{text}</div>"


def _memories(profile: Profile, places: LineNumbers) -> str:
    """Return the memories of each core, for as many cores as can be drawn."""
    timeline, issue = profile.timeline, profile.issue
    lives = lifetimes(timeline, issue.footprints.regions)
    count = Counter(life.region.space.core for life in lives)
    options, parts, drawn = "", "", 0
    for core, name in enumerate(issue.names):
        if not count[core] or (drawn and drawn + count[core] > MOST_DRAWN):
            continue
        charts = memory_charts(lives, core, timeline.target, places)
        told = "".join(f"<h3>{n}</h3>{_chart(c, 'memory', timeline.cycles)}" for n, c in charts)
        parts += f'<div class=core data-core="{core}"{" hidden" if drawn else ""}>{told}</div>'
        options += f'<option value="{core}">{escape(name)}</option>'
        drawn += count[core]
    left = sum(count.values()) - drawn
    note = f"<p class=note>{left:,} writes of further cores are not drawn.</p>" if left else ""
    several = f"<label>core <select id=core>{options}</select></label>"
    chosen = several if options.count("<option") > 1 else ""
    return (
        chosen + parts + note if parts else "<p>Nothing is written to the memories of a core.</p>"
    )


def _hazards(profile: Profile, places: LineNumbers) -> str:
    if profile.timeline.by_data:
        return f"<p>Not looked for: {BY_DATA}.</p>"
    found = races([profile.issue], profile.timeline.target)
    told = "".join(_hazard(one, places) for one in found)
    return told or "<p class=good>None in this launch.</p>"


def _hazard(found: Diagnostic, places: LineNumbers) -> str:
    spans = [found.span, *(note.span for note in found.notes)]
    lines = [((span.source.name, span.line), "") for span in spans if span is not None]
    numbers = " ".join(dict.fromkeys(str(places.number(line)) for line in lines))
    return f'<pre class="{found.severity.value}" data-p="{numbers}">{escape(found.render())}</pre>'


def _sources(profile: Profile, by_line: Sequence[LineTime], places: LineNumbers) -> str:
    """Return the source lines around instructions, with the busy time of each."""
    used: dict[Source, set[int]] = defaultdict(set)
    for entry in profile.timeline.entries:
        if (span := entry.entry.op.span) is not None:
            used[span.source].add(span.line)
    busy = Counter[Place]()
    for row in by_line:
        if row.place is not None:
            busy[row.place] += row.busy
    most = max(busy.values(), default=0) or 1
    shares = {place: cycles / most for place, cycles in busy.items()}
    told = (_source(source, lines, shares, places) for source, lines in used.items())
    return "".join(told) or "<p>The program has no text.</p>"


def _source(
    source: Source, used: set[int], busy: Mapping[Place, float], places: LineNumbers
) -> str:
    """Return the lines of one text, with the busy time of lines with instructions."""
    last, before = source.position(len(source.text))[0], 0
    shown = ""
    for number in _near(used, last):
        shown += "<div class=gap>⋯</div>" if before and number - before > 1 else ""
        place, chosen, meter = (source.name, number), "", ""
        if number in used:
            chosen = f' class=has data-p="{places.number((place, ""))}"'
            meter = f'<rect width="{100 * busy.get(place, 0):.1f}" height="10"/>'
        shown += (
            f"<div{chosen}><span>{number}</span>"
            f'<svg viewBox="0 0 100 10" preserveAspectRatio="none">{meter}</svg>'
            f"<code>{escape(source.line(number))}</code></div>"
        )
        before = number
    return f"<h3>{escape(source.name)}</h3><div class=lines>{shown}</div>"


def _near(used: set[int], last: int) -> list[int]:
    """Return the lines to show, from the first to the last, without long gaps."""
    ordered = sorted(used)
    found: set[int] = set()
    for low, high in zip([ordered[0], *ordered], ordered, strict=False):
        inside = range(low, high) if high - low <= GAP else ()
        found.update(inside, range(max(1, high - AROUND), min(last, high + AROUND) + 1))
    return sorted(found)


def line_rows(timeline: Timeline, by_line: Sequence[LineTime], places: LineNumbers) -> str:
    """Return a row for each line: its costs, and the source of the figures."""
    moved, origins = Counter[Line](), dict[Line, Origin]()
    for bar in timeline.bars:
        moved[bar.line] += bar.cost.bytes
        origins[bar.line] = weakest(bar.cost.source, origins.get(bar.line, bar.cost.source))
    every = sum(timeline.busy.values()) or 1
    told = ""
    for row in by_line:
        line = row.place, row.name
        cells = [
            "" if row.place is None else row.place[1],
            short(row.name),
            row.times,
            row.busy,
            f"{row.busy / every:.1%}",
            row.waited,
            row.critical,
            moved[line],
            str(origins.get(line, "")),
        ]
        told += f'<tr data-p="{places.number(line)}">{_cells(cells)}</tr>\n'
    return told


def _cells(cells: Sequence[object]) -> str:
    return "".join(_cell(cell) for cell in cells)


def _cell(cell: object) -> str:
    number = isinstance(cell, int) or str(cell).endswith("%")
    text = f"{cell:,}" if isinstance(cell, int) else escape(str(cell))
    return f"<td{' class=number' if number else ''}>{text}</td>"
