"""The programs of the tree without their own flags, synchronised again, and what is found then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import ptokit as pto
from account.files import ROOT
from ptokit.api.program import Program
from ptokit.explore.exploration import launch_issues
from ptokit.ir.module import AnyOp, Block, Func, Module, Op
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.targets import TARGETS
from ptokit.order.hazards import Findings, find
from ptokit.passes.pipeline import run_passes

FOLDERS = (ROOT / "examples", ROOT / "examples" / "pto", ROOT / "tests" / "pto")
PATHS = sorted(chain.from_iterable(folder.glob("*.pto") for folder in FOLDERS))
CHIPS = ("a2a3", "a5")


def orders(op: AnyOp) -> bool:
    """Whether an op is about the order of the pipes only."""
    return isinstance(op, Op) and FLAGS in op.page.uses


def without(block: Block, gone: set[int] | None = None) -> Block:
    """The block without the flags and barriers in it, or without those of these numbers only."""
    count = iter(range(1_000_000))
    return _without(block, gone, count)


def _without(block: Block, gone: set[int] | None, count: Iterator[int]) -> Block:
    ops: list[AnyOp] = []
    for op in block.ops:
        if orders(op):
            number = next(count)
            if gone is None or number in gone:
                continue
        if op.regions:
            op = replace(op, regions=[_without(region, gone, count) for region in op.regions])
        ops.append(op)
    following = [_without(b, gone, count) for b in block.following]
    return replace(block, ops=ops, following=following)


def bare(module: Module) -> Module:
    """The module without any flag or barrier."""

    def func(func: Func) -> Func:
        blocks = [without(block) for block in func.blocks]
        return replace(func, body=without(func.body), blocks=blocks)

    return module.mapped(func)


def runs(program: Program, chip: str) -> bool:
    """Whether every function runs on samples: no other rank, and no number to guess, is needed."""
    try:
        for func in program.module.funcs:
            if not func.declared:
                next(launch_issues(program, TARGETS[chip], func.name))
    except pto.PtoError:
        return False
    return True


@cache
def synchronised(path: Path, chip: str) -> Program | str:
    """The program with flags that the pass found, or why it is refused."""
    program = Program(bare(pto.load(path).module))
    for problem in program.check(chip):
        if problem.is_error:
            return "illegal"
    if not runs(program, chip):
        return "no run"
    try:
        return Program(run_passes(program.module, ["synchronise"], TARGETS[chip]))
    except pto.PtoError as problem:
        return problem.diagnostics[0].slug


def findings(program: Program, chip: str) -> Iterator[Findings]:
    """What the detector finds in each run of each function that the chip takes."""
    for func in program.module.funcs:
        if func.declared:
            continue
        for issue in launch_issues(program, TARGETS[chip], func.name):
            yield find(issue.cores, TARGETS[chip], issue.footprints.regions)
