"""Deleting any one page leaves a program that imports, checks and runs."""

from __future__ import annotations

import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptokit.emit.files import ROOT
from ptokit.isa import pages
from ptokit.isa.lang import Instr

SMOKE = """
import numpy as np
import ptokit as pto
from ptokit.isa import pages
from ptokit.emit.manual import instruction_page
assert not any(p.__name__ == {name!r} for p in pages())
assert all(instruction_page(p) for p in pages())
a = pto.tile("vec", pto.f32, 16, 32, data=np.ones((16, 32)))
left = {{p.__name__ for p in pages()}}
for name in {{"TExtract", "TInsert", "TMov"}} & left:
    b = pto.tile("vec", pto.f32, 16, 32, data=np.zeros((16, 32)))
    getattr(pto, name.lower())(b, a)
    assert b.numpy().all()
program = pto.loads("func.func @f() {{\\n}}\\n")
assert program.check("all") == [] and program.run() == {{}}
"""


def without(source: str, name: str) -> str:
    """Python source without one class."""
    tree = ast.parse(source)
    (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    lines = source.splitlines(keepends=True)
    assert node.end_lineno is not None
    return "".join(lines[: node.lineno - 1] + lines[node.end_lineno :])


@pytest.mark.parametrize("page", pages(), ids=lambda p: p.__name__)
def test_the_rest_works_without(page: type[Instr], tmp_path: Path) -> None:
    copy = tmp_path / "ptokit"
    shutil.copytree(ROOT / "src" / "ptokit", copy, ignore=shutil.ignore_patterns("__pycache__"))
    original = Path(inspect.getfile(page))
    target = copy / original.relative_to(ROOT / "src" / "ptokit")
    target.write_text(without(original.read_text(encoding="utf-8"), page.__name__))
    script = SMOKE.format(name=page.__name__)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
