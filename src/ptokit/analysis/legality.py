"""The verdict on a program, for each target: legal, refused or undecided, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from ptokit.analysis.apart import sharing
from ptokit.analysis.coherence import incoherent
from ptokit.analysis.deallocations import deallocations
from ptokit.analysis.earlywaits import waits_early
from ptokit.analysis.facts import TargetFacts, facts_of
from ptokit.analysis.intervalanalysis import UndecidedRule
from ptokit.analysis.ranges import Range, high, low
from ptokit.analysis.search import Search
from ptokit.analysis.uninitialised import Trial, undefined_stores, uninitialised
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, Note, Severity
from ptokit.diagnostics.printable import counted
from ptokit.diagnostics.rich import Rich
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Func, Module, Op
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.traits import RESIZES, WINDOW
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType

UNKNOWN_SLUGS = frozenset({"unknown-op", "unknown-type"})
OPAQUE = frozenset({"unknown-op", "foreign-op"})


class Outcome(Enum):
    """What is known of a program on a target before it runs."""

    LEGAL = "legal"
    REFUSED = "refused"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict(Rich):
    """What `check` says of a program on one target.

    `word`: refused if there is an error; else undecided if something in it is not known (an op or
    a type that was allowed to be unknown, a rule that waits for a number of the running program, a
    tile that nothing in its function writes); else legal. `reason` says why in a line, empty if
    legal. `left` are the checks deferred to run time, `judge` whose verdict it is (None: the
    strictest).
    """

    target: str
    word: Outcome
    reason: str
    diagnostics: tuple[Diagnostic, ...]
    left: tuple[UndecidedRule, ...]
    judge: Judge | None = None

    def also(self, further: Iterable[Diagnostic]) -> Verdict:
        """The verdict when more was found on the same target; nothing changes a refusal."""
        if self.word is Outcome.REFUSED:
            return self
        every = (*self.diagnostics, *further)
        word, reason = _outcome(every, self.left)
        return replace(self, word=word, reason=reason, diagnostics=every)

    def __str__(self) -> str:
        mark = {Outcome.LEGAL: "", Outcome.REFUSED: ", ", Outcome.UNDECIDED: ": "}[self.word]
        return f"{self.word.value}{mark}{self.reason}"

    def to_json(self) -> dict[str, object]:
        """The word and the reasons, for other tools; diagnostics are listed elsewhere."""
        return {
            "target": self.target,
            "as": None if self.judge is None else self.judge.value,
            "verdict": self.word.value,
            "reason": self.reason,
            "left": [left.to_json() for left in self.left],
        }


def verdicts(
    module: Module,
    targets: Iterable[Target],
    trial: Trial,
    *,
    allow_unknown: bool,
    judge: Judge | None = None,
    known: Sequence[Diagnostic] = (),
    of_cores: Sequence[Diagnostic] = (),
    executed: Mapping[Func, Func] = MappingProxyType({}),
) -> list[Verdict]:
    """A verdict for each target; `known` is wrong on all, `of_cores` where cores have kinds.

    `judge`: the source whose verdict decides; None: a program is refused that any of them refuses.
    `executed`: the form in which a run places the tiles of a function, where it is another.
    """

    def verdict(target: Target) -> Verdict:
        here = [replace(d, targets=(target.name,)) for d in of_cores if target.kinds]
        facts = [facts_of(func).on(target) for func in module.funcs]
        both = [(f, facts_of(executed.get(f.func, f.func)).on(target)) for f in facts]
        return _verdict(both, target, trial, allow_unknown, judge, [*known, *here])

    return [verdict(target) for target in targets]


def merged(found: Iterable[Verdict]) -> list[Diagnostic]:
    """Everything wrong; what several targets refuse alike is said once."""
    together: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in (d for verdict in found for d in verdict.diagnostics):
        d = diagnostic
        key = (d.slug, d.message, d.span, d.rule, d.seen)
        if key in together:
            both = dict.fromkeys((*together[key].targets, *d.targets))
            d = replace(d, targets=tuple(both))
        together[key] = d
    return list(together.values())


def without_instructions(module: Module) -> Iterator[Diagnostic]:
    """Nothing but comments, or nothing at all: some other tool may have written no program."""
    if not any(not func.flat or func.body.ops or func.blocks for func in module.funcs):
        help = "check the tool that wrote the file, or give another file"
        title = CATALOGUE["empty-program"].title
        yield Diagnostic("empty-program", title, None, Severity.WARNING, help=help)


def _verdict(
    functions: Iterable[tuple[TargetFacts, TargetFacts]],
    target: Target,
    trial: Trial,
    allow_unknown: bool,
    judge: Judge | None,
    known: Sequence[Diagnostic],
) -> Verdict:
    judge = judge or target.judge
    found = list(known)
    left: list[UndecidedRule] = []
    for facts, executed in functions:
        here, waiting = judged(facts, executed, trial)
        found += here
        left += waiting
    unknown = Severity.WARNING if allow_unknown else Severity.ERROR
    found = [
        replace(d, severity=unknown) if d.slug in UNKNOWN_SLUGS and not d.rule else d.judged(judge)
        for d in once(found)
    ]
    left = [rule for rule in left if judge is None or not rule.by or judge in rule.by]
    word, reason = _outcome(found, left)
    return Verdict(target.name, word, reason, tuple(found), tuple(left), judge)


def once(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Unknown ops with one diagnostic for each name, at the first of them: the others are noted."""
    alike: dict[object, list[Diagnostic]] = {}
    for number, d in enumerate(found):
        alike.setdefault(d.message if d.slug in OPAQUE else number, []).append(d)
    for first, *others in alike.values():
        if others:
            more = Note(f"{len(others)} more like it, the last one here", others[-1].span)
            first = replace(first, notes=(*first.notes, more))
        yield first


def _outcome(found: Sequence[Diagnostic], left: Sequence[UndecidedRule]) -> tuple[Outcome, str]:
    errors = sum(d.is_error for d in found)
    if errors:
        return Outcome.REFUSED, counted(errors, "error")
    unknown = [d.message for d in found if d.slug in UNKNOWN_SLUGS | OPAQUE and not d.rule]
    elided = [d.message for d in found if d.slug == "type-omitted"]
    unwritten = [d.message for d in found if d.slug == "uninitialised-read"]
    crowded = [d.message for d in found if d.slug == "out-of-memory"]  # by a caller's tiles
    reasons = [*unknown[:1], *elided[:1], *unwritten[:1], *crowded[:1]]
    if left:
        reasons.append(f"{counted(len(left), 'check')} deferred to run time, {left[0].why}")
    return (Outcome.UNDECIDED if reasons else Outcome.LEGAL), "; ".join(reasons)


def judged(
    of: TargetFacts, executed: TargetFacts, trial: Trial
) -> tuple[list[Diagnostic], list[UndecidedRule]]:
    """Everything wrong with a function on a target, and what is deferred to run time.

    `executed` is the form of the function in which a run places its tiles.
    """
    func, target, intervals, facts = of.func, of.target, of.intervals, of.proved
    found, left = intervals.found, intervals.left
    if intervals.open:
        search = Search(target, {}, func, {op: [*rules] for op, rules in intervals.open.items()})
        search.search(func)
        found, left = found + search.found, left + search.left
    unwritten, waiting = uninitialised(of, trial)
    if waits_early(func):  # what is above in the text may come later
        unwritten = []
    else:
        unwritten += undefined_stores(of)
    # nobody else looks at data
    unwritten = [replace(d, by=(Judge.HARDWARE,)) if d.is_error else d for d in unwritten]
    found, left = [*found, *sharing(func, facts), *unwritten], left + waiting
    found += [*incoherent(of.base, target), *deallocations(func)]
    found.sort(key=lambda d: _line(d.span))
    left += _perhaps_overlapping(of)
    found += [*_resized_arguments(func, target), *_open_windows(func, target)]
    given = [] if func.flat else func.args
    placement = of.proved_placement if executed is of else executed.placement
    return [*found, *placement.faults(given)], left


def _resized_arguments(func: Func, target: Target) -> Iterator[Diagnostic]:
    """Tiles that a caller gave: on hardware their valid regions are the caller's."""
    changes = (op for op in func.ops if isinstance(op, Op) and RESIZES in op.page.traits)
    for op in changes if target.kinds and not func.flat else ():
        (tile,) = op.bound(op.page.operands[0].name)
        if tile in func.args:
            slug = "dynamic-valid"
            yield Diagnostic(
                slug,
                f"{op.name}: the valid region of an argument, %{tile.name}, cannot change",
                op.span,
                rule="only the valid region of a tile allocated in the function can change",
                help="allocate a tile of this type in the function and resize the new tile",
                targets=(target.name,),
            )


def _open_windows(func: Func, target: Target) -> Iterator[Diagnostic]:
    """Windows that leave open what their tile does not: older text does not state their type."""
    windows = (op for op in func.ops if isinstance(op, Op) and WINDOW in op.page.traits)
    for op in windows if target.chip else ():
        stated = any(op.bound(o.name) for o in op.page.ins() if o.many and not o.required)
        source = op.bound(op.page.ins()[0].name)[0].type
        for kind in (v.type for v in op.results):
            if stated or not isinstance(kind, TileType) or not isinstance(source, TileType):
                continue
            if any(
                n is None and m is not None for n, m in zip(kind.valid, source.valid, strict=True)
            ):
                yield Diagnostic(
                    "dynamic-valid",
                    f"{op.name}: dynamic valid region of a window on a static one",
                    op.span,
                    rule="a window has `?` only where its tile has one, or with valid [..]",
                    seen=f"{kind} of {source}",
                    help="write the valid extents of the window in its type, or give valid [..]",
                    targets=(target.name,),
                )


def _perhaps_overlapping(of: TargetFacts) -> Iterator[UndecidedRule]:
    """Tiles at addresses that vary or only the run knows, in a memory where others are placed."""
    for op in of.func.ops:
        address = next(iter(op.bound("addr")), None) if isinstance(op, Op) else None
        numbers = of.intervals.facts.numbers
        number = UNKNOWN if address is None else numbers.get(address, UNKNOWN)
        if isinstance(number, int) or not isinstance(op, Op) or address is None:
            continue
        kind = of.proved.type_of(op.results[0])
        if not isinstance(kind, TileType | ConvTileType):
            continue  # its type is left out, or unknown: said elsewhere
        for start, end in of.proved_placement.planned.ranges(kind):
            if not isinstance(number, Range) or (
                low(number) < end and start < high(number) + kind.nbytes
            ):
                rule = f"the tile does not overlap placed tiles at {start} to {end - 1}"
                why = f"%{address.name} is not known statically"
                yield UndecidedRule(op.spans.get("addr"), op.name, rule, why)


def _line(span: Span | None) -> int:
    return 0 if span is None else span.source.position(span.start)[0]
