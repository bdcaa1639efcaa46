"""Sample runs of what is synchronised: what a function issues, or the cores of a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from ptokit.analysis.aliases import written_args
from ptokit.analysis.cores import kind_of
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Block, Func, Module, Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import KernelKind
from ptokit.isa.pages.grid import launch_query
from ptokit.passes.percore import OTHER, arguments_of_all, part_of, peer_of, with_arguments
from ptokit.passes.syncedges import SyncEdge, WithEdges
from ptokit.sim.arguments import Bound, BoundKernel
from ptokit.sim.pipes.byteregions import ByteRegions
from ptokit.sim.pipes.dryrun import DryLaunch, HeldNumbers, dry_runs
from ptokit.sim.pipes.entries import Await, FlagChannel, Post, QueueEntry, Ticket
from ptokit.sim.pipes.issuing import Issue
from ptokit.sim.pipes.sampling import Try, most_telling, other_blocks, samples, unreached


def _none_yet() -> dict[tuple[str, ...], Mapping[str, object]]:
    return {}


@dataclass(frozen=True)
class SyncKernel:
    """What is synchronised together: a function, perhaps with sections for both kinds, or a pair.

    `kinds` are those of the pair, or of the sections; none where one core runs it all.
    """

    funcs: Sequence[Func]
    kinds: Sequence[KernelKind]
    sections: Mapping[KernelKind, type[Instr]]
    held: HeldNumbers = field(default_factory=HeldNumbers)  # in the arrays of legal runs
    chosen: dict[tuple[str, ...], Mapping[str, object]] = field(
        default_factory=_none_yet
    )  # samples

    @classmethod
    def of(cls, module: Module, func: Func) -> SyncKernel:
        """The kernel that a function is, or is a part of."""
        kind, peer = kind_of(module, func), peer_of(module, func)
        if kind is not None and peer is not None:
            return cls((func, peer), (kind, OTHER[kind]), {})
        ops = (op for op in func.body.walk() if isinstance(op, Op) and op.regions)
        pages = (op.page for op in ops if THREADS not in op.page.traits)
        sections = {page.core: page for page in pages if page.core is not None}
        both = sections if kind is None and len(sections) == len(OTHER) else {}
        return cls((func,), (*both,), both)

    @contextmanager
    def named_alike(self) -> Generator[None]:
        """The arguments of a pair have the same names: those of one name are one array."""
        names = [(arg, arg.name) for func in self.funcs for arg in func.args]
        for func in self.funcs[1:]:
            with_arguments(func, self.funcs[0])
        try:
            yield
        finally:
            for arg, name in names:
                arg.name = name

    def cores(self, funcs: Sequence[Func]) -> dict[KernelKind, Func]:
        """What each kind of core runs of these functions; nothing where there is one core."""
        if len(funcs) == len(self.kinds):
            return {kind: func for kind, func in zip(self.kinds, funcs, strict=True)}
        return {kind: part_of(funcs[0], kind) for kind in self.kinds}


@dataclass
class SampleRun:
    """What the cores of functions with edges issue in one run."""

    cores: Sequence[Sequence[QueueEntry]]
    kinds: Sequence[KernelKind | None]  # of each core; None: the only one
    edges: Mapping[int, SyncEdge]  # by the ops that were put in
    regions: ByteRegions
    issue: Issue

    @classmethod
    def of(
        cls, issue: Issue, kinds: Sequence[KernelKind | None], edges: Mapping[int, SyncEdge]
    ) -> SampleRun:
        return cls(issue.cores, kinds, edges, issue.footprints.regions, issue)

    def numbered(
        self, numbers: Mapping[SyncEdge, int]
    ) -> list[list[tuple[QueueEntry, SyncEdge | None]]]:
        """The entries of each core with these edges only, each with the edge it comes from."""
        return [[*self._numbered(entries, numbers)] for entries in self.cores]

    def _numbered(
        self, entries: Sequence[QueueEntry], numbers: Mapping[SyncEdge, int]
    ) -> Iterator[tuple[QueueEntry, SyncEdge | None]]:
        tickets = Counter[tuple[type[QueueEntry], FlagChannel]]()
        for entry in entries:
            edge = self.edges.get(id(entry.op))
            if edge is not None and edge not in numbers:
                continue
            if edge is not None and isinstance(entry, Post | Await):
                channel = FlagChannel(entry.queue.core, edge.source, edge.target, numbers[edge])
                tickets[type(entry), channel] += 1
                ticket = Ticket(channel, tickets[type(entry), channel])
                at = entry.number, entry.op, entry.queue, entry.iteration
                post = isinstance(entry, Post)
                entry = Post(*at, ticket=ticket) if post else Await(*at, (ticket,))
            yield entry, edge

    def entries(self, numbers: Mapping[SyncEdge, int]) -> list[list[QueueEntry]]:
        """The same without the edges."""
        return [[entry for entry, _ in some] for some in self.numbered(numbers)]

    def kind(self, entry: QueueEntry) -> KernelKind | None:
        """The kind of core that issued it."""
        return self.kinds[entry.queue.core]

    def signalled(
        self, first: QueueEntry, then: QueueEntry
    ) -> Iterator[tuple[QueueEntry, QueueEntry]]:
        """What remains to be ordered on each core where a signal lies between two entries."""
        posts = {
            entry.ticket: entry
            for entry in self.cores[first.queue.core][first.number + 1 :]
            if isinstance(entry, Post)
        }
        awaits = (e for e in self.cores[then.queue.core][: then.number] if isinstance(e, Await))
        met = [(posts[t], one) for one in awaits for t in one.tickets if t in posts]
        if not met:
            return
        post, one = min(met, key=lambda pair: pair[0].number)
        ends = (first, post), (one, then)
        yield from ((a, b) for a, b in ends if a.queue != b.queue and a.op is not b.op)


def not_run(kernel: SyncKernel, runs: Sequence[SampleRun]) -> list[Op]:
    """The instructions of a kernel that none of its runs shows anything of."""
    return unreached(kernel.funcs, [run.issue for run in runs])


def sample_runs(kernel: SyncKernel, of: WithEdges, target: Target) -> list[SampleRun]:
    """The runs on the sample of the arguments that reach the most, of those that are legal.

    Where the cores of a kernel wait for ever on each, those of one kind run alone: then signals
    give no order. None where they do not run, either.
    """
    funcs = [_asking(func) for func in of.funcs]
    cores = kernel.cores(funcs)
    if not cores:
        return [
            SampleRun.of(issue, [None] * len(issue.cores), of.edges)
            for issue in _on_samples(kernel, funcs, (), target)
        ]
    if together := _on_samples(kernel, [*cores.values()], [*cores], target):
        return [SampleRun.of(one, [p.kind for p in one.places], of.edges) for one in together]
    alone = {kind: _on_samples(kernel, [func], (), target) for kind, func in cores.items()}
    every = [(kind, issue) for kind, issues in alone.items() for issue in issues]
    runs = [SampleRun.of(issue, [k] * len(issue.cores), of.edges) for k, issue in every]
    return runs if all(alone.values()) else []


def _on_samples(
    kernel: SyncKernel, funcs: Sequence[Func], kinds: Sequence[KernelKind], target: Target
) -> Sequence[Issue]:
    """What these functions issue at once, of cores of these kinds; without kinds of one core."""
    key = tuple(func.name for func in funcs)
    tried = list[tuple[Mapping[str, object], Sequence[Issue]]]()

    def launched(sample: Mapping[str, object]) -> DryLaunch:
        every = [_bound(func, sample) for func in funcs]
        bound = BoundKernel(dict(zip(kinds, every, strict=True))) if kinds else every[0]
        return DryLaunch(bound, target, mixed=True, held=kernel.held)

    def tries(some: Iterable[Mapping[str, object]]) -> Iterator[Try]:
        for sample in some:
            with suppress(PtoError):  # it is too long
                tried.append((sample, [*dry_runs(launched(sample))]))
                yield funcs, tried[-1][1]

    known = [kernel.chosen[key]] if key in kernel.chosen else None
    best = most_telling(tries(known or samples(arguments_of_all(funcs), whole=False)))
    for sample, issues in tried:
        if issues is best:
            kernel.chosen[key] = sample
            return [*best, *other_blocks(launched(sample))]
    return best


def _asking(func: Func) -> Func:
    """The function that asks for its place in the launch, where front ends pass it."""
    queries = {a: page for a in func.args if (page := launch_query(a.name)) is not None}
    asked = [Op(page, results=[arg]) for arg, page in queries.items()]
    args = [arg for arg in func.args if arg not in queries]
    return replace(func, body=Block(args, [*asked, *func.body.ops])) if asked else func


def _bound(func: Func, sample: Mapping[str, object]) -> Bound:
    own = {arg.name: sample[arg.name] for arg in func.args}
    numbers = {a: own[a.name] for a in func.args if isinstance(a.type, ScalarType)}
    return Bound(func, own, numbers, written_args(func))
