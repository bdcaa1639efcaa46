"""The amount of data of an instruction, from the types of its operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod
from typing import TypeAlias

from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.globaltypes import DataType, GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.values.layouts import DN

# The operands of one instruction by name, with the extents of one execution.
Operands: TypeAlias = Mapping[str, DataType]


@dataclass(frozen=True)
class Amount:
    """Elements for a vector instruction: lines of `length` elements of `size` bytes.

    `joined`: the lines are contiguous, so that repeats need not end with a line.
    """

    lines: int
    length: int
    size: int
    joined: bool

    @property
    def elements(self) -> int:
        return self.lines * self.length

    @property
    def line_bytes(self) -> int:
        return self.length * self.size

    def repeats(self, width: int) -> int:
        """Return the number of repeats of an instruction that handles `width` bytes at a time."""
        if self.joined:
            return ceil(self.elements * self.size / width)
        return self.lines * ceil(self.line_bytes / width)


def shape_of(kind: DataType) -> tuple[int, int]:
    """Return the number of lines of an operand and their length, in valid elements.

    An unknown valid extent counts as the whole extent of the tile, an unknown extent of a view as
    1.
    """
    if isinstance(kind, TileType):
        rows = kind.rows if kind.valid.rows is None else kind.valid.rows
        cols = kind.cols if kind.valid.cols is None else kind.valid.cols
        return (cols, rows) if kind.layout == DN else (rows, cols)
    shape = [1 if n is None else n for n in kind.shape]
    return prod(shape[:-1]), shape[-1]


def elements(kind: DataType) -> int:
    """Return the number of valid elements."""
    return prod(shape_of(kind))


def amount(kind: DataType, size: int) -> Amount:
    """Return the amount of an operand whose elements take `size` bytes each."""
    lines, length = shape_of(kind)
    joined = lines == 1 or isinstance(kind, ConvTileType)
    if isinstance(kind, TileType):
        joined = joined or kind.boxed or length == (kind.rows if kind.layout == DN else kind.cols)
    return Amount(lines, length, size, joined)


def ends(page: type[Instr], operands: Operands) -> tuple[DataType | None, DataType | None]:
    """Return the first input and the first output of an instruction; None for a missing one."""
    read = (o.name for o in page.operands if o.role is Role.IN)
    written = (o.name for o in page.operands if o.written or o.role is Role.RESULT)
    source, target = ([operands[n] for n in some if n in operands] for some in (read, written))
    return (source or [None])[0], (target or [None])[0]


def vector_work(page: type[Instr], operands: Operands, over: str | None) -> Amount | None:
    """Return the amount of a vector instruction: operand `over`, else the largest non-scratch.

    The size of an element is that of the widest operand with as many elements.
    """
    scratch = {o.name for o in page.operands if o.role is Role.SCRATCH}
    kinds = [k for n, k in operands.items() if n not in scratch and not isinstance(k, GlobalType)]
    if not kinds:
        return None
    most = operands.get(over or "") or max(kinds, key=elements)
    widest = max(k.size for k in kinds if elements(k) == elements(most))
    return amount(most, widest)
