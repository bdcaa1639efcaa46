"""What is computed with vectors, by threads of unknown number, and by maps of other dialects."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

COUNTS = """
func.func @f(%p: !pto.ptr<i32>) {
  %a = arith.constant dense<0> : vector<4xi16>
  %b = arith.addi %a, %a : vector<4xi16>
  return
}
"""
MAPPED = """
func.func @f(%p: !pto.ptr<i32>, %n: index) {
  %k = affine.apply affine_map<(d0) -> (d0 * 2)>(%n)
  return
}
"""
THREADS = """
func.func @f(%p: !pto.ptr<i32>, %n: i32) {
  %c1 = arith.constant 1 : i32
  pto.section.simt <<<%n, %c1, %c1>>> {
  } : i32, i32, i32
  return
}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (COUNTS, "vector<4xi16> holds what a merge counts and cannot be an operand"),
        (MAPPED, "affine.apply: not checked: from another level"),
    ],
)
def test_a_run_says_what_it_does_not_take(text: str, message: str, engine: str) -> None:
    program = pto.loads(text)
    (warning,) = program.check("a5")
    assert message in warning.message
    numbers = {"n": 1} if "%n:" in text else {}
    with pytest.raises(pto.PtoError) as caught:
        program.run(target="a5", engine=engine, p=np.zeros(4, np.int32), **numbers)  # type: ignore[arg-type]
    (problem,) = caught.value.diagnostics
    assert (problem.slug, problem.is_error) == ("foreign-op", True)
    assert message in problem.message


def test_extents_of_threads_are_known_before_the_run() -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(THREADS)
    (problem,) = caught.value.diagnostics
    assert "section.simt: dim_x is not known statically" in problem.message
    assert problem.seen == "dim_x is %n"
    assert problem.rule is not None
    assert "the name of a constant" in str(problem.help)
