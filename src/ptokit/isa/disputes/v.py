"""Disputes about the level below tiles: vector registers and masks of A5."""

from ptokit.isa.disputes.dispute import Dispute

V = {
    "V1": Dispute(
        "in which order does VCADD add the lanes?",
        "Manual of the level: a loop from left to right. Manual of the tiles' hardware: a binary "
        "tree of neighbours. Golden data: np.sum, compared with a tolerance.",
        "a tree of neighbours; a lane that the mask does not select changes nothing",
        "row sums of A5 tiles are such trees, and their suites were verified on boards",
    ),
    "V2": Dispute(
        "what does VCPADD add?",
        "Manual of the level: all lanes up to this one. Golden data: each pair of neighbours, in "
        "the lower half of the result.",
        "pairs",
        "golden data, and the name of the instruction in other manuals of the vendor",
    ),
    "V3": Dispute(
        "which lanes does VDINTLV give?",
        "Manual of the level: the even and the odd lanes of src0, half as many as a register has. "
        "Golden data: what VINTLV has interleaved comes back, so both sources count.",
        "even lanes of both sources in `low`, odd ones in `high`",
        "golden data; two registers have as many lanes as their results",
    ),
    "V4": Dispute(
        "which lanes have the patterns PAT_H and PAT_Q?",
        "Manual of the level: the high half, the upper quarter. Golden data: the first half and "
        "the first quarter.",
        "the first half and the first quarter",
        "golden data",
    ),
    "V5": Dispute(
        "what do VMAX and VMIN make of a NaN?",
        "Manual of the level: `a > b ? a : b`, so b. Golden data: np.minimum, so NaN.",
        "NaN if one of the two is",
        "golden data",
    ),
    "V6": Dispute(
        "how many bytes do PSTS and PSTI write?",
        "Manual of the level: 32 for NORM, 16 for PK. Cases compare the first 16 of NORM and say "
        "that no more is visible.",
        "32 for NORM, 16 for PK",
        "masks of 8-bit elements have 256 bits; cases load the second half again",
    ),
    "V7": Dispute(
        "up to where does `pad` of a transfer into UB fill?",
        "Manual of the level: its formula up to the next burst; its text up to 32 bytes, and two "
        "counts of elements. Golden data: 8 elements up to the next burst.",
        "`left` elements before the burst, and all up to the next one",
        "it agrees with the formula and with golden data",
    ),
    "V8": Dispute(
        "is the difference of VEXPDIF rounded before the exponential?",
        "Manual of the level: one fused instruction. Golden data: np.exp of a rounded difference, "
        "compared with a tolerance.",
        "it is rounded to f32",
        "golden data",
    ),
    "V9": Dispute(
        "what do extremes and leaky slopes of tiles make of a NaN?",
        "Pages of the tiles (E2): a comparison with NaN is false, so the first operand stays; of a "
        "slope the product. C++ of A5 expands the tiles into VMAX, VMIN, VCMAX, VCMIN, VLRELU and "
        "VPRELU, of which golden data give NaN where one operand is NaN (V5).",
        "pages as E2 says, expansions as V5; without NaN both give the same bytes",
        "each follows the recordings and golden data of its own level",
    ),
    "V10": Dispute(
        "what do the length and the steps of MTE_L1_UB count?",
        "Manual of the level: bytes, from the start of one burst to that of the next. Cases "
        "move 40 rows of 256 bytes with a length of 64 and steps of 0.",
        "bytes; of several bursts with steps of 0 the length counts elements, one after another",
        "a step of 0 would write every burst to one place",
    ),
    "V11": Dispute(
        "how far apart are rows of fewer than 32 elements of 8-bit floats in L1?",
        "Manual of the level: 32 bytes, where MTE_GM_L1_FRAC loads them. Cases with scales load 64 "
        "rows of 16 elements one after another, and transpose them on the way to L0B.",
        "where MTE_L1_L0B transposes them, one row follows the other",
        "the cases would read bytes that nothing has written",
    ),
    "V12": Dispute(
        "what does the offset of PLDI and PSTI count?",
        "Older manual of the level: as PLDS and PSTS, which have elements. Newer manual: units of "
        "the distribution, 32 bytes (US and PK: 16), and bytes of PLDS and PSTS.",
        "as the newer manual says",
        "the older one names no unit, and its cases have pointers to bytes",
    ),
    "V13": Dispute(
        "what does a store of a logical vector write where the mask has no lane?",
        "Manual of logical vectors: its formula writes selected lanes alone; its table says that "
        "`pmode = zero`, the default, stores 0. Golden data: the old bytes stay.",
        "nothing, in either mode",
        "golden data, and the store of registers that it becomes",
    ),
    "V14": Dispute(
        "what do the offsets of VGATHERB of logical vectors count, and how much does each load?",
        "Manual of logical vectors: bytes, of which each lane loads one element. Manual of the "
        "level, which it lowers to: bytes, and each of the first lanes loads 32 of them.",
        "blocks of 32 bytes, by the first lanes",
        "one instruction of the hardware carries it out",
    ),
    "V15": Dispute(
        "how does `rounding = H` of a conversion of logical vectors round?",
        "Manual of logical vectors: half up. Golden data: 1.0625 and 1.1875 become 1.0 and 1.125 "
        "in f8E4M3, as by Z, and so do their opposites.",
        "to the nearest, and halves toward zero",
        "golden data of halves, and the name of the mode for all other numbers",
    ),
    "V16": Dispute(
        "may a store of one element a group have narrower elements than the vector?",
        "Manual of logical vectors: pointer and vector have one type. Cases store scales of i32 "
        "as bytes.",
        "yes: the low bits are stored",
        "golden data",
    ),
    "V17": Dispute(
        "in which order do threads run, and what do they see of one another?",
        "Manual of the level: atomics in an order that the target chooses, sums of lanes without "
        "an order, lanes that need not be the numbers of threads, and nothing portable for a "
        "shuffle from outside of its group. Golden data: lanes in the order of numbers, and for "
        "such a shuffle the own value.",
        "one thread after the other, in the order of numbers, up to the next barrier, vote, "
        "shuffle or reduction; the lane is the number modulo 32; sums add lanes in order; a "
        "shuffle from outside gives the own value",
        "results do not change from run to run, and agree with golden data",
    ),
    "V18": Dispute(
        "what do threads learn of grid and cores?",
        "Manual of the level: blocks of a grid, of which a vector function is a single one. Golden "
        "data: extents and block numbers of 0. For the vector core: an id that the target knows.",
        "extents and block numbers are 0; the core is counted over the blocks of the launch",
        "golden data; no public text has the ids of cores",
    ),
    "V19": Dispute(
        "which bytes does PRMT select, and how exact are SIN and COS?",
        "Manual of the level: eight bytes of `lhs:rhs`, and a library of the assembler whose "
        "accuracy falls for large angles. Golden data: bytes 0 to 3 are those of `rhs`, and three "
        "bits select.",
        "as golden data; SIN and COS round the exact value up to angles of 2**28",
        "golden data; the library's polynomials are not documented",
    ),
    "V20": Dispute(
        "which bins does `bin` of a histogram of bytes choose?",
        "Manual of the level: a control operand, without values. Published code of `thistogram` "
        "and of logical histograms: 0 and 1 for the two halves of 256 bins. One text has 16.",
        "0 is bins 0 to 127, 1 is bins 128 to 255, and sums go on from the first half",
        "published code; no text says what other numbers choose",
    ),
    "V21": Dispute(
        "is the product of `vmulscvt` rounded before it is converted?",
        "Manual of the level: in a single step, and in C as the conversion of a product of f32. "
        "The assembler takes no other rounding than A; the manual takes each.",
        "the product is rounded to f32, and then as `rnd` says",
        "C of the manual",
    ),
    "V22": Dispute(
        "what is an integer divided by 0, lane by lane?",
        "Manual of the level: undefined. Published code that replaces the instruction: -1.",
        "0",
        "as `tdiv`, which expands to it",
    ),
    "V23": Dispute(
        "which loop does the first number of SET_LOOP_SIZE count?",
        "Manuals of older versions of the level: loop 1, the inner one. The newest assembler "
        "expands its transfers as if it were loop 2, around it.",
        "the inner one",
        "manuals; the assembler's packing of the word follows from its own order",
    ),
}
