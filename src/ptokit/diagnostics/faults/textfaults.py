"""Entries about text that ptokit cannot read or print."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

TEXT: dict[str, Entry] = {
    "syntax-error": Entry("syntax error", "The message says what was expected."),
    "unknown-word": Entry("unknown keyword", "The message lists the keywords allowed here."),
    "undefined-name": Entry("use of an undefined name", "Define the name above its use."),
    "redefined-name": Entry("redefinition of a name", "Each name has one definition."),
    "operand-count": Entry(
        "wrong number of operands", "`ptokit explain NAME` shows the forms of an instruction."
    ),
    "type-mismatch": Entry(
        "type mismatch between definition and use",
        "Every type written at a use must be the type of the definition.",
    ),
    "unknown-attribute": Entry(
        "unknown attribute", "`ptokit explain NAME` lists an instruction's attributes."
    ),
    "unknown-type": Entry("unknown type", "The message shows the spellings allowed here."),
    "nesting-too-deep": Entry(
        "regions are nested too deeply", "The limit is far beyond any real kernel."
    ),
    "cpp-lacks": Entry(
        "not available in the public C++ headers",
        "`convert --to cpp` prints what a device compiler accepts. A call that no public header "
        "has is printed as a comment. A call that only their CPU simulator lacks stands between "
        "`#ifndef __CPU_SIM` and `#endif`: the program compiles there without the call.",
    ),
    "conversion": Entry(
        "the program cannot be converted to this form",
        "Tiles with explicit addresses or aliases have no SSA form; a loop-carried tile whose "
        "old value is still needed has no destination-passing form without a copy.",
    ),
    "empty-program": Entry(
        "the program has no instruction",
        "A file that is empty, or holds comments alone, is a legal program that does nothing.",
    ),
    "not-utf8": Entry(
        "the file is not UTF-8 text", "Save it as UTF-8; an array or a compiled file is no program."
    ),
}
