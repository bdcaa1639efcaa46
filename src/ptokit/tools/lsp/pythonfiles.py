"""Python files with kernels: `ptokit check` of the file as it is saved, in a process of its own.

To check a kernel in Python its file is imported, which runs code of the user: that code may take
long, print, or end its process.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol import types as lsp

from ptokit.diagnostics.diagnostic import JsonObject, Severity
from ptokit.tools.lsp.hovering import word_in
from ptokit.tools.lsp.markdown import manual
from ptokit.tools.lsp.positions import TextPositions
from ptokit.tools.lsp.published import SEVERITIES

PATIENCE = 120.0  # seconds that the import and the check of a file may take
IMPORTED = re.compile(r"^\s*import\s+ptokit(?:\s+as\s+(\w+))?|^\s*from\s+ptokit\s+import\s", re.M)
KERNEL = re.compile(r"^\s*@(?:\w+\.)?kernel\b", re.M)


def has_kernels(text: str) -> bool:
    """True if the text imports ptokit and has a function with its decorator."""
    return bool(IMPORTED.search(text) and KERNEL.search(text))


async def command(*words: str) -> tuple[int, str, str]:
    """Run a command of ptokit; return its status, and what it says on each stream."""
    program = sys.executable, "-m", "ptokit", *words
    pipe = asyncio.subprocess.PIPE
    nothing = asyncio.subprocess.DEVNULL
    started = await asyncio.create_subprocess_exec(
        *program, stdin=nothing, stdout=pipe, stderr=pipe
    )
    try:
        said, wrong = await asyncio.wait_for(started.communicate(), PATIENCE)
    except (TimeoutError, asyncio.CancelledError):
        started.kill()
        raise
    return started.returncode or 0, said.decode(errors="replace"), wrong.decode(errors="replace")


async def python_diagnostics(
    path: str, at: TextPositions, targets: Sequence[str]
) -> list[lsp.Diagnostic]:
    """Return what `check` says of the kernels of a file; what ends the check stands on line 1."""
    try:
        _, said, wrong = await command("check", "--format", "json", path)
    except TimeoutError:
        return [_on_first(at, f"the check took more than {PATIENCE:.0f} seconds")]
    try:
        found: JsonObject = json.loads(said)  # as docs/check.schema.json describes it
    except ValueError:  # it ended before it could tell
        return [_on_first(at, wrong.strip() or "the check ended without a word")]
    return [*shown_of(found["diagnostics"], path, at, targets)]


def _on_first(at: TextPositions, message: str) -> lsp.Diagnostic:
    warning = lsp.DiagnosticSeverity.Warning
    return lsp.Diagnostic(at.lines(0, 0), message, severity=warning, source="ptokit")


def shown_of(
    found: Sequence[JsonObject], path: str, at: TextPositions, targets: Sequence[str]
) -> Iterator[lsp.Diagnostic]:
    """Yield those that are about the chosen targets, at their place in this file."""
    for one in found:
        some = [name for name in targets if name in one["targets"]]
        if one["targets"] and not some:
            continue
        where = f" ({', '.join(some)})" if some and len(some) < len(targets) else ""
        facts = [
            f"{label}: {one[label]}" for label in ("rule", "when", "seen", "help") if one[label]
        ]
        notes = [f"note: {note}" for note in one["notes"]]
        place = _raised(at, one["message"], path)
        if one.get("file") and Path(one["file"]).name == Path(path).name:
            place = at.range(*(_offset(at, one, "line"), _offset(at, one, "end_line")))
        yield lsp.Diagnostic(
            place,
            "\n".join([f"{one['message']}{where}", *facts, *notes]),
            severity=SEVERITIES[Severity(one["severity"])],
            code=one["slug"],
            source="ptokit",
        )


def _raised(at: TextPositions, message: str, path: str) -> lsp.Range:
    """The line that a message names of an exception while the file was imported; else the first."""
    found = re.match(rf"{re.escape(path)}:(\d+): ", message)
    line = min(int(found[1]) if found else 1, len(at.starts)) - 1
    return at.lines(line, line)


def _offset(at: TextPositions, one: JsonObject, key: str) -> int:
    """Where a diagnostic starts or ends; the text may be another one by now."""
    column: int = one["column" if key == "line" else "end_column"]
    line: int = min(int(one[key]), len(at.starts)) - 1
    return min(at.starts[line] + column - 1, at.ends[line])


def python_hover(at: TextPositions, offset: int, language: str = "en") -> lsp.Hover | None:
    """The manual page of a name of ptokit: `pto.exp`, or `exp` where it is imported by name."""
    match = IMPORTED.search(at.text)
    word = word_in(at.text, offset)
    if match is None or not word:
        return None
    prefix, dot, name = word.rpartition(".")
    modules = {"ptokit", *(m[1] for m in IMPORTED.finditer(at.text) if m[1])}
    if not (prefix in modules if dot else re.search(rf"from ptokit import .*\b{name}\b", at.text)):
        return None
    page = manual(name, language)
    return None if page is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, page))
