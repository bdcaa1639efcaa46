"""Buffers of lowered text, which are memrefs: casts, single elements, and their end."""

from ptokit.isa.lang.page import *
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.pages.views import STATED, known_extents

MEMORY = "memref<1024xf32, #pto.address_space<gm>>"
MATRIX = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<gm>>"
LINES = "memref<16x32xf32, #pto.address_space<vec>>"
ELEMENT = f"""\
func.func @example(%i: index) {{
  %one = arith.constant 1.5 : f32
  %t = memref.alloc() : {LINES}
  memref.store %one, %t[%i, %i] : {LINES}
  %x = memref.load %t[%i, %i] : {LINES}
  memref.dealloc %t : {LINES}
  return
}}"""
SAME = "the number has the type of the buffer's elements"
INSIDE = "indices count from 0 and stay inside the buffer"
NO_CPP = "/* an element of a buffer has no C++ */"
PAST_THE_END = "the elements of the buffer end before those of its cast"


class ReinterpretCast(Instr, name="reinterpret_cast", pipe=S):
    """The elements of `src` from `offset` on, with extents and strides of their own."""

    asm = Asm(
        dialect="memref",
        shape="recast",
        cpp_text="{type} {result}({src}.data() + {offset}, {{{sizes}}}, {{{strides}}});",
    )
    result = Result(Global)
    src = In(Global, doc="a buffer of global memory from its start on")
    offset = In(Index, key="offset", counts="elements", doc="where the first element lies")
    sizes = In(Index, many=True, key="sizes", counts="extents")
    strides = In(Index, many=True, key="strides", counts="steps")
    layout = Attr(GlobalLayout, None)
    example = f"""\
func.func @example(%x: {MEMORY}) {{
  %v = memref.reinterpret_cast %x to offset: [64], sizes: [16, 32], strides: [32, 1]\
 : {MEMORY} to {MATRIX}
  return
}}"""
    rules = (
        named("element-type", result.dtype == src.dtype, help="a cast keeps the element type"),
        named("shape", result.rank == sizes.count, result.rank == strides.count),
        named("shape", sizes == result.static_extents, help=STATED),
        named("shape", strides == result.static_strides, help=STATED),
        named("operand-value", offset >= 0, sizes.least >= 1, strides.least >= 0),
        warns(named("global-out-of-bounds", offset + result.reach <= src.count, help=PAST_THE_END)),
    )

    @staticmethod
    def type_of(
        result: GlobalType | None,
        src: GlobalType,
        sizes: tuple[int | None, ...],
        strides: tuple[int | None, ...],
        layout: GlobalLayout | None,
    ) -> GlobalType:
        found = result or replace(src, partition=True)
        return replace(found, shape=known_extents(sizes, result), stride=strides, stated=layout)

    @staticmethod
    def run(src: Any, offset: int, result: GlobalType) -> Any:  # Any: the executor's view
        return src.pointer().moved(offset).view(result)


class Dealloc(Instr, name="dealloc", traits=(DEALLOCATES,), pipe=S):
    """The buffer is used no more: what a use behind it finds is not defined."""

    asm = Asm(dialect="memref", cpp_text="")
    example = ELEMENT
    src = In(Tile, doc="what `memref.alloc` gave")

    @staticmethod
    def run() -> None:
        """Nothing is done: storage lives as long as its function."""


def of_element(buffer: Operand, indices: Operand) -> tuple[Ruled, ...]:
    """The indices are those of an element: of a line, or of a row and a column."""
    extents, outside = buffer.matrix, "window-out-of-bounds"
    of_row = named(outside, indices.first < extents.rows, help=INSIDE)
    one_or_two = either(indices.count == 1, indices.count == 2)
    return (
        named("operand-count", one_or_two, help="a column, or a row and a column"),
        named("operand-value", indices.least >= 0, help=INSIDE),
        named(outside, indices.last < extents.cols, help=INSIDE),
        *when(indices.count == 2, of_row),
    )


class OfBuffer(Instr, abstract=True, traits=(BY_SCALAR,), pipe=S, example=ELEMENT):
    """One element of a buffer, by the scalar unit."""

    asm = Asm(dialect="memref", shape="element", brackets=("indices",), untyped=True)


class MemrefLoad(OfBuffer, name="load"):
    """The element of those indices."""

    asm = Asm(
        order=("src", "indices"),
        cpp_text=f"const {{type}} {{result}} = {NO_CPP} {{src}}{{indices_subscripts}};",
    )
    result = Result(Scalar)
    src = In(Entry)
    indices = In(Index, many=True, doc="one for each extent, of which there are one or two")
    kind = TypeOf(result)
    rules = (
        named("element-type", kind.name == src.dtype.name, help=SAME),
        *of_element(src, indices),
    )

    @staticmethod
    def run(src: Cells, indices: tuple[int, ...], kind: ScalarType) -> Array:
        row, col = (0, *indices)[-2:]
        return src[row, col].bitcast(kind.element)


class MemrefStore(OfBuffer, name="store"):
    """The element of those indices becomes `value`."""

    asm = Asm(
        order=("value", "dst", "indices"),
        cpp_text=f"{NO_CPP} {{dst}}{{indices_subscripts}} = {{value}};",
    )
    dst = InOut(Entry)
    value = In(Scalar, element=True)
    indices = In(Index, many=True, doc="as of a load")
    kind = TypeOf(value)
    rules = (
        named("element-type", kind.name == dst.dtype.name, help=SAME),
        *of_element(dst, indices),
    )

    @staticmethod
    def run(dst: Cells, indices: tuple[int, ...], value: Array) -> None:
        row, col = (0, *indices)[-2:]
        dst[row, col] = value.bitcast(dst.dtype)
