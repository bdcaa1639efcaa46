"""The Python state that a kernel can read, compared with its state at recording or at a branch.

`docs/kernels.md` lists the watched state. Code of the standard library, NumPy and ptokit is not
followed. Of modules and of ptokit objects, only attributes named in user code are watched. Objects
of installed packages are followed last, nearest first, up to a limit: an object such as a pytest
fixture may lead to everything in the process, of which a kernel reads nothing.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import itertools
import re
import sys
import sysconfig
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from operator import is_
from pathlib import Path
from struct import pack
from types import CodeType, FrameType, FunctionType
from typing import Any, cast

import numpy as np

from ptokit.api.hostarrays import HostArray
from ptokit.api.kernel.callplaces import span_of
from ptokit.api.kernel.codenames import inner_code, names_of
from ptokit.diagnostics.callsite import PACKAGE
from ptokit.diagnostics.diagnostic import error
from ptokit.values.host import AnyArray

MISSING = object()
MOST = 20_000  # objects of one capture
FAR = 2_000  # of these, objects reached through installed packages only
BYTES = 4096  # larger arrays are compared by digest
NUMPY = tuple(str(Path(np.__file__).parents[1] / name) for name in ("numpy", "ml_dtypes"))
STANDARD = sysconfig.get_path("stdlib")
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
PLAIN = (int, float, complex, str, bytes, bool, type(None), type(...), range, np.dtype)
SEQUENCES = (list, tuple, set, frozenset, deque, bytearray)
WRITTEN = (io.IOBase, type(threading.Lock()), type(threading.RLock()))  # never read
DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
UNREAD = {"__dict__", "__weakref__", "__doc__", "__module__", "_abc_impl", "__annotations__"}


@dataclass(frozen=True)
class Identity:
    """An object that is equal to itself only."""

    thing: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def exact(value: Any) -> Hashable:  # Any: a user's
    """Return a key that two values share if they are bitwise alike: `0.0` and `-0.0` are not.

    Values of classes that define equality are compared by their parts, others by identity.
    """
    kind = cast("type[object]", type(value))
    if isinstance(value, float):
        return kind, pack("d", value)
    if isinstance(value, complex):
        return kind, pack("dd", value.real, value.imag)
    if isinstance(value, tuple | frozenset):
        made = tuple if isinstance(value, tuple) else frozenset
        return kind, made(map(exact, value))  # type: ignore[arg-type]  # items of a user's container
    if isinstance(value, np.generic):
        return kind, str(_values(value).dtype), value.tobytes()
    if isinstance(value, PLAIN) and not isinstance(value, Enum):
        return kind, value  # type: ignore[return-value]  # PLAIN types are hashable
    if kind.__eq__ is object.__eq__ or isinstance(value, Enum) or not isinstance(value, Hashable):
        return Identity(value)
    fields = _instance(value)
    if fields is None:
        return Identity(value)
    return kind, tuple(map(exact, fields.read()))


@lru_cache(4096)
def _library(file: str) -> bool:
    """Return whether code reads no user state: the standard library, NumPy, ptokit."""
    if file.startswith((PACKAGE, *NUMPY, "<frozen ")):
        return True
    return file.startswith(STANDARD) and not INSTALLED.search(file)


def _of_library(kind: type, *, installed: bool = False) -> bool:
    """Return whether a class belongs to a library; `installed`: or to an installed package."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return kind.__module__ in sys.builtin_module_names
    return _library(file) or (installed and INSTALLED.search(file) is not None)


@dataclass
class ReadParts:
    """The parts of an object: how to read and how to name them.

    `names` of the parts, in order; None: `read` returns names, then as many values.
    """

    read: Callable[[], Sequence[object]]
    form: str = "{path}"  # a format with `path` and `name`
    names: Sequence[object] | None = ()
    lazy: frozenset[object] = frozenset()  # names that are bound on first access
    before: Sequence[object] = field(default_factory=list[object])

    def same(self) -> bool:
        """Return whether nothing has changed."""
        now, before = self.read(), self.before
        if len(now) != len(before):
            return False
        return all(map(is_, now, before)) or all(map(_alike, now, before))

    def changed(self, path: str) -> str | None:
        """Return the name of the first changed part."""
        if self.same():
            return None
        if self.names == ():
            return path
        old, new = (dict(_named(every, self.names)) for every in (self.before, self.read()))
        for name in (*old, *(n for n in new if n not in old)):
            fresh = name in self.lazy and name not in old
            if not fresh and not _alike(new.get(name, MISSING), old.get(name, MISSING)):
                return self.label(path, name)
        return None if self.lazy else path

    def label(self, path: str, name: object) -> str:
        """Return the name of a part for messages."""
        return self.form.format(path=path, name=name)


def _named(
    every: Sequence[object], names: Sequence[object] | None
) -> Iterator[tuple[object, object]]:
    """Yield pairs of a name and a value."""
    half = len(every) // 2 if names is None else 0
    given = every[:half] if names is None else names or itertools.repeat("")
    return zip(given, every[half:], strict=False)


def _contents(thing: Any) -> ReadParts | None:  # Any: a user's
    """Return the items of a container, or the elements of an array."""
    kind = cast("type[object]", type(thing))
    if isinstance(thing, dict | types.MappingProxyType):
        return ReadParts(lambda: [*thing, *thing.values()], "{path}[{name!r}]", None)  # type: ignore[misc]  # a user's mapping
    if isinstance(thing, SEQUENCES):
        return ReadParts(lambda: tuple(thing))  # type: ignore[arg-type]  # a user's sequence
    if isinstance(thing, np.ndarray) or hasattr(kind, "__array__"):
        return ReadParts(lambda: _elements(_values(thing)))  # type: ignore[arg-type]  # a user's array
    return None


def _elements(array: AnyArray) -> tuple[object, ...]:
    if array.dtype.hasobject:
        return array.shape, array.dtype, *array.ravel().tolist()
    content = array.tobytes()
    if len(content) > BYTES:
        content = hashlib.blake2b(content).digest()
    return array.shape, array.dtype, content


LINKS: dict[type, Callable[[Any], Sequence[object]]] = {  # Any: of that type
    functools.partial: lambda f: (f.func, f.args, f.keywords),
    types.MethodType: lambda f: (f.__self__, f.__func__),
    types.BuiltinMethodType: lambda f: (f.__self__,),
    staticmethod: lambda f: (f.__func__,),
    classmethod: lambda f: (f.__func__,),
    property: lambda f: (f.fget, f.fset, f.fdel),
    ContextVar: lambda v: (v.get(MISSING),),
    weakref.ref: lambda r: (r(),),
}


def _linked(thing: object) -> ReadParts | None:
    """Return the objects behind a callable, a descriptor or a reference."""
    if isinstance(thing, types.GeneratorType):
        return None if thing.gi_running else ReadParts(lambda: _suspended(thing))  # type: ignore[arg-type]  # a user's generator
    found = next((read for kind, read in LINKS.items() if isinstance(thing, kind)), None)
    return None if found is None else ReadParts(lambda: found(thing))


def _suspended(generator: types.GeneratorType[object, object, object]) -> list[object]:
    frame = generator.gi_frame
    return [] if frame is None else [frame.f_lasti, *frame.f_locals.values()]


def _slots(kind: type) -> dict[str, types.MemberDescriptorType]:
    every = (item for base in kind.__mro__ for item in vars(base).items())
    return {n: d for n, d in every if isinstance(d, types.MemberDescriptorType)}


def _slot(thing: object, descriptor: types.MemberDescriptorType) -> object:
    try:
        return descriptor.__get__(thing)
    except AttributeError:
        return MISSING


def _instance(thing: object) -> ReadParts | None:
    """Return the attributes of an instance; for a library class, its pickled form."""
    kind = type(thing)
    space, library = getattr(thing, "__dict__", None), _of_library(kind)
    slots = {} if library else _slots(kind)
    own = library and kind.__reduce__ is not object.__reduce__
    if (isinstance(space, dict) or slots) and not own:
        held = cast("dict[str, object]", space if isinstance(space, dict) else {})

        def attributes() -> list[object]:
            found = [_slot(thing, d) for d in slots.values()]
            return [*held, *slots, *held.values(), *found]

        bases = (item for base in kind.__mro__ for item in vars(base).items())
        lazy = frozenset(n for n, v in bases if isinstance(v, functools.cached_property))
        return ReadParts(attributes, "{path}.{name}", None, lazy)
    try:
        _pickled(thing.__reduce_ex__(4))
    except Exception:  # pickling may raise anything
        return None
    return ReadParts(lambda: (_pickled(thing.__reduce_ex__(4)),))


def _pickled(thing: object, around: tuple[int, ...] = ()) -> Hashable:
    """Return a key of values that are created anew on each access.

    TypeError if a value cannot be pickled. `around`: the ids of the enclosing objects.
    """
    inner = (*around, id(thing))
    match thing:
        case dict():
            pairs = cast("dict[object, object]", thing).items()
            return dict, tuple((exact(k), _pickled(v, inner)) for k, v in pairs)
        case list() | tuple():
            every = cast("list[object]", thing)
            return type(every), tuple(_pickled(one, inner) for one in every)
        case np.ndarray():
            return _elements(_values(thing))
        case type() | types.FunctionType() | types.BuiltinFunctionType() | types.ModuleType():
            return Identity(thing)
        case _ if isinstance(thing, PLAIN) or id(thing) in around:
            return exact(thing)
        case _:
            return _pickled(thing.__reduce_ex__(4), inner)


class PythonState:
    """The state that functions and frames can read, at the time of creation."""

    def __init__(
        self,
        roots: Mapping[str, object],
        frames: Iterable[FrameType] = (),
        bound: frozenset[str] = frozenset(),
    ) -> None:
        """Watch the state behind objects and frames; `bound`: names of the first frame."""
        self.watched: list[tuple[str, ReadParts]] = []
        # first: reached from user code; second: through installed packages only
        self._queues = deque(roots.items()), deque[tuple[str, object]]()
        self._seen: tuple[dict[int, object], dict[int, object]] = {}, {}
        self._far, self._farther = False, 0
        self._names = set[str]()
        # namespaces; True: also watch names that are not bound yet
        self._spaces: list[tuple[str, Mapping[str, object], bool]] = []
        self._hidden: list[tuple[str, object]] = []
        self._bound, self._nested = bound, frozenset[CodeType]()
        for index, frame in enumerate(frames):
            if not index:
                self._nested = inner_code(frame.f_code)
            self._frame(frame)
        self._follow()

    def same(self) -> bool:
        """Return whether nothing has changed."""
        return all(parts.same() for _, parts in self.watched)

    def changed(self) -> str | None:
        """Return the name of the first change."""
        return next(filter(None, (parts.changed(path) for path, parts in self.watched)), None)

    def require_visible(self, code: CodeType) -> None:
        """Raise PtoError if the kernel names an object that cannot be compared."""
        what = None
        for path, thing in self._hidden[:1]:
            what = f"{path} is a {type(thing).__name__}, whose changes cannot be detected"
        if self._queues[False]:
            path = self._queues[False][0][0]
            what = f"the kernel can read more than {MOST:,} objects, {path} among them"
        if what is not None:
            span = span_of(code.co_filename, code.co_firstlineno, None, None, None)
            help = "read what the kernel needs beforehand, and bind it to a separate name"
            raise error("unwatched", what, span, help=help)

    def _follow(self) -> None:
        """Follow objects until none is new; names of later code count for all namespaces."""
        done: dict[int, set[str]] = {}
        near, far = self._queues
        while near or far:
            while near:
                if len(self.watched) - self._farther > MOST:
                    return
                self._visit(*near.popleft(), far=False)
            if far and self._farther < FAR:
                self._visit(*far.popleft(), far=True)
                continue
            far.clear()
            self._far = False
            for path, space, absent in self._spaces:
                seen = done.setdefault(id(space), set())
                new = sorted(n for n in self._names - seen if absent or n in space)
                seen |= self._names
                if new:
                    self._space(path, space, new, "{path}.{name}")

    def _space(
        self, path: str, space: Mapping[str, object], names: list[str], form: str, all: bool = False
    ) -> None:
        """Watch the bindings of names in a namespace: all names, or those that code uses."""
        get, absent = space.get, itertools.repeat(MISSING)
        self._watch(path, ReadParts(lambda: [*map(get, names, absent)], form, names), named=not all)

    @property
    def _open(self) -> deque[tuple[str, object]]:
        """Return the queue for newly found values: near or far."""
        return self._queues[self._far]

    def _watch(self, path: str, parts: ReadParts, *, named: bool = False) -> None:
        parts.before = parts.read()
        self.watched.append((path, parts))
        self._farther += self._far
        for name, part in _named(parts.before, parts.names):
            if not isinstance(part, PLAIN) and part is not MISSING:
                label = parts.label(path, name)
                self._open.append((label, part))
                if named and _opaque(part):
                    self._hidden.append((label, part))

    def _frame(self, frame: FrameType) -> None:
        code = frame.f_code
        if _library(code.co_filename):
            return
        self._far = INSTALLED.search(code.co_filename) is not None
        self._code(code, frame.f_globals)
        free = [n for n in code.co_freevars if not n.startswith("__ptokit")]
        if free:
            self._watch("", ReadParts(lambda: [*map(frame.f_locals.get, free)], "{name}", free))
        self._open.extend(frame.f_locals.items())

    def _code(self, code: CodeType, space: dict[str, object]) -> None:
        names, modules, others = names_of(code)
        if not INSTALLED.search(code.co_filename):
            self._names |= others
        every = sorted(names.union(n for n in others if n in space))
        self._space("", space, every, "{name}")
        if modules:
            package = space.get("__package__")
            known = [*modules, *(f"{package}.{n}" for n in modules if package)]
            self._space("", sys.modules, known, "{name}")

    def _visit(self, path: str, thing: object, *, far: bool) -> None:
        known = any(id(thing) in seen for seen in self._seen[: 1 + far])
        if known or isinstance(thing, (*PLAIN, *WRITTEN, types.CellType)):
            return
        self._seen[far][id(thing)], self._far = thing, far
        if isinstance(thing, FunctionType):
            self._function(path, thing)
        elif isinstance(thing, types.ModuleType):
            mine = not _library(getattr(thing, "__file__", None) or "<frozen >")
            self._spaces.append((path, vars(thing), mine))
            self._open.append((f"{path}.__getattr__", vars(thing).get("__getattr__")))
        elif isinstance(thing, type):
            self._class(path, thing)
        elif type(thing).__module__.startswith("ptokit."):
            self._ours(path, thing)
        else:
            self._plain(path, thing)

    def _function(self, path: str, function: FunctionType) -> None:
        if _library(function.__code__.co_filename):
            self._open.append((path, getattr(function, "__wrapped__", None)))
            return
        code = function.__code__
        self._watch(
            path,
            ReadParts(lambda: (function.__code__, function.__defaults__, function.__kwdefaults__)),
        )
        if function.__dict__:
            self._watch(path, ReadParts(lambda: _listed(vars(function)), "{path}.{name}", None))
        cells = {
            name: cell
            for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
            if not (name in self._bound and code in self._nested)
        }
        if cells:
            every = [*cells.values()]
            self._watch(path, ReadParts(lambda: [*map(_content, every)], "{name}", [*cells]))
        self._far |= INSTALLED.search(code.co_filename) is not None
        self._code(code, function.__globals__)

    def _class(self, path: str, kind: type) -> None:
        if _of_library(kind, installed=True):
            if kind.__module__ != "builtins":
                self._spaces.append((path, vars(kind), False))
            return
        names = [n for n in vars(kind) if n not in UNREAD and not n.startswith("__annotat")]
        self._space(path, vars(kind), names, "{path}.{name}", all=True)
        self._open.extend((one.__name__, one) for one in (*kind.__bases__, type(kind)))

    def _ours(self, path: str, thing: object) -> None:
        space: dict[str, object] = getattr(thing, "__dict__", {})
        if isinstance(thing, HostArray) and "handle" in space:
            self._watch(path, ReadParts(lambda: _held(thing)))
        elif "__wrapped__" in space:  # a kernel
            self._spaces.append((path, space, False))
            self._open.append((path, space["__wrapped__"]))

    def _plain(self, path: str, thing: object) -> None:
        if isinstance(thing, types.BuiltinMethodType) and isinstance(
            thing.__self__, types.ModuleType | type(None)
        ):
            return
        kind = cast("type[object]", type(thing))
        if _of_library(kind, installed=True) and not _of_library(kind):
            if inspect.getattr_static(thing, "__wrapped__", None) is not None:  # a user's function
                self._open.append((f"{path}.__wrapped__", getattr(thing, "__wrapped__", None)))
            self._far = True
        contents = _contents(thing) or _linked(thing)
        if contents is not None:
            self._watch(path, contents)
        if isinstance(thing, types.GeneratorType) or (contents and kind.__module__ == "builtins"):
            return
        fields = _instance(thing)
        if fields is not None and (contents is None or fields.names is None):
            self._watch(path, fields)
        self._open.append((kind.__name__, kind))


def _held(tile: Any) -> tuple[object, ...]:  # Any: a tile, or memory
    """Return the bytes of a tile and its written elements, or the elements of memory."""
    if not hasattr(tile, "storage"):
        return _elements(tile.numpy())
    return str(tile.handle.type), *_elements(tile.storage()), *_elements(tile.written())


def _values(tile: Any) -> AnyArray:  # Any: a tile, or memory
    return np.asarray(tile)


def _listed(given: Mapping[str, object]) -> list[object]:
    return [*given, *given.values()]


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def _alike(now: object, before: object) -> bool:
    return now is before or (type(now) is type(before) and exact(now) == exact(before))


def _opaque(thing: object) -> bool:
    """Return whether an object, which is no function, hides its state."""
    if isinstance(thing, (*WRITTEN, *DESCRIPTORS, type, types.ModuleType)) or callable(thing):
        return False
    if type(thing).__module__.startswith("ptokit."):
        return False
    return _contents(thing) is None and _linked(thing) is None and _instance(thing) is None
