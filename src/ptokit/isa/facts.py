"""What a rule sees: operands as types while checking, as handles and numbers while running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptokit.isa.formulas import ABSENT, Many
from ptokit.isa.lang import REQUIRED, Instr


def environment(
    page: type[Instr], operands: Mapping[str, Any], attrs: Mapping[str, Any]
) -> dict[str, Any]:
    """Bind every operand and attribute of `page`: given, by default, or ABSENT. Any: see above."""
    env: dict[str, Any] = {}
    for operand in page.operands:
        value = operands.get(operand.name, None if operand.required else operand.default)
        if operand.many and value is not None:
            value = Many(tuple(value))
        env[operand.name] = ABSENT if value is None else value
    for attr in page.attrs:
        value = attrs.get(attr.name, attr.default)
        env[attr.name] = ABSENT if value is None or value is REQUIRED else value
    return env
