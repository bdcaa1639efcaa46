"""What it takes to run compiled code: all of it can be kept on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ptokit.ir.module import Block
from ptokit.machine.executionlog import LogPoint

# Places in the frame: the block, their number, whether to look up, how much may still be used; the
# request that waits, for which counter to be how large, and where such three numbers are of what
# else it waits for; whether a coroutine failed.
BLOCK, BLOCKS, TICK, LEFT, WAITING, CELL, LEAST, MORE, FAILED, FIRST_SLOT = range(10)
TOO_LARGE = -1  # what is called back where a number leaves 64 bits


class Purpose(Enum):
    """Why a compiled program calls back."""

    RUN = "the reference runs the instruction"
    REGISTERS = "the registers it reads are checked"
    LOOK = "whether the run must end is looked up"
    LIMIT = "it may use no more"
    WAIT = "it waits for another core"
    TRY = "the reference runs the instruction, which may wait as queues do"


@dataclass(frozen=True)
class Request:
    """Why a compiled program calls back: at an instruction, by its place among all of the program.

    `values` are its operands and `inside` the arguments of the regions around it, by their places
    among all regions: as templates, see `kernels.handles`. `ahead`: so many instructions are
    counted already that come later in the blocks around it. `result`: where its number goes.
    """

    op: int
    values: tuple[Any, ...]
    inside: tuple[tuple[int, tuple[Any, ...]], ...]
    purpose: Purpose
    ahead: int
    result: int | None = None


@dataclass(frozen=True)
class Plan:
    """What it takes to run the machine code of a program: all that a cache keeps beside it.

    `in_order`: every block writes to one place. `reads`, `writes`: the arrays, by their spaces.
    """

    slots: int
    scratch: int
    in_order: bool
    reads: frozenset[str]
    writes: frozenset[str]
    counts: tuple[tuple[int, Counter[str]], ...]
    spaces: tuple[str, ...]
    tracked: frozenset[str]
    requests: tuple[Request, ...]
    results: tuple[Any, ...]
    by_reference: frozenset[tuple[str, str]]  # mnemonics, and why
    functions: tuple[tuple[str, str], ...]  # mnemonic and name of what was generated
    points: tuple[LogPoint, ...] = ()
    entries: tuple[int, ...] = ()  # of its queues: the places of their instructions
    width: int = 0  # words of the records of its queues

    @property
    def serial(self) -> bool:
        """Whether blocks have to run one after another."""
        return self.in_order or bool(shared_arrays([self]))


def shared_arrays(plans: Sequence[Plan]) -> frozenset[str]:
    """The arrays that a block may find as those before it left them, by their spaces.

    `plans` are of a block's programs.
    """
    every = frozenset[str]()
    reads, writes = every.union(*(p.reads for p in plans)), every.union(*(p.writes for p in plans))
    return reads & writes


def places(block: Block) -> dict[int, int]:
    """Every instruction and region of a function by its place in the text."""
    found: list[object] = []
    for op in block.walk():
        found += [op, *op.regions]
    return {id(thing): number for number, thing in enumerate(found)}
