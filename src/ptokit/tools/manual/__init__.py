"""The manual: the pages of `ptokit explain`, made from the pages and tables of the ISA."""

from __future__ import annotations

import inspect
import re
from textwrap import shorten, wrap

from ptokit.api.kernel.valueforms import value_names
from ptokit.diagnostics.catalogue import CATALOGUE, RENAMED
from ptokit.diagnostics.nearest import nearest
from ptokit.isa.below import NAMES, unsaid
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import index, lookup, pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import ARCHES
from ptokit.tools.manual.chinese import chinese_page
from ptokit.tools.manual.contents import contents
from ptokit.tools.manual.instruction import instruction_page, slugs
from ptokit.tools.manual.topics import topics

__all__ = ["contents", "explain", "instruction_page", "page_in", "suggestions"]

BELOW_TILES = "it is a name of the level below tiles, which ptokit keeps as it is written"
PRINTED = re.compile(r"(?:error|warning)\[([\w-]+)\]:?")


def explain(name: str, language: str = "en") -> str | None:
    """Return the page of an instruction, type, location, diagnostic or other name.

    A diagnostic may be named as it is printed: error[window-out-of-bounds]. None if there is no
    page.
    """
    name = PRINTED.sub(r"\1", name.strip())
    forms = lookup(name)
    if forms:
        return "\n\n".join(page_in(language, page) for page in forms)
    if name.upper() in DISPUTES:
        return dispute_page(name.upper())
    word = name.removeprefix("!").removeprefix("#").removeprefix("pto.")
    topic = topics().get(ARCHES.get(word, word)) or topics().get(word.lower())
    slug = RENAMED.get(name, name)
    found = [slug_page(slug)] if slug in CATALOGUE else []
    values = map(instruction_page, value_names().get(name.removeprefix("pto."), ()))
    page = "\n\n".join([*found, *([topic()] if topic else []), *values])
    if not page and word in NAMES:
        known = unsaid(word)
        return f"pto.{word} has no page: {BELOW_TILES}{known and f'; {known}'}"
    return page or _mentions(name)


def page_in(language: str, page: type[Instr]) -> str:
    """Return the manual page of a form of an instruction in English (en) or Chinese (zh)."""
    return chinese_page(page) if language == "zh" else instruction_page(page)


def _mentions(word: str) -> str | None:
    """Return the pages that mention a word, one line each; None if there are none."""
    whole = re.compile(rf"\b{'[- ]?'.join(map(re.escape, word))}s?\b", re.IGNORECASE)
    found = {p.mnemonic(): inspect.getdoc(p) or "" for p in pages()}
    found |= {slug: f"{entry.title}. {entry.text}" for slug, entry in CATALOGUE.items()}
    found |= {n: f"{d.question} {d.choice} {d.option or ''}" for n, d in DISPUTES.items()}
    lines = [[n, text.partition("\n")[0]] for n, text in found.items() if whole.search(text)]
    if not lines or not word[:1].isalpha():
        return None
    wide = max(len(name) for name, _ in lines)
    room = 100 - wide
    rows = [f"  {n:{wide}}  {shorten(text, room, placeholder=' ...')}" for n, text in lines]
    return "\n".join([f"{word} has no page of its own. Pages that mention it:", "", *rows])


def suggestions(name: str) -> list[str]:
    """Return at most three names of pages that are similar to this name."""
    mnemonics = (page.mnemonic().removeprefix("pto.") for page in pages())
    known = dict.fromkeys([*mnemonics, *CATALOGUE, *topics()])
    return nearest(name.removeprefix("pto."), known, 3)


def slug_page(slug: str) -> str:
    """Return the page of a diagnostic: its meaning, and the instructions that raise it."""
    entry = CATALOGUE[slug]
    raised = sorted({p.mnemonic() for ps in index().values() for p in ps if slug in slugs(p)})
    lines = [slug, "", f"{entry.title[0].upper()}{entry.title[1:]}.", "", *wrap(entry.text, 80)]
    by = wrap(f"Raised by: {', '.join(raised)}", 100, break_on_hyphens=False) if raised else []
    return "\n".join([*lines, *([""] if raised else []), *by])


def dispute_page(name: str) -> str:
    """Return the page of a dispute: sources, ptokit's choice, and the reason."""
    d = DISPUTES[name]
    lines = [f"{name}: {d.question}", "", f"Sources: {d.sources}", f"ptokit: {d.choice}"]
    lines.append(f"Why: {d.why}")
    return "\n".join(lines + ([f"Option: {d.option}"] if d.option else []))
