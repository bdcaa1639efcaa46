"""The rules of a page as an outline, grouped by path and condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import wrap

from ptokit.isa.formula.formulas import Expr, Node
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS

WIDTH = 100  # columns
MEMBERS = {"or": "any of", "and": "all of"}


@dataclass
class Group:
    """Rules under one more condition, and the nested groups, in the order of the page."""

    rules: list[Rule] = field(default_factory=list[Rule])
    groups: dict[str, Group] = field(default_factory=dict[str, "Group"])

    def add(self, rule: Rule) -> None:
        """Add a rule below all its conditions."""
        group = self
        for condition in rule.conditions:
            group = group.groups.setdefault(str(condition), Group())
        group.rules.append(rule)


def outline(page: type[Instr]) -> Iterator[str]:
    """Yield the rules as indented lines: formula, slug, and targets if not all of the page."""
    root = Group()
    for rule in page.all_rules:
        root.add(rule)
    yield from _lines(page, root, "  ")


def _lines(page: type[Instr], group: Group, indent: str) -> Iterator[str]:
    for (_, slug), rules in _alike(group.rules).items():
        yield from _stated(rules[0].formula, indent, f"   [{slug}{_places(page, rules)}]")
    for condition, below in group.groups.items():
        yield from _filled(f"when {condition}", indent)
        yield from _lines(page, below, f"{indent}  ")


def _stated(formula: Expr, indent: str, label: str = "") -> Iterator[str]:
    """Yield a formula with its label; a long formula has its members on separate lines."""
    text = str(formula)
    if len(indent + text) <= WIDTH or not (isinstance(formula, Node) and formula.op in MEMBERS):
        *lines, last = _filled(text, indent)
        yield from (*lines, last + label)
        return
    yield f"{indent}{MEMBERS[formula.op]}{label}"
    for member in _members(formula, formula.op):
        yield from _stated(member, f"{indent}  ")


def _members(formula: Expr, op: str) -> Iterator[Expr]:
    """Yield the operands that one operator joins, at any nesting."""
    if not (isinstance(formula, Node) and formula.op == op):
        yield formula
        return
    for part in formula.args:
        yield from _members(part, op)


def _filled(text: str, indent: str) -> list[str]:
    """Return a text wrapped to lines."""
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ")


def _alike(rules: list[Rule]) -> dict[tuple[str, str], list[Rule]]:
    """Return rules grouped by the text of their formula and their report."""
    texts: dict[tuple[str, str], list[Rule]] = {}
    for rule in rules:
        texts.setdefault((str(rule.formula), _slug(rule)), []).append(rule)
    return texts


def _slug(rule: Rule) -> str:
    """Return the slug of a rule, "warning" if it is no error, and its judges."""
    judges = f"by {' and '.join(map(str, rule.by))}" if rule.by else ""
    return ", ".join(word for word in (rule.slug, "warning" * rule.warns, judges) if word)


def _places(page: type[Instr], rules: list[Rule]) -> str:
    """Return the targets of equal rules, if they differ from those of the page."""
    held = tuple(t.name for t in TARGETS.values() if set(rules) & set(page.rules_on(t)))
    held = held or rules[0].targets or ()  # readings are chosen by name
    return "" if held == page.homes() else f"; {', '.join(held)}"
