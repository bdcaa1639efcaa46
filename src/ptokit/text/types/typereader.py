"""Readers of types: tiles, views, pointers, scalars, omitted and unknown types.

A type is one token, so most types are found in a cache of spellings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from math import prod

from ptokit.isa.below import TYPES as BELOW_TILES
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import (
    ALIGN,
    REGISTER_BYTES,
    VECTORS,
    MultiTileType,
    TileType,
    logical,
    mask,
    register,
    tile_type,
)
from ptokit.isa.model.types import (
    HANDLES,
    I1,
    INDEX,
    ArrayType,
    Elided,
    OpaqueType,
    PackedType,
    PtrType,
    ScalarType,
    StructType,
    Type,
)
from ptokit.isa.model.words import GlobalLayout
from ptokit.text.types.convtypes import conv_of
from ptokit.text.types.pairs import in_elements, pairs_named
from ptokit.text.types.parts import (
    FOREIGN_ELEMENT,
    BadType,
    ForeignElement,
    Parts,
    element_named,
    element_word,
    extents,
    number,
    unknown,
    word_of,
)
from ptokit.text.types.tilereader import buffer_of, tile_of
from ptokit.values.dtypes import SPELLINGS, dtype_named, u8, u32
from ptokit.values.enumerations import Loc

# types of other dialects, and numbers wider than any element type: kept as written
FOREIGN = re.compile(
    r"(?:[su]?i[0-9]+|f64|f80|f128|tf32|f[0-9]+E\w+|none)$|(?:memref|vector|tensor|tuple|complex)<"
)
SCHEMATIC = r"[A-Z]|.*dtype$"  # the manual's MxNxdtype
CONFIGURATION = r"!pto\.\w+_config$"  # of registers, for a feature map
# memref<16x16xf16, strided<[16, 1]>, #pto.address_space<vec>>
BUFFER = re.compile(
    r"memref<([^<,]+),\s*(?:strided<\[((?:\d+|\?)(?:\s*,\s*(?:\d+|\?))*)\s*\](?:,\s*offset:\s*[0-9?]+)?>,\s*)?"
    r"#pto\.address_space<(\w+)>>$"
)
PACKED = re.compile(r"vector<(2|[48](?=xf8E))x([fbi]\w+)>|!pto\.(hif8)x2")
PLACEMENTS = ("auto", "static", "bmu")
WHOLE_TILE = r"(?s)\s*!pto\.tile(?:_buf)?<(.*)>\s*$"
SPELLED: dict[str, Type] = {}
LIMIT = 4096  # cached spellings; a program has some tens


def type_named(spelling: str) -> Type:
    """Return the type that a token spells; BadType if it spells none."""
    known = SPELLED.get(spelling)
    if known is None:
        if len(SPELLED) > LIMIT:
            SPELLED.clear()
        known = SPELLED[spelling] = _read(spelling)
    return known


def _read(spelling: str) -> Type:
    if spelling.startswith("!"):
        return _dialect_type(spelling)
    if spelling in ("index", "i1"):
        return ScalarType(spelling)
    if spelling == "dtype":
        return Elided(spelling)
    dtype = dtype_named(spelling)
    if dtype is not None:
        return ScalarType(dtype.name)
    buffer = BUFFER.match(spelling)
    if buffer is not None and (kind := _memref(buffer)) is not None:
        return replace(kind, written=spelling)
    if spelling in VECTORS:
        return replace(VECTORS[spelling], written=spelling)
    if (packed := packed_named(spelling)) is not None:
        return packed
    if FOREIGN.match(spelling):
        return OpaqueType(spelling, foreign=True)
    problem = unknown(spelling, ["index", "i1", *SPELLINGS], 0, "a type")
    help = problem.help if problem.help and problem.help.startswith("did") else None
    raise BadType("unknown-type", problem.message, 0, len(spelling), help)


def packed_named(spelling: str) -> PackedType | None:
    """Return the type of a few numbers in one register of a thread, if `spelling` names one."""
    match = PACKED.fullmatch(spelling)
    dtype = dtype_named(match[2] or match[3]) if match else None
    if match is None or dtype is None:
        return None
    return PackedType(spelling, ScalarType(dtype.name), int(match[1] or 2))


def _memref(match: re.Match[str]) -> TileType | GlobalType | None:
    """Return a buffer in PTO memory: a view, or a row-major tile whose outer extents are rows."""
    shape, dtype = extents(match[1].strip(), match.start(1))
    stride = None
    if match[2]:
        given = match[2].replace(" ", "").split(",")
        at = match.start(2)
        stride = tuple(None if s == "?" else number(s, at, "a stride") for s in given)
    if match[3] == "gm":
        view = GlobalType(dtype, shape, stride, partition=True)
        return in_elements(view) if pairs_named(element_word(match[1])) else view
    loc, sizes = Loc.named(match[3]), [n for n in shape if n is not None]
    if loc is None or len(sizes) < len(shape):
        return None
    if not _dense(sizes, stride) and not _apart(sizes, stride):
        return None
    tile = tile_type(loc, dtype, prod(sizes[:-1]), sizes[-1])
    if stride is not None and len(stride) == len(sizes) == 2:
        tile = replace(tile, pitch=stride[0])
    return in_elements(tile) if pairs_named(element_word(match[1])) else tile


def buffer_rank(kind: TileType) -> int:
    """Return the rank of a buffer in its text."""
    buffer = BUFFER.match(kind.written)
    return 2 if buffer is None else len(extents(buffer[1].strip(), 0)[0])


def _dense(sizes: list[int], stride: tuple[int | None, ...] | None) -> bool:
    """Return whether rows are contiguous: no strides, or those of a dense buffer."""
    follow = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    return stride is None or (
        len(stride) == len(sizes)
        and all(s == f or n == 1 for s, f, n in zip(stride, follow, sizes, strict=True))
    )


def _apart(sizes: list[int], stride: tuple[int | None, ...] | None) -> bool:
    """Return whether rows are not contiguous, as in a window of a tile."""
    if stride is None or not len(stride) == len(sizes) == 2:
        return False
    step, next_column = stride
    return step is not None and step > sizes[1] and next_column == 1


def in_global_memory(kind: Type) -> Type:
    """Return a function argument's memref without a memory space as a view of global memory."""
    text = kind.spelling if isinstance(kind, OpaqueType) else ""
    buffer = BUFFER.match(text.removesuffix(">") + ", #pto.address_space<gm>>")
    try:
        found = _memref(buffer) if text.startswith("memref<") and buffer is not None else None
    except BadType:  # foreign elements
        return kind
    return kind if found is None else replace(found, written=text)


def _dialect_type(spelling: str) -> Type:
    if spelling in HANDLES:
        return HANDLES[spelling]
    if spelling == str(ALIGN):
        return ALIGN
    name, angle, inner = spelling.partition("<")
    if name in HANDLES and inner.endswith(">"):
        return HANDLES[name]  # older text adds the types of a FIFO's entries
    reader = READERS.get(name)
    if reader is None:
        return _other(spelling, name, angle)
    if angle and not inner.endswith(">"):
        raise BadType("syntax-error", "missing '>' at the end of the type", 0, len(spelling))
    body = inner[:-1]
    if body.strip() in ("", "..."):
        return Elided(f"{name.removesuffix('_buf')}<...>")  # the spelling is the same in all forms
    try:
        return reader(Parts(body, len(name) + 1))
    except ForeignElement:
        return OpaqueType(spelling, foreign=True)


def _other(spelling: str, name: str, angle: str) -> Type:
    """Return an element type spelled as a dialect type, an undefined alias, or an unknown type."""
    if name.startswith(BELOW_TILES):
        return OpaqueType(spelling, foreign=True)
    if angle:
        return OpaqueType(spelling)
    if re.match(CONFIGURATION, name):
        return Elided("!pto.conv_tile<...>")
    dtype = dtype_named(name)
    if dtype is not None:
        return ScalarType(dtype.name)
    if (packed := packed_named(name)) is not None:
        return packed
    if re.fullmatch(FOREIGN_ELEMENT, name):  # element types that no tile has
        return OpaqueType(spelling, foreign=True)
    if "." not in name:
        help = f"define it at the top of the file: {name} = !pto.tile_buf<...>"
        raise BadType("unknown-type", f"undefined type {name}", 0, len(name), help)
    return OpaqueType(spelling)


def _pointer(parts: Parts) -> Type:
    if parts.fields[0][0] in ("dtype", "T"):
        return Elided("!pto.ptr<...>")
    if parts.fields[0][0].startswith("!pto.ptr<"):  # a table of pointers, which no array is
        return OpaqueType(f"!pto.ptr<{parts.body}>", foreign=True)
    word, at = parts.fields[0]
    if word == BF16_PAIR:
        pointer = PtrType(u32, element=word)
    elif (packed := packed_named(word)) is not None:
        pointer = PtrType(packed.of.element, packed=packed)
    else:
        pointer = PtrType(element_named(word, at))
    for space, at in parts.fields[1:]:
        bare = space.removeprefix("#pto.address_space<").strip('"> ')
        if bare not in SPACES:
            raise unknown(bare, SPACES, at, "a memory")
        return replace(pointer, space=SPACES[bare])
    return pointer


def _multi_tile(parts: Parts) -> Type:
    """Return the type of `<!pto.tile_buf<...>, count=2>`, or of a tile's fields and a count.

    `placement=` says who assigns the addresses, which does not change the result of the program.
    """
    body = parts.body
    slot, _, last = body.rpartition(",")
    key, _, given = last.partition("=")
    if key.strip() == "placement":
        if given.strip() not in PLACEMENTS:
            start = parts.at + len(body) - len(given.lstrip())
            raise unknown(given.strip(), PLACEMENTS, start, "a placement")
        body = slot
        slot, _, last = body.rpartition(",")
        key, _, given = last.partition("=")
    at = parts.at + len(body) - len(given.lstrip())
    if key.strip() != "count":
        help = "write <!pto.tile_buf<...>, count=2>"
        end = parts.at + len(body)
        raise BadType("syntax-error", "missing number of tiles", parts.at, end, help)
    whole = re.match(WHOLE_TILE, slot)
    inner, start = (whole[1], whole.start(1)) if whole else (slot, 0)
    kind = tile_of(Parts(inner, parts.at + start))
    slots = number(given.strip(), at, "a number of tiles")
    return MultiTileType(**{f.name: getattr(kind, f.name) for f in fields(kind)}, count=slots)


def _local_array(parts: Parts) -> Type:
    """Return the type of `<8xi32>` or `<2x4xi32>`."""
    shape, dtype = extents(*parts.fields[0])
    known = tuple(n for n in shape if n)
    if not known or len(known) < len(shape):
        raise BadType("tile-shape", "the extents of an array are at least 1", 0, len(parts.body))
    return ArrayType(ScalarType(dtype.name), known)


def _struct(parts: Parts) -> Type:
    """Return the type of `<f16, !pto.struct<f32, i8>>`."""
    found: list[ScalarType | ArrayType | StructType] = []
    for text, at in parts.fields:
        kind = type_named(text)
        number = kind.element if isinstance(kind, ArrayType) else kind
        bits = number.element.bits if isinstance(number, ScalarType) else 0
        matrix = isinstance(kind, ArrayType) and kind.rank > 1
        if not isinstance(kind, StructType) and (bits < 8 or matrix or number in (INDEX, I1)):
            help = "i8 to i64, f16, bf16, f32, an array of them by one index, or another struct"
            raise BadType("unknown-type", f"unsupported field {text}", at, at + len(text), help)
        found.append(kind)  # type: ignore[arg-type]  # no other kind has so many bits
    return StructType(tuple(found))


def _event_ids(parts: Parts) -> Type:
    """Return the type of `<4>`."""
    text, at = parts.fields[0]
    return ArrayType(INDEX, (number(text, at, "a number of event ids"),))


def _register(parts: Parts) -> Type:
    """Return the type of `<64xf32>`: a vector register, which has 256 bytes."""
    shape, dtype = extents(*parts.fields[0])
    kind = register(dtype)
    if shape not in ((kind.cols,), (min(kind.cols, REGISTER_BYTES),)):  # lanes, or pairs of them
        help = f"a register has 256 bytes: write {kind}"
        raise BadType("tile-shape", "a register of another size", 0, len(parts.body), help)
    return kind


def _mask(parts: Parts) -> Type:
    """Return the type of `<b32>`: a mask for elements of so many bits."""
    body = parts.body.strip()
    if body not in MASKS:
        raise unknown(body, MASKS, parts.at, "a mask")
    return mask(int(body[1:]))


MASKS = ("b8", "b16", "b32")
GRAINS = (*MASKS, "pred", "")  # of masks for logical vectors
BF16_PAIR = "!pto.bf16x2"
SIGNLESS = r"i\d+$"
LANES = r"(\d+)(?:\s*x\s*(\S+))?$"


def _logical(word: str) -> Callable[[Parts], Type]:
    """Return the reader of `<256xf32>` or `<256xpred>`, perhaps with a layout behind it."""

    def read(parts: Parts) -> Type:
        (text, at), *rest = parts.fields
        match = re.match(LANES, text)
        element = match[2] or "" if match else ""
        if match is None or not (element or word == "mask") or len(rest) > 1:
            example = "<256xf32>" if word == "vreg" else "<256xpred>"
            help = f"write the number of lanes, and what they hold: !pto.vmi.{word}{example}"
            raise BadType("syntax-error", "no logical vector", at, at + max(len(text), 1), help)
        lanes = number(match[1], at, "a number of lanes")
        if not lanes:
            raise BadType("tile-shape", "a vector has a lane", at, at + 1, "give at least 1")
        if word == "mask" and element not in GRAINS:
            raise unknown(element, GRAINS, at + match.start(2), "a grain of masks")
        if element == "index":
            raise ForeignElement("unknown-type", "a vector of indices", at, at + len(text))
        pairs = element.endswith("x2")
        name = element.removesuffix("x2") if element == BF16_PAIR else element
        dtype = u8 if word == "mask" else element_named(_with_sign(name), at + match.start(2))
        layout = re.sub(r"\s+", " ", rest[0][0]) if rest else ""
        return replace(logical(dtype, lanes * (1 + pairs), element, layout), word=word)

    return read


def _with_sign(name: str) -> str:
    """Return the name of an element type: integers without a sign have none."""
    return f"u{name}" if re.match(SIGNLESS, name) else name


LAYOUT = r"#pto\.layout<\s*(\w+)\s*>"


def _view(name: str, partition: bool) -> Callable[[Parts], Type]:
    def read(parts: Parts) -> Type:
        if re.match(SCHEMATIC, parts.body.strip()):
            return Elided(f"{name}<...>")
        shape, dtype = extents(*parts.fields[0])
        stride: tuple[int | None, ...] | None = None
        stated: GlobalLayout | None = None
        named = re.fullmatch(LAYOUT, parts.fields[-1][0])  # an attribute in newer text
        if named is not None:
            stated = word_of(GlobalLayout, named[1], parts.fields[-1][1] + named.start(1))
        for key, value, at in parts.keyed(("stride", "layout"), 1, -1 if named else None):
            if key == "layout":
                stated = word_of(GlobalLayout, value, at)
            else:
                steps = value.split("x")
                stride = tuple(None if s == "?" else number(s, at, "a stride") for s in steps)
        view = GlobalType(dtype, shape, stride, stated, partition)
        return in_elements(view) if pairs_named(element_word(parts.fields[0][0])) else view

    return read


# names of memories in pointer types
SPACES = {"gm": "gm", **{word: loc.text for loc in Loc for word in (loc.text, *loc.short)}}

READERS: dict[str, Callable[[Parts], Type]] = {
    "!pto.tile": tile_of,
    "!pto.tile_buf": buffer_of,
    "!pto.multi_tile_buf": _multi_tile,
    "!pto.ptr": _pointer,
    "!pto.local_array": _local_array,
    "!pto.eventid_array": _event_ids,
    "!pto.struct": _struct,
    "!pto.tensor_view": _view("!pto.tensor_view", partition=False),
    "!pto.partition_tensor_view": _view("!pto.partition_tensor_view", partition=True),
    "!pto.tile_view": _view("!pto.tile_view", partition=True),
    "!pto.conv_tile": conv_of,
    "!pto.vreg": _register,
    "!pto.mask": _mask,
    "!pto.vmi.vreg": _logical("vreg"),
    "!pto.vmi.mask": _logical("mask"),
}
