"""Odd arguments at the doors of the API: they work, or one message refuses them."""

from __future__ import annotations

import datetime
import decimal
import io
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from every import every

PTO: Any = pto  # Any: calls that its types refuse
REFUSALS = (pto.PtoError, TypeError, ValueError, IndexError)
X = np.ones((8, 16), np.float32)


class Index:
    def __index__(self) -> int:
        return 8


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 8, 1 << 31, 1 << 63, 1 << 64, 10**400, 1.5, 1e300, 1j),
    *(float("nan"), float("inf"), "", "8", "a5", "\0", b"8", bytearray(8), memoryview(b"12345678")),
    *([], [1], (), (8,), (8, 16), (8.0, 16.0), ("8", "16"), (None, None), (-1, -1), (0, 0)),
    *((1 << 40, 1 << 40), {}, {1: 2}, set[int](), range(8), slice(None), ..., NotImplemented),
    *(object(), object, int, np.float32, np.dtype(">f4"), np.dtype("V4"), type, pto, pto.tile),
    *(np.float32(2), np.float16(2), ml_dtypes.bfloat16(2), np.int8(8), np.uint64(1 << 63)),
    *(np.bool_(True), np.longdouble(2), np.complex64(1 + 2j), np.datetime64("2020"), np.str_("8")),
    *(np.bytes_(b"8"), np.void(b"1234"), np.array(8), np.array(8.5), np.array([8]), np.array([])),
    *(np.zeros((0, 16), np.float32), np.ones((8, 16)), np.ones((8, 16), object), np.ma.masked),
    *(decimal.Decimal(8), datetime.date(2020, 1, 1), Index(), print, io.StringIO("x")),
    *(pto.f32, pto.f4e2m1x2, pto.conv(), pto.spec("f32", (8, 16)), pto.spec("f32", ("rows", 16))),
    *(pto.tile("vec", "f32", 8, 16, data=X), pto.tensor(X.copy())),
)


@pto.kernel
def plain(x: pto.In, y: pto.Out, n: int = 1) -> None:
    pto.store(y, pto.load(x) + n)


def tile() -> pto.Tile:
    return pto.tile("vec", "f32", 8, 16, data=X)


def loaded(**how: Any) -> None:
    pto.tload(tile(), PTO.tensor(X.copy(), **how))


DOORS: dict[str, Callable[[Any], object]] = {
    "x": lambda o: plain(o, X * 0),
    "y": lambda o: plain(X, o),
    "n": lambda o: plain(X, X * 0, o),
    "debug": lambda o: plain.debug(X, X * 0, o),
    **{
        name: lambda o, name=name: plain.on(**{name: o})
        for name in ("target", "engine", "blocks", "fixpipe", "schedule", "timeout")
    },
    "shapes": lambda o: PTO.kernel(shapes=o)(plain.function),
    "location": lambda o: PTO.tile(o, "f32", 8, 16),
    "dtype": lambda o: PTO.tile("vec", o, 8, 16),
    "rows": lambda o: PTO.tile("vec", "f32", o, 16),
    "valid": lambda o: PTO.tile("vec", "f32", 8, 16, valid=o),
    "data": lambda o: PTO.tile("vec", "f32", 8, 16, data=o),
    "tensor": PTO.tensor,
    **{
        name: lambda o, name=name: loaded(**{name: o})
        for name in ("shape", "stride", "offset", "layout")
    },
    "conv": lambda o: PTO.conv_tile("f16", o),
    "elements": lambda o: tile().__setitem__(..., o),
    "plus": lambda o: tile() + o,
    "from": lambda o: o - tile(),
    "to": lambda o: tile().to(o),
    "cast": lambda o: tile().cast(o),
    "out": lambda o: pto.exp(tile(), out=o),
    "adds": lambda o: pto.adds(tile(), o),
    "tmuls": lambda o: pto.tmuls(tile(), tile(), o),
    "events": lambda o: pto.texp(tile(), tile(), events=o),
    "full": lambda o: pto.full("f32", 8, 16, o),
    "compare": lambda o: pto.compare(X, o),
    "rtol": lambda o: pto.compare(X, X, rtol=o),
    "spec": lambda o: plain.program(PTO.spec("f32", o), X),
    "space": lambda o: PTO.autotune(plain, X, X * 0, space=o, target="a5"),
    "check": lambda o: plain.program(X, X).check(o),
}


@every("door", DOORS)
def test_an_odd_argument_works_or_is_refused(door: str) -> None:
    for odd in ODD:
        try:
            DOORS[door](odd)
        except REFUSALS as problem:
            said = str(problem)
            assert said.strip(), f"{door} of {odd!r}"


@every("odd", [np.complex64(1 + 2j), np.str_("8"), np.datetime64("2020"), 10**400])
def test_what_python_makes_a_float_of_is_no_number(odd: Any) -> None:
    for door in ("adds", "tmuls", "full", "n"):
        with pytest.raises(REFUSALS):
            DOORS[door](odd)
