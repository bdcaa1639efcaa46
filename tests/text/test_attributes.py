"""Attributes: named ones, those of other tools, those that a page does not have, and slips."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ptokit as pto
from every import every
from ptokit import loads
from ptokit.diagnostics.diagnostic import PtoError

NAMED = """\
#nd = #pto.layout<nd>
#gm = #pto.address_space<gm>
#map = affine_map<(d0) -> (d0)>
#loc = loc(unknown)
module {
  func.func @k(%p: !pto.ptr<f32>, %m: memref<16x64xf32, #gm> loc(#loc)) {
    %n = arith.constant 16 : index loc(#loc3)
    %one = arith.constant 1 : index
    %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %one] {layout = #nd} : \
!pto.tensor_view<?x?xf32>
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc3 = loc("kernel.py":12:3)
"""
TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, \
slayout=none_box, fractal=512, pad=0>"
WITH = f"""\
func.func @k() {{
  %t = pto.alloc_tile : {TILE}
  %c = arith.constant 1.0 : f32
  pto.texpands ins(%c : f32) outs(%t : {TILE}) GIVEN
  return
}}
"""


def test_attributes_with_names_are_what_they_name() -> None:
    """The lines that name them stay; locations say nothing of the program."""
    program = loads(NAMED)
    text = program.text()
    assert "{layout = #pto.layout<nd>}" in text
    assert text.splitlines()[:4] == NAMED.splitlines()[:4]
    assert text.endswith('#loc3 = loc("kernel.py":12:3)\n')
    assert program.check("all") == []
    assert loads(text).text() == text


@pytest.mark.parametrize("word", ["#nd", "#again"])
def test_a_name_may_stand_for_another_name(word: str) -> None:
    named = NAMED.replace("#gm =", "#again = #nd\n#gm =").replace(
        "layout = #nd", f"layout = {word}"
    )
    text = loads(named).text()
    assert "{layout = #pto.layout<nd>}" in text
    assert "#again = #nd\n" in text
    assert loads(text).text() == text


@every("given", ["{foo = 1 : i32}", '{foo = "a b", pto.bar = [1, 2]}', "{foo}"])
def test_what_a_page_does_not_have_is_kept_and_reported(given: str) -> None:
    program = loads(WITH.replace("GIVEN", given))
    assert given in program.text()
    reported = program.check("all")
    assert [(d.slug, d.is_error) for d in reported] == [("unknown-attribute", False)]
    assert "'foo'" in reported[0].message
    assert program.run() == {}


def test_what_only_other_tools_know_is_kept() -> None:
    program = loads(WITH.replace("GIVEN", "{pto.inferred_layout = true}"))
    assert "{pto.inferred_layout = true}" in program.text()
    assert program.check("all") == []


def test_a_slip_is_an_error() -> None:
    """What is nearly an attribute of the page was meant to be it."""
    slip = WITH.replace("pto.texpands ins(%c : f32)", "pto.tmov ins(%t : %T)").replace("%T", TILE)
    with pytest.raises(PtoError, match="reluPreMod") as caught:
        loads(slip.replace("GIVEN", "{reluPreMod = #pto<relu_pre_mode no_relu>}"))
    assert "reluPreMode" in str(caught.value.diagnostics[0].help)


@every("kept", range(1, 8))
def test_a_word_may_be_its_number_in_cpp(kept: int) -> None:
    """The patterns of a masked gather count from 1, the phases of a store leave out 1."""
    words = ["P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"]
    given = f"{{maskPattern = {kept} : i32}}"
    taken = f"pto.tgather ins(%t, {given} : {TILE}) outs(%t : {TILE})\n  return"
    text = loads(WITH.replace(" GIVEN", "").replace("return", taken)).text()
    assert f"#pto.mask_pattern<{words[kept - 1]}>" in text
    to = "!pto.partition_tensor_view<8x8xf32>"
    store = f"pto.tstore ins(%t : {TILE}) outs(%g : {to}) {{stPhase = 1}}"
    with pytest.raises(PtoError, match="'1', expected one of: unspecified, partial, final"):
        loads(store)


def test_a_word_of_another_form_is_told_from_one_that_is_none() -> None:
    src, one = "!pto.tile_buf<vec, 8x64xf32>", "!pto.tile_buf<vec, 8x1xf32, blayout=col_major>"
    dst = "!pto.tile_buf<vec, 8x64xi8>"
    text = f"""\
func.func @f(%a: {src}, %s: {one}, %d: {dst}) {{
  pto.tquant ins(%a, %s : {src}, {one}) outs(%d : {dst}) {{quant_type = #pto<quant_type MXFP8>}}
  return
}}
"""
    with pytest.raises(PtoError, match="MXFP8 does not match these operands") as caught:
        loads(text)
    assert "quantisation by groups" in str(caught.value)
    assert "INT8_SYM: a quantisation to i8 about 0" in str(caught.value)


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


@every("slip", SLIPS)
def test_one_message_says_what_was_seen_and_what_to_write(slip: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(TEXT.format(slip))
    (found,) = caught.value.diagnostics
    seen, advice = SLIPS[slip]
    assert seen in found.message
    assert (advice or "") in (found.help or "")
    assert found.span is not None
    assert found.span.source.text[found.span.start :].startswith(slip.split("<")[0].split(" ")[0])


@every("kept", ["#pto.layout<nd>", "#pto<layout nd>", "nd", "#pto.layout< nd >"])
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
