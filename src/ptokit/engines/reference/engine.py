"""The reference as an engine: functions of one core, and kernels of several."""

from __future__ import annotations

from ptokit.engines.reference.interpretedkernel import InterpretedJob, InterpretedKernel
from ptokit.engines.reference.launch import InterpretedFunction
from ptokit.machine.arguments import Bound, BoundJob, BoundKernel
from ptokit.machine.execute import run_op
from ptokit.machine.launchoptions import Options


def prepare(
    bound: Bound | BoundKernel | BoundJob, how: Options
) -> InterpretedFunction | InterpretedKernel | InterpretedJob:
    """A function, or the functions of a kernel's cores, ready to run again and again."""
    if isinstance(bound, BoundJob):
        return InterpretedJob(bound, how)
    if isinstance(bound, BoundKernel):
        return InterpretedKernel(bound, how)
    return InterpretedFunction(bound, how)


__all__ = ["prepare", "run_op"]
