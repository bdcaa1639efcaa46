"""Packed numbers of threads as single numbers: each op on them becomes one for each part.

A page says in its hook `in_parts` what takes its place where that is something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from ptokit.ir.editing import refuse
from ptokit.ir.emission import FuncEmission
from ptokit.ir.module import AnyOp, Binding, Func, Op, OpaqueOp, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.environment import call
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.lang.traits import ONE_ELEMENT
from ptokit.isa.model.types import INDEX, PackedType, PtrType


def in_parts(func: Func) -> Func:
    """Return the function without packed numbers."""
    return _InParts(func).finished()


class _InParts(FuncEmission):
    """The conversion of one function."""

    def __init__(self, func: Func) -> None:
        super().__init__(func, INDEX)
        self.parts: dict[Value, tuple[Value, ...]] = {}
        self.now: dict[Value, Value] = {}  # a pointer to packed numbers -> one to their parts

    def _args(self, args: list[Value]) -> list[Value]:
        return [part for arg in args for part in self._named(arg)]

    def _named(self, value: Value) -> tuple[Value, ...]:
        """Return the values that take the place of a defined one."""
        packed = value.packed
        if packed is None:
            return (value,)
        if isinstance(value.type, PtrType):
            made = Value(value.name, replace(value.type, packed=None), value.span)
            self.now[value] = made
            return (made,)
        made = [
            Value(self.names.name(value.name), packed.of, value.span) for _ in range(packed.count)
        ]
        self.parts[value] = tuple(made)
        return self.parts[value]

    def _used(self, value: Value) -> tuple[Value, ...]:
        return self.parts.get(value, (self.now.get(value, value),))

    def _op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            if any(v.packed for v in (*op.uses, *op.results)):
                raise refuse(
                    f"{op.name}: unknown operation on packed numbers",
                    op.span,
                    "write it for the parts",
                )
            self.ops.append(replace(op, regions=[self._block(r) for r in op.regions]))
            return
        values = [value for _, value in op.values()]
        packed = next((p for v in (*values, *op.results) if (p := v.packed)), None)
        # of a loop, or at the end of a region
        listed = any(op.page.operand(n).many and value.packed for n, value in op.values())
        if packed is None or op.regions or listed:
            self._spread(op)
            return
        self.at = op
        if op.page.in_parts is not None:
            self._by_page(op)
        elif not any(isinstance(v.type, PackedType) for v in (*values, *op.results)):
            self._pointer(op, packed)
        else:
            self._each(op, packed)
        self.at = None

    def _spread(self, op: Op) -> None:
        """Keep an op, with all parts in the places of packed values."""
        operands = {
            name: tuple(part for v in bound for part in self._used(v))
            if isinstance(bound, tuple)
            else self._used(bound)[0]
            for name, bound in op.operands.items()
        }
        results = [part for result in op.results for part in self._named(result)]
        regions = [self._block(region) for region in op.regions]
        self.ops.append(replace(op, operands=operands, results=results, regions=regions))

    def _by_page(self, op: Op) -> None:
        given = dict(op.attrs)
        for name, value in op.values():
            used = self._used(value)
            given[name] = used if value in self.parts else used[0]
            given["source"] = value.type
            if isinstance(value.type, PtrType):
                given["space"] = value.type.space
        results = {name: value.type for name, value in op.named_results()}
        assert op.page.in_parts is not None
        found = call(op.page.in_parts, {**given, **results, "make": self})
        several = cast("Sequence[Quantity]", found if isinstance(found, list) else [found])
        (result,) = op.results
        if isinstance(result.type, PackedType):
            self.parts[result] = tuple(map(self.value, several))
        else:
            self.now[result] = self.value(several[0])

    def _pointer(self, op: Op, packed: PackedType) -> None:
        """Keep an op on pointers, whose offsets count packed numbers."""
        operands: dict[str, Binding] = {}
        for name, value in op.values():
            (used,) = self._used(value)
            scaled = op.page.operand(name).counts == "elements"
            operands[name] = self.value(self.times(used, packed.count)) if scaled else used
        results = [part for result in op.results for part in self._named(result)]
        self.ops.append(replace(op, operands=operands, results=results))

    def _each(self, op: Op, packed: PackedType) -> None:
        """Add the op for each part."""
        made = [self._named(result) for result in op.results]
        for number in range(packed.count):
            operands = {name: self._part(op, name, number) for name in op.operands}
            results = [parts[number] for parts in made]
            self.ops.append(replace(op, operands=operands, results=results))

    def _part(self, op: Op, name: str, number: int) -> Value:
        """Return the operand of an op for one part."""
        value = cast(Value, op.operands[name])
        packed = next(
            (p for _, v in op.values() if isinstance(v.type, PtrType) and (p := v.type.packed)),
            None,
        )
        if value in self.parts:
            return self.parts[value][number]
        (used,) = self._used(value)
        single = ONE_ELEMENT in op.page.traits
        if packed is not None and name == "offset" and single:
            return self.value(self.sum(self.times(used, packed.count), number))
        if isinstance(value.type, PtrType) and not single and number:
            (ptr, offset) = (o.name for o in _moving().ins())
            given: Mapping[str, Quantity] = {ptr: used, offset: number}
            return cast(Value, self.op(_moving(), given, {}, [used.type])[0])
        return used


@cache
def _moving() -> type[Instr]:
    """Return the page whose result is a pointer some elements further on."""
    return next(page for page in walk() if page.asm.shape == "moved")
