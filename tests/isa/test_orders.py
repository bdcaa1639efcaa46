"""The order of sums on each target: whole registers, what is left of one, lengths of the run."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled, scaled
from oracles import orders
from oracles.formats import FORMATS, Array, quieted
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.settings import target_named

ENGINES = ("reference", "native")


def numbers(dtype: str, rows: int, cols: int) -> Array:
    """Numbers whose sums depend on the order, some of them none and infinite."""
    random = np.random.default_rng(rows * cols)
    found = random.standard_normal((rows, cols)) * 2.0 ** random.integers(-8, 8, (rows, cols))
    found[0, -1:] = -np.inf
    found[1, 0], found[1, -1] = np.inf, np.nan
    found[2, :] = -0.0
    return found.astype(FORMATS[dtype][1])


def ran(text: str, target: str, engine: str, **given: Array) -> Array:
    """What %s holds afterwards."""
    return pto.loads(text).execute(given, target=target, engine=engine).outputs["s"]


def row_sums(dtype: str, rows: int, cols: int, target: str, *, dn: bool) -> Array:
    src = f"!pto.tile_buf<vec, {rows}x{whole(cols, dtype)}x{dtype}, valid={rows}x{cols}>"
    width = 32 // FORMATS[dtype][0] * 8
    dst = f"!pto.tile_buf<vec, {rows}x{width}x{dtype}, valid={rows}x1>"
    if dn:
        dst = f"!pto.tile_buf<vec, {rows}x1x{dtype}, blayout=col_major>"
    text = f"func.func @f(%a: {src}, %s: {dst}) {{\n"
    text += f"  %t = pto.alloc_tile : {src}\n"
    text += f"  pto.trowsum ins(%a, %t : {src}, {src}) outs(%s : {dst})\n  return\n}}"
    a, s = numbers(dtype, rows, cols), np.zeros((rows, 1), FORMATS[dtype][1])
    found = [ran(text, target, e, a=a, s=s) for e in ENGINES]
    assert found[0].tobytes() == found[1].tobytes()
    return found[0]


# lengths around one register, two, and numbers of registers that halve with and without rest
LENGTHS = (1, 8, 63, 64, 65, 127, 128, 129, 192, 200, 320, 384, 448, 456, 640, 1100)
CASES = [(d, n, t) for t in ("a2a3", "a5") for d in ("f32", "f16") for n in LENGTHS]


def whole(cols: int, dtype: str) -> int:
    """Columns of whole lines of 32 bytes."""
    line = 256 // FORMATS[dtype][0]
    return -(-cols // line) * line


@pytest.mark.parametrize(("dtype", "cols", "target"), sampled(CASES, 3))
def test_rows_of_any_length(dtype: str, cols: int, target: str) -> None:
    a = numbers(dtype, 4, cols)
    order = orders.on_a5 if target == "a5" else orders.on_a2a3
    expected = quieted(orders.summed(a, dtype, order), dtype)
    assert row_sums(dtype, 4, cols, target, dn=False).tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", orders.SPECIAL)
def test_tiles_that_a2a3_adds_in_groups(shape: tuple[int, int]) -> None:
    a = numbers("f32", *shape)
    expected = orders.summed(a, "f32", orders.special(orders.SPECIAL[shape]))
    found = row_sums("f32", *shape, "a2a3", dn=True)
    assert found.tobytes() == quieted(expected, "f32").tobytes()


@pto.kernel(shapes="x[64, n] y[64, m]")
def block_sums(x: pto.In, y: pto.Out) -> None:
    for i in pto.grid(pto.cdiv(x.shape[1], 128)):
        t = pto.load(pto.block(x, 0, i * 128, 64, 128))
        pto.store(pto.block(y, 0, i, 64, 1), pto.rowsum(t))


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_of_tiles_that_are_whole_in_some_iterations(engine: str) -> None:
    """64 x 128 is such a tile, 64 x 72, the last one, is none."""
    x, y = numbers("f32", 64, 200), np.zeros((64, 2), np.float32)
    block_sums.on("a2a3", engine=engine)(x, y)
    of_whole = orders.special(orders.SPECIAL[64, 128])
    expected = [orders.summed(x[:, :128], "f32", of_whole)]
    expected.append(orders.summed(x[:, 128:], "f32", orders.on_a2a3))
    assert y.tobytes() == quieted(np.hstack(expected), "f32").tobytes()


LOOP = """\
!src = !pto.tile_buf<vec, {rows}x{cols}xf32, valid=?x?>
!dst = !pto.tile_buf<vec, {out}xf32, valid=?x?>
!all = !pto.tensor_view<?x?xf32>
!part = !pto.partition_tensor_view<?x?xf32>
func.func @f(%a: !pto.ptr<f32>, %s: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %iterations = arith.constant {iterations} : index
  %step = arith.constant {step} : index
  %from = pto.make_tensor_view %a, shape = [%rows, %cols], strides = [%cols, %c1] : !all
  %to = pto.make_tensor_view %s, shape = [{shape}], strides = [{strides}] : !all
  scf.for %i = %c0 to %iterations step %c1 {{
    %more = arith.muli %i, %step : index
    %n = arith.addi %more, %c1 : index
    %x = pto.alloc_tile valid_row = {v_row} valid_col = {v_col} : !src
    %t = pto.alloc_tile valid_row = {v_row} valid_col = {v_col} : !src
    %y = pto.alloc_tile valid_row = {o_row} valid_col = {o_col} : !dst
    %in = pto.partition_view %from, offsets = [%c0, %c0], sizes = [{v_row}, {v_col}] : !all -> !part
    %out = pto.partition_view %to, offsets = [{at}], sizes = [{o_row}, {o_col}] : !all -> !part
    pto.tload ins(%in : !part) outs(%x : !src)
    pto.{op} ins(%x, %t{attrs} : !src, !src) outs(%y : !dst)
    pto.tstore ins(%y : !dst) outs(%out : !part)
  }}
  return
}}
"""
BY_ROW = {
    "op": "trowsum",
    "out": "{rows}x8",
    "shape": "%rows, %iterations",
    "strides": "%iterations, %c1",
    "v_row": "%rows",
    "v_col": "%n",
    "o_row": "%rows",
    "o_col": "%c1",
    "at": "%c0, %i",
    "attrs": "",
}
BY_COLUMN = {
    "op": "tcolsum",
    "out": "1x{cols}",
    "shape": "%iterations, %cols",
    "strides": "%cols, %c1",
    "v_row": "%n",
    "v_col": "%cols",
    "o_row": "%c1",
    "o_col": "%cols",
    "at": "%i, %c0",
    "attrs": " {{isBinary = true}}",
}


def looped(
    how: dict[str, str], rows: int, cols: int, iterations: int, step: int, target: str
) -> Array:
    """The sums of the first 1, 1 + step, ... columns or rows: only the run knows how many."""
    sizes = {"rows": rows, "cols": cols}
    said = {name: text.format(**sizes) for name, text in how.items()}
    text = LOOP.format(**sizes, iterations=iterations, step=step, **said)
    shape = (rows, iterations) if how is BY_ROW else (iterations, cols)
    given = {"a": numbers("f32", rows, cols), "s": np.zeros(shape, np.float32)}
    found = [ran(text, target, e, **given) for e in ENGINES]
    assert found[0].tobytes() == found[1].tobytes()
    return found[0]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_rows_whose_length_the_run_knows(target: str) -> None:
    iterations, step = min(scaled(15), 100), 704 // min(scaled(15), 100)
    found = looped(BY_ROW, 4, 704, iterations, step, target)
    a, order = numbers("f32", 4, 704), orders.on_a5 if target == "a5" else orders.on_a2a3
    for iteration in range(iterations):
        expected = orders.summed(a[:, : 1 + iteration * step], "f32", order)
        assert found[:, iteration].tobytes() == quieted(expected, "f32")[:, 0].tobytes(), iteration


@pytest.mark.parametrize("target", TARGETS)
def test_columns_whose_length_the_run_knows(target: str) -> None:
    found = looped(BY_COLUMN, 37, 24, 19, 2, target)
    a, order = numbers("f32", 37, 24), orders.chain if target == "cpu" else orders.pairs
    for iteration in range(19):
        lines = list(a[: 1 + 2 * iteration])
        with np.errstate(all="ignore"):
            expected = order([np.zeros(24, np.float32), *lines] if target == "cpu" else lines)
        assert found[iteration].tobytes() == quieted(expected, "f32").tobytes(), iteration


def test_the_order_is_an_option() -> None:
    """Left to right in the type of the elements: neither what cpu does nor what a5 does."""
    a = numbers("f16", 4, 300)
    with np.errstate(all="ignore"):
        expected = orders.chain([np.zeros(4, np.float16), *a.T])[:, None]
    for target in TARGETS:
        left = row_sums("f16", 4, 300, f"{target}:left", dn=False)
        assert left.tobytes() == quieted(expected, "f16").tobytes()
        assert left.tobytes() != row_sums("f16", 4, 300, target, dn=False).tobytes()


@pytest.mark.parametrize("name", ["a6", "a5:right"])
def test_an_unknown_order_is_told_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match="choose one of"):
        target_named(name)
