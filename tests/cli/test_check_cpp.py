"""Kernels in C++ on the command line: checked with lines of the file, run, profiled, printed."""

from __future__ import annotations

import json
import re
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
        ("k.pto", "-D", "X=1"): "-I, -D, --compiler and --launch are about kernels in C++",
        ("add.cpp", *GIVEN): "--args of a kernel in C++ needs --launch",
        ("add.cpp", "nix.cpp", "--launch", "add<float>"): "--launch is about one file in C++",
        ("add.cpp", *LAUNCH[:4]): "missing argument b; expected a, b, c",
    }.items():
        result = ptokit("check", *words)
        assert (result.exit_code, said in result.output) == (2, True), result.output
    for words, said in {
        ("run", "add.cpp"): "a kernel in C++ needs --launch 'NAME<...>'",
        ("profile", "add.cpp"): "a kernel in C++ needs --launch 'NAME<...>'",
        (
            "profile",
            "add.cpp",
            "--launch",
            "f",
            "--entry",
            "f",
        ): "--entry is not for kernels in C++",
        ("run", "add.cpp", "--launch", "f", "--ranks", "2"): "--ranks is not for kernels in C++",
        ("run", "k.pto", "-I", "x"): "-I, -D, --compiler and --launch are about kernels in C++",
        ("convert", "add.cpp", "--to", "dps"): "give --launch 'NAME<...>'",
        ("fmt", "add.cpp"): "add.cpp is C++: `ptokit convert --to dps",
    }.items():
        result = ptokit(*words)
        assert (result.exit_code, said in result.output) == (2, True), result.output


def test_a_launch_runs_and_is_profiled_and_printed() -> None:
    """`run`, `cxx run`, `profile` and `convert` launch the kernel in the same way."""
    launch = ("add.cpp", "--launch", "add<float, 32, 64>", "--target", "a2a3")
    arrays = ("a=random:f32:64x64", "b=random:f32:64x64", "c=f32:64x64", "--blocks", "2")
    result = ptokit("run", *launch, *arrays, "-o", "c=c.npy", "--report")
    assert result.output.splitlines()[0].startswith("16 instructions on a2a3")
    given = (*arrays, "--races", "--expect", "c=c.npy", "--ulp", "0")
    result = ptokit("run", *launch, *given)
    assert (result.exit_code, "all 4096 elements are as expected" in result.output) == (0, True)
    result = ptokit("run", *launch, *arrays, "--expect", "c=zeros")
    assert result.exit_code == 1, result.output
    shown = ptokit("cxx", "run", *launch, *arrays).output
    assert shown.startswith("c: float32 64x64\n[[")
    result = ptokit("run", *launch, *arrays, "-o", "d=d.npy")
    assert "unknown array 'd'; the kernel has a, b, c" in result.output
    result = ptokit("profile", *launch, *arrays, "--compare", "add.cpp")
    assert re.fullmatch(r"add.cpp +a2a3 +(\d+) +\1 +same +MTE2 .*", result.output.splitlines()[1])
    text = ptokit("convert", *launch[:1], *LAUNCH, *launch[-2:], "--to", "dps").output
    Path("add.pto").write_text(text)
    assert ptokit("run", "add.pto", "a=random:f32:32x64", "b=zeros", "c=zeros").exit_code == 0
