"""The functions of a page: `run` is its body, `type_of` and `needs` say what it implies.

Their parameters are a page's operands and attributes by name; those of `run` also what it `uses`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from ptokit.isa.lang.traits import Resource

if TYPE_CHECKING:
    from ptokit.isa.lang.instr import Instr


@cache
def parameters(function: Callable[..., Any]) -> tuple[str, ...]:  # Any: a hook of a page
    """The names of a function's parameters; of a method without the class."""
    return tuple(inspect.signature(function).parameters)


def check_hooks(page: type[Instr]) -> None:
    """Say what to write where a page and its hooks disagree (TypeError)."""
    if page.run is None:
        raise TypeError(f"{page.__name__} has no body: write `def run(dst, src, ...)` on the page")
    fields = {f.name for f in (*page.operands, *page.attrs)}
    uses = {r.value: r.name for r in page.uses}
    for name in sorted(fields & {r.value for r in Resource}):
        raise TypeError(f"{page.__name__}.{name} has the name of a resource: choose another name")
    available = ((page.run, fields | uses.keys()), (page.type_of, fields), (page.needs, fields))
    for hook, known in available:
        for name in parameters(hook) if hook else ():
            if name not in known:
                raise TypeError(_unknown(f"{page.__name__}.{hook.__name__}", name))
    for name in sorted(uses.keys() - {*parameters(page.run)}):
        advice = f"add the parameter, or take {uses[name]} out of `uses`"
        raise TypeError(f"{page.__name__} uses {uses[name]}, but `run` takes no `{name}`: {advice}")


def _unknown(hook: str, name: str) -> str:
    """What to write where a hook takes something that the page does not have."""
    resources = {r.value: r.name for r in Resource}
    declare = f"`{name} = In(...)` or `{name} = Attr(...)`"
    advice = f"`uses = ({resources[name]},)`" if name in resources else declare
    return f"{hook} takes `{name}`, which the page does not declare: write {advice} on it"
