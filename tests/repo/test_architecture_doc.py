"""docs/architecture.md is true: every file, folder, class and function that it names exists."""

from __future__ import annotations

import ast
import re

from account.files import ROOT
from every import every
from ptokit.diagnostics.catalogue import CATALOGUE, RENAMED
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.tools.manual import explain

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WORDS = re.findall(r"`([^`\n]+)`", TEXT.replace("```", ""))
PATHS = [word for word in WORDS if word.startswith(("src/", "tests/"))]
NAMES = [word for word in WORDS if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)?", word)]
OF_PYTHON = {"if", "for"}


def defined() -> set[str]:
    """What files that may define some of the names define, methods as `Class.name`."""
    found = set[str]()
    parts = "|".join({name.split(".")[0] for name in NAMES})
    likely = re.compile(rf"^ *(?:class|def) (?:{parts})\b|^(?:{parts})\b", re.M)
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src" / "ptokit").rglob("*.py"))
    for text in filter(likely.search, texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                inner = (n for n in node.body if isinstance(n, ast.FunctionDef))
                found |= {node.name, *(f"{node.name}.{method.name}" for method in inner)}
            elif isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@every("path", sorted({*PATHS}))
def test_a_path_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_names_are_defined() -> None:
    assert len(NAMES) > 15
    assert {*NAMES} - defined() - OF_PYTHON == set()


def test_the_layers_are_those_of_the_house() -> None:
    house = (ROOT / "tests" / "repo" / "test_house.py").read_text(encoding="utf-8")
    rows = re.findall(r'^    "(\w+)[/\w]*": [\d_]+,', house, re.M)
    assert re.findall(r"^  \| (\w+) ", TEXT, re.M) == [*dict.fromkeys(rows)]


def test_old_slugs_are_explained_and_listed() -> None:
    """A slug that is renamed has an alias, and stands in the list of changes."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for old, new in RENAMED.items():
        assert old not in CATALOGUE
        assert str(explain(old)).startswith(f"{new}\n")
        assert Diagnostic(new, "").to_json()["former_slugs"] == [old]
        assert f"| slug | `{old}` | `{new}` |" in changes
