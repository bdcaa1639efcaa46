"""Events, flags and barriers: which pipes, which ids, and in what order they go up and down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.isa.pages.synchronisation import pipe_of

# the pipe of each operation
PIPES = {
    "MTE2": "TLOAD TFILLPAD_MAT TEXPANDS_MAT MGATHER_MAT TPREFETCH",
    "MTE3": "TSTORE_VEC TSTORE_MAT",
    "MTE1": "TMOV_M2L TMOV_M2R TMOV_M2B TEXTRACT_M2LR TIMG2COL",
    "FIX": "TSTORE_ACC TMOV_M2S TMOV_A2V TMOV_A2M TMOV_V2M TEXTRACT_A2M TEXTRACT_V2M TINSERT_A2M",
    "V": "TMOV_V2V TTRANS TCONCAT TGATHER TGATHERB TFILLPAD_VEC TVEC TVECWAIT_EVENT"
    " TEXPANDS MGATHER_VEC MSCATTER TSCATTER TQUANT TMRGSORT TCVT TCMP TROWSUM TCOLARGMAX",
    "M": "TMATMUL",
    "S": "TCI TRESHAPE SETFMATRIX SET_IMG2COL_RPT SET_IMG2COL_PADDING",
}
OPERATIONS = [(name, pipe) for pipe, names in PIPES.items() for name in names.split()]


@every(("operation", "pipe"), OPERATIONS)
def test_the_pipe_of_an_operation(operation: str, pipe: str) -> None:
    assert str(pipe_of(operation)) == str(pipe_of(operation.lower())) == pipe


@every("name", ["TMOV", "TSTORE", "TNOTHING", "TMOV_X2Y", ""])
def test_a_name_without_one_pipe(name: str) -> None:
    assert pipe_of(name) is None


def slugs(text: str, target: str) -> list[str]:
    return [f"{d.severity.value} {d.slug}" for d in pto.loads(text).check(target)]


def outcome(text: str, **how: Any) -> str:  # Any: the arguments of run
    """The slug that the run ends with, empty if it goes well."""
    try:
        pto.loads(text).run(**how)
    except pto.PtoError as problem:
        return problem.diagnostics[0].slug
    return ""


BARRIERS = {
    "cpu": dict.fromkeys(("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"), ""),
    "a2a3": dict.fromkeys(("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"), ""),
    "a5": {
        **dict.fromkeys(("MTE2", "MTE3", "ALL"), ""),
        **dict.fromkeys(("M", "FIX"), "warning attribute"),
        **dict.fromkeys(("S", "V", "MTE1"), "error attribute"),
    },
}


@every("target", BARRIERS)
def test_barriers(target: str) -> None:
    for pipe, expected in BARRIERS[target].items():
        found = slugs(f"pto.barrier <PIPE_{pipe}>\n", target)
        assert found == ([expected] if expected else []), pipe


@every(
    ("operation", "a5"),
    [("TLOAD", True), ("TSTORE_VEC", True), ("TTRANS", False), ("TMATMUL", False)],
)
def test_barriers_by_operation(operation: str, a5: bool) -> None:
    text = f"tsync.op #pto.op<{operation}>\n"
    assert slugs(text, "cpu") == slugs(text, "a2a3") == []
    assert slugs(text, "a5") == ([] if a5 else ["error attribute"])
    assert pto.loads(text).text("as") == text
    assert f"TSYNC<Op::{operation}>();" in pto.loads(text).text("cpp")


def test_an_unknown_operation_is_a_warning() -> None:
    assert slugs("pto.barrier_sync[<TNOTHING>]\n", "a2a3") == ["warning unknown-op"]
    assert slugs("pto.barrier_sync[<TVEC>]\n", "a5") == []


SPELLINGS = {
    "pto.set_flag[<PIPE_M>, #pto.pipe<PIPE_FIX>, <EVENT_ID0>]": (
        "pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]"
    ),
    "pto.wait_flag [<PIPE_M>,<PIPE_FIX>,#pto.event<EVENT_ID7>]": (
        "pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID7>]"
    ),
    "pto.record_event [#pto.sync_op_type<TLOAD>, #pto.pipe_event_type<TMOV_M2L>, <EVENT_ID1>]": (
        "pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TMOV_M2L>, <EVENT_ID1>]"
    ),
    "pto.wait_event[<TLOAD>, <TVEC>, <EVENT_ID2>]": (
        "pto.wait_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, <EVENT_ID2>]"
    ),
    "pto.barrier #pto.pipe<PIPE_ALL>": "pto.barrier <PIPE_ALL>",
    "pto.barrier_sync [#pto.sync_op_type<TMATMUL>]": "pto.barrier_sync[<TMATMUL>]",
    '"pto.barrier"() <{pipe = #pto.pipe<PIPE_V>}> : () -> ()': "pto.barrier <PIPE_V>",
}


@every(("written", "printed"), SPELLINGS.items())
def test_spellings(written: str, printed: str) -> None:
    program = pto.loads(written + "\n")
    for form in ("dps", "ssa"):
        assert program.text(form) == printed + "\n"
    assert program.text("as") == printed.removeprefix("pto.") + "\n"


def test_tsync_waits_for_anything() -> None:
    text = "tsync %e0, %e1 : !pto.event<load, vec>, !pto.event<load, vec>\n"
    assert pto.loads(text).text("as") == text
    kind = "memref<32x32xf32, #pto.address_space<gm>>"
    text = f"pto.tsync ins(%a, %b : {kind}, {kind})\n"
    assert pto.loads(text).text("dps") == text


SET, WAIT = (f"pto.{w}_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID{{0}}>]\n" for w in ("set", "wait"))


@every(
    ("text", "slug"),
    [
        (SET + WAIT + SET + WAIT, ""),
        (SET, ""),
        (SET + SET, "event-in-use"),
        (WAIT, "event-not-set"),
        (SET + WAIT + WAIT, "event-not-set"),
        (SET.format(1) + WAIT.format(2), "event-not-set"),
        (SET + WAIT.replace("<PIPE_V>", "<PIPE_S>"), "event-not-set"),
        (SET + "pto.wait_event[<TLOAD>, <TTRANS>, <EVENT_ID0>]\n", ""),
        (SET + "pto.record_event[<TLOAD>, <TMOV_M2L>, <EVENT_ID0>]\n", ""),
        ("pto.record_event[<TVEC>, <TTRANS>, <EVENT_ID0>]\n" * 2, ""),  # one pipe: in order
    ],
)
def test_flags_go_up_and_down_in_turn(text: str, slug: str) -> None:
    assert outcome(text.format(0)) == slug


def test_an_id_known_at_run_time() -> None:
    text = """
    func.func @f(%id: index) {
      pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID5>]
      return
    }"""
    assert [outcome(text, id=n) for n in (5, 4, 8, -1)] == [
        *("", "event-not-set", "operand-value", "operand-value")
    ]


def test_a_loop_that_records_but_never_waits() -> None:
    text = f"""
    func.func @f(%n: index) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {{
        {SET.format(0)}
      }}
      return
    }}"""
    assert outcome(text, n=1) == ""
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(text).run(n=2)
    (found,) = caught.value.diagnostics
    assert (found.slug, found.notes[0].message) == ("event-in-use", "with %i = 1")
    assert found.span is not None
    assert found.span.source.position(found.span.start)[0] == 6


def test_flags_order_two_pipes() -> None:
    same = "pto.set_flag[<PIPE_V>, <PIPE_V>, <EVENT_ID0>]\n"
    assert slugs(same, "cpu") == []
    assert slugs(same, "a5") == slugs(same, "a2a3") == ["error attribute"]
    every = "pto.set_flag[<PIPE_ALL>, <PIPE_V>, <EVENT_ID0>]\n"
    assert slugs(every, "cpu") == ["error attribute"]


@every(
    "text",
    [
        "pto.set_flag[<PIPE_V>, <PIPE_S>]",
        "pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID8>]",
        "pto.set_flag[<PIPE_X>, <PIPE_S>, <EVENT_ID0>]",
        "pto.barrier",
        "pto.barrier <PIPE_NONE>",
        '"pto.barrier"() : () -> ()',
    ],
)
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(text + "\n")
    assert caught.value.diagnostics[0].slug in ("syntax-error", "unknown-word", "operand-count")


# Python


def tiles() -> tuple[pto.Tile, pto.Tile]:
    return (
        pto.tile("vec", "f32", 8, 8),
        pto.tile("vec", "f32", 8, 8, data=np.arange(64, dtype=np.float32).reshape(8, 8)),
    )


def test_an_instruction_waits_for_events() -> None:
    dst, src = tiles()
    with pto.target("a5"):
        event, other = pto.Event("tload", "ttrans"), pto.Event("tload", "ttrans")
        assert (repr(event), other.key[2]) == ("<Event TLOAD -> TTRANS, id 0>", 1)
        event.record()
        pto.ttrans(dst, src, events=[event])
        assert np.array_equal(dst.numpy(), src.numpy().T)
        with pytest.raises(pto.PtoError, match="event-not-set") as caught:
            pto.ttrans(dst, src, events=[event])
        assert caught.value.diagnostics[0].span is not None
        event.record()
        other.record()
        pto.tsync(event, other)
        with pytest.raises(pto.PtoError, match="event-not-set"):
            event.wait()


def test_ids_go_round() -> None:
    with pto.target("a5"):
        events = [pto.Event("tload", "tvec") for _ in range(9)]
        assert [e.key[2] for e in events] == [*range(8), 0]
        assert pto.Event("tstore_vec", "tload").key[2] == 0
        for event in events[:8]:
            event.record()
        with pytest.raises(pto.PtoError, match="event-in-use"):
            events[8].record()
        events[0].wait()
        events[8].record()


def test_each_target_block_starts_without_flags() -> None:
    for _ in range(2):
        with pto.target("a2a3"):
            pto.set_flag("MTE2", "V", "0")
            with pytest.raises(pto.PtoError, match="event-in-use"):
                pto.set_flag("MTE2", "V", "0")


def test_calls() -> None:
    with pto.target("a5"):
        pto.barrier("ALL")
        pto.tsync_op("tload")
        with pytest.raises(pto.PtoError, match=r"error\[attribute\]"):
            pto.barrier("V")
    with pytest.raises(ValueError, match="unknown operation 'tmov'"):
        pto.Event("tmov", "tload")
    with pytest.raises(ValueError, match="choose one of"):
        pto.set_flag("MTE2", "V", "8")  # type: ignore[arg-type] - no such id, on purpose


INTO_L1 = {
    "pto.tmov": "ins(%t : {vec}) outs(%m : {mat})",
    "pto.textract": "ins(%t, %c0, %c0 : {vec}, index, index) outs(%m : {mat})",
    "pto.tinsert": "ins(%t, %c0, %c0 : {vec}, index, index) outs(%m : {mat})",
}


@every("name", INTO_L1)
def test_vector_cores_of_a5_move_tiles_into_l1_on_mte3(name: str) -> None:
    """The code copies bytes from UB to L1, which MTE3 does (npu/a5/custom/TSync_Custom.hpp:27)."""
    rows = "16x16xf32, blayout=row_major, slayout=none_box"
    kinds = {"vec": f"!pto.tile_buf<vec, {rows}>", "mat": f"!pto.tile_buf<mat, {rows}>"}
    text = f"""\
func.func @f(%v: !pto.tensor_view<16x16xf32>) attributes {{
    pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %t = pto.alloc_tile : {kinds["vec"]}
  %m = pto.alloc_tile : {kinds["mat"]}
  pto.tload ins(%v : !pto.tensor_view<16x16xf32>) outs(%t : {kinds["vec"]})
  pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  {name} {INTO_L1[name].format(**kinds)}
  return
}}
"""
    program = pto.loads(text)
    found = [*program.check("a5:as-hardware"), *program.races("a5:as-hardware")]
    assert [d.slug for d in found if d.is_error] == []
