"""`check` against runs: it reports what happens, and only that, where constants decide.

Random kernels of any page, and programs of windows in constant loops: nested, with tails, branches
and values that go round. The reference engine says what happens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from decided import outcome
from scale import scaled

from ptokit.analysis.legality import Outcome
from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.machine.memory import Memory

PARTS = 2
FIRST, KERNELS = 2, scaled(6) // PARTS
PROGRAMS = scaled(20) // PARTS
COMPUTE = ("addi", "addi", "muli", "subi", "minsi", "maxsi", "divsi", "remsi")
WIDE, ROWS = 384, 16
TILE = "!pto.tile_buf<vec, {rows}x{cols}xf32>"


@pytest.mark.parametrize("part", range(PARTS))
def test_random_kernels(part: int) -> None:
    first = FIRST + part * KERNELS
    found = [outcome(seed) for seed in range(first, first + KERNELS)]
    tried = [o for o in found if o is not None]
    assert tried
    for one in tried:
        assert not one.complaint(), f"{one.complaint()}\n{one.text}"


@dataclass
class Windows:
    """A program of windows in loops; `safe`: initialised from an argument before anything reads."""

    random: Random
    lines: list[str] = field(default_factory=list[str])
    names: int = 0
    constants: dict[int, str] = field(default_factory=dict[int, str])

    def number(self, n: int) -> str:
        return self.constants.setdefault(n, f"%c{n}".replace("-", "m"))

    def line(self, text: str, depth: int) -> None:
        self.lines.append("  " * (depth + 1) + text)

    def named(self, text: str, depth: int) -> str:
        self.names += 1
        self.line(f"%v{self.names} = {text}", depth)
        return f"%v{self.names}"

    def expression(self, known: list[str], depth: int) -> str:
        """A number from counters and constants."""
        value = self.random.choice(known)
        for _ in range(self.random.randint(0, 2)):
            op = self.random.choice(COMPUTE)
            n = self.random.choice((1, 2, 3, 8, 16, 64, 128))
            other = self.number(n)
            if op in ("addi", "subi", "minsi") and self.random.random() < 0.3:
                other = self.random.choice(known)
            value = self.named(f"arith.{op} {value}, {other} : index", depth)
        return value

    def statements(self, known: list[str], depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.4 and depth < 3:
                self.loop(known, depth)
            elif kind < 0.5 and depth < 3:
                self.branch(known, depth)
            else:
                self.window(known, depth)

    def loop(self, known: list[str], depth: int) -> None:
        self.names += 1
        counter, around, out = (f"%{w}{self.names}" for w in "kas")
        lower = self.number(self.random.choice((0, 0, 1, 16)))
        upper = self.number(self.random.choice((0, 1, 4, 7, 16, 24)))
        if self.random.random() < 0.2:
            upper = self.random.choice(known)
        step = self.number(self.random.choice((1, 1, 3, 16)))
        carried = self.random.random() < 0.3
        first = self.random.choice(known)
        passes = f" iter_args({around} = {first}) -> (index)" if carried else ""
        head = f"scf.for {counter} = {lower} to {upper} step {step}{passes} {{"
        self.line(f"{out} = {head}" if carried else head, depth)
        inside = [*known, counter, counter, *([around] if carried else [])]
        self.statements(inside, depth + 1)
        if carried:
            self.line(f"scf.yield {self.expression(inside, depth + 1)} : index", depth + 1)
        self.line("}", depth)
        if carried:
            known.append(out)

    def branch(self, known: list[str], depth: int) -> None:
        word = self.random.choice(("eq", "slt", "sge", "ne"))
        left, right = self.expression(known, depth), self.number(self.random.choice((0, 3, 64)))
        condition = self.named(f"arith.cmpi {word}, {left}, {right} : index", depth)
        self.line(f"scf.if {condition} {{", depth)
        self.statements([*known], depth + 1)
        if self.random.random() < 0.4:
            self.line("} else {", depth)
            self.statements([*known], depth + 1)
        self.line("}", depth)

    def window(self, known: list[str], depth: int) -> None:
        """A window out of %wide or into it, or a read that may come before any write."""
        cols = self.random.choice((8, 64))
        small, wide = TILE.format(rows=ROWS, cols=cols), TILE.format(rows=ROWS, cols=WIDE)
        if self.random.random() < 0.25:
            a, b = self.random.choice("xyz"), self.random.choice("xyz")
            kind = TILE.format(rows=ROWS, cols=8)
            self.line(f"pto.tadd ins(%{a}, %small8 : {kind}, {kind}) outs(%{b} : {kind})", depth)
            return
        zero, col = self.number(0), self.expression(known, depth)
        types, ends = (wide, small), ("%wide", f"%small{cols}")
        name = "textract"
        if self.random.random() < 0.5:
            name, types, ends = "tinsert", types[::-1], ends[::-1]
        args = f"ins({ends[0]}, {zero}, {col} : {types[0]}, index, index)"
        self.line(f"pto.{name} {args} outs({ends[1]} : {types[1]})", depth)

    def text(self) -> str:
        tiles = [f"%wide: {TILE.format(rows=ROWS, cols=WIDE)}"]
        tiles += [f"%small{n}: {TILE.format(rows=ROWS, cols=n)}" for n in (8, 64)]
        made = [f"  %{n} = pto.alloc_tile : {TILE.format(rows=ROWS, cols=8)}" for n in "xyz"]
        first = "  pto.tadd ins(%small8, %small8 : {0}, {0}) outs(%x : {0})"
        made.append(first.format(TILE.format(rows=ROWS, cols=8)))
        constants = [f"  {v} = arith.constant {n} : index" for n, v in self.constants.items()]
        head = f"func.func @f({', '.join(tiles)}) {{"
        return "\n".join([head, *constants, *made, *self.lines, "  return", "}", ""])


def program(seed: int) -> str:
    made = Windows(Random(seed))
    made.statements([made.number(0), made.number(64)], 0)
    return made.text()


def stopped(source: Program) -> PtoError | None:
    """What a run says that goes wrong."""
    arrays = {f"small{n}": np.ones((ROWS, n), np.float32) for n in (8, 64)}
    arrays["wide"] = np.ones((ROWS, WIDE), np.float32)
    try:
        source.execute(arrays, engine="reference")
    except PtoError as problem:
        return problem
    return None


@pytest.mark.parametrize("part", range(PARTS))
def test_windows_in_constant_loops(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails was refused for that reason, in that iteration; one that does not, was not.

    Nothing is deferred to run time, but for reads that a branch may skip.
    """
    monkeypatch.setattr(Memory, "refuses", True)
    seen = {"ran": 0, "window": 0, "blank": 0}
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed)
        source = loads(text)
        (verdict,) = source.verdicts("cpu")
        errors = [d for d in verdict.diagnostics if d.is_error]
        problem = stopped(source)
        if problem is None:
            seen["ran"] += 1
            assert verdict.word is not Outcome.REFUSED, f"{errors[0].render()}\n{text}"
            continue
        happened = problem.diagnostics[0]
        if happened.slug == "uninitialised-read":
            seen["blank"] += 1
            continue
        seen["window"] += 1
        key = (happened.slug, happened.span, happened.rule)
        same = [d for d in errors if (d.slug, d.span, d.rule) == key]
        assert same, f"check does not say\n{problem}\n{text}"
        assert (same[0].seen or "").startswith(happened.seen or "?"), text
        notes = happened.notes[0].message if happened.notes else ""
        innermost = re.findall(r"%k\d+ = -?\d+", notes)
        assert not innermost or innermost[0] in (same[0].seen or ""), f"{problem}\n{same[0].seen}"
    assert min(seen.values()) > 0, seen


@pytest.mark.parametrize("part", range(PARTS))
def test_reads_before_writes(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where check says so a run that may read nothing else stops, or something stops it before."""
    monkeypatch.setattr(Memory, "refuses", True)
    found = there = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed)
        source = loads(text)
        (verdict,) = source.verdicts("cpu")
        blank = [d for d in verdict.diagnostics if d.slug == "uninitialised-read"]
        if not blank:
            continue
        found += 1
        problem = stopped(source)
        assert problem is not None, f"{blank[0].render()}\n{text}"
        there += problem.diagnostics[0].message in {d.message for d in blank}
    assert there > found // 4, f"{there} of {found}"
