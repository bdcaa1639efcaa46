"""Random types and attributes, for programs that are read and printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from random import Random

from ptokit.isa.lang.instr import Attr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import (
    ALIGN,
    ConvTileType,
    LogicalType,
    MultiTileType,
    TileType,
    logical,
    mask,
    register,
)
from ptokit.isa.model.types import (
    ELISIONS,
    HANDLES,
    INDEX,
    ArrayType,
    Kind,
    PtrType,
    ScalarType,
    StructType,
    Type,
)
from ptokit.isa.model.words import CompactMode
from ptokit.values.dtypes import DTYPES, f16, f32, i32, u8, u32
from ptokit.values.enumerations import ConvLayout, Loc, PadValue, Word
from ptokit.values.layouts import Layout, Shape
from ptokit.values.pads import CustomPad

# text counts pairs of elements of four bits: tests/text/test_packed_pairs.py has their programs
ELEMENTS = [dtype for dtype in DTYPES if not dtype.pairs]
SCALARS = [ScalarType(n) for n in ("i16", "i32", "i64", "u64", "f32")]


def stated(operand: Operand) -> Type | None:
    """The type that the page itself gives an operand."""
    return ScalarType(operand.scalar) if operand.scalar else operand.handle


def some_type(random: Random, kind: Kind) -> Type:
    """A type of this kind; in one of eight cases it is left out."""
    stored = kind in (Kind.TILE, Kind.GLOBAL)
    return ELISIONS[kind] if stored and random.random() < 0.12 else TYPES[kind](random)


def tile(random: Random) -> TileType:
    rows, cols = random.randint(1, 512), random.randint(1, 512)
    pads = [*PadValue, CustomPad(random.getrandbits(32))]
    return TileType(
        random.choice(list(Loc)),
        random.choice(ELEMENTS),
        rows,
        cols,
        Shape(*(random.choice((n, n, None, random.randint(1, 64))) for n in (rows, cols))),
        random.choice(list(Layout)),
        random.choice((512, 512, 1024, 32)),
        random.choice(pads),
        random.choice(list(CompactMode)),
    )


def multi_tile(random: Random) -> MultiTileType:
    one = tile(random)
    return MultiTileType(**{f.name: getattr(one, f.name) for f in fields(one)}, count=2)


def view(random: Random) -> GlobalType:
    shape = tuple(random.choice((None, 1, 16, 300)) for _ in range(random.randint(1, 5)))
    return GlobalType(random.choice(ELEMENTS), shape, partition=random.random() < 0.5)


def conv(random: Random) -> ConvTileType:
    shape = tuple(random.randint(1, 64) for _ in range(random.randint(4, 5)))
    return ConvTileType(random.choice(ELEMENTS), shape, random.choice(list(ConvLayout)))


def vector(random: Random) -> LogicalType:
    """A logical vector or a mask for one, perhaps with a layout."""
    lanes = random.choice((1, 6, 64, 256))
    layout = random.choice(("", "#pto.vmi.layout<num_groups = 8, slots = 8>"))
    if random.random() < 0.3:
        grain = random.choice(("pred", "b16", ""))
        return replace(logical(u8, lanes, grain, layout), word="mask")
    dtype, word = random.choice(((f32, "f32"), (u32, "i32"), (i32, "si32"), (u8, "ui8")))
    return logical(dtype, lanes, word, layout)


REGISTERS = (*map(register, (f32, f16, u8, i32)), *map(mask, (8, 16, 32)), ALIGN)
TYPES: dict[Kind, Callable[[Random], Type]] = {
    Kind.TILE: tile,
    Kind.GLOBAL: view,
    Kind.CONV: conv,
    Kind.MULTI: lambda random: multi_tile(random),
    Kind.PTR: lambda random: PtrType(random.choice(ELEMENTS)),
    Kind.REGISTER: lambda random: random.choice(REGISTERS),
    Kind.LOGICAL: lambda random: vector(random),
    Kind.INDEX: lambda _: INDEX,
    Kind.SCALAR: lambda random: random.choice(SCALARS),
    Kind.ARRAY: lambda random: some_array(random),
    Kind.STRUCT: lambda random: struct(random),
    Kind.HANDLE: lambda random: random.choice([*HANDLES.values()]),
    Kind.ENTRY: lambda random: view(random) if random.random() < 0.5 else tile(random),
    Kind.ANY: lambda random: random.choice(SCALARS),
}


def some_array(random: Random) -> ArrayType:
    """Numbers by one index or several, or event ids."""
    element = random.choice((*SCALARS, INDEX))
    rank = 1 if element == INDEX else random.choice((1, 1, 2, 3))
    return ArrayType(element, tuple(random.randint(1, 9) for _ in range(rank)))


def struct(random: Random, depth: int = 0) -> StructType:
    """Some fields: numbers, arrays of them, and structs inside."""
    choices = (*SCALARS, ArrayType(SCALARS[1], (3,)), *([struct(random, 1)] if not depth else []))
    return StructType(tuple(random.choice(choices) for _ in range(random.randint(1, 3))))


def attribute(random: Random, attr: Attr, bare: bool) -> object:
    """A value of the attribute; `bare`: a string that stands without quotes."""
    if issubclass(attr.kind, Word):
        return random.choice(list(attr.kind))
    if attr.kind is str:
        letters = "TMV_2" if bare else 'ab\\"\n '
        return "T" + "".join(random.choice(letters) for _ in range(random.randint(0, 4)))
    if attr.kind is tuple:
        return tuple(random.randint(0, 3) for _ in range(random.randint(1, 3)))
    return random.choice((True, False)) if attr.kind is bool else random.randint(-9, 9)
