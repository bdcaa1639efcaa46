"""Windows, moves, conversions and layouts."""

from ptokit.isa.disputes.dispute import Dispute

C: dict[str, Dispute] = {
    "C1": Dispute(
        "what does an index outside the source gather on the CPU simulator?",
        "page, Mechanism: wraps. Same page, Constraints: clamped. Code: 0.",
        "wraps on cpu; an error on a2a3 and a5, where it is undefined",
        "the first sentence of the page; all readings are options",
        "outside = wrap, clamp, zero, error",
    ),
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
    "C5": Dispute(
        "which operands do the instructions of the layout set have?",
        "layout page: newShape, one offset, cfg, no scratch, any dimension. Headers and the "
        "pages of the instructions: none of these.",
        "the headers': shape from dst, row and col, optional tmp, concat by columns, "
        "configuration in the feature map",
        "that is what compiles",
    ),
    "C6": Dispute(
        "may an extract change the element type?",
        "TEXTRACT pages: never. The same pages narrow accumulators. The CPU simulator: always.",
        "only out of the accumulator",
        "that is where the fix-pipe sits",
    ),
    "C7": Dispute(
        "is a window bounded by static shapes or by valid regions?",
        "TEXTRACT pages and hardware: static. CPU simulator: valid. Code and golden data of A5, "
        "and code of A2/A3, out of acc: valid.",
        "valid everywhere, static too on a2a3 and a5; of what leaves acc a warning",
        "data outside the valid region has no meaning; hardware moves whole declared shapes, but "
        "through the fix-pipe the valid rows",
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
    "C12": Dispute(
        "does moving change values?",
        "layout page: never. Pages of its instructions: relu, quantisation, pads, packing.",
        "only where asked for: fix-pipe, pads, packing",
        "plain forms move bits",
    ),
    "C13": Dispute(
        "what must a reshape keep?",
        "layout page: valid element count. Code: bytes of the declared shape.",
        "the bytes; a warning if the valid count changes",
        "it is an alias: nothing moves",
    ),
    "C14": Dispute(
        "must a transposed tile be square?",
        "layout page: 'square, or a transposed declared shape'. CPU simulator: dst's valid region "
        "is src's transposed, statically. Headers of A2/A3 and A5, assembler: say nothing of it.",
        "any rectangle; dst's valid region is src's transposed, on every target",
        "the second half of the sentence allows all; a dst without room would overwrite others",
    ),
    "C15": Dispute(
        "what does a fill-pad write?",
        "layout page: a fill operand, EXPAND grows the valid region. Code: the pad of dst's type, "
        "everywhere outside src's valid region.",
        "the code's meaning; valid regions do not change",
        "no signature has a fill operand",
    ),
    "C16": Dispute(
        "which element types does a target move?",
        "layout page: one table for all instructions, 64-bit everywhere, fp8 on A5 only. "
        "Implementations: a list for each.",
        "each instruction's own list; fp8 also moves on cpu",
        "the table is a summary",
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
    "C23": Dispute(
        "which column indexes fp?",
        "TEXTRACT_FP: the source column. TINSERT_FP: its own.",
        "textract_fp uses the source column",
        "the page says so, and the recordings show it",
    ),
    "C27": Dispute(
        "does tpack narrow or widen?",
        "implementation and assembler: narrow. One orphan test: widen.",
        "narrow, keeping the low bits",
        "packing makes smaller",
    ),
    "C28": Dispute(
        "do A5's slips count?",
        "relu to vec is dropped, channel split never set, f32 to e4m3 takes a vector mode",
        "no: the documented meaning",
        "they are defects of one implementation",
    ),
    "C30": Dispute(
        "must a tile's whole storage fit at its address?",
        "code: all elements. One test places a tile whose valid region alone fits.",
        "all elements",
        "the storage is what instructions may touch",
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
    "C34": Dispute(
        "what is the type of an index operand?",
        "dtype, i16, uint16_t, int, index",
        "any integer or index, 0 to 65535",
        "all spellings occur",
    ),
    "C36": Dispute(
        "what does a null pad fill?",
        "documentation: undefined. Headers of A2/A3 and A5: refused in vec, in L1 it fills with 0; "
        "suites of A5 have such tiles in L1.",
        "refused in vec; in L1 it fills with 0",
        "in vec there is no value to fill with",
    ),
    "C38": Dispute(
        "which layout has the result of an unrolled feature map?",
        "tests: row-major. Code: the layout of Left tiles.",
        "the layout of dst's type: zz on a2a3, nz on a5",
        "the unroll goes to L0A",
    ),
    "C39": Dispute(
        "is the threshold of a compare gather a tile or a scalar?",
        "C++ and the page: a tile, one for each row. Assembler: a scalar, and offset an attribute.",
        "both are taken: a scalar is the threshold of every row",
        "each text means what it says",
    ),
    "C40": Dispute(
        "what is the index of a match?",
        "A2/A3 and golden data: flat over the declared columns. A5: a running counter.",
        "flat",
        "they agree where rows are full",
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
    "C48": Dispute(
        "may a plain fill-pad make the declared shape larger?",
        "C++: no, that is TFILLPAD_EXPAND. Assembler: yes in vec, it chooses by the shapes; "
        "versions before had a word, `mode`, for the choice, which it refuses now.",
        "yes in vec, with a warning that names the C++; the word is read",
        "text of compilers leaves the choice to the assembler",
    ),
    "C49": Dispute(
        "which element types may a tile of fix-pipe parameters have?",
        "Code that fills scaling memory, and set_quant_vector: words of 64 bits. Assembler and its "
        "manual: any, with examples of f16 and f32. Nobody says how hardware reads those.",
        "floats too, with a warning: each is the factor of its column",
        "text of compilers has them; the one meaning that needs no words of 64 bits",
    ),
    "C50": Dispute(
        "may a window of an nz tile start inside a box?",
        "Assembler: not at a constant row, at any other one. Hardware: lines of a column of boxes "
        "follow one another, so a row inside a box begins one.",
        "on chips where the row is known only when it runs; on the CPU simulator at any row, with "
        "a warning; at whole boxes of columns",
        "a run does what hardware does, a check what the assembler does",
    ),
    "C51": Dispute(
        "may TEXTRACT fill the fix-pipe's scaling memory from L1?",
        "Assembler: yes, on A5. Headers of all chips and documentation: no.",
        "on a5 from the first element on; what starts behind it is legal `--as assembler` alone",
        "a copy from the start is what TMOV does there",
    ),
    "C52": Dispute(
        "may an index gather leave out its scratch tile on A2/A3?",
        "The first C++ call and the first text had none. Every header and assembler since then: no "
        "on A2/A3, also where the assembler adds other scratch; on A5 it may be left out or given.",
        "no; a pass names one of the type of the indices",
        "there is no such call any more",
    ),
    "C53": Dispute(
        "which planes of channels become blocks on chips, and which blocks become planes?",
        "Headers of A2/A3 and A5: debug builds assert that the points of a plane fill blocks of 32 "
        "bytes; release code has a path for other planes. From blocks to planes: code and "
        "ttrans_conv of A2/A3; A5 has no such code. CPU simulator: nc1hwc0 to nchw alone.",
        "text: other planes are refused (--as assembler, --as hardware: legal); kernels in C++: a "
        "warning. From blocks to planes on cpu and a2a3, with groups on a2a3 alone",
        "the path is written for them; no public case of the suites has such a plane",
    ),
    "C54": Dispute(
        "what moves into the cube's operands, out of an accumulator into boxes, or in UB, where "
        "the valid extents of both tiles, or these and the declared ones, differ?",
        "Pages and CPU simulator: the valid region of dst. Code of A2/A3 and A5: whole boxes, of "
        "L1 as they are declared, of an accumulator those that hold its valid lines; in UB what is "
        "valid in both.",
        "text: the rules of the page. Kernels in C++: the boxes of the board; the recorded program "
        "has the extents that moved",
        "what lies behind the valid region reaches products, and boards have verified the suites",
    ),
    "C55": Dispute(
        "does a window of compact mode have to fit with its declared shape?",
        "TEXTRACT pages: it does. Code of A2/A3 and A5: of a left or right tile of compact mode "
        "the boxes of the valid region move; the suites textract (A2/A3) and textract_compact (A5) "
        "do that.",
        "no: on chips its valid region is inside the source",
        "boards have verified the suites, and the mode exists for it",
    ),
    "C56": Dispute(
        "may the exponents of a scale reorder be one row of all groups on A5?",
        "CPU simulator: the source has the rows and columns of dst. Code of A5 reads lines one "
        "behind the other, and tmov_zz gives it one row, as TQUANT made it.",
        "on a5; on cpu the rows of dst",
        "boards have verified the suite",
    ),
    "C57": Dispute(
        "may a move have layouts and element types that C++ does not list?",
        "Headers: assertions list the layouts of L1 that unroll into L0, the element types of A5 "
        "from vec to vec, and of A2/A3 f16 and bf16 for what leaves an accumulator of f32. "
        "Assembler: it compares none of them; f32 stays f32.",
        "yes, with a warning; other element types from vec to vec on a5 are refused (--as "
        "assembler, --as hardware: legal)",
        "text of compilers has them, and their meaning is not in doubt",
    ),
    "C58": Dispute(
        "must a window from acc to vec say which vector core receives it?",
        "Headers: yes, AccToVecMode is an argument. Assembler: no, its text may leave it out.",
        "no, with a warning where dst is not nz",
        "text stays legal; the C++ that is printed from it lacks the word",
    ),
    "C59": Dispute(
        "what goes from an accumulator to the vector cores where dst has other extents?",
        "Pages and assembler: the valid regions are alike. Code of A5: into lines what is valid in "
        "src, into boxes all of its declared rows and whole boxes of columns; where both vector "
        "cores receive, each has a tile for its half.",
        "text: the rules of the page. Kernels in C++: what the code counts, with a warning",
        "boards have verified tmov_acc2vec and tinsert_acc2vec",
    ),
    "C60": Dispute(
        "does A5 gather elements of 64 bits, and scatter fewer elements than src has?",
        "Assembler: no. Headers of A5: by indices of 32 bits, by a pattern along rows; a "
        "scatter counts the indices alone. Suites tgather and tscatter do both.",
        "text: no (--as headers, --as hardware: yes); kernels in C++: with a warning",
        "boards have verified the suites",
    ),
    "C61": Dispute(
        "where do the groups of a feature map begin that TTRANS makes weights of?",
        "Page: one behind the other. Code and golden data of A2/A3 and A5: as far apart as those "
        "of the weights, which hold whole blocks of images.",
        "text: one behind the other. Kernels in C++ for chips: as the code",
        "boards have verified the suite ttrans_conv; a tile of text has no room between groups",
    ),
    "C62": Dispute(
        "what does TEXTRACT between vector tiles of packed pairs count on A5?",
        "Page: elements, as elsewhere. Code and suite textract_vec of A5: bytes, in rows as long "
        "as the type has columns, and of a window of one element; elements in boxes.",
        "text: elements. Kernels in C++ for a5: as the code",
        "boards have verified the suite; a type of text means the same everywhere",
    ),
    "C63": Dispute(
        "how wide are the thresholds of TGATHER's comparison with f16 on A2/A3?",
        "Documentation: 32 bits. Code converts 16, and its golden data have u16.",
        "either width, each read as what it is",
        "the documentation names one type, and boards take the other",
    ),
    "C64": Dispute(
        "does TGATHER compare bytes on A5, and as what does it see its elements?",
        "Documentation and assembler: no. Headers of A5 and suite tgather: with thresholds of 16 "
        "or 32 bits, all as u32. They round f32 to i32, take i16 and i32 as unsigned, too, and of "
        "u16 look for equal ones whatever is asked; the suite has integers of 0 to 99.",
        "bytes as the headers (--as assembler: no), with a tile of thresholds; types of the "
        "documentation as it says",
        "boards have verified the suite, which does not tell the rest apart",
    ),
    "C65": Dispute(
        "what is bf16 on the CPU simulator?",
        "Its headers: half, where the compiler has no std::bfloat16_t. Chips: bf16.",
        "bf16 on every target",
        "the type of the text decides, not the compiler of the simulator",
    ),
    "C66": Dispute(
        "what does an insert from UB into L1 of A5 make of tiles of unlike layouts?",
        "Manual and CPU simulator: each element keeps its row and column. Assembler: dst is nz. "
        "Code of A5 (npu/a5/TInsert.hpp:598-630): goes by the layout of src, so boxes of nz lie in "
        "a tile of zn as those of its transpose, and plain lines as in a plain tile.",
        "text: rows and columns are kept; kernels in C++: as the code, with a warning",
        "flash attention of A5 by columns (FIFO mode 1) inserts its transposed P so, and is right",
    ),
}
