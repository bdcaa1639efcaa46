"""Kernels of several cores in the reference engine: interpreters that are coroutines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, chain

from ptokit.analysis.earlywaits import waits_apart
from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import Interpreter
from ptokit.engines.reference.launch import placed
from ptokit.engines.reference.queuedinterpreter import interpreter_of
from ptokit.isa.lang.traits import PRINTS
from ptokit.machine.arguments import Envs, Launch, Outcome
from ptokit.machine.coreplace import Clocks, CorePlace
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.observer import Observer
from ptokit.order.group import Grid, GroupedCore, launch_cores, share_buffers
from ptokit.order.leftovers import fifo_uses, left_in_fifos
from ptokit.order.races import memories_of
from ptokit.order.schedule import Schedule
from ptokit.order.signalboard import SignalBoard


class InterpretedKernel:
    """The functions of concurrent cores, ready to run repeatedly."""

    def __init__(self, launch: Launch, how: Options) -> None:
        self.how = how
        self.planned = [
            {kind: placed(one, how.target) for kind, one in cores.items()} for cores in launch.ranks
        ]
        self.grids = [Grid.of(launch, how, rank) for rank in range(len(launch.ranks))]
        funcs = launch.funcs
        self.waits_apart = waits_apart(funcs, how.target)
        self.prints = any(func.takes(PRINTS) for func in funcs)
        self.queued = False  # a wait for another core blocks its queue only

    def run(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer] = ()) -> Outcome:
        """Run the cores of each block concurrently, block after block; ranks all at once.

        Program order is tried first. If it deadlocks, the cores run with queues.
        """
        self.queued |= self.waits_apart and (self.prints or any(o.stepwise for o in observers))
        try:
            return self._run_all(launch, limits, observers)
        except PtoError as problem:
            again = self.waits_apart and not self.queued
            if not (again and problem.diagnostics[0].slug == "deadlock"):
                raise
        self.queued, limits.ran, limits.idle = True, 0, 0
        return self._run_all(launch, limits, observers)

    def _run_all(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer]) -> Outcome:
        envs = launch.shared()
        count = self.launch(launch, envs, limits, observers)
        return launch.outputs(envs), count

    def launch(
        self,
        launch: Launch,
        envs: Envs,
        limits: RunLimits,
        observers: Sequence[Observer],
        made: Callable[..., Interpreter] | None = None,
    ) -> Counter[str]:
        """Run the cores on these handles; return the count of each instruction.

        `made`: the interpreter class for the functions; None: the class that each function needs.
        """
        places, count, done = [[*grid] for grid in self.grids], Counter[str](), list[int]()
        schedule, clocks = _watched(envs, [*chain(*places)], observers)
        first = accumulate(map(len, places), initial=0)
        boards = [SignalBoard(p, schedule, clocks, n) for p, n in zip(places, first, strict=False)]
        for observer in observers:
            observer.begins(lambda: len(done))
        run = partial(self._run, launch, envs, limits, observers, made)
        programs = [
            (grid, partial(self._programs, grid, boards[rank], partial(run, rank)))
            for rank, grid in enumerate(self.grids)
        ]
        for ran in launch_cores(programs, schedule):
            for interpreter in ran:
                count.update(interpreter.count)
            done.append(1)
        for grid, board in zip(self.grids, boards, strict=True):
            for observer in observers:
                observer.warned(left_in_fifos(fifo_uses(grid), self.how.target, board.fifos))
        return count

    def _programs(
        self, grid: Grid, board: SignalBoard, run: Callable[[GroupedCore], Interpreter], block: int
    ) -> Sequence[Callable[[], Interpreter]]:
        """Return the program of each core of a block."""
        shared = grid.shared_memories()
        board.fifos.append(shared)
        found, cores = list[Callable[[], Interpreter]](), list[GroupedCore]()
        for place in grid.of_block(block):
            core = GroupedCore(self.how.target, self.how.fixpipe, place, grid, board)
            core.shared = dict(shared)
            cores.append(core)
            found.append(partial(run, core))
        share_buffers(cores)
        return found

    def _run(
        self,
        launch: Launch,
        envs: Envs,
        limits: RunLimits,
        observers: Sequence[Observer],
        made: Callable[..., Interpreter] | None,
        rank: int,
        core: GroupedCore,
    ) -> Interpreter:
        """Run one core's function to its end; return its interpreter."""
        assert core.kind is not None
        one, plan = launch.ranks[rank][core.kind], self.planned[rank][core.kind]
        for observer in observers:
            observer.prepared(core, one.func.body)
        facts = Facts(core.target, dict(one.numbers))
        made = made or interpreter_of(one.func, queued=self.queued)
        run = made(core, facts, plan, limits, observers)
        run.block(one.func.body)(dict(envs[rank][core.kind]))
        run.ended()
        found = core.taken_warnings()
        for observer in observers:
            observer.warned(found)
        return run


def _watched(
    envs: Envs, places: Sequence[CorePlace], observers: Sequence[Observer]
) -> tuple[Schedule, Clocks | None]:
    """Return the schedule of the cores, and the clocks of an observer that looks for races."""
    memories = {id(memory): memory for of_rank in envs for memory in memories_of(of_rank)}
    order = next((o.order for o in observers if o.order is not None), None)
    clocks = [o.launched(memories.values(), places) for o in observers]
    return Schedule(order), next((found for found in clocks if found is not None), None)
