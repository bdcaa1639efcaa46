"""Our own plain C as an opponent, compiled in the same run where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from clock import Measure
from instructions import Row

import ptokit as pto
from ptokit.values.dtypes import dtype_named
from ptokit.values.formats import decode

SOURCE = Path(__file__).with_name("plain.c")
ROUNDS = "-ffp-contract=off"  # products are rounded before they are added, as pages say
FLAGS = ("-O3", "-march=native", ROUNDS, "-shared", "-fPIC")
PLACES = 6  # of pointers
LINE = 64  # bytes of a cache line


def library(folder: Path) -> ctypes.CDLL | None:
    """The functions of plain.c; None where nothing compiles them."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    made = folder / "plain.so"
    subprocess.run([compiler, *FLAGS, SOURCE, "-o", made, "-lm"], check=True)
    return ctypes.CDLL(str(made))


@dataclass
class Plain:
    """The function of a row, on copies of its arrays that begin at cache lines, as tiles do."""

    library: ctypes.CDLL
    row: Row

    @cached_property
    def arrays(self) -> dict[str, Any]:
        kernel = self.row.kernel
        return dict(zip(kernel.arrays, map(aligned, kernel.whole_tiles()), strict=True))

    def call(self, times: int) -> float:
        """Seconds of so many calls."""
        places = [a.ctypes.data for a in self.arrays.values()]
        pointers = (ctypes.c_void_p * PLACES)(*places)
        function = ctypes.cast(getattr(self.library, self.row.plain), ctypes.c_void_p)
        start = time.perf_counter()
        self.library.repeat(function, pointers, *map(ctypes.c_long, (*self.row.shape, times)))
        return time.perf_counter() - start

    def compare(self) -> None:
        """Both do the same: AssertionError where the first call gives something else than ours."""
        kernel = replace(self.row.kernel, body=self.row.kernel.body[:1])
        ours = pto.loads(kernel.text()).run(engine="native", **kernel.arrays)
        self.call(1)
        for name, found in ours.items():
            rows, cols = found.shape
            wanted = self.arrays[name][:rows, :cols]
            kind = dtype_named(kernel.types[name].partition("dtype=")[2].partition(",")[0])
            if kind is not None and kind.packed:
                wanted = decode(wanted, kind)
            same = found.tobytes() == wanted.tobytes()
            same |= self.row.close > 0 and np.allclose(found, wanted, self.row.close, 0)
            assert same, f"{self.row.op}: %{name} differs from what the C gives"

    def measure(self, seconds: float) -> Measure:
        """Nanoseconds of one call."""
        times = max(1, int(seconds / max(min(self.call(1) for _ in range(3)), 1e-7)))
        return lambda: self.call(times) * 1e9 / times


def aligned(array: Any) -> Any:  # Any: of NumPy
    """A copy."""
    room = np.empty(array.nbytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
