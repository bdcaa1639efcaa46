"""Races: accesses of two cores to the same bytes of global memory without order, found at run time.

Each core has a vector clock of the events that it knows of every core. A signal carries the clock
of its sender, and a waiting core merges that clock into its own. For each byte the detector keeps
the last writer and its time, and the last read of each core; an access races with an earlier access
that the core does not know.

A transfer that a core begins without waiting runs on an engine of the core. Transfers run one after
another, and the core knows of a transfer when it has awaited the event.

Atomic additions race with other accesses, but not with each other. The same holds for additions to
signals in memory, and for stores to them: a store discards earlier additions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import Note, PtoError, titled
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.traits import AWAITS, BEGINS, SIGNALS
from ptokit.isa.model.words import AtomicType, KernelKind, Pipe
from ptokit.isa.pages.communication import NotifyOp
from ptokit.machine.arguments import Env
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.execute import Core
from ptokit.machine.memory import Index, Memory
from ptokit.machine.observer import Observer
from ptokit.order.group import GroupedCore
from ptokit.order.schedule import current_coroutine


class VectorClocks:
    """The vector clocks of all cores, by number, and of all signals."""

    of_issue = False

    def __init__(self, cores: int) -> None:
        self.knows = np.eye(cores, dtype=np.int64)
        self.carried: defaultdict[Hashable, list[NDArray[np.int64]]] = defaultdict(list)
        self.releases: dict[
            Hashable, int | None
        ] = {}  # the only releasing core, or None for several

    def begin(self, core: int, engine: int) -> None:
        """Start a transfer: the engine of the core knows what the core knows."""
        np.maximum(self.knows[engine], self.knows[core], out=self.knows[engine])
        self.knows[engine, engine] += 1

    def end(self, core: int, known: NDArray[np.int64]) -> None:
        """Merge the clock `known` of a completed transfer into the core's clock."""
        np.maximum(self.knows[core], known, out=self.knows[core])

    def release(self, core: int, keys: Sequence[Hashable]) -> None:
        """Signal the keys: cores that wait for a key get the clock of this core."""
        known = self.knows[core].copy()
        for key in keys:
            carried = self.carried[key]
            if self.releases.setdefault(key, core) != core:
                self.releases[key] = None
            alone = self.releases[key] == core  # the clock of a single sender only grows
            carried.append(known if alone or not carried else np.maximum(known, carried[-1]))
        self.knows[core, core] += 1

    def acquire(self, core: int, key: Hashable, times: int | None) -> None:
        """Merge the clock of the `times`-th release of the key into the core's clock."""
        carried = self.carried[key]
        if carried:
            last = carried[-1 if times is None else times - 1]
            np.maximum(self.knows[core], last, out=self.knows[core])

    def later(self, core: int, do: Callable[[], None]) -> Callable[[], None]:
        """Return `do` unchanged: its signals count when it executes."""
        return do


class AccessKind(Enum):
    """The kinds of access to global memory; accesses of one kind, except PLAIN, commute."""

    PLAIN = "it reads or writes"
    ADDS = "it adds to what is there"
    SIGNALS = "it adds to signals or tests them"
    SETS = "it stores signals"


@dataclass
class _LastAccess:
    """The time of each core's last access to each byte, and its op."""

    when: NDArray[np.int64]
    by: NDArray[np.int32]

    @classmethod
    def of(cls, size: int, cores: int) -> _LastAccess:
        return cls(np.zeros((cores, size), np.int64), np.zeros((cores, size), np.int32))


@dataclass
class _ByteHistory:
    """The history of each byte of a memory: its last write, and each core's last access."""

    writer: NDArray[np.int32]
    written: NDArray[np.int64]
    by: NDArray[np.int32]
    last: dict[AccessKind, _LastAccess]  # PLAIN: reads; the other kinds: writes

    @classmethod
    def of(cls, size: int, cores: int) -> _ByteHistory:
        last = {AccessKind.PLAIN: _LastAccess.of(size, cores)}
        when, by = np.zeros(size, np.int64), np.zeros(size, np.int32)
        return cls(np.zeros(size, np.int32), when, by, last)


class _Accessing(NamedTuple):
    """A core or its engine, the number of the op that it executes, and its kind of access."""

    core: int
    op: int
    kind: AccessKind


def adds(op: AnyOp) -> bool:
    """Return whether the op adds to global memory atomically."""
    return isinstance(op, Op) and AtomicType.ADD in op.attrs.values()


def orders(op: AnyOp) -> bool:
    """Return whether the op changes or tests signals in memory by scalar accesses.

    Concurrent scalar accesses to signals are synchronisation, not races. Transfers between ranks
    use signals too, but on another pipe; the bytes that they move are data.
    """
    return isinstance(op, Op) and SIGNALS in op.page.uses and op.page.pipe is Pipe.S


def commute(one: AnyOp, other: AnyOp) -> bool:
    """Return whether two accesses to global memory give the same result in either order."""
    return (adds(one) and adds(other)) or (orders(one) and orders(other))


def kind_of(op: AnyOp) -> AccessKind:
    """Return the kind of access of an op to global memory."""
    if adds(op):
        return AccessKind.ADDS
    if not orders(op):
        return AccessKind.PLAIN
    stores = isinstance(op, Op) and NotifyOp.SET in op.attrs.values()
    return AccessKind.SETS if stores else AccessKind.SIGNALS


class RaceDetector(Observer):
    """An observer that runs the cores in a random order and raises at the first race."""

    stepwise: ClassVar[bool] = True

    def __init__(self, seed: int) -> None:
        self.order = Random(seed)
        self.ops: list[AnyOp] = []
        self.numbers: dict[int, int] = {}
        self.histories: dict[int, _ByteHistory] = {}
        self.at: dict[object, _Accessing] = {}  # what each core executes, by its coroutine
        self.events: dict[
            tuple[int, Value], NDArray[np.int64]
        ] = {}  # clocks at the ends of transfers
        self.engines = False  # whether any transfer has begun

    def launched(self, memories: Iterable[Memory], places: Iterable[CorePlace]) -> VectorClocks:
        """Start a kernel on these arrays and cores."""
        self.places = list(places)
        self.clocks = VectorClocks(2 * len(self.places))  # each core and its engine
        for memory in memories:
            memory.watch = self._watcher(memory)
        return self.clocks

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        assert isinstance(core, GroupedCore)
        if id(op) not in self.numbers:
            self.numbers[id(op)] = len(self.ops)
            self.ops.append(op)
        actor = self._actor(op, self.places.index(core.place))
        self.at[current_coroutine()] = _Accessing(actor, self.numbers[id(op)], kind_of(op))

    resumed = before

    def _actor(self, op: AnyOp, core: int) -> int:
        """Return the number of the accessing core, or of its engine if the op begins a transfer."""
        engine, clocks = core + len(self.places), self.clocks
        if not isinstance(op, Op):
            return core
        if AWAITS in op.page.traits:  # an event carried by a loop: assume all transfers so far
            known = [self.events[core, v] for _, v in op.values() if (core, v) in self.events]
            clocks.end(core, known[0] if known else clocks.knows[engine])
        if BEGINS not in op.page.traits:
            return core
        self.engines = True
        clocks.begin(core, engine)
        self.events |= {(core, event): clocks.knows[engine].copy() for event in op.results}
        return engine

    def _watcher(self, memory: Memory) -> Callable[[Index, bool], None]:
        def watch(touched: Index, writes: bool) -> None:
            at = self.at.get(current_coroutine())  # None while the scheduler tests a wait condition
            if at is not None and touched.size and (writes or at.kind is AccessKind.PLAIN):
                self._touch(memory, touched, writes, at)

        return watch

    def _touch(self, memory: Memory, touched: Index, writes: bool, at: _Accessing) -> None:
        history, knows = self._history(memory), self.clocks.knows[at.core]
        late = history.written[touched] > knows[history.writer[touched]]
        if late.any():
            byte = int(touched[late][0])
            self._report(memory, byte, at, int(history.writer[byte]), int(history.by[byte]))
        for kind, last in history.last.items():
            if kind is at.kind and not (writes and kind is AccessKind.PLAIN):
                continue  # reads, or changes of one kind
            for other in range(len(self.places) * (1 + self.engines)):
                late = last.when[other, touched] > knows[other]
                if other != at.core and late.any():
                    byte = int(touched[late][0])
                    self._report(memory, byte, at, other, int(last.by[other, byte]))
        if writes and at.kind is AccessKind.PLAIN:
            history.writer[touched], history.by[touched] = at.core, at.op
            history.written[touched] = knows[at.core]
            return
        if at.kind not in history.last:
            history.last[at.kind] = _LastAccess.of(history.writer.size, 2 * len(self.places))
        last = history.last[at.kind]
        last.when[at.core, touched], last.by[at.core, touched] = knows[at.core], at.op

    def _history(self, memory: Memory) -> _ByteHistory:
        found = self.histories.get(id(memory))
        if found is None or found.writer.size < memory.size:
            found = self.histories[id(memory)] = _ByteHistory.of(memory.size, 2 * len(self.places))
        return found

    def _report(self, memory: Memory, byte: int, at: _Accessing, other: int, first: int) -> None:
        mine, theirs = self.ops[at.op], self.ops[first]
        there = f"{self._name(other)} accesses it here, {theirs.name}"
        help = "signal after the first access, and wait for the signal before the second"
        if max(at.core, other) >= len(self.places):
            help = "wait for the event of the transfer before accessing its data or signalling"
        seen = f"byte {byte} of {memory.name}, on {self._name(at.core)}"
        notes = (Note(there, theirs.span),)
        raise PtoError(titled("race", mine.name, mine.span, seen=seen, help=help, notes=notes))

    def _name(self, actor: int) -> str:
        core = self.places[actor % len(self.places)]
        return f"{core}" if actor < len(self.places) else f"the transfer engine of {core}"


def detector(words: str | None) -> RaceDetector | None:
    """Return the detector for `random:SEED`, and None for None: the fixed order.

    ValueError for other strings, TypeError for other values.
    """
    if words is None:
        return None
    if not isinstance(words, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # a user's
        raise TypeError(f"schedule is {words!r}: expected a string such as random:7")
    kind, _, seed = words.partition(":")
    if kind != "random" or not seed.isdecimal():
        raise ValueError(f"unknown schedule {words!r}: expected random:SEED, such as random:7")
    return RaceDetector(int(seed))


def memories_of(envs: Mapping[KernelKind, Env]) -> list[Memory]:
    """Return the arrays behind the arguments, each once."""
    found: dict[int, Memory] = {}
    for env in envs.values():
        for handle in env.values():
            memory = getattr(handle, "memory", None)
            if isinstance(memory, Memory):
                found[id(memory)] = memory
    return list(found.values())
