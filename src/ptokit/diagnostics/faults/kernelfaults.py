"""Entries about kernels in Python and their recording."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

KERNELS: dict[str, Entry] = {
    "run-time-number": Entry(
        "the value is not known while the kernel is recorded",
        "A kernel runs once and records itself. Its number parameters, extents named in lower case "
        "and the counters of pto.range are symbolic: they support + - * // %, comparisons, & and "
        "|, pto.min, pto.max and pto.where, but have no truth value and cannot be used with "
        "Python's range, and, or, not. Tiles have no content while they are recorded.",
    ),
    "rebound": Entry(
        "a recorded loop or branch changes Python state",
        "The body of pto.range is recorded once, for all iterations, and both branches of an `if` "
        "on a symbolic condition are recorded. A number that a loop binds to a local name is "
        "loop-carried: each iteration starts with the value of the previous one. Branches bind a "
        "local name that is read later to numbers, or not at all. A tile is storage: write into it "
        "with `out=`. Other changes of state that existed before are refused: globals, names of "
        "enclosing functions, items, attributes, lists, sets, arrays and iterators. Mark a helper "
        "with @pto.inline to have its names and branches recorded in the same way.",
    ),
    "vector-function": Entry(
        "wrong use of a vector function",
        "Instructions on registers and masks (pto.lanes) stand in a function that is marked "
        "@pto.vector. A kernel calls it with tiles and numbers, or a program with tiles. It "
        "returns nothing, since registers end with it, and calls no other vector function.",
    ),
    "unwatched": Entry(
        "the kernel reads Python state that cannot be compared",
        "A kernel is recorded again when Python state that it reads has changed. C objects that "
        "hide their content, and more than 20,000 objects, cannot be compared. Read the values "
        "that the kernel needs beforehand, and bind numbers to their own names.",
    ),
    "out-of-scope": Entry(
        "value used outside the loop or branch that defines it",
        "Each iteration of a loop makes its tiles anew, and the tiles end with the iteration. Make "
        "a tile before the loop and write into it inside.",
    ),
    "left-branch": Entry(
        "early exit from a recorded branch",
        "Both branches of an `if` on a symbolic condition are recorded, one after the other. "
        "`return`, `break`, `continue`, `raise` and `yield` inside would leave both. Put the rest "
        "under `else`, and bind a result in both branches.",
    ),
    "left-loop": Entry(
        "early exit from a recorded loop",
        "`break`, `continue` and `return` leave Python's loops only. A loop of the program runs to "
        "its bound. Guard its body with an `if`, or unroll it with Python's range.",
    ),
    "unused-value": Entry(
        "unused tile",
        "A value form makes a new tile. Binding the name of another tile to it writes nothing: "
        "`out=` writes.",
    ),
    "output-not-written": Entry(
        "output argument is never stored to",
        "pto.store on a block of a parameter annotated pto.Out or pto.InOut writes it.",
    ),
    "store-into-input": Entry(
        "store into an input argument",
        "A parameter annotated pto.In is only read. Annotate it pto.Out or pto.InOut to store into "
        "it; a call then writes the caller's array.",
    ),
    "debug-differs": Entry(
        "verification failed: results differ",
        "`kernel.verify` runs the function itself, and the program it records on each engine. "
        "Results differ where the body of a loop changes Python objects: recording runs it once.",
    ),
    "argument-shape": Entry(
        "shape mismatch between arrays and kernel",
        "`shapes` names the extents of each array; one name is one number.",
    ),
}
