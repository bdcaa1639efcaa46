"""Manual pages, types and diagnostics as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Instr

PROGRAMS = ("Example", "Forms", "Spelled")  # titles of what is text of programs
SPECIAL = re.compile(r"[<>*_\[\]\\]")


def warm() -> None:
    """Import the manual: that takes longer than to look at a page."""
    _ = manual("module")


def manual(name: str, language: str = "en") -> str | None:
    """The page that `ptokit explain` prints."""
    from ptokit.tools.manual import explain  # it imports the front end: see `warm`

    page = explain(name, language)
    return None if page is None else "\n".join(_lines(page))


def form_page(page: type[Instr], language: str = "en") -> str:
    """The part of the page that is about one form of an instruction, and the names of others."""
    from ptokit.tools.manual import page_in  # as above

    others = [other for other in lookup(page.mnemonic()) if other is not page]
    told = ", ".join(f"`{other.mnemonic()}`" for other in others)
    more = f"\n\nFurther forms: {told}" if told else ""
    return "\n".join(_lines(page_in(language, page))) + more


def _lines(page: str) -> Iterator[str]:
    """Indented lines are code; a line right above them is their title, as the first one is."""
    lines = page.split("\n")
    title = ""
    for indented, group in groupby(enumerate(lines), lambda line: line[1].startswith("  ")):
        some = [*group]
        if indented:
            code = [line for _, line in some]
            width = min(len(line) - len(line.lstrip()) for line in code)
            language = "pto" if title in PROGRAMS else "text"
            yield from (f"```{language}", *(line[width:] for line in code), "```")
            continue
        title = some[-1][1]
        for number, line in some:
            titled = number + 1 < len(lines) and lines[number + 1].startswith("  ")
            first = number == 0 or (number > 1 and not lines[number - 1] and _form(line))
            yield f"**{escaped(line)}**" if line and (titled or first) else escaped(line)


def _form(line: str) -> bool:
    """True if a line names a further form of an instruction."""
    return line.startswith("pto.") and line.endswith(")")


def escaped(text: str) -> str:
    """Prose, in which nothing is markup but what stands between backticks."""
    parts = text.split("`")
    parts[::2] = (SPECIAL.sub(lambda found: f"\\{found[0]}", part) for part in parts[::2])
    return "`".join(parts)


def code(text: str, language: str = "pto") -> str:
    return f"```{language}\n{text}\n```"
