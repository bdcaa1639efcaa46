"""One kernel, a verdict for every target: instructions down, targets across, reasons in words."""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.diagnostics import Diagnostic
from ptokit.ir import Module, Op
from ptokit.text.source import Span


def verdict(target: str, found: Sequence[Diagnostic]) -> str:
    """One line: legal, or how many errors."""
    here = [d for d in found if not d.targets or target in d.targets]
    errors = sum(d.is_error for d in here)
    warnings = len(here) - errors
    also = f", {warnings} warning{'s' * (warnings != 1)}" if warnings else ""
    said = f"refused, {errors} error{'s' * (errors != 1)}" if errors else "legal"
    return f"{target + ':':<6} {said}{also}"


def table(module: Module, targets: Sequence[str], found: Sequence[Diagnostic]) -> list[str]:
    """A row for each instruction of the program: 'ok' or the reason of its refusal, by target."""
    rows = [("line", "instruction", *targets)]
    for func in module.funcs:
        for op in func.body.walk():
            if isinstance(op, Op) and not op.page.handle and op.span is not None:
                mine = [d for d in found if d.is_error and _inside(d.span, op.span)]
                reasons = (_reason(target, mine) for target in targets)
                rows.append((str(_line(op.span)), op.page.mnemonic(), *reasons))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _reason(target: str, found: Sequence[Diagnostic]) -> str:
    """The first refusal in words, without the mnemonic."""
    for diagnostic in found:
        if target in diagnostic.targets:
            return diagnostic.message.partition(": ")[2]
    return "ok"


def _line(span: Span) -> int:
    return span.source.position(span.start)[0]


def _inside(place: Span | None, op: Span) -> bool:
    """Diagnostics point at operands, to the right of the mnemonic on its line."""
    return place is not None and place.source is op.source and _line(place) == _line(op)
