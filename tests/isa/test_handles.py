"""Multi-tiles and pointers to tiles: what is refused, and when, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.api.program import Program
from ptokit.isa.model.targets import CPU_TARGET
from ptokit.passes.pipeline import run_passes

PAIR, T = "!pto.multi_tile_buf<vec, 4x8xi32, count=2>", "!pto.tile_buf<vec, 4x8xi32>"
P, V = "!pto.ptr<i32, vec>", "!pto.tensor_view<?x?xi32>"
STORE = f"pto.tstore ins(%t : {T}) outs(%v : {V})"
GET = f"""\
%mb = pto.alloc_multi_tile : {PAIR}
  %t = pto.multi_tile_get %mb[%i] : {PAIR} -> {T}"""
TAKE = f"""\
%t = pto.alloc_tile : {T}
  %p = pto.tile_buf_addr %t : {T} -> {P}"""
SET = f"scf.for %k = %c0 to %i step %c1 {{\n  pto.store_scalar %x, %p[%k] : {P}, i32\n  }}"
READ = (
    f"%y = pto.load_scalar %p[%i] : {P} -> i32\n  pto.store_scalar %y, %g[%c0] : !pto.ptr<i32>, i32"
)
CASES = {
    f"{GET}\n  {STORE}": {2: "operand-value", 0: "undefined-store"},
    f"{TAKE}\n  {READ}": {0: "uninitialised-read", 10**6: "address-out-of-range"},
    f"{TAKE}\n  {SET}\n  {STORE}": {32: "", 31: "undefined-store"},
    f"{TAKE}\n  %w = pto.make_tensor_view %p, shape = [%c4], strides = [%c1] : {V}": {
        0: "location"
    },
    f"%mb = pto.alloc_multi_tile : {PAIR.replace('=2', '=17')}": {0: "operand-value"},
    f"%mb = pto.alloc_multi_tile : {PAIR}\n  pto.texpands ins(%x : i32) outs(%mb : {PAIR})": {
        0: "type-mismatch"
    },
}


def program(body: str, arguments: str = "%g: !pto.ptr<i32>, %i: index") -> str:
    return f"""\
func.func @f({arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 5 : i32
  %v = pto.make_tensor_view %g, shape = [%c4, %c8], strides = [%c8, %c1] : {V}
  {body}
  return
}}
"""


@every("engine", ["reference", "native"])
@every(("body", "index", "slug"), [(b, *c) for b, w in CASES.items() for c in w.items()])
def test_what_is_refused(body: str, index: int, slug: str, engine: str) -> None:
    given = {"g": np.zeros(32, np.int32), "i": index}
    try:
        run = pto.loads(program(body)).execute(given, engine=engine)
        found = next((warning.slug for warning in run.warnings), "")
    except pto.PtoError as problem:
        found = problem.diagnostics[0].slug
    assert found == slug


def test_a_tile_that_the_scalar_unit_writes_is_written() -> None:
    assert pto.loads(program(f"{TAKE}\n  {SET}\n  {STORE}")).check("all") == []


@pytest.mark.parametrize("kind", [P, PAIR])
def test_no_argument_points_into_a_core(kind: str) -> None:
    text = program("", f"%g: !pto.ptr<i32>, %q: {kind}")
    with pytest.raises(pto.PtoError, match="argument-type"):
        pto.loads(text).run(g=np.zeros(32, np.int32), q=np.zeros(32, np.int32))


def test_a_multi_tile_is_placed_once() -> None:
    """Its address is written out, and its tiles follow from it."""
    text = program(f"{GET}\n  pto.texpands ins(%x : i32) outs(%t : {T})\n  {STORE}")
    module = run_passes(pto.loads(text).module, ["place"], CPU_TARGET)
    printed = Program(module).text("dps")
    assert "pto.alloc_multi_tile addr = %at_0" in printed
    assert pto.loads(printed).run(g=np.zeros(32, np.int32), i=1)["g"].tolist() == [5] * 32


@pytest.mark.parametrize(
    ("config", "slug"), [("#pto.tile_buf_config<blayout=7>", "unknown-word"), ("3", "unknown-word")]
)
def test_a_configuration_is_read(config: str, slug: str) -> None:
    kind = "memref<4x8xi32, #pto.address_space<vec>>"
    body = f"%t = pto.alloc_tile : {kind}\n  %u = pto.bind_tile %t {{config = {config}}}"
    with pytest.raises(pto.PtoError, match=slug):
        pto.loads(program(f"{body} : {kind} -> {kind}"))


@every("engine", ["reference", "native"])
@every(("index", "result"), [(1, [6, 5]), (9, [5, 6])])
def test_a_tile_is_selected(index: int, result: list[int], engine: str) -> None:
    """The result is a handle on the bytes of one of the two: it has what is written there."""
    body = f"""\
%a = pto.alloc_tile : {T}
  %b = pto.alloc_tile : {T}
  pto.texpands ins(%x : i32) outs(%a : {T})
  pto.texpands ins(%x : i32) outs(%b : {T})
  %less = arith.cmpi slt, %i, %c4 : index
  %t = arith.select %less, %a, %b : {T}
  %one = arith.constant 1 : i32
  pto.tadds ins(%t, %one : {T}, i32) outs(%t : {T})
  %m = pto.tgetval ins(%a, %c0 : {T}, index) outs : i32
  %n = pto.tgetval ins(%b, %c0 : {T}, index) outs : i32
  pto.store_scalar %m, %g[%c0] : !pto.ptr<i32>, i32
  pto.store_scalar %n, %g[%c1] : !pto.ptr<i32>, i32"""
    loaded = pto.loads(program(body))
    assert loaded.check("all") == []
    done = loaded.execute({"g": np.zeros(32, np.int32), "i": index}, engine=engine)
    assert np.asarray(done.outputs["g"])[:2].tolist() == result


@every(
    ("line", "targets"),
    [
        ("%x = pto.load_scalar %g[%i] : !pto.ptr<i32> -> f32", "cpu a2a3 a5"),
        ("%x = pto.load_scalar %g[%i] : !pto.ptr<i32> -> index", "cpu a2a3 a5"),
        ("pto.store_scalar %i, %g[%i] : !pto.ptr<i32>, index", "cpu a2a3 a5"),
        (f"%x = pto.tgetval ins(%t, %i : {T}, index) outs : f32", "a2a3 a5"),
        (f"%x = pto.tgetval ins(%t, %i : {T}, index) outs : i32", ""),
    ],
)
def test_a_number_has_the_type_of_the_elements(line: str, targets: str) -> None:
    text = f"""\
func.func @f(%g: !pto.ptr<i32>, %i: index, %t: {T}) {{
  {line}
  return
}}
"""
    found = {t: [d.slug for d in pto.loads(text).check(t)] for t in ("cpu", "a2a3", "a5")}
    assert found == {t: ["element-type"] * (t in targets.split()) for t in found}


@every(
    ("line", "slugs"),
    [
        ("%a = pto.declare_local_array -> !pto.local_array<8192xi32>", []),
        ("%a = pto.declare_local_array -> !pto.local_array<8193xi32>", ["out-of-memory"]),
        ("%a = pto.declare_eventid_array -> !pto.eventid_array<4294967296>", ["out-of-memory"]),
        (
            "%a = pto.declare_struct -> !pto.struct<!pto.local_array<8192xi32>, i8>",
            ["out-of-memory"],
        ),
        (
            "%a = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 1024} "
            "(%x : i32) -> !pto.pipe",
            ["fifo-mismatch", "out-of-memory"],  # nobody pops
        ),
    ],
)
def test_what_a_core_keeps_has_room_in_it(line: str, slugs: list[str]) -> None:
    assert [d.slug for d in pto.loads(program(line)).check("cpu")] == slugs


@every("engine", ["reference", "native"])
@every("slots", [1 << 40, (1 << 59) - 1])
def test_slots_that_no_memory_holds_are_too_many(slots: int, engine: str) -> None:
    """Of one end alone no rule knows what is behind the other; the second are beyond any array."""
    text = f"""func.func @f() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %zero = arith.constant 0 : i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024, slot_num = {slots}}}
    (c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %zero : i32)
  %t = pto.tpop_from_aic {{split = 0}} -> !pto.tile_buf<vec, 16x16xf32>
  pto.tfree_from_aic {{split = 0}}
  return
}}
"""
    with pytest.raises(pto.PtoError, match="out-of-memory"):
        pto.loads(text).run(engine=engine)
