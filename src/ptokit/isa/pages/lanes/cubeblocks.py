"""Operands of the cube from L1 by boxes: a grid of boxes with its start, extents and steps."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.cubebursts import within
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.cubeloads import BOX, OperandLoaded, across, moved_alone, numbers
from ptokit.isa.pages.lanes.lanefamilies import *

BYTES_OF_BOX = 512
PACKED = (f4e2m1x2, f4e1m2x2)
PAIR = 2  # scales of a row in a box
MATRICES = {False: NZ, True: ZN}  # layouts, by whether the second axis of the grid counts rows
SCALES = {True: ZZ, False: NN}


class BoxLoad(Below, abstract=True, pipe=MTE1, core=CUBE, example=MULTIPLIED):
    """A grid of boxes from L1 to an operand of the cube."""

    src = In(Ptr)
    dst = Out(Ptr)
    box: ClassVar[int] = BYTES_OF_BOX
    before: ClassVar[int] = 1  # of the address of the operand, that of its scales
    fields: ClassVar[tuple[str, ...]]  # start, extent and steps of both axes, in text order

    def lowered(cls, make, src, dst, **given):
        terms = *(given[name] for name in cls.fields), given.get("transpose", 0)
        known = numbers(make, *terms)
        if known is None:
            return None
        first, second, one, two, src_stride, dst_stride, turned = known
        steps = src_stride, dst_stride
        source, target = cls.ends(dst.dtype, (one, two), steps, bool(turned))
        start = cls.place(dst.dtype, first, second, src_stride) * cls.box
        into = make.window(target, make.over(dst.address, cls.before))
        from_ = make.window(source, make.sum(src.address, start))
        make.op(OperandLoaded, {"dst": into, "src": from_})
        return []

    @staticmethod
    def place(dtype: DType, first: int, second: int, step: int) -> int:
        """Return the number of the first box."""
        raise NotImplementedError

    @classmethod
    def ends(
        cls, dtype: DType, counts: tuple[int, int], steps: tuple[int, int], transposed: bool
    ) -> tuple[TileType, TileType]:
        """Return the types of the source and of the destination."""
        raise NotImplementedError


class MatrixBoxes(BoxLoad, abstract=True):
    """Load `m_step` x `k_step` boxes of 512 bytes, from box (`m_start`, `k_start`) on.

    Boxes that follow each other along m are contiguous; columns of boxes are `src_stride` boxes
    apart in L1 and `dst_stride` boxes in L0. `transpose`: L1 has the boxes of the transposed
    matrix. Of packed 4-bit floats `k_start` counts bytes of a row, 32 of them in a box.
    """

    src, dst = BoxLoad.src, BoxLoad.dst
    m_start = In(Scalar, scalar="i64", doc="boxes")
    k_start = In(Scalar, scalar="i64", doc="boxes, or bytes of packed elements")
    m_step = In(Scalar, scalar="i64", doc="boxes")
    k_step = In(Scalar, scalar="i64", doc="boxes")
    src_stride = In(Scalar, scalar="i64", doc="boxes")
    dst_stride = In(Scalar, scalar="i64", doc="boxes")
    transpose = Attr(bool, False)
    fields = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
    asm = Asm(order=("src", "dst", *fields))
    loc: ClassVar[Loc]
    rules = (
        within(src, MAT),
        moved_alone(src, dst),
        *(named("operand-value", n >= 0, help="starts are at least 0") for n in (m_start, k_start)),
        *(
            named("operand-value", n > 0, help="extents and steps are at least 1")
            for n in (m_step, k_step, src_stride, dst_stride)
        ),
        when(
            src.dtype.isin(*PACKED),
            named("operand-value", k_start % LINE == 0, help="a box starts every 32 bytes"),
        ),
    )

    @staticmethod
    def place(dtype: DType, first: int, second: int, step: int) -> int:
        return second // (LINE if dtype in PACKED else 1) * step + first

    @classmethod
    def ends(
        cls, dtype: DType, counts: tuple[int, int], steps: tuple[int, int], transposed: bool
    ) -> tuple[TileType, TileType]:
        by_rows = (cls.loc is RIGHT) is not transposed
        m, k = counts[0] * BOX, counts[1] * across(dtype)
        height, width = (k, m) if by_rows else (m, k)

        def kind(loc: Loc, down: bool, step: int) -> TileType:
            rows, cols = (height, step * BOX) if down else (step * BOX, width)
            return TileType(loc, dtype, rows, cols, Shape(height, width), MATRICES[down])

        return kind(MAT, by_rows, steps[0]), kind(cls.loc, cls.loc is RIGHT, steps[1])


class MteL1L0aBoxes(MatrixBoxes, name="mte_l1_l0a", form="boxes", loc=LEFT):
    __doc__ = MatrixBoxes.__doc__

    rules = (MatrixBoxes.rules, within(MatrixBoxes.dst, LEFT))


class MteL1L0bBoxes(MatrixBoxes, name="mte_l1_l0b", form="boxes", loc=RIGHT):
    __doc__ = MatrixBoxes.__doc__

    rules = (MatrixBoxes.rules, within(MatrixBoxes.dst, RIGHT))


class LoadToL0a(MatrixBoxes, name="load_cbuf_to_ca", loc=LEFT):
    __doc__ = MatrixBoxes.__doc__

    rules = (MatrixBoxes.rules, within(MatrixBoxes.dst, LEFT))


class LoadToL0b(MatrixBoxes, name="load_cbuf_to_cb", loc=RIGHT):
    __doc__ = MatrixBoxes.__doc__

    rules = (MatrixBoxes.rules, within(MatrixBoxes.dst, RIGHT))


class PackedBoxes(MatrixBoxes, abstract=True):
    """Load boxes of packed 4-bit floats, from box (`m_start`, `k_start` / 32) on.

    As `load_cbuf_to_ca`, with a number that says whether L1 has the transposed matrix.
    """

    src, dst = MatrixBoxes.src, MatrixBoxes.dst
    m_start, k_start = MatrixBoxes.m_start, MatrixBoxes.k_start
    m_step, k_step = MatrixBoxes.m_step, MatrixBoxes.k_step
    src_stride, dst_stride = MatrixBoxes.src_stride, MatrixBoxes.dst_stride
    transpose = In(Scalar, scalar="i64", doc="0, or 1: L1 has the transposed matrix")
    asm = Asm(order=("src", "dst", *MatrixBoxes.fields, "transpose"))
    rules = (
        MatrixBoxes.rules,
        of(dst, *PACKED),
        named("operand-value", transpose >= 0, transpose <= 1, help="use 0 or 1"),
    )


class LoadPackedToL0a(PackedBoxes, name="load_cbuf_to_ca_s4", loc=LEFT):
    __doc__ = PackedBoxes.__doc__

    rules = (PackedBoxes.rules, within(PackedBoxes.dst, LEFT))


class LoadPackedToL0b(PackedBoxes, name="load_cbuf_to_cb_s4", loc=RIGHT):
    __doc__ = PackedBoxes.__doc__

    rules = (PackedBoxes.rules, within(PackedBoxes.dst, RIGHT))


class ScaleBoxes(BoxLoad, abstract=True, box=LINE):
    """Load scales: `x_step` x `y_step` boxes of 32 bytes, from box (`x_start`, `y_start`) on.

    A box has two scales, one for 32 elements along k each, of 16 rows or columns. Boxes that follow
    each other along y are contiguous; those along x are `src_stride` boxes apart in L1 and
    `dst_stride` boxes in the memory of scales.
    """

    src, dst = BoxLoad.src, BoxLoad.dst
    x_start = In(Scalar, scalar="i64", doc="boxes")
    y_start = In(Scalar, scalar="i64", doc="boxes")
    x_step = In(Scalar, scalar="i64", doc="boxes")
    y_step = In(Scalar, scalar="i64", doc="boxes")
    src_stride = In(Scalar, scalar="i64", doc="boxes")
    dst_stride = In(Scalar, scalar="i64", doc="boxes")
    fields = ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")
    asm = Asm(order=("src", "dst", *fields))
    loc: ClassVar[Loc]
    rules = (
        within(src, MAT),
        *(named("operand-value", n >= 0, help="starts are at least 0") for n in (x_start, y_start)),
        *(
            named("operand-value", n > 0, help="extents and steps are at least 1")
            for n in (x_step, y_step, src_stride, dst_stride)
        ),
    )

    @staticmethod
    def place(dtype: DType, first: int, second: int, step: int) -> int:
        return first * step + second

    @classmethod
    def ends(
        cls, dtype: DType, counts: tuple[int, int], steps: tuple[int, int], transposed: bool
    ) -> tuple[TileType, TileType]:
        across_m = cls.loc is SCALE_LEFT
        x, y = counts[0] * BOX, counts[1] * PAIR
        height, width = (x, y) if across_m else (y, x)

        def kind(loc: Loc, step: int) -> TileType:
            rows, cols = (height, step * PAIR) if across_m else (step * PAIR, width)
            return TileType(loc, f8e8m0, rows, cols, Shape(height, width), SCALES[across_m], LINE)

        return kind(MAT, steps[0]), kind(cls.loc, steps[1])


class MteL1L0aMxBoxes(ScaleBoxes, name="mte_l1_l0a_mx", form="boxes", loc=SCALE_LEFT, before=16):
    __doc__ = ScaleBoxes.__doc__

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, LEFT))


class MteL1L0bMxBoxes(ScaleBoxes, name="mte_l1_l0b_mx", form="boxes", loc=SCALE_RIGHT, before=16):
    __doc__ = ScaleBoxes.__doc__

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, RIGHT))


class LoadScalesOfL0a(ScaleBoxes, name="load_cbuf_to_ca_mx", loc=SCALE_LEFT):
    """As `mte_l1_l0a_mx` with boxes; the address is the one of the scales themselves."""

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, LEFT))


class LoadScalesOfL0b(ScaleBoxes, name="load_cbuf_to_cb_mx", loc=SCALE_RIGHT):
    """As `mte_l1_l0b_mx` with boxes; the address is the one of the scales themselves."""

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, RIGHT))
