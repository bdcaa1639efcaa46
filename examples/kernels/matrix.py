"""Matrix products: tiles go from L1 to L0 and the sums stay in the accumulator."""

import ptokit as pto
from ptokit import f16, f32, i32


@pto.kernel(shapes="a[m, K] b[K, N] c[m, N]")
def gemm(a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 256, bn: int = 128, bk: int = 0) -> None:
    (m, k), n = a.shape, b.shape[1]
    bk = bk or 32768 // (max(bm, bn) * a.dtype.size)  # two blocks fill the buffer of A or B
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk, buffers=2):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


@pto.kernel(shapes="a[m, K] b[N, K] c[m, N]")
def gemm_nt(a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32, bk: int = 32) -> None:
    (m, k), n = a.shape, b.shape[0]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b.T, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


@pto.kernel(shapes="a[B, m, K] b[B, K, N] c[B, m, N]")
def batched(a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32) -> None:
    count, m, k = a.shape
    n = b.shape[2]
    for s, i, j in pto.grid(count, pto.cdiv(m, bm), pto.cdiv(n, bn)):
        left = pto.load(pto.block(a[s], i * bm, 0, bm, k), "mat").to("left")
        right = pto.load(pto.block(b[s], 0, j * bn, k, bn), "mat").to("right")
        pto.store(pto.block(c[s], i * bm, j * bn, bm, bn), pto.matmul(left, right))


@pto.kernel(shapes="a[m, K] b[K, N] c[m, N]")
def split_k(
    a: pto.In, b: pto.In, c: pto.InOut, *, parts: int = 4, bm: int = 32, bn: int = 32, bk: int = 16
) -> None:
    (m, k), n = a.shape, b.shape[1]
    for s, i, j in pto.grid(parts, pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        for p in pto.range(s * bk, k, parts * bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.store(out, pto.matmul(left, right), atomic="add")


@pto.kernel(shapes="a[m, K] b[K, N] bias[1, N] c[m, N]")
def linear(
    a: pto.In, b: pto.In, bias: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32, bk: int = 32
) -> None:
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        start = pto.load(pto.block(bias, 0, j * bn, 1, bn), "mat", layout="nd").to("bias")
        for p in pto.range(0, k, bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            if p == 0:
                pto.tmatmul_bias(acc, left, right, start)
            else:
                pto.tmatmul_acc(acc, acc, left, right)
        pto.store(out, acc)


@pto.kernel(shapes="a[m, K] b[K, N] c[m, N]")
def gemm_i8(a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32, bk: int = 32) -> None:
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(i32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


@pto.kernel(shapes="a[m, K] of_a[m, G] b[K, N] of_b[N, G] c[m, N]")
def gemm_mx(
    a: pto.In, of_a: pto.In, b: pto.In, of_b: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 64
) -> None:
    """Groups of 32 numbers along k share a scale, a power of two."""
    (m, k), n, groups = a.shape, b.shape[1], of_a.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        left = pto.load(pto.block(a, i * bm, 0, bm, k), "mat").to("left")
        right = pto.load(pto.block(b, 0, j * bn, k, bn), "mat").to("right")
        left_scales = pto.load(pto.block(of_a, i * bm, 0, bm, groups), "mat").to("scale_left")
        right_scales = pto.load(pto.block(of_b.T, 0, j * bn, groups, bn), "mat").to("scale_right")
        product = pto.matmul_mx(left, left_scales, right, right_scales)
        pto.store(pto.block(c, i * bm, j * bn, bm, bn), product)


@pto.kernel(shapes="a[m, K] b[K, N] c[m, N]")
def gemm_bf16(
    a: pto.In, b: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32, bk: int = 32
) -> None:
    """Sums are f32; they become bf16 on their way out of the accumulator."""
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


@pto.kernel(shapes="a[m, K] b[K, N] scale[1, N] c[m, N]")
def gemm_i8_dequantised(
    a: pto.In, b: pto.In, scale: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 16
) -> None:
    """Sums are i32; each column is multiplied by its scale and becomes f16 on its way out."""
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        left = pto.load(pto.block(a, i * bm, 0, bm, k), "mat").to("left")
        right = pto.load(pto.block(b, 0, j * bn, k, bn), "mat").to("right")
        fp = pto.load(pto.block(scale, 0, j * bn, 1, bn), "mat", layout="nd").to("scaling")
        pto.tstore_fp(pto.block(c, i * bm, j * bn, bm, bn), pto.matmul(left, right), fp)


@pto.kernel(shapes="a[m, K] b[K, N] bias[1, N] c[m, N]")
def linear_gelu(
    a: pto.In, b: pto.In, bias: pto.In, c: pto.Out, *, bm: int = 32, bn: int = 32, bk: int = 32
) -> None:
    """The vector core adds the bias, computes GELU and narrows to f16."""
    (m, k), n = a.shape, b.shape[1]
    for i, j in pto.grid(pto.cdiv(m, bm), pto.cdiv(n, bn)):
        out = pto.block(c, i * bm, j * bn, bm, bn)
        acc = pto.tile_acc(f32, bm, bn, valid=out.shape)
        for p in pto.range(0, k, bk):
            left = pto.load(pto.block(a, i * bm, p, bm, bk), "mat").to("left")
            right = pto.load(pto.block(b, p, j * bn, bk, bn), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        x = acc.to("vec") + pto.load(pto.block(bias, 0, j * bn, 1, bn))
        inner = (x * x * x * 0.044715 + x) * 0.7978845608
        pto.store(out, (x / (pto.exp(inner * -2.0) + 1.0)).cast(f16))
