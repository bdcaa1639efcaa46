"""Liveness of Python names: the names that a loop carries, or on which branches must agree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements bind, without nested functions and comprehensions."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, (*NESTED, *COMPREHENSIONS)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        found |= stored(ast.iter_child_nodes(node))
    return found


def loaded(node: ast.AST) -> set[str]:
    """Return the names that an expression reads, including functions in it."""
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, (ast.Load, ast.Del))}


def captured(tree: ast.AST) -> set[str]:
    """Return the names that nested functions read, which may happen at any time."""
    return {n for node in ast.walk(tree) if isinstance(node, NESTED) for n in loaded(node)}


@dataclass
class NameLiveness:
    """The names that may be read later, at loops and branches of a function.

    `head`: at the head of a loop; `after`: after a statement; `always`: names that nested functions
    read.
    """

    always: set[str] = field(default_factory=set[str])
    head: dict[ast.AST, set[str]] = field(default_factory=dict[ast.AST, "set[str]"])
    after: dict[ast.AST, set[str]] = field(default_factory=dict[ast.AST, "set[str]"])
    loops: list[tuple[set[str], set[str]]] = field(  # live at the targets of continue, break
        default_factory=list["tuple[set[str], set[str]]"]
    )
    reads: dict[ast.AST, set[str]] = field(default_factory=dict[ast.AST, "set[str]"])

    def _loaded(self, node: ast.AST) -> set[str]:
        """Return what `loaded` does; loops ask again for the same statements."""
        if node not in self.reads:
            self.reads[node] = loaded(node)
        return self.reads[node]

    def block(self, statements: Sequence[ast.stmt], live: set[str]) -> set[str]:
        """Return the names live before the statements, given those `live` after them."""
        for statement in reversed(statements):
            live = self.statement(statement, live)
        return live

    def statement(self, node: ast.stmt, live: set[str]) -> set[str]:
        """Return the names live before a statement."""
        self.after[node] = self.after.get(node, set()) | live | self.always
        match node:
            case ast.For() | ast.AsyncFor():
                return self._loop(node, live)
            case ast.While():
                test = self._loaded(node.test)
                return self._head(node, node.body, live | test, set(), live) | test
            case ast.If():
                both = self.block(node.body, live) | self.block(node.orelse, live)
                return both | self._loaded(node.test)
            case ast.Continue() if self.loops:
                return set(self.loops[-1][0])
            case ast.Break() if self.loops:
                return set(self.loops[-1][1])
            case ast.Return():
                return self._loaded(node)
            case ast.With():
                inner = self.block(node.body, live)
                return inner | {n for item in node.items for n in self._loaded(item.context_expr)}
            case ast.Try() | ast.TryStar() | ast.Match():
                return live | self._loaded(node) | self._inside(node, live)
            case _:
                return (live - self._certain(node)) | self._loaded(node)

    def _certain(self, node: ast.stmt) -> set[str]:
        """Return the names that a simple statement always binds."""
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            return set()
        if isinstance(node, ast.Assign):
            return {n for target in node.targets for n in stored([target])}
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return stored([node.target])
        return {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()

    def _inside(self, node: ast.stmt, live: set[str]) -> set[str]:
        """Return the names that any part of a statement with unknown control flow reads."""
        found: set[str] = set()
        for block in _blocks(node):
            found |= self.block(block, live | self._loaded(node))
        return found

    def _loop(self, node: ast.For | ast.AsyncFor, live: set[str]) -> set[str]:
        bound = stored([node.target])
        behind = self.block(node.orelse, live)
        return self._head(node, node.body, behind, bound, live) | self._loaded(node.iter)

    def _head(
        self,
        node: ast.stmt,
        body: Sequence[ast.stmt],
        behind: set[str],
        bound: set[str],
        broken: set[str],
    ) -> set[str]:
        """Return the names live at the head of a loop: read by this iteration or a later one."""
        head = set(behind) | self.always
        while True:
            self.loops.append((head, broken))
            found = head | (self.block(body, head) - bound)
            self.loops.pop()
            if found == head:
                self.head[node] = head
                return head
            head = found


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(node, name, [])
        yield block
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield inner.body
