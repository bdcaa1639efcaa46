"""Options as users write them: which each function takes, and the value they become."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack

from ptokit.launch.settings import current_target, engine_named, reading, target_named
from ptokit.values.fixpipe import FixPipe

if TYPE_CHECKING:
    from ptokit.isa.model.types import Type
    from ptokit.machine.launchoptions import Options

P = ParamSpec("P")
R = TypeVar("R")
DEFAULTS = {"fixpipe": "cpu", "blocks": 1, "ranks": 1, "strict": False}


class GridWords(TypedDict, total=False):
    """Options of every launch."""

    fixpipe: str | FixPipe
    blocks: int


class EngineWords(GridWords, total=False):
    """Options of what an engine makes ready to run."""

    engine: str | None
    schedule: str | None
    strict: bool


class KernelWords(EngineWords, total=False):
    """Options of each launch of a kernel, besides its target."""

    max_instructions: int | None
    timeout: float | None


class ProgramWords(EngineWords, total=False):
    """Options of a program that is made ready to run."""

    target: str | None
    func: str | None
    ranks: int


class RunWords(KernelWords, ProgramWords, total=False):
    """Options of one run of a program."""

    types: Mapping[str, Type] | None


def takes(words: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that takes these options: `help` lists them, and others are refused."""
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
    """The options that are meant; TypeError or ValueError for those that no launch can have."""
    from ptokit.machine.launchoptions import Options  # what runs is not needed to check

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
