"""Switches turned into chains of two-way branches, between blocks and with regions."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ptokit.ir.editing import FreshNames, constant, new_op, rewritten, shaped, terminator_of
from ptokit.ir.graph import sent
from ptokit.ir.module import NO_COMMENTS, AnyOp, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.asm import CASES
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import I1

SHAPE = "switch"


def two_way(func: Func, names: FreshNames) -> Func:
    """Return the function with terminators of at most two successors; itself if it has them."""
    blocks = [func.body, *func.blocks]
    if not any(block.terminator and block.terminator.successors[2:] for block in blocks) and not (
        any(_is_switch(block) for block in blocks)
    ):
        return func
    labels = {block.label: block for block in blocks}
    made = [new for block in blocks for new in _chain(block, labels, names)]
    return replace(func, body=made[0], blocks=made[1:])


def of_two_regions(func: Func, names: FreshNames) -> Func:
    """Return the function with branches of at most two regions."""

    def few(op: AnyOp) -> list[AnyOp]:
        if isinstance(op, Op) and op.page.asm.shape == CASES:
            return _branches(op, names)
        return [op]

    return replace(func, body=rewritten(func.body, few))


def _branches(op: Op, names: FreshNames) -> list[AnyOp]:
    """Return a branch for each case, in the `else` of the one before; the first with its ops."""
    *ways, rest = op.regions
    cases = cast("tuple[int, ...]", op.choice)
    spans = {"": op.span} if op.span else {}
    if not cases:
        once = new_op(shaped("executed"), {}, results=op.results, regions=[rest], spans=spans)
        rest = Block(ops=[once])
    flag, page = op.bound(op.page.operands[0].name)[0], shaped("if")
    tests = [_equality(flag, case, names) for case in cases]
    for number, (ops, equal) in reversed([*enumerate(tests)]):
        given = [Value(names.name("chosen"), r.type, resized=r.resized) for r in op.results]
        results = given if number else op.results
        regions = [ways[number], rest] if rest.ops or rest.trailing else [ways[number]]
        operands = {page.operands[0].name: [equal]}
        branch = new_op(page, operands, results=results, regions=regions, spans=spans)
        rest = Block(ops=[*ops, branch])
        if results and number:
            ends = terminator_of(branch)
            rest.ops.append(new_op(ends, {ends.operands[0].name: results}))
    rest.ops[0].comments = op.comments
    return rest.ops


def _is_switch(block: Block) -> bool:
    return block.terminator is not None and block.terminator.page.asm.shape == SHAPE


def _page(shape: str, operands: int) -> type[Instr]:
    """Return the page of a branch, or of an integer comparison, with `operands` operands."""
    found = (p for p in walk() if p.asm.shape == shape and len(p.operands) == operands)
    return next(p for p in found if shape == "branch" or p.ins()[0].whole)


def _chain(block: Block, labels: dict[str, Block], names: FreshNames) -> list[Block]:
    """Return the block, and one more for each case except the first."""
    switch = block.terminator
    if switch is None or not _is_switch(block):
        return [block]
    (default, *ways) = [(b.label, values) for b, values in sent(switch, labels)]
    cases = cast("tuple[int, ...]", switch.choice)
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
) -> list[AnyOp]:
    """Return the ops that go one way if the flag equals the case, else the other."""
    flag = next(v for name, v in switch.values() if name != switch.page.lists[0])
    ops, equal = _equality(flag, case, names)
    page = _page("branch", 2)
    return [*ops, _branch(switch, page, {page.operands[0].name: [equal]}, [way, other])]


def _equality(flag: Value, case: int, names: FreshNames) -> tuple[list[AnyOp], Value]:
    """Return the ops that compare the flag with the case, and their result."""
    compare = _page("compare", 3)
    number = Value(names.name("case"), flag.type)
    equal = Value(names.name("equal"), I1)
    left, right = compare.ins()
    return [
        constant(number, case),
        new_op(compare, {left.name: [flag], right.name: [number]}, results=[equal]),
    ], equal


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
