"""Our own plain C as an opponent, compiled in the same run where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
from clock import Measure

SOURCE = Path(__file__).with_name("plain.c")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
PLACES = 4  # of pointers: the output is the last


def library(folder: Path) -> ctypes.CDLL | None:
    """The functions of plain.c; None where nothing compiles them."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "plain.so"
    subprocess.run([compiler, *FLAGS, SOURCE, "-o", made, "-lm"], check=True)
    return ctypes.CDLL(str(made))


def measure(
    plain: ctypes.CDLL, name: str, arrays: list[Any], shape: tuple[int, int], seconds: float
) -> Measure:
    """Nanoseconds of one call of a function on copies of the arrays."""
    held = [np.ascontiguousarray(a).copy() for a in arrays]
    inputs, out = held[:-1], held[-1]
    spare = [*inputs, *[out] * (PLACES - 1 - len(inputs)), out]
    pointers = (ctypes.c_void_p * PLACES)(*(a.ctypes.data for a in spare))
    function = ctypes.cast(getattr(plain, name), ctypes.c_void_p)

    def call(times: int) -> float:
        start = time.perf_counter()
        plain.repeat(function, pointers, *map(ctypes.c_long, (*shape, times)))
        return time.perf_counter() - start

    times = max(1, int(seconds / max(call(1), 1e-7)))

    def run() -> float:
        assert held
        return call(times) * 1e9 / times

    return run
