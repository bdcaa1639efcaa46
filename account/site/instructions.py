"""The reference: a page for each mnemonic, and one that lists them by chapter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache, partial

from account.isa import element_types, engines, recorded
from account.site.markdown import Page, code, dedented, paragraphs, prose, table
from ptokit.api.kernel.loading import loads
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import chapter, pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS
from ptokit.tools.manual.chinese import chinese_summary
from ptokit.tools.manual.instruction import ManualSection, heading, sections, slugs

COLUMNS = re.compile(r"\s{2,}")


@cache
def by_mnemonic() -> dict[str, list[type[Instr]]]:
    """The pages of each mnemonic, in the order of the manual."""
    found: dict[str, list[type[Instr]]] = {}
    for page in pages():
        found.setdefault(page.mnemonic(), []).append(page)
    return found


def instruction_pages() -> Iterator[Page]:
    """The list of instructions, the page of each mnemonic, and what sources disagree about."""
    yield "reference/instructions.md", overview
    for mnemonic, listed in by_mnemonic().items():
        yield f"reference/{mnemonic}.md", partial(page_of, mnemonic, listed)
    yield "reference/disputes.md", disputes


def overview() -> str:
    """Every instruction by chapter: its summary, and how many recorded cases repeat."""
    count = len(by_mnemonic())
    lines = [
        "# Instructions",
        "",
        f"{count} mnemonics, each with its rules on every target, and an example that runs. "
        "*Cases* are those of an independent simulator that both engines repeat, byte for byte.",
    ]
    chapters: dict[str, list[str]] = {}
    for mnemonic, listed in by_mnemonic().items():
        chapters.setdefault(chapter(listed[0]), []).append(mnemonic)
    for title in sorted(chapters):
        rows = (_row(name, by_mnemonic()[name]) for name in chapters[title])
        lines += ["", f"## {title}", "", table(("instruction", "what it does", "cases"), rows)]
    return "\n".join(lines) + "\n"


def _row(mnemonic: str, listed: list[type[Instr]]) -> tuple[str, str, str]:
    repeated = sum(recorded(page)[0] for page in listed)
    summaries = f"{prose(listed[0].summary())}<br>{prose(chinese_summary(listed[0]))}"
    return f"[{mnemonic}]({mnemonic}.md)", summaries, str(repeated or "")


def page_of(mnemonic: str, listed: list[type[Instr]]) -> str:
    """The page of a mnemonic: each of its forms."""
    lines = [f"# {mnemonic}", "", f"[{chapter(listed[0])}](instructions.md)", ""]
    for page in listed:
        if len(listed) > 1:
            lines += [f"## {heading(page)}", ""]
        lines += _form(page, "###" if len(listed) > 1 else "##")
    return "\n".join(lines) + "\n"


def _form(page: type[Instr], level: str) -> Iterator[str]:
    summary, _, rest = inspect.cleandoc(page.__doc__ or "").partition("\n")
    yield from (prose(summary), "", prose(chinese_summary(page)), "")
    yield from (paragraphs(rest.strip("\n")), "") if rest else ()
    for section in sections(page):
        title = section.title.removesuffix(" (on every target where none is named)")
        yield from (f"{level} {title}", "", _shown(page, section), "")
        if title == "Operands":
            yield from (f"{level} Element types", "", f"{element_types(page)}.", "")
        if title == "Example":
            yield from (_verdicts(page), "")
    yield from (f"{level} Evidence", "", _evidence(page), "")


def _shown(page: type[Instr], section: ManualSection) -> str:
    """A section of the manual page: a table, a list with links, else its lines."""
    title, lines = section
    if title == "Operands":
        rows = (line.split(None, 1) for line in lines)
        return table(("operand", "what it is"), ((f"`{name}`", prose(what)) for name, what in rows))
    if title == "Legality":
        head, *rows = (COLUMNS.split(line.strip()) for line in lines)
        return table(head, ([prose(cell) for cell in row] for row in rows))
    if title == "Diagnostics":
        names = dict.fromkeys(slugs(page))
        return ", ".join(f"[{s}](diagnostics/{s}.md)" for s in names) or "None of its own."
    if title == "Where sources disagree":
        return "\n".join(
            f"- [{d}](disputes.md#{d.lower()}): {prose(DISPUTES[d].question)} "
            f"{prose(DISPUTES[d].choice)}"
            for d in page.disputes
        )
    if title in ("NaN and infinity", "Storage"):
        return paragraphs(dedented(lines))
    return code(dedented(lines))


def _verdicts(page: type[Instr]) -> str:
    """The words of `check` about the example."""
    said = loads(example_program(page)).verdicts(*TARGETS)
    return f"`ptokit check` says: {prose('; '.join(f'{v.target}: {v}' for v in said))}."


def _evidence(page: type[Instr]) -> str:
    passed, every = recorded(page)
    cases = f"{passed} of {every} repeat, byte for byte" if every else "none"
    return f"Engines: {engines(page)}. Recorded cases of an independent simulator: {cases}."


def disputes() -> str:
    """Every question on which sources contradict each other."""
    lines = ["# Where sources disagree", "", "Each question has one answer here, and its reason."]
    for name, row in DISPUTES.items():
        lines += ["", f"## {name}", "", f"**{prose(row.question)}**", ""]
        told = [("Sources", row.sources), ("ptokit", row.choice), ("Why", row.why)]
        told += [("Option", row.option)] if row.option else []
        lines += [f"- {title}: {prose(text)}" for title, text in told]
        lines += ["", f"Pages: {', '.join(_asked_by(name)) or 'none'}."]
    return "\n".join(lines) + "\n"


def _asked_by(dispute: str) -> Iterable[str]:
    names = dict.fromkeys(p.mnemonic() for p in pages() if dispute in p.disputes)
    return (f"[{name}]({name}.md)" for name in names)
