"""The house: which folder may use which, no file's name twice, and how large each may grow.

Data goes down the page and imports point down only, of every kind. The table says how large each
folder is today; a commit that makes the package larger gives the reason.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from account.files import ROOT
from every import every
from ptokit.engines.native.plan import BELOW_ENGINES

PACKAGE = ROOT / "src" / "ptokit"
# folder -> its lines, rounded up to hundreds; a folder imports only those above it
HOUSE = {
    "diagnostics": 1_200,  # messages, their catalogue and how they are shown
    "values": 2_800,  # element types, layouts, extents, conversions, the fix-pipe
    "isa/formula": 800,  # rules as formulas: judged, written out, compiled
    "isa/model": 2_100,  # types, layouts, targets, words of attributes
    "isa/lang": 1_700,  # what a page is written in
    "isa/disputes": 1_700,  # where the sources contradict each other
    "isa": 300,  # the index of the pages
    "isa/pages": 21_400,  # the instructions
    "isa/expansions": 2_100,  # tile instructions as vector functions
    "ir": 1_300,  # modules, functions, blocks, ops, values; their symbols and comments
    "text/types": 1_300,  # types as text
    "text/read": 5_800,  # the reader
    "text/write": 2_500,  # the printers, C++ among them
    "text": 100,  # what reader and printers share
    "machine/costs": 900,  # cycles of one instruction on each chip
    "machine": 3_900,  # tiles, memories, arguments; one instruction executed
    "machine/record": 3_300,  # bodies recorded as expressions
    "analysis": 6_500,  # legality, aliases, liveness, ranges, placement
    "forms": 3_100,  # the normal form: structured, inlined, per core, complete, DPS
    "order": 5_700,  # queues, FIFOs, signals, deadlocks, races, timelines
    "engines/kernels": 5_600,  # recorded bodies as LLVM text
    "engines/reference": 1_400,  # the reference engine
    "engines/native": 7_400,  # the native engine
    "engines": 100,  # what both are
    "launch": 2_200,  # arguments bound to arrays, settings, files
    "explore": 3_000,  # runs on samples that show all that a program may do
    "passes": 3_000,  # changes of programs
    "api": 2_900,  # what users import
    "api/kernel": 6_100,  # the front end in Python
    "api/cxx": 5_700,  # C++ kernels: headers, compilers, the host that executes them
    "tools": 10_100,  # the command line, reports, the manual
    "tools/rich": 500,  # views in notebooks
    "": 300,  # the names that kernels use
}
LAYERS = list(HOUSE)
# imports by their text: to parse the whole package takes seconds
PROSE = re.compile(r'(\'\'\'|""")[\s\S]*?\1|# .*')
FROM = re.compile(r"^ *from (ptokit[\w.]*) import (\([^)]*\)|.*)", re.M)
PLAIN = re.compile(r"(?:^ *import |\bimport_module\(\s*\")(ptokit[\w.]*)", re.M)
SOURCES = sorted(PACKAGE.rglob("*.py"))


def folder(path: Path) -> str:
    """The row of the table a file belongs to: its folder, or one that holds it."""
    parts = path.relative_to(PACKAGE).parent.parts
    while "/".join(parts) not in HOUSE:
        parts = parts[:-1]
    return "/".join(parts)


def module(name: object) -> Path | None:
    """The file of a module's name; None if it is no module of the package."""
    path = PACKAGE.joinpath(*str(name).split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file() and str(name).startswith("ptokit"):
            return file
    return None


def imported(path: Path) -> set[Path]:
    """The files of the package that a file imports in any way, hints for types included."""
    text = PROSE.sub("", path.read_text(encoding="utf-8"))
    found = {module(name) for name in PLAIN.findall(text)}
    for source, names in FROM.findall(text):
        for name in re.findall(r"(\w+|\*)(?: as \w+)?", names):
            found.add(module(f"{source}.{name}") or module(source))
    return {file for file in found if file is not None and file != path}


@cache
def imports() -> dict[Path, set[Path]]:
    """What each file imports."""
    return {path: imported(path) for path in SOURCES}


def test_rows_of_a_top_folder_stand_together() -> None:
    """So that no two top folders import one another."""
    tops = [name.split("/")[0] for name in HOUSE]
    assert [top for top, _ in groupby(tops)] == [*dict.fromkeys(tops)]


def test_files_import_in_one_direction() -> None:
    """What is left when files that import no other of those left are taken away, is a circle."""
    left = {path: others for path, others in imports().items() if folder(path)}
    while free := [path for path, others in left.items() if not others & left.keys()]:
        for path in free:
            del left[path]
    assert sorted(p.name for p in left) == [], "move what they share into a file below"


def test_folders_import_those_above_them_in_the_table() -> None:
    up = [
        f"{path.relative_to(PACKAGE)}: {other.relative_to(PACKAGE)}"
        for path in SOURCES
        for other in imports()[path]
        if LAYERS.index(folder(other)) > LAYERS.index(folder(path))
    ]
    assert up == [], "a file uses what stands above it: move one of them"


def test_what_changes_programs_takes_no_names_from_readers_and_printers() -> None:
    """Symbols, comments and constants stand in `ir`."""
    found = {
        (path.name, other.name)
        for path in SOURCES
        for other in imports()[path]
        if folder(path) in ("analysis", "forms", "explore", "order", "passes")
        if folder(other) in ("text/read", "text/write")
    }
    assert found == set()


def lines_of(name: str) -> int:
    """The lines of a row's files."""
    files = [p for p in SOURCES if folder(p) == name]
    return sum(len(p.read_text(encoding="utf-8").splitlines()) for p in files)


def test_the_table_says_what_is_there() -> None:
    """In whole hundreds: a row is no allowance."""
    wrong = {n: lines_of(n) for n in HOUSE if HOUSE[n] != -(-lines_of(n) // 100) * 100}
    assert wrong == {}, "write the number of lines, rounded up, and see that the sum does not grow"


def git(*words: str) -> str:
    """What git answers; empty where it cannot."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode else done.stdout


def test_the_package_does_not_grow() -> None:
    """A commit that adds a feature says so in a line of its message: `Grows: what for`."""
    before = git("show", "HEAD~1:tests/repo/test_house.py")
    if not before:
        pytest.skip("the checkout has no history to compare with")
    rows = re.findall(r'^    "([\w/]*)": ([\d_]+),', before, re.M)
    if "Grows: " not in git("log", "-1", "--format=%b"):
        assert sum(HOUSE.values()) <= sum(int(number.replace("_", "")) for _, number in rows)


def test_no_folder_stands_outside_the_house() -> None:
    top = {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert top == {name.split("/")[0] for name in HOUSE if name}
    assert {p.name for p in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_cached_code_depends_on_no_folder_below_the_engines() -> None:
    rows = [name.split("/")[0] for name in HOUSE if name]
    assert {*rows[rows.index("launch") :]} == BELOW_ENGINES


def test_no_two_files_have_one_name() -> None:
    names = [p.name for p in SOURCES if p.name != "__init__.py"]
    assert sorted({n for n in names if names.count(n) > 1}) == []


CLASS = r"(?m)^ *class (\w+)[(:\[]"
# classes of one name, and why
NAMESAKES = {
    "Tile": "what a Python program holds, and what a body does",
    "ConvTile": "as Tile",
}


def test_no_two_classes_have_one_name() -> None:
    """Enumerations, families and protocols too: a reader who looks for a name finds one thing."""
    texts = [p.read_text(encoding="utf-8") for p in SOURCES]
    seen = Counter(name for text in texts for name in re.findall(CLASS, text))
    doubtful = {name for name, count in seen.items() if count > 1}  # or in a string
    trees = [ast.parse(text) for text in texts if doubtful & {*re.findall(CLASS, text)}]
    names = [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    assert {n for n in names if names.count(n) > 1} == set(NAMESAKES)


@every("name", [n for n in HOUSE if n])
def test_a_folder_says_what_it_is(name: str) -> None:
    text = (PACKAGE / name / "__init__.py").read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
