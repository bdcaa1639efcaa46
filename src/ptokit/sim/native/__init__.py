"""The native engine: programs compiled to machine code from the very bodies the pages have.

Whatever it cannot take - an instruction, or a whole program - the reference runs, on the same
memories and with the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ptokit.ir.module import Op, Value
from ptokit.isa.model.targets import Target
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.execute import Core
from ptokit.sim.limits import RunLimits
from ptokit.sim.native.compile import compile_op, compile_program
from ptokit.sim.native.session import Grown
from ptokit.sim.record.code import NotNative
from ptokit.sim.reference import launch
from ptokit.sim.tile import Tile

if TYPE_CHECKING:
    from ptokit.api.bind import Bound


def run(
    bound: Bound, target: Target, fixpipe: FixPipe, blocks: int, limits: RunLimits
) -> tuple[dict[Value, Any], Counter[str]]:
    """Run the function once for each block, on all processors; see `settings.Engine`."""
    try:
        return compile_program(bound, target, fixpipe, blocks, limits).run(blocks)
    except NotNative:
        return launch.run(bound, target, fixpipe, blocks, limits)
    except Grown:
        return compile_program(bound, target, fixpipe, blocks, limits).run(blocks, alone=True)


def run_op(op: Op, env: Mapping[Value, Any], core: Core) -> None:  # Any: handles and numbers
    """Run one instruction on handles and numbers; no rule is checked."""
    try:
        session = compile_op(op, env, core)
    except NotNative:
        launch.run_op(op, env, core)
        return
    after, _ = session.run(1)
    for value, handle in after.items():
        if op.page.aliases and isinstance(handle, Tile):
            env[value].elements = handle.elements


__all__ = ["run", "run_op"]
