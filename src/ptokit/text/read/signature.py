"""A page's operands as text has them: plain data, read off the page once.

(An operand of a page is a formula, whose `==` builds a formula: here names are compared.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.model.types import Kind, ScalarType


@dataclass(frozen=True, eq=False)
class Slot:
    """A place for an operand."""

    operand: Operand
    name: str
    kind: Kind
    required: bool
    optional: bool  # absent when not given; else a slot that is not required has a default
    many: bool
    key: str | None
    indexed: bool
    scalar: ScalarType | None
    also: ScalarType | None


@dataclass(frozen=True, eq=False)
class Signature:
    """The slots of a page by what text does with them."""

    page: type[Instr]
    ins: tuple[Slot, ...]  # read only, in text order
    outs: tuple[Slot, ...]  # written
    fresh: tuple[Slot, ...]  # outputs that are results in SSA form
    results: tuple[Slot, ...]  # defined in every form
    ssa: tuple[Slot, ...]  # operands in SSA form: inputs, then written ones that stay operands
    bare: tuple[Slot, ...]  # the same without the old values of outputs


@cache
def signature(page: type[Instr]) -> Signature:
    """The signature of a page."""
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
    """The words that stand before an operand in text, `=` between them or not."""
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
    """`src [, quant], row, col`: what an op takes, those with a default included."""
    text = ""
    for slot in slots:
        name = f"{slot.name}..." if slot.many else slot.name
        if not slot.optional or slot.many:
            text += f", {name}" if text else name
        else:
            text += f" [, {name}]" if text else f"[{name}]"
    return text or "no operands"
