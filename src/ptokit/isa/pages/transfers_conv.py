"""Loads of convolution tiles: feature maps and weights, in blocks of channels or from planes."""

from ptokit.isa.formula.formulas import Missing
from ptokit.isa.lang.page import *
from ptokit.isa.pages.layout.ttrans import places
from ptokit.values.layouts import Extents

G, L = GlobalLayout, ConvLayout
MAP, MAP_VIEW = "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>", "!pto.tensor_view<1x1x4x4x16xf16>"
IN_MAPS = (i8, u8, i16, u16, i32, u32, f16, bf16, f32, f8e4m3, f8e5m2)
EVERY = "use the extents of the tile, in the order of its layout"
STATED = "state the layout where the view is made: nc1hwc0, fractal_z, or of planes nchw"
SAME = "images, rows and columns are those of the tile; its blocks hold all channels"
# Views without blocks of channels: the extents as the layout lists them, and the tiles.
PLANES: dict[GlobalLayout, tuple[ConvLayout, ...]] = {
    G.NCHW: (L.NC1HWC0, L.FRACTAL_Z),
    G.NHWC: (L.NC1HWC0,),
    G.NCDHW: (L.NDC1HWC0, L.FRACTAL_Z_3D),
}
BLOCKS_FIRST = ("g", "c1", "d", "h", "w")  # the rows of weights that a load makes


def planes_of(kind: GlobalType, lanes: int) -> Extents:
    """Return the extents by name of a view without blocks of channels."""
    shape = tuple(n or 0 for n in kind.shape)
    if kind.layout is G.NCDHW:
        return Extents(L.NCDHW, shape, lanes)
    outer, n, *inner = shape
    c, h, w = inner if kind.layout is G.NCHW else (inner[2], *inner[:2])
    return Extents(L.NCHW, (outer * n, c, h, w), lanes)


class Planes(Expr):
    """The formula 'the extents of the tile are those of the planes', true for other views."""

    def __init__(self, view: Operand, tile: Operand) -> None:
        self.view, self.tile = view, tile

    def children(self) -> tuple[Expr, ...]:
        return (self.view.layout, self.view.shape, self.tile.shape)

    def compile(self) -> Evaluate:
        view, tile = self.view.name, self.tile.name

        def fits(env: Env) -> bool | Missing:
            src, dst = (getattr(env.get(n), "type", env.get(n)) for n in (view, tile))
            if not isinstance(src, GlobalType) or not isinstance(dst, ConvTileType):
                return UNKNOWN
            if src.layout not in PLANES:
                return True
            if not src.fixed or src.rank != 5 or dst.rank != dst.extents.rank:
                return UNKNOWN
            return agree(planes_of(src, dst.c0), dst.extents)

        return fits

    def __str__(self) -> str:
        return "n, h and w of the planes are those of the tile, and c <= c1 * c0"


def out_of_planes(view: Operand, tile: Operand) -> Expr:
    """Return the formula 'the view has planes, and the tile a layout that they are loaded into'."""
    return either(*(both(view.layout == a, tile.layout.isin(*to)) for a, to in PLANES.items()))


def agree(of: Extents, to: Extents) -> bool:
    """Return whether a tile of the extents `to` takes the planes `of`."""
    if "k" in to.axes:
        return to.k == of.k and of.n <= to.n1 * to.n0
    return (of.n, of.h, of.w) == (to.n, to.h, to.w) and of.c <= to.c1 * to.c0


class TLoadConv(Instr, name="tload", form="convolution", specials=NAN_MOVES, pipe=MTE2):
    """Copy the array that `src` describes into a convolution tile.

    The view states the layout that the tile has. On A5 it may state one without blocks of channels:
    for maps `nchw`, `nhwc` and `ncdhw`, for weights `nchw` and `ncdhw`, with every plane whole.
    Each element keeps its image, channel, depth, row and column. Channels that only the last block
    has are 0; blocks and images that the view lacks are unchanged.
    """

    disputes = ("D25",)
    dst = Out(Conv, doc="the tile to fill")
    src = In(Global, doc="the global tensor view to read, its layout that of the tile")
    example = f"""\
func.func @example(%x: !pto.ptr<f16>, %t: {MAP}) {{
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %lanes = arith.constant 16 : index
  %line = arith.constant 64 : index
  %map = arith.constant 256 : index
  %view = pto.make_tensor_view %x, shape = [%one, %one, %four, %four, %lanes],\
 strides = [%map, %map, %line, %lanes, %one] {{layout = #pto.layout<nc1hwc0>}} : {MAP_VIEW}
  pto.tload ins(%view : {MAP_VIEW}) outs(%t : {MAP})
  return
}}"""
    alike = either(
        both(src.layout == G.NC1HWC0, dst.layout == ConvLayout.NC1HWC0),
        both(src.layout == G.FRACTAL_Z, dst.layout == ConvLayout.FRACTAL_Z),
        both(src.layout == G.NDC1HWC0, dst.layout == ConvLayout.NDC1HWC0),
    )
    split = out_of_planes(src, dst)
    in_planes = src.layout.isin(*PLANES)
    same = (
        named("shape", src.rank == dst.rank, help=EVERY),
        named("shape", src.count == dst.numel, help=EVERY),
        when(
            src.rank <= 5,
            named("shape", src.n4 == dst.inner.cols, src.n3 == dst.inner.rows, help=EVERY),
            named("shape", src.static_extents.outer == dst.listed.outer, help=EVERY),
        ),
    )
    rules = (
        on((CPU, A2A3), named("layout", alike, help=STATED)),
        on(A5, named("layout", either(alike, split), help=STATED)),
        named("shape", dst.rank == dst.extents.rank, help=EVERY),
        on(A5, when(in_planes, named("shape", src.rank == 5, help=SAME))),
        on(A5, named("shape", Planes(src, dst), help=SAME)),
        named("element-type", dst.dtype.size == src.dtype.size, help="a load keeps the type"),
        when(~in_planes, same),
        on(HARDWARE, dst.loc == MAT, named("shape", dst.inner.cols == dst.c0)),
        on(HARDWARE, dst.dtype.isin(*IN_MAPS), src.dtype.isin(*IN_MAPS)),
    )

    def moved_types(types, target):
        """Return the view with the extents that the tile lists, as far as it has them.

        C++ has five: outer ones of 1 that a tile lacks, or all but the channels of a block.
        """
        view, dst = types["src"], types["dst"]
        outer = view.rank - dst.rank
        if view.layout in PLANES:
            return {}
        if outer == -1 and view.layout is G.NDC1HWC0 and view.stride is not None:
            shape, stride = (*view.shape, dst.c0), (*view.stride, 1)
            return {"src": replace(view, shape=shape, stride=stride)}
        if outer <= 0 or view.stride is None or any(n != 1 for n in view.shape[:outer]):
            return {}
        return {"src": replace(view, shape=view.shape[outer:], stride=view.stride[outer:])}

    def run(dst, src):
        kind = src.type
        if kind.layout not in PLANES:
            dst.flat(dst.extents.c0)[:, :] = src[:, :].bitcast(dst.dtype)
            return
        of = planes_of(kind, dst.extents.c0)
        _, number = dst.iota(1, dst.numel)
        at = places(number, dst.extents, of, BLOCKS_FIRST)
        axes = ("n", "h", "w", "c") if kind.layout is G.NHWC else of.axes
        offset, *inner = (at[axis] for axis in axes)
        for digit, axis in zip(inner, axes[1:], strict=True):
            offset = offset * of.of(axis) + digit
        image = at["n"] < of.n
        inside = image & (at["d"] < of.d) if "d" in at else image
        found = src.take(offset, where=inside & (at["c"] < of.c))
        written = inside & (at["c1"] < of.c1)
        dst.flat().scatter(number, found.bitcast(dst.dtype), where=written)
