"""Warnings of a run: rules that only warn and that no one can decide before the program runs.

The reference is asked for the warnings of an instruction once; the instruction runs compiled.
"""

from __future__ import annotations

from ptokit.engines.native.frame import Purpose
from ptokit.engines.native.mainfunction import MainFunction
from ptokit.ir.module import Op
from ptokit.machine.arguments import Env
from ptokit.machine.record.code import Condition, Truth


def warn_once(main: MainFunction, op: Op, env: Env, met: Condition) -> None:
    """Emit the request for the warnings of `op`, unless the rules are `met` or it was made."""
    if met is True:
        return
    main.leave_where_too_large()
    code, told = main.code, main.place(main.slot())
    fresh = Truth(code, code.let(f"icmp eq i64 {code.let(f'load i64, ptr {told}')}, 0"))
    with code.when(fresh if met is False else ~met & fresh):
        code.do(f"store i64 1, ptr {told}")
        values = (env[value] for _, value in op.values())
        main.request(op, Purpose.WARN, tuple(map(main.kept_value, values)))
