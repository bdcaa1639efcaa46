"""The diagnostics by slug: what each means, and a program that gets it with all that is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from account.site.guides import ROOT
from account.site.markdown import Page, code, paragraphs, prose, table
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.faults.callfaults import CALLS
from ptokit.diagnostics.faults.cppfaults import CPP
from ptokit.diagnostics.faults.kernelfaults import KERNELS
from ptokit.diagnostics.faults.memoryfaults import MEMORY
from ptokit.diagnostics.faults.orderfaults import ORDER
from ptokit.diagnostics.faults.rulefaults import RULES
from ptokit.diagnostics.faults.runfaults import RUNS
from ptokit.diagnostics.faults.textfaults import TEXT
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.tools.manual.instruction import slugs

GROUPS = {
    "Rules of instructions": RULES,
    "Tile types, addresses and capacities": MEMORY,
    "The order of pipes, cores and blocks": ORDER,
    "Runs": RUNS,
    "Calls, files, clusters": CALLS,
    "Text": TEXT,
    "Kernels in Python": KERNELS,
    "Kernels in C++": CPP,
}
PROGRAMS = ROOT / "tests" / "errors"
KERNEL_FILE = ROOT / "tests" / "pykernels" / "mistakes.py"
FIRST = "// $ "  # what stands before the command in the first line of a program


def diagnostic_pages() -> Iterator[Page]:
    """The list of diagnostics, and the page of each."""
    yield "reference/diagnostics.md", overview
    for slug in CATALOGUE:
        yield f"reference/diagnostics/{slug}.md", partial(slug_text, slug)


def overview() -> str:
    """The diagnostics by what they are about."""
    lines = ["# Diagnostics", "", "A message begins with its slug: `error[window-out-of-bounds]`."]
    for title, group in GROUPS.items():
        rows = ((f"[{slug}](diagnostics/{slug}.md)", prose(e.title)) for slug, e in group.items())
        lines += ["", f"## {title}", "", table(("slug", "first line"), rows)]
    return "\n".join(lines) + "\n"


def slug_text(slug: str) -> str:
    """The page of one diagnostic."""
    entry = CATALOGUE[slug]
    title = f"{entry.title[0].upper()}{entry.title[1:]}."
    lines = [f"# {slug}", "", "[Diagnostics](../diagnostics.md)", "", f"**{prose(title)}**", ""]
    lines += [paragraphs(entry.text), ""]
    raised = dict.fromkeys(page.mnemonic() for page in _raising(slug))
    if raised:
        lines += ["Raised by: " + ", ".join(f"[{name}](../{name}.md)" for name in raised), ""]
    return "\n".join([*lines, *_example(slug)]) + "\n"


def _raising(slug: str) -> list[type[Instr]]:
    return [page for page in pages() if slug in slugs(page)]


def _example(slug: str) -> Iterator[str]:
    """A program with this diagnostic and all that its command prints."""
    if path := program_with(slug):
        first, _, program = path.read_text(encoding="utf-8").partition("\n")
        command = first.removeprefix(FIRST).replace("FILE", path.name)
        yield from ("## A program that gets it", "", code(program), "", code(f"$ {command}"), "")
        yield code(path.with_suffix(".out").read_text(encoding="utf-8"))
    elif found := mistakes().get(slug):
        kernel, printed = found
        yield from ("## A kernel that gets it", "", code(kernel, "python"), "", code(printed))


@cache
def _outputs() -> dict[Path, str]:
    return {p.with_suffix(".pto"): p.read_text("utf-8") for p in sorted(PROGRAMS.glob("*.out"))}


def program_with(slug: str) -> Path | None:
    """The program of tests/errors that shows a diagnostic, best the one of its name."""
    shown = [path for path, output in _outputs().items() if f"[{slug}]" in output]
    return min(shown, key=lambda path: path.stem != slug, default=None)


@cache
def mistakes() -> dict[str, tuple[str, str]]:
    """By slug the first kernel of tests/pykernels/mistakes.py that gets it, and the message."""
    source = KERNEL_FILE.read_text(encoding="utf-8")
    found: dict[str, tuple[str, str]] = {}
    for part in KERNEL_FILE.with_suffix(".out").read_text(encoding="utf-8").split("==== ")[1:]:
        name, _, printed = part.partition("\n")
        slug = re.search(r"\w+\[([\w-]+)\]", printed)
        kernel = re.search(rf"^@pto\.kernel\S*\ndef {name}\(.*?(?=\n\n\n|\Z)", source, re.M | re.S)
        if slug and kernel:
            found.setdefault(slug[1], (kernel[0], printed))
    return found
