"""Attention: products, a running maximum and a running sum."""

import ptokit as pto
from ptokit import f16, f32


@pto.kernel(shapes="q[M, D] k[n, D] v[n, D] o[M, D]")
def flash(q: pto.In, k: pto.In, v: pto.In, o: pto.Out, *, bm: int = 64, bn: int = 64) -> None:
    (m, d), n = q.shape, k.shape[0]
    for i in pto.grid(m // bm):
        left = pto.load(pto.block(q, i * bm, 0, bm, d), "mat").to("left")
        top, total = pto.full(f32, 1, bm, -1e30), pto.full(f32, 1, bm, 0.0)
        acc = pto.full(f32, bm, d, 0.0)
        for j in pto.range(0, n, bn):
            keys = pto.load(pto.block(k.T, 0, j, d, bn), "mat").to("right")
            s = pto.matmul(left, keys).to("vec") * d**-0.5
            new = pto.max(pto.rowmax(s).T, top)
            p, old = pto.exp(s - new.T), pto.exp(top - new)
            values = pto.load(pto.block(v, j, 0, bn, d), "mat").to("right")
            part = pto.matmul(p.cast(f16).to("mat").to("left"), values).to("vec")
            pto.add(total * old, pto.rowsum(p).T, out=total)
            pto.add(acc * old.T, part, out=acc)
            pto.copy(new, out=top)
        pto.store(pto.block(o, i * bm, 0, bm, d), acc / total.T)
