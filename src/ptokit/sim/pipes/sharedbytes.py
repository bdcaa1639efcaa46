"""What some blocks read and wrote of arrays that blocks have in common, from the logs of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptokit.sim.execute import FIRST_RECORD
from ptokit.sim.memory import WRITTEN, Memory
from ptokit.sim.native.executionlog import OF_BLOCK, Logged
from ptokit.sim.patches import Patch
from ptokit.sim.pipes.executed import ExecutedLog, LoggedKind
from ptokit.sim.pipes.issue import CoreIssue, Issue

Marks = NDArray[np.bool_]
SharedArrays = Mapping[str, "SharedBytes"]


class SharedBytes(NamedTuple):
    """What some blocks did to an array: the bytes they read, and what they wrote."""

    reads: Patch
    writes: Patch


def shared_bytes(
    logs: Sequence[Logged], arrays: Mapping[str, Memory]
) -> dict[str, SharedBytes] | None:
    """What the runs with these logs read and wrote of the arrays; None where a log was full."""
    if any(log.full for log in logs):
        return None
    marks = {name: (_none(memory), _none(memory)) for name, memory in arrays.items()}
    names = {id(memory): name for name, memory in arrays.items()}
    for log in logs:
        done = set[tuple[int, int]]()
        for kind, numbers in _records(log):
            for which, some in enumerate((kind.reads, kind.writes)):
                for access in some:
                    name, start = names.get(id(access.memory)), access.start(numbers)
                    if name is None or (id(access), start) in done:
                        continue
                    done.add((id(access), start))
                    for low, high in access.ranges:
                        marks[name][which][start + low : start + high] = True
    return {name: _found(arrays[name], *both) for name, both in marks.items()}


def _none(memory: Memory) -> Marks:
    return np.zeros(memory.size, bool)


def _found(memory: Memory, reads: Marks, writes: Marks) -> SharedBytes:
    nothing = np.zeros(memory.size, np.uint8)
    return SharedBytes(
        Patch.of(nothing, reads * np.uint8(WRITTEN)),
        Patch.of(memory.data, writes * np.uint8(WRITTEN)),
    )


def _records(log: Logged) -> Iterator[tuple[LoggedKind, list[int]]]:
    """What was done to memory, and the numbers of each record."""
    reader = ExecutedLog(Issue(log.core.target), replace(log, words=log.words[:0]))
    core = CoreIssue(0, log.core, {})
    words: list[int] = log.words[: log.words[0]].tolist()
    at = FIRST_RECORD
    while at < len(words):
        number = words[at]
        if number == OF_BLOCK:
            at += 2
            continue
        width = log.points[number].width
        numbers = words[at + 1 : at + 1 + width]
        at += 1 + width
        if reader.flag_calls(number, numbers) is None:
            yield reader.kind_of(core, number, numbers), numbers


def blocks_meet(parts: Sequence[SharedArrays], sizes: Mapping[str, int]) -> bool:
    """Whether one part reads or writes what another one wrote: then they have an order."""
    return any(_meet([part[name] for part in parts], size) for name, size in sizes.items())


def _meet(parts: Sequence[SharedBytes], size: int) -> bool:
    owner = np.full(size, -1, np.int32)
    for number, part in enumerate(parts):
        for first, last in _ranges(part.writes):
            if (owner[first:last] >= 0).any():
                return True
            owner[first:last] = number
    return any(
        ((owner[first:last] >= 0) & (owner[first:last] != number)).any()
        for number, part in enumerate(parts)
        for first, last in _ranges(part.reads)
    )


def _ranges(patch: Patch) -> Iterator[tuple[int, int]]:
    return zip(patch.starts.tolist(), patch.stops.tolist(), strict=True)
