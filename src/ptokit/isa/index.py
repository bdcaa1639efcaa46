"""The instruction set: every page of the package, and the index by mnemonic."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

from ptokit.isa.lang.asm import own_names
from ptokit.isa.lang.instr import PAGES, Instr

PACKAGE = "ptokit.isa.pages"
SPELLINGS = Path(__file__).with_name("spellings.json")  # `make docs` writes it


@cache
def pages() -> tuple[type[Instr], ...]:
    """Return every page of the package in the order of the files; there is no hand-kept list."""
    return tuple(walk())


def walk() -> Iterator[type[Instr]]:
    """Yield `pages`, importing each file when it is reached, so that a search stops early."""
    package = importlib.import_module(PACKAGE)
    for file in _imported(package.__path__, f"{PACKAGE}."):
        yield from [page for page in PAGES if page.__module__ == file]


def _imported(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """Import every module of the package and yield its name."""
    for found in pkgutil.iter_modules(folders, prefix):
        module = importlib.import_module(found.name)
        yield found.name
        yield from _imported(getattr(module, "__path__", ()), f"{found.name}.")


def spelling_table() -> dict[str, object]:
    """Return the table by which `lookup` finds the file of a mnemonic without imports.

    The table has the files of each spelling, and the classes of each file.
    """
    files = {name: [page.__module__ for page in forms] for name, forms in sorted(index().items())}
    spellings = {name: list(dict.fromkeys(modules)) for name, modules in files.items()}
    return {"classes": _classes(), "spellings": spellings}


def _classes() -> dict[str, str]:
    """Return the classes in each file of pages: a new class makes the table outdated."""
    folder = Path(__file__).parent / "pages"
    texts = {str(p.relative_to(folder)): p.read_text("utf-8") for p in sorted(folder.rglob("*.py"))}
    return {n: " ".join(re.findall(r"^class (\w+)", text, re.M)) for n, text in texts.items()}


@cache
def _files() -> Mapping[str, list[str]]:
    """Return the modules that spell each name; nothing if the table is outdated."""
    try:
        table = json.loads(SPELLINGS.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return table["spellings"] if table["classes"] == _classes() else {}


def _flat(name: str) -> str:
    """Return the name in lower case with underscores for dots: `textract.fp`, `TEXTRACT_FP`."""
    return name.replace(".", "_").lower()


@cache
def index() -> Mapping[str, tuple[type[Instr], ...]]:
    """Return the pages of every spelling of every mnemonic, with and without its dialect."""
    table: dict[str, tuple[type[Instr], ...]] = {}
    for page in pages():
        for name in _spellings(page):
            table[name] = (*table.get(name, ()), page)
    return table


def _spellings(page: type[Instr]) -> set[str]:
    bare = {_flat(n) for n in (page.name, page.cpp, *page.asm.names)}
    full = {f"{page.asm.dialect}_{n}" for n in bare}
    full |= {f"pto_{own.name}" for own in own_names(page.own)}
    return full | (bare if page.asm.dialect == "pto" else set(page.asm.names))


@lru_cache(maxsize=4096)
def lookup(name: str) -> tuple[type[Instr], ...]:
    """Return the pages that `name` means in any text form; none if unknown.

    Only the files of these pages are imported, unless the table is outdated.
    """
    flat = _flat(name)
    files = _files().get(flat, [])
    for file in files:
        importlib.import_module(file)
    found = [p for file in files for p in PAGES if p.__module__ == file and flat in _spellings(p)]
    return tuple(found) or index().get(flat, ())


def replayed(op: str, form: str) -> type[Instr] | None:
    """Return the page that executes recorded vectors of `op` in `form`, or None."""
    for page in pages():
        if form in page.recorded and op == (page.recorded_op or page.name):
            return page
    return None


def chapter(page: type[Instr]) -> str:
    """Return the chapter of the manual: the docstring title of the page's folder or file."""
    folder, _, _ = page.__module__.rpartition(".")
    for module in (folder, page.__module__):
        title, colon, _ = (sys.modules[module].__doc__ or "").split("\n")[0].partition(": ")
        if colon and module != PACKAGE:
            return title
    raise AssertionError(f"neither {folder} nor {page.__module__} begins with 'TITLE: '")
