"""Rules that only warn, on numbers that only the run knows: instructions still run compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit import f32
from ptokit.engines.reference.interpreter import OpExecution


@pto.kernel(shapes="a[32, K] b[K, n] c[32, n]")
def product(a: pto.In, b: pto.In, c: pto.Out) -> None:
    k, n = b.shape
    for j in pto.grid(pto.cdiv(n, 32)):
        out = pto.block(c, 0, j * 32, 32, 32)
        acc = pto.tile_acc(f32, 32, 32, valid=out.shape)
        for p in pto.range(0, k, 16):
            left = pto.load(pto.block(a, 0, p, 32, 16), "mat").to("left")
            right = pto.load(pto.block(b, p, j * 32, 16, 32), "mat").to("right")
            pto.matmul(left, right, acc=acc, first=p == 0)
        pto.store(out, acc)


def run(engine: str, n: int, reached: list[str]) -> tuple[np.ndarray, list[tuple[str, Any, Any]]]:
    """Return the product of 32 x 64 and 64 x n ones, and the warnings."""
    a, b, c = (np.ones(s, np.float32) for s in ((32, 64), (64, n), (32, n)))
    done = product.on("a2a3").program(a, b, c).compile(target="a2a3", engine=engine)
    reached.clear()
    found = done.execute({"a": a, "b": b, "n": n, "c": c})
    return found.outputs["c"], [(w.slug, w.span, w.seen) for w in found.warnings]


def test_warnings_are_those_of_the_reference_and_cost_no_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last block has 4 of 32 columns: boxes do not lie as the cube unit assumes."""
    executed, execute = list[str](), OpExecution.execute

    def noted(self: OpExecution, *args: Any) -> Any:  # Any: as in `execute`
        executed.append(self.op.name)
        return execute(self, *args)

    monkeypatch.setattr(OpExecution, "execute", noted)
    (wanted, warnings), calls = run("reference", 68, executed), len(executed)
    assert [slug for slug, *_ in warnings] == ["box-pitch", "box-pitch"]
    assert calls > 0
    got, found = run("native", 68, executed)
    assert executed == []
    assert found == warnings
    assert np.array_equal(got, wanted)
    assert (got == 64).all()
    assert run("native", 64, executed)[1] == []
