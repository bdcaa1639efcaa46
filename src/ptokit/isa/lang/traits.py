"""Properties that a page declares: traits, its role for a FIFO, the resources of its body."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias


class Trait(Enum):
    """A property of an instruction, besides its operands, for analyses and passes."""

    ALLOCATES = "its result is new storage"
    READDRESSES = "its result is storage at another address: its `addr`, or one from its input's"
    RECEIVES = "its result is storage that another core fills, where that one wants it"
    ALIASES = "its output becomes a handle on the bytes of its input"
    HANDLE = (
        "gives its first operand, a handle, the extents of the others; without them, ends its use"
    )
    WINDOW = "what it gives is a part of its input and keeps the strides of the whole"
    TERMINATOR = "ends a region: its operands are what the region gives"
    BY_SCALAR = "the scalar unit reads or writes elements of memory"
    CALLS = "runs another function, which takes its place before a program runs"
    EXPOSES = "its result is the address of what its operand leads to, as a number"
    RECOVERS = "its result leads to what has that address"
    BRANCHES = "ends a block by going to another, the first where its condition is 1"
    BY_LANE = "its result differs between the vector cores of a block"
    THREADS = "its region is run by threads, which start no others"
    ONE_ELEMENT = "touches the element `offset` of its operand in memory, and no other"
    ADDRESSES = "uses where its operands lie, and reads no byte of them"
    SIGNALLING = "writes numbers in memory that cores wait for, or else waits for them"
    INVALIDATES = "invalidates lines of the data cache, which writes back what memory lacks"
    STOPS = "lets a pipe go on when what it had to do is done: no other op answers it"
    BY_INDEX = "which elements of global memory it touches is in what it reads"
    BEGINS = "begins what is done when the event that it gives was waited for"
    AWAITS = "waits for an event, or asks whether it has come"
    MADE = "ptokit makes it: bytes at an address, or of a tile, or the copy of a register"
    COLLECTIVE = "uses what other threads have computed before it; without a result, meets them"

    __hash__ = object.__hash__  # members are singletons, see `Word`


ALLOCATES, READDRESSES, RECEIVES, ALIASES, HANDLE, WINDOW, TERMINATOR, BY_SCALAR = list(Trait)[:8]
CALLS, EXPOSES, RECOVERS, BRANCHES, BY_LANE, THREADS, ONE_ELEMENT = list(Trait)[8:15]
ADDRESSES, SIGNALLING, INVALIDATES, STOPS, BY_INDEX, BEGINS, AWAITS = list(Trait)[15:22]
MADE, COLLECTIVE = list(Trait)[22:]
EXTENTS = "extents of threads"  # a register: of the launches behind it that are calls


class FifoRole(Enum):
    """The role of an instruction for a FIFO between two cores, which its attributes describe."""

    OPENS = "sets up one end of a FIFO"
    RESERVES = "reserves the room of slots, under a name"
    IMPORTS = "takes the room that a function for the other kind of core reserves"
    ALLOCATES = "takes a slot that is free"
    PUSHES = "hands an entry to the other end"
    POPS = "takes the next entry of the other end"
    FREES = "gives a slot back to the other end"
    SETS = "sets the number by which a conversion on the way multiplies, or one for each column"


OUTSIDE = -1  # in a route: before the op, and after it
# Control-flow edges at an op with regions, by their numbers. An edge from OUTSIDE carries the op's
# carried operands, an edge from a region the values of its terminator; values to OUTSIDE become
# results. A missing region is skipped.
Routes: TypeAlias = "tuple[tuple[int, int], ...]"


class Resource(Enum):
    """A resource of the machine that a body takes besides operands and attributes.

    A page declares it, `uses = (FIXPIPE,)`, and `run` has a parameter of that name.
    """

    FIXPIPE = "fixpipe"  # the reading of the fix-pipe in force
    TARGET = "target"  # the target, whose properties and readings decide between meanings
    REGISTERS = "registers"  # the registers of the core, by name
    PRINTS = "prints"  # writes numbers to standard output
    FLAGS = "flags"  # the flags between pipes of the core
    CORE = "core"  # the core's ids in the launch
    FIFO = "fifo"  # this core's end of the instruction's FIFO
    SIGNALS = "signals"  # the counters by which cores wait for one another
    MACHINE = "machine"  # makes tiles at addresses
    REGIONS = "regions"  # the regions of the op, as functions
    FLOW = "flow"  # repeats regions and chooses between them


FIXPIPE, TARGET, REGISTERS, PRINTS, FLAGS, CORE, FIFO, SIGNALS, MACHINE, REGIONS, FLOW = Resource
