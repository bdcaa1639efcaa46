"""What importing ptokit, and running a program, does not import: start-up stays short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from account.files import ROOT

PROGRAM = "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>\n"
HEAVY = (
    "llvmlite",
    "greenlet",
    "ptokit.tools",
    "ptokit.text.write",
)
# what a page in a browser would do, where Python has no LLVM; recording takes greenlet as well
BROWSER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from examples.kernels.elementwise import softmax
from ptokit.tools.cli import main
x = np.ones((40, 64), np.float32)
assert len(softmax.program(x, x.copy()).verdicts("cpu", "a2a3", "a5")) == 3
softmax.on("a5", engine="reference")(x, y := np.zeros_like(x))
assert y.any()
main(["layout", "f16", "32x64", "nz"], standalone_mode=False)
"""
# what a fresh process does -> the modules it may not have loaded afterwards
WITHOUT = {
    "import ptokit": ("numpy", "click", "ml_dtypes", "ptokit.isa", *HEAVY),
    "import ptokit; ptokit.f32, ptokit.PtoError": ("click", "ml_dtypes", "ptokit.machine", *HEAVY),
    "import ptokit; ptokit.tile('vec', 'f32', 16, 32)": (
        *("click", "ml_dtypes", "ptokit.api.eager", "ptokit.text.read.reader"),
        *HEAVY,
    ),
    f"import ptokit; ptokit.load({str(ROOT / 'examples' / 'gemm.pto')!r}).check('all')": (
        *("numpy", "click", "ptokit.api.eager"),
        *HEAVY,
    ),
    f"import ptokit; ptokit.loads({PROGRAM!r}).check('all')": (
        *("numpy", "click", "ptokit.api.eager", "ptokit.machine"),
        *HEAVY,
    ),
    "import ptokit.tools.cli": ("numpy", "importlib.metadata"),
    f"import ptokit; ptokit.loads({PROGRAM!r}).run(engine='reference')": (
        *("click", "ptokit.api.eager", "ptokit.api.tensors"),
        *(name for name in HEAVY if name != "greenlet"),  # cores are coroutines, even one
    ),
    BROWSER: ("llvmlite",),
}


@pytest.mark.parametrize("code", WITHOUT)
def test_only_what_is_needed_is_imported(code: str) -> None:
    names = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    unwanted = tuple(WITHOUT[code])
    assert [
        n for n in loaded if n in unwanted or n.startswith(tuple(f"{u}." for u in unwanted))
    ] == []


def test_every_public_name_is_fetched_and_listed() -> None:
    import ptokit

    names: list[str] = getattr(ptokit, "__all__")  # noqa: B009 - computed when asked for
    assert len(names) == len(set(names))
    assert set(names) <= set(dir(ptokit))
    assert all(hasattr(ptokit, name) for name in names)
    stub = Path(ptokit.__file__).read_text(encoding="utf-8")
    listed = stub.partition("__all__ = [")[2].partition("]")[0].replace('"', "").split(",")
    assert {n.strip() for n in listed} - {""} == set(vars(ptokit)["_HOME"])
    with pytest.raises(AttributeError, match="textrct"):
        getattr(ptokit, "textrct")  # noqa: B009 - a type checker knows that it is not there
