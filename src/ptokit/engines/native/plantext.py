"""Plans as JSON, for the cache of machine code: reading one runs no code of the file's.

Objects of ptokit are named by their class and come with their fields; two places that share one
object share it again. Fields whose name begins with `_` hold what can be worked out again.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from struct import pack, unpack
from typing import Any, cast

import numpy as np

from ptokit.engines.native.plan import Plan
from ptokit.values import dtypes
from ptokit.values.dtypes import DType, dtype_named

PLAIN = (str, int, bool, type(None))
GROUPS: dict[str, Callable[..., Any]] = {"list": list, "set": set, "frozenset": frozenset}
PAIRS: dict[str, Callable[..., Any]] = {"dict": dict, "Counter": Counter}


class Unkept(Exception):
    """A part of a plan has no JSON: the plan serves this process alone."""


class _PlanWriter:
    def __init__(self) -> None:
        self.objects: list[object] = []
        self.known: dict[int, int] = {}
        self.alive: list[object] = []  # so that ids stay theirs

    def coded(self, thing: Any) -> Any:  # Any: part of a plan; JSON
        kind = cast("type[object]", type(thing))
        if kind in PLAIN:
            return thing
        if kind is tuple:
            return [self.coded(one) for one in thing]
        if kind is float:
            return {"float": pack("<d", thing).hex()}
        if kind.__name__ in GROUPS and kind.__module__ == "builtins":
            return {kind.__name__: [self.coded(one) for one in thing]}
        if kind in (dict, Counter):
            return {kind.__name__: [[self.coded(k), self.coded(v)] for k, v in thing.items()]}
        if kind is np.ndarray and not thing.dtype.hasobject:
            return {"array": [thing.dtype.str, list(thing.shape), thing.tobytes().hex()]}
        return {"object": self._object(thing)}

    def _object(self, thing: Any) -> int:  # Any: an object of ptokit's
        found = self.known.get(id(thing))
        if found is None:
            made = self._fields(thing)
            found = self.known[id(thing)] = len(self.objects)
            self.objects.append(made)
            self.alive.append(thing)
        return found

    def _fields(self, thing: Any) -> list[object]:  # Any: as above
        kind = cast("type[object]", type(thing))
        if isinstance(thing, DType):
            return ["DType", _name_of(thing)]
        if not kind.__module__.startswith("ptokit.") or "." in kind.__qualname__:
            raise Unkept(f"{kind.__module__}.{kind.__qualname__}")
        where = f"{kind.__module__}:{kind.__name__}"
        if _is(kind, Enum):
            return [where, thing.name]
        if _is(kind, tuple):
            return [where, [self.coded(one) for one in thing]]
        if not hasattr(thing, "__dict__"):
            raise Unkept(where)
        held = cast("dict[str, Any]", thing.__dict__)
        fields = {n: self.coded(v) for n, v in held.items() if not n.startswith("_")}
        return [where, fields]


def _name_of(dtype: DType) -> str:
    """The name that finds an element type."""
    for name in (dtype.name, dtype.name.upper()):
        if _dtype(name) is dtype:
            return name
    raise Unkept(dtype.name)


def _dtype(name: str) -> DType | None:
    found = vars(dtypes).get(name)
    return found if isinstance(found, DType) else dtypes.SPELLINGS.get(name)


class _PlanReader:
    def __init__(self, objects: list[Any]) -> None:  # Any: JSON
        self.objects: list[Any] = []
        for where, fields in objects:
            self.objects.append(self._made(where, fields))

    def decoded(self, given: Any) -> Any:  # Any: JSON; part of a plan
        if isinstance(given, list):
            return tuple(map(self.decoded, cast("list[Any]", given)))
        if not isinstance(given, dict):
            return given
        ((kind, value),) = cast("dict[str, Any]", given).items()
        if kind == "object":
            return self.objects[value]
        if kind == "float":
            return unpack("<d", bytes.fromhex(value))[0]
        if kind == "array":
            dtype, shape, content = value
            return np.frombuffer(bytes.fromhex(content), np.dtype(dtype)).reshape(shape).copy()
        if kind in PAIRS:
            return PAIRS[kind]({self.decoded(k): self.decoded(v) for k, v in value})
        return GROUPS[kind](map(self.decoded, value))

    def _made(self, where: str, fields: Any) -> Any:  # Any: JSON; an object of ptokit's
        if where == "DType":
            return _dtype(fields) or dtype_named(fields)
        module, _, name = where.partition(":")
        if not module.startswith("ptokit."):
            raise ValueError(where)
        kind: Any = getattr(import_module(module), name)
        if not inspect.isclass(kind) or kind.__module__ != module:
            raise ValueError(where)
        return _filled(kind, fields, self.decoded)


def _is(kind: Any, base: type) -> bool:  # Any: a class
    return issubclass(kind, base)


def _filled(kind: Any, fields: Any, decoded: Callable[[Any], Any]) -> Any:  # Any: as above
    """An object of a class with these fields."""
    if _is(kind, Enum):
        return kind[fields]
    if _is(kind, tuple):
        return kind(*map(decoded, fields))
    made: Any = object.__new__(kind)
    held = cast("dict[str, Any]", made.__dict__)
    held.update({n: decoded(v) for n, v in fields.items()})
    return made


def plan_text(plan: Plan) -> bytes:
    """Return a plan as JSON; Unkept if some part has none."""
    writer = _PlanWriter()
    root = writer.coded(plan)
    return json.dumps([writer.objects, root], separators=(",", ":")).encode()


def plan_of(text: bytes) -> Plan:
    """Return the plan that JSON stands for."""
    objects, root = json.loads(text)
    found = _PlanReader(objects).decoded(root)
    if not isinstance(found, Plan):
        raise ValueError("no plan")
    return found
