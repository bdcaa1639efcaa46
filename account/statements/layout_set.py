"""The statements of the page of the layout and rearrangement set."""

from __future__ import annotations

from account.statements.model import Document

TEXT = """
# Layout And Rearrangement Instruction Set
meaning 2: the set reorganises the data of tiles
  -> test_operations test_plain_forms_move_bits test_transpose test_reshape
meaning 2: they only move data and never change a value
  -> test_plain_forms_move_bits test_values_change_only_on_request C12

# Operations
table row 6: TMOV(dst, src): copy a tile
  -> test_plain_forms_move_bits test_signatures
table row 7: TMOV_FP(dst, src, fp): copy with fill/pad
  -> test_fp_is_the_fix_pipe test_signatures C2
table row 8: TRESHAPE(dst, src, newShape): change the shape
  -> test_reshape test_offsets_are_two_indices C5
table row 9: TTRANS(dst, src): transpose
  -> test_transpose test_signatures C5
table row 10: TCONCAT(dst, lhs, rhs): join along a dimension
  -> test_concat test_signatures C5
table row 11: TPACK(dst, src): a more compact representation
  -> test_pack test_signatures C27
table row 12: TEXTRACT(dst, src, offset): read a part
  -> extract.test_window_is_the_valid_region test_offsets_are_two_indices C5
table row 13: TEXTRACT_FP(dst, src, offset, fp): read a part with fill/pad
  -> test_fp_is_the_fix_pipe cpp.test_cpp_fix_pipe C2
table row 14: TINSERT(dst, src, offset): write a part
  -> extract.test_insert_is_the_counterpart test_signatures C5
table row 15: TINSERT_FP(dst, src, offset, fp): write a part with fill/pad
  -> test_fp_is_the_fix_pipe C2
table row 16: TFILLPAD(dst, fp): fill the padding
  -> test_fill test_fill_value_is_in_the_type C15
table row 17: TFILLPAD_INPLACE(dst, fp): fill the padding in place
  -> test_fill_in_place test_fill_value_is_in_the_type C15
table row 18: TFILLPAD_EXPAND(dst, fp): fill the padding and expand
  -> test_fill_and_expand test_fill_value_is_in_the_type C15
table row 19: TIMG2COL(dst, src, cfg): unroll an image
  -> test_img2col test_img2col_configuration C5

# Copy (TMOV, TMOV_FP)
meaning 22: all elements are copied from src to dst
  -> test_plain_forms_move_bits
meaning 22: the FP variant also fills the padding with a value
  -> test_fp_is_the_fix_pipe C2

# Transform (TRESHAPE, TTRANS, TIMG2COL)
meaning 24: another declared shape or layout for the same logical elements
  -> test_reshape test_transpose test_plain_forms_move_bits
meaning 25: TTRANS: dst[i, j] = src[j, i]
  -> test_transpose
meaning 25: TRESHAPE: the flat sequence of elements gets a new (Rows, Cols)
  -> test_reshape
meaning 25: TCONCAT: tiles are joined along the documented dimension
  -> test_concat C5
meaning 25: TPACK: elements go to dst's layout or compact representation
  -> test_pack C27
meaning 25: TIMG2COL: patches of an image become columns
  -> test_img2col

# Extract/Insert (TEXTRACT, TINSERT, TEXTRACT_FP, TINSERT_FP)
meaning 27: a part is read from, or written to, (row_offset, col_offset)
  -> extract.test_window_is_the_valid_region extract.test_insert_is_the_counterpart
meaning 27: the FP variants fill the padding with a value
  -> test_fp_is_the_fix_pipe C2
meaning 28: dst = src[row_offset : row_offset + dst.Rv, col_offset : col_offset + dst.Cv]
  -> extract.test_window_is_the_valid_region C8
meaning 29: dst[row_offset : row_offset + src.Rv, col_offset : col_offset + src.Cv] = src
  -> extract.test_insert_is_the_counterpart

# Fill (TFILLPAD, TFILLPAD_INPLACE, TFILLPAD_EXPAND)
meaning 31: what is declared and not valid is filled with a given value
  -> test_fill test_fill_value_is_in_the_type C15
meaning 31: INPLACE changes the source itself
  -> test_fill_in_place
meaning 31: EXPAND also enlarges the valid region
  -> test_fill_and_expand C15

# Type Support by Target Profile
table row 35: f32: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 36: f16: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 37: bf16: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 38: i8, u8: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 39: i16, u16: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 40: i32, u32: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 41: i64, u64: on the CPU simulator, A2/A3 and A5
  -> types.test_types types.test_types_by_instruction C16
table row 42: f8e4m3, f8e5m2: on A5 only
  -> types.test_types types.test_types_by_instruction types.test_fp8_is_not_of_a2a3 C16

# Constraints
constraint 45: TRESHAPE: src.Rv x src.Cv == dst.Rv x dst.Cv
  -> test_reshape_keeps_the_bytes C13
constraint 45: TTRANS: a square, or a transposed declared shape
  -> test_transpose C14
constraint 45: TEXTRACT: the part divides the source's declared shape evenly
  -> patterns.test_windows_may_overlap_and_need_not_divide C3
constraint 45: TINSERT: the part fits in dst's declared shape
  -> test_insert_must_fit C7
constraint 45-46: *_fp: fp is a fill value of a fitting element type
  -> test_fp_is_the_fix_pipe C2
constraint 46: TIMG2COL: kernel, padding and stride are configured; the rest depends on the target
  -> test_img2col_configuration test_left_layout_of_img2col C5

# Cases That Are Not Allowed
must not 49-50: TRESHAPE to another total of elements
  -> test_reshape_keeps_the_bytes C13
must not 50-51: TEXTRACT from beyond the declared shape of src
  -> extract.test_runtime_bounds extract.test_valid_region_bounds_everywhere C7
must not 51-52: TINSERT beyond dst's declared shape
  -> test_insert_must_fit C7
must not 52-53: TIMG2COL of FP8 types on the CPU simulator or A2/A3
  -> test_img2col_takes_no_fp8

# C++ Intrinsic
signature 55-56: the header and namespace
  -> test_signatures
signature 57-59: TMOV(dst, src)
  -> test_signatures
signature 60-62: TMOV_FP(dst, src, FillT fp)
  -> test_signatures test_fp_is_the_fix_pipe C2
signature 63-65: TRESHAPE(dst, src, ShapeRef newShape)
  -> test_signatures test_offsets_are_two_indices C5
signature 66-68: TTRANS(dst, src)
  -> test_signatures C5
signature 69-71: TEXTRACT(dst, src, int rowOffset, int colOffset)
  -> test_signatures test_offsets_are_two_indices C34
signature 72-73: TINSERT(dst, src, int rowOffset, int colOffset)
  -> test_signatures C34
signature 74-76: TFILLPAD(dst, FillT fp)
  -> test_signatures test_fill_value_is_in_the_type C15
signature 77-79: TIMG2COL(dst, src, Cfg cfg)
  -> test_signatures test_img2col_configuration C5
"""

# title, headings, heads of tables, navigation
OTHER = """
1 3 4 5 20 21 23 26 30 32 33 34 43 44 47 48 54 80 81 82
"""

LAYOUT_SET = Document(
    "layout",
    "Layout And Rearrangement Instruction Set",
    "docs/isa/tile/layout-and-rearrangement.md",
    {
        "": "test_layout_page",
        "cpp": "test_textract_cpp",
        "extract": "test_textract_page",
        "patterns": "test_textract_patterns",
        "types": "test_layout_types",
    },
    TEXT,
    OTHER,
)
