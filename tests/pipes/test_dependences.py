"""No instruction of a timeline starts before what it depends on is complete, in any program.

And bytes are in use until their last reader is complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pipes.dependences import Dependences
from pipes.stream import RIGHT, stream
from pipes.test_timeline import PROGRAMS

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from examples.kernels.attention import flash
from examples.kernels.matrix import gemm
from fuzz.scale import sampled
from ptokit.api.profiling import Profile
from ptokit.api.profiling import profile as predict
from ptokit.api.program import Program
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.model.types import ScalarType
from ptokit.order.footprints import MemorySpace
from ptokit.order.hazards import find
from ptokit.order.timeline import Bar, lifetimes
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
    cases = sampled([(p, t, n) for p in PROGRAMS for t in CHIPS for n in BLOCKS], 59)
    assert not broken(
        ((f"{p.name} {t} {n}", of_program(pto.load(p), t, n)) for p, t, n in cases), len(cases) // 3
    )


def test_examples_of_pages() -> None:
    cases = sampled([(p, t) for p in pages() for t in CHIPS if t in p.homes()], 31)
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


def of_attention() -> Profile:
    half, single = np.zeros((128, 64), np.float16), np.zeros((128, 64), np.float32)
    return flash.profile(half, half, half, single, target="a5")


def of_stream() -> Profile:
    return pto.loads(stream(*RIGHT)).profile(n=6, target="a2a3")


def of_gemm() -> Profile:
    a, b, c = ((100, 90), np.float16), ((90, 80), np.float16), ((100, 80), np.float32)
    return gemm.profile(*(np.zeros(*one) for one in (a, b, c)), target="a2a3", blocks=2)


@pytest.mark.parametrize("made", [of_stream, of_attention, of_gemm])
def test_bytes_are_in_use_until_their_last_reader_is_complete(made: Callable[[], Profile]) -> None:
    profile = made()
    said: dict[tuple[MemorySpace, Bar], int] = {}
    for life in lifetimes(profile.timeline, profile.issue.footprints.regions):
        key = life.region.space, life.writer
        said[key] = max(said.get(key, 0), life.end)
    assert said == by_byte(sorted(profile.timeline.bars, key=lambda bar: bar.start))


def by_byte(bars: list[Bar]) -> dict[tuple[MemorySpace, Bar], int]:
    """Until when some byte that an instruction wrote is read; what is changed in place stays."""
    writers: dict[MemorySpace, NDArray[np.int64]] = defaultdict(lambda: np.full(1 << 19, -1))
    ends: dict[tuple[MemorySpace, Bar], int] = {}
    for number, bar in enumerate(bars):
        for region in (r for r in bar.entry.reads if r.space.core is not None):
            parts = [writers[region.space][low:high] for low, high in region.ranges]
            sources: list[int] = np.unique(np.concatenate(parts)).tolist()
            for source in sources:
                if source >= 0:
                    key = region.space, bars[source]
                    ends[key] = max(ends[key], bar.complete)
        for region in (r for r in bar.entry.writes if r.space.core is not None):
            held = writers[region.space]
            if region in bar.entry.reads and held[region.start] >= 0:
                continue
            ends[region.space, bar] = bar.complete
            for low, high in region.ranges:
                held[low:high] = number
    return ends
