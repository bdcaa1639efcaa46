"""Signals between cores: counters that go up at other cores and are waited for (C3.3).

A core counts up the signals of others; where several together signal one, its counter goes up when
all of them have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ptokit.isa.model.words import KernelKind
from ptokit.sim.cores.schedule import Schedule, Wait

CUBE, VECTOR = KernelKind.CUBE, KernelKind.VECTOR
OF_SECOND = 16  # numbers from here on are of the second vector core, at the cube


class CorePlace(NamedTuple):
    """A core of a launch."""

    block: int
    kind: KernelKind
    lane: int

    def __str__(self) -> str:
        number = f" {self.lane}" if self.kind is VECTOR else ""
        return f"the {self.kind.text} core{number} of block {self.block}"


class Clocks(Protocol):
    """What each core knows of the others, where somebody looks for races."""

    def release(self, core: int, key: Hashable) -> None: ...
    def acquire(self, core: int, key: Hashable) -> None: ...


@dataclass(frozen=True)
class Clock:
    """One core's: nothing happens where nobody looks."""

    clocks: Clocks | None
    number: int

    def release(self, key: Hashable) -> None:
        """The core lets others go on that wait for the key."""
        if self.clocks is not None:
            self.clocks.release(self.number, key)

    def acquire(self, key: Hashable) -> None:
        """The core goes on, since others let it."""
        if self.clocks is not None:
            self.clocks.acquire(self.number, key)


@dataclass
class SignalBoard:
    """The counters of a launch: by core and number, and who has signalled so far."""

    cores: Sequence[CorePlace]
    schedule: Schedule
    clocks: Clocks | None = None
    counts: Counter[tuple[CorePlace, int]] = field(default_factory=Counter[tuple[CorePlace, int]])
    arrived: Counter[tuple[Hashable, CorePlace]] = field(
        default_factory=Counter[tuple[Hashable, CorePlace]]
    )

    def clock(self, core: CorePlace) -> Clock:
        return Clock(self.clocks, self.cores.index(core) if self.clocks is not None else 0)


@dataclass
class CoreSignals:
    """The board as one core sees it; `separate`: each vector core has counters at the cube."""

    board: SignalBoard
    here: CorePlace
    separate: bool

    def together(self, number: int, senders: Sequence[CorePlace], to: Sequence[CorePlace]) -> None:
        """Signal a number; it goes up at the receivers when all senders have signalled."""
        key = number, tuple(senders)
        arrived = self.board.arrived
        arrived[key, self.here] += 1
        self._let([(core, number) for core in to])
        if all(arrived[key, sender] for sender in senders):
            for sender in senders:
                arrived[key, sender] -= 1
            for core in to:
                self.board.counts[core, number] += 1
        self.board.schedule.pause()

    def of_kind(self, number: int) -> None:
        """All cores of this kind in the launch signal one another."""
        same = [c for c in self.board.cores if c.kind is self.here.kind]
        self.together(number, same, same)

    def of_block(self, number: int) -> None:
        """The vector cores of the block signal one another."""
        same = self._in_block(VECTOR)
        self.together(number, same, same)

    def across(self, number: int, *, every_lane: bool) -> None:
        """The cube signals its vector cores, or they signal it."""
        if not self.separate:
            kind = VECTOR if self.here.kind is CUBE else CUBE
            self.together(number, self._in_block(self.here.kind), self._in_block(kind))
        elif self.here.kind is CUBE:
            self._up([c for c in self._in_block(VECTOR) if every_lane or c.lane == 0], number)
        else:
            self.direct(number)

    def direct(self, number: int) -> None:
        """One core of the block: the cube names the second vector core by larger numbers."""
        if not self.separate:
            self.across(number, every_lane=True)
        elif self.here.kind is CUBE:
            lane, number = divmod(number, OF_SECOND)
            self._up([c for c in self._in_block(VECTOR) if c.lane == lane], number)
        else:
            self._up(self._in_block(CUBE), number % OF_SECOND + OF_SECOND * self.here.lane)

    def _up(self, cores: Sequence[CorePlace], number: int) -> None:
        self._let([(core, number) for core in cores])
        for core in cores:
            self.board.counts[core, number] += 1
        self.board.schedule.pause()

    def _let(self, keys: Sequence[Hashable]) -> None:
        """Whoever waits for one of these knows what this core has done."""
        for key in keys:
            self.board.clock(self.here).release(key)

    def _in_block(self, kind: KernelKind) -> list[CorePlace]:
        return [c for c in self.board.cores if c.block == self.here.block and c.kind is kind]

    def wait(self, number: int) -> None:
        """Wait until a number of this core is up, and count it down."""
        if self.here.kind is VECTOR:
            number %= OF_SECOND
        key, counts = (self.here, number), self.board.counts
        self.board.schedule.wait(Wait(lambda: counts[key] > 0, f"signal {number} of this core"))
        counts[key] -= 1
        self.board.clock(self.here).acquire(key)

    def meet(self, kinds: Sequence[KernelKind]) -> None:
        """Wait until all cores of these kinds have come as often as this one."""
        cores, arrived = [c for c in self.board.cores if c.kind in kinds], self.board.arrived
        key = "meet", tuple(kinds)
        arrived[key, self.here] += 1
        turn = arrived[key, self.here]
        self._let([key])
        if self.here not in cores:
            return

        def met() -> bool:
            return all(arrived[key, core] >= turn for core in cores)

        late = next((str(c) for c in cores if arrived[key, c] < turn), "")
        self.board.schedule.wait(Wait(met, f"all cores, {late} among them" if late else ""))
        self.board.clock(self.here).acquire(key)
