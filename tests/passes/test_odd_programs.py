"""Programs that nobody means: passes and races end with a diagnostic, or a program.

Of an illegal program passes say what `check` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

import ptokit as pto
from every import every
from ptokit.explore import drylaunch
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.pathconditions import PathChoice
from ptokit.isa.model.targets import TARGETS
from ptokit.order.issue import Issue
from ptokit.passes.pipeline import LEVEL3

TILE = "!pto.tile_buf<vec, 16x16xf32>"
KEPT = "!pto.eventid_array<14>"
STEPS = """\
func.func @f(%x: !pto.partition_tensor_view<16x16xf32>, %y: {}) {{
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%x : !pto.partition_tensor_view<16x16xf32>) outs(%t : {tile})
  {}
  pto.tstore ins(%t : {tile}) outs(%x : !pto.partition_tensor_view<16x16xf32>)
  return
}}
"""
ODD = {
    "an array that a core keeps": (KEPT, f"pto.eventid_array_set %y[0], 0 : {KEPT}"),
    "a larger one than any memory": ("!pto.eventid_array<4611686018427387904>", ""),
    "an argument beyond any memory": ("!pto.partition_tensor_view<16x2147483648xf32>", ""),
    "one whose size no number has": ("!pto.partition_tensor_view<16x576460752303423487xf32>", ""),
    "a tile where a view belongs": (
        TILE,
        f"pto.mgather ins(%y, %t : {TILE}, {TILE}) outs(%t : {TILE})",
    ),
}


@every("chip", ["a2a3", "a5"])
@every("what", ODD)
def test_passes_and_races_end(what: str, chip: str) -> None:
    text = STEPS.format(*ODD[what], tile=TILE)
    with suppress(pto.PtoError):
        pto.loads(text).after(["place", "synchronise"], TARGETS[chip])
    with suppress(pto.PtoError):
        pto.loads(text).races(chip)


def test_an_index_is_a_number() -> None:
    text = STEPS.format(KEPT, f"pto.eventid_array_set %y[%y], 0 : {KEPT}", tile=TILE)
    with pytest.raises(pto.PtoError, match="type-mismatch"):
        pto.loads(text)


@pytest.mark.parametrize("value", ["[]", "[] : i32"])
def test_an_attribute_has_a_value(value: str) -> None:
    with pytest.raises(pto.PtoError, match=r"core_type: missing value|0 operands, but 1 type"):
        pto.loads(f"pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = {value}")


def test_an_array_may_be_empty(engine: str) -> None:
    pto.loads("%ids = pto.declare_eventid_array -> !pto.eventid_array<0>").run(engine=engine)


def test_elements_that_count_downward_are_not_looked_for() -> None:
    """The check of undefined elements leaves views with negative strides to the run."""
    view = "!pto.tensor_view<16x16xf32>"
    text = f"""\
func.func @f(%x: !pto.ptr<f32>) {{
  %v = pto.make_tensor_view %x, shape = [16, 16], strides = [16, -64] : {view}
  %t = pto.alloc_tile : {TILE}
  pto.tload ins(%v : {view}) outs(%t : {TILE})
  pto.tstore ins(%t : {TILE}) outs(%v : {view})
  return
}}
"""
    assert "operand-value" in {d.slug for d in pto.loads(text).check("a5")}


def test_arguments_of_one_name_have_one_type() -> None:
    text = f"""\
func.func @cube(%y: {TILE}) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %up = pto.reserve_buffer {{name = "up", size = 4096, location = #pto.address_space<mat>, auto = true}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 2, slot_size = 1024}} (v2c_consumer_buf = %up : i32)
  return
}}
func.func @vector(%y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %up = pto.import_reserved_buffer {{name = "up", peer_func = @cube}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 2, slot_size = 1024}} (v2c_consumer_buf = %up : i32)
  return
}}
"""  # noqa: E501
    with pytest.raises(pto.PtoError, match="%y of @vector has another type"):
        pto.loads(text).run(target="a5", y=[1.0])


@every("sizes", ["[8]", "[8, 8, 8]", "[]", "[8, 8] valid [8]"])
def test_a_window_has_rows_and_columns(sizes: str) -> None:
    text = f"%t = pto.alloc_tile : {TILE}\n%d = pto.subset %t[0, 0] sizes {sizes} : {TILE}"
    try:
        assert any(d.is_error for d in pto.loads(text).check("all"))
    except pto.PtoError as problem:
        assert problem.diagnostics[0].slug != "internal"  # noqa: PT017 - either way is right


NONE = (
    "!pto.tile_buf<loc=vec, dtype=ui8, rows={}, cols={}, v_row=16, v_col=4, blayout=row_major, "
    "slayout=none_box, fractal=512, pad=0>"
)


@pytest.mark.parametrize("form", ["as", "ssa"])
def test_a_tile_without_rows_is_printed(form: str) -> None:
    none, tile = NONE.format(0, 32), "!pto.tile_buf<vec, 16x32xf32>"
    text = f"%a = pto.alloc_tile : {tile}\n%d = pto.alloc_tile : {none}\n"
    text += f"pto.tcmp ins(%a, %a : {tile}, {tile}) outs(%d : {none})"
    printed = pto.loads(text).text(form)
    assert pto.loads(printed).text(form) == printed


def test_tiles_without_extents_share_nothing() -> None:
    none = NONE.format(16, 0)
    text = f"%a = pto.alloc_tile : {none}\n"
    text += f"pto.ttrans ins(%a, %a : {none}, {none}) outs(%a : {none})"
    assert any(d.is_error for d in pto.loads(text).check("all"))


def test_operands_of_the_generic_form_are_values() -> None:
    text = '"pto.store_scalar"(9, 1, %v) : (!pto.ptr<f32>, index, f32) -> ()'
    with pytest.raises(pto.PtoError, match="are values, not numbers"):
        pto.loads(text)


def test_a_constant_of_the_generic_form_has_a_number() -> None:
    text = (
        'func.func @f() {\n  %z = "arith.constant"() <{i32 = 0 : index}> : () -> index\n  return\n}'
    )
    assert "unknown-attribute" in {d.slug for d in pto.loads(text).check("cpu")}


def test_a_tile_of_a_type_that_nobody_knows_is_not_made(engine: str) -> None:
    program = pto.loads(
        "%t = pto.alloc_tile : !pto.tile_buf<scaleleft, 16x4xf8EfM0FNU, , fractal=?>"
    )
    with pytest.raises(pto.PtoError, match="unknown-type"):
        program.run(engine=engine)
    program.races("a5")


def test_one_whole_run_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that reach little are many; each would take an endless loop up to the limit."""
    whole: list[str] = []
    issued = DryLaunch.issue

    def counted(launch: DryLaunch, choice: PathChoice, *rest: Any, checks: bool) -> Issue:
        try:
            return issued(launch, choice, *rest, checks=checks)
        except pto.PtoError as problem:
            whole.extend(d.slug for d in problem.diagnostics if choice.period is None)
            raise

    monkeypatch.setattr(DryLaunch, "issue", counted)
    monkeypatch.setattr(drylaunch, "MOST_ISSUED", 12_000)  # more than a shortened run issues
    text = f"""\
func.func @f(%n: i32) {{
  %t = pto.alloc_tile : {TILE}
  %never = arith.cmpi ult, 1, 0 : index
  scf.for %i = 0 to 4294967296 step 1 {{
    pto.tadds ins(%t, %n : {TILE}, i32) outs(%t : {TILE})
    scf.if %never {{
      pto.tneg ins(%t : {TILE}) outs(%t : {TILE})
    }}
  }}
  return
}}
"""
    text = text.replace("f32", "i32")
    assert "pto.tneg" in pto.loads(text).after(["place", "synchronise"], TARGETS["a5"]).text()
    assert whole == ["instruction-limit"]


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


@every("passes", [["place"], ["synchronise"], LEVEL3])
@every("wrong", WRONG)
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
