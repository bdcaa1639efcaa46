"""Elementwise instructions, reductions and broadcasts."""

from ptokit.isa.disputes.dispute import Dispute

E: dict[str, Dispute] = {
    "E1": Dispute(
        "when does a narrow float round inside a formula of several operations?",
        "CPU simulator: after each one or at the end, as its compiler likes. Recordings: exact.",
        "after each operation",
        "it is the only reading that no compiler changes",
    ),
    "E2": Dispute(
        "what is the maximum of NaN, or of zeros of both signs?",
        "Simulator: the first unless it is less. Golden data of A5: NaN. The manual: silent.",
        "the first operand, unless it is less",
        "the recordings show it, and no data of hardware contradict",
    ),
    "E3": Dispute(
        "what is a shift by the width or more, or by less than 0?",
        "CPU simulator: that of C, undefined from 32 on. A5: a signed amount. Recordings: less.",
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
        "CPU simulator: yes. Hardware: fused, one rounding; golden data of TAXPY on A5 round f64 "
        "once, those of A2/A3 twice.",
        "yes, on every target, but for TAXPY of f16 on a5",
        "the recordings cannot tell, and no page promises one rounding; two of f16 are more than "
        "the data of A5 allow",
    ),
    "E6": Dispute(
        "does A5 have powers of bf16?",
        "documentation: yes. Code: with high precision only.",
        "with high precision only",
        "that is what compiles",
    ),
    "E7": Dispute(
        "which index does a partial search keep of equal values?",
        "Documentation and CPU simulator: src1's. Code and golden data of A2/A3 and A5: src0's. "
        "Where a value is NaN, A2/A3 keep src1's and A5 src0's.",
        "each target what its code does",
        "the recordings of the CPU simulator and the golden data of boards hold ties",
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
        "documentation: all. Code: 16 and 32 bits. The assembler: bytes too.",
        "16 and 32 bits; bytes with a warning",
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
    "E21": Dispute(
        "does a histogram hold how often each byte occurs, or how often it and those below it do?",
        "an equation of the documentation: each. Its text, and the code of all: up to and with it.",
        "up to and with it",
        "what every implementation does",
    ),
    "E22": Dispute(
        "does a conversion saturate when nothing is said?",
        "CPU simulator: no. Targets: by pair of types. Documentation: no option on the simulator. "
        "To hif8, C++ of A5: yes. The assembler's own templates and their golden data: no.",
        "as the targets: no for f16 to u8, i8, i16, f32 to i16, i64 to i32, i32 to i16 and to "
        "hif8, else yes",
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
        "CPU simulator: 0. A2/A3: one source must cover dst. Golden data of A5: of a maximum the "
        "least number, of a minimum the greatest, both finite.",
        "0 on cpu, and of sums and products; refused on a2a3; on a5 the number that loses, as "
        "a pad of dst's element type",
        "that is what each of them does",
    ),
    "E27": Dispute(
        "does the dequantised sum saturate, and how is it scaled?",
        "CPU simulator: one product in f32, infinite above f16. Targets: scaled by 2**-17 before "
        "and by 2**17 after, the largest f16 above.",
        "one product, the largest f16 above",
        "the two scalings change nothing but denormals; recordings do not overflow",
    ),
    "E28": Dispute(
        "which of the two tiles of an interleaving comes first?",
        "text: 0 before 1. C++: dst1, dst0, src1, src0.",
        "each where it is written so",
        "both are real; the names tell which tile is which",
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
        "in which order are the elements of a sum added, or multiplied?",
        "CPU simulator and recordings: ascending, rows of narrow floats in f32, columns in dst's "
        "type. Code of the targets: rows as trees of registers in their own type, columns "
        "ascending or, binary, in pairs; products of rows by lanes first. Formal specification of "
        "another machine: ascending, in the element type, no tree.",
        "each target's own order; products of columns ascending everywhere",
        "the order of the chips is published",
        'target "a5:left" in Python, --order left at the command line; also cpu, a2a3. '
        '"a5:saturated-sums", --reading saturated-sums: 65504 where a tree of f16 overflows',
    ),
    "E39": Dispute(
        "may a reduction be empty?",
        "Front ends emit valid regions without columns for idle lanes, and hardware does nothing. "
        "Assertions of debug builds: no. Assembler: not one that gives a place, if types say so.",
        "yes: dst stays as it is; check refuses places of nothing as the assembler does (--as "
        "headers: legal)",
        "real kernels rely on it",
        'target "a5:pedantic" in Python, --pedantic at the command line: a warning',
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
    "E45": Dispute(
        "what of the 32 bytes in each row of a narrow row-major operand does a row expand use?",
        "CPU simulator, C++ headers: all, again and again along the row. Assembler of A5, and the "
        "golden data of its tests: the first value.",
        "all; on a5 the first value",
        "on a5 the chip's own data decide; a block of equal values means the same in both",
        'target "a5:row-blocks" in Python, --reading row-blocks at the command line',
    ),
    "E50": Dispute(
        "do groups of MX reach beyond the valid columns, or rows, of their source?",
        "CPU simulator: over the whole declared shape. Code and suite of A5: over zeros that it "
        "writes into the source first. Assembler: the valid extent must be a multiple of 32.",
        "32 valid elements; on a5 16-bit elements in rows: zeros fill up a group, with a warning",
        "what is not valid has no meaning; boards run rows of 16 and 198 elements",
    ),
    "E51": Dispute(
        "where are max and scaling of groups down the columns?",
        "CPU simulator: one after another from the first byte on. Code of A5: in rows as long as "
        "the source's.",
        "one after another on cpu; in the source's columns on a5",
        "each target as it does; equal where the source's columns are all valid",
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
    "E54": Dispute(
        "what is the least integer of a type divided by -1?",
        "C, and the documentation of arith: undefined. Processors: a trap, or the number itself.",
        "it wraps: the number itself, and a remainder of 0",
        "as everything that overflows; a run that ends would say less",
    ),
    "E55": Dispute(
        "may an interleaving have an odd number of columns?",
        "CPU simulator, and older code of A5: no. Golden data of A5: yes, and then the second half "
        "begins one column early: with the pair that the first half could not hold.",
        "on a5, as its golden data",
        "the chip's own data decide; the last element of src1 is in neither half",
    ),
    "E56": Dispute(
        "how many bits has a comparison of an element of 32 bits?",
        "Pages, CPU simulator, golden data of A5: one. Older golden data for the assembler's own "
        "templates: those of a mask register, four with a tile, two with a number.",
        "one",
        "a mask has one meaning, whatever it was made of; selections read it so",
    ),
    "E57": Dispute(
        "where do the rows of a comparison with a number begin in a mask with room for elements?",
        "Pages, older CPU simulators, C++ of A5: on rows of the mask. Older C++ of A5, templates "
        "of the assembler with their golden data, cpu/TCmps.hpp:83-95: the bits of all rows follow "
        "one another where rows of src0 are whole and those of dst are no shorter.",
        "on a5, and in C++ kernels for cpu, they follow one another where dst declares a byte for "
        "each element; on rows where it declares bits, and elsewhere",
        "the chip's own data decide; masks for selections declare their bits",
        'target "a5:mask-rows" in Python, --reading mask-rows at the command line',
    ),
    "E58": Dispute(
        "between which element types does TCVT convert?",
        "Assembler: A2/A3 any but 8-bit and 4-bit floats, A5 those in listed pairs and any others, "
        "f16 to f16 too. Code of A2/A3 and A5: listed pairs.",
        "the listed pairs; what only the assembler takes is legal `--as assembler`",
        "what the assembler makes of the others does not compile",
    ),
    "E59": Dispute(
        "which integers do pointers lead to, and which do scalar operations take?",
        "Assembler: any of 8 to 64 bits, si, ui or without a sign; loads, stores and views have "
        "the pointer's very type, tile loads only its width. MLIR: si64 and i64 are two types, "
        "and arith takes only those without a sign.",
        "si64 is read as i64; ui64 is a type of its own, which arith takes on the CPU only",
        "no program spells si64; ui64 behind i64 would be a second meaning of the same bits",
    ),
    "E60": Dispute(
        "is a product of f16 rounded to f16 before it is added to f32?",
        "CPU simulator, and the recordings: yes. Code of A5 widens both factors first; golden data "
        "of A2/A3 has products of f32.",
        "on cpu; on a2a3 and a5 it is rounded to f32",
        "each target as it does: the difference is larger than what its data allow",
    ),
    "E61": Dispute(
        "what becomes of the last of an odd number of columns where pairs are added?",
        "CPU simulator: its sum with 0. Code and golden data of A2/A3 and A5: left out.",
        "its sum with 0 on cpu; left out on a2a3 and a5",
        "each target as it does; the chips' own data decide for them",
    ),
    "E62": Dispute(
        "how many rows does the result of TROWSUM declare?",
        "CPU simulator: as many as src, at compile time; other reductions do not ask. Its tiles, "
        "columns too, are whole lines of 32 bytes. Assembler, A2/A3 and A5: only valid rows count.",
        "on cpu as many as src has, and of a column the lines that hold them",
        "else no column holds the sums of 2 or 12 rows, which the other reductions and chips take",
    ),
    "E63": Dispute(
        "does NaN count for the largest magnitude of a group that becomes fp8?",
        "CPU simulator: no; it becomes NaN and the others are scaled without it. Code and golden "
        "data of A5: yes, as in fp4; exponent 255, factor NaN.",
        "no on cpu; yes on a5",
        "each target as it does; the recordings are those of the simulator",
    ),
    "E64": Dispute(
        "may a block of channels be 4, less than 32 bytes?",
        'Page: "C0 can also be 4"; code and test cases of A2/A3 and A5 have it from planes to '
        "blocks and from blocks to weights. CPU simulator asserts 32 bytes from planes to blocks.",
        "on a2a3 and a5 blocks of any number of channels, and of images in weights; on cpu 4 from "
        "blocks to weights alone",
        "each target as its code does: ttrans_conv has blocks of 64 bytes, and weights with blocks "
        "of 2 images",
    ),
    "E65": Dispute(
        "how many rows of an accumulator has a product of 16 rows of i8 on A2/A3?",
        "pypto's backend of 910B: 32, so that it places i32 accumulators on multiples of 32 rows. "
        "Types and code of the header library, and the assembler's plan: 16, as of f32.",
        "16",
        "the header library gives the instruction m = 16 and nothing of it names 32; pypto gives "
        "no reason",
    ),
    "E66": Dispute(
        "what do products of f16 add up in on Kirin 9030 and X90?",
        "Header library: the accumulator is f16, and mad(half, half, half) has no mode. Test cases "
        "of the library compare sums of small whole numbers, to three digits. No manual says.",
        "f32, rounded to f16 where an instruction writes the accumulator",
        "all that is certain is the type that is written; several instructions round at each",
    ),
    "E67": Dispute(
        "which instructions do Kirin 9030 and X90 have?",
        "README of the header library: neither TCVT, TPOW, TSTORE nor TROWARGMAX, among others. "
        "Headers and test directories: these, and all of A5's that the two header.hpp include.",
        "what the headers include; explain kirin9030 lists what is lacking",
        "the test cases run them: the table of the README is older",
    ),
    "E68": Dispute(
        "does a power of integers have a scratch tile?",
        "C++ of A2/A3 and A5: TPOW and TPOWS always take tmp, assert its extents for floats alone, "
        "and do not touch it for integers; test cases give it. Assembler: refuses it.",
        "check refuses it as the assembler does (--as headers: legal); a run takes any tile",
        "boards run such kernels, so nothing but the text is wrong",
    ),
    "E69": Dispute(
        "of what type and how large is the scratch of selections on A2/A3?",
        "Assembler: TSEL words of 32 bits, TSELS dst's type and a line of src. C++: any type; TSEL "
        "keeps two addresses there, TSELS one element, and asserts nothing. Test cases give bytes.",
        "check refuses other tiles as the assembler does (--as headers: legal); a run takes them",
        "boards run such kernels; 32 bytes, the least of a tile, are enough",
    ),
    "E70": Dispute(
        "may a tile that a scalar fills be column-major on A2/A3, or boxed on chips?",
        "Assembler: in vec nd alone on A2/A3; on A5 it does not look. Code of A2/A3 and A5: by "
        "columns of all declared rows, so that boxes are filled if all of them is valid; suites "
        "texpands of A2/A3 and tinsert of Kirin9030 have such tiles.",
        "boxes, if all is valid; check on A2/A3 refuses all but nd as the assembler does "
        "(--as headers: legal), and a run takes them",
        "boards run such kernels",
    ),
    "E71": Dispute(
        "must the filters of a histogram of u16 have src's declared rows?",
        "Assembler: yes. Header of A5: it asks for one dn column; suite thistogram declares whole "
        "blocks of 32 bytes of them, more than src has rows.",
        "check refuses it as the assembler does (--as headers: legal); a run takes it",
        "boards run such kernels; a column is as long as its blocks",
    ),
    "E72": Dispute(
        "must the tiles of a partial maximum or minimum have one declared shape?",
        "Assembler: yes, of TPARTMAX and TPARTMIN; its public source does not have those with an "
        "index. Headers: no; suites of A2/A3 give each source a shape of its own.",
        "check refuses other shapes as the assembler does (--as headers: legal); a run takes them",
        "boards run such kernels, and only valid regions count",
    ),
    "E73": Dispute(
        "may a source of a partial operation have fewer rows and fewer columns than dst on A2/A3?",
        "Headers: messages of debug builds say that at most one extent is smaller. Their code, and "
        "cases of tpartargmax, take both. Assembler: yes.",
        "text: refused (--as assembler, --as hardware: legal); kernels in C++: a warning",
        "boards run such kernels",
    ),
    "E74": Dispute(
        "of what width are the indices of a partial extreme on chips?",
        "Headers of A2/A3 and A5: 32 bits, beside f16 also 16; suite tpartargmax has both. "
        "Assembler: 32 bits, says ptokit's rule; its public source does not have the instruction.",
        "check refuses 16 bits (--as headers: legal); a run takes them beside f16",
        "boards run such kernels",
    ),
    "E75": Dispute(
        "must notes and exponents of a quantisation by groups have room for whole registers on A5?",
        "Code of A5: it stores whole vector registers and does not look at shapes. Suite tquant: "
        "rows of as many elements as there are groups, up to whole blocks of 32 bytes; the "
        "addresses leave room behind them.",
        "a row may be longer than the groups; a shorter one than the registers is a warning",
        "boards run such kernels; what is overwritten depends on the addresses",
    ),
    "E76": Dispute(
        "does what becomes 0 in groups of fp8 keep its sign?",
        "CPU simulator: no, but for NV's magnitudes below 2**-10. Golden data of A5 (tquant) come "
        "from a cast that keeps it; what its code does was not read.",
        "no on cpu; yes on a5",
        "each target as it does",
    ),
    "E77": Dispute(
        "does the precise division of TROWEXPANDDIV have a scratch tile on A5?",
        "Header of A5: it takes tmp and does not use it; suite trowexpanddiv gives none. Assembler "
        "and A2/A3: ptokit's rules ask for tmp; of A5 the public verifier was seen to ask nothing.",
        "check refuses it without tmp as the assembler does (--as headers: legal); a run takes it",
        "boards run such kernels; which version of the assembler asks for tmp is not known",
    ),
    "E78": Dispute(
        "must dst be i8 of a symmetric quantisation, and u8 of an asymmetric one?",
        "Headers of A2/A3 and A5: yes, statically. Assembler: once yes; the newest does not look.",
        "yes (--as assembler: legal)",
        "C++ of such text does not compile, and the range of what is written is that of the type",
    ),
    "E79": Dispute(
        "must the scratch tile of a call be as its page says?",
        "Assembler: types and extents. Headers: few assertions, most of them of debug builds; the "
        "suites of A2/A3 and A5 give tiles of other types and fewer elements.",
        "text: other tiles are refused. Kernels in C++: a warning",
        "boards run such kernels, and no number that a scratch tile holds is a result",
    ),
    "E80": Dispute(
        "may the left operand of trowexpandadd be the narrow one?",
        "Assembler: src0 is as wide as dst. Headers of A2/A3 and A5, and suite trowexpandadd of "
        "A5: either operand.",
        "text: src0 is wide (--as headers, --as hardware: either); kernels in C++: a warning",
        "a sum is the same either way",
    ),
    "E81": Dispute(
        "may dst of a reduction along rows have more valid columns than one?",
        "Assembler: one. Headers do not look; suite trowsum_trowexpand has a whole tile.",
        "text: one (--as headers, --as hardware: more); C++: a warning. Column 0 is written",
        "boards have verified the suite, which reads no other column",
    ),
    "E82": Dispute(
        "which last bit has e ** x?",
        "CPU simulator: the C library's. Suites of A2/A3 and A5 compare with a tolerance.",
        "the same on every target, at most one unit in the last place off",
        "no source states the bits",
    ),
}
