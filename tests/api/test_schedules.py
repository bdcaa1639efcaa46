"""Random schedules: right kernels give the same bytes, and races name both places."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.isa.pages.fifoexamples import BOTH_WAYS, HANDLED, OUT_OF_MEMORY

COUNT = np.arange(256, dtype=np.float32)
P = "!pto.ptr<i32>"
SIGNALLED = f"""\
func.func @f(%g: {P}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  pto.section.cube {{
    pto.store_scalar %seven, %g[%c0] : {P}, i32
    pto.sync.set <PIPE_FIX>, 3
  }}
  pto.section.vector {{
    pto.sync.wait <PIPE_MTE2>, 3
    %n = pto.load_scalar %g[%c0] : {P} -> i32
    %lane = pto.get_subblock_idx
    %first = arith.index_cast %lane : i64 to index
    %at = arith.addi %first, %c1 : index
    pto.store_scalar %n, %g[%at] : {P}, i32
  }}
  return
}}"""
GIVEN = {"g": np.zeros(3, np.int32)}


@pytest.mark.parametrize("seed", range(5))
def test_a_right_kernel_has_no_race_and_the_same_result(seed: int) -> None:
    schedule = f"random:{seed}"
    done = pto.loads(SIGNALLED).execute(GIVEN, schedule=schedule).outputs
    assert done["g"].tolist() == [7, 7, 7]
    y = pto.loads(BOTH_WAYS).run(y=np.zeros(256, np.float32), schedule=schedule)["y"]
    assert (y == 3).all()
    done = pto.loads(HANDLED).run(x=COUNT, y=np.zeros(256, np.float32), schedule=schedule)
    assert (done["y"] == COUNT).all()
    memory = np.zeros(8 * 256, np.float32)
    done = pto.loads(OUT_OF_MEMORY).run(x=COUNT, memory=memory, schedule=schedule)
    assert (done["memory"][:256] == COUNT).all()


def raced(text: str, given: Mapping[str, np.ndarray], seed: int = 1) -> pto.PtoError:
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(text).execute(given, schedule=f"random:{seed}")
    assert [d.slug for d in problem.value.diagnostics] == ["race"]
    return problem.value


@every("seed", range(5))
def test_a_missing_signal_is_a_race_in_any_order(seed: int) -> None:
    text = SIGNALLED.replace("    pto.sync.wait <PIPE_MTE2>, 3\n", "")
    found = raced(text, GIVEN, seed).diagnostics[0]
    places = {found.span, *(note.span for note in found.notes)}
    assert {span.line for span in places if span is not None} >= {6}
    assert len(places) > 1


def test_both_vector_cores_writing_one_place_race() -> None:
    text = SIGNALLED.replace("%g[%at]", "%g[%c1]")
    assert "the vector core" in str(raced(text, GIVEN))


def test_blocks_that_write_the_same_bytes_race() -> None:
    text = f"""\
func.func @f(%g: {P}) {{
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  pto.store_scalar %seven, %g[%c0] : {P}, i32
  return
}}"""
    with pytest.raises(pto.PtoError, match="block 1") as problem:
        pto.loads(text).execute(GIVEN, blocks=2, schedule="random:1")
    assert problem.value.diagnostics[0].slug == "race"
    assert pto.loads(text).execute(GIVEN, schedule="random:1").outputs["g"].tolist() == [7, 0, 0]


def test_atomic_additions_do_not_race() -> None:
    """Both vector cores add their halves to the same rows."""
    text = HANDLED.replace("arith.muli %lane, %c8", "arith.muli %lane, %c0")
    given = {"x": COUNT, "y": np.zeros(256, np.float32)}
    assert "%y" in str(raced(text, given))
    added = "outs(%part : !pto.partition_tensor_view<8x16xf32>)"
    text = text.replace(added, f"{added} {{atomicType = #pto<atomic_type atomic_add>}}")
    done = pto.loads(text).execute(given, schedule="random:3").outputs
    assert (done["y"][:128] == COUNT[:128] + COUNT[128:]).all()


ADDED = "outs(%part : !pto.partition_tensor_view<8x16xf32>)"
ADDING = HANDLED.replace("arith.muli %lane, %c8", "arith.muli %lane, %c0").replace(
    ADDED, f"{ADDED} {{atomicType = #pto<atomic_type atomic_add>}}"
)
OF_ONE = """%first = arith.cmpi eq, %number, %zero : i64
    scf.if %first {
      BODY
    }"""
OTHERS = {  # what the first vector core does beside
    "it loads": "pto.tload ins(%part : !pto.partition_tensor_view<8x16xf32>) outs(%t : "
    "!pto.tile_buf<vec, 8x16xf32>)",
    "it stores": f"pto.tstore ins(%t : !pto.tile_buf<vec, 8x16xf32>) {ADDED}",
}


@every("seed", range(3))
@every("name", OTHERS)
def test_an_atomic_addition_races_with_what_is_none(name: str, seed: int) -> None:
    zero = "%zero = arith.constant 0 : i64\n    "
    other = zero + OF_ONE.replace("BODY", OTHERS[name])
    text = ADDING.replace("    pto.tfree(%pipe", f"    {other}\n    pto.tfree(%pipe")
    found = raced(text, {"x": COUNT, "y": np.zeros(256, np.float32)}, seed).diagnostics[0]
    places = {found.span, *(note.span for note in found.notes)} - {None}
    assert len(places) == 2


EARLY = f"""\
func.func @f(%g: {P}, %x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %xs = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] \
: !pto.tensor_view<16x16xf32>
  %ys = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] \
: !pto.tensor_view<16x16xf32>
  pto.section.cube {{
    %m = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
    pto.tload ins(%ys : !pto.tensor_view<16x16xf32>) outs(%m : !pto.tile_buf<mat, 16x16xf32, \
blayout=col_major, slayout=row_major>)
  }}
  pto.section.vector {{
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
    pto.tload ins(%xs : !pto.tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    pto.wait_flag[<PIPE_M>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%ys : !pto.tensor_view<16x16xf32>)
    %n = pto.load_scalar %g[%c0] : {P} -> i32
    pto.set_flag[<PIPE_M>, <PIPE_MTE3>, <EVENT_ID0>]
  }}
  return
}}"""


@every("seed", range(3))
def test_a_store_that_was_held_up_is_named_itself(seed: int) -> None:
    """Not the line that let it go on."""
    arrays = {name: np.zeros(256, np.float32) for name in "xy"}
    found = raced(EARLY, {"g": np.zeros(1, np.int32), **arrays}, seed).diagnostics[0]
    spans = [found.span, *(note.span for note in found.notes)]
    lines = [EARLY.splitlines()[span.line - 1] for span in spans if span is not None]
    names = {line.split()[0] for line in lines}
    assert "pto.tstore" in names <= {"pto.tload", "pto.tstore"}


ROW, SENT = "!pto.partition_tensor_view<64xf32>", "!pto.partition_tensor_view<1xi32>"
TILE, SESSION, EVENT = "!pto.tile_buf<vec, 1x64xf32>", "!pto.async_session", "!pto.async_event"
BEGIN = f"""\
%event = pto.comm.tput_async(%away, %mine, %session : {ROW}, {ROW}, {SESSION}) -> {EVENT}"""
END = f"%done = pto.comm.wait_async_event(%event, %session : {EVENT}, {SESSION}) -> i1"
TELL = f"pto.comm.tnotify(%rings, %one : {SENT}, i32) {{notifyOp = #pto<notify_op atomic_add>}}"
AWAIT = f"pto.comm.twait(%hears, %one : {SENT}, i32) {{cmp = #pto<wait_cmp ge>}}"
READ = f"pto.tload ins(%here : {ROW}) outs(%t : {TILE})"
CHANGE = f"pto.tstore ins(%t : {TILE}) outs(%mine : {ROW})"
AGAIN = f"""\
%last = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %event) -> ({EVENT}) {{
  %now = pto.comm.wait_async_event(%before, %session : {EVENT}, {SESSION}) -> i1
  %next = pto.comm.tput_async(%away, %mine, %session : {ROW}, {ROW}, {SESSION}) -> {EVENT}
  scf.yield %next : {EVENT}
}}"""
ENDS_LAST = END.replace("%event", "%last")


def begun(*steps: str) -> str:
    """Each rank writes into the array of the other one, and works on what it got."""
    heads = {"mine": "x", "here": "y", "away": "z", "hears": "f", "rings": "g"}
    views = "".join(
        f"  %{name}_v = pto.make_tensor_view %{of}, shape = [%c{n}], strides = [%c1] "
        f": !pto.tensor_view<{n}x{dtype}>\n  %{name} = pto.partition_view %{name}_v, "
        f"offsets = [%c0], sizes = [%c{n}] : !pto.tensor_view<{n}x{dtype}> -> {part}\n"
        for name, of in heads.items()
        for n, dtype, part in [(1, "i32", SENT) if of in "fg" else (64, "f32", ROW)]
    )
    args = ", ".join(f"%{a}: !pto.ptr<{'i32' if a in 'fg' else 'f32'}>" for a in "xyzfg")
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 4, 64))
    body = "".join(f"  {step}\n" for step in steps)
    room = "!pto.tile_buf<vec, 1x32xi8>, !pto.ptr<i8>"
    return f"""\
func.func @f({args}, %room: !pto.ptr<i8>) {{
{numbers}  %one = arith.constant 1 : i32
{views}  %t = pto.alloc_tile : {TILE}
  %s = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi8>
  %session = pto.comm.build_async_session(%s, %room : {room}) -> {SESSION}
{body}  return
}}"""


def of_two() -> dict[str, Any]:  # Any: arrays, names of arrays
    arrays: dict[str, Any] = {f"{a}@{r}": np.ones(64, np.float32) for a in "xy" for r in (0, 1)}
    flags = {f"f@{r}": np.zeros(1, np.int32) for r in (0, 1)}
    return {**arrays, **flags, "z@0": "y@1", "z@1": "y@0", "g@0": "f@1", "g@1": "f@0"}


LATE = {  # what is done before its event is waited for, and the places of the race
    "it is signalled": ((BEGIN, TELL, AWAIT, READ, END), {"pto.tload", "%event"}),
    "nobody waits": ((BEGIN, TELL, AWAIT, READ), {"pto.tload", "%event"}),
    "what it reads is changed": ((READ, BEGIN, CHANGE, END), {"pto.tstore", "%event"}),
    "the last of several is signalled": (
        (BEGIN, AGAIN, TELL, AWAIT, READ),
        {"pto.tload", "%next"},
    ),
}


@every("seed", range(3))
@every("name", LATE)
def test_a_transfer_is_done_when_its_event_was_waited_for(name: str, seed: int) -> None:
    steps, places = LATE[name]
    text = begun(*steps)
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(text).run(ranks=2, schedule=f"random:{seed}", **of_two())
    (found,) = problem.value.diagnostics
    assert "the transfer engine of the vector core 0" in found.render()
    assert "wait for the event" in str(found.help)
    spans = [found.span, *(note.span for note in found.notes)]
    lines = [text.splitlines()[span.line - 1].split()[0] for span in spans if span is not None]
    assert places == set(lines)


@every("seed", range(3))
@every(
    "steps",
    [
        (BEGIN, END, TELL, AWAIT, READ, CHANGE),
        (
            BEGIN,
            BEGIN.replace("%event", "%more"),
            END.replace("%event", "%more"),
            TELL,
            AWAIT,
            READ,
        ),
        (BEGIN, AGAIN, ENDS_LAST, TELL, AWAIT, READ, CHANGE),
    ],
    ids=["one", "the later of two", "in turn"],
)
def test_what_waits_for_transfers_has_no_race(steps: tuple[str, ...], seed: int) -> None:
    done = pto.loads(begun(*steps)).run(ranks=2, schedule=f"random:{seed}", **of_two())
    assert (done["y@0"] == 1).all()


CLEAR = f"""\
%zero = arith.constant 0 : i32
pto.comm.tnotify(%hears, %zero : {SENT}, i32) {{notifyOp = #pto<notify_op set>}}"""


@pytest.mark.parametrize("seed", range(3))
def test_a_stored_signal_and_one_that_is_added_to_have_an_order(seed: int) -> None:
    """Cleared at the start, what the other rank adds may be lost; after the wait it is not."""
    schedule = f"random:{seed}"
    done = pto.loads(begun(TELL, AWAIT, CLEAR)).run(ranks=2, schedule=schedule, **of_two())
    assert (done["f@0"], done["f@1"]) == (0, 0)
    stored = TELL.replace("atomic_add", "set")
    done = pto.loads(begun(stored, AWAIT, CLEAR)).run(ranks=2, schedule=schedule, **of_two())
    assert (done["f@0"], done["f@1"]) == (0, 0)
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(begun(CLEAR, TELL)).run(ranks=2, schedule=schedule, **of_two())
    assert [d.slug for d in problem.value.diagnostics] == ["race"]
    assert "notify_op set" in str(problem.value)
    assert "notify_op atomic_add" in str(problem.value)


@every("words", ["random", "random:", "random:x", "fast", "random:-1"])
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="random:SEED"):
        pto.loads(SIGNALLED).execute(GIVEN, schedule=words)


@every(
    ("words", "said"),
    [
        ({"blocks": 2.5}, "blocks is 2.5: expected an integer"),
        ({"blocks": None}, "blocks is None: expected an integer"),
        ({"ranks": "2"}, "ranks is '2': expected an integer"),
        ({"schedule": 7}, "schedule is 7: expected a string such as random:7"),
        ({"schedule": b"random:7"}, "schedule is b'random:7': expected a string"),
    ],
)
def test_options_of_another_type_are_named(words: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        pto.loads(SIGNALLED).run(g=np.zeros(3, np.int32), **words)
    launch: dict[str, Any] = {name: np.int64(1) for name in words if name != "schedule"}
    done = pto.loads(SIGNALLED).run(g=np.zeros(3, np.int32), **launch)
    assert done["g"].tolist() == [7, 7, 7]


def test_a_pair_takes_the_arguments_of_both() -> None:
    """Named from either end; what either one views says how large a random array is."""
    text = BOTH_WAYS.replace("@vector(", "@vector(%x: !pto.ptr<f32>, ")
    for entry in ("cube", "vector"):
        program = pto.loads(text)
        assert {arg.name for arg in program.func(entry).args} == {"x", "room", "y"}
        given = {"x": np.zeros(1, np.float32), "y": np.zeros(256, np.float32)}
        assert (program.execute(given, func=entry).outputs["y"] == 3).all()
