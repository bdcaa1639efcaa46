"""`autotune`: every combination is ranked or refused with its reason, wrong calls are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every

WIDTHS, HEIGHTS = (64, 256, 2048), (8, 32)


@pto.kernel(shapes="x[rows, W] y[rows, W]")
def double(x: pto.In, y: pto.Out, *, wide: int, high: int = 8, name: str = "") -> None:
    if (wide, high) == (256, 8):
        raise ValueError("256x8 is left out\nfor the test")
    assert name != "wrong", "no such name"
    rows, width = x.shape
    for i, j in pto.grid(pto.cdiv(rows, high), pto.cdiv(width, wide)):
        t = pto.load(pto.block(x, i * high, j * wide, high, wide))
        pto.store(pto.block(y, i * high, j * wide, high, wide), t + t)


def arrays() -> tuple[Any, Any]:
    return np.ones((32, 2048), np.float32), np.zeros((32, 2048), np.float32)


SPACE = {"wide": WIDTHS, "high": HEIGHTS}


@pytest.fixture(scope="module")
def tuning() -> pto.Tuning:
    return pto.autotune(double, *arrays(), space=SPACE, target="a2a3")


def test_every_combination_is_ranked_or_refused(tuning: pto.Tuning) -> None:
    every = [{"wide": w, "high": h} for w, h in product(WIDTHS, HEIGHTS)]
    seen = [row.params for row in tuning.rows] + [one.params for one in tuning.refused]
    assert sorted(seen, key=str) == sorted(every, key=str)


def test_the_rank_is_that_of_the_profiles(tuning: pto.Tuning) -> None:
    predicted = [double.profile(*arrays(), target="a2a3", **row.params) for row in tuning.rows]
    assert [row.cycles for row in tuning.rows] == [found.cycles for found in predicted]
    assert [row.microseconds for row in tuning.rows] == [f.microseconds for f in predicted]
    assert [row.cycles for row in tuning.rows] == sorted(row.cycles for row in tuning.rows)
    assert tuning.best == tuning.rows[0].params == {"wide": 2048, "high": 8}


def test_the_reasons_are_the_first_lines(tuning: pto.Tuning) -> None:
    reasons = {tuple(one.params.values()): one.reason for one in tuning.refused}
    assert reasons.keys() == {(256, 8), (2048, 32)}
    assert reasons[256, 8] == "ValueError: 256x8 is left out"
    assert reasons[2048, 32].startswith("error[")
    with pytest.raises(pto.PtoError) as told:
        double.profile(*arrays(), target="a2a3", wide=2048, high=32)
    assert str(told.value).splitlines()[0] == reasons[2048, 32]


def test_the_table(tuning: pto.Tuning) -> None:
    head, names, first, *_ = str(tuning).splitlines()
    assert head == "double on a2a3 by cycles: 4 legal combinations, 2 refused"
    assert names.split() == ["rank", "wide", "high", "cycles", "us", "bound", "by"]
    row = tuning.rows[0]
    assert first.split()[:5] == ["1", "2048", "8", str(row.cycles), f"{row.microseconds:.2f}"]
    assert first.split()[5] in ("MTE2", "V", "MTE3")
    assert "wide=256, high=8: ValueError: 256x8 is left out" in str(tuning).splitlines()


def test_the_arrays_stay_as_they_are() -> None:
    x, y = arrays()
    pto.autotune(double, x, y, space={"wide": [64]}, target="a5")
    assert (y == 0).all()


def test_measured_seconds_rank_and_a_board_may_fail() -> None:
    seconds: dict[int, Any] = {64: np.float32(3e-6), 256: 1e-6, 2048: 2e-6}

    def measure(kernel: object, args: Sequence[Any], params: dict[str, Any]) -> float:
        assert kernel is double
        assert args[0].shape == (32, 2048)
        if params["high"] == 32:
            raise OSError("the board is gone")
        return seconds[params["wide"]]

    space = {"wide": (64, 2048, 256), "high": (8, 32), "name": ("a",)}
    found = pto.autotune(
        double, *arrays(), space=space, target="a2a3", by="measured", measure=measure
    )
    assert [row.params["wide"] for row in found.rows] == [2048, 64]
    assert "measured us" in str(found)
    assert " 2.00 " in str(found)
    reasons = [one.reason for one in found.refused]
    assert reasons.count("measure: OSError: the board is gone") == 2


def test_blocks_of_the_kernel_count() -> None:
    def cycles(kernel: Any) -> int:
        found = pto.autotune(kernel, *arrays(), space={"wide": [64]}, target="a2a3")
        return found.rows[0].cycles

    assert cycles(double.on("a5", blocks=4)) < cycles(double)


def test_without_a_target_the_first_with_times_is_taken() -> None:
    assert pto.autotune(double, *arrays(), space={"wide": [2048]}).target == "a2a3"
    assert pto.autotune(double.on("a5"), *arrays(), space={"wide": [2048]}).target == "a5"


def test_nothing_legal_has_no_best() -> None:
    found = pto.autotune(double, *arrays(), space={"wide": [256]}, target="a2a3")
    assert found.rows == ()
    with pytest.raises(ValueError, match=r"every combination is refused on a2a3.*256x8 is left"):
        _ = found.best
    assert "0 legal combinations, 1 refused" in str(found)


def test_an_assertion_of_the_kernel_is_a_reason() -> None:
    space = {"wide": [64], "name": ["wrong"]}
    (refused,) = pto.autotune(double, *arrays(), space=space).refused
    assert refused.reason == "AssertionError: no such name"


def seconds_of(value: Any) -> Callable[[object, object, object], Any]:
    return lambda kernel, args, params: value


@every(
    ("how", "message"),
    [
        ({"space": {"width": [1]}}, "'width' is no keyword-only parameter .*wide, high, name"),
        ({"space": {"x": [1]}}, "'x' is no keyword-only parameter"),
        ({"space": {}}, "the space is empty"),
        ({"space": {"wide": []}}, "no values for wide"),
        ({"space": {"wide": 64}}, "'wide': give a list of values, not 64"),
        ({"space": {"name": "abc"}}, "'name': give a list of values, not 'abc'"),
        ({"by": "time"}, "unknown ranking 'time': choose one of cycles, measured"),
        ({"by": "measured"}, "needs measure="),
        ({"target": "cpu"}, "no times published for cpu"),
        ({"target": "a6"}, "a6"),
        ({"measure": seconds_of(None)}, "must return seconds, a number >= 0, got None"),
        ({"measure": seconds_of(float("nan"))}, "got nan"),
    ],
)
def test_wrong_calls(how: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"space": {"wide": [2048]}, **how}
    with pytest.raises(ValueError, match=message):
        pto.autotune(double, *arrays(), **call)


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match=r"expected a @pto\.kernel, got function"):
        pto.autotune(lambda: None, space={"a": [1]})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing a required"):
        pto.autotune(double, space={"wide": [64]})


def test_a_bar_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    space = {"wide": [256, 2048]}
    pto.autotune(double, *arrays(), space=space)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    pto.autotune(double, *arrays(), space=space)
    assert "2/2" in capsys.readouterr().err
