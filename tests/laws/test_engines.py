"""The law of engines: whatever the reference does to the memories, the native engine does.

Instructions with random legal operands run under both, on memories full of random bytes. All bytes
of all memories must be equal afterwards, and what the reference refuses the native engine refuses
in the same words. Then the same instructions run in loops of whole programs, with windows and
extents that change from turn to turn. PTOKIT_EXAMPLES multiplies the number of cases.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from engines import (
    ARRAYS,
    PLACES,
    Case,
    build,
    case_of,
    differences,
    instruction,
    legal,
    outcome,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from loops import program, run
from operands import STYLES, family
from test_rules import refusals
from witness import HARDEST

from ptokit.bind import bind
from ptokit.isa import pages
from ptokit.isa.lang import Instr
from ptokit.isa.targets import TARGETS
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.program import loads
from ptokit.sim import launch, native
from ptokit.sim.native.compile import compile_op, compile_program
from ptokit.text.printer import print_module

TIMES = int(os.environ.get("PTOKIT_EXAMPLES", "1"))
OPS, LOOPS, COMPILED = 6 * TIMES, 3 * TIMES, 2 * TIMES
DATA = [p for p in pages() if p.outs() and not p.handle]
# What the seed documents and the kernels of matrices are about: no part of it is interpreted.
DOCUMENTS = ("isa.layout", "isa.irregular", "isa.config", "isa.memory", "isa.matrix")
SEEDS = [p for p in DATA if any(f".{d}" in p.__module__ for d in DOCUMENTS)]


def name(page: type[Instr]) -> str:
    return page.__name__


def targets(page: type[Instr]) -> list[str]:
    return [t for t in HARDEST if not refusals(page, t)]


@st.composite
def cases(draw: st.DrawFn, page: type[Instr]) -> Case:
    """An instruction of the page; where its operands may not lie so, they lie apart."""
    kin = family(page, draw(st.sampled_from(targets(page))))
    random = Random(draw(st.integers(0, 1 << 30)))
    state = kin.draw(random, draw(st.sampled_from((0, 1, 2, 3, 5, 8))))
    case = case_of(
        *(kin.space, state, random),
        place=draw(st.sampled_from(PLACES)),
        array=draw(st.sampled_from(ARRAYS)),
        styles=tuple(draw(st.lists(st.sampled_from(STYLES), min_size=1, max_size=3))),
        holes=draw(st.sampled_from((0, 0, 0, 1, 2))),
        seed=draw(st.integers(0, 1 << 30)),
        hardware=draw(st.booleans()),
        registers=draw(st.sampled_from((True, True, False))),
    )
    return case if legal(case) else replace(case, place="apart")


def examples(page: type[Instr], count: int, check: Callable[[Case], None]) -> None:
    """Check so many cases of a page, the same each time."""
    limits = settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    limits(given(case=cases(page))(check))()


@pytest.mark.parametrize("page", DATA, ids=name)
def test_both_engines_do_the_same(page: type[Instr]) -> None:
    def check(case: Case) -> None:
        expected, got = outcome(case, launch.run_op), outcome(case, native.run_op)
        assert list(differences(expected, got)) == [], str(case)

    examples(page, OPS, check)


@pytest.mark.parametrize("page", DATA, ids=name)
def test_both_engines_run_the_same_loops(page: type[Instr]) -> None:
    def check(case: Case) -> None:
        text, arrays = written(case)
        expected, got = (run(text, arrays, case, e) for e in ("reference", "native"))
        assert expected == got, f"{text}\n{case}"

    examples(page, LOOPS, check)


def written(case: Case) -> tuple[str, Any]:  # Any: arrays and numbers by name
    """The program of a case as text, with its arguments."""
    module, arrays = program(case, turns=1 + case.seed % 3)
    return print_module(module), arrays


@pytest.mark.parametrize("page", SEEDS, ids=name)
def test_what_the_documents_describe_is_compiled(page: type[Instr]) -> None:
    def check(case: Case) -> None:
        side = build(case)
        compile_op(*instruction(case, side), side.core)
        text, arrays = written(case)
        target = TARGETS[case.target]
        bound = bind(loads(text).func(), arrays, target, {})
        session = compile_program(bound, target, CPU_READING, 1)
        assert session.plan.by_reference == set(), f"{session.plan.by_reference} {text}"

    examples(page, COMPILED, check)
