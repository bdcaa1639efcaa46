"""What leaves a run: dumped tiles, stand-alone reproducers, golden data for boards."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import Result

from account.files import ROOT
from cli.commands import ptokit
from forking import python

PART, VIEW = "!pto.partition_tensor_view<4x16xbf16>", "!pto.tensor_view<4x16xbf16>"
TILE = "!pto.tile_buf<vec, 4x16xbf16>"
ADD = f"""\
func.func @add(%x: !pto.ptr<bf16>, %w: !pto.ptr<bf16>, %y: !pto.ptr<bf16>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %xv = pto.make_tensor_view %x, shape = [4, 16], strides = [16, 1] : {VIEW}
  %wv = pto.make_tensor_view %w, shape = [4, 16], strides = [16, 1] : {VIEW}
  %yv = pto.make_tensor_view %y, shape = [4, 16], strides = [16, 1] : {VIEW}
  %xp = pto.partition_view %xv, offsets = [0, 0], sizes = [4, 16] : {VIEW} -> {PART}
  %wp = pto.partition_view %wv, offsets = [0, 0], sizes = [4, 16] : {VIEW} -> {PART}
  %yp = pto.partition_view %yv, offsets = [0, 0], sizes = [4, 16] : {VIEW} -> {PART}
  %t = pto.alloc_tile : {TILE}
  %u = pto.alloc_tile : {TILE}
  pto.tload ins(%xp : {PART}) outs(%t : {TILE})
  pto.tload ins(%wp : {PART}) outs(%u : {TILE})
  scf.for %i = %zero to %n step %one {{
    pto.tmul ins(%t, %u : {TILE}, {TILE}) outs(%t : {TILE})
  }}
  pto.tstore ins(%t : {TILE}) outs(%yp : {PART})
  return
}}
"""
GIVEN = ("x=random:4x16", "w=random:4x16", "n=2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.pto").write_text(ADD)


def loaded(path: str) -> np.ndarray:
    """The values of an array of bf16, which a .npy file has as bits."""
    return np.load(path).view(ml_dtypes.bfloat16)


def read(path: str) -> Any:  # Any: JSON
    return json.loads(Path(path).read_text())


def test_tiles_that_are_dumped_are_those_of_the_run() -> None:
    """Each write is a file: %t twice in the loop, each time times %u."""
    result = ptokit("run", "a.pto", *GIVEN, "--dump", "d", "-o", "y=y.npy")
    assert result.exit_code == 0
    tiles = read("d/index.json")["tiles"]
    told = [(t["name"], t["instruction"], t["execution"], t["memory"]) for t in tiles]
    assert told == [
        ("t", "pto.tload", 1, "vec"),
        ("u", "pto.tload", 1, "vec"),
        ("t", "pto.tmul", 1, "vec"),
        ("t", "pto.tmul", 2, "vec"),
        ("yp", "pto.tstore", 1, "global"),
    ]
    assert {(t["dtype"], *t["shape"], t["undefined"], t["core"]) for t in tiles} == {
        ("bf16", 4, 16, 0, "")
    }
    t, u, once, twice, stored = (loaded(f"d/{one['file']}") for one in tiles)
    assert (once == t * u).all()
    assert (twice == once * u).all()
    assert (stored == loaded("y.npy")).all()
    assert ptokit("run", "a.pto", *GIVEN, "--dump", "e", "--only", "%u, yp").exit_code == 0
    assert [one["name"] for one in read("e/index.json")["tiles"]] == ["u", "yp"]
    blocks = ptokit("run", "a.pto", *GIVEN, "--dump", "f", "--only", "u", "--blocks", "2")
    assert blocks.exit_code == 0
    assert [one["core"] for one in read("f/index.json")["tiles"]] == ["0", "1"]


def test_golden_data_has_the_names_of_device_suites() -> None:
    given = (*GIVEN, "y=zeros:4x16", "--target", "a5", "--golden")
    assert ptokit("run", "a.pto", *given, "case").exit_code == 0
    assert sorted(p.name for p in Path("case").iterdir()) == [
        *("golden.bin", "input1.bin", "input2.bin", "manifest.json"),
    ]
    found = read("case/manifest.json")
    assert (found["target"], found["numbers"], found["blocks"]) == ("a5", {"n": 2}, 1)
    arrays: list[Any] = [  # Any: of a type that NumPy has not
        np.fromfile(f"case/{row['file']}", ml_dtypes.bfloat16).reshape(row["shape"])
        for row in (*found["inputs"], *found["outputs"])
    ]
    x, w, y = arrays
    assert [row["name"] for row in found["inputs"]] == ["x", "w"]
    assert [row["board"] for row in found["outputs"]] == ["output.bin"]
    assert {row["bytes"] for row in found["inputs"]} == {4 * 16 * 2}
    assert (x * w * w == y).all()
    alone = ptokit("run", ROOT / "examples" / "stream.pto", "random", "--golden", "one")
    assert alone.exit_code == 0
    assert {"input.bin", "golden.bin"} < {p.name for p in Path("one").iterdir()}


def reproduced(folder: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a bundle in a process of its own, from elsewhere."""
    command = [*python(), str(Path(folder, "repro.py").absolute())]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)


def again(folder: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    """The command of a bundle's script, in this process."""
    words = re.search(r"'-m ptokit (.*)'", Path(folder, "repro.py").read_text())
    assert words is not None
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        return ptokit(*shlex.split(words[1]))


def test_a_bundle_runs_elsewhere_and_sees_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--reading", "left", "--blocks", "2", "--strict", "--engine", "reference")
    made = ptokit("repro", "a.pto", *GIVEN, "y=zeros:4x16", *options, "-o", "b")
    assert made.exit_code == 0, made.output
    text = Path("b/repro.py").read_text()
    first = "a.pto x=x.npy w=w.npy n=2 y=y.npy --target cpu --reading left --blocks 2"
    last = "--engine reference --strict --expect y=expected-y.npy --ulp 0"
    assert f"ptokit run {first} {last}" in text
    done = reproduced("b")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "y")
    changed = loaded("b/expected-y.npy").copy()
    changed[3, 7] = 9
    np.save("b/expected-y.npy", changed.view("V2"))
    found = again("b", monkeypatch)
    assert (found.exit_code, "y: 1 of 64 elements differ" in found.output) == (1, True)


KERNEL = """
import ptokit as pto
@pto.kernel
def halved(x: pto.In, y: pto.Out, *, by: float = 2.0) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.load(pto.block(x, 0, 0, 8, 64)) / by)
"""


def test_bundles_of_kernels_in_python_and_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("k.py").write_text(KERNEL)
    arrays = ("x=random:f32:8x64", "y=zeros:f32:8x64", "by=4.0")
    words = ("--engine", "reference", "-o")
    assert ptokit("repro", "k.py", *arrays, *words, "b").exit_code == 0
    assert {p.name for p in Path("b").iterdir()} == {
        *("halved.pto", "x.npy", "expected-y.npy", "repro.py"),
    }
    assert again("b", monkeypatch).exit_code == 0
    bad = str(ROOT / "examples" / "overrun.pto")
    made = ptokit("repro", bad, "--target", "a5", *words, "c")
    assert (made.exit_code, "error[window-out-of-bounds]" in made.output) == (0, True)
    assert reproduced("c").returncode == 0
    right = Path("c/overrun.pto").read_text().replace("constant 224", "constant 64")
    Path("c/overrun.pto").write_text(right)
    assert reproduced("c").returncode == 1  # the error is gone


def test_wrong_calls_leave_nothing() -> None:
    Path("full").mkdir()
    Path("full/x").touch()
    Path("empty").mkdir()
    before = {*Path().iterdir()}
    run = ("run", "a.pto", *GIVEN)
    for words, said in {
        (*run, "--dump", "full"): "cannot write full: the folder is not empty",
        (*run, "--golden", "full"): "cannot write full: the folder is not empty",
        ("repro", "a.pto", *GIVEN, "-o", "full"): "cannot write full: the folder is not empty",
        (*run, "--dump", "a.pto"): "cannot write a.pto: there is a file of this name",
        (*run, "--dump", "nix/d"): "cannot write nix/d: No such file or directory",
        (*run, "--dump", "d", "--only", "nix"): "--only nix: no %nix in the function",
        (*run, "--only", "t"): "--only chooses what --dump DIR writes",
        (*run, "--dump", "d", "--engine", "native"): "need the engine reference, not native",
        (*run, "--golden", "d", "--ranks", "2"): "--golden writes the data of one rank",
        ("repro", "a.pto", "x=nix.npy", "-o", "d"): "nix.npy: No such file",
        ("repro", "nix.pto", "-o", "d"): "nix.pto: No such file",
        ("repro", "a.pto", "-o", "d"): "%x: missing argument",
        ("repro", "a.pto", *GIVEN): "Missing option '-o'",
    }.items():
        result = ptokit(*words)
        assert (result.exit_code, said in result.output) == (2, True), (words, result.output)
    wrong = ptokit(*run[:2], "x=random:4x16", "n=2", "w=zeros:f32:4x16", "--dump", "d")
    assert wrong.exit_code == 2
    assert {*Path().iterdir()} == before
    assert ptokit(*run, "--dump", "empty").exit_code == 0  # an empty folder is as none


def test_a_run_that_fails_and_too_many_tiles_leave_no_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ptokit("run", "a.pto", *GIVEN, "--dump", "d", "--max-instructions", 3).exit_code == 1
    monkeypatch.setattr("ptokit.tools.dumping.MOST", 3)
    many = ptokit("run", "a.pto", *GIVEN, "--dump", "d")
    assert (many.exit_code, "more than" in many.output) == (2, True), many.output
    assert [p.name for p in Path().iterdir()] == ["a.pto"]
