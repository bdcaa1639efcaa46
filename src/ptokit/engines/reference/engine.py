"""The reference as an engine: functions of one core, and kernels of several."""

from __future__ import annotations

from ptokit.engines.reference.interpretedkernel import InterpretedKernel
from ptokit.engines.reference.launch import InterpretedFunction
from ptokit.machine.arguments import Launch
from ptokit.machine.execute import run_op
from ptokit.machine.launchoptions import Options


def prepare(launch: Launch, how: Options) -> InterpretedKernel | InterpretedFunction:
    """The functions of a launch, ready to run again and again."""
    return InterpretedKernel(launch, how) if launch.waits else InterpretedFunction(launch, how)


__all__ = ["prepare", "run_op"]
