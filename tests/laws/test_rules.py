"""Law: every rule of every page can be satisfied, and can be broken alone and is then reported.

For each rule and target two witnesses are generated from the rule itself (`witness`): operands that
meet every rule and to which this one applies, and operands that break this one only. A rule without
them is idle: it repeats another one, contradicts one, or its condition never holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from programs import checked, refused, said
from space import Space, State
from witness import HARDEST, Pair, refusals, search, witnesses

from fuzz.scale import scaled, tried
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.isa.formula.formulas import UNKNOWN, fields
from ptokit.isa.formula.rules import Rule
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr, TypeOf
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import ConvTileType

TARGETS_TRIED = HARDEST if scaled(1) > 1 else HARDEST[:1]  # the strictest has the most rules
CASES = [(p, t) for p in tried(pages(), 1, 4) for t in TARGETS_TRIED if p.rules_on(TARGETS[t])]


def name(page: type[Instr]) -> str:
    return page.__name__


def complaints(space: Space, state: State, wanted: list[Rule]) -> Iterator[str]:
    """What the checker, and the eager function where it can, say other than the wanted rules."""
    static = [(d.rule, d.when) for d in checked(space, state) if not (wanted and _of_result(d))]
    decided = [said(r) for r in wanted if not _open(space, state, r)]
    if static != decided:
        yield f"the checker says {static}"
    typed = any(isinstance(f, TypeOf) for r in wanted for f in fields(r.formula))
    if not wanted or typed:  # numbers of calls have no types
        return
    if space.page.on_tiles and wanted[0].required and not _empty(space, state):
        eager = [(d.rule, d.when) for d in refused(space, state)]
        open_rules = [said(r) for r in space.page.all_rules if _open(space, state, r)]
        if [e for e in eager if e not in open_rules or not decided] != [said(r) for r in wanted]:
            yield f"the eager function says {eager}"


def _empty(space: Space, state: State) -> bool:
    """A convolution tile without elements: only text can have one."""
    return any(isinstance(v, ConvTileType) and not v.numel for v in space.env(state).values())


def _of_result(found: Diagnostic) -> bool:
    """What breaks a rule may also make the type of the result illegal."""
    return found.message.startswith("%")


def _open(space: Space, state: State, rule: Rule) -> bool:
    """A rule about addresses: decided when the program runs."""
    types = {n: getattr(v, "kind", v) for n, v in space.env(state).items()}
    return rule.holds(types) is UNKNOWN


def faults(page: type[Instr], target: str) -> Iterator[str]:
    """Everything that is wrong with the rules of a page on a target."""
    lacking = refusals(page, target)
    space = search(page, target).space
    if lacking:
        yield from _lacking(page, target, lacking)
        return
    for pair in witnesses(page, target):
        if pair.good is None:
            yield f"nothing satisfies: {pair.rule}"
        elif pair.bad is None:
            yield f"nothing breaks only: {pair.rule}"
        else:
            yield from (f"{pair.rule}: good, but {c}" for c in complaints(space, pair.good, []))
            yield from _bad(space, pair, pair.bad)


def _bad(space: Space, pair: Pair, state: State) -> Iterator[str]:
    yield from (f"{pair.rule}: bad, but {c}" for c in complaints(space, state, [pair.rule]))


def _lacking(page: type[Instr], target: str, lacking: list[Rule]) -> Iterator[str]:
    """One rule says so, alone, of what another target takes."""
    found = search(page, target)
    elsewhere = [p.good for t in HARDEST if not refusals(page, t) for p in witnesses(page, t)]
    if len(lacking) > 1 or not elsewhere or elsewhere[0] is None:
        yield "one rule says that this target has no such instruction, and another target has it"
        return
    bad = found.bad(lacking[0], elsewhere[0])
    if bad is None:
        yield f"nothing breaks only: {lacking[0]}"
        return
    yield from complaints(found.space, bad, lacking)


@pytest.mark.parametrize(("page", "target"), CASES, ids=lambda v: v if v in HARDEST else name(v))
def test_every_rule_has_a_good_and_a_bad_witness(page: type[Instr], target: str) -> None:
    assert list(faults(page, target)) == []
