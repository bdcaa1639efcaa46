"""Diagnostics as editors show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types as lsp

from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.diagnostics.source import Span
from ptokit.tools.lsp.editedtext import EditedText

SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.HINT: lsp.DiagnosticSeverity.Hint,
}


def published(
    found: Iterable[Diagnostic], text: EditedText, uri: str, targets: Sequence[str]
) -> Iterator[lsp.Diagnostic]:
    """The diagnostics of a text; each names the targets that refuse where not all of them do."""
    for one in found:
        yield lsp.Diagnostic(
            place(one.span, text) if one.span else _of_function(one, text),
            told(one, targets),
            severity=SEVERITIES[one.severity],
            code=one.slug,
            source="ptokit",
            tags=[lsp.DiagnosticTag.Unnecessary] if one.severity is Severity.HINT else None,
            related_information=[
                lsp.DiagnosticRelatedInformation(
                    lsp.Location(uri, place(note.span, text)), note.message
                )
                for note in one.explained()
                if note.span is not None
            ],
        )


def place(span: Span | None, text: EditedText) -> lsp.Range:
    """Where a span stands; what is about the whole program stands on the first line."""
    if span is None or span.end > len(text.text):
        return text.at.lines(0, 0)
    return text.at.range(span.start, span.end)


def _of_function(one: Diagnostic, text: EditedText) -> lsp.Range:
    """Where the function is named that a diagnostic without a place is about, if it is of one."""
    name = one.message.partition(":")[0]
    func = next((f for f in text.funcs if f"@{f.name}" == name), None)
    return place(None if func is None else func.span, text)


def told(one: Diagnostic, targets: Sequence[str]) -> str:
    """The message, then what `check` prints below the line of the text."""
    some = [name for name in targets if name in one.targets]
    where = f" ({', '.join(some)})" if some and len(some) < len(targets) else ""
    facts = {"rule": one.rule, "when": one.when, "refused by": one.refused_by}
    facts |= {"seen": one.seen, "help": one.help}
    notes = [("note", note.message) for note in one.explained() if note.span is None]
    lines = [f"{label}: {fact}" for label, fact in (*facts.items(), *notes) if fact]
    return "\n".join([f"{one.message}{where}", *lines])
