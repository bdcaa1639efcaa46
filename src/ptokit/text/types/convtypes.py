"""Convolution tile types as text: ptokit's spelling, and the assembler's with `config=`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from ptokit.isa.model.tiles import ConvTileType
from ptokit.isa.model.types import Type
from ptokit.text.types.parts import BadType, Parts, extents, number, number_list, unknown, word_of
from ptokit.values.enumerations import ConvLayout, Loc

# parameters of the unroll that are lists -> length of the list
LISTS = {"padding": 4, "filter": 2, "stride": 2, "dilation": 2, "repeat": 3, "into": 2}
STEPS = ("filter", "stride", "dilation")
# key in the assembler's text -> list, and position in it
NUMBERS = {
    **{f"{key}_{axis}": (key, place) for key in STEPS for place, axis in enumerate("hw")},
    **{f"repeat_{word}": ("repeat", n) for n, word in enumerate(("stride", "time", "mode"))},
    **{f"dst_{word}": ("into", n) for n, word in enumerate(("stride", "mposition"))},
}
# keys that repeat the extents of the map: its height, width and channels
IMPLIED = ("fmap_h", "fmap_w", "channel_size")
PRINTED = (
    *("filter_h", "filter_w", "dilation_h", "dilation_w", "stride_h", "stride_w", "pad_value"),
    *("channel_size", "repeat_stride", "repeat_time", "repeat_mode", "dst_stride", "dst_mposition"),
)
LAYOUT = r"#pto\.layout<\s*(\w+)\s*>"
CONFIG = r"(?s)#pto\.conv_tile_config<(.*)>"
Given = dict[str, object]  # by the key


def conv_of(parts: Parts) -> Type:
    """Return the type `<nc1hwc0, 1x1x4x4x16xf16>` or `<mat, 1x1x4x4x16xf16>` with its unroll."""
    word, at = parts.fields[0]
    loc = Loc.named(word.strip('"'))
    layout = ConvLayout.NC1HWC0 if loc else word_of(ConvLayout, word, at)
    if len(parts.fields) < 2:
        raise BadType("syntax-error", "missing extents", at, at + len(word))
    text, at = parts.fields[1]
    shape, dtype = extents(text, at)
    sizes = tuple(n for n in shape if n is not None)
    if len(sizes) < len(shape):
        raise BadType("syntax-error", "give every extent", at, at + len(text))
    if min(sizes, default=1) < 1:
        raise BadType("tile-shape", "extents are at least 1", at, at + len(text))
    given = _configured(parts, sizes) if loc else _listed(parts)
    return replace(ConvTileType(dtype, sizes, layout, loc or Loc.MAT), **given)


def _listed(parts: Parts) -> Given:
    """Return the parameters of the unroll in ptokit's text: a list for each key."""
    given: Given = {}
    for key, value, place in parts.keyed(("loc", "pad_value", *LISTS), after=2):
        if key == "loc":
            given[key] = word_of(Loc, value, place)
        elif key == "pad_value":
            given[key] = _real(value, place)
        else:
            given[key] = _from_one(key, number_list(value, place, LISTS[key], key), value, place)
    return given


def _configured(parts: Parts, sizes: tuple[int, ...]) -> Given:
    """Return layout and unroll in the assembler's text."""
    given: Given = {}
    for key, value, place in parts.keyed(("layout", "buffer_size", "config"), after=2):
        if key == "layout":
            named = re.fullmatch(LAYOUT, value)
            given[key] = word_of(ConvLayout, named[1] if named else value, place)
        elif key == "buffer_size":
            number(value, place)
        elif (config := re.fullmatch(CONFIG, value)) is not None:
            given |= _unrolled(Parts(config[1], place + config.start(1)), sizes)
        else:
            help = "write #pto.conv_tile_config<filter_h=3, filter_w=3>"
            raise BadType("syntax-error", "no configuration", place, place + len(value), help)
    return given


def _unrolled(parts: Parts, sizes: tuple[int, ...]) -> Given:
    """Return the parameters in `#pto.conv_tile_config<...>`."""
    given: Given = {}
    plain = {"repeat": (0, 1, 0), "into": (0, 0)}
    known = (*NUMBERS, *IMPLIED, "pad_list", "pad_value", "transpose")
    for key, value, place in parts.keyed(known) if parts.body.strip() else ():
        if key in IMPLIED:
            _agrees(key, number(value, place), sizes, place, len(value))
        elif key == "pad_list":
            given["padding"] = _sides(value, place)
        elif key == "pad_value":
            given[key] = _real(value.partition(":")[0].strip(), place)
        elif key == "transpose":
            if value != "false":
                raise unknown(value, ("false",), place, "a known value of transpose")
        else:
            name, which = NUMBERS[key]
            before = given.get(name, plain.get(name, (1, 1)))
            numbers = [*cast("tuple[int, ...]", before)]
            numbers[which] = number(value, place)
            given[name] = _from_one(key, tuple(numbers), value, place, name)
    return given


def _sides(text: str, at: int) -> tuple[int, ...]:
    """Return the padding left, right, top and bottom of `1x0x1x0`."""
    sides = text.split("x")
    if len(sides) != len(ConvTileType.padding):
        raise BadType("syntax-error", "a padding is 4 numbers: 1x0x1x0", at, at + len(text))
    return tuple(number(side.strip(), at) for side in sides)


def implied(sizes: tuple[int, ...]) -> dict[str, int]:
    """Return height, width and channels of a feature map with these extents."""
    c1, height, width, c0 = (1, 1, 1, 1, *sizes)[-4:]
    return dict(zip(IMPLIED, (height, width, c1 * c0), strict=True))


def _agrees(key: str, said: int, sizes: tuple[int, ...], at: int, length: int) -> None:
    """Require that height, width or channels match the extents, or are 0."""
    found = implied(sizes)[key]
    if said not in (0, found):
        message = f"{key} is {said}, but the extents give {found}"
        raise BadType("attribute", message, at, at + length, f"write {found}, or remove it")


def _from_one(
    key: str, numbers: tuple[int, ...], text: str, at: int, name: str | None = None
) -> tuple[int, ...]:
    """Return the numbers; BadType if a filter, stride or dilation is less than 1."""
    if (name or key) in STEPS and min(numbers) < 1:
        raise BadType("attribute", f"{key} is at least 1", at, at + len(text))
    return numbers


def _real(text: str, at: int) -> float:
    try:
        return float(text)
    except ValueError:
        message = f"{text!r} is not a number"
        raise BadType("syntax-error", message, at, at + max(len(text), 1)) from None


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
    rest = ", ".join(f"{key}={said[key]}" for key in PRINTED)
    return f"config=#pto.conv_tile_config<{first}, pad_list={sides}, {rest}, transpose=false>"


def _number(value: float) -> str:
    """Return the text of an MLIR attribute: the number and its type."""
    return f"{int(value)} : i32" if value == int(value) else f"{value!r} : f32"
