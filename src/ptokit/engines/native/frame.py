"""The frame of compiled code: what its first words are, and why it calls back."""

from __future__ import annotations

from enum import Enum

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
