"""Entries of tile types, addresses and capacities."""

from __future__ import annotations

from ptokit.diagnostics.faults.catalogueentry import Entry

MEMORY: dict[str, Entry] = {
    "tile-shape": Entry(
        "this is not a valid tile type",
        "A tile has positive extents, a valid region inside them, and, in a boxed layout, whole "
        "boxes: rows a multiple of the box's rows (waived for vec, fractal 32 and single rows), "
        "columns a multiple of its columns.",
    ),
    "tile-alignment": Entry(
        "the tile's lines are not whole 32-byte lines",
        "A row of an nd tile, a column of a dn tile, must be a multiple of 32 bytes. "
        "Declare the shape rounded up and keep the valid region as it is.",
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
        "the memory is too small",
        "Tiles without an address are placed by ptokit: apart while all fit, then on the bytes of "
        "tiles that are no longer needed, or not until a loop overwrites them. Even so the tiles "
        "that are live at the same time need more bytes than the target has in that memory. The "
        "notes list the tiles live at the peak. Arrays and structs of the scalar "
        "unit lie on the stack of a core, the slots of a FIFO in one of its memories.",
    ),
    "near-capacity": Entry(
        "little of the memory is left",
        "The tiles fit, but front ends keep a part of the memory for themselves: 8 KiB of UB on "
        "A2/A3, 16 KiB on A5. A kernel that fills it may not pass them.",
    ),
    "placed-overlap": Entry(
        "it shares bytes with a tile that ptokit placed",
        "A tile has an address of the program's own (alloc_tile with addr, TASSIGN), or ptokit "
        "places it. Tiles at addresses of the program's own may overlap one another: that is how a "
        "program makes them alias. They never share a byte with a placed tile: an address that is "
        "known before the run is kept free for the whole function, one that only the run knows is "
        "compared when the tile is made. Where such tiles exist ptokit places the others from the "
        "end of the memory downward, so addresses that count up from 0 seldom meet them.",
    ),
    "tile-outlives-iteration": Entry(
        "an iteration defines the tile again while its old content is still needed",
        "A tile has one address. One that is defined inside a loop is a new tile in the same bytes "
        "in every iteration, with undefined content. A handle that passes to the next iteration "
        "(iter_args, or a view) may be used until the tile is defined again, not after it. Copy "
        "what is needed longer to a tile that is defined before the loop.",
    ),
    "deallocation": Entry(
        "a buffer ends before its last use, more than once, or though nothing allocates it",
        "Behind `memref.dealloc` other data may lie in the bytes of a buffer. What was not "
        "allocated by `memref.alloc`, such as an argument, belongs to somebody else. In a loop a "
        "buffer from outside ends again in each iteration.",
    ),
    "type-elided": Entry(
        "the type is elided and nothing completes it",
        "The text says `!pto.tile<...>` or nothing at all, and neither a definition, nor another "
        "use, nor a bound array tells the type. Rules about it were not checked.",
    ),
}
