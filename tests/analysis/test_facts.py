"""Facts: each analysis runs once per function and target, and only `analysis.facts` makes one."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ptokit as pto
from account.files import ROOT
from every import every
from ptokit.analysis.facts import facts_of
from ptokit.isa.model.targets import TARGETS

ANALYSES = {
    "PointsTo",
    "Liveness",
    "Interference",
    "LiveRanges",
    "FirstUses",
    "ContentLiveness",
    "InPlaceLiveness",
    "DefUse",
    "AliasClasses",
    "Placement",
    "Checker",
    "IntervalAnalysis",
}
GEMM = ROOT / "examples" / "gemm.pto"
FLOWS: tuple[str, ...] = (
    "run, native",
    "run, reference",
    "check",
    "check --races",
    "first call",
    "first call, stored",
    "opt",
)
# in the second call: the files with a function that is called, the walks over blocks, the ops
FILES: dict[str, int] = dict(zip(FLOWS, (95, 96, 68, 103, 79, 44, 115), strict=True))
WALKS: dict[str, int] = dict(zip(FLOWS, (20, 20, 16, 5, 6, 4, 53), strict=True))
OPS: dict[str, int] = dict(zip(FLOWS, (30, 30, 30, 13, 35, 35, 30), strict=True))
MOST_WALKS = 10  # per op
# by module and by bound function, but for the kernel: it is checked when it is recorded
ONE_FUNCTION: dict[str, int | None] = {"PointsTo": 1, "Liveness": 1, "Interference": 1}
TWO_FUNCTIONS: dict[str, int | None] = {"PointsTo": 2, "Liveness": 2, "Interference": 2}
MADE: dict[str, dict[str, int | None]] = {
    "run, native": TWO_FUNCTIONS,
    "run, reference": TWO_FUNCTIONS,
    "check": ONE_FUNCTION,
    "check --races": TWO_FUNCTIONS,
    "first call": ONE_FUNCTION,
    "first call, stored": dict.fromkeys(ONE_FUNCTION),
    "opt": TWO_FUNCTIONS,
}


@cache
def counts() -> dict[str, dict[str, Any]]:
    script = Path(__file__).with_name("counting.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("flow", FLOWS)
def test_each_analysis_runs_once_per_function_and_target(flow: str) -> None:
    found = counts()[flow]
    assert found["again"] == []
    assert {n: found["analyses"].get(n) for n in ONE_FUNCTION} == MADE[flow]


@every("flow", FLOWS)
def test_ops_are_listed_few_times(flow: str) -> None:
    walks = counts()[flow]["walks"]
    assert walks == WALKS[flow]
    assert walks <= MOST_WALKS * OPS[flow]


@every("flow", FLOWS)
def test_files_that_a_command_touches(flow: str) -> None:
    """A number that falls is written here."""
    assert counts()[flow]["files"] == FILES[flow]


def test_only_facts_construct_analyses() -> None:
    package = ROOT / "src" / "ptokit"
    found = {
        (path.name, node.func.id)
        for path in package.rglob("*.py")
        if any(f"{name}(" in path.read_text(encoding="utf-8") for name in ANALYSES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ANALYSES
    }
    assert {name for name, _ in found} == {"facts.py"}
    assert {kind for _, kind in found} == ANALYSES - {"PointsTo", "DefUse"}  # see `FuncFacts.made`


def test_a_copy_has_no_facts() -> None:
    """It may be changed."""
    (func,) = pto.loads(GEMM.read_text(encoding="utf-8")).module.funcs
    first = facts_of(func)
    assert first is facts_of(func)
    assert first.on(TARGETS["a5"]) is first.on(TARGETS["a5"])
    assert first.on(TARGETS["a5"]) is not first.on(TARGETS["a2a3"])
    for other in (deepcopy(func), replace(func), pickle.loads(pickle.dumps(func))):
        assert other.known == {}
        assert facts_of(other) is not first


def test_numbers_that_compare_equal_are_told_apart() -> None:
    (func,) = pto.loads(".arg %n : f32\n%m = arith.addf %n, %n : f32").module.funcs
    facts, (n,) = facts_of(func), func.args
    kept = {id(facts.on(TARGETS["a5"], {n: number})) for number in (0.0, -0.0, 0, 1, True, 1.0)}
    assert len(kept) == 6
