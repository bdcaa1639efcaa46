"""What a rule sees: operands bound to types while checking, to handles and numbers while running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptokit.isa.formulas import ABSENT, Many
from ptokit.isa.lang import Instr


def environment(page: type[Instr], operands: Mapping[str, Any], attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Bind every operand and attribute of `page`: given, by default, or ABSENT. Any: see above."""
    env: dict[str, Any] = {}
    for operand in page.operands:
        value = operands.get(operand.name, None if operand.required else operand.default)
        if value is None:
            value = ABSENT
        env[operand.name] = Many(value) if operand.many and isinstance(value, tuple) else value
    for attr in page.attrs:
        value = attrs.get(attr.name, attr.default)
        env[attr.name] = ABSENT if value is None else value
    return env
