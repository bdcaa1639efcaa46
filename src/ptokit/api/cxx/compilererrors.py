"""Errors of a C++ compiler as one diagnostic: the first place, then the compiler's words."""

from __future__ import annotations

import re
from pathlib import Path

from ptokit.api.cxx.translation import LAUNCHED, NO_HEADER
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError
from ptokit.diagnostics.source import Source, Span

PLACED = re.compile(
    r"^(?P<file>[^\n]+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<why>.*)$", re.M
)
LINKER = re.compile(r"undefined (?:reference to|symbols?:) *[`'\"]?([^'\"\n]+)")
LINK = "name the file that defines it, or link its library with -l"
TESTS = "link GoogleTest: -l gtest -l gtest_main"
MOST = 40  # lines of the compiler's that a message has


def compile_error(compiler: str, text: str, path: Path) -> PtoError:
    """Return the error that stands for all that a compiler said about a file, as the call names it.

    Compilers are given whole paths.
    """
    text = text.replace(str(path.resolve()), str(path))
    first = PLACED.search(text)
    if first is not None and first["file"] == LAUNCHED:
        return _of_launch(text, first["why"])
    slug = "cxx-compile-error"
    lacking = LINKER.search(text)
    why = first["why"] if first else f"undefined symbol {lacking[1]}" if lacking else text.strip()
    message = f"{path.name}: {CATALOGUE[slug].title}: {why.splitlines()[0] if why else 'no reason'}"
    span = _span(first) if first else None
    help = None
    if lacking and not first:
        help = TESTS if lacking[1].startswith("testing::") else LINK
    notes = _said(Path(compiler).name, text)
    return PtoError(Diagnostic(slug, message, span, help=help, notes=notes))


def _of_launch(text: str, why: str) -> PtoError:
    slug = "cxx-launch"
    if NO_HEADER in why:
        message = f"{CATALOGUE[slug].title}: {NO_HEADER}"
        return PtoError(Diagnostic(slug, message, help="add #include <pto/pto-inst.hpp>"))
    help = "name a kernel of the file, with all of its template arguments: name<float, 64>"
    message = f"{CATALOGUE[slug].title}: {why}"
    return PtoError(Diagnostic(slug, message, help=help, notes=_said("the compiler", text)))


def _said(who: str, text: str) -> tuple[Note, ...]:
    words = _shortened(text)
    return (Note(f"{who} says:\n{words}"),) if words else ()


def _shortened(text: str) -> str:
    lines = text.rstrip().splitlines()
    more = [f"({len(lines) - MOST} more lines)"] if len(lines) > MOST else []
    return "\n".join([*lines[:MOST], *more])


def _span(match: re.Match[str]) -> Span | None:
    """Return the place that a message names, where its file can be read."""
    try:
        text = Path(match["file"]).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    lines = text.splitlines(keepends=True)
    number = int(match["line"])
    if not 0 < number <= len(lines):
        return None
    line, before = lines[number - 1], sum(map(len, lines[: number - 1]))
    column = min(int(match["column"] or 1), max(1, len(line.rstrip()))) - 1
    word = re.match(r"\w*", line[column:])
    start = before + column
    return Span(Source(match["file"], text), start, start + max(1, len(word[0]) if word else 1))
