"""The instruction set: every page, found by looking, and the index by mnemonic."""

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
    """Every page of the package, in the order of the files. There is no hand-kept list."""
    return tuple(walk())


def walk() -> Iterator[type[Instr]]:
    """`pages`, each file imported when it is reached: for who stops at the page it wants."""
    package = importlib.import_module(PACKAGE)
    for file in _imported(package.__path__, f"{PACKAGE}."):
        yield from [page for page in PAGES if page.__module__ == file]


def _imported(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """Every module of the package, imported, whatever was imported before."""
    for found in pkgutil.iter_modules(folders, prefix):
        module = importlib.import_module(found.name)
        yield found.name
        yield from _imported(getattr(module, "__path__", ()), f"{found.name}.")


def spelling_table() -> dict[str, object]:
    """What `lookup` knows before it imports a page: the files of each spelling, their classes."""
    files = {name: [page.__module__ for page in forms] for name, forms in sorted(index().items())}
    spellings = {name: list(dict.fromkeys(modules)) for name, modules in files.items()}
    return {"classes": _classes(), "spellings": spellings}


def _classes() -> dict[str, str]:
    """The classes of each file of pages as it is now: one more may be a page of a known name."""
    folder = Path(__file__).parent / "pages"
    texts = {str(p.relative_to(folder)): p.read_text("utf-8") for p in sorted(folder.rglob("*.py"))}
    return {n: " ".join(re.findall(r"^class (\w+)", text, re.M)) for n, text in texts.items()}


@cache
def _files() -> Mapping[str, list[str]]:
    """The modules that spell each name; none where the table is not of these files."""
    try:
        table = json.loads(SPELLINGS.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return table["spellings"] if table["classes"] == _classes() else {}


def _flat(name: str) -> str:
    """Dots and underscores alike, case aside: `textract.fp`, `TEXTRACT_FP`, `textract_fp`."""
    return name.replace(".", "_").lower()


@cache
def index() -> Mapping[str, tuple[type[Instr], ...]]:
    """Every spelling of every mnemonic, with and without its dialect, to the forms it names."""
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
    """The forms of the instruction that `name` spells in any text form; none if unknown.

    Only their files are imported, where the table is not older than these.
    """
    flat = _flat(name)
    files = _files().get(flat, [])
    for file in files:
        importlib.import_module(file)
    found = [p for file in files for p in PAGES if p.__module__ == file and flat in _spellings(p)]
    return tuple(found) or index().get(flat, ())


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
