"""The order of schedules that a board was published with: slots alone do not help, preloads do."""

from __future__ import annotations

import pytest

import ptokit as pto
from costs.scorekernels import score_kernel
from fuzz.scale import sampled

# microseconds of a board: serial, a second slot alone, a second slot and a preload
SERIAL, SLOT, PRELOAD = 32.43, 32.95, 27.68


def cycles(slots: int, target: str, *, preload: bool, flags: bool) -> int:
    program = pto.loads(score_kernel(slots, preload=preload))
    assert [d.render() for d in program.check(target) if d.is_error] == []
    if flags:
        program = pto.loads(program.text(level=3, target=target))
    return program.profile(target=target, n=8).cycles


@pytest.mark.parametrize("flags", [False, True], ids=["by data", "flags"])
@pytest.mark.parametrize("target", sampled(["a5", "a2a3"], 2))
def test_a_second_slot_helps_with_a_preload_only(target: str, *, flags: bool) -> None:
    serial = cycles(1, target, preload=False, flags=flags)
    slot = cycles(2, target, preload=False, flags=flags)
    preload = cycles(2, target, preload=True, flags=flags)
    assert abs(slot / serial - 1) <= abs(SLOT / SERIAL - 1)
    assert preload / serial <= PRELOAD / SERIAL
