"""A page's operands as text lists them: plain data, derived from the page once.

(An operand of a page is a formula, whose `==` builds a formula: Slots can be compared.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.model.types import Kind, ScalarType


@dataclass(frozen=True, eq=False)
class Slot:
    """One operand as the reader and the writer see it."""

    operand: Operand
    name: str
    kind: Kind
    required: bool
    optional: bool  # absent when not given; a slot neither required nor optional has a default
    many: bool
    key: str | None
    indexed: bool
    scalar: ScalarType | None
    also: ScalarType | None


@dataclass(frozen=True, eq=False)
class Signature:
    """The slots of a page, grouped by their use in text."""

    page: type[Instr]
    ins: tuple[Slot, ...]  # inputs, in text order
    outs: tuple[Slot, ...]  # outputs
    fresh: tuple[Slot, ...]  # outputs that are results in SSA form
    results: tuple[Slot, ...]  # defined in every form
    ssa: tuple[Slot, ...]  # operands in SSA form: inputs, then outputs that stay operands
    bare: tuple[Slot, ...]  # `ssa` without the old values of outputs


@cache
def signature(page: type[Instr]) -> Signature:
    """Return the signature of a page."""
    ins = tuple(_slot(page, o) for o in page.ins())
    outs = tuple(_slot(page, o) for o in page.outs())
    memory = tuple(s for s in outs if not s.operand.fresh)
    kept = tuple(s for s in outs if not s.operand.fresh or s.operand.role is Role.INOUT)
    fresh = tuple(s for s in outs if s.operand.fresh)
    results = tuple(_slot(page, o) for o in page.results())
    order = page.asm.order
    ssa, bare = (
        tuple(sorted((*ins, *more), key=lambda s: order.index(s.name) if s.name in order else 99))
        for more in (kept, memory)
    )
    return Signature(page, ins, outs, fresh, results, ssa, bare)


@cache
def keywords(page: type[Instr]) -> frozenset[str]:
    """Return the words that stand before an operand in text, with or without `=`."""
    return frozenset(s.key or s.name for s in (*signature(page).ins, *signature(page).outs))


def _slot(page: type[Instr], operand: Operand) -> Slot:
    return Slot(
        operand,
        operand.name,
        operand.kind,
        operand.required,
        operand.default is None,
        operand.many,
        operand.key,
        operand.name in page.asm.brackets,
        ScalarType(operand.scalar) if operand.scalar else None,
        ScalarType(operand.also) if operand.also else None,
    )


def describe(slots: Sequence[Slot]) -> str:
    """Return the operands that an op takes, as text: `src [, quant], row, col`."""
    text = ""
    for slot in slots:
        name = f"{slot.name}..." if slot.many else slot.name
        if not slot.optional or slot.many:
            text += f", {name}" if text else name
        else:
            text += f" [, {name}]" if text else f"[{name}]"
    return text or "no operands"
