"""Entries of what ends a run, or what a run warns of."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

RUNS: dict[str, Entry] = {
    "pipe": Entry(
        "the ends of a FIFO do not agree",
        "A FIFO connects the cube and the vector cores of a block. The functions for both kinds of "
        "core set up one end each, on a buffer that the one that pops reserves and the other one "
        "imports. Both ends give the same directions, slots and split, each function names its "
        "FIFOs by different ids, uses them in their directions, and has sixteen flags in all. A "
        "slot in global memory is allocated before it is pushed, and each slot is given back once, "
        "after its entry was popped: else the other end would write over what nobody took.",
    ),
    "not-executed": Entry(
        "ptokit does not execute this instruction",
        "The instruction is read, printed and checked like any other. It is not executed, because "
        "no published source says what it does; the message and its page say more. "
        "A program runs as long as it does not come to one.",
    ),
    "uninitialised-read": Entry(
        "a tile is read before it is written",
        "On-chip memory has no defined content until a program writes it. ptokit tracks every "
        "byte. An instruction may read elements without a value: what it computes of them has none "
        "either, and `explain undefined-store` says what a store does with it. To decide on one is "
        "this error: a number that the scalar unit takes, a branch, an address, the index of a "
        "gather or a scatter. An index that a chip reads beyond a valid region picks an element "
        "without a value instead. To multiply a tile by the number 0 is no read: it clears the "
        "tile. `check` reports a tile of which nothing was written on any way to the instruction, "
        "if it surely runs: an error, but a warning in an excerpt, a function that reads tiles "
        "which nothing in it writes.",
    ),
    "undefined-store": Entry(
        "elements that nothing computed are stored",
        "An element has no value where nothing wrote it: in rows below what was loaded (a null pad "
        "fills nothing), in the rows and columns that a product leaves of its last boxes of 16 x "
        "16, behind the records that a sort writes, and in what was computed of any of them. An "
        "elementwise instruction gives an element without a value for each that it reads, a sum or "
        "a maximum takes in all of its elements, a product all along k, a sort the block of such a "
        "key. Moves, windows and FIFOs between cores take them along. A chip stores whatever the "
        "bytes hold. ptokit stores 0, on both engines, and warns: which instruction, which array, "
        "how many elements of all blocks and iterations, and the first of them. The array has "
        "values from then on. `run --strict`, in Python `strict=True`, makes this an error. "
        "`check` warns where the extents of a tile and of what computes it are known.",
    ),
    "box-pitch": Entry(
        "the boxes of a tile lie at another pitch than the cube unit takes them",
        "The cube unit of A2/A3 and A5 is told M, K and N, the valid extents of the factors, and "
        "nothing of the tiles: it takes their boxes to be packed, and packs those of the sums. "
        "Moves into L0, and what reads an accumulator, go by the declared rows and columns "
        "instead or, where the type has a compact mode, by the valid ones in whole boxes. Where "
        "the two differ and there is more than one row or column of boxes, the chip computes "
        "wrong values without a word. The engines keep all boxes in their places, as the CPU "
        "simulator does.",
        repeated=True,
    ),
    "line-pitch": Entry(
        "the elements of a line are not contiguous in memory",
        "The transfer units of A2/A3 and A5 are told how long the lines of a transfer are and how "
        "far they lie apart: rows of a row-major tile, columns of a column-major one. Within a "
        "line they move one element behind the other. What the view says of a stride there has no "
        "effect: a column-major tile of one column that is stored to a column of row-major memory "
        "becomes consecutive elements of one row. The engines follow the strides of the view.",
        repeated=True,
    ),
    "global-out-of-bounds": Entry(
        "a view reaches past its array",
        "Nothing on a device checks the extents of a global tensor view. ptokit knows the size of "
        "the bound array and checks each access.",
    ),
    "gather-out-of-bounds": Entry(
        "an index lies outside the source",
        "On A2/A3 and A5 an index outside the source of a gather reads whatever lies there: ptokit "
        "reports it. On the CPU simulator it wraps; the option `outside` chooses wrap, clamp, zero "
        "or error.",
    ),
    "scatter-out-of-bounds": Entry(
        "an index lies outside the destination",
        "No device checks the indices of a scatter: one outside overwrites whatever lies there. "
        "ptokit reports it on all targets.",
    ),
    "address-unknown": Entry(
        "no array has this address",
        "`pto.inttoptr` leads to an array whose pointer `pto.ptrtoint` made a number in the same "
        "launch. Which address an array has, ptokit chooses: a number that was not computed from "
        "such an address leads nowhere.",
    ),
    "pointer-from-number": Entry(
        "the pointer was made of a number",
        "What `pto.inttoptr` gives is for `pto.load_scalar` and `pto.store_scalar` only: it has "
        "lost its array, so no view is made of it, and it is not moved. Do the arithmetic on the "
        "number, or keep the pointer.",
    ),
    "trapped": Entry(
        "the program ends the run",
        "`pto.trap` stops a core: programs put it on the ways that must not be taken. No output is "
        "written. The notes say in which iteration and block it was.",
    ),
    "print-format": Entry(
        "the format does not fit the number",
        "`pto.print` takes one number: its format has one conversion of C's printf, %d, %i, %u, "
        "%x, %o or %c for a whole number, %f, %e or %g for a float, or none at all; %% is a "
        "percent sign.",
    ),
    "instruction-limit": Entry(
        "the run ends at its limit of instructions",
        "The option max-instructions ends a run that executes more. What a report counts is "
        "counted; an iteration of a loop that executes none counts as one, so that every loop "
        "ends. With this limit the blocks of a launch run in order. Nothing is written.",
    ),
    "time-limit": Entry(
        "the run ends at its limit of time",
        "The option timeout ends a run that takes more seconds. The message names the loop or the "
        "instruction that it had come to, and how far the loops around it were. Nothing is "
        "written.",
    ),
    "division-by-zero": Entry("division by zero", "An integer division has a zero divisor."),
    "recursion": Entry(
        "a function calls itself",
        "The body of a function takes the place of each call of it, which must come to an end; "
        "cores have no stack for calls.",
    ),
    "too-many-calls": Entry(
        "functions call too many others",
        "The body of a function takes the place of each call of it, so a function that calls twice "
        "one that calls twice is large soon. The limit is far beyond any real kernel: call in a "
        "loop instead.",
    ),
    "irreducible-graph": Entry(
        "a loop of blocks has two entries",
        "Blocks of a function become loops and branches with regions before anything is checked or "
        "run. Every way into a loop must go to one block of it, from which the others are reached.",
    ),
    "shift-too-far": Entry(
        "a shift by the width of its type or more",
        "MLIR leaves the result of such a shift undefined, and processors differ.",
    ),
    "unknown-op": Entry(
        "this version does not know this operation",
        "The operation is kept and printed back, but it can be neither checked nor executed. "
        "`check` refuses it; with --allow-unknown the verdict is undecided.",
    ),
    "foreign-op": Entry(
        "of another level or dialect, is not judged",
        "Text that a compiler has begun to lower has buffers that are no tiles, and operations on "
        "them. They are kept and printed back; the verdict is undecided, and they do not run.",
    ),
}
