"""Properties that a page declares: traits, its use of a pipe, the resources of its body."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias


class Trait(Enum):
    """What analyses and passes know of an instruction besides its operands."""

    ALLOCATES = "its result is new storage"
    READDRESSES = "its result is its input at another address"
    DERIVES = "its result is storage at an address that follows from its input's"
    RECEIVES = "its result is storage that another core fills, where that one wants it"
    ALIASES = "its output becomes a handle on the bytes of its input"
    WINDOW = "what it gives is a part of its input and keeps the strides of the whole"
    TERMINATOR = "ends a region: its operands are what the region gives"
    BY_SCALAR = "the scalar unit reads or writes elements of memory"
    RESIZES = "changes the valid region of its first operand, which is a handle"
    CALLS = "runs another function, which takes its place before a program runs"
    EXPOSES = "its result is the address of what its operand leads to, as a number"
    RECOVERS = "its result leads to what has that address"
    BRANCHES = "ends a block by going to another, the first where its condition is 1"
    LOCAL = "its result lives no longer than the region that it is in"
    BY_LANE = "its result differs between the vector cores of a block"
    THREADS = "its region is run by threads, which start no others"
    ONE_ELEMENT = "touches the element `offset` of its operand in memory, and no other"
    ADDRESSES = "uses where its operands lie, and reads no byte of them"
    POLLS = "waits until numbers in memory are as it says"
    NOTIFIES = "changes numbers in memory that others wait for"
    INVALIDATES = "invalidates lines of the data cache, which writes back what memory lacks"
    STOPS = "lets a pipe go on when what it had to do is done: no other op answers it"
    BY_INDEX = "which elements of global memory it touches is in what it reads"
    DEALLOCATES = "its operand is storage that nothing uses behind it"
    BEGINS = "begins what is done when the event that it gives was waited for"
    AWAITS = "waits for an event, or asks whether it has come"
    OTHERWISE_KEPT = "what none of its forms takes is text of another level, kept as written"


ALLOCATES, READDRESSES, DERIVES, RECEIVES, ALIASES, WINDOW, TERMINATOR, BY_SCALAR = list(Trait)[:8]
RESIZES, CALLS, EXPOSES, RECOVERS, BRANCHES, LOCAL, BY_LANE, THREADS = list(Trait)[8:16]
ONE_ELEMENT, ADDRESSES, POLLS, NOTIFIES, INVALIDATES, STOPS = list(Trait)[16:22]
BY_INDEX, DEALLOCATES, BEGINS, AWAITS, OTHERWISE_KEPT = list(Trait)[22:]


class FifoRole(Enum):
    """What an instruction is to a FIFO between two cores, which its attributes describe."""

    OPENS = "sets up one end of a FIFO"
    RESERVES = "reserves the room of slots, under a name"
    IMPORTS = "takes the room that a function for the other kind of core reserves"
    ALLOCATES = "takes a slot that is free"
    PUSHES = "hands an entry to the other end"
    POPS = "takes the next entry of the other end"
    FREES = "gives a slot back to the other end"
    SETS_SCALAR = "sets the one number by which a conversion on the way multiplies"
    SETS_VECTOR = "sets a number for each column by which it multiplies"


OUTSIDE = -1  # in a route: before the op, and after it
# From where to where control may go at an op with regions, by their numbers. What goes in are its
# carried operands, what a region passes on are the values of its terminator, what comes out are
# results. One that is missing is passed over.
Routes: TypeAlias = "tuple[tuple[int, int], ...]"


class Resource(Enum):
    """What a body takes of the machine besides operands and attributes, by its parameter's name.

    A page declares it, `uses = (FIXPIPE,)`, and `run` has a parameter of that name.
    """

    FIXPIPE = "fixpipe"  # the reading of the fix-pipe in force
    GATHERS = "gathers"  # what an index out of range gives on the target
    ORDER = "order"  # in which order the target adds
    CHIP = "chip"  # whether the target does as chips do where the CPU simulator does otherwise
    TF32 = "tf32"  # whether the target has the mode of that name
    SATURATED = "saturated_sums"  # whether trees of f16 give the largest number for what overflows
    FINITE = "finite_pads"  # whether pads of floats are finite
    FIRST = "first_columns"  # whether of a block in each row the first value counts
    STREAMS = "mask_streams"  # whether masks with room for elements take a stream of bits
    CLEARS = "zero_pads"  # whether a null pad is 0
    BY_WORD = "words_first"  # whether floats become narrow integers by way of i32
    ROOTS = "rounded_roots"  # whether reciprocal roots are rounded twice
    KEEPS = "keeps_first"  # whether a partial search takes its second number only if it is better
    SPACED = "spaced_biases"  # whether biases of f16 lie four bytes apart
    REGISTERS = "registers"  # the registers of the core, by name
    PRINTS = "prints"  # what writes numbers to standard output
    FLAGS = "flags"  # the flags between its pipes
    CORE = "core"  # its place in the launch
    FIFO = "fifo"  # the end that this core has of the FIFO that the instruction is about
    SIGNALS = "signals"  # the counters by which cores wait for one another
    MACHINE = "machine"  # what makes tiles at addresses
    REGIONS = "regions"  # the regions of the op, as functions
    FLOW = "flow"  # what repeats regions and chooses between them


FIXPIPE, GATHERS, ORDER, CHIP, TF32, SATURATED, FINITE, FIRST, STREAMS = list(Resource)[:9]
CLEARS, BY_WORD, ROOTS, KEEPS, SPACED, REGISTERS, PRINTS, FLAGS, CORE = list(Resource)[9:18]
FIFO, SIGNALS, MACHINE, REGIONS, FLOW = list(Resource)[18:]
