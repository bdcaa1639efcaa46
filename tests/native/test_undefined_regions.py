"""Blocks, indices and reductions behind a `?` that reach less far than the result: both engines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import ptokit as pto
from every import every

Shape = tuple[int, int, int, int, str]  # declared, valid, elements


class Case(NamedTuple):
    """Tiles, instructions on them, and the tile of which so many rows and columns are stored."""

    tiles: dict[str, Shape]
    lines: tuple[str, ...]
    shown: str
    rows: int
    cols: int


def square(rows: int = 16, cols: int = 16, dtype: str = "f32") -> Shape:
    return 16, 16, rows, cols, dtype


def fill(name: str, number: str = "one : f32") -> str:
    return f"pto.texpands ins(%{number}) outs(%{name} : {{{name}}})"


def on(name: str, ins: str, out: str) -> str:
    given = ins.split()
    operands = ", ".join(f"%{n}" for n in given)
    types = ", ".join(f"{{{n}}}" for n in given)
    return f"pto.{name} ins({operands} : {types}) outs(%{out} : {{{out}}})"


def program(case: Case) -> pto.Program:
    dtype = case.tiles[case.shown][4]
    kinds = {
        n: f"!pto.tile_buf<loc=vec, dtype={t[4]}, rows={t[0]}, cols={t[1]}, v_row=?, v_col=?>"
        for n, t in case.tiles.items()
    }
    extents = {0, 1, case.rows, case.cols, *(n for t in case.tiles.values() for n in t[2:4])}
    made = "\n  ".join(
        f"%a{k} = arith.constant {4096 * k} : i64\n  %{n} = pto.alloc_tile addr = %a{k} "
        f"valid_row = %c{t[2]} valid_col = %c{t[3]} : {kinds[n]}"
        for k, (n, t) in enumerate(case.tiles.items())
    )
    shape = f"{case.rows}, {case.cols}"
    part = (
        f"!pto.tile_buf<loc=vec, dtype={dtype}, rows={case.rows}, cols={case.cols}, "
        f"v_row={case.rows}, v_col={case.cols}>"
    )
    view = f"!pto.tensor_view<{case.rows}x{case.cols}x{dtype}>"
    body = "\n  pto.barrier <PIPE_ALL>\n  ".join(line.format(**kinds) for line in case.lines)
    numbers = "\n  ".join(f"%c{n} = arith.constant {n} : index" for n in sorted(extents))
    return pto.loads(f"""
func.func @f(%y: !pto.ptr<{dtype}>) {{
  {numbers}
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3 : i32
  {made}
  {body}
  pto.barrier <PIPE_ALL>
  %part = pto.subview %{case.shown}[%c0, %c0] sizes [{shape}] : {kinds[case.shown]} -> {part}
  %to = pto.make_tensor_view %y, shape = [%c{case.rows}, %c{case.cols}],
    strides = [%c{case.cols}, %c1] : {view}
  pto.tstore ins(%part : {part}) outs(%to : {view})
  pto.barrier <PIPE_ALL>
  return
}}
""")


ONES = {"full": square(), "dst": square(), "u": square()}
SUMS: dict[str, Shape] = {
    "src": square(8),
    "tmp": square(),
    "dst": (16, 8, 16, 1, "f32"),
    "u": square(),
}
GATHERED = "pto.tgather ins(%full, %index, %tmp : {full}, {index}, {tmp}) outs(%dst : {dst})"
CAST = "pto.tcvt ins(%src {{rmode = #pto<round_mode CAST_RINT>}} : {src}) outs(%dst : {dst})"
CASES = {
    "a block of each row": Case(
        {**ONES, "block": (16, 8, 8, 8, "f32")},
        (
            *(fill("full"), fill("block"), on("trowexpandmul", "full block", "dst")),
            on("tadd", "dst full", "u"),
        ),
        *("u", 8, 16),
    ),
    "a conversion": Case(
        {"src": square(8), "dst": square(16, 16, "i32"), "u": square(16, 16, "i32")},
        (fill("src"), CAST, on("tadd", "dst dst", "u")),
        *("u", 8, 16),
    ),
    "sums of fewer rows": Case(
        SUMS,
        (fill("src"), on("trowsum", "src tmp", "dst"), on("trowexpand", "dst", "u")),
        *("u", 8, 16),
    ),
    "the largest of fewer columns": Case(
        {"src": square(16, 8), "dst": (1, 16, 1, 16, "f32"), "u": (1, 16, 1, 16, "f32")},
        (fill("src"), on("tcolmax", "src", "dst"), on("tadd", "dst dst", "u")),
        *("u", 1, 8),
    ),
    "fewer indices": Case(
        {**ONES, "index": square(8, 16, "i32"), "tmp": (8, 16, 8, 16, "i32")},
        (fill("full"), fill("index", "three : i32"), GATHERED, on("tadd", "dst full", "u")),
        *("u", 8, 16),
    ),
}
VALUES = dict(zip(CASES, (2, 2, 16, 2, 2), strict=True))


def run(case: Case, target: str, engine: str) -> Any:
    kind = np.int32 if case.tiles[case.shown][4] == "i32" else np.float32
    y = np.zeros((case.rows, case.cols), kind)
    return program(case).execute({"y": y}, target=target, engine=engine)


@every("target", ["a2a3", "a5"])
@every("name", CASES)
def test_what_has_a_value_comes_through(name: str, target: str, engine: str) -> None:
    done = run(CASES[name], target, engine)
    assert (done.outputs["y"] == VALUES[name]).all()
    assert {w.slug for w in done.warnings} == {"shape"}


@every("target", ["a2a3", "a5"])
@every("name", CASES)
def test_what_has_none_is_stored_as_0(name: str, target: str, engine: str) -> None:
    case = CASES[name]
    declared = case.tiles[case.shown]
    whole = case._replace(rows=declared[0], cols=declared[1])
    done = run(whole, target, engine)
    first = (case.rows % declared[0], case.cols % declared[1])
    count = declared[0] * declared[1] - case.rows * case.cols
    (found,) = (w for w in done.warnings if w.slug == "undefined-store")
    assert f"{count} elements, first {first}" in str(found.seen)
    assert np.count_nonzero(done.outputs["y"]) == case.rows * case.cols


def test_a_sum_that_takes_in_what_has_no_value_has_none(engine: str) -> None:
    tiles: dict[str, Shape] = {**SUMS, "few": square(16, 8), "src": square(), "full": square()}
    lines = (fill("few"), fill("full"), on("tadd", "few full", "src"))
    case = Case(tiles, (*lines, on("trowsum", "src tmp", "dst")), "dst", 16, 1)
    done = run(case, "a2a3", engine)
    (found,) = (w for w in done.warnings if w.slug == "undefined-store")
    assert "16 elements, first (0, 0)" in str(found.seen)
    assert not done.outputs["y"].any()


def test_rows_that_a_sum_leaves_out_keep_what_they_held(engine: str) -> None:
    """Only the rows of the source are written."""
    case = Case(SUMS, (fill("src"), fill("dst"), on("trowsum", "src tmp", "dst")), "dst", 16, 1)
    found = run(case, "a2a3", engine).outputs["y"]
    assert found[:, 0].tolist() == [16] * 8 + [1] * 8
