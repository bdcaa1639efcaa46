"""C++: a program as intrinsic calls, tiles as types, loops as loops.

A page without a template of its own prints as `NAME<template arguments>(operands in order)`;
handles, numbers and control print through the template on their page.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from math import isfinite, isnan

from ptokit.ir.module import AnyOp, Block, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Attr, Operand
from ptokit.isa.lang.traits import ALLOCATES, CALLS, OUTSIDE, WINDOW
from ptokit.isa.model.dtypes import DType
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import (
    Elided,
    Kind,
    PtrType,
    ScalarType,
    Type,
)
from ptokit.isa.model.words import Word
from ptokit.text.write.cpptypes import identifier, literal, type_cpp, unlike

INCLUDES = [f"#include <{name}>" for name in ("array", "cmath", "cstdint", "tuple")]
INCLUDES.append("#include <pto/pto-inst.hpp>")
FIELD = """
template <int I, int... Rest, class T> auto &field(T &of)
{
  if constexpr (sizeof...(Rest) == 0)
    return std::get<I>(of);
  else
    return field<Rest...>(std::get<I>(of));
}"""
STATED = re.compile(r"(\w+)(?:<(.*?)>)?\((.*)\)")
CHOICE = re.compile(r"\{(\w+\|(?:[^{}]|\{\w+\})*)\}")
ONLY_GIVEN = re.compile(r"\{\w+\?\}")
OPTIONAL, NAMES = re.compile(r"\[(.*?)\]"), re.compile(r"\{(\w+)\??\}")


class Printer:
    """Prints functions; names become C++ identifiers, those of functions as `called` has them."""

    def __init__(self, called: Mapping[str, str], entries: Container[str] = ()) -> None:
        self.called, self.entries = called, entries
        self.zeros: set[Value] = set()  # constants: no part starts later for them
        self.names: dict[Value, str] = {}
        self.args: list[Value] = []
        # what the end of a region assigns, from the last one on
        self.passed: dict[AnyOp, list[tuple[str, Value]]] = {}
        self.first: dict[Value, Value] = {}  # what the array behind a view or pointer begins with
        self.windows: dict[Value, Type] = {}  # of parts of tiles: their types

    def name(self, value: Value) -> str:
        if value not in self.names:
            taken = {*self.names.values(), *self.called.values()}
            self.names[value] = unlike(identifier(value.name), taken)
        return self.names[value]

    def head(self, func: Func) -> str:
        """The declaration of a function."""
        args = ", ".join(f"{type_cpp(a.type)} {self.name(a)}".replace("* ", "*") for a in func.args)
        given = ", ".join(map(type_cpp, func.results)) or "void"
        given = f"std::tuple<{given}>" if len(func.results) > 1 else given
        launched = 'extern "C" __global__ ' if func.name in self.entries else ""
        return f"{launched}AICORE {given} {self.called[func.name]}({args})"

    def func(self, func: Func) -> Iterator[str]:
        self.args = func.args
        yield self.head(func)
        yield "{"
        yield from self.block(func.body, "  ")
        yield "}"
        if func.name in self.entries:
            given = ", ".join(map(self.name, func.args))
            yield f"// launch: {self.called[func.name]}<<<blocks, nullptr, stream>>>({given});"

    def block(self, block: Block, indent: str) -> Iterator[str]:
        for op in block.ops:
            for line in self.op(op):
                yield indent + line if line else line

    def op(self, op: AnyOp) -> Iterator[str]:
        yield from ("//" + c.lstrip("/#") if c else "" for c in op.comments.before)
        if isinstance(op, OpaqueOp):
            yield f"// not known to ptokit: {op.name}"
            return
        if op.page.asm.shape == "constant" and 0 in op.attrs.values():
            self.zeros.update(op.results)
        yield from self._widened(op)
        yield from self._carried(op) if op.regions else ()
        yield from self._assigned(op)
        self._derived(op)
        template = op.page.asm.cpp_text
        line = self._call(op) if template is None else self._filled(op, template)
        if line:
            yield line
        for position, region in enumerate(op.regions):
            runs_on = position > 0 and (position - 1, position) in op.page.routes
            if not runs_on:
                yield from ("else", "{") if position else ("{",)
            yield from self.block(region, "  ")
            if (position, position + 1) not in op.page.routes:
                yield "}"
        if line.startswith("#if"):  # what is between braces is for one kind of core
            yield "#endif"

    def _widened(self, op: Op) -> Iterator[str]:
        """Says where C++ has no conversion: a part of a tile goes where its own extents count."""
        if WINDOW in op.page.traits:
            for whole in [v for _, v in op.values() if isinstance(v.type, TileType)][:1]:
                for part in op.results:
                    self.windows[part] = self._window(whole, part)
            return
        taken = [v for n, v in op.values() if op.page.operand(n).kind is Kind.ANY]
        for value in dict.fromkeys(v for v in taken if v in self.windows):
            part, kind = type_cpp(value.type), type_cpp(self.windows[value])
            if part != kind:
                yield f"// {self.name(value)}: it is a {kind}, which C++ does not pass as {part}"

    def _window(self, whole: Value, part: Value) -> Type:
        """The type of a part of a tile in C++: its lines are those of the whole."""
        kind = self.windows.get(whole, whole.type)
        if not isinstance(kind, TileType) or not isinstance(part.type, TileType):
            return part.type
        return replace(kind, valid=part.type.valid)

    def _carried(self, op: Op) -> Iterator[str]:
        """Declares what goes from region to region: one variable for all that takes one value."""
        kinds: dict[str, Type] = {}
        for source, _, pairs in op.flows():
            end = op if source == OUTSIDE else op.regions[source].terminator or op
            known = self.passed.setdefault(end, [])
            for position, (sent, taken) in enumerate(pairs):
                if position == len(known):
                    known.append((self.name(taken), sent))
                self.names.setdefault(taken, known[position][0])
                kinds[self.names[taken]] = taken.type
        starts = dict(self.passed.pop(op, ()))
        for name, kind in kinds.items():
            start = f" = {self.name(starts[name])}" if name in starts else ""
            yield f"{type_cpp(kind)} {name}{start};"

    def _assigned(self, op: Op) -> Iterator[str]:
        """What the end of a region passes on, all at once."""
        passed = reversed(self.passed.get(op, ()))
        new = {name: v for name, sent in passed if (v := self.name(sent)) != name}
        if len(new) > 1:
            yield f"std::tie({', '.join(new)}) = std::tuple({', '.join(new.values())});"
        else:
            yield from (f"{name} = {value};" for name, value in new.items())

    def _call(self, op: Op) -> str:
        page = op.page
        if page.asm.call:
            return self._stated(op)
        given = [self._argument(op, o) for o in page.operands if op.bound(o.name)]
        bound = [o for o in page.operands if op.bound(o.name)]
        tiles = [
            f"decltype({self.name(value)})"
            for o in bound
            for value in op.bound(o.name)
            if o.kind in (Kind.TILE, Kind.CONV, Kind.GLOBAL) and not page.asm.deduced
        ]
        chosen = [
            self._word(a, op.attrs[a.name]) for a in page.attrs if a.cpp and a.name in op.attrs
        ]
        templates = f"<{', '.join((*tiles, *chosen))}>" if chosen else ""
        return f"{page.cpp}{templates}({', '.join(given)});"

    def _stated(self, op: Op) -> str:
        """The call that the page states."""
        found = STATED.fullmatch(op.page.asm.call)
        assert found is not None, op.page.asm.call
        name, types, arguments = found.groups()
        chosen = [*self._stated_words(op, types or "", "decltype({})")]
        given = [*self._stated_words(op, arguments, "{}")]
        templates = f"<{', '.join(chosen)}>" if chosen else ""
        return f"{name}{templates}({', '.join(given)});"

    def _stated_words(self, op: Op, listed: str, how: str) -> Iterator[str]:
        attrs = {a.name: a for a in op.page.attrs}
        """The words of a list of arguments: operands, attributes, text.

        `attr?` is left out where the program does not give it; `attr=` where neither it nor one
        behind it is given.
        """
        known = {o.name for o in op.page.operands}
        words = listed.split(", ") if listed else []
        given = [n for n, word in enumerate(words) if word.rstrip("?=") in op.attrs]
        if all(word[-1] in "?=" or word in known for word in words) and how != "{}" and not given:
            return
        for n, word in enumerate(words):
            name = word.strip("&?=")
            if name in attrs:
                left_out = word[-1] == "?" or (word[-1] == "=" and n > max(given, default=-1))
                if n in given or not left_out:
                    yield self._word(attrs[name], op.attrs.get(name, attrs[name].default))
            elif name in known:
                address = "&" if word[0] == "&" else ""
                value = self._argument(op, op.page.operand(name))
                yield from [address + how.format(value)] if value else []
            elif name.partition(".")[0] in known:
                owner, _, member = name.partition(".")
                yield f"decltype({self._argument(op, op.page.operand(owner))})::{member}"
            else:
                yield word

    def _derived(self, op: Op) -> None:
        """Views and pointers that are made of one another are of one array."""
        for result in op.results:
            for _, value in op.values():
                if _dtype_behind(value.type) == _dtype_behind(result.type) is not None:
                    self.first.setdefault(result, self.first.get(value, value))

    def _begin(self, view: Value) -> str:
        """A pointer to where the array of a view begins, as far as the function shows it."""
        first = self.first.get(view, view)
        if isinstance(first.type, PtrType):
            return self.name(first)
        known = first in self.args and "offset:" not in getattr(first.type, "written", "")
        return f"{self.name(first)}.data(){'' if known else ' /* from where its array begins */'}"

    def _strides(self, view: Value, rank: int) -> list[str]:
        """The last `rank` strides of a view, as C++ asks for them."""
        return [f"{self.name(view)}.GetStride({n})" for n in range(5 - rank, 5)]

    def _made(self, op: Op, result: Value) -> dict[str, object]:
        """Return what the constructor of a view or of a part of a tile takes.

        `NAME_open` has those of the values NAME that the type leaves open; `open` those of its
        size, in parentheses.
        """
        made: dict[str, object] = {}
        kind = result.type
        if isinstance(kind, GlobalType):
            extents: tuple[int | None, ...] = kind.shape
            for view in (v for _, v in op.values() if isinstance(v.type, GlobalType)):
                made |= self._steps(op, view, kind.rank)
        elif isinstance(kind, TileType):
            extents = (kind.valid.rows, kind.valid.cols)
            made["window"] = type_cpp(self.windows.get(result, kind))
        else:
            return made
        for operand in (o for o in op.page.operands if o.many):
            values = [*map(self.name, op.bound(operand.name))]
            if len(values) == len(extents):
                pairs = zip(values, extents, strict=True)
                made[f"{operand.name}_open"] = given = ", ".join(v for v, n in pairs if n is None)
                if operand.counts == "extents":  # the last one has the size
                    made["open"] = f"({given})" if given else ""
        return made

    def _steps(self, op: Op, view: Value, rank: int) -> dict[str, object]:
        """Return the last `rank` strides of a view, and each list of numbers times them.

        `NAME_at` is how far the element at the offsets NAME is from the first one.
        """
        made: dict[str, object] = {"strides_of_view": ", ".join(self._strides(view, rank))}
        for operand in (o for o in op.page.operands if o.many):
            values = [*map(self.name, op.bound(operand.name))]
            steps = self._strides(view, len(values))
            by = [f"{v} * {s}" for v, s in zip(values, steps, strict=True)]
            bound = zip(op.bound(operand.name), by, strict=True)
            made[f"{operand.name}_at"] = "".join(f" + {b}" for v, b in bound if v not in self.zeros)
            made[f"strides_by_{operand.name}"] = ", ".join(by)
        return made

    def _argument(self, op: Op, operand: Operand) -> str:
        """The values of an operand; an integer of another type would be taken for an event."""
        cast = "(uint64_t)" if operand.scalar == "u64" else ""
        return ", ".join(cast + self.name(v) for v in op.bound(operand.name))

    def _word(self, attr: Attr, value: object) -> str:
        if isinstance(value, Word):
            return f"{value.cpp_type}::{value.cpp}"
        return str(value).lower()

    def _filled(self, op: Op, template: str) -> str:
        """The page's template with operand names, attribute words and result types filled in.

        Square brackets hold text that is left out unless each name in it is given, and not false;
        `{name?}` only asks, `{name|text}` is the text where the name is not given.
        """
        fill: dict[str, object] = {"call": self._stated(op)} if op.page.asm.call else {}
        for operand in op.page.operands:
            fill[operand.name] = self._argument(op, operand)
            if operand.kind is Kind.GLOBAL and op.bound(operand.name):
                view = op.bound(operand.name)[0]
                fill[f"{operand.name}_begin"] = self._begin(view)
            if operand.many:
                names = map(self.name, op.bound(operand.name))
                fill[f"{operand.name}_subscripts"] = "".join(f"[{name}]" for name in names)
            for value in op.bound(operand.name):
                data = ".data()" if isinstance(value.type, GlobalType) else ""
                fill[f"{operand.name}_ptr"] = self.name(value) + data
                fill |= _words_of(value.type, "minus", "-")
        for operand, result in zip(op.page.results(), op.results, strict=False):
            if isinstance(result.type, Elided) and ALLOCATES in op.page.traits:
                return f"// {self.name(result)}: a tile whose type the program leaves out"
            fill[operand.name] = self.name(result)
            fill |= self._made(op, result)
            fill = _words_of(result.type, "lowest", "1") | fill | {"type": type_cpp(result.type)}
        for attr in op.page.attrs:
            value = op.attrs.get(attr.name, attr.default)
            worded = value.cpp.format_map(fill) if isinstance(value, Word) else None
            fill[attr.name] = worded or _text(
                attr.in_cpp(value) if isinstance(value, str) else value
            )
            if attr.kind is str:
                fill[f"{attr.name}_literal"] = literal(str(value))
        if CALLS in op.page.traits:
            called = op.page.attrs[0].name
            callee = str(fill[called])
            fill[called] = self.called.get(callee, identifier(callee))
        names = ", ".join(map(self.name, op.results))
        fill["results"] = f"[{names}]" if len(op.results) > 1 else names
        if op.regions and op.regions[0].args:
            fill["iv"] = self.name(op.regions[0].args[0])

        def given(name: str) -> bool:
            return fill.get(name) not in (None, "", "false")

        template = CHOICE.sub(lambda m: _first_given(fill, m[1].split("|")), template)
        chosen = OPTIONAL.sub(
            lambda m: m[1] if all(map(given, NAMES.findall(m[1]))) else "", template
        )
        chosen = ONLY_GIVEN.sub("", chosen)
        return _tidy(chosen.format_map(_Blank(fill)))


def _dtype_behind(kind: Type) -> DType | None:
    """The element type of an array that a view or pointer leads to; None of all else."""
    return kind.dtype if isinstance(kind, GlobalType | PtrType) else None


def _text(value: object) -> object:
    """A literal; None where an attribute is absent."""
    if isinstance(value, float) and not isfinite(value):
        return "NAN" if isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))  # type: ignore[reportUnknownArgumentType]
    return str(value).lower() if isinstance(value, bool) else value


def _words_of(kind: Type, bit: str, meaning: str) -> dict[str, object]:
    """What a template may say of the type of an integer: its unsigned type, that it is one bit."""
    if isinstance(kind, PtrType) and kind.dtype.packed:
        return {"pair": "2"}  # as many elements has what a pointer points to
    if not isinstance(kind, ScalarType) or kind.is_float:
        return {}
    if kind.bits == 1:
        return {"unsigned": "bool", bit: meaning}
    return {"unsigned": f"uint{kind.bits}_t"}


def _first_given(fill: Mapping[str, object], names: list[str]) -> str:
    """The first of some words that is given, the last where none is: that is text."""
    *words, last = names
    return next((f"{{{name}}}" for name in words if fill.get(name)), last)


class _Blank(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


def _tidy(text: str) -> str:
    return text.replace("(, )", "").replace("(, ", "(").replace(", )", ")")


def _calls(module: Module) -> Iterator[tuple[Func, str]]:
    """The calls of a module: who calls, and the name."""
    for func in (part for part in module.parts if isinstance(part, Func)):
        for op in func.walk():
            if isinstance(op, Op) and CALLS in op.page.traits:
                yield func, str(op.attrs[op.page.attrs[0].name])


def _entries(module: Module) -> set[str]:
    """The names of the functions that a host launches: those marked, else those nobody calls."""
    own = [f for f in module.parts if isinstance(f, Func) and not f.declared]
    called = {name for _, name in _calls(module)}
    free = {f.name for f in own if f.name not in called and not f.results}
    return {f.name for f in own if f.launched} or free


def _declared(module: Module) -> list[Func]:
    """Functions that are called before they are defined, or have no body."""
    own = [part for part in module.parts if isinstance(part, Func)]
    place = {func.name: n for n, func in enumerate(own)}
    early = {name for func, name in _calls(module) if place.get(name, -1) >= place[func.name]}
    return [func for func in own if func.declared or func.name in early]


def _identifiers(module: Module) -> dict[Func, str]:
    """What functions are called in C++: each by a name of its own, whatever module it is of.

    Those of one name that have no body are one, and the first with a body of that name.
    """
    found: dict[Func, str] = {}
    outside: dict[str, str] = {}  # what the functions without a body are called
    bodies: set[str] = set()
    for func in sorted(module.funcs, key=lambda f: f.declared):
        base = identifier(func.name)
        if func.declared and func.name in outside:
            found[func] = outside[func.name]
            continue
        found[func] = unlike(base, bodies)
        outside.setdefault(func.name, found[func])
        bodies.add(found[func])
    return found


def print_cpp(module: Module) -> str:
    """The module as C++ source; functions in text order.

    Where several modules have a function of one name, the later ones are numbered.
    """
    names, declared, bodies = _identifiers(module), list[str](), list[str]()
    for inner in module.modules():
        called = {part.name: names[part] for part in inner.parts if isinstance(part, Func)}
        entries = _entries(inner)
        declared += (f"{Printer(called, entries).head(func)};" for func in _declared(inner))
        for func in inner.parts:
            if isinstance(func, Func) and not func.declared:
                bodies += ["", *Printer(called, entries).func(func)]
    lines = [*INCLUDES, "using namespace pto;"]
    lines += FIELD.split("\n") if any("field<" in line for line in bodies) else []
    lines += ["", *dict.fromkeys(declared)] if declared else []
    return "\n".join([*lines, *bodies]) + "\n"
