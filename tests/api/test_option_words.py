"""Options as keyword arguments: declared once, listed by `help`, and no others are taken."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import ptokit as pto
from every import every

PROGRAM = pto.loads("func.func @f() {\n  return\n}\n")


@pto.kernel
def nothing(x: Any) -> None:
    """Without an instruction."""


OF_LAUNCHES = {"fixpipe": "cpu", "blocks": 1, "engine": None, "schedule": None, "strict": False}
LIMITS = {"max_instructions": None, "timeout": None}
OF_PROGRAMS = {**OF_LAUNCHES, "target": None, "func": None, "ranks": 1}
TAKEN: list[tuple[Callable[..., Any], dict[str, object]]] = [
    (PROGRAM.run, {**OF_PROGRAMS, **LIMITS, "cluster": None}),
    (PROGRAM.execute, {**OF_PROGRAMS, **LIMITS, "cluster": None, "types": None, "observers": ()}),
    (PROGRAM.compile, {**OF_PROGRAMS, "slots": False}),
    (PROGRAM.code, {"target": None, "func": None, "fixpipe": "cpu", "blocks": 1, "types": None}),
    (nothing.on, {**OF_LAUNCHES, **LIMITS}),
]


@every(("function", "options"), TAKEN)
def test_help_lists_each_option_with_its_default(
    function: Callable[..., Any], options: dict[str, object]
) -> None:
    every = inspect.signature(function).parameters.values()
    assert {p.name: p.default for p in every if p.kind is p.KEYWORD_ONLY} == options


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Program\.compile\(\) .* argument 'timeout'"):
        PROGRAM.compile(timeout=1.0)  # type: ignore[call-arg] - it is what is tested
    with pytest.raises(TypeError, match=r"Kernel\.on\(\) .* argument 'ranks'"):
        nothing.on(ranks=2)  # type: ignore[call-arg] - as above


@every("options", [{"blocks": 0}, {"ranks": 257}, {"engine": "x"}])
def test_what_no_launch_can_have_is_refused_before_anything_runs(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        PROGRAM.compile(**options)
