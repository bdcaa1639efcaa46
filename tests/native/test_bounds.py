"""Lower bounds of linear forms, against all values of a few numbers."""

from __future__ import annotations

from itertools import product

from ptokit.machine.record.linear import Bounds, LinearForm

LEAST = -1000  # what is known without bounds


def test_bounds_of_loops_over_blocks_hold_and_are_sharp() -> None:
    """`for i in range((n + more) // size * inner)`: what is left at block `i // inner`."""
    for size, more, inner in product((1, 3, 8), (0, 1, 7), (1, 2, 5)):
        bounds = Bounds()
        bounds.quotient("blocks", LinearForm({"n": 1}, more), size)
        bounds.counter("i", LinearForm({"blocks": inner}))
        block = "i"
        if inner > 1:
            block = "block"
            bounds.quotient(block, LinearForm({"i": 1}), inner)
        found = bounds.least(LinearForm({"n": 1, block: -size}), LEAST)
        left = [
            n - size * (i // inner) for n in range(50) for i in range((n + more) // size * inner)
        ]
        assert found == min(left), (size, more, inner)


def test_no_bound_where_a_term_has_none() -> None:
    bounds = Bounds()
    bounds.counter("i", LinearForm({"n": 1}))
    assert bounds.least(LinearForm({"n": 1, "i": -1}, 4), LEAST) == 5
    assert bounds.least(LinearForm({"m": 1, "i": -1}), LEAST) == LEAST
    assert bounds.least(LinearForm({"n": 1, "i": -2}), LEAST) == LEAST
    assert bounds.least(LinearForm({"n": -1, "i": 1}), LEAST) == LEAST


def test_places_in_a_row_of_blocks_have_two_ends() -> None:
    """`i % inner` as `i - i // inner * inner`, and the smaller of a block and what is left."""
    for inner in (2, 5):
        bounds = Bounds()
        bounds.quotient("block", LinearForm({"i": 1}), inner)
        place = LinearForm({"i": 1, "block": -inner})
        assert bounds.least(place, LEAST) == 0
        assert bounds.least(LinearForm({}, inner - 1).plus(place, -1), LEAST) == 0
        left = LinearForm({"n": 1, "block": -32})
        bounds.smallest("size", [left])
        end = LinearForm({"block": 32, "size": 1})
        assert bounds.least(LinearForm({"n": 1}).plus(end, -1), LEAST) == 0
        assert bounds.least(LinearForm({"n": 1}, -1).plus(end, -1), LEAST) == -1
        assert bounds.least(end.plus(LinearForm({"n": 1}), -1), LEAST) == LEAST
