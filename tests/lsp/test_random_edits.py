"""Random edits of real texts: no request fails on any text, and texts stay what an editor has.

A few in `make test`, two thousand where PTOKIT_FUZZ asks for more.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from time import process_time

from lsprotocol import types as lsp

from account.files import ROOT
from fuzz.scale import FACTOR
from ptokit.analysis.legality import merged
from ptokit.tools.lsp.checking import CheckedProgram
from ptokit.tools.lsp.codeactions import quick_fixes, rewriting, synchronising
from ptokit.tools.lsp.completing import completions, resolved, signatures
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.editorsettings import Settings
from ptokit.tools.lsp.formatting import formatted
from ptokit.tools.lsp.hovering import hover
from ptokit.tools.lsp.inlays import inlay_hints
from ptokit.tools.lsp.keptverdicts import KeptVerdicts
from ptokit.tools.lsp.occurrences import definition, highlights, named_thing, references, renamed
from ptokit.tools.lsp.outline import folds, symbols
from ptokit.tools.lsp.positions import TextPositions, changed
from ptokit.tools.lsp.published import published
from ptokit.tools.lsp.pythonfiles import python_hover
from ptokit.tools.lsp.tokenkinds import semantic_tokens

EDITS = 24 if FACTOR == 1 else 2000
NAMES = ("softmax_tail", "blocks_of_code", "own_scalars", "generic_form", "signals_by_number")
FLAT = """\
# doubled, in PTO-AS
%x = load %a
%y = tadd %x, %x : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<vec, 16x32xf32>
%z = texp %y
"""
TYPED = (
    *("%", "!", "#pto.", "@", "{", "}", "(", ")", "<", ">", '"', "//", "^bb0:", "\n", "\r\n"),
    *("\r", "\t", "\0", "é", "\U0001f600", "\u2028", "\x0c", "pto.", "pto.texp ins(%", " = "),
    *("scf.for %i = %c0 to %c1 step %c1 {\n", "func.func @f() {\n", "module {\n", "-", "0x", "1e9"),
    *("return", "!T = ", "!pto.tile_buf<loc=vec, ", " : i32", "%x:2 = ", "%x#1", "{rmode = ", "\\"),
)
# two functions that are judged alone, with findings; one text has both, and edits are in either
FINDINGS = """\
!T = !pto.tile_buf<loc=vec, dtype=i64, rows=16, cols=32, v_row=16, v_col=32,\
 blayout=row_major, slayout=none_box, fractal=512, pad=0>
func.func @first(%x: !T, %w: index) {
  %y = pto.alloc_tile : !T
  pto.tadd ins(%x, %x : !T, !T) outs(%y : !T)
  return
}

func.func @second(%x: !T) {
  %y = pto.alloc_tile : !T
  pto.tmul ins(%y, %x : !T, !T) outs(%y : !T)
  return
}
"""
URI = "file:///work/kernel.pto"
SOME = Settings(targets=("cpu", "a5"))


def texts() -> Iterator[str]:
    yield FLAT
    yield FINDINGS
    for name in NAMES:
        yield (ROOT / "tests" / "pto" / f"{name}.pto").read_text(encoding="utf-8")


def edit(random: Random, at: TextPositions) -> tuple[int, int, str]:
    """Where a person types, deletes, moves a piece or pastes it again."""
    text = at.text
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((0, 0, 0, 1, 2, 8, 60)))
    piece = random.randrange(len(text) + 1)
    pasted = text[piece : piece + random.choice((3, 20, 90))]
    return start, end, random.choice((random.choice(TYPED), random.choice(TYPED), "", pasted))


def ask(text: EditedText, random: Random, checked: CheckedProgram | None) -> None:
    """Every request at some place of a text."""
    offset = random.randrange(len(text.text) + 1)
    whole = text.at.range(0, len(text.text))
    found = [*published(text.reading.problems, text, URI, SOME.targets)]
    if checked is not None:
        found += published(checked.diagnostics, text, URI, SOME.targets)
    assert all(0 <= one.range.start.line <= one.range.end.line for one in found)
    _ = hover(text, checked, offset), symbols(text), [*folds(text)], formatted(text)
    data = semantic_tokens(text).data
    assert all(number >= 0 for number in data)
    assert len(data) % 5 == 0
    items = completions(text, offset).items
    _ = resolved(random.choice(items)) if items else None
    _ = signatures(text, offset), inlay_hints(text, checked, whole, SOME)
    _ = definition(text, URI, offset), highlights(text, offset), python_hover(text.at, offset)
    _ = references(text, URI, offset, declared=True)
    _ = [*quick_fixes(text, URI, found)], [*rewriting(text, URI, whole)]
    if checked is not None and not any(one.is_error for one in checked.diagnostics):
        _ = [*synchronising(text, URI, checked, whole)]
    thing = named_thing(text, offset)
    if thing is not None:
        assert all(text.text[start:end] == thing.name for start, end in thing.places)
        _ = renamed(text, offset, f"{thing.sign}new_name_0")


def told(text: EditedText, checked: CheckedProgram | None) -> list[str]:
    """What an editor is told of a program, in an order of its own."""
    found = checked.diagnostics if checked is not None else ()
    return sorted(map(str, published(found, text, URI, SOME.targets)))


def test_verdicts_are_kept_while_functions_are_typed() -> None:
    """What is kept is what a check says, wherever lines were typed; also beside a mistake."""
    kept, seen, every = KeptVerdicts(), list[list[tuple[str, str]]](), Settings().targets
    place = FINDINGS.index("func.func @second")
    for typed in ("", "// one\n", "// one\n// two\n", "func.func @third() {\n  pto.tadd ins(\n}\n"):
        text = EditedText("k.pto", 1, TextPositions(FINDINGS[:place] + typed + FINDINGS[place:]))
        program = text.program
        found = merged(kept.of(text, every))
        if program is not None:
            found = CheckedProgram(text, program, every, kept).diagnostics
            alone = CheckedProgram(text, program, every, KeptVerdicts())
            shown = sorted(map(str, published(found, text, URI, every)))
            assert shown == sorted(map(str, published(alone.diagnostics, text, URI, every)))
        seen.append(sorted((d.slug, text.text[d.span.start : d.span.end]) for d in found if d.span))
    assert program is None  # at last, where a statement is incomplete
    assert len(seen[0]) > 1
    assert seen == [seen[0]] * 4


def test_hazards_are_kept_while_functions_are_typed() -> None:
    """Their help names lines: a function that has moved is looked at again."""
    once = (ROOT / "examples" / "race.pto").read_text(encoding="utf-8")
    place = once.index("func.func")
    twice = f"{once}{once[place:].replace('@', '@other_', 1)}"
    kept, helps = KeptVerdicts(), list[list[str | None]]()
    for whole in (twice, twice.replace("@other_", "@another_"), f"// above\n{twice}"):
        text = EditedText("k.pto", 1, TextPositions(whole))
        assert text.program is not None
        found = CheckedProgram(text, text.program, ("cpu", "a2a3"), kept).races
        expected = [d for d in text.program.verdicts("a2a3", races=True)[0].diagnostics if d.edge]
        assert [(d.message, d.span, d.help) for d in found if d.edge] == [
            (d.message, d.span, d.help) for d in expected
        ]
        helps.append([d.help for d in found])
    assert len(helps[0]) == 2
    assert helps[0] == helps[1] != helps[2]


def test_a_long_text_is_judged_while_it_is_typed() -> None:
    """Reading and the first target's verdict: 60 ms where an empty loop takes 55 ns a turn."""
    whole = (ROOT / "tests" / "pto" / "softmax_tail.pto").read_text(encoding="utf-8")
    place = whole.index("func.func")
    every = [whole[place:].replace("@softmax_tail", f"@softmax_{n}") for n in range(30)]
    kept, turns, times = KeptVerdicts(), 400_000, list[float]()
    for spaces in range(4):
        typed = whole[:place] + "".join(every).replace("pto.texp ", f"pto.texp {' ' * spaces}", 1)
        start = process_time()
        text = EditedText("k.pto", spaces, TextPositions(typed))
        assert text.program is not None
        assert text.text.count("\n") > 1000
        checked = CheckedProgram(text, text.program, SOME.targets, kept)
        assert [*published(checked.diagnostics_on(SOME.targets[0]), text, URI, SOME.targets)] == []
        took, start = process_time() - start, process_time()
        exec(f"count = 0\nfor number in range({turns}):\n    count += number")
        times.append(took / (process_time() - start) * turns * 55e-9)
    assert min(times[1:]) < 0.12, times


def test_no_request_fails_on_an_edited_text() -> None:
    failed: list[str] = []
    for number, whole in enumerate(texts()):
        random = Random(number)
        encoding = ("utf-16", "utf-8", "utf-32")[number % 3]
        at = TextPositions(whole, encoding)
        kept = KeptVerdicts()
        for version in range(EDITS // (len(NAMES) + 1)):
            start, end, typed = edit(random, at)
            change = lsp.TextDocumentContentChangePartial(at.range(start, end), typed)
            before, at = at, changed(at, encoding, [change])
            split = before.text[start - 1 : start + 1], before.text[end - 1 : end + 1]
            if "\r\n" not in split and not any("\ud800" <= c <= "\udfff" for c in before.text):
                assert at.text == before.text[:start] + typed + before.text[end:]
            text = EditedText("kernel.pto", version, at)
            program = text.program
            checked = program and CheckedProgram(text, program, SOME.targets, kept)
            try:
                ask(text, random, checked)
                alone = program and CheckedProgram(text, program, SOME.targets, KeptVerdicts())
                assert told(text, checked) == told(text, alone)
            except Exception as problem:  # all of them, to tell how many there are
                failed.append(f"text {number}, edit {version}: {problem!r}")
            if random.random() < 0.15:  # or the text is soon nothing but mistakes
                at = TextPositions(whole, encoding)
    assert failed == []
