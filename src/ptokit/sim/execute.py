"""One body, executed: what the interpreter, the eager functions and the replay have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptokit.isa.lang import Instr, Role


def run_body(page: type[Instr], available: Mapping[str, Any]) -> Any:  # Any: handles and numbers
    """Run a page's body on what it names. An instruction whose output is empty does nothing."""
    for operand in page.operands:
        if operand.role is Role.OUT:
            valid = getattr(available.get(operand.name), "valid", None)
            if valid is not None and not (valid.rows and valid.cols):
                return None
    body: Any = getattr(page, "run")  # noqa: B009 - bodies are declared by pages, not by Instr
    return body(**{name: available[name] for name in page.body_names})
