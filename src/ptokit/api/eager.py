"""The instructions as Python functions, made from the pages: same names and order as in C++.

`textract(left, mat, 0, 64, relu="normal")` checks legality for the current target and executes at
once. Optional operands and attributes are keyword-only, indices are not.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from ptokit.analysis.placement import memory_errors
from ptokit.analysis.violation import violation
from ptokit.api.events import Event
from ptokit.api.hostarrays import ConvTile, HostArray, Tensor, Tile
from ptokit.api.settings import current_core, current_target
from ptokit.api.tensors import place_at, word
from ptokit.diagnostics.callsite import caller
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.isa.model.words import Word
from ptokit.sim.evaluation import scalar
from ptokit.sim.execute import run_body
from ptokit.sim.tile import Matrix

EVENTS = "events"
HANDLES: dict[Kind, type] = {Kind.TILE: Tile, Kind.GLOBAL: Tensor, Kind.CONV: ConvTile}


def signature(page: type[Instr]) -> inspect.Signature:
    """The parameters of a form: operands in C++ order, what is optional by keyword."""
    parameters: list[inspect.Parameter] = []
    for field in sorted((*page.operands, *page.attrs), key=_by_keyword):
        how = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if isinstance(field, Operand) and field.many:
            how = inspect.Parameter.VAR_POSITIONAL
        elif _by_keyword(field):
            how = inspect.Parameter.KEYWORD_ONLY
        bare = field.required or how is inspect.Parameter.VAR_POSITIONAL
        default = inspect.Parameter.empty if bare else field.default
        parameters.append(inspect.Parameter(field.name, how, default=default))
    return inspect.Signature(parameters)


def public_signature(page: type[Instr]) -> inspect.Signature:
    """The parameters of the function: also the events it waits for before anything else."""
    form = signature(page)
    if any(o.many for o in page.operands):
        return form
    events = inspect.Parameter(EVENTS, inspect.Parameter.KEYWORD_ONLY, default=())
    return form.replace(parameters=[*form.parameters.values(), events])


def _by_keyword(field: Operand | Attr) -> bool:
    if isinstance(field, Attr) or field.many:
        return not field.required
    return not field.required and field.kind is not Kind.INDEX


def _fits(form: inspect.Signature, page: type[Instr], args: Sequence[Any], names: Any) -> bool:
    try:
        bound = form.bind(*args, **names).arguments
    except TypeError:
        return False
    kinds = {o.name: o.kind for o in page.operands}
    return all(isinstance(v, HANDLES.get(kinds.get(n, Kind.ANY), object)) for n, v in bound.items())


def _operand(operand: Operand, value: Any, name: str) -> Any:  # Any: what a user passed
    """A user's argument as the value a rule and a body take; TypeError says what it should be."""
    wanted = HANDLES.get(operand.kind)
    if isinstance(value, wanted or HostArray) and operand.kind in (*HANDLES, Kind.ANY):
        return value.handle
    if wanted is not None:
        raise TypeError(f"{name}: {operand.name} is a {operand.kind.value}, not {value!r}")
    return value if operand.kind is Kind.ANY else _number(operand, value, name)


def _in_range(operand: Operand, number: int, name: str) -> int:
    """A scalar fits the type its operand has."""
    dtype = ScalarType(operand.scalar or "").dtype
    if dtype is None or dtype.is_float:
        return number
    low = -(1 << (dtype.bits - 1)) if dtype.signed else 0
    if not low <= number < low + (1 << dtype.bits):
        raise ValueError(f"{name}: {operand.name} is a {dtype}, {number} is out of its range")
    return number


def _number(operand: Operand, value: Any, name: str) -> int | float:  # Any: as above
    real = operand.kind is Kind.SCALAR and operand.scalar is None
    if real and isinstance(value, float):  # np.float64 too
        return float(value)
    try:
        return _in_range(operand, operator.index(value), name)
    except TypeError:
        what = "a number" if real else "an integer"
        raise TypeError(f"{name}: {operand.name} is {what}, not {value!r}") from None


def execute(page: type[Instr], given: dict[str, Any]) -> None:  # Any: handles, numbers, words
    """Check the rules of the current target and run the body."""
    name = page.python()
    operands = {
        o.name: _operand(o, given[o.name], name)
        for o in page.operands
        if o.required or given.get(o.name) is not None
    }
    attrs = {a.name: _word(a, given[a.name]) for a in page.attrs}
    target = current_target()
    env = environment(page, operands, attrs, target)
    problems = [
        violation(page, rule, env, caller())
        for rule in page.rules_on(target)
        if rule.holds(env) is False
    ]
    if not problems:
        problems = list(_homeless(operands, target))
    if any(p.is_error for p in problems):
        raise PtoError(problems)
    _run(page, operands, attrs)


def _homeless(operands: dict[str, Any], target: Target) -> Iterator[Diagnostic]:
    """Tiles in memories that the target lacks. Any: handles and numbers."""
    for name, value in operands.items():
        if isinstance(value, Matrix) and isinstance(value.type, TileType | ConvTileType):
            yield from memory_errors(value.type, target, name, caller())


def _word(attr: Attr, value: Any) -> Any:  # Any: a word of the attribute's enumeration
    if value is None or not issubclass(attr.kind, Word):
        return value
    return word(attr.kind, value, attr.name)


def _run(page: type[Instr], operands: dict[str, Any], attrs: dict[str, Any]) -> None:
    available: dict[str, Any] = {**attrs}
    for operand in page.operands:
        value = operands.get(operand.name, operand.default)
        kind = ScalarType(operand.scalar or "").dtype
        if kind is not None and value is not None:
            value = scalar(value, kind)
        if isinstance(value, Matrix):
            value.label = operand.name
        available[operand.name] = value
    try:
        run_body(page, available, current_core().offer())
    except PtoError as problem:
        raise problem.at(caller()) from None


def _function(name: str, forms: list[type[Instr]]) -> Callable[..., None]:
    signatures = [signature(page) for page in forms]

    def call(*args: Any, events: Sequence[Event] = (), **names: Any) -> None:  # Any: a user's
        for event in events:
            event.wait()
        chosen = [
            (page, form)
            for page, form in zip(forms, signatures, strict=True)
            if _fits(form, page, args, names)
        ]
        page, form = chosen[0] if chosen else (forms[0], signatures[0])
        try:
            bound = form.bind(*args, **names)
        except TypeError as problem:
            raise TypeError(f"{name}{form}: {problem}") from None
        bound.apply_defaults()
        execute(page, bound.arguments)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n\n".join(_chapter(name, page, len(forms) > 1) for page in forms)
    call.__dict__["__signature__"] = public_signature(forms[0])
    return call


def _chapter(name: str, page: type[Instr], several: bool) -> str:
    """The docstring of a form, below its call where there are others."""
    call = f"{name}{public_signature(page)}\n\n" if several else ""
    return call + documentation(page)


def documentation(page: type[Instr]) -> str:
    """The docstring of a form: its meaning and its operands."""
    lines = [
        inspect.cleandoc(page.__doc__ or ""),
        "",
        *(f"{o.name}: {o.doc}" for o in page.operands if o.doc),
    ]
    for attr in page.attrs:
        words = attr.kind.options() if issubclass(attr.kind, Word) else (attr.kind.__name__,)
        lines.append(f"{attr.name}: {', '.join(words)}")
    return "\n".join(lines)


@cache
def instructions() -> dict[str, list[type[Instr]]]:
    """Every instruction that moves or computes data, by its Python name: its forms."""
    forms: dict[str, list[type[Instr]]] = {}
    for page in pages():
        if not page.handle:
            forms.setdefault(page.python(), []).append(page)
    return forms


@cache
def function_names() -> tuple[str, ...]:
    """The name of each function."""
    return (*instructions(), *(page.python() for page in pages() if page.readdresses))


def function(name: str) -> Callable[..., None]:
    """The function of that name: one of `function_names`."""
    forms = instructions().get(name)
    return place_at if forms is None else _function(name, forms)
