"""Text of programs and diagnostics with colours: the same characters, some of them marked."""

from __future__ import annotations

import re
from html import escape

WORDS = re.compile(r"(?P<note>//.*$)|(?P<type>!pto\.\w+)|(?P<op>\b[a-z]+\.[a-z_][\w.]*)", re.M)
FACT = re.compile(r"^(  = \w+:|  --&gt;.*$)", re.M)


def coloured_program(text: str) -> str:
    """A program's text: comments, types and the names of operations are marked."""

    def marked(found: re.Match[str]) -> str:
        return f"<span class={found.lastgroup}>{found[0]}</span>"

    return f"<pre>{WORDS.sub(marked, escape(text, quote=False))}</pre>"


def coloured_diagnostic(text: str, severity: str) -> str:
    """A rendered diagnostic, as a terminal shows it: its head, carets and labels are marked."""
    head, _, rest = escape(text, quote=False).partition("\n")
    slug, _, message = head.partition(": ")
    rest = re.sub(r"(?<=\| )( *)(\^+)$", r"\1<span class=carets>\2</span>", rest, flags=re.M)
    rest = FACT.sub(r"<span class=label>\1</span>", rest)
    return (
        f'<div class=found style="--of: var(--{severity})"><pre><b>{slug}</b>: {message}\n'
        f"{rest}</pre></div>"
    )
