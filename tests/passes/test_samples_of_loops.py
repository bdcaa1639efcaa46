"""Samples with which loops iterate not at all, or most of a program does nothing.

Others are looked for, or barriers put in.
"""

from __future__ import annotations

import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

T = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64, v_row=8, v_col=64, \
blayout=row_major, slayout=none_box, fractal=512, pad=0>"
V, P = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"
TEXT = f"""\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %v = pto.make_tensor_view %x, shape = [8, 512], strides = [512, 1] : {V}
  %w = pto.make_tensor_view %y, shape = [8, 512], strides = [512, 1] : {V}
  %t = pto.alloc_tile : {T}
  %end = arith.addi %n, 2 : index
  scf.for %i = %n to %end step 1 {{
    %col = arith.muli %i, 64 : index
    %p = pto.partition_view %v, offsets = [0, %col], sizes = [8, 64] : {V} -> {P}
    %q = pto.partition_view %w, offsets = [0, %col], sizes = [8, 64] : {V} -> {P}
    pto.tload ins(%p : {P}) outs(%t : {T})
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""


def test_a_loop_that_few_arguments_fit_is_synchronised() -> None:
    made = run_passes(pto.loads(TEXT).module, ["synchronise"], TARGETS["a2a3"])
    assert "<PIPE_MTE2>, <PIPE_MTE3>" in Program(made).text()
    assert not Program(made).races("a2a3")


def test_loops_that_iterate_in_no_sample_are_said() -> None:
    """This one begins at 9, and 8 blocks of columns are all there are."""
    flag = "pto.barrier <PIPE_ALL>\n  "
    text = TEXT.replace("%n to %end", "%nine to %n").replace("%t = ", flag + "%t = ")
    text = text.replace("  %t = ", "  %nine = arith.constant 9 : index\n  %t = ")
    (warning,) = pto.loads(text).races("a2a3")
    assert warning.slug == "no-sample-run"
    assert "loops" in warning.message


def test_a_branch_in_such_a_loop_does_not_hide_it() -> None:
    """Either way is taken in runs of its own: more than one run in which nothing iterates."""
    branch = "%odd = arith.cmpi eq, %i, 1 : index\n    scf.if %odd {\n    pto.tload"
    text = TEXT.replace("pto.tload", branch).replace("    pto.tstore", "    }\n    pto.tstore")
    made = run_passes(pto.loads(text).module, ["synchronise"], TARGETS["a2a3"])
    assert "<PIPE_MTE2>, <PIPE_MTE3>" in Program(made).text()


NEEDED = {  # what orders what only some samples issue
    "buffers": "<PIPE_MTE2>, <PIPE_V>",  # tiles that are not empty
    "feed_forward": "<PIPE_MTE1>, <PIPE_MTE2>",  # numbers with which all its cores iterate
    "gqa_decode_even": "<PIPE_MTE1>, <PIPE_MTE2>",  # memory holds lengths and indices
    "split_k": "<PIPE_MTE1>, <PIPE_M>, <EVENT_ID0>",  # another block than the first
}


@pytest.mark.parametrize(
    ("name", "chip"), sampled([(n, c) for c in ("a2a3", "a5") for n in NEEDED], 12)
)
def test_what_the_first_sample_does_not_issue_is_looked_at(name: str, chip: str) -> None:
    program = pto.load(next(ROOT.glob(f"*/pto/{name}.pto")))
    made = Program(run_passes(program.module, ["synchronise"], TARGETS[chip])).text()
    assert not pto.loads(made).races(chip)
    lines = [line for line in made.splitlines() if NEEDED[name] not in line]
    assert len(lines) < len(made.splitlines())
    assert pto.loads("\n".join(lines)).races(chip)


OPEN = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64, v_row=?, v_col=?, \
blayout=row_major, slayout=none_box, fractal=512, pad=0>"
HEAD = f"""\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %m: index) {{
  %c0 = arith.constant 0 : index
  %v = pto.make_tensor_view %x, shape = [8, 64], strides = [64, 1] : {V}
  %w = pto.make_tensor_view %y, shape = [8, 64], strides = [64, 1] : {V}
"""
WHOLE = f"    %t = pto.alloc_tile valid_row = 8 valid_col = 64 : {OPEN}\n"


def kernel(body: str) -> str:
    return f"{HEAD}{body}  return\n}}\n"


def work(row: str = "%c0") -> str:
    """Load %t from a row of %v on, double it and store it."""
    return f"""\
    %p = pto.partition_view %v, offsets = [{row}, %c0], sizes = [8, 64] : {V} -> {P}
    %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [8, 64] : {V} -> {P}
    pto.tload ins(%p : {P}) outs(%t : {OPEN})
    pto.tmuls ins(%t, 2.0 : {OPEN}, f32) outs(%t : {OPEN})
    pto.tstore ins(%t : {OPEN}) outs(%q : {P})
"""


# the first legal numbers make empty tiles: rows 0, columns 1
EMPTY = kernel(f"    %t = pto.alloc_tile valid_row = %n valid_col = %m : {OPEN}\n{work()}")
# what is left of a long row of numbers is no legal extent unless it is long enough for all of them
LEFT = kernel(f"""\
  scf.for %i = %c0 to 64 step 1 {{
    %some = arith.cmpi slt, %i, %n : index
    scf.if %some {{
{WHOLE}\
    %from = arith.muli %i, 64 : index
    %rest = arith.subi %m, %from : index
    %wide = arith.minsi %rest, 64 : index
    pto.set_validshape %t, 8, %wide : {OPEN}
    pto.set_validshape %t, 8, 64 : {OPEN}
{work()}\
    }}
  }}
""")
# the other way of the branch is legal with any number
OTHERS = kernel(f"""\
  scf.for %i = %c0 to %n step 1 {{
    %here = arith.cmpi ne, %i, %m : index
    scf.if %here {{
{WHOLE}{work("%m")}\
    }}
  }}
""")
# nobody guesses that the first row is one of few numbers
FEW = kernel(f"""\
  %here = arith.cmpi sle, 5000, %n : index
  scf.if %here {{
    %row = arith.subi %n, 5000 : index
{WHOLE}{work("%row")}\
  }}
""")


def synchronised(text: str) -> str:
    made = run_passes(pto.loads(text).module, ["synchronise"], TARGETS["a2a3"])
    return Program(made).text()


@pytest.mark.parametrize("text", [EMPTY, LEFT, OTHERS], ids=["empty", "left", "others"])
def test_a_sample_that_reaches_all_is_looked_for(text: str) -> None:
    made = synchronised(text)
    assert "<PIPE_MTE2>, <PIPE_V>" in made
    assert "<PIPE_V>, <PIPE_MTE3>" in made


def test_what_no_sample_reaches_waits_for_all_pipes() -> None:
    made = synchronised(FEW)
    lines = [line.split()[0] for line in made.splitlines() if "pto." in line]
    at = lines.index("pto.tload")
    assert lines[at - 1 : at + 5 : 2] == ["pto.barrier"] * 3
    assert lines[at : at + 6 : 2] == ["pto.tload", "pto.tmuls", "pto.tstore"]
    assert synchronised(made) == made, "the barriers stand there once"
