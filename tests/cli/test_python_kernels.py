"""Kernels in Python on the command line: `check`, `convert`, `opt` and `profile` of a .py file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import ptokit

import ptokit as pto

KERNEL = """\
import ptokit as pto

@pto.kernel
def doubled(x: pto.In, y: pto.Out, *, high: int = 8) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        pto.store(pto.block(y, i * high, 0, high, width), t + t)
"""
GIVEN = "doubled.program(pto.spec(pto.f32, (20, 50)), pto.spec(pto.f32, (20, 50)))\n"
# on no target: an output of another type
WRONG = "doubled.program(pto.spec(pto.f32, (20, 50)), pto.spec(pto.f16, (20, 50)))\n"
ARGS = ("--args", "x=f32:20x50", "--args", "y=zeros:f32:20x50")


def written(folder: Path, *more: str, name: str = "k.py") -> Path:
    path = folder / name
    path.write_text("".join([KERNEL, *more]))
    return path


def test_arguments_that_the_file_gives(tmp_path: Path) -> None:
    result = ptokit("check", written(tmp_path, GIVEN), "--target", "all")
    assert (result.exit_code, result.output.count("undecided")) == (0, 3)


def test_arguments_of_tests_and_of_the_call(tmp_path: Path) -> None:
    test = "def test_it():\n    import numpy as np\n    x = np.ones((4, 9), np.float32)\n"
    test += "    doubled(x, y := x.copy())\n    assert (y == 2).all()\n"
    given = {
        written(tmp_path, test): (),
        written(tmp_path, name="l.py"): (*ARGS, "--args", "high=4"),
    }
    for path, words in given.items():
        for which in (path, f"{path}:doubled"):
            result = ptokit("check", which, "--target", "a5", *words)
            assert result.exit_code == 0
            assert result.output.startswith("a5:    undecided")  # its rows are known in a launch


def test_what_is_wrong_stands_in_the_python_file(tmp_path: Path) -> None:
    path = written(tmp_path, WRONG)
    result = ptokit("check", path, "--target", "a2a3", "--format", "json")
    found = json.loads(result.output)["diagnostics"]
    assert result.exit_code == 1
    assert {(d["file"], d["line"]) for d in found} == {(str(path), 8)}


def test_other_commands(tmp_path: Path) -> None:
    path = written(tmp_path, GIVEN)
    assert "pto.tadd" in ptokit("convert", path, "--to", "dps").output
    assert "addr" in ptokit("opt", path, "--passes", "place", "--target", "a5").output
    assert "cycles" in ptokit("profile", path).output
    refused = ptokit("fmt", "-i", path)
    assert (refused.exit_code, path.read_text()) == (2, KERNEL + GIVEN)


def test_several_files_have_their_own_verdicts(tmp_path: Path) -> None:
    good, bad = written(tmp_path, GIVEN), written(tmp_path, WRONG, name="bad.py")
    missing = tmp_path / "missing.pto"
    result = ptokit("check", good, bad, missing, "--target", "a5")
    assert result.exit_code == 2
    shown = re.findall(r"^(?:.*:doubled|a5: +\w+)", result.output, re.M)
    assert shown == [f"{good}:doubled", "a5:    undecided", f"{bad}:doubled", "a5:    refused"]
    assert "missing.pto: No such file" in result.output


def test_a_kernel_without_arguments_does_not_keep_others_from_their_verdict(tmp_path: Path) -> None:
    other = KERNEL.replace("doubled", "tripled").replace("t + t", "t + t + t")
    result = ptokit("check", written(tmp_path, other, GIVEN), "--target", "a5")
    assert result.exit_code == 2
    assert "a5:    undecided" in result.output
    assert "k.py:tripled: its arguments are not known" in result.output


def test_targets_are_spelled_alike() -> None:
    """`target` everywhere; `targets` of `Kernel.check` are several, or one."""

    @pto.kernel
    def doubled(x: pto.In, y: pto.Out) -> None:
        t = pto.load(pto.block(x, 0, 0, 8, 64))
        pto.store(pto.block(y, 0, 0, 8, 64), t + t)

    given = pto.spec(pto.f32, (8, 64)), pto.spec(pto.f16, (8, 64))
    found = doubled.check(*given, target="all")
    assert [d.targets for d in found] == [("cpu", "a2a3", "a5")]
    assert doubled.check(*given, targets="all") == found
    assert [d.targets for d in doubled.check(*given, targets=["a5", "a2a3"])] == [("a5", "a2a3")]


def test_a_launch_takes_arrays(tmp_path: Path) -> None:
    """By name and by position, files and what stands for one; outputs are saved."""
    path, x, y = written(tmp_path), tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, np.arange(100, dtype=np.float32).reshape(2, 50))
    words = ("--target", "a5", "--blocks", 2, "-o", f"y={y}")
    for given in ((f"x={x}", "y=zeros:f32:2x50", "high=1"), (x, "zeros:f32:2x50")):
        assert ptokit("run", f"{path}:doubled", *words, *given).exit_code == 0
        assert np.array_equal(np.load(y), 2 * np.load(x))
        y.unlink()
    assert "cycles" in ptokit("profile", path, "x=zeros:f32:2x50", "y=zeros:f32:2x50").output
    wrong = ptokit("run", path, f"x={x}", "y=zeros:f16:2x50")
    assert (wrong.exit_code, "k.py:8:" in wrong.output) == (1, True)


MISTAKES = {
    "": "its arguments are not known",
    "doubled.program(pto.spec(pto.f32, (20, 50)))\n": "missing a required argument: 'y'",
    "doubled = 3\n": "no function in it is a @pto.kernel",
    "1 / 0\n": "k.py:9: the file cannot be imported",
    "def test_it():\n    assert False\n": "k.py:10: test_it fails",
}


@pytest.mark.parametrize("more", MISTAKES)
def test_mistakes_are_one_message(more: str, tmp_path: Path) -> None:
    result = ptokit("check", written(tmp_path, more))
    assert result.exit_code == 2
    assert MISTAKES[more] in result.output
    assert result.output.count("error") <= 2


def test_words_that_are_wrong(tmp_path: Path) -> None:
    path = written(tmp_path)
    for words, said in {
        (f"{path}:tripled",): "tripled is no kernel of it",
        (path, "--args", "x"): "is not of the form NAME=VALUE",
        (path, "--args", "x=f32:3", "--args", "z=f32:3"): "missing a required argument: 'y'",
        (path, "--args", "x=zeros"): "unknown element type or extents",
        (Path("examples/gemm.pto"), *ARGS): "--args is about kernels in Python",
    }.items():
        result = ptokit("check", *words)
        assert result.exit_code == 2, result.output
        assert said in result.output
