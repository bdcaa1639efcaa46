"""The table of contents of the manual, one line per page."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import chapter, pages
from ptokit.tools.manual.chinese import chinese_summary, titles
from ptokit.tools.manual.topics import chapters


def contents(language: str = "en") -> str:
    """Return instructions by chapter of the manual, then other topics, then diagnostics."""
    chinese = language == "zh"
    lines = ["`ptokit explain NAME` prints the page of any of these."]
    if chinese:
        lines = ["`ptokit explain NAME --lang zh` 打印其中任何一项的页面。"]
    for title, rows in _chapters(chinese):
        title = titles("chapters")[title] if chinese else title
        width = max(len(name) for name, _ in rows)
        lines += ["", title, *(f"  {name:<{width}}  {says}" for name, says in rows)]
    return "\n".join(lines)


def _chapters(chinese: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    instructions: dict[str, dict[str, str]] = {}
    for page in pages():
        summary = chinese_summary(page) if chinese else page.summary()
        instructions.setdefault(chapter(page), {}).setdefault(page.mnemonic(), summary)
    for title, rows in instructions.items():
        yield title, list(rows.items())
    yield from chapters()
    yield "Diagnostics", [(slug, entry.title) for slug, entry in CATALOGUE.items()]
    yield "Where sources disagree", [(name, d.question) for name, d in DISPUTES.items()]
