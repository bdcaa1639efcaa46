"""`compare` beside NumPy's isclose, and its tolerance for each element type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import ptokit as pto
from every import every

KINDS: dict[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "i32": np.int32,
    "u8": np.uint8,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.0001, 100.0, 100.5, 3.0, -448.0, np.inf, -np.inf, np.nan]


@every("name", KINDS)
@every("tolerance", [(0.0, 0.0), (1e-4, 1e-4), (0.01, 0.0), (0.0, 0.6)])
def test_the_comparison_is_numpys(name: str, tolerance: tuple[float, float]) -> None:
    kind, (rtol, atol) = KINDS[name], tolerance
    plain = [abs(v) for v in SPECIAL if np.isfinite(v)] if name in ("i32", "u8") else SPECIAL
    values = np.array([v for v in plain if name != "u8" or v < 256]).astype(kind)
    found, wanted = (a.reshape(-1) for a in np.meshgrid(values, values))
    a, b = (v.astype(np.float64) for v in (wanted, found))
    near = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    done = pto.compare(found, wanted, rtol=rtol, atol=atol)
    assert done.differing == np.count_nonzero(~near)
    assert bool(done) is bool(near.all())
    assert done.first == ((int((~near).argmax()),) if not near.all() else None)


@every(
    ("name", "near", "far"),
    [
        ("f32", 1 + 1.5e-4, 1 + 3e-4),
        ("f16", 1.015, 1.03),
        ("bf16", 1 + 2**-7, 1 + 2**-6),
        ("f8e4m3", 1, 1.125),
        ("i32", 1, 2),
    ],
)
def test_the_tolerance_of_each_element_type(name: str, near: float, far: float) -> None:
    one, *others = (np.array([v]).astype(KINDS[name]) for v in (1, near, far))
    assert [bool(pto.compare(other, one)) for other in others] == [True, False]


def test_units_in_the_last_place() -> None:
    tiny = np.array([2**-24, -(2**-24)], np.float16)  # the smallest denormals
    done = pto.compare(tiny[:1], tiny[1:], atol=0)
    assert (done.ulps, done.farthest, done.differing) == (2, (0,), 1)
    whole = np.array([-(2**63)]), np.array([2**63 - 1])
    assert pto.compare(*whole).error == 2.0**64
