"""Cases of loads and stores: %p is the place of both registers, %o + %at and %to of the result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from belowtiles import (
    BYTES,
    EVERY,
    NUMBER,
    REALS,
    ROOM,
    TYPES,
    Given,
    Lanes,
    Meaning,
    case,
)


def octets(g: Given) -> Lanes:
    """Return the bytes of both registers, as they lie in the buffer."""
    return np.concatenate((g.x.view(np.uint8), g.y.view(np.uint8)))


def elements(g: Given, bits: int) -> Lanes:
    return octets(g).view(f"u{bits // 8}")


def load(dist: str, kind: str, f: Callable[[Given], Lanes]) -> None:
    case(f'vlds %p[%c0] {{dist = "{dist}"}} : P', kind, "V", lambda g: f(g).view(TYPES[kind]))


def fresh(g: Given, bits: int, count: int, step: int) -> Lanes:
    """Return elements with zeros behind each."""
    found = np.zeros(BYTES * 8 // bits, f"u{bits // 8}")
    found[::step] = elements(g, bits)[:count]
    return found


case("vlds %p[%c0] : P", EVERY, "V", lambda g: g.x)
case("vlds %p[%c1] : P", "ui32", "i16", lambda g: octets(g).view(np.int16)[2 : 2 + 128])
case(
    'vlds %p[%c0] {dist = "UNPK_B8"} : P',
    "ui8",
    "ui16",
    lambda g: octets(g)[:128].astype(np.uint16),
)
for bits, kind in ((8, "ui8"), (16, "f16"), (32, "f32")):
    n = BYTES * 8 // bits
    load(f"BRC_B{bits}", kind, lambda g, b=bits, n=n: np.repeat(elements(g, b)[:1], n))
    load(f"UNPK_B{bits}", kind, lambda g, b=bits, n=n: fresh(g, b, n // 2, 2))
    if bits < 32:
        load(f"US_B{bits}", kind, lambda g, b=bits, n=n: np.repeat(elements(g, b)[: n // 2], 2))
        load(f"DS_B{bits}", kind, lambda g, b=bits, n=n: elements(g, b)[: 2 * n : 2])
        load(f"SPLT2CHN_B{bits}", kind, lambda g, b=bits, n=n: elements(g, b)[: 2 * n : 2])
    else:
        load(f"E2B_B{bits}", kind, lambda g, b=bits, n=n: np.repeat(elements(g, b)[:8], n // 8))
load("BRC_BLK", "f32", lambda g: np.tile(octets(g)[:32], 8))
load("UNPK4", "ui8", lambda g: fresh(g, 8, 64, 4))
for bits in (8, 16, 32):
    pair = f'vldsx2 %p[%c0], "DINTLV_B{bits}" : P, index'
    case(
        pair,
        "f32",
        "V V",
        lambda g, b=bits: tuple(elements(g, b)[n::2].copy().view(np.float32) for n in (0, 1)),
    )
case(
    'vldsx2 %p[%c0], "BDINTLV" : P, index',
    "i32",
    "V V",
    lambda g: tuple(octets(g).reshape(16, 32)[n::2].ravel().view(np.int32) for n in (0, 1)),
)


def stored(f: Callable[[Given, Lanes], None]) -> Meaning:
    """Return what a store leaves in bytes that were 0."""

    def meaning(g: Given) -> Lanes:
        found = np.zeros(ROOM, np.uint8)
        f(g, found)
        return found

    return meaning


def store(dist: str, kind: str, f: Callable[[Given, Lanes], None]) -> None:
    case(f'vsts %x, %o[%at], %m {{dist = "{dist}"}} : V, P, M', kind, "bytes", stored(f))


def narrow(g: Given, out: Lanes, bits: int, part: int) -> None:
    """Store the low part of each element of so many bits, where its lane is active."""
    x = octets(g)[:BYTES].view(f"u{bits // 8 // part}")[::part]
    chosen = g.bits[:: bits // 8] > 0
    into = out.view(x.dtype)[: x.size]
    into[chosen] = x[chosen]


def plain(g: Given, out: Lanes) -> None:
    out.view(g.x.dtype)[: g.n][g.m] = g.x[g.m]


def first_of(bits: int) -> Callable[[Given, Lanes], None]:
    def found(g: Given, out: Lanes) -> None:
        out[: bits // 8] = octets(g)[: bits // 8]

    return found


case("vsts %x, %o[%at], %m : V, P, M", EVERY, "bytes", stored(plain))
for bits, kind in ((8, "ui8"), (16, "f16"), (32, "f32")):
    store(f"NORM_B{bits}", kind, plain)
    store(f"1PT_B{bits}", kind, first_of(bits))
store("PK_B16", "i16", lambda g, out: narrow(g, out, 16, 2))
store("PK_B32", "i32", lambda g, out: narrow(g, out, 32, 2))
store("PK_B64", "f32", lambda g, out: narrow(g, out, 64, 2))
store("PK4_B32", "i32", lambda g, out: narrow(g, out, 32, 4))


def woven(bits: int) -> Callable[[Given, Lanes], None]:
    def found(g: Given, out: Lanes) -> None:
        parts = (v.view(f"u{bits // 8}") for v in (g.x, g.y))
        out.view(f"u{bits // 8}")[:] = np.stack([*parts], 1).ravel()

    return found


for bits in (8, 16, 32):
    case(
        f'vstsx2 %x, %y, %o[%at], "INTLV_B{bits}", %m : V, V, P, index, M',
        "f32",
        "bytes",
        stored(woven(bits)),
    )


def blocks(g: Given) -> Lanes:
    chosen = (g.bits[::4] > 0)[:8]
    found = octets(g).reshape(16, 32)[1::2][:8]
    return np.where(chosen[:, None], found, 0 * found).ravel().view(g.x.dtype)


def put_blocks(g: Given, out: Lanes) -> None:
    chosen = (g.bits[::4] > 0)[:8]
    out.reshape(16, 32)[1::2][:8][chosen] = octets(g)[:BYTES].reshape(8, 32)[chosen]


case("vsldb %p, %two, %uno, %m : P, i16, i16, M", "f32", "V", blocks)
case("vsstb %x, %to, %two, %uno, %m : V, P, i16, i16, M", "f32", "bytes", stored(put_blocks))


def gathered(g: Given) -> Lanes:
    at = np.concatenate((g.x, g.y))
    return g.zeroed(at[where_to(g)])


def where_to(g: Given) -> Lanes:
    """Return the indices that %j holds: NUMBER + lane."""
    return NUMBER + np.arange(g.n)


case("vgather2 %p, %j, %m : P, V, M", ("i32", "i16"), "V", gathered)
case("vgather2_bc %p, %j, %m : P, V, M", "i32", "V", gathered)


def scattered(g: Given, out: Lanes) -> None:
    out.view(g.x.dtype)[where_to(g)[g.m]] = g.x[g.m]


case("vscatter %x, %to, %j, %m : V, P, V, M", ("i32", "i16"), "bytes", stored(scattered))


def scattered_bytes(g: Given, out: Lanes) -> None:
    """Every second byte goes to one of 128 places; %b are the bits of every second lane."""
    out[np.arange(128)] = g.x[0::2]


case(
    "vscatter %x, %to, %i, %b : V, P, !pto.vreg<128xi16>, !pto.mask<b16>",
    "ui8",
    "bytes",
    stored(scattered_bytes),
)


def gathered_blocks(g: Given) -> Lanes:
    chosen = (g.bits[::4] > 0)[:8]
    found = octets(g)[32:64]
    return (
        np.where(chosen[:, None], np.tile(found, (8, 1)), 0)
        .astype(np.uint8)
        .ravel()
        .view(g.x.dtype)
    )


case("vgatherb %p, %lines, %m : P, V, M", "i32", "V", gathered_blocks)
case(
    "uvld %p[%c1] : P",
    EVERY,
    "V",
    lambda g: np.concatenate((g.x, g.y))[1 : 1 + g.n],
)
case(
    "vldus %p, %state : P, !pto.align",
    "f32",
    "V !pto.align",
    lambda g: (g.x, np.zeros(0, np.uint8)),
)


def head(g: Given, out: Lanes) -> None:
    out.view(g.x.dtype)[:7] = g.x[:7]


case(
    "vstus %state, %seven, %x, %to : !pto.align, i32, V, P", "f32", "bytes !pto.align", stored(head)
)


def sorted_records(g: Given, out: Lanes) -> None:
    """The first 32 lanes, the greatest first, with the bits of the second register as indices."""
    order = np.argsort(-g.x[:32].astype(np.float64), kind="stable")
    record = np.dtype([("score", g.x.dtype), ("zeros", "V2"), ("index", "u4")])
    record = record if g.x.itemsize == 2 else np.dtype([("score", g.x.dtype), ("index", "u4")])
    found = np.zeros(32, record)
    found["score"], found["index"] = g.x[:32][order], octets(g)[BYTES:].view(np.uint32)[:32][order]
    out[:256] = found.view(np.uint8)


case(
    "vbitsort %to, %p, %q, %c1 : P, P, !pto.ptr<ui32, ub>, index",
    REALS,
    "bytes",
    stored(sorted_records),
)


def all_bits(g: Given) -> Lanes:
    return np.unpackbits(octets(g), bitorder="little")


for name in ("plds", "pldi"):
    case(f'{name} %p[%c0], "NORM" : P, index', "ui8", "M", lambda g: all_bits(g)[:BYTES])
    case(
        f'{name} %p[%c0], "US" : P, index',
        "ui8",
        "M",
        lambda g: np.repeat(all_bits(g)[: BYTES // 2], 2),
    )
    case(f'{name} %p[%c0], "DS" : P, index', "ui8", "M", lambda g: all_bits(g)[: 2 * BYTES : 2])


def packed_bits(step: int) -> Callable[[Given, Lanes], None]:
    def found(g: Given, out: Lanes) -> None:
        octets = np.packbits(g.bits[::step], bitorder="little")
        out[: octets.size] = octets

    return found


for name in ("psts", "psti"):
    case(f'{name} %m, %to[%c0], "NORM" : M, P, index', "f16", "bytes", stored(packed_bits(1)))
    case(f'{name} %m, %to[%c0], "PK" : M, P, index', "f16", "bytes", stored(packed_bits(2)))
case(
    "pstu %state, %m, %to : !pto.align, M, P", "ui32", "bytes !pto.align P", stored(packed_bits(4))
)
