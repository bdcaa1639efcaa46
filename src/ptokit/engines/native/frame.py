"""The frame of compiled code: what its first words are, and why it calls back."""

from __future__ import annotations

from enum import Enum

import numpy as np

from ptokit.machine.memory import Memory, address_of

# places in the frame: the block, their number, whether to look up, how much may still be used; the
# request that waits, for which counter to be how large, and where such three numbers are of what
# else it waits for; whether a coroutine failed.
BLOCK, BLOCKS, TICK, LEFT, WAITING, CELL, LEAST, MORE, FAILED, FIRST_SLOT = range(10)
TOO_LARGE = -1  # the request for a number that exceeds 64 bits


class Purpose(Enum):
    """The reasons for a call back."""

    RUN = "the reference runs the instruction"
    REGISTERS = "the registers it reads are checked"
    LOOK = "whether the run must end is looked up"
    LIMIT = "it may use no more"
    WAIT = "it waits for another core"
    WARN = "the reference notes the warnings of rules that do not hold"
    TRY = "the reference runs the instruction, which may wait as queues do"


class CoreRoom:
    """The frame of a core, the table of its memories, and scratch, which lie one after another.

    `places` are their addresses, as compiled code takes them. A row of the table has the address of
    a memory, that of its shadow or 0, and the bytes of the memory.
    """

    def __init__(self, slots: int, memories: int, scratch: int) -> None:
        """Make room for so many slots and memories, and so many bytes of scratch."""
        room = np.zeros(slots + 3 * memories + scratch // 8 + 16, np.int64)
        self.frame, table = room[:slots], room[slots : slots + 3 * memories]
        self.rows = table.reshape(-1, 3)
        frame = address_of(room)
        start = frame + self.frame.nbytes
        self.places = frame, start, -(-(start + table.nbytes) // 64) * 64

    def point(self, number: int, memory: Memory, shadowed: bool) -> None:
        """Set the row of a memory to where it is now."""
        shadow = address_of(memory.shadow) if shadowed else 0
        self.rows[number] = address_of(memory.data), shadow, memory.size
