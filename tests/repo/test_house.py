"""The house: which folder may use which, no file's name twice, and how large each may grow.

Data goes down the page and imports point down only. A folder that grows beyond its budget is split,
or its row is changed here with a reason in the commit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from account.files import ROOT

PACKAGE = ROOT / "src" / "ptokit"
# folder -> the most lines it may have, in hundreds; a folder imports only those above it
HOUSE = {
    "diagnostics": 1_150,  # messages, their catalogue and how they are shown
    "isa/formula": 800,  # rules as formulas: judged, written out, compiled
    "isa/model": 2_610,  # types, layouts, targets, words of attributes
    "isa/lang": 2_000,  # what a page is written in
    "isa/disputes": 1_350,  # where the sources contradict each other
    "isa": 200,  # the index of the pages
    "numerics": 1_500,  # element formats, conversions, the fix-pipe
    "isa/pages": 13_990,  # the instructions
    "ir": 800,  # modules, functions, blocks, ops, values
    "sim/costs": 700,  # cycles of one instruction on each chip
    "text/types": 1_200,  # types as text
    "text/read": 5_600,  # the reader
    "text/write": 2_500,  # the printers, C++ among them
    "text": 50,  # what reader and printers share
    "sim": 3_300,  # tiles, memories, arguments; one instruction executed
    "sim/record": 1_700,  # bodies recorded as expressions
    "analysis": 5_900,  # legality, aliases, liveness, ranges, placement
    "sim/cores": 1_410,  # cores and ranks that run at once
    "sim/reference": 1_500,  # the reference engine
    "sim/kernels": 3_600,  # recorded bodies as LLVM text
    "sim/native": 5_500,  # the native engine, with what spoils tiles
    "sim/pipes": 6_600,  # pipes, races, timelines
    "passes": 4_700,  # changes of programs
    "api": 5_020,  # what users import
    "api/kernel": 5_300,  # the front end in Python
    "api/cxx": 5_010,  # C++ kernels: headers, compilers, the host that executes them
    "tools": 4_050,  # the command line, reports, the manual
    "tools/rich": 450,  # views in notebooks
    "": 250,  # the names that kernels use
}
LAYERS = list(HOUSE)
SOURCES = sorted(PACKAGE.rglob("*.py"))


def folder(path: Path) -> str:
    """The row of the table a file belongs to: its folder, or one that holds it."""
    parts = path.relative_to(PACKAGE).parent.parts
    while "/".join(parts) not in HOUSE:
        parts = parts[:-1]
    return "/".join(parts)


def module(name: str) -> Path | None:
    """The file of a module's name; None if it is no module of the package."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file() and name.startswith("ptokit"):
            return file
    return None


def imported(path: Path) -> Iterator[Path]:
    """The files of the package that a file imports when it runs; hints for types are free."""
    for node in used(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                file = module(f"{node.module}.{alias.name}") or module(node.module)
                if file is not None:
                    yield file


def hinted(path: Path) -> set[Path]:
    """The files of its own folder that a file imports, hints for types included."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {f for n in names if (f := module(n) or module(node.module)) is not None}
    return {f for f in found if folder(f) == folder(path) and f != path}


@pytest.mark.parametrize("name", HOUSE)
def test_files_of_a_folder_import_in_one_direction(name: str) -> None:
    """What is left when files that import no other of those left are taken away, is a circle."""
    left = {p: hinted(p) for p in SOURCES if folder(p) == name}
    while free := [p for p, others in left.items() if not others & left.keys()]:
        for path in free:
            del left[path]
    circle = sorted(p.name for p in left)
    assert circle == [], "move what they share into a file below"


def used(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker sees."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            children: list[ast.AST] = [*child.orelse]
        else:
            children = [child]
        for node in children:
            yield from used(node)


def test_imports_point_down() -> None:
    for path in SOURCES:
        here = LAYERS.index(folder(path))
        above = [
            str(other.relative_to(PACKAGE))
            for other in imported(path)
            if LAYERS.index(folder(other)) > here
        ]
        assert above == [], f"{path} uses what stands above it: move one of them"


@pytest.mark.parametrize("name", HOUSE)
def test_a_folder_keeps_its_budget(name: str) -> None:
    files = [p for p in SOURCES if folder(p) == name]
    lines = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in files)
    assert 0 < lines <= HOUSE[name], "split the folder, or change its budget and say why"


def test_no_folder_stands_outside_the_house() -> None:
    top = {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert top == {name.split("/")[0] for name in HOUSE if name}
    assert {p.name for p in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_no_two_files_have_one_name() -> None:
    names = [p.name for p in SOURCES if p.name != "__init__.py"]
    assert sorted({n for n in names if names.count(n) > 1}) == []


# classes of one name, and why
NAMESAKES = {
    "Tile": "what a Python program holds, and what a body does",
    "ConvTile": "as Tile",
}


def test_no_two_classes_have_one_name() -> None:
    """Enumerations, families and protocols too: a reader who looks for a name finds one thing."""
    trees = [ast.parse(p.read_text(encoding="utf-8")) for p in SOURCES]
    names = [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    assert {n for n in names if names.count(n) > 1} == set(NAMESAKES)


@pytest.mark.parametrize("name", [n for n in HOUSE if n])
def test_a_folder_says_what_it_is(name: str) -> None:
    text = (PACKAGE / name / "__init__.py").read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
