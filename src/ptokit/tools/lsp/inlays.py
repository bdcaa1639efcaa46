"""Inlay hints: types that the text leaves out, pipes with predicted cycles, chosen addresses."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from ptokit.ir.module import Func, Op
from ptokit.isa.model.types import Elided
from ptokit.isa.model.words import Pipe
from ptokit.tools.lsp.checking import CheckedProgram
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.editorsettings import Settings
from ptokit.tools.lsp.keptverdicts import unchanged_functions


def inlay_hints(
    text: EditedText,
    checked: CheckedProgram | None,
    place: lsp.Range,
    chosen: Settings,
    older: CheckedProgram | None = None,
) -> list[lsp.InlayHint]:
    """The hints of the lines of a range.

    In a text that cannot be read, functions that are unchanged since `older` keep their facts.
    """
    start, end = text.at.offsets(place)
    found: list[lsp.InlayHint] = []
    unchanged = (
        {} if checked is not None or older is None else unchanged_functions(older.text, text)
    )
    for op, func in text.ops():
        if op.span is None or not start <= op.span.start <= end or not isinstance(op, Op):
            continue
        if chosen.hintTypes:
            found += _types(text, op)
        end_of_line = text.at.position(text.at.ends[text.at.line_of(op.span.start)])
        if checked is not None:
            found += _facts(checked, op, func, chosen, end_of_line)
        elif older is not None and func in unchanged:
            known = older.text.op_at(op.span.start - unchanged[func])
            if known is not None and isinstance(known[0], Op):
                found += _facts(older, known[0], known[1], chosen, end_of_line)
    return found


def _facts(
    checked: CheckedProgram, op: Op, func: Func, chosen: Settings, place: lsp.Position
) -> Iterator[lsp.InlayHint]:
    yield from _addresses(checked, op, func.name, chosen, place)
    if chosen.hintPipes and op.page.executes:
        timed = [one for one in checked.cycles(op, func) if one[1] is not Pipe.S]
        yield from _pipe(timed, place)


def _types(text: EditedText, op: Op) -> Iterator[lsp.InlayHint]:
    """Yield the type of each result, where the statement has none."""
    if op.span is None or states_types(text, op):
        return
    for value in op.results:
        if value.span is not None and not isinstance(value.type, Elided) and not value.literal:
            position = text.at.position(value.span.end)
            kind = lsp.InlayHintKind.Type
            yield lsp.InlayHint(position, f": {value.type}", kind)


def states_types(text: EditedText, op: Op) -> bool:
    """True if a type stands on the line of an op."""
    assert op.span is not None
    line = text.at.line_of(op.span.start)
    rest = text.text[op.span.start : text.at.ends[line]]
    code = rest.partition("//")[0]
    return ":" in code or "->" in code


def _addresses(
    checked: CheckedProgram, op: Op, func: str, chosen: Settings, place: lsp.Position
) -> Iterator[lsp.InlayHint]:
    """Yield the addresses that the program leaves to ptokit, of a tile that the op allocates."""
    for value in op.results if chosen.hintAddresses else ():
        span = value.span
        placed = [] if span is None else checked.placed(func, value.name, span.line)
        known = [p for p in placed if p.tile.start is not None and not p.tile.explicit]
        if known:
            where = {f"{one.memory} {one.tile.start:#x}" for one in known}
            label = " or ".join(sorted(where))
            told = "\n".join(f"{one.target}: {one.memory} {one.tile.start:#x}" for one in known)
            yield _behind(place, f"at {label}", told)


def _pipe(
    timed: list[tuple[str, Pipe, int | None]], place: lsp.Position
) -> Iterator[lsp.InlayHint]:
    """Yield the pipe of an instruction, with its cycles on the first target that has times."""
    if timed:
        _, pipe, cycles = timed[0]
        label = f"{pipe}" if cycles is None else f"{pipe} {cycles:,}"
        told = "\n".join(
            f"{target}: {each}, {'cycles not known' if n is None else f'{n:,} cycles'}"
            for target, each, n in timed
        )
        yield _behind(place, label, told)


def _behind(place: lsp.Position, label: str, told: str) -> lsp.InlayHint:
    """A hint at the end of a line."""
    return lsp.InlayHint(place, label, padding_left=True, tooltip=told)
