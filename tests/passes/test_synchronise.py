"""The contracts of `synchronise`, over the programs of the tree without flags of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from stripped import CHIPS, PATHS, findings, orders, synchronised, without

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.program import Program
from ptokit.ir.module import Func, Op
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

# every other program on one of the chips; from PTOKIT_FUZZ = 4 on, all on both
CASES = sampled([(p, c) for n, p in enumerate(PATHS) for c in (CHIPS * 2)[n % 2 :][:2]], 4)
REFUSED = {"illegal", "conversion"}  # not for this chip; of several cores
FEW = 14  # flags and barriers of a program that is tried without each of them


def named(case: object) -> str:
    return case.stem if isinstance(case, Path) else str(case)


@pytest.mark.parametrize(("path", "chip"), CASES, ids=named)
def test_nothing_is_found_in_what_the_pass_made(path: Path, chip: str) -> None:
    """S1, of the program that was printed and read again."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        assert program in REFUSED
        return
    assert not any(findings(pto.loads(program.text()), chip))


def test_most_programs_are_synchronised() -> None:
    made = [synchronised(path, chip) for path, chip in CASES]
    programs = [p for p in made if isinstance(p, Program)]
    assert 2 * len(programs) > len(made)
    assert sum(any(orders(op) for f in p.module.funcs for op in f.walk()) for p in programs) > 10


def edges(func: Func) -> dict[tuple[object, ...], set[int]]:
    """The flags and barriers of a function by number: those of one id of two pipes together.

    A barrier is alone.
    """
    found: dict[tuple[object, ...], set[int]] = {}
    for number, op in enumerate(op for op in func.body.walk() if orders(op)):
        assert isinstance(op, Op)
        words = tuple(op.attrs.values())
        found.setdefault(words if len(words) > 1 else (number,), set()).add(number)
    return found


@pytest.mark.parametrize(("path", "chip"), CASES[::2], ids=named)
def test_none_is_superfluous(path: Path, chip: str) -> None:
    """S2, for the flags of one id together."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        return
    for func in program.module.funcs:
        for gone in [*edges(func).values()][:FEW]:
            fewer = replace(func, body=without(func.body, gone))
            module = program.module.mapped(lambda f, old=func, new=fewer: new if f is old else f)
            assert any(findings(Program(module), chip)), f"{func.name} without {gone}"


@pytest.mark.parametrize(("path", "chip"), CASES[::3], ids=named)
def test_it_does_nothing_a_second_time(path: Path, chip: str) -> None:
    """S4; other forms print what it made."""
    program = synchronised(path, chip)
    if isinstance(program, str):
        return
    again = Program(run_passes(program.module, ["synchronise"], TARGETS[chip]))
    assert again.text() == program.text()
    assert program.text("cpp").count("_flag(") == program.text().count("_flag[")
