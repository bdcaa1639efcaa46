"""What is said of each mistake in `mistakes.py`, whole, with carets and the frames of the user."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from errors.test_errors import OF_KERNELS
from every import every
from pykernels import mistakes

HERE = Path(__file__).parent
OUT = HERE / "mistakes.out"


class Elsewhere:
    """An array in the memory of a device, as DLPack says it."""

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


@pto.kernel
def both(y: pto.Out, z: pto.Out) -> None:
    pto.store(pto.block(y, 0, 0, 8, 64), pto.full(pto.f32, 8, 64, 1.0))
    pto.store(pto.block(z, 8, 0, 8, 64), pto.full(pto.f32, 8, 64, 2.0))


class Copied:
    """An array of which NumPy always makes a copy."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array.copy()


def arrays() -> tuple[Any, Any, int]:
    return mistakes.X.copy(), np.zeros_like(mistakes.X), 3


def called(kernel: Any, *args: Any, **how: Any) -> Callable[[], object]:
    return lambda: kernel(*(args or arrays()), **how)


def tries() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is tried, by its name."""
    for name, kernel in vars(mistakes).items():
        if isinstance(kernel, pto.Kernel):
            yield name, called(kernel)
    x, y, n = arrays()
    frozen = y.copy()
    frozen.flags.writeable = False
    window: Any = mistakes.window
    other_chip = mistakes.vector_function_of_another_chip
    yield "window on a5", lambda: [window.program(x, y, n).check("a5")]
    yield "vector function of another chip, a2a3", called(other_chip.on("a2a3"))
    yield "a vector function on an array", lambda: mistakes.of_an_array(x)
    yield "forgotten decorator", called(mistakes.forgotten)
    yield "debug differs", lambda: mistakes.told_apart.verify(x, y, n)
    yield "no arguments", lambda: mistakes.window()  # type: ignore[call-arg]
    yield "no rows", called(mistakes.block_without_rows, x[:0], y, n, high=8)
    yield "a list", called(mistakes.rebound_tile, [1.0], y, n)
    yield "complex numbers", called(mistakes.rebound_tile, x.astype(complex), y, n)
    yield "another device", called(mistakes.rebound_tile, Elsewhere(), y, n)
    yield "read-only output", called(mistakes.told_apart, x, frozen, n)
    yield "stored input, debug", lambda: mistakes.stored_input.debug(x, y, n)
    yield "a copy as output", called(mistakes.told_apart, x, Copied(y), n)
    rows = np.lib.stride_tricks.as_strided(y, y.shape, (0, 4))
    yield "one row as output", called(mistakes.told_apart, x, rows, n)
    yield "one array as two outputs", lambda: both(y, y)
    yield "masked elements", called(mistakes.rebound_tile, np.ma.masked_less(x, 1), y, n)
    yield "number of 65 bits", called(mistakes.told_apart, x, y, 1 << 64)
    yield "unhashable", called(mistakes.breaking, x, y, n, stop=[])
    yield "wrong target", lambda: mistakes.window.on("a6")
    yield "bad shapes", lambda: pto.kernel(shapes="x[M, K y[K]")(mistakes.forgotten)
    yield "unknown array", lambda: pto.kernel(shapes="x[M, K] z[K]")(mistakes.forgotten)


def said(run: Callable[[], object]) -> str:
    """Warnings and the error, as text; diagnostics that are returned too."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", pto.KernelWarning)
        try:
            found: Any = run()
            text = "\n".join(d.render() for d in found[0]) if isinstance(found, list) else ""  # type: ignore[index]
        except (pto.PtoError, TypeError, ValueError) as problem:
            kind = "" if isinstance(problem, pto.PtoError) else f"{type(problem).__name__}: "
            text = f"{kind}{problem}"
    parts = [str(w.message) for w in seen] + [text]
    return "\n".join(filter(None, parts)).replace(f"{HERE}{os.sep}", "")


def test_every_message_is_as_it_was_read() -> None:
    found = "\n".join(f"==== {name}\n{said(run)}" for name, run in tries()) + "\n"
    if os.environ.get("PTOKIT_UPDATE"):
        OUT.write_text(found, encoding="utf-8")
    assert found == OUT.read_text(encoding="utf-8")


@every("slug", sorted(OF_KERNELS))
def test_every_slug_of_kernels_is_shown(slug: str) -> None:
    assert f"[{slug}]" in OUT.read_text(encoding="utf-8")


X = np.ones((8, 8), np.float32)


def helper(x: pto.In, t: pto.Tile) -> None:
    pto.store(x, t)


@pto.kernel
def storing(x: pto.In, y: pto.Out) -> None:
    helper(x, pto.load(x))


@pto.kernel
def plain(x: pto.In, y: pto.Out) -> None:
    pto.store(y, pto.load(x))


WRONG: dict[str, tuple[Callable[[], object], list[str]]] = {
    "a call": (lambda: storing(X, X.copy()), ["storing", "helper"]),
    "debug": (lambda: storing.debug(X, X.copy()), ["storing", "helper"]),
    "program": (lambda: storing.program(X, X), ["storing", "helper"]),
    "check": (lambda: storing.check(X, X), ["storing", "helper"]),
    "arguments": (lambda: plain(X, X.astype("U4")), []),
    "text": (lambda: pto.loads("pto.tadd ins("), []),
    "a file": (lambda: pto.load("no/such.pto"), []),
    "a run": (lambda: plain.program(X, X).run(y=X), []),
    "compiled": (lambda: plain.program(X, X).compile().run(z=X), []),
}


@every("how", WRONG)
def test_the_frames_are_the_users(how: str) -> None:
    call, users = WRONG[how]
    with pytest.raises(pto.PtoError) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    here = [f.name for f in frames if f.filename == __file__]
    assert here == ["test_the_frames_are_the_users", "<lambda>", *users]
    assert len(frames) <= len(here) + 1
    assert caught.value.__cause__ is None
