"""Operands of calls as data: what the words of a call say, without a handle on any memory.

An operand names its memory by a location or by the number of an array, so that a call can be kept,
compared and sent to another process.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple, TypeAlias

from ptokit.api.cxx.callwords import BOOL, DOUBLE, EXTENTS, LENGTHS, VOID, ConvSetting, Tag
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import CompactMode, GlobalLayout
from ptokit.values.dtypes import DTYPES, DType, i4
from ptokit.values.enumerations import BLayout, ConvLayout, Loc, PadValue, SLayout
from ptokit.values.layouts import Layout, Shape
from ptokit.values.pads import CustomPad

VIEW = "a view of global memory"
LOCS, LAYOUTS = list(Loc), {(each.blayout, each.slayout): each for each in Layout}
OBJECTS = (Tag.TILE, Tag.GLOBAL, Tag.CONV)
CUSTOM = 1 << 32  # a pad value from here on is bits
ALIGNMENT = 512  # bytes, of tiles without an address
CPP_ALONE = {BOOL: "bool", DOUBLE: "double", VOID: "void"}  # types that no operand has
ELEMENTS = "tiles and views have elements of " + ", ".join(dtype.cpp for dtype in DTYPES)
CONVERT = "convert the data on the host, for example double to float"
ARGUMENTS = "instructions take tiles, views, FIFOs, pointers, numbers, enumerations, and events"
PASS = "pass the members of the object one by one"
NEAR = 1 << 24  # bytes: pointers so far from an array are still said to lie beside it
UNPLACED = -1  # the address of a tile without one
NOWHERE = -1  # the number of the array of what leads into none


class PlacedTile(NamedTuple):
    """A tile at an address of the memory of its location."""

    type: TileType
    address: int


class PlacedConv(NamedTuple):
    """A convolution tile at an address."""

    type: ConvTileType
    address: int


class PlacedView(NamedTuple):
    """A view of an array by the array's number, `origin` elements from its start.

    Where the pointer leads into no array the number is NOWHERE, and `origin` the address.
    """

    type: GlobalType
    array: int
    origin: int


class PlacedPointer(NamedTuple):
    """A pointer into an array, in elements from its start; `array` may be NOWHERE."""

    dtype: DType | None
    array: int
    offset: int


class Reported(NamedTuple):
    """Numbers of the scalar unit that an instruction writes: C++ has them at `place`."""

    dtype: DType
    place: int
    length: int

    def numbers(self) -> list[int]:
        """Return the numbers as they are now."""
        text, size = ctypes.string_at(self.place, self.length * self.dtype.size), self.dtype.size
        every = (text[n : n + size] for n in range(0, len(text), size))
        return [int.from_bytes(part, "little", signed=self.dtype.signed) for part in every]


class PipeHandle(NamedTuple):
    """A FIFO by the number that the door gave it; below 0: what prefetches need, nothing."""

    number: int


class Chosen(NamedTuple):
    """A word of an enumeration: of the template, or an argument."""

    enumeration: str
    label: str
    number: int


class Number(NamedTuple):
    """A number; `template`: it is a template argument."""

    value: int | float
    template: bool
    boolean: bool


class PlacedGroup(NamedTuple):
    """The parts of all ranks, and the number of the root's."""

    views: tuple[PlacedView, ...]
    root: int


Placed: TypeAlias = PlacedTile | PlacedConv | PlacedView | PlacedPointer | Reported | PipeHandle
Given: TypeAlias = Placed | PlacedGroup | Chosen | Number | DType


class HostMemory(NamedTuple):
    """An array of the host: where it is, and its name."""

    address: int
    nbytes: int
    name: str


class Arrays:
    """The arrays that a kernel may touch, each with a number of its own that is not given again."""

    def __init__(self) -> None:
        self.every: dict[int, HostMemory] = {}
        self._numbers = count()

    def add(self, array: HostMemory) -> int:
        number = next(self._numbers)
        self.every[number] = array
        return number

    def remove(self, address: int) -> None:
        for number, array in [*self.every.items()]:
            if array.address == address:
                del self.every[number]

    def find(self, address: int) -> tuple[int, int] | None:
        """Return the number of the array that holds this byte, and the byte's place in it."""
        for number, array in self.every.items():
            if array.address <= address < array.address + max(array.nbytes, 1):
                return number, address - array.address
        return None

    def locate(self, address: int, dtype: DType, what: str) -> tuple[int, int]:
        """Return array and element of an address; PtoError where there is none."""
        found = self.find(address)
        if found is None:
            raise leads_nowhere(address, what, self.every.values())
        number, offset = found
        element, rest = divmod(offset * 8, dtype.bits)
        if rest:
            message = f"{what} is not aligned to elements of {dtype}"
            seen = f"it points to byte {offset} of {self.every[number].name}"
            help = "start at an element of the array, or change its type"
            raise error("offset-misaligned", message, seen=seen, help=help)
        return number, element


def leads_nowhere(address: int, what: str, arrays: Iterable[HostMemory]) -> PtoError:
    """Return the error of a use of a pointer outside all arrays."""
    where = "a pointer outside all arrays" if address else "a null pointer"
    help = "pass every array that the kernel accesses, and keep pointers inside it"
    seen = f"it points {_beside(address, [*arrays])}" if address else None
    return error("global-out-of-bounds", f"{what} has {where}", seen=seen, help=help)


def _beside(address: int, arrays: Sequence[HostMemory]) -> str:
    """Say how far from the nearest array an address lies."""
    far, text = NEAR, f"to address {address:#x}"
    for array in arrays:
        before, behind = array.address - address, address - array.address - array.nbytes
        if 0 < before < far:
            far, text = before, f"{before} bytes before the start of {array.name}"
        elif 0 <= behind < far:
            far, text = behind, f"{behind} bytes behind the end of {array.name}"
    names = ", ".join(f"{array.name} has {array.nbytes} bytes" for array in arrays)
    return f"{text}; {names or 'there is no array'}"


class Types:
    """The types of tiles that a library told of, by numbers that count from 1."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._tiles: list[tuple[TileType, tuple[int, int]]] = []
        self._convs: list[tuple[Loc, DType, str, int, int]] = []
        self._made: dict[tuple[int, int, int], TileType] = {}

    def add_tile(self, words: Sequence[int]) -> int:
        """Note a type; -1 for a valid extent stands for one that each tile has its own of."""
        loc, dtype, rows, cols, big, small, fractal, pad, compact, *valid = words
        layout = LAYOUTS.get((list(BLayout)[big], list(SLayout)[small]), Layout.ND)
        padded = CustomPad(pad & (CUSTOM - 1)) if pad >= CUSTOM else list(PadValue)[pad]
        how = (fractal, padded, list(CompactMode)[compact])
        of = element(dtype, f"a tile in {LOCS[loc]}")
        wide = of is i4 and self.target.is_chip  # a byte for each
        kind = TileType(LOCS[loc], of, rows, cols << wide, Shape(rows, cols), layout, *how)
        self._tiles.append((self.target.resolve(kind), (valid[0], valid[1])))
        return len(self._tiles)

    def add_conv(self, words: Sequence[int], layout: str) -> int:
        loc, dtype, elements, _, rank = words
        of = element(dtype, "a convolution tile")
        self._convs.append((LOCS[loc], of, layout, rank, elements))
        return len(self._convs)

    def tile(self, number: int, rows: int, cols: int) -> TileType:
        """Return the type with a valid region; one object for each."""
        key = number, rows, cols
        if key not in self._made:
            kind = self._tiles[number - 1][0]
            if kind.layout is Layout.ND and rows > kind.rows:  # lines behind the declared ones
                kind = replace(kind, rows=rows)
            if kind.layout is Layout.DN and cols > kind.cols:
                kind = replace(kind, cols=cols)
            self._made[key] = replace(kind, valid=Shape(rows, cols))
        return self._made[key]

    def room(self, tag: Tag, number: int) -> tuple[Loc, int]:
        """Return the memory of a type, and the bytes that a tile of it has there."""
        if tag is Tag.TILE:
            kind, _ = self._tiles[number - 1]
            return kind.loc, kind.nbytes
        loc, dtype, _, _, elements = self._convs[number - 1]
        return loc, dtype.nbytes(elements)

    def conv(self, number: int, extents: Sequence[int], how: Sequence[int]) -> ConvTileType:
        loc, dtype, label, rank, _ = self._convs[number - 1]
        layout = ConvLayout.named(label)
        if layout is None:
            message = f"unsupported layout {label} of a convolution tile"
            help = f"give it one of {', '.join(each.name for each in ConvLayout)}"
            raise error("layout", message, seen=f"Layout::{label}", help=help)
        at = ConvSetting
        left, right, top, bottom = (how[n] for n in range(at.PAD_LEFT, at.PAD_BOTTOM + 1))
        return ConvTileType(
            dtype,
            tuple(extents[:rank]),
            layout,
            loc,
            padding=(left, right, top, bottom),
            filter=(how[at.FILTER_H], how[at.FILTER_W]),
            stride=(how[at.STRIDE_H], how[at.STRIDE_W]),
            dilation=(how[at.DILATION_H], how[at.DILATION_W]),
            pad_value=real(how[at.PAD_VALUE]),
            repeat=(how[at.REPEAT_STRIDE], how[at.REPEAT_TIMES], how[at.REPEAT_MODE]),
            into=(how[at.DST_STRIDE], how[at.DST_POSITION]),
        )


def element(word: int, what: str) -> DType:
    """Return the element type that a word stands for; PtoError for one of C++ alone."""
    if not 0 <= word < len(DTYPES):
        name = CPP_ALONE.get(word) or type_name(word)
        message = f"unsupported element type {name} of {what}"
        raise error("element-type", message, rule=ELEMENTS, seen=name, help=CONVERT)
    return DTYPES[word]


def type_name(place: int) -> str:
    """Return the name of the C++ type whose text lies there: compilers print it behind `T_ = `."""
    text = ctypes.string_at(place).decode(errors="replace")
    return text.partition("T_ = ")[2].removesuffix("]") or text


def real(bits: int) -> float:
    """Return the number that 64 bits are as a double."""
    return float(struct.unpack("d", struct.pack("q", bits))[0])


def put(place: int, value: int) -> None:
    """Write the first word of an object of C++."""
    ctypes.c_int64.from_address(place).value = value


class Reader:
    """Reads the words of calls."""

    def __init__(
        self, types: Types, arrays: Arrays, words: Mapping[int, tuple[str, Mapping[int, str]]]
    ) -> None:
        """`words`: the enumerations by number, each with its name and its labels by number."""
        self.types, self.arrays, self.words = types, arrays, words
        self.free: dict[Loc, int] = {}  # the first free byte where no address is given
        self.objects: list[int] = []  # of C++, of the tiles and views that were read last
        self.homes: dict[tuple[Loc, int], tuple[int, int]] = {}  # by C++ object: address, bytes

    def values(self, words: Sequence[int], templates: int) -> Iterator[Given]:
        """Read tagged values, of which so many are template arguments."""
        at = 0
        self.objects = []
        while at < len(words):
            tag = Tag(words[at])
            length = LENGTHS[tag]
            if tag is Tag.GROUP:
                yield self._group(words[at + 1 :])
                at, templates = at + length + words[at + 1] * LENGTHS[Tag.GLOBAL], templates - 1
                continue
            if tag in OBJECTS:
                self.objects.append(words[at + length - 1])
            yield self._value(tag, words[at + 1 : at + length], templates > 0)
            at, templates = at + length, templates - 1

    def _value(self, tag: Tag, words: Sequence[int], template: bool) -> Given:
        match tag:
            case Tag.TILE:
                number, address, rows, cols, place = words
                kind = self.types.tile(number, rows, cols)
                return PlacedTile(kind, self._placed(kind.loc, kind.nbytes, address, place))
            case Tag.GLOBAL:
                return self._view(words)
            case Tag.CONV:
                extents, settings = words[2:10], words[10:34]
                conv = self.types.conv(words[0], extents, settings)
                return PlacedConv(conv, self._placed(conv.loc, conv.nbytes, words[1], words[-1]))
            case Tag.INTEGER:
                return Number(words[1], template, words[0] == BOOL)
            case Tag.REAL:
                return Number(real(words[1]), template, False)
            case Tag.WORD:
                name, labels = self.words.get(words[0], ("an enumeration", {}))
                return Chosen(name, labels.get(words[1], str(words[1])), words[1])
            case Tag.POINTER:
                return self._pointer(words)
            case Tag.TYPE:
                return element(words[0], "a template argument")
            case Tag.NUMBERS:
                return Reported(element(words[0], "an array of numbers"), words[1], words[2])
            case Tag.PIPE:
                return PipeHandle(words[0])
            case Tag.OTHER | Tag.GROUP:
                name = type_name(words[0])
                message = f"unsupported argument type {name}"
                seen = f"an object of {words[1]} bytes"
                raise error("operand-value", message, rule=ARGUMENTS, seen=seen, help=PASS)

    def _group(self, words: Sequence[int]) -> PlacedGroup:
        """Read a group from its words behind the tag."""
        (count, root), length = words[:2], LENGTHS[Tag.GLOBAL]
        each = (words[3 + n * length : 2 + (n + 1) * length] for n in range(count))
        return PlacedGroup(tuple(map(self._view, each)), root)

    def _placed(self, loc: Loc, nbytes: int, address: int, place: int) -> int:
        """Return the address of a tile; one without an address gets the next free one.

        An object of C++ that stands where an earlier one stood has the earlier one's bytes.
        """
        if address != UNPLACED:
            return address
        start, room = self.homes.get((loc, place), (0, -1))
        if nbytes > room:
            start, room = self.free.get(loc, 0), -(-nbytes // ALIGNMENT) * ALIGNMENT
            self.free[loc] = start + room
            self.homes[loc, place] = start, room
        put(place, start)
        return start

    def home(self, words: Sequence[int]) -> None:
        """Place a tile that has no address: its tag, the number of its type, its object's place."""
        loc, nbytes = self.types.room(Tag(words[0]), words[1])
        self._placed(loc, nbytes, -1, words[-1])

    def _view(self, words: Sequence[int]) -> PlacedView:
        dtype, label = element(words[0], VIEW), self._layout(words[1])
        array, origin = NOWHERE, words[2]
        if self.arrays.find(origin) is not None:
            array, origin = self.arrays.locate(origin, dtype, VIEW)
        shape, stride = (tuple(words[n : n + EXTENTS]) for n in (3, 3 + EXTENTS))
        if dtype.pairs:  # no step over one line; text counts whole bytes
            outer = zip(shape, stride[:-1], strict=False)
            stride = (*(s + s % 2 if n == 1 else s for n, s in outer), stride[-1])
        return PlacedView(GlobalType(dtype, shape, stride, label), array, origin)

    def _layout(self, number: int) -> GlobalLayout | None:
        return GlobalLayout.named(self.label("Layout", number))

    def label(self, enumeration: str, number: int) -> str:
        """Return the word of an enumeration that has this number, the number where none has."""
        for name, labels in self.words.values():
            if name == enumeration and number in labels:
                return labels[number]
        return str(number)

    def _pointer(self, words: Sequence[int]) -> PlacedPointer:
        dtype = DTYPES[words[0]] if words[0] < len(DTYPES) else None
        if self.arrays.find(words[1]) is None:
            return PlacedPointer(dtype, NOWHERE, words[1])
        bits = dtype or DTYPES[4]
        return PlacedPointer(dtype, *self.arrays.locate(words[1], bits, "a pointer"))
