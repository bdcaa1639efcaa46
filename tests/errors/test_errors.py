"""One small program for each diagnostic, with the whole of what the command line prints.

The first line of a program is its command; FILE is the program, FOLDER holds small arrays. The
expected output stands beside it. `PTOKIT_UPDATE=1 pytest tests/errors` writes it anew: read the
difference before you keep it.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.tools.cli import main

HERE = Path(__file__).parent
PROGRAMS = sorted(HERE.glob("*.pto"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small arrays."""
    path = tmp_path_factory.mktemp("arrays")
    np.save(path / "x.npy", np.arange(8, dtype=np.float32))
    np.save(path / "x16.npy", np.arange(32, dtype=np.float32).reshape(2, 16))
    np.save(path / "i.npy", np.arange(8, 40, dtype=np.int32).reshape(2, 16))
    np.save(path / "l.npy", np.ones((16, 16), np.float16))
    np.save(path / "s.npy", np.ones((16, 16), np.float32))
    np.save(path / "map.npy", np.ones((1, 1, 2, 2, 8), np.float32))
    return path


def run(command: str, program: Path, folder: Path) -> Result:
    words = [w.replace("FOLDER", str(folder)) for w in shlex.split(command)[2:]]
    return CliRunner().invoke(main, [str(program) if w == "FILE" else w for w in words[1:]])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_the_whole_output(program: Path, folder: Path) -> None:
    command = program.read_text(encoding="utf-8").splitlines()[0]
    assert command.startswith("// $ ptokit ")
    result = run(command, program, folder)
    printed = result.output.replace(f"{HERE}{os.sep}", "").replace(str(folder), "FOLDER")
    output = f"{printed}[status {result.exit_code}]\n"
    expected = program.with_suffix(".out")
    if os.environ.get("PTOKIT_UPDATE"):
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")
    assert "Traceback" not in output


# raised by what no program text can show: bytes, ten thousand braces, a clock
ELSEWHERE = {"not-utf8", "nesting-too-deep", "time-limit"}
# of kernels in Python: tests/pykernels/mistakes.py
OF_KERNELS = {
    *("run-time-number", "rebound", "out-of-scope", "left-loop", "unused-value"),
    *("output-not-written", "debug-differs", "argument-shape", "store-into-input"),
    *("unwatched", "left-branch", "vector-function"),
}
# of kernels in C++: tests/cxx
OF_CPP = {"no-compiler", "cxx-compile-error", "cxx-launch"}


def test_every_slug_has_a_program() -> None:
    shown = "\n".join(p.with_suffix(".out").read_text(encoding="utf-8") for p in PROGRAMS)
    missing = [slug for slug in CATALOGUE if f"[{slug}]" not in shown]
    assert set(missing) <= ELSEWHERE | OF_KERNELS | OF_CPP
