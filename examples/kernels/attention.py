"""Attention: products, a running maximum and a running sum."""

import ptokit as pto
from ptokit import f16, f32


@pto.kernel(shapes="q[m, D] k[n, D] v[n, D] o[m, D]")
def flash(q: pto.In, k: pto.In, v: pto.In, o: pto.Out, *, bm: int = 64, bn: int = 64) -> None:
    (m, d), n = q.shape, k.shape[0]
    for i in pto.grid(m // bm):
        left = pto.load(pto.block(q, i * bm, 0, bm, d), "mat").to("left")
        top, total = pto.full(f32, bm, 1, -1e30), pto.full(f32, bm, 1, 0.0)
        acc = pto.full(f32, bm, d, 0.0)
        for j in pto.range(0, n, bn):
            keys = pto.load(pto.block(k.T, 0, j, d, bn), "mat").to("right")
            s = pto.matmul(left, keys).to("vec") * d**-0.5
            new = pto.max(pto.rowmax(s), top)
            p, old = pto.exp(s - new), pto.exp(top - new)
            values = pto.load(pto.block(v, j, 0, bn, d), "mat").to("right")
            part = pto.matmul(p.cast(f16).to("mat").to("left"), values).to("vec")
            pto.add(total * old, pto.rowsum(p), out=total)
            pto.add(acc * old, part, out=acc)
            pto.copy(new, out=top)
        pto.store(pto.block(o, i * bm, 0, bm, d), acc / total)


class Running:
    """What attention keeps while it goes over the keys: plain Python, each step records."""

    def __init__(self, rows: int, depth: int, valid: int) -> None:
        self.top = pto.full(f32, rows, 1, -1e30, valid=(valid, 1))
        self.total = pto.full(f32, rows, 1, 0.0, valid=(valid, 1))
        self.acc = pto.full(f32, rows, depth, 0.0, valid=(valid, depth))

    def step(self, s: pto.Tile, values: pto.Tile) -> None:
        """Take the scores of some keys and their values."""
        new = pto.max(pto.rowmax(s), self.top)
        p, old = pto.exp(s - new), pto.exp(self.top - new)
        part = pto.matmul(p.cast(f16).to("mat").to("left"), values).to("vec")
        pto.add(self.total * old, pto.rowsum(p), out=self.total)
        pto.add(self.acc * old, part, out=self.acc)
        pto.copy(new, out=self.top)

    def result(self) -> pto.Tile:
        return self.acc / self.total


@pto.kernel(shapes="q[m, D] k[n, D] v[n, D] mask[m, n] o[m, D]")
def flash_masked(
    q: pto.In, k: pto.In, v: pto.In, mask: pto.In, o: pto.Out, *, bm: int = 32, bn: int = 32
) -> None:
    (m, d), n = q.shape, k.shape[0]
    for i in pto.grid(pto.cdiv(m, bm)):
        out = pto.block(o, i * bm, 0, bm, d)
        left = pto.load(pto.block(q, i * bm, 0, bm, d), "mat").to("left")
        run = Running(bm, d, out.shape[0])
        for j in pto.range(0, n, bn):
            keys = pto.load(pto.block(k.T, 0, j, d, bn), "mat").to("right")
            values = pto.load(pto.block(v, j, 0, bn, d), "mat").to("right")
            bias = pto.load(pto.block(mask, i * bm, j, bm, bn))
            run.step(pto.matmul(left, keys).to("vec") * d**-0.5 + bias, values)
        pto.store(out, run.result())


@pto.kernel(shapes="q[m, D] k[m, D] v[m, D] mask[m, m] o[m, D]")
def flash_causal(
    q: pto.In, k: pto.In, v: pto.In, mask: pto.In, o: pto.Out, *, bm: int = 32, bn: int = 32
) -> None:
    m, d = q.shape
    for i in pto.grid(pto.cdiv(m, bm)):
        out = pto.block(o, i * bm, 0, bm, d)
        left = pto.load(pto.block(q, i * bm, 0, bm, d), "mat").to("left")
        run = Running(bm, d, out.shape[0])
        for j in pto.range(0, pto.min((i + 1) * bm, m), bn):  # nothing above the diagonal
            keys = pto.load(pto.block(k.T, 0, j, d, bn), "mat").to("right")
            values = pto.load(pto.block(v, j, 0, bn, d), "mat").to("right")
            bias = pto.load(pto.block(mask, i * bm, j, bm, bn))
            run.step(pto.matmul(left, keys).to("vec") * d**-0.5 + bias, values)
        pto.store(out, run.result())


@pto.kernel(shapes="q[H, m, D] k[G, n, D] v[G, n, D] o[H, m, D]")
def grouped(q: pto.In, k: pto.In, v: pto.In, o: pto.Out, *, bm: int = 32, bn: int = 32) -> None:
    (heads, m, d), (groups, n) = q.shape, k.shape[:2]
    for h, i in pto.grid(heads, pto.cdiv(m, bm)):
        out, group = pto.block(o[h], i * bm, 0, bm, d), h // (heads // groups)
        left = pto.load(pto.block(q[h], i * bm, 0, bm, d), "mat").to("left")
        run = Running(bm, d, out.shape[0])
        for j in pto.range(0, n, bn):
            keys = pto.load(pto.block(k[group].T, 0, j, d, bn), "mat").to("right")
            values = pto.load(pto.block(v[group], j, 0, bn, d), "mat").to("right")
            run.step(pto.matmul(left, keys).to("vec") * d**-0.5, values)
        pto.store(out, run.result())


@pto.kernel(shapes="q[B, H, D] k[P, S, D] v[P, S, D] table[B, T] lengths[B] o[B, H, D]")
def paged(q: pto.In, k: pto.In, v: pto.In, table: pto.In, lengths: pto.In, o: pto.Out) -> None:
    (batch, heads, d), size = q.shape, k.shape[1]
    high = -(-heads // 16) * 16
    for b in pto.grid(batch):
        left = pto.load(pto.block(q[b], 0, 0, heads, d), "mat").to("left")
        run = Running(high, d, heads)
        length: int = lengths[b]
        for j in pto.range(pto.cdiv(length, size)):
            page: int = table[b, j]
            valid = pto.min(size, length - j * size)
            keys = pto.load(pto.block(k[page, :valid].T, 0, 0, d, size), "mat").to("right")
            values = pto.load(pto.block(v[page, :valid], 0, 0, size, d), "mat").to("right")
            run.step(pto.matmul(left, keys).to("vec") * d**-0.5, values)
        pto.store(pto.block(o[b], 0, 0, heads, d), run.result())


@pto.kernel(shapes="q[H, D] k[n, D] v[n, D] o[H, D]")
def decode(q: pto.In, k: pto.In, v: pto.In, o: pto.Out, *, bn: int = 32) -> None:
    (heads, d), n = q.shape, k.shape[0]
    left = pto.load(pto.block(q, 0, 0, heads, d), "mat").to("left")
    run = Running(-(-heads // 16) * 16, d, heads)
    for j in pto.range(0, n, bn):
        keys = pto.load(pto.block(k.T, 0, j, d, bn), "mat").to("right")
        values = pto.load(pto.block(v, j, 0, bn, d), "mat").to("right")
        run.step(pto.matmul(left, keys).to("vec") * d**-0.5, values)
    pto.store(pto.block(o, 0, 0, heads, d), run.result())
