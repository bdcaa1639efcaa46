"""What README.md and docs/ show is what commands and Python print, and what they name is there.

`test_native_doc`, `test_isa_doc` and `test_writing_doc` have what only these pages say.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from account.files import ROOT
from every import every
from ptokit.tools.cli import main

DOCS = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in DOCS.items()}
SHOWN = [
    pytest.param(command, output, id=f"{name}: {command}")
    for name, text in TEXTS.items()
    for command, output in re.findall(r"^    ptokit ([^\n]*)\n\n```\n(.*?)\n```", text, re.M | re.S)
]
EXCERPTS = ("profile examples/stream.pto --target a2a3 --blocks 100",)  # some lines of the output
ALONE = [
    pytest.param(command, "status 1" in says, id=f"{name}: {command}")
    for name in ("machine.md", "assembly.md", "debugging.md")
    for command, says in re.findall(r"^    ptokit ([^\n#]*?) +# ([^\n]*)", TEXTS[name], re.M)
    if "--break" not in command  # which talks to a person
]
PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n```\n(.*?)```)?", re.DOTALL)
# guides whose blocks of code run from top to bottom, and how many there are at least
GUIDES = {
    **{"index.md": 3, "kernels.md": 8, "tuning.md": 3, "machine.md": 2, "profile.md": 1},
    **{
        "below-tiles.md": 1,
        "cpp.md": 4,
        "debugging.md": 2,
        "from-triton.md": 3,
        "from-ascend-c.md": 3,
    },
}
# files that a guide shows, for its commands: a block of code, below the line that names it
PROGRAM = re.compile(r"`(\w+\.pto)`[^`]*\n\n```pto\n(.*?)```", re.DOTALL)
FILES = {name: code for text in TEXTS.values() for name, code in PROGRAM.findall(text)}
FILES["softmax.py"] = PYTHON.findall(TEXTS["index.md"])[0][0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader may stand: the examples are there, and what is written harms nobody."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, code in FILES.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_command_prints_what_is_shown(command: str, output: str) -> None:
    printed = CliRunner().invoke(main, shlex.split(command)).output.rstrip()
    printed = printed.replace(f"{Path.cwd()}/", "")
    if command in EXCERPTS:
        assert [line for line in output.splitlines() if line not in printed.splitlines()] == []
    else:
        assert printed == output


@pytest.mark.parametrize(("command", "status"), ALONE)
def test_commands_run(command: str, status: int, folder: Path) -> None:
    for name, shape in {"a": (512, 384), "b": (384, 320), "golden": (512, 320)}.items():
        kind = np.float32 if name == "golden" else np.float16
        np.save(folder / f"{name}.npy", np.ones(shape, kind))
    assert CliRunner().invoke(main, shlex.split(command)).exit_code == status


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_runs_and_prints_what_it_shows(name: str) -> None:
    if name == "cpp.md" and not any(map(shutil.which, ("g++", "clang++"))):
        pytest.skip("no C++ compiler on this machine")
    names: dict[str, Any] = {"__name__": "guide"}
    blocks = PYTHON.findall(TEXTS[name])
    assert len(blocks) >= GUIDES[name]
    for code, shown in blocks:
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec"), names)
        assert printed.getvalue().replace(f"{ROOT}/", "") == shown


def test_the_readme_begins_with_a_kernel_and_its_python_runs() -> None:
    kernel, tiles = re.findall(r"```python\n(.*?)```", TEXTS["README.md"], re.S)
    assert TEXTS["README.md"].startswith("# ptokit\n\n```python\n")
    assert len([line for line in tiles.splitlines() if line.strip()]) <= 12
    for example in (kernel, tiles):
        exec(compile(example, "README.md", "exec"), {})


def test_a_cost_is_what_its_page_says() -> None:
    """Its example has the output in a comment behind the last line."""
    (code,) = re.findall(r"```python\n(.*?)```", TEXTS["costs.md"], re.S)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "costs.md", "exec"), {})
    assert code.endswith(f"  # {printed.getvalue()}")


def test_flags_cost_what_is_said(folder: Path) -> None:
    found = re.search(
        r"`ptokit (opt [^`]*)`.*with them it takes (\d+) cycles", TEXTS["profile.md"], re.S
    )
    assert found is not None
    assert CliRunner().invoke(main, [*shlex.split(found[1]), "-o", "k.pto"]).exit_code == 0
    profile = pto.load(folder / "k.pto").profile(target="a2a3")
    assert profile.cycles == int(found[2])
    assert not profile.timeline.by_data


@every("name", DOCS)
def test_what_is_linked_is_there(name: str) -> None:
    """Files, and headings of pages."""
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", TEXTS[name]):
        file, _, heading = link.partition("#")
        target = DOCS[name].parent / file if file else DOCS[name]
        assert target.exists(), link
        if heading:
            assert heading in anchors(target.read_text(encoding="utf-8")), link


def anchors(text: str) -> set[str]:
    """The names of the headings of a page, and those it gives itself."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    named = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    return named | set(re.findall(r'<a id="([^"]+)"', text))


def test_a_new_kernel_comes_with_a_test_that_passes(folder: Path) -> None:
    command = ["new", "kernel", "my_scale"]
    made = CliRunner().invoke(main, command)
    assert made.exit_code == 0, made.output
    assert pytest.main(["-q", "-p", "no:cacheprovider", str(folder / "test_my_scale.py")]) == 0
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 2
    assert "exists" in again.output
    assert CliRunner().invoke(main, ["new", "kernel", "my-scale"]).exit_code == 2
