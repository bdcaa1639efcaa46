"""Passes that run a program say of an illegal one what `check` says, whatever is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import ptokit as pto
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import LEVEL3

STRUCT = "!pto.struct<!pto.struct<f32, i8>, i16>"
WRONG = {
    "a path beyond the fields": f"""
        %s = pto.declare_struct -> {STRUCT}
        %x = pto.struct_get %s[4095, 1] : {STRUCT} -> i8""",
    "an unknown instruction": "pto.tad",
    "shapes that differ": """
        %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
        %b = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
        pto.tadd ins(%a, %b : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x32xf32>)
            outs(%a : !pto.tile_buf<vec, 16x16xf32>)""",
}


@pytest.mark.parametrize("passes", [["place"], ["synchronise"], LEVEL3])
@pytest.mark.parametrize("wrong", WRONG)
def test_the_errors_of_check_come_first(wrong: str, passes: Sequence[str]) -> None:
    program = pto.loads(f"func.func @f() {{\n{WRONG[wrong]}\nreturn\n}}")
    errors = [d for d in program.check("a5") if d.is_error]
    assert errors
    with pytest.raises(pto.PtoError) as problem:
        program.after(passes, TARGETS["a5"])
    found = problem.value.diagnostics
    assert [(d.slug, d.message, d.span) for d in found] == [
        (d.slug, d.message, d.span) for d in errors
    ]


def test_types_left_out_are_a_diagnostic() -> None:
    program = pto.loads("%a = arith.constant 4096 : i32\n%b = arith.index_cast %a : i32 to dtype")
    with pytest.raises(pto.PtoError, match=r"type-omitted.*%b"):
        program.after(["synchronise"], TARGETS["a2a3"])


def test_passes_that_only_change_the_form_take_any_program() -> None:
    program = pto.loads(f"func.func @f() {{\n{WRONG['a path beyond the fields']}\nreturn\n}}")
    assert "4095" in program.after(["to_dps", "scratch"], TARGETS["a5"]).text()
