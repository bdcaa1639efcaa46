"""Placement is sound: against a model in which every tile has memory of its own.

`placement.py` makes the programs and has the model. Both engines must give the model's bytes, or
refuse the program with one of `REFUSED`; and by the model's own record of reads and writes no two
tiles that ptokit placed over one another hold content at the same time.
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
    Unwritten,
    text,
)
from scale import scaled

from ptokit.analysis.checker import learned
from ptokit.analysis.liveness import Interference
from ptokit.analysis.placement import plan
from ptokit.api.bind import bind
from ptokit.api.program import Program, loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.passes.pipeline import run_passes

PROGRAMS = scaled(6)
WRITTEN_OUT = "the same, addresses written out"
REFUSED = ("placed-overlap", "tile-outlives-iteration", "out-of-memory")
SMALL = Target("small", "", like=TARGETS["cpu"], capacity={"UB": SPACE})


def outcome(program: Program, engine: str, given: dict[str, Any]) -> tuple[str, bytes]:
    """The slug of the diagnostic, or the bytes of the output."""
    try:
        done = program.run(engine=engine, target=SMALL.name, **given)
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


def overlapping(program: Program, given: dict[str, Any], instances: list[Instance]) -> list[str]:
    """Pairs of storages with content at the same time that have bytes in common."""
    target = SMALL
    bound = bind(program.func(), given, target, {})
    planned = plan(Interference(bound.func), learned(bound.func, target, bound.numbers)).addresses
    addresses = {value.name: address for value, address in planned.items()}
    found: list[str] = []
    for n, one in enumerate(instances):
        start = addresses[one.name] if one.address is None else one.address
        for other in instances[:n]:
            begin = addresses[other.name] if other.address is None else other.address
            own = [one.address is not None, other.address is not None]
            wrong = own[0] is not own[1] or (not any(own) and _together(one, other))
            if wrong and abs(start - begin) < NBYTES:
                found.append(f"%{one.name} at {start} and %{other.name} at {begin}")
    return found


def _together(one: Instance, other: Instance) -> bool:
    """Whether both hold content at one time: from the first write to the last read."""
    if one.written is None or other.written is None:
        return False
    return max(one.written, other.written) < min(one.read, other.read)


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
        pairs = overlapping(source, given, model.instances)
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
    verdicts = Counter(judged(seed) for seed in range(part, PROGRAMS, 2))
    ran = verdicts["the same"] + verdicts[WRITTEN_OUT]
    assert ran > sum(verdicts.values()) // 2, verdicts
    assert verdicts[WRITTEN_OUT], verdicts
    assert set(verdicts) <= {"the same", WRITTEN_OUT, "uninitialised-read", *REFUSED}
