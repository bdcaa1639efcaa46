"""Data movement: rows and blocks go where numbers in memory, or other axes, say."""

import ptokit as pto
from ptokit import f32, u32


@pto.kernel(shapes="x[rows, cols] y[cols, rows]")
def transpose(x: pto.In, y: pto.Out, *, high: int = 32, wide: int = 32) -> None:
    rows, cols = x.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(cols, wide)):
        t = pto.load(pto.block(x, i * high, j * wide, high, wide))
        pto.store(pto.block(y, j * wide, i * high, wide, high), pto.trans(t))


@pto.kernel(shapes="table[V, D] ids[n] y[n, D]")
def embedding(table: pto.In, ids: pto.In, y: pto.Out) -> None:
    width = table.shape[1]
    for i in pto.grid(ids.shape[0]):
        pto.store(pto.block(y, i, 0, 1, width), pto.load(pto.block(table, ids[i], 0, 1, width)))


@pto.kernel(shapes="x[n, D] ids[n] y[V, D]")
def scatter_add(x: pto.In, ids: pto.In, y: pto.InOut) -> None:
    width = x.shape[1]
    for i in pto.grid(ids.shape[0]):
        row = pto.load(pto.block(x, i, 0, 1, width))
        pto.store(pto.block(y, ids[i], 0, 1, width), row, atomic="add")


@pto.kernel(shapes="a[m, D] b[n, D] y[total, D]")
def concat(a: pto.In, b: pto.In, y: pto.Out, *, high: int = 32) -> None:
    first, width = a.shape
    for part, at in ((a, 0), (b, first)):
        for i in pto.grid(pto.cdiv(part.shape[0], high)):
            t = pto.load(pto.block(part, i * high, 0, high, width))
            rows = t.valid[0]
            pto.store(y[at + i * high : at + i * high + rows], t)


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def reversed_rows(x: pto.In, y: pto.Out) -> None:
    rows, width = x.shape
    for i in pto.grid(rows):
        pto.store(pto.block(y, rows - 1 - i, 0, 1, width), pto.load(pto.block(x, i, 0, 1, width)))


@pto.kernel(shapes="x[rows, D] flags[rows] y[rows, D] counts[C]")
def compacted(x: pto.In, flags: pto.In, y: pto.Out, counts: pto.In) -> None:
    """Rows whose flag is set, one after the other: a loop-carried number."""
    rows, width = x.shape
    at = counts[0]
    for i in pto.range(rows):
        if flags[i] > 0:
            pto.store(pto.block(y, at, 0, 1, width), pto.load(pto.block(x, i, 0, 1, width)))
            at += 1


@pto.kernel(shapes="x[rows, 32] ids[32, 32] values[rows, 32] places[rows, 32]")
def sorted_rows(x: pto.In, ids: pto.In, values: pto.Out, places: pto.Out) -> None:
    """Each row from its largest element on, and where the elements were: the first k are top-k."""
    rows = x.shape[0]
    for i in pto.grid(pto.cdiv(rows, 32)):
        t = pto.load(pto.block(x, i * 32, 0, 32, 32))
        high: int = t.valid[0]
        records = pto.tile_vec(f32, 32, 64, valid=(high, 64))
        pto.tsort32(records, t, pto.load(pto.block(ids[:high], 0, 0, 32, 32)))
        best, bits, at = (pto.tile_vec(d, 32, 32, valid=(high, 32)) for d in (f32, f32, u32))
        pto.tgather(best, records, pattern="P0101")
        pto.tgather(bits, records, pattern="P1010")
        pto.bitcast(at, bits)  # the same bytes: indices are whole numbers
        pto.store(pto.block(values, i * 32, 0, 32, 32), best)
        pto.store(pto.block(places, i * 32, 0, 32, 32), at)


@pto.kernel(shapes="x[rows, D] ids[32, 32] values[rows, K] places[rows, K]")
def top_k(x: pto.In, ids: pto.In, values: pto.Out, places: pto.Out) -> None:
    """The K largest elements of each row of at most 32, and where they were."""
    (rows, k), width = values.shape, x.shape[1]
    for i in pto.grid(pto.cdiv(rows, 32)):
        t = pto.load(pto.block(x, i * 32, 0, 32, width))
        high: int = t.valid[0]
        whole = pto.tile("vec", f32, 32, 32, valid=(high, 32), pad="min")
        pto.tfillpad_expand(whole, t)  # what a row lacks comes last
        records = pto.tile_vec(f32, 32, 64, valid=(high, 64))
        pto.tsort32(records, whole, pto.load(pto.block(ids[:high], 0, 0, 32, 32)))
        for out, pattern in ((values, "P0101"), (places, "P1010")):
            found = pto.tile_vec(out.dtype, 32, 32, valid=(high, 32))
            pto.tgather(found, records, pattern=pattern)
            first = pto.tile_vec(out.dtype, 32, 32, valid=(high, k))
            pto.subview(first, found)
            pto.store(pto.block(out, i * 32, 0, 32, k), first)


@pto.kernel(shapes="x[rows, D] ids[1, 128] values[rows, K] places[rows, K]")
def top_k_merged(x: pto.In, ids: pto.In, values: pto.Out, places: pto.Out) -> None:
    """The same for rows of at most 128: four sorted blocks of 32 are merged."""
    (rows, k), width = values.shape, x.shape[1]
    at = pto.load(pto.block(ids, 0, 0, 1, 128))
    for i in pto.grid(rows):
        whole = pto.tile("vec", f32, 1, 128, pad="min")
        pto.tfillpad_expand(whole, pto.load(pto.block(x, i, 0, 1, width)))
        blocks, records = (pto.tile_vec(f32, 1, 256) for _ in range(2))
        pto.tsort32(blocks, whole, at)
        pto.tmrgsort(records, blocks, 64)
        for out, pattern in ((values, "P0101"), (places, "P1010")):
            found = pto.tile_vec(out.dtype, 1, 128)
            pto.tgather(found, records, pattern=pattern)
            first = pto.tile_vec(out.dtype, 1, 128, valid=(1, k))
            pto.subview(first, found)
            pto.store(pto.block(out, i, 0, 1, k), first)
