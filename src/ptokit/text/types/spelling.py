"""Printers of types: the canonical spelling in each form."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import (
    REGISTER_BYTES,
    ConvTileType,
    LogicalType,
    MultiTileType,
    RegisterType,
    TileType,
)
from ptokit.isa.model.types import INDEX, ArrayType, Elided, PtrType, ScalarType, StructType, Type
from ptokit.isa.model.words import CompactMode
from ptokit.text.types.convtypes import convolution
from ptokit.text.types.pairs import PAIR, in_pairs
from ptokit.values.dtypes import DType, f32
from ptokit.values.enumerations import BLayout, ConvLayout, Loc, PadValue, SLayout
from ptokit.values.layouts import Shape
from ptokit.values.pads import CustomPad

DPS = "dps"
TILE = "!pto.tile<...>"


@lru_cache(maxsize=4096)
def spell(kind: Type, form: str) -> str:
    """Return the spelling of a type in the form "as", "ssa" or "dps"."""
    if isinstance(kind, TileType | GlobalType) and not isinstance(
        kind, MultiTileType | RegisterType
    ):
        kind = in_pairs(kind) or replace(kind, dtype=_single(kind.dtype))
    match kind:
        case LogicalType():
            return str(kind)
        case RegisterType(word="vreg"):
            lanes = min(kind.cols, REGISTER_BYTES)  # or pairs of them
            return f"!pto.vreg<{lanes}x{_element(kind.dtype, DPS)}>"
        case RegisterType():
            return str(kind)
        case MultiTileType():
            return f"!pto.multi_tile_buf<{spell(kind.slot, DPS)}, count={kind.count}>"
        case TileType():
            if form == DPS or not _positional(kind):
                return f"!pto.tile{'_buf' if form == DPS else ''}<{_long(kind, form)}>"
            return f"!pto.tile<{_short(kind)}>"
        case GlobalType():
            return _view(kind, form)
        case PtrType(dtype, space) if form == DPS:
            element = str(kind.packed or kind.element or _element(dtype, form))
            return f"!pto.ptr<{element}{'' if space == 'gm' else f', {space}'}>"
        case ScalarType() if form == DPS and kind.dtype is not None:
            return _element(kind.dtype, form)
        case ArrayType(element, shape) if form == DPS and element != INDEX:
            return f"!pto.local_array<{''.join(f'{n}x' for n in shape)}{spell(element, form)}>"
        case StructType(fields) if form == DPS:
            return f"!pto.struct<{', '.join(spell(field, form) for field in fields)}>"
        case ConvTileType() if form == DPS:
            return convolution(kind)
        case ConvTileType():
            dims = "".join(f"{n}x" for n in kind.shape)
            loc = "" if kind.loc is Loc.MAT else f", loc={kind.loc.text}"
            return f"!pto.conv_tile<{kind.layout.text}, {dims}{kind.dtype}{loc}{_unrolled(kind)}>"
        case Elided(spelling) if spelling == TILE and form == DPS:
            return "!pto.tile_buf<...>"
        case _:
            return str(kind)


def told_apart(one: Type, other: Type) -> tuple[str, str]:
    """Return two types for a message: in their program spelling if their names are equal."""
    names = str(one), str(other)
    return names if names[0] != names[1] else (spell(one, DPS), spell(other, DPS))


def _single(dtype: DType) -> DType:
    """Return a pair type as the type of one element, for odd numbers of elements."""
    return replace(dtype, name=dtype.name.removesuffix(PAIR), mlir="")


def _element(dtype: DType, form: str) -> str:
    """Return the name of an element type: in DPS text MLIR's."""
    return dtype.mlir or dtype.name if form == DPS else dtype.name


def _long(kind: TileType, form: str) -> str:
    """Return every key in the fixed order that other assemblers require."""
    valid = kind.valid
    v_row, v_col = ("?" if n is None else str(n) for n in (valid.rows, valid.cols))
    compact = list(CompactMode).index(kind.compact)
    pad = kind.pad.code if isinstance(kind.pad, CustomPad) else list(PadValue).index(kind.pad)
    return (
        f"loc={kind.loc.text}, dtype={_element(kind.dtype, form)}, "
        f"rows={kind.rows}, cols={kind.cols}, v_row={v_row}, v_col={v_col}, "
        f"blayout={kind.blayout.text}, slayout={kind.slayout.text}, "
        f"fractal={kind.fractal}, pad={pad}"
        f"{f', compact={compact}' if compact else ''}"
    )


def _positional(kind: TileType) -> bool:
    """Return whether the eight fields of `!pto.tile<loc=vec, f32, 16, 16, ...>` are complete."""
    whole = kind.valid == Shape(kind.rows, kind.cols)
    plain = kind.fractal == 512 and kind.compact is CompactMode.NULL
    return whole and plain and isinstance(kind.pad, PadValue)


def _short(kind: TileType) -> str:
    blayout: BLayout = kind.blayout
    slayout: SLayout = kind.slayout
    assert isinstance(kind.pad, PadValue)
    words = f"{blayout.cpp}, {slayout.cpp}, None, {kind.pad.cpp}"
    return f"loc={kind.loc.text}, {kind.dtype}, {kind.rows}, {kind.cols}, {words}"


PLAIN = ConvTileType(f32, (), ConvLayout.NC1HWC0)
UNROLL = ("padding", "filter", "stride", "dilation", "repeat", "into")


def _unrolled(kind: ConvTileType) -> str:
    """Return the parameters of a feature map's unroll, without defaults."""
    text = ""
    for key in UNROLL:
        if getattr(kind, key) != getattr(PLAIN, key):
            text += f", {key}=[{', '.join(map(str, getattr(kind, key)))}]"
    return text + (f", pad_value={kind.pad_value!r}" if kind.pad_value else "")


def _view(kind: GlobalType, form: str) -> str:
    dims = "".join(f"{'?' if n is None else n}x" for n in kind.shape)
    stride = ""
    if kind.stride is not None:
        steps = "x".join("?" if n is None else str(n) for n in kind.stride)
        stride = f", stride={steps}"
    layout = f", #pto.layout<{kind.stated.text}>" if kind.stated else ""
    name = "partition_tensor_view" if kind.partition else "tensor_view"
    return f"!pto.{name}<{dims}{_element(kind.dtype, form)}{stride}{layout}>"
