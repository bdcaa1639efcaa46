"""A recorded program is legal text, has no race, and gives the bytes of the launch."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from launched import again, kernels, needs_compiler

import ptokit as pto
from fuzz.scale import sampled
from ptokit.diagnostics.diagnostic import Judge

pytestmark = needs_compiler


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("target", sampled(["a2a3", "a5"], 2))
def test_numbers_without_a_sign_and_empty_views(target: str, rows: int) -> None:
    a = np.arange(512, dtype=np.uint16).reshape(8, 64)
    c = np.zeros_like(a)
    ran = kernels("records", target).launch("bits", a, c, rows)
    assert np.array_equal(c, a | 40000)
    assert [*ran.check(), *ran.races()] == []
    assert ran.text().count("pto.tload") == (1 if rows == 0 else 2)
    (found,) = again(ran, {"a": a, "c": np.zeros_like(a)}, target).values()
    assert np.array_equal(found, c)


@pytest.mark.parametrize(("count", "moved"), [(64, 64), (33, 34)])
def test_packed_rows_move_in_whole_bytes(count: int, moved: int) -> None:
    """A row of 33 elements of 4 bits is 17 bytes, and so is the step to the next one."""
    x = (np.arange(2 * moved) % 8).astype(ml_dtypes.float4_e2m1fn)
    y = np.zeros_like(x)
    ran = kernels("records", "a5").launch(f"packed<{count}>", x, y)
    assert np.array_equal(y.astype("f4"), x.astype("f4"))
    assert {d.slug for d in ran.warnings} == ({"shape"} if moved != count else set())
    view = f"1x1x1x2x{moved // 2}x!pto.f4E2M1x2"
    assert pto.loads(ran.text()).check("a5") == []
    assert view in ran.text()


def test_a_prefetch_is_done_at_once_and_no_part_of_the_record() -> None:
    x, room, done = np.ones(64, np.float32), np.zeros(1024, np.uint8), np.zeros(1, np.float32)
    ran = kernels("records", "a2a3").launch("nearer", x, room, done)
    assert done.tolist() == [1]
    assert "prefetch" not in ran.text()
    assert not any(d.is_error for d in (*ran.check(), *ran.races()))


def test_a_profile_judges_as_the_launch_did() -> None:
    ran = kernels("records", "a2a3").launch("boxed", np.zeros((32, 32), np.float16))
    assert {d.by for d in ran.check()} == {(Judge.HEADERS,)}
    assert ran.profile().cycles > 0
    assert ran.profile(target="a5").cycles > 0


@pytest.mark.parametrize("blocks", [1, 2])
def test_vector_cores_that_differ(blocks: int) -> None:
    a = np.arange(128, dtype=np.float32)
    c = np.zeros_like(a)
    ran = kernels("lanes", "a5").launch("lanes", a, c, blocks=blocks)
    assert np.array_equal(c, np.concatenate([a[:64] + 1, a[64:] * 3]))
    assert "get_block_idx" not in ran.text()
    assert np.array_equal(again(ran, {"a": a, "c": c * 0}, "a5")["c"], c)
    if blocks == 1:
        assert [*ran.races()] == []


def test_addresses_that_only_some_blocks_have() -> None:
    a = np.arange(192, dtype=np.float32)
    c = np.zeros_like(a)
    ran = kernels("lanes", "a5").launch("rotated", a, c, blocks=3)
    assert np.array_equal(c, np.roll(a, 64))
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []
    assert np.array_equal(again(ran, {"a": a, "c": c * 0}, "a5")["c"], c)


@pytest.mark.parametrize("which", [10, 14, 27, 28])
def test_a_check_refuses_what_a_launch_refuses(which: int) -> None:
    """14 has a barrier that A5 lacks. 27 and 28 are what boards take and the assembler does not."""

    def refused(target: str) -> list[str]:
        return [d.slug for d in ran.check(target) if d.is_error]

    arrays = [np.ones((16, 64), np.float32) for _ in range(3)]
    ran = kernels("vector", "a2a3").launch("vector", which, *arrays, 1000)
    assert refused("a2a3") == []
    assert {*refused("a5")} == ({"attribute"} if which == 14 else set())
    assert any(d.is_error for d in ran.check("a2a3", judge="assembler")) == (which in (27, 28))


def test_a_check_warns_of_tiles_of_which_only_a_part_is_valid() -> None:
    a, c = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    ran = kernels("faults", "a5").launch("faults", 11, a, c, 0)
    found = [(d.slug, d.is_error) for d in ran.check()]
    assert ("address-out-of-range", False) in found
    assert not any(wrong for _, wrong in found)
