"""Places in a compiled kernel that wait to become lines: spans whose offset is an address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from ptokit.diagnostics.diagnostic import Diagnostic, Note
from ptokit.diagnostics.source import Source, Span

PENDING = "\0 address"
D = TypeVar("D", bound=Diagnostic)
_addresses = Source(PENDING, "")


def pending(address: int) -> Span:
    """Return the span that stands for a return address in a library."""
    return Span(_addresses, address, address)


def is_pending(span: Span | None) -> bool:
    return span is not None and span.source.name == PENDING


def addresses(found: Iterable[Diagnostic]) -> Iterator[int]:
    """Yield the addresses that diagnostics and their notes are about."""
    for one in found:
        for span in (one.span, *(note.span for note in one.notes)):
            if span is not None and is_pending(span):
                yield span.start


def placed(found: D, lines: Mapping[int, Span | None]) -> D:
    """Return the diagnostic with lines in the place of addresses."""
    notes = tuple(Note(n.message, _line(n.span, lines)) for n in found.notes)
    return replace(found, span=_line(found.span, lines), notes=notes)


def _line(span: Span | None, lines: Mapping[int, Span | None]) -> Span | None:
    return lines.get(span.start) if span is not None and is_pending(span) else span
