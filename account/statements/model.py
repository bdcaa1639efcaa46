"""How a statement of a public document is written down, and how it is accounted for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "meaning", "syntax", "signature", "operand", "table row", "constraint", "must not", "example"
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Statement:
    """One thing a document says, in our words.

    `shown_by` names the tests that show what ptokit makes of it. `dispute` names the row of
    `isa/disputes` that says why, where other sources say otherwise; the tests then show the choice.
    `lines` counts in the text that was read.
    """

    document: str
    section: str
    kind: Kind
    says: str
    shown_by: tuple[str, ...]
    dispute: str | None
    lines: tuple[int, int]


# `kind 12-14: text`: a statement begins, with the lines of the document that make it
BEGIN = re.compile(rf"({'|'.join(KINDS)}) (\d+)(?:-(\d+))?: (.*)")
DISPUTE = re.compile(r"[A-Z]\d+")


@dataclass(frozen=True)
class Document:
    """A public page: its statements in order, and the lines that state nothing.

    In `text`, `# name` begins a section and `kind 12-14: what it says` a statement, which further
    indented lines continue. Lines with `->` name its tests and the row of `isa/disputes/`;
    `key.test_name` stands in the file `key` of `files`, a bare name in the file of the empty key.
    `other` numbers headings, navigation and lines that only name what follows.
    """

    name: str
    title: str
    origin: str
    files: dict[str, str]
    text: str
    other: str

    @cached_property
    def rest(self) -> frozenset[int]:
        return frozenset(int(n) for n in self.other.split())

    @property
    def sections(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.section for s in self.statements))

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        found: list[Statement] = []
        section = ""
        for line in self.text.strip().splitlines():
            if begin := BEGIN.fullmatch(line):
                kind, first, last, says = begin.groups()
                lines = int(first), int(last or first)
                found.append(Statement(self.name, section, _kind(kind), says, (), None, lines))
            elif line.startswith("  -> "):
                found[-1] = _answered(found[-1], line[5:].split(), self.files)
            elif line.startswith("  "):
                found[-1] = replace(found[-1], says=f"{found[-1].says} {line.strip()}")
            elif line:
                assert line.startswith("# "), f"{self.name}: {line}"
                section = line[2:]
        return tuple(found)


def _kind(text: str) -> Kind:
    return next(kind for kind in KINDS if kind == text)


def _answered(statement: Statement, words: list[str], files: dict[str, str]) -> Statement:
    nodes = list(statement.shown_by)
    dispute = statement.dispute
    for word in words:
        if DISPUTE.fullmatch(word):
            dispute = word
        else:
            key, _, test = word.rpartition(".")
            nodes.append(f"tests/seeds/{files[key]}.py::{test}")
    return replace(statement, shown_by=tuple(nodes), dispute=dispute)
