"""The entry points of the reference engine: functions of one core, and kernels of several.

Functions run block after block; the cores of a kernel are coroutines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, chain

from ptokit.analysis.earlywaits import waits_apart
from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine, Interpreter
from ptokit.engines.reference.queuedinterpreter import interpreter_of
from ptokit.isa.lang.traits import PRINTS
from ptokit.isa.model.targets import Target
from ptokit.machine.arguments import Bound, Env, Envs, Launch, Outcome
from ptokit.machine.coreplace import Clocks, CorePlace
from ptokit.machine.execute import Core, run_op
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.observer import Observer
from ptokit.machine.undefinedstore import undefined_results
from ptokit.order.group import Grid, GroupedCore, launch_cores, share_buffers
from ptokit.order.programorder import fifo_uses, left_in_fifos
from ptokit.order.races import memories_of
from ptokit.order.schedule import Schedule
from ptokit.order.signalcounters import SignalBoard


class InterpretedFunction:
    """A function that runs repeatedly, on arguments that differ in content only."""

    def __init__(self, launch: Launch, how: Options, planned: Planned | None = None) -> None:
        self.how = how
        self.planned = planned or placed(launch.sole, how.target)
        self.interpreter = interpreter_of(launch.sole.func)

    def run(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer] = ()) -> Outcome:
        """Run the function once for each block, in ascending order."""
        bound = launch.sole
        blocks = self.how.blocks
        shared, count = bound.shared(), Counter[str]()
        env, index, exposed = shared, 0, list[Memory]()
        for observer in observers:
            observer.begins(lambda: index)
        for index in range(blocks):
            core = Core(self.how.target, self.how.fixpipe, index, blocks)
            core.exposed = exposed
            for observer in observers:
                observer.prepared(core, bound.func.body)
            facts = Facts(core.target, bound.every_number)
            run = self.interpreter(core, facts, self.planned, limits, observers)
            try:
                env = self._run_block(bound, run, shared, count)
            except PtoError as problem:
                raised = problem if blocks == 1 else problem.noted(f"in block {index}")
                raise raised from None
            found = core.taken_warnings()
            for observer in observers:
                observer.warned(found)
        last = env if blocks == 1 else shared
        for observer in observers:
            observer.warned(undefined_results(last, bound.computed) if bound.computed else ())
        return bound.outputs(last), count

    def _run_block(self, bound: Bound, run: Interpreter, shared: Env, count: Counter[str]) -> Env:
        """Run the function on a core with blank memories; instructions add to `count`."""
        env = shared | bound.local(InterpretedMachine(run.core), self.planned.addresses)
        run.block(bound.func.body)(env)
        run.ended()
        count.update(run.count)
        return env


def placed(bound: Bound, target: Target) -> Planned:
    """Return the address plan of a function's tiles."""
    return facts_of(bound.func).on(target, bound.numbers).placement.planned


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


def prepare(launch: Launch, how: Options) -> InterpretedKernel | InterpretedFunction:
    """Return the functions of a launch, ready to run repeatedly."""
    return InterpretedKernel(launch, how) if launch.waits else InterpretedFunction(launch, how)


__all__ = ["prepare", "run_op"]
