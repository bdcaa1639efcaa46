"""Hazards of the stream kernel of the manual of the pipes, with synchronisation taken away."""

from __future__ import annotations

from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, flag, stream
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.explore import drylaunch
from ptokit.explore.exploration import launch_issues
from ptokit.isa.model.targets import TARGETS
from ptokit.order.hazards import Findings, find
from ptokit.order.waiting import Post

BODY = [*LOAD, *ADD, *STORE]


def found(text: str, target: str = "a2a3") -> list[Findings]:
    machine = TARGETS[target]
    return [
        find(issue.cores, machine, issue.footprints.regions)
        for issue in launch_issues(pto.loads(text), machine)
    ]


def without(*lines: str) -> list[str]:
    return [line for line in BODY if line not in lines]


def hazards(text: str, target: str = "a2a3") -> set[tuple[str, str, str, int, int]]:
    """HazardKind, pipes and bytes of each hazard."""
    return {
        (h.kind.name, str(h.first.queue), str(h.second.queue), *h.bytes[1:])
        for some in found(text, target)
        for h in some.hazards
    }


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_the_right_order_is_clean_for_any_number_of_iterations(target: str) -> None:
    every = found(stream(*RIGHT), target)
    assert len(every) == 5  # numbers of iterations; there is no branch
    assert not any(every)


def in_a_long_loop(body: list[str], iterations: str) -> str:
    """The stream over so many tiles, which a loop of unknown extent repeats."""
    text = stream(PRIME, body, DRAIN, "%long")
    text = text.replace("  scf.for", f"  %long = arith.constant {iterations} : index\n  scf.for")
    head, _, tail = text.partition(PRIME[0])
    body_of_loop = PRIME[0] + tail.removesuffix("return\n}\n") + "pto.barrier <PIPE_ALL>\n"
    return f"{head}scf.for %j = %c0 to %n step %c1 {{\n  {body_of_loop}  }}\n  return\n}}\n"


@pytest.fixture
def few_issued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drylaunch, "MOST_ISSUED", 2_000)
    monkeypatch.setattr(drylaunch, "MOST_SHORTENED", 1_000)


@pytest.mark.usefixtures("few_issued")
@pytest.mark.parametrize("iterations", ["2000000", "2000001"])
def test_loops_that_are_too_long_to_be_issued_whole_are_shortened(iterations: str) -> None:
    """Their numbers of iterations stay even or odd: the last flags are of the right buffer."""
    every = found(in_a_long_loop(BODY, iterations))
    assert len(every) == 5
    assert not any(every)
    faulty = without(flag("wait", "v2", "b"), flag("set", "v2", "b"))
    assert ("WAR", "V", "MTE2", 0, 4096) in hazards(in_a_long_loop(faulty, iterations))


@pytest.mark.usefixtures("few_issued")
def test_the_last_iterations_of_a_shortened_loop_are_its_last() -> None:
    """Each iteration but the last sets a flag for the next one: without the last one it leaks."""
    text = f"""\
func.func @f(%x: !pto.tensor_view<1x64xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 999999 : index
  %n = arith.constant 1000000 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
  {flag("set", "v2", "c0")}
  scf.for %i = %c0 to %n step %c1 {{
    {flag("wait", "v2", "c0")}
    pto.tload ins(%x : !pto.tensor_view<1x64xf32>) outs(%t : !pto.tile_buf<vec, 1x64xf32>)
    {flag("set", "2v", "c0")}
    {flag("wait", "2v", "c0")}
    pto.tneg ins(%t : !pto.tile_buf<vec, 1x64xf32>) outs(%t : !pto.tile_buf<vec, 1x64xf32>)
    %more = arith.cmpi slt, %i, %last : index
    scf.if %more {{
      {flag("set", "v2", "c0")}
    }}
  }}
  return
}}
"""
    assert not any(found(text))


@pytest.mark.usefixtures("few_issued")
def test_a_run_that_stays_too_long_says_so() -> None:
    text = "func.func @f(%x: !pto.tensor_view<1x64xf32>) {\n%c0 = arith.constant 0 : index\n"
    text += "%c1 = arith.constant 1 : index\n%n = arith.constant 64 : index\n"
    text += "%t = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>\n"
    text += "".join(f"scf.for %i{n} = %c0 to %n step %c1 {{\n" for n in range(9))
    text += "pto.tload ins(%x : !pto.tensor_view<1x64xf32>)"
    text += " outs(%t : !pto.tile_buf<vec, 1x64xf32>)\npto.barrier <PIPE_ALL>\n"
    (warning,) = pto.loads(text + "}\n" * 9 + "return\n}\n").races("a2a3")
    assert warning.slug == "no-sample-run"
    assert "instruction limit of 1000" in str(warning)


def test_loads_that_wait_for_no_addition_overwrite_what_is_added() -> None:
    text = stream(PRIME, without(flag("wait", "v2", "b"), flag("set", "v2", "b")), DRAIN, "%c4")
    (one,) = found(text)
    assert hazards(text) == {("WAR", "V", "MTE2", 0, 4096)}  # what waits for it waits for the load
    assert {h.times for h in one.hazards} == {2}
    assert [str(post.ticket.channel) for post in one.posted_twice] == ["MTE2 -> V, id 0"]


def test_an_addition_that_waits_for_no_load_adds_stale_data() -> None:
    text = stream(PRIME, without(flag("wait", "2v", "b"), flag("set", "2v", "b")), DRAIN, "%c4")
    assert ("RAW", "MTE2", "V", 0, 4096) in hazards(text)


def test_queues_that_nobody_primed_never_go_on() -> None:
    (one,) = found(stream([], BODY, DRAIN, "%c4"))
    assert {str(e.queue) for e in one.stuck} == {"MTE2", "V", "MTE3"}


def test_flags_that_nobody_waits_for_are_left() -> None:
    (one,) = found(stream(PRIME, BODY, [], "%c4"))
    assert not one.hazards
    assert [str(post.ticket.channel) for post in one.left] == [
        *("V -> MTE2, id 0", "V -> MTE2, id 1"),
        *("MTE3 -> V, id 0", "MTE3 -> V, id 1"),
    ]


def test_the_vector_pipe_of_a2a3_needs_a_barrier() -> None:
    add, barrier = ADD[2], "pto.barrier <PIPE_V>"
    again = add.replace("%in, %in", "%out, %out")
    bare, ordered = [
        [*LOAD, *ADD[:2], *lines, *ADD[3:], *STORE]
        for lines in ([add, again], [add, barrier, again])
    ]
    assert hazards(stream(PRIME, bare, DRAIN)) == {
        ("RAW", "V", "V", 8192, 12288),
        ("WAW", "V", "V", 8192, 12288),
    }
    assert not hazards(stream(PRIME, ordered, DRAIN))
    assert not hazards(stream(PRIME, bare, DRAIN), "a5")


def test_a_barrier_of_all_pipes_orders_everything() -> None:
    work = [LOAD[1], ADD[2], STORE[1]]
    text = stream([], [line for one in work for line in (one, "pto.barrier <PIPE_ALL>")], [])
    assert not any(found(text))


def test_a_program_that_branches_on_a_number_is_looked_at_both_ways() -> None:
    condition = "%few = arith.cmpi slt, %n, %c4 : index"
    body = [condition, "scf.if %few {", *BODY[:3], "}", BODY[4], *BODY[3:4], *BODY[5:]]
    every = found(stream(PRIME, body, DRAIN))
    assert any(one.stuck for one in every)
    assert any(not one for one in every)


def test_a_loop_ends_where_it_depends_on_a_number_in_memory() -> None:
    """Its iterations are chosen, too: nobody knows what the scalar unit finds."""
    text = """\
!t = !pto.tile_buf<vec, 8x8xf32>
func.func @f(%x: !t) {
  %zero = arith.constant 0 : index
  %small = arith.constant 1.0e-3 : f32
  scf.while : () -> () {
    %first = pto.tgetval ins(%x, %zero : !t, index) outs : f32
    %more = arith.cmpf olt, %first, %small : f32
    scf.condition(%more)
  } do {
    pto.tadd ins(%x, %x : !t, !t) outs(%x : !t)
    scf.yield
  }
  return
}
"""
    program, machine = pto.loads(text), TARGETS["a2a3"]
    added = [
        sum(str(entry.queue) == "V" for entry in issue.cores[0])
        for issue in launch_issues(program, machine)
    ]
    assert sorted({*added}) == [0, 1, 2, 3, 5]


def test_memory_holds_a_number_with_which_the_run_is_legal() -> None:
    """Not 0, where the program divides by it."""
    text = """\
!t = !pto.tile_buf<vec, 8x8xi32>
func.func @f(%x: !t, %rows: index) {
  %zero = arith.constant 0 : index
  %first = pto.tgetval ins(%x, %zero : !t, index) outs : i32
  %step = arith.index_cast %first : i32 to index
  %iterations = arith.divui %rows, %step : index
  scf.for %i = %zero to %iterations step %iterations {
    pto.tadd ins(%x, %x : !t, !t) outs(%x : !t)
  }
  return
}
"""
    runs = launch_issues(pto.loads(text), TARGETS["a2a3"])
    queues = sorted("".join(str(entry.queue) for entry in run.cores[0]) for run in runs)
    assert queues == ["S", *("S" + "V" * iterations for iterations in (1, 2, 3, 5))]


def test_what_the_scalar_unit_keeps_in_an_array_is_known() -> None:
    """Ids of flags come from one: of which flag each set and wait is, the array says."""
    ids = [
        "%ids = pto.declare_eventid_array -> !pto.eventid_array<2>",
        "pto.eventid_array_set %ids[%c0], %c1 : !pto.eventid_array<2>",
        "pto.eventid_array_set %ids[%c1], %c0 : !pto.eventid_array<2>",
    ]
    other = "%k = pto.eventid_array_get %ids[%b] : !pto.eventid_array<2>"
    body = [other, *(line.replace("%b]", "%k]") for line in BODY)]
    assert not any(found(stream([*ids, *PRIME], body, DRAIN)))
    (issue,) = launch_issues(pto.loads(stream([*ids, *PRIME], body, DRAIN, "%c4")), TARGETS["a2a3"])
    posts = [entry for entry in issue.cores[0] if isinstance(entry, Post)]
    loads = [str(p.ticket.channel) for p in posts if str(p.queue) == "MTE2"]
    assert loads == ["MTE2 -> V, id 1", "MTE2 -> V, id 0"] * 2


def test_what_is_forgotten_of_a_cache_is_not_read() -> None:
    """An invalidation looks at no byte: those that follow are for who reads them."""
    view = LOAD[1].partition("(%x_i")[2].partition(")")[0]
    forget = f"pto.cmo.cacheinvalid %y_i single_cache_line{view}"
    assert not any(found(stream(PRIME, [*BODY, forget], DRAIN)))


def test_an_extent_in_memory_leaves_room_for_the_iterations_of_a_loop() -> None:
    """With none, only runs that take no iteration would be legal, and nothing be seen."""
    text = """\
!t = !pto.tile_buf<vec, 1x64xf32>
!v = !pto.tensor_view<?x64xf32>
!p = !pto.partition_tensor_view<1x64xf32>
func.func @f(%x: !pto.ptr<f32>, %n: !pto.ptr<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %found = pto.load_scalar %n[%c0] : !pto.ptr<i64> -> i64
  %rows = arith.index_cast %found : i64 to index
  %v = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !v
  %t = pto.alloc_tile : !t
  scf.for %i = %c0 to %rows step %c1 {
    %p = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c1, %c64] : !v -> !p
    pto.tload ins(%p : !p) outs(%t : !t)
    pto.tneg ins(%t : !t) outs(%t : !t)
  }
  pto.barrier <PIPE_ALL>
  return
}
"""
    assert len(found(text)) == 5
    assert ("RAW", "MTE2", "V", 0, 256) in hazards(text)


def of_two_blocks(element: str, store: str) -> set[str]:
    """Which kinds of hazards there are between blocks that store, and count at an element."""
    text = f"""\
func.func @f(%o: !pto.ptr<f32>, %n: !pto.ptr<i32>, %block_idx: i32) {{
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %b = arith.index_cast %block_idx : i32 to index
  %v = pto.make_tensor_view %o, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
  %count = pto.load_scalar %n[{element}] : !pto.ptr<i32> -> i32
  pto.store_scalar %count, %n[{element}] : !pto.ptr<i32>, i32
  pto.texpands ins(%zero : f32) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%v : !pto.tensor_view<1x8xf32>) {store}
  return
}}
"""
    machine = TARGETS["a2a3"]
    runs = launch_issues(pto.loads(text), machine, blocks=2)
    found = [h for i in runs for h in find(i.cores, machine, i.footprints.regions).hazards]
    return {f"{h.kind.name} of {h.second.op.name}" for h in found}


def test_blocks_add_in_any_order_and_count_at_elements_of_their_own() -> None:
    """An argument named after a place in the launch has its number in each block."""
    add = "{atomicType = #pto<atomic_type atomic_add>}"
    assert of_two_blocks("%b", add) == set()
    assert of_two_blocks("%b", "") == {"WAW of pto.tstore"}
    counted = {"RAW of pto.load_scalar", "WAW of pto.store_scalar"}
    assert of_two_blocks("%c0", add) == counted


@pytest.mark.parametrize("how", ["atomic_add", "set"])
def test_blocks_that_change_one_signal_race_with_nobody(how: str) -> None:
    """Each change is one access: a rank that waits counts those who have arrived."""
    text = f"""
func.func @arrive(%n: !pto.ptr<i32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %v = pto.make_tensor_view %n, shape = [%c1, %c1], strides = [%c1, %c1] : !pto.tensor_view<1x1xi32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c1]
       : !pto.tensor_view<1x1xi32> -> !pto.partition_tensor_view<1x1xi32>
  pto.comm.tnotify(%p, %one : !pto.partition_tensor_view<1x1xi32>, i32)
       {{notifyOp = #pto<notify_op {how}>}}
  return
}}
"""
    program = pto.loads(text)
    for target in ("a2a3", "a5"):
        assert program.races(target, blocks=3, n=np.zeros(1, np.int32)) == []  # one pipe: in turn
        assert program.races(target) == []


def test_blocks_race_in_a_program_that_leaves_its_pipes_to_a_compiler() -> None:
    """Both blocks store all of the output: no flag of a core would order them."""
    text = stream([], [LOAD[1], ADD[2], STORE[1]], [], "%c4")
    arrays: dict[str, Any] = {
        "x": np.ones(4096, np.float32),
        "y": np.zeros(4096, np.float32),
        "n": 4,
    }
    program = pto.loads(text)
    found = program.races("a5", blocks=2, **arrays)
    assert [d.slug for d in found] == ["hazard", "not-synchronised"]
    assert "block 1" in (found[0].seen or "")
    assert [d.slug for d in program.races("a5", **arrays)] == ["not-synchronised"]
    assert [d.slug for d in program.races("a5", blocks=2)] == ["hazard", "not-synchronised"]
    assert [d.slug for d in program.races("a5")] == ["not-synchronised"]


def test_races_of_an_illegal_program_are_its_errors() -> None:
    """A number of an event that the chip does not have ends every run on samples."""
    program = pto.loads("""
func.func @f() {
  %nine = arith.constant 9 : index
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %nine]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %nine]
  return
}""")
    assert [d.slug for d in program.races("a5")] == ["operand-value"] * 2


def test_races_of_an_argument_that_is_none() -> None:
    """Also where nothing can race: a target by keyword would be taken for an array."""
    program = pto.loads(stream(*RIGHT))
    with pytest.raises(pto.PtoError, match="unknown argument 'target'"):
        program.races(target="a2a3")


STAGE, ROWS_OF_ALL = "!pto.tile_buf<vec, 1x32xf32>", "!pto.partition_tensor_view<1x32xf32>"
EXCHANGES = {
    "a put": ("tput", "(%x, %y, buf(%t, %s)", (ROWS_OF_ALL, ROWS_OF_ALL, STAGE, STAGE), ""),
    "a get": ("tget", "(%x, %y, buf(%t, %s)", (ROWS_OF_ALL, ROWS_OF_ALL, STAGE, STAGE), ""),
    "a broadcast": (
        "tbroadcast",
        "(%x, recv(%t, %s), group(%y)",
        (ROWS_OF_ALL, STAGE, STAGE, ROWS_OF_ALL),
        " {root = 0 : i32}",
    ),
    "a reduction": (
        "treduce",
        "(%x, %a, recv(%t, %s), group(%y)",
        (ROWS_OF_ALL, STAGE, STAGE, STAGE, ROWS_OF_ALL),
        " {reduceOp = #pto<reduce_op sum>, root = 0 : i32}",
    ),
}


def exchanged(case: str, *between: str) -> str:
    """A vector instruction on the second stage of what ranks exchange."""
    name, operands, kinds, more = EXCHANGES[case]
    lines = (
        *(f"%{n} = pto.alloc_tile : {STAGE}" for n in "ats"),
        f"pto.comm.{name}{operands} : {', '.join(kinds)}){more}",
        *between,
        "%one = arith.constant 1.0 : f32",
        f"pto.texpands ins(%one : f32) outs(%s : {STAGE})",
    )
    head = f"func.func @f(%x: {ROWS_OF_ALL}, %y: {ROWS_OF_ALL}) {{"
    return "\n  ".join((head, *lines, "return\n}\n"))


PAIR = tuple(f"pto.{word}_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]" for word in ("set", "wait"))


@every("target", ["a2a3", "a5"])
@every("case", EXCHANGES)
def test_tiles_by_way_of_which_ranks_exchange_are_in_use(case: str, target: str) -> None:
    """Until the queue of the exchange has gone past it."""
    other = [line.replace("MTE2", "MTE3") for line in PAIR]
    (found,) = pto.loads(exchanged(case, *other)).races(target)[:1]
    assert found.slug == "hazard"
    assert "MTE2 -> V" in (found.rule or "")
    assert pto.loads(exchanged(case, *PAIR)).races(target) == []
