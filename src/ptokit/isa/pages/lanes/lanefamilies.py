"""Operands, lanes and examples that the instructions of the level below tiles share."""

import re
import sys
from collections.abc import Mapping

from ptokit.isa.lang.page import *
from ptokit.isa.model.targets import Capacity, in_memory
from ptokit.isa.model.tiles import TileType
from ptokit.isa.pages.allocation import Allocation
from ptokit.values.layouts import Shape

BELOW = Asm(shape="lanes", cpp_on=NOWHERE)
BYTES = 256  # of a register
LINE = 32  # bytes of a line of the vector buffer, and of a group of lanes
UNSIGNED = {8: u8, 16: u16, 32: u32, 64: u64}
WORD = re.compile(r"(?<![A-Za-z0-9_])[VMPT](?![A-Za-z0-9_])|(?<=plt_b)B")


def lanes(*statements: str, dtype: DType = f32) -> str:
    """Return a program on registers of a type: %x is loaded from %p, %m is a mask, %s a number.

    In the statements V, M, P and T stand for the types of registers, masks, pointers and numbers.
    """
    bits, number = least(dtype.bits, 32), "1.0" if dtype.is_float else "1"
    one = dtype.name if dtype.is_float else f"i{dtype.bits}"
    element = dtype.mlir or dtype.name
    words = {
        "V": f"!pto.vreg<{BYTES * 8 // dtype.bits}x{element}>",
        "M": f"!pto.mask<b{bits}>",
        "P": f"!pto.ptr<{element}, ub>",
        "T": one,
        "B": str(bits),
    }
    program = f"""\
func.func @example(%n: i32) {{
  %c0 = arith.constant 0 : index
  %a = arith.constant 0 : i64
  %s = arith.constant {number} : T
  %p = pto.castptr %a : i64 -> P
  pto.vecscope {{
    %m, %left = pto.plt_bB %n : i32 -> M, i32
    %x = pto.vlds %p[%c0] : P -> V
{"".join(f"    {statement}{chr(10)}" for statement in statements)}\
    pto.vsts %x, %p[%c0], %m : V, P, M
  }}
  return
}}"""
    return WORD.sub(lambda m: words[m[0]], program)


class Below(Instr, abstract=True, pipe=V, core=VECTOR, asm=BELOW, below=True):
    """An instruction of the level below tiles, which A5 and its descendants have."""

    targets = ("cpu", "a5")
    specials = NAN_COMPUTED


def page_of(
    family: type[Below], title: str, fields: Mapping[str, object], **facts: object
) -> type[Below]:
    """Return a page of a family, whose text it has; `title` is the name of its class."""
    inherited = {"__doc__": family.__doc__, "__module__": family.__module__}
    made = type(title, (family,), inherited | dict(fields), **facts)
    setattr(sys.modules[made.__module__], title, made)  # where a copy of a program looks for it
    return made


def whole(register: Cells) -> Array:
    """Return all lanes of a register."""
    return register[:1, : register.cols]


def active(mask: Cells, count: int | None = None) -> Array:
    """Return which lanes a mask selects; of elements that are wider than its own, every second."""
    step = 1 if count is None else mask.cols // count
    return (mask[:1, 0 : mask.cols : step] & 1) > 0


def masked(dst: Cells, value: Term, mask: Cells) -> None:
    """Write a value to the lanes that a mask selects, and 0 to all others."""
    dst[:1, : dst.cols] = active(mask, dst.cols).where(value, dst.constant(0))


def selecting(dst: Cells, truth: Array) -> None:
    """Write a mask: 1 for lanes where it holds, and 0."""
    dst[:1, : dst.cols] = truth.where(dst.constant(1), dst.constant(0))


def in_turns(cells: Cells, *parts: Term) -> None:
    """Write the elements of several arrays in turns, or numbers that repeat."""
    count = len(parts)
    _, lane = cells.iota(1, cells.cols)
    turn = lane % count
    found = cells.constant(0).repeated(cells.cols)
    for number, part in enumerate(parts):
        value = part.repeated(count) if isinstance(part, Array) else part
        found = turn.equals(number).where(value, found)
    cells[:1, : cells.cols] = found


def in_type(scalar: Array, dtype: DType) -> Array:
    """Return a number in the type of the lanes; integers of one width keep their bits."""
    same = scalar.dtype.bits == dtype.bits and scalar.dtype.is_int and dtype.is_int
    return scalar.bitcast(dtype) if same else scalar.cast(dtype)


def one_type(dst: Operand, *sources: Operand) -> Ruled:
    """Require one type of all registers."""
    help = "all registers of the instruction have one type"
    return named("element-type", *(s.dtype == dst.dtype for s in sources), help=help)


class Granular(Expr):
    """The formula 'the mask has a bit for each lane of the register'."""

    def __init__(self, mask: Operand, register: Operand) -> None:
        self.mask, self.register = mask, register

    def children(self) -> tuple[Expr, ...]:
        return (self.mask.dtype, self.register.dtype)

    def compile(self) -> Callable[[Env], object]:
        def fits(env: Env) -> object:
            mask, dtype = self.mask.dtype.eval(env), self.register.dtype.eval(env)
            if not isinstance(mask, DType) or not isinstance(dtype, DType):
                return True
            return mask.bits == least(dtype.bits, 32)

        return fits

    def __str__(self) -> str:
        return f"{self.mask} has a bit for each lane of {self.register}"


def granular(mask: Operand, register: Operand) -> Ruled:
    """Require the mask of the register's element width."""
    help = "elements of 8 bits take mask<b8>, of 16 bits mask<b16>, of 32 bits mask<b32>"
    return named("element-type", Granular(mask, register), help=help)


def of(register: Operand, *types: DType) -> Ruled:
    """Require one of the element types."""
    return named("element-type", register.dtype.isin(*types))


def line(dtype: DType, cols: int) -> TileType:
    """Return the type of so many elements in the vector buffer."""
    return TileType(VEC, dtype, 1, cols, Shape(1, cols))


class RegisterCopy(Below, name="register_copy", traits=(COPIES,)):
    """A register with the content of another: ptokit makes it where values of loops meet."""

    dst = Out(Lanes)
    src = In(Lanes)
    example = lanes("%y = NAME %x : V -> V")

    @staticmethod
    def run(dst: Cells, src: Cells) -> None:
        dst[:1, : dst.cols] = whole(src)


class RowOfTile(Below, name="tile_bytes", traits=(WINDOW,), pipe=S):
    """The bytes of a tile from an offset on, as a row: nothing is copied.

    ptokit makes them of pointers to tiles that have no address of their own yet.
    """

    targets = None  # the instructions that use it say where they are
    asm = Asm(shape="op")
    result = Result(Tile)
    tile = In(Tile)
    offset = In(Scalar, scalar="i64", doc="in bytes")
    example = f"""\
%a = arith.constant 64 : i64
%t = pto.alloc_tile : {VEC_F32}
%r = NAME %t, %a : {VEC_F32}, i64 -> !pto.tile_buf<vec, 1x16xf32>"""
    rules = named(
        "address-out-of-range",
        both(offset >= 0, offset + result.nbytes <= tile.nbytes),
        help="the access stays in the tile: make the tile longer, up to whole registers",
    )

    @staticmethod
    def run(tile: TileHandle, offset: int, result: TileType) -> object:
        return tile.row_at(result, offset)


class LocalBytes(Allocation, name="local_bytes", traits=(ALLOCATES, PLACES), below=True):
    """The bytes at an address of local memory, as a tile; other tiles may lie there, too.

    ptokit makes them of the pointers of the level below tiles before it runs a program.
    """

    asm = Asm(cpp_on=NOWHERE, cpp_text="{type} {result};")
    example = """\
%a = arith.constant 64 : i64
%t = NAME addr = %a : !pto.tile_buf<vec, 1x64xf32>"""
    addr = In(Scalar, scalar="i64", key="addr", doc="byte offset")
    end = addr + Allocation.valid_col * Allocation.result.dtype.bits // 8
    inside = both(addr >= 0, end <= Capacity(Allocation.result))
    help = "so many bytes from there lie in the memory of the pointer"
    rules = (
        *when(~Allocation.valid_col.given, in_memory(addr, Allocation.result)),
        *when(Allocation.valid_col.given, named("address-out-of-range", inside, help=help)),
    )
    disputes = ()
