"""The law of engines: whatever the reference does in a program, the native engine does.

Instructions with random legal operands run in loops of whole programs, with windows and extents
that change from iteration to iteration: outputs, counts and refusals must be the same. What single
instructions do is the law of meanings (tests/oracles).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from engines import Case, build, drawn, instruction, outcome
from loops import program, run

from account.files import ROOT
from fuzz.scale import sampled, scaled
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import CallError
from ptokit.engines.native.compile import compile_program
from ptokit.engines.native.singleop import compile_op
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALIASES
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.machine import execute
from ptokit.machine.record.code import NotNative
from ptokit.text.write.printer import print_module
from ptokit.values.fixpipe import CPU_READING

LOOPS = scaled(1)
DATA = [p for p in pages() if p.outs() and p.on_tiles]


@cache
def known_reasons() -> set[str]:
    """Why parts of such programs are interpreted: no other reason comes up."""
    document = (ROOT / "docs" / "native.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"<!-- reasons:.*?-->\n(.*?)<!-- end -->", document, re.S)
    return {line.removeprefix("- ") for line in listed.splitlines()}


def written(case: Case) -> tuple[str, Any]:  # Any: arrays and numbers by name
    """The program of a case as text, with its arguments."""
    module, arrays = program(case, iterations=1 + case.seed % 3)
    return print_module(module), arrays


@pytest.mark.parametrize("page", sampled(DATA, 16), ids=lambda p: p.__name__)
def test_both_engines_run_the_same_loops(page: type[Instr]) -> None:
    for number in range(LOOPS):
        case = drawn(page, number)
        text, arrays = written(case)
        expected, got = (run(text, arrays, case, e) for e in ("reference", "native"))
        assert expected == got, f"{text}\n{case}"
        _require_compiled(case, text, arrays)


def _require_compiled(case: Case, text: str, arrays: Any) -> None:  # Any: as above
    """Nothing is left to the reference for an unknown reason, neither alone nor in the program."""
    if ALIASES in case.page.traits and outcome(case, execute.run_op).said:
        return  # a window that cannot be reread: the reference refuses it
    compile_op(*instruction(case, side := build(case)), side.core)
    target = TARGETS[case.target]
    try:
        bound = bind(loads(text).func(), arrays, target, {})
        session = compile_program(bound, target, CPU_READING, 1)
        reasons = {why for _, why in session.plan.by_reference}
    except NotNative as reason:
        reasons = {str(reason)}
    except CallError:  # the program is refused
        reasons = set[str]()
    other = {re.sub(r"\d+", "N", why) for why in reasons} - known_reasons()
    assert other == set(), f"{other} {text}"
