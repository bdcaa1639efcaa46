"""The instruction set: every page, found by looking, and the index by mnemonic."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ptokit.isa.lang.instr import PAGES, Instr

PACKAGE = "ptokit.isa.pages"


@cache
def pages() -> tuple[type[Instr], ...]:
    """Every page of the package, in the order of the files. There is no hand-kept list."""
    package = importlib.import_module(PACKAGE)
    files = list(_imported(package.__path__, f"{PACKAGE}."))
    return tuple(sorted(PAGES, key=lambda page: files.index(page.__module__)))


def _imported(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """Every module of the package, imported, whatever was imported before."""
    for found in pkgutil.iter_modules(folders, prefix):
        module = importlib.import_module(found.name)
        yield found.name
        yield from _imported(getattr(module, "__path__", ()), f"{found.name}.")


def _flat(name: str) -> str:
    """Dots and underscores alike, case aside: `textract.fp`, `TEXTRACT_FP`, `textract_fp`."""
    return name.replace(".", "_").lower()


@cache
def index() -> Mapping[str, tuple[type[Instr], ...]]:
    """Every spelling of every mnemonic, with and without its dialect, to the forms it names."""
    table: dict[str, tuple[type[Instr], ...]] = {}
    for page in pages():
        bare = {_flat(n) for n in (page.name, page.cpp, *page.asm.spellings)}
        full = {f"{page.asm.dialect}_{n}" for n in bare}
        for name in full | (bare if page.asm.dialect == "pto" else set(page.asm.spellings)):
            table[name] = (*table.get(name, ()), page)
    return table


def lookup(name: str) -> tuple[type[Instr], ...]:
    """The forms of the instruction that `name` spells in any text form; none if unknown."""
    return index().get(_flat(name), ())


def replayed(op: str, form: str) -> type[Instr] | None:
    """The page that executes recorded vectors of `op` in `form`."""
    for page in pages():
        if form in page.recorded and op == (page.recorded_op or page.name):
            return page
    return None


def chapter(page: type[Instr]) -> str:
    """The chapter of the manual: the title with which the page's folder, or else file, begins."""
    folder, _, _ = page.__module__.rpartition(".")
    for module in (folder, page.__module__):
        title, colon, _ = (sys.modules[module].__doc__ or "").split("\n")[0].partition(": ")
        if colon and module != PACKAGE:
            return title
    raise AssertionError(f"neither {folder} nor {page.__module__} begins with 'TITLE: '")
