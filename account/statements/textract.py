"""The statements of the English page of the extract."""

from __future__ import annotations

from account.statements.model import Document

TEXT = """
# pto.textract
meaning 3: textract belongs to Layout And Rearrangement
  -> test_set

# Summary
meaning 7: a smaller tile is read out of a larger one, from (indexRow, indexCol) on
  -> test_window
meaning 7: the counterpart of TINSERT, which writes a part
  -> test_insert_is_the_counterpart
table row 12: standard: a window, optional ReLU; Mat to Left/Right/Scale, Acc to Mat
  -> test_window test_relu test_pairs C9
table row 13: _fp: through the fix-pipe; Acc to Mat, a scale for each channel
  -> test_fix_pipe_pairs test_fix_pipe_scales_by_source_column

# Mechanism
meaning 17: the window has size (DstRows, DstCols), the declared shape
  -> test_window_is_the_valid_region C8
meaning 17-19: dst[i, j] = src[indexRow + i, indexCol + j]
  -> test_window
meaning 21: TEXTRACT_FP goes through the quantisation of the fix-pipe
  -> test_fix_pipe_scales_by_source_column
meaning 21: indexCol is also the index into fp: FPC is offset by it
  -> test_fix_pipe_scales_by_source_column test_parameters_come_in_granules C23
meaning 23: dst[i, j] = Convert(src[indexRow + i, indexCol + j]; fp)
  -> test_fix_pipe_scales_by_source_column

# Variants
signature 29: TEXTRACT(dst, src, indexRow, indexCol): plain
  -> test_window cpp.test_cpp_plain
signature 33: TEXTRACT<..., reluMode>(dst, src, indexRow, indexCol): ReLU before
  -> test_relu cpp.test_cpp_relu
signature 37: TEXTRACT<..., reluMode>(dst, src, preQuantScalar, indexRow, indexCol): one
  quantisation parameter
  -> test_scalar_quant cpp.test_cpp_scalar
signature 41: TEXTRACT_FP(dst, src, fp, indexRow, indexCol): fix-pipe
  -> test_fix_pipe_scales_by_source_column cpp.test_cpp_fix_pipe
meaning 41: the suffix _fp stands for fix pipe, not for floating point
  -> test_suffix_means_fix_pipe C2

# Supported Tile-Type Pairs
table row 48: A2/A3: Mat to Left, Right or Scale, for MX block formats
  -> test_pairs C9
table row 49: A2/A3: Acc to Mat
  -> test_pairs test_accumulator_narrows
constraint 51: A2/A3: the source is (SFractal ColMajor, isRowMajor) or (RowMajor, !isRowMajor)
  -> test_matrix_layouts
table row 56: A5: Mat to Left, Right, ScaleLeft or ScaleRight
  -> test_pairs test_other_pairs_are_refused
table row 57: A5: Acc to Mat
  -> test_pairs test_accumulator_narrows
constraint 59: A5, Left and Right: (SFractal ColMajor, isRowMajor) or (RowMajor, !isRowMajor)
  -> test_matrix_layouts
constraint 59: A5, ScaleLeft: (SFractal RowMajor, isRowMajor)
  -> test_scale_layouts
constraint 59: A5, ScaleRight: (SFractal ColMajor, !isRowMajor)
  -> test_scale_layouts

# Supported Element Types
constraint 63: int8_t, hifloat8_t, float8_e5m2_t, float8_e4m3_t, half, bfloat16_t, float,
  float4_e2m1x2_t, float4_e1m2x2_t, float8_e8m0_t, on every target
  -> test_element_types C10

# PTO Assembly Form
syntax 69-71: %dst = textract %src[%r0, %r1] : !pto.tile<...> -> !pto.tile<...>
  -> test_syntax
syntax 73-75: %dst = textract.fp %src, %fp[%r0, %r1] : !pto.tile<...>, !pto.tile<...> ->
  !pto.tile<...>
  -> test_syntax test_fix_pipe_text_names_its_parameters C4

# AS Level 1 (SSA)
syntax 79-80: %dst = pto.textract %src, %idxrow, %idxcol : (!pto.tile<...>, dtype, dtype) ->
  !pto.tile<...>
  -> test_syntax test_index_types C34
syntax 82-83: %dst = pto.textract_fp %src, %fp, %idxrow, %idxcol : (!pto.tile<...>, !pto.tile<...>,
  dtype, dtype) -> !pto.tile<...>
  -> test_syntax test_fix_pipe_text_names_its_parameters C4

# AS Level 2 (DPS)
syntax 87-88: pto.textract ins(%src, %idxrow, %idxcol : !pto.tile_buf<...>, dtype, dtype) outs(%dst
  : !pto.tile_buf<...>)
  -> test_syntax
syntax 90-91: pto.textract_fp ins(%src, %fp, %idxrow, %idxcol : !pto.tile_buf<...>,
  !pto.tile_buf<...>, dtype, dtype) outs(%dst : !pto.tile_buf<...>)
  -> test_syntax

# C++ Intrinsic
signature 95-96: the header and namespace
  -> cpp.test_cpp_header
signature 98-101: TEXTRACT(dst, src, uint16_t indexRow = 0, uint16_t indexCol = 0, events...)
  -> cpp.test_cpp_plain test_index_range cpp.test_cpp_events C44
signature 103-107: TEXTRACT<Dst, Src, ReluPreMode reluMode>(dst, src, uint16_t indexRow, uint16_t
  indexCol, events...)
  -> cpp.test_cpp_relu
signature 109-113: TEXTRACT<Dst, Src, reluMode = NoRelu>(dst, src, uint64_t preQuantScalar,
  uint16_t indexRow, uint16_t indexCol, events...)
  -> cpp.test_cpp_scalar
signature 115-119: TEXTRACT_FP<Dst, Src, Fp, reluMode = NoRelu>(dst, src, fp, uint16_t indexRow,
  uint16_t indexCol, events...)
  -> cpp.test_cpp_fix_pipe

# Inputs
operand 123: src: the tile to read from
  -> test_window
operand 124: indexRow: the window's first row in src
  -> test_window
operand 125: indexCol: the window's first column; with fp also its index
  -> test_window test_fix_pipe_scales_by_source_column
operand 126: dst: receives the window
  -> test_window
operand 127: fp: the parameters of the fix-pipe, in TileType::Scaling
  -> test_parameters_are_in_scaling_memory
operand 128: reluMode: NoRelu or NormalRelu
  -> test_relu cpp.test_cpp_relu
operand 129: preQuantScalar: the one scale factor
  -> test_scalar_quant

# Constraints
constraint 135: indexRow + Dst::Rows <= Src::Rows and indexCol + Dst::Cols <= Src::Cols
  -> test_runtime_bounds test_declared_shape_counts_on_hardware test_valid_region_bounds_everywhere
  -> test_fix_pipe_bounds test_declared_shape_of_a_fix_pipe_window C7
constraint 136: Dst::DType equals Src::DType
  -> test_same_type test_accumulator_narrows C6
constraint 137: Fp::Loc is Scaling, on A2/A3 and A5
  -> test_parameters_are_in_scaling_memory
constraint 138: FPC is offset by indexCol, in units of fp's elements
  -> test_fix_pipe_scales_by_source_column test_parameters_come_in_granules C42

# Common Patterns
example 144-153: the left 64x64 block of a 64x256 Mat tile of f32
  -> patterns.test_pattern_1_left_block patterns.test_pattern_1_at_its_address
  -> printed.test_an_example_has_the_verdict_of_its_page
example 157-169: a 32x32 window slides over an unboxed 32x128 Mat tile of half
  -> patterns.test_pattern_2_as_printed_is_refused patterns.test_pattern_2_with_a_boxed_source
  -> patterns.test_pattern_2_at_its_address
  -> printed.test_an_example_has_the_verdict_of_its_page C11
meaning 157: windows may overlap
  -> patterns.test_windows_may_overlap_and_need_not_divide
  -> patterns.test_any_offset_on_the_simulator C3
example 173-187: columns 16 to 31 of a 32x64 accumulator to a 16x16 Mat tile of int8
  -> patterns.test_pattern_3_as_printed_is_refused patterns.test_a_static_tile_takes_no_extents
  -> patterns.test_pattern_3_with_whole_boxes patterns.test_pattern_3_at_its_addresses
  -> printed.test_an_example_has_the_verdict_of_its_page C11
"""

# title, headings, sentences that announce a list, heads of tables, navigation
OTHER = """
1 5 9 11 15 25 27 31 35 39 43 45 47 53 55 61 65 67 77 85 93 121 131 133 140 142 155 171
189
"""

TEXTRACT = Document(
    "textract",
    "pto.textract",
    "docs/isa/tile/ops/layout-and-rearrangement/textract.md",
    {
        "": "test_textract_page",
        "cpp": "test_textract_cpp",
        "patterns": "test_textract_patterns",
        "printed": "test_cpp_examples",
    },
    TEXT,
    OTHER,
)
