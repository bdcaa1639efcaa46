"""Which tiles an op in DPS form reads, and which it overwrites: the input of liveness."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.ir.editing import uses_of
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.operands import STORED
from ptokit.isa.lang.traits import ALIASES


def written_tiles(op: AnyOp) -> dict[str, Value]:
    """The tiles an op overwrites in place, by operand."""
    if not isinstance(op, Op) or not op.dps:
        return {}
    outs = (o for o in op.page.outs() if o.kind in STORED)
    return {o.name: op.bound(o.name)[0] for o in outs if op.bound(o.name)}


def keeps(op: Op, name: str) -> bool:
    """Whether the old content of an output may be seen in the new one."""
    from ptokit.analysis.effects import overwrites  # who only checks needs no recorded bodies

    replaced = ALIASES in op.page.traits or (
        op.page.operand(name).role is Role.OUT and overwrites(op, name)
    )
    return not replaced


def read_tiles(op: AnyOp) -> Iterator[Value]:
    """The tiles whose content the op itself reads, or leaves a part of."""
    targets = written_tiles(op)
    if not targets or not isinstance(op, Op):
        yield from uses_of(op)
        return
    yield from (v for n, v in op.values() if n not in targets or keeps(op, n))


def overwritten(op: AnyOp) -> list[Value]:
    """The tiles an op writes: what it does not read of them is gone."""
    return list(written_tiles(op).values())


def writes_inside(op: AnyOp) -> dict[Value, None]:
    """The tiles that the regions of an op write, in text order."""
    found: dict[Value, None] = {}
    for region in op.regions:
        for inner in region.walk():
            found |= {v: None for v in written_tiles(inner).values()}
    return found
