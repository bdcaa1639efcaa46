"""docs/writing-a-page.md does what it says: each section is carried out in a copy of the tree.

The line before a block of code says what it is: a new file, lines at the end of one, or (`diff`)
lines within one. A `console` block is a command and what it prints, at that point of the section;
`...` stands for anything.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from account.files import ROOT
from fuzz.scale import sampled

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

DOCUMENT = (ROOT / "docs" / "writing-a-page.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", DOCUMENT, re.M))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
COPIED = ("src", "tests", "account", "docs", "examples")
PROGRAMS = {
    "pytest": ("pytest", "-n0"),
    "ptokit": ("ptokit",),
    "python": (),
    "make": ("account.files",),  # `make docs`
}


def blocks(section: str) -> Iterator[tuple[str, str, str]]:
    """The line before each block, its language and its text."""
    for found in BLOCK.finditer(section):
        before = section[: found.start()].rstrip().splitlines()[-1]
        yield before, found[1], found[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("*.egg-info")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


@pytest.mark.parametrize("title", sampled(reversed(SECTIONS), len(SECTIONS)))
def test_a_section_does_what_it_says(title: str, tree: Path) -> None:
    assert "$ " in SECTIONS[title]
    for before, language, text in blocks(SECTIONS[title]):
        if language == "console":
            run(tree, text)
        else:
            edit(tree, before, language, text)


def edit(tree: Path, before: str, language: str, text: str) -> None:
    path = tree / re.findall(r"`([\w/.-]+/[\w.-]+)`", before)[-1]
    if "new file" in before:
        assert not path.exists()
        path.write_text(text, encoding="utf-8")
        return
    old = path.read_text(encoding="utf-8")
    if language == "diff":
        lines = text.splitlines(keepends=True)
        here = "".join(line[1:] for line in lines if line[0] != "+")
        assert old.count(here) == 1, f"{path.name} has no such lines:\n{here}"
        new = old.replace(here, "".join(line[1:] for line in lines if line[0] != "-"))
    else:
        assert "the end of" in before
        new = old + text
    path.write_text(new, encoding="utf-8")


def run(tree: Path, console: str) -> None:
    """The first line is a command; the others stand in its output, in that order."""
    command, *shown = console.splitlines()
    name, *words = shlex.split(command.removeprefix("$ "))
    variables: dict[str, str] = {}
    while "=" in name:
        variable, _, value = name.partition("=")
        variables[variable] = value
        name, *words = words
    module = PROGRAMS[name]
    words = ["-m", *module, *words] if module else words
    words = words[:2] if name == "make" else words
    path = os.pathsep.join((str(tree / "src"), str(tree)))
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=os.environ | variables | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    parts = [part.strip() for line in shown for part in line.split("...") if part.strip()]
    pattern = ".*".join(map(re.escape, parts))
    assert re.search(pattern, done.stdout, re.S), f"{command} printed\n{done.stdout}"
    fails = any(word in console for word in ("failed", "Error:"))
    assert bool(done.returncode) == fails, f"{command} printed\n{done.stdout}"
