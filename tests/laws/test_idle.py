"""The laws of empty tiles, which are those of lanes without a share of the work.

An instruction whose tiles are all empty changes nothing: rules ask nothing of the valid regions of
such tiles, which may disagree then. If only some extents are zero, such as the columns of the left
factor of a product, both engines give the same.
"""

from __future__ import annotations

from random import Random

import numpy as np
from engines import Case, build, case_of, outcome, targets
from loops import program, run
from operands import family, varied

from every import every
from fuzz.scale import scaled, tried
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.types import Kind
from ptokit.machine import execute
from ptokit.text.write.printer import print_module

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


def partly_idle(page: type[Instr], number: int) -> Case | None:
    """Operands of which the valid extents of one size are zero; None if none is valid."""
    every, random = targets(page), Random(f"{page.__name__} part {number}")
    target = every[number % len(every)]
    state, space = dict(varied(page, target, number)), family(page, target).space
    extents = [key for key in state if key[1] in ("vrows", "vcols")]
    sizes = sorted({state[key] for key in extents} - {0})
    if not sizes:
        return None
    emptied = random.choice(sizes)
    state |= {key: 0 for key in extents if state[key] == emptied}
    return case_of(space, state, random, seed=number)


OF_TILES = [p for p in pages() if p.on_tiles and of_tiles(p)]


@every("page", tried(OF_TILES, 2), ids=lambda p: p.__name__)
def test_an_instruction_on_empty_tiles_changes_nothing(page: type[Instr]) -> None:
    for number in range(scaled(1)):
        case = idle(page, number)
        before, after = build(case), outcome(case, execute.run_op)
        assert after.said == []
        for (name, first), (_, second) in zip(
            before.memories(), after.side.memories(), strict=True
        ):
            assert np.array_equal(first.data, second.data), f"{name}: {case}"


@every("page", tried([p for p in OF_TILES if p.outs()], 5, step=30), ids=lambda p: p.__name__)
def test_engines_agree_where_some_extents_are_zero(page: type[Instr]) -> None:
    for number in range(scaled(2)):
        if (case := partly_idle(page, number)) is None:
            continue
        module, arrays = program(case, iterations=1 + number % 2)
        text = print_module(module)
        expected, got = (run(text, arrays, case, engine) for engine in ("reference", "native"))
        assert expected == got, f"{text}\n{case}"
