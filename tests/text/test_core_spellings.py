"""What talks to other cores and ranks, as both generations spell it; windows in generic form."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import OpaqueOp
from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

V, Q, R = "!pto.tensor_view<16x16xf32>", "!pto.pipe", "!pto.partition_tensor_view<128xf32>"
T = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, "
    "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
)
OPEN = T.replace("v_row=16, v_col=16", "v_row=?, v_col=?")
FLAG, S, E = "!pto.partition_tensor_view<1xi32>", "!pto.async_session", "!pto.async_event"
STATEMENTS = (
    '%a = pto.reserve_buffer {name = "f", size = 64, location = #pto.address_space<mat>, '
    "auto = false, base = 32} -> i32",
    '%a = pto.import_reserved_buffer {name = "f", peer_func = @other} -> i32',
    "pto.aic_initialize_pipe {id = 2, dir_mask = 1, slot_size = 1024, slot_num = 2, "
    "local_slot_num = 1} (gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %n : i32, "
    "v2c_consumer_buf = %n : i32)",
    "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = "
    "#pto.acc_push_epilogue<layout = nz2nd, quant = f32f16, relu = no_relu>} "
    f"(gm_slot_tensor = %v : {V})",
    f"pto.tpush_to_aiv(%t : {T}) {{id = 3, split = 1}}",
    f"pto.tpush_to_aic(%t : {T}) {{split = 1}} aiv_subblockid(%l)",
    f"%a = pto.tpop_from_aic {{split = 0}} -> {T}",
    f"%a = pto.tpop_from_aic(%i, %i) {{split = 0}} -> {OPEN}",
    f"%a = pto.tpop_from_aic(%i, %i) {{id = 1, split = 2}} aiv_subblockid(%l) -> {OPEN}",
    '%a = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, '
    "auto = true} -> i32",
    f"%a = pto.tpop_from_aiv {{split = 0}} -> {V}",
    "pto.tfree_from_aic {split = 2}",
    f"pto.tfree_from_aiv(%v : {V}) {{split = 0}}",
    f"%a = pto.talloc_to_aiv {{split = 0}} -> {V}",
    "%a = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 8, slot_num = 2, "
    f"local_slot_num = 1}} (%p : !pto.ptr<f32>, %n : i32, %n : i32) -> {Q}",
    f"pto.tpush(%t, %q : {T}, {Q}) {{split = 0}}",
    f"pto.tpop(%t, %q : {T}, {Q}) {{split = 1}} aiv_subblockid(%l)",
    f"pto.tfree(%q : {Q}) {{split = 2}}",
    f"pto.talloc(%v, %q : {V}, {Q}) {{split = 0}}",
    f"%a = pto.declare_tile -> {T}",
    f"%a = pto.declare_global -> {V}",
    "pto.sync.set <PIPE_FIX>, 16",
    "pto.sync.wait <PIPE_V>, %i",
    "pto.set_intra_block <PIPE_MTE1>, 17",
    "pto.wait_cross_block <PIPE_MTE3>, 0",
    f"pto.syncall(%f, %n : {FLAG}, i32) mode = #pto.sync_all_mode<soft>, "
    "core_type = #pto.sync_core_type<aiv_only>",
    "pto.get_buf[#pto.pipe_event_type<TLOAD>, 5, 1]",
    "pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, %i]",
    f"pto.comm.tput(%r, %r, buf(%t, %t) : {R}, {R}, {T}, {T}) "
    "{atomicType = #pto<atomic_type atomic_add>}",
    f"pto.comm.tnotify(%f, %n : {FLAG}, i32) {{notifyOp = #pto<notify_op set>}}",
    f"%a = pto.comm.ttest(%f, %n : {FLAG}, i32) {{cmp = #pto<wait_cmp ge>}} -> i1",
    f"pto.comm.tbroadcast(%r, recv(%t, %t), group(%r, %r) : {R}, {T}, {T}, {R}, {R}) "
    "{root = 1 : i32}",
    f"pto.comm.treduce(%r, %t, recv(%t), group(%r) : {R}, {T}, {T}, {R}) "
    "{root = 0 : i32, reduceOp = #pto<reduce_op max>}",
    f"%a = pto.comm.build_async_session(%t, %b : {T}, !pto.ptr<i8>) {{sync_id = 1 : i32}} -> {S}",
    f"%a = pto.tput_async(%r, %r, %s : {R}, {R}, {S}) -> {E}",
    f"%a = pto.comm.wait_async_event(%e, %s : {E}, {S}) -> i1",
    f"%a = pto.tprefetch_async(%r, %c : {R}, !pto.prefetch_async_context) -> {E}",
    f"%a = pto.get_prefetch_async_session %c : !pto.prefetch_async_context -> {S}",
    "pto.section.cube {\n  }",
    "pto.section.simt<<<128, 2, 1>>> {\n  }",
)
HEAD = (
    f"func.func @f(%t: {T}, %v: {V}, %q: {Q}, %r: {R}, %f: {FLAG}, %s: {S}, %e: {E}, "
    "%c: !pto.prefetch_async_context, %p: !pto.ptr<f32>, %b: !pto.ptr<i8>, %n: i32, %l: i64, "
    "%i: index) {\n"
)


@every("statement", STATEMENTS)
def test_a_spelling_is_printed_as_it_is_read(statement: str) -> None:
    text = f"{HEAD}  {statement}\n  return\n}}\n"
    module = read(text)
    assert not any(isinstance(op, OpaqueOp) for op in module.funcs[0].body.walk())
    assert print_module(module, "dps") == text
    assert same(read(print_module(module, "dps")), module)


OTHERS = (
    (f"%a = pto.tpop_from_aic(%i, %i) {{split = 0}} -> {OPEN}", STATEMENTS[7]),
    (f"pto.tpush_to_aiv(%t : {T}) {{id = 0 : i32, split = 1 : i8}}", None),
    ('pto.get_buf_dyn "PIPE_MTE2", %i, 0', 'pto.get_buf_dyn "PIPE_MTE2", %i'),
    ("pto.sync.set #pto.pipe<PIPE_FIX>, 16", "pto.sync.set <PIPE_FIX>, 16"),
)


@every(("given", "printed"), OTHERS)
def test_other_spellings_mean_the_same(given: str, printed: str | None) -> None:
    one = read(f"{HEAD}  {given}\n  return\n}}\n")
    printed = printed or f"pto.tpush_to_aiv(%t : {T}) {{split = 1}}"
    assert print_module(one, "dps") == f"{HEAD}  {printed}\n  return\n}}\n"


ASKED = """func.func @before() {
  %b = pto.get_block_idx
  %wide = arith.addi %b, %b : i64
  return
}

func.func @after(%out: !pto.ptr<i32>) {
  %n = pto.get_block_num
  %b = pto.get_block_idx
  %last = arith.subi %n, %b : i32
  %at = arith.index_cast %b : i32 to index
  pto.store_scalar %last, %out[%at] : !pto.ptr<i32>, i32
  return
}
"""


def test_the_first_use_of_a_query_says_whether_it_is_an_i32() -> None:
    """The number of a block has 64 bits, in some texts 32; these say so only where it is used."""
    module = read(ASKED)
    assert [[str(op.results[0].type) for op in f.body.ops[:2]] for f in module.funcs] == [
        ["i64", "i64"],
        ["i32", "i32"],
    ]
    assert same(read(print_module(module)), module)
    for engine in ("reference", "native"):
        given = {"out": np.zeros(4, np.int32)}
        ran = pto.loads(ASKED).execute(given, func="after", engine=engine, blocks=3)
        assert ran.outputs["out"].tolist() == [3, 2, 1, 0]


def test_a_query_has_one_type() -> None:
    with pytest.raises(PtoError, match="%b is i32, used as i64"):
        read(ASKED.replace("%at = arith.index_cast %b : i32", "%at = arith.index_cast %b : i64"))


WHOLE, PART, LESS = (
    f"!pto.tile_buf<vec, {shape}>" for shape in ("32x64xf16", "16x64xf16", "16x64xf16, valid=8x4")
)
TEXT = f"""\
func.func @f(%i: index, %n: index) {{
  %t = pto.alloc_tile : {WHOLE}
  STATEMENT
  return
}}
"""
INDICES = "operandSegmentSizes = array<i32: 1, 2, 0, 0>, "
VALID = "operandSegmentSizes = array<i32: 1, 2, 1, 1>, "


def program(statement: str) -> pto.Program:
    return pto.loads(TEXT.replace("STATEMENT", statement))


@every("sizes", ["[16, 64]", "[16 : i64, 64 : i64]", "array<i64: 16, 64>"])
@every(
    "attributes",
    ["{sizes = SIZES}", f"<{{{INDICES}sizes = SIZES}}>", f"{{sizes = SIZES, {INDICES[:-2]}}}"],
)
@every("name", ["subset", "subview"])
def test_the_extents_of_a_window_are_an_attribute(name: str, attributes: str, sizes: str) -> None:
    given = attributes.replace("SIZES", sizes)
    found = program(f'%w = "pto.{name}"(%t, %i, %n) {given} : ({WHOLE}, index, index) -> {PART}')
    types = WHOLE if name == "subset" else f"{WHOLE} -> {PART}"
    wanted = program(f"%w = pto.{name} %t[%i, %n] sizes [16, 64] : {types}")
    assert found.text("dps") == wanted.text("dps")
    assert pto.loads(found.text("dps")).text("dps") == found.text("dps")


def test_what_is_valid_of_a_window_are_operands() -> None:
    given = f"<{{{VALID}sizes = [16, 64]}}> : ({WHOLE}, index, index, index, index) -> {LESS}"
    found = program(f'%w = "pto.subview"(%t, %i, %i, %n, %n) {given}')
    clause = "sizes [16, 64] valid [%n, %n]"
    wanted = program(f"%w = pto.subview %t[%i, %i] {clause} : {WHOLE} -> {LESS}")
    assert found.text("dps") == wanted.text("dps")


@every("operands", ["%t, %i", "%i, %i, %i", "%t, %i, %t"])
def test_other_operands_are_refused(operands: str) -> None:
    types = ", ".join(WHOLE if name == "%t" else "index" for name in operands.split(", "))
    with pytest.raises(pto.PtoError) as caught:
        program(f'%w = "pto.subview"({operands}) {{sizes = [16, 64]}} : ({types}) -> {PART}')
    assert caught.value.diagnostics[0].slug == "operand-count"
