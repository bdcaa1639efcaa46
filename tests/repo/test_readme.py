"""What the README shows is what the commands print, and its Python example runs."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from account.files import ROOT
from ptokit.tools.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^    ptokit ((?:check|layout) [^\n]*)\n\n```\n(.*?)\n```", README, re.M | re.S)


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[c for c, _ in SHOWN])
def test_output_is_what_the_command_prints(
    command: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(main, shlex.split(command)).output.rstrip() == output


def test_both_outputs_are_found() -> None:
    assert {command.split()[0] for command, _ in SHOWN} == {"check", "layout"}


def test_python_examples_run() -> None:
    kernel, tiles = re.findall(r"```python\n(.*?)```", README, re.S)
    assert README.startswith("# ptokit\n\n```python\n")
    assert len([line for line in tiles.splitlines() if line.strip()]) <= 12
    for example in (kernel, tiles):
        exec(compile(example, "README.md", "exec"), {})
