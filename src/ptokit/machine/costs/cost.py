"""The cost of an instruction for its pipe, and the trustworthiness of the figures behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """The source of a figure, the most trustworthy first."""

    MEASURED = "measured"  # on a chip, in a publication
    FITTED = "fitted"  # by a published formula that is fitted to measured times
    PUBLISHED = "published"  # in the published cost model, without a source
    ESTIMATED = "estimated"  # a rule of thumb, or a conclusion of ptokit


def weakest(*origins: Origin) -> Origin:
    """Return the origin of a number that is computed from figures of these origins."""
    order = list(Origin)
    return max(origins, key=order.index)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one instruction for its pipe. Times are whole cycles of the core's clock.

    `cycles` are always paid, `head` before them if the pipe was idle, `tail` after them at the next
    barrier or wait of the pipe. `bytes` are moved along `path`, "gm>vec" or similar ("" for an
    instruction that only computes); `flop` counts arithmetic operations on elements.
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
        """Cycles of the instruction on an idle pipe, followed by a barrier."""
        return self.head + self.cycles + self.tail
