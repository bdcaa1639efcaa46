"""What a piece of a program does to a tile: does it read the content it finds, or overwrite it?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from ptokit.analysis.effects import overwrites
from ptokit.ir.module import STORED, AnyOp, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.passes.shared import is_loop, uses_of


class Effect(Enum):
    """The first thing that happens to a tile's content."""

    NONE = 0
    READ = 1
    WRITE = 2


def written(op: AnyOp) -> dict[str, Value]:
    """The tiles an op overwrites in place, by operand."""
    if not isinstance(op, Op) or not op.dps:
        return {}
    outs = (o for o in op.page.outs() if o.kind in STORED)
    return {o.name: op.bound(o.name)[0] for o in outs if op.bound(o.name)}


def keeps(op: Op, name: str) -> bool:
    """Whether the old content of an output may be seen in the new one."""
    replaced = op.page.aliases or (op.page.operand(name).role is Role.OUT and overwrites(op, name))
    return not replaced


def reads(op: AnyOp, tile: Value) -> bool:
    """Whether the op itself reads the tile's content, or leaves a part of it."""
    targets = written(op)
    if not targets or not isinstance(op, Op):
        return tile in uses_of(op)
    return any(v is tile and (n not in targets or keeps(op, n)) for n, v in op.values())


def first_effect(ops: Sequence[AnyOp], tile: Value) -> Effect:
    """What the ops, in order, do first to the tile."""
    for op in ops:
        if reads(op, tile):
            return Effect.READ
        if any(v is tile for v in written(op).values()):
            return Effect.WRITE
        if op.regions:
            effect = _of_regions(op, tile)
            if effect is not Effect.NONE:
                return effect
    return Effect.NONE


def _of_regions(op: AnyOp, tile: Value) -> Effect:
    """READ if a region may read first; WRITE only if every way through writes."""
    effects = [first_effect(region.ops, tile) for region in op.regions]
    if Effect.READ in effects:
        return Effect.READ
    every = not is_loop(op) and len(effects) > 1 and all(e is Effect.WRITE for e in effects)
    return Effect.WRITE if every else Effect.NONE


def writes_inside(op: AnyOp) -> dict[Value, None]:
    """The tiles that the regions of an op write, in text order."""
    found: dict[Value, None] = {}
    for region in op.regions:
        for inner in region.walk():
            found |= {v: None for v in written(inner).values()}
    return found
