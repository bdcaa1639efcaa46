"""A proof, in compiled code, that a run has no hazard, from its execution logs.

The code walks the records in program order, in which no wait may precede its set, with the vector
clocks of `hazards`. If the proof fails, `hazards` searches for a hazard; there may be none. Blocks
are read one after the other, as if each were complete before the next starts; accesses of two
blocks to shared memory are a conflict if one of them writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.machine import cache as codes
from ptokit.machine.execute import FIRST_RECORD
from ptokit.machine.executionlog import Logged
from ptokit.machine.memory import Memory, address_of
from ptokit.machine.record.handles import FrameSlot
from ptokit.order.coreissue import CoreIssue, IssuedFlags
from ptokit.order.executed import ExecutedLog, LoggedAccess
from ptokit.order.footprints import Ranges
from ptokit.order.issue import Issue
from ptokit.order.orderscan import (
    CHANNEL_ROWS,
    GRANULE_BYTES,
    LANES,
    POINT_WORDS,
    SPACE_WORDS,
    STEP_WORDS,
    Row,
    ScanStep,
    Stop,
    Table,
    scan_code,
)
from ptokit.order.programorder import uses_inner, watched
from ptokit.order.waiting import Channel, FlagChannel

FINEST, COARSEST = 5, 16  # granules of 32 bytes to 64 KiB, as powers of two
TABLE, NUMBER = 1 << 14, 2  # an array up to this size may hold 4-byte signals: finer granules
MOST_GRANULES = 1 << 20  # per memory
MOST_WORDS, MOST_SPACES, MOST_CHANNELS = 1 << 16, 256, 512  # limits of a proven run
MOST_RUNS = 64  # of evenly spaced lines in one access
LATEST = (1 << 31) - 1  # greater than each entry number
PIPES = [*Pipe]
FLAG_DOWN = 0  # 1: the flag is up, or the buffer is free


class _Unproven(Exception):
    """Raised if the proof does not cover this run."""


class _Restart(Exception):
    """Raised if an assumption about memory turned out false: start again."""


@dataclass
class _Space:
    """A memory in granules of 2**`shift` bytes; all blocks use it if `shared` is set."""

    memory: Memory
    size: int
    shared: bool
    finest: int
    shift: int = COARSEST
    written: bool = False


class _FlagSteps:
    """A receiver of flag operations that makes steps of the scan."""

    number = 0

    def __init__(self, proof: OrderProof) -> None:
        self.proof = proof
        self.steps: list[list[int]] = []

    def post(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None:
        number, seen = self.proof.channel(channel)
        self.steps.append([ScanStep.POST, PIPES.index(pipe), number, seen, _holder(pipe, channel)])

    def take(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None:
        number, seen = self.proof.channel(channel)
        step = [ScanStep.AWAIT, PIPES.index(pipe), number, seen, isinstance(channel, FlagChannel)]
        self.steps.append([*step, _holder(pipe, channel)])

    def drain(self, pipe: Pipe) -> None:
        every = pipe is Pipe.ALL
        what = ScanStep.DRAIN_ALL if every else ScanStep.DRAIN
        self.steps.append([what, PIPES.index(Pipe.S if every else pipe)])


def _holder(pipe: Pipe, channel: Channel) -> int:
    """Return the number of a flag that is down, or the negative one of a buffer that a pipe has."""
    return FLAG_DOWN if isinstance(channel, FlagChannel) else -1 - PIPES.index(pipe)


def order_holds(target: Target, logs: Sequence[Logged], *, blocks_only: bool) -> bool:
    """Return whether the run is proven free of hazards; False: not proven.

    `blocks_only`: prove only that no hazard exists between two blocks. Otherwise each log holds all
    cores of its blocks.
    """
    first, key = logs[0], (OrderProof, target, blocks_only)
    proof = first.known.pop(key, None)  # taken out, so that no other thread uses it
    if proof is None or not proof.fits():
        proof = OrderProof(target, blocks_only)
    found = proof.holds(logs)
    first.known[key] = proof
    return found


class _Program:
    """A program that writes logs, with the record kinds seen so far."""

    def __init__(self, target: Target, log: Logged) -> None:
        self.log = replace(log, words=log.words[:0])
        self.reader = ExecutedLog(Issue(target), self.log)
        self.core = CoreIssue(0, log.core, {})
        self.used = 0  # words in use of `kinds`
        points = log.points
        listed = np.cumsum([0, *(len(p.deciding) for p in points)])
        self.points = np.array(
            [
                [1 + p.width, -1, len(p.deciding), at]
                for p, at in zip(points, listed[:-1], strict=True)
            ],
            np.int64,
        ).reshape(-1, POINT_WORDS)
        self.deciding = np.array([n for p in points for n in p.deciding] or [0], np.int64)
        self.kinds = np.zeros(MOST_WORDS, np.int64)


class OrderProof:
    """The tables for the logs of a launch, reused by runs that differ in data only."""

    def __init__(self, target: Target, blocks_only: bool) -> None:
        self.target, self.blocks_only = target, blocks_only
        self.programs: dict[int, _Program] = {}
        self.spaces: dict[int | str, _Space] = {}
        self.channels: dict[Channel, int] = {}
        self.flags = np.zeros(MOST_CHANNELS, bool)
        self.table = np.zeros((MOST_SPACES, SPACE_WORDS), np.int64)
        self.tickets = np.zeros((MOST_CHANNELS, CHANNEL_ROWS, LANES), np.int32)
        self.rows = np.zeros((Row.COUNT, LANES), np.int32)
        self.state = np.zeros(4, np.int64)
        self.shadows: list[NDArray[np.uint8]] = []
        self.tables = np.zeros(len(Table), np.int64)

    # the run

    def fits(self) -> bool:
        """Return whether all memories have the sizes for which the tables were made."""
        return all(space.memory.size == space.size for space in self.spaces.values())

    def holds(self, logs: Sequence[Logged]) -> bool:
        """Return whether the run is proven free of hazards; False: not proven."""
        while True:
            try:
                self._begin()
                return all(map(self._log_holds, logs)) and self._block_ends()
            except _Restart:
                continue
            except _Unproven:
                return False

    def _begin(self) -> None:
        own, rows, last = -np.eye(LANES, dtype=np.int32), self.rows, LANES - 1
        serial = [PIPES.index(pipe) for pipe in self.target.serial]
        rows[:] = 0
        rows[Row.OWN : Row.OWN + LANES] = own
        rows[Row.SCALAR] = own[0]
        ordered = rows[Row.ORDERED : Row.ORDERED + LANES]
        ordered[serial, serial] = LATEST
        if self.blocks_only:
            ordered[:, :last] = LATEST
        ordered[:, last] = 0
        rows[Row.ELSE : Row.ELSE + LANES] = ~own
        rows[Row.ELSE : Row.ELSE + LANES, last] = 0
        rows[Row.SEVERAL, last] = LATEST
        self.shadows.clear()
        for number, space in enumerate(self.spaces.values()):
            self._place(number, space)
        self._begin_block(0)

    def _begin_block(self, block: int) -> None:
        """Treat all entries of earlier blocks as complete on this core."""
        self.rows[Row.BLOCK, LANES - 1] = block + 1
        self.rows[Row.CLOCKS : Row.CLOCKS + LANES] = self.rows[Row.DONE]
        self.state[2] = 0
        if count := len(self.channels):
            self.tickets[:count] = 0
            self.tickets[:count, 2, 0] = ~self.flags[:count]

    def _block_ends(self) -> bool:
        """Return whether no flag is left set and every buffer is free."""
        count = len(self.channels)
        return bool((self.tickets[:count, 2, 0] == ~self.flags[:count]).all())

    def _program(self, log: Logged) -> _Program:
        """Return the program of a log and pass its tables to the scan."""
        if id(log.points) not in self.programs:
            self.programs[id(log.points)] = _Program(self.target, log)
        program = self.programs[id(log.points)]
        own = program.points, program.deciding, program.kinds
        arrays = *own, self.table, self.tickets, self.rows
        self.tables[:] = [address_of(array) for array in arrays]
        return program

    def _log_holds(self, log: Logged) -> bool:
        program = self._program(log)
        at, end = FIRST_RECORD, int(log.words[0])
        launch = scan_code(codes.this_processor()).launch
        given = [address_of(a) for a in (log.words, self.tables, self.state)]
        while True:
            why = launch(*given, 0, at, end)
            at = int(self.state[0])
            if why == Stop.NEW_KIND:
                self._new_kind(program, log, at)
            elif why == Stop.BLOCK:
                if not self._block_ends():
                    return False
                self._begin_block(int(log.words[at + 1]))
                at += 2
            elif why == Stop.FINER:
                self._align([*self.spaces.values()][int(self.state[1])], int(self.state[3]))
            else:
                return why == Stop.END

    # what an instruction does

    def _new_kind(self, program: _Program, log: Logged, at: int) -> None:
        number = int(log.words[at])
        point = log.points[number]
        numbers: list[int] = log.words[at + 1 : at + 1 + point.width].tolist()
        deciding = [numbers[n] for n in point.deciding]
        steps = [*self._steps(program, number, numbers)]
        words = [0, len(steps), *deciding, *(n for s in steps for n in _filled(s))]
        here = program.used
        if here + len(words) > MOST_WORDS:
            raise _Unproven
        program.used += len(words)
        kinds, row = program.kinds, program.points[number]
        kinds[here : program.used] = words
        last = int(row[1])
        kinds[here] = here if last < 0 else kinds[last]  # into the ring
        if last >= 0:
            kinds[last] = here
        row[1] = here

    def _steps(self, program: _Program, number: int, numbers: Sequence[int]) -> Iterator[list[int]]:
        reader = program.reader
        calls = reader.flag_calls(number, numbers)
        if calls is not None:
            made = _FlagSteps(self)
            flags = IssuedFlags(made)
            for method, operands in calls if not self.blocks_only else ():
                getattr(flags, method)(*operands)
            yield from made.steps
            return
        kind = reader.kind_of(program.core, number, numbers)
        if kind.pipe is None or not (kind.reads or kind.writes):
            return
        op = program.log.things[program.log.points[number].op]
        inner = kind.pipe is Pipe.V and not self.blocks_only and uses_inner(op, self.target)
        drain = [ScanStep.DRAIN_ALL, PIPES.index(Pipe.S)]
        yield from [drain] * kind.drains[0]
        yield [ScanStep.WORK, PIPES.index(kind.pipe), inner]
        of_block = program.log.core.shared.values()
        for what, some in ((ScanStep.WRITE, kind.writes), (ScanStep.READ, kind.reads)):
            for access in some:
                own = access.space.core is not None or any(access.memory is m for m in of_block)
                yield from self._access(what, access, own)
        yield from [drain] * kind.drains[1]

    def channel(self, channel: Channel) -> tuple[int, bool]:
        """Return the number of a channel, and whether instructions may use the same flag."""
        if channel not in self.channels:
            number = self.channels[channel] = len(self.channels)
            if number == MOST_CHANNELS:
                raise _Unproven
            self.flags[number] = flag = isinstance(channel, FlagChannel)
            self.tickets[number, 2, 0] = not flag
        return self.channels[channel], watched(channel)

    # memory

    def _access(self, what: ScanStep, access: LoggedAccess, own: bool) -> Iterator[list[int]]:
        number, space = self._space(access.memory, own, writes=what is ScanStep.WRITE)
        base, at, times = _term(access.address, 1)
        more, origin, bits = _term(0 if access.anywhere else access.origin, access.bits)
        base += more // 8
        for offset, width, pitch, count in lines_of(access.ranges):
            if count > 1:
                self._align(space, pitch)
            yield [what, 0, number, base + offset, at, times, origin, bits, width, pitch, count]

    def _space(self, memory: Memory, own: bool, *, writes: bool) -> tuple[int, _Space]:
        """Return the number and the entry of a memory; `own`: each block has its own."""
        shared, key = not own, memory.name if own else id(memory)
        space = self.spaces.get(key)
        if space is None:
            if len(self.spaces) == MOST_SPACES:
                raise _Unproven
            least = NUMBER if shared and memory.size <= TABLE else FINEST
            finest = max(least, (memory.size // MOST_GRANULES).bit_length())
            space = self.spaces[key] = _Space(memory, memory.size, shared, finest)
            self._place(len(self.spaces) - 1, space)
        if writes and not space.written:
            space.written = True
            raise _Restart  # reads of it were skipped
        return [*self.spaces].index(key), space

    def _align(self, space: _Space, place: int) -> None:
        """Make the granules small enough for one to begin at `place`, within the finest allowed."""
        shift = max(space.finest, (place & -place).bit_length() - 1)
        if shift < space.shift:
            space.shift = shift
            raise _Restart

    def _place(self, number: int, space: _Space) -> None:
        """Add an empty shadow for the memory of this number."""
        size = space.size
        shadow = np.zeros(((size >> space.shift) + 1) * GRANULE_BYTES, np.uint8)
        self.shadows.append(shadow)
        low = (1 << space.shift) - 1 if space.shift > space.finest else 0
        skipped = not space.written
        self.table[number] = address_of(shadow), space.shift, size, low, space.shared, skipped


def _term(value: object, factor: int) -> tuple[int, int, int]:
    """Return a product as (constant, place in the record, factor)."""
    if isinstance(value, FrameSlot):
        return 0, 1 + value.number, factor
    assert isinstance(value, int)
    return value * factor, 0, 0


def _filled(step: Sequence[int]) -> list[int]:
    return [*map(int, step), *[0] * (STEP_WORDS - len(step))]


def lines_of(ranges: Ranges) -> list[tuple[int, int, int, int]]:
    """Return ranges as (first byte, width, pitch, count); one line around irregular ranges."""
    found: list[tuple[int, int, int, int]] = []
    for low, high in ranges:
        start, width, pitch, count = found[-1] if found else (0, 0, 0, 0)
        if count and high - low == width and (count == 1 or low == start + count * pitch):
            found[-1] = start, width, pitch if count > 1 else low - start, count + 1
        else:
            found.append((low, high - low, 0, 1))
    if len(found) > MOST_RUNS:
        return [(ranges[0][0], ranges[-1][1] - ranges[0][0], 0, 1)]
    return found
