"""SSA to DPS: the form that engines execute, in which each output has a tile as destination.

What converts a function is imported where a function needs it, and few do: checks are quicker.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, Severity
from ptokit.ir.editing import refuse
from ptokit.ir.module import Func, Module, Op, Value, once
from ptokit.isa.lang.traits import THREADS
from ptokit.isa.model.types import ScalarType

NO_NUMBERS: Mapping[Value, object] = {}
SAMPLE = 16  # for arguments whose numbers only a run knows


def is_dps(func: Func) -> bool:
    """Return whether every output is an operand; registers are results in every form."""
    return not any(isinstance(op, Op) and op.ssa and not op.of_registers for op in func.ops)


def func_to_dps(func: Func) -> Func:
    """Return the function with every output as an operand; itself if it has that form."""
    if is_dps(func):
        return func
    from ptokit.forms.destinations import Destinations
    from ptokit.forms.structure import structured
    from ptokit.forms.tilehandles import names_handles, with_tiles

    if names_handles(func):
        return with_tiles(func)  # tiles that regions yield are handles
    for op in func.ops:
        if isinstance(op, Op) and op.ssa and op.of_registers:
            message = f"{op.name}: a function with registers keeps the form of its tiles"
            raise refuse(
                message, op.span, "write the outputs of its tile instructions as outs(...)"
            )
    return Destinations(structured(func)).finished()


def executed_form(func: Func, numbers: Mapping[Value, object] = NO_NUMBERS) -> Func:
    """Return the function as engines execute it: with addresses for pointers into local memory.

    The function itself if it has that form. `numbers` are arguments that are known.
    """
    whole_numbers = {v: n for v, n in numbers.items() if isinstance(n, int)}
    plain = _plain_with(func, whole_numbers) if whole_numbers else _plain(func)
    if not any(isinstance(op, Op) and op.ssa and op.of_registers for op in plain.ops):
        return func_to_dps(plain)
    from ptokit.forms.destinations import Destinations
    from ptokit.forms.registercopies import with_register_copies
    from ptokit.forms.structure import structured

    whole = structured(plain)
    try:
        return Destinations(whole).finished()
    except PtoError:
        return Destinations(with_register_copies(whole)).finished()


@once
def _plain(func: Func) -> Func:
    return _plain_with(func, {})


def _plain_with(func: Func, numbers: Mapping[Value, int]) -> Func:
    """Return the function without packed numbers, pointers into local memory, and threads."""
    if any(value.packed for value in func.named()):
        from ptokit.forms.packedparts import in_parts

        func = in_parts(func)
    if any(page.lowered for page in func.pages):
        from ptokit.forms.localpointers import lowered

        func = lowered(func, numbers)
    if not func.has(THREADS):
        return func
    from ptokit.forms.threads import without_threads

    return without_threads(func)


def to_dps(module: Module) -> Module:
    """Return the module with every output except handles as an operand.

    PtoError if values would have to share a tile and cannot.
    """
    from ptokit.forms.tilehandles import names_handles

    return module.mapped(lambda func: func if names_handles(func) else func_to_dps(func))


def executed_forms(module: Module) -> tuple[dict[Func, Func], tuple[Diagnostic, ...]]:
    """Return the functions that run in another form, and the diagnostics of refused ones.

    The values of a refused function would have to share a tile. A function whose form follows from
    numbers of a run has none here.
    """
    forms, refused = dict[Func, Func](), list[Diagnostic]()
    for func in module.funcs:
        try:
            form = executed_form(func)
        except PtoError as problem:
            with suppress(PtoError):
                executed_form(func, _sampled(func))
                continue
            note = Note("`run` refuses this program: it executes the DPS form")
            for found in problem.diagnostics:
                notes = (*found.notes, note)
                refused.append(replace(found, severity=Severity.WARNING, notes=notes))
        else:
            forms |= {} if form is func else {func: form}
    return forms, tuple(refused)


def _sampled(func: Func) -> dict[Value, object]:
    """Return numbers for the arguments of a function that are integers."""
    kinds = ((arg, arg.type) for arg in func.args)
    return {a: SAMPLE for a, k in kinds if isinstance(k, ScalarType) and not k.is_float}
