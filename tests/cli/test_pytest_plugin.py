"""The plugin of pytest: programs that test themselves, `pto_target`, `assert_tiles_equal`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from forking import python
from ptokit.tools.cli.tried import tried
from ptokit.tools.expectations import ExpectationError, run_lines

PART = "!pto.partition_tensor_view<4x8xf32>"
VIEW = "!pto.tensor_view<4x8xf32>"
TILE = "!pto.tile_buf<vec, 4x8xf32>"
ADD = f"""\
func.func @add(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %xv = pto.make_tensor_view %x, shape = [4, 8], strides = [8, 1] : {VIEW}
  %yv = pto.make_tensor_view %y, shape = [4, 8], strides = [8, 1] : {VIEW}
  %xp = pto.partition_view %xv, offsets = [0, 0], sizes = [4, 8] : {VIEW} -> {PART}
  %yp = pto.partition_view %yv, offsets = [0, 0], sizes = [4, 8] : {VIEW} -> {PART}
  %t = pto.alloc_tile : {TILE}
  pto.tload ins(%xp : {PART}) outs(%t : {TILE})
  pto.tadd ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})
  pto.tstore ins(%t : {TILE}) outs(%yp : {PART})
  return
}}
"""
OVERRUN = (ROOT / "examples" / "overrun.pto").read_text(encoding="utf-8")
MARKED = OVERRUN.replace("(%left : !left)", "(%left : !left) // EXPECT: window-out-of-bounds")
RUN = "// RUN: run x=x.npy --target a5\n"

# lines above a program, and the lines that tell what is otherwise than expected
RIGHT = {
    "// RUN: check\n// EXPECT: legal\n": ADD,
    "// RUN: check\n// EXPECT: refused on a5\n": OVERRUN,
    "// RUN: check --target a5\n// EXPECT: error[window-out-of-bounds] at line 11 on a5\n": OVERRUN,
    "// RUN: check %s\n//EXPECT: window-out-of-bounds at line +9\n": OVERRUN,
    "// RUN: check\n": MARKED,
    f"{RUN}// EXPECT: y == x + x\n// EXPECT: y == np.exp2(1) * x within 1 ulp\n": ADD,
    f"{RUN}// EXPECT: y == golden.npy\n// EXPECT: y == golden.bin within rtol 1e-3\n": ADD,
    f"{RUN}// EXPECT: y == x * 2.0001 within atol 1e-2, rtol 0\n": ADD,
    f"{RUN}// EXPECT: y == given['x'] * 2\n": ADD,
    "// RUN: run\n// EXPECT: missing-argument at line 3\n": ADD,
}
WRONG = {
    "// RUN: check\n": (OVERRUN, "unexpected line 10: error[window-out-of-bounds]: pto.textract"),
    "// RUN: check\n// EXPECT: legal on a5\n": (OVERRUN, "expected legal on a5: a5 is refused"),
    "// RUN: check\n// EXPECT: legal\n": ("garbage\n", "expected legal: cpu is refused"),
    "// RUN: check --target a5\n// EXPECT: legal on cpu\n": (ADD, "cpu is not checked"),
    "// RUN: check\n// EXPECT: warning[window-out-of-bounds]\n": (OVERRUN, "there is none"),
    "// RUN: check\n// EXPECT: shape at line 3\n": (ADD, "expected shape at line 3: there is none"),
    "// RUN: check --target a5\n// EXPECT: window-out-of-bounds on cpu\n": (
        OVERRUN,
        "there is none on cpu",
    ),
    f"{RUN}// EXPECT: y == x * 3\n": (ADD, "y: 31 of 32 elements differ   (exact)"),
    f"{RUN}// EXPECT: y == x * 2.001 within 3 ulp\n": (ADD, "(at most 3 ulp)"),
    f"{RUN}// EXPECT: y == x[:2]\n": (ADD, "the expression is 2x8, the output 4x8"),
    f"{RUN}// EXPECT: y == nix\n": (ADD, "NameError: name 'nix' is not defined"),
    f"{RUN}// EXPECT: z == x\n": (ADD, "expected z == x: the outputs are y"),
    f"{RUN}// EXPECT: y == nix.npy\n": (ADD, "nix.npy: No such file"),
    f"{RUN}// EXPECT: deadlock\n": (ADD, "expected deadlock: there is none"),
    "// RUN: run x=nix.npy\n// EXPECT: y == x\n": (ADD, "nix.npy: No such file or directory"),
    "// RUN: run x=x.npy --blocks 0\n": (ADD, "error: blocks is 0"),
    "// RUN: run x=x.npy --expect y=x.npy\n": (ADD, "y: 31 of 32 elements differ"),
    "// RUN: check --target a7\n": (ADD, "error: Invalid value for '--target'"),
}
UNREADABLE = {
    "// RUN: frob\n": ":1: RUN: expected check or run, got `frob`",
    "// RUN:\n": ":1: RUN: expected check or run, got nothing",
    '// RUN: run "x\n': ":1: RUN: No closing quotation",
    "// EXPECT: legal\n// RUN: check\n": ":1: EXPECT belongs below a line",
    "// RUN: check\n// EXPECT: shap\n": ":2: EXPECT: no slug shap; did you mean shape?",
    "// RUN: check\n// EXPECT: It works\n": ":2: cannot read EXPECT: It works; expected a verdict",
    "// RUN: check\n// EXPECT: legal on a7\n": ":2: EXPECT: no target a7; there are cpu, ",
    "// RUN: check\n// EXPECT: y == 3\n": "line 2: expected y == 3: not of `check`",
    "// RUN: run\n// EXPECT: legal\n": "line 2: expected legal: not of `run`",
    "// RUN: run\n// EXPECT: y == x within a bit\n": ":2: EXPECT: within a bit; expected `2 ulp`",
    "// RUN: run\nx // EXPECT: shape\n": "EXPECT behind an instruction needs `// RUN: check`",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "golden.npy", x + x)
    (tmp_path / "golden.bin").write_bytes((x + x).tobytes())
    return tmp_path


def report(folder: Path, text: str) -> str:
    path = folder / "p.pto"
    path.write_text(text)
    (run,) = run_lines(text, path)
    return tried(path, run, run.words)


def test_what_is_as_expected_and_what_is_not(folder: Path) -> None:
    """From whatever folder: files are named as seen from that of the program."""
    found = {above: report(folder, above + text) for above, text in RIGHT.items()}
    assert {above: said for above, said in found.items() if said} == {}
    for above, (text, wanted) in WRONG.items():
        assert wanted in report(folder, above + text), above


def test_lines_that_cannot_be_read_are_named() -> None:
    for text, wanted in UNREADABLE.items():
        with pytest.raises(ExpectationError, match=re.escape(wanted)):
            run_lines(text, Path("p.pto"))


TESTS = """
import numpy as np, ptokit as pto, pytest
def doubled(wanted):
    t = pto.tile_vec(pto.f32, 4, 8, data=np.ones((4, 8)))
    pto.tadd(t, t, t)
    pto.assert_tiles_equal(t, np.full((4, 8), wanted, np.float32), ulp=0, name="t")
def test_of_all(pto_target):
    doubled(2)
@pytest.mark.pto_targets("a5")
def test_of_one(pto_target):
    doubled(3)
"""


def test_a_project_of_its_own(folder: Path) -> None:
    """Each RUN line is a test, and of all targets one for each; `--pto-target` chooses."""
    (folder / "add.pto").write_text(
        "// RUN: run x=x.npy --target all\n// EXPECT: y == x + x\n" + ADD
    )
    (folder / "over.pto").write_text("// RUN: check\n// RUN: run\n// EXPECT: z == 1\n" + OVERRUN)
    (folder / "plain.pto").write_text("no test")
    (folder / "bad.pto").write_text("// RUN: frob\n")
    (folder / "test_it.py").write_text(TESTS)
    words = ["-p", "no:ptokit", "-p", "ptokit.tools.pytestplugin", "-p", "no:cacheprovider", "-v"]
    command = [*python(), "-m", "pytest", "--continue-on-collection-errors", *words]
    env = {**os.environ, "PYTEST_ADDOPTS": "--pto-target a5 --pto-target cpu", "COLUMNS": "200"}
    done = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", "."],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(re.findall(r"^(\S+::\S+) (PASSED|FAILED)", done.stdout, re.M))
    assert found == {
        "add.pto::run:1[cpu]": "PASSED",
        "add.pto::run:1[a5]": "PASSED",
        "over.pto::check:1": "FAILED",
        "over.pto::run:2": "FAILED",
        "test_it.py::test_of_all[cpu]": "PASSED",
        "test_it.py::test_of_all[a5]": "PASSED",
        "test_it.py::test_of_one[a5]": "FAILED",
    }
    assert "bad.pto:1: RUN: expected check or run, got `frob`" in done.stdout
    assert "in line 1: ptokit check over.pto" in done.stdout
    assert "AssertionError: t: 32 of 32 elements differ   (at most 0 ulp)" in done.stdout
    assert "cli/tried.py" not in done.stdout
    assert "Traceback" not in done.stdout


def test_tiles_that_are_alike_and_wrong_calls() -> None:
    t = pto.tile_vec(pto.bf16, 4, 16, data=np.ones((4, 16)))
    pto.assert_tiles_equal(t, t)
    with pytest.raises(ValueError, match="ulp excludes rtol and atol"):
        pto.assert_tiles_equal(t, t, ulp=1, rtol=0)
    with pytest.raises(ValueError, match="shape mismatch"):
        pto.assert_tiles_equal(t, t.numpy()[:2])


def test_the_plugin_imports_next_to_nothing() -> None:
    """pytest loads it in every project."""
    code = "import sys, ptokit.tools.pytestplugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "click", "ml_dtypes", "llvmlite", "ptokit.api.program", "ptokit.values"}
    assert heavy & {*done.stdout.split()} == set()
    assert sum(name.startswith("ptokit") for name in done.stdout.split()) <= 6
