"""Random schedules: right kernels give the same bytes, and races name both places."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import ptokit as pto
from ptokit.isa.pages.fifoexamples import BOTH_WAYS, HANDLED, OUT_OF_MEMORY

COUNT = np.arange(256, dtype=np.float32)
P = "!pto.ptr<i32>"
SIGNALLED = f"""\
func.func @f(%g: {P}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  pto.section.cube {{
    pto.store_scalar %seven, %g[%c0] : {P}, i32
    pto.sync.set <PIPE_FIX>, 3
  }}
  pto.section.vector {{
    pto.sync.wait <PIPE_MTE2>, 3
    %n = pto.load_scalar %g[%c0] : {P} -> i32
    %lane = pto.get_subblock_idx
    %first = arith.index_cast %lane : i64 to index
    %at = arith.addi %first, %c1 : index
    pto.store_scalar %n, %g[%at] : {P}, i32
  }}
  return
}}"""
GIVEN = {"g": np.zeros(3, np.int32)}


@pytest.mark.parametrize("seed", range(5))
def test_a_right_kernel_has_no_race_and_the_same_result(seed: int) -> None:
    schedule = f"random:{seed}"
    done = pto.loads(SIGNALLED).execute(GIVEN, schedule=schedule).outputs
    assert done["g"].tolist() == [7, 7, 7]
    y = pto.loads(BOTH_WAYS).run(y=np.zeros(256, np.float32), schedule=schedule)["y"]
    assert (y == 3).all()
    done = pto.loads(HANDLED).run(x=COUNT, y=np.zeros(256, np.float32), schedule=schedule)
    assert (done["y"] == COUNT).all()
    memory = np.zeros(8 * 256, np.float32)
    done = pto.loads(OUT_OF_MEMORY).run(x=COUNT, memory=memory, schedule=schedule)
    assert (done["memory"][:256] == COUNT).all()


def raced(text: str, given: Mapping[str, np.ndarray], seed: int = 1) -> pto.PtoError:
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(text).execute(given, schedule=f"random:{seed}")
    assert [d.slug for d in problem.value.diagnostics] == ["race"]
    return problem.value


@pytest.mark.parametrize("seed", range(5))
def test_a_missing_signal_is_a_race_in_any_order(seed: int) -> None:
    text = SIGNALLED.replace("    pto.sync.wait <PIPE_MTE2>, 3\n", "")
    found = raced(text, GIVEN, seed).diagnostics[0]
    places = {found.span, *(note.span for note in found.notes)}
    assert {span.line for span in places if span is not None} >= {6}
    assert len(places) > 1


def test_both_vector_cores_writing_one_place_race() -> None:
    text = SIGNALLED.replace("%g[%at]", "%g[%c1]")
    assert "the vector core" in str(raced(text, GIVEN))


def test_blocks_that_write_the_same_bytes_race() -> None:
    text = f"""\
func.func @f(%g: {P}) {{
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  pto.store_scalar %seven, %g[%c0] : {P}, i32
  return
}}"""
    with pytest.raises(pto.PtoError, match="block 1") as problem:
        pto.loads(text).execute(GIVEN, blocks=2, schedule="random:1")
    assert problem.value.diagnostics[0].slug == "race"
    assert pto.loads(text).execute(GIVEN, schedule="random:1").outputs["g"].tolist() == [7, 0, 0]


def test_atomic_additions_do_not_race() -> None:
    """Both vector cores add their halves to the same rows."""
    text = HANDLED.replace("arith.muli %lane, %c8", "arith.muli %lane, %c0")
    given = {"x": COUNT, "y": np.zeros(256, np.float32)}
    assert "%y" in str(raced(text, given))
    added = "outs(%part : !pto.partition_tensor_view<8x16xf32>)"
    text = text.replace(added, f"{added} {{atomicType = #pto<atomic_type atomic_add>}}")
    done = pto.loads(text).execute(given, schedule="random:3").outputs
    assert (done["y"][:128] == COUNT[:128] + COUNT[128:]).all()


@pytest.mark.parametrize("words", ["random", "random:", "random:x", "fast", "random:-1"])
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="it is random:SEED"):
        pto.loads(SIGNALLED).execute(GIVEN, schedule=words)


def test_a_pair_takes_the_arguments_of_both() -> None:
    """Named from either end; what either one views says how large a random array is."""
    names = "%x: !pto.ptr<f32>, %y: !pto.ptr<f32>"
    text = BOTH_WAYS.replace("@vector(%y: !pto.ptr<f32>)", f"@vector({names})")
    for entry in ("cube", "vector"):
        program = pto.loads(text)
        assert {arg.name for arg in program.func(entry).args} == {"x", "y"}
        given = {"x": np.zeros(1, np.float32), "y": np.zeros(256, np.float32)}
        assert (program.execute(given, func=entry).outputs["y"] == 3).all()
