"""Synchronisation as a pass: flags and barriers between pipes, none of them redundant.

Each hazard of the dry runs (`order.hazards`) gets an edge, until no hazard is left: in the
innermost block that holds both instructions, or, for instructions of different iterations of a
loop, in the body of that loop. If a core passes data to another, its signal waits for the data, and
the use of the data waits for the signal. Then redundant edges are removed, and ids assigned.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.forms.percore import OTHER
from ptokit.ir.editing import refuse
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Module, Op, OpaqueOp
from ptokit.isa.lang.traits import FIFO, STOPS, THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import INNER_PAIRS, KernelKind, Pipe
from ptokit.order.hazards import Hazard, OrderFault, find, first_fault
from ptokit.order.programorder import has_inner_flags
from ptokit.order.waiting import QueueEntry
from ptokit.passes.eventids import numbered, widened
from ptokit.passes.ownflags import KeptFlagsWarning, events, fault, meets
from ptokit.passes.sampleruns import EdgedRun, SampleRun, SyncKernel, not_run, sample_runs, telling
from ptokit.passes.syncedges import (
    MarkedFuncs,
    Places,
    Step,
    SyncEdge,
    at_gaps,
    barrier_at,
    insert_edges,
)

OWN_FLAGS = "set and wait for flags in the program"
REPLACED = "`--passes desynchronise,synchronise` replaces it"
MORE_THAN_IDS = 1 << 8  # preliminary ids for edges, distinct from those of the program
Pairs: TypeAlias = "frozenset[frozenset[int]]"  # pairs of ops by their identities


def synchronise(module: Module, target: Target) -> Module:
    """Return the module with flags and barriers.

    A kernel's own flags stay, and further ones order the rest; if that is not possible,
    KeptFlagsWarning. The two functions of a pair are synchronised together. Hazards between cores
    that no signal orders stay. PtoError if an op is opaque, or no run on samples is legal, and the
    kernel has no flags.
    """
    made: dict[int, Func] = {}
    for func in module.funcs:
        if id(func) not in made:
            kernel = SyncKernel.of(module, func)
            with kernel.named_alike():
                there = _as_it_is(kernel, target)
                new = kernel.funcs if there else _synchronised(kernel, target)
            for old, one in zip(kernel.funcs, new, strict=True):
                made.setdefault(id(old), one)
    return module.mapped(lambda func: made[id(func)])


def _as_it_is(kernel: SyncKernel, target: Target) -> bool:
    """Return whether a kernel needs no synchronisation.

    A function that still calls others starts both functions of a pair, which are synchronised
    separately.
    """
    ops = (op for func in kernel.funcs for op in func.ops)
    calls = any(isinstance(op, Op) and op.calls for op in ops)
    return target.in_order or calls or any(func.declared for func in kernel.funcs)


def _synchronised(kernel: SyncKernel, target: Target) -> Sequence[Func]:
    """Return the functions with their pipes ordered."""
    if not kernel.flags:
        return _Synchronising(kernel, target).run()
    try:
        return _Synchronising(kernel, target).completed()
    except PtoError as problem:
        why = problem.diagnostics[0].message
    name = " and ".join(f"@{func.name}" for func in kernel.funcs)
    message = f"{name}: existing synchronisation is kept and may be incomplete: {why}"
    help = "" if all(map(meets, kernel.flags)) else f"; {REPLACED}"
    warnings.warn(message + help, KeptFlagsWarning, stacklevel=2)
    return kernel.funcs


def _require_known(kernel: SyncKernel) -> None:
    """Raise PtoError if the pipe of an op or the type of a value is unknown."""
    for value in (value for func in kernel.funcs for value in func.elided()):
        message = f"%{value.name}: {CATALOGUE['type-omitted'].title}"
        raise error("type-omitted", message, value.span, help="write the type out")
    for op in (op for func in kernel.funcs for op in func.ops):
        if isinstance(op, OpaqueOp):
            raise refuse(f"{op.name}: the pipe that executes it is unknown", op.span, OWN_FLAGS)
        if THREADS in op.page.traits and not op.regions:
            message = f"{op.name}: only a run knows how many threads there are"
            raise refuse(message, op.span, "launch a constant number of threads")
        if FIFO in op.page.uses and len(kernel.kinds) < len(OTHER):
            message = f"{op.name}: no function or section uses the other end of its FIFO"
            raise refuse(message, op.span, "add the other end, or synchronise in the program")


class _Synchronising:
    """The synchronisation of one kernel.

    `apart`: pairs of ops on two cores that no signal orders, which are left to the program.
    """

    def __init__(self, kernel: SyncKernel, target: Target) -> None:
        """Make the sample runs; PtoError as in `synchronise`."""
        _require_known(kernel)
        self.kernel, self.target = kernel, target
        self.places = Places(kernel.funcs, kernel.sections)
        self.apart: Pairs = frozenset()
        every = sample_runs(kernel, MarkedFuncs.of(self.places), target)
        self.runs, self.others = telling(every)
        if not self.runs:
            message = "no sample run is legal, so the order of the pipes is unknown"
            help = "`ptokit check` says what is wrong"
            raise refuse(message, kernel.funcs[0].span, help)
        ops = (op for func in kernel.funcs for op in func.ops if isinstance(op, Op))
        inner = any(has_inner_flags(op.page, target) for op in ops)
        self.taken = {*events(core for run in every for core in run.cores)}
        self.taken |= {(*pipes, 0) for pipes in INNER_PAIRS if inner}

    def completed(self) -> Sequence[Func]:
        """Return the functions with flags added to their own; PtoError if none fit beside these."""
        self._missed({})
        found = [find(one.cores, self.target, one.run.regions) for one in self._issued({})]
        if not any(one.hazards or one.stuck for one in found):
            return self.kernel.funcs
        reached = {id(e.op) for run in self.runs for core in run.cores for e in core}
        for op in self.kernel.flags:
            if id(op) not in reached:
                raise refuse(f"no sample run reaches {op.name}", op.span, REPLACED)
        for one, run in zip(found, self.runs, strict=True):
            if why := fault(one, run.cores):
                raise refuse(why, self.kernel.funcs[0].span, REPLACED)
        return self.run()

    @gc_disabled()
    def run(self) -> Sequence[Func]:
        """Return the functions with flags and barriers."""
        given = self._sufficient_and_needed()
        while self._missed(given):
            given = self._sufficient_and_needed()
        if given or not self.kernel.flags:
            skipped = not_run(self.kernel, [*self.runs, *self.others])
            given |= dict.fromkeys(self._around(skipped), 0)
        return insert_edges(self.places, given)

    def _missed(self, numbers: Mapping[SyncEdge, int]) -> bool:
        """Move a further run that these edges do not order to the runs; return whether any."""
        gaps = at_gaps(self.places, numbers)
        for run in self.others:
            cores = run.with_edges(gaps, numbers).cores
            fault = first_fault(cores, self.target, run.regions, self.apart)
            if fault is not OrderFault.NONE:
                self.others.remove(run)
                self.runs.append(run)
                return True
        return False

    def _sufficient_and_needed(self) -> dict[SyncEdge, int]:
        """Return edges with ids that order every run, none of them redundant."""
        edges: list[SyncEdge] | None = []
        tried, numbers = set[SyncEdge](), dict[SyncEdge, int | None]()
        while edges is not None:
            distinct = self._needed(self._sufficient(edges))
            numbers = numbered(distinct, self._issued(distinct), self.target, self.taken)
            edges = widened(numbers, tried)
        given = {edge: number for edge, number in numbers.items() if number is not None}
        if len(given) < len(numbers):  # barriers of all pipes replace edges without an id
            lost = (edge for edge, number in numbers.items() if number is None)
            steps = [(Step(edge.block, edge.wait_at, None), edge.core) for edge in lost]
            given |= dict.fromkeys((_full_barrier(*step) for step in steps), 0)
            given = self._needed(given)
        return given

    def _around(self, ops: Sequence[Op]) -> Iterator[SyncEdge]:
        """Yield full barriers around ops that no run reaches, so that their effects are ordered."""
        steps = (self.places.ways[id(op)][-1] for op in ops)
        for step in (end for s in steps for end in (s, s._replace(number=s.number + 1))):
            both = self.places.sections and self.places.outside(step.block)
            for core in self.kernel.kinds if both else (None,):
                if not _has_full_barrier(step):
                    yield _full_barrier(step, core)

    def _issued(self, numbers: Mapping[SyncEdge, int]) -> Iterator[EdgedRun]:
        """Yield the runs with these edges, whose flags have these numbers."""
        gaps = at_gaps(self.places, dict.fromkeys(numbers, 0))
        return (run.with_edges(gaps, numbers) for run in self.runs)

    def _sufficient(self, edges: Sequence[SyncEdge]) -> dict[SyncEdge, int]:
        """Return these edges and further ones that order every hazard, each with its own flag."""
        while True:
            distinct = {edge: number for number, edge in enumerate(edges, MORE_THAN_IDS)}
            missing = (self._missing_edges(issued) for issued in self._issued(distinct))
            new = next((some for some in missing if some), None)
            if new is None:
                return distinct
            edges = [*edges, *new]

    def _missing_edges(self, issued: EdgedRun) -> list[SyncEdge]:
        """Return edges for the findings of a run, without those that another new edge covers."""
        run, edges = issued.run, issued.edges
        findings = find(issued.cores, self.target, run.regions)
        if findings.left or findings.stuck:
            assert self.kernel.flags, "each set has its wait after it"
            raise refuse("with more flags a wait never goes on", None, REPLACED)
        there = set(edges.values())
        unordered = [pair for hazard in findings.hazards for pair in self._to_order(hazard, run)]
        wanted = dict.fromkeys(self._edge(*pair, run.kind(pair[0])) for pair in unordered)
        twice = [edges[id(p.op)] for p in findings.posted_twice if id(p.op) in edges]
        wanted |= dict.fromkeys(edge.back() for edge in twice)
        if findings.posted_twice and not wanted:
            why = "a flag of the program may be set twice before it is waited for"
            raise refuse(why, findings.posted_twice[0].op.span, REPLACED)
        if not there.isdisjoint(wanted):  # the edge is there already and does not help
            wanted = dict.fromkeys(self._before(then, run.kind(then)) for _, then in unordered)
            assert wanted.keys() - there, "nothing goes on before all pipes are done"
        new = [edge for edge in wanted if edge not in there]
        return [e for e in new if not any(o.covers(e) and o != e for o in new)]

    def _to_order(self, hazard: Hazard, run: SampleRun) -> Iterator[tuple[QueueEntry, QueueEntry]]:
        """Yield pairs of entries on one core whose order removes the hazard."""
        first, then = hazard.first, hazard.second
        if first.queue.core == then.queue.core:
            yield first, then
        else:
            pairs = [*run.signalled(first, then)]
            if not pairs:
                self.apart |= {frozenset({id(first.op), id(then.op)})}
            yield from pairs

    def _before(self, entry: QueueEntry, core: KernelKind | None) -> SyncEdge:
        """Return a barrier of all pipes before an instruction."""
        return _full_barrier(self.places.ways[id(entry.op)][-1], core)

    def _edge(self, first: QueueEntry, then: QueueEntry, core: KernelKind | None) -> SyncEdge:
        """Return the edge that orders two entries, in the innermost block where they are two steps.

        For two iterations of a loop, an inner loop is one step: an edge inside would order its
        iterations, too.
        """
        iterations = [*zip(first.iteration, then.iteration, strict=False)]
        other_iteration = False
        ways = self.places.ways[id(first.op)], self.places.ways[id(then.op)]
        for a, b in zip(*ways, strict=False):
            if a.region is None or a.region is not b.region or (other_iteration and a.loops):
                if a.number == b.number and a.region is not b.region and not other_iteration:
                    break  # the regions of one op follow one another
                return self._between(a, b, (first.queue.pipe, then.queue.pipe), core)
            counted = a.region.args[:1]
            if iterations and counted and iterations[0][0][0] == counted[0].name:
                one, other = iterations.pop(0)
                other_iteration = one != other
        return self._before(then, core)

    def _between(
        self, a: Step, b: Step, pipes: tuple[Pipe, Pipe], core: KernelKind | None
    ) -> SyncEdge:
        """Return the edge from one step of a block to another, or to one of the next iteration."""
        source, then = pipes
        if source is then:
            return barrier_at(then, b.block, b.number, self.target, core)
        carried = b.number <= a.number
        return SyncEdge(source, then, b.block, a.number + 1, b.number, carried=carried, core=core)

    def _needed(self, numbers: Mapping[SyncEdge, int]) -> dict[SyncEdge, int]:
        """Return the edges that are left after removing each redundant one."""
        issued = [*self._issued(numbers)]
        issued.sort(key=lambda one: sum(map(len, one.numbered)))  # short runs find most faults
        kept, lasting, before = {*numbers}, set[SyncEdge](), None
        while before != len(kept):  # an edge kept for a flag set twice may be redundant later
            before = len(kept)
            for edge in sorted(reversed([*numbers]), key=_removal_order):
                if edge not in kept or edge in lasting:
                    continue
                found = self._found_without(edge, kept, issued)
                if found is OrderFault.NONE:
                    kept.remove(edge)
                elif found is OrderFault.HAZARD and not self.apart:
                    lasting.add(edge)
        return {edge: number for edge, number in numbers.items() if edge in kept}

    def _found_without(
        self, edge: SyncEdge, kept: set[SyncEdge], issued: Sequence[EdgedRun]
    ) -> OrderFault:
        """Return the fault in the runs without one of these edges."""
        left = {*map(id, kept - {edge}), id(None)}
        for one in issued:
            if edge in one.present:
                cores = one.only(left)
                found = first_fault(cores, self.target, one.run.regions, self.apart)
                if found is not OrderFault.NONE:
                    return found
        return OrderFault.NONE


def _full_barrier(step: Step, core: KernelKind | None) -> SyncEdge:
    """Return a barrier of all pipes before a step."""
    return SyncEdge(Pipe.ALL, Pipe.ALL, step.block, step.number, step.number, core=core)


def _has_full_barrier(step: Step) -> bool:
    """Return whether a full barrier stands right before the step, or is the step."""
    beside = step.block.ops[max(step.number - 1, 0) : step.number + 1]
    stops = (op for op in beside if isinstance(op, Op) and STOPS in op.page.traits)
    return any(Pipe.ALL in op.attrs.values() for op in stops)


def _removal_order(edge: SyncEdge) -> int:
    """Return the key by which edges are tried for removal: the most expensive ones first."""
    return 0 if edge.source is Pipe.ALL else 1 if edge.barrier else 2
