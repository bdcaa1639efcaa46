"""ptokit: write, check and run PTO tile kernels on a laptop.

Each name is fetched from where it lives when it is first used: importing ptokit costs nothing, and
a program pays for the parts it uses.
"""

TYPE_CHECKING = False  # `typing` has it, and takes longer to import than all else here

if TYPE_CHECKING:
    from ptokit.api import intrinsics
    from ptokit.api.compare import Comparison, compare
    from ptokit.api.cxx.cxxkernel import cxx
    from ptokit.api.events import Event
    from ptokit.api.hostarrays import ConvTile, Tensor, Tile, UnwrittenWarning
    from ptokit.api.intrinsics import *  # noqa: F403 - the instructions, listed in intrinsics.__all__
    from ptokit.api.kernel import valuenames
    from ptokit.api.kernel.hostside import In, InOut, KernelWarning, Out, spec
    from ptokit.api.kernel.kernel import Kernel, inline, kernel
    from ptokit.api.kernel.kernelfunctions import (
        block,
        cdiv,
        copy,
        full,
        grid,
        matmul,
        print,
        range,
        store,
        target_name,
        where,
    )
    from ptokit.api.kernel.lanenames import lanes
    from ptokit.api.kernel.loading import load, loads
    from ptokit.api.kernel.tuning import Tuning, autotune
    from ptokit.api.kernel.valuenames import *  # noqa: F403 - listed in valuenames.__all__
    from ptokit.api.kernel.vectorcalls import vector
    from ptokit.api.program import Program
    from ptokit.api.tensors import (
        conv,
        conv_tile,
        tensor,
        tile,
        tile_acc,
        tile_left,
        tile_left_scale,
        tile_mat,
        tile_right,
        tile_right_scale,
        tile_vec,
    )
    from ptokit.diagnostics.diagnostic import CallError, Diagnostic, PtoError
    from ptokit.launch.settings import target
    from ptokit.tools.arraydiff import assert_tiles_equal
    from ptokit.values.dtypes import (
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
    from ptokit.values.fixpipe import FixPipe

    __version__: str
    __all__ = [
        "CallError",
        "Comparison",
        "ConvTile",
        "DType",
        "Diagnostic",
        "Event",
        "FixPipe",
        "In",
        "InOut",
        "Kernel",
        "KernelWarning",
        "Out",
        "Program",
        "PtoError",
        "Tensor",
        "Tile",
        "Tuning",
        "UnwrittenWarning",
        "assert_tiles_equal",
        "autotune",
        "bf16",
        "block",
        "cdiv",
        "compare",
        "conv",
        "conv_tile",
        "copy",
        "cxx",
        "f4e1m2x2",
        "f4e2m1x2",
        "f8e4m3",
        "f8e5m2",
        "f8e8m0",
        "f16",
        "f32",
        "full",
        "grid",
        "hif8",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "inline",
        "kernel",
        "lanes",
        "load",
        "loads",
        "matmul",
        "print",
        "range",
        "spec",
        "store",
        "target",
        "target_name",
        "tensor",
        "tile",
        "tile_acc",
        "tile_left",
        "tile_left_scale",
        "tile_mat",
        "tile_right",
        "tile_right_scale",
        "tile_vec",
        "u8",
        "u16",
        "u32",
        "u64",
        "vector",
        "where",
    ]
    __all__ += intrinsics.__all__
    __all__ += valuenames.__all__
else:
    del TYPE_CHECKING
    _HOMES = {
        "diagnostics.diagnostic": "CallError Diagnostic PtoError",
        "api.compare": "Comparison compare",
        "api.events": "Event",
        "tools.arraydiff": "assert_tiles_equal",
        "values.dtypes": "DType bf16 f16 f32 f4e1m2x2 f4e2m1x2 f8e4m3 f8e5m2 f8e8m0 hif8 "
        "i16 i32 i4 i64 i8 u16 u32 u64 u8",
        "values.fixpipe": "FixPipe",
        "api.cxx.cxxkernel": "cxx",
        "api.kernel.loading": "load loads",
        "api.program": "Program",
        "launch.settings": "target",
        "api.hostarrays": "ConvTile Tensor Tile UnwrittenWarning",
        "api.tensors": "conv conv_tile tensor tile tile_acc tile_left tile_left_scale tile_mat "
        "tile_right tile_right_scale tile_vec",
        "api.kernel.tuning": "Tuning autotune",
        "api.kernel.hostside": "In InOut KernelWarning Out spec",
        "api.kernel.kernel": "Kernel inline kernel",
        "api.kernel.lanenames": "lanes",
        "api.kernel.vectorcalls": "vector",
        "api.kernel.kernelfunctions": "block cdiv copy full grid matmul print range store "
        "target_name where",
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

    # what is made of the pages
    _DERIVED = ("api.kernel.valuenames", "api.intrinsics")

    def _module(home: str) -> object:
        from importlib import import_module

        return import_module(f"ptokit.{home}")

    def _is_module(name: str) -> bool:
        from importlib.util import find_spec

        return find_spec(f"ptokit.{name}") is not None

    def _home(name: str) -> str:
        """Where a name that is made of the pages lives."""
        found = (home for home in _DERIVED if hasattr(_module(home), name))
        return next(found, _DERIVED[-1])

    def _public() -> list[str]:
        derived = (name for home in _DERIVED for name in _module(home).__all__)
        return [*_HOME, *derived]

    def _version() -> str:
        from importlib.metadata import version

        return version("ptokit")

    from ptokit.diagnostics.above import PROVIDERS as _PROVIDERS

    _PROVIDERS["pictures"] = lambda: _module("tools.rich.richviews")
    _PROVIDERS["value forms"] = lambda: _module("api.kernel.valueforms")

    def __getattr__(name: str) -> object:
        """The public name, or the instruction, called `name`."""
        made = {"__all__": _public, "__version__": _version}
        if name in made:
            found = made[name]()
        elif name.startswith("_"):
            raise AttributeError(f"module 'ptokit' has no attribute {name!r}")
        elif name not in _HOME and _is_module(name):
            return _module(name)
        else:
            found = getattr(_module(_HOME.get(name) or _home(name)), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*_public(), "__version__", "__doc__", "__file__", "__name__", "__path__"})
