"""Structured control flow: whether a function has it, and the function with it."""

from __future__ import annotations

from dataclasses import replace

from ptokit.ir.editing import FreshNames
from ptokit.ir.module import Func, once
from ptokit.isa.lang.asm import CASES


@once
def structured(func: Func) -> Func:
    """Return the function, and each region, as one block; branches have two regions at most.

    The function itself if it has that form. PtoError for irreducible control flow.
    """
    holders = [op for op in func.ops if op.regions]
    several = any(region.following for op in holders for region in op.regions)
    cases = any(page.asm.shape == CASES for page in func.pages)
    if not (func.blocks or several or cases):
        return func
    from ptokit.forms.structuring import flat, of_one
    from ptokit.forms.switches import of_two_regions

    names = FreshNames(func)
    if several:
        func = replace(
            func,
            body=of_one(func.body, names),
            blocks=[of_one(block, names) for block in func.blocks],
        )
    whole = flat(func, names)
    return of_two_regions(whole, names) if cases else whole
