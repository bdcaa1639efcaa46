"""Statements that repeat an earlier one with other names are read as if they were the first."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.ir.module import Func, Op
from ptokit.text.read import operation

T, SMALL = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 16x32xf32, valid=4x8>"
TWICE = f"""\
module {{
func.func @f(%a: {T}, %b: {T}, %s: {SMALL}, %p: !pto.ptr<i32>, %n: index, %m: index) {{
  pto.tmul ins(%a, %a : {T}, {T}) outs(%b : {T})
  pto.tmul ins(%b, %a : {T}, {T}) outs(%a : {T})  // %b is first
  pto.tmul ins(%a, %b : {T}, {T})
    outs(%a : {T})
  pto.tmul ins(%a, %b : {T}, {T})
    outs(%b : {T})
  // a line of its own
  %x = arith.addi %n, %m : index
  %y = arith.addi %m, %x : index
  scf.for %i = %n to %m step %x {{
    %z = arith.addi %i, %i : index
    %w = arith.addi %z, %i : index loc("here")
    pto.tadds ins(%a, %q : {T}, f32) outs(%a : {T})
  }}
  %z = arith.addi %y, %y : index
  %long_name.x$1 = arith.addi %z, %y : index
  %c = pto.alloc_tile : {T}
  %d = pto.alloc_tile : {T}
  %e, %g = pto.get_validshape %c : {T}
  %h, %k = pto.get_validshape %d : {T}
  %l = pto.load_scalar %p[%n] : !pto.ptr<i32> -> i32
  %r = pto.load_scalar %p[%m] : !pto.ptr<i32> -> i32
  return
}}
}}
""".replace("    pto.tadds ins(%a, %q : " + T + ", f32) outs(%a : " + T + ")\n", "")


def told(program: pto.Program) -> list[object]:
    """All that a reader finds, with the places."""

    def op_told(op: object) -> object:
        if not isinstance(op, Op):
            return repr(op)
        spans = sorted((name, span.start, span.end) for name, span in op.spans.items())
        results = [(v.name, str(v.type), v.span and v.span.start) for v in op.results]
        used = [(name, v.name, str(v.type), v.span and v.span.start) for name, v in op.values()]
        return (op.page.__name__, op.dialect, spans, op.attrs, results, used, op.comments)

    def func_told(func: Func) -> object:
        return func.name, [op_told(op) for op in func.body.walk()]

    return [func_told(func) for func in program.module.funcs]


def never(*_: object) -> None:
    """No statement repeats another one."""


def read_anew(text: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    with monkeypatch.context() as context:
        context.setattr(operation, "repeated", never)
        return told(pto.loads(text))


PROGRAMS = sorted((ROOT / "examples").rglob("*.pto"))


@pytest.mark.parametrize("path", sampled(PROGRAMS, 3), ids=lambda path: path.stem)
def test_examples_are_read_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    assert told(pto.loads(text)) == read_anew(text, monkeypatch)


def test_repeated_statements_have_their_own_names_and_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[object] = []
    known = operation.repeated

    def counted(*given: object) -> Op | None:
        found = known(*given)  # pyright: ignore[reportArgumentType]
        calls.append(found)
        return found

    monkeypatch.setattr(operation, "repeated", counted)
    once = told(pto.loads(TWICE))
    assert sum(found is not None for found in calls) >= 6
    assert once == read_anew(TWICE, monkeypatch)


def test_values_of_other_types_are_no_repetition() -> None:
    add = "  %{} = arith.addi %{}, %{} : index\n"
    text = "func.func @f(%a: index, %b: i32) {\n" + add.format("x", "a", "a")
    with pytest.raises(pto.PtoError, match="type-mismatch"):
        pto.loads(text + add.format("y", "b", "a") + "  return\n}\n")
    with pytest.raises(pto.PtoError, match="redefined-name"):
        pto.loads(text + add.format("x", "a", "a") + "  return\n}\n")
    with pytest.raises(pto.PtoError, match="undefined-name"):
        pto.loads(text + add.format("y", "q", "a") + "  return\n}\n")


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [
        ("!t = !pto.tile_buf<vec, 16x32x{}>\n", "f16", "f32"),
        ("#mode = #pto<round_mode {}>\n", "RINT", "FLOOR"),
    ],
)
def test_names_of_types_and_attributes_mean_something_else_in_another_text(
    line: str, first: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, mode = ("!t", "#pto<round_mode RINT>") if line[0] == "!" else (T, "#mode")
    text = f"func.func @f(%a: {kind}, %b: {kind}) {{\n"
    text += f"  %c = pto.alloc_tile : {kind}\n"
    text += f"  pto.tcvt ins(%a {{rmode = {mode}}} : {kind}) outs(%b : {kind})\n  return\n}}\n"
    pto.loads(line.format(first) + text)
    again = line.format(second) + text
    assert told(pto.loads(again)) == read_anew(again, monkeypatch)
