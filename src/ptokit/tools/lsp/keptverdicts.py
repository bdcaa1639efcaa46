"""Verdicts that are kept while a text is typed: a function whose text is unchanged keeps its own.

The key of a function is its text with all that decides its verdict: the names of types, the
attributes of its module, the level of the program. Functions that call or that share FIFOs are
judged together, each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ptokit.analysis.cores import level_of
from ptokit.analysis.legality import OPAQUE, Outcome, Verdict
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.source import Source, Span
from ptokit.forms.inline import calls
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Module, Op
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.outline import body_end

MOST = 512  # functions and targets that are remembered
LINES = re.compile(r"\blines? \d")  # a message that would have to change with its place


@dataclass(frozen=True)
class FunctionText:
    """The characters of a function in a text, from its line on, and what decides its verdict."""

    start: int
    end: int
    line: int
    key: tuple[str, str, object]

    def holds(self, span: Span | None) -> bool:
        return span is not None and self.start <= span.start <= span.end <= self.end


def function_texts(text: EditedText) -> dict[Func, FunctionText]:
    """Return the functions that are judged alone; none where functions depend on one another."""
    module = text.reading.module
    level = level_of(module)
    if level is None or any(func.flat for func in module.funcs) or _dependent(module):
        return {}
    named = {**text.reading.aliases, **text.tokens.attributes}
    aliases = "".join(f"{name} {meaning}" for name, meaning in named.items())
    found: dict[Func, FunctionText] = {}
    for func in module.funcs:
        at = None if func.span is None else text.token_at(func.span.start)
        if at is None or func.span is None:
            return {}
        line = text.at.line_of(func.span.start)
        start, end = text.at.starts[line], text.tokens.end(body_end(text, at))
        around = (text.path, level, aliases, *_attributes(module, func))
        found[func] = FunctionText(start, end, line, (text.text[start:end], text.path, around))
    return found


def unchanged_functions(old: EditedText, new: EditedText) -> dict[Func, int]:
    """Return the functions of a text that an older text has, with how far they have moved."""
    known = {one.key: one for one in function_texts(old).values()}
    found = function_texts(new).items()
    return {func: one.start - known[one.key].start for func, one in found if one.key in known}


def _attributes(module: Module, func: Func) -> Iterator[str]:
    """Yield the attributes of the modules around a function."""
    for one in module.modules():
        if any(f is func for f in one.funcs):
            yield str(sorted(one.attrs.items(), key=str))


def _dependent(module: Module) -> bool:
    """True of functions that call others, share FIFOs, or of which one is marked as the entry."""
    for func in module.funcs:
        if "pto.entry" in func.attrs or any(True for _ in calls(func)):
            return True
        if any(isinstance(op, Op) and op.page.fifo_role is not None for op in func.walk()):
            return True
    return len({func.name for func in module.funcs}) < len(module.funcs)


@dataclass(frozen=True)
class _Kept:
    """The findings on one function of a text, kept while the function does not change."""

    source: Source
    function: FunctionText
    found: Sequence[Diagnostic]

    def moved(self, source: Source, to: FunctionText) -> list[Diagnostic] | None:
        """Return the diagnostics at another place; None if their words are about lines."""
        if to.line != self.function.line and any(map(_of_lines, self.found)):
            return None
        by = to.start - self.function.start

        def span(one: Span | None) -> Span | None:
            return None if one is None else Span(source, one.start + by, one.end + by)

        return [
            replace(
                one,
                span=span(one.span),
                notes=tuple(note._replace(span=span(note.span)) for note in one.notes),
            )
            for one in self.found
        ]


def _of_lines(one: Diagnostic) -> bool:
    words = (one.message, one.seen, one.help, one.rule, *(note.message for note in one.notes))
    return any(LINES.search(word) for word in words if word)


class KeptVerdicts:
    """The diagnostics of functions, by their text and target; the oldest are forgotten."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, str], _Kept] = {}

    def of(self, text: EditedText, targets: Sequence[str]) -> list[Verdict]:
        """Return verdicts of functions that were judged before; nothing is analysed.

        The text may have mistakes elsewhere.
        """
        texts = function_texts(text)
        source = text.tokens.source
        found: list[Verdict] = []
        for target in targets:
            some = [self._known(one, source, target) or [] for one in texts.values()]
            every = tuple(d for part in some for d in part)
            found.append(Verdict(target, Outcome.UNDECIDED, "", every, ()))
        return found

    def verdict(self, text: EditedText, program: Program, target: str) -> Verdict:
        """Return the verdict on a program: only functions that changed are judged."""
        texts, source = function_texts(text), text.tokens.source
        known = {func: self._known(one, source, target) for func, one in texts.items()}
        for func, one in texts.items():
            if known[func] is not None:  # the newest are at the end
                self._kept[one.key, target] = self._kept.pop((one.key, target))
        old = [d for found in known.values() for d in found or ()]
        new = {func for func in program.module.funcs if known.get(func) is None}
        with gc_disabled():
            verdict = self._judged(program, new, target, alone=bool(texts))
        self._keep({f: one for f, one in texts.items() if f in new}, source, verdict)
        every = sorted((*old, *verdict.diagnostics), key=_place)
        word = Outcome.REFUSED if any(d.is_error for d in every) else verdict.word
        return replace(verdict, word=word, diagnostics=tuple(every))

    def race_steps(
        self, text: EditedText, program: Program, target: str
    ) -> Iterator[Callable[[], Sequence[Diagnostic]]]:
        """Yield the work of `check --races` in steps, one for each function that is judged alone.

        Each step returns what is wrong with its function, the order of pipes included.
        """
        texts, source, level = function_texts(text), text.tokens.source, level_of(program.module)
        key = f"{target}, races"

        def whole() -> Sequence[Diagnostic]:
            return program.verdicts(target, races=True)[0].diagnostics

        def alone(func: Func, one: FunctionText) -> Sequence[Diagnostic]:
            known = self._known(one, source, key)
            if known is not None:
                return known
            part = Program(program.module.mapped(lambda each: each if each is func else None))
            verdict = part.verdicts(target, level=level, races=True)[0]
            self._keep({func: one}, source, replace(verdict, target=key))
            return verdict.diagnostics

        yield from (partial(alone, *each) for each in texts.items()) if texts else [whole]

    def _judged(self, program: Program, new: set[Func], target: str, *, alone: bool) -> Verdict:
        """Judge some functions of a program."""
        if not new:
            return Verdict(target, Outcome.LEGAL, "", (), ())
        if not alone:
            return program.verdicts(target)[0]
        part = program.module.mapped(lambda func: func if func in new else None)
        return Program(part).verdicts(target, level=level_of(program.module))[0]

    def _known(self, one: FunctionText, source: Source, target: str) -> list[Diagnostic] | None:
        kept = self._kept.get((one.key, target))
        return None if kept is None else kept.moved(source, one)

    def _keep(self, texts: Mapping[Func, FunctionText], source: Source, verdict: Verdict) -> None:
        """Keep what is about one function alone, all its places in it."""
        found: dict[Func, list[Diagnostic]] = {func: [] for func in texts}
        for one in verdict.diagnostics:
            func = next((f for f, text in texts.items() if text.holds(one.span)), None)
            if func is None:
                return  # it may be about any of them
            spans = [note.span for note in one.notes if note.span is not None]
            if one.slug in OPAQUE or not all(map(texts[func].holds, spans)):
                found.pop(func, None)
            elif func in found:
                found[func].append(one)
        for func, some in found.items():
            self._kept[texts[func].key, verdict.target] = _Kept(source, texts[func], some)
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]


def _place(one: Diagnostic) -> int:
    return -1 if one.span is None else one.span.start
