"""Synchronisation as a pass: flags and barriers between the pipes, none of them superfluous.

What a dry run finds (`sim.pipes.hazards`) is mended edge by edge until nothing is found any more:
an edge in the innermost block that holds both instructions, or, if they are of different turns of a
loop, in the body of that loop. Then edges go that nothing is found without, and ids are given out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from ptokit.analysis.aliases import written_args
from ptokit.ir.module import Func, Op, OpaqueOp
from ptokit.isa.lang.traits import CHANNEL, FLAGS, THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import INNER_PAIRS, KernelKind, Pipe
from ptokit.isa.pages.grid import launch_query
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.passes.percore import part_of
from ptokit.passes.shared import refuse
from ptokit.passes.syncedges import (
    Places,
    Step,
    SyncEdge,
    Woven,
    barrier_at,
    flag_pages,
    woven,
)
from ptokit.sim.arguments import Bound
from ptokit.sim.execute import Core
from ptokit.sim.pipes.byteregions import ByteRegions
from ptokit.sim.pipes.dryrun import dry_runs, samples
from ptokit.sim.pipes.entries import Await, FlagChannel, Post, QueueEntry, Ticket
from ptokit.sim.pipes.hazards import Findings, Hazard, HazardDetector, clean, find, lane_of
from ptokit.sim.pipes.innerflags import has_inner_flags
from ptokit.sim.pipes.issuing import Issue
from ptokit.sim.pipes.pipequeues import PipeQueues

OWN_FLAGS = "set and wait for flags in the program itself"


def synchronise(func: Func, target: Target) -> Func:
    """The function with flags and barriers; itself where it has any, or the target needs none.

    The sections of each kind of core are synchronised by themselves. PtoError where an op is not
    known, or a pipe leads to another core: what fills it no run of one core tells.
    """
    ops = list(func.body.walk())
    if target.in_order or any(isinstance(op, Op) and FLAGS in op.page.uses for op in ops):
        return func
    for op in ops:
        if isinstance(op, OpaqueOp):
            raise refuse(f"{op.name}: nobody knows which pipe executes it", op.span, OWN_FLAGS)
        if CHANNEL in op.page.uses or op.page.exchange is not None:
            message = f"{op.name}: kernels with pipes between cores are not synchronised"
            raise refuse(message, op.span, OWN_FLAGS)
    sections = {op.page.core: op.page for op in ops if isinstance(op, Op) and _is_section(op)}
    if len(sections) < 2:
        return _synchronised(SampledPart(Places(func)), target)
    for kind, section in sections.items():
        func = _synchronised(SampledPart(Places(func, section), kind), target)
    return func


def _is_section(op: Op) -> bool:
    return op.page.core is not None and bool(op.regions) and THREADS not in op.page.traits


@dataclass
class SampledPart:
    """What is sampled: a function, or the part of it that cores of one kind run."""

    places: Places
    kind: KernelKind | None = None


def _synchronised(part: SampledPart, target: Target) -> Func:
    places = part.places
    edges, runs = _sufficient(part, target)
    ops = (op for op in places.func.body.walk() if isinstance(op, Op))
    inner = any(has_inner_flags(op.page, target) for op in ops)
    taken = INNER_PAIRS if inner else frozenset[tuple[Pipe, Pipe]]()  # id 0 of these
    numbers = _numbered(_needed(edges, runs, target), runs, target, taken)
    if not edges.keys() >= numbers.keys():  # barriers of all pipes stand for some
        again = [*_sample_runs(woven(places, numbers), part.kind, target)]
        numbers = _needed(numbers, again, target)
    return woven(places, numbers).func


@dataclass
class SampleRun:
    """What a function with edges issues in one run."""

    entries: Sequence[QueueEntry]
    edges: Mapping[int, SyncEdge]  # by the ops that were put in
    regions: ByteRegions

    def numbered(self, numbers: Mapping[SyncEdge, int]) -> list[tuple[QueueEntry, SyncEdge | None]]:
        """The entries with these edges only, each with the edge that it comes from."""
        tickets = Counter[tuple[type[QueueEntry], FlagChannel]]()
        found: list[tuple[QueueEntry, SyncEdge | None]] = []
        for entry in self.entries:
            edge = self.edges.get(id(entry.op))
            if edge is not None and edge not in numbers:
                continue
            if edge is not None and isinstance(entry, Post | Await):
                channel = FlagChannel(0, edge.source, edge.target, numbers[edge])
                tickets[type(entry), channel] += 1
                ticket = Ticket(channel, tickets[type(entry), channel])
                at = entry.number, entry.op, entry.queue, entry.turn
                post = isinstance(entry, Post)
                entry = Post(*at, ticket=ticket) if post else Await(*at, (ticket,))
            found.append((entry, edge))
        return found


def _sample_runs(of: Woven, kind: KernelKind | None, target: Target) -> Iterator[SampleRun]:
    func = of.func if kind is None else part_of(of.func, kind)
    issues: list[Issue] = []
    queries = {a.name: page for a in func.args if (page := launch_query(a.name)) is not None}
    alone = Core(target, CPU_READING)  # in a launch of one block
    launched = {name: page.run(alone) for name, page in queries.items()}
    for given in samples([a for a in func.args if a.name not in queries], whole=False):
        sample = given | launched
        numbers = {a: sample[a.name] for a in func.args if isinstance(a.type, ScalarType)}
        issues = [*dry_runs(Bound(func, sample, numbers, written_args(func)), target, 1)]
        if issues:
            break
    for issue in issues:
        yield SampleRun(issue.cores[0], of.edges, issue.footprints.regions)


def _distinct(edges: Iterable[SyncEdge]) -> dict[SyncEdge, int]:
    """Each edge with a flag of its own, however many there are."""
    return {edge: number for number, edge in enumerate(edges)}


def _sufficient(part: SampledPart, target: Target) -> tuple[dict[SyncEdge, int], list[SampleRun]]:
    """Edges with which nothing is found, each with a flag of its own, and the runs with them."""
    places, edges = part.places, list[SyncEdge]()
    while True:
        numbers = _distinct(edges)
        runs, new = list[SampleRun](), list[SyncEdge]()
        for run in _sample_runs(woven(places, dict.fromkeys(edges, 0)), part.kind, target):
            runs.append(run)
            entries = [entry for entry, _ in run.numbered(numbers)]
            new = _mending(find([entries], target, run.regions), run, places, target)
            if new:
                break
        if not runs:
            message = "no run on samples is legal, so nobody knows what the pipes do"
            raise refuse(message, places.func.span, "`ptokit check` says what is wrong")
        if not new:
            return numbers, runs
        edges += new


def _mending(findings: Findings, run: SampleRun, places: Places, target: Target) -> list[SyncEdge]:
    """Edges for what was found, without those that others of them cover."""
    assert not [*findings.left, *findings.stuck], "each set has its wait after it"
    there = set(run.edges.values())
    wanted = dict.fromkeys(_edge(h, places, target) for h in findings.hazards)
    wanted |= dict.fromkeys(run.edges[id(p.op)].back() for p in findings.posted_twice)
    if not there.isdisjoint(wanted):  # it does not help to order the two as a whole
        seconds = [places.ways[id(h.second.op)][-1] for h in findings.hazards]
        wanted = dict.fromkeys(_everything(step) for step in seconds)
        assert wanted.keys() - there, "nothing goes on before all pipes are done"
    new = [edge for edge in wanted if edge not in there]
    return [e for e in new if not any(o.covers(e) and o != e for o in new)]


def _everything(step: Step) -> SyncEdge:
    """A barrier of all pipes before an op."""
    return SyncEdge(Pipe.ALL, Pipe.ALL, step.block, step.number, step.number)


def _edge(hazard: Hazard, places: Places, target: Target) -> SyncEdge:
    """The edge that orders two instructions, in the innermost block where they are two steps.

    Of two turns of a loop a loop inside is one step: an edge in there would order its turns, too.
    """
    first, then = hazard.first, hazard.second
    turns = [*zip(first.turn, then.turn, strict=False)]
    other_turn = False
    for a, b in zip(places.ways[id(first.op)], places.ways[id(then.op)], strict=False):
        if a.region is None or a.region is not b.region or (other_turn and a.loops):
            if a.number == b.number and a.region is not b.region and not other_turn:
                break  # the regions of one op follow one another
            return _between(a, b, (first.queue.pipe, then.queue.pipe), target)
        counted = a.region.args[:1]
        if turns and counted and turns[0][0][0] == counted[0].name:
            one, other = turns.pop(0)
            other_turn = one != other
    return _everything(places.ways[id(then.op)][-1])


def _between(a: Step, b: Step, pipes: tuple[Pipe, Pipe], target: Target) -> SyncEdge:
    """The edge from one step of a block to another, or to one of the next turn."""
    source, then = pipes
    if source is then:
        return barrier_at(then, b.block, b.number, target)
    carried = b.number <= a.number
    return SyncEdge(source, then, b.block, a.number + 1, b.number, carried=carried)


def _needed(
    numbers: Mapping[SyncEdge, int], runs: Sequence[SampleRun], target: Target
) -> dict[SyncEdge, int]:
    """Edges without any of which something is found."""
    short = sorted(runs, key=lambda run: len(run.entries))  # they show most of it
    issued = [(run.numbered(numbers), run.regions) for run in short]
    kept, before = {*numbers}, None

    def suffice(edges: set[SyncEdge]) -> bool:
        own = {id(edge) for edge in numbers if edge in edges} | {id(None)}
        some = ([e for e, edge in entries if id(edge) in own] for entries, _ in issued)
        return all(
            clean([left], target, regions) for left, (_, regions) in zip(some, issued, strict=True)
        )

    while before != len(kept):  # what was found without one may have been about another
        before = len(kept)
        for edge in sorted(reversed([*numbers]), key=_price):
            if edge in kept and suffice(kept - {edge}):
                kept.remove(edge)
    return {edge: number for edge, number in numbers.items() if edge in kept}


def _price(edge: SyncEdge) -> int:
    """The order in which edges are tried without: those that stop the most pipes first."""
    return 0 if edge.source is Pipe.ALL else 1 if edge.barrier else 2


class _FlagOrder(HazardDetector):
    """When flags are set and waited for, and how far the pipe that sets one knows the other."""

    def __init__(self, target: Target, regions: ByteRegions) -> None:
        super().__init__(target, 1, regions)
        self.events: dict[int, list[tuple[int, bool, int]]] = {}  # by id: place, set, wait known

    def _post(self, entry: Post, lane: int, clock: list[int]) -> None:
        super()._post(entry, lane, clock)
        channel = entry.ticket.channel
        assert isinstance(channel, FlagChannel)
        assert isinstance(channel.target, Pipe)
        known = clock[lane_of(entry.queue._replace(pipe=channel.target))]
        self.events.setdefault(channel.event, []).append((entry.number, True, known))

    def _await(self, entry: Await, lane: int, clock: list[int]) -> None:
        super()._await(entry, lane, clock)
        for ticket in entry.tickets:
            assert isinstance(ticket.channel, FlagChannel)
            event = entry.number, False, self.done[lane]
            self.events.setdefault(ticket.channel.event, []).append(event)


Events: TypeAlias = "dict[int, list[tuple[int, bool, int]]]"


def _numbered(
    distinct: Mapping[SyncEdge, int],
    runs: Iterable[SampleRun],
    target: Target,
    taken: Container[tuple[Pipe, Pipe]],
) -> dict[SyncEdge, int]:
    """The edges with ids; where none is left a barrier of all pipes stands for the edge.

    `taken`: pairs of pipes whose id 0 is not to be had.
    """
    ids = range(len(flag_pages().ids))
    orders = [_order(run, distinct, target) for run in runs]
    shared: dict[tuple[Pipe, Pipe], dict[int, list[int]]] = {}
    numbers: dict[SyncEdge, int] = {}
    for edge, own in distinct.items():
        pipes = edge.source, edge.target
        users = shared.setdefault(pipes, {number: [] for number in ids[pipes in taken :]})
        number = 0 if edge.barrier else _free(users, own, orders)
        if number is None:
            numbers[_everything(Step(edge.block, edge.wait_at, None))] = 0
        else:
            numbers[edge] = number
            if not edge.barrier:
                users[number].append(own)
    return numbers


def _order(run: SampleRun, numbers: Mapping[SyncEdge, int], target: Target) -> Events:
    order = _FlagOrder(target, run.regions)
    PipeQueues([[entry for entry, _ in run.numbered(numbers)]], order).run()
    return order.events


def _free(users: Mapping[int, list[int]], own: int, orders: Iterable[Events]) -> int | None:
    """An id that no edge of the pipes has, or else one of edges that take turns with this one."""
    shared = (n for n, some in users.items() if all(_take_turns([*some, own], o) for o in orders))
    unused = (number for number, some in users.items() if not some)
    return next(chain(unused, shared), None)


def _take_turns(some: Sequence[int], events: Events) -> bool:
    """Whether of these edges each set comes after the wait for the one before."""
    merged = sorted(event for one in some for event in events.get(one, ()))
    lowered = 0
    for number, (_, up, known) in enumerate(merged):
        if up is bool(number % 2) or (up and known < lowered):
            return False
        lowered = lowered if up else known
    return True
