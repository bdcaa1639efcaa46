"""Kernels of several cores by the reference: interpreters that are coroutines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from ptokit.analysis.earlywaits import waits_apart
from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import Interpreter
from ptokit.engines.reference.launch import placed
from ptokit.engines.reference.queuedinterpreter import interpreter_of
from ptokit.isa.model.words import KernelKind
from ptokit.machine.arguments import BoundJob, BoundKernel, Env, Outcome
from ptokit.machine.coreplace import Clocks, CorePlace
from ptokit.machine.launchoptions import Options
from ptokit.machine.limits import RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.observer import Observer
from ptokit.machine.printing import prints
from ptokit.order.fifoleftovers import fifo_uses, left_in_fifos
from ptokit.order.group import Grid, GroupedCore, launch_cores, launch_ranks
from ptokit.order.races import memories_of
from ptokit.order.schedule import Schedule
from ptokit.order.signalboard import SignalBoard


class InterpretedKernel:
    """The functions of a kernel's cores, made ready to run again and again."""

    def __init__(self, bound: BoundKernel, how: Options, rank: int | None = None) -> None:
        self.how = how
        self.interpreter: Callable[..., Interpreter] | None = None  # None: as the function asks
        self.planned = {kind: placed(one, how.target) for kind, one in bound.cores.items()}
        self.grid = Grid.of(bound, how.target, how.blocks, rank)
        funcs = [one.func for one in bound.cores.values()]
        self.waits_apart = waits_apart(funcs, how.target)
        self.prints = any(map(prints, funcs))
        self.queued = False  # what waits for other cores holds up its queue alone

    def run(
        self, bound: BoundKernel, limits: RunLimits, observers: Sequence[Observer] = ()
    ) -> Outcome:
        """Run the cores of each block at once, block after block.

        In the order of the text where that comes to its end, else as queues go on.
        """
        self.queued |= self.waits_apart and (self.prints or any(o.stepwise for o in observers))
        try:
            return self._run_all(bound, limits, observers)
        except PtoError as problem:
            again = self.waits_apart and not self.queued
            if not (again and problem.diagnostics[0].slug == "deadlock"):
                raise
        self.queued, limits.ran, limits.idle = True, 0, 0
        return self._run_all(bound, limits, observers)

    def _run_all(
        self, bound: BoundKernel, limits: RunLimits, observers: Sequence[Observer]
    ) -> Outcome:
        envs = bound.shared()
        count = self.launch(bound, envs, limits, observers)
        return bound.outputs(envs), count

    def launch(
        self,
        bound: BoundKernel,
        envs: Mapping[KernelKind, Env],
        limits: RunLimits,
        observers: Sequence[Observer],
    ) -> Counter[str]:
        """Run the cores on these handles; how often they executed each instruction."""
        count, places = Counter[str](), tuple(self.grid)
        schedule, clocks = _watched(memories_of(envs), places, observers)
        board = SignalBoard(places, schedule, clocks)
        done = list[int]()
        for observer in observers:
            observer.begins(lambda: len(done))
        programs = self.programs(bound, envs, board, limits, observers)
        for ran in launch_cores(self.grid, schedule, programs):
            for interpreter in ran:
                count.update(interpreter.count)
            done.append(1)
        self.tell(board, observers)
        return count

    def tell(self, board: SignalBoard, observers: Sequence[Observer]) -> None:
        """What the launch left in FIFOs."""
        for observer in observers:
            observer.warned(left_in_fifos(fifo_uses(self.grid), self.how.target, board.fifos))

    def programs(
        self,
        bound: BoundKernel,
        envs: Mapping[KernelKind, Env],
        board: SignalBoard,
        limits: RunLimits,
        observers: Sequence[Observer],
    ) -> Callable[[int], Sequence[Callable[[], Interpreter]]]:
        """What the cores of each block of a launch run."""

        def of_block(block: int) -> Sequence[Callable[[], Interpreter]]:
            shared = self.grid.shared_memories()
            board.fifos.append(shared)
            found = list[Callable[[], Interpreter]]()
            for place in self.grid.of_block(block):
                core = GroupedCore(self.how.target, self.how.fixpipe, place, self.grid, board)
                core.shared = shared
                found.append(partial(self._run, core, bound, envs, limits, observers))
            return found

        return of_block

    def _run(
        self,
        core: GroupedCore,
        bound: BoundKernel,
        envs: Mapping[KernelKind, Env],
        limits: RunLimits,
        observers: Sequence[Observer],
    ) -> Interpreter:
        """One core's function, from its beginning to its end."""
        assert core.kind is not None
        one = bound.cores[core.kind]
        for observer in observers:
            observer.prepared(core, one.func.body)
        facts = Facts(core.target, dict(one.numbers))
        made = self.interpreter or interpreter_of(one.func, queued=self.queued)
        run = made(core, facts, self.planned[core.kind], limits, observers)
        run.block(one.func.body)(dict(envs[core.kind]))
        run.ended()
        found = core.taken_warnings()
        for observer in observers:
            observer.warned(found)
        return run


def _watched(
    memories: Iterable[Memory], places: Sequence[CorePlace], observers: Sequence[Observer]
) -> tuple[Schedule, Clocks | None]:
    """The order of the cores, and what follows their signals, where somebody looks for races."""
    order = next((o.order for o in observers if o.order is not None), None)
    clocks = [o.launched(memories, places) for o in observers]
    return Schedule(order), next((found for found in clocks if found is not None), None)


class InterpretedJob:
    """A kernel on several ranks, made ready to run again and again."""

    def __init__(self, bound: BoundJob, how: Options) -> None:
        self.kernels = [InterpretedKernel(one, how, rank) for rank, one in enumerate(bound.ranks)]

    def run(
        self, bound: BoundJob, limits: RunLimits, observers: Sequence[Observer] = ()
    ) -> Outcome:
        """Run all cores of all blocks of all ranks at once."""
        envs, count, places = bound.shared(), Counter[str](), [[*k.grid] for k in self.kernels]
        memories = {id(memory): memory for env in envs for memory in memories_of(env)}
        every = [place for some in places for place in some]
        schedule, clocks = _watched(memories.values(), every, observers)
        for observer in observers:
            observer.begins(lambda: 0)
        boards: list[SignalBoard] = []
        launches: list[tuple[Grid, Callable[[int], Sequence[Callable[[], Interpreter]]]]] = []
        for kernel, one, env, mine in zip(self.kernels, bound.ranks, envs, places, strict=True):
            boards.append(SignalBoard(mine, schedule, clocks, every.index(mine[0])))
            programs = kernel.programs(one, env, boards[-1], limits, observers)
            launches.append((kernel.grid, programs))
        for interpreter in launch_ranks(launches, schedule):
            count.update(interpreter.count)
        for kernel, board in zip(self.kernels, boards, strict=True):
            kernel.tell(board, observers)
        return bound.outputs(envs), count
