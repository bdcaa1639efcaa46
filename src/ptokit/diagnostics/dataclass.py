"""`dataclass` of the standard library, with methods that are made when they are first called.

The standard function compiles up to six methods of each class, which takes longer than the rest of
the import. A command defines a hundred data classes and calls one method in ten.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, replace
from functools import partial
from reprlib import recursive_repr
from threading import RLock
from typing import Any, TypeAlias, TypeVar, dataclass_transform, overload

__all__ = ["dataclass", "field", "fields", "replace"]

T = TypeVar("T")
Method: TypeAlias = "Callable[..., Any]"  # Any: what the fields of the class are
FIELDS, MATCHED = "__dataclass_fields__", "__match_args__"
MAKING = RLock()  # several threads may need a method first


@overload
def dataclass(kind: type[T], /) -> type[T]: ...
@overload
def dataclass(
    *, frozen: bool = False, eq: bool = True, repr: bool = True
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(
    kind: type[T] | None = None, /, *, frozen: bool = False, eq: bool = True, repr: bool = True
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a data class; `fields`, `replace` and `asdict` of `dataclasses` know it."""
    made = partial(_dataclass, frozen=frozen, eq=eq, repr=repr)
    return made if kind is None else made(kind)


def _dataclass(kind: type[T], *, frozen: bool, eq: bool, repr: bool) -> type[T]:
    own = vars(kind)
    makers: dict[str, Callable[[type], Method]] = {"__init__": _frozen_init if frozen else _init}
    added: dict[str, object] = {name: _Listed(kind, name) for name in (FIELDS, MATCHED)}
    if frozen:
        added |= {"__setattr__": _no_change, "__delattr__": _no_removal}
    if repr and "__repr__" not in own:
        added["__repr__"] = _repr
    if eq and own.get("__hash__") is None:  # a class with `__eq__` alone has None as well
        makers |= {"__hash__": _hash} if frozen else {}
        added |= {} if frozen else {"__hash__": None}
    if eq and "__eq__" not in own:
        makers["__eq__"] = _eq
    for name, maker in makers.items():
        added[name] = _MadeLater(kind, name, maker)
    for name, value in added.items():
        setattr(kind, name, value)
    return kind


class _Listed:
    """The fields of a class, or their names by position, which the standard function lists."""

    def __init__(self, kind: type, name: str) -> None:
        self.kind = kind
        self.name = name

    def __get__(self, _: object, __: type) -> object:
        kind = self.kind
        with MAKING:
            if vars(kind)[FIELDS] is self or vars(kind)[MATCHED] is self:
                dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(kind)
                by_position = (f.name for f in fields(kind) if f.init and not f.kw_only)
                setattr(kind, MATCHED, tuple(by_position))
        return vars(kind)[self.name]


class _MadeLater:
    """A method that is made when it is first asked for, and then stands here itself."""

    def __init__(self, kind: type, name: str, maker: Callable[[type], Method]) -> None:
        self.kind = kind
        self.name = name
        self.maker = maker

    def __get__(self, instance: object, owner: type) -> Method:
        kind, name = self.kind, self.name
        with MAKING:
            if vars(kind)[name] is self:
                made = self.maker(kind)
                made.__qualname__, made.__module__ = f"{kind.__qualname__}.{name}", kind.__module__
                setattr(kind, name, made)
        return vars(kind)[name].__get__(instance, owner)


def _init(kind: type, assigned: str = "self.{} = {}") -> Method:
    parameters, body, known = ["self"], list[str](), dict[str, object]()
    listed = sorted(fields(kind), key=lambda one: one.kw_only is True)
    for one in listed:
        name, value, default = one.name, one.name, ""
        if one.default is not MISSING:
            default, known[f"default_{name}"] = f"=default_{name}", one.default
        elif one.default_factory is not MISSING:
            default, known[f"new_{name}"] = "=MISSING", one.default_factory
            value = f"new_{name}()" + f" if {name} is MISSING else {name}" * one.init
        if one.init:
            parameters += ["*"] if one.kw_only and "*" not in parameters else []
            parameters.append(name + default)
        if one.init or value != name:
            body.append(assigned.format(name, value))
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    made = _compiled("__init__", parameters, body or ["pass"], known)
    made.__annotations__ = {one.name: one.type for one in listed if one.init} | {"return": None}
    return made


def _frozen_init(kind: type) -> Method:
    return _init(kind, "change(self, '{}', {})")


def _eq(kind: type) -> Method:
    compared = [f for f in fields(kind) if f.compare]
    one, other = (_tuple(compared, owner) for owner in ("self", "other"))
    same = f"{one} == {other} if other.__class__ is self.__class__ else NotImplemented"
    return _compiled("__eq__", ["self", "other"], [f"return {same}"])


def _hash(kind: type) -> Method:
    hashed = [f for f in fields(kind) if (f.compare if f.hash is None else f.hash)]
    return _compiled("__hash__", ["self"], [f"return hash({_tuple(hashed, 'self')})"])


def _tuple(fields: list[Field[Any]], owner: str) -> str:  # Any: the types of the fields
    return f"({''.join(f'{owner}.{f.name}, ' for f in fields)})"


def _compiled(
    name: str, parameters: list[str], body: list[str], known: dict[str, object] | None = None
) -> Method:
    space: dict[str, Any] = {"change": object.__setattr__, "MISSING": MISSING, **(known or {})}
    exec(f"def {name}({', '.join(parameters)}):\n " + "\n ".join(body), space)
    return space[name]


@recursive_repr()
def _repr(self: Any) -> str:  # Any: an instance of a data class
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _no_change(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_removal(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
