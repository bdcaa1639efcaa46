"""Kernels of several cores in compiled code: a program for each core, which calls back to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ptokit.analysis.earlywaits import waits_apart
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Span
from ptokit.engines.native.blockrange import RangeResult, Sizes
from ptokit.engines.native.compile import CompiledBody, Variant, variant_of
from ptokit.engines.native.drive import drive
from ptokit.engines.native.frame import BLOCK, CELL, WAITING
from ptokit.engines.native.hostthreads import at_once, dealt, pays
from ptokit.engines.native.plan import Plan, shared_arrays
from ptokit.engines.native.queuewaits import waiting_lines
from ptokit.engines.native.session import Worker, taken_warnings
from ptokit.engines.reference.engine import InterpretedKernel
from ptokit.ir.module import Op
from ptokit.isa.lang.traits import PRINTS, SIGNALS
from ptokit.isa.model.words import KernelKind
from ptokit.machine.arguments import Env, Launch, Outcome
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.execute import QUEUES, Core
from ptokit.machine.executionlog import Logged
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.memory import Memory, address_of
from ptokit.machine.observer import Observer, RunNotes
from ptokit.machine.record.code import NotNative
from ptokit.order.fifoend import COUNTERS, reason
from ptokit.order.group import SHARED, Grid, GroupedCore, launch_cores, problem_on, share_buffers
from ptokit.order.programorder import fifo_uses, left_in_fifos
from ptokit.order.schedule import Schedule, Wait, deadlock
from ptokit.order.signalcounters import SIGNALS_MEMORY, CoreSignals, SignalBoard


class _CompiledRank:
    """The functions of a rank's cores."""

    def __init__(self, launch: Launch, how: Options, rank: int, *, queued: bool) -> None:
        cores = launch.ranks[rank].items()
        self.how, self.grid = how, Grid.of(launch, how, rank)
        self.fifos = fifo_uses(self.grid)
        fifos = (fifo for ends in self.grid.fifos.ends.values() for fifo in ends.values())
        self.varies = any(fifo.extents is None for fifo in fifos)  # entries have several sizes
        self.written = frozenset(a.name for _, one in cores for a in one.written)
        self.bodies = {kind: CompiledBody(one, how.target, queued=queued) for kind, one in cores}
        printing = any(one.func.takes(PRINTS) for _, one in cores)
        # cores are scheduled in compiled code; such a run may be given up for one by the reference
        self.switches = not (launch.names or self.grid.polls or printing)


class CompiledKernel:
    """The functions of concurrent cores, compiled when they first run.

    The reference runs what cannot be compiled, may grow an array, or is observed or limited.
    """

    def __init__(self, launch: Launch, how: Options, *, queued: bool = False) -> None:
        """Prepare the kernel; if `queued`, a wait for another core blocks its queue only."""
        self.how, self.queued = how, queued
        self.again: CompiledKernel | None = None  # the queued kernel, if program order deadlocks
        numbers = range(len(launch.ranks))
        self.ranks = [_CompiledRank(launch, how, rank, queued=queued) for rank in numbers]
        funcs = launch.funcs
        self.waits_apart = waits_apart(funcs, how.target)
        # ranks try program order; if it deadlocks, the reference runs their queues
        self.by_reference = not launch.names or queued or any(f.takes(PRINTS) for f in funcs)
        self.idle: dict[tuple[bool, Variant], list[_Launch]] = {}  # that ended
        self.last: _Launch | None = None  # that ended

    @property
    def first(self) -> _CompiledRank:
        """Return the only rank of a launch without ranks."""
        return self.ranks[0]

    def run(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer] = ()) -> Outcome:
        """Run the cores of each block concurrently, block after block; all blocks if ranks."""
        apart = self.first.switches and not self.first.grid.signals
        logging = [o for o in observers if o.logs and o.between_blocks and apart]
        try:
            require_unwatched(limits, [o for o in observers if o not in logging])
            if self.waits_apart and self.by_reference and not self.first.switches:
                raise NotNative("a core that waits may have to begin again")
            outcome, logs = self._run(launch, limits, observers, logged=bool(logging))
            if not all(observer.executed_apart(logs) for observer in logging):
                raise NotNative("an observer sees the signals of cores")
            return outcome
        except NotNative as reason:
            if self._expect_parts():
                return self.run(launch, limits, observers)
            for observer in observers:
                observer.interpreted([("", str(reason))])
            kernel = InterpretedKernel(launch, self.how)
            kernel.queued = self.queued
            return kernel.run(launch, limits, observers)
        except PtoError as problem:
            again = self.waits_apart and not self.queued
            if not (again and problem.diagnostics[0].slug == "deadlock"):
                raise
        if self.again is None:
            self.again = CompiledKernel(launch, self.how, queued=True)
        return self.again.run(launch, limits, observers)

    def _expect_parts(self) -> bool:
        """Assume no more that popped entries fill their tiles; return whether that is new."""
        bodies = [b for r in self.ranks if r.varies for b in r.bodies.values() if b.whole_entries]
        for body in bodies:
            body.whole_entries = False
            body.made.clear()
        self.idle.clear()
        return bool(bodies)

    def _run(
        self, launch: Launch, limits: RunLimits, observers: Sequence[Observer], *, logged: bool
    ) -> tuple[Outcome, list[Logged]]:
        count, made, done = Counter[str](), self._renewed(launch, limits, logged), list[int]()
        programs, first = [(one.rank.grid, one.programs) for one in made], made[0]
        in_python = launch_cores(programs, first.board.schedule)  # a lazy iterator
        launched = first.switched_at_once() if first.rank.switches else in_python
        for observer in observers:
            observer.begins(lambda: len(done))
        for ran in launched:
            for worker in ran:
                count.update(worker.counts())
            done.append(1)
        for one in made:
            one.tell(observers)
            for worker in chain.from_iterable(one.workers.values()):
                for observer in observers:
                    observer.interpreted(worker.session.plan.by_reference)
        outputs = launch.outputs([one.envs for one in made])
        logs = first.logs() if logged else []
        if not launch.names:
            self.idle.setdefault((logged, variant_of(limits)), []).append(first)
            self.last = first
        return (outputs, count), logs

    def apart(
        self,
        launch: Launch,
        limits: RunLimits,
        span: range,
        kept: frozenset[str] = frozenset(),
    ) -> _Launch:
        """Return a launch of some blocks on its own arrays, which reports its writes.

        With `kept` arrays, see `Launch.apart`, the launch is logged. NotNative if blocks wait for
        each other or only the reference can run them.
        """
        if not self.first.switches or self.first.grid.together:
            raise NotNative("the blocks run at once")
        require_unwatched(limits, ())
        names = frozenset(f"%{arg.name}" for arg in launch.written if arg.name not in kept)
        (own,) = launch.apart(kept)
        return _Launch(self.first, own, limits, span=span, marked=names, logged=bool(kept))

    def plans(self, launch: Launch, limits: RunLimits) -> list[Plan]:
        """Return the plans of a block's cores; empty if there is one block."""
        blocks = range(self.how.blocks)
        return self.apart(launch, limits, blocks).plans() if len(blocks) > 1 else []

    def run_range(
        self,
        launch: Launch,
        limits: RunLimits,
        span: range,
        sizes: Sizes | None,
        kept: frozenset[str] = frozenset(),
    ) -> RangeResult:
        """Run a range of blocks as `CompiledFunction.run_range`; no output grows."""
        made, count = self.apart(launch, limits, span, kept), Counter[str]()
        for worker in made.switched(made.begun()):
            count.update(worker.counts())
        made.tell([warnings := RunNotes()])
        outputs, logs = launch.targets([made.envs]), made.logs() if kept else []
        return RangeResult.of(outputs, kept, {}, count=count, warnings=warnings.found, logs=logs)

    def _renewed(self, launch: Launch, limits: RunLimits, logged: bool) -> list[_Launch]:
        """Return an idle launch with these arguments, or a new one, for each rank."""
        try:
            found = self.idle[logged, variant_of(limits)].pop()
        except LookupError:
            schedule, pairs = Schedule(), zip(self.ranks, launch.shared(), strict=True)
            return [_Launch(rank, env, limits, schedule, logged=logged) for rank, env in pairs]
        launch.renew([found.envs])
        found.renew(limits)
        return [found]


def require_unwatched(limits: RunLimits, observers: Sequence[Observer]) -> None:
    """Raise NotNative if instructions are limited or observed one by one."""
    if limits.most is not None or any(o.stepwise or o.logs for o in observers):
        raise NotNative("an observer sees every instruction")


def _grows(env: Env, written: frozenset[str]) -> bool:
    """Return whether a core writes to an array without a size."""
    handles = (handle for arg, handle in env.items() if arg.name in written)
    memories = (getattr(handle, "memory", None) for handle in handles)
    return any(isinstance(memory, Memory) and memory.growable for memory in memories)


class Scheduled(NamedTuple):
    """The arguments with which `drive` ran the cores of a range of blocks."""

    workers: Sequence[Worker]
    zeroed: Sequence[Memory]
    blocks: int
    kept: Sequence[tuple[Memory, Memory]]


class _Launch:
    """One launch, whose cores are used again by later blocks and launches.

    Blocks that wait for each other have cores of their own; otherwise all blocks use the same
    cores.
    """

    def __init__(
        self,
        rank: _CompiledRank,
        envs: Mapping[KernelKind, Env],
        limits: RunLimits,
        schedule: Schedule | None = None,
        *,
        logged: bool = False,
        span: range | None = None,
        marked: frozenset[str] = frozenset(),
    ) -> None:
        if any(_grows(env, rank.written) for env in envs.values()):
            raise NotNative("an output is as large as its views")
        self.rank, self.envs, self.limits, self.logged = rank, envs, limits, logged
        self.span, self.marked = span or range(rank.grid.blocks), marked
        schedule = _WithoutWaits() if rank.switches else schedule or Schedule()
        self.board = SignalBoard(tuple(rank.grid), schedule)
        self.workers: dict[int, list[Worker]] = {}
        self.shared: dict[int, dict[str, Memory]] = {}  # shared memories, by block
        self.signals = rank.grid.signal_memory()
        # the sum of the counters of earlier blocks
        self.earlier = {COUNTERS: rank.grid.shared_memories()[COUNTERS]}
        self.scheduled: Scheduled | None = None
        self.told: dict[int, str] = {}  # descriptions of waits, by the offset of their counter
        self.took = inf  # seconds of all threads in the last run
        self.own = 0.0  # seconds of this one
        self.failed: list[int] = []  # ranges of blocks that end the later ones
        self.others: dict[int, list[_Launch]] = {}  # of the last blocks, by the number of threads
        self.on_threads: tuple[_Launch, ...] = (self,)  # the last launch

    def renew(self, limits: RunLimits) -> None:
        """Reset the launch to its initial state."""
        self.limits = limits
        self.failed.clear()
        self.board.counts.clear()
        self.board.arrived.clear()
        for shared in (self.earlier, *self.shared.values()):
            shared[COUNTERS].data[:] = 0
        for other in chain.from_iterable(self.others.values()):
            other.renew(limits)

    def programs(self, block: int) -> Sequence[Callable[[], Worker]]:
        """Return the program of each core of a block."""
        grid = self.rank.grid
        places, number = grid.of_block(block), block if grid.together else 0
        if number in self.workers:
            self._keep(number)
            for memory in self.shared[number].values():
                memory.data[:] = 0
            self._restarted(block, self.workers[number])
        else:
            self.shared[number] = shared = grid.shared_memories()
            self.workers[number] = list(self._workers(places, shared))
        return [partial(_finished, worker) for worker in self.workers[number]]

    def switched_at_once(self) -> Iterator[Sequence[Worker]]:
        """Run all blocks as `switched`, ranges of independent blocks on threads of their own."""
        every = range(self.rank.grid.blocks)
        alone = not (self.independent and pays(self.took))
        self.span, *later = [every] if alone else dealt(every)
        count = len(later)
        if count not in self.others:
            given = self.rank, self.envs, self.limits
            self.others[count] = [_Launch(*given, span=span) for span in later]
        for other in self.others[count]:
            other.failed = self.failed
        self.on_threads = self, *self.others[count]
        works = [partial(one.switched, one.begun()) for one in self.on_threads]
        yield from at_once(works, partial(self.failed.append, -1))
        self.took = sum(one.own for one in self.on_threads)

    @property
    def every_worker(self) -> Iterator[Worker]:
        return chain.from_iterable(self.workers.values())

    @cached_property
    def independent(self) -> bool:
        """Return whether no block depends on an earlier one."""
        grid = self.rank.grid
        if self.logged or grid.together or grid.blocks == 1:
            return False
        plans = self.plans()
        return not (any(plan.in_order for plan in plans) or shared_arrays(plans))

    def begun(self) -> list[Worker]:
        """Return the cores of the first block, or of all blocks if these wait for each other."""
        first = self.span if self.rank.grid.together else self.span[:1]
        for block in first:
            if len(first) == 1 and 0 in self.workers:  # the compiled loop clears what they share
                self._restarted(block, self.workers[0])
            else:
                self.programs(block)
        return [worker for number in range(len(first)) for worker in self.workers[number]]

    def switched(self, workers: list[Worker]) -> list[Worker]:
        """Run the blocks of the span in compiled code, which switches between the cores."""
        grid = self.rank.grid
        rounds = 1 if grid.together else len(self.span)
        zeroed = [] if grid.together else list(self.shared[0].values())
        kept = [] if grid.together else [(self.shared[0][COUNTERS], self.earlier[COUNTERS])]
        self.scheduled = scheduled = Scheduled(workers, [*zeroed, self.signals], rounds, kept)
        begin = perf_counter()
        left = drive(*scheduled)
        self.own = perf_counter() - begin
        for worker in workers:
            if worker.problem is not None:
                problem, block = worker.problem
                if isinstance(problem, PtoError):
                    problem = problem_on(grid, _place(worker, block), problem)
                raise problem from None
        if left:
            self.told.clear()
            raise deadlock([line for worker in left for line in self._waiting(worker)])
        return workers

    def _keep(self, number: int) -> None:
        """Add the counters of a block to the totals, before its cores start another block."""
        kept = self.earlier[COUNTERS].data.view(np.int64)
        kept += self.shared[number][COUNTERS].data.view(np.int64)

    def tell(self, observers: Iterable[Observer]) -> None:
        """Report the warnings of the cores, and the leftovers in FIFOs."""
        launches = self, *chain.from_iterable(self.others.values())
        every = [m for one in launches for m in (one.earlier, *one.shared.values())]
        workers = (w for one in launches for of_block in one.workers.values() for w in of_block)
        found = taken_warnings(workers)
        for observer in observers:
            observer.warned(found)
            observer.warned(left_in_fifos(self.rank.fifos, self.rank.how.target, every))

    def plans(self) -> list[Plan]:
        """Return the plan of each core of a block."""
        self.programs(self.span.start)
        return [worker.session.plan for worker in self.workers[0]]

    def logs(self) -> list[Logged]:
        """Return the execution log of each core, over all blocks."""
        places = self.rank.grid.of_block(0)
        pairs = zip(places, self.workers[0], strict=True)
        return [self.rank.bodies[place.kind].log(worker) for place, worker in pairs]

    def _waiting(self, worker: Worker) -> Iterator[tuple[str, str, Span | None, str]]:
        """Yield the name of a waiting core, its instruction and place, and what it waits for."""
        name = str(_place(worker, int(worker.frame[BLOCK])))
        session, frame, what = worker.session, worker.frame, partial(self._what, worker.core)
        if QUEUES in session.plan.spaces:
            yield from ((name, *line) for line in waiting_lines(worker.queued, what))
            return
        op: Op = session.things[session.plan.requests[int(frame[WAITING])].op]
        yield name, op.name, op.span, what(op, int(frame[CELL]))

    def _what(self, core: Core, op: Op, address: int) -> str:
        """Return what an instruction waits for, given the address of the counter."""
        assert isinstance(core, GroupedCore)
        if SIGNALS in op.page.uses:
            return self._awaited(address - address_of(self.signals.data))
        return reason(core.ends[op], (address - address_of(core.shared[COUNTERS].data)) // 8)

    @cached_property
    def cores(self) -> tuple[CorePlace, ...]:
        """Return the cores that run concurrently."""
        grid = self.rank.grid
        return tuple(grid if grid.together else grid.of_block(0))

    def _awaited(self, offset: int) -> str:
        """Return what a core waits for at a signal or a barrier of cores; cached."""
        if offset not in self.told:
            cells = self.signals.data.view(np.int64)
            self.told[offset] = self.rank.grid.cells.awaited(offset // 8, cells, self.cores)
        return self.told[offset]

    def _workers(
        self, places: Iterable[CorePlace], memories: dict[str, Memory]
    ) -> Iterator[Worker]:
        """Yield the workers of the cores of a block."""
        how, grid = self.rank.how, self.rank.grid
        kind_of_core = _SwitchedCore if self.rank.switches else GroupedCore
        given = how.target, how.fixpipe
        cores = [kind_of_core(*given, place, grid, self.board) for place in places]
        for core in cores:
            core.shared = {**memories, SIGNALS_MEMORY: self.signals}
        share_buffers(cores)
        yield from map(self._worker, cores)

    def _worker(self, core: GroupedCore) -> Worker:
        how, place = self.rank.how, core.place
        body = self.rank.bodies[place.kind]
        kind = place.lane, self.logged, self.marked, variant_of(self.limits)
        job = body.job_on(core, self.envs[place.kind])
        job.suspends, job.logged = self.rank.switches, self.logged
        job.marked = self.marked & {f"%{arg.name}" for arg in self.envs[place.kind]}
        if self.rank.grid.shares:
            job.marked |= SHARED  # a core does not see in its own text what others write
        session = body.started(job, self.limits, kind)
        session.failed = self.failed
        return Worker(session, core, place.block, place.block + 1, how.blocks)

    def _restarted(self, block: int, workers: list[Worker]) -> None:
        """Restart the cores for a block, with unwritten memories."""
        for worker in workers:
            core = worker.core
            assert isinstance(core, GroupedCore)
            core.clear()
            core.enter(block)
            worker.first, worker.last = block, block + 1
            worker.session.limits = self.limits
            worker.session.crew.clear()
            worker.begin()


class _SwitchedCore(GroupedCore):
    """A core whose signals exist in compiled code only."""

    @property
    def signals(self) -> CoreSignals:
        """Raise NotNative: the reference restarts the run."""
        raise NotNative("a signal that only the reference gives")


class _WithoutWaits(Schedule):
    """The schedule of cores that compiled code switches: only that code can wait."""

    def wait(self, wait: Wait) -> None:
        """Raise NotNative if the core would have to wait."""
        if not wait.met():
            raise NotNative("the reference waits for another core")


def _place(worker: Worker, block: int) -> CorePlace:
    core = worker.core
    assert isinstance(core, GroupedCore)
    return core.place._replace(block=block)


def _finished(worker: Worker) -> Worker:
    """Run a core's program to its end; PtoError if the program fails."""
    worker.run()
    if worker.problem is not None:
        raise worker.problem[0] from None
    return worker
