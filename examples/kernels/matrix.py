"""Matrix products: tiles go from L1 to L0 and the sums stay in the accumulator."""

import ptokit as pto
from ptokit import f32


@pto.kernel(shapes="a[M, K] b[K, N] c[M, N]")
def gemm(a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 128, bn: int = 128, bk: int = 64) -> None:
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk, buffers=2):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)
