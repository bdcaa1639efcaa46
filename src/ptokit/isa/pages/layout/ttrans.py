"""TTRANS: transpose a tile, or store a feature map in another layout."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.windows import on_a2a3
from ptokit.values.layouts import FRACTALS, N0, WEIGHTS, Extents

MOST_BLOCKS = 255  # blocks of 32 bytes between two lines in one hardware instruction
BLOCKS = "lines are whole blocks of 32 bytes"
AS_SRC = "scratch is as large as src"


def whole_lines(tile: Operand) -> Expr:
    """Require lines, of rows or of columns, that are whole blocks of 32 bytes."""
    rows = both(tile.blayout == BLayout.ROW_MAJOR, tile.cols * tile.size % 32 == 0)
    return either(rows, both(tile.blayout != BLayout.ROW_MAJOR, tile.rows * tile.size % 32 == 0))


class TTrans(
    Instr,
    inner_flags=(A2A3,),
    pipe=V,
    specials=NAN_MOVES,
    disputes=("C14", "C33"),
    recorded={"2d": {}},
):
    """dst[j, i] = src[i, j] over src's valid region; rectangular tiles are fine.

    `tmp` is scratch: ignored here and on A5, undefined afterwards.
    """

    dst = Out(Tile, doc="receives the transpose; must not overlap src")
    src = In(Tile, doc="the tile to transpose")
    tmp = Scratch(Tile, None, idle=(A5,), doc="of A2/A3")
    example = {"dst": "!pto.tile_buf<vec, 32x16xf32>"}
    lines = either(dst.cols % 32 == 0, both(src.size != 1, dst.cols % 16 == 0))
    stepped = both(lines, src.cols * src.size % 32 == 0, src.cols * src.size <= MOST_BLOCKS * 32)
    by_rows = named("layout", src.blayout == BLayout.ROW_MAJOR, help="store the source row-major")
    turned = named("shape", dst.valid.rows == src.valid.cols, dst.valid.cols == src.valid.rows)
    rules = (
        named("element-type", dst.size == src.size),
        on(CPU, turned),
        on(HARDWARE, by(BOARDS, turned)),
        on_a2a3(src, dst),
        on(
            HARDWARE,
            both(src.loc == VEC, dst.loc == VEC),
            named("element-type", src.size.isin(1, 2, 4)),
        ),
        on(A2A3, by_rows),
        on(A5, warns(by_rows), named("shape", whole_lines(src), whole_lines(dst), help=BLOCKS)),
        on(HARDWARE, named("element-type", tmp.dtype == src.dtype, help="use the type of src")),
        on(A2A3, when(stepped, named("shape", tmp.nbytes >= src.nbytes, help=AS_SRC))),
        named_scratch(tmp, (A2A3,)),
    )
    elided = {"dst": Like(src, src.valid.cols, src.valid.rows)}

    def run(dst, src):
        rows, cols = src.valid
        dst[:cols, :rows] = src[:rows, :cols].T.bitcast(dst.dtype)


L = ConvLayout
FLAT = (L.NCHW, L.GNCHW)
CONVERSIONS = (
    (L.NCHW, L.NC1HWC0),
    (L.NC1HWC0, L.NCHW),
    (L.GNCHW, L.GNC1HWC0),
    (L.NC1HWC0, L.FRACTAL_Z),
    (L.GNC1HWC0, L.FRACTAL_Z),
    (L.NCDHW, L.FRACTAL_Z_3D),
    (L.GNC1HWC0, L.GNCHW),
)
LISTED = "each layout has its own number of extents"
FEW = 4  # channels in a block, where it does not hold 32 bytes of them
BLOCKED = "c1 = ceil(c / c0), with c0 channels in 32 bytes, or 4"
WHOLE = "k = groups x depth x c1 x height x width, n1 = ceil(n / 16)"


def one_of(src: Operand, dst: Operand, *pairs: tuple[L, L]) -> Expr:
    """Require one of these pairs of source and destination layouts."""
    return either(*(both(src.layout == a, dst.layout == b) for a, b in pairs))


def few_or(tile: Operand) -> Expr:
    """Require blocks of 32 bytes or of four channels."""
    return either(tile.extents.c0 == tile.c0, tile.extents.c0 == FEW)


class TTransConv(
    Instr,
    asm=Asm(cpp_on=CHIPS),
    inner_flags=(A2A3,),
    name="ttrans",
    form="convolution layouts",
    pipe=V,
    specials=NAN_MOVES,
    disputes=("C53", "C61", "E64"),
):
    """Store a feature map, or the weights of a filter, in another convolution layout.

    Every element keeps its group, image, channel, depth, row and column. Channels and images that
    exist only in the blocks of `dst` are 0, and so are those of each group of `src` after the first
    `images`. `tmp` is scratch, undefined afterwards.
    """

    dst = Out(Conv, doc="receives the elements; must not overlap src")
    src = In(Conv, doc="the feature map")
    tmp = Scratch(Tile, None, idle=(A5,), doc="of A2/A3")
    images = Attr(int, 0, cpp=False)  # images of each group of src to move; 0: all

    example = {
        "src": "!pto.conv_tile<nchw, 1x8x2x4xf32, loc=vec>",
        "dst": "!pto.conv_tile<nc1hwc0, 1x1x2x4x8xf32, loc=vec>",
    }
    to, of = dst.extents, src.extents
    fractal = dst.layout.isin(*FRACTALS)
    weights = dst.layout == L.FRACTAL_Z
    few = both(src.layout != L.NCDHW, dst.layout != L.NCHW)
    unblocked = (to.c <= of.c1 * of.c0, to.c > (of.c1 - 1) * of.c0)
    points = of.h * of.w * src.size
    parts = to.n1 == (of.n + to.n0 - 1) // to.n0
    in_blocks = (of.c <= to.c1 * to.c0, of.c > (to.c1 - 1) * to.c0)
    rules = (
        named("layout", one_of(src, dst, *CONVERSIONS)),
        named("element-type", dst.size == src.size),
        named("shape", src.rank == of.rank, dst.rank == to.rank, help=LISTED),
        on(CPU, when(few, named("shape", few_or(src), few_or(dst), help=BLOCKED))),
        on(CPU, when(~few, named("shape", of.c0 == src.c0, to.c0 == dst.c0, help=BLOCKED))),
        when(weights, named("shape", of.c0 == to.c0, help=BLOCKED)),
        on(CPU, when(~weights, named("shape", to.c0 == dst.c0, help=BLOCKED))),
        when(fractal, named("shape", to.k == of.k, parts, help=WHOLE)),
        on(CPU, when(fractal, named("shape", to.n0 == N0, help=WHOLE))),
        when(
            ~fractal,
            named("shape", both(to.g == of.g, to.n == of.n), both(to.h == of.h, to.w == of.w)),
            on((CPU, A2A3), when(dst.layout.isin(*FLAT), named("shape", *unblocked, help=BLOCKED))),
            when(~dst.layout.isin(*FLAT), named("shape", *in_blocks, help=BLOCKED)),
        ),
        on(
            HARDWARE,
            both(src.loc == VEC, dst.loc == VEC),
            named("element-type", src.size.isin(1, 2, 4)),
            when(src.layout.isin(*FLAT), by(HEADERS, named("shape", points % 32 == 0))),
        ),
        named("attribute", both(images >= 0, images <= of.n), help="a group has no more images"),
        on(A5, named("layout", ~dst.layout.isin(*FLAT), help="A5 unblocks no channels")),
        on(CPU, named("layout", dst.layout != L.GNCHW, help="use a target of a chip")),
    )

    def moved_types(types, target):
        """Return src as chips read it: its groups have the distance of those of the weights."""
        src, to = types["src"], types["dst"].extents
        n, room = src.extents.n, to.n1 * to.n0
        grouped = src.layout is L.GNC1HWC0 and types["dst"].layout is L.FRACTAL_Z
        if not (target.is_chip and grouped and src.extents.g > 1 and 0 < n < room):
            return {}
        return {"src": replace(src, shape=(src.shape[0], room, *src.shape[2:])), "images": n}

    def run(dst, src, images):
        of = src.extents
        _, number = dst.iota(1, dst.numel)
        at = places(number, dst.extents, of)
        inside = (at["n"] < (images or of.n)) & (at["c"] < of.c)
        offset, *inner = (at[axis] for axis in of.axes)
        for digit, axis in zip(inner, of.axes[1:], strict=True):
            offset = offset * of.of(axis) + digit
        found = src.flat().take(offset, where=inside)
        dst.flat()[0, :] = found.bitcast(dst.dtype)


def places(
    number: Array, to: Extents, of: Extents, rows: tuple[str, ...] = WEIGHTS
) -> dict[str, Array]:
    """Return group, image, channel, ... of the elements of `to` by number in storage order.

    A row k of weights is split as the map `of` has it, into digits in the order `rows`.
    """
    sizes: dict[str, int] = {}
    for axis in to.axes:
        sizes |= {a: of.of(a) for a in rows} if axis == "k" else {axis: to.of(axis)}
    inner = list(reversed(sizes))
    found = digits(number, *(sizes[axis] for axis in inner[:-1]))
    at = dict(zip(inner, found, strict=True))
    if "n1" in at:
        at["n"] = at["n1"] * to.n0 + at["n0"]
    if "c" in at:
        at["c0"], at["c1"] = digits(at["c"], of.c0)
    else:
        at["c"] = at["c1"] * to.c0 + at["c0"]
    return at
