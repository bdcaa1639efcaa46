"""Laws of the tree: who may import whom, where names may stand, how large files may grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from account.files import ROOT, generated
from every import every
from ptokit.isa.index import pages
from ptokit.isa.model.targets import TARGETS
from ptokit.values.dtypes import DTYPES, DType

PACKAGE = ROOT / "src" / "ptokit"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
LARGEST_FILE = 500
QUESTIONS = 837


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Every string of a module that is not a docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


TOOLS = [p for p in SOURCES if "isa" not in p.relative_to(PACKAGE).parts]


def test_no_mnemonic_outside_isa() -> None:
    names = {n for p in pages() for n in (p.mnemonic(), *p.asm.names)}
    # those of foreign operations are also words of plain English, and of LLVM
    names |= {n for p in pages() for n in (p.name, p.cpp) if p.asm.dialect == "pto"}
    names -= {"return", "call", "load", "store", "bitcast", "yield", "print", "barrier", "assert"}
    names -= {"alloca", "convert", "keep", "resume", "fmax", "fmin", "sin", "cos"}
    for path in (p for p in TOOLS if p.parent.name != "faults"):  # prose of the manual
        if names.isdisjoint(re.findall(r"[\w.]+", path.read_text(encoding="utf-8"))):
            continue
        for line, text in strings(path):
            found = set(re.findall(r"[\w.]+", text)) & names
            assert not found, f"{path.name}:{line} names {found}"


def test_what_runs_seldom_is_there() -> None:
    listed = (ROOT / "tests" / "seldom.txt").read_text(encoding="utf-8")
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    there = {name for path in paths for name in (path.parent.name, path.stem)}
    for path in paths:
        there |= {*re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)}
    assert {*re.sub("#.*", "", listed).split()} <= there


def test_no_module_of_the_bench_hides_one_of_the_tests() -> None:
    """A test imports both by bare names: the first one imported would be taken for both."""
    tests = {path.stem for path in PYTHON if "tests" in path.parts}
    assert not tests & {path.stem for path in (ROOT / "bench").glob("*.py")}


def test_files_stay_small() -> None:
    for path in PYTHON:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= LARGEST_FILE, path


def test_docstrings_say_what_a_function_does() -> None:
    """In the imperative, for older ones are questions: no further one comes."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    asked = sum(len(re.findall(r'"""(?:What|Whether|How) ', text)) for text in texts)
    assert asked <= QUESTIONS, "begin with a verb, of classes with a noun phrase"


def test_generated_files_are_fresh() -> None:
    stale = [p.name for p, text in generated().items() if p.read_text(encoding="utf-8") != text]
    assert not stale, "run `make docs`"


def test_data_files_are_in_the_package() -> None:
    """What is no Python is installed only if pyproject.toml says so."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns: list[str] = project["tool"]["setuptools"]["package-data"]["ptokit"]
    files = [p.relative_to(PACKAGE) for p in PACKAGE.rglob("*") if p.is_file()]
    data = [p for p in files if p.suffix not in (".py", ".pyc")]
    left_out = [p for p in data if not any(p.match(pattern) for pattern in patterns)]
    assert data
    assert not left_out


@every("dtype", DTYPES, ids=repr)
def test_every_element_type_is_public(dtype: DType) -> None:
    import ptokit

    assert getattr(ptokit, dtype.name, None) is dtype, (
        f"{dtype}: add it to `_HOMES`, and for type checkers to the imports and `__all__`, "
        "of src/ptokit/__init__.py"
    )


def test_every_slug_of_a_rule_is_in_the_catalogue() -> None:
    from ptokit.diagnostics.catalogue import CATALOGUE

    assert {r.slug for p in pages() for r in p.all_rules} <= set(CATALOGUE)


def test_every_dispute_a_page_names_is_recorded() -> None:
    from ptokit.isa.disputes import DISPUTES

    assert {d for p in pages() for d in p.disputes} <= set(DISPUTES)


def test_the_order_of_pages_is_that_of_the_files_whatever_is_imported_first() -> None:
    code = "; ".join(
        (
            "import ptokit.isa.pages.views, ptokit.isa.pages.allocation",
            "from ptokit.isa.index import pages",
            "print(*(p.__name__ for p in pages()))",
        )
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [p.__name__ for p in pages()]


NAMES_OF_TARGETS = {"CPU", "A2A3", "A5", "HARDWARE", "CPU_TARGET", "A2A3_TARGET", "A5_TARGET"}
READING = {
    "settings.py",
    "program.py",
    "fixpipe.py",
    "options.py",
    "replay.py",
}  # "cpu" is one, too


def test_no_target_is_named_outside_isa() -> None:
    """A tool asks the target for a fact; which one it is never matters."""
    words = re.compile("|".join([*NAMES_OF_TARGETS, *TARGETS]))
    texts = {path: path.read_text(encoding="utf-8") for path in TOOLS}
    for path in (path for path, text in texts.items() if words.search(text)):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(texts[path]))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptokit.isa")
            for alias in node.names
        }
        assert not imported & NAMES_OF_TARGETS, path
        named = set(TARGETS) - ({"cpu"} if path.name in READING else set())
        assert not [(path, line, text) for line, text in strings(path) if text in named]
