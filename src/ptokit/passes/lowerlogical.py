"""Lowering of logical vectors to registers, as `isa/expansions` states it for each instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.ir.editing import number_of, refuse
from ptokit.ir.module import AnyOp, Binding, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.expansions.expansionlanguage import Inexpressible, LaneValue, Vectors, width
from ptokit.isa.expansions.logicalregisters import (
    LogicalOp,
    Lowered,
    MaskParts,
    VectorParts,
    count_of,
    lane_type,
)
from ptokit.isa.expansions.loweringtable import lowerings
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import LogicalType, register
from ptokit.isa.model.tiles import mask as mask_type
from ptokit.passes.vectoremission import VectorEmission

HELP = "write it with instructions on registers, or run the program as it is"


def lower_logical(func: Func, target: Target) -> Func:
    """Return the function with registers in place of logical vectors.

    PtoError with each instruction on them that has no lowering for its types.
    """
    if not any(_is_logical(value) for op in func.ops for value in _values(op)):
        return func
    made = _Lowering(func, target)
    lowered = made.finished()
    if made.refused:
        raise PtoError(made.refused)
    return lowered


def _is_logical(value: Value) -> bool:
    return isinstance(value.type, LogicalType)


def _is_mask(value: Value) -> bool:
    return isinstance(value.type, LogicalType) and value.type.word == "mask"


def _values(op: AnyOp) -> Iterator[Value]:
    """Yield the operands and results of an op, and the arguments of its regions."""
    yield from (value for _, value in op.values()) if isinstance(op, Op) else op.uses
    yield from op.results
    yield from (value for region in op.regions for value in region.args)


class _Lowering(VectorEmission):
    """The registers in place of the logical vectors of one function."""

    def __init__(self, func: Func, target: Target) -> None:
        super().__init__(func, target)
        self.held: dict[Value, Lowered] = {}
        self.refused = list[Diagnostic]()
        self.unknown = set[Value]()  # what ops that are refused give
        self.widths = _widths(func)
        for op in func.ops:
            if isinstance(number := number_of(op), int):
                self.numbers[op.results[0]] = number

    def _block(self, block: Block) -> Block:
        computed, self.computed = self.computed, dict(self.computed)
        made, self.computed = super()._block(block), computed
        return made

    def _args(self, args: list[Value]) -> list[Value]:
        return [new for arg in args for new in self._received(arg)]

    def _op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp) and any(map(_is_logical, _values(op))):
            self._refuse(op, "it is kept as text")
        elif not isinstance(op, Op) or not any(map(_is_logical, _values(op))):
            regions = [self._block(region) for region in op.regions]
            self.ops.append(replace(op, regions=regions) if regions else op)
        elif op.page.below:
            self._lower(op)
        else:
            self._pass_on(op)

    def _lower(self, op: Op) -> None:
        self.at = op
        bound = ((o.name, op.operands.get(o.name)) for o in op.page.operands)
        given = {name: self._now(value) for name, value in bound if value is not None}
        attrs = {a.name: op.attrs.get(a.name, a.default) for a in op.page.attrs}
        kinds = [value.type for value in op.results if isinstance(value.type, LogicalType)]
        widths = [sorted(self.widths.get(value, ())) for value in op.results]
        logical = LogicalOp(op.page, given, attrs, kinds, widths)
        before = len(self.ops)
        try:
            if op.page not in lowerings():
                raise Inexpressible("no instruction on registers does it")
            found = lowerings()[op.page](Vectors(self), logical)
            self.held |= dict(zip(op.results, found, strict=True))
            if before < len(self.ops):
                self.ops[before] = replace(self.ops[before], comments=op.comments)
        except Inexpressible as reason:
            del self.ops[before:]
            self._refuse(op, str(reason))

    def _now(self, bound: Binding) -> Lowered | Quantity:
        assert not isinstance(bound, tuple)
        return self.held.get(bound, bound)

    def _pass_on(self, op: Op) -> None:
        """Add an op that passes vectors on: its values are registers."""
        if any(_is_mask(value) for value in _values(op)):
            self._refuse(op, "regions and calls pass vectors on, but no masks")
        bound = {n: b if isinstance(b, tuple) else (b,) for n, b in op.operands.items()}
        passed = {n: tuple(v for one in b for v in self._passed(one)) for n, b in bound.items()}
        operands = {n: v if isinstance(op.operands[n], tuple) else v[0] for n, v in passed.items()}
        results = [new for value in op.results for new in self._received(value)]
        regions = [self._block(region) for region in op.regions]
        self.ops.append(replace(op, operands=operands, results=results, regions=regions))

    def _passed(self, value: Value) -> list[Value]:
        held = self.held.get(value)
        if not isinstance(held, VectorParts):
            return [value]
        return [self.value(part.value) for part in held.parts]

    def _received(self, value: Value) -> Sequence[Value]:
        """Return the registers that stand for a vector from here on."""
        kind = value.type
        if not isinstance(kind, LogicalType):
            return [value]
        if kind.word == "mask":
            parts = {
                bits: [LaneValue(value, mask_type(bits))] * -(-kind.cols * bits // 2048)
                for bits in self.widths.get(value, ())
            }
            self.held[value] = MaskParts(kind, parts)
            return [value]
        try:
            count, one = count_of(kind.lanes, lane_type(kind)), register(kind.dtype)
        except Inexpressible:
            raise refuse(f"no registers hold {kind}", value.span, HELP) from None
        name = value.name
        made = [Value(self.names.name(name), one, value.span) for _ in range(count)]
        self.held[value] = VectorParts(kind, [LaneValue(new, one) for new in made])
        return made

    def _refuse(self, op: AnyOp, reason: str) -> None:
        """Note that an op has no registers; what does not follow from it is looked at, too."""
        if not any(value in self.unknown for value in _values(op)):
            kinds = ", ".join(dict.fromkeys(str(v.type) for v in _values(op) if _is_logical(v)))
            message = f"{op.name} is not lowered for {kinds}"
            found = refuse(message, op.span, HELP).diagnostics
            self.refused += [replace(one, seen=reason or None) for one in found]
        self.unknown |= {*op.results}
        for value in op.results:
            self._received(value)


def _widths(func: Func) -> dict[Value, set[int]]:
    """Return the bits of the lanes that each mask is used with, also by way of other masks."""
    found: dict[Value, set[int]] = {}
    for op in reversed([op for op in func.ops if isinstance(op, Op)]):
        used = {value for _, value in op.values() if _is_mask(value)}
        kinds = [value.type for value in _values(op) if _is_logical(value) and not _is_mask(value)]
        bits = {width(lane_type(kind)) for kind in kinds if isinstance(kind, LogicalType)}
        if not bits:
            bits = {b for result in op.results for b in found.get(result, ())}
        for mask in used:
            found.setdefault(mask, set()).update(bits)
    return found
