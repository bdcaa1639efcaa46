"""Mistakes a newcomer made: each has one clear answer now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from ptokit.tools.cli import main

LINE = "%dst = textract %src[%r0, %r1] : !pto.tile<...> -> !pto.tile<...>\n"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    np.save(tmp_path / "x.npy", np.arange(512, dtype=np.float32).reshape(16, 32))
    return ["run", "-", f"src={tmp_path / 'x.npy'}", "r0=0", "r1=0"]


def status(words: list[str], text: str = LINE) -> tuple[int, str]:
    result = CliRunner().invoke(main, words, input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_an_output_follows_links_and_writes_to_devices(
    arguments: list[str], tmp_path: Path
) -> None:
    target, link = tmp_path / "y.npy", tmp_path / "link.npy"
    target.write_bytes(b"")
    link.symlink_to(target)
    assert status([*arguments, "-o", f"dst={link}"])[0] == 0
    assert link.is_symlink()
    assert np.load(target).shape == (16, 32)
    assert status([*arguments, "-o", "dst=/dev/null"])[0] == 0
    assert Path("/dev/null").is_char_device()


def test_a_directory_is_no_output(arguments: list[str], tmp_path: Path) -> None:
    code, said = status([*arguments, "-o", f"dst={tmp_path}"])
    assert code == 2
    assert "cannot write" in said
    assert not [name for name in os.listdir(tmp_path.parent) if "partial" in name]


@pytest.mark.parametrize(
    "kind", ["dst=foo", "dst=!pto.tile_buf<", "zz=!pto.tile_buf<vec, 8x8xf32>"]
)
def test_a_wrong_type_option(arguments: list[str], kind: str) -> None:
    code, said = status([*arguments, "--type", kind])
    assert code == 2
    assert "--type" in said


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_misspelt_type_is_named(command: str) -> None:
    code, said = status([command, "-"], "%t = pto.alloc_tile : !pto.tile_buff<vec, 8x8xf32>\n")
    assert code == 1
    assert "tile_buff" in said


def test_a_float64_array_is_no_tensor() -> None:
    array = np.full((16, 32), 2.5)
    with pytest.raises(ValueError, match="float64"):
        pto.tensor(array)
    with pytest.raises(ValueError, match="float64"):
        pto.tensor(array, dtype=pto.f32)


def test_an_output_of_terabytes_is_refused() -> None:
    text = """func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %one = arith.constant 1 : index
  %n = arith.constant 16 : index
  %far = arith.constant 99999999999 : index
  %v = pto.make_tensor_view %x, shape = [%n, %n], strides = [%n, %one] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %y, shape = [%n, %n], strides = [%far, %n] : !pto.tensor_view<?x?xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%w : !pto.tensor_view<?x?xf32>)
  return
}
"""
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(text).run(x=np.zeros((16, 16), np.float32))
    assert problem.value.diagnostics[0].slug == "global-out-of-bounds"


def test_a_number_must_fit_its_type() -> None:
    text = "func.func @f(%n: u8) {\n  return\n}\n"
    assert pto.loads(text).run(n=255) == {}
    for number in (256, -1, 10**30):
        with pytest.raises(pto.CallError, match="u8"):
            pto.loads(text).run(n=number)


NO_TILE: Any = None


def test_what_is_no_tile_is_said() -> None:
    mat = pto.tile("vec", "f32", 16, 32, data=np.ones((16, 32)))
    for call in (
        lambda: pto.textract(NO_TILE, mat),
        lambda: pto.ttrans(mat, NO_TILE),
        lambda: pto.subview(NO_TILE, mat),
        lambda: pto.tensor(NO_TILE),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("quant", [1 << 70, -1])
def test_a_parameter_has_64_bits(quant: int) -> None:
    acc = pto.tile_acc("f32", 16, 32, data=np.ones((16, 32)))
    mat = pto.tile("mat", "i8", 16, 32, layout="nz")
    with pytest.raises(ValueError, match="u64"):
        pto.textract(mat, acc, quant=quant)


@pytest.mark.parametrize("rows", [10**30, 10**9])
def test_a_tile_larger_than_any_memory(rows: int) -> None:
    with pytest.raises(ValueError, match="larger than any memory"):
        pto.tile("vec", "f32", rows, 1024)
