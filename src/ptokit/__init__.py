"""ptokit: write, check and run PTO tile kernels on a laptop.

Each name is fetched from where it lives when it is first used: importing ptokit costs nothing, and
a program pays for the parts it uses.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptokit.api import intrinsics
    from ptokit.api.compare import Comparison, compare
    from ptokit.api.events import Event
    from ptokit.api.hostarrays import ConvTile, Tensor, Tile, UnwrittenWarning
    from ptokit.api.intrinsics import *  # noqa: F403 - the instructions, listed in intrinsics.__all__
    from ptokit.api.program import Program, load, loads
    from ptokit.api.settings import target
    from ptokit.api.tensors import (
        conv_tile,
        tensor,
        tile,
        tile_acc,
        tile_left,
        tile_left_scale,
        tile_right,
        tile_right_scale,
    )
    from ptokit.diagnostics.diagnostic import CallError, Diagnostic, PtoError
    from ptokit.isa.model.dtypes import (
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

    __all__ = [
        "CallError",
        "Comparison",
        "ConvTile",
        "DType",
        "Diagnostic",
        "Event",
        "FixPipe",
        "Program",
        "PtoError",
        "Tensor",
        "Tile",
        "UnwrittenWarning",
        "bf16",
        "compare",
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
else:
    from importlib import import_module
    from importlib.util import find_spec

    HOMES = {
        "diagnostics.diagnostic": "CallError Diagnostic PtoError",
        "api.compare": "Comparison compare",
        "api.events": "Event",
        "isa.model.dtypes": "DType bf16 f16 f32 f4e1m2x2 f4e2m1x2 f8e4m3 f8e5m2 f8e8m0 hif8 "
        "i16 i32 i4 i64 i8 u16 u32 u64 u8",
        "numerics.fixpipe": "FixPipe",
        "api.program": "Program load loads",
        "api.settings": "target",
        "api.hostarrays": "ConvTile Tensor Tile UnwrittenWarning",
        "api.tensors": "conv_tile tensor tile tile_acc tile_left tile_left_scale "
        "tile_right tile_right_scale",
    }
    HOME = {name: home for home, names in HOMES.items() for name in names.split()}

    def __getattr__(name: str) -> object:
        """The public name, or the instruction, called `name`."""
        if name == "__all__":
            found = [*HOME, *import_module("ptokit.api.intrinsics").__all__]
        elif name.startswith("_"):
            raise AttributeError(f"module 'ptokit' has no attribute {name!r}")
        elif name not in HOME and find_spec(f"ptokit.{name}"):
            return import_module(f"ptokit.{name}")
        else:
            home = import_module(f"ptokit.{HOME.get(name, 'api.intrinsics')}")
            found = getattr(home, name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *HOME, *import_module("ptokit.api.intrinsics").__all__})
