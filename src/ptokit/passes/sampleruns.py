"""Sample runs for synchronisation: the entries that a function, or a kernel's cores, issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from ptokit.analysis.cores import kind_of
from ptokit.analysis.facts import facts_of
from ptokit.explore.drylaunch import DryLaunch, DryRunCache
from ptokit.explore.novelty import shown, unreached
from ptokit.explore.pathconditions import HeldNumbers
from ptokit.explore.pathruns import most_telling, tries
from ptokit.explore.samplevalues import samples
from ptokit.explore.variedruns import varied_runs
from ptokit.forms.percore import OTHER, arguments_of_all, part_of, peer_of, with_arguments
from ptokit.ir.module import AnyOp, Block, Func, Module, Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import VECTOR, KernelKind, Pipe
from ptokit.isa.pages.grid import launch_query
from ptokit.machine.arguments import Bound, Launch
from ptokit.order.footprints import ByteRegions
from ptokit.order.issue import Issue
from ptokit.order.waiting import (
    Await,
    Drain,
    FlagChannel,
    IterationVector,
    PipeQueue,
    Post,
    QueueEntry,
    Ticket,
)
from ptokit.passes.ownflags import meets, own_flags
from ptokit.passes.syncedges import Gap, Insertion, MarkedFuncs, SyncEdge


@dataclass(frozen=True)
class SyncKernel:
    """The functions that are synchronised together: one, perhaps with sections, or a pair.

    `kinds` are the kinds of core of the pair, of the sections, or of cores that meet; none if one
    core runs everything. `flags` are the program's own.
    """

    funcs: Sequence[Func]
    kinds: Sequence[KernelKind]
    sections: Mapping[KernelKind, type[Instr]]
    held: HeldNumbers = field(default_factory=HeldNumbers)  # content of arrays in legal runs

    @cached_property
    def flags(self) -> list[Op]:
        return own_flags(self.funcs)

    @classmethod
    def of(cls, module: Module, func: Func) -> SyncKernel:
        """Return the kernel of which a function is a part."""
        kind, peer = kind_of(module, func), peer_of(module, func)
        if kind is not None and peer is not None:
            return cls((func, peer), (kind, OTHER[kind]), {})
        ops = (op for op in func.ops if isinstance(op, Op) and op.regions)
        pages = (op.page for op in ops if THREADS not in op.page.traits)
        sections = {page.core: page for page in pages if page.core is not None}
        if kind is None and len(sections) == len(OTHER):
            return cls((func,), (*sections,), sections)
        met = any(isinstance(op, Op) and meets(op) for op in func.ops)
        return cls((func,), (kind or VECTOR,) if met else (), {})

    @contextmanager
    def named_alike(self) -> Generator[None]:
        """Give the arguments of a pair the same names inside: one name is one array."""
        names = [(arg, arg.name) for func in self.funcs for arg in func.args]
        for func in self.funcs[1:]:
            with_arguments(func, self.funcs[0])
        try:
            yield
        finally:
            for arg, name in names:
                arg.name = name

    def cores(self, funcs: Sequence[Func]) -> dict[KernelKind, Func]:
        """Return the function of each kind of core; nothing if there is one core."""
        if len(funcs) == len(self.kinds):
            return {kind: func for kind, func in zip(self.kinds, funcs, strict=True)}
        return {kind: part_of(funcs[0], kind) for kind in self.kinds}


ROOM = 1 << 12  # numbers between two entries, for entries of edges
Numbered: TypeAlias = "list[tuple[QueueEntry, SyncEdge | None]]"  # entries of a core, their edges


@dataclass
class SampleRun:
    """The entries that cores issue in one run, with marks at the gaps where edges may end.

    Edges change nothing else in a run, so one run stands for the runs with any edges.
    """

    cores: Sequence[Sequence[QueueEntry]]
    kinds: Sequence[KernelKind | None]  # of each core; None for the only core
    gaps: Mapping[int, Gap]  # by the identity of the mark
    regions: ByteRegions
    issue: Issue

    @classmethod
    def of(
        cls, issue: Issue, kinds: Sequence[KernelKind | None], gaps: Mapping[int, Gap]
    ) -> SampleRun:
        for entry in chain.from_iterable(issue.cores):
            entry.number *= ROOM
        return cls(issue.cores, kinds, gaps, issue.footprints.regions, issue)

    def with_edges(
        self, some: Mapping[Gap, Sequence[Insertion]], numbers: Mapping[SyncEdge, int]
    ) -> EdgedRun:
        """Return the run with the entries of edges at gaps, whose flags have these numbers."""
        every = zip(self.cores, self.kinds, strict=True)
        made = [[*self._numbered(entries, kind, some, numbers)] for entries, kind in every]
        return EdgedRun(self, made)

    def _numbered(
        self,
        entries: Sequence[QueueEntry],
        kind: KernelKind | None,
        some: Mapping[Gap, Sequence[Insertion]],
        numbers: Mapping[SyncEdge, int],
    ) -> Iterator[tuple[QueueEntry, SyncEdge | None]]:
        tickets = Counter[tuple[bool, FlagChannel]]()
        for entry in entries:
            gap = self.gaps.get(id(entry.op))
            if gap is None:
                yield entry, None
                continue
            own = (one for one in some.get(gap, ()) if one.edge.core in (None, kind))
            for place, one in enumerate(own):
                yield _issued(one, entry, place, numbers[one.edge], tickets), one.edge

    def kind(self, entry: QueueEntry) -> KernelKind | None:
        """Return the kind of core that issued an entry."""
        return self.kinds[entry.queue.core]

    def signalled(
        self, first: QueueEntry, then: QueueEntry
    ) -> Iterator[tuple[QueueEntry, QueueEntry]]:
        """Yield pairs to order on each core, if a signal lies between two entries."""
        posts = {
            entry.ticket: entry
            for entry in self.cores[first.queue.core]
            if isinstance(entry, Post) and entry.number > first.number
        }
        waits = (entry for entry in self.cores[then.queue.core] if isinstance(entry, Await))
        awaits = (entry for entry in waits if entry.number < then.number)
        met = [(posts[t], one) for one in awaits for t in one.tickets if t in posts]
        if not met:
            return
        post, one = min(met, key=lambda pair: pair[0].number)
        ends = (first, post), (one, then)
        yield from ((a, b) for a, b in ends if a.queue != b.queue and a.op is not b.op)


@dataclass
class EdgedRun:
    """A run with edges: the entries of each core, with the edge of each entry."""

    run: SampleRun
    numbered: list[Numbered]

    @property
    def cores(self) -> list[list[QueueEntry]]:
        return [[entry for entry, _ in core] for core in self.numbered]

    @cached_property
    def present(self) -> set[SyncEdge]:
        """The edges that have entries in the run."""
        every = {id(edge): edge for core in self.numbered for _, edge in core}
        return {edge for edge in every.values() if edge is not None}

    def only(self, edges: Container[int]) -> list[list[QueueEntry]]:
        """Return the entries of edges with these identities; id(None) means all other entries."""
        return [[entry for entry, edge in core if id(edge) in edges] for core in self.numbered]

    @property
    def edges(self) -> dict[int, SyncEdge]:
        """The edges by the ops of their entries."""
        every = chain.from_iterable(self.numbered)
        return {id(entry.op): edge for entry, edge in every if edge is not None}


def _issued(
    one: Insertion,
    mark: QueueEntry,
    place: int,
    number: int,
    tickets: Counter[tuple[bool, FlagChannel]],
) -> QueueEntry:
    """Return the entry of an edge at a mark, at a position among its insertions."""
    edge, core = one.edge, mark.queue.core
    every = edge.source is Pipe.ALL
    assert place < ROOM, "too many edges for the flags"

    def at(pipe: Pipe) -> tuple[int, AnyOp, PipeQueue, IterationVector]:
        return mark.number + place, one.op, PipeQueue(core, pipe), mark.iteration

    if edge.barrier:
        return Drain(*at(Pipe.S if every else edge.source), every)
    channel = FlagChannel(core, edge.source, edge.target, number)
    tickets[one.up, channel] += 1
    ticket = Ticket(channel, tickets[one.up, channel])
    return Post(*at(edge.source), ticket=ticket) if one.up else Await(*at(edge.target), (ticket,))


def telling(runs: Sequence[SampleRun]) -> tuple[list[SampleRun], list[SampleRun]]:
    """Return the runs that show something new, and further ones on other numbers."""
    steps, kept, others = set[object](), list[SampleRun](), list[SampleRun]()
    for run in runs:
        new = {*chain.from_iterable(shown(run.issue))} - steps
        (kept if new or not run.issue.given else others).append(run)
        steps |= new
    return kept, others


def not_run(kernel: SyncKernel, runs: Sequence[SampleRun]) -> list[Op]:
    """Return the instructions of a kernel that no run reaches."""
    return unreached(kernel.funcs, [run.issue for run in runs])


def sample_runs(kernel: SyncKernel, of: MarkedFuncs, target: Target) -> list[SampleRun]:
    """Return the legal runs on the sample arguments that reach most instructions.

    If the cores of a kernel deadlock on every sample, the cores of one kind run alone: then signals
    give no order. No runs if that fails, too.
    """
    funcs = [_asking(func) for func in of.funcs]
    cores = kernel.cores(funcs)
    if not cores:
        return [
            SampleRun.of(issue, [None] * len(issue.cores), of.gaps)
            for issue in _on_samples(kernel, funcs, (), of.gaps, target)
        ]
    if together := _on_samples(kernel, [*cores.values()], [*cores], of.gaps, target):
        return [SampleRun.of(one, [p.kind for p in one.places], of.gaps) for one in together]
    if any(map(meets, kernel.flags)):
        return []
    alone = {k: _on_samples(kernel, [func], (), of.gaps, target) for k, func in cores.items()}
    every = [(kind, issue) for kind, issues in alone.items() for issue in issues]
    runs = [SampleRun.of(issue, [k] * len(issue.cores), of.gaps) for k, issue in every]
    return runs if all(alone.values()) else []


def _on_samples(
    kernel: SyncKernel,
    funcs: Sequence[Func],
    kinds: Sequence[KernelKind],
    marks: Container[int],
    target: Target,
) -> Sequence[Issue]:
    """Return the issue traces of concurrent cores of these kinds, or of one core without kinds."""

    def launched(sample: Mapping[str, object]) -> DryLaunch:
        every = [_bound(func, sample) for func in funcs]
        cores = dict(zip(kinds or (VECTOR,), every, strict=True))
        launch = Launch((cores,), waits=bool(kinds))
        held, cache = kernel.held, DryRunCache(marks)
        return DryLaunch(launch, target, mixed=not kernel.flags, held=held, cache=cache)

    some = samples(arguments_of_all(funcs), whole=False)
    best = most_telling(tries(some, launched, []))
    if best is None or best.launch is None:
        return ()
    return [*best.issues, *varied_runs(best.launch, (), best.issues)]


def _asking(func: Func) -> Func:
    """Return the function that queries its core id, which front ends pass as arguments."""
    queries = {a: page for a in func.args if (page := launch_query(a.name)) is not None}
    asked = [Op(page, results=[arg]) for arg, page in queries.items()]
    args = [arg for arg in func.args if arg not in queries]
    return replace(func, body=Block(args, [*asked, *func.body.ops])) if asked else func


def _bound(func: Func, sample: Mapping[str, object]) -> Bound:
    """Return the function bound to a sample."""
    own = {arg.name: sample[arg.name] for arg in func.args}
    numbers = {a: own[a.name] for a in func.args if isinstance(a.type, ScalarType)}
    return Bound(func, own, numbers, facts_of(func).written_args)
