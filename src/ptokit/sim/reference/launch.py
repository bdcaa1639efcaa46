"""The reference engine: runs programs, block after block, and single instructions, with NumPy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptokit.analysis.checker import learned
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned, plan
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import Target
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.execute import Core, run_op
from ptokit.sim.limits import RunLimits
from ptokit.sim.reference.interpreter import Env, Interpreter, Machine

if TYPE_CHECKING:
    from ptokit.api.bind import Bound


def run(
    bound: Bound, target: Target, fixpipe: FixPipe, blocks: int, limits: RunLimits
) -> tuple[Env, Counter[str]]:
    """Run the function once for each block, in ascending order; see `settings.Engine`."""
    planned = plan(bound.func, learned(bound.func, target, bound.numbers))
    shared, count = bound.shared(), Counter[str]()
    env = shared
    for index in range(blocks):
        core = Core(target, fixpipe, index, blocks)
        try:
            env = _run_block(bound, core, planned, shared, count, limits)
        except PtoError as problem:
            raise (problem if blocks == 1 else problem.noted(f"in block {index}")) from None
    return (env if blocks == 1 else shared), count


def _run_block(
    bound: Bound, core: Core, planned: Planned, shared: Env, count: Counter[str], limits: RunLimits
) -> Env:
    """Run the function on a core whose memories are blank; instructions add to `count`."""
    interpreter = Interpreter(core, Facts(core.target, dict(bound.numbers)), planned, limits)
    env = shared | bound.local(Machine(core), planned.addresses)
    interpreter.block(bound.func.body)(env)
    count.update(interpreter.count)
    return env


__all__ = ["run", "run_op"]
