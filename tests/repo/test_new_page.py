"""What a new instruction costs: a member of a family one line, an irregular one a file; its oracle.

Both are written into a copy of the tree, and the laws run there: no other place has to be edited
by hand (`make docs` writes the generated files).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from account.files import ROOT

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

MEMBER = '''

class TLeast(Binary, f=Array.minimum, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src1[i, j] where src1[i, j] < src0[i, j], else src0[i, j]."""
'''
IRREGULAR = '''\
"""TFLIP: each row from right to left."""

from ptokit.isa.lang.page import *


class TFlip(Instr, pipe=V):
    """dst[i, j] = src[i, n - 1 - j], n the valid columns; NaN and infinities stay as they are."""

    dst = Out(Tile)
    src = In(Tile)

    rules = (
        elements(dst, cpu=NUMBERS, a2a3=NUMBERS, a5=NUMBERS),
        *(one_type(dst, src), same_region(dst, src), in_vec(dst, src), row_major(dst, src)),
    )

    def run(dst, src):
        rows, cols = dst.valid
        row, col = src.iota(rows, cols)
        dst[:rows, :cols] = src.take(row * src.cols + (col * -1 + (cols - 1)))
'''
ORACLES = """

binary(TLeast=lambda a, b: np.where(b < a, b, a))


@meaning("TFlip")
def flipped(src: Seen) -> Array:
    return src.values[:, ::-1]
"""
LAWS = ("tests/oracles/test_meaning.py", "tests/laws", "tests/isa/test_examples.py")


PAGES = "src/ptokit/isa/pages"
CHANGED = (f"{PAGES}/elementwise/binary.py", f"{PAGES}/irregular/tflip.py")


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_new_instruction_is_its_page_and_its_oracle(tmp_path: Path) -> None:
    for folder in ("src", "tests", "account"):
        ignored = shutil.ignore_patterns("*.egg-info")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    pages = tmp_path / "src" / "ptokit" / "isa" / "pages"
    append(pages / "elementwise" / "binary.py", MEMBER)
    (pages / "irregular" / "tflip.py").write_text(IRREGULAR, encoding="utf-8")
    append(tmp_path / "tests" / "oracles" / "vectors.py", ORACLES)
    path = f"import sys; sys.path[:0] = {[str(tmp_path / f) for f in ('src', 'tests', '.')]}; "
    words = [*LAWS, "-k", "TLeast or TFlip", "-vvv", "-n0", "-p", "no:cacheprovider"]
    code = f"{path}import pytest; sys.exit(pytest.main({words}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PTOKIT_FUZZ": "2", "PTOKIT_CHANGED": " ".join(CHANGED)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = [line for line in done.stdout.splitlines() if " PASSED" in line]
    for page in ("TLeast", "TFlip"):
        assert len([line for line in passed if page in line]) >= 5, done.stdout
