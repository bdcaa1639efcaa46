"""Memory: TLOAD and TSTORE, between global memory and tiles."""

from ptokit.isa.lang.page import *
from ptokit.isa.model.targets import LARGER_VIEWS
from ptokit.isa.pages.unlikeextents import as_moved, by_lines
from ptokit.isa.pages.windows import (
    CAST_F16_SUMS,
    ON_A2A3,
    PARAMETER_DOC,
    PARAMETERS_DOC,
    QUANT_F16_SUMS,
    parameters,
)
from ptokit.values.fixpipe import narrowed
from ptokit.values.pads import pad_bits

G = GlobalLayout
ON_A5 = (*ON_A2A3, f8e4m3, f8e5m2, hif8, f8e8m0, f4e2m1x2, f4e1m2x2)
MX_A, MX_B = (G.MX_A_ZZ, G.MX_A_ND, G.MX_A_DN), (G.MX_B_NN, G.MX_B_ND, G.MX_B_DN)
PART = "a5 loads only the part of the view that is valid in the tile: check the extents"
WHOLE = "make the partition as large as the valid region of the tile"
VIEW = "make the view's extents and the tile's valid region the same matrix"
IN_BOXES = "give `layout = #pto.layout<nz>` where the view is made: a5 assumes nd otherwise"
LINES = "hardware moves contiguous lines and ignores this stride"
IN_CPP = "C++ moves views of other layouts into other tiles"
BITS_ONLY = "without quantisation only f32 narrows: the result is not published"
PAIRS = "scales of two groups along k lie side by side"
NO_PADDING = "the assembler ignores this: the type of the tile has the pad value"
# in the order of the assembler's text
PADDING = ("pad_mode", "pad_value", "left_padding_num", "init_out_buffer", "right_padding_num")
BEHIND = (*PADDING, "init_condition", "offset")
LOADED = f"""\
%t = pto.alloc_tile : {VEC_F32}
pto.tload ins(%view : {VIEW_F32}) outs(%t : {VEC_F32})
"""


NO_SUMS = "the chip's stores do not add: load, add and store"


def restated(layout: Attr, view: Operand) -> Rules:
    """Require that operands agree with what the view already states."""
    help = "state the layout where the view is made"
    return when(layout.given, named("layout", layout == view.layout, help=help))


def one_matrix(dst: Operand, src: Operand, layout: GlobalLayout, last: Expr) -> Expr:
    """Return the formula 'the lines of the view lie along one axis': `last`, or another outer."""
    along = either(src.outer == 1, both(src.single_outer == Const(True), last == 1))
    return both(src.layout == layout, dst.fractal == 512, along)


def several_boxes(view: Operand, tile: Operand) -> Expr:
    """Return the formula 'several boxes for a tile of boxes': one box lies as its rows do."""
    return both(view.made_of_boxes == Const(True), view.outer > 1, tile.layout == NZ)


def named_boxes(view: Operand, tile: Operand) -> Rules:
    """Require the layout name of several boxes on A5 (dispute D17)."""
    named_nz = named("layout", view.layout != G.ND, help=IN_BOXES)
    return on(A5, when(several_boxes(view, tile), by(COMPILED, named_nz)))


def contiguous_lines(view: Operand, tile: Operand) -> Rules:
    """Require contiguous rows of a row-major tile, or columns of another: hardware assumes them."""
    rows = when(both(tile.layout == ND, view.n4 > 1), view.steps.n4 == 1)
    columns = when(both(tile.layout == DN, view.n3 > 1), view.steps.n3 == 1)
    moved = when(tile.loc.isin(VEC, MAT), rows, columns)
    return on(HARDWARE, warns(named("line-pitch", moved, help=LINES)))


def moved_types(types: Env, target: Target) -> Env:
    """Return the types of dst and src as chips move them, if they differ."""
    ends = ((name, types[name]) for name in ("dst", "src"))
    kinds: dict[type, str] = {type(kind): name for name, kind in ends}
    if GlobalType not in kinds or TileType not in kinds:
        return {}
    view, tile, stored = kinds[GlobalType], kinds[TileType], kinds[GlobalType] == "dst"
    found = as_moved(types[view], types[tile], target, stored=stored)
    moved, whole = found or (types[view], types[tile])
    lines = {view: by_lines(moved, whole, target)}
    if found is not None:
        return {**lines, tile: whole}
    return {} if lines[view] == moved else lines


class TLoad(Instr, uses=(TARGET,), specials=NAN_MOVES, pipe=MTE2):
    """Copy the matrix that `src` describes into the valid region of `dst`.

    All of dst's storage outside the valid region takes the tile's pad value; with a null pad those
    elements are unchanged. Chips fill up the last line of 32 bytes of each row with zeros when
    lines become boxes of a mat tile. Under the reading larger-views, and on a5, it copies the upper
    left part of a larger matrix. The operands for padding and caches, which only assembler text
    has, have no effect.
    """

    disputes = ("D2", "D3", "D14", "D17", "D22", "D23", "D26", "D27", "X70", "X96")
    asm = Asm(behind=BEHIND, cpp_text="TLOAD({dst}, {src});")
    dst = Out(Tile, doc="the tile to fill; its valid region is the size of the transfer")
    src = In(Global, doc="the global tensor view to read")
    pad_value = In(Scalar, None, key="pad_value", doc="no effect")
    left_padding_num = In(Index, None, key="left_padding_num", doc="no effect")
    right_padding_num = In(Scalar, None, key="right_padding_num", doc="no effect")
    init_condition = In(Scalar, None, key="init_condition", doc="no effect")
    offset = In(Scalar, None, scalar="i64", key="offset", doc="how far addresses past L2 lie off")
    pad_mode = Attr(PadMode, None, cpp=False)
    init_out_buffer = Attr(bool, False, cpp=False)
    cache_policy = Attr(LoadCachePolicy, LoadCachePolicy.DEFAULT, cpp=False)
    layout = Attr(G, None, cpp=False)
    padding = (pad_mode, pad_value, left_padding_num, right_padding_num, init_condition)
    example = in_view(LOADED)
    same = either(
        both(src.layout == G.ND, dst.layout == ND),
        both(src.layout == G.DN, dst.layout == DN),
        both(src.layout == G.NZ, dst.layout == NZ),
    )
    loadable = dst.layout.isin(ND, DN, NZ)
    unnamed = both(several_boxes(src, dst), src.layout == G.ND)
    lines = one_matrix(dst, src, G.ND, src.n3)
    columns = one_matrix(dst, src, G.DN, src.n4)
    transposed = both(columns, dst.layout == ZN)
    into_l1_a2a3 = either(same, both(lines, dst.layout == NZ), transposed)
    into_l1_a5 = either(
        *(same, both(either(lines, columns), dst.layout == NZ), transposed),
        both(src.layout.isin(*MX_A), dst.layout == ZZ, dst.fractal == 32),
        both(src.layout.isin(*MX_B), dst.layout == NN, dst.fractal == 32),
    )
    along_k = either(
        both(src.layout.isin(*MX_A), dst.valid.cols % 2 == 0),
        both(src.layout.isin(*MX_B), dst.valid.rows % 2 == 0),
    )
    mx_pairs = named("shape", both(src.n4 == 2, along_k), help=PAIRS)
    zero = named("attribute", dst.pad.isin(PadValue.NULL, PadValue.ZERO), help="pad with zero")
    cells = named("shape", src.n3 == 16, help="use cells of 16x2")
    parts = Field("machine").larger_views == Const(True)
    equal = (
        named("shape", src.matrix.rows == dst.valid.rows, help=VIEW),
        named("shape", src.matrix.cols == dst.valid.cols, help=VIEW),
    )
    around = (
        named("shape", src.matrix.rows >= dst.valid.rows, help=VIEW),
        named("shape", src.matrix.cols >= dst.valid.cols, help=VIEW),
    )
    larger, wider = src.matrix.rows >= dst.valid.rows, src.matrix.cols >= dst.valid.cols
    rules = (
        named_boxes(src, dst),
        contiguous_lines(src, dst),
        named("element-type", dst.dtype.size == src.dtype.size, help="a load keeps the type"),
        restated(layout, src),
        warns(named("attribute", both(*(~given.given for given in padding)), help=NO_PADDING)),
        on(CPU, when(~parts, equal)),
        on(A2A3, when(~parts, by(COMPILED, equal))),
        on(LARGER_VIEWS, by(COMPILED, around)),
        on(
            A5,
            when(larger, warns(named("shape", src.matrix.rows == dst.valid.rows, help=PART))),
            when(wider, warns(named("shape", src.matrix.cols == dst.valid.cols, help=PART))),
        ),
        on(HARDWARE, dst.loc.isin(VEC, MAT)),
        on(A2A3, dst.dtype.isin(*ON_A2A3), src.dtype.isin(*ON_A2A3)),
        on(A5, dst.dtype.isin(*ON_A5), src.dtype.isin(*ON_A5)),
        on(A2A3, when(dst.loc == VEC, by(HEADERS, named("layout", same, help=IN_CPP)))),
        on(A5, when(dst.loc == VEC, loadable)),
        on(
            A5,
            when(
                both(dst.loc == VEC, loadable, ~unnamed),
                by(HEADERS, named("layout", same, help=IN_CPP)),
            ),
        ),
        on(A2A3, when(dst.loc == MAT, by(HEADERS, named("layout", into_l1_a2a3, help=IN_CPP)))),
        on(
            A2A3,
            when(dst.loc == MAT, dst.rows <= 16384),
            when(dst.loc == VEC, dst.rows < 4096),
            when(both(dst.size == 8), dst.layout.isin(ND, DN)),
        ),
        on(
            A5,
            when(
                both(dst.loc == MAT, ~unnamed),
                by(HEADERS, named("layout", into_l1_a5, help=IN_CPP)),
            ),
        ),
        on(
            HARDWARE,
            when(src.layout == G.NZ, named("shape", both(src.n3 == 16, src.n4 == dst.c0))),
        ),
        on(
            A2A3,
            when(src.layout == G.ND, named("shape", src.n3 < 4096, help="fewer than 4096 rows")),
            when(src.layout == G.DN, named("shape", src.n4 < 4096, help="fewer than 4096 columns")),
            when(both(dst.loc == MAT, dst.layout == ND), by(HEADERS, src.n4 * dst.size % 32 == 0)),
            when(both(dst.loc == MAT, dst.layout == DN), by(HEADERS, src.n3 * dst.size % 32 == 0)),
        ),
        on(
            A5,
            when(dst.size == 8, zero),
            when(src.layout.isin(*MX_A, *MX_B), dst.dtype == f8e8m0, mx_pairs),
            when(src.layout.isin(G.MX_A_ZZ, G.MX_B_NN), cells),
        ),
    )
    moved_types = staticmethod(moved_types)
    forms = "nd_vec dn_vec nz_vec nd_mat nz_mat nd2nz_mat dn2zn_mat dn2nz_mat mx_mat"
    recorded = {form: {} for form in forms.split()}

    def run(dst, src, target):
        x = src[dst.valid].bitcast(dst.dtype)
        rows, cols = dst.valid
        if target.zero_pads or dst.pad is not PadValue.NULL:
            dst.fill(pad_bits(dst.pad, dst.dtype, target.finite_pads))
        elif target.chip and dst.loc is MAT and dst.layout is NZ and str(src.layout) != "nz":
            whole = -(-cols // dst.c0) * dst.c0
            dst[:rows, cols:whole] = dst.constant(0)
        dst[dst.valid] = x


def store(dst: Cells, region: ValidRegion, value: Array, atomic: AtomicType) -> None:
    """Write the matrix, or add to the present content."""
    dst[region] = dst[region] + value if atomic is AtomicType.ADD else value


STORED = "TSTORE<phase?, src, dst, atomic=, relu=>(dst, src, quant)"


class StoreFamily(Instr, abstract=True, specials=NAN_NARROWED):
    """Common to all stores: the valid region of `src` goes to the matrix that `dst` describes."""

    dst = InOut(Global, doc="the global tensor view to write")
    src = In(Tile, doc="the tile to store")
    atomic = Attr(AtomicType, AtomicType.NONE, key="atomicType")
    relu = Attr(ReluPreMode, ReluPreMode.NO_RELU, key="reluPreMode")
    layout = Attr(G, None, cpp=False)
    pipe = {VEC: MTE3, MAT: MTE3, ACC: FIX}
    by_rows = "store acc as nd or nz"
    equal = (
        named("shape", dst.matrix.rows == src.valid.rows, help=VIEW),
        named("shape", dst.matrix.cols == src.valid.cols, help=VIEW),
    )
    transfer = (
        restated(layout, dst),
        on(CPU, equal),
        on(
            HARDWARE,
            when(atomic == AtomicType.ADD, dst.dtype.isin(f32, f16, bf16, i32, i16, i8)),
            at(KIRIN, (A5,), named("attribute", atomic != AtomicType.ADD, help=NO_SUMS)),
            when(
                src.loc == ACC,
                on(A2A3, named("layout", dst.layout.isin(G.ND, G.NZ), help=by_rows)),
                on(A5, named("layout", dst.layout.isin(G.ND, G.DN, G.NZ))),
                src.layout == NZ,
                both(src.cols >= 1, src.cols <= 4095),
                when(dst.layout == G.ND, src.rows <= 8192),
            ),
        ),
    )
    # blocks of 8 columns may be an odd number; wider ones are whole where the view is
    split = both(src.loc == ACC, dst.layout == G.NZ, dst.size == 4)
    in_sixteens = when(split, named("shape", src.valid.cols % 16 == 0))
    quant_a2a3 = pairs(dst, src, (f32, (i8, u8)), (i32, (i8, u8, f16)))
    quant_a5 = (
        without(
            *(F16_SUMS, (A5,)),
            pairs(
                *(dst, src),
                *((f32, (i8, u8, f16, bf16, hif8, f8e4m3, f32)), (i32, (i8, u8, f16, bf16))),
            ),
        ),
        at(F16_SUMS, (A5,), pairs(dst, src, *QUANT_F16_SUMS, (i32, (i32,)))),
    )


class TStore(
    StoreFamily,
    uses=(FIXPIPE,),
    asm=Asm(words=(("quant", TYPED_LAST),), call=STORED),
    disputes=("D3", "D20", "D23"),
):
    """Write the valid region of `src` to the matrix that `dst` describes; nothing else changes.

    An accumulator passes the fix-pipe: it may narrow, `relu` clears negative values, `quant` is the
    one quantisation parameter of all columns.
    """

    dst, src = StoreFamily.dst, StoreFamily.src
    quant = In(Scalar, None, scalar="u64", cpp="preQuantScalar", doc=PARAMETER_DOC)
    phase = Attr(Phase, Phase.UNSPECIFIED, key="stPhase")
    atomic, relu, layout = StoreFamily.atomic, StoreFamily.relu, StoreFamily.layout
    example = in_view(f"{LOADED}NAME ins(%t : {VEC_F32}) outs(%view : {VIEW_F32})")
    same = either(
        both(dst.layout == G.ND, src.layout == ND),
        both(dst.layout == G.DN, src.layout == DN),
        both(dst.layout == G.NZ, src.layout == NZ),
        *(src.valid.rows == 1, src.valid.cols == 1),
    )
    stored_layout = either(src.rows == 1, src.cols == 1, src.layout.isin(ND, DN, NZ))
    plain = pairs(dst, src, (f32, (f32, f16, bf16)), (i32, (i32,)))
    of_sums = dst.dtype.isin(f32, i32, f16, bf16)
    many = dst.count == src.valid.rows * src.valid.cols
    in_boxes = both(src.loc == ACC, dst.layout == G.NZ)
    counted = either(dst.buffer == Const(True), many)
    matrix = both(dst.matrix.rows == src.valid.rows, dst.matrix.cols == src.valid.cols)
    rules = (
        StoreFamily.transfer,
        named_boxes(dst, src),
        contiguous_lines(dst, src),
        on(HARDWARE, named("shape", counted, help=WHOLE)),
        on(HARDWARE, when(counted, by(COMPILED, named("shape", matrix, help=VIEW)))),
        on(HARDWARE, StoreFamily.in_sixteens),
        on(HARDWARE, when(both(in_boxes, dst.dtype == i32), named("shape", dst.n4 == 16))),
        when(src.loc != ACC, named("element-type", dst.dtype.size == src.dtype.size)),
        on(A2A3, src.loc.isin(VEC, MAT, ACC)),
        on(A5, src.loc.isin(VEC, ACC)),
        on(A5, when(src.loc == VEC, named("layout", stored_layout))),
        on(A2A3, when(src.loc != ACC, src.dtype.isin(*ON_A2A3), dst.dtype.isin(*ON_A2A3))),
        on(A5, when(src.loc != ACC, src.dtype.isin(*ON_A5))),
        on(
            HARDWARE,
            when(
                both(src.loc == ACC, ~quant.given),
                of_sums,
                without(
                    *(F16_SUMS, HARDWARE),
                    when(of_sums, by(BOARDS, named("element-type", plain, help=BITS_ONLY))),
                ),
                at(F16_SUMS, (A5,), pairs(dst, src, *CAST_F16_SUMS)),
            ),
            when(
                src.loc != ACC,
                by(HEADERS, named("layout", same, help=IN_CPP)),
                named("attribute", ~quant.given, help="only acc can be quantised"),
                named("attribute", relu != ReluPreMode.NORMAL_RELU, help="only acc has relu"),
            ),
        ),
        on(
            A2A3,
            when(both(src.loc == ACC, quant.given), by(COMPILED, StoreFamily.quant_a2a3)),
        ),
        when(both(src.loc == ACC, quant.given), StoreFamily.quant_a5),
    )
    moved_types = staticmethod(moved_types)
    forms = "nd_vec dn_vec nz_vec nd_acc nz_acc relu_acc atomic_add"
    recorded = {form: {} for form in forms.split()} | {"scalar_acc": {"quant": "pre_quant_scalar"}}

    def run(dst, src, quant, atomic, relu, fixpipe):
        value = narrowed(src[src.valid], dst.dtype, quant, relu, fixpipe)
        store(dst, src.valid, value, atomic)


class TStoreFp(
    StoreFamily,
    uses=(FIXPIPE,),
    name="tstore_fp",
    asm=Asm(
        since=(("v0.57", "tstore"),),
        words=FP,
        call="TSTORE_FP<src, dst, fp, atomic=, relu=>(dst, src, fp)",
    ),
    recorded_op="tstore",
):
    """Write an accumulator to memory through the fix-pipe, one parameter for each column."""

    dst, src = StoreFamily.dst, StoreFamily.src
    fp = In(Tile, loc=SCALING, doc=PARAMETERS_DOC)

    moved_types = staticmethod(moved_types)
    example = f"""\
func.func @example(%acc: {L0C}, %fp: {PARAMETERS}, %out: !pto.ptr<i8>) {{
  %rows = arith.constant 32 : index
  %one = arith.constant 1 : index
  %view = pto.make_tensor_view %out, shape = [%rows, %rows], strides = [%rows, %one]\
 : !pto.tensor_view<32x32xi8>
  pto.tstore_fp ins(%acc, %fp : {L0C}, {PARAMETERS}) outs(%view : !pto.tensor_view<32x32xi8>)
  return
}}"""
    rules = (
        StoreFamily.transfer,
        on(HARDWARE, by(COMPILED, StoreFamily.equal)),
        parameters(fp),
        named("shape", fp.valid.cols >= src.valid.cols, help="give one for each column"),
        on(HARDWARE, src.loc == ACC),
        on(A2A3, by(COMPILED, StoreFamily.quant_a2a3)),
        on(A5, StoreFamily.quant_a5, StoreFamily.in_sixteens),
    )
    recorded = {"fp_acc": {}}
    disputes = ("D3", "D4", "D20", "D26", "C49")

    def run(dst, src, fp, atomic, relu, fixpipe):
        params = fp[0, : src.valid.cols]
        value = narrowed(src[src.valid], dst.dtype, params, relu, fixpipe, by_column=True)
        store(dst, src.valid, value, atomic)
