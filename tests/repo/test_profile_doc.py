"""docs/profile.md shows what the command and its Python example print."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptokit as pto
from account.files import ROOT
from ptokit.tools.cli import main

TEXT = (ROOT / "docs" / "profile.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    ptokit ([^\n]*)\n\n```\n(.*?)\n```", TEXT, re.M | re.S)
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", TEXT, re.S)


def test_output_is_what_the_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (command, output), (other, lines) = COMMANDS
    assert CliRunner().invoke(main, shlex.split(command)).output.rstrip() == output
    assert {*lines.splitlines()} <= {
        *CliRunner().invoke(main, shlex.split(other)).output.splitlines()
    }


def test_the_example_prints_what_it_shows() -> None:
    ((code, shown),) = EXAMPLES
    linecache.cache["profile.md"] = len(code), None, code.splitlines(keepends=True), "profile.md"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "profile.md", "exec"), {"__name__": "guide"})
    assert printed.getvalue() == shown


def test_flags_cost_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = re.search(r"`ptokit (opt [^`]*)`.*with them it takes (\d+) cycles", TEXT, re.S)
    assert found is not None
    call = [*shlex.split(found[1]), "-o", str(tmp_path / "k.pto")]
    assert CliRunner().invoke(main, call).exit_code == 0
    profile = pto.load(tmp_path / "k.pto").profile(target="a2a3")
    assert profile.cycles == int(found[2])
    assert not profile.timeline.by_data
