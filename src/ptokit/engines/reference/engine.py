"""The entry points of the reference engine, for functions of one core and kernels of several."""

from __future__ import annotations

from ptokit.engines.reference.interpretedkernel import InterpretedKernel
from ptokit.engines.reference.launch import InterpretedFunction
from ptokit.machine.arguments import Launch
from ptokit.machine.execute import run_op
from ptokit.machine.launchoptions import Options


def prepare(launch: Launch, how: Options) -> InterpretedKernel | InterpretedFunction:
    """Return the functions of a launch, ready to run repeatedly."""
    return InterpretedKernel(launch, how) if launch.waits else InterpretedFunction(launch, how)


__all__ = ["prepare", "run_op"]
