"""Entries of rules of instructions, and of where an instruction may stand."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

RULES: dict[str, Entry] = {
    "not-on-target": Entry(
        "this target has no such instruction",
        "The instruction, or the form of it that the operands choose, exists on other targets. The "
        "rule in the message names them, as the page of the instruction does.",
    ),
    "window-out-of-bounds": Entry(
        "the window is out of bounds",
        "An instruction that moves a window of a tile names the window's upper left corner. The "
        "window, as large as the smaller tile's valid region, must lie inside the larger tile's "
        "valid region on every target. On A2/A3 and A5 the declared shape of the smaller tile must "
        "fit inside the declared shape of the larger one too, because hardware moves whole boxes.",
    ),
    "offset-misaligned": Entry(
        "the offset is not aligned",
        "Hardware moves boxes of a layout or 32-byte lines, so a window must start on one. The CPU "
        "simulator has no such rule. The multiples depend on the path, the layouts and the element "
        "size: the rule in the message has them.",
    ),
    "location": Entry(
        "these locations are not supported",
        "Each instruction moves data between certain locations only (vec, mat, left, right, acc, "
        "bias, scaling, scale_left, scale_right), and the set differs by target.",
    ),
    "layout": Entry(
        "this layout is not supported",
        "Each location and path takes certain layouts. Left tiles are zz on A2/A3 and nz on A5; "
        "right tiles are zn; accumulators are nz with fractal 1024.",
    ),
    "element-type": Entry(
        "these element types are not supported",
        "Each path takes certain element types. Types change only on the way out of the "
        "accumulator, through the fix-pipe.",
    ),
    "shape": Entry(
        "the shapes do not fit",
        "The static or valid extents of the operands do not go together, or are not whole boxes.",
    ),
    "attribute": Entry(
        "this attribute does not apply here",
        "An attribute or optional operand was given where the instruction cannot honour it.",
    ),
    "level": Entry(
        "a program of this level does not say that",
        "Who places the tiles is a program's level. At levels 1 and 2 the compiler does: no "
        "allocation has an address. At level 3 the program does: each allocation has an address, "
        "and scratch tiles that an instruction needs on the target are operands. `ptokit check` "
        "takes a program with any address for level 3; `--level` says it. Nothing of this holds on "
        "cpu, and for `ptokit run`, which places what has no address.",
    ),
    "core": Entry(
        "this core has no such unit",
        "A chip has cores with the cube unit, which has matrices, L1 and the fix-pipe, and cores "
        "with the vector unit and its buffer. `pto.kernel_kind` says for which kind a function is, "
        "`pto.section.cube` and `pto.section.vector` for which a part of it is. Where neither is "
        "said, each statement at the top of a function has a section of its own; a loop or branch "
        "with instructions of both kinds needs sections inside. On cpu one core has all units.",
    ),
    "cannot-split": Entry(
        "a kernel for both kinds of cores cannot be split here",
        "Chips have the cube unit and the vector unit on cores of their own. A kernel for both "
        "becomes two functions, and tiles that go from one core to the other go through FIFOs. "
        "That needs each instruction to be for one core, what crosses to be moved as it is to a "
        "tile that is used where it arrives, loops and branches to depend on numbers that both "
        "cores know, and global memory that one core writes to be left alone by the other.",
    ),
    "entry": Entry(
        "an entry is a function with a body that returns nothing",
        "A launch runs the functions with the attribute `pto.entry` on every core. Nobody takes "
        "what they return: results go to global memory.",
    ),
    "scope": Entry(
        "this does not belong into that region",
        "A struct lives on the stack of the region that declares it: no region passes it on and no "
        "function returns it, and no other operation than its declaration gives one. Threads run "
        "functions with `pto.simt_entry` and sections for them; they start no threads.",
    ),
    "operand-value": Entry(
        "an operand has a value that is not allowed",
        "The value of a scalar operand is outside the range the instruction defines.",
    ),
    "aliasing": Entry(
        "the operands must be one tile",
        "A2/A3 and A5 accumulate into the output tile and ignore the accumulator operand, so both "
        "must name the same bytes. The CPU simulator reads the operand.",
    ),
    "shared-storage": Entry(
        "these operands may not share bytes",
        "On A2/A3 and A5 the instruction writes some operands before it has read others, or keeps "
        "intermediate results in one, so they must be tiles of their own. Windows, reshapes and "
        "other handles on one tile share its bytes; where the page of the instruction says so, "
        "tiles whose addresses the program gives are compared, too.",
    ),
    "dynamic-valid": Entry(
        "valid_row and valid_col do not match the type",
        "Where a tile type says `?` for a valid extent, alloc_tile takes the extent as an operand; "
        "where the type gives the number, it does not.",
    ),
}
