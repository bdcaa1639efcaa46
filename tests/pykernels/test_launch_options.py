"""A kernel is launched with the options of `Program.run`: schedules, limits, readings; races."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.tools.report import write_report
from ptokit.tools.tracefile import write_trace


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def shifted(x: pto.In, y: pto.Out) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, 8)):
        t = pto.load(pto.block(x, i * 8, 0, 8, width))
        pto.store(pto.block(y, i * 8, 0, 8, width), t + 1)


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def meeting(x: pto.In, y: pto.Out) -> None:
    """Every block writes the first rows."""
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, 8)):
        t = pto.load(pto.block(x, i * 8, 0, 8, width))
        pto.store(pto.block(y, 0, 0, 8, width), t)


@pto.kernel
def stores_left(x: pto.In, y: pto.Out) -> None:
    pto.store(y, pto.load(x, "mat").to("left"))


def arrays() -> tuple[Any, Any]:
    x = np.arange(32 * 16, dtype=np.float32).reshape(32, 16)
    return x, np.zeros_like(x)


def test_a_schedule_is_chosen_as_for_programs() -> None:
    x, y = arrays()
    shifted.on(blocks=4, schedule="random:3")(x, y)
    assert (y == x + 1).all()
    with pytest.raises(pto.PtoError, match="race"):
        meeting.on(blocks=4, schedule="random:3")(x, y)


def test_races_are_found_in_a_launch_and_in_samples() -> None:
    x, y = arrays()
    specs = (pto.spec("f32", ("rows", 16)), pto.spec("f32", ("rows", 16)))
    for kernel, wrong in ((shifted, False), (meeting, True)):
        for given in ((x, y), specs):
            found = kernel.races(*given, target="a5", blocks=4)
            assert any(d.slug == "hazard" for d in found) is wrong
        assert kernel.on("a5", blocks=4).races(x, y) == kernel.races(x, y, target="a5", blocks=4)


def test_a_kernel_is_checked_for_all_targets() -> None:
    x = np.zeros((16, 16), np.float16)
    found = stores_left.check(x, x)
    assert {t for d in found if d.is_error for t in d.targets} == {"a2a3", "a5"}
    assert stores_left.check() == found
    assert stores_left.check(target="cpu") == []
    assert [d for d in shifted.check(*arrays()) if d.is_error] == []


def test_a_launch_has_limits(engine: str) -> None:
    x, y = arrays()
    with pytest.raises(pto.PtoError, match="instruction-limit"):
        shifted.on(engine=engine, max_instructions=5)(x, y)
    assert not y.any()
    shifted.on(engine=engine, max_instructions=10**6, timeout=60)(x, y)
    assert (y == x + 1).all()


@every(
    "wrong",
    [
        {"target": "a6"},
        {"engine": "fast"},
        {"blocks": 0},
        {"fixpipe": "soft"},
        {"schedule": "random"},
        {"max_instructions": 0},
        {"timeout": -1},
    ],
    ids=str,
)
def test_what_no_launch_can_have_is_refused_where_it_is_said(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"choose one of|is -?\d|expected random:SEED"):
        shifted.on(**wrong)


def test_reports_and_traces_go_to_a_path_or_its_name(tmp_path: Path) -> None:
    profile = shifted.profile(*arrays(), target="a5")
    for write, name in ((write_report, "r.html"), (write_trace, "t.json")):
        write(profile, str(tmp_path / name))
        text = (tmp_path / name).read_bytes()
        write(profile, tmp_path / name)
        assert text == (tmp_path / name).read_bytes()
