"""Signals between cores in compiled code: what the reference does, without a call back."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import numpy as np
import pytest

from every import every
from fuzz.scale import scaled
from native.outcomes import ENGINES, outcome
from native.pipekernel import repeated
from ptokit.engines.native.frame import Purpose
from ptokit.engines.reference.engine import InterpretedKernel

SYNCALL = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<{}>"
ADDED = """\
%n{0} = pto.load_scalar %g[0] : !pto.ptr<i32> -> i32
%k{0} = arith.muli %n{0}, 3 : i32
%m{0} = arith.addi %k{0}, %id : i32
pto.store_scalar %m{0}, %g[0] : !pto.ptr<i32>, i32"""


def kernel(vector: str, cube: str) -> str:
    """What the vector cores and the cube do, with a number of their own."""
    return f"""
func.func @f(%g: !pto.ptr<i32>) {{
  %c3 = arith.constant 3 : index
  %lane = pto.get_subblock_idx
  %here = arith.trunci %lane : i64 to i32
  %number = pto.get_block_idx
  %block = arith.trunci %number : i64 to i32
  %twice = arith.addi %block, %block : i32
  %id = arith.addi %twice, %here : i32
  %which = arith.index_cast %lane : i64 to index
  %first = arith.cmpi eq, %which, 0 : index
  %two = arith.addi %which, 1 : index
  pto.section.vector {{
{vector}
  }}
  pto.section.cube {{
{cube}
  }}
  return
}}"""


ACROSS = "pto.sync.set <PIPE_MTE3>, 1", "pto.sync.wait <PIPE_MTE2>, 1"
BOTH = f"{ACROSS[1]}\npto.wait_intra_block <PIPE_MTE2>, 17"
BACK = "pto.sync.set <PIPE_FIX>, %c3", "pto.sync.wait <PIPE_MTE2>, %c3"
LANES = "pto.sync.set <PIPE_MTE3>, 5 {ffts_mode = 1}\npto.sync.wait <PIPE_MTE2>, 5"
EVERYWHERE = "pto.set_cross_block <PIPE_MTE3>, 6\npto.wait_cross_block <PIPE_MTE3>, 6"
MEET = SYNCALL.format("mix")


def ran(text: str, engine: str, target: str, blocks: int) -> str:
    """The bytes, or the error."""
    given = {"g": np.arange(1, 5, dtype=np.int32)}
    return str(outcome(text, given, engine=engine, target=target, blocks=blocks))


def both(text: str, target: str, blocks: int) -> str:
    """What both engines come to."""
    one, other = (ran(text, engine, target, blocks) for engine in ENGINES)
    assert one == other
    return one


@every("blocks", [1, 3])
@every("target", ["cpu", "a2a3", "a5"])
def test_cores_that_signal_switch_in_compiled_code(target: str, blocks: int) -> None:
    """Nothing calls back, in no mode."""
    awaited = BOTH if target == "a5" else ACROSS[1]
    vector = repeated(ADDED.format(0), ACROSS[0], BACK[1], LANES, EVERYWHERE, MEET)
    text = kernel(vector, repeated(awaited, ADDED.format(1), BACK[0], EVERYWHERE, MEET))
    expected = ran(text, "reference", target, blocks)
    assert "deadlock" not in expected
    with patch("ptokit.engines.native.session.Worker._execute") as calls:
        assert ran(text, "native", target, blocks) == expected
    purposes = {call.args[0].purpose for call in calls.call_args_list}
    assert purposes <= {Purpose.LOOK}  # twenty times a second


def statements(random: Random, *, inside: bool = False) -> str:
    """A few signals and waits, which may fit or not."""
    lines = list[str]()
    for _ in range(random.randint(1, 4)):
        number, mode = random.choice(("1", "%two", "2")), random.choice((0, 1, 2, 2, 2))
        own, pipe = random.choice((1, 1, 17)), random.choice(("MTE3", "FIX"))
        cross = f"<PIPE_{pipe}>, {random.choice((1, 2))}"
        choice = (
            f"pto.sync.set <PIPE_{pipe}>, {number} {{ffts_mode = {mode}}}",
            f"pto.sync.wait <PIPE_MTE2>, {number}",
            f"pto.set_intra_block <PIPE_{pipe}>, {own}",
            f"pto.wait_intra_block <PIPE_{pipe}>, {own}",
            f"pto.set_cross_block {cross}\npto.wait_cross_block {cross}",
            SYNCALL.format(random.choice(("mix", "aiv_only", "aic_only"))),
            ADDED.format(random.randrange(10**9)),
            ADDED.format(random.randrange(10**9)),
        )
        line = random.choice(choice)
        if not inside and random.random() < 0.2:
            line = repeated(statements(random, inside=True))
        lines.append(f"scf.if %first {{\n{line}\n}}" if random.random() < 0.1 else line)
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(scaled(5)))
def test_engines_agree_on_random_signals(seed: int) -> None:
    random = Random(seed)
    text = kernel(statements(random), statements(random))
    target, blocks = random.choice(("cpu", "a2a3", "a5")), random.choice((1, 1, 2))
    both(text, target, blocks)


def held(lines: str, queue: str) -> str:
    """The lines, where a queue waits for a flag that is raised behind them."""
    word, ends = "pto.{}_flag", f"[<PIPE_M>, <PIPE_{queue}>, <EVENT_ID7>]"
    return f"{word.format('wait')}{ends}\n{lines}\n{word.format('set')}{ends}"


@pytest.mark.parametrize("seed", range(scaled(8)))
def test_engines_agree_where_queues_wait_for_signals(seed: int) -> None:
    random = Random(seed)
    sections = [statements(random) for _ in range(2)]
    some = random.choice(((0,), (1,), (0, 1)))
    for which in some:
        sections[which] = held(sections[which], random.choice(("V", "MTE2", "MTE3", "FIX")))
    text = kernel(*sections)
    target, blocks = random.choice(("cpu", "a2a3", "a5", "a5")), random.choice((1, 1, 2))
    both(text, target, blocks)


@every("target", ["cpu", "a2a3", "a5"])
def test_queues_that_wait_for_signals_are_machine_code(target: str) -> None:
    vector = held(repeated(ACROSS[0], LANES, EVERYWHERE), "V")
    awaited = BOTH if target == "a5" else ACROSS[1]
    text = kernel(f"{vector}\n{MEET}", f"{held(repeated(awaited, EVERYWHERE), 'V')}\n{MEET}")
    expected = ran(text, "reference", target, 2)
    assert "deadlock" not in expected
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        assert ran(text, "native", target, 2) == expected


@pytest.mark.parametrize("number", ["16", "40", "%c3"])
def test_any_number_is_a_signal_off_a5(number: str, engine: str) -> None:
    """Compiled code has 32; a vector core took those from 16 on for others."""
    sent, awaited = f"pto.sync.set <PIPE_FIX>, {number}", f"pto.sync.wait <PIPE_V>, {number}"
    text = kernel(awaited, f"{ADDED.format(0)}\n{sent}")
    assert ran(text, engine, "cpu", 2) == str({"g": np.array([11, 2, 3, 4], np.int32).tobytes()})


@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_the_cube_waits_for_each_vector_core(target: str, engine: str) -> None:
    """By numbers that are the second one's, as a5 has them: cpu does so where a kernel says so."""
    sent = "pto.set_intra_block <PIPE_MTE3>, 3"
    awaited = (f"pto.wait_intra_block <PIPE_MTE1>, {number}" for number in (3, 19))
    found = ran(kernel(sent, "\n".join(awaited)), engine, target, 1)
    assert "deadlock" not in found
    alone = kernel(f"scf.if %first {{\n{sent}\n}}", "pto.wait_intra_block <PIPE_MTE1>, 19")
    assert "for signal 19 of this core" in ran(alone, engine, target, 1)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_it_is_found_once_who_has_not_come(engine: str) -> None:
    """For each that waited it was looked for among all cores: a minute for 512 blocks."""
    where = "ptokit.order.signalcounters.late"
    with patch(where, return_value="NOBODY") as found:
        assert ran(kernel(MEET, ""), engine, "a5", 8).count("NOBODY") == 16
    found.assert_called_once()


def test_who_has_not_come_is_named() -> None:
    text = kernel(MEET, f"scf.if %first {{\n{ADDED.format(0)}\n}}")
    said = both(text, "a5", 3)
    assert "the cube core of block 0 and 2 more have not arrived" in said


def test_cores_signal_in_groups_of_their_own() -> None:
    """Who signals its block does not stand in for it among those that signal the cube."""
    to_block, to_cube = (f"pto.sync.set <PIPE_MTE3>, 3 {{ffts_mode = {mode}}}" for mode in (1, 2))
    vector = f"scf.if %first {{\n{to_block}\n}} else {{\n{to_cube}\n}}"
    text = kernel(vector, "pto.sync.wait <PIPE_MTE2>, 3")
    found = both(text, "a2a3", 1)
    assert "the cube core of block 0 waits forever" in found


def test_the_cube_is_none_of_the_vector_cores_of_its_block() -> None:
    """Its signal in mode 1 reaches nobody."""
    text = kernel("pto.sync.wait <PIPE_MTE2>, 3", "pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 1}")
    found = both(text, "a2a3", 1)
    assert "the vector core 0 of block 0 waits forever" in found


FEW = """
func.func @f(%g: !pto.ptr<i32>, %w: !pto.ptr<i32>) attributes {{
    pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %id = pto.get_block_idx
  %n = arith.trunci %id : i64 to i32
  %b = arith.index_cast %id : i64 to index
  %o = arith.subi 1, %b : index
  %t = arith.addi %b, 2 : index
  %few = arith.cmpi ult, %b, 2 : index
  scf.if %few {{
    pto.store_scalar %n, %g[%b] : !pto.ptr<i32>, i32
    pto.syncall(%w, %used : !pto.ptr<i32>, i32) mode = #pto.sync_all_mode<soft>, \
core_type = #pto.sync_core_type<{}>
    %v = pto.load_scalar %g[%o] : !pto.ptr<i32> -> i32
    pto.store_scalar %v, %g[%t] : !pto.ptr<i32>, i32
  }}
  return
}}"""


@every(("kind", "used"), [("aiv_only", 2), ("aiv_only", 3), ("aic_only", 2)])
@every("engine", ENGINES)
def test_so_many_cores_meet_as_the_program_says(engine: str, kind: str, used: int) -> None:
    text = FEW.format(kind).replace("%id =", f"%used = arith.constant {used} : i32\n  %id =")
    given = {"g": np.full(4, 9, np.int32), "w": np.zeros(16, np.int32)}
    found = str(outcome(text, given, engine=engine, target="a2a3", blocks=4))
    if kind == "aic_only":
        assert "the launch has no cube cores" in found
    elif used == 2:
        assert str(np.array([0, 1, 1, 0], np.int32).tobytes())[2:-1] in found
    else:
        assert "deadlock" in found
