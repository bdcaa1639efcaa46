"""Vector functions of A5: loops in registers, 64 elements of f32 at a time; masks cut the tails."""

import ptokit as pto
from ptokit import f32, i8, i32, lanes

LANES = 64  # elements of f32 in a register
LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
FACTORIALS = (1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0, 1.0)


def row(dtype: pto.DType, width: int) -> pto.Tile:
    """A row for whole registers, of which `width` elements are valid."""
    return pto.tile_vec(dtype, 1, pto.cdiv(width, LANES) * LANES, valid=(1, width))


@pto.vector
def softmax_of_row(x: pto.Tile, y: pto.Tile, n: int) -> None:
    every = lanes.pset_b32("PAT_ALL")
    top, left = lanes.vbr(float("-inf"), dtype=f32), n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        top = lanes.vsel(lanes.vmax(top, lanes.vlds(x, i), m), top, m)
    top = lanes.vdup(lanes.vcmax(top, every), every)
    total, left = lanes.vbr(0.0, dtype=f32), n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        e = lanes.vexp(lanes.vsub(lanes.vlds(x, i), top, m), m)
        total = lanes.vadd(total, lanes.vsel(e, lanes.vbr(0.0, dtype=f32), m), every)
        lanes.vsts(e, y, i, m)
    total, left = lanes.vdup(lanes.vcadd(total, every), every), n
    lanes.mem_bar("VST_VLD")
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        lanes.vsts(lanes.vdiv(lanes.vlds(y, i), total, m), y, i, m)


@pto.kernel
def softmax(x: pto.In, y: pto.Out) -> None:
    (width,) = x.shape
    t, out = row(f32, width), row(f32, width)
    pto.tload(t, pto.block(x, 0, 0, 1, width))
    softmax_of_row(t, out, width)
    pto.store(pto.block(y, 0, 0, 1, width), out)


@pto.vector
def powers_of_e(x: pto.Tile, y: pto.Tile, n: int) -> None:
    """e ** x = 2 ** k * e ** r, where k is whole and |r| is at most ln 2 / 2."""
    left = n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        a = lanes.vmins(lanes.vmaxs(lanes.vlds(x, i), -87.0, m), 88.0, m)
        k = lanes.vtrc(lanes.vmuls(a, LOG2_E, m), m, "R")
        r = lanes.vsub(a, lanes.vmuls(k, LN2, m), m)
        p = lanes.vbr(FACTORIALS[0], dtype=f32)
        for c in FACTORIALS[1:]:
            p = lanes.vadds(lanes.vmul(p, r, m), c, m)
        exponent = lanes.vadds(lanes.vcvt(k, m, rnd="R", dtype=i32), 127, m)
        two_to_k = lanes.vbitcast(lanes.vshls(exponent, 23, m), dtype=f32)
        lanes.vsts(lanes.vmul(p, two_to_k, m), y, i, m)


@pto.kernel
def exponentials(x: pto.In, y: pto.Out) -> None:
    (width,) = x.shape
    t, out = row(f32, width), row(f32, width)
    pto.tload(t, pto.block(x, 0, 0, 1, width))
    powers_of_e(t, out, width)
    pto.store(pto.block(y, 0, 0, 1, width), out)


@pto.vector
def bytes_of(x: pto.Tile, y: pto.Tile, scale: float, n: int) -> None:
    left = n
    for i in pto.range(0, n, LANES):
        m, left = lanes.plt_b32(left)
        whole = lanes.vcvt(
            lanes.vmuls(lanes.vlds(x, i), scale, m), m, rnd="R", sat="SAT", dtype=i32
        )
        lanes.vsts(lanes.vmins(lanes.vmaxs(whole, -128, m), 127, m), y, i, m, "PK4_B32")


@pto.kernel
def quantised(x: pto.In, y: pto.Out, scale: float) -> None:
    (width,) = x.shape
    t, out = row(f32, width), row(i8, width)
    pto.tload(t, pto.block(x, 0, 0, 1, width))
    bytes_of(t, out, scale, width)
    pto.store(pto.block(y, 0, 0, 1, width), out)
