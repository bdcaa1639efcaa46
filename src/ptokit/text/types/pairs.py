"""Extents of packed pairs: text counts bytes of two elements, ptokit counts elements.

The assembler's `!pto.f4E2M1x2` is such a byte. The packed axis is the one along which elements are
neighbours in memory: columns for row-major tiles and inside row-major boxes, else rows; the last
axis of views.

A page declares which of its numbers count pairs: they are converted after an op is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import TypeVar

from ptokit.ir.editing import arithmetic_page, new_op
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import INDEX, ScalarType, Type
from ptokit.values.enumerations import BLayout, SLayout
from ptokit.values.layouts import Layout, Shape

K = TypeVar("K", bound="TileType | GlobalType")
PAIR = "x2"  # the suffix of a pair type's name


def pairs_named(word: str) -> bool:
    """Return whether a name of an element type means a pair; other names mean one element."""
    return PAIR in word.lower()


def packed_rows(layout: Layout) -> bool:
    """Return whether neighbours in memory belong to one column."""
    if layout.boxed:
        return layout.slayout is SLayout.COL_MAJOR
    return layout.blayout is BLayout.COL_MAJOR


def packed_axis(kind: Type, count: int) -> int | None:
    """Return the position, among `count` extents, of the one that counts pairs, or None."""
    dtype = getattr(kind, "dtype", None)
    if dtype is None or not dtype.pairs:
        return None
    if isinstance(kind, TileType):
        return 0 if packed_rows(kind.layout) else 1
    return count - 1


def in_elements(kind: K) -> K:
    """Return a type whose extents count pairs with extents that count elements."""
    return _scaled(kind, lambda n: 2 * n)


def in_pairs(kind: K) -> K | None:
    """Return a type with extents that count pairs; None if a number of elements is odd."""
    if any(n is not None and n % 2 for n in _packed(kind)):
        return None
    return _scaled(kind, lambda n: n // 2)


def _packed(kind: TileType | GlobalType) -> tuple[int | None, ...]:
    """Return the numbers that text counts in pairs: extents, and strides of the other axes."""
    if not kind.dtype.pairs:
        return ()
    if isinstance(kind, GlobalType):
        return (*kind.shape[-1:], *(kind.stride or ())[:-1])
    rows = packed_rows(kind.layout)
    return (kind.rows, kind.valid.rows) if rows else (kind.cols, kind.valid.cols)


def _scaled(kind: K, by: Callable[[int], int]) -> K:
    """Return the type with the numbers that count pairs changed by `by`."""

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
    """Yield the operands that count pairs in text, each with the position of the number."""
    types = (v.type for v in (*op.results, *(value for _, value in op.values())))
    kind = next((kind for kind in types if packed_axis(kind, 1) is not None), None)
    if kind is None:
        return
    for operand in counting_operands(op.page):
        values = op.bound(operand.name)
        for place in range(len(values)):
            if _counts(operand.counts, place, packed_axis(kind, len(values))):
                yield operand.name, place


@cache
def counting_operands(page: type[Instr]) -> tuple[Operand, ...]:
    """Return the inputs that count elements or pairs along an axis."""
    return tuple(operand for operand in page.ins() if operand.counts)


def _counts(what: str, place: int, axis: int | None) -> bool:
    """Return whether a number of an operand counts along the packed axis, or is a step over it."""
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


def number_page(operation: str, kind: Type = INDEX) -> type[Instr]:
    """Return the page of an integer operation, such as add or floordiv, on two numbers."""
    page = arithmetic_page(operation, kind)
    assert page is not None, f"no instruction is {operation}"
    return page


def double(value: Value) -> Op:
    """Return an op that doubles a number of pairs; the text has no such op."""
    page = number_page("add", value.type if isinstance(value.type, ScalarType) else INDEX)
    names = [operand.name for operand in page.ins()]
    return new_op(page, {name: (value,) for name in names}, results=[Value("", value.type)])


def is_double(op: AnyOp) -> bool:
    """Return whether `double` made the op, or the op computes the same."""
    if not isinstance(op, Op) or op.page is not number_page("add"):
        return False
    return len({value for _, value in op.values()}) == 1


def counting_elements(func: Func) -> list[Value]:
    """Insert `double` before uses that count pairs; return the new values, which have no names."""
    found: list[Value] = []

    def doubled(op: Op, name: str, value: Value) -> tuple[list[Op], Value]:
        made = double(value)
        found.extend(made.results)
        return [made], made.results[0]

    recount(func, doubled)
    return found


def recount(func: Func, change: Callable[[Op, str, Value], tuple[list[Op], Value]]) -> None:
    """Replace each number that counts pairs: `change` returns ops before its use, and a number."""
    for block in blocks(func):
        ops = list(block.ops)
        block.ops.clear()
        for op in ops:
            if isinstance(op, Op) and counting_operands(op.page):
                for name, place in counted(op):
                    before, number = change(op, name, op.bound(name)[place])
                    block.ops += before
                    values = list(op.bound(name))
                    values[place] = number
                    op.operands[name] = tuple(values) if op.page.operand(name).many else number
            block.ops.append(op)


def blocks(func: Func) -> Iterator[Block]:
    """Yield every block of a function, with those of regions."""
    waiting = [func.body, *func.blocks]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [*block.following, *(region for op in block.ops for region in op.regions)]
