"""Chips whose core has the cube unit and the vector unit: one text asks for both."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

pytestmark = needs_compiler


@pytest.mark.parametrize("target", sampled(["kirinX90", "kirin9030"], 2))
def test_one_core_runs_the_text_of_both_kinds(target: str) -> None:
    """Suite textract_acc2vec of X90 multiplies for the cube, and extracts for no kind."""
    given = {"a": np.arange(64, dtype=np.float32), "c": np.zeros(64, np.float32)}
    c = given["c"].copy()
    ran = kernels("onecore", target).launch("both", given["a"], c)
    assert [*ran.races()] == []
    np.testing.assert_array_equal(c, given["a"] + 1)
    np.testing.assert_array_equal(again(ran, given, target)["c"], c)
