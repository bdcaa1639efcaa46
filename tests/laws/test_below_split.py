"""The law of results in the buffers of both vector cores: NumPy's rows and columns of a product."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import ptokit as pto

M, N, K = 24, 64, 16
SPLIT = """\
func.func @law(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %first: !pto.ptr<f32>,\
 %second: !pto.ptr<f32>, %which: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k = arith.constant 16 : i64
  %m = arith.constant 24 : i64
  %high = arith.constant 32 : i64
  %n = arith.constant 64 : i64
  %row = arith.constant 128 : i64
  %size = arith.constant 6144 : i64
  %pitch = arith.constant 256 : i64
  %rows = arith.constant ROWS : i64
  %bytes = arith.constant BYTES : i64
  %no = arith.constant false
  %left = pto.castptr %zero : i64 -> !pto.ptr<f16, l1>
  %right = pto.castptr %size : i64 -> !pto.ptr<f16, l1>
  %l0a = pto.castptr %zero : i64 -> !pto.ptr<f16, l0a>
  %l0b = pto.castptr %zero : i64 -> !pto.ptr<f16, l0b>
  %l0c = pto.castptr %zero : i64 -> !pto.ptr<f32, l0c>
  %out = pto.castptr %row : i64 -> !pto.ptr<f32, ub>
  pto.section.cube {
    pto.mte_gm_l1_frac %a, %left, nd2nz, shape(%m, %k), src_layout(%high),\
 dst_group(%one, %one, %high, %zero), ctrl(%zero, %no) : !pto.ptr<f16>, !pto.ptr<f16, l1>, nd2nz,\
 shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
    pto.mte_gm_l1_frac %b, %right, nd2nz, shape(%k, %n), src_layout(%row),\
 dst_group(%one, %one, %k, %zero), ctrl(%zero, %no) : !pto.ptr<f16>, !pto.ptr<f16, l1>, nd2nz,\
 shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
    pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
    pto.mte_l1_l0a %left, %l0a, %m, %k : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64
    pto.mte_l1_l0b %right, %l0b, %k, %n {transpose = true} : !pto.ptr<f16, l1>,\
 !pto.ptr<f16, l0b>, i64, i64
    pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
    pto.mad %l0a, %l0b, %l0c, %m, %n, %k : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>,\
 !pto.ptr<f32, l0c>, i64, i64, i64
    pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
    pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
    pto.mte_l0c_ub %l0c, %out, %m, %n, %high, %n, dst_mode(MODE)LAYOUT : !pto.ptr<f32, l0c>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64TYPES
    pto.set_intra_block <PIPE_FIX>, 1
    pto.set_intra_block <PIPE_FIX>, 17
  }
  pto.section.vector {
    %core = pto.get_subblock_idx
    %is_first = arith.cmpi eq, %core, %zero : i64
    pto.wait_intra_block <PIPE_MTE3>, 1
    scf.if %is_first {
      FIRST
    } else {
      SECOND
    }
  }
  return
}
"""
STORE = (
    "pto.mte_ub_gm %out, %{}, %bytes nburst(%rows, %pitch, %bytes) : !pto.ptr<f32, ub>,"
    " !pto.ptr<f32>, i64, i64, i64, i64"
)
STORES = {name.upper(): STORE.format(name) for name in ("first", "second")}
MODES = {  # mode -> the argument, what each core stores, and the extents of a part
    "split_m": (0, "FIRST SECOND", M // 2, N),
    "split_n": (0, "FIRST SECOND", M, N // 2),
    "%zero": (0, "FIRST", M, N),
    "%one": (0, "SECOND", M, N),
    "%which": (1, "SECOND", M, N),
}


def text_of(mode: str) -> str:
    _, stored, rows, cols = MODES[mode]
    text = (
        SPLIT.replace("MODE", mode)
        .replace("LAYOUT", ", nz2nd" if "%" in mode else "")
        .replace("TYPES", ", i64" if "%" in mode else "")
    )
    text = text.replace("ROWS", str(rows)).replace("BYTES", str(4 * cols))
    for word, store in STORES.items():
        text = text.replace(word, store if word in stored else "")
    return text


@pytest.mark.parametrize("mode", MODES)
def test_both_vector_cores_receive_results(mode: str) -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((M, K), (K, N)))
    which, stored, rows, cols = MODES[mode]
    program = pto.loads(text_of(mode))
    assert pto.loads(program.text()).text() == program.text()
    x = a.astype(np.float32) @ b.astype(np.float32)
    parts = {"first": x[:rows, :cols], "second": x[-rows:, -cols:]}
    for engine in ("reference", "native"):
        room = np.zeros((rows, cols), np.float32)
        found = program.run(
            target="a5", engine=engine, a=a, b=b, first=room, second=room, which=which
        )
        for name in stored.lower().split():
            assert np.array_equal(np.asarray(found[name]), parts[name]), (engine, name)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_extents_may_be_arguments_or_computed(engine: str) -> None:
    """Of another call they are other ones; `check` leaves them to the run."""
    text = text_of("split_m").replace("%which: i64", "%m: i64")
    text = text.replace("  %m = arith.constant 24 : i64\n", "")
    text = text.replace("%n = arith.constant 64", "%n = arith.addi %high, %high")
    program = pto.loads(text)
    assert [one.slug for one in program.check("a5")] == []
    rng = np.random.default_rng(7)
    for m in (24, 20):
        a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((m, K), (K, N)))
        room = np.zeros((M // 2, N), np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 12 rows are stored, of which 10 are written
            found = program.run(target="a5", engine=engine, a=a, b=b, m=m, first=room, second=room)
        x = a.astype(np.float32) @ b.astype(np.float32)
        assert np.array_equal(np.asarray(found["first"])[: m // 2], x[: m // 2])
        assert np.array_equal(np.asarray(found["second"])[: m // 2], x[m // 2 :])


TAILS = """\
func.func @law(%x: !pto.ptr<f16>, %y: !pto.ptr<f16>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %sixteen = arith.constant 16 : i64
  %line = arith.constant 32 : i64
  %no = arith.constant false
  %p = pto.castptr %zero : i64 -> !pto.ptr<f16, l1>
  %q = pto.castptr %zero : i64 -> !pto.ptr<f16, ub>
  %end = arith.index_cast %n : i64 to index
  %last:2 = scf.for %i = %c0 to %end step %c16 iter_args(%a = %x, %b = %y) ->\
 (!pto.ptr<f16>, !pto.ptr<f16>) {
    %at = arith.index_cast %i : index to i64
    %left = arith.subi %n, %at : i64
    %rows = arith.minui %left, %sixteen : i64
    pto.mte_gm_l1_frac %a, %p, nd2nz, shape(%rows, %sixteen), src_layout(%line),\
 dst_group(%one, %one, %sixteen, %zero), ctrl(%zero, %no) : !pto.ptr<f16>, !pto.ptr<f16, l1>,\
 nd2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64, ctrl i64, i1
    pto.barrier #pto.pipe<PIPE_ALL>
    %size = arith.muli %rows, %line : i64
    pto.mte_l1_ub %p, %q, %size nburst(%one, %size, %size) : !pto.ptr<f16, l1>,\
 !pto.ptr<f16, ub>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %q, %b, %size nburst(%one, %size, %size) : !pto.ptr<f16, ub>, !pto.ptr<f16>,\
 i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    %step = arith.muli %c16, %c16 : index
    %c = pto.addptr %a, %step : !pto.ptr<f16> -> !pto.ptr<f16>
    %d = pto.addptr %b, %step : !pto.ptr<f16> -> !pto.ptr<f16>
    scf.yield %c, %d : !pto.ptr<f16>, !pto.ptr<f16>
  }
  return
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_extents_may_follow_from_the_counter_of_a_loop(engine: str) -> None:
    """The last iteration has fewer rows; the pointers go on from one to the next."""
    x = np.arange(40 * 16, dtype=np.float16)
    program = pto.loads(TAILS)
    found = program.run(target="a5", engine=engine, x=x, y=np.zeros_like(x), n=40)
    assert np.array_equal(found["y"], x)
    with pytest.raises(pto.PtoError, match=r"not-executed"):  # more than are unrolled
        program.run(target="a5", engine=engine, x=x, y=np.zeros_like(x), n=16 * 257)


def test_the_buffer_of_the_second_core_is_raced_for() -> None:
    text = text_of("%one")
    assert not pto.loads(text).races("a5")
    found, *_ = pto.loads(text.replace("pto.wait_intra_block <PIPE_MTE3>, 1", "")).races("a5")
    assert found.slug == "hazard"


def test_unit_flags_order_product_and_stores() -> None:
    text = re.sub(r'    pto\.(set|wait)_flag\["PIPE_M", .*\n', "", text_of("split_m"))
    assert {found.slug for found in pto.loads(text).races("a5")} == {"hazard"}
    flagged = text.replace("%n, %k : ", "%n, %k unit_flag(check_and_set) : ")
    flagged = flagged.replace("(split_m)", "(split_m), unit_flag(check_and_clear)")
    assert not pto.loads(flagged).races("a5")


@pytest.mark.parametrize(
    ("mode", "old", "new"),
    [
        ("%zero", "dst_mode(%zero)", "dst_mode(%k)"),
        ("split_m", "split_m", "split_k"),
        ("split_m", "%m = arith.constant 24", "%m = arith.constant 23"),
        ("split_n", "%n = arith.constant 64", "%n = arith.constant 48"),
        ("split_m", "split_m)", "split_m), pre_relu(mode = normal_relu)"),
    ],
)
def test_other_modes_are_refused(mode: str, old: str, new: str) -> None:
    (verdict,) = pto.loads(text_of(mode).replace(old, new)).verdicts("a5")
    assert len([one for one in verdict.diagnostics if one.is_error]) == 1
