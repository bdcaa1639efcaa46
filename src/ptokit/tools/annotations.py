"""Output of `check` for tools that show findings next to the code: SARIF and GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.diagnostics.source import Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
REGION = {
    "startLine": "line",
    "startColumn": "column",
    "endLine": "end_line",
    "endColumn": "end_column",
}
PLACES = {
    "file": "file",
    "line": "line",
    "endLine": "end_line",
    "col": "column",
    "endColumn": "end_column",
}
COMMANDS = LEVELS | {Severity.HINT: "notice"}


def sarif(found: Sequence[Diagnostic]) -> str:
    """Return a log in the Static Analysis Results Interchange Format 2.1.0, with one run."""
    from importlib.metadata import version  # the import costs as much as a check

    slugs = sorted({one.slug for one in found})
    driver = {"name": "ptokit", "version": version("ptokit"), "rules": [*map(_rule, slugs)]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, slugs.index(one.slug)) for one in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(slug: str) -> dict[str, object]:
    entry = CATALOGUE[slug]
    return {
        "id": slug,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.text},
    }


def _result(found: Diagnostic, rule: int) -> dict[str, object]:
    facts = found.to_json()
    notes = [note for note in found.explained() if note.span is not None]
    related = [_location(note.span, note) for note in notes if note.span is not None]
    return {
        "ruleId": found.slug,
        "ruleIndex": rule,
        "level": LEVELS[found.severity],
        "message": {"text": _text(found)},
        "locations": [] if found.span is None else [_location(found.span)],
        **({"relatedLocations": related} if related else {}),
        "properties": {key: facts[key] for key in ("rule", "when", "seen", "targets", "by")},
    }


def _location(span: Span, note: Note | None = None) -> dict[str, object]:
    place = span.to_json()
    region = {key: place[name] for key, name in REGION.items()}
    physical = {"artifactLocation": {"uri": _uri(span.source.name)}, "region": region}
    about = {} if note is None else {"message": {"text": note.message}}
    return {"physicalLocation": physical, **about}


def _near(name: str) -> str:
    """A file's name, relative to where the command ran if it is below."""
    path = Path(name)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else name


def _uri(name: str) -> str:
    path = Path(_near(name))
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _text(found: Diagnostic) -> str:
    """Return the message and its facts, one per line."""
    targets = f" ({', '.join(found.targets)})" if found.targets else ""
    facts = {"rule": found.rule and f"{found.rule}{targets}", "when": found.when}
    facts |= {"seen": found.seen, "help": found.help}
    return "\n".join([found.message, *(f"{key}: {text}" for key, text in facts.items() if text)])


def github(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield GitHub workflow commands that annotate the lines of a pull request."""
    for one in found:
        words: dict[str, object] = {"title": one.slug}
        if one.span is not None:
            place = one.span.to_json() | {"file": _near(one.span.source.name)}
            words |= {key: place[name] for key, name in PLACES.items()}
        said = ",".join(f"{key}={_escaped(str(word), ':,')}" for key, word in words.items())
        yield f"::{COMMANDS[one.severity]} {said}::{_escaped(_text(one))}"


def _escaped(text: str, more: str = "") -> str:
    """Return text with characters that end a command replaced by percent codes."""
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text
