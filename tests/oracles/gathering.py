"""TGATHER in its three forms, and TGATHERB."""

from __future__ import annotations

import numpy as np

from oracles.conversions import converted
from oracles.formats import Array, bits_of, quieted, storage_type, typed
from oracles.registry import InStorage, Refused, Result, Seen, Undefined, meaning, number

PERIOD = {
    **{"P1111": (0, 1), "P0101": (0, 2), "P1010": (1, 2)},
    **{"P0001": (0, 4), "P0010": (1, 4), "P0100": (2, 4), "P1000": (3, 4)},
}


@meaning("TGather")
def by_index(dst: Seen, src0: Seen, indices: Seen, outside: str | None, target: str) -> Array:
    """Indices count the declared shape row by row; the simulator wraps, hardware must not."""
    rows, cols = dst.valid
    table, index = src0.all.reshape(-1), indices.all[:rows, :cols].astype(np.int64)
    out = (index < 0) | (index >= table.size)
    policy = outside or ("WRAP" if target == "cpu" else "ERROR")
    if policy == "ERROR" and out.any():
        raise Refused("gather-out-of-bounds")
    held = index % table.size if policy == "WRAP" else index.clip(0, table.size - 1)
    found = table[held]
    if policy == "ZERO":
        found = np.where(out, typed(np.zeros(1, int), dst.dtype), found)
    return found


@meaning("TGatherMask")
def by_mask(dst: Seen, src: Seen, pattern: str, axis: str, target: str) -> Result:
    """Whole rows; or columns, whose elements follow one another in the storage.

    X124: on A5 rows of 64 bits begin a part of dst's columns apart.
    """
    first, step = PERIOD[pattern]
    rows, cols = src.valid
    codes = src.codes[:rows, :cols]
    if axis == "COL":
        return typed(codes[first::step], dst.dtype)
    if target != "cpu" and bits_of(dst.dtype) == 64:
        out, pitch, kept = dst.storage.copy(), dst.codes.shape[1] // step, cols // step
        for r in range(rows):
            out[r * pitch : r * pitch + kept] = codes[r, first::step][:kept]
        return InStorage(typed(out, dst.dtype))
    return InStorage(typed(codes[:, first::step].reshape(-1), dst.dtype))


def by_row(tile: Seen, rows: int) -> Array:
    """A value for each row, from a column or from the first row."""
    return tile.all[:rows, 0] if tile.valid[1] == 1 else tile.all[0, :rows]


@meaning("TGatherCompare")
def by_comparison(
    dst: Seen, src0: Seen, k_value: Seen, cdst: Seen, offset: int, cmp: str
) -> Result:
    """Flat indices of the matches; what follows them stays. C64: bytes are unsigned."""
    rows = src0.valid[0]
    if bits_of(src0.dtype) == 8:
        octets = src0.values.view(np.uint8)
        return matching(dst, src0, octets, by_row(k_value, rows), cdst, offset, cmp)
    limits = converted(by_row(k_value, rows), k_value.dtype, src0.dtype)
    return matching(dst, src0, src0.values, limits, cdst, offset, cmp)


@meaning("TGatherCompareNumber")
def by_comparison_with_one(
    dst: Seen, src0: Seen, k_value: float, cdst: Seen, offset: int, cmp: str
) -> Result:
    """As the assembler has it: one threshold."""
    limits = typed(number(k_value, src0.dtype), src0.dtype).reshape(-1)
    return matching(dst, src0, src0.values, limits, cdst, offset, cmp)


def matching(
    dst: Seen, src0: Seen, x: Array, limits: Array, cdst: Seen, offset: int, cmp: str
) -> Result:
    """The matches of each row, and their number."""
    matches = x > limits[:, None] if cmp == "GT" else x == limits[:, None]
    out, counts = dst.codes.copy(), matches.sum(1)
    for r, line in enumerate(matches):
        found = offset + r * src0.codes.shape[1] + np.flatnonzero(line)
        out[r, : found.size] = found.astype(np.uint32)
    column = typed(counts.astype(storage_type(cdst.dtype))[:, None], cdst.dtype)
    return {"dst": typed(out, dst.dtype), "cdst": column if cdst.valid[1] == 1 else column.T}


@meaning("TGatherB")
def by_block(dst: Seen, src: Seen, offsets: Seen) -> Array:
    """Blocks of 32 bytes; one that would reach past the source is left as it is."""
    if {dst.kind.layout.name, offsets.kind.layout.name} != {"ND"}:
        raise Undefined("3.14 speaks of row-major storage only")
    size = bits_of(dst.dtype) // 8
    source = src.octets if bits_of(src.dtype) >= 8 else src.storage[0::2] | src.storage[1::2] << 4
    out = np.ascontiguousarray(dst.codes).view(np.uint8).copy()
    for r in range(dst.valid[0]):
        for b in range(dst.valid[1] * size // 32):
            start = int(offsets.codes[r, b])  # u32, whatever the type of four bytes
            if start + 32 <= source.size:
                out[r, 32 * b : 32 * b + 32] = source[start : start + 32]
    return typed(out.view(storage_type(dst.dtype)), dst.dtype)


def cleared(dst: Seen, target: str) -> Array:
    """What dst's elements are before a scatter: zeros, on the simulator what they were."""
    return dst.codes.copy() if target == "cpu" else np.zeros_like(dst.codes)


@meaning("TScatter")
def scattered(dst: Seen, src: Seen, indexes: Seen, target: str) -> Result:
    """C1.3: into the storage, one after the other."""
    if target != "cpu" and not dst.together:
        raise Undefined("which elements of a window become 0")
    rows, cols = indexes.valid
    out = dst.storage.copy() if target == "cpu" else np.zeros_like(dst.storage)
    for r in range(rows):
        for c in range(cols):
            place = int(indexes.all[r, c])
            if not 0 <= place < out.size:
                raise Refused("scatter-out-of-bounds")
            out[place] = src.codes[r, c]
    return InStorage(typed(out, dst.dtype))


@meaning("TScatterMask")
def spread(dst: Seen, src: Seen, pattern: str, axis: str, target: str) -> Array:
    """C1.3: the selected columns or rows, zeros between them."""
    first, step = PERIOD[pattern]
    rows, cols = dst.valid
    out = cleared(dst, target)
    out[:rows, :cols] = 0
    codes = src.codes[: src.valid[0], : src.valid[1]]
    if axis == "COL":
        out[first:rows:step, : src.valid[1]] = codes
    else:
        out[:rows, first:cols:step] = codes
    return typed(out, dst.dtype)


@meaning("TInterleave")
def interleaved(src0: Seen, src1: Seen) -> Result:
    """Columns alternately."""
    rows, cols = src0.valid
    stream = np.stack([src0.values, src1.values], axis=2).reshape(rows, 2 * cols)
    second = cols - cols % 2  # of an odd number, a pair that both have a part of
    return {"dst0": stream[:, :cols], "dst1": stream[:, second : second + cols]}


@meaning("TDeinterleave")
def separated(src0: Seen, src1: Seen) -> Result:
    stream = np.concatenate([src0.values, src1.values], axis=1)
    return {"dst0": stream[:, 0::2], "dst1": stream[:, 1::2]}


@meaning("TDeinterleaveOne")
def separated_one(src: Seen) -> Result:
    return {"dst0": src.values[:, 0::2], "dst1": src.values[:, 1::2]}


def reached(
    tile: Seen, table: Seen, indices: Seen, coalesce: str | None
) -> tuple[Array, int, bool]:
    """The indices as u32, how many there may be, and whether they are of rows."""
    region = indices.valid
    rows = coalesce == "ROW" or (coalesce is None and region != tile.valid)
    index = indices.codes[: region[0], : region[1]].astype(np.int64)
    return index, table.codes.shape[0] if rows else table.codes.size, rows


@meaning("MGather", "MGatherToL1")
def read_at(
    dst: Seen, src: Seen, indices: Seen, coalesce: str | None, outside: str | None
) -> Array:
    index, count, rows = reached(dst, src, indices, coalesce)
    beyond = index >= count
    if outside in (None, "ERROR") and beyond.any():
        raise Refused("gather-out-of-bounds")
    held = index % count if outside == "WRAP" else index.clip(0, count - 1)
    if rows:
        found = src.codes[held.reshape(-1), : dst.valid[1]]
        gone = beyond.reshape(-1, 1)
    else:
        found, gone = src.codes.reshape(-1)[held], beyond
    return typed(np.where(gone & (outside == "ZERO"), 0, found).astype(found.dtype), dst.dtype)


@meaning("MScatter")
def written_at(
    dst: Seen, src: Seen, indices: Seen, coalesce: str | None, atomic: str, outside: str | None
) -> Array:
    """One after the other; sums are rounded each time."""
    index, count, rows = reached(src, dst, indices, coalesce)
    out = dst.all.copy()
    for r in range(src.valid[0]):
        for c in range(src.valid[1]):
            place = int(index.reshape(-1)[r] if rows else index[r, c])
            if place >= count:
                if outside in (None, "ERROR"):
                    raise Refused("scatter-out-of-bounds")
                if outside == "SKIP":
                    continue
                place = place % count if outside == "WRAP" else count - 1
            at = (place, c) if rows else divmod(place, out.shape[1])
            old, new = out[at], src.values[r, c]
            with np.errstate(all="ignore"):
                if atomic == "ADD":
                    new = quieted(np.asarray([old + new]).astype(out.dtype), dst.dtype)[0]
                elif atomic != "NONE" and not (old < new if atomic == "MAX" else new < old):
                    new = old
            out[at] = new
    return out


def tallied(dst: Seen, src: Seen, idx: Seen, byte: int) -> Array:
    """C1.7: byte by byte; what an element must have above it."""
    rows, cols = src.valid
    top = bits_of(src.dtype) // 8 - 1
    out = dst.codes[:rows].copy()
    out[:, :256] = 0
    for r in range(rows):
        for c in range(cols):
            octets = int(src.codes[r, c]).to_bytes(top + 1, "big")
            wanted = [idx.codes[r, 0]] if top == 1 else idx.codes[:3, 0]
            if list(octets[: top - byte]) == [int(w) for w in wanted[: top - byte]]:
                out[r, octets[top - byte] : 256] += 1
    return typed(out, dst.dtype)


@meaning("THistogram")
def histogram(dst: Seen, src: Seen, idx: Seen, byte: int) -> Array:
    return tallied(dst, src, idx, byte)


@meaning("THistogramHalf")
def histogram_of_half(dst: Seen, src: Seen, idx: Seen, is_msb: bool) -> Array:
    return tallied(dst, src, idx, int(is_msb))


def philox(counter: int, key: tuple[int, int], rounds: int) -> list[int]:
    """C1.6: a block of four words."""
    words, (k0, k1), low = [counter >> 32 * n & 0xFFFFFFFF for n in range(4)], key, 0xFFFFFFFF
    for _ in range(rounds):
        p0, p1 = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [p1 >> 32 ^ words[1] ^ k0, p1 & low, p0 >> 32 ^ words[3] ^ k1, p0 & low]
        k0, k1 = k0 + 0x9E3779B9 & low, k1 + 0xBB67AE85 & low
    return words


@meaning("TRandom")
def random_numbers(
    dst: Seen,
    key0: int,
    key1: int,
    counter0: int,
    counter1: int,
    counter2: int,
    counter3: int,
    rounds: int,
    target: str,
) -> Array:
    rows, cols = dst.valid
    low, out = 0xFFFFFFFF, np.zeros((rows, cols), np.uint32)
    first = sum((c & low) << 32 * n for n, c in enumerate((counter0, counter1, counter2, counter3)))
    for r in range(rows):
        for chunk in range(0, cols, 256):
            for lane in range(64):
                block = philox((first + lane) % (1 << 128), (key0 & low, key1 & low), rounds)
                for w, word in enumerate(block):
                    at = chunk + (64 * w + lane if target == "cpu" else 4 * lane + w)
                    if at < cols:
                        out[r, at] = word
            last = chunk + 256 >= cols
            step = ((cols - 1) % 64 + 1) if last else 64
            first += dst.codes.shape[1] // 4 if target == "cpu" else step
    return typed(out, dst.dtype)


@meaning("TSetVal")
def with_element(dst: Seen, offset: int, val: float) -> Result:
    """C1.8: of the storage."""
    out = typed(dst.storage.copy(), dst.dtype)
    out[offset : offset + 1] = number(val, dst.dtype)[0]
    return InStorage(out)


@meaning("TPrefetch", "TPrint", "TPrintView")
def nothing_written() -> None:
    """A hint, and text on standard output."""
