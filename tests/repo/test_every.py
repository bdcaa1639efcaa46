"""`every` runs each case, and one failure hides no other."""

from __future__ import annotations

import traceback

import pytest

from every import every


def test_all_failures_are_reported_together() -> None:
    seen: list[int] = []

    @every("number", [1, 2, 3, 4], ids=str)
    @every(("name", "size"), [("a", 1), pytest.param("b", 2)])
    def wrong(number: int, name: str, size: int) -> None:
        seen.append(10 * number + size)
        if number == 2 and name == "b":
            pytest.skip("never alone")
        assert number != 3
        if number == 4:
            pytest.fail(name)

    with pytest.raises(BaseExceptionGroup, match="3 of 4 cases fail") as caught:
        wrong()
    assert seen == [11, 12, 21, 22, 31, 32, 41, 42]
    told = "".join(traceback.format_exception(caught.value))
    titles = ("case 1: 2", "case 2: 3", "case 3: 4", "case 1: {'name': 'b', 'size': 2}")
    assert all(title in told for title in titles)
    assert "case 0: 1" not in told


def test_a_case_has_as_many_values_as_names() -> None:
    @every(("left", "right"), [(1, 2), (1, 2, 3)])
    def test(left: int, right: int) -> None:
        assert left < right

    with pytest.raises(ValueError, match="zip"):
        test()
