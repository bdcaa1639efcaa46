"""What cores exchange and does not add up: found without arguments as in a run on arrays."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled
from ptokit.diagnostics.diagnostic import PtoError, Severity

T, M = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<mat, 16x16xf32>"
CHIPS = ["a2a3", "a5"]
Found = set[tuple[str, bool]]  # slugs, and whether they are errors


def found(text: str, chip: str, **arguments: Any) -> Found:  # Any: an array, or a number
    try:
        every = pto.loads(text).races(chip, **arguments)
    except PtoError as problem:
        every = problem.diagnostics
    return {(d.slug, d.is_error) for d in every if d.severity is not Severity.HINT}


def queue(pushes: str, pops: str, frees: str, slots: int = 4) -> str:
    """So many entries are pushed and popped, and so many slots given back, each after its pop."""
    return f"""\
func.func @queue(%g: !pto.ptr<f32>, %n: index, %m: index) {{
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %twice = arith.muli %n, %c2 : index
  %half = arith.divui %n, %c2 : index
  %even = arith.muli %half, %c2 : index
  %next = arith.addi %n, %c1 : index
  %most = arith.minui %n, %c3 : index
  %beyond = arith.addi %n, %c9 : index
  %b = pto.reserve_buffer {{name = "entries", size = {1024 * slots}, \
location = #pto.address_space<mat>, auto = true}} -> i32
  %pipe = pto.initialize_l2l_pipe {{dir_mask = 2, slot_size = 1024, slot_num = {slots}}} \
(%b : i32) -> !pto.pipe
  pto.section.vector {{
    %t = pto.alloc_tile : {T}
    pto.texpands ins(2.0 : f32) outs(%t : {T})
    pto.barrier <PIPE_ALL>
    scf.for %i = 0 to {pushes} step %c1 {{
      pto.tpush(%t, %pipe : {T}, !pto.pipe) {{split = 0}}
    }}
  }}
  pto.section.cube {{
    %m0 = pto.declare_tile -> {M}
    scf.for %i = 0 to {pops} step %c1 {{
      pto.tpop(%m0, %pipe : {M}, !pto.pipe) {{split = 0}}
      pto.barrier <PIPE_ALL>
      %more = arith.cmpi slt, %i, {frees} : index
      scf.if %more {{
        pto.tfree(%pipe : !pto.pipe) {{split = 0}}
      }}
    }}
  }}
  return
}}"""


def expected(text: str, chip: str, what: Found) -> None:
    """The same without arguments and on arrays."""
    memory = np.zeros(256, np.float32)
    assert found(text, chip) == what
    assert found(text, chip, g=memory, n=3, m=3) == what


@pytest.mark.parametrize("chip", sampled(CHIPS, 2))
def test_both_ends_push_and_pop_as_often(chip: str) -> None:
    expected(queue("%c9", "%c9", "%c9"), chip, set())
    expected(queue("%n", "%n", "%n"), chip, set())
    expected(queue("%c2", "%c3", "%c3"), chip, {("deadlock", True)})
    expected(queue("%c9", "%c3", "%c3"), chip, {("deadlock", True)})  # all slots are full
    expected(queue("%c3", "%c2", "%c2"), chip, {("exchange-left", False)})


def test_each_slot_is_given_back_where_pops_do_not() -> None:
    kept = queue("%c3", "%c3", "%c1")
    expected(kept, "a5", {("exchange-left", False)})
    expected(kept, "a2a3", set())
    expected(queue("%c9", "%c9", "%c1"), "a5", {("deadlock", True)})


@pytest.mark.parametrize("chip", sampled(CHIPS, 2))
def test_numbers_that_go_together_decide_where_extents_are_not_known(chip: str) -> None:
    """Loops of other extents than chosen ones: what they exchange adds up for each %n."""
    two = f"pto.tpush(%t, %pipe : {T}, !pto.pipe) {{split = 0}}"
    text = queue("%n", "%twice", "%twice").replace(two, f"{two}\n{two}")
    assert text.count(two) == 2
    expected(text, chip, set())


RIGHT, LEFT, NEVER, SOME = (
    set[Any](),
    ("exchange-left", False),
    ("deadlock", True),
    ("deadlock", False),
)


RELATED = [
    ("n", "n", RIGHT),
    ("next", "next", RIGHT),
    ("half", "half", RIGHT),
    ("n", "m", RIGHT),  # the caller sees to it
    ("n", "next", {NEVER}),
    ("next", "n", {LEFT}),
    ("beyond", "n", {NEVER}),  # all slots are full
    ("n", "beyond", {NEVER}),
    ("twice", "n", {NEVER, LEFT}),  # left over as long as they fit
    ("n", "twice", {NEVER}),
    ("half", "n", {NEVER}),
    ("n", "half", {NEVER, LEFT}),
    ("even", "n", {SOME}),  # right where %n is even
    ("n", "even", {LEFT}),
    ("most", "n", {SOME}),  # right up to 3
]
WAYS = [*product(CHIPS, (False, True))]
# every third relation in one of the ways; from PTOKIT_FUZZ = 12 on, each in all of them
CASES = sampled(
    [(*row, *way) for n, row in enumerate(RELATED) for way in (WAYS * 2)[n // 2 % 4 :][:4]], 12
)


@pytest.mark.parametrize(("pushes", "pops", "what", "chip", "flags"), CASES)
def test_ends_in_loops_whose_extents_are_related(
    pushes: str, pops: str, what: Found, chip: str, *, flags: bool
) -> None:
    """Whatever %n is: trial numbers find what does not add up, and nothing where it does."""
    free = "pto.tfree(%pipe : !pto.pipe) {split = 0}"
    text = queue(f"%{pushes}", f"%{pops}", f"%{pops}")
    text = text.replace(f"scf.if %more {{\n        {free}\n      }}", free)
    assert "scf.if" not in text
    if not flags:
        text = text.replace("pto.barrier <PIPE_ALL>", "")
    assert found(text, chip) - {("not-synchronised", False)} == what


@pytest.mark.parametrize("chip", sampled(CHIPS[::-1], 2))
def test_a_deadlock_on_all_numbers_is_an_error_with_one_of_them(chip: str) -> None:
    problems = pto.loads(queue("%n", "%next", "%next")).races(chip)
    (one,) = [d for d in problems if d.slug == "deadlock"]
    told = "with %n = 1, %m = 1, as with all other sample arguments"
    assert one.notes[-1].message == told


def signals(sent: str, awaited: str) -> str:
    return f"""\
func.func @signals(%g: !pto.ptr<f32>, %n: index, %m: index) {{
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %few = arith.cmpi slt, %n, %c9 : index
  pto.section.vector {{
    {sent}
    pto.barrier <PIPE_ALL>
  }}
  pto.section.cube {{
    {awaited}
  }}
  return
}}"""


SENT, AWAITED = "pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2}", "pto.sync.wait <PIPE_MTE2>, 3"
SECOND = "pto.wait_intra_block <PIPE_MTE2>, 19"
MEETING = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
IF = "scf.if %few {{\n{}\n}}"


@pytest.mark.parametrize("chip", sampled(CHIPS[::-1], 2))
@pytest.mark.parametrize(
    ("sent", "awaited", "what"),
    [
        (SENT, AWAITED, set[object]()),
        ("", AWAITED, {("deadlock", True)}),
        (SENT, "", {("exchange-left", False)}),
        (SENT.replace(" 3 {", " 4 {"), AWAITED, {("deadlock", True)}),
        (f"{SENT}\n{SENT}", AWAITED, {("exchange-left", False)}),
        (SENT, f"{AWAITED}\n{AWAITED}", {("deadlock", True)}),
        (MEETING, MEETING, set[object]()),
        (MEETING, "", {("deadlock", True)}),
    ],
)
def test_each_signal_is_waited_for(sent: str, awaited: str, what: Found, chip: str) -> None:
    """On A5 the second vector core counts up a number of its own at the cube."""
    both = awaited.replace(AWAITED, f"{AWAITED}\n{SECOND}") if chip == "a5" else awaited
    expected(signals(sent, both), chip, what)


def test_a_signal_of_one_vector_core_is_left_where_only_the_other_one_is_waited_for() -> None:
    expected(signals(SENT, AWAITED), "a5", {("exchange-left", False)})


@pytest.mark.parametrize("chip", sampled(CHIPS, 2))
def test_a_branch_that_only_one_core_takes_is_a_warning_with_its_numbers(chip: str) -> None:
    awaits = f"{AWAITED}\n{SECOND}" if chip == "a5" else AWAITED
    text = signals(IF.format(SENT), awaits)
    assert found(text, chip) == {("deadlock", False)}
    (warning,) = pto.loads(text).races(chip)
    assert [n.message for n in warning.notes] == ["with %n = 9, %m = 9"]
    assert found(signals(IF.format(SENT), IF.format(awaits)), chip) == set()


@pytest.mark.parametrize("chip", CHIPS)
def test_signals_that_instructions_use_themselves_are_not_for_the_program(chip: str) -> None:
    """A FIFO with flag_base has that signal and the next one, and cores that meet have theirs."""
    number = SENT, f"{AWAITED}\n{SECOND}" if chip == "a5" else AWAITED
    for signal, clash in [(3, False), (11, True), (13, True), (15, False)]:
        sent, awaits = (
            words.replace(" 3", f" {signal}").replace("19", str(16 + signal)) for words in number
        )
        text = signals(f"{sent}\n{MEETING}", f"{awaits}\n{MEETING}")
        expected(text, chip, {("flag-clash", False)} if clash else set())
    for base, clash in [(3, True), (2, True), (1, False), (4, False)]:
        text = queue("%c3", "%c3", "%c3").replace(
            "slot_num = 4}", f"slot_num = 4, flag_base = {base}}}"
        )
        end = text.index("  }\n  pto.section.cube")
        text = f"{text[:end]}    {SENT}\n{text[end:]}"
        text = text.removesuffix("  }\n  return\n}") + f"    {AWAITED}\n  }}\n  return\n}}"
        expected(text, chip, {("flag-clash", False)} if clash else set())
