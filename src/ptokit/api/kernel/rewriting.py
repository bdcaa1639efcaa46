"""The rewriting of a kernel's function, so that `for` and `if` call the recorder.

All other code stays unchanged, with the same file, lines and columns. A function without source is
not rewritten.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from types import CellType, CodeType, FunctionType, ModuleType
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

from ptokit.api.kernel.callplaces import SOURCELESS, CallPlace
from ptokit.api.kernel.nameliveness import NameLiveness, captured, stored
from ptokit.api.kernel.recorder import HOOK

CHANGED = "the file has changed since Python read it"
LEAVES = (ast.Return, ast.Break, ast.Continue)


class Rewritten(NamedTuple):
    """A function with recorded loops and branches, and the names of its values."""

    function: Callable[..., object]
    names: Callable[[CallPlace], str]


class NamedRange(NamedTuple):
    """A name bound by the expression between two places."""

    start: tuple[int, int]
    end: tuple[int, int]
    name: str


class Rewrite(ast.NodeTransformer):
    """The transformation of one function's loops and branches, without nested functions."""

    def __init__(self, live: NameLiveness, tree: ast.FunctionDef) -> None:
        self.live, self.count = live, 0
        self.outside = _declared(tree.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_Lambda = visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # one method for all nested code

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        bound = stored([*node.body, node.target]) - self.outside
        names = bound - stored([node.target])
        head = self.live.head[node]
        carried, late = sorted(names & head), sorted(names & self.live.after[node])
        counter = node.target.id if isinstance(node.target, ast.Name) else "i"
        region, leaving = self._region(), _leaving(node)
        places = {name: _bound_at(node.body, name) for name in carried}
        given = f"{places!r}, {late!r}, {counter!r}, {leaving!r}, {sorted(bound)!r}"
        call = f"{region} = {HOOK}.loop(0, {given})"
        self.generic_visit(node)
        begin = self._code(call, _header(node))
        _argument(begin, node.iter)
        node.iter = ast.copy_location(ast.Name(region, ast.Load()), node.iter)
        node.body = [*self._taken(region, carried, node), *node.body]
        taken = self._taken(region, carried, node)
        node.orelse = [*self._taken(region, carried, node), *node.orelse] if node.orelse else []
        return [*begin, node, *self._code(f"{region}.end()", _header(node)), *taken]

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        body = [*node.body, *node.orelse]
        leaver = _leaver(body, (*LEAVES, ast.Raise, ast.Yield, ast.YieldFrom))
        if leaver is not None:  # the statement stays a Python `if`
            self.count += 1
            word = "yield" if isinstance(leaver, ast.YieldFrom) else type(leaver).__name__.lower()
            self.generic_visit(node)
            found = ast.parse(f"{HOOK}.decided(0, {word!r}, {_place(leaver)!r})", mode="eval").body
            _place_at(found, node.test)
            cast(ast.Call, found).args[0] = node.test
            node.test = found
            return node
        names = sorted(stored(body) - self.outside)
        live = sorted({*names} & self.live.after[node])
        region = self._region()
        chosen = f"{region}t"
        lines = f"{region} = {HOOK}.branch(0, {names!r}, {live!r})\nfor {chosen} in {region}: pass"
        self.generic_visit(node)
        begin = self._code(lines, node.test)
        _argument(begin, node.test)
        node.test = ast.copy_location(ast.Name(chosen, ast.Load()), node.test)
        repeat = cast(ast.For, begin[1])
        repeat.body = [*self._taken(region, names, node, unbound=True), node]
        return [*begin, *self._taken(region, names, node)]

    def _region(self) -> str:
        self.count += 1
        return f"__ptokit_{self.count}"

    def _taken(
        self, region: str, names: Sequence[str], like: ast.stmt, *, unbound: bool = False
    ) -> list[ast.stmt]:
        """Return statements that bind names to the region's values."""
        lines = [f"if {n!r} in {region}: {n} = {region}[{n!r}]" for n in names]
        if unbound:
            lines += [f"if {n!r} in {region}.gone: del {n}" for n in names]
        return self._code("\n".join(lines), like)

    def _code(self, text: str, like: ast.AST) -> list[ast.stmt]:
        """Return statements at the place of `like`."""
        module = ast.parse(text)
        _place_at(module, like)
        return module.body


def _place_at(tree: ast.AST, like: ast.AST) -> None:
    """Give all nodes of a tree the place of `like`."""
    place = {name: getattr(like, name) for name in ast.expr._attributes}
    for node in ast.walk(tree):
        vars(node).update(place)


def _declared(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements declare `global` or `nonlocal`."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Nonlocal | ast.Global):
            found |= {*node.names}
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found |= _declared(ast.iter_child_nodes(node))
    return found


def _header(node: ast.For) -> ast.AST:
    """Return a node at the place of the loop's iterable, on one line."""
    return ast.copy_location(ast.Name("", ast.Load()), node.iter)


def _argument(begin: list[ast.stmt], expression: ast.expr) -> None:
    """Put the user's expression into the call that begins a region."""
    call = cast(ast.Call, cast(ast.Assign, begin[0]).value)
    call.args[0] = expression


Place = tuple[int, int, int]  # a line and its columns


def _bound_at(nodes: Iterable[ast.AST], name: str) -> Place:
    """Return the place at which statements first bind a name."""
    every = (
        n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name
    )
    first = min((n for n in every if isinstance(n.ctx, ast.Store)), key=lambda n: n.lineno)
    return first.lineno, first.col_offset, first.end_col_offset or 0


def _leaver(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> ast.AST | None:
    """Return the first statement that leaves `nodes`; `break` of an inner loop does not count."""
    for node in nodes:
        if isinstance(node, kinds):
            return node
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        loop = isinstance(node, (ast.For, ast.While))
        inner = tuple(k for k in kinds if k not in (ast.Break, ast.Continue)) if loop else kinds
        found = _leaver(ast.iter_child_nodes(node), inner)
        if found is not None:
            return found
    return None


def _leaving(node: ast.For) -> Place | None:
    """Return the place of a statement that leaves the loop."""
    found = _leaver(node.body, LEAVES)
    return found and _place(found)


def _place(node: ast.AST) -> Place:
    """Return the line and columns of a statement or an expression."""
    assert isinstance(node, ast.stmt | ast.expr)
    return node.lineno, node.col_offset, node.end_col_offset or 0


def rewritten(function: Callable[..., object]) -> Rewritten:
    """Return the function with its current defaults, rewritten if its source is available."""
    assert isinstance(function, FunctionType)
    code, made = _made.get(function, (None, None))
    if made is None or code is not function.__code__:
        made = _rewritten(function)
        _made[function] = function.__code__, made
    if made.function is not function:
        made.function.__defaults__ = function.__defaults__  # type: ignore[attr-defined]  # a function has defaults
        made.function.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]  # a function has defaults
    return made


_made: WeakKeyDictionary[FunctionType, tuple[CodeType, Rewritten]] = WeakKeyDictionary()


def _rewritten(function: FunctionType) -> Rewritten:
    tree = _tree(function)
    if isinstance(tree, str):
        SOURCELESS[function.__code__] = tree
        return Rewritten(function, _nameless)
    names = _namer(tree, function.__code__)
    live = NameLiveness(captured(ast.Module(tree.body, [])))
    live.block(tree.body, set())
    tree.decorator_list = []
    rewrite = Rewrite(live, tree)
    tree.body = [made for statement in tree.body for made in _listed(rewrite.visit(statement))]
    return Rewritten(_compiled(function, tree) if rewrite.count else function, names)


def _nameless(_: CallPlace) -> str:
    return "t"


def _listed(found: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]


def _tree(function: FunctionType) -> ast.FunctionDef | str:
    """Return the statement that defined the function, or why its source is not available."""
    try:
        for lines, first in _sources(function):
            with suppress(SyntaxError):
                return _defined(function, lines, first)
    except (OSError, TypeError):
        return f"there is no source of {function.__name__}"
    return CHANGED


def _sources(function: FunctionType) -> Iterator[tuple[list[str], int]]:
    """Yield the lines of the function with the number of the first; then as `inspect` finds them.

    `inspect` looks at all modules and cuts tokens, which takes as long as recording a small kernel.
    A text in the function that reaches the left margin needs it.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    every = linecache.getlines(code.co_filename, function.__globals__)
    if first := every[code.co_firstlineno - 1 : code.co_firstlineno]:
        margin, last = _margin(first[0]), _last_line(code)
        while last < len(every) and (every[last].isspace() or _margin(every[last]) > margin):
            last += 1
        yield every[code.co_firstlineno - 1 : last], code.co_firstlineno
    yield inspect.getsourcelines(function)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _last_line(code: CodeType) -> int:
    """Return the last line from which there is code."""
    inner = (_last_line(c) for c in code.co_consts if isinstance(c, CodeType))
    return max((*inner, *(end or 0 for _, end, _, _ in code.co_positions())))


def _defined(function: FunctionType, lines: list[str], first: int) -> ast.FunctionDef | str:
    """Return the statement in these lines if it still is the function's; SyntaxError if none is."""
    indented = lines[0][:1].isspace()
    head = "\n" * (first - 1 - indented) + "if 1:\n" * indented  # keeps the lines' numbers
    module = ast.parse(head + "".join(lines))
    found = next(iter(cast(ast.If, module.body[0]).body if indented else module.body), None)
    if not isinstance(found, ast.FunctionDef) or found.name != function.__code__.co_name:
        return CHANGED
    return found if _is_of(found, function) else CHANGED


def _is_of(tree: ast.FunctionDef, function: FunctionType) -> bool:
    """Return whether the file still has the text of the function."""
    plain, code = ast.Module([copy(tree)], []), function.__code__
    cast(ast.FunctionDef, plain.body[0]).decorator_list = []
    made = _inside(plain, function, ())
    own = (code.co_firstlineno, code.co_flags, code.co_linetable)
    if made.replace(co_firstlineno=own[0], co_flags=own[1], co_linetable=own[2]) == code:
        return True  # the usual case, in a tenth of the time
    asserts = any(isinstance(node, ast.Assert) for node in ast.walk(tree))  # pytest rewrites
    return _words(made) <= _words(code) if asserts else _does(made) == _does(code)


def _inside(tree: ast.Module, function: FunctionType, more: tuple[str, ...]) -> CodeType:
    """Compile a function with free names and `more` as names of an enclosing function.

    Python calls functions of imported modules by other instructions than methods.
    """
    code, (statement,) = function.__code__, cast("list[ast.FunctionDef]", tree.body)
    modules = [n for n in code.co_names if isinstance(function.__globals__.get(n), ModuleType)]
    head = "".join(f"import {name}\n" for name in modules)
    own = "pass" if statement.name in code.co_freevars else f"global {statement.name}"
    outer = ast.parse(f"{head}def {HOOK}({', '.join((*code.co_freevars, *more))}): {own}")
    cast(ast.FunctionDef, outer.body[-1]).body.append(statement)  # it may refer to itself
    flags = code.co_flags & _FUTURE
    made = compile(outer, code.co_filename, "exec", dont_inherit=True, flags=flags)
    for name in (HOOK, code.co_name):  # skip functions in its defaults
        made = next(c for c in made.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return made


def _words(code: CodeType) -> set[str]:
    """Return the names and constants of a function."""
    names = (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    return {*names, *(repr(c) for c in code.co_consts if not isinstance(c, CodeType))}


def _does(code: CodeType) -> list[tuple[str, str]]:
    """Return the instructions of a function, independent of how names are looked up."""
    made: list[tuple[str, str]] = []
    for one in dis.get_instructions(code):
        if isinstance(one.argval, CodeType):
            made += _does(one.argval)
        elif one.opname not in ("PUSH_NULL", "NOP", "CACHE", "EXTENDED_ARG"):
            name = one.opname.replace("_METHOD", "_ATTR")
            made.append((name, "" if one.opcode in JUMPS else repr(one.argval)))
    return made


JUMPS = {*dis.hasjrel, *dis.hasjabs}


def _compiled(function: FunctionType, tree: ast.FunctionDef) -> FunctionType:
    """Return the rewritten function with the cells of the original one."""
    code, free = function.__code__, function.__code__.co_freevars
    made = _inside(ast.Module([tree], []), function, (HOOK,))
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    cells[HOOK] = CellType(sys.modules["ptokit.api.kernel.controlflow"])
    closure = tuple(cells[name] for name in made.co_freevars)
    new = FunctionType(made, function.__globals__, code.co_name, None, closure)
    new.__qualname__ = function.__qualname__
    return new


_FUTURE = 0x1FF0000  # compiler flags of `from __future__`


def _namer(tree: ast.FunctionDef, code: CodeType) -> Callable[[CallPlace], str]:
    """Return a function that gives the name bound by the assignment around a place."""
    regions = sorted(_assigned(tree), key=lambda r: r.start, reverse=True)
    known: dict[int, str] = {}

    def name(place: CallPlace) -> str:
        if place.code.co_name != code.co_name or place.code.co_filename != code.co_filename:
            return "t"
        found = known.get(place.at)
        if found is None:
            line, last, column, stop = place.columns
            start, end = (line or 0, column or 0), (last or 0, stop or 0)
            around = next((r for r in regions if r.start <= start < r.end), None)
            whole = around is not None and (around.start, around.end) == (start, end)
            found = "t" if around is None else around.name if whole else f"{around.name}_0"
            known[place.at] = found
        return found

    return name


def _assigned(tree: ast.FunctionDef) -> Iterator[NamedRange]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for one, value in _pairs(node.targets[0], node.value):
                if isinstance(one, ast.Name):
                    start = value.lineno, value.col_offset
                    end = value.end_lineno or 0, value.end_col_offset or 0
                    yield NamedRange(start, end, one.id)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield a target with its value; two tuples are paired elementwise."""
    match target, value:
        case ast.Tuple(elts=names), ast.Tuple(elts=several) if len(names) == len(several):
            yield from zip(names, several, strict=True)
        case _:
            yield target, value
