"""Tables of verdicts: instructions down, targets across, reasons in words; also as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptokit.analysis.intervalanalysis import UndecidedRule
from ptokit.analysis.legality import Verdict, merged
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity
from ptokit.diagnostics.printable import columns, counted
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Module, Op

if TYPE_CHECKING:
    from ptokit.analysis.memorymap import MemoryMap


@dataclass(frozen=True)
class KernelVerdicts:
    """The result of `check` for one kernel: verdicts, or why it could not be read.

    `label` is its file, with the kernel's name if the file has several. `maps` are for --memory.
    """

    label: str
    module: Module | None
    verdicts: Sequence[Verdict] = ()
    maps: Sequence[MemoryMap] = ()
    unread: PtoError | None = None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Return all diagnostics; those that several targets share are merged."""
        return merged(self.verdicts) if self.unread is None else [*self.unread.diagnostics]


def report(check: KernelVerdicts, *, verbose: bool) -> Iterator[str]:
    """Yield the lines of `check` below its diagnostics: a table and the verdicts.

    With `verbose`, the rules deferred to run time are listed.
    """
    if check.module is None:
        return
    found = check.verdicts
    _, *rows = shown = table(check.module, [v.target for v in found], check.diagnostics)
    if len(found) > 1 and rows:
        yield from (*shown, "")
    if verbose:
        yield from _left(found)
    for verdict in found:
        also = "".join(_counted(verdict.diagnostics, Severity.WARNING, Severity.HINT))
        yield f"{verdict.target + ':':<6} {verdict}{also}"


def _counted(found: Sequence[Diagnostic], *severities: Severity) -> Iterator[str]:
    for severity in severities:
        if number := sum(d.severity is severity for d in found):
            yield f", {counted(number, severity.value)}"


def report_json(checks: Sequence[KernelVerdicts]) -> str:
    """Return the JSON of `docs/check.schema.json`: verdicts by kernel and target, diagnostics."""
    facts: dict[str, object] = {
        "verdicts": [{"kernel": c.label, **v.to_json()} for c in checks for v in c.verdicts],
        "diagnostics": [d.to_json() for c in checks for d in c.diagnostics],
    }
    if maps := [each.to_json() for c in checks for each in c.maps]:
        facts["memory"] = maps
    return json.dumps(facts, indent=2)


def _left(found: Sequence[Verdict]) -> Iterator[str]:
    targets: dict[UndecidedRule, list[str]] = {}
    for verdict in found:
        for left in verdict.left:
            targets.setdefault(left, []).append(verdict.target)
    if targets:
        yield "deferred to run time:"
        yield from (f"  {left} ({', '.join(names)})" for left, names in targets.items())
        yield ""


def table(module: Module, targets: Sequence[str], found: Sequence[Diagnostic]) -> list[str]:
    """Return a row per instruction with 'ok' or the reason of a refusal, by target.

    Errors without an instruction have rows of their own.
    """
    rows = [("line", "instruction", *targets)]
    errors = [d for d in found if d.is_error]
    told: list[Diagnostic] = []
    for func in module.funcs:
        for op in func.walk():
            if isinstance(op, Op) and op.span is not None:
                mine = [d for d in errors if _inside(d.span, op.span)]
                if op.page.executes or (mine and mine[0] not in told):
                    told += mine
                    reasons = (_reason(target, mine) for target in targets)
                    rows.append((str(op.span.line), op.name, *reasons))
    for one in errors:  # errors of functions, arguments, or the program
        if one not in told:
            place = "" if one.span is None else str(one.span.line)
            rows.append((place, "", *(_reason(target, [one]) for target in targets)))
    return columns(rows)


def _reason(target: str, found: Sequence[Diagnostic]) -> str:
    """Return the first refusal in words, without the mnemonic."""
    for diagnostic in found:
        if not diagnostic.targets or target in diagnostic.targets:
            return diagnostic.message.partition(": ")[2] or diagnostic.message
    return "ok"


def _inside(place: Span | None, op: Span) -> bool:
    """Return whether a place, such as that of an operand, is on the line of an op."""
    return place is not None and place.source is op.source and place.line == op.line
