"""Placement is sound: against a model in which every tile has memory of its own.

`placement.py` makes the programs and has the model. Both engines must give the model's bytes, or
refuse the program with one of `REFUSED`; and by the model's own record of reads and writes no two
tiles that ptokit placed over one another hold content at the same time. Each program is placed
again in the least memory that takes it, also with all tiles made first, as front ends do.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from placement import (
    ITERATIONS,
    NBYTES,
    PLACES,
    ROWS,
    SPACE,
    Generator,
    Instance,
    Model,
    Statement,
    Unwritten,
    hoisted,
    overwrites_needed,
    text,
)
from scale import scaled

from ptokit.analysis.facts import facts_of
from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.launch.bind import bind
from ptokit.machine.memory import Memory
from ptokit.passes.pipeline import run_passes

PROGRAMS = scaled(3)
WRITTEN_OUT = "the same, addresses written out"
REFUSED = ("placed-overlap", "tile-outlives-iteration", "out-of-memory")
SMALL = Target("small", "", like=TARGETS["cpu"], capacity={"UB": SPACE})
SIZES = range(SPACE // NBYTES, 0, -1)  # in tiles
TIGHT = [
    Target(f"of {n} tiles", "", like=TARGETS["cpu"], capacity={"UB": n * NBYTES}) for n in SIZES
]


def outcome(
    program: Program, engine: str, given: dict[str, Any], target: Target = SMALL
) -> tuple[str, bytes]:
    """The slug of the diagnostic, or the bytes of the output."""
    try:
        done = program.run(engine=engine, target=target.name, **given)
    except PtoError as problem:
        return f"{problem.diagnostics[0].slug}\n{problem}", b""
    return "", done["y"].tobytes()


def placed(program: Program) -> Program | None:
    """The program with its addresses written out, read again; None where the run decides them."""
    try:
        module = run_passes(program.module, ["place"], SMALL)
    except PtoError as problem:
        if problem.diagnostics[0].slug != "conversion":
            raise
        return None
    return loads(Program(module).text())


def overlapping(
    program: Program, given: dict[str, Any], instances: list[Instance], target: Target
) -> list[str]:
    """Pairs of storages with content at the same time that have bytes in common."""
    bound = bind(program.func(), given, target, {})
    planned = facts_of(bound.func).on(target, bound.numbers).placement.planned.addresses
    addresses = {value.name: address for value, address in planned.items()}
    found: list[str] = []
    for n, one in enumerate(instances):
        start = addresses[one.name] if one.address is None else one.address
        for other in instances[:n]:
            begin = addresses[other.name] if other.address is None else other.address
            own = [one.address is not None, other.address is not None]
            together = not any(own) and _together((one, start), (other, begin))
            if (own[0] is not own[1] and abs(start - begin) < NBYTES) or together:
                found.append(f"%{one.name} at {start} and %{other.name} at {begin}")
    return found


def _together(one: tuple[Instance, int], other: tuple[Instance, int]) -> bool:
    """Whether one of two at these addresses overwrites what the other still needs."""
    return overwrites_needed(*one, *other) or overwrites_needed(*other, *one)


def judged(seed: int) -> str:
    """What became of one program: a slug, or that the model says the same."""
    random = Random(seed)
    program = Generator(random).program()
    noise = np.random.default_rng(seed)
    x, a = (noise.random((rows, 32), np.float32) for rows in (PLACES * ROWS, ROWS))
    y = np.zeros((PLACES * ROWS, 32), np.float32)
    n = random.randint(0, ITERATIONS)
    source = loads(text(program))
    given = {"x": x, "y": y, "n": n, "a": a}
    model = Model(x, n, a)
    try:
        model.run(program)
        expected = "", np.where(np.isnan(model.y), y, model.y).tobytes()
    except Unwritten:
        expected = "uninitialised-read", b""
    got = [outcome(source, engine, given) for engine in ("reference", "native")]
    assert got[0] == got[1], f"seed {seed}: the engines differ\n{got[0][0]}\n{got[1][0]}"
    slug = got[0][0].partition("\n")[0]
    if slug in REFUSED:
        return slug
    assert (slug, got[0][1]) == expected, f"seed {seed}\n{got[0][0]}\n{source.text()}"
    if not slug:
        pairs = overlapping(source, given, model.instances, SMALL)
        assert not pairs, f"seed {seed}: {pairs}\n{source.text()}"
        again = placed(source)
        if again is not None:
            assert outcome(again, "reference", given) == ("", expected[1]), again.text()
            return WRITTEN_OUT
    return slug or "the same"


@pytest.mark.parametrize("part", range(2))
def test_every_tile_might_have_memory_of_its_own(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TARGETS, SMALL.name, SMALL)
    monkeypatch.setattr(Memory, "refuses", True)
    verdicts = Counter(judged(seed) for seed in range(part, PROGRAMS, 2))
    ran = verdicts["the same"] + verdicts[WRITTEN_OUT]
    assert ran > sum(verdicts.values()) // 2, verdicts
    assert verdicts[WRITTEN_OUT], verdicts
    assert set(verdicts) <= {"the same", WRITTEN_OUT, "uninitialised-read", *REFUSED}


def tightest(program: list[Statement]) -> Target | None:
    """The least memory that takes a program, if the smallest of the tests is more than enough."""
    source, target = loads(text(program)), None
    for smaller in TIGHT:
        if any(d.slug in REFUSED for d in source.check(smaller.name)):
            break
        target = smaller
    return target


def shared_tightly(seed: int, *, first: bool) -> str:
    """As `judged`, in the least memory."""
    random = Random(seed)
    generator = Generator(random)
    program = generator.program()
    program = hoisted(program) if first else program
    target = None if generator.own else tightest(program)
    if target is None:
        return "too large, or at addresses of its own"
    noise = np.random.default_rng(seed)
    x, a = (noise.random((rows, 32), np.float32) for rows in (PLACES * ROWS, ROWS))
    y = np.zeros((PLACES * ROWS, 32), np.float32)
    n = random.randint(0, ITERATIONS)
    given = {"x": x, "y": y, "n": n, "a": a}
    model = Model(x, n, a)
    try:
        model.run(program)
    except Unwritten:
        return "uninitialised-read"
    source = loads(text(program))
    message, done = outcome(source, "reference", given, target)
    slug = message.partition("\n")[0]
    if slug in REFUSED:
        return slug
    expected = np.where(np.isnan(model.y), y, model.y).tobytes()
    assert (slug, done) == ("", expected), f"seed {seed}\n{message}\n{source.text()}"
    pairs = overlapping(source, given, model.instances, target)
    assert not pairs, f"seed {seed}: {pairs}\n{source.text()}"
    return "the same"


@pytest.mark.parametrize("first", [True, False])
def test_in_the_least_memory_tiles_share_what_none_of_them_needs(
    first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target in TIGHT:
        monkeypatch.setitem(TARGETS, target.name, target)
    monkeypatch.setattr(Memory, "refuses", True)
    verdicts = Counter(shared_tightly(seed, first=first) for seed in range(scaled(4)))
    assert verdicts["the same"] > sum(verdicts.values()) // 4, verdicts
