"""What hardware computes in is undefined behind it: scratch, and sources that code of A2/A3 uses.

A strict run ends where such bytes are stored, in both engines; targets that do without the scratch
go on.
"""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled

ENGINES, TARGETS = ("reference", "native"), ("cpu", "a2a3", "a5")
T = "!pto.tile_buf<vec, 16x128xf32>"
SUM = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
VIEW, COLUMN = "!pto.tensor_view<16x128xf32>", "!pto.tensor_view<16x1xf32>"
NUMBERS = {"c1": 1, "c2": 2, "c16": 16, "c128": 128, "zero": 0}
HEAD = "".join(f"  %{k} = arith.constant {v} : index\n" for k, v in NUMBERS.items())


def sums(scratch: int, *body: str) -> pto.Program:
    """Doubled rows at byte 8192, and sums of rows with scratch at another byte."""
    lines = "\n  ".join(body)
    return pto.loads(f"""\
func.func @sums(%x: !pto.ptr<f32>, %z: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
{HEAD}  %two = arith.constant 2.0 : f32
  %a3 = arith.constant {scratch} : i64
  %xv = pto.make_tensor_view %x, shape = [%c16, %c128], strides = [%c128, %c1] : {VIEW}
  %zv = pto.make_tensor_view %z, shape = [%c16, %c128], strides = [%c128, %c1] : {VIEW}
  %yv = pto.make_tensor_view %y, shape = [%c16, %c1], strides = [%c1, %c1] : {COLUMN}
  %s = pto.alloc_tile addr = 0 : {T}
  %d = pto.alloc_tile addr = 8192 : {T}
  %t = pto.alloc_tile addr = %a3 : {T}
  %r = pto.alloc_tile addr = 65536 : {SUM}
  pto.tload ins(%xv : {VIEW}) outs(%s : {T})
  {lines}
  pto.tstore ins(%r : {SUM}) outs(%yv : {COLUMN})
  return
}}
""")


DOUBLE = f"pto.tmuls ins(%s, %two : {T}, f32) outs(%d : {T})"
ADD = f"pto.trowsum ins(%s, %t : {T}, {T}) outs(%r : {SUM})"
STORE = f"pto.tstore ins(%d : {T}) outs(%zv : {VIEW})"
TWICE = ("scf.for %i = %zero to %c2 step %c1 {", "}")
ORDERS = {
    "stored behind": (DOUBLE, ADD, STORE),
    "stored before": (DOUBLE, STORE, ADD),
    "written again": (DOUBLE, ADD, DOUBLE, STORE),
    "stored in the next iteration": (DOUBLE, TWICE[0], STORE, ADD, TWICE[1]),
    "written in each iteration": (TWICE[0], DOUBLE, STORE, ADD, TWICE[1]),
}
WRONG = {"stored behind", "stored in the next iteration"}
X = np.arange(2048, dtype=np.float32).reshape(16, 128)


def ran(program: pto.Program, target: str, engine: str) -> str:
    """The slug that a run ends with, or nothing if it gives the right numbers."""
    z, y = np.zeros((16, 128), np.float32), np.zeros((16, 1), np.float32)
    try:
        found = program.run(target=target, engine=engine, strict=True, x=X, z=z, y=y)
    except pto.PtoError as problem:
        return problem.diagnostics[0].slug
    assert (np.asarray(found["y"]).reshape(-1) == X.sum(axis=1)).all()
    assert (np.asarray(found["z"]) == 2 * X).all()
    return ""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scratch", sampled([8192 + 4096, 8192, 32768], 3))
@pytest.mark.parametrize("target", TARGETS)
def test_a_tile_under_scratch(target: str, scratch: int, order: str) -> None:
    program = sums(scratch, *ORDERS[order])
    wrong = target == "a2a3" and scratch < 16384 and order in WRONG
    for engine in ENGINES:
        assert ran(program, target, engine) == ("undefined-store" if wrong else ""), engine


def test_the_check_names_the_read_and_the_scratch() -> None:
    program = sums(8192, *ORDERS["stored behind"])
    (found,) = program.check("a2a3")
    assert (found.slug, found.is_error) == ("uninitialised-read", True)
    assert found.message == "%d is read after pto.trowsum used its bytes as scratch"
    (note,) = found.notes
    assert note.span is not None
    assert "pto.trowsum" in "".join(note.span.picture())
    for target, order in (("a5", "stored behind"), ("cpu", "stored behind")):
        assert not sums(8192, *ORDERS[order]).check(target)
    for order in ORDERS.keys() - WRONG:
        assert not sums(8192, *ORDERS[order]).check("a2a3")


def test_scratch_in_a_branch_is_left_to_the_run() -> None:
    """The branch may not be taken."""
    program = sums(
        8192, DOUBLE, ADD, "%c = arith.cmpi slt, %c1, %c2 : index", "scf.if %c {", ADD, "}"
    )
    assert not program.check("a2a3")


INTS, BYTES = "!pto.tile_buf<vec, 16x64xi32>", "!pto.tile_buf<vec, 16x64xi8>"
REAL, HALF = "!pto.tile_buf<vec, 16x64xf32>", "!pto.tile_buf<vec, 16x64xf16>"
FACTOR = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
OVERWRITTEN = {
    "tquant": ("s", REAL, f"pto.tquant ins(%s, %f : {REAL}, {FACTOR}) outs(%b : {BYTES})"),
    "tdivs": ("i", INTS, f"pto.tdivs ins(%i, 3 : {INTS}, i32) outs(%j : {INTS})"),
    "tdivs of floats": ("s", REAL, f"pto.tdivs ins(%s, %two : {REAL}, f32) outs(%r : {REAL})"),
    "tadddeqrelu": (
        "j",
        INTS,
        f"pto.tadddeqrelu ins(%i, %j, %two : {INTS}, {INTS}, f32) outs(%h : {HALF})",
    ),
}


@pytest.mark.parametrize("name", OVERWRITTEN)
@pytest.mark.parametrize("target", TARGETS)
def test_sources_that_code_of_a2a3_computes_in(target: str, name: str) -> None:
    read, kind, line = OVERWRITTEN[name]
    tiles = {"s": REAL, "r": REAL, "f": FACTOR, "i": INTS, "j": INTS, "b": BYTES, "h": HALF}
    made = "".join(f"  %{k} = pto.alloc_tile : {v}\n" for k, v in tiles.items())
    number = {REAL: "%two : f32", INTS: "3 : i32"}
    filled = "".join(
        f"  pto.texpands ins({number[v]}) outs(%{k} : {v})\n"
        for k, v in tiles.items()
        if v in number
    )
    view = f"!pto.tensor_view<16x64x{'f32' if kind == REAL else 'i32'}>"
    program = pto.loads(f"""\
func.func @f(%y: !pto.ptr<{"f32" if kind == REAL else "i32"}>) {{
{HEAD}  %two = arith.constant 2.0 : f32
{made}{filled}  pto.texpands ins(%two : f32) outs(%r : {REAL})
  %g = pto.treshape %r : {REAL} -> !pto.tile_buf<vec, 16x64xf32>
  pto.trowmax ins(%g : {REAL}) outs(%f : {FACTOR})
  {line}
  %yv = pto.make_tensor_view %y, shape = [%c16, 64], strides = [64, %c1] : {view}
  pto.tstore ins(%{read} : {kind}) outs(%yv : {view})
  return
}}
""")
    lost = target == "a2a3" and name != "tdivs of floats"
    for engine in ENGINES:
        if lost:
            with pytest.raises(pto.PtoError, match="undefined-store"):
                program.run(target=target, engine=engine, strict=True)
        else:
            found = np.asarray(program.run(target=target, engine=engine)["y"])
            assert (found == (2 if kind == REAL else 3)).all()
