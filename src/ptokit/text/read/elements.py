"""Converts numbers that count packed pairs in text into counts of elements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ptokit.ir.builder import new_op
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import INDEX, ScalarType, Type
from ptokit.text.types.pairs import counted


@cache
def number_page(operation: str, kind: Type = INDEX) -> type[Instr]:
    """The page that computes with two whole numbers: add, floordiv."""
    for page in walk():
        two = page.folds and page.asm.shape == "same" and len(page.ins()) == 2
        if two and page.operation() == operation and page.ins()[0].accepts(kind):
            return page
    raise AssertionError(f"no instruction is {operation}")


def double(value: Value) -> Op:
    """An op that turns a number of pairs into elements; the text has no such op."""
    page = number_page("add", value.type if isinstance(value.type, ScalarType) else INDEX)
    names = [operand.name for operand in page.ins()]
    return new_op(page, {name: (value,) for name in names}, results=[Value("", value.type)])


def is_double(op: AnyOp) -> bool:
    """Whether it is one that `double` made, or computes the same."""
    if not isinstance(op, Op) or op.page is not number_page("add"):
        return False
    return len({value for _, value in op.values()}) == 1


def counting_elements(func: Func) -> Iterator[Value]:
    """Put `double` before what counts pairs; gives the numbers that have no names yet."""
    for block in blocks(func):
        ops = list(block.ops)
        block.ops.clear()
        for op in ops:
            if isinstance(op, Op):
                for name, place in counted(op):
                    made = double(op.bound(name)[place])
                    block.ops.append(made)
                    rebind(op, name, place, made.results[0])
                    yield made.results[0]
            block.ops.append(op)


def rebind(op: Op, name: str, place: int, value: Value) -> None:
    """Another value for one number of an operand."""
    bound = op.operands[name]
    if isinstance(bound, tuple):
        op.operands[name] = (*bound[:place], value, *bound[place + 1 :])
    else:
        op.operands[name] = value


def blocks(func: Func) -> Iterator[Block]:
    """Every block of a function, regions included."""
    waiting = [func.body, *func.blocks]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [*block.following, *(region for op in block.ops for region in op.regions)]
