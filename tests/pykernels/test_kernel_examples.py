"""Every kernel of examples/kernels: NumPy's values, the same bits debugged and on each engine."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled, scaled
from pykernels.cases import (
    CASES,
    Array,
    Case,
    causal,
    chapter,
    floats,
    masked,
    rmsnorm,
    rotated,
    silu,
)


def runs(case: Case) -> list[tuple[str, int]]:
    """Targets and sizes: all of them in a full run, else one size on one of the targets."""
    sizes, targets = case.every_size(), case.targets
    if scaled(1) > 1:
        return [(target, size) for target in targets for size in sizes]
    place = len(case.name)
    return [(targets[place % len(targets)], sizes[-1 if place % 3 else 0])]


@pytest.mark.parametrize("case", sampled(CASES, 2), ids=str)
def test_it_computes_what_numpy_does(case: Case) -> None:
    for target, size in runs(case):
        args = case.make(np.random.default_rng(size), size)
        case.kernel.on(target)(*args, **case.how)
        for out, want in case.compared(args):
            np.testing.assert_allclose(out.astype(np.float64), want, case.tolerance, case.tolerance)


@pytest.mark.parametrize("case", sampled(CASES[1:], 4), ids=str)
def test_debug_and_both_engines_agree(case: Case) -> None:
    every = (
        case.targets if scaled(1) > 1 else case.targets[len(case.name) % len(case.targets) :][:1]
    )
    for target in every:
        args = case.make(np.random.default_rng(5), case.every_size()[1])
        case.kernel.on(target).verify(*args, **case.how)
        program, given = case.kernel.on(target).bound(*args, **case.how)
        done = program.execute(given, target=target)
        assert done.warnings or not done.interpreted, "chips compute something else, or it is slow"


@pytest.mark.parametrize("case", sampled(CASES[::-1], 2), ids=str)
def test_the_program_is_legal_and_reads_back(case: Case) -> None:
    args = case.make(np.random.default_rng(5), case.every_size()[1])
    program = case.kernel.program(*args, **case.how)
    assert [d.render() for d in program.check(*case.targets) if d.is_error] == []
    text = program.text("dps")
    assert pto.loads(text).text("dps") == text


CHIPS = [(case, target) for case in CASES for target in case.targets if target != "cpu"]


@pytest.mark.parametrize(("case", "chip"), sampled(CHIPS, 40), ids=str)
def test_text_of_level_3_is_legal_and_its_pipes_are_in_order(case: Case, chip: str) -> None:
    """Nothing is missing, and nothing too much; a kernel of one pipe has nothing to order."""
    args = case.make(np.random.default_rng(5), case.every_size()[1])
    program = case.kernel.program(*args, **case.how)
    done = pto.loads(program.text(level=3, target=chip))
    assert [d.render() for d in done.check(chip, level=3) if d.is_error] == []
    found = [d.render() for d in done.races(chip) if d.slug != "not-synchronised"]
    assert found == []


@pytest.mark.parametrize("target", sampled(["a2a3", "a5", "cpu"], 3))
@pytest.mark.parametrize("rows", sampled([33, 1, 31, 103], 4))
def test_a_decoder_layer_is_made_of_kernels(rows: int, target: str) -> None:
    """Like Qwen3's: four heads that share two of keys and values."""
    rng = np.random.default_rng(rows)
    shapes = {"query": (64, 128), "key": (64, 64), "value": (64, 64), "out": (128, 64)}
    shapes |= {"gate": (64, 96), "up": (64, 96), "down": (96, 64)}
    weights = {name: floats(rng, *shape) / 8 for name, shape in shapes.items()}
    gains = {name: 1 + floats(rng, 1, 64) / 8 for name in ("norm", "ffn_norm")}
    x, angles = floats(rng, rows, 64), np.outer(np.arange(rows), 0.9 ** np.arange(16))
    rotation = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    layer = chapter("decoder").Layer(**weights, **gains)
    wanted = decoder_layer(x.astype(np.float64), rotation, weights | gains)
    with pto.target(target):
        made = layer(x, *rotation, causal(rows))
    np.testing.assert_allclose(made, wanted, 2e-2, 2e-2)


def decoder_layer(x: Array, rotation: tuple[Array, Array], w: dict[str, Array]) -> Array:
    """The layer by NumPy, in f64."""
    m, normed = len(x), rmsnorm(x, w["norm"])
    q, k, v = (
        np.moveaxis((normed @ w[n]).reshape(m, -1, 32), 1, 0) for n in ("query", "key", "value")
    )
    q, k = (np.stack([rotated(head, *rotation) for head in t]) for t in (q, k))
    heads = [masked(head, k[h // 2], v[h // 2], causal(m)) for h, head in enumerate(q)]
    y = x + np.concatenate(heads, 1) @ w["out"]
    normed = rmsnorm(y, w["ffn_norm"])
    return y + (silu(normed @ w["gate"]) * (normed @ w["up"])) @ w["down"]
