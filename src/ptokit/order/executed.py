"""Reads the execution log of a compiled program into queue entries.

A record names an instruction and the numbers of its operands. The accesses depend on the numbers
that are no addresses, so they are computed once per set of these numbers; then only addresses are
added. The bytes that blocks share are marked from the same records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.execute import FIRST_RECORD, Core, ReadyOp
from ptokit.machine.executionlog import OF_BLOCK, Logged, LogPoint
from ptokit.machine.memory import WRITTEN, Memory
from ptokit.machine.patches import Patch
from ptokit.machine.record.handles import FrameSlot, MemoryNumber, mapped
from ptokit.machine.tile import Placed
from ptokit.order.coreissue import CoreIssue
from ptokit.order.footprints import ByteRegion, MemorySpace, Ranges, first_byte, place_of
from ptokit.order.issue import Issue

Numbers: TypeAlias = "Sequence[int]"
FlagCall: TypeAlias = "tuple[str, tuple[object, ...]]"


class LoggedAccess:
    """One memory access of a logged instruction; its address comes from the record."""

    def __init__(
        self, handle: Placed, space: MemorySpace, ranges: Ranges | None, real: Placed
    ) -> None:
        whole = ((0, max(real.memory.size, 1)),)
        self.space, self.ranges = space, whole if ranges is None else ranges
        self.memory: Memory = real.memory
        self.address, self.origin, self.bits = place_of(handle)
        self.anywhere = ranges is None
        self.known: dict[int, ByteRegion] = {}

    def start(self, numbers: Numbers) -> int:
        """Return the first byte of the access, given the numbers of a record."""
        if self.anywhere:
            return 0
        origin = numbers[self.origin.number] if isinstance(self.origin, FrameSlot) else self.origin
        at = numbers[self.address.number] if isinstance(self.address, FrameSlot) else self.address
        return first_byte(at, origin, self.bits)


class LoggedKind(NamedTuple):
    """The accesses of an instruction for one set of deciding operand numbers."""

    pipe: Pipe | None
    reads: list[LoggedAccess]
    writes: list[LoggedAccess]
    operands: tuple[tuple[str, object], ...]
    drains: tuple[bool, bool]


class _RecordedCalls:
    """A substitute for the flags of a core that records the calls of a body."""

    def __init__(self) -> None:
        self.calls: list[FlagCall] = []

    def __getattr__(self, method: str) -> Callable[..., None]:
        def record(*operands: object) -> None:
            self.calls.append((method, operands))

        return record


class ExecutedLog:
    """A reader that adds the log of one thread to an `Issue`."""

    def __init__(self, issue: Issue, log: Logged) -> None:
        self.issue, self.log = issue, log
        self.kinds: dict[tuple[int, ...], LoggedKind] = {}
        self.calls: dict[tuple[int, ...], list[FlagCall]] = {}

    def read(self) -> None:
        """Add a core for each block, with the entries that it executed."""
        words: list[int] = self.log.words[: self.log.words[0]].tolist()
        points = self.log.points
        at, end = FIRST_RECORD, words[0]
        core: CoreIssue | None = None
        while at < end:
            number = words[at]
            if number == OF_BLOCK:
                core = self._block(words[at + 1])
                at += 2
                continue
            assert core is not None
            point = points[number]
            numbers = words[at + 1 : at + 1 + point.width]
            at += 1 + point.width
            self._executed(core, number, point, numbers)

    def _block(self, index: int) -> CoreIssue:
        core = Core(self.log.core.target, self.log.core.fixpipe, index, self.log.core.block_num)
        core.spaces = self.log.core.spaces
        self.issue.prepared(core, self.log.body)
        return self.issue.of(self.issue.numbers[id(core)])

    def _executed(self, core: CoreIssue, number: int, point: LogPoint, numbers: Numbers) -> None:
        core.op = self.log.things[point.op]
        core.iteration = tuple([(name, _number(value, numbers)) for name, value in point.iteration])
        calls = self.flag_calls(number, numbers)
        if calls is not None:
            flags = core.core.state.flags
            for method, operands in calls:
                getattr(flags, method)(*operands)
            return
        kind = self.kind_of(core, number, numbers)
        if kind.pipe is None or not (kind.reads or kind.writes):
            return
        reads = tuple([self._region(core, one, numbers) for one in kind.reads])
        writes = tuple([self._region(core, one, numbers) for one in kind.writes])
        core.work(kind.pipe, reads, writes, kind.operands, kind.drains)

    def flag_calls(self, number: int, numbers: Numbers) -> list[FlagCall] | None:
        """Return the flag calls of a record; None if the instruction does not use flags."""
        point = self.log.points[number]
        op: Op = self.log.things[point.op]
        if FLAGS not in op.page.uses:
            return None
        key = (number, *[numbers[n] for n in point.deciding])
        if key not in self.calls:
            ready, recorded = ReadyOp(op), _RecordedCalls()
            env = self._env(op, point, numbers)
            ready.run(ready.values(env), {**self.log.core.offer(), FLAGS: recorded})
            self.calls[key] = recorded.calls
        return self.calls[key]

    def kind_of(self, core: CoreIssue, number: int, numbers: Numbers) -> LoggedKind:
        """Return the accesses of a record, computed once per set of deciding numbers."""
        point = self.log.points[number]
        key = (number, *[numbers[n] for n in point.deciding])
        kind = self.kinds.get(key)
        if kind is None:
            op = self.log.things[point.op]
            kind = self.kinds[key] = self._kind(core, op, point, numbers)
        return kind

    def _region(self, core: CoreIssue, one: LoggedAccess, numbers: Numbers) -> ByteRegion:
        start = one.start(numbers)
        found = one.known.get(start)
        if found is None or found.space.core not in (None, core.number):
            space = one.space if one.space.core is None else one.space._replace(core=core.number)
            found = one.known[start] = self.issue.footprints.regions.at(space, start, one.ranges)
        return found

    def _kind(self, core: CoreIssue, op: Op, point: LogPoint, numbers: Numbers) -> LoggedKind:
        env = self._env(op, point, numbers)
        found = self.issue.footprints.template(op, env)
        templates = dict(self._templates(op, point))

        def accesses(some: Iterable[tuple[Value, Ranges | None]]) -> list[LoggedAccess]:
            return [
                LoggedAccess(templates[v], space, r, env[v])
                for v, r in some
                for space in self._spaces(core, env[v], found.lanes)
            ]

        reads, writes = accesses(found.reads), accesses(found.writes)
        return LoggedKind(found.pipe, reads, writes, found.operands, found.drains)

    def _spaces(
        self, core: CoreIssue, handle: Placed, lanes: tuple[int, ...]
    ) -> Iterator[MemorySpace]:
        return self.issue.footprints.spaces(handle.memory, core.core, core.number, lanes)

    def _env(self, op: Op, point: LogPoint, numbers: Numbers) -> Env:
        """Return the operands of a record as the handles that the reference engine has."""

        memories: Sequence[Memory] = self.log.memories

        def memory(place: MemoryNumber) -> Memory:
            return memories[place.number]

        return {
            value: None if t is None else mapped(t, partial(_number, numbers=numbers), memory)
            for value, t in self._templates(op, point)
        }

    @staticmethod
    def _templates(op: Op, point: LogPoint) -> list[tuple[Value, Any]]:  # Any: templates
        values = [value for _, value in op.values()]
        return [(values[place], template) for place, template in point.values]


def _number(value: Any, numbers: Numbers) -> int:  # Any: a number, or a slot of the record
    return numbers[value.number] if isinstance(value, FrameSlot) else value


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
