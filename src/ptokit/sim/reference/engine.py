"""The reference as an engine: functions of one core, and kernels of several."""

from __future__ import annotations

from ptokit.isa.model.targets import Target
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.arguments import Bound, BoundJob, BoundKernel
from ptokit.sim.execute import run_op
from ptokit.sim.reference.interpretedkernel import InterpretedJob, InterpretedKernel
from ptokit.sim.reference.launch import InterpretedFunction


def prepare(
    bound: Bound | BoundKernel | BoundJob, target: Target, fixpipe: FixPipe, blocks: int
) -> InterpretedFunction | InterpretedKernel | InterpretedJob:
    """A function, or the functions of a kernel's cores, ready to run again and again."""
    if isinstance(bound, BoundJob):
        return InterpretedJob(bound, target, fixpipe, blocks)
    if isinstance(bound, BoundKernel):
        return InterpretedKernel(bound, target, fixpipe, blocks)
    return InterpretedFunction(bound, target, fixpipe, blocks)


__all__ = ["prepare", "run_op"]
