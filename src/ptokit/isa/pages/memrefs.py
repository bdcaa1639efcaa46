"""Memrefs: casts, parts, single elements and deallocation of the buffers of lowered text."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.views import STATED, known_extents
from ptokit.values.layouts import times

MEMORY = "memref<1024xf32, #pto.address_space<gm>>"
MATRIX = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<gm>>"
LINES = "memref<16x32xf32, #pto.address_space<vec>>"
WINDOW_OF_LINES = "memref<8x8xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
SQUARE = "memref<16x32xf32, strided<[32, 1]>, #pto.address_space<gm>>"
HALF = "memref<8x32xf32, strided<[64, 1], offset: ?>, #pto.address_space<gm>>"
ELEMENT = f"""\
func.func @example(%i: index) {{
  %one = arith.constant 1.5 : f32
  %t = memref.alloc() : {LINES}
  memref.store %one, %t[%i, %i] : {LINES}
  %x = memref.load %t[%i, %i] : {LINES}
  memref.dealloc %t : {LINES}
  return
}}"""
SAME = "use the element type of the buffer"
INSIDE = "indices must be in bounds of the buffer"
PAST_THE_END = "the elements of the buffer end before those of its cast"


class ReinterpretCast(Instr, name="reinterpret_cast", pipe=S):
    """The elements of a buffer from `offset` on, with new extents and strides.

    `offset` counts from the start of the buffer, also if `src` is a cast or a part of it.
    """

    asm = Asm(
        dialect="memref",
        shape="recast",
        cpp_text="{type} {result}({src_array}{offset_at}{extents});",
    )
    result = Result(Global)
    src = In(Global, doc="a buffer of global memory, or a cast or part of one")
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
        named("element-type", result.dtype == src.dtype, help="use the element type of the source"),
        named("shape", result.rank == sizes.count, result.rank == strides.count),
        named("shape", sizes == result.static_extents, help=STATED),
        named("shape", strides == result.static_strides, help=STATED),
        named("operand-value", offset >= 0, sizes.least >= 1, strides.least >= 0),
        when(
            src.begins == Const(True),
            warns(
                named("global-out-of-bounds", offset + result.reach <= src.count, help=PAST_THE_END)
            ),
        ),
    )

    def type_of(result, src, sizes, strides, layout):
        found = result or replace(src, partition=True)
        return replace(found, shape=known_extents(sizes, result), stride=strides, stated=layout)

    def run(src, offset, result):
        begun = src.pointer()
        return begun.moved(offset - begun.offset).view(result)


CLOSED, OPEN = "memref<16x32xf32, SPACE>", "memref<?x32xf32, strided<[?, 1], offset: ?>, SPACE>"
KEPT = "a cast cannot change the layout of the buffer"


def in_space(line: str, space: str, **types: str) -> str:
    """Return a function of one line on %a, of these types of memrefs."""
    for name, kind in types.items():
        line = line.replace(name, kind.replace("SPACE", f"#pto.address_space<{space}>"))
    kind = line.partition(" : ")[2].partition(" to ")[0]
    return f"func.func @example(%a: {kind}) {{\n  {line}\n  return\n}}"


class MemrefCast(Instr, name="cast", form="of a view", pipe=S):
    """Restate the type of a view with more or fewer of its extents and strides."""

    asm = Asm(dialect="memref", shape="memref_cast", cpp_text="auto &{result} = {src};")
    example = in_space("%b = memref.cast %a : CLOSED to OPEN", "gm", CLOSED=CLOSED, OPEN=OPEN)
    result = Result(Global)
    src = In(Global)
    same_extents = result.static_extents == src.extents
    same_strides = result.static_strides == src.static_strides
    rules = (
        named("element-type", result.dtype == src.dtype, help="use the element type of the source"),
        named("shape", result.rank == src.rank, help=KEPT),
        named("shape", both(same_extents, same_strides), help=KEPT),
    )

    def type_of(result, src):
        found = result or src
        stride = src.stride if found.stride is None else found.stride
        return replace(found, shape=known_extents(src.shape, found), stride=src.stride or stride)

    def run(src, result):
        kind = replace(result, shape=src.type.shape, stride=src.type.stride)
        return src.pointer().view(kind)


class MemrefTileCast(Instr, name="cast", form="of a tile", traits=(WINDOW,), pipe=S):
    """Restate the type of a tile with its rows."""

    asm = Asm(dialect="memref", shape="memref_cast", cpp_text="auto &{result} = {src};")
    example = in_space(
        "%b = memref.cast %a : CLOSED to ROWS",
        "vec",
        CLOSED=CLOSED,
        ROWS="memref<16x32xf32, strided<[32, 1], offset: ?>, SPACE>",
    )
    result = Result(Tile)
    src = In(Tile)
    rules = (
        named("element-type", result.dtype == src.dtype, help="use the element type of the source"),
        named("location", result.loc == src.loc, help="keep the memory of the buffer"),
        named("shape", result.rows == src.rows, help=KEPT),
        named("shape", both(result.cols == src.cols, result.step == src.step), help=KEPT),
    )

    def run(src, result):
        return src.part(result, 0, 0)


OF_PART = "use a type of the part that matches its offsets and sizes"
NO_STEPS = "use strides of 1"
PART_ENDS = "the part must lie inside its buffer"


class MemrefPart(Instr, name="subview", form="of a tile", traits=(WINDOW,), pipe=S):
    """A part of a tile with the strides of the whole: nothing is copied."""

    asm = Asm(
        dialect="memref",
        shape="memref_part",
        cpp_text="{window} {result}{open}; TSUBVIEW({result}, {src}, {offsets});",
    )
    example = f"""\
func.func @example(%a: {LINES}, %i: index) {{
  %p = memref.subview %a[0, %i] [8, 8] [1, 1] : {LINES} to {WINDOW_OF_LINES}
  return
}}"""
    result = Result(Tile)
    src = In(Tile)
    offsets = In(Index, many=True, key="offsets", counts="extents")
    sizes = In(Index, many=True, key="sizes", counts="extents")
    steps = In(Index, many=True, key="steps", counts="steps")
    of_rows = offsets.count == 2
    rules = (
        named("operand-count", offsets.count.isin(1, 2), help="rows and columns, or one row"),
        named("operand-count", sizes.count == offsets.count, steps.count == offsets.count),
        named("element-type", result.dtype == src.dtype, help="a part keeps the element type"),
        named("location", result.loc == src.loc, help="keep the memory of the buffer"),
        named("operand-value", steps.first == 1, steps.last == 1, help=NO_STEPS),
        named("operand-value", offsets.least >= 0, help="element offsets are at least 0"),
        named("shape", result.cols == sizes.last, help=OF_PART),
        named("window-out-of-bounds", offsets.last + sizes.last <= src.cols, help=PART_ENDS),
        when(
            of_rows,
            named("shape", result.rows == sizes.first, result.step == src.step, help=OF_PART),
            named("window-out-of-bounds", offsets.first + sizes.first <= src.rows, help=PART_ENDS),
        ),
    )

    def run(src, result, offsets):
        row, col = offsets if len(offsets) > 1 else (0, *offsets)
        return src.part(result, row, col)


def stepped(
    strides: tuple[int | None, ...] | None, steps: tuple[int | None, ...]
) -> tuple[int | None, ...] | None:
    """Return the strides of a view that takes every `steps`-th element along each dimension."""
    if strides is None or len(strides) != len(steps):
        return None
    return tuple(times(stride, step) for stride, step in zip(strides, steps, strict=True))


class MemrefStepped(Instr, name="subview", form="with steps", pipe=S):
    """Every n-th element of a part of a view, along each of its dimensions."""

    asm = Asm(
        dialect="memref",
        shape="memref_part",
        cpp_text="{type} {result}({src_begin}{offsets_at}{extents});",
    )
    result = Result(Global)
    src = In(Global)
    offsets = In(Index, many=True, key="offsets", counts="extents")
    sizes = In(Index, many=True, key="sizes", counts="extents")
    steps = In(Index, many=True, key="steps", counts="steps")
    layout = Attr(GlobalLayout, None)
    example = f"""\
func.func @example(%x: {SQUARE}) {{
  %p = memref.subview %x[0, 0] [8, 32] [2, 1] : {SQUARE} to {HALF}
  return
}}"""
    rules = (
        named("element-type", result.dtype == src.dtype, help="a part keeps the element type"),
        named(
            "operand-count",
            offsets.count == src.rank,
            sizes.count == src.rank,
            steps.count == src.rank,
        ),
        named("operand-value", offsets.least >= 0, sizes.least >= 0, steps.least >= 1),
        named("shape", sizes == result.static_extents, help=STATED),
        named(
            "window-out-of-bounds",
            offsets + sizes * steps < src.extents + steps,
            help=PART_ENDS,
        ),
    )

    def type_of(result, src, sizes, steps, layout):
        found = result or replace(src, partition=True)
        shape = known_extents(sizes, result)
        return replace(found, shape=shape, stride=stepped(src.stride, steps), stated=layout)

    def run(src, offsets, steps, result):
        begun = src.partition(replace(result, stride=src.type.stride), offsets)
        return begun.pointer().view(replace(result, stride=stepped(src.type.stride, steps)))


class Dealloc(Instr, name="dealloc", traits=(HANDLE,), pipe=S):
    """The end of a buffer: a later use finds undefined content."""

    asm = Asm(dialect="memref", cpp_text="")
    example = ELEMENT
    src = In(Tile, doc="what `memref.alloc` gave")

    def run():
        """Do nothing: storage lives as long as its function."""


def of_element(buffer: Operand, indices: Operand) -> Rules:
    """Require the indices of an element: of a line, or of a row and a column."""
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
    """The element at these indices."""

    asm = Asm(
        order=("src", "indices"),
        cpp_text="const {type} {result} = {src_element};",
    )
    result = Result(Scalar)
    src = In(Entry)
    indices = In(Index, many=True, doc="one for each extent, of which there are one or two")
    kind = TypeOf(result)
    rules = (
        named("element-type", kind.name == src.dtype.name, help=SAME),
        *of_element(src, indices),
    )

    def run(src, indices, kind):
        row, col = (0, *indices)[-2:]
        return src[row, col].bitcast(kind.element)


class MemrefStore(OfBuffer, name="store"):
    """The element at these indices becomes `value`."""

    asm = Asm(
        order=("value", "dst", "indices"),
        cpp_text="{dst_element} = {value};",
    )
    dst = InOut(Entry)
    value = In(Scalar, element=True)
    indices = In(Index, many=True, doc="as of a load")
    kind = TypeOf(value)
    rules = (
        named("element-type", kind.name == dst.dtype.name, help=SAME),
        *of_element(dst, indices),
    )

    def run(dst, indices, value):
        row, col = (0, *indices)[-2:]
        dst[row, col] = value.bitcast(dst.dtype)
