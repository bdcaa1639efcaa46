"""The current target and readings, as `with ptokit.target(...)` sets them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ptokit.isa.targets import CPU_TARGET, TARGETS, Target
from ptokit.numerics.fixpipe import CPU_READING, HARDWARE_READING, FixPipe

READINGS = {"cpu": CPU_READING, "hardware": HARDWARE_READING}

_target: ContextVar[Target] = ContextVar("target", default=CPU_TARGET)
_fixpipe: ContextVar[FixPipe] = ContextVar("fixpipe", default=CPU_READING)


def target_named(name: str) -> Target:
    """The target of that name; ValueError lists them."""
    if name not in TARGETS:
        raise ValueError(f"no target {name!r}: choose one of {', '.join(TARGETS)}")
    return TARGETS[name]


def reading(how: str | FixPipe) -> FixPipe:
    """The fix-pipe reading of that name, or the options themselves."""
    if isinstance(how, FixPipe):
        return how
    if how not in READINGS:
        raise ValueError(f"no fix-pipe reading {how!r}: choose one of {', '.join(READINGS)}")
    return READINGS[how]


def current_target() -> Target:
    return _target.get()


def current_fixpipe() -> FixPipe:
    return _fixpipe.get()


@contextmanager
def target(name: str, *, fixpipe: str | FixPipe = "cpu") -> Generator[Target]:
    """Check and run what is inside for this target: "cpu", "a2a3" or "a5".

    `fixpipe` chooses between readings of the fix-pipe arithmetic: "cpu", "hardware", or options.
    """
    chosen = target_named(name)
    tokens = _target.set(chosen), _fixpipe.set(reading(fixpipe))
    try:
        yield chosen
    finally:
        _target.reset(tokens[0])
        _fixpipe.reset(tokens[1])
