"""Cases of instructions on registers and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from belowtiles import (
    BYTES,
    EVERY,
    NUMBER,
    REALS,
    TYPES,
    WHOLE,
    Given,
    Lanes,
    Meaning,
    bits_of,
    case,
    image,
    mask,
    number,
    one,
    other,
    two,
    wide,
)

two("vadd", EVERY, lambda x, y: x + y)
two("vsub", EVERY, lambda x, y: x - y)
two("vmul", ("f32", "f16", "i16", "ui32"), lambda x, y: x * y)
two("vdiv", REALS, lambda x, y: x / y)
two("vdiv", ("i16", "i32"), lambda x, y: quotients(x, y))
two("vmax", EVERY, np.maximum)
two("vmin", EVERY, np.minimum)
two("vand", EVERY, bits_of(np.bitwise_and))
two("vor", EVERY, bits_of(np.bitwise_or))
two("vxor", EVERY, bits_of(np.bitwise_xor))
two("vprelu", REALS, lambda x, y: np.where(x < 0, x * y, x))
one("vabs", ("f32", "f16", "i16", "ui8"), np.abs)
one("vneg", ("f32", "f16", "i32"), np.negative)
one("vexp", REALS, wide(np.exp), close=True)
one("vln", REALS, wide(np.log), close=True)
one("vsqrt", REALS, wide(np.sqrt))
one("vrelu", ("f32", "i32"), lambda x: np.maximum(x, np.zeros_like(x)))
one("vnot", WHOLE, np.invert)
number("vadds", EVERY, lambda x, s: x + s)
number("vmuls", ("f32", "f16", "i16"), lambda x, s: x * s)
number("vmaxs", EVERY, np.maximum)
number("vmins", EVERY, np.minimum)
number("vsubs", EVERY, lambda x, s: x - s)
number("vands", WHOLE, np.bitwise_and)
number("vors", WHOLE, np.bitwise_or)
number("vxors", WHOLE, np.bitwise_xor)
two("vaddrelu", REALS, lambda x, y: np.maximum(x + y, np.zeros_like(x)))
two("vsubrelu", REALS, lambda x, y: np.maximum(x - y, np.zeros_like(x)))
one("vrec", REALS, lambda x: np.ones_like(x) / x)
one("vrsqrt", REALS, lambda x: np.ones_like(x) / np.sqrt(x))
one("vmov", EVERY, lambda x: x)


def quotients(x: Lanes, y: Lanes) -> Lanes:
    """Return exact quotients toward zero, and 0 for divisors of 0."""
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    found = [0 if not b else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1) for a, b in pairs]
    return np.array(found).astype(x.dtype)


def binary_digits(x: Lanes) -> list[str]:
    """Return the bits of each integer as text."""
    width = 8 * x.itemsize
    return [format(int(n), f"0{width}b") for n in x.view(f"u{x.itemsize}")]


one("vbcnt", WHOLE, lambda x: np.array([t.count("1") for t in binary_digits(x)], x.dtype))
one(
    *("vcls", WHOLE),
    lambda x: np.array([len(t) - len(t.lstrip(t[0])) for t in binary_digits(x)], x.dtype),
)
number("vlrelu", REALS, lambda x, s: np.where(x < 0, x * s, x))


def shifted(name: str, f: Callable[[Lanes, Lanes], Lanes]) -> None:
    """Add shifts by registers and by a number; counts beyond the width are another case."""
    for kind in WHOLE:
        case(
            f"{name}s %x, %three, %m : V, i16, M",
            kind,
            "V",
            lambda g: g.zeroed(f(g.x, np.full_like(g.x, NUMBER))),
        )
        case(
            f"{name} %x, %y, %m : V, V, M",
            kind,
            "V",
            lambda g: g.zeroed(far(f, g.x, g.y)),
        )


def far(f: Callable[[Lanes, Lanes], Lanes], x: Lanes, y: Lanes) -> Lanes:
    """Return shifts, whatever the counts: 0, or the sign for shifts to the right."""
    inside = (y >= 0) & (y < 8 * x.itemsize)
    down = f is np.right_shift
    beyond = (
        np.where(x < 0, np.full_like(x, -1), np.zeros_like(x))
        if down and x.dtype.kind == "i"
        else np.zeros_like(x)
    )
    return np.where(inside, f(x, np.where(inside, y, np.zeros_like(y))), beyond)


shifted("vshl", np.left_shift)
shifted("vshr", np.right_shift)


def fused(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    if x.dtype.kind != "f":
        return x * y + z
    return (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(x.dtype)


case(
    "vmula %y, %x, %x, %m : V, V, V, M",
    ("f32", "i32"),
    "V",
    lambda g: g.zeroed(fused(g.x, g.x, g.y)),
)
case(
    "vmadd %x, %y, %x, %m : V, V, V, M",
    "f32",
    "V",
    lambda g: g.zeroed(fused(g.x, g.y, g.x)),
)
case(
    "vaxpy %x, %y, %s, %m : V, V, T, M",
    "f32",
    "V",
    lambda g: g.zeroed(fused(g.x, np.full_like(g.x, NUMBER), g.y)),
)
case(
    'vexpdif %x, %y, %m, "ODD" : V, V, M',
    "f32",
    "V",
    lambda g: g.zeroed(wide(np.exp)(g.x - g.y)),
    close=True,
)


def carries(f: Callable[[Lanes, Lanes, Lanes], Lanes], borrows: bool) -> Meaning:
    def meaning(g: Given) -> tuple[Lanes, ...]:
        x, y = (v.view(np.uint32).astype(np.int64) for v in (g.x, g.y))
        total = f(x, y, g.m.astype(np.int64))
        out = total >= 0 if borrows else total > 0xFFFFFFFF
        low = (total & 0xFFFFFFFF).astype(np.uint32).view(g.x.dtype)
        return g.zeroed(low), image(g.m & out)

    return meaning


for kind in ("i32", "ui32"):
    case("vaddc %x, %y, %m : V, V, M", kind, "V M", carries(lambda x, y, c: x + y, False))
    case("vsubc %x, %y, %m : V, V, M", kind, "V M", carries(lambda x, y, c: x - y, True))
    case(
        "vaddcs %x, %y, %m, %m : V, V, M, M", kind, "V M", carries(lambda x, y, c: x + y + c, False)
    )
    case(
        "vsubcs %x, %y, %m, %m : V, V, M, M",
        kind,
        "V M",
        carries(lambda x, y, c: x - y - 1 + c, True),
    )


def product(g: Given) -> tuple[Lanes, ...]:
    wider = f"{g.x.dtype.kind}8"
    whole = g.x.astype(wider) * g.y.astype(wider)
    return g.zeroed(whole.astype(g.x.dtype)), g.zeroed((whole >> 32).astype(g.x.dtype))


case("vmull %x, %y, %m : V, V, M", ("i32", "ui32"), "V V", product)

for word, compare in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    case(
        f'vcmp %x, %y, %m, "{word}" : V, V, M',
        ("f32", "ui8", "i16"),
        "M",
        lambda g, f=compare: image(g.m & f(g.x, g.y)),
    )
    case(
        f'vcmps %x, %s, %m, "{word}" : V, T, M',
        ("f32", "i32"),
        "M",
        lambda g, f=compare: image(g.m & f(g.x, NUMBER)),
    )
case("vsel %x, %y, %m : V, V, M", EVERY, "V", lambda g: np.where(g.m, g.x, g.y))
case("vselr %x, %y : V, V", ("ui8", "i16", "i32"), "V", lambda g: g.x[g.y & (g.n - 1)])
case("vbr %s : T", EVERY, "V", lambda g: np.full_like(g.x, NUMBER))
case("vdup %s, %m : T, M", EVERY, "V", lambda g: g.zeroed(np.full_like(g.x, NUMBER)))
case(
    'vdup %x, %m {position = "HIGHEST"} : V, M',
    EVERY,
    "V",
    lambda g: g.zeroed(np.full_like(g.x, g.x[-1])),
)
case(
    'vci %s {order = "DESC"} : T',
    ("i8", "i16", "i32", "f32"),
    "V",
    lambda g: (NUMBER - np.arange(g.n)).astype(g.x.dtype),
)
case("vbitcast %x : V", "f32", "ui8", lambda g: g.x.view(np.uint8))
case("register_copy %x : V", "f16", "V", lambda g: g.x)


def turns(x: Lanes, y: Lanes) -> tuple[Lanes, ...]:
    both = np.stack((x, y), 1).ravel()
    return both[: x.size], both[x.size :]


def apart(x: Lanes, y: Lanes) -> tuple[Lanes, ...]:
    both = np.concatenate((x, y))
    return both[0::2], both[1::2]


case("vintlv %x, %y : V, V", EVERY, "V V", lambda g: turns(g.x, g.y))
case("vdintlv %x, %y : V, V", EVERY, "V V", lambda g: apart(g.x, g.y))
for n, half in enumerate(("LOWER", "HIGHER")):
    case(f'vintlvv2 %x, %y, "{half}" : V, V', EVERY, "V", lambda g, n=n: turns(g.x, g.y)[n])
    case(f'vdintlvv2 %x, %y, "{half}" : V, V', EVERY, "V", lambda g, n=n: apart(g.x, g.y)[n])


def squeezed(g: Given) -> Lanes:
    found = np.zeros_like(g.x)
    found[: g.m.sum()] = g.x[g.m]
    return found


case("vsqz %x, %m : V, M", EVERY, "V", squeezed)
case(
    "vusqz %x, %m : V, M",
    ("i8", "i16", "i32"),
    "V",
    lambda g: (np.cumsum(g.m) - g.m).astype(g.x.dtype),
)
for part, first in (("LOWER", 0), ("HIGHER", 1)):

    def packed(g: Given, at: int = first) -> Lanes:
        narrow = g.x.view(f"u{g.x.itemsize // 2}")[::2]
        return np.concatenate((narrow, 0 * narrow) if at == 0 else (0 * narrow, narrow))

    case(f'vpack %x, "{part}" : V', "i32", "ui16", packed)
    case(f'vpack %x, "{part}" : V', "i16", "ui8", packed)
    case(
        f"vsunpack %x, %c{first} : V, index",
        "i16",
        "i32",
        lambda g, n=first: np.split(g.x, 2)[n].astype(np.int32),
    )
    case(
        f"vzunpack %x, %c{first} : V, index",
        "i16",
        "i32",
        lambda g, n=first: np.split(g.x.view(np.uint16), 2)[n].astype(np.int32),
    )
    case(f'ppack %m, "{part}" : M', ("f32", "ui8"), "M", lambda g, n=first: halves(g.bits[::2], n))
    case(
        f'punpack %m, "{part}" : M',
        ("f16", "ui8"),
        "M",
        lambda g, n=first: spaced(np.split(g.bits, 2)[n]),
    )


def halves(bits: Lanes, which: int) -> Lanes:
    return np.concatenate((bits, 0 * bits) if which == 0 else (0 * bits, bits))


def spaced(bits: Lanes) -> Lanes:
    return np.stack((bits, 0 * bits), 1).ravel()


def tree(x: Lanes, count: int) -> Lanes:
    """Return the sums of every `count` lanes, by neighbours."""
    while count > 1:
        x, count = x[0::2] + x[1::2], count // 2
    return x


def reduced(f: Callable[[Lanes], Lanes], nothing: Callable[[Lanes], Any]) -> Meaning:
    def meaning(g: Given) -> Lanes:
        found = np.zeros_like(g.x)
        some = f(np.where(g.m, g.x, np.full_like(g.x, nothing(g.x))))
        found[: some.size] = some
        return found

    return meaning


def least(x: Lanes) -> Any:  # Any: a number of its type
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def greatest(x: Lanes) -> Any:  # Any: a number of its type
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def groups(x: Lanes) -> Lanes:
    return x.reshape(8, -1)


REDUCED = ("f32", "f16", "i32", "i16", "ui8", "i8")
case(
    "vcadd %x, %m : V, M",
    ("f32", "f16", "i32"),
    "V",
    reduced(lambda x: tree(x, x.size), lambda x: 0),
)
case(
    "vcadd %x, %m : V, M",
    "i16",
    "i32",
    lambda g: np.append(np.sum(g.x[g.m], dtype=np.int32), np.zeros(63, np.int32)),
)
case("vcgadd %x, %m : V, M", REDUCED, "V", reduced(lambda x: tree(x, x.size // 8), lambda x: 0))
case("vcpadd %x, %m : V, M", REALS, "V", reduced(lambda x: tree(x, 2), lambda x: 0))
case("vcgmax %x, %m : V, M", REDUCED, "V", reduced(lambda x: groups(x).max(1), least))
case("vcgmin %x, %m : V, M", REDUCED, "V", reduced(lambda x: groups(x).min(1), greatest))


def with_place(f: Callable[[Lanes], Any]) -> Callable[[Lanes], Lanes]:  # Any: an index
    def found(x: Lanes) -> Lanes:
        at = f(x)
        return np.append(x[at : at + 1], np.array([at], f"u{x.itemsize}").view(x.dtype))

    return found


case("vcmax %x, %m : V, M", REDUCED, "V", reduced(with_place(np.argmax), least))
case("vcmin %x, %m : V, M", REDUCED, "V", reduced(with_place(np.argmin), greatest))


def marked(f: Callable[[Lanes], Any], nothing: Callable[[Lanes], Any]) -> Meaning:
    """Return the extreme of the selected lanes, and the selected lanes equal to it."""

    def meaning(g: Given) -> tuple[Lanes, ...]:
        best = f(np.where(g.m, g.x, np.full_like(g.x, nothing(g.x))))
        return np.where(np.arange(g.n) == 0, best, np.zeros_like(g.x)), image(g.m & (g.x == best))

    return meaning


case("vcbmax %x, %m : V, M", REDUCED, "V M", marked(np.max, least))
case("vcbmin %x, %m : V, M", REDUCED, "V M", marked(np.min, greatest))


def histogram(half: int, up_to: bool) -> Meaning:
    def meaning(g: Given) -> Lanes:
        counts = np.bincount(g.x[g.m], minlength=256)
        counts = np.cumsum(counts) if up_to else counts
        return (g.y.view(np.uint16) + counts.reshape(2, 128)[half]).astype(np.uint16)

    return meaning


for half in (0, 1):
    types = "!pto.vreg<128xui16>, V, M, index"
    for name, up_to in (("chistv2", True), ("dhistv2", False)):
        case(f"{name} %w, %x, %m, %c{half} : {types}", "ui8", "ui16", histogram(half, up_to))

mask("pand", np.bitwise_and)
mask("por", np.bitwise_or)
mask("pxor", np.bitwise_xor)
case(
    "psel %m, %k, %k : M, M, M",
    ("f32", "ui8"),
    "M",
    lambda g: np.where(np.repeat(other(g)[:: BYTES // g.n] > 0, BYTES // g.n), g.bits, other(g)),
)
case("pnot %m, %k : M, M", ("f32", "ui8"), "M", lambda g: (g.bits ^ 1) & other(g))
case("pbitcast %m : M", "f32", "!pto.mask<b8>", lambda g: g.bits)
case("first_lanes %seven : i32", ("f32", "ui8"), "M", lambda g: image(np.arange(g.n) < 7))
PATTERNS: dict[str, Callable[[Lanes], Lanes]] = {
    "PAT_ALL": lambda n: n >= 0,
    "PAT_ALLF": lambda n: n < 0,
    "PAT_VL8": lambda n: n < 8,
    "PAT_H": lambda n: n < n.size // 2,
    "PAT_Q": lambda n: n < n.size // 4,
    "PAT_M3": lambda n: n % 3 == 0,
    "PAT_M4": lambda n: n % 4 == 0,
}
for kind in ("f32", "f16", "ui8"):
    wide_ = f"_b{min(TYPES[kind].itemsize * 8, 32)}"
    for word, chosen in PATTERNS.items():
        case(
            f'{"pset" if word < "PAT_M" else "pge"}{wide_} "{word}"',
            kind,
            "M",
            lambda g, f=chosen: image(f(np.arange(g.n))),
        )
    case(f'pset{wide_} "PAT_VL4"', kind, "M", lambda g: image(np.arange(g.n) < 4))
    case(
        f"pintlv{wide_} %m, %k : M, M",
        kind,
        "M M",
        lambda g: tuple(map(image, turns(lane_bits(g, g.bits), lane_bits(g, other(g))))),
    )
    case(
        f"pdintlv{wide_} %m, %k : M, M",
        kind,
        "M M",
        lambda g: tuple(map(image, apart(lane_bits(g, g.bits), lane_bits(g, other(g))))),
    )


for kind in ("f32", "f16", "ui8"):
    plt = f"plt_b{min(TYPES[kind].itemsize * 8, 32)}"
    case(f"{plt} %seven : i32", kind, "M count", lambda g: image(np.arange(g.n) < 7))
    pltm = plt.replace("plt", "pltm")
    case(f"{pltm} %zero16, %seven : i16, i32", kind, "M", lambda g: image(np.arange(g.n) < 7))
    case(f"{pltm} %uno, %far : i16, i32", kind, "M", lambda g: image(np.arange(g.n) + g.n < 130))


def lane_bits(g: Given, bits: Lanes) -> Lanes:
    return bits[:: BYTES // g.n]
