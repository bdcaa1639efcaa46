"""The guides in docs/ are run from top to bottom, and print what they show."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from account.files import ROOT
from ptokit.tools.cli import main

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```\n(.*?)```)?", re.S)


@pytest.mark.parametrize(("name", "count"), [("kernels.md", 8), ("tuning.md", 3)])
def test_a_guide_runs_and_prints_what_it_shows(
    name: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "guide"}
    blocks = BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert len(blocks) >= count
    for code, shown in blocks:
        printed = io.StringIO()
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), space)
        assert printed.getvalue() == shown


def test_a_new_kernel_comes_with_a_test_that_passes(tmp_path: Path) -> None:
    command = ["new", "kernel", "my_scale", "--folder", str(tmp_path)]
    made = CliRunner().invoke(main, command)
    assert made.exit_code == 0, made.output
    assert pytest.main(["-q", "-p", "no:cacheprovider", str(tmp_path / "test_my_scale.py")]) == 0
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 2
    assert "exists" in again.output
    bad = CliRunner().invoke(main, ["new", "kernel", "my-scale", "--folder", str(tmp_path)])
    assert bad.exit_code == 2
