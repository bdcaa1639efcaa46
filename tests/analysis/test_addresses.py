"""Addresses that a program computes: judged over all iterations, or deferred to run time."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every

TILE = "!pto.tile_buf<vec, 16x32xf32>"  # 2048 bytes


def program(step: int, upper: str = "%eight") -> pto.Program:
    """A tile at `step` times the counter; another one is placed, as such are, from the end."""
    return pto.loads(f"""\
func.func @f(%n: index) {{
  %eight = arith.constant 8 : index
  %step = arith.constant {step} : i64
  %placed = pto.alloc_tile : {TILE}
  scf.for %i = 0 to {upper} step 1 {{
    %wide = arith.index_cast %i : index to i64
    %at = arith.muli %wide, %step : i64
    %t = pto.alloc_tile addr = %at : {TILE}
  }}
  return
}}
""")


def test_addresses_inside_are_legal() -> None:
    """On chips all tiles of a program have an address, or none."""
    verdicts = program(8192).verdicts("all")
    assert [([d.slug for d in v.diagnostics], v.left) for v in verdicts] == [
        ([], ()),
        (["level", "near-capacity"], ()),
        (["level", "near-capacity"], ()),
    ]


@every(("target", "first"), [("cpu", 8), ("a2a3", 3), ("a5", 4)])
def test_the_first_iteration_outside_is_named(target: str, first: int) -> None:
    found = program(65536).check(target)
    if first == 8:
        assert found == []
        return
    assert [d.slug for d in found if d.is_error] == ["level", "address-out-of-range"]
    assert f"at %i = {first}, iteration {first}" in str(found[1].seen)


def test_the_first_iteration_that_is_not_aligned_is_named() -> None:
    found = program(40).check("cpu")
    assert [d.slug for d in found] == ["address-misaligned"]
    assert "(40 % 32) at %i = 1, iteration 1" in str(found[0].seen)


def test_what_only_the_run_knows_is_listed() -> None:
    (verdict,) = program(2048, upper="%n").verdicts("a5")
    assert [d.slug for d in verdict.diagnostics if d.is_error] == ["level"]
    rules = [left.rule for left in verdict.left]
    assert any("addr + result.nbytes <= capacity" in rule for rule in rules)
    assert any("machine.alignment" in rule for rule in rules)
    assert "the tile does not overlap placed tiles at 260096 to 262143" in rules


@pytest.mark.parametrize(
    "line",
    [
        "%t = pto.alloc_tile addr = %a",
        f"%t = pto.tassign %s, %a : {TILE} -> !pto.unheard<of>",
    ],
)
def test_a_tile_without_a_type_at_an_address_of_the_run_overlaps_nothing(line: str) -> None:
    for verdict in pto.loads(f".arg %a : i64\n%p = pto.alloc_tile : {TILE}\n{line}\n").verdicts(
        "all"
    ):
        assert not [left for left in verdict.left if "tiles are placed" in left.rule]


def test_more_iterations_than_fit_64_bits_are_judged() -> None:
    text = f"""func.func @f() {{
  scf.for %i = -9223372036854775808 to 9223372036854775807 step 1 : i64 {{
    %t = pto.alloc_tile addr = %i : {TILE}
  }}
  return
}}
"""
    found = [d for d in pto.loads(text).check("a5") if d.is_error]
    assert found
    assert "iteration 0" in str(found[0].seen)


def test_a_value_that_a_loop_carries_has_no_address_to_outlive() -> None:
    """The form with results of a loop that works in place is as legal as it was with operands."""
    text = f"""\
func.func @f(%p: !pto.partition_tensor_view<16x32xf32>) {{
  %t = pto.alloc_tile : {TILE}
  pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%t : {TILE})
  scf.for %i = 0 to 4 step 1 {{
    pto.texp ins(%t : {TILE}) outs(%t : {TILE})
  }}
  pto.tstore ins(%t : {TILE}) outs(%p : !pto.partition_tensor_view<16x32xf32>)
  return
}}
"""
    ssa = pto.loads(text).text("ssa")
    assert "iter_args" in ssa
    assert pto.loads(ssa).check("all") == pto.loads(text).check("all") == []
