"""The statements of the page of the view."""

from __future__ import annotations

from account.statements.model import Document

TEXT = """
# pto.subview
meaning 3: subview belongs to the Sync And Config set
  -> test_set

# Summary
meaning 7: dst becomes another reading of part of src
  -> test_view
meaning 7: no data are copied
  -> test_nothing_is_copied

# Mechanism
meaning 11: rowIdx and colIdx count from 0, in src's valid region, to dst's first element
  -> test_offsets_count_in_the_valid_region C18
meaning 13-15: dst[i, j] = src[rowIdx + i, colIdx + j] over dst's valid region
  -> test_view test_boxed_views_start_on_boxes C18
meaning 17: A2/A3 and A5 record metadata only: no data move
  -> test_only_metadata
meaning 17: so does the CPU simulator: an offset
  -> test_only_metadata
meaning 19: no synchronisation edge arises
  -> test_no_synchronisation

# Syntax
syntax 25-27: %dst = pto.subview %src, %row_idx, %col_idx : !pto.tile<...>, i16, i16
  -> test_syntax test_syntax_with_elided_types

# AS Level 1 (SSA)
syntax 31: %dst = pto.subview %src, %row_idx, %col_idx : (!pto.tile<...>, i16, i16) ->
  !pto.tile<...>
  -> test_syntax test_syntax_with_elided_types

# AS Level 2 (DPS)
syntax 35: pto.subview ins(%src, %row_idx, %col_idx : !pto.tile_buf<...>, i16, i16) outs(%dst :
  !pto.tile_buf<...>)
  -> test_syntax

# C++ Intrinsic
signature 39-42: SUBVIEW(dst, src, uint16_t rowIdx, uint16_t colIdx, events...)
  -> test_signature C18

# Inputs
operand 47: src: the tile to look into
  -> test_view
operand 48: rowIdx: first row, from 0, in src's valid region
  -> test_offsets_count_in_the_valid_region C34
operand 49: colIdx: first column, from 0, in src's valid region
  -> test_offsets_count_in_the_valid_region C34
operand 50: dst: the tile that views the part
  -> test_view

# Expected Outputs
meaning 54: the result is in dst
  -> test_view test_nothing_is_copied

# Constraints
constraint 60-62: Src::Loc == Dst::Loc
  -> test_same_location C18
constraint 63: equal declared shapes: Src::Rows == Dst::Rows and Src::Cols == Dst::Cols
  -> test_same_capacity C18
constraint 64: Src::BFractal == Dst::BFractal
  -> test_same_layout C18
constraint 65: src's valid rows and columns are at least dst's
  -> test_source_contains_destination C18

# Cases That Are Not Allowed
must not 71: rowIdx + dst.validRow > src.validRow or colIdx + dst.validCol > src.validCol
  -> test_offsets_count_in_the_valid_region test_source_contains_destination C18
must not 72: tile types or layouts that differ
  -> test_same_location test_same_layout C18

# Examples
example 76-91: a 4x64 tile of f32 is seen as four 2x32 tiles
  -> test_example test_example_as_a_program
  -> printed.test_an_example_has_the_verdict_of_its_page
"""

# title, headings, the head of the table, navigation
OTHER = """
1 5 9 21 23 29 33 37 44 46 52 56 58 67 69 74 93
"""

SUBVIEW = Document(
    "subview",
    "pto.subview",
    "docs/isa/tile/ops/sync-and-config/subview.md",
    {"": "test_subview_page", "printed": "test_cpp_examples"},
    TEXT,
    OTHER,
)
