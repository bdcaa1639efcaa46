"""Kernels of several cores by the reference: interpreters that take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ptokit.analysis.fifos import exchanges
from ptokit.analysis.known import Facts
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
from ptokit.sim.cores.races import RaceDetector, memories_of
from ptokit.sim.cores.schedule import Schedule
from ptokit.sim.cores.signalboard import SignalBoard
from ptokit.sim.limits import RunLimits
from ptokit.sim.observer import Observer
from ptokit.sim.reference.interpreter import Interpreter
from ptokit.sim.reference.launch import placed


class InterpretedKernel:
    """The functions of a kernel's cores, made ready to run again and again."""

    def __init__(self, bound: BoundKernel, target: Target, fixpipe: FixPipe, blocks: int) -> None:
        self.target, self.fixpipe = target, fixpipe
        self.exchanges = exchanges({kind: one.func for kind, one in bound.cores.items()})
        self.planned = {kind: placed(one, target) for kind, one in bound.cores.items()}
        self.grid = Grid(kinds_of(bound.cores), self.exchanges.lanes, blocks)
        self.together = any(reaches(one.func) for one in bound.cores.values())

    def run(
        self, bound: BoundKernel, limits: RunLimits, observers: Sequence[Observer] = ()
    ) -> Outcome:
        """Run the cores of each block at once, block after block."""
        envs, count = bound.shared(), Counter[str]()
        races = next((o for o in observers if isinstance(o, RaceDetector)), None)
        schedule, places = Schedule(races.order if races else None), tuple(self.grid)
        clocks = races.launched(memories_of(envs), places) if races else None
        board = SignalBoard(places, schedule, clocks)
        done = list[int]()
        for observer in observers:
            observer.begins(lambda: len(done))

        def programs(block: int) -> Sequence[Callable[[], Interpreter]]:
            shared = shared_memories(self.exchanges)
            found = list[Callable[[], Interpreter]]()
            for place in self.grid.of_block(block):
                how = place, self.grid.blocks, self.grid.lanes, self.exchanges, schedule, board
                core = GroupedCore(self.target, self.fixpipe, *how)
                core.shared = shared
                found.append(partial(self._run, core, bound, envs, limits, observers))
            return found

        for ran in launch_cores(self.grid, schedule, programs, self.together):
            for interpreter in ran:
                count.update(interpreter.count)
            done.append(1)
        return bound.outputs(envs), count

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
        facts = Facts(core.target, dict(one.numbers))
        run = Interpreter(core, facts, self.planned[core.kind], limits, observers)
        run.block(one.func.body)(dict(envs[core.kind]))
        return run
