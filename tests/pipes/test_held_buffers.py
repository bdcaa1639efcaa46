"""Acquires and releases of buffers that do not pair (C3.3), in samples and in runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

TILE = "!pto.tile_buf<vec, 1x64xf32>"
LOAD = f"pto.tload ins(%v : !pto.tensor_view<1x64xf32>) outs(%a : {TILE})"
ADD = f"pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})"
STEPS = {  # a word for each statement
    "load": LOAD,
    "add": ADD,
    **{
        f"{word}{pipe}": f"pto.{name}[#pto.pipe_event_type<{of}>, 5]"
        for word, name in (("get", "get_buf"), ("rls", "rls_buf"))
        for pipe, of in ((2, "TLOAD"), ("v", "TVEC"))
    },
    "other": "pto.get_buf[#pto.pipe_event_type<TVEC>, 6]",
    "again": "pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, 5]",
    "mode": "pto.rls_buf[#pto.pipe_event_type<TVEC>, 5] {mode = 1}",
}
NOT_ACQUIRED = "V releases buffer 5 without having acquired it"
TWICE = "MTE2 acquires buffer 5 again before releasing it"
KEPT = "{} acquires buffer {} and never releases it"
CASES = {
    "get2 load rls2 getv add rlsv": [],
    "get2 load rls2 getv add again": [],
    "get2 load getv rls2 add rlsv": [],  # V waits meanwhile
    "get2 load rls2 add rlsv": [NOT_ACQUIRED],
    "get2 load rlsv": [NOT_ACQUIRED, KEPT.format("MTE2", 5)],  # of another pipe
    "get2 load rls2 getv add rlsv rlsv": [NOT_ACQUIRED],
    "get2 load rls2 getv add rlsv again": [NOT_ACQUIRED],
    "get2 load rls2 getv add rlsv mode": [],  # nobody knows what it does
    "get2 get2 load rls2 getv add rlsv": [TWICE],
    "get2 load rls2 getv add": [KEPT.format("V", 5)],
    "get2 load getv add rlsv": [KEPT.format("MTE2", 5)],  # and V waits for ever
    "other get2 load rls2 getv add rlsv": [KEPT.format("V", 6)],
}


def program(words: str) -> str:
    lines = "".join(f"  {STEPS[word]}\n" for word in words.split())
    return f"""func.func @f(%x: !pto.ptr<f32>) {{
  %v = pto.make_tensor_view %x, shape = [1, 64], strides = [64, 1] \
: !pto.tensor_view<1x64xf32>
  %a = pto.alloc_tile : {TILE}
{lines}  return
}}
"""


def misuses(text: str, **arrays: Any) -> list[str | None]:  # Any: arrays
    found = pto.loads(text).races("a5", **arrays)
    assert "pipe-deadlock" not in {d.slug for d in found}
    return [d.seen for d in found if d.slug == "acquire-release" and d.is_error]


@pytest.mark.parametrize("words", CASES)
def test_acquires_and_releases_pair(words: str) -> None:
    """Without arrays by a sample, with them of a run, whose log may be proven to be right."""
    text = program(words)
    assert misuses(text) == CASES[words]
    assert misuses(text, x=np.zeros(64, np.float32)) == CASES[words]


def test_the_run_goes_on() -> None:
    """In text order the buffer is always free: no data depends on it."""
    pto.loads(program("get2 get2 load rlsv")).run(x=np.zeros(64, np.float32), target="a5")


def test_an_acquire_of_each_iteration() -> None:
    """The one that is left in a loop is the second one's trouble, and the last one's."""
    loop = program("get2 load").replace(
        "  pto.get_buf", "  scf.for %i = 1 to 5 step 1 {\n  pto.get_buf"
    )
    found = misuses(loop.replace("  return", "  }\n  return"))
    assert found == [f"{TWICE} with %i = 2"]
