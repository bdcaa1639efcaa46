"""Quantisation: floats to integers, fp8 or fp4 with scales, and back."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.mxshapes import (
    GROUP,
    in_rows,
    known_shapes,
    of_groups,
    padded,
    stored_along,
    stored_down,
)
from ptokit.values.layouts import known

INFINITY, QUIET = 0x7F800000, 0x7FC00000  # bits of f32
TINY = 2.0**-10
MX_FORMS = ("mxfp8_ocp", "mxfp8_nv", "mxfp4_ocp", "mxfp4_nv")
MX_RECORDED = {"format": "mx_alg", "scale": "mx_alg"}
IN_BOXES = "give whole boxes of 16 rows and 2 groups"
OF_32 = "groups have 32 elements"
EACH = "make room for a number of each group"
NOTES = "!pto.tile_buf<vec, 1x16xf32>"
VEC_I8, VEC_U8 = "!pto.tile_buf<vec, 16x32xi8>", "!pto.tile_buf<vec, 16x32xui8>"


UNBOXED = "store the tile unboxed"
EACH_ROW = "give one number for each row of src"
KNOWN = "give tmp: the compiler allocates it only for a static valid region"


def for_each_row(src: Operand, factor: Operand, columns: Expr) -> Rules:
    """Require an operand with `columns` numbers for each row of `src`."""
    return (factor.dtype == f32, enough(src, factor, columns), in_vec(factor))


def enough(src: Operand, factor: Operand, columns: Expr) -> Rules:
    help = "give numbers for each row"
    rows, cols = factor.valid.rows >= src.valid.rows, factor.valid.cols >= columns
    return named("shape", rows, help=help), named("shape", cols, help=help)


def stored_as_column(factor: Operand) -> Rules:
    """Require a dn column on A2/A3, and an unboxed tile on the others."""
    return (
        on(A2A3, named("layout", factor.layout == DN, help="a dn column")),
        on((CPU, A5), named("layout", factor.layout.isin(ND, DN), help=UNBOXED)),
    )


class Quantisation(Instr, abstract=True, pipe=V, asm=Asm(outs=("tmp",), always=("quant_type",))):
    """dst[i, j] = src[i, j] * scale[i, 0], as 8-bit integers."""

    dst = Out(Tile, doc="receives the whole numbers")
    src = In(Tile, doc="the numbers, f32")
    scale = In(Tile, doc="in its first column a factor, not a divisor, for each row")
    tmp = Scratch(Tile, None, idle=(A5,), doc="of A2/A3, as large as src")
    spoiled = (Spoiled(src, (A2A3,)),)  # its code scales src in place


def quantising(made: DType, *factors: Operand) -> Rules:
    """Return the rules of a quantisation with factors by rows."""
    dst, src, tmp = Quantisation.dst, Quantisation.src, Quantisation.tmp
    alike = both(tmp.rows == src.rows, tmp.cols == src.cols)
    known = both(~src.dynamic_rows, ~src.dynamic_cols)
    return (
        both(src.dtype == f32, dst.dtype.isin(i8, u8)),
        by(COMPILED, dst.dtype == made),
        same_region(dst, src),
        tuple((f.dtype == f32, in_vec(f), stored_as_column(f)) for f in factors),
        on((CPU, A5), tuple(enough(src, f, Const(1)) for f in factors)),
        in_vec(dst, src),
        row_major(dst, src),
        on(A2A3, named("shape", alike, help="tmp has src's shape")),
        on(A2A3, named("shape", *(f.valid.rows == src.valid.rows for f in factors), help=EACH_ROW)),
        on(A2A3, named("shape", *(f.valid.cols == 1 for f in factors), help=EACH_ROW)),
        at(LEVEL12, (A2A3,), when(~tmp.given, named("dynamic-valid", known, help=KNOWN))),
        on(HARDWARE, when(tmp.given, in_vec(tmp), tmp.dtype == f32, row_major(tmp))),
        named_scratch(tmp, (A2A3,)),
    )


def as_bytes(dst: Cells, y: Array, rows: int, cols: int) -> None:
    """Store the nearest integers in the range of `dst`, half to even; NaN becomes 0."""
    dst[:rows, :cols] = y.cast(dst.dtype, Rounding.RINT, saturate=True)


class TQuant(
    Quantisation, form="symmetric", disputes=("E18", "E32", "E78"), recorded={"int8_sym": {}}
):
    """dst[i, j] = src[i, j] * scale[i, 0] rounded half to even, -128 to 127; NaN is 0.

    The product rounds to f32 first. Values out of range, infinities too, saturate.
    """

    quant_type = Attr(Symmetric, Symmetric.INT8)
    asm = Asm(
        chips_with=("tmp",), cpp_text="TQUANT<QuantType::INT8_SYM>({dst}, {src}, {scale}[, {tmp}]);"
    )
    example = {"scale": ONE_OF_EACH_ROW, "dst": VEC_I8}
    rules = quantising(i8, Quantisation.scale)
    elided = {"dst": like(Quantisation.src, dtype=lambda _: i8)}

    def run(dst, src, scale):
        rows, cols = src.valid
        as_bytes(dst, src[:rows, :cols] * scale[:rows, 0], rows, cols)


class TQuantAsymmetric(
    Quantisation, name="tquant", form="asymmetric", disputes=("E18", "E32", "E78")
):
    """dst[i, j] = src[i, j] * scale[i, 0] + offset[i, 0] rounded half to even, 0 to 255; NaN is 0.

    The product and the sum round to f32 first. Values out of range, infinities too, saturate.
    """

    offset = In(Tile, doc="in its first column what is added to each row")
    quant_type = Attr(Asymmetric)

    asm = Asm(
        order=("src", "scale", "offset", "tmp"),  # C++ has tmp before offset
        chips_with=("tmp",),
        cpp_text="TQUANT<QuantType::INT8_ASYM>({dst}, {src}, {scale}[, {tmp}], &{offset});",
    )
    each = dict.fromkeys(("scale", "offset"), ONE_OF_EACH_ROW)
    example = {**each, "dst": VEC_U8, "quant_type": Asymmetric.INT8}
    rules = quantising(u8, Quantisation.scale, offset)
    elided = {"dst": like(Quantisation.src, dtype=lambda _: u8)}
    recorded = {"int8_asym": {}}

    def run(dst, src, scale, offset):
        rows, cols = src.valid
        y = src[:rows, :cols] * scale[:rows, 0] + offset[:rows, 0]
        as_bytes(dst, y, rows, cols)


class TDequant(Instr, inner_flags=(A2A3,), pipe=V, recorded={"row": {}, "elementwise": {}}):
    """dst[i, j] = (src[i, j] - offset[i, p]) * scale[i, p], p = j or scale's last column.

    The difference and the product round to f32. A NaN of scale or offset gives NaN.
    """

    dst = Out(Tile, doc="receives the numbers, f32")
    src = In(Tile, doc="the whole numbers")
    scale = In(Tile, doc="factors: for each row, or for each element")
    offset = In(Tile, doc="what is subtracted: as scale")
    example = {"src": VEC_I8, "scale": ONE_OF_EACH_ROW, "offset": ONE_OF_EACH_ROW}
    rules = (
        both(dst.dtype == f32, src.dtype.isin(i8, i16)),
        same_region(dst, src),
        for_each_row(src, scale, Const(1)),
        for_each_row(src, offset, scale.valid.cols),
        named("layout", scale.layout.isin(ND, DN), offset.layout.isin(ND, DN), help=UNBOXED),
        in_vec(dst, src),
        row_major(dst, src),
    )
    elided = {"dst": like(src, dtype=lambda _: f32)}

    def run(dst, src, scale, offset):
        rows, cols = src.valid
        row, col = src.iota(rows, cols)
        column = col.minimum(scale.valid.cols - 1)
        factor, start = (
            t[:rows, 0] if t.cols == 1 else t.take(row * t.cols + column) for t in (scale, offset)
        )
        dst[:rows, :cols] = (src[:rows, :cols].cast(f32) - start) * factor


class MxQuantisation(Instr, abstract=True, pipe=V, uses=(TARGET,), targets=(CPU, A5)):
    """Elements of fp8 or fp4, and the common power of two of each 32 of them."""

    dst = Out(Tile, doc="receives the elements: f8e4m3, in bytes, or f4e2m1x2")
    src = In(Tile, doc="the numbers")
    exp = Out(Tile, doc="receives the exponent of each group, an f8e8m0")
    max = Out(Tile, doc="receives the largest magnitude of each group, from its first byte on")
    scaling = Out(Tile, doc="receives the factor of each group, from its first byte on")
    format = Attr(MxFormat, MxFormat.FP8, key="quant_type")
    scale = Attr(MxScale, MxScale.OCP, key="quantScaleAlg")
    interleave = Attr(bool, False)

    example = {
        **{"dst": VEC_I8, "exp": "!pto.tile_buf<vec, 16x32xui8, valid=16x1>"},
        **{"max": NOTES, "scaling": NOTES, "format": MxFormat.FP8},
    }
    moved_types = staticmethod(in_rows)
    apart = (Apart((dst, src, exp, max, scaling), placed=True),)
    disputes = ("E19", "E50", "E51", "E63", "E75", "E76", "X115")


def grouping() -> Rules:
    """Return the rules of all group quantisations: element types and memories."""
    page, notes = MxQuantisation, (MxQuantisation.max, MxQuantisation.scaling)
    dst, src, exp, notes = page.dst, page.src, page.exp, (page.max, page.scaling)
    fp4 = page.format == MxFormat.FP4
    pairs_of_4 = dst.dtype == f4e2m1x2
    on_a5 = (f32, (i8, u8)), *((t, (i8, u8, f4e2m1x2)) for t in (f16, bf16))
    tiles = (dst, src, exp, *notes)
    return (
        on(CPU, src.dtype.isin(*FLOATS), dst.dtype.isin(i8, u8, f8e4m3, f4e2m1x2)),
        on(A5, pairs(dst, src, *on_a5)),
        named("attribute", either(both(fp4, pairs_of_4), both(~fp4, dst.dtype != f4e2m1x2))),
        exp.dtype.isin(u8, f8e8m0),
        both(*(note.dtype == src.dtype for note in notes)),
        on(CPU, same_region(dst, src)),
        named("layout", both(*(t.layout == ND for t in tiles)), help="store all of them row-major"),
        in_vec(*tiles),
        known_shapes(*tiles),
        padded(src),
    )


def room(along: bool) -> Rules:
    """Require room for groups `along` the rows, or else down the columns."""
    page, notes = MxQuantisation, (MxQuantisation.max, MxQuantisation.scaling)
    rows, cols, exp = page.src.valid.rows, page.src.valid.cols, page.exp
    lines, length = (rows, of_groups(cols) // GROUP) if along else (rows // GROUP, cols)
    count = lines * length
    noted = both(*(n.rows * n.cols >= count for n in notes))
    one_row = both(exp.rows == 1, exp.cols >= count)
    held = either(both(exp.rows >= lines, exp.cols >= length), one_row)
    in_pairs = both(exp.rows >= lines // 2, exp.cols >= length * 2)
    filled_up = named("shape", (cols if along else rows) % GROUP == 0, help=OF_32)
    common = (
        on(CPU, filled_up) if along else filled_up,
        on(CPU, named("shape", noted, help=EACH)),
        on(CPU, when(~page.interleave, named("shape", held, help=EACH))),
    )
    if along:
        why = "rows of groups down the columns are interleaved"
        whole_rows = named("attribute", ~page.interleave, help=why)
        return (*common, whole_rows, stored_along(page.dst, page.src, exp, notes))
    even = named("shape", rows % (2 * GROUP) == 0, help="use an even number of rows of groups")
    paired = when(page.interleave, even, on(CPU, named("shape", in_pairs, help=EACH)))
    return (*common, paired, stored_down(page.dst, page.src, exp, notes, page.interleave))


def quantise_groups(
    dst: Cells,
    src: Cells,
    exp: Cells,
    max: Cells,
    scaling: Cells,
    format: MxFormat,
    scale: MxScale,
    axis: GroupAxis,
    interleave: bool,
    target: Target,
) -> Array:
    """Quantise groups; return the exponents as bytes, a row of them for each of `exp`."""
    fp4, nv, along = format is MxFormat.FP4, scale is MxScale.NV, axis is GroupAxis.ALONG
    (rows, cols), chip = src.valid, target.chip
    short = chip and along and not known(cols % GROUP, 0)  # zeros fill up the last group
    whole = -(-cols // GROUP) * GROUP if short else cols
    x = src[src.valid].padded(whole, 1, 0.0) if short else src
    m = largest_magnitudes(x, (rows, whole), fp4 or chip, fp4 and not nv, along)
    e = shared_exponents(m, fp4, nv)
    factor = factors(m, e)
    spread = factor.repeated(GROUP) if along else factor.T.repeated(GROUP).T
    y = x[:rows, :whole].cast(f32) * spread
    codes = (nibbles(y, src.dtype) if fp4 else octets(y, nv, chip)).bitcast(dst.dtype)
    down, across = e.shape
    if fp4 and not chip:
        dst.fill(0)
    dst[:rows, :whole] = codes
    exponents = e.cast(u8).bitcast(exp.dtype)
    if interleave:
        exp[: down // 2, : across * 2] = rows_in_pairs(exp, exponents)
    elif exp.rows == 1:
        exp[0, : down * across] = exponents.reshaped(1, down * across)
    else:
        exp[:down, :across] = exponents
    for cells, values in ((max, m.bitcast(f32)), (scaling, factor)):
        made = as_note(values, cells.dtype, chip and not (nv and cells is max))
        if chip and not along:
            cells[:down, :across] = made
        else:
            cells.flat()[0, : down * across] = made.reshaped(1, down * across)
    return exponents


def as_note(x: Array, dtype: DType, chip: bool) -> Array:
    """Return numbers of groups in their type; A5 stores the upper halves of f32 in place of f16."""
    if not chip or dtype != f16:
        return x.cast(dtype)
    return (x.bitcast(i32) & -0x10000).bitcast(f32).cast(bf16).bitcast(f16)


def rows_in_pairs(cells: Cells, x: Array) -> Array:
    """Return each pair of rows as one row, with alternating elements."""
    rows, cols = x.shape
    pairs = x.T.reshaped(cols * rows // 2, 2)
    upper, lower = (one_of_two(cells, pairs, n).reshaped(cols, rows // 2).T for n in (0, 1))
    return side_by_side(cells.iota(1, cols * 2)[1], upper, lower)


def one_of_two(cells: Cells, x: Array, number: int) -> Array:
    """Return one of two columns."""
    return cells.iota(1, 2)[1].equals(number).where(x, x ^ x).fold("or", 1)


def side_by_side(column: Array, *arrays: Array) -> Array:
    """Return the first columns of all arrays, then their second ones, and so on."""
    found = arrays[-1].repeated(len(arrays))
    for n, each in enumerate(arrays[:-1]):
        found = (column % len(arrays)).equals(n).where(each.repeated(len(arrays)), found)
    return found


def largest_magnitudes(
    given: Cells | Array, region: tuple[int, int], nan: bool, short: bool, along: bool
) -> Array:
    """Return the largest magnitude of each group as the bits of an f32, or a bf16 if `short`.

    NaN counts as the largest, or is ignored if not `nan`.
    """
    rows, cols = region

    def magnitudes(first: int) -> Array:
        """Return the magnitudes of the elements at this position in each group."""
        x = given[:rows, first:cols:GROUP] if along else given[first:rows:GROUP, :cols]
        bits = x.cast(f32).bitcast(i32) & 0x7FFFFFFF
        kept = bits & 0x7FFF0000 if short else bits
        return (bits > INFINITY).where(QUIET if nan else 0, kept)

    return reduce(Array.maximum, map(magnitudes, range(GROUP)))


def shared_exponents(m: Array, fp4: bool, nv: bool) -> Array:
    """Return the biased exponents (127) of the powers of two that scale groups; 255 for NaN."""
    if nv:
        m = (m.bitcast(f32) * (1 / 6 if fp4 else 1 / 448)).bitcast(i32)
        low = m >> 23
        up = (m & 0x7FFFFF) > low.equals(0).where(0x400000, low * 0)
        e = (low + up.cast(i32)).minimum(254)
    else:
        e = ((m >> 23) - (2 if fp4 else 8)).maximum(0)
    return (m > INFINITY).where(255, e)


def factors(m: Array, e: Array) -> Array:
    """Return the factors of the elements, in f32: 2**(127 - e), NaN for NaN."""
    bits = e.equals(254).where(0x400000, (254 - e) << 23)
    return e.equals(255).where(QUIET, bits).bitcast(f32)


def octets(y: Array, nv: bool, chip: bool) -> Array:
    """Return the codes of f8e4m3, as u8: nearest, ties to even, at most 448.

    Results of 0 lose their sign, except on chips, and for NV with magnitudes below 2**-10.
    """
    codes = y.clamp(-448.0, 448.0).cast(f8e4m3).bitcast(u8)
    if chip:
        return codes
    kept = (codes & 0x7F) > 0
    if nv:
        kept = kept | ((y < TINY) & (y > -TINY))
    return kept.where(codes, 0)


def nibbles(y: Array, src: DType) -> Array:
    """Return the elements as f4e2m1x2: nearest, ties to even, at most 6; NaN is 6."""
    y = y.cast(bf16) if src == bf16 else y
    return y.isnan().where(6.0, y).cast(f4e2m1x2, saturate=True)


class TQuantMx(MxQuantisation, name="tquant.mx", recorded_op="tquant"):
    """dst = src * 2**(127 - exp of its group) as fp8 or fp4, nearest, ties to even; groups of 32.

    A group is 32 columns of a row (`axis` 1) or 32 rows of a column (0). max is the largest |src|
    of a group; exp its biased exponent less 8 (fp8) or 2 (fp4), at least 0, with NV that of max /
    448 or max / 6, rounded up. Elements are at most 448 or 6: so are infinities. NaN makes exp 255,
    max and scaling NaN, and all elements of its group NaN in fp8, 6 in fp4; in fp8 of the CPU
    simulator it does not count for max and is the only one that becomes NaN. max and scaling are
    filled from the first byte on, on A5 in src's columns for groups down them; in place of f16 A5
    stores bf16 there, but for max of NV. Simulators fill the rest of dst with 0 in fp4. With
    `interleave` each two rows of exp, of groups down the columns, are one: their elements in turn.
    """

    axis = Attr(GroupAxis, GroupAxis.ALONG, key="grpAxis")

    asm = Asm(
        spellings=("tquant",),
        always=("quant_type",),
        cpp_text="TQUANT<{axis}, MxQuantAlg::{scale}Mx{format}[, {interleave}]>"
        "({dst}, {src}, &{exp}, &{max}, &{scaling});",
        also=(
            "TQUANT<QuantType::format>(dst, src, exp, max, scaling)",
            "TQUANT<QuantType::format, QuantScaleAlg::scale>(dst, src, exp, max, scaling)",
        ),
    )
    rules = (
        grouping(),
        when(axis == GroupAxis.ALONG, room(along=True)),
        when(axis == GroupAxis.DOWN, room(along=False)),
    )
    recorded = dict.fromkeys(MX_FORMS, MX_RECORDED | {"axis": "grp_axis"})
    run = staticmethod(quantise_groups)


class TQuantMxZz(MxQuantisation, name="tquant.mx", form="zz"):
    """`tquant.mx` of fp8 along rows, with the exponents also in the order of a left scale tile.

    exp_zz is filled from its first byte on: boxes of 16 rows and 2 groups, row-major, and so are
    the elements of each. Compilers take this form on A5 too, and call it deprecated. NaN is treated
    as in `tquant.mx`; infinities become 448.
    """

    format = Attr(MxFp8, MxFp8.FP8, key="quant_type")
    exp_zz = Out(Tile, doc="receives the exponents in zz order, from its first byte on")
    axis = Attr(GroupAxis, GroupAxis.ALONG, key="grpAxis")
    store = Attr(VecStoreMode, VecStoreMode.NZ, key="storeMode")

    asm = Asm(
        spellings=("tquant",),
        always=("quant_type",),
        cpp_text="TQUANT<QuantType::{format}, VecStoreMode::{store}>"
        "({dst}, {src}, &{exp}, &{max}, &{scaling}, &{exp_zz});",
    )
    apart = (Apart((exp_zz, *MxQuantisation.apart[0].operands), placed=True),)
    example = {
        "src": "!pto.tile_buf<vec, 16x64xf32>",
        "dst": "!pto.tile_buf<vec, 16x64xi8>",
        **dict.fromkeys(("exp", "exp_zz"), "!pto.tile_buf<vec, 1x32xui8>"),
        **{
            "max": "!pto.tile_buf<vec, 1x32xf32>",
            "scaling": "!pto.tile_buf<vec, 1x64xf32, valid=1x32>",
        },
    }
    valid = MxQuantisation.src.valid
    why = "this form is of fp8 along rows, without interleaving"
    whole = named("shape", valid.rows % 16 == 0, valid.cols // GROUP % 2 == 0, help=IN_BOXES)
    rules = (
        grouping(),
        room(along=True),
        named("attribute", MxQuantisation.scale == MxScale.OCP, help=why),
        named("attribute", both(axis == GroupAxis.ALONG, store == VecStoreMode.NZ), help=why),
        on(CPU, whole),
        on(HARDWARE, by(BOARDS, whole)),
        exp_zz.dtype == MxQuantisation.exp.dtype,
        named("layout", exp_zz.layout == ND),
        named("shape", exp_zz.rows * exp_zz.cols >= valid.rows * valid.cols // GROUP, help=EACH),
        in_vec(exp_zz),
    )

    def run(dst, src, exp, max, scaling, exp_zz, scale, axis, interleave, target):
        tiles = (dst, src, exp, max, scaling)
        exponents = quantise_groups(*tiles, MxFormat.FP8, scale, axis, interleave, target)
        row, group = src.iota(*exponents.shape)
        exp_zz.flat().scatter(in_zz(row, group, exponents.shape[1]), exponents)


class TQuantDn(MxQuantisation, name="tquant_dn", recorded=dict.fromkeys(MX_FORMS, MX_RECORDED)):
    """Quantise groups of 32 rows of a column: `tquant.mx` with `axis` 0.

    NaN is treated as there. Infinities become the largest element, 448 or 6.
    """

    asm = Asm(
        cpp_text="TQUANT<0, MxQuantAlg::{scale}Mx{format}[, {interleave}]>"
        "({dst}, {src}, &{exp}, &{max}, &{scaling});"
    )
    example = {
        "format": MxFormat.FP8,
        "src": "!pto.tile_buf<vec, 32x32xbf16>",
        "dst": "!pto.tile_buf<vec, 32x32xi8>",
        "exp": "!pto.tile_buf<vec, 1x32xui8>",
        "max": "!pto.tile_buf<vec, 1x32xbf16>",
        "scaling": "!pto.tile_buf<vec, 1x32xbf16>",
    }
    rules = (grouping(), room(along=False))

    def run(dst, src, exp, max, scaling, format, scale, interleave, target):
        tiles, down = (dst, src, exp, max, scaling), GroupAxis.DOWN
        quantise_groups(*tiles, format, scale, down, interleave, target)
