"""The public cases of vector functions: a `kernel.pto` beside a `golden.py`, in a clone.

`python tests/pto/public_vectors.py CLONE [WORD]` executes the golden.py of each case, runs its host
program (hostprograms.py) with an engine for the kernels, and lets its compare.py judge the outputs:
exactly, and with its tolerance. It prints the cases that are not equal, or that read more than
their arrays have, and counts. Each case has a process of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from en_dtypes import hifloat8

import ptokit as pto
from pto.hostprograms import BYTES, PAGE, Launched, run_host
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.ir.module import OpaqueOp
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.values.dtypes import hif8
from ptokit.values.host import numpy_dtype

EQUAL, CLOSE, DIFFERENT, NOT_RUN = "equal", "close", "different", "not run"
SECONDS = 600  # of a case
# the comparison without tolerance
EXACT = """
import runpy, sys
import numpy as np
def same(a, b, **_):
    a, b = np.asarray(a), np.asarray(b)
    nan = (a != a) & (b != b)
    return (a == b) | nan
np.isclose = same
np.allclose = lambda a, b, **_: a.shape == b.shape and bool(np.all(same(a, b)))
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def python(folder: Path, *command: str) -> str:
    """Run Python in a folder; return the last line of its errors if it fails, else nothing."""
    env = {**os.environ, "COMPARE_STRICT": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, env=env, check=False
    )
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return said[-1] if done.returncode and said else "failed" if done.returncode else ""


def judged(case: Path, engine: str) -> tuple[str, str]:
    """Return the verdict on a case and the cause."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if wrong := python(folder, str(case / "golden.py"), "--output-dir", name):
            return NOT_RUN, f"golden.py: {wrong}"
        try:
            kernel = Kernel(case, engine)
            if wrong := run_host(case, folder, kernel.launch):
                return NOT_RUN, f"main.cpp: {wrong}"
        except PtoError as problem:
            first = next(d for d in problem.diagnostics if d.is_error)
            return NOT_RUN, f"{first.slug}: {first.message}"
        past = "reads past its arrays" if kernel.room else ""
        if not python(folder, "-c", EXACT, str(case / "compare.py")):
            return EQUAL, past
        if not (wrong := python(folder, str(case / "compare.py"))):
            return CLOSE, f"within the tolerance of compare.py {past}"
        return DIFFERENT, f"{wrong} {past}"


class Kernel:
    """The kernels of a case, each launch of which runs at once."""

    def __init__(self, case: Path, engine: str) -> None:
        self.program: Program = pto.load(case / "kernel.pto")
        self.engine, self.room = engine, 0

    def launch(self, launched: Launched) -> None:
        """Run a kernel on the bytes of a launch, and write what it changed back into them.

        A kernel that reads more than its arrays have runs again with PAGE bytes behind each.
        """
        module = self.program.module
        entries = [f for f in module.funcs if f.name == launched.kernel]
        name = entries[0].name if entries else None
        func = self.program.entry_named(name)
        used = [o.name for f in module.funcs for o in f.ops if isinstance(o, OpaqueOp)]
        if used and len(module.funcs) == 1:
            raise error("unknown-op", f"no page for {', '.join(sorted(set(used)))}")
        while True:
            before, given = list[BYTES](), dict[str, Any]()  # Any: arrays and numbers
            for arg, data, size in zip(func.args, launched.values, launched.sizes, strict=True):
                part = data if size is None else data[: size + self.room]
                before.append(part.copy())
                given[arg.name] = _typed(before[-1].copy(), arg.type)
            try:
                after = self.program.run(
                    target="a5", engine=self.engine, func=name, blocks=launched.blocks, **given
                )
            except PtoError as problem:
                first = next(d for d in problem.diagnostics if d.is_error)
                if self.room or first.slug != "global-out-of-bounds":
                    raise
                self.room = PAGE
                continue
            for arg, data, old in zip(func.args, launched.values, before, strict=True):
                if arg.name in after:
                    found = after[arg.name].reshape(-1)
                    if isinstance(arg.type, PtrType) and arg.type.dtype is hif8:
                        found = found.astype(hifloat8)
                    if _in_pairs(arg.type):
                        codes = found.view(np.uint8)
                        found = codes[0::2] & 15 | codes[1::2] << 4
                    new = found.view(np.uint8)
                    changed = np.flatnonzero(new != old)
                    data[changed] = new[changed]
            return


def _typed(data: BYTES, kind: object) -> Any:  # an array or a number
    if not isinstance(kind, ScalarType):
        if not isinstance(kind, PtrType):
            return data
        if _in_pairs(kind):  # a code for each element
            return np.stack([data & 15, data >> 4], 1).ravel()
        return data.view(hifloat8 if kind.dtype is hif8 else numpy_dtype(kind.dtype) or np.uint8)
    if kind.dtype is not None and kind.dtype.is_float:
        return data.view(numpy_dtype(kind.dtype) or np.uint8)[0]
    return int.from_bytes(data.tobytes(), "little", signed=True)


def _in_pairs(kind: object) -> bool:
    """Return whether a pointer is to packed pairs of 4-bit floats."""
    return isinstance(kind, PtrType) and kind.dtype.bits == 4


def in_process(case: Path, engine: str, answers: Any) -> None:  # Any: a queue of the module
    """Put the verdict on a case into a queue."""
    warnings.simplefilter("ignore", pto.UnwrittenWarning)
    try:
        answers.put(judged(case, engine))
    except Exception:
        answers.put((NOT_RUN, traceback.format_exc(limit=-2)))


def main(clone: str, word: str = "", engine: str = "native") -> None:
    """Judge the cases of a clone whose path has the word."""
    counts = Counter[str]()
    cases = sorted(path.parent for path in Path(clone).rglob("kernel.pto"))
    fork = multiprocessing.get_context("fork")
    for case in (c for c in cases if word in str(c) and (c / "golden.py").exists()):
        answers = fork.SimpleQueue()
        child = fork.Process(target=in_process, args=(case, engine, answers))
        child.start()
        child.join(SECONDS)
        child.kill()
        child.join()
        ended = f"the process ends with status {child.exitcode}"
        verdict, cause = (NOT_RUN, ended) if answers.empty() else answers.get()
        counts[verdict] += 1
        if cause:
            print(f"{verdict:10} {case.relative_to(clone)}: {cause}", flush=True)
    print(", ".join(f"{counts[v]} {v}" for v in (EQUAL, CLOSE, DIFFERENT, NOT_RUN)))


if __name__ == "__main__":
    main(*sys.argv[1:])
