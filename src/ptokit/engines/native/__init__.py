"""The native engine: programs compiled to machine code from the bodies of the pages.

The reference executes an instruction or a program that cannot be compiled, on the same memories and
with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ptokit.engines.native.compile import CompiledFunction, compile_op
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.traits import ALIASES
from ptokit.machine import execute
from ptokit.machine.arguments import Launch
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options
from ptokit.machine.record.code import NotNative
from ptokit.machine.tile import Tile

if TYPE_CHECKING:
    from ptokit.engines.native.compiledkernel import CompiledKernel


def run_op(op: Op, env: Mapping[Value, object], core: Core) -> None:
    """Run one instruction on handles and numbers; no rule is checked."""
    try:
        session = compile_op(op, env, core)
    except NotNative:
        execute.run_op(op, env, core)
        return
    after, _ = session.run(1)
    for value, handle in after.items():
        if ALIASES in op.page.traits and isinstance(handle, Tile):
            cast(Tile, env[value]).elements = handle.elements


def prepare(launch: Launch, how: Options) -> CompiledFunction | CompiledKernel:
    """Return the functions of a launch, which are compiled when they first run."""
    if not launch.waits:
        return CompiledFunction(launch, how)
    from ptokit.engines.native.compiledkernel import CompiledKernel  # imports pages of channels

    return CompiledKernel(launch, how)


__all__ = ["prepare", "run_op"]
