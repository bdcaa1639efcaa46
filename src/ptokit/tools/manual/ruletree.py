"""The rules of a page as an outline: what holds under one path or condition stands together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ptokit.isa.formula.rules import TARGET_NAMES, Rule


@dataclass
class Group:
    """Rules under one more condition, and the groups below it, in the order of the page."""

    rules: list[Rule] = field(default_factory=list[Rule])
    groups: dict[str, Group] = field(default_factory=dict[str, "Group"])

    def add(self, rule: Rule) -> None:
        """Put a rule below all its conditions."""
        group = self
        for condition in rule.conditions:
            group = group.groups.setdefault(str(condition), Group())
        group.rules.append(rule)


def outline(rules: Iterable[Rule]) -> Iterator[str]:
    """The rules as indented lines: formula, slug, and the targets where they are not all."""
    root = Group()
    for rule in rules:
        root.add(rule)
    yield from _lines(root, "  ")


def _lines(group: Group, indent: str) -> Iterator[str]:
    for formula, rules in _alike(group.rules).items():
        yield f"{indent}{formula}   [{_label(rules)}]"
    for condition, below in group.groups.items():
        yield f"{indent}when {condition}"
        yield from _lines(below, f"{indent}  ")


def _alike(rules: list[Rule]) -> dict[str, list[Rule]]:
    """Rules by the text of their formula."""
    texts: dict[str, list[Rule]] = {}
    for rule in rules:
        texts.setdefault(str(rule.formula), []).append(rule)
    return texts


def _label(rules: list[Rule]) -> str:
    """The slug of rules with one formula, a warning marked, and where they apply."""
    targets = tuple(name for name in TARGET_NAMES if any(name in r.targets for r in rules))
    slugs = dict.fromkeys(f"{r.slug}, warning" if r.warning else r.slug for r in rules)
    where = "" if targets == TARGET_NAMES else f"; {', '.join(targets)}"
    return f"{', '.join(slugs)}{where}"
