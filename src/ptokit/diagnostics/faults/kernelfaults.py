"""Entries of kernels in Python: what a program is recorded from."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

KERNELS: dict[str, Entry] = {
    "run-time-number": Entry(
        "the number is known only when the program runs",
        "A kernel runs once and records itself. Numbers that it is given, extents named in lower "
        "case and counters of pto.range are numbers of the program: they have + - * // %, "
        "comparisons, & and |, pto.min, pto.max and pto.where, but no truth value and no place in "
        "Python's range, and, or, not. Tiles have no content while they are recorded.",
    ),
    "rebound": Entry(
        "a loop or branch of the program changes what Python holds",
        "The body of pto.range is recorded once, for all iterations, and both branches of an `if` "
        "that the program decides are recorded. A number that a loop binds to a local name is "
        "loop-carried: each iteration begins with the value of the one before. Branches bind a "
        "local name that is read later to numbers, or not at all. A tile is storage: write into it "
        "with `out=`. Other changes are refused: of globals, of names of functions around, of "
        "items, attributes, lists, sets, arrays and iterators that were there before. A helper has "
        "its names and branches seen when it is marked @pto.inline.",
    ),
    "unwatched": Entry(
        "a kernel reads what cannot be compared with what it was",
        "A kernel is recorded anew when Python state that it reads has changed. Objects of C that "
        "show nothing of their content, and more than 20,000 objects, cannot be compared. Read "
        "what the kernel needs beforehand, and bind numbers to names of their own.",
    ),
    "out-of-scope": Entry(
        "a value is used outside of the loop or branch that made it",
        "Each iteration of a loop makes its tiles anew, and they are gone after it. Make a tile "
        "before the loop and write into it inside.",
    ),
    "left-branch": Entry(
        "a branch of the program is left before its end",
        "Both branches of an `if` that the program decides are recorded, one after the other. "
        "`return`, `break`, `continue`, `raise` and `yield` inside would leave both. Put what "
        "follows under `else`, and bind a result in both branches.",
    ),
    "left-loop": Entry(
        "a loop of the program is left before its end",
        "`break`, `continue` and `return` leave Python's loops. A loop of the program runs to its "
        "bound; its body may be guarded by an `if`, and Python's range makes copies instead.",
    ),
    "unused-value": Entry(
        "an unused result",
        "A value form makes a new tile. Binding the name of another tile to it writes nothing: "
        "`out=` writes.",
    ),
    "output-not-written": Entry(
        "an output that nothing stores into",
        "A parameter annotated pto.Out or pto.InOut is written by pto.store, on a block of it.",
    ),
    "store-into-input": Entry(
        "a store into an argument that is an input",
        "A parameter annotated pto.In is only read. pto.Out and pto.InOut say that a kernel "
        "stores into it, and a call then writes the caller's array.",
    ),
    "debug-differs": Entry(
        "engines, or the recorded and the debugged kernel, give different values",
        "`kernel.verify` runs the function itself, and the program it records on each engine. They "
        "differ where the body of a loop changes Python's own objects: recording runs it once.",
    ),
    "argument-shape": Entry(
        "the extents of the arrays do not fit the kernel",
        "`shapes` names the extents of each array; one name is one number.",
    ),
}
