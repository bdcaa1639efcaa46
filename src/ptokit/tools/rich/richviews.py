"""The HTML view of each kind of object, selected by type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, singledispatch
from html import escape
from importlib.resources import files
from itertools import repeat

import numpy as np

from ptokit.analysis.legality import Verdict
from ptokit.analysis.memorymap import MemoryMap
from ptokit.api.compare import Comparison
from ptokit.api.hostarrays import Handle, HostArray
from ptokit.api.kernel.kernel import Kernel
from ptokit.api.kernel.recorded import RecordedTile, RecordedView
from ptokit.api.kernel.tuning import Tuning
from ptokit.api.profiling import Profile
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.diagnostics.rich import RichList
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.launch.executable import Run
from ptokit.tools.memorypicture import memory_svg, memory_table
from ptokit.tools.report import figures, line_rows
from ptokit.tools.reportcharts import LineNumbers
from ptokit.tools.rich.boxorder import layout_figures
from ptokit.tools.rich.colouring import coloured_diagnostic, coloured_program
from ptokit.tools.rich.heat import heat
from ptokit.tools.rich.pipelanes import lanes
from ptokit.tools.shown import array_of

COSTS = [
    "line",
    "instruction",
    "times",
    "cycles",
    "share",
    "waited",
    "critical",
    "bytes",
    "figures",
]


def html(shown: object) -> str:
    """Return the whole fragment: a frame with a style that affects nothing outside."""
    return f"<div class=ptokit><style>{_style()}</style>{body(shown)}</div>"


@cache
def _style() -> str:
    return (files("ptokit.tools.rich") / "rich.css").read_text(encoding="utf-8")


@singledispatch
def body(shown: object) -> str:
    """Return the content of the frame; for a type without a view, its text."""
    return f"<pre>{escape(str(shown))}</pre>"


def _head(text: str, more: str = "") -> str:
    return f"<p class=head>{escape(text)}{more}</p>"


def _folded(title: str, inside: str) -> str:
    return f"<details><summary>{title}</summary>{inside}</details>"


@body.register(HostArray)
def _array(shown: HostArray[Handle]) -> str:
    """Return a tile or tensor: its values as colours and as text."""
    head, _, values = repr(shown).removesuffix(">").partition("\n")
    found = array_of(shown.handle)
    if not found.size:
        return _head(head[1:])
    found = found.reshape(-1, found.shape[-1])
    picture = heat(np.ma.getdata(found), ~np.ma.getmaskarray(found))
    text = f"<figure><figcaption>values</figcaption><pre>{escape(values)}</pre></figure>"
    return _head(head[1:]) + f"<div class=side>{picture}{text if values else ''}</div>"


@body.register(RecordedTile)
@body.register(RecordedView)
def _recorded(shown: object) -> str:
    """Return the text of a tile or view during recording, which has no values."""
    return f"<pre>{escape(repr(shown))}</pre>"


@body.register
def _layout(shown: TileType) -> str:
    size = f" <span class=soft>{shown.nbytes:,} bytes, elements of {shown.dtype.bits} bits</span>"
    return _head(str(shown), size) + f"<div class=side>{layout_figures(shown)}</div>"


@body.register
def _program(shown: Program) -> str:
    names = ", ".join(f"@{func.name}" for func in shown.module.funcs)
    badges = "".join(
        f'<span class="badge {v.word.value}">{v.target}: {v.word.value}</span>'
        for v in shown.verdicts(*TARGETS)
    )
    return _head(f"Program {names}", badges) + _text(shown)


def _text(program: Program) -> str:
    """Return the program's text, folded; an error if it cannot be printed."""
    try:
        text = program.text()
    except PtoError as problem:
        return body(problem)
    return _folded(f"{len(text.splitlines())} lines of .pto", coloured_program(text))


@body.register(Kernel)
def _kernel(shown: Kernel[...]) -> str:
    head = f"kernel {shown.function.__name__}{shown.parameters()}"
    count = f" <span class=soft>captured for {len(shown.kept)} kinds of arguments</span>"
    captures = [*shown.kept.values()]
    return _head(head, count) + (_text(captures[-1].program) if captures else "")


body.register(Diagnostic)(coloured_diagnostic)


@body.register
def _problem(shown: PtoError) -> str:
    return "".join(map(coloured_diagnostic, shown.diagnostics))


@body.register
def _verdict(shown: Verdict) -> str:
    badge = f'<span class="badge {shown.word.value}">{escape(str(shown))}</span>'
    return _head(shown.target, badge) + "".join(map(coloured_diagnostic, shown.diagnostics))


@body.register
def _run(shown: Run) -> str:
    """Return a row for each output, and the executed instructions."""
    rows = [
        (name, shown.dtypes[name], "x".join(map(str, array.shape)), *_ends(array))
        for name, array in shown.outputs.items()
    ]
    counts = ", ".join(f"{name} {count:,}" for name, count in shown.instructions.items())
    head = _head(f"Run: {sum(shown.instructions.values()):,} instructions")
    said = f"<p class=soft>{escape(counts)}</p>"
    return head + _table(("output", "elements", "extents", "lowest", "highest"), rows) + said


def _ends(array: object) -> tuple[str, str]:
    values = np.asarray(array)
    if not values.size or values.dtype.kind == "V":  # bits of a type that NumPy does not have
        return "", ""
    real = values.astype(np.float64)
    return f"{real.min():.6g}", f"{real.max():.6g}"


@body.register
def _profile(shown: Profile) -> str:
    rows = line_rows(shown.timeline, shown.by_line(), LineNumbers())
    heads = "".join(f"<th{_class(name[0] not in 'if')}>{name}</th>" for name in COSTS)
    costs = f"<table><tr>{heads}</tr>{rows}</table>"
    head = _head(f"Profile of @{shown.func} on {shown.timeline.target}")
    return head + figures(shown) + lanes(shown.timeline) + _folded("by line", costs)


@body.register
def _tuning(shown: Tuning) -> str:
    refused = [(*one.params.values(), one.reason) for one in shown.refused]
    every = [*shown.rows, *shown.refused]
    names = [*every[0].params] if every else []
    rows = [
        (n, *row.params.values(), row.cycles, f"{row.microseconds:.2f}", row.bound_by)
        for n, row in enumerate(shown.rows, 1)
    ]
    table = _table(("rank", *names, "cycles", "us", "bound by"), rows)
    left = _folded(f"{len(refused)} refused", _table((*names, "why"), refused)) if refused else ""
    return _head(f"{shown.kernel} on {shown.target}, by {shown.by}") + table + left


@body.register
def _comparison(shown: Comparison) -> str:
    word = "good" if shown else "error"
    return f'<div class=found style="--of: var(--{word})"><pre>{escape(str(shown))}</pre></div>'


@body.register
def _memory(shown: MemoryMap) -> str:
    return _memories([shown])


def _memories(shown: Sequence[MemoryMap]) -> str:
    table = escape("\n".join(memory_table(shown)))
    return f"<pre>{table}</pre><figure>{memory_svg(shown)}</figure>"


@body.register(RichList)
def _several(shown: RichList[object]) -> str:
    """Return the items of a list; memory maps share one picture."""
    maps = [one for one in shown if isinstance(one, MemoryMap)]
    if maps and len(maps) == len(shown):
        return _memories(maps)
    return "".join(map(body, shown)) or "<p class=head>[] <span class=good>nothing found</span></p>"


def _table(heads: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Return cells under their headings, numbers right-aligned."""
    lines = [[*row] for row in rows]
    numbers = [isinstance(value, int) for value in lines[0]] if lines else repeat(False)
    head = "".join(f"<th{_class(n)}>{escape(h)}</th>" for h, n in zip(heads, numbers, strict=False))
    rest = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{rest}</table>"


def _cell(value: object) -> str:
    number = isinstance(value, int)
    return f"<td{_class(number)}>{f'{value:,}' if number else escape(str(value))}</td>"


def _class(number: bool) -> str:
    return " class=number" if number else ""
