"""Where statements end, what conversions keep, and ops that are all words."""

from __future__ import annotations

import numpy as np
import pytest
from readback import refused

import ptokit as pto
from every import every
from ptokit.forms.dps import to_dps
from ptokit.ir.module import Op, OpaqueOp
from ptokit.ir.same import same
from ptokit.isa.index import lookup, pages
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.passes.ssa import to_ssa
from ptokit.text.read.reader import read
from ptokit.text.read.signature import keywords
from ptokit.text.write.cppmodule import print_cpp
from ptokit.text.write.printer import print_module
from ptokit.tools.manual.topics import target_page
from ptokit.values.enumerations import LEFT

V = "!pto.tile_buf<vec, 16x32xf32>"
FLAG = "[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"


@every(
    "statement",
    [
        f"pto.set_flag{FLAG}",
        f"pto.wait_flag{FLAG}",
        "pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %n]",
        "pto.record_event[#pto.op<TLOAD>, #pto.op<TVEC>, <EVENT_ID0>]",
        "pto.barrier_sync[<TVEC>]",
        "foo.bar[1, 2]",
    ],
)
@every(
    "before",
    [
        f"pto.trelu ins(%s : {V}) outs(%d : {V})",
        "pto.trelu %d, %s",
        "pto.tsync",
        f"%w = pto.subset %s[%n, %n] sizes [%n, %n] : {V}",
    ],
)
def test_a_bracket_on_the_next_line_is_its_own(before: str, statement: str) -> None:
    module = read(
        f"func.func @f(%s: {V}, %d: {V}, %n: index) {{\n{before}\n{statement}\nreturn\n}}"
    )
    assert len(module.funcs[0].body.ops) == 3
    assert same(read(print_module(module)), module)


def test_in_generic_form_a_value_has_a_type() -> None:
    with pytest.raises(pto.PtoError) as caught:
        read('func.func @f(%a: i32) {\n  "arith.addi"(%a, %a)\n  return\n}\n')
    (found,) = caught.value.diagnostics
    assert (found.slug, "missing result type" in found.message) == ("operand-count", True)


def test_no_keyword_is_the_name_of_an_instruction() -> None:
    """Else nobody could say whether `word [` goes on or begins a statement."""
    words = {word for page in pages() for word in keywords(page)}
    assert [word for word in words if lookup(word)] == []


def test_a_mistyped_keyword_is_still_one() -> None:
    with pytest.raises(pto.PtoError, match="did you mean sizes"):
        read(f"%w = pto.subset %s[0, 0] size [8, 8] : {V}")


DYNAMIC = "!pto.tile_buf<vec, 16x32xf32, valid=?x32>"
LOOP = f"""\
func.func @f(%g: !pto.partition_tensor_view<16x32xf32>, %n: index) {{
  %x = pto.alloc_tile valid_row = %n : {DYNAMIC}
  scf.for %i = %n to %n step %n {{
    pto.tload ins(%g : !pto.partition_tensor_view<16x32xf32>) outs(%x : {DYNAMIC})
    pto.texp ins(%x : {DYNAMIC}) outs(%x : {DYNAMIC})
    pto.tstore ins(%x : {DYNAMIC}) outs(%g : !pto.partition_tensor_view<16x32xf32>)
  }}
  return
}}
"""


def test_a_dynamic_tile_of_a_loop_comes_back_from_ssa() -> None:
    module = read(LOOP)
    again = to_dps(read(print_module(to_ssa(module), "ssa")))
    assert same(again, module), print_module(again)


def test_an_elided_allocation_is_reported_or_completed() -> None:
    alone = read("%d = pto.alloc_tile : !pto.tile_buf<...>")
    assert [d.slug for d in pto.Program(alone).check("cpu")] == ["type-omitted"]
    text = print_module(to_dps(read("%d = texp %s")))
    out = pto.loads(text).run(s=np.full((16, 16), 0.5, np.float32))
    assert (out["d"] == np.exp(np.float32(0.5))).all()


def test_an_address_is_printed_in_cpp() -> None:
    text = f"%a = arith.constant 4096 : i64\n%t = pto.alloc_tile addr = %a : {V}\n"
    lines = print_cpp(read(text)).splitlines()
    assert "  Tile<TileType::Vec, float, 16, 32> t; TASSIGN(t, a);" in lines


@pytest.mark.parametrize("form", ["as", "ssa"])
def test_converted_text_begins_without_a_blank_line(form: str) -> None:
    text = (
        f"%t = pto.alloc_tile : {V}\n\npto.trelu ins(%s : {V}) outs(%t : {V})\n\n"
        f"%u = pto.alloc_tile : {V}\n\n\npto.trelu ins(%t : {V}) outs(%u : {V})\n"
    )
    once = print_module(to_ssa(read(text)), form)
    assert once.startswith("%t")
    assert "\n\n\n" not in once
    assert print_module(to_ssa(read(once)), form) == once


@pytest.mark.parametrize("rows", ["8", "?"])
def test_extents_that_contradict_the_type_of_a_view(rows: str) -> None:
    view = f"!pto.partition_tensor_view<{rows}x16xf32>"
    text = (
        "%c0 = arith.constant 0 : index\n%c16 = arith.constant 16 : index\n"
        "%v = pto.partition_view %g, offsets = [%c0, %c0], sizes = [%c16, %c16] : "
        f"!pto.tensor_view<16x16xf32> -> {view}"
    )
    found = pto.loads(text).check("cpu")
    assert [d.rule for d in found] == ["sizes == result.static_extents"] * (rows == "8")
    text = (
        ".arg %p : !pto.ptr<f32>\n%c16 = arith.constant 16 : index\n"
        "%c1 = arith.constant 1 : index\n"
        "%v = pto.make_tensor_view %p, shape = [%c16, %c16], "
        f"strides = [%c16, %c1] : !pto.tensor_view<{rows}x16xf32>"
    )
    found = pto.loads(text).check("cpu")
    assert [d.rule for d in found] == ["shape == result.static_extents"] * (rows == "8")


@every("name", ["a2a3", "a5"])
@every("written", ["nz", "zz"])
def test_a_left_tile_has_the_layout_of_its_target(name: str, written: str) -> None:
    target = TARGETS[name]
    layout, _ = target.alias(LEFT)
    with pto.target(name):  # in Python it is as written, and refused where it is another
        assert str(pto.tile("left", pto.f16, 16, 16, layout=written).type.layout) == written
    block = {"nz": "col_major", "zz": "row_major"}[written]
    text = (
        f"%t = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, blayout={block}, slayout=row_major>"
    )
    (op,) = read(text).funcs[0].body.ops
    assert isinstance(op, Op)
    kind = op.results[0].type
    assert isinstance(kind, TileType)
    assert target.resolve(kind).layout is layout
    assert f"In text a left tile is {layout}" in target_page(target)


TILE, NEW = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile<vec, 16x32xf32>"
LITERALS = {
    f"%r = pto.tsetval 3, 1.5 : f32 -> {NEW}": "2 operands, but 1 type",
    f"%r = pto.tsetval 3, 1.5 : ({NEW}) -> {NEW}": "2 operands, but 1 type",
    f"pto.tsetval ins(3, 1.5 : f32) outs(%t : {TILE})": "2 operands, but 1 type",
    f"%r = tsetval 3, 1.5 : index, f32, f32 -> {NEW}": "2 operands, but 3 types",
    "pto.tsetval 3, 1.5 : index, f32": (
        "pto.tsetval writes dst: name a result, or give outs(%dst : T)"
    ),
    f"%r = pto.tsetval 3, 1.5 : (index, f32) -> {NEW}": "",
    f"%r = pto.tsetval 3, 1 : (index, f32) -> {NEW}": "",
    f"%r = pto.tsetval 3.5, 1.5 : (f32, f32) -> {NEW}": (
        "pto.tsetval: expected an index as offset, got f32"
    ),
    f"%r = pto.texpands 1.5 : f32, f32 -> {NEW}": "1 operand, but 2 types",
    f"%r = pto.tadds %t, 1.5 : f32 -> {NEW}": "%t is vec f32 16x32 nd, used as f32",
    f"%r = pto.tadds %t, 1.5 : {TILE} -> {NEW}": "",
    f"pto.tadds ins(%t, 1.5 : {TILE}, i32) outs(%t : {TILE})": "1.5 is not a number of type i32",
    "%r = arith.addf 1.5, 2 : f32": "",
    "%r = math.sqrt 2 : f32": "",
    "%r = arith.addi 1, 2 : f32": "arith.addi: expected an integer as lhs, got f32",
    "%r = arith.addi 1, 2.5 : index": "2.5 is not a number of type index",
    "pto.store_scalar 1, %p[3] : !pto.ptr<f32>, f32": "",
    "pto.store_scalar 1.5, %p[3] : !pto.ptr<f32>, i32": "1.5 is not a number of type i32",
    "pto.store_scalar 1.5, %p[3] : !pto.ptr<f32>": "",
    "%r = arith.cmpi slt, 3, 4 : index": "",
    "%r = arith.cmpi slt, 3, 4.5 : index": "4.5 is not a number of type index",
    "%r = arith.cmpf olt, 0x3F800000, 1.5 : f32": "",
    "%r = arith.select %c, 1, 2 : i32": "",
    "%r = arith.sitofp 7 : i32 to f32": "",
    f"%r = pto.tgetval ins(%t, 3 : {TILE}, index) outs : f32": "",
    "%r = arith.constant 0x1FF800000 : f32": "0x1FF800000 is not a number of type f32",
    "%r = arith.addf 0x1FF800000, 1 : f32": "0x1FF800000 is not a number of type f32",
    "%r = arith.addf 1, -0x80 : bf16": "-0x80 is not a number of type bf16",
    "%r = scf.for %i = 0 to 4 step 1 iter_args(%x = 5) -> (i32) {\nscf.yield 6 : i32\n}": "",
    "%r = scf.while (%x = 5) : (i32) -> i32 {\nscf.condition(%c) 7 : i32\n} do {\n"
    "^bb0(%y: i32):\nscf.yield 9 : i32\n}": "",
}


@every(("statement", "message"), LITERALS.items())
def test_numbers_have_the_types_that_are_written(statement: str, message: str) -> None:
    text = f"func.func @f(%t: {TILE}, %p: !pto.ptr<f32>, %c: i1) {{\n  {statement}\n  return\n}}\n"
    try:
        program = pto.loads(text)
        found = [d.slug for d in program.check("cpu")]
        assert pto.loads(program.text("ssa")).text("ssa") == program.text("ssa")
    except pto.PtoError as problem:
        found = [d.message for d in problem.diagnostics]
    assert found == ([message] if message else [])


@pytest.mark.parametrize(("bits", "kind"), [("0x3FC00000", "f32"), ("0X3E00", "f16")])
def test_hexadecimal_digits_are_the_bits_of_a_float(bits: str, kind: str) -> None:
    """In operand position as in a constant."""
    in_place = pto.loads(f"%r = math.sqrt {bits} : {kind}\n").text("dps")
    assert in_place == pto.loads(f"%r = math.sqrt 1.5 : {kind}\n").text("dps")
    assert "constant 1.5" in pto.loads(f"%r = arith.constant {bits} : {kind}\n").text("dps")


@every(
    "statement",
    [
        "%b = arith.constant 2.0 : f64",
        "%b = arith.addf %a, %a : f64",
        "%b = arith.cmpf olt, %a, %a : f64",
        "%b = arith.select %c, %a, %a : f64",
        "%b = arith.truncf %a : f64 to f32",
        "%b = arith.sitofp %i : i32 to f64",
        "%b = math.sqrt %a : f64",
    ],
)
def test_there_is_no_arithmetic_of_f64(statement: str) -> None:
    """Such a statement is kept, printed back, and reported with its type."""
    text = f"func.func @f(%a: f64, %i: i32, %c: i1) {{\n  {statement}\n  return\n}}\n"
    program = pto.loads(text)
    assert statement in program.text("dps")
    found = program.check("cpu")
    assert {d.slug for d in found} <= {"foreign-op"}
    assert all("f64" in d.message and "did you mean" not in str(d.help) for d in found)


SMALL, MANY = (
    "!pto.tile_buf<vec, 16x32xf32>",
    "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x32xf32>, count=2>",
)
RESULTS_OF_ANOTHER_KIND = {
    f"pto.multi_tile_get %m[%i] : {MANY} -> index": "dst: expected a tile, got index",
    f"pto.tgetval ins(%a, %i : {SMALL}, index) outs : {SMALL}": "result: expected a scalar, got ",
    f"arith.constant 1 : {SMALL}": "result: expected a scalar, got ",
    f"arith.extsi %w : i32 to {SMALL}": "result: expected a scalar, got ",
    '"pto.alloc_tile"() : () -> index': "result: expected a tile, got index",
    "pto.alloc_tile : index": "result: expected a tile, got index",
}


@every("op", RESULTS_OF_ANOTHER_KIND)
def test_a_result_is_of_the_kind_that_the_page_says(op: str) -> None:
    """In every shape of text; a mutant of a program found one that did not ask."""
    head = f"func.func @f(%a: {SMALL}, %m: {MANY}, %i: index, %w: i32) {{\n"
    with pytest.raises(pto.PtoError) as raised:
        pto.loads(f"{head}  %t = {op}\n  return\n}}\n")
    (problem,) = raised.value.diagnostics
    assert problem.slug == "type-mismatch"
    assert problem.message.startswith(RESULTS_OF_ANOTHER_KIND[op])


def test_a_constant_with_an_open_valid_region_is_full(engine: str) -> None:
    text = "%e = arith.constant dense<0> : !pto.tile_buf<vec, 16x32xf32, valid=?x32>"
    assert pto.loads(text).run(engine=engine) == {}


def test_strides_that_are_missing_imply_no_layout() -> None:
    view = "%v = pto.make_tensor_view %p, shape = [%n], strides = [] : !pto.tensor_view<1xi32>"
    part = "%w = pto.partition_view %v, offsets = [%z], sizes = [%n] : !pto.tensor_view<1xi32>"
    numbers = "%n = arith.constant 1 : index\n%z = arith.constant 0 : index"
    text = (
        f".arg %p : !pto.ptr<i32>\n{numbers}\n{view}\n{part} -> !pto.partition_tensor_view<1xi32>"
    )
    assert [d for d in pto.loads(text).check("a5") if d.is_error]


def test_tiles_larger_than_any_memory_are_not_looked_at() -> None:
    """Their sum has millions of steps."""
    sizes = ("16x999999999xf32", "16x32xf32", "16x8xf32, valid=16x1")
    src, tmp, dst = (f"!pto.tile_buf<vec, {size}>" for size in sizes)
    text = f"%d = trowsum %s, %t : {src}, {tmp} -> {dst}"
    assert "out-of-memory" in {d.slug for d in pto.loads(text).check("a5")}


ANY = "!pto.tile<...>"


def test_assign_as_a_statement_gives_the_name_a_new_meaning() -> None:
    module = read("pto.tassign %arg0, @tile(0x1000)\n%dst = textract %arg0[0, 64]\n")
    number, _, _, assign, extract = module.funcs[0].body.ops
    assert isinstance(number, Op)
    assert isinstance(assign, Op)
    assert isinstance(extract, Op)
    assert number.attrs == {"value": 0x1000}
    assert extract.bound("src") == tuple(assign.results)
    assert print_module(module, "as") == (
        f"%arg0_1 = tassign %arg0, 4096 : {ANY} -> {ANY}\n"
        f"%dst = textract %arg0_1[0, 64] : {ANY} -> {ANY}\n"
    )


def test_configuration_ops_are_read() -> None:
    module = read("pto.SETFMATRIX ins(%cfg : !pto.fmatrix_config) outs()\n")
    assert isinstance(module.funcs[0].body.ops[0], Op)
    assert same(read(print_module(module, "dps")), module)


def test_ops_of_unknown_types_are_kept() -> None:
    text = "pto.tload ins(%a : memref<16xf16>) outs(%b : memref<16xf16>)\n"
    module = read(text)
    assert isinstance(module.funcs[0].body.ops[0], OpaqueOp)
    assert print_module(module, "dps") == text


LOADED = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
EVENT = "pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TMOV_M2L>, <EVENT_ID1>]"


@every(
    ("text", "printed"),
    [
        (LOADED, LOADED),
        (
            "pto.set_flag [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]",
            LOADED,
        ),
        ("set_flag[PIPE_MTE2, PIPE_V, EVENT_ID0] loc(#loc1)", LOADED),
        (
            "pto.record_event [#pto.pipe_event_type<TLOAD>, #pto.sync_op_type<TMOV_M2L>, "
            "<EVENT_ID1>]",
            EVENT,
        ),
        (
            "pto.wait_flag_dyn [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_MTE3>, %eid]",
            "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %eid]",
        ),
        ("pto.barrier <PIPE_ALL> // all", "pto.barrier <PIPE_ALL> // all"),
        ("pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier <PIPE_ALL>"),
        ("pto.barrier_sync [<TVEC>]", "pto.barrier_sync[<TVEC>]"),
        ("tsync.op <TADD>", "pto.tsync.op #pto.op<TADD>"),
    ],
)
def test_words(text: str, printed: str) -> None:
    module = read(text)
    assert print_module(module) == printed + "\n"
    for form in ("as", "ssa", "dps"):
        assert same(read(print_module(module, form)), module)


@every(
    ("text", "slug"),
    [
        ("pto.set_flag[<PIPE_MTE2>, <PIPE_V>]", "syntax-error"),
        ("pto.set_flag[<PIPE_MTE9>, <PIPE_V>, <EVENT_ID0>]", "unknown-word"),
        ("pto.barrier", "syntax-error"),
        ("%x = pto.barrier <PIPE_ALL>", "operand-count"),
        ("pto.wait_flag_dyn[<PIPE_V>, <PIPE_M>, 3", "syntax-error"),
    ],
)
def test_wrong_words(text: str, slug: str) -> None:
    assert refused(text) == {slug}
