"""The verdict on a program for each target: legal, refused or undecided, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from ptokit.analysis.facts import TargetFacts, facts_of
from ptokit.analysis.intervalanalysis import UndecidedRule
from ptokit.analysis.noalias import sharing
from ptokit.analysis.ranges import Range, high, low
from ptokit.analysis.uninitialised import Trial, undefined_stores, uninitialised
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, Note, Severity
from ptokit.diagnostics.printable import counted
from ptokit.diagnostics.rich import Rich
from ptokit.ir.module import Func, Module, Op
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.traits import ALLOCATES, HANDLE, MADE, ONE_ELEMENT, SIGNALLING, WINDOW
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType

UNKNOWN_SLUGS = frozenset({"unknown-op", "unknown-type"})
OPAQUE = frozenset({"unknown-op", "foreign-op"})
SHARED = SIGNALLING, ONE_ELEMENT  # the traits of functions whose memory may be incoherent


class Outcome(Enum):
    """The static knowledge about the legality of a program on a target."""

    LEGAL = "legal"
    REFUSED = "refused"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict(Rich):
    """The verdict of `check` on a program for one target.

    `word`: refused if there is an error; else undecided if something is not known (a permitted
    unknown op or type, a rule deferred to run time, a tile that its function never writes); else
    legal. `reason` is a one-line explanation, empty if legal. `left` are the rules deferred to run
    time. `judge` is the source whose verdict decides (None: the strictest).
    """

    target: str
    word: Outcome
    reason: str
    diagnostics: tuple[Diagnostic, ...]
    left: tuple[UndecidedRule, ...]
    judge: Judge | None = None

    def also(self, further: Iterable[Diagnostic]) -> Verdict:
        """Return the verdict after further findings on the same target; a refusal stays."""
        if self.word is Outcome.REFUSED:
            return self
        every = (*self.diagnostics, *further)
        word, reason = _outcome(every, self.left)
        return replace(self, word=word, reason=reason, diagnostics=every)

    def __str__(self) -> str:
        mark = {Outcome.LEGAL: "", Outcome.REFUSED: ", ", Outcome.UNDECIDED: ": "}[self.word]
        return f"{self.word.value}{mark}{self.reason}"

    def to_json(self) -> dict[str, object]:
        """Return the word and the reasons as JSON data, without diagnostics."""
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
    """Return a verdict for each target.

    `known` are faults on all targets, `of_cores` those on targets with core kinds. `judge`: the
    source whose verdict decides; None: a program is refused if any source refuses it. `executed`:
    the form of a function in which a run places its tiles, if it differs.
    """

    def verdict(target: Target) -> Verdict:
        here = [replace(d, targets=(target.name,)) for d in of_cores if target.kinds]
        facts = [facts_of(func).on(target) for func in module.funcs]
        both = [(f, facts_of(executed.get(f.func, f.func)).on(target)) for f in facts]
        return _verdict(both, target, trial, allow_unknown, judge, [*known, *here])

    return [verdict(target) for target in targets]


def merged(found: Iterable[Verdict]) -> list[Diagnostic]:
    """Return all diagnostics; those that several targets share are merged."""
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
    """Yield a warning for a program without any instruction or function."""
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
    """Yield diagnostics; unknown ops of one name are merged into one with a count."""
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
    crowded = [d.message for d in found if d.slug == "out-of-memory"]  # of a caller
    reasons = [*unknown[:1], *elided[:1], *unwritten[:1], *crowded[:1]]
    if left:
        reasons.append(f"{counted(len(left), 'check')} deferred to run time, {left[0].why}")
    return (Outcome.UNDECIDED if reasons else Outcome.LEGAL), "; ".join(reasons)


def judged(
    of: TargetFacts, executed: TargetFacts, trial: Trial
) -> tuple[list[Diagnostic], list[UndecidedRule]]:
    """Return the faults of a function on a target, and the rules deferred to run time.

    `executed` is the form of the function in which a run places its tiles.
    """
    func, target, intervals, facts = of.func, of.target, of.intervals, of.proved
    found, left = intervals.found, intervals.left
    if intervals.open:
        from ptokit.analysis.search import Search

        search = Search(target, {}, func, {op: [*rules] for op, rules in intervals.open.items()})
        search.search(func)
        found, left = found + search.found, left + search.left
    unwritten, waiting = uninitialised(of, trial)
    if _waits_early(func):  # text order is not execution order
        unwritten = []
    else:
        unwritten += undefined_stores(of)
    # only hardware reads data
    unwritten = [replace(d, by=(Judge.HARDWARE,)) if d.is_error else d for d in unwritten]
    found, left = [*found, *sharing(func, of.pieces, facts), *unwritten], left + waiting
    if target.kinds and any(map(func.has, SHARED)):
        from ptokit.analysis.coherence import incoherent

        found += incoherent(of.base, target)
    if func.has(HANDLE):
        from ptokit.analysis.deallocations import deallocations

        found += deallocations(func)
    found.sort(key=lambda d: d.span.line if d.span else 0)
    left += _perhaps_overlapping(of)
    found += [*_resized_arguments(func, target), *_open_windows(func, target)]
    given = [] if func.flat else func.args
    if executed is of:
        return [*found, *of.proved_placement.faults(given)], left
    reached = executed.intervals.found if executed.func.has(MADE, ALLOCATES) else ()
    found += [one for one in reached if one.slug == "address-out-of-range" and one.is_error]
    return [*found, *executed.placement.faults(given)], left


def _waits_early(func: Func) -> bool:
    """Return whether a function that orders pipes awaits a flag that is only set below."""
    if not func.orders_pipes:
        return False
    from ptokit.analysis.earlywaits import waits_early

    return waits_early(func)


def _resized_arguments(func: Func, target: Target) -> Iterator[Diagnostic]:
    """Yield errors for resized arguments, whose valid regions belong to the caller."""
    changes = (op for op in func.ops if isinstance(op, Op) and op.page.resizes)
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
    """Yield errors for dynamic windows of static tiles, which older text cannot state."""
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
    """Yield undecided overlaps of tiles at varying or run-time addresses."""
    for op in of.func.ops:
        address = next(iter(op.bound("addr")), None) if isinstance(op, Op) else None
        numbers = of.intervals.facts.numbers
        number = UNKNOWN if address is None else numbers.get(address, UNKNOWN)
        if isinstance(number, int) or not isinstance(op, Op) or address is None:
            continue
        kind = of.proved.type_of(op.results[0])
        if not isinstance(kind, TileType | ConvTileType):
            continue  # an omitted or unknown type is reported elsewhere
        for start, end in of.proved_placement.planned.ranges(kind):
            if not isinstance(number, Range) or (
                low(number) < end and start < high(number) + kind.nbytes
            ):
                rule = f"the tile does not overlap placed tiles at {start} to {end - 1}"
                why = f"%{address.name} is not known statically"
                yield UndecidedRule(op.spans.get("addr"), op.name, rule, why)
