"""Where public sources disagree: who says what, what ptokit does, and why.

Data: printed by `explain` and in the documentation. The numbers are those of the spec's conflict
tables (part 4: C; matrix and memory: D; synchronisation: X; elementwise to expands: E, where E33
and up are ours).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dispute:
    """`option` names the setting that gives the other reading, if there is one."""

    question: str
    sources: str
    choice: str
    why: str
    option: str | None = None


DISPUTES: dict[str, Dispute] = {
    "C2": Dispute(
        "what does _fp stand for?",
        "TEXTRACT pages: fix pipe. Layout page: fill/pad with a scalar.",
        "fix pipe, with a tile of parameters in scaling memory",
        "every signature and implementation has a Scaling tile",
    ),
    "C3": Dispute(
        "must a window divide its source evenly?",
        "Layout page: yes. TEXTRACT pages: bounds only, and they show overlapping windows.",
        "no: bounds, and the alignment of each target",
        "no implementation checks divisibility",
    ),
    "C4": Dispute(
        "does the fix-pipe extract name its parameter tile in text?",
        "an older page leaves it out; the seed page and the assembler have it",
        "yes: it is required",
        "without it there is nothing to quantise with",
    ),
    "C6": Dispute(
        "may an extract change the element type?",
        "TEXTRACT pages: never. The same pages narrow accumulators. The CPU simulator: always.",
        "only out of the accumulator",
        "that is where the fix-pipe sits",
    ),
    "C7": Dispute(
        "is a window bounded by static shapes or by valid regions?",
        "TEXTRACT pages and hardware: static. CPU simulator: valid.",
        "valid everywhere, static too on a2a3 and a5",
        "data outside the valid region has no meaning, and hardware moves whole declared shapes",
    ),
    "C8": Dispute(
        "how large is the window?",
        "English page: the declared shape. Chinese page and layout page: the valid region.",
        "dst's valid region",
        "they agree where the tile is fully valid",
    ),
    "C9": Dispute(
        "does A2/A3 extract into scale tiles?",
        "English page: 'Scale'. Chinese page and code: left and right only.",
        "no; but vec to vec and acc to mat, as the code has",
        "the chip has no MX scale memory",
    ),
    "C10": Dispute(
        "which element types on A2/A3?",
        "English page: one list of ten for all. Chinese page and code: i8, f16, bf16, f32.",
        "the four on a2a3, the ten on a5",
        "the code agrees with the split",
    ),
    "C11": Dispute(
        "are the example programs of the page legal?",
        "Pattern 2 has an unboxed source, pattern 3 an int8 tile of 16 columns and mixed types",
        "no: they are refused, with the rule of the same page",
        "a box of int8 has 32 columns; only nz and zn sources reach left",
    ),
    "C23": Dispute(
        "which column indexes fp?",
        "TEXTRACT_FP: the source column. TINSERT_FP: its own.",
        "textract_fp uses the source column",
        "the page says so, and the recordings show it",
    ),
    "C28": Dispute(
        "do A5's slips count?",
        "relu to vec is dropped, channel split never set, f32 to e4m3 takes a vector mode",
        "no: the documented meaning",
        "they are defects of one implementation",
    ),
    "C34": Dispute(
        "what is the type of an index operand?",
        "dtype, i16, uint16_t, int, index",
        "any integer or index, 0 to 65535",
        "all spellings occur",
    ),
    "C42": Dispute(
        "must the column of a fix-pipe extract be aligned?",
        "the pages are silent; the parameter register has granules of 128 bytes",
        "a multiple of 16 on a2a3 and a5",
        "another column would fetch other parameters",
    ),
    "C44": Dispute(
        "do the indices have defaults?",
        "TEXTRACT: 0 in the header. TINSERT: documented, not in the header.",
        "0",
        "harmless, and shorter",
    ),
    "C45": Dispute(
        "is vec to vec row-major only on A5?",
        "assembler: nd only. headers: nd and nz.",
        "nd and nz",
        "the headers are what compiles",
    ),
    "C46": Dispute(
        "which element types move from vec to vec on A5?",
        "an older page has a shorter list than the code",
        "the code's list",
        "the page is out of date",
    ),
    "C47": Dispute(
        "what does relu without a parameter make of NaN?",
        "CPU simulator: 0 in an extract and an insert, which test the source for x > 0; a move "
        "clears what is negative after the conversion, so NaN stays. Founding pages: silent.",
        "each as the simulator does: 0 in textract and tinsert, NaN in tmov",
        "no other source says anything, and the recordings agree with either reading",
    ),
    "C30": Dispute(
        "must a tile's whole storage fit at its address?",
        "code: all elements. One test places a tile whose valid region alone fits.",
        "all elements",
        "the storage is what instructions may touch",
    ),
    "D2": Dispute(
        "what fills a loaded tile with a custom pad?",
        "CPU simulator: 0. The type: the custom value.",
        "the custom value",
        "the pad is part of the type",
    ),
    "D3": Dispute(
        "must a view have the tile's valid shape?",
        "assembler: not compared. Headers: equal. Tests of A5: of a larger view the tile's valid "
        "region is loaded.",
        "equal: cut the view with partition_view",
        "a smaller view would read neighbouring memory",
    ),
    "D14": Dispute(
        "what do the pad values max and min of floats stand for?",
        "pages: the infinities. Golden data of A5: the largest finite numbers.",
        "the infinities",
        "a maximum over padding must not meet a finite number",
    ),
    "D4": Dispute(
        "which parameter does a fix-pipe store use?",
        "CPU simulator: by row for nz tiles. Documentation and hardware: by column.",
        "by column",
        "a channel is a column",
    ),
    "D8": Dispute(
        "is the accumulator input read, and when is it added?",
        "CPU simulator: yes; last where the recordings were made, first since September 2026. "
        "Hardware code: accumulates into the output, from what it holds.",
        "yes, first; on a2a3 and a5 it must be the output tile; `replay` adds it last. Inside a "
        "block of k: one fused multiply-add for each k, ascending",
        "the order of hardware is published, but within a block of 16 (f16) or 8 (f32) k, and the "
        "simulator follows it now",
        'target "cpu:recorded" in Python, --order recorded at the command line',
    ),
    "D9": Dispute(
        "what do SETHF32MODE and SETTF32MODE change?",
        "documentation: the target decides; TF32 cuts mantissas to 7 bits, elsewhere to 10, and is "
        "nothing on A2/A3. Headers of the chips: neither instruction.",
        "a register that is kept; products are those of whole f32",
        "nobody says which bits are multiplied",
    ),
    "D10": Dispute(
        "what is a scale of 255?",
        "OCP: NaN. CPU simulator: 2**128.",
        "NaN",
        "the format has NaN, and quantisation writes it for groups that have no exponent",
    ),
    "D11": Dispute(
        "where are the scales that TGET_SCALE_ADDR gives?",
        "A5: in the scale memory, at the address of the operand divided by 16. CPU simulator: they "
        "are the bytes of the operand itself. Assembler: as large as the operand; headers: a "
        "column, or row, for each 32.",
        "in the scale memory; dst's own type says how many there are",
        "scales that overlap what they scale have no meaning",
    ),
    "D13": Dispute(
        "does K of a product of one row come from a or from b?",
        "CPU simulator, and A5 with scales: from a. Hardware code without scales: from b.",
        "they must agree",
        "the product has no other meaning",
    ),
    "C1": Dispute(
        "what does an index outside the source gather on the CPU simulator?",
        "page, Mechanism: wraps. Same page, Constraints: clamped. Code: 0.",
        "wraps on cpu; an error on a2a3 and a5, where it is undefined",
        "the first sentence of the page; all readings are options",
        "outside = wrap, clamp, zero, error",
    ),
    "C13": Dispute(
        "what must a reshape keep?",
        "layout page: valid element count. Code: bytes of the declared shape.",
        "the bytes; a warning if the valid count changes",
        "it is an alias: nothing moves",
    ),
    "C14": Dispute(
        "must a transposed tile be square?",
        "layout page: 'square, or a transposed declared shape'",
        "any rectangle; dst's valid region is src's transposed",
        "the second half of the sentence allows all",
    ),
    "C15": Dispute(
        "what does a fill-pad write?",
        "layout page: a fill operand, EXPAND grows the valid region. Code: the pad of dst's type, "
        "everywhere outside src's valid region.",
        "the code's meaning; valid regions do not change",
        "no signature has a fill operand",
    ),
    "C17": Dispute(
        "is the scratch tile of an index gather an operand?",
        "page, signature: yes. Its example leaves it out.",
        "optional; required on a2a3",
        "only A2/A3 uses it",
    ),
    "C18": Dispute(
        "what must a subview share with its source?",
        "page: location, declared shape, layout, and bounds. Code: location only.",
        "the page's rules; in boxed tiles the offset is a whole box",
        "other shapes would address other elements",
    ),
    "C19": Dispute(
        "what does a block gather index?",
        "documentation: elements. Code: 32-byte blocks by byte offset.",
        "blocks",
        "the recordings show it",
    ),
    "C20": Dispute(
        "must two parts fill the destination of a concat?",
        "CPU and A5: exactly. A2/A3 and the assembler: at most.",
        "at most the declared columns; exactly on a5",
        "A5 asserts it",
    ),
    "C22": Dispute(
        "does a scalar parameter of a move apply?",
        "documentation: yes. CPU simulator: ignored.",
        "it applies",
        "the simulator's overload drops it",
    ),
    "C27": Dispute(
        "does tpack narrow or widen?",
        "implementation and assembler: narrow. One orphan test: widen.",
        "narrow, keeping the low bits",
        "packing makes smaller",
    ),
    "C31": Dispute(
        "how many rows does a masked gather of rows give?",
        "hardware asserts a fixed relation; CPU: exactly the selected rows",
        "at most dst's valid rows",
        "selected rows beyond dst have no place",
    ),
    "C32": Dispute(
        "which digit is innermost in the scale reorder?",
        "the page swaps two digits against the code and the golden data",
        "the code",
        "golden data agree with it",
    ),
    "C33": Dispute(
        "may a transpose work in place?",
        "documentation: yes on A5. Code: writes scattered.",
        "no: dst must not overlap src",
        "the result would depend on the order",
    ),
    "C36": Dispute(
        "what does a null pad fill?",
        "documentation: undefined. Code: refused.",
        "refused",
        "there is no value to fill with",
    ),
    "C38": Dispute(
        "which layout has the result of an unrolled feature map?",
        "tests: row-major. Code: the layout of Left tiles.",
        "the layout of dst's type: zz on a2a3, nz on a5",
        "the unroll goes to L0A",
    ),
    "C39": Dispute(
        "is the threshold of a compare gather a tile or a scalar?",
        "C++ and the page: a tile, one for each row. Assembler: a scalar.",
        "a tile",
        "the page's signature",
    ),
    "C40": Dispute(
        "what is the index of a match?",
        "A2/A3 and golden data: flat over the declared columns. A5: a running counter.",
        "flat",
        "they agree where rows are full",
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
    "C5": Dispute(
        "which operands do the instructions of the layout set have?",
        "layout page: newShape, one offset, cfg, no scratch, any dimension. Headers and the "
        "pages of the instructions: none of these.",
        "the headers': shape from dst, row and col, optional tmp, concat by columns, "
        "configuration in the feature map",
        "that is what compiles",
    ),
    "C12": Dispute(
        "does moving change values?",
        "layout page: never. Pages of its instructions: relu, quantisation, pads, packing.",
        "only where asked for: fix-pipe, pads, packing",
        "plain forms move bits",
    ),
    "C16": Dispute(
        "which element types does a target move?",
        "layout page: one table for all instructions, 64-bit everywhere, fp8 on A5 only. "
        "Implementations: a list for each.",
        "each instruction's own list; fp8 also moves on cpu",
        "the table is a summary",
    ),
    "E1": Dispute(
        "when does a narrow float round inside a formula of several operations?",
        "CPU simulator: after each one or at the end, as its compiler likes. Recordings: exact.",
        "after each operation",
        "it is the only reading that no compiler changes",
    ),
    "E2": Dispute(
        "what is the maximum of NaN, or of zeros of both signs?",
        "simulator: the first operand unless it is less. Golden data of A5: NaN. Documentation of "
        "hardware: silent.",
        "the first operand, unless it is less",
        "the recordings show it, and no data of hardware contradict",
    ),
    "E3": Dispute(
        "what is a shift by the width or more, or by less than 0?",
        "CPU simulator: that of C, undefined from 32 on. A5: reads a signed amount. Recordings: "
        "smaller amounts only.",
        "every bit leaves: 0, or -1 for an arithmetic shift to the right of what is less than 0",
        "so many shifts by one place give that; without a sign a negative amount is a large one",
    ),
    "E4": Dispute(
        "what is the remainder rounded down, and how large is its scratch?",
        "CPU simulator: exact. Documentation and A2/A3: a - floor(a / b) * b in f32, i32 too. "
        "Scratch by declared columns in the documentation, by the stride of a row in the code.",
        "exact; the scratch by the stride",
        "the formula is wrong for large quotients, and the recordings are exact",
    ),
    "E5": Dispute(
        "is a product that is added rounded first?",
        "CPU simulator: yes. Hardware: fused, one rounding.",
        "yes, on every target",
        "the recordings cannot tell, and no page promises one rounding",
    ),
    "E6": Dispute(
        "does A5 have powers of bf16?",
        "documentation: yes. Code: with high precision only.",
        "with high precision only",
        "that is what compiles",
    ),
    "E7": Dispute(
        "which index does a partial search keep of equal values?",
        "Documentation and CPU simulator: src1's. Code of A2/A3 and golden data "
        "of both targets: src0's.",
        "src1's, for NaN too",
        "the documentation says so, and the recordings hold ties",
    ),
    "E8": Dispute(
        "what does a comparison with a scalar write into u32?",
        "CPU simulator: eight bits in each word. A5, and comparisons of tiles: 32.",
        "32 bits in each word",
        "a mask has one meaning, whoever wrote it",
    ),
    "E9": Dispute(
        "how close are equal floats?",
        "CPU simulator, with a scalar: within 1e-9, and infinity differs from infinity. "
        "Targets: exact.",
        "exactly equal, as IEEE 754 has it",
        "the pages name no tolerance",
    ),
    "E10": Dispute(
        "with what does tcmps compare when its second source is a tile?",
        "Documentation and A5: its first element. Code of the CPU simulator: element by element.",
        "its first element",
        "element by element is tcmp",
    ),
    "E11": Dispute(
        "where does each row's mask begin?",
        "A2/A3, A5, golden data, and what tcmp writes: on a byte of its own. CPU simulator: "
        "the bits of all rows follow one another.",
        "on a byte of its own",
        "a mask of tcmp must select the rows it was made of; recordings fit both",
    ),
    "E12": Dispute(
        "does A5 divide by a number, or multiply by its reciprocal?",
        "documentation: multiplies. Code: divides.",
        "divides",
        "that is what runs",
    ),
    "E13": Dispute(
        "which integers have A2/A3's TANDS and TORS?",
        "documentation: all. Code: 16 and 32 bits.",
        "16 and 32 bits",
        "that is what compiles",
    ),
    "E14": Dispute(
        "does the fused product with relu have one?",
        "its page prints the formula without. Code and name: yes.",
        "yes",
        "a slip of the page",
    ),
    "E15": Dispute(
        "what is the absolute value of -0 and of a NaN with a sign?",
        "simulator: as they are, neither is less than 0. IEEE 754: the sign bit is cleared.",
        "the sign bit is cleared",
        "that is what an absolute value is to everybody else",
    ),
    "E16": Dispute(
        "what do small codes of hif8 stand for?",
        "CPU simulator: 0x0C is 1.125, 0x18 is 3. Table of the format: 1.5 and 0.5.",
        "the table",
        "the decoder of the simulator shifts the mantissa wrongly",
    ),
    "E17": Dispute(
        "how does a conversion to 4-bit floats round?",
        "CPU simulator: first to whole numbers. Format: to the nearest of its values.",
        "to the nearest of its values",
        "0.5 and 1.5 are values of the format",
    ),
    "E18": Dispute(
        "is the scale of TQUANT a divisor, and is the offset added to the rounded number?",
        "documentation: x / scale, rounded, plus offset. CPU simulator and code of A2/A3: "
        "x * scale + offset, then rounded.",
        "x * scale + offset, then rounded",
        "what is implemented, and shown by the recordings",
    ),
    "E19": Dispute(
        "how do groups of MX round, and what is the largest exponent of e2m1?",
        "documentation: stochastically, 1. Code: half to even, 2.",
        "half to even, 2",
        "what is implemented, and shown by the recordings; 6 is 1.5 x 2**2",
    ),
    "E20": Dispute(
        "which types may the index beside a value have?",
        "CPU simulator: i32 and u32. Targets, for elements of 16 bits: i16 and u16 too.",
        "all four on cpu; as wide as the targets say there",
        "it holds any column of a tile",
    ),
    "E22": Dispute(
        "does a conversion saturate when nothing is said?",
        "CPU simulator: no. Targets: by pair of types. Documentation: no option on the simulator.",
        "as the targets: no for f16 to u8, i8, i16, f32 to i16, i64 to i32, i32 to i16, else yes",
        "programs are written for the targets; recordings say it wherever the readings differ",
    ),
    "E23": Dispute(
        "what does f32 to i32 give out of range, and how does it round?",
        "type page: truncates and saturates. CPU simulator: rounds by mode, overflow is INT_MIN.",
        "rounds by mode; saturating gives the nearest i32, else the low bits",
        "the page of the conversion says so",
    ),
    "E24": Dispute(
        "which conversions have a rounding mode?",
        "targets: also those to floats; f32 to f32 rounds to whole numbers. CPU simulator: those "
        "to integers only; f32 to f32 copies. ODD to integers: nearest with ties to odd on the "
        "simulator, toward zero on targets.",
        "all; ODD takes the odd neighbour of what is between two",
        "a mode that is given is meant",
    ),
    "E25": Dispute(
        "does A2/A3 compare i32?",
        "Documentation: in all modes. Code: the result is that of eq whatever the mode.",
        "eq only on a2a3; all modes elsewhere",
        "a silent other result helps nobody",
    ),
    "E26": Dispute(
        "what becomes of elements that neither source of a partial operation has?",
        "CPU simulator: 0. Targets: one source must cover dst.",
        "0 on cpu; refused on a2a3 and a5",
        "that is what each of them does",
    ),
    "E27": Dispute(
        "does the dequantised sum saturate, and how is it scaled?",
        "CPU simulator: one product in f32, infinite above f16. Targets: scaled by 2**-17 before "
        "and by 2**17 after, the largest f16 above.",
        "one product, the largest f16 above",
        "the two scalings change nothing but denormals; recordings do not overflow",
    ),
    "E29": Dispute(
        "do column sums take integers?",
        "CPU simulator: floats only. Targets: i16, i32 and more.",
        "yes",
        "the simulator's list is merely shorter",
    ),
    "E31": Dispute(
        "may a row sum be wider than its elements?",
        "CPU simulator: i16 to i32, f16 and bf16 to f32. Targets: one type.",
        "on cpu; refused on a2a3 and a5",
        "that is what compiles",
    ),
    "E32": Dispute(
        "does a division by a number leave its source as it was?",
        "A2/A3: integers become the bits of floats. Everybody else: yes.",
        "yes",
        "a defect of one implementation",
    ),
    "E33": Dispute(
        "in which order are the elements of a sum added?",
        "CPU simulator and recordings: ascending, rows of narrow floats in f32, columns in dst's "
        "type. Code of the targets: rows as trees of registers in their own type, columns "
        "ascending or, binary, in pairs. Formal specification of another machine: ascending, in "
        "the element type, no tree.",
        "each target's own order; products ascending everywhere",
        "the order of the chips is published for sums; for products no source says one",
        'target "a5:left" in Python, --order left at the command line; also cpu, a2a3',
    ),
    "E39": Dispute(
        "may a row reduction be empty?",
        "Front ends emit valid regions without columns for idle lanes, and hardware does nothing. "
        "Assertions of debug builds: no.",
        "yes: dst stays as it is",
        "real kernels rely on it",
    ),
    "E40": Dispute(
        "what is an integer divided by 0?",
        "CPU simulator: the process dies, or an assertion fails. Targets: defined by the target.",
        "0, and so is the remainder",
        "no source gives a value; a program whose padding is 0 goes on as it does on chips",
    ),
    "E41": Dispute(
        "do A2/A3 and A5 have the sums of three, TADDC and its kin?",
        "manual and assembler: yes. Headers: only those of the CPU simulator.",
        "on cpu; refused on a2a3 and a5",
        "what the assembler makes of them does not compile",
    ),
    "E42": Dispute(
        "on which targets is TADDRELU, and with which element types?",
        "manual: silent. Assembler: A2/A3 only. The vector instruction: i16, f16, f32.",
        "cpu, and a2a3 with these three",
        "the only sources there are",
    ),
    "E43": Dispute(
        "how is an integer raised to a power that is a number?",
        "CPU simulator: in f64, undefined where it overflows. With a tile of exponents: modulo "
        "the type.",
        "modulo the type",
        "one meaning for both forms; they agree wherever f64 does not overflow",
    ),
    "E44": Dispute(
        "is the difference of narrow integers wrapped before it is compared with 0?",
        "documentation: silent. CPU simulator: afterwards, C computes in 32 bits.",
        "afterwards, in tsubrelu and taddrelu",
        "the recordings show it: 28764 less -17918 gives -18854, not 0",
    ),
    "E50": Dispute(
        "do groups of MX reach beyond the valid columns, or rows, of their source?",
        "CPU simulator: over the whole declared shape. Code of A5: over zeros that it writes into "
        "the source first. Assembler: the valid extent must be a multiple of 32.",
        "a group has 32 valid elements",
        "what is not valid has no meaning, and a source is not written",
    ),
    "E51": Dispute(
        "where are max and scaling of groups down the columns?",
        "CPU simulator: one after another from the first byte on. Code of A5: in rows as long as "
        "the source's.",
        "one after another",
        "as for groups along the rows, on both; equal where the source's columns are all valid",
    ),
    "E28": Dispute(
        "which of the two tiles of an interleaving comes first?",
        "text: 0 before 1. C++: dst1, dst0, src1, src0.",
        "each where it is written so",
        "both are real; the names tell which tile is which",
    ),
    "X2": Dispute(
        "where do sorted blocks of 32 values of 2 bytes go, and what of a shorter last block?",
        "CPU simulator: block b at element 64 b, over the block before it; a last block of any "
        "size. Code of A2/A3 and A5: at 128 b; a last block only with tmp, and records of NaN "
        "behind it up to 32.",
        "at 128 b, and only the records of the source; a2a3 and a5 demand tmp and the room",
        "a record has 8 bytes; what stands behind the records is no result",
    ),
    "E21": Dispute(
        "does a histogram hold how often each byte occurs, or how often it and those below it do?",
        "an equation of the documentation: each. Its text, and the code of all: up to and with it.",
        "up to and with it",
        "what every implementation does",
    ),
    "D5": Dispute(
        "what does a negative index of MGATHER and MSCATTER wrap to?",
        "CPU simulator: modulo 2^64, then the count. Code of A2/A3 and A5: modulo 2^32.",
        "indices are u32",
        "they are on hardware; counts that are powers of two agree",
    ),
    "D6": Dispute(
        "with what does MSCATTER by rows compare for max and min?",
        "CPU simulator: the element with the row's number. Documentation: the element itself.",
        "the element itself",
        "a defect of the simulator",
    ),
    "D7": Dispute(
        "do MGATHER and MSCATTER take elements or rows, which of them, and on which chips?",
        "CPU simulator: elements, from the first byte on whatever the strides. Code of A2/A3 and "
        "A5: rows; A2/A3 count those of all dimensions, A5 of the last but one. Assembler: only "
        "on A5.",
        "a line of indices means rows, else elements; both counted row by row over all of the view",
        "the same wherever the sources agree: views without gaps, of one matrix",
    ),
    "X4": Dispute(
        "in which column is which number of TRANDOM, and where does the next row go on?",
        "CPU simulator: by words, on by a quarter of the declared columns. Code of A5: by "
        "counters, on by 64. Documentation: a generator like ChaCha.",
        "each target as it does; the generator is Philox4x32",
        "both are what programs there see; no other source has the numbers",
    ),
    "X1": Dispute(
        "what does TCI with a scratch tile count when it descends?",
        "Code of A2/A3: -(start + k). Everybody else: start - k.",
        "start - k",
        "a defect of one form; they agree where start is 0",
    ),
    "X23": Dispute(
        "what does TPRINT print?",
        "CPU simulator: the valid region. Code of A2/A3 and A5: what is not valid too, behind "
        "a bar.",
        "the valid region, in the simulator's form",
        "the rest has no meaning",
    ),
    "D16": Dispute(
        "does TPREFETCH fill its tile?",
        "CPU simulator: with elements from the view's first byte on, whatever the strides. Code of "
        "A2/A3 and A5: a hint to the cache.",
        "no",
        "no program may rely on it",
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
    "X7": Dispute(
        "which pipe executes a scatter?",
        "enumeration: V. Assembler: S on A2/A3, V on A5. Code of A2/A3: V to clear, then S, with "
        "flags of its own around it.",
        "V",
        "to others the instruction begins and ends on V",
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
    "E52": Dispute(
        "which targets have HiFloat4, and what are its elements?",
        "documentation: A6, a type of their own. Format: e1m2 with scales of three levels.",
        "cpu, f4e1m2x2; refused on a2a3 and a5",
        "there is no target A6; with these scales the elements mean what its golden data say",
    ),
    "E53": Dispute(
        "how does TQUANT_HIF4 round, what is the number of zeros, where are its scales?",
        "page: away from zero, offset 38. Golden data: half to even, zeros have a number of 0, and "
        "buffers that hardware spreads or drops bits of.",
        "half to even; the least number, 2**-48; four bytes for each group in its row",
        "the format has no 0; in this order a move to zz gives what the product reads",
    ),
    "X3": Dispute(
        "does a triangle reach beyond the valid columns?",
        "CPU simulator and documentation: no. Code of A5: ones may spill to a whole vector.",
        "no",
        "the valid region is what an instruction writes",
    ),
}
