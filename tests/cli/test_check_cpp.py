"""`ptokit check FILE.cpp`: compiled for a target, and a launch of it, with lines of the file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from account.files import ROOT
from cli.commands import ptokit

ADD = (ROOT / "examples" / "cxx" / "add.cpp").read_text(encoding="utf-8")
GIVEN = [w for name in "abc" for w in ("--args", f"{name}=f32:32x64")]
LAUNCH = ("--launch", "add<float, 32, 64>", *GIVEN)

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++"))), reason="no C++ compiler on this machine"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("add.cpp").write_text(ADD)


def test_what_the_compiler_refuses_has_its_line() -> None:
    """Compiled alone a file is not decided; other files of the call have their verdicts."""
    Path("broken.cpp").write_text(ADD.replace("TADD(z, x, y)", "TADD(z, x, w)"))
    result = ptokit("check", "broken.cpp", "add.cpp", "--target", "a5", "--format", "json")
    found = json.loads(result.output)
    assert result.exit_code == 1
    assert [(v["kernel"], v["verdict"]) for v in found["verdicts"]] == [
        ("broken.cpp", "refused"),
        ("add.cpp", "undecided"),
    ]
    (wrong,) = found["diagnostics"]
    assert (wrong["slug"], wrong["line"], wrong["targets"]) == ("cxx-compile-error", 20, ["a5"])


def test_a_launch_decides() -> None:
    """Without its wait the addition reads what the load may not have written yet."""
    racy = ADD.replace("  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n", "")
    Path("add.cpp").write_text(racy)
    words = ("check", "add.cpp", "--target", "a2a3", *LAUNCH)
    result = ptokit(*words, "--races", "--format", "github")
    assert result.exit_code == 1
    hazard = "::error title=hazard,file=add.cpp,line=19,"
    assert any(line.startswith(hazard) for line in result.output.splitlines())
    alone = ptokit(*words)
    assert (alone.exit_code, alone.output.split()[-1]) == (0, "legal")


def test_wrong_calls_are_one_message() -> None:
    Path("k.pto").write_text("func.func @f() {\n  return\n}\n")
    for words, said in {
        ("nix.cpp",): "nix.cpp: cannot read the file",
        ("k.pto", "-D", "X=1"): "-I, -D and --launch are about kernels in C++",
        ("add.cpp", *GIVEN): "--args of a kernel in C++ needs --launch",
        ("add.cpp", "nix.cpp", "--launch", "add<float>"): "--launch is about one file in C++",
        ("add.cpp", *LAUNCH[:4]): "missing argument b; expected a, b, c",
    }.items():
        result = ptokit("check", *words)
        assert (result.exit_code, said in result.output) == (2, True), result.output
    for command in ("run", "profile", "fmt"):
        result = ptokit(command, "add.cpp")
        assert "`ptokit check` takes C++; `ptokit cxx run` launches it" in result.output
