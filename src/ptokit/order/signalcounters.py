"""Signals between cores: counters that senders increment and receivers wait for.

If several cores signal together, the receiver's counter goes up when all of them have signalled.
Compiled programs have the counters in shared memory: the arrivals of each kind of core, then for
each core its counters and its arrivals at group signals.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, partial
from typing import cast

import numpy as np

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.machine.coreplace import Clocks, CorePlace
from ptokit.machine.evaluation import NumpyArray, Values
from ptokit.machine.memory import Index, Memory
from ptokit.machine.tile import GlobalView, Matrix, Pointer
from ptokit.order.schedule import Schedule, Wait
from ptokit.order.waiting import Meeting, SignalChannel
from ptokit.values.scalars import Integer

MOST_SHOWN = 8  # of the numbers in memory, in an error
OF_SECOND = 16  # at the cube, numbers from here on select the second vector core


@dataclass(frozen=True)
class Clock:
    """The vector clock of one core; it does nothing unless a run looks for races."""

    clocks: Clocks | None
    number: int

    @property
    def of_issue(self) -> bool:
        """Return whether the clock records an issue trace."""
        return self.clocks is not None and self.clocks.of_issue

    def release(self, *keys: Hashable) -> None:
        """Signal cores that wait for one of the keys."""
        if self.clocks is not None:
            self.clocks.release(self.number, keys)

    def acquire(self, key: Hashable, times: int | None = None) -> None:
        """Note that the core has awaited the key `times` times."""
        if self.clocks is not None:
            self.clocks.acquire(self.number, key, times)

    def later(self, do: Callable[[], None]) -> Callable[[], None]:
        """Return `do`, wrapped for execution after its issue."""
        return do if self.clocks is None else self.clocks.later(self.number, do)


@dataclass
class SignalBoard:
    """The signal counters of a launch, by core and number.

    `senders` lists the signalling cores of each increment. `taken` counts the waits for each
    channel, `total` the arrivals of each group of senders. `meetings` lists the cores that wait at
    each barrier of cores, with their arrival counts.
    """

    cores: Sequence[CorePlace]
    schedule: Schedule
    clocks: Clocks | None = None
    first: int = 0  # the number of the first of these cores among those of all ranks
    counts: Counter[tuple[CorePlace, int]] = field(default_factory=Counter[tuple[CorePlace, int]])
    senders: defaultdict[tuple[CorePlace, int], deque[Sequence[CorePlace]]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    taken: Counter[Hashable] = field(default_factory=Counter[Hashable])
    arrived: Counter[tuple[Hashable, CorePlace]] = field(
        default_factory=Counter[tuple[Hashable, CorePlace]]
    )

    total: Counter[Hashable] = field(default_factory=Counter[Hashable])
    meetings: defaultdict[Hashable, list[tuple[CorePlace, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    fifos: list[Mapping[str, Memory]] = field(default_factory=list[Mapping[str, Memory]])
    told: dict[Hashable, str] = field(default_factory=dict[Hashable, str])

    def missing(self, barrier: Hashable, cores: Sequence[CorePlace], arrivals: int) -> str:
        """Return the cores that have not arrived at the barrier, as text; cached."""
        if (barrier, arrivals) not in self.told:
            absent = [core for core in cores if self.arrived[barrier, core] < arrivals]
            self.told[barrier, arrivals] = late(absent)
        return self.told[barrier, arrivals]

    @cached_property
    def numbers(self) -> dict[CorePlace, int]:
        """Return the number of each core among those of all ranks."""
        return {core: self.first + number for number, core in enumerate(self.cores)}

    @cached_property
    def by_kind(self) -> dict[KernelKind, list[CorePlace]]:
        """Return the cores of each kind in the launch."""
        kinds = {core.kind for core in self.cores}
        return {kind: [core for core in self.cores if core.kind is kind] for kind in kinds}

    def clock(self, core: CorePlace) -> Clock:
        return Clock(self.clocks, self.numbers[core] if self.clocks is not None else 0)

    def complete(self, group: Hashable, core: CorePlace, senders: Sequence[CorePlace]) -> bool:
        """Count the arrival of a core; return whether the whole group has arrived."""
        arrived = self.arrived
        arrived[group, core] += 1
        self.total[group] += arrived[group, core] == 1
        if self.total[group] < len(senders):
            return False
        for sender in senders:
            arrived[group, sender] -= 1
        self.total[group] = sum(arrived[group, sender] > 0 for sender in senders)
        return True


@dataclass
class CoreSignals:
    """The signals of one core; `separate`: each vector core has its own counters at the cube."""

    board: SignalBoard
    here: CorePlace
    separate: bool
    most: int = 0  # the limit of a counter; 0: unlimited

    def together(
        self, group: Hashable, number: int, senders: Sequence[CorePlace], to: Sequence[CorePlace]
    ) -> None:
        """Signal a number; receivers see it when all senders of the group have signalled.

        `group` distinguishes the groups in which the core signals.
        """
        self._let([SignalChannel(core, number, self.here) for core in to])
        if self.board.complete((group, number), self.here, senders):
            self._count(to, number, senders)
        self.board.schedule.pause()

    def of_kind(self, number: int) -> None:
        """Signal all cores of this kind in the launch."""
        same = self.board.by_kind[self.here.kind]
        self.together(self.here.kind, number, same, same)

    def of_block(self, number: int) -> None:
        """Signal the vector cores of the block; no effect on the cube core."""
        same = self._in_block(VECTOR)
        if self.here in same:
            self.together(("block", self.here.block), number, same, same)

    def across(self, number: int, *, every_lane: bool) -> None:
        """Signal from the cube to its vector cores, or from a vector core to the cube."""
        if not self.separate:
            mine, kind = self.here.kind, VECTOR if self.here.kind is CUBE else CUBE
            group = "across", self.here.block, mine
            self.together(group, number, self._in_block(mine), self._in_block(kind))
        elif self.here.kind is CUBE:
            self._up([c for c in self._in_block(VECTOR) if every_lane or c.lane == 0], number)
        else:
            self.direct(number)

    def direct(self, number: int) -> None:
        """Signal one core of the block. At the cube, numbers from 16 select vector core 1."""
        if not self.separate:
            self.across(number, every_lane=True)
        elif self.here.kind is CUBE:
            lane, number = divmod(number, OF_SECOND)
            self._up([c for c in self._in_block(VECTOR) if c.lane == lane], number)
        else:
            self._up(self._in_block(CUBE), number % OF_SECOND + OF_SECOND * self.here.lane)

    def _up(self, cores: Sequence[CorePlace], number: int) -> None:
        self._let([SignalChannel(core, number, self.here) for core in cores])
        self._count(cores, number, (self.here,))
        self.board.schedule.pause()

    def _count(self, cores: Sequence[CorePlace], number: int, senders: Sequence[CorePlace]) -> None:
        for core in cores:
            self.board.counts[core, number] += 1
            if self.most and self.board.counts[core, number] > self.most:
                raise overflow(core, number, self.most)
            self.board.senders[core, number].append(senders)

    def _let(self, keys: Sequence[Hashable]) -> None:
        """Publish the clock of this core to the cores that wait for these keys."""
        self.board.clock(self.here).release(*keys)

    def _in_block(self, kind: KernelKind) -> list[CorePlace]:
        return [c for c in self.board.cores if c.block == self.here.block and c.kind is kind]

    def wait(self, number: int) -> None:
        """Wait until a number of this core is up, and decrement its counter."""
        if self.here.kind is VECTOR and self.separate:
            number %= OF_SECOND
        key, counts = (self.here, number), self.board.counts
        self.board.schedule.wait(Wait(lambda: counts[key] > 0, signal_of(number)))
        counts[key] -= 1
        for sender in self.board.senders[key].popleft():
            of_sender = SignalChannel(*key, sender)
            self.board.taken[of_sender] += 1
            self.board.clock(self.here).acquire(of_sender, self.board.taken[of_sender])

    def pause(self) -> None:
        """Allow a switch after a visible change, if the order is random."""
        self.board.schedule.pause()

    def changed(self, numbers: Matrix) -> None:
        """Wake the cores that wait for numbers in memory."""
        self.board.clock(self.here).release(id(numbers.memory))
        self.board.schedule.pause()

    def until(self, numbers: Matrix, word: str, value: int) -> None:
        """Wait until every number in memory compares with `value` by `word` (`lt`, `eq`, ...)."""
        what = f"{numbers.label or 'a signal'} {word} {value}"
        met, held = partial(_hold, numbers, word, value), partial(_held, numbers)
        self.board.schedule.wait(Wait(met, what, held))
        self.board.clock(self.here).acquire(id(numbers.memory))

    def test(self, numbers: Matrix, word: str, value: int) -> int:
        """Return 1 if every number compares so, else 0. Other cores run first."""
        self.board.schedule.yield_to_others()
        met = _hold(numbers, word, value)
        if met:
            self.board.clock(self.here).acquire(id(numbers.memory))
        return int(met)

    def sync_all(self, kinds: Sequence[KernelKind], used: int, place: object) -> None:
        """Wait until all cores of these kinds have arrived as often as this core.

        `used`: wait for this number of cores instead, which count at a place in memory.
        """
        cores, of = [c for c in self.board.cores if c.kind in kinds], tuple(kinds)
        if not cores:
            raise no_cores(of, self.here.kind)
        where = _address(cast("GlobalView | Pointer", place)) if used else None
        key, here = ("barrier", of, where), self.here
        self.board.arrived[key, here] += 1
        arrivals = self.board.arrived[key, here]
        self._let([Meeting(of, here, where)])
        if here not in cores:
            return
        needed, met = used or len(cores), self.board.meetings[key]
        if len(met) >= needed:
            met = self.board.meetings[key] = []
        met.append((here, arrivals))

        def held() -> str:
            if used:
                return f"{len(met)} of {used} have arrived"
            return self.board.missing(key, cores, arrivals)

        who = f"{used} cores" if used else "all cores"
        self.board.schedule.wait(Wait(lambda: len(met) >= needed, who, held))
        for core, times in met:
            self.board.clock(here).acquire(Meeting(of, core, where), times)


def _address(place: GlobalView | Pointer) -> Hashable:
    """Return a key of a place in memory."""
    start = place.pointer() if isinstance(place, Matrix) else place
    return id(start.memory), start.offset * start.dtype.bits


def _hold(numbers: Matrix, word: str, value: int) -> bool:
    return bool(np.all(getattr(operator, word)(_values(numbers), value)))


def _values(numbers: Matrix) -> Values:
    """Return the numbers in memory, without telling the race detector."""
    memory = numbers.memory
    watch, memory.watch = memory.watch, None
    try:
        found = numbers[:, :]
    finally:
        memory.watch = watch
    assert isinstance(found, NumpyArray)
    return found.values


def _held(numbers: Matrix) -> str:
    """Return the first numbers as text."""
    found = _values(numbers).reshape(-1)
    held = ", ".join(map(str, found[:MOST_SHOWN]))
    return f"it is {held}, ..." if found.size > MOST_SHOWN else f"it is {held}"


def overflow(core: CorePlace, number: int, most: int) -> PtoError:
    """Return the error for a signal counter that exceeds its limit."""
    message = f"{CATALOGUE['signal-overflow'].title}: limit {most}"
    seen = f"signal {number} of {core} is pending {most} times"
    help = "make the sending core wait for an answer"
    return error("signal-overflow", message, seen=seen, help=help)


def no_cores(kinds: Sequence[KernelKind], here: KernelKind) -> PtoError:
    """Return the error of a meeting of cores that the launch has not: on chips none waits."""
    wanted = " and ".join(kind.text for kind in kinds)
    message = f"the launch has no {wanted} cores that could meet"
    seen = f"a {here.text} core asks for a meeting of the {wanted} cores"
    help = "name the kind of core that the kernel runs on"
    return error("core", message, seen=seen, help=help)


def signal_of(number: int) -> str:
    """Return what a core waits for, given the number of a signal."""
    return f"signal {number} of this core"


def late(cores: Sequence[CorePlace]) -> str:
    """Return the cores that have not arrived, as text."""
    more = len(cores) - 1
    return f"{cores[0]} and {more} more have not arrived" if more else f"{cores[0]} has not arrived"


NUMBERS = 32  # signals per core
BARRIER_KINDS = (
    (CUBE,),
    (VECTOR,),
    (CUBE, VECTOR),
)  # sets of kinds that a barrier of cores may wait for
SIGNALS_MEMORY = "signals"


class SignalPart(IntEnum):
    """The cells of a core for each signal number."""

    UP = 0
    OF_KIND = 1  # its signals that not all others have matched
    OF_BLOCK = 2
    ACROSS = 3
    BLOCK_HAS = 4  # at the first vector core: the cores of the block that signalled
    ACROSS_HAS = 5


ARRIVALS = len(SignalPart) * NUMBERS  # then: its arrivals at each barrier of cores
STRIDE = ARRIVALS + len(BARRIER_KINDS)
ARRIVED = 2 * NUMBERS  # at the start, after the signals of each kind: arrivals at barriers
CORES = ARRIVED + len(BARRIER_KINDS)


@dataclass(frozen=True)
class SignalCells:
    """The cells of the concurrent cores: `cubes` and `lanes` per block."""

    cubes: int
    lanes: int

    def size(self, blocks: int) -> int:
        """Return the number of cells."""
        return CORES + STRIDE * blocks * (self.cubes + self.lanes)

    def core(self, kind: KernelKind, blocks: Integer, block: Integer, lane: Integer = 0) -> Integer:
        """Return the first cell of a core; cube cores come first."""
        number = block if kind is CUBE else blocks * self.cubes + block * self.lanes + lane
        return number * STRIDE + CORES

    def of(self, kind: KernelKind) -> int:
        """Return the number of cores of a kind per block."""
        return self.cubes if kind is CUBE else self.lanes

    @staticmethod
    def have(kind: KernelKind, number: Integer) -> Integer:
        """Return the cell that counts the cores of a kind that have signalled `number`."""
        return number + (0 if kind is CUBE else NUMBERS)

    def awaited(self, cell: int, counters: Index, cores: Sequence[CorePlace]) -> str:
        """Return what one of the cores waits for, given the cell that it waits for."""
        if cell >= CORES:
            return signal_of((cell - CORES) % STRIDE)
        barrier, blocks = cell - ARRIVED, 1 + max(core.block for core in cores)
        wanted = [core for core in cores if core.kind in BARRIER_KINDS[barrier]]
        places = [self.core(c.kind, blocks, c.block, c.lane) + ARRIVALS + barrier for c in wanted]
        arrivals: list[int] = counters[places].tolist()
        missing = (c for c, n in zip(wanted, arrivals, strict=True) if n < max(arrivals))
        return f"all cores, and {late(list(missing))}"
