"""Reading of programs from a file or from text.

In a kernel, `load` reads a part of an argument into a tile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ptokit.api.program import Program
from ptokit.diagnostics.callsite import door
from ptokit.diagnostics.diagnostic import error
from ptokit.launch.files import read_text_bytes
from ptokit.launch.textkeys import has_run, text_key

if TYPE_CHECKING:
    from ptokit.api.hostarrays import ConvTile, Tile
    from ptokit.api.kernel.hostside import In
    from ptokit.api.tensors import Unrolling
    from ptokit.ir.module import Module
    from ptokit.values.enumerations import Loc, PadValue
    from ptokit.values.layouts import Layout
    from ptokit.values.pads import CustomPad


@door
def loads(text: str, name: str = "<text>") -> Program:
    """Read a program from text; PtoError if the text is invalid."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected a program as str, got {type(text).__name__}")

    def module() -> Module:
        from ptokit.text.read.reader import read  # kernels need no text, nor do stored runs

        return read(text, name)

    key = text_key(text)
    made = Program.of_text(module, key)
    if not has_run(key):
        _ = made.module  # a text with errors is refused here
    return made


@overload
def load(path: str | Path, /) -> Program: ...
@overload
def load(
    part: In,
    loc: Loc | str = ...,
    /,
    *,
    layout: Layout | str | None = ...,
    pad: PadValue | CustomPad | str | None = ...,
) -> Tile: ...
@overload
def load(part: In, loc: Loc | str = ..., /, *, conv: Unrolling) -> ConvTile: ...
@door
def load(path: Any, *where: Any, **how: Any) -> Any:  # Any: as above
    """Read a program from a file; PtoError if the file or its text is invalid.

    In a kernel: return a new tile with a part of an argument. The tile is in `loc` ("vec") and
    rounded up to whole boxes and lines; `layout` and `pad` override those of its usual type. With
    `conv`, a feature map of five extents becomes a convolution tile.
    """
    if not isinstance(path, str | Path):
        from ptokit.api.kernel.kernelfunctions import loaded  # text needs no kernels

        return loaded(path, *where, **how)
    if where or how:
        raise TypeError("pto.load of a file takes its path alone; a kernel loads its arguments")
    return loads(decoded(read_text_bytes(path), str(path)), str(path))


def decoded(raw: bytes, name: str) -> str:
    """Return bytes as UTF-8 text; PtoError names the first invalid byte."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            "not-utf8",
            f"{name}: the file is not UTF-8 text",
            seen=f"byte 0x{raw[problem.start]:02x} at offset {problem.start}",
            help="give the text of a program; if this is one, save it as UTF-8",
        ) from None
