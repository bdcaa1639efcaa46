"""Plans: the data needed to run compiled code, which can be cached on disk.

The cache key is a text of all that the machine code depends on. A plan is stored as JSON, so that
reading a file executes no code from it.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from struct import pack, unpack
from typing import Any, cast
from zlib import crc32

import numpy as np

from ptokit.engines.native.frame import Purpose
from ptokit.ir.description import Description
from ptokit.ir.module import Block, Value
from ptokit.machine.execute import Core
from ptokit.machine.executionlog import LogPoint
from ptokit.machine.sources import fingerprint_without
from ptokit.machine.tile import Matrix, Pointer
from ptokit.order.group import GroupedCore
from ptokit.values import dtypes
from ptokit.values.dtypes import DType, dtype_named


def described(body: Block, core: Core, env: Mapping[Value, object]) -> str:
    """Return a text that differs if the code differs: instructions, types, arguments, target."""
    grouped = core if isinstance(core, GroupedCore) else None
    memories: list[int] = []

    def argument(handle: object) -> str:
        memory = id(getattr(handle, "memory", None))
        memories.append(memory)
        return f"{memories.index(memory)} {_argument(handle)}"

    program = Description(grouped.ends if grouped else {})
    arguments = [f"{program.name(v)} {argument(handle)}" for v, handle in env.items()]
    grid = (grouped.grid.cells, grouped.grid.together, grouped.grid.separate) if grouped else ()
    place = core.kind, core.subblock_idx, core.lanes, grid
    head = (fingerprint(), repr(core.target), repr(core.fixpipe), repr(place))
    return "\n".join((*head, *arguments, *program.lines(body)))


def _argument(handle: object) -> str:
    if isinstance(handle, Pointer):
        memory = handle.memory
        return f"{handle.dtype} {handle.offset} {memory.given} {memory.growable}"
    if not isinstance(handle, Matrix):
        return repr(handle)
    elements, memory = handle.elements, handle.memory
    place = (memory.name, elements.address, elements.origin, elements.map, memory.given)
    shadow = 0 if memory.given else crc32(memory.shadow.tobytes())
    return f"{handle.type!r} {place!r} {shadow}"


BELOW_ENGINES = frozenset({"launch", "explore", "passes", "api", "tools"})


@cache
def fingerprint() -> str:
    """Return the sources of which machine code may be made: see `machine.sources`.

    Engines import nothing from the folders left out; see `docs/architecture.md`.
    """
    return fingerprint_without(BELOW_ENGINES)


@dataclass(frozen=True)
class Request:
    """A call back of a compiled program at an instruction, given by its place in the function.

    `values` are its operands, `inside` the enclosing regions with their arguments, as templates
    (see `kernels.handles`). `ahead` is the number of counted instructions that are still to come.
    `result` is the slot for the resulting number.
    """

    op: int
    values: tuple[object, ...]
    inside: tuple[tuple[int, tuple[object, ...]], ...]
    purpose: Purpose
    ahead: int
    result: int | None = None


@dataclass(frozen=True)
class Plan:
    """The data needed to run the machine code of a program; the cache stores it with the code.

    `in_order`: every block writes to the same place. `reads`, `writes`: the accessed arrays, by
    space.
    """

    slots: int
    scratch: int
    in_order: bool
    reads: frozenset[str]
    writes: frozenset[str]
    counts: tuple[tuple[int, Counter[str]], ...]
    spaces: tuple[str, ...]
    tracked: frozenset[str]
    requests: tuple[Request, ...]
    results: tuple[object, ...]
    by_reference: frozenset[tuple[str, str]]  # mnemonics and reasons
    functions: tuple[tuple[str, str], ...]  # mnemonic and name of each generated function
    points: tuple[LogPoint, ...] = ()
    entries: tuple[int, ...] = ()  # the places of the instructions of queue entries
    width: int = 0  # words of a queue record
    careful: bool = False  # see `seenruns.Tracking`
    repeatable: bool = False  # what is defined follows from the numbers of a run

    @cached_property
    def serial(self) -> bool:
        """Return whether blocks have to run one after another."""
        return self.in_order or bool(shared_arrays([self]))


def shared_arrays(plans: Sequence[Plan]) -> frozenset[str]:
    """Return the arrays through which a block may depend on earlier blocks, by space.

    `plans` are those of the programs of one block.
    """
    every = frozenset[str]()
    reads, writes = every.union(*(p.reads for p in plans)), every.union(*(p.writes for p in plans))
    return reads & writes


def places(block: Block) -> dict[int, int]:
    """Return the place in the text of every instruction and region of a function, by id."""
    found: list[object] = []
    for op in block.walk():
        found += [op, *op.regions]
    return {id(thing): number for number, thing in enumerate(found)}


PLAIN = (str, int, bool, type(None))
GROUPS: dict[str, Callable[..., object]] = {"list": list, "set": set, "frozenset": frozenset}
PAIRS: dict[str, Callable[..., object]] = {"dict": dict, "Counter": Counter}


class Unkept(Exception):
    """Raised for a part of a plan without a JSON form: the plan serves this process only."""


class _PlanWriter:
    def __init__(self) -> None:
        self.objects: list[object] = []
        self.known: dict[int, int] = {}
        self.alive: list[object] = []  # keeps ids unique

    def coded(self, thing: Any) -> object:  # Any: part of a plan
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

    def _object(self, thing: object) -> int:
        found = self.known.get(id(thing))
        if found is None:
            made = self._fields(thing)
            found = self.known[id(thing)] = len(self.objects)
            self.objects.append(made)
            self.alive.append(thing)
        return found

    def _fields(self, thing: object) -> list[object]:
        kind = type(thing)
        if isinstance(thing, DType):
            return ["DType", _name_of(thing)]
        if not kind.__module__.startswith("ptokit.") or "." in kind.__qualname__:
            raise Unkept(f"{kind.__module__}.{kind.__qualname__}")
        where = f"{kind.__module__}:{kind.__name__}"
        if isinstance(thing, Enum):
            return [where, thing.name]
        if isinstance(thing, tuple):
            return [where, [self.coded(one) for one in cast("tuple[object, ...]", thing)]]
        if not hasattr(thing, "__dict__"):
            raise Unkept(where)
        held = cast("dict[str, object]", thing.__dict__)
        fields = {n: self.coded(v) for n, v in held.items() if not n.startswith("_")}
        return [where, fields]


def _name_of(dtype: DType) -> str:
    """Return the name under which an element type is found."""
    for name in (dtype.name, dtype.name.upper()):
        if _dtype(name) is dtype:
            return name
    raise Unkept(dtype.name)


def _dtype(name: str) -> DType | None:
    found = vars(dtypes).get(name)
    return found if isinstance(found, DType) else dtypes.SPELLINGS.get(name)


class _PlanReader:
    def __init__(self, objects: list[tuple[str, Any]]) -> None:  # Any: JSON, here and below
        self.objects: list[object] = []
        for where, fields in objects:
            self.objects.append(self._made(where, fields))

    def decoded(self, given: object) -> Any:
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

    def _made(self, where: str, fields: Any) -> object:
        if where == "DType":
            return _dtype(fields) or dtype_named(fields)
        return _filled(_kind(where), fields, self.decoded)


@cache
def _kind(where: str) -> type:
    """Return the class of ptokit that a plan names; ValueError if there is none."""
    module, _, name = where.partition(":")
    if not module.startswith("ptokit."):
        raise ValueError(where)
    kind = getattr(import_module(module), name)
    if not inspect.isclass(kind) or kind.__module__ != module:
        raise ValueError(where)
    return kind


def _is(kind: type, base: type) -> bool:
    return issubclass(kind, base)


def _filled(kind: Any, fields: Any, decoded: Callable[[Any], Any]) -> Any:  # Any: as above
    """Return an object of a class with these fields."""
    if _is(kind, Enum):
        return kind[fields]
    if _is(kind, tuple):
        return kind(*map(decoded, fields))
    made = object.__new__(kind)
    made.__dict__.update({n: decoded(v) for n, v in fields.items()})
    return made


def plan_text(plan: Plan) -> bytes:
    """Return a plan as JSON; Unkept if some part has no JSON form."""
    writer = _PlanWriter()
    root = writer.coded(plan)
    return json.dumps([writer.objects, root], separators=(",", ":")).encode()


def plan_of(text: bytes) -> Plan:
    """Return the plan of a JSON text."""
    objects, root = json.loads(text)
    found = _PlanReader(objects).decoded(root)
    if not isinstance(found, Plan):
        raise ValueError("no plan")
    return found
