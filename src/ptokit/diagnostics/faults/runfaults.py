"""Entries about errors and warnings of a run."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

RUNS: dict[str, Entry] = {
    "fifo-mismatch": Entry(
        "the two ends of a FIFO do not match",
        "A FIFO connects the cube core and the vector cores of a block. The cube function and the "
        "vector function each set up one end, on a buffer that the consumer reserves and the "
        "producer imports. Both ends must agree on directions, slots and split. In one function "
        "each FIFO has its own id and is used in its directions only, and all FIFOs together use "
        "at most sixteen flags. A slot in global memory is allocated before it is pushed. Each "
        "slot is freed once, after its entry was popped: a slot freed earlier may be overwritten.",
    ),
    "not-executed": Entry(
        "ptokit cannot execute this instruction",
        "The instruction is read, printed and checked like any other. ptokit cannot execute it, "
        "because no published source defines its result; the message and its page say more. "
        "A program runs until it reaches such an instruction.",
    ),
    "uninitialised-read": Entry(
        "a tile is read before it is written",
        "On-chip memory has no defined content until a program writes it. ptokit tracks every "
        "byte. An instruction may read undefined elements: its results are then undefined, and "
        "`explain undefined-store` says what a store does with them. This error reports a decision "
        "that depends on an undefined element: a number that the scalar unit reads, a branch, an "
        "address, the index of a gather or a scatter. An index that a chip reads beyond a valid "
        "region selects an undefined element instead. Multiplying a tile by the number 0 is no "
        "read: it clears the tile. `check` reports a tile that is not written on any path to an "
        "instruction that is certain to run: as an error, or as a warning in an excerpt (a "
        "function that reads tiles which it never writes).",
    ),
    "undefined-store": Entry(
        "undefined elements are stored",
        "An element is undefined until an instruction writes it. Undefined elements remain in rows "
        "below the loaded ones (a null pad fills nothing), in the rows and columns that a product "
        "leaves of its last boxes of 16 x 16, and behind the records that a sort writes. They "
        "spread: an elementwise instruction makes an undefined element of each that it reads, a "
        "sum or a maximum reads all of its elements, a product all along k, a sort the block of "
        "such a key, and moves, windows and FIFOs copy them. A chip stores whatever the bytes "
        "hold. ptokit stores 0, on both engines, and warns. The warning names the instruction, the "
        "array, the number of elements in all blocks and iterations, and the first one. From then "
        "on the array is defined. `run --strict`, in Python `strict=True`, makes this an error. "
        "`check` warns where it knows the extents of the tile and of the instructions that write "
        "it.",
    ),
    "box-pitch": Entry(
        "box pitch differs from what the cube unit assumes",
        "The cube unit of A2/A3 and A5 receives M, K and N, the valid extents of the factors, and "
        "nothing else about the tiles. It assumes that their boxes are packed, and packs those of "
        "the sums. Moves into L0, and readers of an accumulator, use the declared rows and columns "
        "instead or, where the type has a compact mode, the valid ones in whole boxes. Where the "
        "two differ and there is more than one row or column of boxes, the chip silently computes "
        "wrong values. The engines keep all boxes in their places, as the CPU simulator does.",
        repeated=True,
    ),
    "line-pitch": Entry(
        "the elements of a line are not contiguous in memory",
        "The transfer units of A2/A3 and A5 receive the length and the pitch of the lines of a "
        "transfer: rows of a row-major tile, columns of a column-major one. Within a line they "
        "move consecutive elements and ignore the stride of the view: a column-major tile of one "
        "column that is stored to a column of row-major memory becomes consecutive elements of one "
        "row. The engines follow the strides of the view; kernels in C++ move what the chip does.",
        repeated=True,
    ),
    "global-out-of-bounds": Entry(
        "the view exceeds its array",
        "Nothing on a device checks the extents of a global tensor view. ptokit knows the size of "
        "the bound array and checks each access.",
    ),
    "gather-out-of-bounds": Entry(
        "gather index out of bounds",
        "On A2/A3 and A5 an index outside the source of a gather reads unrelated bytes: ptokit "
        "reports it. On the CPU simulator it wraps; the option `outside` chooses wrap, clamp, zero "
        "or error.",
    ),
    "scatter-out-of-bounds": Entry(
        "scatter index out of bounds",
        "No device checks the indices of a scatter: one outside the destination overwrites "
        "unrelated bytes. ptokit reports it on all targets.",
    ),
    "address-unknown": Entry(
        "the address belongs to no array",
        "`pto.inttoptr` takes an address that `pto.ptrtoint` computed from a pointer in the same "
        "launch. ptokit chooses the addresses of arrays: a number that was not computed from one "
        "of them points nowhere.",
    ),
    "pointer-from-number": Entry(
        "the pointer was made from an integer",
        "The result of `pto.inttoptr` is for `pto.load_scalar` and `pto.store_scalar` only. Its "
        "array is unknown, so it has no views and no pointer arithmetic. Do the arithmetic on the "
        "integer, or keep the original pointer.",
    ),
    "trapped": Entry(
        "the program executed a trap",
        "`pto.trap` stops a core: programs put it on paths that must not be taken. No output is "
        "written. The notes name the iteration and the block.",
    ),
    "print-format": Entry(
        "print format does not match the operand",
        "`pto.print` takes one number: its format has one conversion of C's printf, %d, %i, %u, "
        "%x, %o or %c for an integer, %f, %e or %g for a float, or none at all; %% is a percent "
        "sign.",
    ),
    "instruction-limit": Entry(
        "instruction limit reached",
        "The option max-instructions ends a run that executes more. It counts the instructions "
        "that a report counts; an iteration of a loop without any counts as one, so that every "
        "loop ends. With this limit the blocks of a launch run in order. Nothing is written.",
    ),
    "time-limit": Entry(
        "time limit reached",
        "The option timeout ends a run that takes more seconds. The message names the loop or "
        "instruction that was running, and the iteration of each loop around it. Nothing is "
        "written.",
    ),
    "division-by-zero": Entry("division by zero", "An integer division has a zero divisor."),
    "recursion": Entry(
        "recursive function call",
        "ptokit inlines every call, so calls must not be recursive; cores have no call stack.",
    ),
    "too-many-calls": Entry(
        "too many calls to inline",
        "ptokit inlines every call, so nested calls multiply the size of a kernel. The limit is "
        "far beyond any real kernel: call in a loop instead.",
    ),
    "irreducible-graph": Entry(
        "irreducible control flow",
        "Blocks of a function become loops and branches with regions before they are checked or "
        "run. Every entry into a loop must go to the same block of the loop.",
    ),
    "shift-too-far": Entry(
        "shift amount out of range",
        "MLIR leaves the result of a shift by the width of the type or more undefined, and "
        "processors differ.",
    ),
    "unknown-op": Entry(
        "unknown operation",
        "The operation is kept and printed back, but it can be neither checked nor executed. "
        "`check` refuses it; with --allow-unknown the verdict is undecided.",
    ),
    "foreign-op": Entry(
        "not checked: from another level or dialect",
        "Partly lowered text has buffers that are no tiles, and operations on them. They are kept "
        "and printed back; the verdict is undecided, and the program does not run.",
    ),
}
