"""Arrays of types that NumPy has not: files, programs and kernels give back every bit they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import en_dtypes
import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.tools.cli import main

COPY = """
func.func @copied(%x: !pto.ptr<DT>, %y: !pto.ptr<DT>) {
  %n = arith.constant COLS : index
  %v = pto.make_tensor_view %x, shape = [4, %n], strides = [%n, 1] : VIEW
  %w = pto.make_tensor_view %y, shape = [4, %n], strides = [%n, 1] : VIEW
  %t = pto.alloc_tile : !pto.tile_buf<vec, 4x64xDT>
  pto.tload ins(%v : VIEW) outs(%t : !pto.tile_buf<vec, 4x64xDT>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 4x64xDT>) outs(%w : VIEW)
  return
}
"""
BITS = {"bf16": 16, "hif8": 8, "f8e4m3": 8, "f8e5m2": 8, "f8e8m0": 8, "f4e2m1x2": 4, "f4e1m2x2": 4}
NARROW = [*BITS, "i4"]


def copying(dtype: str) -> str:
    text = COPY.replace("COLS", "32" if dtype.endswith("x2") else "64")  # text counts pairs
    text = text.replace("4x64", "4x32") if dtype.endswith("x2") else text
    return text.replace("VIEW", "!pto.tensor_view<?x?xDT>").replace("DT", dtype)


def bits(dtype: str) -> np.ndarray[tuple[int, ...], np.dtype[np.void]]:
    """Codes of all kinds, as many different ones as 256 elements show."""
    width = BITS.get(dtype, 4)
    codes = np.arange(256).reshape(4, 64) * (257 if width == 16 else 1) % (1 << width)
    return codes.astype(np.uint16 if width == 16 else np.uint8).view(f"V{max(width // 8, 1)}")


@pytest.mark.parametrize("dtype", NARROW)
def test_files_keep_the_bits(dtype: str, tmp_path: Path) -> None:
    (tmp_path / "copy.pto").write_text(copying(dtype))
    np.save(tmp_path / "a.npy", bits(dtype))
    (tmp_path / "a.bin").write_bytes(bits(dtype).tobytes())
    raw = (
        [("a.bin", "d")] if dtype in BITS and BITS[dtype] >= 8 else []
    )  # it has no halves of bytes
    for source, result in (("a.npy", "b"), ("b.npy", "c"), *raw):
        given = [f"x={tmp_path}/{source}", "-o", f"y={tmp_path}/{result}.npy"]
        ran = CliRunner().invoke(main, ["run", str(tmp_path / "copy.pto"), *given])
        assert ran.exit_code == 0, ran.output
        found = np.load(tmp_path / f"{result}.npy")
        assert (found.shape, found.dtype) == ((4, 64), bits(dtype).dtype)
        assert found.tobytes() == bits(dtype).tobytes()


@every("dtype", NARROW)
def test_python_takes_what_it_gives(dtype: str, engine: str) -> None:
    copied = pto.loads(copying(dtype)).compile(engine=engine)
    once = copied.run(x=bits(dtype))["y"]
    again = copied.run(x=once)["y"]
    assert once.shape == (4, 64)
    assert (once.dtype, once.tobytes()) == (again.dtype, again.tobytes())
    if dtype not in ("hif8", "f4e1m2x2"):
        assert once.tobytes() == bits(dtype).tobytes()


@every("dtype", ["f16", "f8e5m2", "hif8"])
def test_values_of_another_type_are_no_raw_bits(dtype: str) -> None:
    given = np.ones((4, 64), ml_dtypes.bfloat16 if dtype == "f16" else ml_dtypes.float8_e4m3fn)
    with pytest.raises(pto.CallError, match=f"the array has {given.dtype}"):
        pto.loads(copying(dtype)).run(x=given)


def test_tiles_are_made_of_values() -> None:
    given = np.full((2, 16), 1.5, ml_dtypes.bfloat16)
    assert (pto.tile("vec", pto.f16, 2, 16, data=given).numpy() == 1.5).all()


def test_values_of_another_type_are_not_compared_by_their_bits() -> None:
    with pytest.raises(ValueError, match="the element type is bfloat16, not f16"):
        pto.compare(np.ones(4, np.float16), np.ones(4, ml_dtypes.bfloat16))


@every(
    ("name", "dtype"),
    [
        ("hifloat8", "hif8"),
        ("float8_e8m0", "f8e8m0"),
        ("float4_e1m2", "f4e1m2x2"),
        ("float4_e2m1", "f4e2m1x2"),
    ],
)
def test_types_of_other_libraries_are_known_by_their_names(name: str, dtype: str) -> None:
    given = np.zeros((4, 32), getattr(en_dtypes, name))
    assert f"{dtype} 4x32" in repr(pto.tensor(given, dtype=dtype))
    with pytest.raises(ValueError, match=f"holds {name}, not"):
        pto.tensor(given, dtype="f8e4m3")


load: Any = pto.load  # Any: of an array or of a file, which parts of arrays leave open


def test_kernels_count_elements_and_print_pairs() -> None:
    @pto.kernel
    def copied(x: Any, y: Any) -> None:
        for row in pto.range(0, 32, 16):
            pto.store(y[row : row + 16, 64:128], load(x[row : row + 16, 64:128]))

    codes = np.random.default_rng(1).integers(0, 16, (32, 256)).astype(np.uint8)
    codes[codes == 8] = 0
    x = codes.view(ml_dtypes.float4_e2m1fn)
    text = copied.program(x, np.zeros_like(x)).text("dps")
    assert "16x32x!pto.f4E2M1x2" in text
    found = pto.loads(text).run(x=x, y=np.zeros_like(x))["y"]
    wanted = np.zeros_like(codes)
    wanted[:, 64:128] = codes[:, 64:128]
    assert np.array_equal(found.view(np.uint8), wanted)
    assert pto.loads(text).text("dps") == text
