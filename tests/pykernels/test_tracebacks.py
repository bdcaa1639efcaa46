"""The traceback of a diagnostic has the user's frames: one of ours stands between them."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import numpy as np
import pytest

import ptokit as pto

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


@pytest.mark.parametrize("how", WRONG)
def test_the_frames_are_the_users(how: str) -> None:
    call, users = WRONG[how]
    with pytest.raises(pto.PtoError) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    here = [f.name for f in frames if f.filename == __file__]
    assert here == ["test_the_frames_are_the_users", "<lambda>", *users]
    assert len(frames) <= len(here) + 1
    assert caught.value.__cause__ is None
