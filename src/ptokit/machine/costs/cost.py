"""What an instruction costs its pipe, and how far the figures behind that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """The source of a figure, the most trustworthy first."""

    MEASURED = "measured"  # on a chip, as published
    FITTED = "fitted"  # a formula that is published as fitted to measured times
    PUBLISHED = "published"  # of the published cost model, which does not say where it has it from
    ESTIMATED = "estimated"  # a rule of thumb, or our conclusion


def weakest(*origins: Origin) -> Origin:
    """What is known of a number that is computed from figures of these origins."""
    order = list(Origin)
    return max(origins, key=order.index)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one instruction costs its pipe. Times are whole cycles of the core's clock.

    `cycles` are paid always, `head` before them if the pipe was idle, `tail` after them when the
    next barrier or wait of the pipe comes. `bytes` are moved along `path`, "gm>vec" or the like
    ("" of an instruction that only computes); `flop` counts arithmetic operations on elements.
    """

    cycles: int
    source: Origin
    head: int = 0
    tail: int = 0
    bytes: int = 0
    flop: int = 0
    path: str = ""

    @property
    def latency(self) -> int:
        """Cycles of the instruction on an idle pipe, a barrier after it."""
        return self.head + self.cycles + self.tail
