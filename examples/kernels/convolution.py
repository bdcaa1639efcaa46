"""Convolution: patches of a feature map are the rows of a matrix, filters the columns of another.

A map lies as image x channel block x height x width x channels of 32 bytes; L1 holds it whole.
"""

import ptokit as pto
from ptokit import f32


@pto.kernel
def conv2d(
    x: pto.In,
    w: pto.In,
    y: pto.Out,
    *,
    filter: tuple[int, int] = (3, 3),
    padding: int = 1,
    bm: int = 128,
    bk: int = 64,
) -> None:
    image = pto.load(x, "mat", conv=pto.conv(filter=filter, padding=padding))
    (places, depth), channels = image.matrix, y.shape[1]
    for i in pto.grid(pto.cdiv(places, bm)):
        out = pto.block(y, i * bm, 0, bm, channels)
        acc = pto.tile_acc(f32, bm, channels, valid=out.shape)
        for p in pto.range(0, depth, bk):
            right = pto.load(pto.block(w, p, 0, bk, channels), "mat").to("right")
            valid = (out.shape[0], right.valid[0])
            left = pto.img2col(image, i * bm, p, (bm, bk), valid=valid)
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


@pto.kernel
def strided(
    x: pto.In,
    w: pto.In,
    y: pto.Out,
    *,
    filter: tuple[int, int] = (3, 2),
    stride: tuple[int, int] = (2, 2),
    dilation: tuple[int, int] = (1, 2),
    bm: int = 32,
) -> None:
    """One image after the other in L1, so that there may be any number of them."""
    images, channels = x.shape[0], y.shape[1]
    steps = pto.conv(filter=filter, stride=stride, dilation=dilation, padding=(1, 2, 1, 0))
    for n in pto.grid(images):
        image = pto.load(x[n], "mat", conv=steps)
        places, depth = image.matrix
        right = pto.load(pto.block(w, 0, 0, depth, channels), "mat").to("right")
        for i in pto.range(pto.cdiv(places, bm)):
            out = pto.block(y[n * places : (n + 1) * places], i * bm, 0, bm, channels)
            left = pto.img2col(image, i * bm, 0, (bm, depth), valid=(out.shape[0], depth))
            pto.store(out, pto.matmul(left, right))


@pto.kernel(shapes="x[pixels, C] w[C, N] y[pixels, N]")
def pointwise(x: pto.In, w: pto.In, y: pto.Out, *, bm: int = 32) -> None:
    """A filter of 1x1 is a product: rows of `x` are pixels, channels innermost."""
    (pixels, depth), channels = x.shape, w.shape[1]
    right = pto.load(pto.block(w, 0, 0, depth, channels), "mat").to("right")
    for i in pto.grid(pto.cdiv(pixels, bm)):
        left = pto.load(pto.block(x, i * bm, 0, bm, depth), "mat").to("left")
        pto.store(pto.block(y, i * bm, 0, bm, channels), pto.matmul(left, right))
