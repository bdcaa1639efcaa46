"""Extents of packed pairs: text counts bytes of two elements, everything else counts elements.

The assembler's `!pto.f4E2M1x2` is such a byte. Packed is the axis along which elements are
neighbours in memory: columns of row-major tiles and inside row-major boxes, else rows; the last one
of views.

A page says which of its numbers count pairs: they are converted when an op has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import TypeVar

from ptokit.ir.editing import new_op
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import INDEX, ScalarType, Type
from ptokit.values.enumerations import BLayout, SLayout
from ptokit.values.layouts import Layout, Shape

K = TypeVar("K", bound="TileType | GlobalType")
PAIR = "x2"  # of names of types that are pairs


def pairs_named(word: str) -> bool:
    """Whether a name of an element type is that of a pair; others of the same type are of one."""
    return PAIR in word.lower()


def packed_rows(layout: Layout) -> bool:
    """Whether neighbours in memory are in one column."""
    if layout.boxed:
        return layout.slayout is SLayout.COL_MAJOR
    return layout.blayout is BLayout.COL_MAJOR


def packed_axis(kind: Type, count: int) -> int | None:
    """Which of so many extents of a tile, or else of a view or an array, counts pairs; or none."""
    dtype = getattr(kind, "dtype", None)
    if dtype is None or not dtype.pairs:
        return None
    if isinstance(kind, TileType):
        return 0 if packed_rows(kind.layout) else 1
    return count - 1


def in_elements(kind: K) -> K:
    """A type of extents that count pairs, with those that count elements."""
    return _scaled(kind, lambda n: 2 * n)


def in_pairs(kind: K) -> K | None:
    """The other way; None where a number of elements is odd."""
    if any(n is not None and n % 2 for n in _packed(kind)):
        return None
    return _scaled(kind, lambda n: n // 2)


def _packed(kind: TileType | GlobalType) -> tuple[int | None, ...]:
    """What text counts in pairs: extents, and the strides of the other axes."""
    if not kind.dtype.pairs:
        return ()
    if isinstance(kind, GlobalType):
        return (*kind.shape[-1:], *(kind.stride or ())[:-1])
    rows = packed_rows(kind.layout)
    return (kind.rows, kind.valid.rows) if rows else (kind.cols, kind.valid.cols)


def _scaled(kind: K, by: Callable[[int], int]) -> K:
    """The type with these numbers changed."""

    def of(number: int | None) -> int | None:
        return None if number is None else by(number)

    if not kind.dtype.pairs:
        return kind
    if isinstance(kind, GlobalType):
        shape = (*kind.shape[:-1], *map(of, kind.shape[-1:]))
        stride = kind.stride and (*map(of, kind.stride[:-1]), *kind.stride[-1:])
        return replace(kind, shape=shape, stride=stride)
    valid = kind.valid
    if packed_rows(kind.layout):
        return replace(kind, rows=by(kind.rows), valid=Shape(of(valid.rows), valid.cols))
    return replace(kind, cols=by(kind.cols), valid=Shape(valid.rows, of(valid.cols)))


def counted(op: Op) -> Iterator[tuple[str, int]]:
    """The operands, and which of each, that count pairs in text."""
    for operand in op.page.ins():
        if not operand.counts:
            continue
        kind = next((v.type for v in _typed(op) if packed_axis(v.type, 1) is not None), None)
        values = op.bound(operand.name)
        axis = None if kind is None else packed_axis(kind, len(values))
        for place in range(len(values)) if axis is not None else ():
            if _counts(operand.counts, place, axis):
                yield operand.name, place


def _typed(op: Op) -> Iterator[Value]:
    yield from op.results
    yield from (value for _, value in op.values())


def _counts(what: str, place: int, axis: int | None) -> bool:
    """Whether one of an operand's numbers counts along the packed axis, or steps over it."""
    match what:
        case "rows":
            return axis == 0
        case "cols":
            return axis == 1
        case "steps":
            return place != axis
        case "extents":
            return place == axis
        case _:
            return True


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
