"""Programs as front ends emit them, each with what NumPy makes of the same arrays.

NAME.pto, here or among the lessons in `examples/pto`, has a row in the table of `golden.py`: a
function of that name in one of the files `golden_*.py` gives its arguments and what must come out.
It runs on every target that takes it, in both engines; `make test` compiles it for one of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import golden_kernels
import golden_models
import golden_programs
import golden_targets
import golden_tiles
import numpy as np
import pytest
from golden import GOLDEN, Arrays

import ptokit as pto
from account.files import ROOT
from every import every
from fuzz.scale import sampled
from naming import named
from ptokit.diagnostics.diagnostic import Severity
from ptokit.ir.module import OpaqueOp
from ptokit.isa.index import pages
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.targets import TARGETS
from ptokit.order.loggedissue import LoggedIssue

HERE = Path(__file__).parent
FILES = (golden_kernels, golden_models, golden_programs, golden_targets, golden_tiles)
SMALLEST = 0.01  # of the largest number: what is less may be off by as much as that


OURS = {path.stem: path for path in HERE.glob("*.pto")}
LESSONS = {path.stem: path for path in (ROOT / "examples" / "pto").glob("*.pto")}
PATHS = {name: OURS.get(name) or LESSONS[name] for name in GOLDEN}


@cache
def program(name: str) -> pto.Program:
    return pto.load(PATHS[name])


def test_every_program_has_a_reference() -> None:
    assert set(OURS) <= set(GOLDEN)


def test_together_they_use_every_shape_of_statement() -> None:
    ops = [op for name in GOLDEN for func in program(name).module.funcs for op in func.walk()]
    used = {op.page for op in ops if not isinstance(op, OpaqueOp)}
    assert {page.asm.shape for page in pages()} == {page.asm.shape for page in used}


@every("name", GOLDEN)
def test_its_text(name: str) -> None:
    """It says what it shows, reads back as printed, and lists all values `--type` may name."""
    assert PATHS[name].read_text(encoding="utf-8").startswith("// ")
    text = program(name).text("dps")
    assert pto.loads(text).text("dps") == text
    for func in program(name).module.funcs:
        listed = {value.name for value in func.named()}
        assert {value.name for op in func.walk() for value in op.results} <= listed
        assert {value.name for block in func.blocks for value in block.args} <= listed


@every("name", GOLDEN)
def test_it_is_legal_or_refused_for_the_reason(name: str) -> None:
    for target in TARGETS:
        with named(target):
            slugs = {d.slug for d in program(name).check(target) if d.is_error}
            reason = GOLDEN[name].refused.get(target)
            assert (reason in slugs) if reason else (slugs == set())


LEGAL = {n: [t for t in TARGETS if t not in row.refused] for n, row in GOLDEN.items()}
# Machine code takes long to make: of each program for one target, the next one's in turn.
COMPILED = {
    (name, target)
    for i, (name, legal) in enumerate(LEGAL.items())
    for target in sampled(legal[i % len(legal) :] + legal[: i % len(legal)], 3)
}


@pytest.mark.parametrize(
    ("name", "target"), sampled([(n, t) for n, legal in LEGAL.items() for t in legal], 9)
)
def test_it_computes_what_numpy_computes(
    name: str, target: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both engines give the same bytes, the same printed lines, or the same error."""
    row = GOLDEN[name]
    arguments, wanted, how = given(name, target)
    engines = ("reference", "native") if (name, target) in COMPILED else ("reference",)
    (first, said), *others = (
        (outcome(program(name), engine, how, arguments), capfd.readouterr().out)
        for engine in engines
    )
    for other, said_again in others:
        assert bits(other) == bits(first)
        assert said_again == said
    if row.stops:
        assert first == row.stops
        return
    assert isinstance(first, dict), first
    for output, array in wanted.items():
        close(first[output], np.asarray(array), row.within, output)


# the detector looks at launches of one rank, and this program is right on two alone
BY_RANK = {"ranks"}
CHIPS = sampled([(n, t) for n, legal in LEGAL.items() for t in legal if t != "cpu"], 45)


@pytest.mark.parametrize(("name", "target"), CHIPS)
def test_text_of_level_3_computes_the_same(name: str, target: str) -> None:
    """What `place` writes are the addresses that the run chooses; scratch tiles change nothing."""
    arguments, _, how = given(name, target)
    try:
        again = pto.loads(program(name).text(level=3, target=target))
    except pto.PtoError as problem:
        assert problem.diagnostics[0].slug == "conversion"  # noqa: PT017  # only the run knows one
        return
    first = outcome(program(name), "reference", how, arguments)
    assert bits(outcome(again, "reference", how, arguments)) == bits(first)


def given(name: str, target: str) -> tuple[Arrays, Arrays, Arrays]:
    """The arguments of a program, what must come out, and how it runs."""
    row = GOLDEN[name]
    how: Arrays = {"target": target, "blocks": row.blocks, "ranks": row.ranks, "func": row.entry}
    return *row.reference(np.random.default_rng(7)), how


FLAG_NAMES = {
    name for page in pages() if FLAGS in page.uses for name in (page.name, *page.asm.names)
}


def synchronised(text: str) -> bool:
    """Whether the program has flags or barriers of its own: else a compiler sees to them."""
    return not FLAG_NAMES.isdisjoint(re.findall(r"\bpto\.([\w.]+)", text))


SYNCHRONISED = [
    (name, target)
    for name, legal in LEGAL.items()
    if name not in BY_RANK and synchronised(PATHS[name].read_text(encoding="utf-8"))
    for target in legal
    if target != "cpu"
]


@pytest.mark.parametrize(("name", "target"), sampled(SYNCHRONISED, 2))
def test_its_own_synchronisation_is_right(name: str, target: str) -> None:
    """Hints aside: what one target needs may be too much on the other one."""
    row = GOLDEN[name]
    arguments, _ = row.reference(np.random.default_rng(7))
    for given in ({}, arguments):  # samples, as `check --races` takes them, and one run
        found = program(name).races(target, func=row.entry, blocks=row.blocks, **given)
        assert [d for d in found if d.severity is not Severity.HINT] == []


ADDS = {"parts"}  # to the same bytes in any order, of which the proof knows nothing


@pytest.mark.parametrize(("name", "target"), sampled(SYNCHRONISED[::-1], 6))
def test_compiled_code_proves_that_its_run_is_right(name: str, target: str) -> None:
    """No entry is looked at in Python."""
    row = GOLDEN[name]
    arguments, _ = row.reference(np.random.default_rng(7))
    issue = LoggedIssue(TARGETS[target])
    how: Arrays = {"target": target, "blocks": row.blocks, "func": row.entry, "engine": "native"}
    program(name).execute(arguments, **how, observers=[issue])
    assert issue.proven(blocks_only=False) == (name not in ADDS)


def test_examples_have_the_right_synchronisation() -> None:
    """Those that have some; what they compute is another test's matter."""
    paths = [p for p in (ROOT / "examples").rglob("*.pto") if p.stem not in {*GOLDEN, "race"}]
    flagged = [pto.load(p) for p in paths if synchronised(p.read_text(encoding="utf-8"))]
    found = [d for other in flagged for d in other.races("a2a3", "a5")]
    assert flagged
    assert [d for d in found if d.severity is not Severity.HINT] == []
    assert [d.slug for d in pto.load(ROOT / "examples" / "race.pto").races("a5")] == ["hazard"]


def outcome(program: pto.Program, engine: str, how: Arrays, arguments: Arrays) -> Arrays | str:
    """The outputs, or the slug of the error that the run ended with."""
    try:
        return program.run(engine=engine, **how, **arguments)
    except pto.PtoError as problem:
        return problem.diagnostics[0].slug


def bits(outcome: Arrays | str) -> dict[str, bytes] | str:
    """What came out, to the bit."""
    return outcome if isinstance(outcome, str) else {k: v.tobytes() for k, v in outcome.items()}


def close(found: Any, wanted: Any, within: float, output: str) -> None:  # Any: arrays
    """Equal, or as near as the row allows."""
    if not within:
        assert np.array_equal(found, wanted), output
        return
    largest = float(np.abs(wanted.astype(np.float64)).max())
    np.testing.assert_allclose(
        found.astype(np.float64),
        wanted.astype(np.float64),
        rtol=within,
        atol=within * SMALLEST * largest,
        err_msg=output,
    )
