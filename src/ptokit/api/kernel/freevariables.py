"""Free variables of a kernel: the globals and closures that a capture depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ptokit.diagnostics.callsite import PACKAGE

VALUES = (int, float, complex, str, bytes, bool, type(None))
MISSING = object()


class FreeVariables:
    """Values of the free variables of a function, and of user functions that it names, at capture.

    Immutable values are compared by value, others by identity: a change captures anew.
    """

    def __init__(self, function: Callable[..., Any]) -> None:  # Any: a user's
        self.read: list[tuple[Mapping[str, Any], str, object]] = []
        self.cells: list[tuple[Any, object]] = []  # Any: cells of closures
        self._seen: set[int] = set()
        self._follow(function)

    def _follow(self, function: object) -> None:
        function = getattr(function, "__wrapped__", function)
        if not isinstance(function, FunctionType) or id(function) in self._seen:
            return
        if function.__code__.co_filename.startswith(PACKAGE):
            return
        self._seen.add(id(function))
        space = function.__globals__
        for name in _names(function.__code__):
            if name in space:
                self.read.append((space, name, space[name]))
                self._follow(space[name])
        for cell in function.__closure__ or ():
            content = _content(cell)
            self.cells.append((cell, content))
            self._follow(content)

    def same(self) -> bool:
        """Whether nothing changed."""
        return all(_same(space.get(name, MISSING), value) for space, name, value in self.read) and (
            all(_same(_content(cell), value) for cell, value in self.cells)
        )


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: Any) -> object:  # Any: a cell
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def _same(now: object, before: object) -> bool:
    if now is before:
        return True
    if isinstance(now, ModuleType) or type(now) is not type(before):
        return False
    if isinstance(now, tuple) and isinstance(before, tuple):
        pairs = zip(now, before, strict=False)  # type: ignore[misc]
        return len(now) == len(before) and all(_same(a, b) for a, b in pairs)  # type: ignore[misc]
    return isinstance(now, VALUES) and (now == before or (now != now and before != before))
