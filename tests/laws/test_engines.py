"""The law of engines: whatever the reference does in a program, the native engine does.

Instructions with random legal operands run in loops of whole programs, with windows and extents
that change from iteration to iteration: outputs, counts and refusals must be the same. What single
instructions do is the law of meanings (tests/oracles).
"""

from __future__ import annotations

from typing import Any

import pytest
from engines import Case, build, drawn, instruction, outcome
from loops import program, run

from fuzz.scale import sampled, scaled
from ptokit.api.kernel.loading import loads
from ptokit.engines.native.compile import compile_op, compile_program
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALIASES
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.machine import execute
from ptokit.text.write.printer import print_module
from ptokit.values.fixpipe import CPU_READING

LOOPS = scaled(1)
DATA = [p for p in pages() if p.outs() and p.executes]
# What the seed documents and the kernels of matrices are about: no part of it is interpreted.
DOCUMENTS = ("isa.layout", "isa.irregular", "isa.config", "isa.memory", "isa.matrix")


def written(case: Case) -> tuple[str, Any]:  # Any: arrays and numbers by name
    """The program of a case as text, with its arguments."""
    module, arrays = program(case, iterations=1 + case.seed % 3)
    return print_module(module), arrays


@pytest.mark.parametrize("page", sampled(DATA, 4), ids=lambda p: p.__name__)
def test_both_engines_run_the_same_loops(page: type[Instr]) -> None:
    for number in range(LOOPS):
        case = drawn(page, number)
        text, arrays = written(case)
        expected, got = (run(text, arrays, case, e) for e in ("reference", "native"))
        assert expected == got, f"{text}\n{case}"
        if any(f".{d}" in page.__module__ for d in DOCUMENTS):
            _require_compiled(case, text, arrays)


def _require_compiled(case: Case, text: str, arrays: Any) -> None:  # Any: as above
    """No part is left to the reference: neither alone nor in the program, which is cached."""
    if ALIASES in case.page.traits and outcome(case, execute.run_op).said:
        return  # a window that cannot be reread: the reference refuses it
    compile_op(*instruction(case, side := build(case)), side.core)
    target = TARGETS[case.target]
    bound = bind(loads(text).func(), arrays, target, {})
    session = compile_program(bound, target, CPU_READING, 1)
    assert session.plan.by_reference == set(), f"{session.plan.by_reference} {text}"
