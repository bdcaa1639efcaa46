"""Code actions: edits that apply the help of a diagnostic, add a flag, or write a type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Block, Func, Op
from ptokit.isa.model.words import Pipe
from ptokit.passes.syncedges import SyncEdge, barrier, flag, flag_pages
from ptokit.text.write.statements import WRITERS
from ptokit.text.write.writer import Writer
from ptokit.tools.lsp.checking import CheckedProgram
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.formatting import differing, formatted
from ptokit.tools.lsp.inlays import states_types

MEANT = re.compile(r"^help: (?:did you mean (\S+)\?|write (#pto\S+?)(?:, .*)?)$", re.MULTILINE)
QUOTED = re.compile(r"'([^']+)'")
UNNEEDED = "redundant-synchronisation"


def quick_fixes(
    text: EditedText, uri: str, shown: Sequence[lsp.Diagnostic]
) -> Iterator[lsp.CodeAction]:
    """Yield an edit for each diagnostic whose help says what to write."""
    for one in shown:
        match = MEANT.search(one.message)
        if match is None:
            continue
        start, end = text.at.offsets(one.range)
        inside, wanted = text.text[start:end], match[1] or match[2]
        wrong = _wrong_word(one.message, inside)
        sign = wrong[:1] if wrong[:1] in ("%", "!", "^") else ""
        wanted = sign + wanted.removeprefix(sign)
        start += inside.index(wrong)
        edit = lsp.TextEdit(text.at.range(start, start + len(wrong)), wanted)
        yield _fix(f"Change {wrong} to {wanted}", uri, [edit], one, preferred=True)


def _wrong_word(message: str, inside: str) -> str:
    """The word that is meant, of those that a diagnostic's span holds."""
    head = message.partition("\n")[0]
    named = [m[1] for m in QUOTED.finditer(head)] + [head.partition(":")[0]]
    return next((word for word in named if word and word in inside), inside)


def _fix(
    title: str,
    uri: str,
    edits: list[lsp.TextEdit],
    one: lsp.Diagnostic | None,
    *,
    preferred: bool = False,
    kind: lsp.CodeActionKind = lsp.CodeActionKind.QuickFix,
) -> lsp.CodeAction:
    return lsp.CodeAction(
        title,
        kind,
        None if one is None else [one],
        is_preferred=preferred or None,
        edit=lsp.WorkspaceEdit({uri: edits}),
    )


# synchronisation


def synchronising(
    text: EditedText, uri: str, checked: CheckedProgram, place: lsp.Range
) -> Iterator[lsp.CodeAction]:
    """Yield what adds a flag or a barrier at a hazard, and what removes one that is not needed."""
    start, end = text.at.offsets(place)
    first, last = text.at.line_of(start), text.at.line_of(end)
    missing = False
    for one in checked.races:
        if one.span is not None and first <= text.at.line_of(one.span.start) <= last:
            if one.slug == UNNEEDED:
                yield _removed(text, uri, one)
            elif one.edge is not None:
                missing = True
                yield from _ordered(text, uri, one)
        missing |= one.slug == "not-synchronised"
    if missing:
        yield from _all_flags(text, uri, checked)


def _removed(text: EditedText, uri: str, one: Diagnostic) -> lsp.CodeAction:
    """Delete the lines of a flag or barrier that is not needed."""
    spans = [one.span, *(note.span for note in one.notes)]
    lines = sorted({text.at.line_of(span.start) for span in spans if span is not None})
    edits = [lsp.TextEdit(_whole_line(text, line), "") for line in lines]
    return _fix("Remove the synchronisation that is not needed", uri, edits, None)


def _whole_line(text: EditedText, line: int) -> lsp.Range:
    after = text.at.starts[line + 1] if line + 1 < len(text.at.starts) else len(text.text)
    return text.at.range(text.at.starts[line], after)


def _ordered(text: EditedText, uri: str, one: Diagnostic) -> Iterator[lsp.CodeAction]:
    """Yield the flag or barrier that orders the two instructions of a hazard, of one block."""
    source, target = (Pipe.named(name) for name in one.edge or ("", ""))
    spans = one.notes[0].span if one.notes else None, one.span
    found = _both(text, *spans)
    if found is None or source is None or target is None:
        return
    func, block, (before, after) = found
    first, second = block.ops[before], block.ops[after]
    assert first.span is not None
    assert second.span is not None
    if source is target:
        title = f"Insert a barrier of {source} before {second.name}"
        edits = [_line_before(text, second.span, _written(barrier(source)))]
    else:
        edge = SyncEdge(source, target, block, before + 1, after)
        number = _free_id(func, source, target)
        up, down = (_written(flag(edge, up=up, number=number)) for up in (True, False))
        title = f"Insert a flag {source} to {target} between {first.name} and {second.name}"
        edits = [_line_after(text, first.span, up), _line_before(text, second.span, down)]
    yield _fix(title, uri, edits, None, preferred=True)


def _both(
    text: EditedText, first: Span | None, second: Span | None
) -> tuple[Func, Block, tuple[int, int]] | None:
    """The block that has both instructions, in this order, and their numbers in it."""
    if first is None or second is None or first.caller or second.caller:
        return None
    for func in text.funcs:
        ops = (op for op in func.walk() if op.regions)
        blocks = [func.body, *func.blocks, *(region for op in ops for region in op.regions)]
        for block in blocks:
            spans = [op.span and op.span.start for op in block.ops]
            if first.start in spans and second.start in spans:
                numbers = spans.index(first.start), spans.index(second.start)
                return (func, block, numbers) if numbers[0] < numbers[1] else None
    return None


def _free_id(func: Func, source: Pipe, target: Pipe) -> int:
    """The first event id that no flag of the function between these pipes has."""
    ids = flag_pages().ids
    taken = {
        word
        for op in func.walk()
        if isinstance(op, Op) and {source, target} <= {*op.attrs.values()}
        for word in op.attrs.values()
        if isinstance(word, ids)
    }
    free = (number for number, word in enumerate(ids) if word not in taken)
    return next(free, 0)


def _written(op: Op) -> str:
    """The statement of an op in DPS form."""
    writer = Writer("dps", WRITERS)
    writer.op(op)
    return writer.lines[-1]


def _indent(text: EditedText, offset: int) -> str:
    line = text.at.line(text.at.line_of(offset))
    return line[: len(line) - len(line.lstrip())]


def _line_before(text: EditedText, span: Span, line: str) -> lsp.TextEdit:
    start = text.at.starts[text.at.line_of(span.start)]
    return lsp.TextEdit(text.at.range(start, start), f"{_indent(text, span.start)}{line}\n")


def _line_after(text: EditedText, span: Span, line: str) -> lsp.TextEdit:
    end = text.at.ends[text.at.line_of(span.end)]
    return lsp.TextEdit(text.at.range(end, end), f"\n{_indent(text, span.start)}{line}")


def _all_flags(text: EditedText, uri: str, checked: CheckedProgram) -> Iterator[lsp.CodeAction]:
    """Yield what the pass does that inserts every flag."""
    target = next((t for t in checked.targets.values() if not t.in_order), None)
    if target is None:
        return
    try:
        made = checked.program.after(["synchronise"], target)
        edits = differing(text, made.text(checked.program.form()))
    except PtoError:  # the pass says no; `ptokit opt` says why
        return
    if edits:
        title = f"Place tiles and insert every missing flag for {target}"
        yield _fix(title, uri, edits, None)


# types, form


def rewriting(text: EditedText, uri: str, place: lsp.Range) -> Iterator[lsp.CodeAction]:
    """Yield what writes the types that a statement leaves out, and what formats the text."""
    program = text.program
    if program is None:
        return
    op, func = text.op_at(text.at.offset(place.start)) or (None, None)
    if isinstance(op, Op) and func is not None and op.results and not states_types(text, op):
        edit = _with_types(text, op, program.form())
        if edit is not None:
            kind = lsp.CodeActionKind.RefactorRewrite
            yield _fix("Write the inferred types", uri, [edit], None, kind=kind)
    if edits := formatted(text):
        kind = lsp.CodeActionKind.Source
        yield _fix("Format with ptokit fmt", uri, edits, None, kind=kind)


def _with_types(text: EditedText, op: Op, form: str) -> lsp.TextEdit | None:
    """The statement as it is printed, which states every type."""
    assert op.span is not None
    line = text.at.line_of(op.span.start)
    begun = text.text[text.at.starts[line] : text.at.ends[line]]
    writer = Writer("as" if form == "ssa" and "pto." not in begun else form, WRITERS)
    writer.aliases = {kind: name for name, kind in text.reading.aliases.items()}
    try:
        writer.op(op)
    except ValueError:  # it is in another form
        return None
    start = text.at.starts[line] + len(begun) - len(begun.lstrip())
    code = begun.partition("//")[0].rstrip()
    end = text.at.starts[line] + len(code)
    printed = writer.lines[-1].partition(" //")[0]
    if text.text[start:end] == printed or ":" not in printed:
        return None
    return lsp.TextEdit(text.at.range(start, end), printed)
