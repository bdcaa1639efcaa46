"""The execution log: compiled code records each executed instruction with its operands.

The first word of the log is the number of words in use, the second is 1 if a record did not fit. A
record is the number of its log point and the numbers known at run time only, whose count the log
point has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptokit.ir.module import Block
from ptokit.machine.execute import Core
from ptokit.machine.memory import Memory

OF_BLOCK = -1  # the log point of the first record of a block, which has the block's number


class LogPoint(NamedTuple):
    """An instruction whose executions are logged, by its position in the text.

    `values` are operands by number, and `iteration` the counters of the loops around it, as
    templates with slots for the numbers of a record. A record has `width` numbers; those that are
    `deciding` determine more about operands than their start.
    """

    op: int
    values: tuple[tuple[int, object], ...]
    iteration: tuple[tuple[str, object], ...]
    width: int
    deciding: tuple[int, ...]


@dataclass(frozen=True)
class Logged:
    """The log of one thread, and the objects that its records name.

    `things` are the instructions and regions of the function with this `body`, `memories` those
    that templates name. `known` is a cache for readers of the log, for runs on the same memories
    that differ in content only.
    """

    words: NDArray[np.int64]
    points: Sequence[LogPoint]
    things: Sequence[Any]  # Any: ops and blocks
    body: Block
    core: Core
    memories: Sequence[Memory]
    known: dict[object, Any]  # Any: facts of any reader

    @property
    def full(self) -> bool:
        """True if some record did not fit into the log."""
        return bool(self.words[1])
