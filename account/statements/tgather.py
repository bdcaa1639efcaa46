"""The statements of the page of the gather."""

from __future__ import annotations

from account.statements.model import Document

TEXT = """
# pto.tgather
meaning 3: tgather belongs to Irregular And Complex
  -> test_set_and_pipe

# Summary
meaning 7: an index for each element, or a mask known at compile time, selects
  -> test_index_form test_mask_by_row

# Mechanism
meaning 11: a tile instruction whose behaviour no elementwise pattern gives
  -> test_set_and_pipe
meaning 13-15: the index form ranges over dst's valid rows and columns
  -> test_valid_region_is_iterated
meaning 17: dst[i, j] = src0[indices[i, j]]
  -> test_index_form
meaning 19: A2/A3 and A5: an index outside gives an undefined result, unmasked
  -> test_outside_is_undefined_on_hardware C1
meaning 19: CPU simulator: an index outside wraps modulo the source's extent
  -> test_outside_wraps_on_the_simulator C1
meaning 21: a MaskPattern selects elements, in the order it defines
  -> test_mask_by_row test_mask_by_column test_mask_words test_mask_moves_bits
meaning 21: the mask means the same on the CPU simulator, A2/A3 and A5
  -> test_mask_by_row test_mask_by_column

# Syntax
syntax 27-29: %dst = tgather %src0, %indices : !pto.tile<...> -> !pto.tile<...>
  -> test_index_syntax
syntax 31-33: %dst = tgather %src {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile<...> ->
  !pto.tile<...>
  -> test_mask_syntax test_mask_syntax_with_elided_types

# AS Level 1 (SSA)
syntax 37: %dst = pto.tgather %src, %indices : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
  -> test_index_syntax
syntax 38: %dst = pto.tgather %src {maskPattern = #pto.mask_pattern<P0101>}: !pto.tile<...> ->
  !pto.tile<...>
  -> test_mask_syntax test_mask_syntax_with_elided_types

# AS Level 2 (DPS)
syntax 42: pto.tgather ins(%src, %indices : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%dst :
  !pto.tile_buf<...>)
  -> test_index_syntax
syntax 43: pto.tgather ins(%src, {maskPattern = #pto.mask_pattern<P0101>} : !pto.tile_buf<...>)
  outs(%dst : !pto.tile_buf<...>)
  -> test_mask_syntax test_mask_syntax_with_elided_types

# C++ Intrinsic
signature 47-50: TGATHER(dst, src0, src1, tmp, events...)
  -> test_cpp_index test_python_signatures C17
signature 52-53: TGATHER<Dst, Src, maskPattern, gatherType = GATHER_ROW>(dst, src, events...)
  -> test_cpp_mask test_mask_words
signature 55-56: TGATHER<D, S, S1, C, Tmp, cmpMode>(dst, src0, k_value, cdst, tmp, uint32_t offset,
  events...)
  -> test_cpp_compare test_python_signatures

# Inputs
operand 60: src0: the tile to gather from
  -> test_index_form
operand 61: indices: which elements
  -> test_index_form
operand 62: tmp: optional scratch of the index form
  -> test_auto_example compare.test_index_scratch_of_a2a3 C17
operand 63: maskPattern: known at compile time
  -> test_mask_words
operand 64: gatherType: known at compile time, GATHER_ROW by default
  -> test_mask_words test_mask_by_column
operand 65: k_value: a tile with a threshold for each row
  -> compare.test_compare compare.test_thresholds_and_counts_by_row C39
operand 66: cdst: receives the number of matches of each row
  -> compare.test_compare compare.test_thresholds_and_counts_by_row
operand 67: offset: the index of the first element
  -> compare.test_compare
operand 68: dst: its valid region is what is gathered
  -> test_valid_region_is_iterated

# Expected Outputs
meaning 72: dst holds the elements that indices or mask select
  -> test_index_form test_mask_by_row
meaning 72: comparing: dst gets the indices of the matches, cdst how many each row has
  -> compare.test_compare C40

# Side Effects
meaning 76: none but dst
  -> test_no_side_effects
meaning 76: no implicit fence
  -> test_no_side_effects

# Constraints
constraint 84: indices are not checked at run time; on A2/A3 and A5 an index outside is undefined
  -> test_outside_is_undefined_on_hardware C1
constraint 82-84: CPU simulator: an index outside is clamped to the range
  -> test_outside_clamps_if_asked test_outside_wraps_on_the_simulator C1
constraint 85-87: index form, A2/A3: tmp is required
  -> compare.test_index_scratch_of_a2a3 C17
constraint 87: its type is that of src1: int32_t or uint32_t
  -> compare.test_index_scratch_of_a2a3
constraint 87: src1.GetValidRow() == Tmp::Rows and src1.GetValidCol() == Tmp::Cols
  -> compare.test_index_scratch_of_a2a3
constraint 87: used for 16-bit elements, required for 32-bit ones as well
  -> compare.test_index_scratch_for_both_sizes
constraint 88: index form, A5: tmp is accepted and ignored
  -> compare.test_index_scratch_is_ignored_elsewhere
constraint 89: comparing form, A2/A3: tmp is required, for three regions
  -> compare.test_compare_scratch_of_a2a3
constraint 90: a bitmap at 0: Tmp::Rows x Tmp::Cols bytes
  -> compare.test_compare_scratch_of_a2a3
constraint 91: then an index table: S::Rows x S::Cols x sizeof(D::DType) bytes
  -> compare.test_compare_scratch_of_a2a3
constraint 92: then the converted thresholds: S::Rows x sizeof(S::DType) bytes
  -> compare.test_compare_scratch_of_a2a3
constraint 92: tmp is at least as large as the three together
  -> compare.test_compare_scratch_of_a2a3
constraint 93: comparing form, A5: tmp is accepted and ignored
  -> compare.test_compare_scratch_is_ignored_on_a5

# Exceptions
must not 99: illegal operands, types, layouts and modes of a target are refused
  -> test_illegal_operands_are_refused
must not 100: a program must not rely on what one backend happens to accept
  -> test_legal_domain_is_per_target

# Target-Profile Restrictions
constraint 105-107: index form, A2/A3: elements of 2 or 4 bytes
  -> test_index_data_types
constraint 108: index form, A2/A3: indices of 4 bytes, int32_t or uint32_t
  -> test_index_index_types
constraint 109: index form, A2/A3: Dst::DType is Src0::DType
  -> test_index_same_type
constraint 110: index form, A2/A3: Tmp::DType is Src1::DType
  -> compare.test_index_scratch_of_a2a3
constraint 111: index form, A2/A3: src1's valid columns and rows are Tmp::Cols and Tmp::Rows
  -> compare.test_index_scratch_of_a2a3
constraint 112: index form, A2/A3: dst.GetValidCol() == Dst::Cols
  -> test_index_contiguous
constraint 113-115: index form, A5: int16_t, uint16_t, int32_t, uint32_t, half, float
  -> test_index_data_types test_wide_elements C60
constraint 116: index form, A5: indices int16_t, uint16_t, int32_t, uint32_t
  -> test_index_index_types
constraint 117: index form, A5: Dst::DType is Src0::DType
  -> test_index_same_type
constraint 118: index form, A5: src1's and dst's valid columns are their columns
  -> test_index_contiguous
constraint 119-121: mask form, A2/A3: elements of 2 or 4 bytes
  -> test_mask_data_types
constraint 122: mask form, A2/A3: int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float
  -> test_mask_data_types
constraint 123: mask form, A2/A3: dst and src in Vec, row-major
  -> test_mask_places
constraint 124: mask form, A2/A3: equal element sizes; dst.GetValidCol() == Dst::Cols
  -> test_mask_places
constraint 125-127: mask form, A5: elements of 1, 2 or 4 bytes
  -> test_mask_data_types
constraint 128: mask form, A5: dst and src in Vec, row-major
  -> test_mask_places
constraint 129: mask form, A5: the types of A2/A3, int8_t, uint8_t, float8_e4m3_t, float8_e5m2_t,
  hifloat8_t
  -> test_mask_data_types
constraint 130: mask form, A5: a fixed set of types; equal element sizes; dst.GetValidCol() ==
  Dst::Cols
  -> test_mask_data_types test_mask_places
constraint 131-133: comparing form, A2/A3: dst is int32_t or uint32_t
  -> compare.test_result_types
constraint 134: comparing form, A2/A3: src is float, half, or int32_t (EQ only)
  -> compare.test_source_types
constraint 135: comparing form, A2/A3: k_value is int32_t or uint32_t
  -> compare.test_threshold_types
constraint 136: comparing form, A2/A3: GT or EQ
  -> compare.test_comparisons
constraint 137-139: comparing form, A5: dst is int32_t or uint32_t
  -> compare.test_result_types
constraint 140: comparing form, A5: src is int16_t, uint16_t, int32_t, uint32_t, half or float
  -> compare.test_source_types C64
constraint 141: comparing form, A5: k_value is uint16_t or uint32_t
  -> compare.test_threshold_types
constraint 142: comparing form, A5: GT or EQ
  -> compare.test_comparisons

# Examples
example 148-160: automatic: a 16x16 index gather without tmp
  -> test_auto_example printed.test_an_example_has_the_verdict_of_its_page C17
example 164-176: manual: the mask P0101 of 16x16 elements into a 1x16 tile, at 0x1000 and 0x2000
  -> test_manual_example test_manual_example_at_its_addresses
  -> printed.test_an_example_has_the_verdict_of_its_page C17

# Auto Mode
example 180-181: %dst = pto.tgather %src, %indices : (!pto.tile<...>, !pto.tile<...>) ->
  !pto.tile<...>
  -> test_assembly_examples

# Manual Mode
example 185-189: pto.tassign as comments, then %dst = pto.tgather %src, %indices : (!pto.tile<...>,
  !pto.tile<...>) -> !pto.tile<...>
  -> test_assembly_examples

# PTO Assembly Form
example 193-195: %dst = pto.tgather %src, %indices : (!pto.tile<...>, !pto.tile<...>) ->
  !pto.tile<...>, then pto.tgather ins(%src, %indices : !pto.tile_buf<...>, !pto.tile_buf<...>)
  outs(%dst : !pto.tile_buf<...>)
  -> test_assembly_examples
"""

# title, headings, a reference to other pages
OTHER = """
1 5 9 23 25 35 40 45 58 70 74 78 80 95 97 102 104 144 146 162 178 183 191
"""

TGATHER = Document(
    "tgather",
    "pto.tgather",
    "docs/isa/tile/ops/irregular-and-complex/tgather.md",
    {"": "test_tgather_page", "compare": "test_tgather_compare", "printed": "test_cpp_examples"},
    TEXT,
    OTHER,
)
