"""Element types and rules that vector instructions share."""

from __future__ import annotations

from ptokit.isa.formula.formulas import Env, Evaluate, Expr, Value
from ptokit.isa.formula.rules import (
    A2A3,
    A5,
    CPU,
    HARDWARE,
    LEFT_NZ,
    LEFT_ZZ,
    LEVEL3,
    Ruled,
    Rules,
    at,
    both,
    either,
    named,
    of_types,
    on,
    warns,
)
from ptokit.isa.lang.operands import Operand, Scratch, TypeOf
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.values.dtypes import DType, bf16, f16, f32, i8, i16, i32, i64, u8, u16, u32, u64
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import ND, NZ, ZZ

DTypes = tuple[DType, ...]

F16_F32: DTypes = (f16, f32)
FLOATS: DTypes = (f16, bf16, f32)
NUMBERS: DTypes = (i8, u8, i16, u16, i32, u32, i64, u64, *FLOATS)
# element types of the vector unit of each chip
VEC_A2A3: DTypes = (i16, i32, f16, f32)
VEC_A5: DTypes = NUMBERS


def scratch_of_a2a3() -> Operand:
    """Return a scratch operand for A2/A3, which the other targets accept and ignore."""
    return Scratch(Kind.TILE, None, idle=(A5,), doc="of A2/A3; ignored on A5 and the CPU simulator")


def elements(dst: Operand, *, cpu: DTypes, a2a3: DTypes, a5: DTypes) -> Rules:
    """Restrict the element types on each target."""
    return tuple(on(t, dst.dtype.isin(*s)) for t, s in ((CPU, cpu), (A2A3, a2a3), (A5, a5)))


def of_left(tile: Operand) -> Rules:
    """Require the layout that the alias TileLeft has on the chip."""
    zz, nz = tile.layout == ZZ, tile.layout == NZ
    return at(LEFT_ZZ, HARDWARE, zz), at(LEFT_NZ, HARDWARE, nz)


def one_type(dst: Operand, *sources: Operand) -> Ruled:
    """Require dst's element type of all operands."""
    return both(*(source.dtype == dst.dtype for source in sources))


def same_region(dst: Operand, *sources: Operand) -> Rules:
    """Require dst's valid region of all operands; their declared shapes may differ."""
    return tuple(
        named("shape", s.valid.rows == dst.valid.rows, s.valid.cols == dst.valid.cols)
        for s in sources
    )


def over_region(dst: Operand, *sources: Operand) -> Rules:
    """Require `same_region`, for bodies that read dst's valid region of all operands."""
    inside = (both(dst.valid.rows <= s.rows, dst.valid.cols <= s.cols) for s in sources)
    pairs = zip(sources, inside, strict=True)
    return tuple(of_types(same_region(dst, s), enough=enough) for s, enough in pairs)


def same_extents(dst: Operand, *sources: Operand) -> Rules:
    """Require dst's declared shape of all operands."""
    return tuple(
        named("shape", s.rows == dst.rows, s.cols == dst.cols, help="declare both of one shape")
        for s in sources
    )


class Exact(Expr):
    """The formula that a number has an element type up to the sign, or no stated type."""

    def __init__(self, kind: TypeOf, dtype: Expr) -> None:
        self.kind, self.dtype = kind, dtype

    def children(self) -> tuple[Expr, ...]:
        return (self.kind, self.dtype)

    def compile(self) -> Evaluate:
        def fits(env: Env) -> Value:
            kind, dtype = self.kind.eval(env), self.dtype.eval(env)
            if not isinstance(kind, ScalarType) or not isinstance(dtype, DType):
                return True
            return (kind.is_float, kind.bits) == (dtype.is_float, dtype.bits)

        return fits

    def __str__(self) -> str:
        return f"{self.kind.of.name} is of {self.dtype}"


def exact(kind: TypeOf, tile: Operand) -> Rules:
    """Require the tile's element type of a number: the assembler does not convert it."""
    help = "give the number the element type of the tile"
    return on(HARDWARE, named("element-type", Exact(kind, tile.dtype), help=help))


def in_vec(*tiles: Operand) -> Rules:
    """Require vector tiles on hardware."""
    return on(HARDWARE, both(*(tile.loc == VEC for tile in tiles)))


AS_ROWS = (
    "`.T` of a column is the row of the same bytes (treshape); of a column that is padded to lines "
    "a reduction of its rows, pto.rowmax(tile), makes one"
)


def row_major(*tiles: Operand) -> Rules:
    """Require row-major tiles on hardware."""
    rows = both(*(tile.layout == ND for tile in tiles))
    return on(HARDWARE, named("layout", rows, help=AS_ROWS))


def named_scratch(tmp: Operand, targets: tuple[str, ...]) -> Rules:
    """Require the scratch tile at level 3, where no compiler assigns its address."""
    return at(LEVEL3, targets, named("level", tmp.given, help="give the scratch tile tmp"))


def taken(tile: Operand, target: str, *dtypes: DType) -> Rules:
    """Warn of element types that the assembler accepts and C++ refuses."""
    help = "the assembler takes this type here, C++ does not"
    return on(target, warns(named("element-type", ~tile.dtype.isin(*dtypes), help=help)))


def pairs(dst: Operand, src: Operand, *table: tuple[object, tuple[object, ...]]) -> Expr:
    """Return the formula that the element types are one of these (source, destinations)."""
    return either(*(both(src.dtype.isin(s), dst.dtype.isin(*ds)) for s, ds in table))
