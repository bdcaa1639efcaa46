"""Counts what seven flows do in their second call in a process; prints the counts as JSON.

It runs in a process of its own, so that no other test has filled a cache. A file counts if a Python
function of it is called. An analysis is named by its class, function, target and numbers.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner

import ptokit as pto
from ptokit.analysis.aliases import AliasClasses, PointsTo
from ptokit.analysis.checker import Checker
from ptokit.analysis.defuse import DefUse
from ptokit.analysis.liveness import Interference, Liveness
from ptokit.analysis.placement import Placement
from ptokit.ir.module import Block
from ptokit.launch.storedruns import StoredRuns
from ptokit.tools.cli import main

ROOT = Path(__file__).parents[2]
PACKAGE = str(ROOT / "src" / "ptokit")
CONSTRUCTED = (PointsTo, Liveness, Interference, DefUse, AliasClasses, Placement)
EXAMPLES = ROOT / "examples"
GEMM, RACE = EXAMPLES / "gemm.pto", EXAMPLES / "race.pto"
ARRAYS = "a=random:f16:512x384", "b=random:f16:384x320"


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def softmax(x: pto.In, y: pto.Out, *, high: int = 32) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        t = pto.exp(t - pto.rowmax(t))
        pto.store(pto.block(y, i * high, 0, high, width), t / pto.rowsum(t))


def command(*words: object) -> Callable[[], None]:
    def run() -> None:
        done = CliRunner().invoke(main, [*map(str, words)])
        assert done.exit_code in (0, 1), done.output

    return run


def first_call() -> None:
    x = np.zeros((100, 50), np.float32)
    pto.kernel(shapes="x[rows, D] y[rows, D]")(softmax.function)(x, np.zeros_like(x))


STORED = "first call, stored"  # the others read, check and compile again
FLOWS = {
    "run, native": command("run", GEMM, "--engine", "native", *ARRAYS),
    "run, reference": command("run", GEMM, "--engine", "reference", *ARRAYS),
    "check": command("check", GEMM, "--target", "all"),
    "check --races": command("check", "--races", RACE, "--target", "a2a3"),
    "first call": first_call,
    STORED: first_call,
    "opt": command("opt", GEMM, "--passes", "scratch,place,synchronise", "--target", "a5"),
}


def analysed(kind: type, given: dict[str, Any]) -> tuple[object, ...]:
    """Name the analysis that a constructor, or the walk of a checker, begins."""
    if kind is Checker:
        one = given["self"]
        return type(one).__name__, id(given["func"]), one.facts.target.name
    about = given.get("func") or given.get("points_to") or given["interference"]
    return kind.__name__, id(about), id(given.get("facts"))


class Profile:
    """What is called. It keeps the things that analyses are about: no identity is used twice."""

    def __init__(self) -> None:
        self.files, self.walks, self.kept = set[str](), 0, list[object]()
        self.analyses = Counter[tuple[object, ...]]()
        self.begins: dict[object, type] = {k.__init__.__code__: k for k in CONSTRUCTED}
        self.begins[Checker.func.__code__] = Checker

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        self.files.add(code.co_filename)
        if code in self.begins:
            given = dict(frame.f_locals)
            self.kept.append(given)
            self.analyses[analysed(self.begins[code], given)] += 1


def counted(run: Callable[[], None]) -> dict[str, object]:
    """Count what the second call does."""
    run()
    profile, walk = Profile(), Block.walk

    def counted_walk(block: Block) -> Iterator[Any]:
        profile.walks += 1
        return walk(block)

    Block.walk = counted_walk  # type: ignore[method-assign]
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
        Block.walk = walk  # type: ignore[method-assign]
    return {
        "files": len(profile.files),
        "walks": profile.walks,
        "analyses": dict(sorted(Counter(str(name) for name, *_ in profile.analyses).items())),
        "again": sorted({str(name) for (name, *_), n in profile.analyses.items() if n > 1}),
    }


if __name__ == "__main__":
    found = {STORED: counted(FLOWS.pop(STORED))}
    with patch.object(StoredRuns, "repeated", return_value=None):
        found |= {name: counted(run) for name, run in FLOWS.items()}
    print(json.dumps(found))
