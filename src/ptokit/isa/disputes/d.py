"""Matrix products and memory."""

from ptokit.isa.disputes.dispute import Dispute

D: dict[str, Dispute] = {
    "D2": Dispute(
        "what fills a loaded tile with a custom pad?",
        "CPU simulator: 0. The type: the custom value.",
        "the custom value",
        "the pad is part of the type",
    ),
    "D3": Dispute(
        "may a view have other extents than what is valid in the tile?",
        "Assembler: a load of another extent passes, a store has as many elements. Headers of "
        "chips: debug builds assert that they are alike. Release code, which boards run: it "
        "counts lines by the view and takes their length from the tile; A2/A3 steps by that length "
        "and the gap that the view leaves, A5 by the view's stride. An accumulator leaves as it is "
        "valid. Golden data of A5: of a larger view the tile's valid region is loaded. CPU "
        "simulator: debug builds assert it of loads; release builds, as its suites are, move what "
        "is valid from or to the upper left part of the view.",
        "text: no, cut the view with partition_view. On a5 a larger view loads the part that is "
        "valid in the tile, with a warning. Other views of chips are legal `--as assembler` alone, "
        "and not even there where the number of elements differs. Kernels in C++: a warning, and "
        "the bytes of the board or simulator; the recorded program has the extents that moved",
        "a smaller view would read neighbouring memory; the public suites store packed masks so, "
        "and boards have verified them",
        'target "a2a3:larger-views" in Python, --reading larger-views at the command line',
    ),
    "D17": Dispute(
        "is a view of rank 5 whose last extents are 16 and 32 bytes nz if it does not say so?",
        "assembler: yes, on all chips, of one matrix without gaps that has more than one box "
        "(before, of others too). Golden data of A5: nd. Users of one view that want nd and dn, or "
        "paths that bring nz and nd ones: the assembler refuses them.",
        "yes, of such a matrix; on a5 nd. Each user reads the view in the layout it wants",
        "the chip's own data decide; `layout = #pto.layout<nz>` says it on every target; a view "
        "of one line is the same data in nd and dn",
    ),
    "D4": Dispute(
        "which parameter does a fix-pipe store use?",
        "CPU simulator: by row for nz tiles. Documentation and hardware: by column.",
        "by column",
        "a channel is a column",
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
        "nothing on A2/A3. Headers of the chips: neither instruction; SetMadTF32Mode of a tile "
        "keeps 11 bits on A2/A3 and 10 on A5, as golden data of A2/A3 (tmatmul) do.",
        "a register that is kept; products are those of whole f32. Kernels in C++ for chips: the "
        "mode of a tile, which text has as `shortF32` of each product",
        "nobody says which bits are multiplied where an instruction sets the mode",
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
        "are the bytes of the operand itself. Assembler: once as large as the operand, now as "
        "headers: a column, or row, for each 32.",
        "in the scale memory; dst's own type says how many there are",
        "scales that overlap what they scale have no meaning",
    ),
    "D13": Dispute(
        "does K of a product of one row come from a or from b?",
        "CPU simulator, and A5 with scales: from a. Hardware code without scales: from b.",
        "they must agree",
        "the product has no other meaning",
    ),
    "D14": Dispute(
        "what do the pad values max and min of floats stand for?",
        "pages: the infinities. Golden data of A5: the largest finite numbers.",
        "the infinities; on a5 the finite numbers",
        "a maximum over padding must not meet a finite number; on a5 the chip's own data decide",
        'target "a5:infinite-pads" in Python, --reading infinite-pads at the command line',
    ),
    "D16": Dispute(
        "does TPREFETCH fill its tile?",
        "CPU simulator: with elements from the view's first byte on, whatever the strides. Code of "
        "A2/A3 and A5: a hint to the cache.",
        "no",
        "no program may rely on it",
    ),
    "D19": Dispute(
        "must MGATHER and MSCATTER say whether they take elements or rows?",
        "Older assembler: it has no word for it. Newer one: yes, always. CPU simulator and code: "
        "shapes tell.",
        "on a2a3 and a5 with other modes, and for indices in global memory; else shapes tell",
        "text of both versions stays legal, and its shapes leave no doubt",
    ),
    "D20": Dispute(
        "may an accumulator be stored as dn?",
        "Headers of A2/A3 and A5: nd and nz. CPU simulator: any. Golden data of A5: dn too.",
        "on cpu and a5",
        "the fix-pipe of A5 has the mode, and the chip's own data use it",
    ),
    "D21": Dispute(
        "must the declared shapes of the tiles of a product fit, or the valid ones?",
        "Assembler: the declared ones, of TGEMV on A2/A3 the valid ones; newer ones take either. "
        "Code of A2/A3 and A5: M, K and N are valid extents; the suites give TGEMV a left tile of "
        "whole lines of 512 bytes, with more columns than the right tile has rows. CPU simulator: "
        "the declared ones. Code and suite tmatmul_mx of A5: of scales no declared shape.",
        "the valid ones on chips, of tmatmul with a warning where the declared ones do not fit; "
        "declared ones of scales in text (--as hardware: any)",
        "boards run such kernels; the assembler verifies TGEMV of A5 as TMATMUL, so its newer "
        "verdict counts for both",
    ),
    "D22": Dispute(
        "must the lines of a view fill blocks of 32 bytes where they become nd or dn lines of L1 "
        "on A2/A3?",
        "Headers: debug builds assert it. Suite tload_gm2mat: a line of 201 bytes. Assembler: it "
        "does not look.",
        "text: others are refused (--as assembler, --as hardware: legal). Kernels in C++: a "
        "warning",
        "boards run the case, and the elements behind a line are not valid",
    ),
    "D23": Dispute(
        "may a load or a store change the layout?",
        "Headers: assertions list the pairs: the same layout, and into L1 lines that become boxes. "
        "Assembler: it compares none.",
        "other pairs are refused (--as assembler, --as hardware: legal)",
        "C++ of such text does not compile, but what it means is not in doubt",
    ),
    "D24": Dispute(
        "in which order are the scales of a product of one row?",
        "Assembler: of one row it does not look, of more it asks for zz and nn. Headers of A5: "
        "their types of scale tiles are zz and nn in boxes of 32 bytes; no product looks.",
        "zz and nn (--as assembler: any for one row)",
        "hardware takes scales from the address alone, so another order is other numbers",
    ),
    "D25": Dispute(
        "may a load into a convolution tile reorder its view, and have other extents?",
        "Headers and documentation of A2/A3: the layout of the tile. Of A5: nhwc, nchw and ncdhw, "
        "too, with fewer channels and images than the tile; of weights the blocks of channels are "
        "outside of the depth. Assembler: its public source has no convolution tile.",
        "on a5 as its headers; elsewhere the layouts are alike. What the view lacks of a block of "
        "channels is 0, other blocks and images stay",
        "boards have verified the suite tload_mix, which fills tiles before",
    ),
    "D26": Dispute(
        "does a transfer follow the stride of a view along its lines?",
        "CPU simulator: yes. Code of A2/A3 and A5: no, elements of a line are consecutive; their "
        "suite tgather loads thresholds from a view that says otherwise.",
        "text: yes, with a warning on chips. Kernels in C++: a warning, and the bytes of the board "
        "or simulator",
        "boards have verified the suite; in text the view says what is meant",
    ),
    "D27": Dispute(
        "what is the first extent of a view of scales in boxes?",
        "CPU simulator: it does not look, as if it were 1. Code and suite tload_mx_NZ of A5: parts "
        "that follow one another, of the left operand in rows, of the right one in columns.",
        "parts that follow one another",
        "boards have verified the suite; the simulator would read past the first part",
    ),
    "D28": Dispute(
        "may sums of i32 leave the accumulator of Kirin as i32 with a parameter?",
        "Headers of Kirin 9030: no. Of X90: extracts and inserts compare types alone, and the "
        "mode is NoQuant; suite textract_acc2vec does so with both kinds of parameters.",
        "on X90, and the parameter has no effect",
        "boards have verified the suite",
    ),
}
