"""The environment of a rule: operands as types in a check, as handles and numbers in a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ptokit.isa.formula.formulas import ABSENT, Env, Many, Missing, Value
from ptokit.isa.lang.hooks import Hook, parameters, takes_all
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import Resource
from ptokit.isa.model.targets import Target

ByName: TypeAlias = "dict[str, Value]"  # operands and attributes for rules and bodies


def environment(page: type[Instr], operands: Env, attrs: Env, target: Target) -> ByName:
    """Bind every operand and attribute of `page` to its value, its default, or ABSENT."""
    unset = page.unset
    env: ByName = {"machine": target, **unset}
    for given in (operands, attrs):
        for name, value in given.items():
            if name in unset:
                env[name] = ABSENT if value is None else value
    for name in page.lists:
        if isinstance(env[name], tuple | list):
            env[name] = Many(tuple(env[name]))
    return env


Offer: TypeAlias = "Mapping[Resource, object]"  # the engine's object for each resource


def arguments(page: type[Instr], values: Mapping[str, object], offer: Offer) -> dict[str, object]:
    """Return the arguments of the body of `page`: operands, attributes and resources by name."""
    used = {r.value: offer[r] for r in page.uses}
    return used | {name: values[name] for name in page.body_names if name not in used}


def call(function: Hook, available: Env) -> Value:
    """Call a page's hook with the arguments that its parameters name, all for `**given`."""
    names = available if takes_all(function) else parameters(function)
    return function(**{n: available[n] for n in names})


def none_if_unknown(value: Value) -> Value:
    """Return the value for a page's hook: None if it is unknown."""
    if isinstance(value, Many):
        return tuple(none_if_unknown(v) for v in value.values)
    return None if isinstance(value, Missing) else value
