"""Kernels of several cores that are wrong: one message with its line, the same in both engines."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

T, V = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tensor_view<16x16xf32>"
OPENED = "pto.aiv_initialize_pipe {dir_mask = MASK, slot_size = SIZE} \
(c2v_consumer_buf = 0 : i32, v2c_consumer_buf = 0 : i32)"
PUSHED = f"pto.tpush_to_aic(%t : {T}) {{split = 0}}"


def vector(*lines: str, mask: int = 2, size: int = 1024) -> str:
    """A vector function with a filled tile %t and these statements."""
    body = "\n  ".join(lines).replace("MASK", str(mask)).replace("SIZE", str(size))
    return f"""\
func.func @v(%y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %t = pto.alloc_tile : {T}
  pto.texpands ins(1.0 : f32) outs(%t : {T})
  {body}
  return
}}"""


WRONG = {
    "no such pipe": (vector(PUSHED), "fifo-mismatch", "no FIFO with id 0"),
    "another direction": (vector(OPENED, PUSHED, mask=1), "fifo-mismatch", "wrong direction"),
    "no place": (
        vector(OPENED, f"%e = pto.talloc_to_aic {{split = 0}} -> {V}"),
        "fifo-mismatch",
        "no slots in global memory",
    ),
    "opened twice": (vector(OPENED, OPENED), "fifo-mismatch", "another FIFO has this id"),
    "larger than a slot": (vector(OPENED, PUSHED, size=512), "fifo-mismatch", "larger than a slot"),
}


@pytest.mark.parametrize(("text", "slug", "words"), WRONG.values(), ids=WRONG.keys())
def test_it_is_one_message_with_its_line(text: str, slug: str, words: str) -> None:
    said: list[str] = []
    for engine in ("reference", "native"):
        with pytest.raises(pto.PtoError, match=words) as problem:
            pto.loads(text).execute({"y": np.zeros(256, np.float32)}, engine=engine)
        first = problem.value.diagnostics[0]
        assert first.slug == slug
        assert first.span is not None
        said.append(str(problem.value))
    assert said[0] == said[1]
