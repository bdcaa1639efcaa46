"""Cases of conversions of lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from belowtiles import BYTES, NUMBER, REALS, TYPES, Given, Lanes, Meaning, case


def converted(to: str, part: str, f: Callable[[Lanes], Lanes]) -> Meaning:
    """Return a conversion: `f` of the lanes, in every second or fourth lane, or of them."""
    first = {"EVEN": 0, "ODD": 1}.get(part, int(part[1:]) if part[:1] == "P" else 0)

    def meaning(g: Given) -> Lanes:
        size = TYPES[to].itemsize
        with np.errstate(all="ignore"):
            if size >= g.x.itemsize:
                step = size // g.x.itemsize
                x = np.where(g.m, g.x, np.zeros_like(g.x))[first::step]
                return np.where(g.m[first::step], f(x).astype(TYPES[to]), np.zeros(1, TYPES[to]))
            found = np.zeros(BYTES // size, TYPES[to])
            found[first :: g.x.itemsize // size] = np.where(
                g.m, f(g.x).astype(TYPES[to]), np.zeros(1, TYPES[to])
            )
            return found

    return meaning


def limited(to: str, f: Callable[[Lanes], Lanes] = np.rint) -> Callable[[Lanes], Lanes]:
    info = np.iinfo(TYPES[to])
    return lambda x: np.clip(np.nan_to_num(f(x.astype(np.float64))), info.min, info.max)


def half_to_zero(x: Lanes) -> Lanes:
    """Return the nearest whole numbers, and of two the one that is nearer to 0."""
    return np.copysign(np.ceil(np.abs(x) - 0.5), x)


CONVERSIONS: tuple[tuple[str, str, str, str, Callable[[Lanes], Lanes]], ...] = (
    ("f32", "f16", 'rnd = "R", part = "EVEN"', "EVEN", lambda x: x),
    ("f32", "bf16", 'rnd = "R", part = "ODD"', "ODD", lambda x: x),
    ("f16", "f32", 'part = "EVEN"', "EVEN", lambda x: x),
    ("bf16", "f32", 'part = "ODD"', "ODD", lambda x: x),
    ("f32", "i32", 'rnd = "R", sat = "SAT"', "", limited("i32")),
    ("f32", "i32", 'rnd = "F", sat = "SAT"', "", limited("i32", np.floor)),
    ("f32", "i16", 'rnd = "Z", sat = "SAT", part = "ODD"', "ODD", limited("i16", np.trunc)),
    ("i32", "f32", 'rnd = "R"', "", lambda x: x),
    ("ui32", "ui8", 'sat = "SAT", part = "P2"', "P2", limited("ui8")),
    ("i32", "i16", 'sat = "NOSAT", part = "EVEN"', "EVEN", lambda x: x),
    ("i16", "i32", 'part = "ODD"', "ODD", lambda x: x),
    ("ui8", "ui32", 'part = "P3"', "P3", lambda x: x),
    ("f16", "i16", 'rnd = "ROUND_H", sat = "RS_ENABLE"', "", limited("i16", half_to_zero)),
    ("f32", "i16", 'rnd = "H", part = "PART_ODD"', "ODD", half_to_zero),
)

for source, to, attrs, part, f in CONVERSIONS:
    case(f"vcvt %x, %m {{{attrs}}} : V, M", source, to, converted(to, part, f))
for mode, rounding in {"R": np.rint, "F": np.floor, "C": np.ceil, "Z": np.trunc}.items():
    trc = f'vtrc %x, %m, "{mode}" : V, M'
    case(trc, REALS, "V", lambda g, f=rounding: g.zeroed(f(g.x)))


def scaled(first: int) -> Meaning:
    def meaning(g: Given) -> Lanes:
        found = np.zeros(128, np.float16)
        found[first::2] = np.where(g.m, (g.x * np.float32(NUMBER)).astype(np.float16), 0)
        return found

    return meaning


for n, turn in enumerate(("EVEN", "ODD")):
    case(f'vmulscvt %x, %s, %m, "R", "{turn}" : V, T, M', "f32", "f16", scaled(n))
