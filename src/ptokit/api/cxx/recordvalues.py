"""The values of a recorded function: tiles, views, numbers and FIFOs, each made once."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import NamedTuple, cast

from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.calloperands import (
    NOWHERE,
    PipeHandle,
    PlacedConv,
    PlacedPointer,
    PlacedTile,
    PlacedView,
    Reported,
)
from ptokit.api.cxx.callrecord import LaunchRecord
from ptokit.api.cxx.kernelcores import REPORT
from ptokit.api.cxx.kernelpipes import OpenedPipe
from ptokit.api.kernel.scalarkinds import scalar_kind
from ptokit.ir.editing import allocation, arithmetic_page, constant_page, new_op
from ptokit.ir.editing import shaped as page_of_shape
from ptokit.ir.module import Op, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I1, I64, INDEX, Kind, PtrType, ScalarType, Type
from ptokit.isa.pages.grid import launch_query
from ptokit.isa.pages.slots import BOTH
from ptokit.values.dtypes import DType, i8
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import ND, Shape

LINE = 32


class NamedArray(NamedTuple):
    """An array that a launch was given."""

    name: str
    dtype: DType


class Linear(NamedTuple):
    """A number that follows from a core's place: base, and steps by block and by lane."""

    base: int
    by_block: int = 0
    by_lane: int = 0

    @property
    def varies(self) -> bool:
        """True if the number is not the same on all cores."""
        return bool(self.by_block or self.by_lane)


class Scope(NamedTuple):
    """The ops that make values at the head of a region, and the values, each made once."""

    head: list[Op]
    known: dict[object, Value]


class RecordValues:
    """Makes the values of one function: its arguments, and the ops at its `head`.

    An address that follows from a core's place is made where it is used: on other cores it may lie
    outside its array.
    """

    def __init__(
        self, pipes: Sequence[OpenedPipe], arrays: Mapping[int, NamedArray], end: int
    ) -> None:
        """`end`: where in vec the last tile ends."""
        self.pipes, self.arrays, self.end = pipes, arrays, end
        self.args: dict[int, Value] = {}  # by the number of the array
        self.head: list[Op] = []
        self._known: dict[object, Value] = {}
        self._function = self._part = Scope(self.head, self._known)
        self._counts: dict[str, int] = {}

    def value(self, call: CxxCall, operand: Operand, given: object, number: Linear | None) -> Value:
        """Return the value that an operand is given."""
        match given:
            case PlacedTile():
                return self._tile(given)
            case PlacedConv():
                return self._allocated(allocation(Kind.CONV), given.type, given.address, "c")
            case PlacedView():
                return self._view(given, number or Linear(given.origin))
            case PlacedPointer() if given.dtype is not None:
                return self._pointer(given.array, given.dtype, Linear(given.offset))
            case PipeHandle():
                return self._pipe(given.number)
            case Reported():
                return self._reported(given)
            case _:
                kind = INDEX
                if operand.kind is not Kind.INDEX:
                    kind = scalar_kind(call.page, operand, given, element_types(call))
                if number is not None and number.varies:
                    return self._linear(number)
                return self._constant(*_with_sign(cast(float, given), kind))

    @contextmanager
    def part(self) -> Generator[list[Op]]:
        """Open the scope of what some cores run; yield the ops that make its addresses."""
        self._part = Scope([], {})
        try:
            yield self._part.head
        finally:
            self._part = self._function

    def arguments(self) -> list[Value]:
        """Return the arguments of the function, in the order of the arrays."""
        return [self.args[number] for number in sorted(self.args)]

    def results(self, call: CxxCall) -> list[Value]:
        """Return values for what a page defines: numbers that nothing else reads."""
        kinds = [scalar_kind(call.page, o, None, element_types(call)) for o in call.page.results()]
        return [self._fresh("n", kind) for kind in kinds]

    def _fresh(self, base: str, kind: Type) -> Value:
        count = self._counts.get(base, 0)
        self._counts[base] = count + 1
        return Value(f"{base}{count}", kind)

    def _make(
        self,
        page: type[Instr],
        operands: Mapping[str, Sequence[Value]],
        attrs: Mapping[str, object],
        base: str,
        kind: Type,
        scope: Scope | None = None,
    ) -> Value:
        """Make a value at the head of a scope, by default the function."""
        made = self._fresh(base, kind)
        head = self.head if scope is None else scope.head
        head.append(new_op(page, operands, attrs, results=[made]))
        return made

    # numbers

    def _constant(self, number: float, kind: Type) -> Value:
        key = repr(number), str(kind)
        if key not in self._known:
            page = constant_page()
            attrs = {page.attrs[0].name: number}
            self._known[key] = self._make(page, {}, attrs, "k", kind)
        return self._known[key]

    def _query(self, name: str) -> Value:
        """Return a number of the core's place as an index."""
        if name not in self._known:
            page = launch_query(name)
            assert page is not None
            number = self._make(page, {}, {}, name, I64)
            cast = _cast()
            given = {cast.ins()[0].name: [number]}
            self._known[name] = self._make(cast, given, {}, "i", INDEX)
        return self._known[name]

    def _two(self, symbol: str, one: Value, two: Value, kind: ScalarType = INDEX) -> Value:
        key = symbol, one, two
        if key not in self._known:
            page = arithmetic_page(symbol, kind)
            assert page is not None
            named = zip(page.ins(), (one, two), strict=True)
            given = {o.name: [v] for o, v in named}
            self._known[key] = self._make(page, given, {}, "i", kind)
        return self._known[key]

    def _linear(self, number: Linear) -> Value:
        steps = (("block_idx", number.by_block), ("sub_block_idx", number.by_lane))
        total = self._constant(number.base, INDEX) if number.base or not any(number[1:]) else None
        for name, step in steps:
            if step:
                term = self._query(name)
                if step != 1:
                    term = self._two("mul", term, self._constant(step, INDEX))
                total = term if total is None else self._two("add", total, term)
        assert total is not None
        return total

    def where(self, cores: set[tuple[int, int]], launch: LaunchRecord) -> Value:
        """Return a number that is true on these cores alone, which block and lane name."""
        lanes = sorted({lane for _, lane in cores})
        if len(cores) == launch.blocks * len(lanes):  # whatever the block
            each = [self._is("sub_block_idx", lane) for lane in lanes]
        else:
            each = [self._at(block, lane, launch) for block, lane in sorted(cores)]
        return reduce(lambda one, two: self._two("or", one, two, I1), each)

    def _at(self, block: int, lane: int, launch: LaunchRecord) -> Value:
        one = self._is("block_idx", block)
        for other in self._is_lane(lane, launch):
            one = self._two("and", one, other, I1)
        return one

    def _is_lane(self, lane: int, launch: LaunchRecord) -> Iterator[Value]:
        if any(core.place.lane for core in launch.cores):
            yield self._is("sub_block_idx", lane)

    def _is(self, name: str, number: int) -> Value:
        key = name, number
        if key not in self._known:
            page = page_of_shape("compare")
            sides = [self._query(name), self._constant(number, INDEX)]
            given = {o.name: [v] for o, v in zip(page.ins(), sides, strict=True)}
            self._known[key] = self._make(page, given, {}, "is", I1)
        return self._known[key]

    # memory

    def _tile(self, given: PlacedTile) -> Value:
        return self._allocated(allocation(), given.type, given.address, "t")

    def _allocated(self, page: type[Instr], kind: Type, address: int, base: str) -> Value:
        key = kind, address
        if key not in self._known:
            where = {"addr": [self._constant(address, I64)]}
            self._known[key] = self._make(page, where, {}, base, kind)
        return self._known[key]

    def _reported(self, given: Reported) -> Value:
        """Return a tile for numbers that C++ has in a struct, behind all other tiles."""
        kind = TileType(VEC, given.dtype, 1, REPORT, Shape(1, given.length), ND)
        key = "reported", given.length
        if key not in self._known:
            start = -(-self.end // LINE) * LINE
            self._known[key] = self._tile(PlacedTile(kind, start))
        return self._known[key]

    def _array(self, number: int, dtype: DType) -> Value:
        """Return a pointer to an array: an argument, or that as another element type."""
        if number not in self.args:
            named = self.arrays.get(number, NamedArray(f"a{number}", dtype))
            self.args[number] = Value(named.name, PtrType(named.dtype))
        first = self.args[number]
        if first.type == PtrType(dtype):
            return first
        key = "array", number, dtype
        if key not in self._known:
            page = _pointer_page(1)
            given = {page.ins()[0].name: [first]}
            self._known[key] = self._make(page, given, {}, "p", PtrType(dtype))
        return self._known[key]

    def _pointer(self, array: int, dtype: DType, offset: Linear) -> Value:
        start = self._array(array, dtype)
        if not any(offset):
            return start
        key, scope = ("pointer", start, offset), self._scope(offset)
        if key not in scope.known:
            page = _pointer_page(2)
            named = zip(page.ins(), (start, self._linear(offset)), strict=True)
            given = {o.name: [v] for o, v in named}
            scope.known[key] = self._make(page, given, {}, "p", start.type, scope)
        return scope.known[key]

    def _scope(self, offset: Linear) -> Scope:
        return self._part if offset.varies else self._function

    def _view(self, given: PlacedView, origin: Linear) -> Value:
        key, scope = (given.type, given.array, origin), self._scope(origin)
        if key not in scope.known and given.array == NOWHERE:
            page = next(p for p in pages() if p.asm.shape == "declared" and _is_view(p))
            scope.known[key] = self._make(page, {}, {}, "v", given.type, scope)
        elif key not in scope.known:
            kind = given.type
            page = next(p for p in pages() if p.verb == "view" and p.results())
            operands = {"ptr": [self._pointer(given.array, kind.dtype, origin)]}
            for name, extents in (("shape", kind.shape), ("strides", kind.stride or ())):
                operands[name] = [self._constant(n or 0, INDEX) for n in extents]
            attrs = {} if kind.stated is None else {"layout": kind.stated}
            scope.known[key] = self._make(page, operands, attrs, "v", kind, scope)
        return scope.known[key]

    # FIFOs

    def _pipe(self, number: int) -> Value:
        """Return the handle of a FIFO, which both kinds of core have."""
        opened = self.pipes[number]
        key = "pipe", opened.flag
        if key not in self._known:
            page = _fifo_page(opened.memory is not None)
            attrs: dict[str, object] = {
                "dir_mask": opened.directions,
                "slot_size": opened.entry_size,
                "slot_num": opened.slots,
                "flag_base": opened.flag,
            }
            if opened.shares or opened.epilogue:
                attrs["nosplit"] = True
            if opened.epilogue:
                attrs["epilogue"] = opened.epilogue
            operands = dict(self._places(opened))
            kind = next(o.handle for o in page.results())
            assert kind is not None
            self._known[key] = self._make(page, operands, attrs, "fifo", kind)
        return self._known[key]

    def _places(self, opened: OpenedPipe) -> Iterator[tuple[str, list[Value]]]:
        first, second = opened.to_vector, opened.to_cube
        if opened.memory is not None:
            array, byte = opened.memory
            slots = self._pointer(array, i8, Linear(byte))
            if opened.slot is not None:
                start = byte * 8 // opened.slot.dtype.bits
                slots = self._view(PlacedView(opened.slot, array, start), Linear(start))
            yield "gm_addr", [slots]
        one = second if opened.directions == 2 else first
        yield "local_addr", [self._constant(one, ScalarType("i32"))]
        if opened.directions == BOTH:
            yield "peer_local_addr", [self._constant(second, ScalarType("i32"))]


def _with_sign(number: float, kind: ScalarType) -> tuple[float, ScalarType]:
    """Return the number of the same bits that has a sign: constants of text have one."""
    dtype = kind.dtype
    if dtype is None or dtype.is_float or dtype.signed or not isinstance(number, int):
        return number, kind
    whole = number & ((1 << kind.bits) - 1)
    number = whole - (1 << kind.bits) if whole >> (kind.bits - 1) else whole
    return number, ScalarType(f"i{kind.bits}")


def element_types(call: CxxCall) -> dict[str, DType]:
    """Return the element types of the tiles of a call, by operand."""
    return {n: v.type.dtype for n, v in call.operands.items() if isinstance(v, PlacedTile)}


def _is_view(page: type[Instr]) -> bool:
    return [o.kind for o in page.results()] == [Kind.GLOBAL]


def _cast() -> type[Instr]:
    """Return the page that makes an index of a number."""
    for page in pages():
        if page.asm.shape == "cast" and page.symbol == "index":
            return page
    raise AssertionError("no page makes an index")


def _pointer_page(inputs: int) -> type[Instr]:
    """Return the page that makes a pointer of one: elsewhere (2 inputs), or of another type."""
    for page in pages():
        kinds = [o.kind for o in page.operands]
        wanted = [Kind.PTR, Kind.PTR] + [Kind.INDEX] * (inputs - 1)
        if kinds == wanted and page.results():
            return page
    raise AssertionError("no page makes a pointer")


def _fifo_page(in_memory: bool) -> type[Instr]:
    """Return the page that sets up a FIFO by a handle."""
    for page in pages():
        named = any(o.name == "gm_addr" for o in page.operands)
        if page.fifo_role is FifoRole.OPENS and page.results() and named is in_memory:
            return page
    raise AssertionError("no page sets up a FIFO")
