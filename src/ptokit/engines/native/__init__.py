"""The native engine: programs compiled to machine code from the bodies of the pages.

The reference executes an instruction or a program that cannot be compiled, on the same memories and
with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptokit.machine import cache  # imports llvmlite, without which there is no such engine

if TYPE_CHECKING:  # a run that is stored on disk needs no compiler
    from ptokit.engines.native.compile import CompiledFunction
    from ptokit.engines.native.compiledkernel import CompiledKernel
    from ptokit.ir.module import Op, Value
    from ptokit.machine.arguments import Launch
    from ptokit.machine.execute import Core
    from ptokit.machine.launchoptions import Options


def run_op(op: Op, env: Mapping[Value, object], core: Core) -> None:
    """Run one instruction on handles and numbers; no rule is checked."""
    from ptokit.engines.native import singleop

    singleop.run_op(op, env, core)


def prepare(launch: Launch, how: Options) -> CompiledFunction | CompiledKernel:
    """Return the functions of a launch, which are compiled when they first run."""
    if not launch.waits:
        from ptokit.engines.native.compile import CompiledFunction

        return CompiledFunction(launch, how)
    from ptokit.engines.native.compiledkernel import CompiledKernel  # imports pages of channels

    return CompiledKernel(launch, how)


__all__ = ["cache", "prepare", "run_op"]
