"""Operands, lanes and examples that the instructions of the level below tiles share.

The same formula serves an instruction on registers and one on logical vectors: a page with a
`Logical` form gives both.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ptokit.isa.lang.localmemory import LocalPointer, Quantity
from ptokit.isa.lang.page import *
from ptokit.isa.model.targets import Capacity, in_memory
from ptokit.isa.pages.allocation import Allocation

BELOW, INHERITED = Asm(shape="lanes", cpp_on=NOWHERE), Asm()
BYTES = 256  # of a register
LINE = 32  # bytes of a line of the vector buffer, and of a group of lanes
HALVED = ("EVEN", "ODD")  # which lanes of a pair
UNSIGNED = {8: u8, 16: u16, 32: u32, 64: u64}
WORD = re.compile(r"(?<![A-Za-z0-9_])[VMPT](?![A-Za-z0-9_])|(?<=plt_b)B")


def local_pointer(term: Quantity) -> LocalPointer:
    """Return an operand that is a pointer into local memory."""
    assert isinstance(term, LocalPointer), term
    return term


def element_type(term: Quantity) -> DType:
    """Return the type of the elements behind a pointer into global memory."""
    kind = getattr(term, "type", None)
    assert isinstance(kind, PtrType), term
    return kind.dtype


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


@dataclass(frozen=True)
class Logical:
    """The form of an instruction for logical vectors, where it differs from that for registers.

    `types` are the element types, `masks` the operands that are masks. `open` says that the mask
    may be left out, and then selects all lanes, `of_masks` that masks may stand for all vectors.
    `fields` replace operands, attributes and the body.
    """

    types: tuple[DType, ...]
    open: bool = False
    of_masks: bool = False
    masks: tuple[str, ...] = ("mask",)
    fields: Mapping[str, object] = field(default_factory=dict[str, object])
    rules: tuple[Ruled, ...] = ()
    modes: tuple[str, ...] = ("zero",)
    asm: Asm = INHERITED
    example: str = ""


class Below(Instr, abstract=True, pipe=V, core=VECTOR, asm=BELOW, below=True):
    """An instruction of the level below tiles, which A5 and its descendants have."""

    targets = ("cpu", "a5")
    specials = NAN_COMPUTED

    def __init_subclass__(
        cls, abstract: bool = False, logical: Logical | None = None, **facts: Any
    ) -> None:  # Any: fields of a page
        super().__init_subclass__(abstract=abstract, **facts)
        if logical is not None:
            _logical_form(cls, logical)


def _logical_form(page: type[Below], form: Logical) -> None:
    """Add the page of an instruction for logical vectors."""
    fields: dict[str, object] = {"run": staticmethod(page.run)}
    for operand in page.operands:
        fields[operand.name] = made = copy(operand)
        if operand.kind is Lanes:
            made.kind = Vector
        if operand.name == "mask" and form.open:
            made.default = None
    attrs: dict[str, object] = {a.name: a for a in page.attrs}
    fields |= attrs | {"pmode": Attr(str, "zero")} | {**form.fields}
    every = {n: o for n, o in fields.items() if isinstance(o, Operand) and o.kind is Vector}
    vectors = [o for n, o in every.items() if n not in form.masks]
    masks = [o for n, o in every.items() if n in form.masks]
    kinds = of_masks(vectors[0], *masks) if form.of_masks else vreg(vectors[0])
    alike = vectors_alike(*vectors, masks=masks)
    rules: Ruled = (alike, of(vectors[0], *form.types), kinds, form.rules)
    pmode = fields["pmode"]
    rules = (*rules, zeroing(pmode, *form.modes) if isinstance(pmode, Attr) else ())
    text = {"__doc__": page.__doc__, "__module__": page.__module__, "disputes": page.disputes}
    page_of(
        Below,
        f"Logical{page.__name__}",
        text | fields,
        name=f"vmi.{page.name}",
        asm=form.asm,
        rules=rules,
        example=in_logical(form.example or str(page.example)),
    )


def vreg(vector: Operand) -> Ruled:
    """Require a vector that is no mask."""
    help = "masks are combined by vand, vor, vxor and vnot alone"
    return named("element-type", vector.word == "vreg", help=help)


def of_masks(vector: Operand, mask: Operand) -> Ruled:
    """Require that masks are combined in all their lanes."""
    help = "masks are combined in all lanes: leave out the last one"
    return named("element-type", either(vector.word == "vreg", ~mask.given), help=help)


def vectors_alike(first: Operand, *others: Operand, masks: Iterable[Operand] = ()) -> Ruled:
    """Require vectors of one type, and masks with a bit for each of their lanes."""
    one = "the vectors have as many lanes, of one element type"
    pairs = "pairs are only converted: read them as single elements with vinterpret_cast"
    return (
        named("element-type", ~first.in_pairs, help=pairs),
        *(
            named("element-type", o.cols == first.cols, o.spelled == first.spelled, help=one)
            for o in others
        ),
        *(when(m.given, lanes_of(m, first)) for m in masks),
    )


def lanes_of(mask: Operand, vector: Operand) -> Ruled:
    """Require a mask with a bit for each lane."""
    help = "a mask has a bit for each lane: pred, or b8, b16, b32 as wide as the elements"
    wide = either(mask.grain == 0, mask.grain == vector.dtype.bits)
    return named("element-type", mask.cols == vector.lanes, wide, help=help)


def zeroing(pmode: Attr, *modes: str) -> Ruled:
    """Require that lanes which the mask does not select become 0, or one of several modes."""
    help = "no operand has the old lanes: combine them with vsel"
    several = f"use {' or '.join(modes)}"
    return named("attribute", pmode.isin(*modes), help=help if len(modes) == 1 else several)


FOR_LOGICAL = (  # text of an example -> for logical vectors
    (r"pto\.plt_b\d+ %n : i32 -> (!\S+), i32", r"pto.create_mask %few : i64 -> \1"),
    ("%m, %left = ", "%m = "),
    (r"  pto\.vecscope", "  %few = arith.constant 8 : i64\n  pto.vecscope"),
    (r"!pto\.(vreg|mask)<", r"!pto.vmi.\1<"),
    (r"pto\.vlds ", "pto.vload "),
    (r"pto\.vsts ", "pto.vstore "),
    (r"pto\.(create_mask|v(?!ecscope|mi\.))", r"pto.vmi.\1"),
)


def in_logical(example: str) -> str:
    """Return an example on registers as one on logical vectors."""
    lanes = re.search(r"!pto\.vreg<(\d+)x", example)
    for pattern, text in FOR_LOGICAL:
        example = re.sub(pattern, text, example)
    return re.sub(r"mask<b", f"mask<{lanes[1] if lanes else 64}xb", example)


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


def masked(dst: Cells, value: Term, mask: Cells | None) -> None:
    """Write a value to the lanes that a mask selects, and 0 to all others."""
    if mask is not None:
        value = active(mask, dst.cols).where(value, dst.constant(0))
    dst[:1, : dst.cols] = value


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


@formula("{0.operand} has a bit for each lane of {1.operand}")
def has_a_bit_for_each(mask: Value, dtype: Value) -> Value:
    if not isinstance(mask, DType) or not isinstance(dtype, DType):
        return True
    return mask.bits == least(max(dtype.bits, 8), 32)


def granular(mask: Operand, register: Operand) -> Ruled:
    """Require the mask of the register's element width."""
    help = "elements of 8 bits take mask<b8>, of 16 bits mask<b16>, of 32 bits mask<b32>"
    return named("element-type", has_a_bit_for_each(mask.dtype, register.dtype), help=help)


def of(register: Operand, *types: DType) -> Ruled:
    """Require one of the element types."""
    return named("element-type", register.dtype.isin(*types))


def or_longer(prefix: str, *words: str) -> tuple[str, ...]:
    """Return words, each also with the prefix that older text has."""
    return (*words, *(f"{prefix}{word}" for word in words))


def line(dtype: DType, cols: int) -> TileType:
    """Return the type of so many elements in the vector buffer."""
    return TileType(VEC, dtype, 1, cols, Shape(1, cols))


class RegisterCopy(Below, name="register_copy", traits=(MADE,)):
    """A register with the content of another: ptokit makes it where values of loops meet."""

    dst = Out(Lanes)
    src = In(Lanes)
    example = lanes("%y = NAME %x : V -> V")

    def run(dst, src):
        dst[:1, : dst.cols] = whole(src)


class RowOfTile(Below, name="tile_bytes", traits=(WINDOW, MADE), pipe=S):
    """The bytes of a tile from an offset on, as a row: nothing is copied.

    ptokit makes them of pointers to tiles that have no address of their own yet.
    """

    targets = None  # the instructions that use it say where they are
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

    def run(tile, offset, result):
        return tile.row_at(result, offset)


class LocalBytes(Allocation, name="local_bytes", traits=(ALLOCATES, MADE), below=True):
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
