"""Equality of programs: structure, names, types, attributes and comments."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from ptokit.ir.module import AnyOp, Block, Func, Module, Op, Value

WORDS = "name results attrs flat comments visibility declared arg_attrs res_attrs"
HEAD = attrgetter(*WORDS.split())


def same(one: Module, other: Module) -> bool:
    """Return whether the programs are equal except for the place and spelling of their text."""
    return _head(one) == _head(other) and all(map(_same_part, one.parts, other.parts))


def _head(m: Module) -> tuple[object, ...]:
    """Return the fields of a module without its parts, and the number of parts."""
    own = (m.name, m.attrs, m.wrapped, m.comments, m.trailing, m.inner, m.aliases)
    return (*own, len(m.parts))


def _same_part(one: Func | Module, other: Func | Module) -> bool:
    if isinstance(one, Module) or isinstance(other, Module):
        return isinstance(one, Module) and isinstance(other, Module) and same(one, other)
    return _Pairing().funcs(one, other)


class _Pairing:
    """A comparison of two functions; `other` maps values of one to values of the other."""

    def __init__(self) -> None:
        self.other: dict[Value, Value] = {}

    def funcs(self, a: Func, b: Func) -> bool:
        return (
            HEAD(a) == HEAD(b)
            and self.arguments(a, b)
            and self.heads(a.blocks, b.blocks)
            and self.blocks(a.body, b.body)
            and all(self.blocks(x, y) for x, y in zip(a.blocks, b.blocks, strict=True))
        )

    def blocks(self, a: Block, b: Block) -> bool:
        known = all(v in self.other for v in a.args)  # arguments of the function are paired before
        return (
            (a.label, a.comments, a.trailing) == (b.label, b.comments, b.trailing)
            and (known or self.define(a.args, b.args))
            and len(a.ops) == len(b.ops)
            and self.heads(a.following, b.following)
            and all(self.ops(x, y) for x, y in zip(a.ops, b.ops, strict=True))
            and all(self.blocks(x, y) for x, y in zip(a.following, b.following, strict=True))
        )

    def heads(self, a: Sequence[Block], b: Sequence[Block]) -> bool:
        """Pair the arguments of further blocks; return whether number and arguments are equal."""
        alike = len(a) == len(b)
        return alike and all(self.define(x.args, y.args) for x, y in zip(a, b, strict=True))

    def arguments(self, a: Func, b: Func) -> bool:
        """Pair the arguments in order; in a flat program, which has no head, by name."""
        if not a.flat:
            return self.define(a.args, b.args)
        ordered = (sorted(f.args, key=lambda v: v.name) for f in (a, b))
        return self.define(next(ordered), next(ordered))

    def define(self, a: Sequence[Value], b: Sequence[Value]) -> bool:
        self.other |= dict(zip(a, b, strict=False))
        return [(v.name, v.type) for v in a] == [(v.name, v.type) for v in b]

    def ops(self, a: AnyOp, b: AnyOp) -> bool:
        if isinstance(a, Op) and isinstance(b, Op):
            alike = a.page is b.page and _attrs(a) == _attrs(b) and a.successors == b.successors
            alike = alike and self.operands(a, b)
        elif isinstance(a, Op) or isinstance(b, Op):
            return False
        else:
            alike = (a.name, a.text) == (b.name, b.text) and self.uses(a.uses, b.uses)
        return (
            alike
            and a.comments == b.comments
            and len(a.regions) == len(b.regions)
            and all(self.blocks(x, y) for x, y in zip(a.regions, b.regions, strict=True))
            and self.define(a.results, b.results)
        )

    def operands(self, a: Op, b: Op) -> bool:
        return a.operands.keys() == b.operands.keys() and all(
            self.uses(a.bound(name), b.bound(name)) for name in a.operands
        )

    def uses(self, a: Sequence[Value], b: Sequence[Value]) -> bool:
        for v, w in zip(a, b, strict=False):
            if v not in self.other and v.name == w.name:
                self.other[v] = w  # an opaque op defines the name inside its text
        return [self.other.get(v) for v in a] == list(b)


def _attrs(op: Op) -> dict[str, str]:
    """Return the attributes as text by name, so that NaN equals NaN."""
    return {name: repr(value) for name, value in op.attrs.items()}
