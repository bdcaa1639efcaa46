"""Deleting any one page leaves a program that imports, checks and runs: tried in this process.

No module may name a page of another one, so that a page's text can be deleted; and with the page
taken off the list, everything that is derived from the list is derived again.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.isa.index import pages
from ptokit.isa.lang import instr as lang
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.tools.manual import instruction_page

MOVES = {"TExtract", "TInsert", "TMov"}


PROSE = re.compile(r'"""[\s\S]*?"""|# .*')
PAGES = ROOT / "src" / "ptokit" / "isa" / "pages"


@cache
def named() -> dict[str, set[str]]:
    """Every name that modules which speak of pages import or use, and where.

    A page may name those by which its `lowered` carries an instruction out: `make.op(Page, ...)`,
    `make.op(Page.second, ...)`.
    """
    found: dict[str, set[str]] = {}
    kinds = {page.__name__ for page in pages()}
    for path in (ROOT / "src" / "ptokit").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if kinds.isdisjoint(re.findall(r"(?<!class )\b\w+", PROSE.sub("", text))):
            continue
        nodes = [*ast.walk(ast.parse(text))]
        parts = lowered(nodes) if PAGES in path.parents else set[str]()
        for node in nodes:
            names = [node.id] if isinstance(node, ast.Name) else []
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):  # a row of a table
                names = []
            if isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
            for name in set(names) - parts:
                found.setdefault(name, set()).add(path.name)
    return found


def lowered(nodes: list[ast.AST]) -> set[str]:
    """The names of pages of which a module adds instructions."""
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    added = [n.args[0] for n in calls if ast.unparse(n.func) == "make.op" and n.args]
    pages = [page.value if isinstance(page, ast.Attribute) else page for page in added]
    return {page.id for page in pages if isinstance(page, ast.Name)}


def forget() -> None:
    """Clear whatever the package remembers of earlier calls."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ptokit"):
            for value in list(vars(module).values()):
                clear: Any = getattr(value, "cache_clear", None)  # Any: of functools
                if callable(clear) and getattr(value, "__module__", "").startswith("ptokit"):
                    clear()


@pytest.fixture
def removed(request: pytest.FixtureRequest) -> Iterator[type[Instr]]:
    """A page that is off the list while the test runs."""
    page: type[Instr] = request.param
    place = lang.PAGES.index(page)
    del lang.PAGES[place]
    forget()
    try:
        yield page
    finally:
        lang.PAGES.insert(place, page)
        forget()


def test_no_module_names_a_page() -> None:
    found = {p.__name__: where for p in pages() if (where := named().get(p.__name__))}
    assert found == {}, "read it off the pages instead"


@pytest.mark.parametrize("removed", sampled(pages(), 160), ids=lambda p: p.__name__, indirect=True)
def test_the_rest_works_without(removed: type[Instr]) -> None:
    rest = {p.__name__ for p in pages()}
    assert removed.__name__ not in rest
    for page in sampled(pages(), 4):
        assert instruction_page(page)
    ones = pto.tile("vec", pto.f32, 16, 32, data=np.ones((16, 32), np.float32))
    for name in MOVES & rest:
        other = pto.tile("vec", pto.f32, 16, 32, data=np.zeros((16, 32), np.float32))
        getattr(pto, name.lower())(other, ones)
        assert other.numpy().all()
    program = pto.loads("func.func @f() {\n}\n")
    assert program.check("all") == []
    assert program.run() == {}


def test_what_was_read_without_a_page_is_read_with_it_again() -> None:
    """The forms of a mnemonic are remembered where caches are cleared, and nowhere else."""
    for page in (p for p in pages() if p.name == "tmov"):
        text, place = example_program(page), lang.PAGES.index(page)
        del lang.PAGES[place]
        forget()
        try:
            with suppress(pto.PtoError):
                pto.loads(text)
        finally:
            lang.PAGES.insert(place, page)
            forget()
        assert pto.loads(text).func()
