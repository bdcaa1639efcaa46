"""Passes: program in, program out; `pipeline` lists them. Here are those that change the form.

Both build new functions; values that mean the same in both forms are shared.
"""

from __future__ import annotations

from ptokit.ir.module import Module
from ptokit.passes.dps import func_to_dps
from ptokit.passes.ssa import func_to_ssa
from ptokit.passes.tilehandles import names_handles

__all__ = ["func_to_dps", "func_to_ssa", "to_dps", "to_ssa"]


def to_dps(module: Module) -> Module:
    """The module with every output an operand but handles; PtoError where tiles share no buffer."""
    return module.mapped(lambda func: func if names_handles(func) else func_to_dps(func))


def to_ssa(module: Module) -> Module:
    """The module with every tile output a result; PtoError where memory is not a value."""
    return module.mapped(func_to_ssa)
