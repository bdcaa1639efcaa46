"""The reader goes on after a broken statement: each is reported once, where it stands.

Nothing that follows is reported, and every operand and attribute knows its place in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from corpus import corpus

from every import every
from fuzz.scale import sampled, scaled
from growth import growth
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Func, Op
from ptokit.text.read.parser import MOST
from ptokit.text.read.reader import read
from ptokit.tools.cli import main


def found(text: str) -> list[tuple[int, str, str]]:
    """Line, slug and text below the carets of each diagnostic."""
    try:
        read(text)
    except PtoError as problem:
        spans = [d.span for d in problem.diagnostics]
        assert all(spans)
        return [
            (s.source.position(s.start)[0], d.slug, text[s.start : s.end])
            for s, d in zip(spans, problem.diagnostics, strict=True)
            if s
        ]
    return []


def test_every_broken_statement_is_reported_in_text_order() -> None:
    text = """func.func @f(%n: index) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf33>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tmov ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmov ins(%a, : !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmov ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmov ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.tmov ins(%b : !pto.tile_buf<vec, 16x16xf32> outs(%b : !pto.tile_buf<vec, 16x16xf32>)
  pto.barrier <PIPE_Q>
  return
}
"""
    assert found(text) == [
        (2, "unknown-type", "f33"),
        (5, "syntax-error", ":"),
        (6, "undefined-name", "%x"),
        (8, "syntax-error", "outs"),
        (9, "unknown-word", "<PIPE_Q>"),
    ]


def test_the_body_of_a_broken_loop_is_read() -> None:
    text = """func.func @f(%n: index) {
  %r = scf.for %i = 0 upto %n step 1 iter_args(%s = %n) -> (index) {
    %t = arith.addi %s, %i : index
    %u = arith.addi %t : index
    scf.yield %t : index
  }
  %v = arith.addi %r, %n : index
  %w = arith.addi %v, %i : index
  return
}
"""
    assert found(text) == [
        (2, "syntax-error", "upto"),
        (4, "operand-count", "arith.addi"),
        (8, "undefined-name", "%i"),
    ]


def test_a_broken_end_of_a_region_is_one_error() -> None:
    text = """func.func @f(%n: index) -> (index) {
  %r = scf.for %i = 0 to %n step 1 iter_args(%s = %n) -> (index) {
    scf.yield %s, : index
  }
  return %r, : index
}
"""
    assert found(text) == [(3, "syntax-error", ":"), (5, "syntax-error", ":")]


@pytest.mark.parametrize("opened", ["module {\n", ""])
def test_each_function_is_read(opened: str) -> None:
    text = f"""{opened}func.func @f(%n: indx, %m: index) {{
  %a = arith.addi %n, %m : index
  %b = arith.addi %n : index
  return
}}
func.func @g(%n: index) {{
  scf.for %i = 0 to %n step 1 {{
    %a = arith.addi %i, %i : index
  return
}}
func.func @h(%n: index) {{
  %b = arith.addi %n : index
  return
}}
{"}" if opened else ""}
"""
    line = 1 + bool(opened)
    assert [(row - line, slug) for row, slug, _ in found(text)] == [
        (0, "unknown-type"),
        (2, "operand-count"),
        (10, "syntax-error"),
        (11, "operand-count"),
    ]


def test_a_brace_too_many_ends_its_function_only() -> None:
    text = """func.func @f(%n: index) {
  }
  %a = arith.addi %n, %n : index
  return
}
func.func @g(%n: index) {
  %b = arith.addi %n : index
  return
}
"""
    assert [(row, slug) for row, slug, _ in found(text)] == [
        (3, "syntax-error"),
        (7, "operand-count"),
    ]


def test_an_unknown_alias_is_reported_once() -> None:
    text = """!t = !pto.tile_buf<vec, 16x16xf33>
!u = !pto.tile_buf<vec, 16x16xf32>
%a = pto.alloc_tile : !t
%b = pto.alloc_tile : !v
%c = pto.alloc_tile : !v
pto.tmov ins(%a : !t) outs(%b : !v)
"""
    assert [(row, slug) for row, slug, _ in found(text)] == [
        (1, "unknown-type"),
        (4, "unknown-type"),
    ]


@every("stray", ["/ a comment\n", "!s !pto.tile_buf<...>\n", "} }\n"])
@every("opened", ["module {\n", ""])
def test_what_stands_below_a_stray_line_is_read(stray: str, opened: str) -> None:
    text = f"""{stray}!t = !pto.tile_buf<vec, 16x16xf32>
{opened}func.func @f(: index, %n: index) {{
  %a = pto.alloc_tile : !t
  %b = pto.alloc_tile : !s
  %c = arith.addi %n, %m : index
  %d = arith.addi %n : index
  return
}}
{"}" if opened else ""}
"""
    row = 3 + bool(opened)
    expected = [(1, "syntax-error"), (row, "syntax-error"), (row + 4, "operand-count")]
    assert [(line, slug) for line, slug, _ in found(text) if slug != "unknown-type"] == expected


def test_twenty_at_most() -> None:
    text = "%a = arith.addi %b\n" * 50
    assert len(found(text)) == MOST


def test_the_command_line_prints_them_all(tmp_path: Path) -> None:
    file = tmp_path / "f.pto"
    file.write_text("%a = arith.addi %b, : index\n%c = arith.addi %a, %b : indx\n")
    result = CliRunner().invoke(main, ["check", str(file)])
    assert result.exit_code == 1
    assert result.output.count("error[") == 2
    assert f"{file}:1:21" in result.output
    assert f"{file}:2:26" in result.output


# the law


def mnemonics(text: str) -> list[Span]:
    """Where each op begins that a `?` behind its name breaks."""

    def ops(func: Func) -> Iterator[Span]:
        for op in func.body.walk():
            if isinstance(op, Op) and op.span is not None and op.span.end > op.span.start:
                yield op.span

    return sorted(span for func in read(text).funcs for span in ops(func))


def literal(text: str, span: Span) -> bool:
    """A number in operand position, which is an op without a name."""
    return not text[span.start].isalpha() and text[span.start] != '"'


@pytest.mark.parametrize("mark", [" ?", " ("])
def test_whatever_is_broken_is_reported_and_nothing_else(mark: str) -> None:
    random = Random(mark)
    for text in corpus()[:: 1 if scaled(1) > 1 else 9]:
        names = [s for s in mnemonics(text) if not literal(text, s)]
        for count in sorted({min(n, len(names)) for n in (1, 3, 8)} - {0}):
            chosen = sorted(random.sample(names, count))
            broken = text
            for span in reversed(chosen):
                broken = broken[: span.end] + mark + broken[span.end :]
            lines = [s.source.position(s.start)[0] for s in chosen]
            rows = [row for row, _, _ in found(broken)]
            assert len(rows) == count, broken
            bounds = zip(lines, rows, [*lines[1:], len(broken)], strict=True)
            assert all(line <= row <= following for line, row, following in bounds), broken


STATEMENTS = {
    "open brackets": "%x{0} = arith.addi %a{0} (",
    "undefined": "%x{0} = arith.addi %undefined{0}, %c : index",
    "loops": "scf.for %i{0} = %c to %c stop %c {{ }}",
    "types": "%x{0} = pto.alloc_tile : !undefined{0}",
}


@pytest.mark.parametrize("line", sampled(STATEMENTS.values(), 4), ids=sampled(STATEMENTS, 4))
def test_time_grows_with_the_text(line: str) -> None:
    """Sixteen times the text takes about sixteen times as long; 256 times if it were squared."""

    def work(size: int) -> None:
        text = "func.func @f() {\n" + "".join(f"  {line}\n".format(n) for n in range(MOST - 1))
        text += "".join(f"  %c{n} = arith.constant 1 : index\n" for n in range(size))
        assert len(found(text + "  return\n}\n")) == MOST - 1

    assert growth(work, 100, 1600) < 60


@every(
    ("opened", "message"),
    [
        ("scf.if %c {", "region of scf.if: expected no arguments, got 1"),
        ("scf.execute_region {", "region of scf.execute_region: expected no arguments"),
        ("pto.section.cube {", "region of pto.section.cube: expected no arguments"),
        ("scf.for %i = %n to %n step %n {", "the arguments of this region are already named"),
    ],
)
def test_a_label_gives_a_region_no_values_of_its_own(opened: str, message: str) -> None:
    """What stands below the label is read."""
    text = f"""\
func.func @f(%c: i1, %n: index) {{
  {opened}
  ^first(%x: index):
    %y = arith.addi %x, %unknown : index
  }}
  return
}}
"""
    with pytest.raises(PtoError) as caught:
        read(text)
    found = [d.message for d in caught.value.diagnostics]
    assert len(found) == 2
    assert any(message in line for line in found)
    assert "%unknown is not defined" in found


def test_every_operand_and_attribute_has_a_place() -> None:
    for text in corpus():
        for func in read(text).funcs:
            for op in func.body.walk():
                if isinstance(op, Op):
                    assert {*op.operands, *op.attrs} <= op.spans.keys(), f"{op}\n{text}"


def below(text: str) -> str:
    """The text below the carets of the only diagnostic."""
    try:
        (found,) = [d for d in loads(text).check("a5") if d.is_error]
    except PtoError as problem:
        (found,) = problem.diagnostics
    assert found.span is not None
    return text[found.span.start : found.span.end]


TILE = "!pto.tile_buf<vec, 16x16xf32>"


@every(
    ("text", "place"),
    [
        ("set_flag[<PIPE_V>, <PIPE_V>, <EVENT_ID0>]", "<PIPE_V>"),
        ("pto.barrier <PIPE_Q>", "<PIPE_Q>"),
        ("pto.barrier <PIPE_V>", "<PIPE_V>"),
        (f"%d = pto.tmov %x {{reluPreMod = [1, 2]}} : {TILE} -> {TILE}", "reluPreMod"),
        (
            f"%d = pto.tmov %x {{accToVecMode = dual_mode_split_m}} : {TILE} -> {TILE}",
            "accToVecMode = dual_mode_split_m",
        ),
        (f"%d = pto.tmov %x {{reluPreMode = <no>}} : {TILE} -> {TILE}", "<no>"),
        ("%a = arith.cmpi slt, %b, %c : !pto.ptr<f32>", "%b"),
    ],
)
def test_carets_point_at_what_is_wrong(text: str, place: str) -> None:
    assert below(text) == place
