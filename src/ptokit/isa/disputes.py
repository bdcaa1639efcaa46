"""Where public sources disagree: who says what, what ptokit does, and why.

Data: printed by `explain` and in the documentation. The numbers are those of the spec's conflict
tables (part 4: C; matrix and memory: D).
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
        "assembler: not compared. headers: equal.",
        "equal",
        "a smaller view would read neighbouring memory",
    ),
    "D4": Dispute(
        "which parameter does a fix-pipe store use?",
        "CPU simulator: by row for nz tiles. Documentation and hardware: by column.",
        "by column",
        "a channel is a column",
    ),
    "D8": Dispute(
        "is the accumulator input read?",
        "CPU simulator: yes. hardware code: accumulates into the output.",
        "yes",
        "they agree where both are one tile, as kernels write it",
    ),
}
