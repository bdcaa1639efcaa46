"""Operands of the cube from L1 by boxes: a grid of boxes with its start, extents and steps."""

from typing import Any

from ptokit.isa.lang.localmemory import LocalPointer, Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.model.tiles import TileType
from ptokit.isa.pages.lanes.cubebursts import within
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.cubeloads import BOX, OperandLoaded, across, numbers
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.values.layouts import Shape

BYTES_OF_BOX = 512
PAIR = 2  # scales of a row in a box
MATRICES = {False: NZ, True: ZN}  # layouts, by whether the second axis of the grid counts rows
SCALES = {True: ZZ, False: NN}


class BoxLoad(Below, abstract=True, pipe=MTE1, core=CUBE, example=MULTIPLIED):
    """A grid of boxes from L1 to an operand of the cube."""

    src = In(Ptr)
    dst = Out(Ptr)
    box: ClassVar[int] = BYTES_OF_BOX
    fields: ClassVar[tuple[str, ...]]  # start, extent and steps of both axes, in text order

    @classmethod
    def lowered(
        cls, make: Lowering, src: LocalPointer, dst: LocalPointer, **given: Any
    ) -> object:  # Any: values of operands
        known = numbers(make, *(given[name] for name in cls.fields))
        if known is None:
            return None
        first, second, one, two, src_step, dst_step = known
        steps, turned = (src_step, dst_step), bool(given.get("transpose", False))
        source, target = cls.ends(dst.dtype, (one, two), steps, turned)
        start = cls.place(first, second, src_step) * cls.box
        into = make.window(target, make.over(dst.address, BYTES_OF_BOX // cls.box))
        from_ = make.window(source, make.sum(src.address, start))
        make.op(OperandLoaded, {"dst": into, "src": from_})
        return []

    @staticmethod
    def place(first: int, second: int, step: int) -> int:
        """Return the number of the first box."""
        raise NotImplementedError

    @classmethod
    def ends(
        cls, dtype: DType, counts: tuple[int, int], steps: tuple[int, int], transposed: bool
    ) -> tuple[TileType, TileType]:
        """Return the types of the source and of the destination."""
        raise NotImplementedError


class MatrixBoxes(BoxLoad, abstract=True):
    """Load `m_count` x `k_count` boxes of 512 bytes, from box (`m_first`, `k_first`) on.

    Boxes that follow each other along m are contiguous; columns of boxes are `src_step` boxes apart
    in L1 and `dst_step` boxes in L0. `transpose`: L1 has the boxes of the transposed matrix.
    """

    src, dst = BoxLoad.src, BoxLoad.dst
    m_first = In(Scalar, scalar="i64", doc="boxes")
    k_first = In(Scalar, scalar="i64", doc="boxes")
    m_count = In(Scalar, scalar="i64", doc="boxes")
    k_count = In(Scalar, scalar="i64", doc="boxes")
    src_step = In(Scalar, scalar="i64", doc="boxes")
    dst_step = In(Scalar, scalar="i64", doc="boxes")
    transpose = Attr(bool, False)
    fields = ("m_first", "k_first", "m_count", "k_count", "src_step", "dst_step")
    asm = Asm(order=("src", "dst", *fields))
    loc: ClassVar[Loc]
    rules = (
        within(src, MAT),
        named("element-type", src.dtype == dst.dtype, help="bytes are moved, not converted"),
        *(named("operand-value", n >= 0, help="starts are at least 0") for n in (m_first, k_first)),
        *(
            named("operand-value", n > 0, help="extents and steps are at least 1")
            for n in (m_count, k_count, src_step, dst_step)
        ),
    )

    @staticmethod
    def place(first: int, second: int, step: int) -> int:
        return second * step + first

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


class ScaleBoxes(BoxLoad, abstract=True, box=LINE):
    """Load scales: `x_count` x `y_count` boxes of 32 bytes, from box (`x_first`, `y_first`) on.

    A box has two scales, one for 32 elements along k each, of 16 rows or columns. Boxes that follow
    each other along y are contiguous; those along x are `src_step` boxes apart in L1 and `dst_step`
    boxes in the memory of scales.
    """

    src, dst = BoxLoad.src, BoxLoad.dst
    x_first = In(Scalar, scalar="i64", doc="boxes")
    y_first = In(Scalar, scalar="i64", doc="boxes")
    x_count = In(Scalar, scalar="i64", doc="boxes")
    y_count = In(Scalar, scalar="i64", doc="boxes")
    src_step = In(Scalar, scalar="i64", doc="boxes")
    dst_step = In(Scalar, scalar="i64", doc="boxes")
    fields = ("x_first", "y_first", "x_count", "y_count", "src_step", "dst_step")
    asm = Asm(order=("src", "dst", *fields))
    loc: ClassVar[Loc]
    rules = (
        within(src, MAT),
        *(named("operand-value", n >= 0, help="starts are at least 0") for n in (x_first, y_first)),
        *(
            named("operand-value", n > 0, help="extents and steps are at least 1")
            for n in (x_count, y_count, src_step, dst_step)
        ),
    )

    @staticmethod
    def place(first: int, second: int, step: int) -> int:
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


class MteL1L0aMxBoxes(ScaleBoxes, name="mte_l1_l0a_mx", form="boxes", loc=SCALE_LEFT):
    __doc__ = ScaleBoxes.__doc__

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, LEFT))


class MteL1L0bMxBoxes(ScaleBoxes, name="mte_l1_l0b_mx", form="boxes", loc=SCALE_RIGHT):
    __doc__ = ScaleBoxes.__doc__

    rules = (ScaleBoxes.rules, within(ScaleBoxes.dst, RIGHT))
