"""Entries about rules of instructions, and about regions that do not allow an instruction."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

RULES: dict[str, Entry] = {
    "not-on-target": Entry(
        "this target has no such instruction",
        "The instruction, or the overload that the operands select, exists on other targets only. "
        "The rule in the message names these targets, as does the page of the instruction.",
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
        "simulator has no such rule. The alignment depends on the path, the layouts and the "
        "element size: the rule in the message has the number.",
    ),
    "location": Entry(
        "unsupported location",
        "Each instruction moves data between certain locations only (vec, mat, left, right, acc, "
        "bias, scaling, scale_left, scale_right), and the set differs by target.",
    ),
    "layout": Entry(
        "unsupported layout",
        "Each location and path takes certain layouts. Left tiles are zz on A2/A3 and nz on A5; "
        "right tiles are zn; accumulators are nz with fractal 1024.",
    ),
    "element-type": Entry(
        "unsupported element type",
        "Each path takes certain element types. Types change only on the way out of the "
        "accumulator, through the fix-pipe. The rule in the message lists the types it expects.",
    ),
    "shape": Entry(
        "shape mismatch",
        "The static or valid extents of the operands do not match, or are not whole boxes.",
    ),
    "attribute": Entry(
        "attribute not allowed here",
        "The instruction cannot honour this attribute or optional operand in the form used.",
    ),
    "level": Entry(
        "not allowed at this level",
        "The level of a program says who assigns addresses to tiles. At levels 1 and 2 the "
        "compiler does: no allocation has an address. At level 3 the program does: each allocation "
        "has an address, and scratch tiles that an instruction needs on the target are operands. "
        "`ptokit check` takes a program with any address to be level 3; `--level` overrides that. "
        "Target cpu has no levels, and `ptokit run` assigns any address that is missing.",
    ),
    "core": Entry(
        "not available on this core",
        "A chip has cube cores, with matrices, L1 and the fix-pipe, and vector cores, with the "
        "vector unit and its buffer. `pto.kernel_kind` gives the kind of a function, "
        "`pto.section.cube` and `pto.section.vector` that of a part of it. Without either, each "
        "statement at the top of a function is a section of its own; a loop or branch with "
        "instructions of both kinds needs sections inside. On cpu one core has all units.",
    ),
    "cannot-split": Entry(
        "kernel cannot be split into cube and vector functions",
        "Chips have the cube unit and the vector unit on separate cores. A kernel for both becomes "
        "two functions, and tiles that go from one core to the other go through FIFOs. This needs "
        "each instruction to run on one core, each tile that crosses to be moved unchanged to a "
        "tile that is used where it arrives, loops and branches to depend on numbers that both "
        "cores know, and each array in global memory to be written by one core and not used by "
        "the other.",
    ),
    "entry": Entry(
        "an entry function must have a body and return nothing",
        "A launch runs the functions with the attribute `pto.entry` on every core. Return values "
        "are lost: results go to global memory.",
    ),
    "scope": Entry(
        "not allowed in this region",
        "A struct lives on the stack of the region that declares it: no region yields it, no "
        "function returns it, and no operation but its declaration defines it. Threads run "
        "functions with `pto.simt_entry` and sections for them; a thread starts no threads.",
    ),
    "operand-value": Entry(
        "operand value out of range",
        "The value of a scalar operand is outside the range the instruction defines.",
    ),
    "aliasing": Entry(
        "operands must be the same tile",
        "A2/A3 and A5 accumulate into the output tile and ignore the accumulator operand, so both "
        "must name the same bytes. The CPU simulator reads the operand.",
    ),
    "shared-storage": Entry(
        "operands must not overlap",
        "On A2/A3 and A5 the instruction writes some operands before it has read others, or keeps "
        "intermediate results in one, so the tiles must not alias. Windows, reshapes and other "
        "handles on one tile share its bytes. Where the page of the instruction says so, tiles "
        "with explicit addresses are compared too.",
    ),
    "dynamic-valid": Entry(
        "valid_row and valid_col do not match the type",
        "Where a tile type says `?` for a valid extent, alloc_tile takes the extent as an operand; "
        "where the type gives the number, it does not.",
    ),
}
