"""Programs: one liberal grammar for every level, module or not, functions or flat.

`read` raises PtoError with a diagnostic for each statement that it cannot read, twenty at most.
Unknown ops are kept; the checker decides on legality.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.diagnostics.source import Source, Span
from ptokit.ir.editing import DEEPEST, constant_page, trimmed
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Alias, Block, Comments, Func, Module, Value
from ptokit.ir.strings import symbol_name
from ptokit.isa.model.types import Type
from ptokit.text.read.attributes import FunctionType, Given, dictionary, generic
from ptokit.text.read.blocks import check_blocks, read_blocks, read_region
from ptokit.text.read.cursor import (
    FUNC,
    FUNCS,
    GENERIC_FUNC,
    UNKNOWN,
    Enough,
    Lost,
    tokenise,
)
from ptokit.text.read.names import Reading
from ptokit.text.read.operation import read_operation
from ptokit.text.read.parser import Parser
from ptokit.text.read.recovery import begins_region, skip
from ptokit.text.read.shapes import reader_of
from ptokit.text.types.typereader import in_global_memory, type_named

FLAT = "main"
MODULE, GENERIC_MODULE = "module", '"builtin.module"'
MODULES = (MODULE, GENERIC_MODULE)
PARTS = (*FUNCS, *MODULES)
DICTIONARY = r"\{[^{}]*\}"
SIGNED = re.compile(r"si(?:4|8|16|32|64)\b")  # newer assemblers tell si8 from i8
SECTION = r"//\s*-----"  # other tools split a file here: names start anew


def read(text: str, name: str = "<text>") -> Module:
    """Return the program in `text`; messages call the text `name`. PtoError for errors."""
    found = read_partly(Source(name, text))
    if found.problems:
        raise PtoError(found.problems)
    return found.module


def read_partly(source: Source) -> Reading:
    """Read as much of a text as can be read."""
    p = Parser(tokenise(source), read_operation, read_region)
    if "\0" in source.text:
        at = source.text.index("\0")
        wrong = error("syntax-error", "a NUL character", Span(source, at, at + 1)).diagnostics
        return Reading(p.tokens, Module([]), wrong, (), {})
    with gc_disabled():  # garbage collection would take a quarter of the time
        try:
            module = _whole(p)
        except Enough:
            module = Module([])
    if not p.problems and SIGNED.search(source.text):
        types = {t for t in p.texts if t[:1] == "!" and SIGNED.search(t)}
        module.signed = frozenset(map(type_named, types - {*p.aliases}))
    problems = sorted(p.problems, key=lambda d: d.span.start if d.span else 0)
    return Reading(p.tokens, module, problems, p.past_scopes(), p.aliases)


def _whole(p: Parser) -> Module:
    """Read the program as far as possible, and report errors."""
    try:
        return _program(p)
    except PtoError as problem:
        p.note(problem)
        return Module([])


def _program(p: Parser) -> Module:
    after, before = p.gap(0)
    comments = [*([after] if after else []), *before]
    while comments and not comments[0]:
        del comments[0]
    aliases, comments = _aliases(p, comments)
    if p.texts[p.i] not in PARTS:
        module = _flat(p, comments)
        module.aliases = (*aliases, *module.aliases)
        return module
    return _top(p, comments, aliases)


def _top(p: Parser, comments: list[str], aliases: tuple[Alias, ...] = ()) -> Module:
    """Read functions and modules up to the end of the text; a single module is the program."""
    parts, trailing, own = _parts(p, comments, "", aliases)
    if len(parts) == 1 and isinstance(parts[0], Module):
        return replace(parts[0], trailing=(*parts[0].trailing, *trailing))
    return Module(parts, wrapped=False, trailing=trailing, aliases=own)


def _aliases(p: Parser, before: list[str]) -> tuple[tuple[Alias, ...], list[str]]:
    """Read `!left = !pto.tile_buf<...>` at the top; also return the comments after the last."""
    found: list[Alias] = []
    while p.texts[p.i][:1] == "!" and p.texts[p.i + 1] == "=":
        at = p.i
        name = p.texts[at]
        try:
            kind = _alias(p, name, at)
        except PtoError as problem:
            p.note(problem)
            kind = p.aliases.setdefault(name, UNKNOWN)
            p.i += 1
            while p.texts[p.i] and not p.begins_line():
                p.i += 1
        after, following = p.gap(p.i)
        found.append(Alias(name, kind, Comments(tuple(before), after)))
        before = following
    return tuple(found), before


def _alias(p: Parser, name: str, at: int) -> Type:
    if p.aliases.get(name, UNKNOWN) is not UNKNOWN:
        raise p.wrong("redefined-name", f"redefinition of {name}", at)
    if "." in name:
        raise p.wrong("syntax-error", "the name of an alias has no dots", at)
    p.i += 2
    kind = p.aliases[name] = p.type()
    return kind


def _module(p: Parser, before: list[str]) -> tuple[Module, list[str]]:
    """Read `module [@name] [attributes {...}] { functions }`, and the comments after it."""
    first, quoted = p.i, p.texts[p.i] == GENERIC_MODULE
    attrs, name = (generic(_head(p)), "") if quoted else _module_head(p)
    opened = p.i
    p.modules += 1
    if p.modules > DEEPEST:
        message = f"modules nested more than {DEEPEST} deep"
        p.give_up(p.wrong("nesting-too-deep", message, first))
    p.enter()
    p.expect("{")
    if quoted:
        p.label()
    head = *before, *p.inside(first, p.i)
    after, following = p.gap(p.i)
    aliases, following = _aliases(p, following)
    while following and not following[0]:
        del following[0]
    parts, inner, _ = _parts(p, following, "}", ())
    module = Module(parts, attrs, True, Comments(head, after), (), aliases, inner)
    if not (p.problems and not p.texts[p.i]):
        p.expect("}", opened)
        attrs |= generic(_tail(p)) if quoted else {}
        p.skip_location()
    module.name = name or str(attrs.pop("sym_name", ""))
    p.depth -= 1
    p.modules -= 1
    tail, rest = p.gap(p.i)
    return module, [*([tail] if tail else []), *rest]


def _module_head(p: Parser) -> tuple[dict[str, object], str]:
    """Read the attributes of a module, and its name."""
    p.i += 1
    name = p.texts[p.i]
    p.i += name[:1] == "@"
    attrs = generic(dictionary(p)) if p.accept("attributes") else {}
    return attrs, symbol_name(name) if name[:1] == "@" else ""


def _head(p: Parser) -> list[Given]:
    """Read `"name"() <{properties}> (` in generic form, up to the region."""
    p.i += 1
    p.expect("(")
    p.expect(")")
    opened = p.i
    given = dictionary(p) if p.accept("<") else []
    if given or p.texts[opened] == "<":
        p.expect(">", opened)
    p.expect("(")
    return given


def _tail(p: Parser) -> list[Given]:
    """Read `) {attributes} : () -> ()`, the part after the region in generic form."""
    p.expect(")")
    given = dictionary(p) if p.texts[p.i] == "{" else []
    for text in (":", "(", ")", "->", "(", ")"):
        p.expect(text)
    return given


def _parts(
    p: Parser, before: list[str], end: str, aliases: tuple[Alias, ...]
) -> tuple[list[Func | Module], tuple[str, ...], tuple[Alias, ...]]:
    """Read functions and modules up to `end`; also return trailing comments, and aliases.

    `aliases` stand before the first part. The aliases before a module belong to the module.
    """
    parts: list[Func | Module] = []
    around = p.modules
    while p.texts[p.i] != end:
        first = p.i
        try:
            if p.texts[first] in MODULES:
                module, before = _module(p, before)
                module.aliases, aliases = (*aliases, *module.aliases), ()
                parts.append(module)
            else:
                func, before = _named_function(p, before, parts, end)
                parts.append(func)
            if not end:
                if any(re.match(SECTION, text) for text in before):
                    p.aliases.clear()
                more, before = _aliases(p, before)
                aliases += more
        except PtoError as problem:
            p.note(problem)
            p.modules = around
            _resume(p, first, end)
            if not p.texts[p.i]:
                break
            before = []
    return parts, trimmed(before), aliases


def _named_function(
    p: Parser, before: list[str], known: Sequence[Func | Module], end: str
) -> tuple[Func, list[str]]:
    """Read a function, whose name must be unique in the module, and the comments after it."""
    if p.texts[p.i] not in FUNCS:
        p.fail(f"expected {FUNC}, {MODULE}" + (f" or {end!r}" if end else ""))
    quoted = p.texts[p.i] == GENERIC_FUNC
    func, after = (_generic_function if quoted else _function)(p, before)
    if any(isinstance(part, Func) and part.name == func.name for part in known):
        raise p.wrong("redefined-name", f"redefinition of @{func.name}", p.token_of(func.span, 0))
    return func, after


def _resume(p: Parser, first: int, end: str) -> None:
    """Skip a broken function: go on to the next one, or to the end of the module."""
    p.depth = 0
    if p.texts[first] in FUNCS and p.reached <= first:
        _body_without_head(p, first + 1)
    i = max(first + 1, p.reached)
    while p.texts[i] not in ("", *PARTS):
        i += 1
    if not p.texts[i] and end:
        stop = max(first + 1, p.reached)
        i = next((n for n in range(i, stop - 1, -1) if p.texts[n] == end), i)
    p.i = i


def _body_without_head(p: Parser, first: int) -> None:
    """Read the body of a function whose head is broken, for further errors."""
    i = first
    while p.texts[i] not in ("", *FUNCS) and not (p.texts[i] == "{" and begins_region(p, i)):
        i += 1
    p.i = i
    p.name_function(flat=True)  # any name may be an argument
    if p.texts[i] == "{":
        p.i += 1
        try:
            read_blocks(p, [], i, [])
            p.expect("}", i)
        except Lost as problem:
            p.note(problem)


def _function(p: Parser, before: list[str]) -> tuple[Func, list[str]]:
    """Read `func.func [private] @name(%a: T, ...) [-> types] [attributes {...}] [{ ... }]`."""
    first = p.i
    p.i += 1
    visibility = p.word("a name") if p.texts[p.i] in ("private", "public", "nested") else ""
    symbol = p.i
    name = p.texts[symbol]
    if name[:1] != "@" or len(name) < 2:
        p.fail("expected a function name, @name")
    p.i += 1
    p.name_function(flat=False)
    func = Func(symbol_name(name), Block(), span=p.span(symbol), visibility=visibility)
    named = _arguments(p, func)
    if p.accept("->"):
        _results(p, func)
    if p.accept("attributes"):
        func.attrs = generic(dictionary(p))
    func.comments = Comments((*before, *p.inside(first, p.i + (p.texts[p.i] == "{"))))
    if p.texts[p.i] == "{" and (named or not func.args):
        _body(p, func)
    else:
        if named and func.args and visibility != "private":
            p.fail("expected '{' and the body of the function")
        func.declared = True
        for number, arg in enumerate(func.args):
            arg.name = f"arg{number}"
    p.skip_location()
    after, following = p.gap(p.i)
    if func.declared and after:
        func.comments = Comments(func.comments.before, after)
        after = None
    return func, [*([after] if after else []), *following]


def _generic_function(p: Parser, before: list[str]) -> tuple[Func, list[str]]:
    """Read `"func.func"() <{function_type = (T) -> U, sym_name = "f"}> ({ ^bb0(%a: T): ... })`."""
    at = p.i
    given = _head(p)
    p.name_function(flat=False)
    func = Func("", Block(), span=p.span(at))
    opened = p.i
    p.expect("{")
    func.declared = p.texts[p.i] == "}"
    args = p.label()
    for value in args:
        value.type = in_global_memory(value.type)
    begun = p.i
    after, lines = p.gap(begun)
    func.body, *func.blocks = read_blocks(p, args, opened, lines)
    p.expect("}", opened)
    closed = p.i - 1
    given += _tail(p)
    _describe(p, func, given, at)
    inner = *p.inside(at, begun), *p.inside(closed, p.i)
    func.comments = Comments((*before, *inner), after)
    p.reached = p.i
    _finish(p, func)
    p.skip_location()
    after, following = p.gap(p.i)
    return func, [*([after] if after else []), *following]


def _describe(p: Parser, func: Func, given: list[Given], at: int) -> None:
    """Set the name and the types of a function in generic form from its attributes."""
    attrs = {item.key: item.value for item in given}
    name, kind = attrs.pop("sym_name", None), attrs.pop("function_type", None)
    if not isinstance(name, str) or not isinstance(kind, FunctionType):
        message = 'expected sym_name = "name" and function_type = (...) -> (...)'
        raise p.wrong("syntax-error", message, at)
    func.name, func.results = name, kind.results
    func.visibility = str(attrs.pop("sym_visibility", ""))
    for key, found in (("arg_attrs", func.arg_attrs), ("res_attrs", func.res_attrs)):
        listed = attrs.pop(key, None)
        for number, text in enumerate(re.findall(DICTIONARY, str(listed)) if listed else ()):
            inner = Parser(tokenise(Source(key, text)), p.operation, p.blocks)
            if several := generic(dictionary(inner)):
                found[number] = several
    func.attrs = generic([item for item in given if item.key in attrs])
    if func.declared:
        func.body.args = [Value(f"arg{n}", t, func.span) for n, t in enumerate(kind.taken)]
    elif [*map(in_global_memory, kind.taken)] != [value.type for value in func.args]:
        message = f"@{name}: block arguments do not match function_type"
        raise p.wrong("type-mismatch", message, at)


def _arguments(p: Parser, func: Func) -> bool:
    """Read `(%a: T {attrs}, ...)` or, in a declaration, `(T, ...)`; return whether it has names."""
    opened = p.i
    p.expect("(")
    named = p.texts[p.i][:1] == "%"
    for _ in p.elements(")", opened):
        at = p.i
        if named:
            if p.texts[at][:1] != "%" or len(p.texts[at]) == 1:
                p.fail("expected an argument name", opened)
            p.i += 1
            p.expect(":")
            func.body.args.append(p.names.define(p.texts[at][1:], in_global_memory(p.type()), at))
        else:
            func.body.args.append(Value(f"arg{len(func.args)}", p.type(), p.span(at)))
        if p.texts[p.i] == "{":
            func.arg_attrs[len(func.args) - 1] = generic(dictionary(p))
        p.skip_location()
    return named


def _results(p: Parser, func: Func) -> None:
    """Read `T` or `(T {attrs}, ...)`."""
    opened = p.i
    if not p.accept("("):
        func.results = (p.type(),)
        return
    kinds: list[Type] = []
    for _ in p.elements(")", opened):
        kinds.append(p.type())
        if p.texts[p.i] == "{":
            func.res_attrs[len(kinds) - 1] = generic(dictionary(p))
    func.results = tuple(kinds)


def _body(p: Parser, func: Func) -> None:
    opened = p.i
    p.i += 1
    after, before = p.gap(p.i)
    func.comments = Comments(func.comments.before, after)
    func.body, *func.blocks = read_blocks(p, func.body.args, opened, before)
    p.expect("}", opened)
    p.reached = p.i
    _finish(p, func)


def _finish(p: Parser, func: Func) -> None:
    """Complete and check a function whose body was read."""
    if func.declared:
        return
    if not p.problems:  # after an error types may stay unknown
        p.names.finish(func)
    if not any(map(p.is_broken, (func.body, *func.blocks))):
        check_blocks(p, func)
        for block in (func.body, *func.blocks):
            _check_return(p, func, block)


def _check_return(p: Parser, func: Func, block: Block) -> None:
    """Require that a return has the values that the head of the function declares."""
    last = block.terminator
    values: list[Value] = []
    at = p.i - 1
    if last is not None:
        if last.successors:
            return
        values = [v for _, v in last.values()]
        at = p.token_of(last.span, at)
    p.require_count(f"@{func.name}", len(func.results), "value", len(values), at)
    for value, kind in zip(values, func.results, strict=True):
        p.names.agree(value, kind, at)


def _flat(p: Parser, before: list[str]) -> Module:
    """Read ops without a function: their free names become the arguments."""
    p.name_function(flat=True)
    func = Func(FLAT, Block(), flat=True)
    while p.texts[p.i]:
        first = p.i
        if p.problems and p.texts[first] in PARTS:
            return _top(p, [])  # the text before was no statement
        try:
            before = _line(p, func.body, before)
        except Lost:
            raise
        except PtoError as problem:
            p.note(problem)
            skip(p, first)
    func.body.trailing = trimmed(before)
    if not p.problems:
        p.names.finish(func)
    return Module([func], wrapped=False)


def _line(p: Parser, block: Block, before: list[str]) -> list[str]:
    """Read a statement or directive outside of functions; return the comments after it."""
    text = p.texts[p.i]
    if text in ("}", *PARTS):
        p.fail("expected an operation")
    if p.problems and text[:1] == "!" and p.texts[p.i + 1] == "=":
        return _aliases(p, before)[1]
    return (_directive if text[:1] == "." else Parser.statement)(p, block, before)


def _directive(p: Parser, block: Block, before: list[str]) -> list[str]:
    """Read `.arg %a : T` or `.const %c = 0 : index` of the PTO-AS form."""
    word, at = p.texts[p.i], p.i + 1
    if word not in (".arg", ".const"):
        p.fail("expected an operation, .arg or .const")
    name = p.texts[at]
    p.i = at
    if name[:1] != "%" or len(name) == 1:
        p.fail("expected a name")
    p.i += 1
    if word == ".arg":
        p.expect(":")
        p.names.agree(p.names.resolve(at), p.type(), p.i - 1)
    else:
        p.expect("=")
        page = constant_page()
        block.ops.append(reader_of(page)(p, (page,), at, [(name[1:], at)]))
    while p.accept(";"):
        pass
    after, following = p.gap(p.i)
    return [*before, *([after] if after else []), *following]
