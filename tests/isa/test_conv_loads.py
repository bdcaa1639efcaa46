"""Loads of convolution tiles out of planes, against transposed arrays."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from oracles.feature_maps import blocked
from oracles.transfers import PLANES

N, C, D, H, W = 3, 19, 2, 5, 4  # channels fill two blocks of 16, the last in part
C1, LANES = 2, 16


def images(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape).view(np.float16)


def loaded(x: np.ndarray, layout: str, shape: tuple[int, ...], into: str) -> np.ndarray:
    """Load an array of this layout into a tile that holds -1.0."""
    held = np.full(shape, -1, np.float16)
    tile = pto.conv_tile("f16", shape, layout=into, data=held)
    with pto.target("a5"):
        pto.tload(tile, pto.tensor(x, layout=layout))
    return tile.numpy()


ROWS = [  # the layout of the view, its extents, those of the tile; images that are missing stay
    ("nchw", (1, N, C, H, W), "nc1hwc0", (N, C1, H, W, LANES)),
    ("nhwc", (1, N, H, W, C), "nc1hwc0", (N, C1, H, W, LANES)),
    ("ncdhw", (N, C, D, H, W), "ndc1hwc0", (N, D, C1, H, W, LANES)),
    ("ncdhw", (N, C, D, H, W), "fractal_z_3d", (C1 * D * H * W, 1, 16, LANES)),
    ("nchw", (1, N, C, H, W), "fractal_z", (C1 * H * W, 1, 16, LANES)),
]


@every(("layout", "shape", "into", "tile"), ROWS)
def test_maps_out_of_planes(
    layout: str, shape: tuple[int, ...], into: str, tile: tuple[int, ...]
) -> None:
    x = images(*shape)
    [blocks] = blocked(PLANES[layout.upper()](x)[None], LANES)  # n, d, c1, h, w, c0
    if into.startswith("fractal"):
        wanted = np.full(tile, -1, np.float16)
        wanted[:, 0, :N] = blocks.transpose(2, 1, 3, 4, 0, 5).reshape(-1, N, LANES)
    else:
        wanted = blocks.reshape(tile)
    assert np.array_equal(loaded(x, layout, tile, into), wanted)


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
    assert np.array_equal(ran["t"], blocked(x[None, :, :, None], LANES)[0, :, 0])
