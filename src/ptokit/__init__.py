"""ptokit: write, check and run PTO tile kernels on a laptop."""

from ptokit import intrinsics
from ptokit.diagnostics import CallError, Diagnostic, PtoError
from ptokit.events import Event
from ptokit.intrinsics import *  # noqa: F403 - the instructions, listed in intrinsics.__all__
from ptokit.isa.dtypes import (
    DType,
    bf16,
    f4e1m2x2,
    f4e2m1x2,
    f8e4m3,
    f8e5m2,
    f8e8m0,
    f16,
    f32,
    hif8,
    i4,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from ptokit.numerics.fixpipe import FixPipe
from ptokit.program import Program, load, loads
from ptokit.settings import target
from ptokit.tensors import (
    ConvTile,
    Tensor,
    Tile,
    conv_tile,
    tensor,
    tile,
    tile_acc,
    tile_left,
    tile_left_scale,
    tile_right,
    tile_right_scale,
)

__all__ = [
    "CallError",
    "ConvTile",
    "DType",
    "Diagnostic",
    "Event",
    "FixPipe",
    "Program",
    "PtoError",
    "Tensor",
    "Tile",
    "bf16",
    "conv_tile",
    "f4e1m2x2",
    "f4e2m1x2",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "f16",
    "f32",
    "hif8",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "load",
    "loads",
    "target",
    "tensor",
    "tile",
    "tile_acc",
    "tile_left",
    "tile_left_scale",
    "tile_right",
    "tile_right_scale",
    "u8",
    "u16",
    "u32",
    "u64",
]
__all__ += intrinsics.__all__
