"""The current target and readings, as set by `with ptokit.target(...)`; options of launches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, wraps
from importlib import import_module
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, cast

from ptokit.isa.model.targets import DEFAULT_TARGET, MACHINES, READINGS, Target
from ptokit.isa.model.words import Order
from ptokit.values.fixpipe import CPU_READING, HARDWARE_READING, FixPipe

if TYPE_CHECKING:
    from ptokit.ir.module import Op, Value
    from ptokit.isa.lang.instr import Instr
    from ptokit.isa.model.tiles import ConvTileType, TileType
    from ptokit.isa.model.types import Type
    from ptokit.machine.arguments import Launch, Outcome
    from ptokit.machine.execute import Core
    from ptokit.machine.launchoptions import Options, RunLimits
    from ptokit.machine.observer import Observer

P = ParamSpec("P")
R = TypeVar("R")
# Modules that are an Engine; each is imported when first asked for.
ENGINES = {"reference": "ptokit.engines.reference.engine", "native": "ptokit.engines.native"}
DEFAULT_ENGINE = "native"
DEFAULTS = {"fixpipe": "cpu", "blocks": 1, "ranks": 1, "strict": False}
FIXPIPES = {"cpu": CPU_READING, "hardware": HARDWARE_READING}

_core: ContextVar[Core] = ContextVar("core")


class KernelRecorder(Protocol):
    """A recorder of a kernel, which eager functions call instead of executing."""

    refused: Exception | None

    def sees(self, code: CodeType) -> bool:
        """Return whether names and branches of this code are recorded."""
        ...

    def instruction(self, page: type[Instr], given: Mapping[str, object]) -> None:
        """Record an instruction on the user's arguments."""
        ...

    def tile(self, kind: TileType | ConvTileType, valid: tuple[Any, ...]) -> Any:  # Any: a tile
        """Record a new tile."""
        ...


recording: ContextVar[KernelRecorder | None] = ContextVar("recording", default=None)
# called with each eagerly executed instruction and its operands
executed: ContextVar[Callable[[type[Instr], Mapping[str, object]], None] | None] = ContextVar(
    "executed", default=None
)


def require_text(what: str, given: object) -> None:
    """Raise TypeError unless a user names something by text."""
    if not isinstance(given, str):
        raise TypeError(f"{what}: expected a name, got {type(given).__name__}")


def target_named(name: str) -> Target:
    """Return the target of that name; ValueError lists the names.

    "a5:left,larger-views" is a5 with another order of additions (`isa.model.words.Order`) and with
    a reading (`isa.model.targets.READINGS`).
    """
    require_text("target", name)
    return _target_named(name)


@cache
def _target_named(name: str) -> Target:
    name, _, chosen = name.partition(":")
    if name not in MACHINES:
        raise ValueError(f"unknown target {name!r}: choose one of {', '.join(MACHINES)}")
    target, orders = MACHINES[name], {o.value: o for o in Order}
    for word in chosen.split(",") if chosen else ():
        if word in orders:
            target = replace(target, like=target, order=orders[word])
        elif word in READINGS:
            target = replace(target, like=target, readings=(*target.readings, word))
        else:
            known = ", ".join((*orders, *READINGS))
            raise ValueError(f"unknown order or reading {word!r}: choose one of {known}")
    return target


def reading(how: str | FixPipe) -> FixPipe:
    """Return the fix-pipe reading of that name, or the options themselves."""
    if isinstance(how, FixPipe):
        return how
    require_text("fixpipe", how)
    if how not in FIXPIPES:
        raise ValueError(f"unknown fix-pipe reading {how!r}: choose one of {', '.join(FIXPIPES)}")
    return FIXPIPES[how]


class PreparedFunction(Protocol):
    """A bound and checked function that can run repeatedly, also from several threads."""

    def run(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer] = ()) -> Outcome:
        """Run the function for each block, on arguments that differ in content only."""
        ...


class Engine(Protocol):
    """An engine: the interface of a module that executes programs."""

    __name__: str

    @staticmethod
    def prepare(launch: Launch, how: Options) -> PreparedFunction:
        """Prepare the bound and checked functions of a launch."""
        ...

    @staticmethod
    def run_op(op: Op, env: Mapping[Value, object], core: Core) -> None:
        """Run one instruction on handles and numbers, without checking rules."""
        ...


def engine_named(name: str | None) -> Engine:
    """Return the engine of that name; ValueError lists the names.

    None: the default engine; the reference where the default cannot be imported, as in a browser.
    """
    chosen = DEFAULT_ENGINE if name is None else name
    require_text("engine", chosen)
    if chosen not in ENGINES:
        raise ValueError(f"unknown engine {chosen!r}: choose one of {', '.join(ENGINES)}")
    try:
        return cast(Engine, import_module(ENGINES[chosen]))
    except ModuleNotFoundError as problem:
        if name is None:
            return engine_named("reference")
        raise ValueError(f"the engine {chosen} needs {problem.name}: install it") from None


def current_core() -> Core:
    """Return the core of eager functions: its target, readings, registers and flags."""
    core = _core.get(None)
    if core is None:
        from ptokit.machine.execute import Core  # imported here: checks need no core

        core = Core(DEFAULT_TARGET, CPU_READING)
        _core.set(core)
    return core


def current_target() -> Target:
    core = _core.get(None)
    return DEFAULT_TARGET if core is None else core.target


@contextmanager
def target(name: str, *, fixpipe: str | FixPipe = "cpu", strict: bool = False) -> Generator[Target]:
    """Check and run the body for this target: "cpu", "a2a3" or "a5".

    "a5:left,larger-views" is a5 with another order of sums and a reading: `ptokit explain a5`.
    `fixpipe` selects a reading of the fix-pipe arithmetic: "cpu", "hardware", or options. With
    `strict`, storing an undefined element is an error instead of a warning.

    The body starts without set registers and without recorded events. Each thread has its own
    target, memories and registers: a thread that starts inside `with` has the target "cpu", as any
    other.
    """
    from ptokit.machine.execute import Core

    if recording.get() is not None:
        raise ValueError("a kernel is recorded for all targets: choose the target in the call")
    core = Core(target_named(name), reading(fixpipe))
    core.strict = strict
    token = _core.set(core)
    try:
        yield core.target
    finally:
        _core.reset(token)


class GridWords(TypedDict, total=False):
    """Options of every launch."""

    fixpipe: str | FixPipe
    blocks: int


class EngineWords(GridWords, total=False):
    """Options of preparing a function for an engine."""

    engine: str | None
    schedule: str | None
    strict: bool


class KernelWords(EngineWords, total=False):
    """Options of each launch of a kernel, besides its target."""

    max_instructions: int | None
    timeout: float | None


class ProgramWords(EngineWords, total=False):
    """Options of preparing a program."""

    target: str | None
    func: str | None
    ranks: int


class RunWords(KernelWords, ProgramWords, total=False):
    """Options of one run of a program."""

    types: Mapping[str, Type] | None


def takes(words: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function accept these options: `help` lists them, and others are refused."""
    only, kinds = inspect.Parameter.KEYWORD_ONLY, words.__annotations__
    named = [
        inspect.Parameter(name, only, default=DEFAULTS.get(name), annotation=kind.__forward_arg__)
        for name, kind in kinds.items()
    ]

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        every = inspect.signature(function).parameters.values()
        shown = inspect.Signature([*(p for p in every if p.kind is not p.VAR_KEYWORD), *named])

        @wraps(function)
        def called(*args: P.args, **names: P.kwargs) -> R:
            for other in names.keys() - shown.parameters.keys():
                message = f"{function.__qualname__}() got an unexpected keyword argument {other!r}"
                raise TypeError(message)
            return function(*args, **names)

        called.__signature__ = shown  # type: ignore[attr-defined] - `inspect` reads it
        return called

    return decorated


def options_of(**words: Unpack[RunWords]) -> Options:
    """Return the options of a launch; TypeError or ValueError for invalid ones."""
    from ptokit.machine.launchoptions import Options  # imported here: checks need no options

    how: dict[str, Any] = {**words}  # Any: as in Options
    name, types = words.get("target"), words.get("types")
    how["target"] = current_target() if name is None else target_named(name)
    how["fixpipe"] = reading(words.get("fixpipe", "cpu"))
    how["types"] = tuple(sorted(types.items(), key=itemgetter(0))) if types else ()
    if words.get("engine") is not None:
        engine_named(words.get("engine"))
    if words.get("schedule") is not None:
        from ptokit.order.races import detector

        detector(words.get("schedule"))
    return Options(**how)
