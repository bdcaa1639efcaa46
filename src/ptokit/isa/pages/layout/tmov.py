"""TMOV and TMOV_FP: move a whole tile, changing location, layout or, from acc, type."""

from dataclasses import replace

from ptokit.isa.lang.page import *
from ptokit.isa.pages.unlikeextents import as_moved_tiles
from ptokit.isa.pages.windows import *
from ptokit.values.fixpipe import convert, narrowed, without_negatives

MOVE_CUBE_A5 = (i8, f8e4m3, f8e5m2, hif8, f16, bf16, f32, *FP4)
MOVE_VEC_A5 = (f32, i32, f16, bf16, i8, u8, f8e4m3, f8e5m2, hif8, *FP4)
AS_IT_IS = "the assembler takes f32 as f32, the C++ of A2/A3 only as f16 or bf16"
BOXES_TO_L0 = (
    "the assembler does not check this layout, C++ assumes fractal order: make it nz or zn"
)
ANY_TYPE = "the assembler checks no element type here, C++ has a list"
BELOW = "A5 has a builtin for it below the instructions, copy_cbuf_to_ubuf"
SCALES = (u8, hif8, f8e8m0)


def same_type(dst: Operand, src: Operand) -> Expr:
    return dst.dtype == src.dtype


def whole(dst: Operand, src: Operand) -> Rules:
    """Require equal extents; the assembler compares declared shapes alone."""
    kept = named("shape", dst.valid.rows == src.valid.rows, dst.valid.cols == src.valid.cols)
    return (
        on(CPU, kept),
        on(HARDWARE, by(BOARDS, kept)),
        on(A2A3, named("shape", both(dst.rows == src.rows, dst.cols == src.cols))),
    )


def boxed(fits: Expr) -> Rules:
    """Warn of layouts that the C++ code for L1 does not support."""
    return by(HEADERS, warns(named("layout", fits, help=BOXES_TO_L0)))


def moved_tiles(types: Env, target: Target) -> Env:
    """Return the types of dst and src as chips move them, if these differ."""
    found = as_moved_tiles(types["dst"], types["src"], target, types.get("mode"))
    if found is None:
        return {}
    moved = {"dst": found[0], "src": found[1]}
    fp = types.get("fp")
    if fp is not None and fp.valid.cols is not None:  # parameters also come in whole boxes
        cols = max(fp.valid.cols, min(fp.cols, found[1].valid.cols or 0))
        moved["fp"] = replace(fp, valid=Shape(fp.valid.rows, cols))
    return moved


class TMov(
    Instr,
    verb="to",
    uses=(FIXPIPE,),
    disputes=("C22", "C45", "C47", "C49", "C54", "C57", "C59", "X121", "X122"),
):
    """Copy the valid region of `src` to `dst`; layouts may differ.

    dst[i, j] = src[i, j]. Values change only on the way out of the accumulator, through the
    fix-pipe (`relu`, `quant`), and into the bias table, which is f32 or i32. `relu` without `quant`
    clears negative values after the conversion: NaN and -0 stay.
    """

    dst = Out(Tile, doc="receives the tile")
    src = In(Tile, doc="the tile to move")
    quant = In(Scalar, None, scalar="u64", cpp="preQuantScalar", doc=PARAMETER_DOC)
    relu = Attr(ReluPreMode, ReluPreMode.NO_RELU, key="reluPreMode")
    mode = Attr(AccToVecMode, None, key="accToVecMode", doc=INTO_VEC)
    phase = Attr(Phase, Phase.UNSPECIFIED, key="stPhase")
    asm = Asm(
        spellings=("tmov.m2l", "tmov.m2r", "tmov.m2b", "tmov.m2s", "tmov.a2v", "tmov.v2v"),
        words=(("quant", TYPED_LAST),),
    )
    moved_types = staticmethod(moved_tiles)
    example = {"src": L1, "dst": L0A}
    cube = (
        on(A2A3, src.dtype.isin(*CUBE_A2A3)),
        on(A5, src.dtype.isin(*MOVE_CUBE_A5)),
        same_type(dst, src),
    )
    one_row = both(src.rows == 1, src.layout == ND)
    table = both(src.rows == 1, dst.rows == 1)
    whole_f32 = both(src.dtype == f32, dst.dtype == f32)
    mx = src.dtype == f8e8m0  # scales of either side, for which older text has one name
    paths = (
        path(
            *(MAT, LEFT, MTE1, cube, boxed(either(src.layout.isin(ZN, NZ), one_row))),
            of_left(dst),
            at(KIRIN9030, (A5,), dst.dtype.isin(i8, f16)),
        ),
        path(
            *(MAT, RIGHT, MTE1, cube, boxed(src.layout.isin(ZN, NZ)), dst.layout == ZN),
            at(KIRIN9030, (A5,), dst.dtype.isin(i8, f16)),
        ),
        path(
            *(MAT, SCALE_LEFT, MTE1, both(src.layout == ZZ, dst.layout == ZZ)),
            same_type(dst, src),
            on=A5,
        ),
        path(
            *(MAT, SCALE_RIGHT, MTE1, both(src.layout == NN, dst.layout == NN)),
            same_type(dst, src),
            on=A5,
        ),
        path(
            *(MAT, BIAS, MTE1, named("shape", table)),
            on(A2A3, pairs(dst, src, (i32, (i32,)), (f32, (f32,)), (f16, (f32,)))),
            without(
                *(F16_SUMS, (A5,)),
                pairs(dst, src, (i32, (i32,)), (f32, (f32,)), (f16, (f32,)), (bf16, (f32,))),
            ),
            at(F16_SUMS, (A5,), pairs(dst, src, (i32, (i32,)), (f16, (f16,)))),
            on(A2A3, src.cols * src.size % 64 == 0),
            on(A5, both(dst.cols * dst.size % 64 == 0, dst.cols * dst.size <= 4096)),
        ),
        path(
            *(MAT, SCALING, FIX, same_type(dst, src)),
            on((CPU, A5), when(mx, both(src.layout == dst.layout, src.layout.isin(ZZ, NN)))),
            when(~mx, src.dtype.isin(u64, i64, f16, bf16, f32)),
            when(src.dtype.isin(u64, i64), named("shape", table), src.cols % 16 == 0),
            by(HEADERS, warns(named("element-type", ~src.dtype.isin(f16, bf16, f32), help=WORDS))),
            on(A2A3, named("element-type", ~mx, help="A2/A3 has no MX scales")),
            on(A5, when(~mx, src.cols <= 512)),
        ),
        path(
            *(VEC, VEC, V),
            on_a2a3(src, dst),
            on(
                A5,
                by(HEADERS, named("element-type", dst.dtype.isin(*MOVE_VEC_A5), help=ANY_TYPE)),
                either(dst.layout == src.layout, both(src.layout == ND, dst.layout.isin(NZ, ZN))),
                when(
                    both(src.layout == ND, dst.layout == ZN),
                    both(src.rows % src.c0 == 0, src.cols % 16 == 0),
                ),
            ),
        ),
        path(
            *(VEC, MAT, MTE3, same_type(dst, src), dst.dtype.isin(*MOVE_VEC_A5)),
            both(src.layout.isin(ND, NZ, ZN), dst.layout.isin(ND, NZ, ZN)),
            on=A5,
            event=FIX,  # dispute X122
        ),
        path(
            *(MAT, VEC, MTE1, same_type(dst, src)),
            on=A5,
        ),
        *from_acc(dst, src, layouts=(NZ, ND, DN)),
    )
    plain, quantised = both(src.loc == ACC, ~quant.given), both(src.loc == ACC, quant.given)
    rules = (
        whole(dst, src),
        when(both(plain, ~whole_f32), casts(dst, src)),
        on(
            A2A3,
            when(plain, by(HEADERS, warns(named("element-type", ~whole_f32, help=AS_IT_IS)))),
        ),
        when(quantised, quantises(dst, src)),
        on(
            A5,
            by(
                (ASSEMBLER, HEADERS),
                named("location", either(src.loc != MAT, dst.loc != VEC), help=BELOW),
            ),
            when(
                both(src.loc == MAT, dst.loc != VEC),
                named("shape", both(dst.rows == src.rows, dst.cols == src.cols)),
            ),
        ),
        when(both(src.loc != ACC, dst.loc != BIAS), named("element-type", dst.size == src.size)),
        fix_pipe(dst, src, relu, mode, quant.given),
    )
    elided = {"dst": like(src)}
    recorded = {"plain": {}, "relu": {}}

    def run(dst, src, quant, relu, fixpipe):
        x, positive = src[src.valid], relu is ReluPreMode.NORMAL_RELU
        if quant is not None:
            y = narrowed(x, dst.dtype, quant, relu, fixpipe)
        elif positive or src.loc is ACC or dst.loc is BIAS:
            y = convert(x, dst.dtype)
            y = without_negatives(y) if positive else y
        else:
            y = x.bitcast(dst.dtype)
        dst[src.valid] = y


class TMovFp(
    Instr,
    name="tmov.fp",
    asm=Asm(since=(("v0.57", "tmov"),), words=(("fp", TYPED_LAST),), also=("TMOV(dst, src, fp)",)),
    recorded_op="tmov",
):
    """Move an accumulator through the fix-pipe, one parameter for each column.

    dst[i, j] = convert(src[i, j]; fp[0, j]).
    """

    specials = NAN_NARROWED
    uses = (FIXPIPE,)
    dst = Out(Tile, doc="receives the tile")
    src = In(Tile, doc="the accumulator tile to move")
    fp = In(Tile, loc=SCALING, doc=PARAMETERS_DOC)
    relu = Attr(ReluPreMode, ReluPreMode.NO_RELU, key="reluPreMode")
    mode = Attr(AccToVecMode, None, key="accToVecMode", doc=INTO_VEC)
    phase = Attr(Phase, Phase.UNSPECIFIED, key="stPhase")
    moved_types = staticmethod(moved_tiles)
    example = {"src": L0C, "fp": PARAMETERS, "dst": L1_I8}
    paths = from_acc(dst, src, layouts=(NZ, ND, DN))
    rules = (
        whole(dst, src),
        when(src.loc == ACC, quantises(dst, src)),
        parameters(fp),
        named("shape", fp.valid.cols >= src.valid.cols, help="give one for each column"),
        quantising_modes(dst, src, mode),
    )
    recorded = {"fp": {}}
    disputes = ("C2", "C49", "C54", "C59")

    def run(dst, src, fp, relu, fixpipe):
        params = fp[0, : src.valid.cols]
        dst[src.valid] = narrowed(src[src.valid], dst.dtype, params, relu, fixpipe, by_column=True)


def elements_of(tile: Operand) -> Expr:
    """Return the number of valid elements."""
    return tile.valid.rows * tile.valid.cols


def whole_boxes(dst: Operand) -> Expr:
    """Return the number of elements with rows rounded up to a multiple of 16."""
    return (dst.valid.rows + 15) // 16 * 16 * dst.valid.cols


CLEARED = "hardware clears the rows that are missing at the end of src"
LARGER = "hardware keeps 64 bytes in tmp, and a byte for each group of 16 rows and column"


class TMovScale(Instr, name="tmov", form="scale reorder", pipe=V, targets=(CPU, A5)):
    """Reorder a matrix of 8-bit exponents into the ZZ layout of MX scales (A5).

    With `axis` 1 rows stay rows, padded with zeros to a multiple of 16; with 0 the source lists
    groups along its rows and is transposed. A dst of another fractal, and on A5 one of other
    extents than the transposed source, is plain storage: it is filled from its first byte on, like
    a tile of fractal 32 with as many columns as there are groups.
    """

    specials = NAN_MOVES
    dst = Out(Tile, loc=VEC, storage=True, doc="the scales, zz")
    src = In(Tile, loc=VEC, doc="the exponents")
    tmp = Scratch(Tile, loc=VEC, doc="of hardware")
    axis = Attr(GroupAxis, GroupAxis.ALONG, key="grpAxis")

    example = {
        "src": "!pto.tile_buf<vec, 32x32xf8E8M0FNU>",
        "tmp": "!pto.tile_buf<vec, 1x256xf8E8M0FNU>",
        "dst": "!pto.tile_buf<vec, 32x32xf8E8M0FNU, slayout=row_major, fractal=32>",
    }
    packed = either(src.cols == src.valid.cols, both(axis == GroupAxis.ALONG, src.valid.rows == 1))
    room = 64 + (dst.valid.rows + 15) // 16 * dst.valid.cols
    in_rows = both(src.valid.rows <= dst.rows, src.valid.cols <= dst.cols)
    listed = both(src.valid.rows == 1, src.valid.cols >= dst.valid.rows * dst.valid.cols)
    turned = both(src.valid.cols <= dst.rows, src.valid.rows <= dst.cols)
    boxes = both(src.valid.rows % 2 == 0, src.valid.cols % 16 == 0)
    rules = (
        on(HARDWARE, named("attribute", dst.dtype.isin(*SCALES), help="u8, hif8 or f8e8m0")),
        both(dst.dtype == src.dtype, tmp.dtype == src.dtype),
        dst.layout == ZZ,
        named(
            "layout", either(src.layout == ND, src.layout == DN), help="store the source unboxed"
        ),
        on(
            A5,
            named("shape", packed, help="hardware reads consecutive lines"),
            when(axis == GroupAxis.ALONG, named("shape", tmp.nbytes >= room, help=LARGER)),
        ),
        when(
            both(dst.fractal == 32, axis == GroupAxis.ALONG),
            on(CPU, named("shape", in_rows)),
            on(A5, named("shape", either(in_rows, listed))),
        ),
        when(
            both(dst.fractal == 32, axis == GroupAxis.DOWN),
            on(CPU, named("shape", turned)),
            on(
                A5,
                named("shape", either(turned, both(elements_of(dst) >= elements_of(src), boxes))),
            ),
        ),
        when(
            dst.fractal != 32,
            named("shape", elements_of(dst) == elements_of(src), help="copy all of src"),
        ),
        on(
            CPU,
            when(dst.fractal != 32, named("attribute", dst.dtype.isin(*SCALES), help="use 8 bits")),
        ),
        when(
            both(dst.fractal != 32, axis == GroupAxis.ALONG),
            named("shape", dst.valid.cols % 2 == 0, help="use an even number of groups"),
            named("shape", whole_boxes(dst) <= dst.numel, help="room for whole boxes of 16 rows"),
            on(A5, named("shape", whole_boxes(dst) <= src.numel, help=CLEARED)),
        ),
        when(
            both(dst.fractal != 32, axis == GroupAxis.DOWN),
            named("shape", src.valid.rows % 2 == 0, help="use an even number of groups"),
            named("shape", src.valid.cols % 16 == 0, help="use whole boxes of 16"),
        ),
    )
    apart = (Apart((dst, src, tmp), placed=True),)
    disputes = ("C32", "C56", "X116")

    def run(dst, src, axis):
        rows, cols = src.valid
        x = src[:rows, :cols]
        if axis is GroupAxis.DOWN:
            x, rows, cols = x.T, cols, rows
        if dst.box.cols != 2 or (axis is GroupAxis.DOWN and (rows > dst.rows or cols > dst.cols)):
            rows, cols = (rows, cols) if axis is GroupAxis.DOWN else dst.valid
            height = -(-rows // 16) * 16
            line = x.bitcast(u8).reshaped(rows, cols).padded(height, 0, 0).bitcast(dst.dtype)
            r, c = dst.iota(height, cols)
            dst.flat().scatter(in_zz(r, c, cols), line)
            return
        if axis is GroupAxis.ALONG and rows == 1 and cols > dst.cols:  # groups in a list
            rows, cols = dst.valid
            x = src[0, : rows * cols].reshaped(rows, cols)
        dst[:rows, :cols] = x
        dst[rows : least(-(-rows // 16) * 16, dst.rows), :cols] = dst.constant(0)
