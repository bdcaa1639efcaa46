"""The law of idle lanes: an instruction whose tiles are all empty changes nothing.

Rules ask nothing of the valid regions of such tiles, which may disagree then: lanes without a share
of the work run the same program.
"""

from __future__ import annotations

from random import Random

import numpy as np
from engines import Case, build, case_of, outcome, targets
from operands import family, varied

from every import every
from fuzz.scale import scaled, tried
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.types import Kind
from ptokit.machine import execute

EMPTY = ((0, 5), (3, 0), (0, 0), (0, 1), (7, 0))


def of_tiles(page: type[Instr]) -> bool:
    """Whether the instruction takes tiles that it does not only work in."""
    return any(o.kind is Kind.TILE and o.role is not Role.SCRATCH for o in page.operands)


def idle(page: type[Instr], number: int) -> Case:
    """Legal operands with nothing valid in any tile, the same each time."""
    every, random = targets(page), Random(f"{page.__name__} idle {number}")
    target = every[number % len(every)]
    state, space = dict(varied(page, target, number)), family(page, target).space
    for name in sorted({n for n, word in state if word == "vrows"}):
        rows, cols = random.choice(EMPTY)
        high, wide = state[name, "rows"], state[name, "cols"]
        state[name, "vrows"], state[name, "vcols"] = min(rows, high), min(cols, wide)
    return case_of(space, state, random, seed=number)


PAGES = tried([p for p in pages() if p.on_tiles and of_tiles(p)], 2)


@every("page", PAGES, ids=lambda p: p.__name__)
def test_an_instruction_on_empty_tiles_changes_nothing(page: type[Instr]) -> None:
    for number in range(scaled(1)):
        case = idle(page, number)
        before, after = build(case), outcome(case, execute.run_op)
        assert after.said == []
        for (name, first), (_, second) in zip(
            before.memories(), after.side.memories(), strict=True
        ):
            assert np.array_equal(first.data, second.data), f"{name}: {case}"
