"""Entries of text that cannot be read or printed."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

TEXT: dict[str, Entry] = {
    "syntax-error": Entry("the text cannot be read", "The message says what was expected."),
    "unknown-word": Entry("an unknown word", "The message lists the words that may stand there."),
    "undefined-name": Entry("a name is used before it is defined", "Define it above its use."),
    "redefined-name": Entry("a name is defined twice", "Each name has one definition."),
    "operand-count": Entry(
        "the number of operands is wrong", "`ptokit explain NAME` shows an instruction's forms."
    ),
    "type-mismatch": Entry(
        "a use gives another type than the definition",
        "Every type written at a use must be the type of the definition.",
    ),
    "unknown-attribute": Entry(
        "an unknown attribute", "`ptokit explain NAME` lists an instruction's attributes."
    ),
    "unknown-type": Entry(
        "an unknown type", "The message shows the spellings that may stand there."
    ),
    "nesting-too-deep": Entry(
        "regions nest too deeply", "The limit is far beyond any real kernel."
    ),
    "cpp-lacks": Entry(
        "the public C++ headers do not have this call",
        "`convert --to cpp` prints what a device compiler takes. A call that no public header has "
        "is printed as a comment; one that only their CPU simulator lacks stands between `#ifndef "
        "__CPU_SIM` and `#endif`, so that the program compiles there and leaves the call out.",
    ),
    "conversion": Entry(
        "the program has no such form",
        "Tiles with explicit addresses or aliases have no SSA form; a loop-carried tile whose "
        "old value is still needed has no destination-passing form without a copy.",
    ),
    "empty-program": Entry(
        "the program has no instruction",
        "A file that is empty, or holds comments alone, is a program that does nothing: legal, and "
        "seldom what was meant.",
    ),
    "not-utf8": Entry(
        "the file is not UTF-8 text", "Save it as UTF-8; an array or a compiled file is no program."
    ),
}
