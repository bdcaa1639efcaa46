"""The execution log: compiled code writes down which instruction it executes, on which operands.

The first word of the log is how many words are in use, the second whether it was full. A record is
the number of its log point and the numbers that are known only now, as many as the point says.
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

OF_BLOCK = -1  # the number of the record that a block begins with: it has the block's


class LogPoint(NamedTuple):
    """An instruction that is written down each time it is executed, by its place in the text.

    `values` are operands by their numbers and `iteration` what the loops around it count, as
    templates with slots for the numbers of a record. It has so many; those that are `deciding` say
    more of operands than where they begin.
    """

    op: int
    values: tuple[tuple[int, object], ...]
    iteration: tuple[tuple[str, object], ...]
    width: int
    deciding: tuple[int, ...]


@dataclass(frozen=True)
class Logged:
    """The log of one thread, and what its records are about.

    `things` are the instructions and regions of the function with this `body`, `memories` those
    that templates name. `known` is a cache for readers: what they keep of earlier runs that differ
    in content only, on the same memories.
    """

    words: NDArray[np.int64]
    points: Sequence[LogPoint]
    things: Sequence[Any]  # Any: ops and blocks
    body: Block
    core: Core
    memories: Sequence[Memory]
    known: dict[object, Any]  # Any: whatever they like

    @property
    def full(self) -> bool:
        """True if the log was too short for all records."""
        return bool(self.words[1])
