"""What it takes to run compiled code: all of it can be kept on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ptokit.ir import Block, Func, Op, Value

# Places in the frame: the block, their number, whether to look up, how much may still be used.
BLOCK, BLOCKS, TICK, LEFT, FIRST_SLOT = range(5)
TOO_LARGE = -1  # what is called back where a number leaves 64 bits


class Purpose(Enum):
    """Why a compiled program calls back."""

    RUN = "the reference runs the instruction"
    REGISTERS = "the registers it reads are checked"
    LOOK = "whether the run must end is looked up"
    LIMIT = "it may use no more"


@dataclass(frozen=True)
class Request:
    """Why a compiled program calls back: at an instruction, by its place among all of the program.

    `values` are its operands and `inside` the arguments of the regions around it, by their places
    among all regions: as templates, see `kernels.handles`. `ahead`: so many instructions are
    counted already that come later in the blocks around it.
    """

    op: int
    values: tuple[Any, ...]
    inside: tuple[tuple[int, tuple[Any, ...]], ...]
    purpose: Purpose
    ahead: int


@dataclass(frozen=True)
class Plan:
    """What it takes to run the machine code of a program: all that a cache keeps beside it."""

    slots: int
    scratch: int
    serial: bool
    counts: tuple[tuple[int, Counter[str]], ...]
    spaces: tuple[str, ...]
    tracked: frozenset[str]
    requests: tuple[Request, ...]
    results: tuple[Any, ...]
    by_reference: frozenset[tuple[str, str]]  # mnemonics, and why
    functions: tuple[tuple[str, str], ...]  # mnemonic and name of what was generated


def places(block: Block) -> dict[int, int]:
    """Every instruction and region of a function by its place in the text."""
    found: list[object] = []
    for op in block.walk():
        found += [op, *op.regions]
    return {id(thing): number for number, thing in enumerate(found)}


def viewed(block: Block, *, inside: bool = False) -> Iterator[Value]:
    """Tiles that become views of others inside a loop or branch."""
    for op in block.ops:
        if inside and isinstance(op, Op) and op.page.aliases:
            yield from op.bound(op.page.outs()[0].name)
        for region in op.regions:
            yield from viewed(region, inside=True)


def possible_views(func: Func) -> set[Value]:
    """Tiles that are views of parts on some paths only: of which the text does not tell."""
    found = set[Value]()
    windows = [op for op in func.body.walk() if isinstance(op, Op) and op.page.windows]
    if windows:
        for block, op in _placed(func.body):
            if op.page.aliases:
                targets = op.bound(op.page.outs()[0].name)
                found.update(v for v in targets if not _defined_in(block, v))
            if op.regions:
                found.update((*op.results, *(a for region in op.regions for a in region.args)))
    return found


def _placed(block: Block) -> Iterator[tuple[Block, Op]]:
    for op in block.ops:
        if isinstance(op, Op):
            yield block, op
        for region in op.regions:
            yield from _placed(region)


def _defined_in(block: Block, value: Value) -> bool:
    return value in block.args or any(value in op.results for op in block.ops)
