"""Timelines: those of the stream kernel that were computed by hand, and laws of all others."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, flag, stream

import ptokit as pto
from account.files import ROOT
from every import every
from fuzz.scale import sampled, scaled
from ptokit.api.profiling import Profile
from ptokit.api.profiling import profile as predict
from ptokit.explore.exploration import launch_issues
from ptokit.isa.model.targets import A2A3_TARGET
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import MTE2, MTE3, Pipe, V
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.order.footprints import ByteRegion, ByteRegions
from ptokit.order.scheduling import predicted
from ptokit.order.timeline import Bar, Timeline
from ptokit.order.waiting import (
    Await,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)

BODY = [*LOAD, *ADD, *STORE]
CYCLES = {MTE2: 100, V: 60, MTE3: 90}
BARRIER = "pto.barrier <PIPE_ALL>"
STAGES = [line for line in BODY if "flag" not in line]


def by_hand(work: PipeWork) -> Cost:
    """The durations of the manual: a load 100 cycles, an addition 60, a store 90."""
    return Cost(CYCLES[work.queue.pipe], Origin.ESTIMATED)


def timeline(text: str) -> Timeline:
    (issue,) = launch_issues(pto.loads(text), A2A3_TARGET)
    found, stuck = predicted(issue.cores, A2A3_TARGET, issue.footprints.regions, by_hand)
    assert not stuck
    return found


def without(*lines: str) -> list[str]:
    return [line for line in BODY if line not in lines]


NO_RELEASE = without(flag("wait", "v2", "b"), flag("set", "v2", "b"))
STALE = without(flag("wait", "2v", "b"), flag("set", "2v", "b"))
SERIAL = [line for stage in STAGES for line in (stage, BARRIER)]


@every(
    ("prime", "body", "drain", "iterations", "cycles"),
    [
        (*RIGHT, "%c0", 0),
        (*RIGHT, "%c1", 250),
        (*RIGHT, "%c4", 550),
        (PRIME, NO_RELEASE, [], "%c4", 550),
        (PRIME, STALE, DRAIN, "%c4", 420),
        (PRIME, BODY, [], "%c4", 550),
        ([], SERIAL, [], "%c4", 1000),
    ],
    ids=["no tile", "one", "four", "no release", "stale data", "no drain", "barriers"],
)
def test_the_cycles_of_the_manual(
    prime: list[str], body: list[str], drain: list[str], iterations: str, cycles: int
) -> None:
    assert timeline(stream(prime, body, drain, iterations)).cycles == cycles


def times(found: Timeline, pipe: Pipe) -> list[tuple[int, int]]:
    return [(e.ready, e.end) for e in found.queues[PipeQueue(0, pipe)] if isinstance(e, Bar)]


def test_the_bars_of_two_buffers() -> None:
    found = timeline(stream(*RIGHT, "%c4"))
    assert times(found, MTE2) == [(0, 100), (100, 200), (200, 300), (300, 400)]
    assert times(found, V) == [(100, 160), (200, 260), (300, 360), (400, 460)]
    assert times(found, MTE3) == [(160, 250), (260, 350), (360, 450), (460, 550)]


def test_one_buffer_lets_a_load_wait_for_the_addition() -> None:
    """Load, add, load, add ..., each store beside the load after: 4 * 160 + 90."""
    one = [line.replace("%b]", "%c0]") for line in BODY]
    text = stream(PRIME, one, DRAIN, "%c4").replace("remui %i, %c2", "muli %i, %c0")
    found = timeline(text)
    assert times(found, MTE2) == [(0, 100), (160, 260), (320, 420), (480, 580)]
    assert times(found, MTE3) == [(160, 250), (320, 410), (480, 570), (640, 730)]
    assert found.cycles == 730


def test_no_flags_at_all_means_the_order_of_the_data() -> None:
    found = timeline(stream([], STAGES, [], "%c4"))
    assert found.by_data
    assert found.cycles == 550
    assert times(found, MTE2) == times(timeline(stream(*RIGHT, "%c4")), MTE2)


def test_a_queue_pays_the_head_when_it_was_idle_and_the_tail_at_a_flag() -> None:
    """Additions of 10, 2 and 14 cycles: two in a row, then a flag, then one alone."""
    body = [*STAGES[:1], flag("set", "2v", "b"), flag("wait", "2v", "b")]
    body += [*STAGES[1:2] * 2, flag("set", "v3", "b"), *STAGES[1:2]]

    def cost(work: PipeWork) -> Cost:
        vector = Cost(2, Origin.PUBLISHED, head=10, tail=14)
        return vector if work.queue.pipe is V else Cost(100, Origin.PUBLISHED)

    (issue,) = launch_issues(pto.loads(stream([], body, [], "%c1")), A2A3_TARGET)
    found, _ = predicted(issue.cores, A2A3_TARGET, issue.footprints.regions, cost)
    assert times(found, V) == [(100, 112), (112, 114), (128, 140)]
    assert found.cycles == 140 + 14
    assert found.busy[PipeQueue(0, V)] == 12 + 2 + 12


def test_a_wait_says_what_it_waited_for() -> None:
    found = timeline(stream(*RIGHT, "%c4"))
    waits = [(b.cycles, str(b.entry.queue), str(b.after.queue)) for b in found.bubbles]
    loads, additions = [(100, "V", "MTE2")], [(40, "V", "MTE2")] * 3
    stores = [(160, "MTE3", "V")] + [(10, "MTE3", "V")] * 3
    assert waits[: len(loads + additions)] == loads + additions
    assert [w for w in waits if w[1] == "MTE3"] == stores
    for pause in found.pauses:
        posted = pause.posted
        assert posted is not None
        assert posted.entry.ticket in getattr(pause.entry, "tickets")  # noqa: B009 - of a wait
        assert posted.end <= pause.ready


# Against a simulator that goes from one moment to the next

OP = pto.loads(stream(*RIGHT)).module.funcs[0].body.ops[0]
PIPES = (Pipe.S, MTE2, V, MTE3)


@dataclass
class Moments:
    """The queues of some cores, moment by moment; `began` tells when work did."""

    cores: list[list[QueueEntry]]
    began: dict[QueueEntry, int] = field(default_factory=dict[QueueEntry, int])
    busy: dict[PipeQueue, int] = field(default_factory=dict[PipeQueue, int])  # until when
    queues: dict[PipeQueue, list[QueueEntry]] = field(default_factory=lambda: defaultdict(list))
    posted: set[Ticket] = field(default_factory=set[Ticket])
    now: int = 0

    def run(self) -> tuple[int, set[QueueEntry]]:
        """The cycles in all, and the heads of queues that wait for ever."""
        left = [[*entries] for entries in self.cores]
        while True:
            while any([self._issue(entries) for entries in left] + [self._heads()]):
                pass
            later = [end for end in self.busy.values() if end > self.now]
            if not later:
                return self.now, {q[0] for q in (*self.queues.values(), *left) if q}
            self.now = min(later)

    def _issue(self, entries: list[QueueEntry]) -> bool:
        if not entries or self.busy.get(PipeQueue(entries[0].queue.core, Pipe.S), 0) > self.now:
            return False
        if entries[0].queue.pipe is not Pipe.S:
            self.queues[entries[0].queue].append(entries.pop(0))
            return True
        return self._take(entries)

    def _heads(self) -> bool:
        return any([self._take(q) for q in self.queues.values() if q])

    def _take(self, entries: list[QueueEntry]) -> bool:
        entry, core = entries[0], entries[0].queue.core
        if self.busy.get(entry.queue, 0) > self.now:
            return False
        if isinstance(entry, Await) and not self.posted.issuperset(entry.tickets):
            return False
        idle = all(end <= self.now for q, end in self.busy.items() if q.core == core)
        empty = not any(entries for q, entries in self.queues.items() if q.core == core)
        if isinstance(entry, Drain) and entry.every and not (idle and empty):
            return False
        if isinstance(entry, Post):
            self.posted.add(entry.ticket)
        if isinstance(entry, PipeWork):
            self.began[entry] = self.now
            self.busy[entry.queue] = self.now + lasts(entry)
        entries.pop(0)
        return True


def lasts(entry: QueueEntry) -> int:
    return 1 + (entry.number * 7 + entry.queue.core) % 13


def entries_at_random(seed: int) -> list[list[QueueEntry]]:
    """Work, barriers and flags between pipes of two cores, some of which nobody sets."""
    choice = random.Random(seed)
    cores: list[list[QueueEntry]] = [[], []]
    for number in range(choice.randrange(4, 30)):
        ends = [PipeQueue(choice.randrange(2), choice.choice(PIPES)) for _ in range(2)]
        kind = choice.choice(["work", "work", "flag", "flag", "all", "pipe", "lost"])
        if kind == "work":
            add(cores, PipeWork, ends[0])
        elif kind == "all":
            add(cores, Drain, PipeQueue(ends[0].core, Pipe.S), every=True)
        elif kind == "pipe":
            add(cores, Drain, ends[0])
        elif kind == "flag" or choice.random() < 0.1:
            ticket = Ticket(FlagChannel(0, V, V, number), 1)
            posts = choice.random() < 0.97
            if posts:
                add(cores, Post, ends[0], ticket=ticket)
            add(cores, PipeWork, ends[1])
            add(cores, Await, ends[1], tickets=(ticket,))
    return cores


def add(
    cores: list[list[QueueEntry]], kind: type[QueueEntry], queue: PipeQueue, **more: object
) -> None:
    core = cores[queue.core]
    core.append(kind(len(core), OP, queue, (), **more))


def test_times_are_those_of_a_simulation_moment_by_moment() -> None:
    stopped = 0
    for seed in range(scaled(200)):
        cores = entries_at_random(seed)
        moments = Moments(cores)
        cycles, stuck = moments.run()
        found, left = predicted(
            cores, A2A3_TARGET, ByteRegions(), lambda e: Cost(lasts(e), Origin.ESTIMATED)
        )
        assert {bar.entry: bar.start for bar in found.bars} == moments.began, seed
        assert {*left} == stuck, seed
        assert found.cycles == cycles or stuck
        stopped += bool(stuck)
    assert 0 < stopped < scaled(200) / 2


# What holds for every program of the tree

PROGRAMS = sorted([*(ROOT / "tests" / "pto").glob("*.pto"), *(ROOT / "examples").rglob("*.pto")])


def profiled(path: Path, target: str) -> Profile | None:
    """The profile of a program, all its numbers 4; None if it is not legal so."""
    program = pto.load(path)
    try:
        args = program.func().args
        kinds = {a.name: a.type for a in args if isinstance(a.type, ScalarType)}
        numbers = {n: 4.0 if kind.is_float else 4 for n, kind in kinds.items()}
        return predict(program, numbers, target)
    except pto.PtoError:
        return None


@cache
def profiles() -> list[tuple[str, Profile]]:
    cases = sampled([(p, t) for p in PROGRAMS for t in ("a2a3", "a5")], 5)
    found = [(p.name, profiled(p, t)) for p, t in cases]
    some = [(name, profile) for name, profile in found if profile is not None]
    assert len(some) > len(cases) / 2
    return some


def test_a_launch_takes_as_long_as_its_critical_path() -> None:
    for name, profile in profiles():
        found = profile.timeline
        path = found.critical
        assert path[0].ready == 0, name
        assert path[-1].complete == found.cycles, name
        for one, two in pairwise(path):
            assert two.because is one, name
            assert two.ready in (one.end, one.complete), name
        assert sum(row.critical for row in found.lines) == found.cycles, name


def test_a_launch_takes_no_less_than_a_pipe_and_no_more_than_all_together() -> None:
    for name, profile in profiles():
        found = profile.timeline
        flags = sum(e.cycles for e in found.entries if not isinstance(e, Bar))
        assert max(found.busy.values()) <= found.cycles, name
        assert found.cycles <= sum(b.cost.latency for b in found.bars) + flags, name
        assert sum(row.busy for row in found.lines) == sum(found.busy.values()), name
        assert sum(found.origins().values()) == sum(found.busy.values()), name


def test_a_queue_does_one_thing_at_a_time() -> None:
    for name, profile in profiles():
        found = profile.timeline
        for queue, entries in found.queues.items():
            assert all(one.end <= two.ready for one, two in pairwise(entries)), name
            waited = sum(b.cycles for b in found.bubbles if b.entry.queue == queue)
            assert found.busy[queue] + waited <= found.cycles, name


def test_without_flags_work_starts_as_soon_as_its_bytes_are_there() -> None:
    """Compared byte by byte with the work before; launches whose cores wait are left out."""
    compared = 0
    for name, profile in profiles():
        found = profile.timeline
        if not found.by_data or found.pauses or len(found.bars) > 150:
            continue
        for place, bar in enumerate(found.bars):
            before = [b for b in found.bars[:place] if b.queue.core == bar.queue.core]
            ready = [b.complete for b in before if conflict(b.entry, bar.entry)]
            free = [b.end for b in before if b.queue.pipe in (bar.queue.pipe, Pipe.S)]
            assert bar.start == max([0, *ready, *free]), name
            compared += 1
    assert compared > 50


def test_transfers_whose_bytes_nobody_knows_are_named() -> None:
    """Between ranks no table has a path; the others' bytes are counted."""
    ranks, stream = (
        str(pto.load(next(p for p in PROGRAMS if p.stem == name)).profile(target="a5"))
        for name in ("ranks", "stream")
    )
    assert "without the bytes of pto.comm.tbroadcast" in ranks
    assert "without the bytes" not in stream


def conflict(one: PipeWork, two: PipeWork) -> bool:
    """Whether both touch a byte that one of them writes."""
    pairs = [*product(one.writes, (*two.reads, *two.writes)), *product(one.reads, two.writes)]
    return any(a.space == b.space and bytes_of(a) & bytes_of(b) for a, b in pairs)


@cache
def bytes_of(region: ByteRegion) -> set[int]:
    return {byte for low, high in region.ranges for byte in range(low, high)}
