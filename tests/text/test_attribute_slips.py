"""Attributes that are spaced out, cut short or misspelt: one message, and what to write."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ptokit as pto

TEXT = """\
func.func @f(%p: !pto.ptr<f32>) {{
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  %v = pto.make_tensor_view %p, shape = [%c16], strides = [%c1] {{layout = {}}}\
 : !pto.tensor_view<16xf32>
  return
}}
"""
WRITE = "write #pto.layout<nd>"
SLIPS = {  # what is seen, what to write
    "# pto . layout<nd>": ("'# pto . layout<nd>', which starts a comment", WRITE),
    "# pto.layout<nd>": ("'# pto.layout<nd>', which starts a comment", WRITE),
    "#pto.layout <nd>": ("'#pto.layout <nd>', which starts a comment", WRITE),
    "# pto<layout nd>": ("'# pto<layout nd>', which starts a comment", WRITE),
    "#pto.layout<nd": ("'#pto.layout<nd', which starts a comment", WRITE),
    "#pto.layout": ("'#pto.layout', which starts a comment", "#pto.layout<word>"),
    "#pto.": ("'#pto.', which starts a comment", "#pto.NAME<word>"),
    "#nd": ("'#nd', which starts a comment", "#pto.NAME<word>"),
    "#": ("'#', which starts a comment", "#pto.NAME<word>"),
    "layout<nd>": ("'layout'", WRITE),
    "pto.layout<nd>": ("'pto.layout'", WRITE),
    "#pto.layuot<nd>": ("unknown attribute #pto.layuot", WRITE),
    "#pto<layuot nd>": ("unknown attribute #pto.layuot", WRITE),
    "#pta.layout<nd>": ("'#pta.layout<nd>', expected one of: nd, dn", WRITE),
    "#pto.layout<>": ("'#pto.layout<>', expected one of: nd, dn", WRITE),
    "#pto.layout<nf>": ("'nf', expected one of: nd, dn", None),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_one_message_says_what_was_seen_and_what_to_write(slip: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(TEXT.format(slip))
    (found,) = caught.value.diagnostics
    seen, advice = SLIPS[slip]
    assert seen in found.message
    assert (advice or "") in (found.help or "")
    assert found.span is not None
    assert found.span.source.text[found.span.start :].startswith(slip.split("<")[0].split(" ")[0])


@pytest.mark.parametrize("kept", ["#pto.layout<nd>", "#pto<layout nd>", "nd", "#pto.layout< nd >"])
def test_what_is_written_right_is_read(kept: str) -> None:
    assert pto.loads(TEXT.format(kept)).check("cpu") == []


def test_a_comment_behind_what_a_line_says_is_none() -> None:
    text = TEXT.format("nd").replace("16 : index", "16 : index # pto . layout<nd>, said later")
    assert pto.loads(text).check("cpu") == []


FENCE = "  pto.fence.barrier_all #pto.fence_scope<gm>\n  return"
LATER = "import ptokit as pto; pto.loads({!r}); pto.loads({!r})"


def test_words_of_files_that_are_read_later_are_known() -> None:
    """A new process, which reads only the pages that it needs."""
    first, second = TEXT.format("#pto.layout<nd>"), TEXT.format("nd").replace("  return", FENCE)
    subprocess.run([sys.executable, "-c", LATER.format(first, second)], check=True)
