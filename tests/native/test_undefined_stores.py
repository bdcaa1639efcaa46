"""Elements that nothing computed, stored: a warning and 0, at every door; deciding is an error.

The same answer for 0, 5 and 16 of 16 rows, wherever the others come from.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.tools.cli import main

ROWS = (0, 5, 16)
VIEW = "!pto.tensor_view<?x?xf32>"
VEC = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=?, v_col=?>"
MAT = "!pto.tile_buf<mat, 16x16xf16, valid=?x16, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, 16x16xf16, valid=?x16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 16x16xf16, blayout=row_major, slayout=col_major>"
ACC = (
    "!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=?, v_col=?, blayout=col_major, "
    "slayout=row_major, fractal=1024>"
)
LOAD = f"pto.tload ins(%pa : !pto.partition_tensor_view<?x16xf32>) outs(%few : {VEC})"
ADD = f"pto.tadd ins(%one, %few : {VEC}, {VEC}) outs(%out : {VEC})"
TWICE = f"pto.tmuls ins(%few, %two : {VEC}, f32) outs(%few2 : {VEC})"
PRODUCERS = {
    "a load": (LOAD, ADD),
    "a computation": (LOAD, TWICE, ADD.replace("%few", "%few2")),
    "nothing": (ADD,),
    "a sum that is used": (
        LOAD,
        ADD,
        f"pto.tadd ins(%out, %one : {VEC}, {VEC}) outs(%out : {VEC})",
    ),
}
VALUES = {"a load": 4, "a computation": 7, "nothing": 0, "a sum that is used": 5}  # 1 + 3, ...


def vectors(*lines: str) -> pto.Program:
    """Rows of 3 are loaded into a tile valid for %n rows, 1 is added to 16, which are stored."""
    tiles = "\n  ".join(
        f"%{name} = pto.alloc_tile valid_row = %{rows} valid_col = %c16 : {VEC}"
        for name, rows in (("few", "n"), ("few2", "n"), ("one", "c16"), ("out", "c16"))
    )
    body = "\n  ".join(lines)
    return pto.loads(f"""\
func.func @f(%a: !pto.ptr<f32>, %c: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %number = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %va = pto.make_tensor_view %a, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
  %pa = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%n, %c16]
    : {VIEW} -> !pto.partition_tensor_view<?x16xf32>
  %vc = pto.make_tensor_view %c, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
  {tiles}
  pto.texpands ins(%number : f32) outs(%one : {VEC})
  {body}
  pto.tstore ins(%out : {VEC}) outs(%vc : {VIEW})
  return
}}
""")


PRODUCT = f"""\
func.func @f(%a: {MAT}, %b: {RIGHT}, %c: !pto.ptr<f32>, %n: index) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %vc = pto.make_tensor_view %c, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}
  %left = pto.alloc_tile valid_row = %n : {LEFT}
  %acc = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {ACC}
  pto.tmov ins(%a : {MAT}) outs(%left : {LEFT})
  pto.tmatmul ins(%left, %b : {LEFT}, {RIGHT}) outs(%acc : {ACC})
  pto.tstore ins(%acc : {ACC}) outs(%vc : {VIEW})
  return
}}
"""


def given(rows: int) -> dict[str, Any]:
    return {"a": np.full((16, 16), 3, np.float32), "c": np.full(256, 9, np.float32), "n": rows}


def require(found: Any, seen: str, live: int, value: float) -> None:
    """The rows that were computed have the value, the others are 0, and the warning counts them."""
    rows = np.asarray(found).reshape(16, 16)
    assert (rows[:live] == value).all()
    assert not rows[live:].any()
    assert f"{256 - 16 * live} elements, first ({live}, 0)" in seen


@every("rows", ROWS)
@every("producer", PRODUCERS)
def test_rows_that_nothing_computed(producer: str, rows: int, engine: str) -> None:
    program, value = vectors(*PRODUCERS[producer]), VALUES[producer]
    live = rows if value else 0
    done = program.execute(given(rows), target="a5", engine=engine)
    lost = [w for w in done.warnings if w.slug == "undefined-store"]
    require(
        done.outputs["c"], lost[0].seen or "" if lost else "0 elements, first (16, 0)", live, value
    )
    assert len(lost) == (live < 16)
    if lost:
        with pytest.raises(pto.PtoError, match="undefined-store"):
            program.execute(given(rows), target="a5", engine=engine, strict=True)


@every("target", ["cpu", "a2a3", "a5"])
@every("rows", ROWS)
def test_rows_of_an_accumulator_that_no_product_fills(rows: int, target: str, engine: str) -> None:
    arrays = {
        "a": np.full((rows, 16), 2, np.float16),
        "b": np.ones((16, 16), np.float16),
        "c": np.full(256, 9, np.float32),
        "n": rows,
    }
    done = pto.loads(PRODUCT).execute(arrays, target=target, engine=engine)
    lost = [w.seen or "" for w in done.warnings if w.slug == "undefined-store"]
    assert len(lost) == (rows < 16)
    require(done.outputs["c"], lost[0] if lost else "0 elements, first (16, 0)", rows, 32)


@every("cols", [32, 64])
def test_what_a_sort_does_not_write(cols: int, engine: str) -> None:
    """A record of 8 bytes for each value: a tile of twice as many numbers is filled to the half."""
    values, row = f"!pto.tile_buf<vec, 1x{cols}x", f"!pto.tile_buf<vec, 1x{4 * cols}xf32>"
    program = pto.loads(f"""\
func.func @f(%x: {values}f32>, %i: {values}u32>, %c: !pto.ptr<f32>) {{
  %c1 = arith.constant 1 : index
  %all = arith.constant {4 * cols} : index
  %v = pto.make_tensor_view %c, shape = [%c1, %all], strides = [%all, %c1] : {VIEW}
  %s = pto.alloc_tile : {row}
  pto.tsort32 ins(%x, %i : {values}f32>, {values}u32>) outs(%s : {row})
  pto.tstore ins(%s : {row}) outs(%v : {VIEW})
  return
}}
""")
    (said,) = program.check("a5")
    assert (said.slug, said.is_error) == ("undefined-store", False)
    assert f"{2 * cols} elements, first (0, {2 * cols})" in str(said.seen)
    x = np.arange(cols, dtype=np.float32)[None] + 1
    arrays = {"x": x, "i": np.zeros((1, cols), np.uint32), "c": np.full(4 * cols, 9, np.float32)}
    done = program.execute(arrays, target="a5", engine=engine)
    (found,) = done.warnings
    assert f"{2 * cols} elements, first (0, {2 * cols})" in str(found.seen)
    assert not done.outputs["c"][2 * cols :].any()
    assert done.outputs["c"][0] == 32


@every("rows", ROWS)
def test_blocks_are_counted_together(rows: int, engine: str) -> None:
    done = vectors(LOAD, ADD).execute(given(rows), target="a5", engine=engine, blocks=5)
    lost = [w.seen or "" for w in done.warnings if w.slug == "undefined-store"]
    assert [f"{5 * (256 - 16 * rows)} elements" in seen for seen in lost] == [True] * (rows < 16)


DECIDED = {
    "a number": f"%x = pto.tgetval ins(%few, %c255 : {VEC}, index) outs : f32",
    "an index of a gather": (
        f"%i = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {VEC.replace('f32', 'i32')}\n"
        f"  %t = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {VEC.replace('f32', 'i32')}\n"
        f"  pto.tgather ins(%one, %i, %t : {VEC}, {VEC.replace('f32', 'i32')}, "
        f"{VEC.replace('f32', 'i32')}) outs(%out : {VEC})"
    ),
}


@every("what", DECIDED)
def test_what_decides_must_have_a_value(what: str, engine: str) -> None:
    last = "%c255 = arith.constant 255 : index"
    whole = f"pto.tadd ins(%few, %few : {VEC}, {VEC}) outs(%out : {VEC})"
    taken = DECIDED[what].replace("%few", "%out")
    program = vectors(last, LOAD, whole, taken)
    with pytest.raises(pto.PtoError, match="uninitialised-read"):
        program.execute(given(5), target="a2a3", engine=engine)


@pto.kernel
def through_a_fifo(a: pto.In, b: pto.In, y: pto.Out) -> None:
    left = pto.load(pto.block(a, 0, 0, 5, 16), "mat").to("left")
    right = pto.load(pto.block(b, 0, 0, 16, 16), "mat").to("right")
    acc = pto.tile("acc", "f32", 16, 16, layout="nz", fractal=1024)
    pto.tmatmul(acc, left, right)
    pto.store(pto.block(y, 0, 0, 16, 16), acc.to("vec") + 1.0)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_fifo_between_cores_takes_them_along(target: str, engine: str) -> None:
    a, y = np.ones((16, 16), np.float16), np.full((16, 16), 9, np.float32)
    with pytest.warns(pto.UnwrittenWarning, match=r"352 elements, first \(5, 0\)"):
        through_a_fifo.on(target, engine=engine, blocks=2)(a, a, y)
    assert y[:, 0].tolist() == [17] * 5 + [0] * 11


@pytest.mark.parametrize("atomic", ["", " {atomicType = #pto<atomic_type atomic_add>}"])
def test_what_was_stored_has_a_value(atomic: str, engine: str) -> None:
    """Global memory gives back the documented 0; an atomic sum with nothing is nothing, too."""
    again = (
        LOAD,
        ADD,
        f"pto.tstore ins(%out : {VEC}) outs(%vc : {VIEW}){atomic}",
        f"pto.tload ins(%vc : {VIEW}) outs(%one : {VEC})",
        f"pto.tadd ins(%one, %one : {VEC}, {VEC}) outs(%out : {VEC})",
    )
    done = vectors(*again).execute(given(5), target="a5", engine=engine)
    lost = [w.seen or "" for w in done.warnings if w.slug == "undefined-store"]
    assert len(lost) == 1
    first = 4 + 9 * bool(atomic)
    require(done.outputs["c"], lost[0], 5, 2 * first)


# doors -------------------------------------------------------------------------------------------


@pto.kernel
def tail(x: pto.In, y: pto.Out, *, n: int) -> None:
    few = pto.tile("vec", "f32", 16, 16, valid=(n, 16))
    all_ = pto.tile("vec", "f32", 16, 16)
    out = pto.tile("vec", "f32", 16, 16)
    pto.tload(few, pto.block(x, 0, 0, n, 16))
    pto.treshape(all_, few)
    pto.tadds(out, all_, 1.0)
    pto.tstore(pto.block(y, 0, 0, 16, 16), out)


def by_run(x: Any, y: Any, n: int, *, strict: bool) -> Any:
    arrays: dict[str, Any] = {"a": x, "c": y, "n": n}
    return vectors(LOAD, ADD).run(target="a5", strict=strict, **arrays)["c"]


def by_compiled(x: Any, y: Any, n: int, *, strict: bool) -> Any:
    made = vectors(LOAD, ADD).compile(target="a5", strict=strict)
    return made.run(a=x, c=y, n=n)["c"]


def by_kernel(x: Any, y: Any, n: int, *, strict: bool) -> Any:
    tail.on("a5", strict=strict)(x, y, n=n)
    return y


def by_debug(x: Any, y: Any, n: int, *, strict: bool) -> Any:
    tail.on("a5", strict=strict).debug(x, y, n=n)
    return y


def by_eager(x: Any, y: Any, n: int, *, strict: bool) -> Any:
    with pto.target("a5", strict=strict):
        few, out = pto.tile("vec", "f32", 16, 16), pto.tile("vec", "f32", 16, 16)
        few[:n] = x[:n]
        pto.tadds(out, few, 1.0)
        assert ("--" in repr(out)) == (n < 16)
        pto.tstore(pto.tensor(y), out)
    return y


DOORS: dict[str, Callable[..., Any]] = {
    "run": by_run,
    "compiled": by_compiled,
    "kernel": by_kernel,
    "debug": by_debug,
    "eager": by_eager,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("rows", ROWS)
def test_every_door_warns(door: str, rows: int) -> None:
    if not rows and door in ("kernel", "debug"):
        pytest.skip("a block has elements")

    def arrays() -> tuple[Any, Any]:
        return np.full((16, 16), 3, np.float32), np.full((16, 16), 9, np.float32)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = DOORS[door](*arrays(), rows, strict=False)
    told = [str(w.message) for w in found if w.category is pto.UnwrittenWarning]
    assert len(told) == (rows < 16)
    require(y, told[0] if told else "0 elements, first (16, 0)", rows, 4)
    if rows < 16:
        with pytest.raises(pto.PtoError, match="undefined-store"):
            DOORS[door](*arrays(), rows, strict=True)


@pytest.mark.parametrize("strict", [False, True])
def test_the_command_line_warns(strict: bool, tmp_path: Path) -> None:
    kernel = tmp_path / "k.pto"
    kernel.write_text(vectors(LOAD, ADD).text())
    np.save(tmp_path / "a.npy", given(5)["a"])
    words = ["run", str(kernel), f"a={tmp_path / 'a.npy'}", "c=zeros:256", "n=5", "--target", "a5"]
    result = CliRunner().invoke(main, [*words, *["--strict"] * strict])
    assert result.exit_code == strict
    said = "error" if strict else "warning"
    assert f"{said}[undefined-store]: pto.tstore: %c receives" in result.output
    assert "176 elements, first (5, 0) of %vc" in result.output


@every("valid", [(16, 31), (17, 16), (1 << 40, 1)])
def test_elements_that_lie_nowhere_are_told_once(valid: tuple[int, int]) -> None:
    """A valid region larger than its tile is one error; nobody looks for its elements."""
    acc = "!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row={}, v_col={}, blayout=col_major, slayout=row_major, fractal=1024, pad=0>"  # noqa: E501
    text = f"""\
func.func @f(%l: !pto.tile_buf<left, 16x16xf16>, %r: !pto.tile_buf<right, 16x16xf16>,
             %p: !pto.partition_tensor_view<16x16xf32>) {{
  %a = pto.alloc_tile : {acc.format(*valid)}
  pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 16x16xf16>, !pto.tile_buf<right, 16x16xf16>)
    outs(%a : {acc.format(*valid)})
  pto.tstore ins(%a : {acc.format(*valid)}) outs(%p : !pto.partition_tensor_view<16x16xf32>)
  return
}}
"""
    found = [d.slug for d in pto.loads(text).check("cpu")]
    assert found[0] == "tile-shape"
    assert "undefined-store" not in found
