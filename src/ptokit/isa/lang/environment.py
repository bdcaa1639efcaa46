"""What a rule sees: operands as types while checking, as handles and numbers while running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptokit.isa.formula.formulas import ABSENT, Many, Missing
from ptokit.isa.lang.instr import REQUIRED, Instr


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


def call(function: Any, available: Mapping[str, Any]) -> Any:  # Any: page hooks take what they name
    """Call a page's hook with the arguments it names."""
    code = function.__code__ if hasattr(function, "__code__") else function.__func__.__code__
    names = code.co_varnames[: code.co_argcount]
    return function(**{n: available[n] for n in names if n != "cls"})


def none_if_unknown(value: Any) -> Any:  # Any: what a rule sees
    """What a page's hook gets of it: None where it is not known."""
    if isinstance(value, Many):
        return tuple(none_if_unknown(v) for v in value.values)
    return None if isinstance(value, Missing) else value
