"""Scratch tiles written out: what a compiler adds where a program has to name them.

That is at level 3, and on targets where older text leaves out what an instruction needs now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptokit.analysis.checker import learned
from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import Shape, TileType
from ptokit.passes.shared import FreshNames
from ptokit.text.read.names import allocation

LACKING = ("level", "operand-count")


def name_scratch(func: Func, target: Target) -> Func:
    """The function with a tile of its own for each scratch operand that it has to name.

    Its type is that of an operand of the instruction, the first one that breaks no rule. An
    instruction with which none agrees stays as it is: `check --level 3` says what it wants.
    """
    facts = learned(func, target.at(3), {})
    return replace(func, body=_block(func.body, facts, FreshNames(func)))


def _block(block: Block, facts: Facts, names: FreshNames) -> Block:
    ops = [new for op in block.ops for new in _completed(op, facts, names)]
    return replace(block, ops=ops)


def _completed(op: AnyOp, facts: Facts, names: FreshNames) -> Iterator[AnyOp]:
    """The op, behind the allocations of the scratch tiles that it lacks."""
    if op.regions:
        yield replace(op, regions=[_block(region, facts, names) for region in op.regions])
    elif isinstance(op, Op) and not _broken(op, facts).isdisjoint(LACKING):
        yield from _with_tiles(op, facts, names)
    else:
        yield op


def _broken(op: Op, facts: Facts) -> set[str]:
    """The slugs of the rules that the op breaks."""
    env = facts.environment(op)
    rules = (rule for rule in op.page.rules_on(facts.target) if rule.required)
    return {rule.slug for rule in rules if rule.holds(env) is False}


def _with_tiles(op: Op, facts: Facts, names: FreshNames) -> Iterator[AnyOp]:
    scratch = [o for o in op.page.operands if o.role is Role.SCRATCH and not op.bound(o.name)]
    for kind in dict.fromkeys(facts.type_of(value) for _, value in op.values()) if scratch else ():
        if isinstance(kind, TileType):
            whole = replace(kind, valid=Shape(kind.rows, kind.cols))
            tiles = {o.name: Value(o.name, whole, op.span) for o in scratch}
            new = replace(op, operands={**op.operands, **tiles})
            if not _broken(new, facts):
                for tile in tiles.values():
                    tile.name = names.name(tile.name)
                    yield Op(allocation(), results=[tile])
                yield new
                return
    yield op
