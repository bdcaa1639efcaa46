"""Cases of the law of expansions: the operands of each page, by element type and extents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any, TypeAlias

from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind, ScalarType, Type
from ptokit.isa.model.words import CmpMode, RoundMode, SaturationMode
from ptokit.isa.pages.conversion import TCvt
from ptokit.values.dtypes import DTYPES, DType, f16, f32, i8, i16, i32, u8, u16, u32
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import Shape

WHOLE = [dtype for dtype in DTYPES if dtype.bits >= 8]
A5 = TARGETS["a5"]
# the last columns in a register of elements of 16 and 8 bits stand in the second list
SHAPES = [
    *((rows, cols) for rows in (1, 3) for cols in (1, 63, 64, 65)),
    *((2, cols) for cols in (127, 128, 129, 257)),
]


@dataclass(frozen=True)
class Case:
    """An instruction with the types of its operands, and attributes."""

    page: type[Instr]
    dtype: DType
    shape: tuple[int, int]
    types: Mapping[str, Type]
    attrs: Mapping[str, object]

    def __str__(self) -> str:
        return (
            f"{self.page.__name__} {self.dtype} {self.shape[0]}x{self.shape[1]} {dict(self.attrs)}"
        )


Extents: TypeAlias = "Callable[[int, int], tuple[int, int]]"


def same(rows: int, cols: int) -> tuple[int, int]:
    return rows, cols


# by the name of a page's family, operand: the valid extents and another element type
EXTENTS: dict[tuple[str, str], Extents] = {
    **dict.fromkeys(
        (("RowReduce", "dst"), ("RowArgValue", "dst_val"), ("RowArgValue", "dst_idx")),
        lambda rows, cols: (rows, 1),
    ),
    **dict.fromkeys((("RowExpand", "src1"),), lambda rows, cols: (rows, 0)),
    **dict.fromkeys((("TRowExpand", "src"),), lambda rows, cols: (rows, 1)),
    **dict.fromkeys(
        (
            *(("ColReduce", "dst"), ("ColArg", "dst"), ("ColArgValue", "dst_val")),
            *(("ColArgValue", "dst_idx"), ("ColExpand", "src1"), ("TColExpand", "src")),
        ),
        lambda rows, cols: (1, cols),
    ),
    **dict.fromkeys(
        (("TCmp", "dst"), ("TCmpS", "dst"), ("TSel", "mask"), ("TSelS", "mask")),
        lambda rows, cols: (rows, (cols + 7) // 8),
    ),
    ("Partial", "src1"): lambda rows, cols: (max(rows - 1, 1), cols),
}
TYPES: dict[tuple[str, str], Callable[[DType], DType]] = {
    **dict.fromkeys(
        (("TCmp", "dst"), ("TCmpS", "dst"), ("TSel", "mask"), ("TSelS", "mask")), lambda dtype: u8
    ),
    **dict.fromkeys(
        (("RowArgValue", "dst_idx"), ("ColArgValue", "dst_idx")),
        lambda dtype: i32 if dtype.bits >= 32 else u16,
    ),
    **dict.fromkeys((("RowArg", "dst"), ("ColArg", "dst")), lambda dtype: i32),
}
# attributes to try, one after another
ATTRS: dict[str, list[dict[str, object]]] = {
    "TCmp": [{"cmp": mode} for mode in CmpMode],
    "TCmpS": [{"cmp": mode} for mode in CmpMode],
    "TCvt": [
        {"rmode": rounding, **saturating}
        for rounding in RoundMode
        for saturating in ({}, {"sat_mode": SaturationMode.ON}, {"sat_mode": SaturationMode.OFF})
    ],
}


def unchanged(dtype: DType) -> DType:
    return dtype


def of_family(
    table: Mapping[tuple[str, str], Any], page: type[Instr], name: str, other: Any
) -> Any:
    """The entry of the page or of a family to which it belongs (Any: as the table)."""
    for family in page.__mro__:
        if (family.__name__, name) in table:
            return table[family.__name__, name]
    return other


def tile(dtype: DType, rows: int, cols: int) -> TileType:
    """A tile with so many valid rows and columns, and room around them."""
    line = 32 * 8 // dtype.bits
    cols = cols or line
    return TileType(VEC, dtype, rows, -(-cols // line) * line, Shape(rows, cols))


def candidates(page: type[Instr]) -> list[Case]:
    """Cases of a page of every element type and shape, with attributes in turns."""
    choices = cycle(ATTRS.get(page.__name__, [{}]))
    several = WHOLE if page is TCvt else (None,)
    types = product(WHOLE, several, SHAPES)
    return [case(page, dtype, shape, next(choices), other) for dtype, other, shape in types]


def cases_of(page: type[Instr]) -> list[Case]:
    """Every case of a page that its rules on A5 allow."""
    return [*filter(legal, candidates(page))]


def one_of(page: type[Instr], number: int) -> Case:
    """One case of a page that its rules allow, of the types and shapes in turns."""
    every = candidates(page)
    return next(filter(legal, (every[101 * n % len(every)] for n in range(number, 10**6))))


def case(
    page: type[Instr],
    dtype: DType,
    shape: tuple[int, int],
    attrs: Mapping[str, object],
    other: DType | None = None,  # of src, where it may differ
) -> Case:
    types: dict[str, Type] = {}
    for operand in page.operands:
        name = operand.name
        own = of_family(TYPES, page, name, unchanged)(dtype)
        own = other if other is not None and name == "src" else own
        if operand.kind is Kind.TILE and operand.required:
            types[name] = tile(own, *of_family(EXTENTS, page, name, same)(*shape))
        elif operand.kind is Kind.SCALAR:
            types[name] = ScalarType(own.name if own.is_float else f"i{own.bits}")
    return Case(page, dtype, shape, types, attrs)


def legal(one: Case) -> bool:
    numbers = {name: UNKNOWN for name, kind in one.types.items() if isinstance(kind, ScalarType)}
    kinds = {n: one.types[o.name] for n, o in one.page.types.items() if o.name in one.types}
    env = environment(one.page, {**one.types, **numbers, **kinds}, one.attrs, A5)
    return all(rule.holds(env) is not False for rule in one.page.rules_on(A5) if rule.required)


PLAIN = {f16, f32, i16, u16, i32, u32}  # what most vector instructions have
DIVIDING = ("Div", "Recip")


def expanding(one: Case) -> bool:
    """Return whether the level below tiles certainly has the instructions of a case.

    It divides floats only, it has few instructions for elements of 8 and of 64 bits and for bf16,
    and a rounding that only floats of one type have none.
    """
    types = {kind.dtype for kind in one.types.values() if isinstance(kind, TileType)}
    divided = one.dtype.is_int and any(word in one.page.__name__ for word in DIVIDING)
    rounded = one.page is TCvt and len(types) == 1
    return one.dtype in PLAIN and types <= PLAIN | {i8, u8} and not divided and not rounded
