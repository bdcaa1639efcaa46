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
# what a page in a browser does, where Python has neither LLVM nor greenlet
BROWSER = f"""
import sys
sys.modules |= {{"llvmlite": None, "greenlet": None}}  # an import of them fails
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from examples.kernels.elementwise import softmax
from ptokit.tools.cli import main
x = np.ones((40, 64), np.float32)
assert len(softmax.program(x, x.copy()).verdicts("cpu", "a2a3", "a5")) == 3
softmax.on("a5")(x, y := np.zeros_like(x))
assert y.any()
examples = {str(ROOT / "examples")!r}
for words in (
    ["layout", "f16", "32x64", "nz"],
    ["check", examples + "/stream.pto", "--races", "--target", "a5"],
    ["profile", examples + "/stream.pto"],
    ["run", examples + "/stream.pto", "x=zeros:64x512", "y=zeros:64x512"],
):
    assert main(words, standalone_mode=False) in (0, None), words
from ptokit.order.schedule import Schedule, Wait
schedule, steps = Schedule(), []
await_two = lambda: schedule.wait(Wait(lambda: len(steps) > 1, "the second"))
run = lambda *programs: schedule.run([(f"core {{n}}", one) for n, one in enumerate(programs)])
one, two = lambda: steps.append(1), lambda: (await_two(), steps.append(2))
run(one, one, two)  # the first cores do not wait
assert steps == [1, 1, 2]
steps.clear()
try:
    run(two, one, one)
except ImportError as problem:
    assert "core 0 waits for a later core: that needs greenlet" in str(problem)
else:
    raise AssertionError(steps)
del sys.modules["llvmlite"], sys.modules["greenlet"]
"""
# what a fresh process does -> the modules it may not have loaded afterwards
WITHOUT = {
    "import ptokit": ("typing", "numpy", "click", "ml_dtypes", "ptokit.isa", *HEAVY),
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
        *("numpy", "click", "ptokit.api.eager", "ptokit.machine.memory", "ptokit.machine.execute"),
        *HEAVY,
    ),
    "import ptokit.tools.cli": ("numpy", "importlib.metadata"),
    f"import ptokit; ptokit.loads({PROGRAM!r}).run(engine='reference')": (
        *("click", "ptokit.api.eager", "ptokit.api.tensors"),
        *HEAVY,
    ),
    BROWSER: ("llvmlite", "greenlet"),
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
