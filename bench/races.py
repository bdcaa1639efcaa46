"""What `--races` costs: runs of programs with their own flags, with and without a look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import workloads
from clock import Clock, random

import ptokit as pto
from ptokit.explore.exploration import races_of_run, synchronised
from ptokit.isa.model.targets import TARGETS
from ptokit.order.loggedissue import LoggedIssue

EXAMPLES = Path(__file__).parents[1] / "examples"
TARGET = "a2a3"
MOST_RATIO = 2.0
ENTRIES = 11  # in each iteration of the stream


@dataclass(frozen=True)
class RacedRun:
    """A program on arrays; `entries`: what it puts into the queues, where that is counted."""

    name: str
    program: pto.Program
    arrays: dict[str, Any]  # Any: arrays and numbers
    blocks: int = 1
    entries: int = 0

    @property
    def looked_at(self) -> str:
        return f"{self.name}, with races"

    def alone(self, *observers: LoggedIssue) -> None:
        how: dict[str, Any] = {"target": TARGET, "blocks": self.blocks, "engine": "native"}
        self.program.execute(self.arrays, observers=observers, **how)  # Any: options

    def with_races(self) -> None:
        between_blocks = not synchronised(self.program)
        issue = LoggedIssue(TARGETS[TARGET], between_blocks=between_blocks)
        self.alone(issue)
        found = races_of_run(self.program, self.program.entry_named(None), issue)
        assert not any(problem.is_error for problem in found), found


def runs() -> Iterator[RacedRun]:
    for iterations in (900, 9_000, 90_000):
        yield stream(iterations)
    text = pto.load(EXAMPLES / "gemm.pto").text("dps", level=3, target=TARGET)
    arrays = {"a": random(np.float16, 512, 384), "b": random(np.float16, 384, 320)}
    arrays["c"] = random(np.float32, 512, 320)
    yield RacedRun("gemm.pto with its flags", pto.loads(text), arrays)
    attention = workloads.attention(np.random.default_rng(7))
    program = pto.load(EXAMPLES / attention.path)
    yield RacedRun("flash_attention.pto", program, dict(attention.arrays), attention.blocks)


def stream(iterations: int) -> RacedRun:
    """examples/stream.pto with tiles of 4 KiB, so many of them."""
    text = (EXAMPLES / "stream.pto").read_text(encoding="utf-8")
    for old, new in (
        ("32x64", "32x32"),
        ("%c4 = arith.constant 4 ", f"%c4 = arith.constant {iterations} "),
        ("%c64 = arith.constant 64", "%c64 = arith.constant 32"),
        ("constant 2048", "constant 1024"),
        ("constant 8192", "constant 4096"),
        ("constant 16384", "constant 8192"),
    ):
        text = text.replace(old, new)
    x = random(np.float32, iterations, 1024).ravel()
    name, entries = f"stream of {iterations} tiles", iterations * ENTRIES
    return RacedRun(name, pto.loads(text), {"x": x, "y": np.zeros_like(x)}, 1, entries)


def add_races(clock: Clock) -> list[RacedRun]:
    found = [*runs()]
    for run in found:
        clock.add(run.name, clock.calling(run.alone))
        clock.add(run.looked_at, clock.calling(partial(RacedRun.with_races, run)))
    return found


def race_ratios(clock: Clock, found: list[RacedRun]) -> Iterator[tuple[str, float]]:
    """The time with a look at the races over the time without."""
    for run in found:
        alone, both = clock.best[run.name], clock.best[run.looked_at]
        each = f", {both / run.entries:.0f} ns for each of {run.entries:,}" if run.entries else ""
        yield f"{run.name} with --races, to without{each}", both / alone
