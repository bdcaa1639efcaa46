"""Synchronisation and irregular instructions."""

from ptokit.isa.disputes.dispute import Dispute

X: dict[str, Dispute] = {
    "X1": Dispute(
        "what does TCI with a scratch tile count when it descends?",
        "Code of A2/A3: -(start + k). Everybody else: start - k.",
        "start - k",
        "a defect of one form; they agree where start is 0",
    ),
    "X2": Dispute(
        "where do sorted blocks of 32 values of 2 bytes go, and what of a shorter last block?",
        "CPU simulator: block b at element 64 b, over the block before it; a last block of any "
        "size. Code of A2/A3 and A5: at 128 b; a last block only with tmp, and records of NaN "
        "behind it up to 32.",
        "at 128 b, and only the records of the source; a2a3 and a5 demand tmp, and warn where rows "
        "of dst end before the last block",
        "a record has 8 bytes; what stands behind the records is no result, and the suite tsort32 "
        "of A2/A3 has such rows",
    ),
    "X3": Dispute(
        "does a triangle reach beyond the valid columns?",
        "CPU simulator and documentation: no. Code of A5: ones may spill to a whole vector.",
        "no",
        "the valid region is what an instruction writes",
    ),
    "X4": Dispute(
        "in which column is which number of TRANDOM, and where does the next row go on?",
        "CPU simulator: by words, on by a quarter of the declared columns. Code of A5: by "
        "counters, on by 64. Documentation: a generator like ChaCha.",
        "each target as it does; the generator is Philox4x32",
        "both are what programs there see; no other source has the numbers",
    ),
    "X5": Dispute(
        "what becomes of the elements that a scatter does not write?",
        "CPU simulator: they stay, in a masked scatter those of the valid region become 0. Code of "
        "A2/A3 and A5: the whole tile is cleared first.",
        "each target as it does",
        "both are what programs there see",
    ),
    "X6": Dispute(
        "which pipe executes TCI?",
        "enumeration: S. Assembler: V. Code: S, with a scratch tile V.",
        "S, with a scratch tile V",
        "the code is what runs",
    ),
    "X19": Dispute(
        "may TCI, and what expands a column, leave out its scratch at level 3 on A2/A3?",
        "Assembler: once yes, now TCI may not; its own model kernels do, and are compiled at level "
        "2. Code: forms of their own, TCI's on the scalar unit.",
        "yes; of TCI with a warning, `--as assembler` an error",
        "the newest assembler decides for text; the forms without it compute the same numbers",
        "--as assembler",
    ),
    "X7": Dispute(
        "which pipe executes a scatter?",
        "enumeration: V. Assembler: S on A2/A3, V on A5. Code of A2/A3: V to clear, then S, with "
        "flags of its own around it.",
        "V",
        "to others the instruction begins and ends on V",
    ),
    "X11": Dispute(
        "which pipes can be drained through the name of an operation?",
        "documentation: vector only. Code: all on A2/A3; MTE2, MTE3 and ALL on A5.",
        "code",
        "that is what compiles",
    ),
    "X12": Dispute(
        "which pipes have a barrier on A5?",
        "code: MTE2, MTE3, ALL. Notes: MTE3, M, ALL. Documentation: V. Tests: FIX and ALL.",
        "MTE2, MTE3, ALL; a warning for M and FIX; no others",
        "no source that compiles has V, S or MTE1",
    ),
    "X13": Dispute(
        "how many events has a pair of pipes?",
        "prose: 16. Code and assembler: 8.",
        "8",
        "the enumeration ends at EVENT_ID7",
    ),
    "X14": Dispute(
        "does a wait consume the event?",
        "prose: visible to all who wait afterwards. Code: lowered; recording it twice is an error.",
        "consumed by one wait, recorded again only afterwards",
        "flags are counters on hardware and the simulator checks for occupied ids",
    ),
    "X21": Dispute(
        "how long may the runs of TMRGSORT be, and what if they do not fill the row?",
        "CPU simulator: any whole records; as many groups as dst's valid columns hold. Assembler "
        "and code of A2/A3 and A5: a multiple of 64 elements, groups by src's valid columns.",
        "whole groups of equal regions; multiples of 64 on a2a3 and a5",
        "where both sources agree",
    ),
    "X22": Dispute(
        "what does a merge of lists count, and when?",
        "CPU simulator: always, and no more than dst takes. Code of A2/A3 and A5: with `exhausted` "
        "only, all that was merged up to the end of a list.",
        "as on A2/A3 and A5",
        "the count says where the next merge goes on",
    ),
    "X23": Dispute(
        "what does TPRINT print?",
        "CPU simulator: the valid region. Code of A2/A3 and A5: what is not valid too, behind "
        "a bar.",
        "the valid region, in the simulator's form",
        "the rest has no meaning",
    ),
    "X24": Dispute(
        "is there arithmetic of f64 in the scalar unit?",
        "assembler: arith takes it. Pages: no f64 among the types of scalars or elements.",
        "no: such a statement is kept and printed, and refused when it is checked or run",
        "no instruction of tiles takes a result",
    ),
    "X25": Dispute(
        "what does a local array hold before it is written?",
        "C++ that the assembler gives: undefined. Assembler: silent.",
        "zeros",
        "the same in every run; programs should not rely on it",
    ),
    "X26": Dispute(
        "may a field of a struct be an array?",
        "Older assemblers: yes. Newest one: no, its C++ has no way to name one.",
        "on cpu; refused on a2a3 and a5",
        "what compilers refuse is refused",
    ),
    "X40": Dispute(
        "does `pto.print` begin a new line?",
        "assembler, in its notes: C++ with a line break that the format has not. In its code: the "
        "format as it is.",
        "a line break after it, unless the format ends with one",
        "lines of several prints stay apart",
    ),
    "X50": Dispute(
        "what may a function have that does not say for which kind of core it is?",
        "Assembler: instructions of both kinds, each statement at its top gets a section; not both "
        "in one loop or branch. It does not look into functions that say their kind. Chips: no "
        "core has both units.",
        "as the assembler where nothing is said; what is said must hold, on a2a3 and a5",
        "an instruction that its core lacks does not compile",
    ),
    "X51": Dispute(
        "may a program have tiles with addresses and tiles without?",
        "Assembler: no; its option --pto-level says which, and level 3 needs scratch by name. "
        "Headers: a tile without TASSIGN has no storage. Simulator: both.",
        "not on a2a3 and a5; a program with any address is of level 3. `run` places the others",
        "who places a part of the memory must know the rest",
        "--level at the command line",
    ),
    "X52": Dispute(
        "where do tiles of left, right and acc begin?",
        "headers: on 32 bytes. Assembler: on 512.",
        "on 512 bytes, on a2a3 and a5",
        "their boxes have 512 bytes, so it costs nothing",
    ),
    "X41": Dispute(
        "what do the extents of a type with elements !pto.f4E2M1x2 or !pto.f4E1M2x2 count?",
        "Assembler and front ends: pairs, bytes, along the packed axis: columns of row-major "
        "tiles, rows of all column-major ones, so of nz. C++, indices of instructions, queries: "
        "elements. Strides of views: pairs where they address, elements where they are moved "
        "(before v0.67). Verifier of products with scales, and golden data of theirs: a scale for "
        "32 of what the text counts along K.",
        "text: pairs in types and in what makes tiles, views and pointers; all else, Python and "
        "C++: elements. Packed is the axis of neighbours in memory: columns of nz. A scale for 32 "
        "pairs is taken with a warning, and does not run",
        "a byte holds neighbours; with packed rows of nz no product of two factors fits",
    ),
    "X43": Dispute(
        "is f8E4M3 the type f8E4M3FN?",
        "MLIR: no, it has infinities. Assembler: alike, but factors of products with scales are "
        "f8E4M3FN.",
        "yes; text is printed with f8E4M3FN",
        "the chip has one format of these bits, and formatted text is taken everywhere",
    ),
    "X42": Dispute(
        "what does an address of global memory lead to after arithmetic on it?",
        "assembler: whatever lies there; the result is for scalar loads and stores only. C++: what "
        "a pointer cast gives.",
        "the array whose pointer gave the address; other numbers, and other uses, are errors",
        "ptokit knows each array and its end, and no order among them",
    ),
    "X70": Dispute(
        "what do pad_mode, pad_value and the paddings of a load do?",
        "Assembler: its text has them, its C++ does not. Manual and C++: the tile's type alone "
        "says what surrounds the valid region.",
        "nothing; check warns",
        "it is what the board is told",
    ),
    "X60": Dispute(
        "how large is the buffer that a FIFO reserves?",
        "Design of the assembler: slot_size times slot_num. Its verifier: anything above 0; its "
        "planner: slot_size times local_slot_num, where that is given. Its manual's example: half.",
        "at least one slot",
        "every source takes that, and what is planned may be smaller than the whole queue",
    ),
    "X61": Dispute(
        "which pipes signal other cores on A5?",
        "Older assembler: FIX and MTE3 set, all but the scalar and cube units wait. Newer one: "
        "FIX, MTE1, MTE2, MTE3 and V do both. Code of A5 (SYNCALL, TPUSH): the scalar unit too.",
        "as the newer one; for C++ as the code",
        "it is the later statement, and takes every program that the older one takes; boards run "
        "the code",
    ),
    "X63": Dispute(
        "how many vector cores run a kernel whose entries are whole (split 0)?",
        "A5: the second one takes no part, programs let it do nothing. A2/A3: both signal. "
        "CPU simulator: the second one pops zeros; with nosplit both have the whole entry.",
        "one, unless a FIFO is nosplit, some entry is split, or the program asks which it is; then "
        "the second one pops zeros and pushes nothing; in entries that are views both take part, "
        "unless the number of a core decides whether they are used",
        "two cores that run the same statements would write the same places, one of them zeros; of "
        "a view each takes its own rows",
    ),
    "X64": Dispute(
        "what does a consumer see of an entry whose valid part is smaller than its tile?",
        "A2/A3: rows of a slot are as far apart as the producer's valid columns; the consumer's "
        "are its own. Newer front ends widen the valid region before they push.",
        "rows and columns as they were pushed; what lies beyond them stays as it was",
        "the hardware's reading is skewed, which no program can mean",
    ),
    "X71": Dispute(
        "what waits where a pop finds no entry, or a push no free slot?",
        "A2/A3: the scalar unit, which waits for all signals. A5: the queue that uses the entry "
        "(V, MTE1, MTE2) or sends it (FIX, MTE3); assembler: a pop is the scalar unit's. CPU "
        "simulator: the thread of the core.",
        "A2/A3: the whole core. A5: that queue. cpu: that queue where queues wait, else the core",
        "instructions are what the headers make of them; the assembler only orders text",
    ),
    "X72": Dispute(
        "may what an epilogue narrows to eight bits be popped as i8?",
        "Assembler: as si8 or ui8 only (v0.57). Manual and C++: int8_t is the signed type.",
        "yes: i8 and si8 are one type, which text keeps the spelling of",
        "no instruction computes with numbers that have no sign",
    ),
    "X95": Dispute(
        "what is in the rows and columns that a product leaves of its last boxes?",
        "Cube unit of A2/A3 and A5: it works on boxes of 16 x 16; their headers replace M = 1 by "
        "16. Page of the fix-pipe: surplus rows of a product are dropped. Kernels store them.",
        "elements without a value: M is the valid rows of the left factor",
        "no source says what they hold; a run goes on and warns where one is stored",
    ),
    "X96": Dispute(
        "what does a load with a null pad leave outside of the tile's valid region?",
        "Documentation: undefined. CPU simulator: 0. Headers of A2/A3 and A5: rows below are not "
        "touched, columns to the next 32 bytes hold anything.",
        "what was there: elements that nothing computed have no value; on chips zeros to the next "
        "32 bytes of rows that become boxes in L1",
        "the same answer for a load of 0 rows and of some; the unit that makes boxes writes whole "
        "lines, and public suites of products over k = 120 rely on its zeros",
        'target "a5:zero-pads" in Python, --reading zero-pads at the command line',
    ),
    "X73": Dispute(
        "which pipe executes gathers and scatters of global memory?",
        "Enumeration of the headers: V, into L1 MTE2. Assembler: V on A5, on A2/A3 MTE2 and MTE3. "
        "Code of A5: vector functions. Code of A2/A3: the scalar unit and the transfer units, with "
        "flags of its own: it waits for all pipes, but where it gathers rows not for the load of "
        "the indices, and all pipes wait for it.",
        "V; on A2/A3 ordered as the code orders it, so that flags of either reading are right",
        "to others the instruction begins and ends where its flags are",
    ),
    "X80": Dispute(
        "of what element type are the factors by column of a FIFO with an epilogue?",
        "Assembler: words of 64 bits on A2/A3; on A5 factors, f16, bf16 or f32, and no words. Code "
        "of A5: only their address is told; documentation of the fix-pipe: words of 64 bits.",
        "words everywhere; factors are legal on a5, where words are a warning, `--as assembler` an "
        "error",
        "words are what the fix-pipe reads; of what it makes of factors no source tells",
        "--as assembler",
    ),
    "X62": Dispute(
        "is a program legal that reads a tile before anything is written to it?",
        "Assembler: yes, it does not look. ptokit's engines: such a read ends the run.",
        "no, but where a function reads tiles that nothing in it fills it is an excerpt, "
        "undecided, with a warning",
        "text that tests a compiler has its tiles filled; a store before the first sum is wrong",
    ),
    "X65": Dispute(
        "what is the product of 0 and an element that was never written?",
        "Front ends clear a sum so, in a tile that nothing filled, and its first value is 0 in the "
        "data of their programs. Hardware: NaN, if the bytes happen to be infinite or NaN.",
        "0, of a tile with a number; any other read of such an element is an error",
        "what it held does not matter to the program; a zero that is expanded would be safe",
    ),
    "X66": Dispute(
        "who orders what a store to global memory writes before the signal that tells of it?",
        "Assembler: once a drain of all pipes before each signal, then of those that wrote, with a "
        "fence of memory (v0.45); v0.50 refuses text without an explicit fence; since July 2026 "
        "it neither adds nor asks one, and the fence drains the pipes. Front ends write the fence.",
        "the program, with a fence of global memory; without one there is a warning",
        "a fence is right for every version; a barrier of pipes says nothing of other ranks",
    ),
    "X111": Dispute(
        "does a conversion of the fix-pipe wait for parameters that the pipe itself has moved?",
        "Headers: a store of A2/A3 with parameters begins with a barrier of the pipe, the other "
        "conversions do not, and A5 has no such barrier. Public suites of both: nothing between "
        "the move of the parameters and the conversion.",
        "yes: the fix-pipe accesses its parameters in order",
        "boards have verified the suites",
    ),
    "X112": Dispute(
        "may a flag be set again before the wait for the last set is complete?",
        "CPU simulator: an id is occupied from a set to its wait in the program. Assembler: an id "
        "is free behind its wait in the program. Public suites of A2/A3 and A5: they set it there.",
        "yes, behind the wait in the program; a warning for two sets without a wait between",
        "flags count, and both pipes take their entries in order: each wait meets its set",
    ),
    "X113": Dispute(
        "may the type of a part state other extents than its sizes?",
        "Assembler: not where both are numbers of one rank. Printed C++ has no such type: its view "
        "has the extents that ptokit gives it, so headers and boards say nothing of it.",
        "check refuses it as the assembler does (--as headers: legal); a run takes the sizes",
        "sizes are what the program computes",
    ),
    "X114": Dispute(
        "which pipe executes TSCATTER on A2/A3?",
        "Enumeration of the headers: V. Code of A2/A3: V clears dst; then, but for whole rows by "
        "mask, which V copies, the scalar unit waits for V, writes the elements, and V waits for "
        "it. Public suite: by mask, a store behind it without a flag from V. Code of A5: V.",
        "V, with flags of its own",
        "it begins and ends in the queue of V; that a store finds the elements without a flag is "
        "so because the scalar unit issues it, and holds for no other form and chip",
    ),
    "X115": Dispute(
        "in which type are the notes of groups of f16?",
        "CPU simulator: in f16. Code of A5 and suite tquant_dn: tiles of f16 hold bf16, cut off; "
        "but max of NV holds f16.",
        "f16 on cpu; the bits of bf16 on a5",
        "each target as it does; A5 reads the factors back as bf16",
    ),
    "X116": Dispute(
        "does the move of exponents from groups down columns look at the shape of its tile?",
        "CPU simulator: the tile has a row for each column. Code and suites of A5: it fills the "
        "bytes in boxes of 16 columns and 2 groups, whatever tile of as many elements is named.",
        "a tile of other extents is plain storage on a5",
        "boards run a 64x4 tile that receives 2x128 exponents",
    ),
    "X117": Dispute(
        "what does infinity become in a conversion to narrow integers that does not saturate?",
        "CPU simulator: 0. Code and golden data of A2/A3: the nearest i32, then its low bits.",
        "0; on a2a3 of f16 to i8 and i16 and of f32 to i16 -1, of -infinity 0",
        "each target as it does",
    ),
    "X118": Dispute(
        "how often does a reciprocal root round?",
        "CPU simulator: it divides by a root of the host. Code and golden data of A5: the root "
        "is rounded, then its reciprocal, in either precision.",
        "once; twice on a5",
        "each target as it does; once is nearest",
    ),
    "X119": Dispute(
        "how do shifts and remainders of 64-bit integers work on A5?",
        "Other types: E3 and E4. Code and golden data of A5: amounts modulo 64, and the remainder "
        "of truncated division, with the sign of the dividend.",
        "on a5 as its code does",
        "it has no such instructions: the code works on halves",
    ),
    "X120": Dispute(
        "where do the biases of f16 lie in the bias table of Kirin X90?",
        "Header library: TMOV copies the bytes of a tile as they are. Its test cases of X90 give "
        "each bias four bytes, f16 in the first two; those of Kirin 9030 have them side by side.",
        "on X90 each in the first half of four bytes, else side by side",
        "boards have verified the test cases",
    ),
    "X121": Dispute(
        "what does relu make of a scaled sum that is less than 0, and does a shift obey it?",
        "Model of the hardware: it zeroes the multiplier, so -0; a shift ignores it. Golden data "
        "of A2/A3 (tmov_acc2mat): +0, of a shift too.",
        "+0, and 0 of a shift",
        "boards have verified the suite",
    ),
    "X122": Dispute(
        "which queue of A5 moves a tile from UB to L1?",
        "Table of events: FIX, which vector cores lack. Assembler: TEXTRACT FIX, TINSERT MTE3, "
        "TMOV V. Code of A5: copy_ubuf_to_cbuf, of MTE3, as its comments and suites say.",
        "MTE3; flags of events are as the table has them",
        "boards run the code, on vector cores",
    ),
    "X123": Dispute(
        "do TAND and TOR take floats on chips?",
        "Assembler: integers only. Code asks for a size: A2/A3 of two bytes, A5 of any to four; "
        "the suites tand and tor compute with the bits of f16 and f32.",
        "yes, on their bits; the assembler refuses them",
        "boards have verified the suites",
    ),
    "X124": Dispute(
        "where do rows of 64-bit elements begin that TGATHER keeps by a pattern on A5?",
        "Documentation: no such type; without gaps. Headers of A5, as their suite tgather: "
        "DstCols / period apart, of whole periods, and of each row the first 64 alone.",
        "cpu: without gaps. A5: as its headers, and a later row covers an earlier one",
        "boards have verified the suite",
    ),
}
