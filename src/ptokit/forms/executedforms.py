"""The form in which each function runs: outputs are operands."""

from __future__ import annotations

from dataclasses import replace

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, Severity
from ptokit.forms.dps import func_to_dps, is_dps
from ptokit.ir.module import Func, Module


def executed_forms(module: Module) -> tuple[dict[Func, Func], tuple[Diagnostic, ...]]:
    """Return the functions that run in another form, and why `run` refuses functions without one.

    The values of a refused function would have to share a tile.
    """
    forms, refused = dict[Func, Func](), list[Diagnostic]()
    for func in module.funcs:
        try:
            form = func_to_dps(func)
        except PtoError as problem:
            note = Note("`run` refuses this program: it executes the DPS form")
            for found in problem.diagnostics:
                notes = (*found.notes, note)
                refused.append(replace(found, severity=Severity.WARNING, notes=notes))
        else:
            forms |= {} if is_dps(func) else {func: form}
    return forms, tuple(refused)
