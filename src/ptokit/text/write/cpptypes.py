"""Names and types in C++: tiles, views and numbers."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import cache
from itertools import chain, count

from ptokit.isa.index import walk
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, MultiTileType, TileType
from ptokit.isa.model.types import (
    EVENT,
    PREFETCHING,
    SESSION,
    ArrayType,
    Elided,
    HandleType,
    OpaqueType,
    PtrType,
    ScalarType,
    StructType,
    Type,
)
from ptokit.isa.model.words import CompactMode, GlobalLayout
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import BLayout, Loc, PadValue, SLayout
from ptokit.values.pads import CustomPad

DYNAMIC = "DYNAMIC"
SPACE = {
    **{"gm": "__gm__", "vec": "__ubuf__", "mat": "__cbuf__"},
    **{"left": "__ca__", "right": "__cb__", "acc": "__cc__"},
}
HANDLE_CPP = {
    SESSION: "comm::AsyncSession",
    EVENT: "comm::AsyncEvent",
    PREFETCHING: "PrefetchAsyncContext",
}
KEYWORDS = """\
alignas alignof and asm auto bool break case catch char class concept const constexpr continue
decltype default delete do double else enum explicit export extern false float for friend goto if
inline int long main mutable namespace new noexcept not nullptr operator or private protected public
register requires return short signed sizeof static struct switch template this throw true try
typedef typename union unsigned using virtual void volatile while xor"""
RESERVED = {
    *KEYWORDS.split(),
    *(dtype.cpp for dtype in DTYPES),
    *("pto", "std", "cce", "Tile", "GlobalTensor", "Shape", "Stride", "ConvTile", "AICORE"),
    *(DYNAMIC, "TileType", "Layout", "BLayout", "SLayout", "PadValue", "CompactMode", "__global__"),
    *SPACE.values(),
}
# names that a template calls, or qualifies names with; no members, no parts of a namespace
CALLED = re.compile(r"(?<![\w.>{:])([A-Za-z_]\w*)(?=\s*\(|<|::)")


# the headers' names of cube tiles, with their layouts
BOXED = {
    Loc.LEFT: ("TileLeft", BLayout.COL_MAJOR, SLayout.ROW_MAJOR, 512),
    Loc.RIGHT: ("TileRight", BLayout.ROW_MAJOR, SLayout.COL_MAJOR, 512),
    Loc.ACC: ("TileAcc", BLayout.COL_MAJOR, SLayout.ROW_MAJOR, 1024),
    Loc.SCALE_LEFT: ("TileLeftScale", BLayout.ROW_MAJOR, SLayout.ROW_MAJOR, 32),
    Loc.SCALE_RIGHT: ("TileRightScale", BLayout.COL_MAJOR, SLayout.COL_MAJOR, 32),
}


def _named_tile(kind: TileType, valid: Sequence[str]) -> str:
    """Return the type of a cube tile by the headers' name for it; empty if it has none."""
    name, *layout = BOXED.get(kind.loc, ("",))
    if layout != [kind.blayout, kind.slayout, kind.fractal] or kind.pad is not PadValue.NULL:
        return ""
    if kind.compact is not CompactMode.NULL:
        return ""
    extents = [str(kind.rows), str(kind.cols)]
    return f"{name}<{', '.join([kind.dtype.cpp, *extents, *(valid if valid != extents else ())])}>"


def tile_cpp(kind: TileType) -> str:
    """Return the C++ type of a tile, with template arguments up to the last non-default one."""
    valid = [DYNAMIC if n is None else str(n) for n in (kind.valid.rows, kind.valid.cols)]
    if named := _named_tile(kind, valid):
        return named
    pad = kind.pad
    padding = f"PadValue({pad.code:#x})" if isinstance(pad, CustomPad) else f"PadValue::{pad.cpp}"
    arguments = [
        *(f"TileType::{kind.loc.cpp}", kind.dtype.cpp, str(kind.rows), str(kind.cols)),
        *(f"BLayout::{kind.blayout.cpp}", *valid, f"SLayout::{kind.slayout.cpp}"),
        *(str(kind.fractal), padding, f"CompactMode::{kind.compact.cpp}"),
    ]
    defaults = ["BLayout::RowMajor", str(kind.rows), str(kind.cols)]
    defaults += ["SLayout::NoneBox", "512", "PadValue::Null", "CompactMode::Null"]
    while len(arguments) > 4 and arguments[-1] == defaults[len(arguments) - 5]:
        arguments.pop()
    return f"Tile<{', '.join(arguments)}>"


def global_cpp(kind: GlobalType) -> str:
    """Return the C++ type of a view: five extents and strides, the outer ones 1.

    Strides are constructor arguments, so views that differ only in strides have one type.
    """
    return view_cpp(kind, [DYNAMIC if n is None else str(n) for n in kind.shape])


def view_cpp(kind: GlobalType, shape: Sequence[str], steps: Sequence[str] | None = None) -> str:
    """Return the C++ type of a view with these extents and strides; without strides all open."""
    outer = ["1"] * (5 - kind.rank)
    lists = (", ".join([*outer, *of]) for of in (shape, steps or [DYNAMIC] * kind.rank))
    layout = "" if kind.layout in (None, GlobalLayout.ND) else f", Layout::{kind.layout.cpp}"
    return "GlobalTensor<{}, Shape<{}>, Stride<{}>{}>".format(kind.dtype.cpp, *lists, layout)


def identifier(name: str) -> str:
    """Return a name as a C++ identifier; the printer numbers names that become equal."""
    clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    if clean in RESERVED or clean in _intrinsics():
        return f"{clean}_"
    return clean if clean[:1].isalpha() or clean[:1] == "_" else f"v{clean}"


@cache
def _intrinsics() -> frozenset[str]:
    """Return the names that the C++ of pages calls: no value or function may hide them."""
    texts = (p.asm.call + (p.asm.cpp_text or "") or p.cpp for p in walk())
    return frozenset(name for text in texts for name in CALLED.findall(f"{text}("))


def unlike(base: str, taken: Container[str]) -> str:
    """Return the identifier, numbered if it is taken."""
    choices = chain((base,), (f"{base}_{n}" for n in count(2)))
    return next(name for name in choices if name not in taken)


def literal(text: str) -> str:
    """Return a C++ string literal, with octal escapes for unprintable characters."""
    plain = "".join(c if c.isprintable() and c not in '"\\?' else _octal(c) for c in text)
    return f'"{plain}"'


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def type_cpp(kind: Type) -> str:
    """Return the C++ type of a value."""
    match kind:
        case MultiTileType():
            return f"std::array<{tile_cpp(kind.slot)}, {kind.count}>"
        case TileType():
            return tile_cpp(kind)
        case PtrType():
            return f"{SPACE.get(kind.space, '')} {kind.dtype.cpp} *".lstrip()
        case ScalarType():
            return kind.dtype.cpp if kind.dtype else ("bool" if kind.name == "i1" else "int64_t")
        case ArrayType():
            inner = type_cpp(kind.element)
            for extent in kind.shape[::-1]:
                inner = f"std::array<{inner}, {extent}>"
            return inner
        case StructType():
            return f"std::tuple<{', '.join(map(type_cpp, kind.fields))}>"
        case GlobalType():
            return global_cpp(kind)
        case ConvTileType():
            dims = ", ".join(map(str, kind.shape))
            layout = f"Layout::{kind.layout.cpp}"
            return (
                f"ConvTile<TileType::{kind.loc.cpp}, {kind.dtype.cpp}, {kind.nbytes}, {layout}, "
                f"ConvTileShape<{dims}>>"
            )
        case HandleType():
            return HANDLE_CPP.get(kind, "auto")
        case Elided() | OpaqueType():
            return "auto"
