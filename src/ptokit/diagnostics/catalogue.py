"""The catalogue of diagnostics: for each slug its title and what `ptokit explain` says of it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """`title` follows the instruction's name in a message; `text` is the page.

    `repeated`: chips compute something else than the engines, so a run says it again.
    """

    title: str
    text: str
    repeated: bool = False


CATALOGUE: dict[str, Entry] = {
    # rules of instructions
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
    # kernels in Python
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
    # tile types and memory
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
    # running
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
    "race": Entry(
        "two cores touch the same bytes in no order",
        "One of them writes, and no signal, entry or slot of a FIFO, or `syncall` orders "
        "the two: the result may be another one with each run on hardware. The first place is that "
        "of the access that came second; the seed of the schedule gives the same run again. What a "
        "core begins and does not wait for is done by its transfer engine, some time until it "
        "waits for the event.",
    ),
    "hazard": Entry(
        "nothing orders two instructions on the same bytes",
        "The pipes of a core run at once. Two instructions touch the same bytes, one of them "
        "writes, and no flag, event, barrier or release of a buffer lets the second start only "
        "when the first is complete; or one does, but the wrong way round. What comes out depends "
        "on time. Within one pipe, MTE1, MTE2, MTE3 and FIX may begin an entry before the one "
        "before is complete, and so does V on A2/A3: the help says which edge is missing.",
    ),
    "redundant-synchronisation": Entry(
        "without it every order of the pipes stays right",
        "Other flags and barriers already order what this one orders. It costs time only: remove "
        "it, with the sets and waits that belong to it. Two that are redundant each may not both "
        "be removed: look again after the first.",
    ),
    "no-sample-run": Entry(
        "no sample of its arguments is a legal run",
        "To look for hazards ptokit runs the scalar part of a function on numbers of its own: 1024 "
        "and smaller ones for each integer. A function that takes none of them, or computes what "
        "it does from data, is looked at with the arguments of a real run. So is one that issues "
        "too much even where the middle of its long loops is left out.",
    ),
    "not-synchronised": Entry(
        "nothing orders the pipes of the function",
        "Compilers put flags and barriers into programs of levels 1 and 2, which have none. To see "
        "the hazards that they have to order, look at the function after `ptokit opt`.",
    ),
    "flag-set-twice": Entry(
        "the flag may still be up from the set before",
        "A flag counts its sets, but nothing orders this set after the wait for the last one: the "
        "wait may take the token of the other set.",
    ),
    "flag-clash": Entry(
        "the flag is up while an instruction may use it itself",
        "Some instructions are several for the hardware, which they order by flags with id 0, "
        "between V, S, MTE2 and MTE3. A flag of the program with the same pipes and id that is up "
        "meanwhile is taken for theirs. Which pairs each uses is not published: all may be. Cores "
        "that all meet use signals 11 to 14, a FIFO with flag_base that number and the next.",
    ),
    "flag-left": Entry(
        "nobody waits for the flag",
        "The token is left when the kernel ends: the next kernel on the core may take it.",
    ),
    "exchange-left": Entry(
        "what one core hands on, no other one takes",
        "A signal is left that nobody waits for, an entry of a FIFO that nobody pops, or a slot "
        "that was popped and not given back. The counters of the hardware keep it: the next kernel "
        "on the core finds it there, and a full FIFO stops who pushes.",
    ),
    "unpublished-store": Entry(
        "what the scalar unit stored before may not be in memory yet",
        "Scalar stores to global memory go through a data cache of the core. Another rank that is "
        "signalled may read the memory before the cache writes the line back, and so may a pipe of "
        "the same core that loads from it, for no flag waits for the cache. After the stores "
        "the line is invalidated, which writes it back, and a fence of global memory follows; "
        "then comes the signal, or the load. Where no other rank reads the array, no signal is "
        "wrong: a function that invalidates lines by address is asked only for arrays of which it "
        "does.",
    ),
    "unfenced-store": Entry(
        "what was written to global memory before may not be there yet",
        "Tile stores, puts and collectives write global memory on pipes of their own, a signal "
        "is written by the scalar unit: it may arrive first. A barrier of the pipe waits until "
        "the stores are issued, which is enough for cores of the same rank; another rank finds "
        "them only behind a fence of global memory, which waits for the pipes, too. Assemblers "
        "differ: older ones put the fence there, one refuses text without it, the newest does "
        "neither.",
    ),
    "stale-load": Entry(
        "the data cache may hold what was there before the wait",
        "Scalar loads of global memory go through a data cache of the core, which does not see "
        "what others write. Behind a wait for a signal of another rank the line is invalidated, or "
        "all of global memory, before what that rank wrote is loaded. Tile loads need no such "
        "thing.",
    ),
    "acquire-release": Entry(
        "the acquires and releases of a buffer do not pair",
        "On A5 a pipe acquires a buffer, works, and releases it, as with a lock. To release what "
        "the pipe has not acquired lets two pipes in at once; to acquire it again, or not to "
        "release it before the kernel ends, makes the next pipe wait for ever.",
    ),
    "pipe-deadlock": Entry(
        "pipes wait for one another for ever",
        "Each queue takes its entries in order. The head of every queue that is named waits for a "
        "flag that nobody sets, or whose set stands behind a head that waits.",
    ),
    "register-not-set": Entry(
        "a register does not hold what the instruction reads",
        "On A2/A3 and A5 some instructions read what others wrote to registers: in a manual mode "
        "the unroll of a feature map expects the map's size, padding and pad value there. ptokit "
        "compares the registers with the operands. An auto mode needs no registers set.",
    ),
    "event-in-use": Entry(
        "an event is recorded while it is still set",
        "Each pair of pipes has eight events. Recording one that nobody has waited for since it "
        "was recorded last loses one of the two: the order in which hardware sees them is open.",
    ),
    "deadlock": Entry(
        "cores wait for one another for ever",
        "Every core that has not ended waits: for an entry that nobody pushes, for a slot that "
        "nobody frees, or for a signal that nobody sends. The message names each with its line. "
        "Both ends of a FIFO push and pop as often; what both need first, one must give.",
    ),
    "signal-overflow": Entry(
        "more signals of a number than its counter holds",
        "On A2/A3 a core counts the signals of each number in four bits: 15 that it has not waited "
        "for. Nothing makes the core that sends them slower, so one more may be lost, and whoever "
        "waits for it waits for ever. Let the two cores take turns: one signals back.",
    ),
    "event-not-set": Entry(
        "an event is awaited that is not set",
        "A wait consumes one record of the same two pipes and the same id. Without one before it, "
        "the waiting pipe hangs on hardware.",
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
    # binding of arrays
    "missing-argument": Entry(
        "an argument was not given",
        "`ptokit run` takes each input as NAME=FILE.npy or NAME=NUMBER.",
    ),
    "unknown-argument": Entry(
        "the program has no such argument",
        "Arguments are bound by name, or by position in the order of the function's head.",
    ),
    "argument-twice": Entry(
        "the argument is given twice",
        "Arguments are given by position, in the order of the function's head, or by name "
        "(a=a.npy), each once.",
    ),
    "argument-type": Entry(
        "the array or number does not fit the argument",
        "The element type of an array must be the one the program declares; its shape must be the "
        "valid region of a tile.",
    ),
    "local-argument": Entry(
        "a tile cannot be an argument of several blocks",
        "Every block of a launch runs on a core with memories of its own. Global memory is all "
        "they share, so tiles cannot be passed in or out of more than one block.",
    ),
    "no-such-function": Entry("there is no such function", "Name one with --entry."),
    "no-such-instruction": Entry(
        "the program has no such instruction",
        "`--show-code` takes an instruction of the program, in any of its spellings.",
    ),
    # text
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
    "unreadable-file": Entry(
        "the file cannot be read",
        "Check its name and your permissions; an argument is a number or a .npy file of numbers, "
        "as numpy.save writes it.",
    ),
    "cluster": Entry(
        "the cluster cannot run this",
        "A launch runs on the workers of a Dask cluster: `dask scheduler` says the address for "
        "`--scheduler`, `dask worker ADDRESS` starts a worker. dask.distributed comes with "
        "`pip install 'ptokit[cluster]'`. Every worker needs the same version of ptokit. One that "
        "dies is replaced by another; after several have died of the same blocks the run ends.",
    ),
    "unwritable-file": Entry(
        "the file cannot be written",
        "No output has changed. Check the folder and your permissions; a file without write "
        "permission is not replaced.",
    ),
}
