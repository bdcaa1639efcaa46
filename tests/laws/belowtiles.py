"""Cases of the law of the level below tiles: statements on registers, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Lanes: TypeAlias = "NDArray[Any]"  # Any: of any type
BYTES, ROOM = 256, 512
TYPES: dict[str, np.dtype[Any]] = {  # Any: a type that is no number of Python
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    **{f"i{n}": np.dtype(f"i{n // 8}") for n in (8, 16, 32)},
    **{f"ui{n}": np.dtype(f"u{n // 8}") for n in (8, 16, 32)},
}
BYTE = "!pto.ptr<ui8, ub>"
NUMBER = 3


@dataclass(frozen=True)
class Given:
    """What the lanes of a type hold: two registers, the mask as truth values, and all bits."""

    x: Lanes
    y: Lanes
    m: Lanes
    bits: Lanes  # the 256 bits of the mask

    @property
    def n(self) -> int:
        return self.x.size

    def zeroed(self, value: Lanes) -> Lanes:
        """Return the lanes that the mask selects, 0 for all others."""
        return np.where(self.m, value, np.zeros_like(value))


Meaning: TypeAlias = "Callable[[Given], Lanes | tuple[Lanes, ...]]"


@dataclass(frozen=True)
class Case:
    """A statement on registers of a type, and its results: registers, masks, or bytes."""

    kind: str
    statement: str
    results: tuple[str, ...]  # V, M, another type of register, or "bytes"
    meaning: Meaning
    close: bool = False  # off by one unit in the last place is right


def mask_type(kind: str) -> str:
    return f"!pto.mask<b{min(TYPES[kind].itemsize * 8, 32)}>"


def register(kind: str) -> str:
    return f"!pto.vreg<{BYTES // TYPES[kind].itemsize}x{kind}>"


CASES: list[Case] = []
REALS, WHOLE = ("f32", "f16"), ("i8", "i16", "ui32")
EVERY = ("f32", "bf16", "i16")


def case(
    statement: str, types: str | tuple[str, ...], results: str, meaning: Meaning, **more: bool
) -> None:
    """Add a case for each of the types."""
    for kind in (types,) if isinstance(types, str) else types:
        CASES.append(Case(kind, statement, tuple(results.split()), meaning, **more))


def two(name: str, types: tuple[str, ...], f: Callable[[Lanes, Lanes], Lanes]) -> None:
    case(f"{name} %x, %y, %m : V, V, M", types, "V", lambda g: g.zeroed(f(g.x, g.y)))


def one(name: str, types: tuple[str, ...], f: Callable[[Lanes], Lanes], **more: bool) -> None:
    case(f"{name} %x, %m : V, M", types, "V", lambda g: g.zeroed(f(g.x)), **more)


def number(name: str, types: tuple[str, ...], f: Callable[[Lanes, Lanes], Lanes]) -> None:
    def meaning(g: Given) -> Lanes:
        return g.zeroed(f(g.x, np.full_like(g.x, NUMBER)))

    case(f"{name} %x, %s, %m : V, T, M", types, "V", meaning)


def mask(name: str, f: Callable[[Lanes, Lanes], Lanes]) -> None:
    for kind in ("f32", "f16", "ui8"):
        case(f"{name} %m, %k, %m : M, M, M", kind, "M", lambda g: f(g.bits, other(g)) & g.bits)


def other(g: Given) -> Lanes:
    """Return the bits of the second mask, every third lane."""
    return image(np.arange(g.n) % 3 == 0)


def image(lanes: Lanes) -> Lanes:
    """Return the 256 bits of a mask: of each lane the first of its bits."""
    found = np.zeros((lanes.size, BYTES // lanes.size), np.uint8)
    found[:, 0] = lanes
    return found.ravel()


def bits_of(f: Callable[[Lanes, Lanes], Lanes]) -> Callable[[Lanes, Lanes], Lanes]:
    def found(x: Lanes, y: Lanes) -> Lanes:
        kind = f"u{x.itemsize}"
        return f(x.view(kind), y.view(kind)).view(x.dtype)

    return found


def wide(f: Callable[[Lanes], Lanes]) -> Callable[[Lanes], Lanes]:
    return lambda x: f(x.astype(np.float64)).astype(x.dtype)


def shift(f: Callable[[Lanes, Lanes], Lanes]) -> Callable[[Lanes, Lanes], Lanes]:
    return lambda x, y: f(x, y & (8 * x.itemsize - 1))
