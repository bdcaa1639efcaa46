"""The current target and readings, as `with ptokit.target(...)` sets them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ptokit.isa.targets import CPU_TARGET, TARGETS, Target
from ptokit.numerics.fixpipe import CPU_READING, HARDWARE_READING, FixPipe
from ptokit.sim.execute import Core

READINGS = {"cpu": CPU_READING, "hardware": HARDWARE_READING}

_core: ContextVar[Core] = ContextVar("core")


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


def current_core() -> Core:
    """The core that eager functions run on: its target, readings, registers and flags."""
    core = _core.get(None)
    if core is None:
        core = Core(CPU_TARGET, CPU_READING)
        _core.set(core)
    return core


def current_target() -> Target:
    return current_core().target


@contextmanager
def target(name: str, *, fixpipe: str | FixPipe = "cpu") -> Generator[Target]:
    """Check and run what is inside for this target: "cpu", "a2a3" or "a5".

    `fixpipe` chooses between readings of the fix-pipe arithmetic: "cpu", "hardware", or options.
    Inside, registers are not set and no event is recorded yet.
    """
    core = Core(target_named(name), reading(fixpipe))
    token = _core.set(core)
    try:
        yield core.target
    finally:
        _core.reset(token)
