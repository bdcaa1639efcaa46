"""Coloured text of programs and diagnostics: the same characters with markup."""

from __future__ import annotations

import re
from html import escape

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.source import Part

WORDS = re.compile(r"(?P<note>//.*$)|(?P<type>!pto\.\w+)|(?P<op>\b[a-z]+\.[a-z_][\w.]*)", re.M)
MARKS = {"head": "b", "carets": "span class=carets", "label": "span class=label"}


def coloured_program(text: str) -> str:
    """Return a program's text with marked comments, types and operations."""

    def marked(found: re.Match[str]) -> str:
        return f"<span class={found.lastgroup}>{found[0]}</span>"

    return f"<pre>{WORDS.sub(marked, escape(text, quote=False))}</pre>"


def coloured_diagnostic(shown: Diagnostic) -> str:
    """Return a diagnostic as on a terminal, with marked head, carets and labels."""
    style = f"--of: var(--{shown.severity.value})"
    return f'<div class=found style="{style}"><pre>{shown.render(_marked)}</pre></div>'


def _marked(part: Part, text: str) -> str:
    tag = MARKS.get(part)
    inner = escape(text, quote=False)
    return f"<{tag}>{inner}</{tag.split()[0]}>" if tag else inner
