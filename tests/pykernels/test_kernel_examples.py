"""Every kernel of examples/kernels: NumPy's values, the same bits debugged and on each engine."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.scale import scaled
from pykernels.cases import CASES, Case


def runs(case: Case) -> list[tuple[str, int]]:
    """Targets and sizes: all of them in a full run, else each target and each size once."""
    sizes = case.every_size()
    every = [(target, size) for target in case.targets for size in sizes]
    if scaled(1) > 1:
        return every
    count = max(len(case.targets), len(sizes)) if case.block <= 32 else len(case.targets)
    turns = range(count)
    return [(case.targets[i % len(case.targets)], sizes[-1 - i % len(sizes)]) for i in turns]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_computes_what_numpy_does(case: Case) -> None:
    for target, size in runs(case):
        args = case.make(np.random.default_rng(size), size)
        case.kernel.on(target)(*args, **case.how)
        for out, want in case.compared(args):
            np.testing.assert_allclose(out.astype(np.float64), want, case.tolerance, case.tolerance)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_debug_and_both_engines_agree(case: Case) -> None:
    for target in case.targets:
        args = case.make(np.random.default_rng(5), case.every_size()[1])
        case.kernel.on(target).verify(*args, **case.how)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_program_is_legal_and_reads_back(case: Case) -> None:
    import ptokit as pto

    args = case.make(np.random.default_rng(5), case.every_size()[1])
    program = case.kernel.program(*args, **case.how)
    assert [d.render() for d in program.check(*case.targets) if d.is_error] == []
    text = program.text("dps")
    assert pto.loads(text).text("dps") == text
