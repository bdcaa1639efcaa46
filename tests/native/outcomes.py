"""What runs come to in both engines, which must be the same to the last word of a message."""

from __future__ import annotations

from typing import Any

import pytest

import ptokit as pto

ENGINES = ("reference", "native")


def outcome(program: pto.Program | str, given: dict[str, Any], **how: Any) -> dict[str, Any] | str:
    """Return the bytes of each output, or the error as a terminal shows it."""
    try:
        made = pto.loads(program, "f.pto") if isinstance(program, str) else program
        found = made.run(**given, **how)
    except pto.PtoError as problem:
        return str(problem)
    return {name: array.tobytes() for name, array in found.items()}


def agreed(program: pto.Program | str, given: dict[str, Any], **how: Any) -> dict[str, Any] | str:
    """Return what both engines come to."""
    one, other = (outcome(program, given, engine=engine, **how) for engine in ENGINES)
    assert one == other
    return one


def refused(program: pto.Program | str, given: dict[str, Any], **how: Any) -> pto.Diagnostic:
    """Return the one error of both engines."""
    said: list[pto.Diagnostic] = []
    for engine in ENGINES:
        made = pto.loads(program, "f.pto") if isinstance(program, str) else program
        with pytest.raises(pto.PtoError) as caught:
            made.run(**given, engine=engine, **how)
        (problem,) = caught.value.diagnostics
        said.append(problem)
    assert said[0].render() == said[1].render()
    return said[0]
