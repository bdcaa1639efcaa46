"""What a rule sees: operands as types while checking, as handles and numbers while running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ptokit.isa.formula.formulas import ABSENT, Env, Many, Missing, Value
from ptokit.isa.lang.hooks import Hook, parameters
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import Resource
from ptokit.isa.model.targets import Target

ByName: TypeAlias = "dict[str, Value]"  # operands and attributes, as rules and bodies take them


def environment(page: type[Instr], operands: Env, attrs: Env, target: Target) -> ByName:
    """Bind every operand and attribute of `page`: given, by default, or ABSENT."""
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


Offer: TypeAlias = "Mapping[Resource, object]"  # what each resource is to an executor


def arguments(page: type[Instr], values: Mapping[str, object], offer: Offer) -> dict[str, object]:
    """What the body of `page` takes: operands and attributes by name, and what it uses."""
    used = {r.value: offer[r] for r in page.uses}
    return used | {name: values[name] for name in page.body_names if name not in used}


def call(function: Hook, available: Env) -> Value:
    """Call a page's hook with the arguments it names."""
    return function(**{n: available[n] for n in parameters(function)})


def none_if_unknown(value: Value) -> Value:
    """What a page's hook gets of it: None where it is not known."""
    if isinstance(value, Many):
        return tuple(none_if_unknown(v) for v in value.values)
    return None if isinstance(value, Missing) else value
