"""Texts in an editor: what a client is told of them while they change, and what it may ask."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any  # of JSON

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from session import Session, at

from account.files import ROOT
from ptokit.tools.cli import main
from ptokit.tools.lsp.positions import TextPositions
from ptokit.tools.lsp.pythonfiles import shown_of

TEXT = (ROOT / "tests" / "pto" / "softmax_tail.pto").read_text(encoding="utf-8")
PROJECTION = (ROOT / "tests" / "pto" / "projection.pto").read_text(encoding="utf-8")
LOADED = "[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_MTE1>, %id]"
SHORT = """\
// A row of numbers, doubled.
// Nothing else.
!T = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=32, v_row=16, v_col=32,\
 blayout=row_major, slayout=none_box, fractal=512, pad=0>
func.func @double(%x: !T) {
  %y = pto.alloc_tile : !T
  pto.tadd ins(%x, %x : !T, !T) outs(%y : !T)
  return
}
"""


def shown(hover: lsp.Hover | None) -> str:
    assert hover is not None
    assert isinstance(hover.contents, lsp.MarkupContent)
    return hover.contents.value


def lines(found: list[lsp.Diagnostic]) -> dict[int, object]:
    return {one.range.start.line + 1: one.code for one in found}


def test_diagnostics_follow_what_is_typed(session: Session) -> None:
    """Those of the reader, those of the checker, none: for a whole text and for small edits."""

    editor = session.editor

    async def play() -> None:
        uri = editor.open(SHORT)
        assert await editor.diagnostics(uri) == []
        broken = SHORT.replace("ins(%x, %x", "ins(%x, %z")
        editor.replace(uri, broken)
        assert lines(await editor.diagnostics(uri)) == {6: "undefined-name"}
        place = lsp.Range(at(broken, "%z"), at(broken, "%z", 2))
        editor.change(uri, lsp.TextDocumentContentChangePartial(place, "%x"))
        assert await editor.diagnostics(uri) == []
        # letters before the place that take two units of the editor's
        editor.replace(uri, SHORT.replace("Nothing else", "\U0001f600 \u2028 ok"))
        assert await editor.diagnostics(uri) == []
        front = lsp.Position(1, 3)
        editor.change(uri, lsp.TextDocumentContentChangePartial(lsp.Range(front, front), "e\u0301"))
        assert await editor.diagnostics(uri) == []
        wrong = SHORT.replace("!T) {\n", "!T, %w: index) {\n").replace("dtype=f32", "dtype=i64")
        editor.replace(uri, wrong)
        (found,) = await editor.diagnostics(uri, bool)  # once all targets are judged
        assert found.code == "element-type"
        assert found.message.startswith("pto.tadd: ")
        assert "(a2a3)\nrule: " in found.message
        mistaken = wrong + "func.func @more() {\n  pto.tadd ins(\n}\n"
        editor.replace(uri, mistaken)
        assert lines(await editor.diagnostics(uri)).items() >= {(6, "element-type")}
        assert editor.messages == []

    session.play(play())


def test_an_editor_asks_about_a_text(session: Session) -> None:
    editor = session.editor

    async def play() -> None:
        uri = editor.open(TEXT)
        document = lsp.TextDocumentIdentifier(uri)

        async def hover(mark: str) -> str:
            params = lsp.HoverParams(document, at(TEXT, mark, 1))
            return shown(await editor.text_document_hover_async(params))

        page = await hover("pto.trowsum ins")
        assert "pto.trowsum on a5: V, " in page
        assert " cycles\n" in page
        assert "**Rules" in page
        tile = await hover("%total : !full, !column")
        assert "vec f32 8x1 dn valid 4x1" in tile
        assert "│ 0 │" in tile
        assert "a5: UB at 0x" in tile
        assert ", live on lines 29 to 36" in tile
        assert "%lengths: !pto.ptr<i32>" in await hover("%lengths[")
        assert "rows per tile" not in await hover("!full")
        symbols = await editor.text_document_document_symbol_async(
            lsp.DocumentSymbolParams(document)
        )
        assert symbols is not None
        *aliases, func = symbols
        assert isinstance(func, lsp.DocumentSymbol)
        assert [one.name for one in aliases] == ["!open", "!full", "!column", "!view", "!part"]
        assert func.name == "@softmax_tail"
        assert func.range.end == lsp.Position(TEXT.count("\n") - 1, 1)
        assert {"%t", "%whole", "%xv"} <= {one.name for one in func.children or ()}
        folds = await editor.text_document_folding_range_async(lsp.FoldingRangeParams(document))
        assert {(fold.start_line, fold.end_line) for fold in folds or ()} == {(0, 1), (7, 39)}
        spaced = TEXT.replace("  pto.texp ", "     pto.texp   ").replace("%zero = ", "%zero  =  ")
        editor.replace(uri, spaced)
        options = lsp.FormattingOptions(2, insert_spaces=True)
        edits = await editor.text_document_formatting_async(
            lsp.DocumentFormattingParams(document, options)
        )
        assert edits is not None
        (edit,) = edits
        first, last = edit.range.start.line, edit.range.end.line
        assert last - first == 10  # what is alike at both ends stays
        rows = spaced.splitlines(keepends=True)
        assert "".join([*rows[:first], edit.new_text, *rows[last:]]) == TEXT

    session.play(play())


def test_what_may_be_typed(session: Session) -> None:
    """In the middle of a statement: the rest of the text is known all the same."""
    editor = session.editor
    # what is typed before the return -> what is offered, and what is offered first
    cases = {
        "pto.tlo": ("pto.tload", "pto.tload ins(${1:%src} : ${2:!T}) outs(${3:%dst} : ${4:!T})"),
        "pto.trowmax ins(%f, ": ("%tmp", "%total"),
        "pto.trowmax ins(%f, %tmp : !f": ("!full", "!column"),
        "pto.tcvt ins(%t {": ("rmode", "rmode = $0"),
        "pto.tcvt ins(%t {rmode = ": ("#pto<round_mode RINT>", "#pto<round_mode CEIL>"),
        "pto.set_flag[<PIPE_V>, <": ("PIPE_MTE3", "PIPE_ALL"),
        "func.call @": ("@softmax_tail", "@softmax_tail"),
        "%b = pto.alloc_tile : !pto.tile_buf<loc=": ("left", "acc"),
        "// pto.": ("", ""),
        "%": ("", ""),
    }

    async def play() -> None:
        uri = editor.open(TEXT)
        document = lsp.TextDocumentIdentifier(uri)
        for typed, (offered, first) in cases.items():
            text = TEXT.replace("  return\n", f"  {typed}\n  return\n")
            editor.replace(uri, text)
            place = at(text, f"  {typed}\n", len(typed) + 2)
            params = lsp.CompletionParams(document, place)
            found = await editor.text_document_completion_async(params)
            assert isinstance(found, lsp.CompletionList)
            items = sorted(found.items, key=lambda item: item.sort_text or "")
            edits = [i.text_edit.new_text for i in items if isinstance(i.text_edit, lsp.TextEdit)]
            assert not offered or offered in {item.label for item in items}, typed
            chosen = [text for text in edits if text == first]
            assert chosen[:1] == ([first] if offered else []), typed
            assert bool(items) is bool(offered), typed
        item = next(o for o in (await operations(uri)).items if o.label == "pto.tload")
        resolved = await editor.completion_item_resolve_async(item)
        assert isinstance(resolved.documentation, lsp.MarkupContent)
        assert "**pto.tload**" in resolved.documentation.value
        text = TEXT.replace("  return\n", "  pto.trowsum ins(%f, \n  return\n")
        editor.replace(uri, text)
        place = at(text, "ins(%f, \n", 8)
        params = lsp.SignatureHelpParams(document, place)
        help = await editor.text_document_signature_help_async(params)
        assert help is not None
        assert help.signatures[0].label == "pto.trowsum src: tile, [tmp: tile]"
        assert help.active_parameter == 1

    async def operations(uri: str) -> lsp.CompletionList:
        text = TEXT.replace("  return\n", "  pto.tload\n  return\n")
        editor.replace(uri, text)
        params = lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), at(text, "pto.tload\n", 9))
        found = await editor.text_document_completion_async(params)
        assert isinstance(found, lsp.CompletionList)
        return found

    session.play(play())


def test_names(session: Session) -> None:
    """Definitions, references and new names of values, types and functions."""
    editor = session.editor

    async def play() -> None:
        uri = editor.open(TEXT)
        document = lsp.TextDocumentIdentifier(uri)
        for mark, sign in (("%f, %tmp", "%"), ("!full", "!"), ("@softmax_tail", "@")):
            place, name = at(TEXT, mark, 1), mark.split(",")[0]
            found = await editor.text_document_definition_async(
                lsp.DefinitionParams(document, place)
            )
            assert isinstance(found, lsp.Location)
            row = TEXT.splitlines()[found.range.start.line]
            assert row.lstrip().startswith((f"{name} = ", f"func.func {name}"))
            context = lsp.ReferenceContext(include_declaration=True)
            uses = await editor.text_document_references_async(
                lsp.ReferenceParams(context, document, place)
            )
            count = len(re.findall(rf"{re.escape(name)}\b", TEXT))
            assert len(uses or ()) == count
            renaming = lsp.RenameParams(document, place, f"{sign}another")
            change = await editor.text_document_rename_async(renaming)
            assert change is not None
            edits = (change.changes or {})[uri]
            assert [edit.new_text for edit in edits] == ["another"] * count
        taken = lsp.RenameParams(document, at(TEXT, "%f, %tmp", 1), "%tmp")
        with pytest.raises(JsonRpcException, match="%tmp is defined already"):
            await editor.text_document_rename_async(taken)

    session.play(play())


def test_hints_tokens_and_pictures(session: Session) -> None:
    editor = session.editor

    async def play() -> None:
        uri = editor.open(TEXT)
        document = lsp.TextDocumentIdentifier(uri)
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        hints = await editor.text_document_inlay_hint_async(lsp.InlayHintParams(document, whole))
        told = {(hint.position.line + 1, str(hint.label)) for hint in hints or ()}
        assert {(26, "at UB 0x800"), (30, "MTE2"), (32, "V 60")} <= told
        assert not any(label.startswith(": ") for _, label in told)  # the text has every type
        editor.replace(uri, "// above\n" + TEXT + "func.func @more() {\n  pto.tadd ins(\n}\n")
        hints = await editor.text_document_inlay_hint_async(lsp.InlayHintParams(document, whole))
        assert {(hint.position.line, str(hint.label)) for hint in hints or ()} == told
        editor.replace(uri, TEXT)
        tokens = await editor.text_document_semantic_tokens_full_async(
            lsp.SemanticTokensParams(document)
        )
        assert tokens is not None
        assert len(tokens.data) > 500
        for name, start in (
            ("profile", "<!DOCTYPE html>"),
            ("memory", "<svg "),
            ("layout", "<svg "),
        ):
            given = [uri, at(TEXT, "%f = ", 1)] if name == "layout" else [uri]
            page = await editor.workspace_execute_command_async(
                lsp.ExecuteCommandParams(f"ptokit.server.{name}", given)
            )
            assert str(page).startswith(start)

    session.play(play())


WITHOUT_FLAG = PROJECTION.replace(f"        pto.wait_flag_dyn {LOADED}\n", "").replace(
    f"        pto.set_flag_dyn {LOADED}\n", ""
)


def test_code_actions_mend_a_text(session: Session) -> None:
    """The word that was meant; a flag that orders two pipes: the hazard is gone."""
    editor = session.editor

    async def applied(uri: str, text: str, one: lsp.Diagnostic, title: str) -> str:
        document = lsp.TextDocumentIdentifier(uri)
        params = lsp.CodeActionParams(document, one.range, lsp.CodeActionContext([one]))
        actions = await editor.text_document_code_action_async(params)
        every = [a for a in actions or () if isinstance(a, lsp.CodeAction)]
        (action,) = [a for a in every if re.match(title, a.title)]
        assert action.edit is not None
        edits = (action.edit.changes or {})[uri]
        positions = TextPositions(text)
        for edit in sorted(edits, key=lambda e: positions.offset(e.range.start), reverse=True):
            start, end = positions.offsets(edit.range)
            text = text[:start] + edit.new_text + text[end:]
        editor.replace(uri, text)
        return text

    async def play() -> None:
        wrong = (("pto.texp ", "pto.texq "), ("%zero :", "%zeros :"), ("!column)", "!columns)"))
        for right, typed in wrong:
            text = TEXT.replace(right, typed, 1)
            uri = editor.open(text)
            (one,) = await editor.diagnostics(uri)
            assert await applied(uri, text, one, "Change ") == TEXT
        uri = editor.open(WITHOUT_FLAG)
        found = await editor.diagnostics(uri, bool)
        one = next(d for d in found if "MTE2 -> MTE1" in d.message)
        assert one.code == "hazard"
        text = await applied(uri, WITHOUT_FLAG, one, "Insert a flag MTE2 to MTE1")
        before = [d.message for d in found]
        after = await editor.diagnostics(uri, lambda now: len(now) < len(before))
        assert one.message not in [d.message for d in after]
        assert text.count("pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]") == 1

    session.play(play())


KERNEL = """\
import ptokit as pto


@pto.kernel
def twice(x: pto.In, y: pto.Out) -> None:
    pto.store(y, pto.exp(pto.load(x)))


twice.program(pto.spec("i32", (16, 32)), pto.spec("i32", (16, 32)))
"""


def test_python_files(session: Session, tmp_path: Path) -> None:
    """The check is that of the command; names of ptokit have their pages."""
    editor = session.editor
    file = tmp_path / "twice.py"
    file.write_text(KERNEL, encoding="utf-8")

    async def play() -> None:
        uri = editor.open(KERNEL, file.as_uri())
        (one,) = await editor.diagnostics(uri)
        assert (one.range.start.line, one.code) == (5, "element-type"), one.message
        document = lsp.TextDocumentIdentifier(uri)
        params = lsp.HoverParams(document, at(KERNEL, "pto.exp", 5))
        assert "**pto.texp**" in shown(await editor.text_document_hover_async(params))
        none = lsp.HoverParams(document, at(KERNEL, "import", 1))
        assert await editor.text_document_hover_async(none) is None

    session.play(play())


def test_an_import_that_fails_is_told_at_its_line() -> None:
    """As the command tells it; a diagnostic about other targets is left out."""
    facts: dict[str, Any] = {
        "rule": None,
        "when": None,
        "seen": "NameError: x",
        "help": None,
        "notes": [],
    }
    message: dict[str, Any] = {"slug": "unreadable-file", "severity": "error", "targets": []}
    one: dict[str, Any] = {**facts, **message, "message": "/w/k.py:3: the file cannot be imported"}
    other: dict[str, Any] = {**one, "targets": ["a5"], "file": "k.py", "line": 9, "column": 1}
    placed: dict[str, Any] = {**other, "end_line": 2, "end_column": 4, "line": 2, "column": 2}
    at_lines = TextPositions("import ptokit\n\nprint(x)\n")
    (found,) = shown_of([one, other], "/w/k.py", at_lines, ["cpu"])
    assert found.range == lsp.Range(lsp.Position(2, 0), lsp.Position(2, 8))
    assert found.message == "/w/k.py:3: the file cannot be imported\nseen: NameError: x"
    (_, found) = shown_of([one, placed], "/w/k.py", at_lines, ["cpu", "a5"])
    assert found.message.startswith("/w/k.py:3: the file cannot be imported (a5)\n")
    assert found.range.start == lsp.Position(1, 0)  # the text is shorter by now


def test_without_the_extra_one_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        assert name == "pygls"

    monkeypatch.setattr("ptokit.tools.cli.lsp_command.find_spec", missing)
    done = CliRunner().invoke(main, ["lsp"])
    assert done.exit_code == 2
    assert done.output.endswith("needs pygls: `pip install 'ptokit[lsp]'`\n")


def test_settings_hold_from_then_on(session: Session) -> None:
    """Targets that do not exist are told."""
    editor = session.editor

    async def play() -> None:
        wide = SHORT.replace("!T) {\n", "!T, %w: index) {\n").replace("dtype=f32", "dtype=i64")
        uri = editor.open(wide)
        assert lines(await editor.diagnostics(uri, bool)) == {6: "element-type"}
        await settings({"ptokit": {"targets": ["cpu", "a6"]}})
        assert await editor.diagnostics(uri, lambda found: not found) == []
        (message,) = editor.messages
        assert message.startswith("setting ptokit.targets: unknown target 'a6'")
        await settings({"ptokit": {"language": "zh"}})
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at(wide, "pto.tadd", 4))
        page = shown(await editor.text_document_hover_async(params))
        assert "**操作数**" in page
        await settings({"ptokit": {"language": "de"}})
        assert await editor.diagnostics(uri, bool)
        assert editor.messages[1:] == ["setting ptokit.language: expected en or zh, got 'de'"]
        await settings({"ptokit": {}})

    async def settings(given: object) -> None:
        editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(given))

    session.play(play())
