"""No instruction of a timeline starts before what it depends on is complete, in any program."""

from __future__ import annotations

from collections.abc import Iterator
from pipes.dependences import Dependences
from pipes.test_timeline import PROGRAMS

import numpy as np

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.profiling import Profile
from ptokit.api.profiling import profile as predict
from ptokit.api.program import Program
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.types import ScalarType
from ptokit.order.hazards import find
from pykernels.cases import CASES

CHIPS = ("a2a3", "a5")
BLOCKS = (1, 2, 60)  # 60: more than there are cores at once
MOST_ENTRIES = 20_000


def of_program(program: Program, target: str, blocks: int) -> Profile | None:
    """The profile of a program, all its numbers 4; None where it is not legal so."""
    try:
        args = program.func().args
        kinds = {a.name: a.type for a in args if isinstance(a.type, ScalarType)}
        numbers = {n: 4.0 if kind.is_float else 4 for n, kind in kinds.items()}
        return predict(program, numbers, target, blocks=blocks)
    except pto.PtoError:
        return None


def holds(found: Profile) -> str:
    """The first dependence that a timeline breaks; "" where it breaks none."""
    timeline, issue = found.timeline, found.issue
    times = {one.entry: one for one in timeline.entries}
    law = Dependences(issue.cores)
    every = [law.of_flags(), law.of_queues()]
    if timeline.by_data or not find(issue.cores, timeline.target, issue.footprints.regions):
        every += [law.in_cores(), law.across(), law.of_pops()]
    for pairs in every:
        for one, two in pairs:
            first, second = times[one], times[two]
            if second.ready < first.complete:
                return (
                    f"{two.op.name} {dict(two.iteration)} in {two.queue} of core {two.queue.core}"
                    f" starts at {second.ready}, {one.op.name} {dict(one.iteration)} in"
                    f" {one.queue} of core {one.queue.core} is complete at {first.complete}"
                )
    return ""


def broken(cases: Iterator[tuple[str, Profile | None]], least: int) -> list[str]:
    found, compared = list[str](), 0
    for name, profile in cases:
        if profile is not None and len(profile.timeline.entries) < MOST_ENTRIES:
            compared += 1
            found += [f"{name}: {what}"] if (what := holds(profile)) else []
    assert compared >= least
    return found


def test_programs() -> None:
    cases = sampled([(p, t, n) for p in PROGRAMS for t in CHIPS for n in BLOCKS], 29)
    assert not broken(
        ((f"{p.name} {t} {n}", of_program(pto.load(p), t, n)) for p, t, n in cases), len(cases) // 3
    )


def test_examples_of_pages() -> None:
    cases = sampled([(p, t) for p in pages() for t in CHIPS if t in p.homes()], 11)
    assert not broken(
        ((f"{p.__name__} {t}", of_program(pto.loads(example_program(p)), t, 2)) for p, t in cases),
        len(cases) // 3,
    )


def test_python_kernels() -> None:
    cases = sampled([(c, t) for c in CASES for t in c.targets if t in CHIPS], 11)

    def profiles() -> Iterator[tuple[str, Profile | None]]:
        for case, target in cases:
            args = case.make(np.random.default_rng(5), case.every_size()[1])
            yield f"{case} {target}", case.kernel.profile(*args, target=target, **case.how)

    assert not broken(profiles(), len(cases))
