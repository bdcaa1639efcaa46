"""Loads of convolution tiles out of planes, against transposed arrays."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

N, C, D, H, W = 3, 19, 2, 5, 4  # channels fill two blocks of 16, the last in part
C1, LANES = 2, 16


def blocks(x: np.ndarray) -> np.ndarray:
    """Return (n, c1, d, h, w, c0) of (n, c, d, h, w), missing channels 0."""
    whole = np.zeros((*x.shape[:1], C1 * LANES, *x.shape[2:]), x.dtype)
    whole[:, : x.shape[1]] = x
    return whole.reshape(len(x), C1, LANES, *x.shape[2:]).transpose(0, 1, 3, 4, 5, 2)


def images(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape).view(np.float16)


def loaded(x: np.ndarray, layout: str, shape: tuple[int, ...], into: str) -> np.ndarray:
    """Load an array of this layout into a tile that holds -1.0."""
    held = np.full(shape, -1, np.float16)
    tile = pto.conv_tile("f16", shape, layout=into, data=held)
    with pto.target("a5"):
        pto.tload(tile, pto.tensor(x, layout=layout))
    return tile.numpy()


def test_maps_out_of_planes() -> None:
    x = images(1, N, C, H, W)
    wanted = blocks(x[0][:, :, None])[:, :, 0]
    assert np.array_equal(loaded(x, "nchw", (N, C1, H, W, LANES), "nc1hwc0"), wanted)


def test_maps_of_channels_side_by_side() -> None:
    x = images(1, N, H, W, C)
    wanted = blocks(x[0].transpose(0, 3, 1, 2)[:, :, None])[:, :, 0]
    assert np.array_equal(loaded(x, "nhwc", (N, C1, H, W, LANES), "nc1hwc0"), wanted)


def test_maps_with_depth() -> None:
    x = images(N, C, D, H, W)
    wanted = blocks(x).transpose(0, 2, 1, 3, 4, 5)
    assert np.array_equal(loaded(x, "ncdhw", (N, D, C1, H, W, LANES), "ndc1hwc0"), wanted)


@pytest.mark.parametrize("depth", [1, D])
def test_weights_out_of_planes(depth: int) -> None:
    """A row of 16 images for each block, depth, row and column; images that are missing stay."""
    x = images(N, C, depth, H, W)
    wanted = np.full((C1 * depth * H * W, 1, 16, LANES), -1, np.float16)
    rows = blocks(x).transpose(1, 2, 3, 4, 0, 5)
    wanted[:, 0, :N] = rows.reshape(-1, N, LANES)
    given = (x, "ncdhw", "fractal_z_3d") if depth > 1 else (x[None, :, :, 0], "nchw", "fractal_z")
    assert np.array_equal(loaded(given[0], given[1], wanted.shape, given[2]), wanted)


def test_planes_of_other_extents() -> None:
    tile = pto.conv_tile("f16", (N, C1, H, W, LANES), layout="nc1hwc0")
    with pto.target("a5"), pytest.raises(pto.PtoError) as problem:
        pto.tload(tile, pto.tensor(images(1, N, C, H, W + 1), layout="nchw"))
    assert problem.value.diagnostics[0].slug == "shape"


AT = 7  # elements before the view
MAP = f"{N}x{C1}x{H}x{W}x{LANES}xf16"
VIEW = f"1x{N}x{C}x{H}x{W}xf16"
NUMBERS = {f"c{n}": n for n in (1, N, C, H, W, AT, H * W, C * H * W, N * C * H * W)}
PROGRAM = f"""
func.func @load(%p: !pto.ptr<f16>, %t: !pto.conv_tile<nc1hwc0, {MAP}>) {{
{"".join(f"  %{name} = arith.constant {n} : index" + chr(10) for name, n in NUMBERS.items())}
  %q = pto.addptr %p, %c{AT} : !pto.ptr<f16> -> !pto.ptr<f16>
  %v = pto.make_tensor_view %q, shape = [%c1, %c{N}, %c{C}, %c{H}, %c{W}],
    strides = [%c{N * C * H * W}, %c{C * H * W}, %c{H * W}, %c{W}, %c1]
    {{layout = #pto.layout<nchw>}} : !pto.tensor_view<{VIEW}>
  pto.tload ins(%v : !pto.tensor_view<{VIEW}>) outs(%t : !pto.conv_tile<nc1hwc0, {MAP}>)
  return
}}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_planes_that_begin_inside_an_array(engine: str) -> None:
    """The type in the text does not state the layout, and gathers begin where the view does."""
    given = np.concatenate([images(AT), images(N * C * H * W)])
    tile = np.full((N, C1, H, W, LANES), -1, np.float16)
    ran = pto.loads(PROGRAM).run(p=given, t=tile, target="a5", engine=engine)
    x = given[AT:].reshape(N, C, H, W)
    assert np.array_equal(ran["t"], blocks(x[:, :, None])[:, :, 0])
