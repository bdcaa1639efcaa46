"""docs/isa.md: every instruction of the manual, what it takes where, and what was tested of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ptokit.isa.disputes import DISPUTES
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.index import chapter, lookup, pages
from ptokit.isa.lang.instr import NOT_ON_TARGET, Instr
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.types import Kind
from ptokit.values.dtypes import DTYPES, DType

HERE = Path(__file__).parent
MANUAL = HERE / "manual.txt"  # the names that the manual prints
RECORDED = HERE / "recorded.json"  # by `python -m account.recorded`
NATIVE = HERE.parent / "docs" / "native.md"
PAGES = "src/ptokit/isa/pages"
HEAD = """\
# The instruction set, instruction by instruction

Generated from the pages by `make docs`.

- *Element types* are those of the first operand, on each target; others are refused there.
- *Engines*: what runs runs in the reference, and `native` compiles it; `none`: the instruction is
  read, printed and checked, and no engine executes it, for the reason that its page gives.
- *Recorded*: of so many cases of an independent simulator, how many both engines repeat, byte for
  byte. The others are disputed: `ptokit replay DIR --disputed` says what ptokit answers, and why.
- *Disputes*: rows of the table at the end.
"""


class AnyTile:
    """A tile of which only the element type is known."""

    def __init__(self, dtype: DType) -> None:
        self.dtype, self.size = dtype, dtype.size

    def __getattr__(self, name: str) -> Any:  # Any: what formulas take for anything
        return UNKNOWN


def manual() -> list[str]:
    return MANUAL.read_text(encoding="utf-8").split()


def isa_page() -> str:
    """The document."""
    names = manual()
    found = {name: lookup(name) for name in names}
    missing = [name for name in names if not found[name]]
    chapters: dict[str, list[type[Instr]]] = {}
    for page in pages():
        chapters.setdefault(chapter(page), []).append(page)
    lines = [
        HEAD,
        f"Of the manual's {len(names)} instructions {len(names) - len(missing)} are here.",
    ]
    if missing:
        lines += ["Not yet: " + ", ".join(f"`{name}`" for name in missing) + "."]
    for title in sorted(chapters):
        lines += ["", f"## {title}", "", *_table(chapters[title])]
    return "\n".join([*lines, "", "## Disputes", "", *_disputes()]) + "\n"


def _table(listed: Iterable[type[Instr]]) -> Iterator[str]:
    yield "| instruction | page | element types | engines | recorded | disputes |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for page in listed:
        file = page.__module__.partition("pages.")[2].replace(".", "/") + ".py"
        passed, every = recorded(page)
        yield " | ".join(
            (
                f"| `{page.mnemonic()}`",
                f"[{page.__name__}](../{PAGES}/{file})",
                element_types(page),
                engines(page),
                f"{passed} of {every}" if every else "none",
                f"{', '.join(page.disputes) or 'none'} |",
            )
        )


def engines(page: type[Instr]) -> str:
    """The engines that execute an instruction."""
    if page.unexecuted:
        return "none"
    return "reference" if page.mnemonic() in _by_reference() else "reference, native"


@cache
def _by_reference() -> frozenset[str]:
    return frozenset(re.findall(r"^- `([\w.]+)`$", NATIVE.read_text(encoding="utf-8"), re.M))


def recorded(page: type[Instr]) -> tuple[int, int]:
    """The recorded cases that both engines repeat, and all of them."""
    passed, every = _record().get(page.__name__, (0, 0))
    return passed, every


@cache
def _record() -> dict[str, list[int]]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def element_types(page: type[Instr]) -> str:
    """The element types of the first operand by target; targets with the same ones together."""
    taken: dict[str, list[str]] = {}
    for target in TARGETS.values():
        taken.setdefault(types_on(page, target), []).append(target.name)
    if len(taken) == 1:
        return f"{next(iter(taken))}; {', '.join(TARGETS)}"
    return "; ".join(f"{', '.join(names)}: {types}" for types, names in taken.items())


def types_on(page: type[Instr], target: Target) -> str:
    if not is_there(page, target):
        return "not there"
    kinds = (Kind.TILE, Kind.GLOBAL, Kind.CONV)
    first = next((o.name for o in page.operands if o.kind in kinds), None)
    if first is None:
        return "no tile"
    taken = [d for d in DTYPES if d not in target.lacks and takes(page, target, {first: d})]
    if len(taken) == len(DTYPES):  # what is said of another operand may hold for this one
        others = [o.name for o in page.operands if o.kind in kinds and o.name != first]
        taken = [d for d in taken if all(_fits(page, target, {first: d}, o) for o in others)]
    return "any" if len(taken) == len(DTYPES) else " ".join(map(str, taken)) or "not there"


def is_there(page: type[Instr], target: Target) -> bool:
    """Return True if the target has the instruction, by its targets and by its rules."""
    rules = (rule for rule in page.rules_on(target) if rule.slug == NOT_ON_TARGET)
    return page.exists_on(target) and all(r.holds({"machine": target}) is not False for r in rules)


def _fits(page: type[Instr], target: Target, types: dict[str, DType], other: str) -> bool:
    return any(takes(page, target, {**types, other: d}) for d in DTYPES)


def takes(page: type[Instr], target: Target, types: dict[str, DType]) -> bool:
    """Return True if no rule refuses these element types, whatever the other operands are.

    A rule that an attribute or a scratch tile meets by being there, or by being left out, says
    nothing of element types.
    """
    alone = {**{name: AnyTile(dtype) for name, dtype in types.items()}, "machine": target}
    others = (one.name for one in (*page.operands, *page.attrs))
    complete = {**dict.fromkeys(others, UNKNOWN), **alone}
    refused = (rule.holds(alone) is rule.holds(complete) is False for rule in page.rules_on(target))
    return not any(refused)


def _disputes() -> Iterator[str]:
    yield "| row | question | what ptokit does | why |"
    yield "| --- | --- | --- | --- |"
    for name, row in DISPUTES.items():
        yield f"| {name} | {row.question} | {row.choice} | {row.why} |"
