"""Readers of tile types: one grammar of fields for the four spellings.

A field is `key = value` in any order, or has a position: location, then `16x16xf16` or element
type, rows, columns, then block layout, box layout, fractal, pad value and compact mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ptokit.isa.model.tiles import ALIASES, TileType
from ptokit.isa.model.words import CompactMode
from ptokit.text.types.pairs import in_elements, in_pairs, pairs_named
from ptokit.text.types.parts import (
    DIGITS,
    DIMS,
    WHOLE,
    BadType,
    Parts,
    element_named,
    extents,
    number,
    unknown,
    word_of,
)
from ptokit.values.dtypes import dtype_named
from ptokit.values.enumerations import ACC, VEC, BLayout, Loc, PadValue, SLayout, Word
from ptokit.values.layouts import Layout, Shape
from ptokit.values.pads import CustomPad

W = TypeVar("W", bound=Word)
T = TypeVar("T")
CUSTOM = 1 << 32
INFERRED = (Loc.LEFT, Loc.RIGHT, ACC)  # one layout on each target: text may omit it
POSITIONS = ("blayout", "slayout", "fractal", "pad", "compact")
DYNAMIC = ("?", "-1")
AGAIN = ("loc", "dtype", "rows", "cols")  # keys that may repeat a positional field


def tile_of(parts: Parts) -> TileType:
    """Return the tile type that the fields describe; missing fields have their defaults."""
    return _described(_Fields(parts), parts)


def buffer_of(parts: Parts) -> TileType:
    """Return the tile type of a buffer, which must state its location."""
    given = _Fields(parts)
    kind = _described(given, parts, partly=True)
    if "loc" not in given.values:
        end = parts.at + len(parts.body)
        help = f"start with one of: {', '.join(loc.text for loc in Loc)}"
        raise BadType("syntax-error", "missing location in tile type", parts.at, end, help)
    if ("v_row" in given.values) != ("v_col" in given.values):
        key = "v_row" if "v_row" in given.values else "v_col"
        text, at = given.values[key]
        message = f"{key} without the other extent"
        help = "give both v_row and v_col, or neither if all is valid"
        raise BadType("syntax-error", message, at, at + len(text), help)
    return kind


def _described(given: _Fields, parts: Parts, *, partly: bool = False) -> TileType:
    """Return the type of the fields. `partly`: a known layout may be given in part."""
    rows, cols = (given.take(key, _extent) for key in ("rows", "cols"))
    if rows is None or cols is None:
        end = parts.at + len(parts.body)
        help = "give rows and cols"
        raise BadType("syntax-error", "missing shape in tile type", parts.at, end, help)
    if "dtype" not in given.values:
        end = parts.at + len(parts.body)
        raise BadType("syntax-error", "missing element type in tile type", parts.at, end)
    stated = given.take("layout", lambda text, _: Layout.named(text))
    blayout = given.take("blayout", _worded(BLayout))
    slayout = given.take("slayout", _worded(SLayout))
    loc = given.take("loc", _worded(Loc)) or VEC
    fractal = given.take("fractal", number)
    if stated is None and loc in INFERRED and (partly or blayout is slayout is fractal is None):
        usual, boxes = ALIASES[loc]
        fractal = boxes if fractal is None else fractal
        blayout = usual.blayout if blayout is None else blayout
        slayout = usual.slayout if slayout is None else slayout
    if stated is None or blayout is not None or slayout is not None:
        stated = Layout((blayout or BLayout.ROW_MAJOR, slayout or SLayout.NONE_BOX))
    found = TileType(
        loc,
        element_named(*given.values["dtype"]),
        rows,
        cols,
        _valid(given, rows, cols),
        stated,
        fractal or 512,
        given.take("pad", _pad) or PadValue.NULL,
        given.take("compact", _worded(CompactMode)) or CompactMode.NULL,
    )
    return in_elements(found) if pairs_named(given.values["dtype"][0]) else found


def configured(kind: TileType, text: str, *, dynamic: bool) -> TileType:
    """Return the tile type with the layout of `#pto.tile_buf_config<blayout=1 : i32, ...>`."""
    if not text.startswith("#pto.tile_buf_config<"):
        raise BadType("unknown-word", f"{text!r} is not a #pto.tile_buf_config<...>", 0, 0)
    body = text.partition("<")[2].removesuffix(">")
    given = {key: "" for key in ("blayout", "slayout", "s_fractal_size", "pad", "compact")}
    kind = in_pairs(kind) or kind
    for key, value, _ in Parts(body, 0).keyed(given) if body.strip() else ():
        given[key] = value.partition(":")[0].strip().partition("<")[2].rstrip("> ") or (
            value.partition(":")[0].strip()
        )
    laid = replace(
        kind,
        valid=Shape(None, None) if dynamic else kind.valid,
        layout=Layout(
            (
                _worded(BLayout)(given["blayout"] or "0", 0),
                _worded(SLayout)(given["slayout"] or "0", 0),
            )
        ),
        fractal=number(given["s_fractal_size"] or "512", 0),
        pad=_pad(given["pad"] or "0", 0),
        compact=_worded(CompactMode)(given["compact"] or "0", 0),
    )
    return in_elements(laid)


class _Fields:
    """The fields by key: (text, offset). A repeated field must be equal."""

    def __init__(self, parts: Parts) -> None:
        self.values: dict[str, tuple[str, int]] = {}
        queue: list[tuple[str, int]] = []
        for text, at in parts.fields:
            key, equals, value = text.partition("=")
            if not equals:
                queue.append((text, at))
                continue
            if key.strip() not in KEYS:
                raise unknown(key.strip(), KEYS, at, "a key of a tile type")
            self.put(key.strip(), value.strip(), at + len(text) - len(value.lstrip()), at)
        self._positional(queue)

    def put(
        self, key: str, text: str, at: int, start: int | None = None, *, again: bool = False
    ) -> None:
        if key in self.values:
            if again and key in AGAIN and self.values[key][0] == text:
                return
            start = at if start is None else start
            message = f"duplicate key {key}: {self.values[key][0]} and {text}"
            raise BadType("syntax-error", message, start, at + max(len(text), 1))
        self.values[key] = (text, at)

    def _positional(self, queue: list[tuple[str, int]]) -> None:
        if queue and Loc.named(queue[0][0].strip('"')) is not None:
            shaped = len(queue) > 1 and _starts_shape(queue[1][0])
            self.put("loc", *queue.pop(0), again=shaped)
        if len(queue) > 1 and not _starts_shape(queue[0][0]) and _starts_shape(queue[1][0]):
            text, at = queue[0]
            raise unknown(text, [w.text for w in Loc], at, "a location")
        if queue and (_starts_shape(queue[0][0]) or "rows" not in self.values):
            self._shape(queue)
        for key, (text, at) in zip(POSITIONS, queue, strict=False):
            if key != "fractal" or text[:1] in DIGITS:
                self.put(key, text, at)
            elif text.lower() != "none":
                if Layout.named(text) is None:
                    raise unknown(text, ("None", *Layout.__members__), at, "a fractal")
                self.put("layout", text, at)
        for text, at in queue[len(POSITIONS) :]:
            message = f"unexpected field {text!r}"
            raise BadType("syntax-error", message, at, at + max(len(text), 1))

    def _shape(self, queue: list[tuple[str, int]]) -> None:
        """Take `16x16xf16`, or `f16, 16, 16`, from the queue."""
        text, at = queue.pop(0)
        match = DIMS.match(text)
        if match is None:
            self.put("dtype", text, at, again=True)
            for key in ("rows", "cols"):
                if queue:
                    self.put(key, *queue.pop(0), again=True)
            return
        shape, dtype = extents(text, at)
        if len(shape) != 2:
            message = f"expected 2 extents, got {len(shape)}"
            raise BadType("syntax-error", message, at, at + len(text))
        for key, extent in zip(("rows", "cols"), shape, strict=True):
            self.put(key, "?" if extent is None else str(extent), at, again=True)
        name = match[2].strip() if dtype.pairs else dtype.name
        self.put("dtype", name, at, again=True)

    def take(self, key: str, read: Callable[[str, int], T]) -> T | None:
        """Return the field parsed by `read`, or None if it is absent."""
        return read(*self.values[key]) if key in self.values else None


def _starts_shape(text: str) -> bool:
    return DIMS.match(text) is not None or dtype_named(text) is not None


KEYS = (
    *("loc", "dtype", "rows", "cols", "v_row", "v_col", "valid"),
    *("blayout", "slayout", "fractal", "pad", "compact"),
)


def _extent(text: str, at: int) -> int:
    return number(text, at, "a number of elements")


def _dim(text: str, at: int) -> int | None:
    return None if text in DYNAMIC else _extent(text, at)


def _valid(given: _Fields, rows: int, cols: int) -> Shape:
    """Return the valid region: `valid=8x?`, or v_row and v_col, else the whole tile."""
    if "valid" in given.values:
        text, at = given.values["valid"]
        dims = text.split("x")
        if len(dims) != 2:
            help = "write valid=ROWSxCOLS, ? where it is dynamic"
            message = f"{text!r} is not a valid region"
            raise BadType("syntax-error", message, at, at + max(len(text), 1), help)
        return Shape(*(_dim(d.strip(), at) for d in dims))
    return Shape(
        given.take("v_row", _dim) if "v_row" in given.values else rows,
        given.take("v_col", _dim) if "v_col" in given.values else cols,
    )


def _worded(kind: type[W]) -> Callable[[str, int], W]:
    """Return a parser for a member of `kind`, or its number."""

    def read(text: str, at: int) -> W:
        members = list(kind)
        if WHOLE.fullmatch(text) and len(text) < 3 and int(text) < len(members):
            return members[int(text)]
        return word_of(kind, text, at)

    return read


def _pad(text: str, at: int) -> PadValue | CustomPad:
    if WHOLE.fullmatch(text) or text[:2].lower() == "0x":
        code = number(text, at, "a pad value")
        if CUSTOM <= code < 2 * CUSTOM:
            return CustomPad(code - CUSTOM)
        if code >= len(PadValue):
            help = "0 null, 1 zero, 2 max, 3 min, or 2^32 plus the bits of the value"
            raise BadType("unknown-word", f"{text} is not a pad value", at, at + len(text), help)
        return list(PadValue)[code]
    return PadValue.NULL if text.lower() == "none" else word_of(PadValue, text, at)
