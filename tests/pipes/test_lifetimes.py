"""Lifetimes of bytes by time, against a simulation of every byte."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pipes.stream import RIGHT, stream

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from examples.kernels.attention import flash
from examples.kernels.matrix import gemm
from ptokit.api.profiling import Profile
from ptokit.order.byteregions import MemorySpace
from ptokit.order.lifetimes import lifetimes
from ptokit.order.timeline import Bar


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
