"""Text of later assemblers and of compilers before them: read, judged, printed back."""

from __future__ import annotations

import numpy as np
import pytest
from readback import reads_back, refused

import ptokit as pto
from every import every

T, IDS = "!pto.tile_buf<vec, 16x64xf32>", "!pto.tile_buf<vec, 16x64xi32>"
N, ROW = "!pto.tile_buf<vec, 1x16xi32>", "!pto.tile_buf<vec, 1x64xf32>"
LONG, COUNTS = "!pto.tile_buf<vec, 1x192xf32>", "vector<4xi16>"
V, D = "!pto.partition_tensor_view<8x8xf32>", "!pto.tile_buf<vec, 8x8xf32>"
LOAD = f"pto.tload ins(%v : {V}) outs(%d : {D})"
COMPARED = f"outs(%i, %n : {IDS}, {N}) {{cmpMode = #pto<cmp gt>, offset = 7 : i32}}"
MERGED = f"outs(%o, %e : {LONG}, {COUNTS})"
A = "!pto.local_array<2x3xi32>"
STATEMENTS = {
    # the text, and a part of what is printed of it
    f"pto.tgather ins(%t, %x, %i : {T}, f32, {IDS}) {COMPARED}": "offset = 7 : i32",
    f"pto.tgather ins(%t, %x : {T}, f32) {COMPARED}": "ins(%t, %x : ",
    f"pto.tmrgsort ins(%r, %r no_tmp {{exhausted = true}} : {ROW}, {ROW}) {MERGED}":
    "%r, %r no_tmp {exhausted = true} :",
    f"pto.tmrgsort ins(%r, %r, %r no_tmp : {ROW}, {ROW}, {ROW}) {MERGED}": "%r, %r, %r no_tmp :",
    f"{LOAD} {{cache_policy = #pto.load_cache_policy<l2_bypass>}}":
    "{cache_policy = #pto.load_cache_policy<l2_bypass>}",
    f"{LOAD} {{cache_policy = #pto.load_cache_policy<l2_bypass>}} offset = %a : i64":
    "<l2_bypass>} offset = %a : i64",
    f"{LOAD} pad_mode = #pto.padmode<PadValue> pad_value = %x : f32 left_padding_num = %c : index "
    "init_out_buffer = true right_padding_num = %c : index":
    "pad_mode = #pto.padmode<PadValue> pad_value = %x : f32 left_padding_num = %c : index "
    "init_out_buffer = true right_padding_num = %c : index",
    f"%u = pto.alloc_tile addr = %a : {D}, i64": "%u = pto.alloc_tile addr = %a : ",
    f"pto.local_array_set %k[%c, %c], %m : {A}, i32": f"%k[%c, %c], %m : {A}, i32",
    f"%u = pto.local_array_get %k[%c, %c] : {A} -> i32": f"%k[%c, %c] : {A} -> i32",
    'cf.assert %b, "no \\"more\\" rows"': 'cf.assert %b, "no \\"more\\" rows"',
}  # fmt: skip
ARGUMENTS = (
    f"%t: {T}, %x: f32, %i: {IDS}, %n: {N}, %r: {ROW}, %o: {LONG}, %v: {V}, %d: {D}, %a: i64, "
    "%c: index, %m: i32, %b: i1"
)


@every("statement", STATEMENTS)
def test_it_is_read_judged_and_printed_back(statement: str) -> None:
    text = (
        f"func.func @f({ARGUMENTS}) {{\n  %k = pto.declare_local_array -> {A}\n"
        f"  %e = arith.constant dense<0> : {COUNTS}\n  {statement}\n  return\n}}\n"
    )
    reads_back(text)
    assert STATEMENTS[statement] in pto.loads(text).text("dps")
    assert not any(d.is_error for d in pto.loads(text).check("cpu"))


def test_what_a_load_pads_with_is_said_by_its_tile() -> None:
    text = f"func.func @f({ARGUMENTS}) {{\n  {LOAD} pad_value = %x : f32\n  return\n}}\n"
    (found,) = pto.loads(text).check("a5")
    assert (found.slug, found.is_error) == ("attribute", False)


def test_types_behind_that_of_a_tile_are_those_of_its_operands() -> None:
    text = f"func.func @f(%a: i64) {{\n  %t = pto.alloc_tile addr = %a : {D}, i32\n  return\n}}\n"
    with pytest.raises(pto.PtoError, match="i64") as caught:
        pto.loads(text)
    assert caught.value.diagnostics[0].slug == "type-mismatch"


@pytest.mark.parametrize(
    ("index", "slug"), [("[%c]", "operand-count"), ("[%c, %three]", "operand-value")]
)
def test_an_element_of_a_matrix_has_two_indices(index: str, slug: str) -> None:
    text = (
        "%c = arith.constant 1 : index\n%three = arith.constant 3 : index\n"
        f"%k = pto.declare_local_array -> {A}\n"
        f"%x = pto.local_array_get %k{index} : {A} -> i32\n"
    )
    (found,) = [d for d in pto.loads(text).check("cpu") if d.is_error]
    assert found.slug == slug


FOREIGN = {
    "builtin.unrealized_conversion_cast %a : i64 to !llvm.ptr<1>": "!llvm.ptr<1>",
}


@every(("space", "memory"), [("ub", "vec"), ("l1", "mat")])
def test_a_number_is_a_pointer_into_local_memory(space: str, memory: str, engine: str) -> None:
    text = f"""\
func.func @f(%a: i64) {{
  %p = pto.castptr %a : i64 -> !pto.ptr<f32, {space}>
  return
}}
"""
    program = pto.loads(text)
    assert program.text("dps") == text.replace(f", {space}>", f", {memory}>")
    assert program.check("a5") == []
    program.run(a=0, engine=engine)


@every("statement", FOREIGN)
def test_text_of_the_level_below_is_kept_and_not_run(statement: str, engine: str) -> None:
    text = f"func.func @f(%a: i64) {{\n  %p = {statement}\n  return\n}}\n"
    program = pto.loads(text)
    assert str(program.module.funcs[0].body.ops[0].results[0].type) == FOREIGN[statement]
    assert f"%p = {statement}" in program.text("dps")
    assert [(d.slug, d.is_error) for d in program.check("a5")] == [("foreign-op", False)]
    with pytest.raises(pto.PtoError) as caught:
        program.run(a=0, engine=engine)
    assert caught.value.diagnostics[0].slug == "foreign-op"


UNSIGNED = """\
func.func @f(%out: !pto.ptr<ui32>) {
  %zero = arith.constant 0 : index
  %less = arith.constant -1 : i32
  %most = builtin.unrealized_conversion_cast %less : i32 to ui32
  pto.store_scalar %most, %out[%zero] : !pto.ptr<ui32>, ui32
  return
}
"""


def test_front_ends_make_unsigned_numbers_by_a_cast(engine: str) -> None:
    program = pto.loads(UNSIGNED)
    assert program.check("all") == []
    out = np.zeros(1, np.uint32)
    assert program.run(out=out, engine=engine)["out"][0] == 2**32 - 1


REGION = """\
func.func @f(%n: i32, %c: i1, %g: !pto.ptr<i32>) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : i32
  %r = scf.execute_region -> (i32) {
    // first
    cf.cond_br %c, ^one, ^end(%n : i32)
  ^one: // with a value
    %twice = arith.addi %n, %n : i32
    cf.switch %n : i32, [default: ^end(%twice : i32), 1: ^three, -2: ^end(%two : i32)]
  ^end(%m: i32):
    scf.yield %m : i32
  ^three:
    scf.if %c {
      cf.br ^end
    ^end:
      pto.store_scalar %n, %g[%zero] : !pto.ptr<i32>, i32
      scf.yield
    }
    scf.yield %two : i32
    // last
  }
  pto.store_scalar %r, %g[%zero] : !pto.ptr<i32>, i32
  return
}
"""


def test_blocks_of_regions_are_printed_back() -> None:
    reads_back(REGION)
    assert pto.loads(REGION).text("dps") == REGION


@every(("n", "c", "wanted"), [(1, 0, 1), (1, 1, 2), (-2, 1, 2), (-2, 0, -2), (5, 1, 10), (0, 1, 0)])
def test_blocks_of_regions_run(n: int, c: int, wanted: int, engine: str) -> None:
    found = pto.loads(REGION).run(n=n, c=c, g=np.zeros(1, np.int32), engine=engine)
    assert found["g"].tolist() == [wanted]


@every(
    ("old", "new", "slug"),
    [
        ("cf.br ^end\n    ^end:", "cf.br ^three\n    ^end:", "undefined-name"),
        ("%c, ^one, ^end(%n : i32)", "%c, ^one, ^end", "operand-count"),
        ("scf.yield %m : i32", "scf.yield", "operand-count"),
        ("scf.yield %m : i32", "scf.yield %twice : i32", "undefined-name"),
        ("1: ^three", "1: ^four", "undefined-name"),
        ("default: ^end", "other: ^end", "syntax-error"),
        ("-2: ^end", "2.5: ^end", "syntax-error"),
    ],
)
def test_blocks_of_regions_are_checked(old: str, new: str, slug: str) -> None:
    assert old in REGION
    assert slug in refused(REGION.replace(old, new))


def test_a_switch_in_generic_form_is_kept() -> None:
    text = (
        "func.func @f(%n: i32) {\n"
        '  "cf.switch"(%n)[^a, ^a] <{case_values = dense<1> : tensor<1xi32>, '
        "case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> "
        ": (i32) -> ()\n^a:\n  return\n}\n"
    )
    assert '"cf.switch"(%n)[^a, ^a]' in pto.loads(text).text("dps")


def test_an_assertion_that_fails_ends_the_run() -> None:
    text = 'func.func @f(%n: i1) {\n  cf.assert %n, "n"\n  return\n}\n'
    for engine in ("reference", "native"):
        pto.loads(text).run(n=1, engine=engine)
        with pytest.raises(pto.PtoError) as caught:
            pto.loads(text).run(n=0, engine=engine)
        assert caught.value.diagnostics[0].slug == "trapped"
    constant = text.replace("(%n: i1) {", "() {\n  %n = arith.constant false")
    assert [d.slug for d in pto.loads(constant).check("a5")] == ["trapped"]


CASES = """\
func.func @f(%n: index, %g: !pto.ptr<i32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r, %s = scf.index_switch %n {far = 1} -> (i32, i32) // one of three
  case 2 {
    // what two does
    scf.yield %two, %one : i32, i32
  }
  case -5 {
    %t = arith.addi %two, %two : i32
    scf.yield %t, %one : i32, i32
    // so much of five
  }
  default {
    scf.yield %one, %one : i32, i32
  }
  // no results
  scf.index_switch %n
  default {
    pto.store_scalar %r, %g[%zero] : !pto.ptr<i32>, i32
  }
  scf.index_switch %n
  case 2 {
  }
  case 7 {
    %seven = arith.constant 7 : i32
    pto.store_scalar %seven, %g[%zero] : !pto.ptr<i32>, i32
  }
  default {
  }
  return
}
"""


def test_cases_are_printed_back() -> None:
    reads_back(CASES)
    assert pto.loads(CASES).text("dps") == CASES


def test_comments_around_cases_are_kept() -> None:
    between = CASES.replace("  case 2 {\n    // what two does", "  // what two does\n  case 2 {")
    assert between != CASES
    assert pto.loads(between).text("dps") == CASES


@every(
    ("old", "new", "slug"),
    [
        ("case 7", "case 2", "redefined-name"),
        ("case 7", "case 2.5", "syntax-error"),
        ("case 7", "else", "syntax-error"),
        ("scf.yield %t, %one : i32, i32", "scf.yield %t : i32", "operand-count"),
        ("    scf.yield %one, %one : i32, i32\n", "", "operand-count"),
        ("%n: index", "%n: i32", "type-mismatch"),
        ("%r, %s = scf", "%r = scf", "operand-count"),
    ],
)
def test_cases_are_checked(old: str, new: str, slug: str) -> None:
    assert slug in refused(CASES.replace(old, new))


GENERIC = """\
func.func @f(%n: index, %c: i1, %g: !pto.ptr<i32>) {
  %zero = "arith.constant"() <{value = 0 : index}> : () -> index
  %one = "arith.constant"() <{value = 1 : index}> : () -> index
  %a = "arith.constant"() <{value = 3 : i32}> : () -> i32
  %r = "scf.index_switch"(%n) <{cases = array<i64: 2, -5>}> ({
    "scf.yield"(%a) : (i32) -> ()
  }, {
    %b = "arith.addi"(%a, %a) : (i32, i32) -> i32
    "scf.yield"(%b) : (i32) -> ()
  }, {
    "scf.yield"(%a) : (i32) -> ()
  }) : (index) -> i32
  %s = "scf.for"(%zero, %n, %one, %r) ({
  ^bb0(%i: index, %t: i32):
    %u = "arith.addi"(%t, %a) : (i32, i32) -> i32
    "scf.yield"(%u) : (i32) -> ()
  }) : (index, index, index, i32) -> i32
  %w = "scf.while"(%s) ({
  ^bb0(%x: i32):
    "scf.condition"(%c, %x) : (i1, i32) -> ()
  }, {
  ^bb0(%y: i32):
    "scf.yield"(%y) : (i32) -> ()
  }) : (i32) -> i32
  "scf.if"(%c) ({
    "scf.yield"() : () -> ()
  }) : (i1) -> ()
  pto.store_scalar %w, %g[%zero] : !pto.ptr<i32>, i32
  return
}
"""


@every(("n", "wanted"), [(2, 6 + 6), (3, 3 + 9)])
def test_the_default_stands_first_in_generic_form(n: int, wanted: int, engine: str) -> None:
    reads_back(GENERIC)
    found = pto.loads(GENERIC).run(n=n, c=0, g=np.zeros(1, np.int32), engine=engine)
    assert found["g"].tolist() == [wanted]


@every(
    ("old", "new"),
    [
        ('"scf.yield"(%b) : (i32) -> ()', '"scf.yield"() : () -> ()'),
        ('"scf.yield"(%u) : (i32) -> ()', '"scf.yield"() : () -> ()'),
        ('"scf.yield"(%y) : (i32) -> ()', ""),
        ('"scf.condition"(%c, %x) : (i1, i32) -> ()', '"scf.yield"(%x) : (i32) -> ()'),
        ("i64: 2, -5", "i64: 2"),
        ("i64: 2, -5", "i64: 2, 2"),
        ("^bb0(%i: index, %t: i32)", "^bb0(%i: index, %t: i32, %v: i32)"),
        ("(%zero, %n, %one, %r)", "(%zero, %n, %one)"),
        ('"scf.if"(%c) ({\n    "scf.yield"() : () -> ()\n  })', '"scf.if"(%c)'),
    ],
)
def test_regions_in_generic_form_are_checked(old: str, new: str) -> None:
    assert old in GENERIC
    assert refused(GENERIC.replace(old, new)) <= {"operand-count", "syntax-error"}
