"""A page's operands as text lists them.

An operand is a formula, whose `==` builds a formula: compare operands by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ptokit.isa.lang.instr import Instr, Operand, Role


@dataclass(frozen=True, eq=False)
class Signature:
    """The operands of a page, grouped by their use in text."""

    page: type[Instr]
    ins: tuple[Operand, ...]  # inputs, in text order
    outs: tuple[Operand, ...]  # outputs
    fresh: tuple[Operand, ...]  # outputs that are results in SSA form
    results: tuple[Operand, ...]  # defined in every form
    ssa: tuple[Operand, ...]  # operands in SSA form: inputs, then outputs that stay operands
    bare: tuple[Operand, ...]  # `ssa` without the old values of outputs


@cache
def signature(page: type[Instr]) -> Signature:
    """Return the signature of a page."""
    ins, outs = page.ins(), page.outs()
    memory = tuple(s for s in outs if not s.fresh)
    kept = tuple(s for s in outs if not s.fresh or s.role is Role.INOUT)
    fresh = tuple(s for s in outs if s.fresh)
    order = page.asm.order
    ssa, bare = (
        tuple(sorted((*ins, *more), key=lambda s: order.index(s.name) if s.name in order else 99))
        for more in (kept, memory)
    )
    return Signature(page, ins, outs, fresh, page.results(), ssa, bare)


@cache
def keywords(page: type[Instr]) -> frozenset[str]:
    """Return the words that stand before an operand in text, with or without `=`."""
    return frozenset(s.key or s.name for s in (*signature(page).ins, *signature(page).outs))


def describe(slots: Sequence[Operand]) -> str:
    """Return the operands that an op takes, as text: `src [, quant], row, col`."""
    text = ""
    for slot in slots:
        name = f"{slot.name}..." if slot.many else slot.name
        if slot.default is not None or slot.many:
            text += f", {name}" if text else name
        else:
            text += f" [, {name}]" if text else f"[{name}]"
    return text or "no operands"
