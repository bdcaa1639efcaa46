"""Matrices into L1 in boxes, and on to the operands of the cube, below tiles."""

from ptokit.isa.lang.localmemory import Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.cubebursts import within
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.pointers import AddPtr, CastPtr
from ptokit.isa.pages.views import MakeTensorView

BOX = 16  # rows of a box
GROUP = 32  # elements along k that have one scale


def whole_boxes(count: int, box: int) -> int:
    """Return a number of rows or columns rounded up to whole boxes."""
    return -(-count // box) * box


def across(dtype: DType) -> int:
    """Return the elements in 32 bytes: the columns of a box."""
    return LINE * 8 // dtype.bits


def boxes(
    loc: Loc, dtype: DType, rows: int, cols: int, layout: Layout, fractal: int = 512
) -> TileType:
    """Return the type of a matrix in boxes, all of which is valid."""
    return TileType(loc, dtype, rows, cols, Shape(rows, cols), layout, fractal)


def numbers(make: Lowering, *terms: Quantity) -> tuple[int, ...] | None:
    """Return numbers that are known before the program runs; None if one is not."""
    found = [n for n in map(make.known, terms) if n is not None]
    return tuple(found) if len(found) == len(terms) else None


def moved_alone(src: Operand, dst: Operand) -> Ruled:
    """Require one element type."""
    help = "bytes are moved, not converted"
    return named("element-type", src.dtype == dst.dtype, help=help)


class MteGmL1Frac(Below, name="mte_gm_l1_frac", pipe=MTE2, core=CUBE, example=MULTIPLIED):
    """Load a matrix of N x D elements from global memory into L1, in boxes of 32 bytes a row.

    `nd2nz`: the source has N rows, `dn2nz`: it has D rows; `inner` bytes from a row to the next,
    `outer` bytes from a matrix to the next. Element (n, d) goes to block n * row_step +
    d // C0 * col_step of 32 bytes, which has C0 elements; matrices are `group_step` blocks apart.
    Elements of the last block behind column D become 0.
    """

    src = In(Ptr)
    dst = Out(Ptr)
    layout = Attr(str)
    n = In(Scalar, scalar="i64", doc="rows")
    d = In(Scalar, scalar="i64", doc="columns")
    inner = In(Scalar, scalar="i64", doc="bytes")
    outer = In(Scalar, None, scalar="i64", doc="bytes")
    count = In(Scalar, scalar="i64", doc="matrices")
    row_step = In(Scalar, scalar="i64", doc="blocks of 32 bytes")
    col_step = In(Scalar, scalar="i64", doc="blocks of 32 bytes")
    group_step = In(Scalar, scalar="i64", doc="blocks of 32 bytes")
    cache = In(Scalar, scalar="i64", doc="no effect")
    small = In(Scalar, scalar="i1", doc="blocks of 4 elements: false")
    asm = Asm(
        order=("src", "dst", "n", "d", "inner", "outer"),
        clauses=(
            ("", ("layout", "nd2nz", "dn2nz")),
            ("shape", ("n", "d")),
            ("src_layout", ("inner", "outer")),
            ("dst_group", ("count", "row_step", "col_step", "group_step")),
            ("ctrl", ("cache", "small")),
        ),
        clause_break=", ",
        clause_types=("nd2nz", "dn2nz", "shape", "src_layout(", "dst_group", "ctrl"),
    )
    rules = (
        within(dst, MAT),
        moved_alone(src, dst),
        *(named("operand-value", c >= 0, help="counts are at least 0") for c in (n, d, count)),
        named("operand-value", small == 0, help="blocks of 4 elements are not executed"),
    )

    def lowered(make, src, dst, layout, **given):
        names = ("n", "d", "inner", "row_step", "col_step")
        known = numbers(make, *(given[name] for name in names))
        if known is None:
            return None
        n, d, inner, row_step, col_step = known
        dtype = dst.dtype
        cols = across(dtype)

        def matrix(group: Quantity) -> None:
            base = make.sum(dst.address, make.times(make.times(group, given["group_step"]), LINE))
            start = make.times(group, 0 if given["outer"] is None else given["outer"])
            for block in range(-(-d // cols)):
                width = min(cols, d - block * cols)
                pitched = row_step * cols if n > 1 else cols
                kind = TileType(MAT, dtype, n, pitched, Shape(n, cols))
                at = make.sum(base, block * col_step * LINE)
                if width < cols:
                    make.op(Cleared, {"dst": make.window(kind, at)})
                into = make.window(replace(kind, valid=Shape(n, width)), at)
                step = dtype.size if layout == "nd2nz" else inner
                first = make.sum(start, block * cols * step)
                pitch = (inner // dtype.size, 1) if layout == "nd2nz" else (1, inner // dtype.size)
                view = matrix_of(make, src, first, dtype, (n, width), pitch)
                make.op(BlockLoaded, {"dst": into, "src": view})

        make.repeat(given["count"], matrix)
        return []


def matrix_of(
    make: Lowering,
    ptr: Quantity,
    offset: Quantity,
    dtype: DType,
    shape: tuple[int, int],
    pitch: tuple[int, int],
) -> Quantity:
    """Return a matrix of global memory, `offset` bytes behind a pointer; steps count elements."""
    (start,) = make.op(CastPtr, {"ptr": ptr}, {}, [PtrType(u8)])
    (first,) = make.op(AddPtr, {"ptr": start, "offset": offset}, {}, [PtrType(u8)])
    (typed,) = make.op(CastPtr, {"ptr": first}, {}, [PtrType(dtype)])
    given = {"ptr": typed, "shape": list(shape), "strides": list(pitch)}
    return make.op(MakeTensorView, given, {}, [GlobalType(dtype, shape)])[0]


class BlockLoaded(Below, name="mte_gm_l1_frac", form="a block", pipe=MTE2, core=CUBE):
    """Load columns of a matrix into L1."""

    dst = Out(Tile)
    src = In(Global)
    example = MULTIPLIED

    def run(dst, src):
        dst[dst.valid] = src[dst.valid]


class Cleared(Below, name="mte_gm_l1_frac", form="zeros", pipe=MTE2, core=CUBE):
    """Fill columns of a block of L1 with 0."""

    dst = Out(Tile)
    example = MULTIPLIED

    def run(dst):
        dst[dst.valid] = dst.constant(0)


def from_the_start(start: Operand) -> Rules:
    """Require a start of 0, if one is given."""
    help = "sources differ on what starts count: use the form that counts boxes"
    return when(start.given, named("operand-value", start == 0, help=help))


class OperandLoad(Below, abstract=True, pipe=MTE1, core=CUBE, example=MULTIPLIED):
    """A matrix in boxes from L1 to an operand of the cube."""

    src = In(Ptr)
    dst = Out(Ptr)
    start_row = In(Scalar, None, scalar="i64", doc="0")
    start_col = In(Scalar, None, scalar="i64", doc="0")
    transpose = Attr(bool, False)
    extents: ClassVar[tuple[str, str]]  # the operands that say how many rows and columns
    rules = (
        within(src, MAT),
        from_the_start(start_row),
        from_the_start(start_col),
    )
    before: ClassVar[int] = 1  # of the address of the operand, that of its scales

    def lowered(cls, make, src, dst, **given):
        known = numbers(make, *(given[name] for name in cls.extents))
        if known is None:
            return None
        source, target = cls.matrix(dst.dtype, *known, given["transpose"])
        rows, cols = min(source.rows, target.rows), min(source.cols, target.cols)
        source, target = (replace(t, valid=Shape(rows, cols)) for t in (source, target))
        into = make.window(target, make.over(dst.address, cls.before))
        make.op(OperandLoaded, {"dst": into, "src": make.window(source, src.address)})
        return []


class LeftLoad(OperandLoad, abstract=True, extents=("m", "k")):
    """A left matrix of m x k."""

    src, dst = OperandLoad.src, OperandLoad.dst
    m = In(Scalar, scalar="i64", doc="rows")
    k = In(Scalar, scalar="i64", doc="columns")
    start_row, start_col = OperandLoad.start_row, OperandLoad.start_col
    asm = Asm(order=("src", "dst", "m", "k", "start_row", "start_col"))
    rules = (OperandLoad.rules, within(dst, LEFT))


class RightLoad(OperandLoad, abstract=True, extents=("k", "n")):
    """A right matrix of k x n."""

    src, dst = OperandLoad.src, OperandLoad.dst
    k = In(Scalar, scalar="i64", doc="rows")
    n = In(Scalar, scalar="i64", doc="columns")
    start_row, start_col = OperandLoad.start_row, OperandLoad.start_col
    asm = Asm(order=("src", "dst", "k", "n", "start_row", "start_col"))
    rules = (OperandLoad.rules, within(dst, RIGHT))


class OperandLoaded(Below, name="mte_l1_l0a", form="a matrix", pipe=MTE1, core=CUBE):
    """Load a matrix from L1 to an operand of the cube, or its scales."""

    dst = Out(Tile)
    src = In(Tile)
    example = MULTIPLIED
    run = BlockLoaded.run


def left_matrix(dtype: DType, m: int, k: int, transposed: bool) -> tuple[TileType, TileType]:
    """Return the types of a left matrix in L1 and in L0A."""
    c0 = across(dtype)
    target = boxes(LEFT, dtype, whole_boxes(m, BOX), whole_boxes(k, c0), NZ)
    if not transposed:
        return replace(target, loc=MAT), target
    return boxes(MAT, dtype, whole_boxes(m, c0), whole_boxes(k, BOX), ZN), target


def right_matrix(dtype: DType, k: int, n: int, transposed: bool) -> tuple[TileType, TileType]:
    """Return the types of a right matrix in L1 and in L0B."""
    c0 = across(dtype)
    target = boxes(RIGHT, dtype, whole_boxes(k, c0), whole_boxes(n, BOX), ZN)
    if not transposed:
        return replace(target, loc=MAT), target
    cols = whole_boxes(n, BOX)
    if dtype in (f8e4m3, f8e5m2, hif8) and cols < c0:  # such rows lie one after another: see V11
        return boxes(MAT, dtype, k, cols, ND), target
    return boxes(MAT, dtype, whole_boxes(k, BOX), whole_boxes(n, c0), NZ), target


def left_scales(dtype: DType, m: int, k: int, transposed: bool) -> tuple[TileType, TileType]:
    """Return the types of the scales of a left matrix in L1 and in L0."""
    rows, cols = whole_boxes(m, BOX), whole_boxes(-(-k // GROUP), 2)
    target = boxes(SCALE_LEFT, f8e8m0, rows, cols, ZZ, LINE)
    return replace(target, loc=MAT), target


def right_scales(dtype: DType, k: int, n: int, transposed: bool) -> tuple[TileType, TileType]:
    """Return the types of the scales of a right matrix in L1 and in L0."""
    rows, cols = whole_boxes(-(-k // GROUP), 2), whole_boxes(n, BOX)
    target = boxes(SCALE_RIGHT, f8e8m0, rows, cols, NN, LINE)
    return replace(target, loc=MAT), target


class MteL1L0a(LeftLoad, name="mte_l1_l0a", matrix=left_matrix):
    """Load a left matrix of m x k from L1; `transpose`: L1 has k x m."""

    rules = (LeftLoad.rules, moved_alone(LeftLoad.src, LeftLoad.dst))


class MteL1L0b(RightLoad, name="mte_l1_l0b", matrix=right_matrix, disputes=("V11",)):
    """Load a right matrix of k x n from L1.

    With `transpose` L1 has the boxes of the matrix itself, without it those of its transposed one,
    which L0B keeps as they are.
    """

    rules = (RightLoad.rules, moved_alone(RightLoad.src, RightLoad.dst))


class MteL1L0aMx(LeftLoad, name="mte_l1_l0a_mx", matrix=left_scales, before=16):
    """Load the scales of a left matrix of m x k, one for each 32 of its columns."""


class MteL1L0bMx(RightLoad, name="mte_l1_l0b_mx", matrix=right_scales, before=16):
    """Load the scales of a right matrix of k x n, one for each 32 of its rows."""
