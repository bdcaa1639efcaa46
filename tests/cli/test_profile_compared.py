"""`ptokit profile` of several kernels, and beside an earlier version: files, folders, commits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from account.files import ROOT
from cli.commands import ptokit

STREAM = (ROOT / "examples" / "stream.pto").read_text()
HELPER, KERNEL = (
    "HIGH = 8\n",
    """\
import ptokit as pto
from helper import HIGH

@pto.kernel
def doubled(x: pto.In, y: pto.Out) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, HIGH)):
        t = pto.load(pto.block(x, i * HIGH, 0, HIGH, width))
        pto.store(pto.block(y, i * HIGH, 0, HIGH, width), t + t)

doubled.program(pto.spec(pto.f32, (64, 64)), pto.spec(pto.f32, (64, 64)))
""",
)


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit, then a helper that makes larger tiles, a new kernel and one that is refused."""
    monkeypatch.chdir(tmp_path)
    Path("k").mkdir()
    for name, text in {"s.pto": STREAM, "d.py": KERNEL, "helper.py": HELPER}.items():
        Path("k", name).write_text(text)
    user = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), (*user, "commit", "-qm", "one")):
        subprocess.run(["git", *words], check=True)
    Path("k/helper.py").write_text("HIGH = 32\n")
    Path("k/new.pto").write_text(STREAM)


def rows(*words: str) -> list[list[str]]:
    return [line.split() for line in ptokit("profile", *words).output.splitlines()[1:]]


def told(*words: str) -> Any:  # Any: JSON
    """The output as JSON, which is as its schema says."""
    schema = json.loads((ROOT / "docs" / "profile.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    found = json.loads(ptokit("profile", *words, "--format", "json").output)
    validator: Any = Draft202012Validator(schema)  # of a library without types
    assert [*validator.iter_errors(found)] == []
    return found


def test_a_commit_is_the_base() -> None:
    """Each version imports its own helper; a kernel that the commit lacks is new."""
    for high in (8, 32):
        Path(f"high{high}.py").write_text(
            KERNEL.replace("from helper import HIGH", f"HIGH = {high}")
        )
    alone = [int(one["cycles"]) for one in told("high8.py", "high32.py")["profiles"]]
    found = rows("--compare", "HEAD", "k/s.pto", "k/d.py", "k/new.pto", "--target", "a2a3")
    same, changed, new = found
    assert same[2] == same[3]
    assert same[4] == "same"
    share = f"{alone[1] / alone[0] - 1:+.1%}"
    assert changed[:5] == ["k/d.py:doubled", "a2a3", str(alone[0]), str(alone[1]), share]
    assert new[:5] == ["k/new.pto", "a2a3", "-", same[2], "new"]


def test_a_file_and_a_folder_are_bases() -> None:
    """Words of the call are for both versions."""
    ((kernel, *_, change, _, _),) = rows("--compare", "k/new.pto", "k/s.pto", "--blocks", "2")
    assert (kernel, change) == ("k/s.pto", "same")
    Path("old/k").mkdir(parents=True)
    Path("old/k/s.pto").write_text(STREAM)
    result = told("--compare", "old", "k/s.pto", "--target", "all")
    assert [(one["target"], one["change"]) for one in result["compared"]] == [
        ("a2a3", 0),
        ("a5", 0),
    ]


def test_what_cannot_be_profiled_is_a_row() -> None:
    bad = (ROOT / "examples" / "overrun.pto").read_text()
    Path("k/s.pto").write_text(bad)
    result = ptokit("profile", "--compare", "HEAD", "k/s.pto", "k/nix.pto", "--format", "markdown")
    assert result.exit_code == 2  # for the file that is missing
    assert "help: move the window" in result.output
    *_, refused, missing = result.output.splitlines()
    assert (
        refused
        == "| k/s.pto | a2a3 | 1258 | - |  | line 9: pto.textract: the window is out of bounds |"
    )
    assert "k/nix.pto: No such file" in missing
    Path("k/d.py").write_text(KERNEL.replace("doubled", "twice"))
    one, *others = told("--compare", "HEAD", "k/s.pto", "k/d.py")["compared"]
    assert (one["after"]["cycles"], one["after"]["diagnostics"][0]["line"]) == (None, 9)
    missing = [(each["kernel"], [*each.values()].index(None)) for each in others]
    assert missing == [("k/d.py:twice", 2), ("k/d.py:doubled", 3)]  # of before, of after


def test_wrong_calls_are_one_message() -> None:
    for words, said in {
        ("--compare", "NIX", "k/s.pto"): "--compare NIX: no file, folder or commit of this name",
        ("--compare", "nix.py", "k/d.py"): "--compare nix.py: No such file",
        ("--compare", "k/s.pto", "k/s.pto", "k/new.pto"): "k/s.pto is a file: give one kernel",
        ("--compare", "HEAD", "-"): "standard input has no earlier version",
        ("--compare", "HEAD", "k/s.pto", "--by-line"): "--by-line is for --format text",
        ("--compare", "HEAD", "k/s.pto", "--html", "x.html"): "--html is for the text about one",
        ("k/s.pto", "k/d.py", "--trace", "x"): "--trace is for the text about one",
    }.items():
        result = ptokit("profile", *words)
        assert (result.exit_code, said in result.output) == (2, True), result.output
    assert not Path("x.html").exists()
