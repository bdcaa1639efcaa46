"""Entries about tile types, addresses and capacities."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

MEMORY: dict[str, Entry] = {
    "tile-shape": Entry(
        "invalid tile shape",
        "A tile has positive extents, a valid region inside them, and, in a boxed layout, whole "
        "boxes: rows a multiple of the box's rows (waived for vec, fractal 32 and single rows), "
        "columns a multiple of its columns.",
    ),
    "tile-alignment": Entry(
        "the lines of the tile are not 32-byte aligned",
        "A row of an nd tile, a column of a dn tile, must be a multiple of 32 bytes. "
        "Round the declared shape up and keep the valid region.",
    ),
    "address-misaligned": Entry(
        "the address is not aligned",
        "Tile addresses are multiples of 32 bytes on every target (SA-0354).",
    ),
    "address-out-of-range": Entry(
        "the tile does not fit at this address",
        "Address plus size must stay inside the memory of the tile's location (SA-0352, SA-0353). "
        "`ptokit explain TARGET` lists the capacities.",
    ),
    "memory-missing": Entry(
        "the target has no such memory",
        "Not every target has every memory: A2/A3 has none for MX scales, scale_left and "
        "scale_right (SA-0351). `ptokit explain TARGET` lists the memories.",
    ),
    "out-of-memory": Entry(
        "out of memory",
        "ptokit assigns an address to each tile that has none. Tiles get separate bytes while "
        "all fit; after that a tile reuses the bytes of tiles that are no longer live, in loops "
        "too. Even so the tiles that are live at the same time need more bytes than the target "
        "has in that memory. The notes list the tiles live at the peak. Arrays and structs of the "
        "scalar unit are on the stack of a core, the slots of a FIFO in one of its memories.",
    ),
    "near-capacity": Entry(
        "little memory is left",
        "The tiles fit, but compilers reserve a part of the memory: 8 KiB of UB on A2/A3, 16 KiB "
        "on A5. They may refuse a kernel that fills it.",
    ),
    "placed-overlap": Entry(
        "tile overlaps one whose address ptokit assigned",
        "A tile has an explicit address (alloc_tile with addr, TASSIGN), or ptokit assigns one. "
        "Tiles with explicit addresses may overlap each other: that is how a program makes them "
        "alias. They must not overlap a tile whose address ptokit assigned. An explicit address "
        "that is known statically is kept free in the whole function; an address that is known "
        "only at run time is compared when the tile is made. In a function with explicit addresses "
        "ptokit assigns its own from the end of the memory downward, so addresses that count up "
        "from 0 seldom overlap them.",
    ),
    "tile-outlives-iteration": Entry(
        "loop redefines a tile whose old content is still needed",
        "A tile has one address. A tile that is defined inside a loop is a new tile in the same "
        "bytes in every iteration, with undefined content. A handle that passes to the next "
        "iteration (iter_args, or a view) may be used until the tile is defined again, not after "
        "that. Copy what is needed longer to a tile that is defined before the loop.",
    ),
    "deallocation": Entry(
        "invalid deallocation",
        "After `memref.dealloc` other data may use the bytes of the buffer. Deallocate a buffer "
        "once, after its last use, and only if `memref.alloc` made it: an argument belongs to the "
        "caller. In a loop, a buffer from outside is deallocated again in each iteration.",
    ),
    "type-omitted": Entry(
        "the type is omitted and cannot be inferred",
        "The text says `!pto.tile<...>` or nothing at all, and no definition, other use or bound "
        "array gives the type. Rules about the value were not checked.",
    ),
}
