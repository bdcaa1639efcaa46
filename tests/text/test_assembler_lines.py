"""Statements as the newest assembler reads them: order of operands, and words in full or short.

Each was derived by hand from the grammar of one operation of the assembler. Whatever ptokit reads,
it prints so for that assembler.
"""

from __future__ import annotations

import pytest

from every import every
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.lang.asm import DIALECTS

HEAD = """\
!V = !pto.tile_buf<vec, 16x16xf32>
!I = !pto.tile_buf<vec, 16x16xi32>
!B = !pto.tile_buf<vec, 16x32xi8>
!C = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!K = !pto.tile_buf<vec, 16x32xui8>
!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!M = !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
!F = !pto.tile_buf<scaling, 1x16xui64>
!G = !pto.partition_tensor_view<16x16xf32>
func.func @f(%v: !V, %w: !V, %z: !V, %u: !V, %x: !I, %t: !I, %cd: !I, %b: !B, %s: !C, %o: !C, \
%m: !K, %acc: !A, %mat: !M, %fp: !F, %view: !G, %i: i32, %k: f32, %q: i64, %c: index, \
%g: !pto.ptr<f32>, %bytes: !pto.ptr<i8>) {
"""
LINES = """\
pto.tmov ins(%acc : !A, %fp : !F) outs(%mat : !M)
pto.tmov ins(%acc : !A, %q : i64) outs(%mat : !M)
pto.textract ins(%acc, %c, %c : !A, index, index fp %fp : !F) outs(%mat : !M)
pto.textract ins(%acc, %c, %c, %q : !A, index, index, i64) outs(%mat : !M)
pto.tinsert ins(%acc, %c, %c : !A, index, index fp %fp : !F) outs(%mat : !M)
pto.tinsert ins(%acc, %c, %c : !A, index, index pre_quant %q : i64) outs(%mat : !M)
pto.tstore ins(%acc : !A fp %fp : !F) outs(%view : !G)
pto.tstore ins(%acc : !A, %q : i64) outs(%view : !G)
pto.tci ins(%i : i32) outs(%x : !I) {descending = true}
pto.tci ins(%i, %t : i32, !I) outs(%x : !I) {descending = true}
pto.ttri ins(%i {upperOrLower = 1 : i32} : i32) outs(%x : !I)
pto.tcolsum ins(%v, %w {isBinary = true} : !V, !V) outs(%u : !V)
pto.tcolsum ins(%v, %w {isBinary = false} : !V, !V) outs(%u : !V)
pto.tcolsum ins(%v : !V) outs(%u : !V)
pto.tquant ins(%v, %s : !V, !C) outs(%b, %w : !B, !V) {quant_type = #pto<quant_type INT8_SYM>}
pto.tquant ins(%v, %s : !V, !C) outs(%b : !B) {quant_type = #pto<quant_type INT8_SYM>}
pto.tquant ins(%v, %s, %o : !V, !C, !C) outs(%b, %w : !B, !V) {quant_type = #pto<quant_type \
INT8_ASYM>}
pto.tquant ins(%v, %s, %o : !V, !C, !C) outs(%b : !B) {quant_type = #pto<quant_type INT8_ASYM>}
pto.tgather ins(%v, %k, %w : !V, f32, !V) outs(%x, %cd : !I, !I) {cmpMode = #pto<cmp gt>, offset \
= 7 : i32}
pto.tgather ins(%v, %k : !V, f32) outs(%x, %cd : !I, !I) {cmpMode = #pto<cmp gt>}
pto.tgather ins(%v, %x, %t : !V, !I, !I) outs(%u : !V)
pto.tgather ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : !V, "row") outs(%u : !V)
pto.tscatter ins(%v, {maskPattern = #pto.mask_pattern<P0101>} : !V, "row") outs(%u : !V)
pto.tscatter ins(%v, %x : !V, !I) outs(%u : !V)
pto.tmrgsort ins(%v, %i : !V, i32) outs(%u : !V)
pto.tsort32 ins(%v, %x : !V, !I) outs(%u : !V)
pto.tsort32 ins(%v, %x, %w : !V, !I, !V) outs(%u : !V)
pto.tsels ins(%m, %v, %w, %k : !K, !V, !V, f32) outs(%u : !V)
pto.tsel ins(%m, %v, %w, %z : !K, !V, !V, !V) outs(%u : !V)
pto.tcvt ins(%v, %w {rmode = #pto<round_mode FLOOR>} : !V, !V) outs(%x : !I)
pto.tdivs ins(%k, %v : f32, !V) outs(%u : !V)
pto.tdivs ins(%v, %k : !V, f32) outs(%u : !V)
pto.tpow ins(%v, %w, %z : !V, !V, !V) outs(%u : !V)
pto.tpows ins(%v, %k, %z : !V, f32, !V) outs(%u : !V)
pto.trsqrt ins(%v, %w : !V, !V) outs(%u : !V)
pto.txor ins(%x, %x, %t : !I, !I, !I) outs(%t : !I)
pto.txors ins(%x, %i, %t : !I, i32, !I) outs(%t : !I)
pto.trem ins(%v, %w, %z : !V, !V, !V) outs(%u : !V)
pto.trems ins(%v, %k, %z : !V, f32, !V) outs(%u : !V)
pto.tprelu ins(%v, %w, %z : !V, !V, !V) outs(%u : !V)
pto.ttrans ins(%v, %w : !V, !V) outs(%u : !V)
pto.trowargmax ins(%v, %w : !V, !V) outs(%x : !I)
pto.trowexpanddiv ins(%v, %s, %w : !V, !C, !V) outs(%u : !V)
pto.tconcatidx ins(%v, %w, %x, %x : !V, !V, !I, !I) outs(%u : !V)
pto.tpartargmax ins(%v, %w, %x, %x : !V, !V, !I, !I) outs(%u, %t : !V, !I)
pto.tget_scale_addr ins(%v : !V) outs(%u : !V)
pto.tcmp ins(%v, %w {cmpMode = #pto<cmp lt>} : !V, !V) outs(%m : !K)
pto.tcmps ins(%v, %k {cmpMode = #pto<cmp lt>} : !V, f32) outs(%m : !K)
pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %c]
pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID2>]
pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID2>]
pto.barrier_sync[<TVEC>]
pto.get_buf "PIPE_V", 4
pto.rls_buf "PIPE_V", 4
pto.get_buf[#pto.pipe_event_type<TVEC>, 5]
pto.rls_buf[#pto.pipe_event_type<TVEC>, 5]
pto.get_buf_dyn "PIPE_V", %c
pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, %c]
pto.barrier <PIPE_ALL>
pto.fence.barrier_all <all>
pto.sync.set <PIPE_FIX>, 3
pto.sync.set <PIPE_FIX>, %c {ffts_mode = 2 : i32}
pto.set_intra_block <PIPE_FIX>, 3
pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
%p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8} (%i : i32, %i : i32) \
-> !pto.pipe
%p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8, \
flag_base = 0, nosplit = true} (%g : !pto.ptr<f32>, %i : i32) -> !pto.pipe
pto.tprint ins(%v : !V)
pto.mscatter ins(%v, %x : !V, !I) outs(%view : !G) {coalesce = #pto<coalesce row>}
pto.tload ins(%view : !G) outs(%v : !V) pad_mode = #pto.padmode<PadNull> init_out_buffer = true
pto.taxpy ins(%v, %k : !V, f32) outs(%u : !V)
pto.set_quant_scalar(%k : f32) {id = 0}
pto.set_quant_vector(%fp : !F) {id = 1}
pto.tquant.mx ins(%v : !V) outs(%b, %b, %v, %v : !B, !B, !V, !V) {quant_type = #pto<quant_type \
MXFP8>}
"""
# what means the same in older text, or was printed before -> as the newest assembler has it
BECOMES = {
    "pto.tmov.fp ins(%acc, %fp : !A, !F) outs(%mat : !M)": "pto.tmov ins(%acc : !A, %fp : !F)",
    "pto.tmov ins(%acc : !A fp %fp : !F) outs(%mat : !M)": "pto.tmov ins(%acc : !A, %fp : !F)",
    "pto.tmov ins(%acc : !A pre_quant %q : i64) outs(%mat : !M)": (
        "pto.tmov ins(%acc : !A, %q : i64)"
    ),
    "pto.tstore ins(%acc : !A pre_quant %q : i64) outs(%view : !G)": (
        "pto.tstore ins(%acc : !A, %q : i64)"
    ),
    "pto.textract ins(%acc, %c, %c : !A, index, index pre_quant %q : i64) outs(%mat : !M)": (
        "pto.textract ins(%acc, %c, %c, %q : !A, index, index, i64)"
    ),
    "pto.tci ins(%i {descending = true} : i32) outs(%x : !I)": (
        "pto.tci ins(%i : i32) outs(%x : !I) {descending = true}"
    ),
    "pto.get_buf[#pto.pipe<PIPE_V>, 4]": 'pto.get_buf "PIPE_V", 4',
    "pto.get_buf[<TVEC>, 4, 1]": "pto.get_buf[#pto.pipe_event_type<TVEC>, 4, 1]",
    "pto.tquant ins(%v, %s : !V, !C) outs(%b : !B)": (
        "pto.tquant ins(%v, %s : !V, !C) outs(%b : !B) {quant_type = #pto<quant_type INT8_SYM>}"
    ),
}


def printed(line: str, dialect: str) -> str:
    text = loads(f"{HEAD}  {line}\n  return\n}}\n").text("dps", dialect=dialect)
    return text.partition(") {\n")[2].splitlines()[0].strip()


@every("line", LINES.splitlines())
def test_a_statement_of_the_assembler_stays(line: str) -> None:
    assert printed(line, DIALECTS[-1]) == line


@every("line", BECOMES)
def test_older_text_becomes_what_the_assembler_reads(line: str) -> None:
    assert printed(line, DIALECTS[-1]).startswith(BECOMES[line])


def test_scratch_of_a_quantisation_is_no_offset() -> None:
    """The assembler takes a third input of a symmetric quantisation for an offset."""
    line = "pto.tquant ins(%v, %s, %w : !V, !C, !V) outs(%b : !B) {quant_type = "
    with pytest.raises(PtoError, match=r"expected ins\(src, scale\) outs\(dst \[, tmp\]\)"):
        printed(f"{line}#pto<quant_type INT8_SYM>}}", DIALECTS[-1])
