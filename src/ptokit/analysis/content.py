"""The tiles that an op in DPS form reads and overwrites: the input of liveness."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.ir.editing import uses_of
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.operands import STORED
from ptokit.isa.lang.traits import ALIASES


def written_tiles(op: AnyOp) -> dict[str, Value]:
    """Return the tiles that an op overwrites in place, by operand."""
    if not isinstance(op, Op) or not op.dps:
        return {}
    outs = (o for o in op.page.outs() if o.kind in STORED)
    return {o.name: op.bound(o.name)[0] for o in outs if op.bound(o.name)}


def keeps(op: Op, name: str) -> bool:
    """Return whether an output may keep some of its old content."""
    from ptokit.analysis.effects import overwrites  # checks need no recordings

    replaced = ALIASES in op.page.traits or (
        op.page.operand(name).role is Role.OUT and overwrites(op, name)
    )
    return not replaced


def read_tiles(op: AnyOp) -> Iterator[Value]:
    """Yield the tiles that the op itself reads, or overwrites only in part."""
    targets = written_tiles(op)
    if not targets or not isinstance(op, Op):
        yield from uses_of(op)
        return
    yield from (v for n, v in op.values() if n not in targets or keeps(op, n))


def overwritten(op: AnyOp) -> list[Value]:
    """Return the tiles that an op writes; their old content is lost unless read."""
    return list(written_tiles(op).values())


def writes_inside(op: AnyOp) -> dict[Value, None]:
    """Return the tiles that the regions of an op write, in text order."""
    found: dict[Value, None] = {}
    for region in op.regions:
        for inner in region.walk():
            found |= {v: None for v in written_tiles(inner).values()}
    return found
