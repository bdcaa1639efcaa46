"""docs/machine.md shows what commands and Python print, and pictures that exist."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from account.files import ROOT
from ptokit.tools.cli import main

DOCS = ROOT / "docs"
TEXT = (DOCS / "machine.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^    ptokit ([^\n]*)\n\n```\n(.*?)\n```", TEXT, re.M | re.S)
ALONE = re.findall(r"^    ptokit ([^\n#]*?) +#", TEXT, re.M)
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", TEXT, re.S)


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[c for c, _ in SHOWN])
def test_output_is_what_the_command_prints(
    command: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(main, shlex.split(command)).output.rstrip() == output


@pytest.mark.parametrize("command", ALONE)
def test_commands_run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert CliRunner().invoke(main, shlex.split(command)).exit_code == 0


def test_examples_print_what_they_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other: later ones use the imports of the first."""
    monkeypatch.chdir(ROOT)
    names = {"__name__": "guide"}
    for number, (code, shown) in enumerate(EXAMPLES):
        name = f"machine-{number}.md"
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec"), names)
        assert printed.getvalue() == shown


def test_what_it_shows_is_found() -> None:
    assert [command.split()[:2] for command, _ in SHOWN] == [
        ["check", "--races"],
        ["check", "--memory"],
    ]
    assert len(EXAMPLES) == 2
    assert len(ALONE) == 4


def test_pictures_and_pages_that_it_names_are_there() -> None:
    linked = re.findall(r"\]\(([\w.-]+)\)", TEXT)
    assert {"machine-queues.svg", "machine-race.svg", "machine-memory.svg"} <= set(linked)
    assert [name for name in linked if not (DOCS / name).is_file()] == []
