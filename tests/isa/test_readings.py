"""Readings of a target that programs choose by name: larger views, pedantic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.isa.model.targets import READINGS
from ptokit.tools.cli import main

TILE, SUMS = "!pto.tile_buf<vec, 16x32xf32, valid=4x{}>", "!pto.tile_buf<vec, 16x8xf32, valid=4x1>"
LOAD = """\
func.func @f(%x: !pto.partition_tensor_view<{}xf32>, %t: {tile}) {{
  pto.tload ins(%x : !pto.partition_tensor_view<{}xf32>) outs(%t : {tile})
  return
}}
"""
SUM = f"pto.trowsum ins(%a, %t : {TILE}, {TILE}) outs(%d : {SUMS})\n"


def loaded(view: str) -> pto.Program:
    return pto.loads(LOAD.format(view, view, tile=TILE.format(8)))


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_of_a_larger_view_the_valid_region_is_loaded(engine: str) -> None:
    x, t = np.arange(6.0 * 16).reshape(6, 16).astype("f4"), np.zeros((4, 8), np.float32)
    program = loaded("6x16")
    for target in ("a2a3", "cpu"):
        with pytest.raises(pto.PtoError, match=r"matrix\.rows == dst\.valid\.rows"):
            program.run(target=target, engine=engine, x=x, t=t)
        found = program.run(target=f"{target}:larger-views", engine=engine, x=x, t=t)["t"]
        assert (found == x[:4, :8]).all()
    assert (program.run(target="a5", engine=engine, x=x, t=t)["t"] == x[:4, :8]).all()
    assert not any(d.is_error for d in program.check("a5"))
    assert len(program.check("a5")) == 2  # is that meant?


def test_a_smaller_view_is_refused_under_each_reading() -> None:
    for target in ("a5", "a5:larger-views", "a5:left,larger-views"):
        assert [d.slug for d in loaded("3x8").check(target)] == ["shape"]
        assert loaded("4x8").check(target) == []


@every("target", ["cpu", "a2a3", "a5"])
def test_an_empty_row_reduction_is_told_to_the_pedantic(target: str) -> None:
    for cols in (0, 8):
        program = pto.loads(SUM.format(cols, cols))
        assert program.check(target) == []
        found = program.check(f"{target}:pedantic")
        assert [(d.slug, d.is_error) for d in found] == ([] if cols else [("shape", False)])


def test_the_readings_are_options_of_commands() -> None:
    def said(*words: str, text: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, [*words], input=text)
        return done.exit_code, done.output

    larger = LOAD.format("6x16", "6x16", tile=TILE.format(8))
    assert said("check", "-", text=larger)[0] == 1
    assert said("check", "-", "--reading", "larger-views", text=larger)[0] == 0
    assert "warning[shape]" in said("check", "-", "--pedantic", text=SUM.format(0, 0))[1]
    status, output = said("check", "-", "--reading", "larger", text=larger)
    assert (status, "choose one of" in output) == (2, True)
    run = ("run", "-", "--target", "a2a3", "x=random", "t=zeros", "--order", "left")
    assert said(*run, text=larger)[0] == 1
    assert said(*run, "--reading", "larger-views", text=larger)[0] == 0
    explained = said("explain", "a5", text="")[1]
    assert all(f"  {name}: {what}" in explained for name, what in READINGS.items())


def test_the_current_target_keeps_its_readings() -> None:
    with pto.target("a2a3:larger-views"):
        assert loaded("6x16").check() == []


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_trees_of_f16_saturate_at_each_step(target: str) -> None:
    """The order of the steps shows: two numbers that overflow together, then one that takes off."""
    rows = np.full((16, 256), 0, np.float16)
    rows[0, :3], rows[1, :2], rows[2, 0] = (60000, 60000, -60000), -60000, np.nan
    rows[3, [0, 128]], rows[4, [0, 1]] = 40000, (np.inf, 7)
    text = """\
func.func @f(%a: !pto.tile_buf<vec, 16x256xf16>, %s: !pto.tile_buf<vec, 16x16xf16, valid=16x1>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x256xf16>
  pto.trowsum ins(%a, %t : !pto.tile_buf<vec, 16x256xf16>, !pto.tile_buf<vec, 16x256xf16>) \
outs(%s : !pto.tile_buf<vec, 16x16xf16, valid=16x1>)
  return
}
"""
    s = np.zeros((16, 1), np.float16)
    wanted = {"": [np.inf, -np.inf], ":saturated-sums": [5504, -65504]}
    for reading, first in wanted.items():
        most = 65504 if reading else np.inf
        for engine in ("reference", "native"):
            given = {"a": rows, "s": s}
            done = pto.loads(text).execute(given, target=f"{target}{reading}", engine=engine)
            found = np.asarray(done.outputs["s"])[:5, 0].astype(float)
            np.testing.assert_array_equal(found, [*first, np.nan, most, most])


FILLED = (
    "pto.tfillpad ins(%a : !pto.tile_buf<vec, 4x16x{0}, valid=3x5>)"
    " outs(%c : !pto.tile_buf<vec, 4x16x{0}, pad={1}>)\n"
)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_pads_of_floats_are_infinite_or_finite(engine: str, target: str) -> None:
    for kind, pad in (("f32", 2), ("f32", 3), ("f16", 2), ("f16", 3), ("i16", 2)):
        dtype = np.dtype({"f32": "f4", "f16": "f2", "i16": "i2"}[kind])
        largest = np.iinfo(dtype).max if kind == "i16" else np.finfo(dtype).max
        program = pto.loads(FILLED.format(kind, pad))
        for reading in ("", ":finite-pads", ":infinite-pads"):
            a, c = np.ones((3, 5), dtype), np.zeros((4, 16), dtype)
            found = program.run(target=target + reading, engine=engine, a=a, c=c)["c"]
            finite = kind == "i16" or reading == ":finite-pads" or (target, reading) == ("a5", "")
            bound = largest if finite else np.inf
            assert (found[:3, :5] == 1).all()
            assert (found[3:] == (bound if pad == 2 else -bound)).all()
            assert (found[:, 5:] == (bound if pad == 2 else -bound)).all()


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_load_pads_so_too(engine: str) -> None:
    text = """\
func.func @f(%x: !pto.partition_tensor_view<3x5xf32>, %c: !pto.tile_buf<vec, 4x16xf32>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32, valid=3x5, pad=3>
  pto.tload ins(%x : !pto.partition_tensor_view<3x5xf32>)
            outs(%t : !pto.tile_buf<vec, 4x16xf32, valid=3x5, pad=3>)
  %all = pto.treshape %t : !pto.tile_buf<vec, 4x16xf32, valid=3x5, pad=3>\
 -> !pto.tile_buf<vec, 4x16xf32>
  pto.tmov ins(%all : !pto.tile_buf<vec, 4x16xf32>) outs(%c : !pto.tile_buf<vec, 4x16xf32>)
  return
}
"""
    x, c = np.ones((3, 5), np.float32), np.zeros((4, 16), np.float32)
    for target, bound in (("a5:infinite-pads", -np.inf), ("a5", np.finfo(np.float32).min)):
        found = pto.loads(text).run(target=target, engine=engine, x=x, c=c)["c"]
        assert (found[:, 5:] == bound).all()


EXPANDED = "pto.trowexpand{} ins(%a, %b : {a}, {b}) outs(%d : {d})\n"


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("swapped", [False, True])
def test_of_32_bytes_in_each_row_the_first_value_or_each_counts(engine: str, swapped: bool) -> None:
    wide, block = "!pto.tile_buf<vec, 4x24xf32>", "!pto.tile_buf<vec, 4x8xf32>"
    a = np.arange(96, dtype=np.float32).reshape(4, 24)
    b = np.arange(32, dtype=np.float32).reshape(4, 8) * 100
    kinds = (block, wide) if swapped else (wide, block)
    program = pto.loads(EXPANDED.format("sub", a=kinds[0], b=kinds[1], d=wide))
    given: dict[str, Any] = {"a": b, "b": a} if swapped else {"a": a, "b": b}  # Any: arrays
    first = np.repeat(b[:, :1], 24, axis=1)
    for target, narrow in (
        *(("a5", first), ("a5:row-blocks", np.tile(b, 3)), ("cpu", np.tile(b, 3))),
        *(("a2a3", np.tile(b, 3)), ("a2a3:first-columns", first)),
    ):
        found = program.run(target=target, engine=engine, d=np.zeros_like(a), **given)["d"]
        assert (found == (narrow - a if swapped else a - narrow)).all(), target


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_what_neither_of_two_parts_has_loses_on_a5(engine: str) -> None:
    tile = "!pto.tile_buf<vec, 8x32xKIND{}>"
    a, b, d = (tile.format(v) for v in (", valid=5x32", ", valid=8x20", ""))
    text = f"pto.tpartWORD ins(%a, %b : {a}, {b}) outs(%d : {d})\n"
    for kind in ("f32", "i16", "u16"):
        dtype = np.dtype({"f32": "f4", "i16": "i2", "u16": "u2"}[kind])
        limits = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
        for word, loses in (("max", limits.min), ("min", limits.max), ("add", 0), ("mul", 0)):
            program = pto.loads(text.replace("KIND", kind).replace("WORD", word))
            given: dict[str, Any] = {"a": np.ones((5, 32), dtype), "b": np.ones((8, 20), dtype)}
            for target, fill in (("a5", loses), ("cpu", 0)):
                d = np.full((8, 32), 7, dtype)
                found = program.run(target=target, engine=engine, d=d, **given)["d"]
                assert (found[5:, 20:] == fill).all(), (kind, word, target)
                assert (found[:5, 20:] == 1).all()
                assert (found[5:, :20] == 1).all()
