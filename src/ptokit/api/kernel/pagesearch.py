"""Searches for the pages that recording needs, by their properties."""

from __future__ import annotations

from functools import cache

from ptokit.api.eager import signature
from ptokit.api.kernel.callplaces import refused
from ptokit.isa.index import searched
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Kind, ScalarType


@cache
def page_called(
    verb: str, *, executes: bool = True, writes: Kind | None = None
) -> type[Instr] | None:
    """Return the page with this verb: its first form, or the form with such a destination."""
    every = searched("values", verb)
    found = (p for p in every if p.executes == executes and p.value_name() == verb)
    return next((p for p in found if writes in (None, p.operands[0].kind)), None)


@cache
def shaped(shape: str, *kinds: ScalarType, symbol: str = "") -> type[Instr]:
    """Return the page whose text has this form and that accepts such numbers."""
    for page in searched("shapes", shape):
        fits = page.asm.shape == shape and symbol in ("", page.symbol)
        if fits and all(o.accepts(k) for o, k in zip(page.ins(), kinds, strict=False)):
            return page
    raise refused("not-on-target", f"no instruction is a {shape} {symbol}")


@cache
def parameters_of(page: type[Instr]) -> tuple[str, ...]:
    return tuple(signature(page).parameters)
