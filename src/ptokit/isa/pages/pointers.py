"""Pointers and the scalar unit: pointer arithmetic, single elements of global memory."""

from __future__ import annotations

from ptokit.isa.lang.localmemory import LocalPointer, Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.addresses import known_array
from ptokit.values.scalars import Integer, choice, truth

LINES = "memref<16x32xf32, #pto.address_space<vec>>"
ONE_TYPE = "use the element type of the buffer"
INSIDE = "the index must be in bounds of the buffer"
AS_IT_IS = "use the rows and columns of the tile"
MOVED = """\
func.func @example(%p: !pto.ptr<i32>) {
  %c3 = arith.constant 3 : index
  %q = pto.addptr %p, %c3 : !pto.ptr<i32> -> !pto.ptr<i32>
  %n = pto.load_scalar %q[%c3] : !pto.ptr<i32> -> i32
  pto.store_scalar %n, %p[%c3] : !pto.ptr<i32>, i32
  return
}"""


def begun(ptr: Operand, offset: Operand) -> Rules:
    """Require a place not before the array; its end is known only at run time."""
    first = either(offset >= 0, ptr.offset + offset >= 0)
    return named("global-out-of-bounds", first, help="the index is at least 0")


class AddPtr(Instr, name="addptr", pipe=S):
    """The pointer `offset` elements further on."""

    asm = Asm(shape="moved", cpp_text="{type} {result} = {ptr} + {offset}[ / {pair}];")
    result = Result(Ptr)
    ptr = In(Ptr)
    offset = In(Index, counts="elements", doc="in elements; negative ones lead back")
    example = MOVED
    rules = (begun(ptr, offset), known_array(ptr))

    def type_of(ptr):
        return ptr

    def lowered(make, ptr, offset):
        return ptr.moved(make, offset)

    def run(ptr, offset):
        return ptr.moved(offset)


class CastPtr(Instr, name="castptr", pipe=S, asm=Asm(cpp_text="{type} {result} = ({type}){ptr};")):
    """The same place in memory as a pointer to another element type.

    An integer as a pointer into local memory belongs to the level below tiles and is refused.
    """

    result = Result(Ptr)
    ptr = In(Ptr)

    example = """\
func.func @example(%p: !pto.ptr<f32>) {
  %c3 = arith.constant 3 : index
  %q = pto.castptr %p : !pto.ptr<f32> -> !pto.ptr<i32>
  %n = pto.load_scalar %q[%c3] : !pto.ptr<i32> -> i32
  return
}"""
    rules = (
        named("location", result.space == ptr.space, help="keep the memory of the pointer"),
        named(
            "offset-misaligned",
            either(
                ptr.dtype.bits % result.dtype.bits == 0,
                ptr.offset * ptr.dtype.bits % result.dtype.bits == 0,
            ),
            help="cast at a multiple of the new element size",
        ),
    )

    def type_of(result):
        return result

    def lowered(ptr, result):
        return LocalPointer(ptr.address, result.dtype)

    def run(ptr, result):
        return ptr.cast(result.dtype)


def load_behind(ptr: Place, offset: int, kind: ScalarType) -> Array:
    """Return an element of the array behind a pointer, as a number."""
    return ptr.element(offset)[0, 0].bitcast(kind.element)


def store_behind(ptr: Place, offset: int, value: Array, kind: ScalarType) -> None:
    """Write an element of the array behind a pointer."""
    cells = ptr.element(offset)
    cells[0, 0] = value.bitcast(cells.dtype)


class Element(Instr, abstract=True, traits=(BY_SCALAR, ONE_ELEMENT), pipe=S, example=MOVED):
    """One element of an array, accessed by the scalar unit; not counted as a tile instruction."""

    asm = Asm(shape="element", brackets=("offset",))


def inside(kind: TypeOf, ptr: Operand, offset: Operand) -> Rules:
    """Return the rules of an element."""
    one_type = "the number has the type of the pointer's elements"
    same = named("element-type", kind.part.name == ptr.dtype.name, help=one_type)
    return (same, begun(ptr, offset))


class LoadScalar(Element, name="load_scalar", verb="element"):
    """Element `offset` of the array behind `ptr`; an offset past the end is an error."""

    by_thread = "ldg"
    asm = Asm(
        since=(("v0.64", "load"),),
        order=("ptr", "offset"),
        cpp_text="const {type} {result} = *({ptr} + {offset});",
    )
    result = Result(Scalar)
    ptr = In(Ptr)
    offset = In(Index)
    kind = TypeOf(result)
    rules = inside(kind, ptr, offset)

    def lowered(make, result, ptr, offset):
        given = {"ptr": element_at(make, ptr, offset), "offset": 0}
        return make.op(LoadOfRows, given, {}, [result])

    run = staticmethod(load_behind)


def element_at(make: Lowering, ptr: LocalPointer, offset: object) -> object:
    """Return one element of the vector buffer as a tile."""
    kind = TileType(VEC, ptr.dtype, 1, 1, Shape(1, 1))
    return make.window(kind, ptr.moved(make, offset).address)


class StoreScalar(Element, name="store_scalar"):
    """Element `offset` of the array behind `ptr` becomes `value`."""

    by_thread = "stg"
    asm = Asm(
        since=(("v0.64", "store"),),
        order=("value", "ptr", "offset"),
        cpp_text="*({ptr} + {offset}) = {value};",
    )
    ptr = Out(Ptr)
    value = In(Scalar, element=True)
    offset = In(Index)
    kind = TypeOf(value)
    rules = inside(kind, ptr, offset)

    def lowered(make, ptr, value, offset):
        given = {"ptr": element_at(make, ptr, offset), "value": value, "offset": 0}
        return make.op(StoreOfRows, given)

    run = staticmethod(store_behind)


COUNTED = f"""\
func.func @example(%i: index) {{
  %one = arith.constant 1.5 : f32
  %t = memref.alloc() : {LINES}
  pto.store_scalar %one, %t[%i] : {LINES}, f32
  %x = pto.load_scalar %t[%i] : {LINES} -> f32
  return
}}"""


WHOLE_BYTES = (i8, i16, i32, i64)
OTHER_NUMBERS = "uncached accesses take integers: cast the pointer"


def past_the_cache(ptr: Operand) -> Rules:
    """Require elements that the scalar unit can access in global memory directly."""
    return (
        named("location", ptr.space == "gm", help="local memory has no cache"),
        named("element-type", ptr.dtype.isin(*WHOLE_BYTES), help=OTHER_NUMBERS),
    )


class PastCache(Element, abstract=True, targets=("cpu", "a5")):
    """One element of an array in global memory, bypassing the cache of the scalar unit."""

    example = MOVED.replace("load_scalar", "ld_dev").replace("store_scalar", "st_dev")


class LoadPastCache(PastCache, name="ld_dev"):
    """Element `offset` of the array behind `ptr`, read from global memory, not the cache."""

    asm = Asm(
        order=("ptr", "offset"),
        cpp_on=CHIPS,
        cpp_text="{type} {result}{{}}; @ {result} = ld_dev({ptr}, {offset});",
    )
    result = Result(Scalar)
    ptr = In(Ptr)
    offset = In(Index)
    kind = TypeOf(result)
    rules = (inside(kind, ptr, offset), past_the_cache(ptr))

    run = staticmethod(load_behind)


class StorePastCache(PastCache, name="st_dev"):
    """Element `offset` of the array behind `ptr` becomes `value`, bypassing the cache."""

    asm = Asm(
        order=("value", "ptr", "offset"), cpp_on=CHIPS, cpp_text="st_dev({value}, {ptr}, {offset});"
    )
    ptr = Out(Ptr)
    value = In(Scalar, element=True)
    offset = In(Index)
    kind = TypeOf(value)
    rules = (inside(kind, ptr, offset), past_the_cache(ptr))

    run = staticmethod(store_behind)


def load_of_row(ptr: Cells, offset: int, rows: TileType, kind: ScalarType) -> Array:
    """Return an element of a buffer in the order of memory, as a number."""
    return ptr[offset // rows.step, offset % rows.step].bitcast(kind.element)


def store_of_row(ptr: Cells, offset: int, value: Array, rows: TileType) -> None:
    """Write an element of a buffer in the order of memory."""
    ptr[offset // rows.step, offset % rows.step] = value.bitcast(ptr.dtype)


class OfRows(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S, form="of a buffer"):
    """One element of a buffer by its offset in elements, accessed by the scalar unit."""

    asm = Asm(shape="element", brackets=("offset",))
    example = COUNTED


def of_row(kind: TypeOf, ptr: Operand, offset: Operand) -> Rules:
    """Require an element inside a row of the buffer, not between two rows."""
    return (
        named("element-type", kind.name == ptr.dtype.name, help=ONE_TYPE),
        named("layout", ~ptr.boxed, help="store in rows"),
        named("operand-value", offset >= 0, help=INSIDE),
        named(
            "window-out-of-bounds",
            both(offset < ptr.rows * ptr.step, offset % ptr.step < ptr.cols),
            help=INSIDE,
        ),
    )


class LoadOfRows(OfRows, name="load_scalar"):
    """Element `offset` of the buffer `ptr`, in the order of memory."""

    by_thread = "ldg"
    asm = Asm(
        since=(("v0.64", "load"),),
        order=("ptr", "offset"),
        cpp_text="const {type} {result} = *({ptr}.data() + {offset});",
    )
    result = Result(Scalar)
    ptr = In(Tile)
    offset = In(Index)
    kind, rows = TypeOf(result), TypeOf(ptr)
    rules = of_row(kind, ptr, offset)

    run = staticmethod(load_of_row)


class StoreOfRows(OfRows, name="store_scalar"):
    """Element `offset` of the buffer `ptr`, in the order of memory, becomes `value`."""

    by_thread = "stg"
    asm = Asm(
        since=(("v0.64", "store"),),
        order=("value", "ptr", "offset"),
        cpp_text="*({ptr}.data() + {offset}) = {value};",
    )
    ptr = InOut(Tile, buffer=True)
    value = In(Scalar, element=True)
    offset = In(Index)
    kind, rows = TypeOf(value), TypeOf(ptr)
    rules = of_row(kind, ptr, offset)

    run = staticmethod(store_of_row)


def one_of(values: tuple[int | None, ...] | None, index: Integer) -> int | None:
    """Return the value at an index; None if it is not known."""
    if values is None or None in values:
        return values[index] if isinstance(index, int) and values else None
    found = values[-1]
    for number in reversed(range(len(values) - 1)):
        found = choice(truth(index == number), values[number], found)
    return found


class OfDimension(Instr, abstract=True, pipe=S, asm=Asm(typed=("view",))):
    """A property of one dimension of a view."""

    result = Result(Scalar, scalar="index")
    view = In(Global)
    dim = In(Index, doc="which dimension, counted from 0")
    example = in_view(f"%n = NAME %view, %one : {VIEW_F32}")
    rules = named("operand-value", both(dim >= 0, dim < view.rank), help="no such dimension")


class GetTensorViewDim(OfDimension, name="get_tensor_view_dim"):
    """The extent of a view along a dimension."""

    asm = Asm(cpp_text="const {type} {result} = {view}.GetShape({dim_of_five});")

    def run(view, dim):
        return one_of((view if isinstance(view, GlobalType) else view.type).shape, dim)


class GetTensorViewStride(OfDimension, name="get_tensor_view_stride"):
    """The stride of a view along a dimension, in elements."""

    asm = Asm(cpp_text="const {type} {result} = {view}.GetStride({dim_of_five});")

    def run(view, dim):
        return one_of((view if isinstance(view, GlobalType) else view.type).stride, dim)


class TileBufAddr(Instr, name="tile_buf_addr", pipe=S):
    """A pointer to the first element of a tile, in the memory of its location.

    The layout of the tile decides the order of the elements in memory. The vector level below tiles
    reads and writes through this pointer; here `load_scalar` and `store_scalar` do.
    """

    asm = Asm(cpp_text="{type} {result} = {tile}.data();")
    result = Result(Ptr)
    tile = In(Tile)

    example = f"""\
%t = pto.alloc_tile : {VEC_F32}
%p = pto.tile_buf_addr %t : {VEC_F32} -> !pto.ptr<f32, vec>"""
    rules = (
        named("element-type", result.dtype == tile.dtype),
        named("location", result.space == tile.loc.text, help="give the memory of the tile"),
    )

    def type_of(tile):
        return PtrType(tile.dtype, tile.loc.text)

    def lowered(make, tile, result):
        return LocalPointer(make.address(tile), result.dtype)

    def run(tile):
        return tile.pointer()


class TileBufBuffer(Instr, name="tile_buf_addr", form="as a buffer", traits=(WINDOW,), pipe=S):
    """A tile as a buffer of rows, on the same elements."""

    asm = Asm(cpp_text="auto &{result} = {tile};")
    result = Result(Tile)
    tile = In(Tile)
    example = f"""\
%t = pto.alloc_tile : {VEC_F32}
%m = pto.tile_buf_addr %t : {VEC_F32} -> {LINES}"""
    rules = (
        named("element-type", result.dtype == tile.dtype, help="a buffer keeps the element type"),
        named("location", result.loc == tile.loc, help="give the memory of the tile"),
        named("layout", ~tile.boxed, help="take the address of boxes as a pointer"),
        named("shape", result.rows == tile.rows, help=AS_IT_IS),
        named("shape", both(result.cols == tile.cols, result.step == tile.step), help=AS_IT_IS),
    )

    def run(tile, result):
        return tile.part(result, 0, 0)


class TensorViewAddr(Instr, name="tensor_view_addr", pipe=S):
    """A pointer to the first element of a view."""

    asm = Asm(cpp_text="{type} {result} = {view}.data();")
    result = Result(Ptr)
    view = In(Global)
    example = in_view(f"%p = NAME %view : {VIEW_F32} -> !pto.ptr<f32>")
    rules = (
        named("element-type", result.dtype == view.dtype),
        named("location", result.space == "gm", help="views are of global memory"),
    )

    def type_of(view):
        return PtrType(view.dtype)

    def run(view):
        return view.pointer()
