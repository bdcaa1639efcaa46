"""The law of lowering: registers do what NumPy says of logical vectors in whose place they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from logicalcases import CASES, REALS, ROOM, Case
from ml_dtypes import bfloat16
from test_logical import GIVEN, HALF, STEP, given, program, wrong

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes
from ptokit.text.write.printer import print_module


def lowered(cases: list[Case]) -> str:
    """The text of the program of some cases after the pass."""
    module = run_passes(pto.loads(program(cases)).module, ["lower-vmi"], TARGETS["a5"])
    return print_module(module)


def test_each_case_is_lowered() -> None:
    assert ".vmi." not in lowered(CASES)


def test_registers_do_what_numpy_says() -> None:
    bad = list[str]()
    cases = sampled(CASES, 3)
    for first in range(0, len(cases), STEP):
        some = cases[first : first + STEP]
        room = np.zeros(2 * ROOM * len(some), np.uint8)
        text = lowered(some)
        assert ".vmi." not in text
        done: Program = pto.loads(text)
        after = done.run(target="a5", engine="reference", a=given()[0], b=room, c=room)["c"]
        parts = zip(some, after.reshape(len(some), 2 * ROOM), strict=True)
        bad += [f"{one.kind}: {one.statement}" for one, part in parts if wrong(one, part)]
    assert not bad


def with_nan() -> np.ndarray:
    """The bytes of the input, with NaN and zeros of both signs among the numbers."""
    room, rng = given()[0].copy(), np.random.default_rng(2)
    for number, dtype in enumerate((np.float32, np.float16)):
        x = room[number * GIVEN :][:HALF].view(dtype)
        x[rng.integers(0, 64, 3)], x[5:7] = np.nan, (-0.0, 0.0)
    return room


def different(cases: list[Case], engine: str) -> list[str]:
    """The statements whose results the pass changes, in an engine; the reference is the measure."""
    room, a = np.zeros(2 * ROOM * len(cases), np.uint8), with_nan()
    direct, other = (
        pto.loads(text).run(target="a5", engine=one, a=a, b=room, c=room)["c"]
        for text, one in ((program(cases), "reference"), (lowered(cases), engine))
    )
    rows = (direct != other).reshape(len(cases), -1).any(axis=1)
    return [cases[n].statement for n in np.flatnonzero(rows)]


def test_groups_with_nan_keep_their_bits() -> None:
    folds = [c for c in CASES if c.statement.startswith(("vcadd", "vcm")) and c.kind in REALS]
    folds = [c for c in folds if "group = " in c.statement]
    one_group = [(c, c.statement.replace("group = 8", "group = 1")) for c in folds]
    of_one = [replace(c, statement=s, results="1*") for c, s in one_group if s != c.statement]
    assert not different([*folds, *of_one], "reference")


def test_compiled_registers_keep_the_bits() -> None:
    """A few cases: compiled code is slow to make, and takes unlike loops from other tests."""
    folds = [c for c in CASES if c.statement.startswith("vcmax") and c.kind in REALS]
    assert not different([*folds, *sampled(CASES, 100)], "native")


def pairs(dtype: str, lanes: int) -> str:
    """A program that converts pairs of bf16 to pairs of 4 bits and back, in the lanes of a mask."""
    narrow, wide = f"!pto.vmi.vreg<{lanes}x{dtype}>", f"!pto.vmi.vreg<{lanes}x!pto.bf16x2>"
    f4, bf16, mask = f"!pto.ptr<{dtype}, ub>", "!pto.ptr<!pto.bf16x2, ub>", f"<{lanes}xpred>"
    types = "!pto.ptr<ui8>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64"
    copy = "%none, %size nburst(%uno, %size, %size) : " + types
    return f"""
func.func @pairs(%a: !pto.ptr<ui8>, %b: !pto.ptr<ui8>) {{
  %c0 = arith.constant 0 : index
  %few = arith.constant {lanes - 7} : index
  %none = arith.constant 0 : i64
  %uno = arith.constant 1 : i64
  %size = arith.constant 2048 : i64
  %half = arith.constant 1024 : i64
  %in = pto.castptr %none : i64 -> !pto.ptr<ui8, ub>
  %p = pto.castptr %none : i64 -> {bf16}
  %q = pto.castptr %half : i64 -> {f4}
  pto.mte_gm_ub %a, %in, {copy}
  pto.vecscope {{
    %m = pto.vmi.create_mask %few : index -> !pto.vmi.mask{mask}
    %x = pto.vmi.vload %p[%c0] : {bf16} -> {wide}
    %y = pto.vmi.vcvt %x {{rounding = "R"}} : {wide} -> {narrow}
    pto.vmi.vstore %y, %q[%c0], %m : {narrow}, {f4}, !pto.vmi.mask{mask}
    %z = pto.vmi.vload %q[%c0] : {f4} -> {narrow}
    %w = pto.vmi.vcvt %z : {narrow} -> {wide}
    pto.vmi.vstore %w, %p[%c0], %m : {wide}, {bf16}, !pto.vmi.mask{mask}
  }}
  pto.mte_ub_gm %in, %b, %size nburst(%uno, %size, %size) : !pto.ptr<ui8, ub>, !pto.ptr<ui8>,\
 i64, i64, i64, i64
  return
}}"""


@pytest.mark.parametrize("lanes", [24, 150])
def test_pairs_keep_their_bits(lanes: int) -> None:
    """Registers have pairs of bf16 as 32 bits, and pairs of 4 bits as bytes."""
    for dtype in ("!pto.f4E1M2x2", "!pto.f4E2M1x2"):
        a = np.random.default_rng(lanes).integers(0, 256, 2048).astype(np.uint8)
        a[:1024] = np.random.default_rng(1).normal(0, 3, 512).astype(bfloat16).view(np.uint8)
        direct = pto.loads(pairs(dtype, lanes))
        made = print_module(run_passes(direct.module, ["lower-vmi"], TARGETS["a5"]))
        assert ".vmi." not in made
        first, second = (
            one.run(target="a5", engine="reference", a=a, b=np.zeros_like(a))["b"]
            for one in (direct, pto.loads(made))
        )
        assert first.tobytes() == second.tobytes()
        assert (first[1024 : 1024 + lanes - 7] != a[1024 : 1024 + lanes - 7]).any()


def test_statements_that_are_kept_as_text_are_refused() -> None:
    text = program([case for case in CASES if case.statement.startswith("vcmp ")][:1])
    module = pto.loads(text.replace("vmi.vcmp ", "vmi.vcmpp ")).module
    with pytest.raises(pto.PtoError, match=r"vmi\.vcmpp is not lowered"):
        run_passes(module, ["lower-vmi"], TARGETS["a5"])
