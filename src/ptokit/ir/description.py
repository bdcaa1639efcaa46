"""A program as a key: texts that differ if programs compute or fail differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from os import urandom
from types import MappingProxyType

from ptokit.ir.module import Block, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Type

NOTHING: Mapping[Op, object] = MappingProxyType({})


class Description:
    """A text of blocks; `more` has what else there is to say about an op."""

    def __init__(self, more: Mapping[Op, object] = NOTHING) -> None:
        self.more = more
        self.names: dict[Value, int] = {}
        self.types: dict[Type, str] = {}  # which are frozen

    def name(self, value: Value) -> str:
        """Return a value's number and name, which errors quote."""
        return f"{self.names.setdefault(value, len(self.names))}%{value.name}"

    def lines(self, block: Block) -> Iterator[str]:
        """Yield a line for the arguments and for each op, and those of its regions."""
        yield self._values(block.args)
        for op in block.ops:
            results = self._values(op.results)
            if isinstance(op, OpaqueOp):
                yield f"{op.name} {results}"
                continue
            operands = " ".join(f"{n}={self.name(v)}" for n, v in op.values())
            attributes = " ".join(f"{n}={a!r}" for n, a in sorted(op.attrs.items()))
            more = self.more.get(op, "")
            if op.successors or op.into is not None:
                into = "" if op.into is None else self.name(op.into)
                more = f"{more} {op.successors} {into}"
            yield f"{identity(op.page)} {operands} {attributes} {results} {more}"
            for region in op.regions:
                yield from ("{", *self.lines(region), "}")

    def _values(self, values: Iterable[Value]) -> str:
        return " ".join(f"{self.name(v)}:{self._type(v.type)}" for v in values)

    def _type(self, kind: Type) -> str:
        if kind not in self.types:
            self.types[kind] = repr(kind)
        return self.types[kind]


def described_funcs(funcs: Iterable[Func]) -> str | None:
    """Return a text of functions; None if pages that are not ptokit's, or unknown ops, occur."""
    lines: list[str] = []
    for func in funcs:
        if any(isinstance(op, OpaqueOp) for op in func.ops):
            return None
        if not all(page.__module__.startswith("ptokit.") for page in func.pages):
            return None
        program = Description()
        lines.append(f"{func.name} {func.attrs!r} {func.arg_attrs!r} {func.results!r} {func.flat}")
        for block in (func.body, *func.blocks):
            lines += [block.label, *program.lines(block)]
    return "\n".join(lines)


@cache
def identity(page: type[Instr]) -> str:
    """Return the name of a page of ptokit, whose source is part of the fingerprint.

    The dependences of other pages are unknown, so their code is cached for this process only.
    """
    name = f"{page.__module__}.{page.__name__}"
    return name if page.__module__.startswith("ptokit.") else f"{name} {urandom(8).hex()}"
