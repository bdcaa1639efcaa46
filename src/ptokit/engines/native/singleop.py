"""One instruction compiled alone: eager calls and replayed vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.engines.native.compile import Job
from ptokit.engines.native.session import Session
from ptokit.ir.module import Block, Op, Value
from ptokit.isa.lang.traits import ALIASES
from ptokit.machine import execute
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.record.code import NotNative
from ptokit.machine.tile import Tile

if TYPE_CHECKING:  # code that the cache keeps is not generated again
    from ptokit.engines.native.generator import Compiler


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


def compile_op(op: Op, env: Mapping[Value, object], core: Core) -> Session:
    """Return a session of one instruction on handles, without its rules."""
    job = single(op, env, core)
    made = job.compiled(Block(ops=[op]))
    if isinstance(made, NotNative):
        raise made
    return job.session(made, [op], RunLimits(), rules=False)


def single(op: Op, env: Mapping[Value, object], core: Core) -> Job:
    """Return the compilation job of one instruction."""
    shown, known = [v for v in env if ALIASES in op.page.traits], Facts(core.target)

    def generate(compiler: Compiler, env: Env) -> None:
        compiler.single(op, env)

    return Job(core, known, Planned(), dict(env), shown, generate)
