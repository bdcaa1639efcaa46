"""Cores of A5 that write each other's memories: what comes to lie where, and in which order."""

from __future__ import annotations

import numpy as np
from launched import kernels, needs_compiler

from ptokit.api.cxx.cxxkernel import CxxRun

pytestmark = needs_compiler
RNG = np.random.default_rng(12)


P, V = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((32, 64), (32, 16)))
PRODUCT = P.T.astype(np.float32) @ V.astype(np.float32)


def test_boxes_lie_in_zn_as_those_of_the_transpose() -> None:
    """The code of A5 goes by the layout of the source (C66)."""
    c = np.zeros((64, 16), np.float32)
    ran = kernels("crossed", "a5").launch("product<true>", P, V, c)
    assert np.array_equal(c, PRODUCT)
    (warning,) = ran.warnings
    assert (warning.slug, warning.span is not None) == ("layout", True)
    assert [d for d in ran.races() if d.is_error] == []


def hazards(ran: CxxRun) -> set[tuple[str, str, str]]:
    """The hazards of a launch: both lines, in alphabetical order, and the memory."""
    found: set[tuple[str, str, str]] = set()
    for d in ran.races():
        if d.is_error:
            spans = (d.notes[0].span, d.span)
            first, second = sorted(s.source.line(s.line).strip() if s else "" for s in spans)
            found.add((first, second, (d.seen or "").split(" on ")[0].split()[-1]))
            assert "wait for a signal of" in (d.help or "")
    return found


def test_a_cube_that_forgets_a_vector_core() -> None:
    ran = kernels("crossed", "a5").launch("product<false>", P, V, np.zeros((64, 16), np.float32))
    insert = "TINSERT(factor, boxes, 0, get_subblockid() * PART);"
    assert hazards(ran) == {("TEXTRACT(left, factor, 0, 0);", insert, "L1")}


def test_a_cube_that_writes_ub_again() -> None:
    c = np.zeros((2, 64, 16), np.float32)
    ran = kernels("crossed", "a5").launch("again<true>", P, V, c)
    assert np.array_equal(c, [PRODUCT] * 2)
    assert hazards(ran) == set()
    ran = kernels("crossed", "a5").launch("again<false>", P, V, c)
    move = "TMOV<Half, TileAcc<float, M, N>, AccToVecMode::DualModeSplitM>(x, sum);"
    assert hazards(ran) == {(move, "TSTORE(to, x);", "UB")}


def test_lines_stay_lines() -> None:
    a = RNG.integers(-99, 99, (32, 64)).astype(np.float16)
    c = np.zeros_like(a)
    ran = kernels("crossed", "a5").launch("lines", a, c)
    assert np.array_equal(c, a)
    assert {d.slug for d in ran.warnings} == {"layout"}
