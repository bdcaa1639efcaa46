"""The public cases of vector functions: a `kernel.pto` beside a `golden.py`, in a clone.

`python tests/pto/public_vectors.py CLONE [WORD]` executes the golden.py of each case, runs its
kernel on the inputs by an engine, and lets its compare.py judge the outputs: exactly, and with its
tolerance. It prints the cases that are not equal, or read more than their arrays have, and counts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import ptokit as pto
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import OpaqueOp
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.values.host import numpy_dtype

EQUAL, CLOSE, DIFFERENT, NOT_RUN = "equal", "close", "different", "not run"
FILE = re.compile(r'(?:Read|Write)File\("(?:\./)?([\w.]+)"')
# the file of an array of the host, a call of a kernel, and the kernel that it launches
HOST = re.compile(r'"\./(\w+\.bin)",[^;]*?\b(\w+)Host\b')
CALL = re.compile(r"^ +Launch(\w+)\(([^;]*?),\s*stream\);", re.M)
LAUNCHED = re.compile(r"void Launch(\w+)\(.*?(\w+)<<<", re.S)
BLOCKS, MOST_BLOCKS = re.compile(r"<<<\s*(\d+)"), 8  # of a launch whose blocks are computed
# the comparison without tolerance
PAGE = 1 << 16
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


def python(folder: Path, *command: str) -> bool:
    """Run Python in a folder; return whether it succeeded."""
    env = {**os.environ, "COMPARE_STRICT": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, env=env, check=False
    )
    return done.returncode == 0


def judged(case: Path, engine: str) -> tuple[str, str]:
    """Return the verdict on a case and the cause."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not python(folder, str(case / "golden.py"), "--output-dir", name):
            return NOT_RUN, "golden.py fails"
        room = 0
        for room in (0, PAGE):
            try:
                run(case, folder, engine, room)
                break
            except PtoError as problem:
                first = next(d for d in problem.diagnostics if d.is_error)
                if room or first.slug != "global-out-of-bounds":
                    return NOT_RUN, f"{first.slug}: {first.message}"
        past = ", reads past its arrays" if room else ""
        if python(folder, "-c", EXACT, str(case / "compare.py")):
            return EQUAL, past.removeprefix(", ")
        if python(folder, str(case / "compare.py")):
            return CLOSE, f"within the tolerance of compare.py{past}"
        return DIFFERENT, f"compare.py fails{past}"


def run(case: Path, folder: Path, engine: str, room: int) -> None:
    """Run the kernel of a case; the outputs take the place of the files of the arguments.

    `room`: bytes behind each array, which kernels reach that copy more than the array has.
    """
    import numpy as np

    program: Program = pto.load(case / "kernel.pto")
    unknown = [op.name for f in program.module.funcs for op in f.ops if isinstance(op, OpaqueOp)]
    launch = (case / "launch.cpp").read_text(encoding="utf-8")
    blocks = BLOCKS.search(launch)
    number = int(blocks[1]) if blocks else MOST_BLOCKS
    for name, files in launches(case, folder, launch):
        func = program.entry_named(name)
        if name is None and unknown:
            raise _unknown(unknown)
        given, sizes = dict[str, Any](), dict[str, int]()  # Any: arrays and numbers
        for arg, file in zip(func.args, files, strict=False):
            data = np.fromfile(folder / file, np.uint8)
            sizes[file] = data.size
            data = np.concatenate((data, np.zeros(room, np.uint8)))
            if isinstance(arg.type, PtrType):
                given[arg.name] = data.view(numpy_dtype(arg.type.dtype) or np.uint8)
            elif isinstance(arg.type, ScalarType):
                given[arg.name] = int(data.view(np.int32)[0])
        found = program.run(target="a5", engine=engine, func=name, blocks=number, **given)
        for arg, file in zip(func.args, files, strict=False):
            if arg.name in found:
                found[arg.name].view(np.uint8)[: sizes[file]].tofile(folder / file)


def launches(case: Path, folder: Path, launch: str) -> list[tuple[str | None, list[str]]]:
    """Return the functions that main.cpp launches, None for the only one, and files of arguments.

    Arrays whose files main.cpp does not name have the other files, by their numbers.
    """
    main = (case / "main.cpp").read_text(encoding="utf-8")
    hosts = {host: file for file, host in HOST.findall(main)}
    names = dict(LAUNCHED.findall(launch))
    every = sorted(
        {*FILE.findall(main)} | {p.name for p in folder.glob("v*.bin")},
        key=lambda n: [int(d) for d in re.findall(r"\d+", n)] or [0],
    )
    calls = [(name, [v.strip() for v in text.split(",")]) for name, text in CALL.findall(main)]
    if not calls or not all(v.endswith("Device") for _, values in calls for v in values):
        return [(None, every)]
    found = list[tuple[str | None, list[str]]]()
    for name, values in calls:
        given = [hosts.get(v.removesuffix("Device")) for v in values]
        rest = iter([file for file in every if file not in hosts.values()])
        files = [file or next(rest, "") for file in given]
        found.append((names.get(name) if len(names) > 1 else None, files))
    return found


def _unknown(names: list[str]) -> PtoError:
    from ptokit.diagnostics.diagnostic import error

    return error("unknown-op", f"no page for {', '.join(sorted(set(names)))}")


def main(clone: str, word: str = "", engine: str = "native") -> None:
    """Judge the cases of a clone whose path has the word."""
    counts = Counter[str]()
    cases = sorted(path.parent for path in Path(clone).rglob("kernel.pto"))
    for case in (c for c in cases if word in str(c) and (c / "golden.py").exists()):
        verdict, cause = judged(case, engine)
        counts[verdict] += 1
        if cause:
            print(f"{verdict:10} {case.relative_to(clone)}: {cause}", flush=True)
    print(", ".join(f"{counts[v]} {v}" for v in (EQUAL, CLOSE, DIFFERENT, NOT_RUN)))


if __name__ == "__main__":
    main(*sys.argv[1:])
