"""The bytes that some blocks read and wrote of arrays shared by all blocks, from execution logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptokit.machine.execute import FIRST_RECORD
from ptokit.machine.executionlog import OF_BLOCK, Logged
from ptokit.machine.memory import WRITTEN, Memory
from ptokit.machine.patches import Patch
from ptokit.order.executed import ExecutedLog, LoggedAccess
from ptokit.order.issue import CoreIssue, Issue

Marks = NDArray[np.bool_]
SharedArrays = Mapping[str, "SharedBytes"]
Marked = tuple[Marks, LoggedAccess]


class SharedBytes(NamedTuple):
    """The bytes of one array that some blocks read and wrote."""

    reads: Patch
    writes: Patch


def shared_bytes(
    logs: Sequence[Logged], arrays: Mapping[str, Memory]
) -> dict[str, SharedBytes] | None:
    """Return the bytes of each array that these runs accessed; None if a log was full."""
    if any(log.full for log in logs):
        return None
    marks = {name: (_none(memory), _none(memory)) for name, memory in arrays.items()}
    places = {id(memory): marks[name] for name, memory in arrays.items()}
    for log in logs:
        _mark(log, places)
    return {name: _found(arrays[name], *both) for name, both in marks.items()}


def _none(memory: Memory) -> Marks:
    return np.zeros(memory.size, bool)


def _found(memory: Memory, reads: Marks, writes: Marks) -> SharedBytes:
    nothing = np.zeros(memory.size, np.uint8)
    return SharedBytes(
        Patch.of(nothing, reads * np.uint8(WRITTEN)),
        Patch.of(memory.data, writes * np.uint8(WRITTEN)),
    )


def _mark(log: Logged, places: Mapping[int, tuple[Marks, Marks]]) -> None:
    """Mark the bytes of each record; `places` has the read and write marks by id of the memory."""
    reader = ExecutedLog(Issue(log.core.target), replace(log, words=log.words[:0]))
    words: list[int] = log.words[: log.words[0]].tolist()
    widths = [point.width for point in log.points]
    settled = dict[int, list[Marked]]()  # points whose accesses do not depend on numbers
    at = FIRST_RECORD
    while at < len(words):
        number, begin = words[at], at + 1
        if number == OF_BLOCK:
            at = begin + 1
            continue
        at = begin + widths[number]
        some = settled.get(number)
        if some is None:
            some = _marked(reader, number, words[begin:at], places)
            if not log.points[number].deciding:
                settled[number] = some
        for marks, access in some:
            start = access.start(words[begin:at])
            for low, high in access.ranges:
                marks[start + low : start + high] = True


def _marked(
    reader: ExecutedLog, number: int, numbers: list[int], places: Mapping[int, tuple[Marks, Marks]]
) -> list[Marked]:
    """Return the accesses of a record to these arrays, each with the marks to set."""
    if reader.flag_calls(number, numbers) is not None:
        return []
    kind = reader.kind_of(CoreIssue(0, reader.log.core, {}), number, numbers)
    every = ((which, a) for which, some in enumerate((kind.reads, kind.writes)) for a in some)
    return [(places[id(a.memory)][which], a) for which, a in every if id(a.memory) in places]


def blocks_meet(parts: Sequence[SharedArrays], sizes: Mapping[str, int]) -> bool:
    """Return whether a part reads or writes bytes that another part wrote."""
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
