"""Programs with some flags of their own: what is missing is added, or they stay with a warning."""

from __future__ import annotations

from pathlib import Path
from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, T, V, stream

import pytest
from click.testing import CliRunner

import ptokit as pto
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.ownflags import KeptFlagsWarning
from ptokit.passes.pipeline import run_passes
from ptokit.tools import cli

CHIPS = ["a2a3", "a5"]
NO_STORE_PAIR = [line for line in [*LOAD, *ADD, *STORE] if "V>, <PIPE_MTE3" not in line]
WAIT = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID{}>]"
SET = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID{}>]"
# only the first of two loads has a flag
TWO_LOADS = f"""\
func.func @two(%x: {V}, %y: {V}, %z: {V}) {{
  %a = pto.alloc_tile : {T}
  %b = pto.alloc_tile : {T}
  pto.tload ins(%x : {V}) outs(%a : {T})
  {SET.format(0)}
  pto.tload ins(%y : {V}) outs(%b : {T})
  {WAIT.format(0)}
  pto.tadd ins(%a, %a : {T}, {T}) outs(%a : {T})
  pto.tadd ins(%b, %b : {T}, {T}) outs(%b : {T})
  pto.tstore ins(%b : {T}) outs(%z : {V})
  return
}}
"""


def after(text: str, chip: str, *passes: str) -> str:
    return Program(run_passes(pto.loads(text).module, passes, TARGETS[chip])).text()


def slugs(text: str, chip: str) -> set[str]:
    return {found.slug for found in pto.loads(text).races(chip)}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("text", [TWO_LOADS, stream(PRIME, NO_STORE_PAIR, DRAIN)])
def test_what_is_missing_beside_its_own_flags_is_added(text: str, chip: str) -> None:
    placed = after(text, chip, "place")
    assert "hazard" in slugs(placed, chip)
    made = after(placed, chip, "synchronise")
    assert slugs(made, chip) == set()
    assert set(placed.splitlines()) < set(made.splitlines()), "its own stay"
    assert after(made, chip, "synchronise") == made


def test_its_own_ids_are_not_given_again() -> None:
    made = after(TWO_LOADS, "a5", "synchronise")
    assert made.count(SET.format(0)) == made.count(SET.format(1)) == 1


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("iterations", ["%c4", "%n"])
def test_flags_that_order_all_stay_alone(iterations: str, chip: str) -> None:
    placed = after(stream(*RIGHT, iterations), chip, "place")
    assert after(placed, chip, "synchronise") == placed


TWICE = TWO_LOADS.replace(WAIT.format(0), f"{SET.format(0)}\n  {WAIT.format(0)}").replace(
    "  pto.tadd ins(%b", f"  {WAIT.format(0)}\n  pto.tadd ins(%b"
)
MEETING = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv>"
FAULTY = {
    "a wait never completes": stream([], RIGHT[1], []),
    "a flag is set and never waited for": stream(PRIME, NO_STORE_PAIR, []),
    "may be set twice": TWICE,
}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("why", FAULTY)
def test_flags_that_are_wrong_themselves_stay_with_a_warning(why: str, chip: str) -> None:
    placed = after(FAULTY[why], chip, "place")
    with pytest.warns(KeptFlagsWarning, match=f"^@.*: .*{why}.*desynchronise,synchronise"):
        assert after(placed, chip, "synchronise") == placed
    assert slugs(after(placed, chip, "desynchronise", "synchronise"), chip) == set()


def test_the_command_line_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "kernel.pto").write_text(FAULTY["a wait never completes"], encoding="utf-8")
    words = ["opt", "--passes", "synchronise", "--target", "a5", str(tmp_path / "kernel.pto")]
    result = CliRunner().invoke(cli.main, words)
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: @stream: existing synchronisation is kept")


def test_where_other_cores_are_told_something_barriers_stay() -> None:
    barrier, fence = "pto.barrier <PIPE_ALL>", "pto.fence.barrier_all #pto.fence_scope<gm>"
    text = TWO_LOADS.replace("  return", f"  {barrier}\n  {fence}\n  return")
    bare = after(text, "a2a3", "desynchronise")
    assert ("pto.barrier" in bare, "pto.fence" in bare, "_flag" in bare) == (False, True, False)
    bare = after(text.replace(fence, MEETING), "a2a3", "desynchronise")
    assert ("pto.barrier" in bare, "pto.syncall" in bare, "_flag" in bare) == (True, True, False)


@pytest.mark.parametrize("chip", CHIPS)
def test_cores_that_meet_are_synchronised_for_themselves(chip: str) -> None:
    lines = [line for line in TWO_LOADS.splitlines() if "_flag" not in line]
    text = "\n".join(lines).replace("  return", f"  {MEETING}\n  return")
    made = after(text, chip, "synchronise")
    assert "pto.set_flag" in made
    assert slugs(made, chip) == set()
    assert after(made, chip, "synchronise") == made
