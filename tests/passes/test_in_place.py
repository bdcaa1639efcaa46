"""Where tiles do not fit otherwise, an instruction writes its output over an input that ends."""

from __future__ import annotations

import numpy as np
import pytest
from test_first_use import COLS, LARGE, ROWS, add, load, program, refused, store

from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes


def made(name: str) -> str:
    return f"%{name} = pto.alloc_tile : {LARGE}"


def unary(word: str, out: str, source: str) -> str:
    return f"pto.{word} ins(%{source} : {LARGE}) outs(%{out} : {LARGE})"


START = (made("a"), load("a"), made("b"), load("b"))  # both fill the memory
OVER = {
    "one of two": (*START, made("c"), add("c", "a", "b"), store("c")),
    "one after another": (
        *START,
        *(made("c"), add("c", "a", "b"), made("d"), unary("texp", "d", "c"), made("e")),
        *(add("e", "b", "d"), store("e")),
    ),
    "in a loop": (
        *START[:2],
        *("scf.for %i = %zero to %n step %one {", made("c"), load("c")),
        *(made("d"), add("d", "a", "c"), store("d"), "}", store("a")),
    ),
}
APART = {
    "needed later": (*START, made("c"), add("c", "a", "b"), store("a"), store("b"), store("c")),
    "of several steps": (*START, made("c"), unary("trsqrt", "c", "a"), store("b"), store("c")),
    "kept apart by hardware": (
        *(*START, made("c"), unary("trecip", "c", "a"), store("b"), store("c")),
    ),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("case", OVER)
def test_an_output_takes_the_bytes_of_an_input_that_ends(case: str, engine: str) -> None:
    source = program(*OVER[case])
    assert not refused(source)
    x = np.random.default_rng(1).random((ROWS, COLS), np.float32)
    results: list[np.ndarray] = []
    for target in ("a2a3", "cpu"):
        done = source.run(x=x, y=np.zeros_like(x), n=3, target=target, engine=engine)
        results.append(done["y"])
    assert results[0].any()
    assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize("case", APART)
def test_others_have_bytes_of_their_own(case: str) -> None:
    assert refused(program(*APART[case])) == {"out-of-memory"}


@pytest.mark.parametrize("case", OVER | APART)
def test_the_form_of_a_program_does_not_change_what_fits(case: str) -> None:
    source = program(*(OVER | APART)[case])
    for form in ("ssa", "as", "dps"):
        assert refused(loads(source.text(form))) == refused(source), form


@pytest.mark.parametrize("case", OVER)
def test_text_with_the_addresses_runs_the_same_and_is_synchronised(case: str) -> None:
    module = program(*OVER[case]).module
    placed = Program(run_passes(module, ("place", "synchronise"), TARGETS["a2a3"]))
    assert not placed.races("a2a3")
    x = np.random.default_rng(2).random((ROWS, COLS), np.float32)
    y = np.zeros_like(x)
    apart = Program(module).run(x=x, y=y, n=2)["y"]
    assert np.array_equal(placed.run(x=x, y=y, n=2, target="a2a3")["y"], apart)
