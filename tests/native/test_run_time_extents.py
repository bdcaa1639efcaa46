"""Valid regions that only the run knows: proofs that need no shadow, and current extents."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from every import every
from ptokit.engines.native.compile import CompiledFunction
from ptokit.launch.settings import options_of

SQUARE = np.arange(40 * 64, dtype=np.float32).reshape(40, 64) / 64
HALVES = SQUARE.astype(np.float16)
LINE = SQUARE[:1].copy()
OUT, WIDE = np.zeros_like(SQUARE), np.zeros((64, 48), np.float32)
KERNELS: dict[str, tuple[str, dict[str, NDArray[Any]], dict[str, int]]] = {
    "softmax": ("elementwise", {"x": SQUARE, "y": OUT}, {"rows": 40}),
    "rmsnorm": ("elementwise", {"x": HALVES, "gain": LINE, "y": OUT}, {"rows": 40}),
    "layer_norm": (
        "elementwise",
        {"x": SQUARE, "gain": LINE, "bias": LINE, "y": OUT},
        {"rows": 40},
    ),
    "gemm": ("matrix", {"a": SQUARE, "b": WIDE, "c": OUT[:, :48].copy()}, {"m": 40}),
    "flash": ("attention", {"q": HALVES, "k": HALVES, "v": HALVES, "o": OUT}, {"m": 40, "n": 40}),
}
TARGETS = [*zip(KERNELS, ("cpu", "a5", "cpu", "a2a3", "cpu"), strict=True)]


@every(("name", "target"), TARGETS)
def test_reads_of_run_time_extents_are_proven(name: str, target: str) -> None:
    """What is written by name is read by that name; no engine has to look at a shadow for it."""
    chapter, arrays, numbers = KERNELS[name]
    kernel = getattr(import_module(f"examples.kernels.{chapter}"), name)
    how = {"high": 16} if chapter == "elementwise" else {}
    program = kernel.on(target).program(*arrays.values(), **how)
    executable = program.executable(options_of(target=target, engine="native"))
    executable.options = replace(executable.options, slots=True)
    launch = executable.bound({**arrays, **numbers})
    compiler, _ = CompiledFunction(launch, executable.options).job(launch).settled()
    assert not compiler.tracked, compiler.tracked


TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=4, cols=8, v_row=?, v_col=?>"
FULL = TILE.replace("v_row=?, v_col=?", "v_row=4, v_col=8")
RESIZED = f"""
func.func @resized(%y: !pto.ptr<f32>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %unit = arith.constant 1.0 : f32
  %ten = arith.constant 10.0 : f32
  %none = arith.constant 0.0 : f32
  %view = pto.make_tensor_view %y, shape = [%four, %eight], strides = [%eight, %one] \
: !pto.tensor_view<4x8xf32>
  %all = pto.partition_view %view, offsets = [%zero, %zero], sizes = [%four, %eight] \
: !pto.tensor_view<4x8xf32> -> !pto.partition_tensor_view<4x8xf32>
  %t = pto.alloc_tile valid_row = %four valid_col = %eight : {TILE}
  pto.texpands ins(%none : f32) outs(%t : {TILE})
  scf.for %i = %zero to %n step %one {{
    pto.tadds ins(%t, %unit : {TILE}, f32) outs(%t : {TILE})
    %more = arith.addi %i, %one : index
    pto.set_validshape %t, %more, %eight : {TILE}
    %second = arith.cmpi eq, %i, %one : index
    scf.if %second {{
      pto.set_validshape %t, %four, %two : {TILE}
    }}
    pto.tadds ins(%t, %ten : {TILE}, f32) outs(%t : {TILE})
  }}
  pto.tadds ins(%t, %unit : {TILE}, f32) outs(%t : {TILE})
  pto.set_validshape %t, %four, %eight : {TILE}
  pto.tstore ins(%t : {TILE}) outs(%all : !pto.partition_tensor_view<4x8xf32>)
  return
}}
"""


@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_instruction_sees_the_extents_of_its_iteration(engine: str, n: int) -> None:
    wanted = np.zeros((4, 8), np.float32)
    rows, cols = 4, 8
    for i in range(n):
        wanted[:rows, :cols] += 1
        rows, cols = (4, 2) if i == 1 else (i + 1, 8)
        wanted[:rows, :cols] += 10
    wanted[:rows, :cols] += 1
    y = np.zeros((4, 8), np.float32)
    done = pto.loads(RESIZED).run(y=y, n=n, engine=engine)
    np.testing.assert_array_equal(done["y"], wanted)


CARRIED = f"""
func.func @carried(%x: {FULL}, %n: index, %m: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %block = pto.get_block_idx
  %number = arith.index_cast %block : i64 to index
  %rows = arith.addi %n, %number : index
  %t = pto.alloc_tile valid_row = %rows valid_col = %m : {TILE}
  pto.subview ins(%x : {FULL}) outs(%t : {TILE})
  %u = scf.for %i = %zero to %n step %one iter_args(%same = %t) -> ({TILE}) {{
    scf.yield %same : {TILE}
  }}
  pto.tadd ins(%u, %t : {TILE}, {TILE}) outs(%t : {TILE})
  return
}}
"""


def test_a_tile_that_a_loop_hands_on_stays_in_its_place(engine: str) -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    for n, m in ((4, 8), (3, 5), (1, 1)):
        wanted = x.copy()
        wanted[:n, :m] *= 2
        done = pto.loads(CARRIED).run(x=x.copy(), n=n, m=m, engine=engine)
        np.testing.assert_array_equal(done["x"], wanted)


LEFT = "loc=left, dtype=f16, rows=16, cols=16, v_row=16, v_col={}, blayout=col_major, \
slayout=row_major"
RIGHT = "loc=right, dtype=f16, rows=16, cols=16, v_row={}, v_col=16, blayout=row_major, \
slayout=col_major"
A, A_OF_K = (f"!pto.tile_buf<{LEFT.format(n)}>" for n in (16, "?"))
B, B_OF_K = (f"!pto.tile_buf<{RIGHT.format(n)}>" for n in (16, "?"))
SUMS = "!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, \
blayout=col_major, slayout=row_major, fractal=1024>"
PRODUCT = f"""
func.func @product(%a: {A}, %b: {B}, %c: {SUMS}, %d: {SUMS}, %k: index) {{
  %l = pto.alloc_tile valid_col = %k : {A_OF_K}
  pto.subview ins(%a : {A}) outs(%l : {A_OF_K})
  %r = pto.alloc_tile valid_row = %k : {B_OF_K}
  pto.subview ins(%b : {B}) outs(%r : {B_OF_K})
  pto.tmatmul ins(%l, %r : {A_OF_K}, {B_OF_K}) outs(%c : {SUMS})
  pto.tmatmul.acc ins(%d, %l, %r : {SUMS}, {A_OF_K}, {B_OF_K}) outs(%d : {SUMS})
  return
}}
"""


@pytest.mark.parametrize("k", [0, 3])
def test_products_over_some_or_no_elements(engine: str, k: int) -> None:
    a, b = (np.arange(256, dtype=np.float16).reshape(16, 16) % n for n in (5, 7))
    sums = np.full((16, 16), 3, np.float32)
    wanted = a[:, :k].astype(np.float32) @ b[:k].astype(np.float32)
    done = pto.loads(PRODUCT).run(a=a, b=b, c=sums.copy(), d=sums.copy(), k=k, engine=engine)
    np.testing.assert_array_equal(done["c"], wanted)
    np.testing.assert_array_equal(done["d"], wanted + 3)


@pto.kernel(shapes="x[m, n] total[m, 1] largest[m, 1]")
def folded(x: pto.In, total: pto.Out, largest: pto.Out) -> None:
    rows = pto.load(pto.block(x, 0, 0, 24, 40))
    pto.store(pto.block(total, 0, 0, 24, 1), pto.rowsum(rows))
    pto.store(pto.block(largest, 0, 0, 24, 1), pto.rowmax(rows))


def test_folds_of_run_time_rows_and_columns() -> None:
    """Rows in vectors and the rest, blocks of columns and the rest, in the stated order."""
    x = np.random.default_rng(3).standard_normal((24, 40)).astype(np.float32)
    for m in (1, 7, 8, 17, 24):
        for n in (1, 5, 8, 31, 40):
            total, largest, wanted = (np.zeros((m, 1), np.float32) for _ in range(3))
            folded(x[:m, :n].copy(), total, largest)
            for column in x[:m, :n].T:
                wanted[:, 0] += column
            np.testing.assert_array_equal(total, wanted)
            np.testing.assert_array_equal(largest[:, 0], x[:m, :n].max(1))
