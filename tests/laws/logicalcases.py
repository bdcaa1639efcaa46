"""Cases of the law of logical vectors: statements, and what they mean in NumPy.

In a statement V and M are the types of vectors and masks, T is that of numbers and P that of
pointers; %x and %y are vectors, %m is a mask, %s the number 3, %p points to the lanes of %x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Lanes: TypeAlias = "NDArray[Any]"  # Any: of any type
NUMBER = 3
# the elements of vectors, and how many lanes they have: no whole registers, and several of them
TYPES: dict[str, tuple[np.dtype[Any], int]] = {  # Any: a type that is no number of Python
    "f32": (np.dtype(np.float32), 96),
    "f16": (np.dtype(np.float16), 64),
    "bf16": (np.dtype(ml_dtypes.bfloat16), 160),
    "si32": (np.dtype(np.int32), 96),
    "i32": (np.dtype(np.uint32), 96),
    "si16": (np.dtype(np.int16), 64),
    "ui8": (np.dtype(np.uint8), 256),
}


@dataclass(frozen=True)
class Given:
    """Two vectors of a type, and the truth values of a mask."""

    x: Lanes
    y: Lanes
    m: Lanes

    def zeroed(self, value: Lanes) -> Lanes:
        return np.where(self.m, value, np.zeros_like(value))


Meaning: TypeAlias = "Callable[[Given], Lanes | tuple[Lanes, ...]]"


@dataclass(frozen=True)
class Case:
    """A statement on vectors of a type, the types of its results, and what they are."""

    kind: str
    statement: str
    results: str
    meaning: Meaning
    close: bool = False  # off by one unit in the last place is right


CASES: list[Case] = []
NUMBERS, REALS = ("f32", "f16", "bf16", "si32", "i32", "ui8"), ("f32", "f16")
WHOLE, PRODUCTS = ("si32", "i32", "si16", "ui8"), ("f32", "f16", "si32", "si16")
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def case(
    statement: str, kinds: str | tuple[str, ...], results: str, meaning: Meaning, **more: bool
) -> None:
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        CASES.append(Case(kind, statement, results, meaning, **more))


def two(name: str, kinds: tuple[str, ...], f: Callable[[Lanes, Lanes], Lanes]) -> None:
    case(f"{name} %x, %y, %m : V, V, M", kinds, "V", lambda g: g.zeroed(f(g.x, g.y)))
    case(f"{name} %x, %y : V, V", kinds[:1], "V", lambda g: f(g.x, g.y))


def one(name: str, kinds: tuple[str, ...], f: Callable[[Lanes], Lanes], **more: bool) -> None:
    case(f"{name} %x, %m : V, M", kinds, "V", lambda g: g.zeroed(f(g.x)), **more)
    case(f"{name} %x : V", kinds[:1], "V", lambda g: f(g.x), **more)


def number(name: str, kinds: tuple[str, ...], f: Callable[[Lanes, Lanes], Lanes]) -> None:
    def meaning(g: Given) -> Lanes:
        return g.zeroed(f(g.x, np.full_like(g.x, NUMBER)))

    case(f"{name} %x, %s, %m : V, T, M", kinds, "V", meaning)


def wide(f: Callable[[Lanes], Lanes]) -> Callable[[Lanes], Lanes]:
    return lambda x: f(x.astype(np.float64)).astype(x.dtype)


two("vadd", NUMBERS, np.add)
two("vsub", NUMBERS, np.subtract)
two("vmul", PRODUCTS, np.multiply)
two("vdiv", REALS, np.divide)
two("vmax", NUMBERS, np.maximum)
two("vmin", NUMBERS, np.minimum)
two("vand", WHOLE, np.bitwise_and)
two("vor", WHOLE, np.bitwise_or)
two("vxor", WHOLE, np.bitwise_xor)
two("vprelu", REALS, lambda x, y: np.where(x < 0, x * y, x))
one("vabs", ("f32", "bf16", "si32"), np.abs)
one("vneg", ("f32", "si32", "i32"), lambda x: np.zeros_like(x) - x)
one("vrelu", ("f32", "si32"), lambda x: np.maximum(x, np.zeros_like(x)))
one("vexp", REALS, wide(np.exp), close=True)
one("vln", REALS, wide(np.log), close=True)
one("vsqrt", REALS, wide(np.sqrt))
one("vnot", WHOLE, np.invert)
number("vadds", NUMBERS, np.add)
number("vmuls", PRODUCTS, np.multiply)
number("vmaxs", NUMBERS, np.maximum)
number("vmins", NUMBERS, np.minimum)
number("vlrelu", REALS, lambda x, s: np.where(x < 0, x * s, x))
for name, shift in (("vshl", np.left_shift), ("vshr", np.right_shift)):
    case(
        f"{name}s %x, %three, %m : V, i16, M",
        WHOLE,
        "V",
        lambda g, f=shift: g.zeroed(f(g.x, np.full_like(g.x, NUMBER))),
    )
    case(
        f"{name} %x, %few, %m : V, V, M",
        WHOLE,
        "V",
        lambda g, f=shift: g.zeroed(f(g.x, np.arange(g.x.size).astype(g.x.dtype) % 7)),
    )


def fused(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    if x.dtype.kind != "f":
        return x * y + z
    return (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(x.dtype)


case(
    "vmula %y, %x, %x, %m : V, V, V, M",
    ("f32", "si32"),
    "V",
    lambda g: g.zeroed(fused(g.x, g.x, g.y)),
)
case(
    "vaxpy %x, %y, %s, %m : V, V, T, M",
    "f32",
    "V",
    lambda g: g.zeroed(fused(g.x, np.full_like(g.x, NUMBER), g.y)),
)
case(
    "vexpdif %x, %y, %m : V, V, M",
    ("f32", "f16"),
    "L*f32",
    lambda g: g.zeroed(wide(np.exp)(g.x.astype(np.float32) - g.y.astype(np.float32))),
    close=True,
)
RELATIONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
for word, relation in RELATIONS.items():
    case(
        f'vcmp %x, %y, %m {{cmp = "{word}"}} : V, V, M',
        ("f32", "si32", "i32"),
        "M",
        lambda g, f=relation: f(g.x, g.y) & g.m,
    )
case('vcmp %x, %y, %m {cmp = "one"} : V, V, M', "f32", "M", lambda g: (g.x != g.y) & g.m)
case(
    'vcmps %x, %s, %m {cmp = "gt"} : V, T, M',
    ("f32", "si32", "i32"),
    "M",
    lambda g: (g.x > np.asarray(NUMBER, g.x.dtype)) & g.m,
)
case("vsel %m, %x, %y : M, V, V", NUMBERS, "V", lambda g: np.where(g.m, g.x, g.y))
case("vand %m, %k : M, M", "f32", "M", lambda g: g.m & (np.arange(g.m.size) < 20))
case("vor %m, %k : M, M", "f32", "M", lambda g: g.m | (np.arange(g.m.size) < 20))
case("vxor %m, %k : M, M", "f32", "M", lambda g: g.m ^ (np.arange(g.m.size) < 20))
case("vnot %m : M", "f32", "M", lambda g: ~g.m)
case("create_mask %lanes : index", NUMBERS, "M", lambda g: np.arange(g.m.size) < 20)
case(
    "create_group_mask %two {num_groups = 8, group_size = 12} : index",
    "f32",
    "M",
    lambda g: np.arange(96) % 12 < 2,
)
case("vbrc %s : T", NUMBERS, "V", lambda g: np.full_like(g.x, NUMBER))
case("vbrc %g {group = 8} : 8*", NUMBERS, "V", lambda g: np.repeat(g.x[:8], g.x.size // 8))


def of_groups(count: int, f: Callable[[Lanes], Lanes], rest: object) -> Meaning:
    def meaning(g: Given) -> Lanes:
        return f(np.where(g.m, g.x, np.asarray(rest, g.x.dtype)).reshape(count, -1))

    return meaning


def neighbours(x: Lanes) -> Lanes:
    """Return the sum of each row: of neighbours, then of neighbours of the sums."""
    width = 1 << (x.shape[1] - 1).bit_length()
    x = np.concatenate((x, np.zeros((x.shape[0], width - x.shape[1]), x.dtype)), axis=1)
    while x.shape[1] > 1:
        x = x[:, 0::2] + x[:, 1::2]
    return x[:, 0]


for group in (1, 4, 8):
    case(
        f"vcadd %x, %m {{group = {group}, reassoc}} : V, M",
        NUMBERS,
        f"{group}*",
        of_groups(group, neighbours, 0),
    )
for name, fold in (("vcmax", np.max), ("vcmin", np.min)):
    for kind in ("f32", "f16", "si32", "i32", "si16", "ui8"):
        dtype = TYPES[kind][0]
        real = dtype.kind == "f"
        ends = (-np.inf, np.inf) if real else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        rest: object = ends[name == "vcmin"]
        case(
            f"{name} %x, %m {{group = 8}} : V, M",
            kind,
            "8*",
            of_groups(8, lambda x, f=fold: f(x, axis=1), rest),
        )


def into(kind: str, low: int, high: int) -> Meaning:
    """Return numbers rounded half to even, within limits."""

    def meaning(g: Given) -> Lanes:
        with np.errstate(all="ignore"):
            near = np.clip(np.rint(g.x.astype(np.float64)), low, high)
        return near.astype(TYPES[kind][0])

    return meaning


case('vcvt %x {saturate = "SAT"} : V', "f32", "L*si32", into("si32", -(2**31), 2**31 - 1))
case('vcvt %x {saturate = "SAT"} : V', "f32", "L*si16", into("si16", -(2**15), 2**15 - 1))
case('vcvt %x {saturate = "SAT"} : V', "f16", "L*ui8", into("ui8", 0, 255))
case('vcvt %x {saturate = "SAT"} : V', "si32", "L*ui8", into("ui8", 0, 255))
case('vcvt %x {saturate = "NOSAT"} : V', "i32", "L*ui8", lambda g: g.x.astype(np.uint8))
case("vcvt %x : V", "ui8", "L*i32", lambda g: g.x.astype(np.uint32))
case("vcvt %x : V", "si16", "L*si32", lambda g: g.x.astype(np.int32))
case("vcvt %x : V", ("f16", "bf16"), "L*f32", lambda g: g.x.astype(np.float32))
case("vcvt %x : V", "si32", "L*f32", lambda g: g.x.astype(np.float32))
case('vcvt %x {rounding = "R"} : V', "f32", "L*bf16", lambda g: g.x.astype(ml_dtypes.bfloat16))
case(
    'vcvt %x {rounding = "Z", saturate = "SAT"} : V',
    "f32",
    "L*si32",
    lambda g: np.trunc(g.x).astype(np.int32),
)


# from 2048 on, f16 has every second number
case(
    'vcvt %odd {rounding = "H"} : V',
    "f32",
    "L*f16",
    lambda g: (2049 + np.arange(96) - (2049 + np.arange(96)) % 2).astype(np.float16),
)
case("extf %x : V", "f16", "L*f32", lambda g: g.x.astype(np.float32))
case("truncf %x : V", "f32", "L*f16", lambda g: g.x.astype(np.float16))
case("extsi %x : V", "si16", "L*si32", lambda g: g.x.astype(np.int32))
case("extui %x : V", "ui8", "L*i32", lambda g: g.x.astype(np.uint32))
case('trunci %x {saturate = "NOSAT"} : V', "si32", "L*si16", lambda g: g.x.astype(np.int16))
case('fptosi %x {saturate = "SAT"} : V', "f32", "L*si32", into("si32", -(2**31), 2**31 - 1))
case('fptoui %x {saturate = "SAT"} : V', "f16", "L*ui8", into("ui8", 0, 255))
case("sitofp %x : V", "si32", "L*f32", lambda g: g.x.astype(np.float32))
case('pset "PAT_VL8"', "f32", "M", lambda g: np.arange(96) < 8)
case(
    "constant_mask {value = dense<[" + "true, false, false, " * 31 + "true, true, true]>}",
    "f32",
    "M",
    lambda g: (np.arange(96) % 3 == 0) | (np.arange(96) > 92),
)
case("vinterpret_cast %x : V", "f32", "L*i32", lambda g: g.x.view(np.uint32))
case("vinterpret_cast %x : V", "f32", "192*ui16", lambda g: g.x.view(np.uint16))
case("vci %s : T", ("si32", "f32"), "V", lambda g: NUMBER + np.arange(96).astype(g.x.dtype))
case(
    'vci %s {order = "DESC", group = 4} : T',
    "f32",
    "V",
    lambda g: NUMBER - (np.arange(96) % 24).astype(np.float32),
)
case(
    "vselr %x, %few : V, V",
    ("si32", "i32", "ui8"),
    "V",
    lambda g: g.x[np.arange(g.x.size) % 7],
)


def carried(g: Given, carry: Lanes | int) -> tuple[Lanes, Lanes]:
    total = g.x.view(np.uint32).astype(np.uint64) + g.y.view(np.uint32) + carry
    return g.zeroed(total.astype(np.uint32).view(g.x.dtype)), (total > 0xFFFFFFFF) & g.m


case("vaddc %x, %y, %m : V, V, M", ("i32", "si32"), "V M", lambda g: carried(g, 0))
case(
    "vaddcs %x, %y, %k, %m : V, V, M, M",
    "i32",
    "V M",
    lambda g: carried(g, (np.arange(96) < 20).astype(np.uint64)),
)


def halves(g: Given) -> tuple[Lanes, Lanes]:
    product = g.x.view(np.int32).astype(np.int64) * g.y.view(np.int32).astype(np.int64)
    low, high = product.astype(np.uint32), (product >> 32).astype(np.uint32)
    return g.zeroed(low.view(g.x.dtype)), g.zeroed(high.view(g.x.dtype))


case("vmull %x, %y, %m : V, V, M", ("i32", "si32"), "V V", halves)


def interleaved(g: Given) -> tuple[Lanes, Lanes]:
    both = np.stack((g.x, g.y), axis=1).ravel()
    return g.zeroed(both[: g.x.size]), g.zeroed(both[g.x.size :])


def separated(g: Given) -> tuple[Lanes, Lanes]:
    both = np.concatenate((g.x, g.y))
    return g.zeroed(both[0::2]), g.zeroed(both[1::2])


case("vintlv %x, %y, %m : V, V, M", NUMBERS, "V V", interleaved)
case("vdintlv %x, %y, %m : V, V, M", NUMBERS, "V V", separated)


def counted(g: Given) -> Lanes:
    return np.bincount(g.x[g.m], minlength=256)


case("vdhist %bins, %x, %m : B, V, M", "ui8", "256*ui16", lambda g: counted(g) + np.arange(256))
case(
    "vchist %bins, %x, %m : B, V, M",
    "ui8",
    "256*ui16",
    lambda g: np.cumsum(counted(g)) + np.arange(256),
)
case("vload %p[%two] : P, index", ("f32", "ui8"), "8*", lambda g: g.x[2:10])
case('vload %p[%two] {dist_mode = "brc"} : P', NUMBERS, "V", lambda g: np.full_like(g.x, g.x[2]))
case(
    'vload %p[%c0] {dist_mode = "unpack"} : P',
    ("f16", "ui8"),
    "L*wide",
    lambda g: g.x.view(BITS[g.x.itemsize]).astype(BITS[2 * g.x.itemsize]),
)
case(
    "vload %p[%two], %stride {group = 4} : P",
    ("f32", "si16"),
    "16*",
    lambda g: np.concatenate([g.x[2 + 9 * n : 6 + 9 * n] for n in range(4)]),
)
case(
    "vload %p[%c0], %blocks : P",
    ("f32", "si16"),
    "32*",
    lambda g: np.concatenate(
        [np.concatenate((g.x, g.y)).view(np.uint8)[64 * n :][:32] for n in range(g.x.itemsize)]
    ).view(g.x.dtype),
)
case(
    "vgather %p, %j, %m : P, J, M",
    ("f32", "si32"),
    "V",
    lambda g: g.zeroed(g.x[np.arange(96) % 24]),
)
case(
    "vgatherb %p, %lines, %m : P, J, M",
    "f32",
    "V",
    lambda g: (
        np.concatenate([np.where(g.m[n], g.x.view(np.uint8)[32 * n :][:32], 0) for n in range(12)])
        .astype(np.uint8)
        .view(np.float32)
    ),
)


def stored(written: Callable[[Lanes, Given], None]) -> Meaning:
    """Return what a store leaves in memory that was 0."""

    def meaning(g: Given) -> Lanes:
        room = np.zeros(ROOM // g.x.itemsize, g.x.dtype)
        written(room, g)
        return room

    return meaning


ROOM = 1024


def selected(room: Lanes, g: Given) -> None:
    room[: g.x.size] = g.zeroed(g.x)


def in_rows(room: Lanes, g: Given) -> None:
    for n in range(8):
        room[n * 20 : n * 20 + 12] = g.x[12 * n : 12 * n + 12]


def in_blocks(room: Lanes, g: Given) -> None:
    for n in range(12):
        room[n * 16 : n * 16 + 8] = g.zeroed(g.x)[8 * n : 8 * n + 8]


def backwards(room: Lanes, g: Given) -> None:
    for n in np.flatnonzero(g.m):
        room[n % 24] = g.x[n]


def single(room: Lanes, g: Given) -> None:
    room.view(np.uint8)[:16:2] = g.x[:8].astype(np.uint8)


case("vstore %x, %to[%c0], %m : V, P, M", NUMBERS, "room", stored(selected))
case("vstore %x, %to[%c0], %twenty {group = 8} : V, P", "f32", "room", stored(in_rows))
case("vstore %x, %to[%c0], %blocks, %m : V, P, M", "f32", "room", stored(in_blocks))
case("vsstb %x, %to[%c0], %blocks, %m : V, P, M", "f32", "room", stored(in_blocks))
case("vscatter %x, %to, %j, %m : V, P, J, M", "f32", "room", stored(backwards))
case("vstore %g, %bytes[%c0], %two {group = 8} : 8*, Q", "i32", "room", stored(single))
