"""The law of registers that instructions share: AR and SQZN of squeezes, VMS4_SR of merges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

SQUEEZED = """\
func.func @law(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bytes = arith.constant 256 : i64
  %all = arith.constant 512 : i64
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %w2 = arith.constant 2 : i32
  %p = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
  %q = pto.castptr %all : i64 -> !pto.ptr<f32, ub>
  %r = pto.castptr %all : i64 -> !pto.ptr<ui32, ub>
  %s = pto.addptr %q, %c5 : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %x, %p, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.mte_gm_ub %y, %q, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.vecscope {
    pto.sprclr "AR"
    %k = pto.pset_b32 "PAT_M3" : !pto.mask<b32>
    %v = pto.vlds %p[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    %t = pto.vsqz %v, %k : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    %a = pto.init_align : !pto.align
    %b = pto.vstur %a, %t, %s, "NO_POST_UPDATE" : !pto.align, !pto.vreg<64xf32>,\
 !pto.ptr<f32, ub> -> !pto.align
    pto.vstar %b, %s : !pto.align, !pto.ptr<f32, ub>
    %n = pto.sprsti "AR", %r[%w2] : !pto.ptr<ui32, ub>, i32 -> !pto.ptr<ui32, ub>
    pto.sprsti "AR", %n[%w2] : !pto.ptr<ui32, ub>, i32
    %w4 = arith.constant 4 : i32
    pto.sprsts "AR", %n[%w4] : !pto.ptr<ui32, ub>, i32
    AGAIN
  }
  pto.mte_ub_gm %q, %y, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32, ub>, !pto.ptr<f32>,\
 i64, i64, i64, i64
  return
}
"""
AGAIN = """%c = pto.vstur %b, %t, %s, "POST_UPDATE" : !pto.align, !pto.vreg<64xf32>,\
 !pto.ptr<f32, ub> -> !pto.align
    pto.sprsti "AR", %r[%w2] : !pto.ptr<ui32, ub>, i32"""
ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])


@ENGINES
def test_the_lanes_of_a_squeeze_are_stored(engine: str) -> None:
    x = np.arange(64, dtype=np.float32) + 1
    y = -x
    found = pto.loads(SQUEEZED.replace("AGAIN", "")).run(target="a5", engine=engine, x=x, y=y)["y"]
    meant = y.copy()
    meant[5:27] = x[::3]  # 22 lanes
    meant[[0, 2 + 2, 2 + 1]] = 0  # AR, at the pointer, and two and one words behind the next
    assert np.array_equal(found, meant)


@ENGINES
def test_the_register_grows_by_what_is_stored(engine: str) -> None:
    x = np.arange(64, dtype=np.float32) + 1
    text = SQUEEZED.replace("AGAIN", AGAIN)
    found = pto.loads(text).run(target="a5", engine=engine, x=x, y=-x)["y"]
    meant = -x
    meant[5:27] = x[::3]
    meant[[0, 4, 3]] = 0
    meant[2:3].view(np.uint32)[:] = 22 * 4
    assert np.array_equal(found, meant)


STREAM = """\
func.func @law(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bytes = arith.constant 1024 : i64
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %least = arith.constant 0.0 : f32
  %p = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
  %q = pto.castptr %bytes : i64 -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %x, %p, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.mte_gm_ub %y, %q, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>,\
 !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  pto.vecscope {
    pto.sprclr "AR"
    %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %a = pto.init_align : !pto.align
    %e = scf.for %i = %c0 to %c256 step %c64 iter_args(%s = %a) -> (!pto.align) {
      %v = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
      %k = pto.vcmps %v, %least, %m, "gt" : !pto.vreg<64xf32>, f32, !pto.mask<b32> ->\
 !pto.mask<b32>
      %t = pto.vsqz %v, %k : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
      %n = pto.vstur %s, %t, %q, "POST_UPDATE" : !pto.align, !pto.vreg<64xf32>,\
 !pto.ptr<f32, ub> -> !pto.align
      scf.yield %n : !pto.align
    }
    pto.vstar %e, %q : !pto.align, !pto.ptr<f32, ub>
  }
  pto.mte_ub_gm %q, %y, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32, ub>, !pto.ptr<f32>,\
 i64, i64, i64, i64
  return
}
"""


@ENGINES
def test_squeezed_lanes_follow_each_other(engine: str) -> None:
    x = np.random.default_rng(3).uniform(-1, 1, 256).astype(np.float32)
    found = pto.loads(STREAM).run(target="a5", engine=engine, x=x, y=np.zeros(256, np.float32))
    positive = x[x > 0]
    assert np.array_equal(found["y"], np.pad(positive, (0, 256 - positive.size)))


RECORDS = np.dtype([("score", "f4"), ("index", "u4")])
MERGE = """\
func.func @law(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<i16>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bytes = arith.constant 96 : i64
  %far = arith.constant 256 : i64
  %lengths = arith.constant LENGTHS : i64
  %how = arith.constant HOW : i64
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %p = pto.castptr %zero : i64 -> P
  %q = pto.castptr %far : i64 -> P
  %p1 = pto.addptr %p, %c8 : P -> P
  %p2 = pto.addptr %p, %c16 : P -> P
  pto.mte_gm_ub %x, %p, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>, P, i64, i64,\
 i64, i64, i64
  pto.mte_gm_ub %y, %q, %zero, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<f32>, P, i64, i64,\
 i64, i64, i64
  pto.vmrgsort4 %q, %p, %p1, %p2, %p, %lengths, %how : P, P, P, P, P, i64, i64
  STATUS
  pto.mte_ub_gm %q, %y, %bytes nburst(%one, %bytes, %bytes) : P, !pto.ptr<f32>, i64, i64, i64, i64
  return
}
"""
STATUS = "%l0, %l1, %l2, %l3 = pto.get_vms4_sr : i16, i16, i16, i16" + "".join(
    f"\n  %i{n} = arith.constant {n} : index\n"
    f"  pto.store_scalar %l{n}, %z[%i{n}] : !pto.ptr<i16>, i16"
    for n in range(4)
)


@ENGINES
@pytest.mark.parametrize("exhausted", [False, True])
def test_lists_are_merged(engine: str, exhausted: bool) -> None:
    records = np.zeros(12, RECORDS)
    records["score"] = [9, 7, 3, 1, 8, 7, 6, 5, 4, 4, 2, 0]
    records["index"] = np.arange(12) * 10
    how = 1 | 0b111 << 8 | exhausted << 12
    lengths = 4 | 4 << 16 | 4 << 32
    text = MERGE.replace(" P", " !pto.ptr<f32, ub>").replace("STATUS", STATUS * exhausted)
    text = text.replace("LENGTHS", str(lengths)).replace("HOW", str(how))
    x, y = records.view(np.float32), np.full(24, -1, np.float32)
    given: dict[str, Any] = {"x": x, "y": y, "z": np.zeros(4, np.int16)}  # Any: arrays
    found = pto.loads(text).run(target="a5", engine=engine, **given)
    order = np.argsort(-records["score"], kind="stable")
    if not exhausted:
        assert np.array_equal(found["y"].view(RECORDS), records[order])
        return
    lists = order // 4
    end = min(np.flatnonzero(np.cumsum(lists == n) == 4)[0] for n in range(3)) + 1
    assert np.array_equal(found["y"].view(RECORDS)[:end], records[order][:end])
    assert np.array_equal(found["y"][2 * end :], y[2 * end :])
    assert found["z"].tolist() == [*(int(np.sum(lists[:end] == n)) for n in range(3)), 0]


COMBINED = """\
func.func private @adding() {
  pto.set_atomic_add
  return
}
func.func @law(%x: !pto.ptr<T>, %y: !pto.ptr<T>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %bytes = arith.constant 64 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = pto.castptr %zero : i64 -> !pto.ptr<T, ub>
  pto.mte_gm_ub %x, %p, %zero, %bytes nburst(%two, %bytes, %bytes) : !pto.ptr<T>,\
 !pto.ptr<T, ub>, i64, i64, i64, i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]
  MODE
  pto.mte_ub_gm %p, %y, %bytes nburst(%two, %bytes, %bytes) : !pto.ptr<T, ub>, !pto.ptr<T>,\
 i64, i64, i64, i64
  pto.set_atomic_none
  pto.mte_ub_gm %p, %y, %bytes nburst(%one, %bytes, %bytes) : !pto.ptr<T, ub>, !pto.ptr<T>,\
 i64, i64, i64, i64
  return
}
"""
OPERATIONS = {
    "f32": ("max", np.float32, np.maximum),
    "f16": ("add", np.float16, np.add),
    "i16": ("min", np.int16, np.minimum),
}


def combining(kind: str, mode: str) -> str:
    return COMBINED.replace("MODE", mode).replace("<T", f"<{kind}")


@ENGINES
@pytest.mark.parametrize("kind", OPERATIONS)
def test_stores_combine_in_a_mode(engine: str, kind: str) -> None:
    """The first burst is stored again without one."""
    word, dtype, operation = OPERATIONS[kind]
    mode = f"pto.set_atomic_{kind.replace('i', 's')}\n  pto.set_atomic_{word}"
    rng, count = np.random.default_rng(3), 128 // np.dtype(dtype).itemsize
    x, y = (rng.integers(-9, 9, count).astype(dtype) for _ in range(2))
    found = pto.loads(combining(kind, mode)).run(
        target="a5", engine=engine, func="law", x=x, y=y.copy()
    )["y"]
    meant = operation(x, y)
    meant[: count // 2] = x[: count // 2]
    assert np.array_equal(found, meant)


def test_modes_are_followed_to_where_they_are_not_known() -> None:
    x = np.ones(32, np.float32)
    typed = "pto.set_atomic_f32\n  "
    called = pto.loads(combining("f32", typed + "func.call @adding() : () -> ()"))
    assert list(called.run(target="a5", func="law", x=x, y=x)["y"][15:17]) == [1, 2]
    for mode in (
        typed + "scf.for %i = %c0 to %c2 step %c1 {\n    pto.set_atomic_add\n  }",
        "pto.set_atomic_s32\n  pto.set_atomic_add",
        "pto.set_atomic_add",
    ):
        with pytest.raises(pto.PtoError, match="not-executed"):
            pto.loads(combining("f32", mode)).run(target="a5", func="law", x=x, y=x)
