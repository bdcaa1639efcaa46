"""The instruction set: every page of the package, and the index by mnemonic."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from os import scandir
from pathlib import Path
from types import MappingProxyType

from ptokit.isa.lang.asm import own_names
from ptokit.isa.lang.instr import PAGES, Instr

PACKAGE = "ptokit.isa.pages"
TABLES = Path(__file__).with_name("searches.json")  # `make docs` writes it
SOURCES = Path(__file__).parents[3] / "pyproject.toml"  # only of a checkout, whose pages may change


@cache
def pages() -> tuple[type[Instr], ...]:
    """Return every page of the package in the order of the files; there is no hand-kept list."""
    return tuple(walk())


def walk() -> Iterator[type[Instr]]:
    """Yield `pages`, importing each file when it is reached, so that a search stops early."""
    if pages.cache_info().currsize:
        yield from pages()
        return
    package = importlib.import_module(PACKAGE)
    for file in _imported(package.__path__, f"{PACKAGE}."):
        yield from [page for page in PAGES if page.__module__ == file]


def _imported(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """Import every module of the package and yield its name."""
    for found in pkgutil.iter_modules(folders, prefix):
        module = importlib.import_module(found.name)
        yield found.name
        yield from _imported(getattr(module, "__path__", ()), f"{found.name}.")


def search_tables() -> dict[str, dict[str, str]]:
    """Return the tables by which searches find the files of pages without importing others.

    The classes of each file; the files of each spelling, name of a value, and shape of text.
    """
    return {
        "classes": _classes(),
        "spellings": {name: _files_of(forms) for name, forms in sorted(index().items())},
        "values": _grouped((page.value_name(), page) for page in pages()),
        "shapes": _grouped((page.asm.shape, page) for page in pages()),
    }


def _grouped(named: Iterable[tuple[str, type[Instr]]]) -> dict[str, str]:
    found: dict[str, list[type[Instr]]] = {}
    for name, page in named:
        found.setdefault(name, []).append(page)
    return {name: _files_of(found[name]) for name in sorted(found)}


def _files_of(found: Iterable[type[Instr]]) -> str:
    names = (page.__module__.removeprefix(f"{PACKAGE}.") for page in found)
    return " ".join(dict.fromkeys(names))


def _classes(known: Mapping[str, str] = MappingProxyType({}), since: float = 0) -> dict[str, str]:
    """Return the classes in each file of pages; what is `known` of files not written `since`."""
    folder = str(Path(__file__).parent / "pages")
    return dict(sorted(_classes_in(folder, "", known, since)))


def _classes_in(
    folder: str, name: str, known: Mapping[str, str], since: float
) -> Iterator[tuple[str, str]]:
    """Yield each file in a folder with its classes; regular expressions take thrice as long."""
    with scandir(folder) as entries:
        for entry in entries:
            file = f"{name}{entry.name}"
            if entry.name.endswith(".py"):
                if file in known and entry.stat().st_mtime <= since:
                    yield file, known[file]
                    continue
                text = f"\n{Path(entry.path).read_text('utf-8')}"
                _, *found = text.split("\nclass ")
                names = [re.split(r"\W", part, maxsplit=1)[0] for part in found]
                if " table_row(" in text:  # pages that are rows of a table
                    names += re.findall(r'\n(\w+) = \w+\(\s*"\1"', text)
                yield file, " ".join(names)
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _classes_in(entry.path, f"{file}/", known, since)


@cache
def tables() -> Mapping[str, Mapping[str, str]]:
    """Return the tables in `TABLES`; nothing if a class is missing in them, or one too many."""
    try:
        found, since = json.loads(TABLES.read_text(encoding="utf-8")), TABLES.stat().st_mtime
    except OSError:
        return {}
    known = found["classes"]
    return found if not SOURCES.exists() or known == _classes(known, since) else {}


def searched(table: str, name: str) -> Iterator[type[Instr]]:
    """Yield the pages in the files that a table has for a name; all pages without tables."""
    if not tables():
        yield from pages()
        return
    for file in tables()[table].get(name, "").split():
        module = importlib.import_module(f"{PACKAGE}.{file}")
        yield from [page for page in PAGES if page.__module__ == module.__name__]


@cache
def _homes() -> Mapping[str, str]:
    """Return the module of each class in the files of pages."""
    files = ((n.removesuffix(".py").replace("/", "."), c) for n, c in tables()["classes"].items())
    return {name: f"{PACKAGE}.{file}" for file, classes in files for name in classes.split()}


def page_of_class(name: str) -> type[Instr]:
    """Return the page whose class has a name that the tables have."""
    return getattr(importlib.import_module(_homes()[name]), name)


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

    Only the files of these pages are imported, unless the tables are outdated.
    """
    flat = _flat(name)
    found = [page for page in searched("spellings", flat) if flat in _spellings(page)]
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
