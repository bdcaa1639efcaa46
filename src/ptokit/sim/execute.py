"""One body, executed: what the interpreter, the eager functions and the replay have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ptokit.isa.lang import Instr, Role
from ptokit.isa.targets import SPACES, Target
from ptokit.isa.words import Loc
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.hazards import State, require_registers
from ptokit.sim.memory import Memory


class Core:
    """One core: its memories by location, the readings in force, registers and flags."""

    def __init__(self, target: Target, fixpipe: FixPipe, state: State | None = None) -> None:
        self.target = target
        self.fixpipe = replace(fixpipe, a5_modes=fixpipe.a5_modes or target.name == "a5")
        self.state = state or State()
        self._spaces: dict[str, Memory] = {}

    def space(self, loc: Loc) -> Memory:
        """The memory behind a location, blank when first asked for."""
        name = SPACES[loc]
        if name not in self._spaces:
            self._spaces[name] = Memory.blank(name, self.target.capacity[name])
        return self._spaces[name]

    def offer(self) -> dict[str, Any]:
        """By the names bodies use. Any: see above."""
        readings = {"fixpipe": self.fixpipe, "gathers": self.target.gathers}
        return {**readings, **self.state.offer(), "core": self}


def run_body(page: type[Instr], available: Mapping[str, Any]) -> Any:  # Any: handles and numbers
    """Run a page's body on what it names. An instruction whose output is empty does nothing."""
    for operand in page.operands:
        if operand.role is Role.OUT:
            valid = getattr(available.get(operand.name), "valid", None)
            if valid is not None and not (valid.rows and valid.cols):
                return None
    core: Core = available["core"]
    require_registers(page, core.target, core.state, available)
    body: Any = getattr(page, "run")  # noqa: B009 - bodies are declared by pages, not by Instr
    return body(**{name: available[name] for name in page.body_names})
