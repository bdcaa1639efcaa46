"""FIFOs whose types name the tiles that go through: both ways, through each memory."""

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

pytestmark = needs_compiler
RNG = np.random.default_rng(5)
A = RNG.integers(-1, 2, (32, 64)).astype(np.float16)
B = RNG.integers(-1, 2, (64, 32)).astype(np.float16)


@pytest.mark.parametrize(
    ("local", "target"), sampled([("true", "a5"), ("false", "a5"), ("false", "a2a3")], 3)
)
def test_products_to_vector_cores_and_back(local: str, target: str) -> None:
    """Each slot is used again: five entries go through two."""
    c = np.zeros((5, 32, 32), np.float32)
    down, up = np.zeros(2048, np.float32), np.zeros(2048, np.float16)
    ran = kernels("tilepipes", target).launch(f"products<{local}>", A, B, c, down, up)
    product = A.astype(np.float32) @ B.astype(np.float32)
    wanted = [(n + 1) * product @ B[:32].astype(np.float32) for n in range(5)]
    assert np.array_equal(c, wanted)  # every number is exact in half
    assert [d for d in ran.races() if d.is_error] == []
    if local == "true":
        return  # an instruction of text writes no memory of another core
    given = {"a": A, "b": B, "c": c * 0, "down": down * 0, "up": up * 0}
    assert np.array_equal(again(ran, given, target)["c"].reshape(c.shape), c)
