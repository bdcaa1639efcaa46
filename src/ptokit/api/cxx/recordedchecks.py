"""Legality of recorded launches: what a launch on a target would refuse, and what text warns of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ptokit.analysis.legality import Verdict
from ptokit.api.cxx.callbinding import CxxCall, as_moved
from ptokit.api.cxx.kernelcores import CxxCore, judged, operands_of
from ptokit.api.cxx.launching import CxxLaunch
from ptokit.api.cxx.recordedprogram import RecordedCalls
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, PtoError, Severity
from ptokit.diagnostics.source import Span
from ptokit.isa.model.targets import Target
from ptokit.machine.memory import Memory
from ptokit.values.fixpipe import HARDWARE_READING

Lines = Mapping[int, Span | None]


class _NoArrays(dict[int, Memory]):
    """Arrays without bytes: types and addresses are judged, not data."""

    def __missing__(self, number: int) -> Memory:
        return Memory.nothing()


def as_launched(verdict: Verdict, recorded: RecordedCalls, lines: Lines, target: Target) -> Verdict:
    """Return the verdict with the errors that a launch on the target would have.

    What else the check of the text refuses is a warning; errors of data stay, which a launch finds
    as it runs.
    """
    found = [_warning(d) if _of_rules(d) else d for d in verdict.diagnostics]
    refused = [*dict.fromkeys(_refused(recorded, lines, target))]
    places = {(d.span, d.slug) for d in refused}
    kept = [d for d in found if (d.span, d.slug) not in places]
    return replace(verdict, diagnostics=(*refused, *kept))


def _of_rules(found: Diagnostic) -> bool:
    return found.is_error and found.rule is not None and found.by != (Judge.HARDWARE,)


def _warning(found: Diagnostic) -> Diagnostic:
    return replace(found, severity=Severity.WARNING)


def _refused(recorded: RecordedCalls, lines: Lines, target: Target) -> Iterator[Diagnostic]:
    """Yield what a launch would refuse, for each call and line once."""
    for launch in recorded.launches:
        cores = CxxLaunch(
            "", 1, (target, HARDWARE_READING), _NoArrays(), lambda _: None, mixed=launch.mixed
        ).alone()
        known = {core.place[1:]: core for core in cores}
        for core in launch.cores:
            here = known[core.place[1:]]
            for number, place in {*zip(core.calls, core.places, strict=True)}:
                yield from _of_call(recorded.calls[number], here, lines.get(place))


def _of_call(call: CxxCall, core: CxxCore, span: Span | None) -> Iterator[Diagnostic]:
    given = CxxCall(call.page, call.stated or call.operands, call.attrs)
    moved = as_moved(given, core.target)
    try:
        list(judged(moved, operands_of(moved, core), core.target))
    except PtoError as problem:
        yield from (replace(d, span=d.span or span) for d in problem.diagnostics)
