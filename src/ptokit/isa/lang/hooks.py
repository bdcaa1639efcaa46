"""Functions of a page: `run` is its body, `type_of` and `needs` infer types and registers.

Their parameters are operands and attributes of the page by name; `run` also has parameters for the
resources that the page `uses`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import CO_VARKEYWORDS
from types import CodeType, MethodType
from typing import Any, TypeAlias

from ptokit.isa.lang.traits import Resource

Hook: TypeAlias = "Callable[..., Any]"  # Any: operands, attributes and resources
RESOURCES = {r.value: r.name for r in Resource}


@cache
def parameters(function: Hook) -> tuple[str, ...]:
    """Return the parameter names of a function, without the class of a method."""
    code = _code(function)
    first = isinstance(function, MethodType)
    return code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]


@cache
def takes_all(function: Hook) -> bool:
    """Return whether a function has a parameter `**given`."""
    return bool(_code(function).co_flags & CO_VARKEYWORDS)


def _code(function: Hook) -> CodeType:
    return (function.__func__ if isinstance(function, MethodType) else function).__code__


def check_body(page: str, run: Hook | None, unexecuted: str, *others: Hook | None) -> None:
    """Raise TypeError unless a page has either a body or a reason why no engine executes it.

    `others` are hooks that say which instructions take its place.
    """
    if run is None and not any(others) and not unexecuted:
        raise TypeError(
            f"{page} has no body: write `def run(dst, src, ...)` on the page, or in `unexecuted` "
            "why no engine executes it"
        )
    if run is not None and unexecuted:
        raise TypeError(f"{page} has a body, yet `unexecuted` says that no engine executes it")


def check_hooks(
    page: str,
    fields: set[str],
    uses: Sequence[Resource],
    run: Hook | None,
    others: Sequence[Hook | None],
) -> None:
    """Raise TypeError, with advice, if the parameters of hooks are no fields of the page.

    `others` take fields only, `run` also the resources that the page uses.
    """
    used = {r.value: r.name for r in uses}
    for name in sorted(fields & used.keys()):
        raise TypeError(f"{page}.{name} has the name of a resource: choose another name")
    known_to = [(run, fields | used.keys()), *((other, fields) for other in others)]
    for hook, known in ((hook, known) for hook, known in known_to if hook):
        for name in parameters(hook):
            if name not in known:
                raise TypeError(_unknown(f"{page}.{hook.__name__}", name))
    for name in sorted(used.keys() - {*(parameters(run) if run else ())}):
        advice = f"add the parameter, or take {used[name]} out of `uses`"
        raise TypeError(f"{page} uses {used[name]}, but `run` takes no `{name}`: {advice}")


def _unknown(hook: str, name: str) -> str:
    """Return the message for a hook with a parameter that the page does not declare."""
    declare = f"`{name} = In(...)` or `{name} = Attr(...)`"
    advice = f"`uses = ({RESOURCES[name]},)`" if name in RESOURCES else declare
    return f"{hook} takes `{name}`, which the page does not declare: write {advice} on it"
