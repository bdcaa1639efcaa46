"""Results of the cube out of L0C through the fix-pipe, below tiles."""

from typing import NamedTuple

from ptokit.isa.lang.localmemory import COMBINED, COMBINING, Lowering
from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.bytebursts import combined
from ptokit.isa.pages.lanes.cubebursts import in_table, within
from ptokit.isa.pages.lanes.cubeexample import MULTIPLIED
from ptokit.isa.pages.lanes.cubeloads import BOX, matrix_of, numbers, whole_boxes
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.values.fixpipe import HALF_MAX, FixPipe, narrowed

SCALED = ("qf322f16", "qf322bf16", "qf322f32", "qf322fp8", "qf322hif8", "qs322bf16")
ROUNDED = ("qf322b8",)
PLAIN = ("f32_f16", "f32_bf16")
OF_INTEGERS = ("deqf16", "req8")
QUANTISED = (
    *PLAIN,
    *(f"{name}_pre_{kind}" for name in (*SCALED, *ROUNDED) for kind in ("vec", "scalar")),
    *(f"{name}_{kind}" for name in OF_INTEGERS for kind in ("vec", "scalar")),
)
RELUS = ("no_relu", "normal_relu", "scalar_relu", "vector_relu")
ATOMIC_TYPES = ("f32", "f16", "bf16", "s32", "s16", "s8")
OPERATIONS = ("add", "max", "min")
# unit flags: a store waits for the product, and lets the next one begin
UNITS = {"check_only": Phase.PARTIAL, "check_and_clear": Phase.FINAL}
CLAUSES = (
    ("unit_flag", ("unit",)),
    ("pre_quant", ("quant", "mode=quantisation")),
    ("pre_relu", ("slope", "mode=relu", "clip=clip")),
    ("", ("layout", "nz2nd", "nz2dn", "nz2nz")),
    ("nz2dn", ("walk",)),
    ("nz2nz", ("split",)),
    ("loop3", ("count", "src_loop", "dst_loop")),
    ("", ("saturation", "sat", "nosat")),
    ("sat", ("nan",)),
)


class Storing(NamedTuple):
    """The store of one matrix: the operands of the statement, and those of the conversion.

    The matrix begins `behind` elements behind the destination; `pitch` has the elements from a row
    to the next, and from a column to the next.
    """

    given: dict[str, Quantity]
    behind: Quantity
    shape: tuple[int, int]
    pitch: tuple[int, int]
    operands: dict[str, Quantity]
    attrs: dict[str, object]


class Writeback(Below, abstract=True, pipe=FIX, core=CUBE, example=MULTIPLIED):
    """The m x n elements of an accumulator, converted and written in another layout.

    Rows of a block of 16 columns are contiguous in L0C, blocks are `src_step` rows apart. Rows of
    the result (`nz2nd`, or no layout) or its columns (`nz2dn`) are `dst_step` elements apart.
    `pre_quant` scales, `pre_relu` multiplies negative values by 0 or by a slope, and `clip` limits
    what is above it. `loop3` repeats all with steps of 32 bytes in L0C and of elements in the
    result.
    """

    src = In(Ptr)
    dst = Out(Ptr)
    m = In(Scalar, scalar="i64", doc="rows")
    n = In(Scalar, scalar="i64", doc="columns")
    src_step = In(Scalar, scalar="i64", doc="rows of a block")
    dst_step = In(Scalar, scalar="i64", doc="elements")
    quant = In(Any_, None, doc="a scale, or a pointer to 64 bits for each column")
    slope = In(Any_, None, doc="a number, or a pointer to f32 for each column")
    clip = In(Scalar, None)
    walk = In(Scalar, None, scalar="i64", doc="1")
    split = In(Scalar, None, scalar="i64")
    count = In(Scalar, None, scalar="i64")
    src_loop = In(Scalar, None, scalar="i64", doc="blocks of 32 bytes")
    dst_loop = In(Scalar, None, scalar="i64", doc="elements")
    unit = Attr(str, None)
    quantisation = Attr(str, None)
    relu = Attr(str, None)
    layout = Attr(str, None)
    saturation = Attr(str, None)
    nan = Attr(str, None)
    asm = Asm(
        order=("src", "dst", "m", "n", "src_step", "dst_step"),
        clauses=CLAUSES,
        clause_break=", ",
        clause_types=(),
    )
    rules = (
        within(src, ACC),
        *(named("operand-value", c >= 0, help="extents are at least 0") for c in (m, n)),
        when(
            layout.given,
            named(
                "attribute",
                layout.isin("nz2nd", "nz2dn"),
                help="sources contradict each other about steps of boxes: use nz2nd or nz2dn",
            ),
        ),
        when(
            quantisation.given,
            named(
                "attribute", quantisation.isin(*QUANTISED), help=f"one of {', '.join(QUANTISED)}"
            ),
        ),
        when(relu.given, named("attribute", relu.isin(*RELUS), help=f"one of {', '.join(RELUS)}")),
        when(nan.given, named("attribute", nan.isin("preserve_nan"), help="preserve_nan")),
        when(unit.given, named("attribute", unit.isin(*UNITS), help=f"use {' or '.join(UNITS)}")),
        when(walk.given, named("operand-value", walk == 1, help="other steps are not executed")),
    )

    def lowered(cls, make, **given):
        known = numbers(make, *(given[n] for n in ("m", "n", "src_step", "dst_step")))
        if known is None:
            return None
        m, n, src_step, dst_step = known
        down = given["layout"] == "nz2dn"
        shared, attrs = parameters(make, given, n)
        src = local_pointer(given["src"])
        kind = TileType(ACC, src.dtype, src_step, whole_boxes(n, BOX), Shape(m, n), NZ, 1024)
        pitch = (1, dst_step) if down else (dst_step, 1)

        def once(i: Quantity) -> None:
            start = make.sum(src.address, make.times(make.times(i, given["src_loop"] or 0), LINE))
            sums = make.window(kind, start)
            behind = make.times(i, given["dst_loop"] or 0)
            operands = {**shared, "src": sums}
            cls.store(make, Storing(given, behind, (m, n), pitch, operands, attrs))

        make.repeat(1 if given["count"] is None else given["count"], once)
        return []

    @classmethod
    def store(cls, make: Lowering, one: Storing) -> None:
        """Add the store of one matrix."""
        raise NotImplementedError


def parameters(
    make: Lowering, given: dict[str, Quantity], n: int
) -> tuple[dict[str, Quantity], dict[str, object]]:
    """Return the operands and attributes of a store that say how it converts."""
    operands = dict[str, Quantity]()
    cols = whole_boxes(n, BOX)
    for name, number, row, dtype in (
        ("quant", "scale", "scales", u64),
        ("slope", "slope", "slopes", f32),
    ):
        value = given[name]
        if isinstance(value, LocalPointer):
            table = TileType(SCALING, dtype, 1, cols, Shape(1, n))
            operands[row] = make.window(table, in_table(make, value.address))
        elif value is not None:
            operands[number] = value
    if given["clip"] is not None:
        operands["clip"] = given["clip"]
    names = ("quantisation", "relu", "saturation", "nan")
    phase = UNITS.get(str(given["unit"]), Phase.UNSPECIFIED)
    return operands, {"phase": phase, **{name: given[name] for name in names}}


class OutOfL0C(Below, abstract=True, pipe=FIX, core=CUBE, example=MULTIPLIED, uses=(FIXPIPE,)):
    """A matrix out of L0C, converted."""

    src = In(Tile)
    scale = In(Scalar, None, element=True)
    scales = In(Tile, None)
    slope = In(Scalar, None, element=True)
    slopes = In(Tile, None)
    clip = In(Scalar, None, element=True)
    quantisation = Attr(str, None)
    relu = Attr(str, None)
    saturation = Attr(str, None)
    nan = Attr(str, None)
    phase = Attr(Phase, Phase.UNSPECIFIED)


class ConversionNumbers(NamedTuple):
    """The numbers of a conversion: for all columns, or for each."""

    scale: Array | None
    scales: Cells | None
    slope: Array | None
    slopes: Cells | None
    clip: Array | None


class ConversionModes(NamedTuple):
    """The modes of a conversion."""

    quantisation: str | None
    relu: str | None
    saturation: str | None
    nan: str | None


def converted(
    src: Cells, dtype: DType, given: ConversionNumbers, words: ConversionModes, fixpipe: FixPipe
) -> Array:
    """Return the elements of an accumulator: scaled, then relu, then converted, then clipped."""
    x, cols = src[src.valid], src.valid.cols
    mode = (words.quantisation or "").removesuffix("_vec").removesuffix("_scalar")
    mode = mode.removesuffix("_pre")
    by_column = given.scales is not None
    params = given.scale if given.scales is None else given.scales[0:1, :cols]
    if mode in (*ROUNDED, *OF_INTEGERS):
        how = replace(fixpipe, every_pair=True)
        y = narrowed(x, dtype, params, ReluPreMode.NO_RELU, how, by_column)
        y = sloped(y.cast(f32), words.relu, given, cols).cast(dtype, Rounding.RINT, dtype.is_int)
    else:
        if params is not None and mode in SCALED:
            x = x.cast(f32) * factor(params)
        x = sloped(x, words.relu, given, cols)
        y = limited(x, dtype, words.saturation, words.nan, fixpipe)
    if given.clip is None:
        return y
    most = in_type(given.clip, dtype)
    return (y > most).where(most, y)


def factor(params: Array) -> Array:
    """Return scales as f32: numbers, or bits 31 to 13 of parameters."""
    if params.dtype.is_float:
        return params.cast(f32)
    return (params.cast(u32) & 0xFFFFE000).bitcast(f32)


def sloped(x: Array, relu: str | None, given: ConversionNumbers, cols: int) -> Array:
    """Return the relu of a mode."""
    if relu == "normal_relu":
        return (x > 0).where(x, 0)
    if relu == "scalar_relu" and given.slope is not None:
        return (x >= 0).where(x, x * given.slope.cast(x.dtype))
    if relu == "vector_relu" and given.slopes is not None:
        return (x >= 0).where(x, x * given.slopes[0:1, :cols].cast(x.dtype))
    return x


def limited(x: Array, dtype: DType, saturation: str | None, nan: str | None, how: FixPipe) -> Array:
    """Convert; without `sat` infinities and NaN stay, without `nosat` finite values are limited."""
    if dtype is x.dtype:
        return x
    if dtype.is_int or x.dtype.is_int:
        return x.cast(dtype, Rounding.RINT, True)
    saturates = how.saturate if saturation is None else saturation == "sat"
    if saturates and nan is None:
        x = x.isnan().where(0.0, x)
    if dtype is f16 and saturation != "nosat":
        finite = x.clamp(-HALF_MAX, HALF_MAX)
        infinite = x.equals(float("inf")) | x.equals(float("-inf"))
        kept = x.isnan() if saturates else x.isnan() | infinite
        return kept.where(x, finite).cast(dtype)
    return x.cast(dtype, Rounding.RINT, saturates)


class MatrixInGlobal(OutOfL0C, name="mte_l0c_gm", form="a matrix"):
    """Store a matrix of L0C in global memory."""

    dst = Out(Global)

    def run(
        dst, src, scale, scales, slope, slopes, clip, quantisation, relu, saturation, nan, fixpipe
    ):
        given = ConversionNumbers(scale, scales, slope, slopes, clip)
        words = ConversionModes(quantisation, relu, saturation, nan)
        dst[src.valid] = converted(src, dst.dtype, given, words, fixpipe)


class IntoLocalMemory(OutOfL0C, abstract=True):
    """A matrix out of L0C, converted, in a local memory."""

    dst = Out(Tile)
    run = MatrixInGlobal.run


class MatrixInL1(IntoLocalMemory, name="mte_l0c_l1", form="a matrix"):
    """Store a matrix of L0C in L1."""


class MatrixCombined(OutOfL0C, name="mte_l0c_gm", form="a matrix, combined"):
    """Combine a matrix of L0C with one of global memory: their sums, maxima or minima."""

    dst = InOut(Global)
    combining = Attr(str)

    def run(
        dst,
        src,
        scale,
        scales,
        slope,
        slopes,
        clip,
        quantisation,
        relu,
        saturation,
        nan,
        combining,
        fixpipe,
    ):
        given = ConversionNumbers(scale, scales, slope, slopes, clip)
        words = ConversionModes(quantisation, relu, saturation, nan)
        value = converted(src, dst.dtype, given, words, fixpipe)
        dst[src.valid] = combined(dst[src.valid], value, combining)


class MteL0cGm(Writeback, name="mte_l0c_gm"):
    __doc__ = Writeback.__doc__

    src, dst = Writeback.src, InOut(Ptr)
    m, n, src_step, dst_step = Writeback.m, Writeback.n, Writeback.src_step, Writeback.dst_step
    stream = In(Scalar, scalar="i64", doc="no effect")
    cache = In(Scalar, scalar="i64", doc="no effect")
    atomic_type = Attr(str, None)
    combining = Attr(str, None)
    asm = Asm(
        order=("src", "dst", "m", "n", "src_step", "dst_step", "stream", "cache"),
        clauses=(*CLAUSES, ("atomic", ("type=atomic_type", "op=combining"))),
    )
    rules = (
        Writeback.rules,
        when(
            combining.given,
            named("attribute", combining.isin(*OPERATIONS), help="use add, max or min"),
            named("attribute", atomic_type.isin(*ATOMIC_TYPES), help="the type of the result"),
        ),
    )

    @classmethod
    def store(cls, make: Lowering, one: Storing) -> None:
        dst = one.given["dst"]
        dtype = element_type(dst)
        start = make.times(one.behind, dtype.size)
        view = matrix_of(make, dst, start, dtype, one.shape, one.pitch)
        operands = {**one.operands, "dst": view}
        if combining := one.given["combining"] or make.registers[COMBINING]:
            make.op(MatrixCombined, operands, {**one.attrs, "combining": combining})
        else:
            make.op(MatrixInGlobal, operands, one.attrs)

    def lowered(cls, make, **given):
        combining, kind = (make.registers.get(name) for name in (COMBINING, COMBINED))
        fits = combining == "" or (combining and kind is element_type(given["dst"]))
        return super().lowered(make, **given) if fits else None


class IntoBuffers(Writeback, abstract=True):
    """A store in a local memory."""

    @staticmethod
    def place(make: Lowering, one: Storing, loc: Loc) -> Quantity:
        """Return the tile of the result in a memory."""
        dst = local_pointer(one.given["dst"]).moved(make, one.behind)
        (m, n), (down, across) = one.shape, one.pitch
        rows, cols, layout = (across, n, DN) if down == 1 else (m, down, ND)
        kind = TileType(loc, dst.dtype, rows, cols, Shape(m, n), layout)
        return make.window(kind, dst.address)


class MteL0cL1(IntoBuffers, name="mte_l0c_l1"):
    __doc__ = Writeback.__doc__

    rules = (Writeback.rules, within(Writeback.dst, MAT))

    @classmethod
    def store(cls, make: Lowering, one: Storing) -> None:
        dst = cls.place(make, one, MAT)
        make.op(MatrixInL1, {**one.operands, "dst": dst}, one.attrs)
