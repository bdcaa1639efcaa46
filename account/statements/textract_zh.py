"""The statements of the Chinese page of the extract."""

from __future__ import annotations

from account.statements.model import Document

TEXT = """
# 简介
meaning 9: a smaller tile is read out of a larger one
  -> test_valid_region_is_the_window

# 数学语义
meaning 13: a window of src, from (indexRow, indexCol) on, is copied to dst
  -> test_valid_region_is_the_window
meaning 13: where elements are stored follows from the tiles' layouts
  -> test_mapping_follows_the_layouts
meaning 15: the window has size R = dst.GetValidRow(), C = dst.GetValidCol()
  -> test_valid_region_is_the_window en.test_window_is_the_valid_region C8
meaning 15-17: dst[i, j] = src[indexRow + i, indexCol + j]
  -> test_valid_region_is_the_window en.test_window

# 汇编语法
syntax 21-25: %dst = textract %src[%r0, %r1] : !pto.tile<...> -> !pto.tile<...>
  -> en.test_syntax

# AS Level 1
syntax 29: %dst = pto.textract %src, %idxrow, %idxcol : (!pto.tile<...>, dtype, dtype) ->
  !pto.tile<...>
  -> en.test_syntax en.test_index_types C34

# AS Level 2
syntax 33: pto.textract ins(%src, %idxrow, %idxcol : !pto.tile_buf<...>, dtype, dtype) outs(%dst :
  !pto.tile_buf<...>)
  -> en.test_syntax

# C++ 内建接口
signature 37-40: TEXTRACT(dst, src, uint16_t indexRow = 0, uint16_t indexCol = 0, events...)
  -> cpp.test_cpp_plain cpp.test_cpp_events C44
signature 42-43: TEXTRACT<Dst, Src, reluMode>(dst, src, indexRow, indexCol, events...)
  -> cpp.test_cpp_relu
signature 45-47: TEXTRACT<Dst, Src, reluMode = NoRelu>(dst, src, uint64_t preQuantScalar, indexRow,
  indexCol, events...)
  -> cpp.test_cpp_scalar
signature 49-51: TEXTRACT_FP<Dst, Src, Fp, reluMode = NoRelu>(dst, src, fp, indexRow, indexCol,
  events...)
  -> cpp.test_cpp_fix_pipe

# 通用约束或检查
constraint 57: Dst::DType equals Src::DType
  -> en.test_same_type en.test_accumulator_narrows C6
constraint 58-59: indexRow + Dst::Rows <= Src::Rows
  -> en.test_runtime_bounds en.test_declared_shape_counts_on_hardware C7
constraint 60: indexCol + Dst::Cols <= Src::Cols
  -> en.test_runtime_bounds en.test_declared_shape_counts_on_hardware C7

# A2A3 实现检查
constraint 64: A2/A3: int8_t, half, bfloat16_t, float
  -> en.test_element_types C10
constraint 65-66: the source may be (SFractal ColMajor, isRowMajor)
  -> en.test_matrix_layouts
constraint 67: or (SFractal RowMajor, !isRowMajor)
  -> en.test_matrix_layouts
constraint 68: to Left also (Src::Rows == 1, isRowMajor), for GEMV
  -> test_one_row_may_be_unboxed
constraint 69: dst is Left or Right, in a layout the target has for it
  -> test_destinations_of_a2a3 C9

# A5 实现检查
constraint 73: A5: int8_t, hifloat8_t, float8_e5m2_t, float8_e4m3_t, half, bfloat16_t, float,
  float4_e2m1x2_t, float4_e1m2x2_t, float8_e8m0_t
  -> en.test_element_types C10
constraint 74-75: Left and Right: (SFractal ColMajor, isRowMajor) or (RowMajor, !isRowMajor)
  -> en.test_matrix_layouts
constraint 76: ScaleLeft: (SFractal RowMajor, isRowMajor)
  -> en.test_scale_layouts
constraint 77: ScaleRight: (SFractal ColMajor, !isRowMajor)
  -> en.test_scale_layouts
constraint 78: to Left also (Src::Rows == 1, isRowMajor), for GEMV
  -> test_one_row_may_be_unboxed
constraint 79: Mat to Left, Right and Scale
  -> en.test_pairs en.test_scale_layouts
constraint 79: Acc to Mat: plain, relu, one parameter, one for each column
  -> en.test_accumulator_narrows en.test_relu en.test_scalar_quant
  -> en.test_fix_pipe_scales_by_source_column
constraint 79: certain paths from Vec to Mat
  -> test_vector_to_matrix_on_a5
constraint 80: a parameter for each column is the operand fp of TEXTRACT_FP
  -> en.test_suffix_means_fix_pipe en.test_parameters_are_in_scaling_memory

# 示例
example 86-96: automatic: a 16x16 Mat tile of float to Left
  -> test_auto_example printed.test_an_example_has_the_verdict_of_its_page
example 100-112: manual: the same with src at 0x1000 and dst at 0x2000
  -> test_manual_example test_manual_example_is_legal
  -> printed.test_an_example_has_the_verdict_of_its_page

# 汇编示例
example 118-119: %dst = pto.textract %src, %idxrow, %idxcol : (!pto.tile<...>, dtype, dtype) ->
  !pto.tile<...>
  -> test_auto_assembly
example 123-127: pto.tassign as comments, then %dst = pto.textract %src, %idxrow, %idxcol :
  (!pto.tile<...>, dtype, dtype) -> !pto.tile<...>
  -> test_manual_assembly
example 131-133: %dst = textract %src[%r0, %r1] : !pto.tile<...> -> !pto.tile<...>, then
  pto.textract ins(%src, %idxrow, %idxcol : !pto.tile_buf<...>, dtype, dtype) outs(%dst :
  !pto.tile_buf<...>)
  -> test_assembly_form
"""

# title, a picture, headings
OTHER = """
1 3 5 7 11 19 27 31 35 53 55 62 71 82 84 98 114 116 121 129
"""

TEXTRACT_ZH = Document(
    "textract_zh",
    "TEXTRACT (Chinese)",
    "docs/isa/TEXTRACT_zh.md",
    {
        "": "test_textract_zh_page",
        "cpp": "test_textract_cpp",
        "en": "test_textract_page",
        "printed": "test_cpp_examples",
    },
    TEXT,
    OTHER,
)
