"""Branches with a way for each case turned into chains of branches with two ways."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ptokit.ir.builder import new_op
from ptokit.ir.graph import sent
from ptokit.ir.module import NO_COMMENTS, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import I1
from ptokit.passes.shared import FreshNames
from ptokit.text.read.names import constant_page

SHAPE = "switch"


def two_way(func: Func, names: FreshNames) -> Func:
    """The function in which a terminator names two blocks at most; itself if it is so."""
    blocks = [func.body, *func.blocks]
    if not any(block.terminator and block.terminator.successors[2:] for block in blocks) and not (
        any(_is_switch(block) for block in blocks)
    ):
        return func
    labels = {block.label: block for block in blocks}
    made = [new for block in blocks for new in _chain(block, labels, names)]
    return replace(func, body=made[0], blocks=made[1:])


def _is_switch(block: Block) -> bool:
    return block.terminator is not None and block.terminator.page.asm.shape == SHAPE


def _page(shape: str, operands: int) -> type[Instr]:
    """The page of a branch, or of a comparison of integers, with so many operands."""
    found = (p for p in walk() if p.asm.shape == shape and len(p.operands) == operands)
    return next(p for p in found if shape == "branch" or p.ins()[0].whole)


def _chain(block: Block, labels: dict[str, Block], names: FreshNames) -> list[Block]:
    """The block, and one more for each case but the first."""
    switch = block.terminator
    if switch is None or not _is_switch(block):
        return [block]
    (default, *ways) = [(b.label, values) for b, values in sent(switch, labels)]
    cases = cast("tuple[int, ...]", switch.attrs.get(switch.page.attrs[0].name, ()))
    chain = [replace(block, ops=block.ops[:-1], following=[])]
    for number, (case, way) in enumerate(zip(cases, ways, strict=True)):
        last = number == len(cases) - 1
        other = default if last else (names.name(f"{block.label or '^entry'}_case"), ())
        chain[-1].ops += _compared(switch, case, way, other, names)
        if not last:
            chain.append(Block(label=other[0]))
    if not cases:
        page = _page("branch", 1)
        chain[-1].ops.append(_branch(switch, page, {}, [default]))
    return chain


def _compared(
    switch: Op,
    case: int,
    way: tuple[str, tuple[Value, ...]],
    other: tuple[str, tuple[Value, ...]],
    names: FreshNames,
) -> list[Op]:
    """Go one way where the flag equals the case, else the other."""
    flag = next(v for name, v in switch.values() if name != switch.page.lists[0])
    constant, compare = constant_page(), _page("compare", 3)
    number = Value(names.name("case"), flag.type)
    equal = Value(names.name("equal"), I1)
    ops = [new_op(constant, {}, {constant.attrs[0].name: case}, results=[number])]
    left, right = compare.ins()
    ops.append(new_op(compare, {left.name: [flag], right.name: [number]}, results=[equal]))
    page = _page("branch", 2)
    return [*ops, _branch(switch, page, {page.operands[0].name: [equal]}, [way, other])]


def _branch(
    switch: Op,
    page: type[Instr],
    chosen: dict[str, list[Value]],
    ways: list[tuple[str, tuple[Value, ...]]],
) -> Op:
    passed = [value for _, values in ways for value in values]
    given = {**chosen, page.lists[0]: passed} if passed else chosen
    op = new_op(page, given, spans={"": switch.span} if switch.span else {})
    op.successors = tuple(label for label, _ in ways)
    op.comments = NO_COMMENTS
    return op
