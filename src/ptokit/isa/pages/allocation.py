"""Tile allocation, views and addresses: alloc_tile, subviews, TRESHAPE, TASSIGN."""

from ptokit.isa.lang.page import *
from ptokit.isa.model.targets import at_address
from ptokit.isa.pages.windows import inside, on_a2a3

ALL = "write the valid extents of the window in its type, or give valid [..]"
KEPT = "a window has the pad and the compact mode of its source"
SAID = "write the valid extents in the type, or ?"
PART = "the valid region is the upper left part of the window"
OF_A5 = (hif8, f8e4m3, f8e5m2, f8e8m0, f4e2m1x2, f4e1m2x2)
ONLY_A5 = "8-bit and 4-bit floats exist on A5 only"


def stated(tile: Operand, valid_row: Operand, valid_col: Operand) -> Rules:
    """Require the valid region that the type or the operands state."""
    fewer = "the valid region is the upper left part of the tile"
    return (
        named("tile-shape", both(valid_row >= 0, valid_row <= tile.rows), help=fewer),
        named("tile-shape", both(valid_col >= 0, valid_col <= tile.cols), help=fewer),
        named(
            "dynamic-valid",
            valid_row.given == tile.dynamic_rows,
            valid_col.given == tile.dynamic_cols,
            help="give valid_row and valid_col exactly where the type says ?",
        ),
    )


AT_ADDRESS = "{type} {result}({valid_row}, {valid_col});[ TASSIGN({result}, {addr});]"


def whole_boxes(addr: Operand, tile: Operand) -> Rules:
    """Require the alignment of the assembler for tiles in the cube unit's buffers."""
    in_l0 = both(addr % 32 == 0, tile.loc.isin(LEFT, RIGHT, ACC))
    aligned = named("address-misaligned", addr % 512 == 0, help="left, right, acc: whole boxes")
    return on(HARDWARE, when(in_l0, aligned))


def placed(addr: Operand, tile: Operand) -> Rules:
    """Require an address at level 3, where the program assigns it, and none below."""
    return (
        *at_address(addr, tile),
        *at(LEVEL3, HARDWARE, named("level", addr.given, help="give an address: addr = %a")),
        *at(LEVEL12, HARDWARE, named("level", ~addr.given, help="the compiler assigns it")),
    )


class Allocation(Instr, abstract=True, uses=(MACHINE,), traits=(ALLOCATES,), pipe=S):
    """New storage, at an address that is given or that ptokit chooses."""

    disputes = ("X41", "X51", "X52", "X62")

    result = Result(Tile)
    addr = In(Scalar, None, scalar="i64", key="addr", doc="byte offset, a multiple of 32")
    valid_row = In(Index, None, key="valid_row", counts="rows", doc="rows of the valid region")
    valid_col = In(Index, None, key="valid_col", counts="cols", doc="columns of the valid region")
    rules = (
        *stated(result, valid_row, valid_col),
        *placed(addr, result),
        *whole_boxes(addr, result),
    )

    def type_of(result, valid_row, valid_col):
        if result is None:
            return None
        rows = result.valid.rows if valid_row is None else valid_row
        cols = result.valid.cols if valid_col is None else valid_col
        return replace(result, valid=Shape(rows, cols))

    def run(machine, result, addr):
        return machine.new(result) if addr is None else machine.tile(result, addr)


class AllocTile(Allocation, name="alloc_tile"):
    """A new tile. Its content is undefined.

    `addr` is the byte offset in the memory of its location; without one ptokit places the tile.
    `valid_row` and `valid_col` are given exactly where the type says `?`.
    """

    asm = Asm(cpp_text=AT_ADDRESS)
    example = f"%t = pto.alloc_tile : {VEC_F32}"
    narrow = named("element-type", ~Allocation.result.dtype.isin(*OF_A5), help=ONLY_A5)
    rules = (*Allocation.rules, on(A2A3, narrow))


class AllocConv(
    Instr, name="alloc_tile", form="convolution", uses=(MACHINE,), traits=(ALLOCATES,), pipe=S
):
    """A new convolution tile; its type has the parameters of a feature map's unroll.

    Its content is undefined; without `addr` ptokit assigns an address.
    """

    asm = Asm(cpp_text="{type} {result};[ TASSIGN({result}, {addr});]")
    result = Result(Conv)
    addr = In(Scalar, None, scalar="i64", key="addr", doc="byte offset, a multiple of 32")
    example = "%t = pto.alloc_tile : !pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"
    rules = placed(addr, result)

    def run(machine, result, addr):
        return machine.new(result) if addr is None else machine.tile(result, addr)


class PointerCast(Allocation, name="pointer_cast"):
    """The bytes at `addr` of the memory of the result's location, as a tile.

    For text with addresses and memrefs: `{config = ...}` is the layout.
    """

    asm = Asm(shape="addressed", cpp_text=AT_ADDRESS)
    example = f"""\
%a = arith.constant 64 : i64
%t = pto.pointer_cast(%a) : {VEC_F32}"""
    addr = In(Scalar, scalar="i64", doc="byte offset, a multiple of 32")
    valid_row = In(Index, None, counts="rows", doc="rows of the valid region")
    valid_col = In(Index, None, counts="cols", doc="columns of the valid region")
    rules = (*stated(Allocation.result, valid_row, valid_col), at_address(addr, Allocation.result))


class MemrefAlloc(Instr, name="alloc", uses=(MACHINE,), traits=(ALLOCATES,), pipe=S):
    """A new tile, in text where buffers are memrefs. Its content is undefined."""

    asm = Asm(
        dialect="memref",
        shape="addressed",
        spellings=("alloca",),
        cpp_text="{type} {result};",
    )
    example = "%t = memref.alloc() : memref<16x32xf32, #pto.address_space<vec>>"
    result = Result(Tile)

    def run(machine, result):
        return machine.new(result)


class BindTile(Instr, name="bind_tile", pipe=S):
    """Make a tile with its own layout and valid region on the bytes of another: copy nothing.

    For older text, where buffers are memrefs: `{config = ...}` is the layout of the result.
    """

    asm = Asm(
        shape="bound",
        typed=("src",),
        cpp_text="{type} {result}({valid_row}, {valid_col}); TRESHAPE({result}, {src});",
    )
    result = Result(Tile)
    src = In(Tile, doc="a row-major tile")
    valid_row = In(Index, None, counts="rows", doc="rows of the valid region")
    valid_col = In(Index, None, counts="cols", doc="columns of the valid region")

    example = f"""\
%t = pto.alloc_tile : {VEC_F32}
%u = pto.bind_tile %t : {VEC_F32} -> {VEC_F32}"""
    rules = (
        *stated(result, valid_row, valid_col),
        named("location", result.loc == src.loc, help="keep the memory of the tile"),
        named("element-type", result.dtype == src.dtype),
        named("shape", result.nbytes <= src.nbytes, help="the tile lies inside the buffer"),
    )
    type_of = staticmethod(Allocation.type_of)

    def run(src, result):
        """Return a part with the rows' distance if rows are not contiguous, else the bytes."""
        same = (result.rows, result.cols) == (src.type.rows, src.type.cols)
        return src.part(result, 0, 0) if same and result.apart else src.member(result)


class SubView(
    Instr,
    name="subview",
    cpp="TSUBVIEW",
    asm=Asm(spellings=("tsubview", "subset")),
    traits=(ALIASES, WINDOW),
    pipe=S,
):
    """`dst` becomes a view of the part of `src` that starts at (`row`, `col`): nothing is copied.

    dst[i, j] = src[row + i, col + j]: what one writes, the other sees. No synchronisation edges
    are made.
    """

    specials = NAN_MOVES
    dst = Out(Tile, doc="the view; its valid region is the part's size")
    src = In(Tile, doc="the tile to look into")
    row = In(Index, 0, cpp="rowIdx", doc="first row, counted in src's valid region")
    col = In(Index, 0, cpp="colIdx", doc="first column, counted in src's valid region")
    example = {"row": 4, "col": 8, "dst": VEC_F32.replace(">", ", valid=8x16>")}
    boxes = "a view of a boxed tile starts on a box"
    rules = (
        named("location", dst.loc == src.loc, help="a view is in the memory of its source"),
        named("element-type", dst.dtype == src.dtype),
        named("shape", both(dst.rows == src.rows, dst.cols == src.cols), help="keep rows and cols"),
        named("layout", both(dst.layout == src.layout, dst.fractal == src.fractal)),
        inside(row, col, dst, src),
        when(
            src.boxed == Const(True),
            named(
                "offset-misaligned", row % src.box.rows == 0, col % src.box.cols == 0, help=boxes
            ),
        ),
    )
    elided = {"dst": Like(src, src.valid.rows - row, src.valid.cols - col, whole=True)}
    recorded = {"nd": {}}
    disputes = ("C18",)

    def run(dst, src, row, col):
        dst.alias(src, row, col)


def left(size: int | None, valid: int | None, start: int | None) -> int | None:
    """Return the valid extent of a window along an axis."""
    if size is None or valid is None or start is None:
        return None
    return least(size, most(valid - start, 0))


class SubSet(Instr, name="subset", traits=(WINDOW,), pipe=S, disputes=("C18", "C50")):
    """`dst` becomes a window of `src` with its own shape: nothing is copied.

    The window keeps the strides of `src`, so it may be smaller than its declared lines.
    """

    dst = Result(Tile, doc="the window; as src with a smaller valid region where not stated")
    src = In(Tile, doc="the tile to look into")
    row = In(Index, counts="rows", doc="first row")
    col = In(Index, counts="cols", doc="first column")
    sizes = In(
        Index,
        many=True,
        key="sizes",
        equals=False,
        counts="extents",
        doc="rows and columns of the window",
    )
    valid = In(
        Index,
        (),
        many=True,
        key="valid",
        equals=False,
        counts="extents",
        doc="of them valid; else what src has there",
    )
    asm = Asm(
        shape="window",
        since=(("v0.57", "subview"),),
        brackets=("row", "col"),
        typed=("src",),
        cpp_text="{window} {dst}{open}; TSUBVIEW({dst}, {src}, {row}, {col});",
    )

    example = f"%dst = pto.subset %src[4, 8] sizes [8, 16] : {VEC_F32}"
    form = "window with sizes"
    boxes = "a window of a boxed tile is made of whole boxes"
    on_box = row % src.box.rows == 0
    known = both(~dst.dynamic_rows, ~dst.dynamic_cols)
    lines = (
        "the assembler takes only constants that start on a box; in nz the lines of boxes follow"
    )
    rules = (
        named("location", dst.loc == src.loc, help="a window is in the memory of its source"),
        named("element-type", dst.dtype == src.dtype),
        named("layout", both(dst.layout == src.layout, dst.fractal == src.fractal)),
        named("shape", sizes.count == 2, valid.count.isin(0, 2), help="give rows and columns"),
        named("shape", both(dst.valid.rows <= sizes.first, dst.valid.cols <= sizes.last)),
        when(
            valid.count == 2,
            named("tile-shape", both(valid.first >= 0, valid.first <= sizes.first), help=PART),
            named("tile-shape", both(valid.last >= 0, valid.last <= sizes.last), help=PART),
            when(~dst.dynamic_rows, named("shape", dst.valid.rows == valid.first, help=SAID)),
            when(~dst.dynamic_cols, named("shape", dst.valid.cols == valid.last, help=SAID)),
        ),
        on(HARDWARE, when(valid.count == 0, warns(named("dynamic-valid", known, help=ALL)))),
        on(HARDWARE, named("layout", dst.pad == src.pad, dst.compact == src.compact, help=KEPT)),
        named("window-out-of-bounds", both(row >= 0, col >= 0), help="offsets are at least 0"),
        named(
            "window-out-of-bounds",
            row + sizes.first <= src.rows,
            col + sizes.last <= src.cols,
            help="the window must lie inside the tile",
        ),
        when(
            src.boxed == Const(True),
            named(
                "offset-misaligned",
                col % src.box.cols == 0,
                both(sizes.first % src.box.rows == 0, sizes.last % src.box.cols == 0),
                help=boxes,
            ),
            when(src.layout != NZ, named("offset-misaligned", on_box, help=boxes)),
            when(
                src.layout == NZ,
                on(HARDWARE, by(ASSEMBLER, named("offset-misaligned", on_box, help=lines))),
                on(CPU, warns(named("offset-misaligned", on_box, help=lines))),
            ),
        ),
    )

    def type_of(dst, src, row, col, sizes, valid):
        if len(sizes) != 2 or len(valid) not in (0, 2):
            return dst or src  # a rule checks their number
        kind = dst or replace(src, valid=Shape(*sizes))
        if not kind.valid.static:
            inside = zip(sizes, src.valid, (row, col), strict=True)
            known = valid or tuple(left(*numbers) for numbers in inside)
            kind = replace(kind, valid=Shape(*known))
        return kind.cut_from(src)

    def run(src, dst, row, col):
        return src.part(dst, row, col)


class TReshape(Instr, traits=(ALIASES,), pipe=S, specials=NAN_MOVES, disputes=("C13",)):
    """`dst` becomes another reading of the bytes of `src`: shape, layout and type are dst's own."""

    dst = Out(Tile, storage=True, doc="the new reading")
    src = In(Tile, storage=True, doc="the tile whose bytes are read")
    example = {"dst": "!pto.tile_buf<vec, 8x64xf32>"}
    parts = dst.cols % dst.box.cols != 0  # room for scales, whose rows of groups are padded
    rules = (
        named("location", dst.loc == src.loc, help="keep the memory of the source"),
        named("shape", dst.nbytes == src.nbytes, help="keep the byte count, rows x cols x size"),
        named("layout", dst.boxed == src.boxed, help="both boxed or both unboxed"),
        on_a2a3(src, dst),
        when(
            ~parts,
            warns(
                named(
                    "shape",
                    dst.valid.rows * dst.valid.cols == src.valid.rows * src.valid.cols,
                    help="the number of valid elements changes: check the extents",
                )
            ),
        ),
    )
    elided = {"dst": like(src)}
    recorded = {"nd": {}}

    def run(dst, src):
        dst.alias(src)


class TAssign(Instr, uses=(MACHINE,), traits=(READDRESSES,), pipe=S, disputes=("C30", "X51")):
    """A handle on the bytes at another address, of the type of `src`. Nothing moves.

    Tiles whose bytes overlap alias: what one writes, the other sees.
    """

    asm = Asm(typed=("src",), cpp_text="auto {dst} = {src}; TASSIGN({dst}, {addr});")
    dst = Result(Tile)
    src = In(Tile, doc="the tile whose type the new handle has")
    addr = In(Scalar, scalar="i64", doc="byte offset in the memory of its location")

    example = f"""\
%addr = arith.constant 4096 : i64
%t = pto.alloc_tile : {VEC_F32}
%u = pto.tassign %t, %addr : {VEC_F32} -> {VEC_F32}"""
    rules = (
        at_address(addr, src),
        whole_boxes(addr, src),
        at(LEVEL12, HARDWARE, named("level", Field("machine").level == Const(3))),
    )

    def type_of(src):
        return src

    def run(machine, dst, addr):
        return machine.tile(dst, addr)
