"""Instructions as Python functions, made from the pages, with the names and order of C++.

`textract(left, mat, 0, 64, relu="normal")` checks legality for the current target and executes at
once. Optional operands and attributes are keyword-only, indices are not.
"""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from ptokit.analysis.placement import memory_errors
from ptokit.analysis.violation import violation
from ptokit.api.events import Event
from ptokit.api.hostarrays import ConvTile, HostArray, LaneRegister, Tensor, Tile
from ptokit.api.tensors import place_at, word
from ptokit.diagnostics.callsite import caller
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine
from ptokit.ir.editing import instance
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.index import lookup, pages
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.lang.traits import READDRESSES
from ptokit.isa.model.targets import DEFAULT_TARGET, Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.launch.settings import current_core, executed, recording
from ptokit.machine.execute import ReadyOp
from ptokit.machine.tile import GlobalView, Matrix
from ptokit.machine.undefinedstore import require_defined, told
from ptokit.values.enumerations import Word
from ptokit.values.host import is_scalar

EVENTS = "events"
LARGEST_FLOAT = int(sys.float_info.max)
HANDLES: dict[Kind, type] = {
    Kind.TILE: Tile,
    Kind.GLOBAL: Tensor,
    Kind.CONV: ConvTile,
    Kind.REGISTER: LaneRegister,
}


def signature(page: type[Instr]) -> inspect.Signature:
    """Return the parameters of a form: operands in C++ order, optional ones by keyword."""
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
    """Return the parameters of the function, including the events that it waits for."""
    form = signature(page)
    if any(o.many for o in page.operands):
        return form
    events = inspect.Parameter(EVENTS, inspect.Parameter.KEYWORD_ONLY, default=())
    return form.replace(parameters=[*form.parameters.values(), events])


def _by_keyword(field: Operand | Attr) -> bool:
    if isinstance(field, Attr) or field.many:
        return not field.required
    return not field.required and field.kind is not Kind.INDEX


def _fits(
    form: inspect.Signature, page: type[Instr], args: Sequence[object], names: Mapping[str, object]
) -> bool:
    try:
        bound = form.bind(*args, **names).arguments
    except TypeError:
        return False
    kinds = {o.name: o.kind for o in page.operands}
    return all(isinstance(v, HANDLES.get(kinds.get(n, Kind.ANY), object)) for n, v in bound.items())


def _operand(operand: Operand, value: Any, page: type[Instr]) -> Any:  # Any: what a user passed
    """Return a user's argument as rules and bodies take it; TypeError if its type is wrong."""
    wanted, name = HANDLES.get(operand.kind), page.python()
    if isinstance(value, wanted or HostArray) and operand.kind in (*HANDLES, Kind.ANY):
        return value.handle
    if wanted is not None:
        raise TypeError(
            f"{name}: {operand.name} must be a {operand.kind.value}, got {shown(value)}"
        )
    return value if operand.kind is Kind.ANY else _number(operand, value, name)


def _in_range(operand: Operand, number: int, name: str) -> int:
    """Return a scalar; ValueError if it is out of range for its operand's type."""
    dtype = ScalarType(operand.scalar or "").dtype
    if operand.kind is not Kind.SCALAR and not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{name}: {operand.name} must have at most 64 bits, got {number}")
    if dtype is None or dtype.is_float:
        if abs(number) > LARGEST_FLOAT:
            raise ValueError(f"{name}: {operand.name} is out of range for floats")
        return number
    low = -(1 << (dtype.bits - 1)) if dtype.signed else 0
    if not low <= number < low + (1 << dtype.bits):
        raise ValueError(f"{name}: {operand.name}: {number} is out of range for {dtype}")
    return number


def _number(operand: Operand, value: Any, name: str) -> int | float:  # Any: as above
    typed = ScalarType(operand.scalar or "f32")
    real = operand.kind is Kind.SCALAR and typed.is_float
    if real and isinstance(value, float):  # np.float64 too
        return float(value)
    try:
        return _in_range(operand, operator.index(value), name)
    except TypeError:
        if real and is_scalar(value):
            return float(value)  # NumPy's other floats
        what = "a number" if real else "an integer"
        raise TypeError(f"{name}: {operand.name} must be {what}, got {shown(value)}") from None


def shown(value: object) -> str:  # what a user passed
    """Return a short text for a wrong argument."""
    text = repr(value)
    short = len(text) < 40 and "\n" not in text
    return text if short else f"a value of type {type(value).__name__}"


def execute(page: type[Instr], given: Mapping[str, object]) -> None:
    """Check the rules of the current target and run the body."""
    recorder = recording.get()
    if recorder is not None:
        recorder.instruction(page, given)
        return
    core = current_core()
    operands: dict[str, object] = {}
    target = _judge(page, given) if core.whole else core.target
    key: list[object] = [page, id(target)]
    fields, attrs = _fields(page)
    for operand, name, wanted, stores in fields:
        value: Any = given.get(name)  # Any: a handle or a number
        if stores and isinstance(value, Tensor):
            value.require_stored()
        if type(value) is wanted:
            taken = value.handle
        elif value is not None or operand.required:
            taken = _operand(operand, value, page)
        else:
            key.append(None)
            continue
        operands[name] = taken
        if isinstance(taken, Matrix):
            taken.label = name
            key.append(id(taken.type))
        else:
            key.append([] if isinstance(taken, tuple) else ())  # a list cannot be hashed
    for name in attrs:
        key += given[name].__class__, given[name]
    ready, homeless = _ready(page, target, operands, given, tuple(key))
    if ready.open or homeless:
        _check(ready, operands, target)
    try:
        ready.run(ready.converted(operands), {} if ready.standalone else core.offer())
    except PtoError as problem:
        raise problem.at(caller()) from None
    if any(v.lost for v in operands.values() if isinstance(v, GlobalView)):
        core.note_lost(ready.op, operands.values(), caller())
        report = require_defined if core.strict else told
        report(core.taken_warnings())
    note = executed.get()
    if note is not None:
        note(page, given)


def _judge(page: type[Instr], given: Mapping[str, object]) -> Target:
    """Return the target whose rules apply: moves between cores, in `debug`, follow the default."""
    from ptokit.passes.coretransfers import crosses

    types = [getattr(given.get(o.name), "type", None) for o in page.operands]
    return DEFAULT_TARGET if crosses(page, types) else current_core().target


@cache
def _fields(page: type[Instr]) -> tuple[list[tuple[Operand, str, type | None, bool]], list[str]]:
    """Return operands with name, handle type and whether they are stored memory; attributes."""
    of_memory = (Kind.GLOBAL, Kind.ANY)
    operands = [
        (o, o.name, HANDLES.get(o.kind), o.written and o.kind in of_memory) for o in page.operands
    ]
    return operands, [a.name for a in page.attrs]


Made: TypeAlias = "tuple[ReadyOp, bool]"
_made: dict[object, Made] = {}  # by page, target, types and words
MOST_MADE = 512


def _ready(
    page: type[Instr],
    target: Target,
    operands: Mapping[str, object],
    given: Mapping[str, object],
    key: tuple[object, ...],
) -> Made:
    """Return the prepared op of a call, and whether a tile has no memory on the target.

    The op is made once for operands of the same types. It holds the types, which keeps their ids
    unique.
    """
    try:
        found = _made.get(key)
    except TypeError:  # a list, also in the place of a word
        return _make(page, target, operands, given)
    if found is None:
        found = _make(page, target, operands, given)
        if len(_made) >= MOST_MADE:
            _made.clear()
        _made[key] = found
    return found


def _make(
    page: type[Instr], target: Target, operands: Mapping[str, object], given: Mapping[str, object]
) -> Made:
    attrs = {a.name: chosen_word(a, given[a.name]) for a in page.attrs}
    op, _ = instance(page, operands, {k: v for k, v in attrs.items() if v is not None})
    static = environment(page, {k: _static(v) for k, v in operands.items()}, attrs, target)
    rules = (rule for rule, _ in doubtful(page.rules_on(target), static))
    return ReadyOp(op, rules), any(True for _ in _homeless(operands, target))


def _static(value: object) -> object:
    """Return what all calls with operands of these types have in common."""
    if isinstance(value, tuple):
        return tuple(_static(v) for v in value)  # type: ignore[misc]  # a tuple of any values
    return value.type if isinstance(value, Matrix) else UNKNOWN


def _check(ready: ReadyOp, operands: Mapping[str, object], target: Target) -> None:
    """Check the rules that depend on the operands of this call."""
    page = ready.page
    env = environment(page, operands, ready.op.attrs, target)
    problems = [violation(page, rule, env, caller()) for rule in ready.broken(env)]
    if not problems:
        problems = list(_homeless(operands, target))
    if any(p.is_error for p in problems):
        raise PtoError(problems)


def _homeless(operands: Mapping[str, object], target: Target) -> Iterator[Diagnostic]:
    """Yield errors for tiles in memories that the target lacks."""
    for name, value in operands.items():
        if isinstance(value, Matrix) and isinstance(value.type, TileType | ConvTileType):
            yield from memory_errors(value.type, target, name, caller())


def chosen_word(attr: Attr, value: object) -> object:
    """Return the attribute value for a user's choice."""
    if value is None or not issubclass(attr.kind, Word):
        return value
    return word(attr.kind, cast(str, value), attr.name)


def _function(name: str, forms: list[type[Instr]]) -> Callable[..., None]:
    signatures = [signature(page) for page in forms]
    # by types of arguments: the form, the positional names, the defaults of the others
    shapes: dict[object, tuple[type[Instr], tuple[str, ...], dict[str, object]]] = {}

    def call(*args: object, events: Sequence[Event] = (), **names: object) -> None:
        for event in events:
            if not isinstance(event, Event):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"{name}: events: expected an event, got {shown(event)}")
            event.wait()
        shape = (*map(type, args), *names, *map(type, names.values()))
        known = shapes.get(shape)
        if known is not None:
            page, places, defaults = known
            given = dict(zip(places, args, strict=True))
            execute(page, {**given, **defaults, **names} if names or defaults else given)
            return
        both = zip(forms, signatures, strict=True)
        fitting = ((p, f) for p, f in both if _fits(f, p, args, names))
        page, form = next(fitting, (forms[0], signatures[0]))
        try:
            bound = form.bind(*args, **names)
        except TypeError as problem:
            raise TypeError(f"{name}{form}: {problem}") from None
        bound.apply_defaults()
        if not any(o.many for o in page.operands):
            places = tuple(form.parameters)[: len(args)]
            rest = form.parameters.keys() - names.keys() - {*places}
            shapes[shape] = page, places, {n: form.parameters[n].default for n in rest}
        execute(page, bound.arguments)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "\n\n".join(_chapter(name, page, len(forms) > 1) for page in forms)
    call.__dict__["__signature__"] = public_signature(forms[0])
    return call


def _chapter(name: str, page: type[Instr], several: bool) -> str:
    """Return the docstring of a form, under its signature if there are several forms."""
    call = f"{name}{public_signature(page)}\n\n" if several else ""
    return call + documentation(page)


def documentation(page: type[Instr]) -> str:
    """Return the docstring of a form: its meaning and its operands."""
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
    """Return the forms of every instruction that moves or computes data, by Python name."""
    forms: dict[str, list[type[Instr]]] = {}
    for page in pages():
        if page.on_tiles:
            forms.setdefault(page.python(), []).append(page)
    return forms


@cache
def function_names() -> tuple[str, ...]:
    """Return the name of each function."""
    others = (p.python() for p in pages() if READDRESSES in p.traits)
    return (*instructions(), *others)


def function(name: str) -> Callable[..., None] | None:
    """Return the function of that name; None if it is not one of `function_names`."""
    named = [page for page in lookup(name) if page.python() == name]
    forms = [page for page in named if page.on_tiles]
    if forms:
        return _function(name, forms)
    moved = next((page for page in named if READDRESSES in page.traits), None)
    if moved is None:
        return None
    return _deriving(moved) if moved.derives else place_at


def _deriving(page: type[Instr]) -> Callable[..., None]:
    """Return the function that binds a tile to an address derived from another tile's address."""
    result, source = page.results()[0].name, page.ins()[0].name

    def function(dst: Tile, src: Tile) -> None:
        core = current_core()
        given = {n: _operand(page.operand(n), t, page) for n, t in ((result, dst), (source, src))}
        env = environment(page, given, {}, core.target)
        broken = (r for r in page.rules_on(core.target) if r.holds(env) is False)
        problems = [violation(page, rule, env, caller()) for rule in broken]
        problems = problems or list(_homeless(given, core.target))
        if any(p.is_error for p in problems):
            raise PtoError(problems)
        machine = InterpretedMachine(core)
        made = page.run(machine=machine, **{result: dst.handle.type, source: given[source]})
        dst.handle.elements = made.elements

    function.__name__ = function.__qualname__ = page.python()
    function.__doc__ = documentation(page)
    return function
