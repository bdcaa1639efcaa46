"""C++ functions: intrinsic calls, tiles as types, loops as loops.

A page without its own template prints as `NAME<template arguments>(operands in order)`; handles,
numbers and control flow print through the template on their page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isfinite, isnan

from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Attr, Operand
from ptokit.isa.lang.traits import ALLOCATES, OUTSIDE, READDRESSES, WINDOW, FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Elided, Kind, PtrType, ScalarType, Type
from ptokit.text.write.cpplacking import Lack, lack
from ptokit.text.write.cppnumbers import Numbers, uses_of
from ptokit.text.write.cpptypes import identifier, literal, type_cpp, unlike
from ptokit.text.write.cppviews import GlobalViews, Term, offset
from ptokit.values.enumerations import BLayout, Word

STATED = re.compile(r"(\w+)(?:<(.*?)>)?\((.*)\)")
CHOICE = re.compile(r"\{(\w+\|(?:[^{}]|\{\w+\})*)\}")
ONLY_GIVEN = re.compile(r"\{\w+\?\}")
DECLARED = re.compile(r" *constexpr \w+ (\w+) = [^;]*;")  # a constant
OPTIONAL, NAMES = re.compile(r"\[(.*?)\]"), re.compile(r"\{(\w+)\??\}")


class Printer:
    """The printer of one function; values get C++ identifiers, functions those in `called`.

    `launched`: a host launches the function, with pointers to the arrays of its views. `reserved`
    has the addresses of the FIFO buffers by function and label.
    """

    def __init__(
        self,
        func: Func,
        called: Mapping[str, str],
        *,
        launched: bool = False,
        reserved: Mapping[tuple[str, str], object] | None = None,
    ) -> None:
        self.of, self.called, self.launched, self.reserved = func, called, launched, reserved or {}
        uses = uses_of(func)
        self.numbers = Numbers(func, uses)
        self.views = GlobalViews(func, self.numbers, uses, self.name)
        self.names: dict[Value, str] = {}
        # the assignments at the end of a region, in reverse order
        self.passed: dict[AnyOp, list[tuple[str, Value]]] = {}
        self.windows: dict[Value, Type] = {}  # C++ types of windows of tiles
        self.constants: set[str] = set()  # names of declared constants
        self.lacks: list[Lack] = []  # ops that some headers lack

    def name(self, value: Value) -> str:
        """Return the C++ text of a value: its name, or its number."""
        if value in self.numbers.literals:
            return str(self.numbers.known[value])
        return self._named(value, value.name)

    def _named(self, value: Value, wanted: str) -> str:
        if value not in self.names:
            taken = {*self.names.values(), *self.called.values(), *self.parameters.values()}
            self.names[value] = unlike(identifier(wanted), taken)
        return self.names[value]

    @cached_property
    def parameters(self) -> dict[Value, str]:
        """The names of the pointers that a launch passes for views."""
        found: dict[Value, str] = {}
        for arg in self.of.args if self.launched else ():
            if isinstance(arg.type, GlobalType):
                found[arg] = unlike(identifier(arg.name), found.values())
        return found

    def head(self) -> str:
        """Return the declaration of the function."""
        args = ", ".join(text for arg in self.of.args for text in self._parameters(arg))
        results = self.of.results
        given = ", ".join(map(type_cpp, results)) or "void"
        given = f"std::tuple<{given}>" if len(results) > 1 else given
        launched = 'extern "C" __global__ ' if self.launched else ""
        return f"{launched}AICORE {given} {self.called[self.of.name]}({args})"

    def _parameters(self, arg: Value) -> Iterator[str]:
        """Yield an argument's parameters: for a launched view a pointer and its open extents."""
        pointer = self.parameters.get(arg)
        if pointer is None or not isinstance(arg.type, GlobalType):
            yield f"{type_cpp(arg.type)} {self.name(arg)}".replace("* ", "*")
            return
        yield f"__gm__ {arg.type.dtype.cpp} *{pointer}"
        yield from (f"int64_t {extent}" for extent in self.views.extents_of(arg, pointer))

    def func(self) -> Iterator[str]:
        """Yield the definition, then its launch as a comment."""
        yield self.head()
        yield "{"
        yield from self._used([*self._views_of_arguments(), *self.block(self.of.body, "  ")])
        yield "}"
        if self.launched:
            name = self.called[self.of.name]
            given = [
                text.split(" ")[-1].lstrip("*")
                for a in self.of.args
                for text in self._parameters(a)
            ]
            yield f"// launch: {name}<<<blocks, nullptr, stream>>>({', '.join(given)});"

    def _views_of_arguments(self) -> Iterator[str]:
        for arg, pointer in self.parameters.items():
            self._named(arg, f"{arg.name}_view")
            yield from (f"  {line}" for line in self.views.of_argument(arg, pointer))

    def _used(self, lines: list[str]) -> Iterator[str]:
        """Yield the lines without constants that no other line names."""
        text = "\n".join(lines)
        blank = True  # drops a blank line at the start, and the second of two
        once = {name for name in self.constants if len(re.findall(rf"\b{name}\b", text)) == 1}
        for line in lines:
            found = DECLARED.fullmatch(line)
            dropped = found is not None and found[1] in once
            if not dropped and (line.strip() or not blank):
                yield line
            blank = blank if dropped else not line.strip()

    def block(self, block: Block, indent: str) -> Iterator[str]:
        for op in block.ops:
            for line in self.op(op):
                yield (line if line.startswith("#") else indent + line) if line else line

    def op(self, op: AnyOp) -> Iterator[str]:
        yield from ("//" + c.lstrip("/#") if c else "" for c in op.comments.before)
        if isinstance(op, OpaqueOp):
            yield f"// not known to ptokit: {op.name}"
            return
        if op.page.asm.shape == "constant" and self._literal(op):
            return
        yield from self._widened(op)
        yield from self._carried(op) if op.regions else ()
        yield from self._assigned(op)
        self.views.derive(op)
        template = op.page.asm.cpp_text
        line = self._call(op) if template is None else self._filled(op, template)
        yield from () if self._pointer(op) else self._statement(op, line)
        for position, region in enumerate(op.regions):
            runs_on = position > 0 and (position - 1, position) in op.page.routes
            if not runs_on:
                yield from ("else", "{") if position else ("{",)
            yield from self.block(region, "  ")
            if (position, position + 1) not in op.page.routes:
                yield "}"
        if line.startswith("#if"):  # the block is for one kind of core
            yield "#endif"

    def _literal(self, op: Op) -> bool:
        """Return whether a constant is written as its number; else note its name."""
        literals = [result in self.numbers.literals for result in op.results]
        self.constants |= {self.name(result) for result in op.results}
        return all(literals)

    def _statement(self, op: Op, line: str) -> Iterator[str]:
        """Yield the statement of an op; a comment or a guard if some headers lack it."""
        if not line:
            return
        after = f"  //{op.comments.after.lstrip('/#')}" if op.comments.after else ""
        lacking = lack(op, self._type)
        if lacking is not None:
            self.lacks.append(lacking)
            yield from lacking.guarded([line])
        else:
            yield line.replace("@ ", "") + after

    def _type(self, value: Value) -> str:
        return type_cpp(self.windows.get(value, value.type))

    def _widened(self, op: Op) -> Iterator[str]:
        """Note the C++ type of a window; warn in a comment where C++ has no conversion to it."""
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
        """Return the C++ type of a window of a tile, which has the lines of the whole tile."""
        kind = self.windows.get(whole, whole.type)
        if not isinstance(kind, TileType) or not isinstance(part.type, TileType):
            return part.type
        return replace(kind, valid=part.type.valid)

    def _carried(self, op: Op) -> Iterator[str]:
        """Yield the variables for values passed between regions, one for all that take a value."""
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
        """Yield the assignments at the end of a region, all in one statement."""
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
        """Return the call in the syntax of the page's `call`."""
        found = STATED.fullmatch(op.page.asm.call)
        assert found is not None, op.page.asm.call
        name, types, arguments = found.groups()
        chosen = [*self._stated_words(op, types or "", "decltype({})")]
        given = [*self._stated_words(op, arguments, "{}")]
        templates = f"<{', '.join(chosen)}>" if chosen else ""
        return f"{name}{templates}({', '.join(given)});"

    def _stated_words(self, op: Op, listed: str, how: str) -> Iterator[str]:
        """Yield the arguments of a list: operands, attributes, text.

        `attr?` is left out if the program does not give the attribute; `attr=` if neither the
        attribute nor a later one is given; `operand|text` is the text if the operand is absent.
        """
        attrs = {a.name: a for a in op.page.attrs}
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
            elif "|" in name:
                given_name, _, otherwise = name.partition("|")
                yield self._argument(op, op.page.operand(given_name)) or otherwise
            elif name in known:
                address = "&" if word[0] == "&" else ""
                value = self._argument(op, op.page.operand(name))
                yield from [address + how.format(value)] if value else []
            elif name.partition(".")[0] in known:
                owner, _, member = name.partition(".")
                yield f"decltype({self._argument(op, op.page.operand(owner))})::{member}"
            else:
                yield word

    def _made(self, op: Op, result: Value) -> dict[str, object]:
        """Return placeholders for the constructor of a view or of a window of a tile.

        For a window, `window` is its type, and `open` its dynamic extents in parentheses.
        """
        kind = result.type
        if isinstance(kind, GlobalType):
            return self.views.made(op, result)
        if not isinstance(kind, TileType):
            return {}
        extents, made = (kind.valid.rows, kind.valid.cols), {"window": self._type(result)}
        for operand in (o for o in op.page.operands if o.many and o.counts == "extents"):
            values = [*map(self.name, op.bound(operand.name))]
            if len(values) == len(extents):  # the last one has the size
                pairs = zip(values, extents, strict=True)
                given = ", ".join(v for v, n in pairs if n is None)
                made["open"] = f"({given})" if given else ""
        return dict(made)

    def _pointer(self, op: Op) -> bool:
        """Use the pointer of a view that only windows use; return whether that was possible."""
        pointers = [v for _, v in op.values() if isinstance(v.type, PtrType)]
        views = [r for r in op.results if isinstance(r.type, GlobalType)]
        if len(pointers) != 1 or len(views) != 1 or not self.views.only_windows(views[0]):
            return False
        self.views.begins[views[0]] = self.name(pointers[0])
        return True

    def _operand(self, op: Op, operand: Operand) -> dict[str, object]:
        """Return further placeholders of an operand: its pointer, its first element, an element."""
        name, found = operand.name, dict[str, object]()
        if operand.many:
            names = map(self.name, op.bound(name))
            found[f"{name}_subscripts"] = "".join(f"[{name}]" for name in names)
        for value in op.bound(name):
            found[f"{name}_ptr"] = self.name(value)
            if isinstance(value.type, GlobalType):
                found[f"{name}_ptr"] = found[f"{name}_begin"] = self.views.begin(value)
                found[f"{name}_array"] = self.views.array(value)
            if operand.name == "offset":
                found["offset_at"] = "" if self.name(value) == "0" else f" + {self.name(value)}"
            if operand.name == "dim":
                found["dim_of_five"] = self._dimension(op, value)
            if "_element}" in (op.page.asm.cpp_text or "") and not operand.many:
                found[f"{name}_element"] = self._element(value, op.bound("indices"))
            found |= _words_of(value.type, "minus", "-")
        return found

    def _element(self, of: Value, indices: Sequence[Value]) -> str:
        """Return the element of a view, or of a tile without boxes, at a row and a column."""
        kind = self.windows.get(of, of.type)
        if isinstance(kind, GlobalType):
            start, steps = self.views.begin(of), self.views.strides(of)
        elif isinstance(kind, TileType):
            lines = (kind.cols, 1) if kind.blayout is BLayout.ROW_MAJOR else (1, kind.rows)
            start, steps = f"{self.name(of)}.data()", [Term(str(n), True) for n in lines]
        else:
            return self.name(of)
        far = offset(map(self.views.number, indices), steps[-len(indices) :])
        return f"{start}[{far[3:] or 0}]"

    def _dimension(self, op: Op, dim: Value) -> str:
        """Return the number of a dimension among five; fewer dimensions are the last ones."""
        ranks = [v.type.rank for _, v in op.values() if isinstance(v.type, GlobalType)]
        first = 5 - ranks[0]
        known = self.numbers.known.get(dim)
        return f"{first} + {self.name(dim)}" if known is None else str(first + known)

    def _argument(self, op: Op, operand: Operand) -> str:
        """Return the values of an operand; a u64 is cast, as C++ would take it for an event."""
        if operand.kind is Kind.SCALAR and {ALLOCATES, READDRESSES} & {*op.page.traits}:
            return "".join(self._address(v) for v in op.bound(operand.name))
        cast = "(uint64_t)" if operand.scalar == "u64" else ""
        return ", ".join(cast + self.name(v) for v in op.bound(operand.name))

    def _address(self, value: Value) -> str:
        known = value in self.numbers.literals
        return f"{self.numbers.known[value]:#x}" if known else self.name(value)

    def _word(self, attr: Attr, value: object) -> str:
        if isinstance(value, Word):
            return f"{value.cpp_type}::{value.cpp}"
        return str(value).lower()

    def _filled(self, op: Op, template: str) -> str:
        """Return the page's template with operands, attributes and result types filled in.

        Text in square brackets is left out unless every name in it is given and not false;
        `{name?}` only tests the name, `{name|text}` is the text if the name is not given.
        """
        fill: dict[str, object] = {"call": self._stated(op)} if op.page.asm.call else {}
        for operand in op.page.operands:
            fill[operand.name] = self._argument(op, operand)
            fill |= self._operand(op, operand)
        for operand, result in zip(op.page.results(), op.results, strict=False):
            if isinstance(result.type, Elided) and ALLOCATES in op.page.traits:
                return f"// {self.name(result)}: a tile whose type the program leaves out"
            fill[operand.name] = self.name(result)
            fill = _words_of(result.type, "lowest", "1") | fill | {"type": type_cpp(result.type)}
            fill |= self._made(op, result)
        for attr in op.page.attrs:
            value = op.attrs.get(attr.name, attr.default)
            worded = value.cpp.format_map(fill) if isinstance(value, Word) else None
            fill[attr.name] = worded or _text(
                value if value is None or attr.in_cpp is None else attr.in_cpp(value)
            )
            if attr.kind is str:
                fill[f"{attr.name}_literal"] = literal(str(value))
        if op.page.fifo_role is FifoRole.IMPORTS:
            fill["base"] = self.reserved.get((str(op.attrs["peer"]), str(op.attrs["label"])))
        if op.page.asm.cpp_more is not None:
            fill |= op.page.asm.cpp_more(fill | op.attrs)
        if op.calls:
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


def _text(value: object) -> object:
    """Return a C++ literal, or None for an absent attribute."""
    if isinstance(value, float) and not isfinite(value):
        return "NAN" if isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))  # type: ignore[reportUnknownArgumentType]  # of ints
    return str(value).lower() if isinstance(value, bool) else value


def _words_of(kind: Type, bit: str, meaning: str) -> dict[str, object]:
    """Return the placeholders for an integer type: its unsigned type, and a mark for one bit."""
    if isinstance(kind, PtrType) and kind.dtype.packed:
        return {"pair": "2"}  # a pointer points to two elements
    if not isinstance(kind, ScalarType) or kind.is_float:
        return {}
    if kind.bits == 1:
        return {"unsigned": "bool", bit: meaning}
    return {"unsigned": f"uint{kind.bits}_t"}


def _first_given(fill: Mapping[str, object], names: list[str]) -> str:
    """Return the first of some placeholders that is given, else the last, which is text."""
    *words, last = names
    return next((f"{{{name}}}" for name in words if fill.get(name)), last)


class _Blank(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


def _tidy(text: str) -> str:
    return text.replace("(, )", "").replace("(, ", "(").replace(", )", ")")
