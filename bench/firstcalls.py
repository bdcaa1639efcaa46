"""What the first call of a kernel costs, in a process of its own.

    python bench/firstcalls.py softmax

prints the milliseconds of the first call after the imports that a user's file has: NumPy, ptokit
and the file with the kernel. What ptokit itself imports at the call counts. Arrays are written
before.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from runpy import run_path

import numpy as np

import ptokit  # noqa: F401 - a kernel's file imports it, too

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST = {"softmax": (120, 60), "flash attention": (250, 90), "decoder layer": (800, 200)}


def made(name: str) -> Callable[[], object]:
    """Return the call; its arguments exist."""
    random = np.random.default_rng(7)

    def normal(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    if name == "decoder layer":
        decoder = run_path(str(EXAMPLES / "decoder.py"))  # a kernel's file has this name, too
        x, weights = normal(decoder["TOKENS"], 128), decoder["weights"](random)
        return lambda: decoder["layer"](x, weights, "a5")
    sys.path.append(str(EXAMPLES / "kernels"))
    if name == "softmax":
        x, softmax = normal(4096, 1024), import_module("elementwise").softmax
        y = np.zeros_like(x)
        return lambda: softmax(x, y, high=8)
    q, k, v = (normal(2048, 64).astype(np.float16) for _ in "qkv")
    o, flash = np.zeros((2048, 64), np.float32), import_module("attention").flash
    return lambda: flash(q, k, v, o)


def milliseconds(name: str) -> float:
    """Return what the first call takes in a fresh interpreter."""
    command = [sys.executable, __file__, name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    call = made(sys.argv[1])
    begin = time.perf_counter()
    call()
    print((time.perf_counter() - begin) * 1e3)


if __name__ == "__main__":
    main()
