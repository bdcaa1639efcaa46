"""Kernels of several cores in compiled code: one program for each core, which call back to wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ptokit.analysis.fifos import exchanges
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import KernelKind
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.arguments import BoundKernel, Env, Outcome
from ptokit.sim.cores.group import (
    Grid,
    GroupedCore,
    kinds_of,
    launch_cores,
    reaches,
    shared_memories,
)
from ptokit.sim.cores.schedule import Schedule
from ptokit.sim.cores.signalboard import CorePlace, CoreSignals, SignalBoard
from ptokit.sim.limits import RunLimits
from ptokit.sim.memory import Memory
from ptokit.sim.native.compile import CompiledBody, kind_of
from ptokit.sim.native.session import Worker
from ptokit.sim.observer import Observer
from ptokit.sim.record.code import NotNative
from ptokit.sim.reference.interpretedkernel import InterpretedKernel


class CompiledKernel:
    """The functions of a kernel's cores, compiled when they first run.

    What cannot be compiled, may grow an array, or is watched or counted, runs by the reference.
    """

    def __init__(self, bound: BoundKernel, target: Target, fixpipe: FixPipe, blocks: int) -> None:
        self.how = target, fixpipe, blocks
        self.exchanges = exchanges({kind: one.func for kind, one in bound.cores.items()})
        self.grid = Grid(kinds_of(bound.cores), self.exchanges.lanes, blocks)
        self.together = any(reaches(one.func) for one in bound.cores.values())
        self.bodies = {kind: CompiledBody(one, target) for kind, one in bound.cores.items()}

    def run(
        self, bound: BoundKernel, limits: RunLimits, observers: Sequence[Observer] = ()
    ) -> Outcome:
        """Run the cores of each block at once, block after block."""
        try:
            if limits.most is not None or any(observer.stepwise for observer in observers):
                raise NotNative("somebody looks at every instruction")
            return self._run(bound, limits, observers)
        except NotNative:
            return InterpretedKernel(bound, *self.how).run(bound, limits, observers)

    def _run(self, bound: BoundKernel, limits: RunLimits, observers: Sequence[Observer]) -> Outcome:
        envs, count, schedule = bound.shared(), Counter[str](), Schedule()
        if any(_grows(env) for env in envs.values()):
            raise NotNative("an output is as large as its views")
        launch = _Launch(self, envs, limits, schedule)
        done = list[int]()
        for observer in observers:
            observer.begins(lambda: len(done))
        for ran in launch_cores(self.grid, schedule, launch.programs, self.together):
            for worker in ran:
                count.update(worker.counts())
            done.append(1)
        return bound.outputs(envs), count


def _grows(env: Env) -> bool:
    memories = (getattr(handle, "memory", None) for handle in env.values())
    return any(isinstance(memory, Memory) and memory.growable for memory in memories)


class _Launch:
    """One launch: cores are used again by later blocks, unless all run at once."""

    def __init__(
        self,
        kernel: CompiledKernel,
        envs: Mapping[KernelKind, Env],
        limits: RunLimits,
        schedule: Schedule,
    ) -> None:
        self.kernel, self.envs, self.limits, self.schedule = kernel, envs, limits, schedule
        self.board = SignalBoard(tuple(kernel.grid), schedule)
        self.workers: list[Worker] = []
        self.shared: dict[str, Memory] = {}

    def programs(self, block: int) -> Sequence[Callable[[], Worker]]:
        """What the cores of a block run."""
        if block and not self.kernel.together:
            for worker, place in zip(self.workers, self.kernel.grid.of_block(block), strict=True):
                self._again(worker, place)
        else:
            self.shared = shared_memories(self.kernel.exchanges)
            self.workers = [self._worker(place) for place in self.kernel.grid.of_block(block)]
        return [partial(_finished, worker) for worker in self.workers]

    def _worker(self, place: CorePlace) -> Worker:
        target, fixpipe, blocks = self.kernel.how
        grid, shared = self.kernel.grid, (self.kernel.exchanges, self.schedule, self.board)
        core = GroupedCore(target, fixpipe, place, blocks, grid.lanes, *shared)
        core.shared = self.shared
        body, kind = self.kernel.bodies[place.kind], (place.lane, kind_of(self.limits))
        session = body.started(body.job_on(core, self.envs[place.kind]), self.limits, kind)
        return Worker(session, core, place.block, place.block + 1, blocks)

    def _again(self, worker: Worker, place: CorePlace) -> None:
        """The same core for a further block: its memories count as unwritten."""
        core = worker.core
        assert isinstance(core, GroupedCore)
        for memory in self.shared.values():
            memory.data[:] = 0
        core.clear()
        core.block_idx = place.block
        core.signals = CoreSignals(self.board, place, core.target.separate)
        core.opened.clear()
        worker.first, worker.last = place.block, place.block + 1
        worker.session.crew.clear()
        worker.begin()


def _finished(worker: Worker) -> Worker:
    """Run a core's program to its end; PtoError where something is wrong."""
    worker.run()
    if worker.problem is not None:
        raise worker.problem[0] from None
    return worker
