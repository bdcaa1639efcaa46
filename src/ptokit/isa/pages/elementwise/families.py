"""The families of elementwise instructions: operands and rules that their members share."""

from ptokit.isa.lang.page import *

INTEGERS = tuple(t for t in NUMBERS if t.is_int)
SMALL = tuple(t for t in INTEGERS if t.size <= 4)
WORDS: DTypes = (i16, u16, i32, u32)
MULTIPLIED = tuple(t for t in VEC_A5 if t not in (i8, u8))
DIVIDED: DTypes = (*WORDS, i64, u64, *F16_F32)
AS_DST = "scratch is as large as dst"
POINTWISE = Asm(uniform=True, deduced=True)


def pointwise(
    dst: Operand, *sources: Operand, a2a3: DTypes = (), a5: DTypes = (), cpu: DTypes = NUMBERS
) -> Rules:
    """Return the rules of an elementwise instruction: one type, one region, row-major."""
    return (of_one_kind(dst, *sources, a2a3=a2a3, a5=a5, cpu=cpu), row_major(dst, *sources))


def of_one_kind(dst: Operand, *sources: Operand, a2a3: DTypes, a5: DTypes, cpu: DTypes) -> Rules:
    """Return the rules of an elementwise instruction whose tiles have any layout."""
    tiles = (dst, *sources)
    types = elements(dst, cpu=cpu, a2a3=a2a3, a5=a5)
    return (types, one_type(*tiles), over_region(*tiles), in_vec(*tiles))


def by_halves(dtype: DType, chip: bool) -> bool:
    """Return whether the target computes integers of this type by halves of 64 bits (X119)."""
    return chip and dtype.size == 8


def scratch(tmp: Operand, target: str, *rules: Ruled) -> Rules:
    """Return the rules of a scratch tile that only one target uses, if it is given."""
    placed = named_scratch(tmp, (target,))
    return (on(HARDWARE, when(tmp.given, in_vec(tmp))), on(target, when(tmp.given, *rules)), placed)


def of_remainders(tmp: Operand, dst: Operand) -> Rules:
    """Return the rules of a remainder's scratch: dst's type, row-major, and on A5 as wide as dst.

    The page states the width on A2/A3.
    """
    alike = on(HARDWARE, when(tmp.given, one_type(dst, tmp), row_major(tmp)))
    return alike, on(A5, when(tmp.given, warns(a_row(tmp, dst))))


def a_row(tmp: Operand, dst: Operand) -> Rules:
    """Require scratch of a row as wide as the valid region of dst."""
    return named("shape", tmp.valid.rows >= 1, tmp.valid.cols >= dst.valid.cols)


def precise(high: Expr, tmp: Operand) -> Rules:
    """Require a scratch tile for the precise algorithm."""
    help = "the precise algorithm needs tmp"
    return on(HARDWARE, when(high, named("operand-count", tmp.given, help=help)))


def powers_scratch(tmp: Operand, dst: Operand, precision: Attr, high: Expr) -> Rules:
    """Return the rules of scratch and precision of powers, which only floats use.

    C++ gives integers scratch, too, and hardware ignores it (E68).
    """
    floats = dst.dtype.isin(*FLOATS)
    only = "integers have one algorithm, without scratch"
    used = both(floats, tmp.given)
    count = by(ASSEMBLER, named("operand-count", floats, help=only))
    return (
        on(HARDWARE, when(tmp.given, in_vec(tmp), count)),
        on(HARDWARE, when(used, one_type(dst, tmp), same_region(dst, tmp), row_major(tmp))),
        on(A2A3, when(used, named("shape", tmp.nbytes >= dst.nbytes, help=AS_DST))),
        on(A2A3, named("attribute", ~high, help="a2a3 has one algorithm")),
        on(A5, when(high, named("attribute", floats, help=only))),
        at(LEVEL3, HARDWARE, when(floats, named("level", tmp.given, help="give tmp"))),
    )


def in_two_steps() -> Rules:
    """Warn that only the CPU simulator has one instruction, which the assembler splits into two."""
    help = "hardware has no such instruction: the assembler makes two of it"
    one = named("not-on-target", Field("machine").chip == Const(False), help=help)
    return on(HARDWARE, by(HEADERS, warns(one)))


def precision(kind: type[Word]) -> Attr:
    """Return the choice of the algorithm on A5; ptokit's result is the precise one in any case."""
    return Attr(kind, kind["DEFAULT"], key="precisionType", older="precision_mode")


class Binary(Instr, abstract=True, pipe=V, asm=POINTWISE, specials=NAN_COMPUTED):
    """dst = f(src0, src1), element by element."""

    dst = Out(Tile, doc="receives the results; may be a source")
    src0 = In(Tile, doc="the left operands")
    src1 = In(Tile, doc="the right operands")
    elided = {"dst": like(src0)}

    def run(cls, dst, src0, src1):
        dst[dst.valid] = cls.f(src0[dst.valid], src1[dst.valid])


TILES = (Binary.dst, Binary.src0, Binary.src1)
# the code of A2/A3 keeps intermediate results in dst, and reads the sources again
IN_STEPS = tuple(Apart((Binary.dst, src), (A2A3,), placed=True) for src in TILES[1:])


class BinaryTmp(Binary, abstract=True):
    """dst = f(src0, src1) with scratch."""

    tmp = scratch_of_a2a3()


OF_ONE_TYPE = Asm(one_type=("dst", "src0", "src1", "src2")).over(POINTWISE)


class Ternary(Instr, abstract=True, pipe=V, asm=OF_ONE_TYPE, specials=NAN_COMPUTED):
    """dst = f(src0, src1, src2), element by element."""

    dst = Out(Tile, doc="receives the results; may be a source")
    src0 = In(Tile, doc="the first operands")
    src1 = In(Tile, doc="the second operands")
    src2 = In(Tile, doc="the third operands")
    elided = {"dst": like(src0)}

    def run(cls, dst, src0, src1, src2):
        dst[dst.valid] = cls.f(*(x[dst.valid] for x in (src0, src1, src2)))


class Updating(Instr, abstract=True, pipe=V, asm=POINTWISE, specials=NAN_COMPUTED):
    """dst = f(dst, src0, src1), element by element."""

    dst = InOut(Tile, doc="the old values, and then the results; may be a source")
    src0 = In(Tile, doc="the first operands")
    src1 = In(Tile, doc="the second operands")

    def run(cls, dst, src0, src1):
        dst[dst.valid] = cls.f(*(x[dst.valid] for x in (dst, src0, src1)))


class Unary(Instr, abstract=True, pipe=V, asm=POINTWISE, specials=NAN_COMPUTED):
    """dst = f(src), element by element."""

    dst = Out(Tile, doc="receives the results; may be the source")
    src = In(Tile, doc="the operands")
    elided = {"dst": like(src)}

    def run(cls, dst, src):
        dst[dst.valid] = cls.f(src[dst.valid])


PAIR = (Unary.dst, Unary.src)


class WithScalar(Instr, abstract=True, pipe=V, asm=POINTWISE, specials=NAN_COMPUTED):
    """dst = f(src, scalar), element by element."""

    dst = Out(Tile, doc="receives the results; may be the source")
    src = In(Tile, doc="the left operands")
    scalar = In(Scalar, doc="the right operand of all; it takes the tile's element type")
    elided = {"dst": like(src)}

    def run(cls, dst, src, scalar):
        x = src[dst.valid]
        dst[dst.valid] = cls.f(x, x.number(scalar))


class WithScalarTmp(WithScalar, abstract=True):
    """dst = f(src, scalar) with scratch."""

    tmp = scratch_of_a2a3()


class WithInteger(WithScalar, abstract=True):
    """dst = f(src, scalar) on integers."""

    scalar = In(Scalar, whole=True, doc="the right operand of all, in the tile's element type")


def with_scalar(
    a2a3: DTypes,
    a5: DTypes,
    cpu: DTypes = NUMBERS,
    *,
    anyhow: bool = False,
    columns: bool = False,
) -> Rules:
    """Return the rules of a tile-scalar instruction.

    The CPU simulator has many of them row-major only; `anyhow`: in any layout. A2/A3 computes
    `columns` of consecutive elements as rows.
    """
    dst, src = WithScalar.dst, WithScalar.src
    rows = both(dst.blayout == BLayout.ROW_MAJOR, src.blayout == BLayout.ROW_MAJOR)
    layout = () if anyhow else on(CPU, named("layout", rows))
    if not columns:
        return (pointwise(dst, src, cpu=cpu, a2a3=a2a3, a5=a5), layout)
    column = both(*(both(t.layout == DN, t.cols == 1) for t in (dst, src)))
    in_lines = either(both(dst.layout == ND, src.layout == ND), column)
    return (
        of_one_kind(dst, src, cpu=cpu, a2a3=a2a3, a5=a5),
        layout,
        on(A5, row_major(dst, src)),
        on(A2A3, named("layout", in_lines, help=AS_ROWS)),
        on(A2A3, by(ASSEMBLER, named("layout", dst.layout == ND, help=AS_ROWS))),
    )
