"""Scratch operands that level 3, or the target, requires and the program omits.

A program at level 3 must name scratch tiles, and on some targets an instruction needs scratch that
older text omits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.ir.editing import FreshNames, allocation, rewritten
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Role
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.values.dtypes import u8
from ptokit.values.layouts import Shape

LACKING = {"level", "operand-count"}


def name_scratch(func: Func, target: Target) -> Func:
    """Return the function with a new tile for each required scratch operand.

    Its type is the first one of `_kinds` that violates no rule. An instruction for which no type
    fits stays unchanged: `check --level 3` reports what it requires.
    """
    facts = facts_of(func).on(target.at(3)).known
    names = FreshNames(func)

    def completed(op: AnyOp) -> Iterable[AnyOp]:
        if isinstance(op, Op) and not op.regions and _broken(op, facts) & LACKING:
            return _with_tiles(op, facts, names)
        return (op,)

    return replace(func, body=rewritten(func.body, completed))


def _broken(op: Op, facts: Facts) -> set[str]:
    """Return the slugs of the rules that the op violates."""
    env = facts.environment(op)
    rules = (rule for rule in op.page.rules_on(facts.target) if rule.required)
    return {rule.slug for rule in rules if rule.holds(env) is False}


def _with_tiles(op: Op, facts: Facts, names: FreshNames) -> Iterator[AnyOp]:
    for form in _forms(op):
        scratch = [o for o in form.page.operands if o.role is Role.SCRATCH and not op.bound(o.name)]
        for kind in _kinds(op, facts) if scratch else ():
            tiles = {o.name: Value(o.name, kind, op.span) for o in scratch}
            new = replace(form, operands={**op.operands, **tiles})
            if not _broken(new, facts):
                for tile in tiles.values():
                    tile.name = names.name(tile.name)
                    yield Op(allocation(), results=[tile])
                yield new
                return
    yield op


def _forms(op: Op) -> Iterator[Op]:
    """Yield the op, then the op as other pages of its instruction with more scratch operands."""
    yield op
    for page in lookup(op.name):
        named = {o.name: o.role for o in page.operands}
        further = [name for name in named if name not in op.operands]
        fits = page is not op.page and op.operands.keys() <= named.keys()
        fits = fits and all(page.operand(name).accepts(value.type) for name, value in op.values())
        if fits and all(named[n] is Role.SCRATCH or not page.operand(n).required for n in further):
            attrs = {a.name: op.attrs[a.name] for a in page.attrs if a.name in op.attrs}
            yield replace(op, page=page, attrs=attrs)


def _kinds(op: Op, facts: Facts) -> Iterator[TileType]:
    """Yield types to try: that of each operand, bytes with one row more, as wide as all inputs."""
    kinds = dict.fromkeys(facts.type_of(value) for _, value in op.values())
    tiles = [kind for kind in kinds if isinstance(kind, TileType)]
    for kind in tiles:
        yield _whole(kind, kind.rows, kind.cols)
    for kind in tiles:
        cols = kind.cols + -kind.cols % facts.target.alignment
        yield replace(_whole(kind, kind.rows + 1, cols), dtype=u8)
    for kind in tiles:
        inputs = {v for o in op.page.ins() for v in op.bound(o.name)}
        inside = [facts.type_of(value) for value in inputs]
        yield _whole(kind, kind.rows, sum(t.cols for t in inside if isinstance(t, TileType)))


def _whole(kind: TileType, rows: int, cols: int) -> TileType:
    """Return the type with these extents, all valid."""
    return replace(kind, rows=rows, cols=cols, valid=Shape(rows, cols))
