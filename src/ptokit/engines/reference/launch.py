"""Runs of single-core functions by the reference engine, block after block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine, Interpreter
from ptokit.engines.reference.queuedinterpreter import interpreter_of
from ptokit.isa.model.targets import Target
from ptokit.machine.arguments import Bound, Env, Launch, Outcome
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.observer import Observer
from ptokit.machine.undefinedstore import undefined_results


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
