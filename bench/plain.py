"""Our own plain C as an opponent, compiled in the same run where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from clock import Measure, Times, took
from instructions import Row

import ptokit as pto
from ptokit.values.dtypes import dtype_named
from ptokit.values.formats import decode

SOURCE = Path(__file__).with_name("plain.c")
ROUNDS = "-ffp-contract=off"  # products are rounded before they are added, as pages say
FLAGS = ("-O3", "-march=native", ROUNDS, "-shared", "-fPIC")
# without these compares, selects, maxima and roots are not vectorised by gcc
QUIET = ("-fno-math-errno", "-fno-trapping-math")
COMPILERS = {"gcc": ("gcc", "cc"), "clang": ("clang", *(f"clang-{n}" for n in range(22, 14, -1)))}
PLACES = 6  # of pointers
LINE = 64  # bytes of a cache line


def libraries(folder: Path, *, quick: bool) -> dict[str, ctypes.CDLL]:
    """The functions of plain.c, by the compiler and the flags that made them; `quick`: one."""
    found: dict[str, ctypes.CDLL] = {}
    for name, commands in COMPILERS.items():
        compiler = next(filter(None, map(shutil.which, commands)), None)
        for flags in (QUIET, ()) if compiler and not (quick and found) else ():
            variant = f"{name} {'quiet' if flags else ''}".rstrip()
            made = folder / f"{variant}.so".replace(" ", "-")
            subprocess.run([compiler, *FLAGS, *flags, SOURCE, "-o", made, "-lm"], check=True)
            found[variant] = ctypes.CDLL(str(made))
            if quick:
                break
    return found


@dataclass
class Plain:
    """The function of a row, on copies of its arrays that begin at cache lines, as tiles do."""

    library: ctypes.CDLL
    row: Row

    @cached_property
    def arrays(self) -> dict[str, Any]:
        kernel = self.row.kernel
        return dict(zip(kernel.arrays, map(aligned, kernel.whole_tiles()), strict=True))

    def call(self, times: int) -> Times:
        """How long so many calls take."""
        places = [a.ctypes.data for a in self.arrays.values()]
        pointers = (ctypes.c_void_p * PLACES)(*places)
        function = ctypes.cast(getattr(self.library, self.row.plain), ctypes.c_void_p)
        numbers = [*map(ctypes.c_long, (*self.row.shape, times))]
        return took(lambda: self.library.repeat(function, pointers, *numbers))

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
        """The time of one call."""
        once = max(min(self.call(1).wall for _ in range(3)), 100)
        times = max(1, int(seconds * 1e9 / once))
        return lambda: self.call(times).per(times)


def aligned(array: Any) -> Any:  # Any: of NumPy
    """A copy."""
    room = np.empty(array.nbytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
