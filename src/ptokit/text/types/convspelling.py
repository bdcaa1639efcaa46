"""Printers of convolution tile types in the assembler's spelling, with a configuration."""

from __future__ import annotations

from ptokit.isa.model.tiles import ConvTileType
from ptokit.text.types.convreader import IMPLIED, NUMBERS, implied
from ptokit.values.enumerations import ConvLayout

ORDER = (
    *("filter_h", "filter_w", "dilation_h", "dilation_w", "stride_h", "stride_w", "pad_value"),
    *("channel_size", "repeat_stride", "repeat_time", "repeat_mode", "dst_stride", "dst_mposition"),
)


def convolution(kind: ConvTileType) -> str:
    """Return `!pto.conv_tile<mat, 1x1x4x4x16xf16, config=...>`, without a default configuration."""
    dims = "".join(f"{n}x" for n in kind.shape)
    dtype = kind.dtype.mlir or kind.dtype.name
    layout = f", layout=#pto.layout<{kind.layout.text}>"
    layout = "" if kind.layout is ConvLayout.NC1HWC0 else layout
    plain = ConvTileType(kind.dtype, kind.shape, kind.layout, kind.loc)
    config = "" if kind == plain else f", {_configuration(kind)}"
    return f"!pto.conv_tile<{kind.loc.text}, {dims}{dtype}{layout}{config}>"


def _configuration(kind: ConvTileType) -> str:
    """Return every key in the order in which the assembler prints the keys."""
    said: dict[str, object] = {**implied(kind.shape)}
    said |= {key: getattr(kind, name)[place] for key, (name, place) in NUMBERS.items()}
    said["pad_value"] = _number(kind.pad_value)
    sides = "x".join(map(str, kind.padding))
    first = ", ".join(f"{key}={said[key]}" for key in IMPLIED[:2])
    rest = ", ".join(f"{key}={said[key]}" for key in ORDER)
    return f"config=#pto.conv_tile_config<{first}, pad_list={sides}, {rest}, transpose=false>"


def _number(value: float) -> str:
    """Return the text of an MLIR attribute: the number and its type."""
    return f"{int(value)} : i32" if value == int(value) else f"{value!r} : f32"
