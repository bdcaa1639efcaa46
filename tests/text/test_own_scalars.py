"""The newest dialect's own scalar operations: other dialects' pages in another spelling."""

from __future__ import annotations

import numpy as np
from readback import reads_back, refused

import ptokit as pto
from every import every
from ptokit.ir.module import Op

ARGUMENTS = (
    "%a: i32, %b: i32, %x: f32, %y: f32, %n: index, %m: index, %c: i1, %s: i16, %h: f16, "
    "%v: vector<4xf32>, %w: vector<4xi16>"
)
# as it is printed, and what it means
SAME = {
    "%r = pto.constant 7 : index": "%r = arith.constant 7 : index",
    "%r = pto.constant true": "%r = arith.constant true",
    "%r = pto.constant 2.5 : f32": "%r = arith.constant 2.5 : f32",
    "%r = pto.addi %a, %b : i32": "%r = arith.addi %a, %b : i32",
    "%r = pto.subi %a, %b overflow<nsw, nuw> : i32":
    "%r = arith.subi %a, %b overflow<nsw, nuw> : i32",
    "%r = pto.muli %n, %m : index": "%r = arith.muli %n, %m : index",
    "%r = pto.addf %x, %y fastmath<nnan,ninf> : f32":
    "%r = arith.addf %x, %y fastmath<nnan,ninf> : f32",
    "%r = pto.subf %x, %y : f32": "%r = arith.subf %x, %y : f32",
    "%r = pto.mulf %x, %y : f32": "%r = arith.mulf %x, %y : f32",
    "%r = pto.divf %x, %y {far.away = 1} : f32": "%r = arith.divf %x, %y {far.away = 1} : f32",
    "%r = pto.remf %x, %y : f32": "%r = arith.remf %x, %y : f32",
    "%r = pto.divi %a, %b signed : i32": "%r = arith.divsi %a, %b : i32",
    "%r = pto.divi %a, %b unsigned : i32": "%r = arith.divui %a, %b : i32",
    "%r = pto.floordiv %n, %m signed : index": "%r = arith.floordivsi %n, %m : index",
    "%r = pto.ceildiv %n, %m signed : index": "%r = arith.ceildivsi %n, %m : index",
    "%r = pto.ceildiv %a, %b unsigned : i32": "%r = arith.ceildivui %a, %b : i32",
    "%r = pto.remi %a, %b signed : i32": "%r = arith.remsi %a, %b : i32",
    "%r = pto.remi %a, %b unsigned : i32": "%r = arith.remui %a, %b : i32",
    "%r = pto.and %a, %b : i32": "%r = arith.andi %a, %b : i32",
    "%r = pto.or %c, %c : i1": "%r = arith.ori %c, %c : i1",
    "%r = pto.xor %a, %b : i32": "%r = arith.xori %a, %b : i32",
    "%r = pto.shl %a, %b overflow<nuw> : i32": "%r = arith.shli %a, %b overflow<nuw> : i32",
    "%r = pto.shr %a, %b signed : i32": "%r = arith.shrsi %a, %b : i32",
    "%r = pto.shr %a, %b unsigned : i32": "%r = arith.shrui %a, %b : i32",
    "%r = pto.cmpi lt %a, %b signed : i32": "%r = arith.cmpi slt, %a, %b : i32",
    "%r = pto.cmpi ge %n, %m unsigned : index": "%r = arith.cmpi uge, %n, %m : index",
    "%r = pto.cmpi ne %a, %b signed : i32": "%r = arith.cmpi ne, %a, %b : i32",
    "%r = pto.cmpf eq %x, %y : f32": "%r = arith.cmpf oeq, %x, %y : f32",
    "%r = pto.cmpf ne %x, %y : f32": "%r = arith.cmpf one, %x, %y : f32",
    "%r = pto.cmpf le %x, %y : f32": "%r = arith.cmpf ole, %x, %y : f32",
    "%r = pto.cmpf ord %x, %y : f32": "%r = arith.cmpf ord, %x, %y : f32",
    "%r = pto.cmpf une %x, %y fastmath<fast> : f32":
    "%r = arith.cmpf une, %x, %y {fastmath = #arith.fastmath<fast>} : f32",
    "%r = pto.cmpf true %x, %y : f32": "%r = arith.cmpf true, %x, %y : f32",
    "%r = pto.maxi %a, %b signed : i32": "%r = arith.maxsi %a, %b : i32",
    "%r = pto.maxi %a, %b unsigned : i32": "%r = arith.maxui %a, %b : i32",
    "%r = pto.mini %a, %b signed : i32": "%r = arith.minsi %a, %b : i32",
    "%r = pto.mini %a, %b unsigned : i32": "%r = arith.minui %a, %b : i32",
    "%r = pto.maxf %x, %y : f32": "%r = arith.maxnumf %x, %y : f32",
    "%r = pto.minf %x, %y : f32": "%r = arith.minnumf %x, %y : f32",
    "%r = pto.maximum %x, %y : f32": "%r = arith.maximumf %x, %y : f32",
    "%r = pto.minimum %x, %y : f32": "%r = arith.minimumf %x, %y : f32",
    "%r = pto.absi %a signed : i32": "%r = math.absi %a : i32",
    "%r = pto.absf %x : f32 -> f32": "%r = math.absf %x : f32",
    "%r = pto.negf %x : f32": "%r = arith.negf %x : f32",
    "%r = pto.exti %s signed : i16 -> i32": "%r = arith.extsi %s : i16 to i32",
    "%r = pto.exti %c unsigned : i1 -> i32": "%r = arith.extui %c : i1 to i32",
    "%r = pto.trunci %a overflow<nsw> : i32 -> i16":
    "%r = arith.trunci %a overflow<nsw> : i32 to i16",
    "%r = pto.ftof %x : f32 -> f16": "%r = arith.truncf %x : f32 to f16",
    "%r = pto.ftof %x round(f) sat fastmath<nnan> : f32 -> f16":
    "%r = arith.truncf %x downward sat {fastmath = #arith.fastmath<nnan>} : f32 to f16",
    "%r = pto.ftoi %x unsigned round(r) sat : f32 -> i32":
    "%r = arith.fptoui %x to_nearest_even sat : f32 to i32",
    "%r = pto.itof %a signed round(o) nosat : i32 -> f16":
    "%r = arith.sitofp %a to_odd nosat : i32 to f16",
    "%r, %q = pto.addui_extended %a, %b : i32, i1":
    "%r, %q = arith.addui_extended %a, %b : i32, i1",
    "%r, %q = pto.mul_extended %a, %b signed : i32": "%r, %q = arith.mulsi_extended %a, %b : i32",
    "%r, %q = pto.mul_extended %n, %m unsigned : index":
    "%r, %q = arith.mului_extended %n, %m : index",
    "%r = pto.fma %x, %y, %x : f32, f32, f32 -> f32": "%r = math.fma %x, %y, %x : f32",
    "%r = pto.ftof %h : f16 -> f32": "%r = arith.extf %h : f16 to f32",
    "%r = pto.ftoi %x signed : f32 -> i32": "%r = arith.fptosi %x : f32 to i32",
    "%r = pto.ftoi %x unsigned : f32 -> i32": "%r = arith.fptoui %x : f32 to i32",
    "%r = pto.itof %a signed : i32 -> f32": "%r = arith.sitofp %a : i32 to f32",
    "%r = pto.itof %a unsigned : i32 -> f32": "%r = arith.uitofp %a : i32 to f32",
    "%r = pto.bitcast %x : f32 -> i32": "%r = arith.bitcast %x : f32 to i32",
    "%r = pto.index_cast %a signed : i32 -> index": "%r = arith.index_cast %a : i32 to index",
    "%r = pto.index_cast %n unsigned : index -> i64": "%r = arith.index_castui %n : index to i64",
    "%r = pto.select %c, %n, %m : index": "%r = arith.select %c, %n, %m : index",
    "%r = pto.exp %x : f32 -> f32": "%r = math.exp %x : f32",
    "%r = pto.log %h : f16 -> f16": "%r = math.log %h : f16",
    "%r = pto.sqrt %x : f32 -> f32": "%r = math.sqrt %x : f32",
    "%r = pto.pow %x, %y : f32, f32 -> f32": "%r = math.powf %x, %y : f32",
}  # fmt: skip
# other spellings of the same
ALSO = {
    "%r = pto.constant 1 : i1": "%r = pto.constant true",
    "%r = pto.cmpf oeq %x, %y : f32": "%r = pto.cmpf eq %x, %y : f32",
    "%r = pto.cmpi eq %a, %b unsigned : i32": "%r = pto.cmpi eq %a, %b signed : i32",
    "%r = pto.floordiv %a, %b unsigned : i32": "%r = pto.divi %a, %b unsigned : i32",
    "%r = pto.select %c, %n, %m : i1, index": "%r = pto.select %c, %n, %m : index",
    '%r = "pto.constant"() <{value = 3 : i32}> : () -> i32': "%r = pto.constant 3 : i32",
    '%r = "pto.divi"(%a, %b) <{signedness = #pto.signedness<unsigned>}> : (i32, i32) -> i32':
    "%r = pto.divi %a, %b unsigned : i32",
    '%r = "pto.cmpi"(%a, %b) <{predicate = #pto.scalar_cmp_predicate<lt>, '
    "signedness = #pto<signedness signed>}> : (i32, i32) -> i1":
    "%r = pto.cmpi lt %a, %b signed : i32",
    '%r = "pto.ftof"(%h) : (f16) -> f32': "%r = pto.ftof %h : f16 -> f32",
}  # fmt: skip


def text_of(statement: str) -> str:
    return f"func.func @f({ARGUMENTS}) {{\n  {statement}\n  return\n}}\n"


@every("statement", SAME)
def test_it_is_the_page_of_another_dialect(statement: str) -> None:
    program, meant = pto.loads(text_of(statement)), pto.loads(text_of(SAME[statement]))
    op, other = (p.module.funcs[0].body.ops[0] for p in (program, meant))
    assert isinstance(op, Op)
    assert isinstance(other, Op)
    assert op.page is other.page
    assert op.attrs == other.attrs
    assert program.text("dps") == program.text("dps", dialect="v0.64") == text_of(statement)
    assert program.text("dps", dialect="v0.57") == meant.text("dps")
    assert program.text("cpp") == meant.text("cpp")
    assert program.check("all") == meant.check("all")


@every("statement", ALSO)
def test_other_spellings_are_printed_as_the_first(statement: str) -> None:
    reads_back(text_of(statement))
    assert pto.loads(text_of(statement)).text("dps") == text_of(ALSO[statement])


def test_what_the_text_has_of_other_dialects_stays() -> None:
    for statement in SAME.values():
        printed = pto.loads(text_of(statement)).text("dps", dialect="v0.64")
        assert printed == pto.loads(text_of(statement)).text("dps")
        assert " pto." not in printed


@every(
    "statement",
    [
        "%r = pto.addf %v, %v : vector<4xf32>",
        "%r = pto.addi %w, %w : vector<4xi16>",
        "%r = pto.constant dense<1.0> : vector<4xf32>",
        "%r = pto.select %c, %v, %v : vector<4xf32>",
        "%r = pto.cmpf gt %v, %v : vector<4xf32>",
        "%r = pto.ftof %x round(h) : f32 -> f16",
        "%r = pto.ftoi %x signed round(h) sat : f32 -> i32",
        "%r = pto.absi %a unsigned : i32",
        '%r = "pto.negf"(%v) : (vector<4xf32>) -> vector<4xf32>',
    ],
)
def test_what_is_of_the_level_below_is_kept_and_not_judged(statement: str) -> None:
    program = pto.loads(text_of(statement))
    assert program.text("dps") == text_of(statement)
    assert [(d.slug, d.is_error) for d in program.check("cpu")] == [("foreign-op", False)]


@every(
    ("statement", "slug"),
    [
        ("%r = pto.divi %a, %b : i32", "syntax-error"),
        ("%r = pto.muli %a, %b signed : i32", "syntax-error"),
        ("%r = pto.divi %a, %b signed unsigned : i32", "syntax-error"),
        ("%r = pto.cmpi slt, %a, %b : i32", "syntax-error"),
        ("%r = pto.cmpi older %a, %b signed : i32", "unknown-word"),
        ("%r = pto.cmpi ord %a, %b signed : i32", "unknown-word"),
        ("%r = pto.addi %x, %y : f32", "type-mismatch"),
        ("%r = pto.addi %a : i32", "operand-count"),
        ("%r = pto.addi %a, %b : i64", "type-mismatch"),
        ("%r = pto.exp %x, %y : f32, f32, f32 -> f32", "operand-count"),
        ('%r = "pto.divi"(%a, %b) : (i32, i32) -> i32', "syntax-error"),
        ('%r = "pto.ftof"(%h) ) : (f16) -> f32', "syntax-error"),
    ],
)
def test_what_is_wrong_is_said(statement: str, slug: str) -> None:
    assert refused(text_of(statement)) == {slug}


def test_they_run(engine: str) -> None:
    text = """\
func.func @f(%all: i32, %x: f32, %out: !pto.ptr<i32>) {
  %c0 = pto.constant 0 : index
  %eight = pto.constant 8 : i32
  %whole = pto.ceildiv %all, %eight signed : i32
  %rest = pto.remi %all, %eight unsigned : i32
  %less = pto.cmpi lt %all, %rest signed : i32
  %under = pto.negi %rest : i32
  %chosen = pto.select %less, %under, %whole : i32
  %bits = pto.bitcast %x : f32 -> i32
  %shifted = pto.shr %bits, %eight unsigned : i32
  %sum = pto.addi %chosen, %shifted : i32
  pto.store %sum, %out[%c0] : !pto.ptr<i32>, i32
  return
}
"""
    for number in (-3, 21):
        found = pto.loads(text).run(all=number, x=-0.5, out=np.zeros(1, np.int32), engine=engine)
        rest = number % 2**32 % 8
        chosen = -rest if number < rest else -(-number // 8)
        assert found["out"].tolist() == [chosen + (0xBF000000 >> 8)]
