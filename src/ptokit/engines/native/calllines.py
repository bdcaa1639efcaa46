"""Calls that differ in numbers only: straight-line code as a table, which a loop reads.

A `CallLine` is a string, so that a list of lines may have it anywhere. Many of them become rows of
a table: LLVM then compiles one case for each kind of call instead of thousands of calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from ptokit.engines.native.entry import ARGUMENTS
from ptokit.engines.native.mainfunction import field_of
from ptokit.values.host import AnyArray

FEW = 64  # calls that stay as they are
SHORT = 8  # calls in sequence that stay as they are
SEVERAL = 2  # calls of each kind, on average, if a table is worth its cases
END = -1  # the kind of the row behind the last one
OWN = re.compile(r"%own(\d+)\b")
ROWS = """define internal i32 @rows({arguments}, ptr %table) {how} {{
entry:
{begin}
  %at = alloca ptr
  store ptr %table, ptr %at
  br label %next
next:
  %row = load ptr, ptr %at
  %kind = load i32, ptr %row
  switch i32 %kind, label %end [{labels}]
{cases}
end:
  ret i32 0
failed:
  ret i32 1
}}"""


@dataclass(eq=False)
class CallText:
    """The lines of a call, with {0} for a name of its own and {1}, {2}, ... for numbers.

    `block` is the label of the basic block where the call ends, if it has several. `asks`: the last
    number is that of a request.
    """

    lines: str
    block: str = ""
    asks: bool = False

    @cached_property
    def fields(self) -> list[int]:
        """The places of fields in the table of memories: see `MainFunction.memory`."""
        return sorted({int(place) for place in OWN.findall(self.lines)})

    def case(self, name: str, count: int) -> str:
        """Return the lines for a row of `count` numbers."""
        found, names = [f"{name}:"], [f"%{name}.{n}" for n in range(1, count + 1)]
        for place, mine in enumerate(names, 1):
            found.append(f"  {mine}.at = getelementptr i32, ptr %row, i64 {place}")
            found.append(f"  {mine}.bits = load i32, ptr {mine}.at")
            found.append(f"  {mine} = zext i32 {mine}.bits to i64")
        found.append(f"  %{name}.rest = getelementptr i32, ptr %row, i64 {count + 1}")
        found += [f"  store ptr %{name}.rest, ptr %at", self.lines.format(name, *names)]
        return "\n".join([*found, "  br label %next"])


class CallLine(str):
    """The lines of one call."""

    call: CallText
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, name: str, call: CallText, numbers: tuple[int, ...]) -> CallLine:
        """Return the lines of a call with these numbers; its local names begin with `name`."""
        made = cls(call.lines.format(name, *numbers))
        made.call, made.numbers = call, numbers
        return made

    @property
    def fits(self) -> bool:
        """True if a row can have the numbers."""
        return all(0 <= number < 1 << 31 for number in self.numbers)


def tabled(lines: list[str], tables: list[AnyArray], how: str) -> tuple[list[str], str]:
    """Return lines in which tables replace many calls, and the function that reads the tables.

    Without many calls the function is empty. `tables` gets the new ones; `how`: attributes.
    """
    groups = [(calls, [*some]) for calls, some in groupby(lines, _is_row)]
    rows = [some for calls, some in groups if calls and len(some) >= SHORT]
    kinds: dict[CallText, int] = {}
    counts: list[int] = []
    for line in (line for some in rows for line in some if isinstance(line, CallLine)):
        if line.call not in kinds:
            kinds[line.call] = len(kinds)
            counts.append(len(line.numbers))
    if sum(map(len, rows)) < max(FEW, SEVERAL * len(kinds)):
        return lines, ""
    found: list[str] = []
    for calls, some in groups:
        if calls and len(some) >= SHORT:
            found.append(_called(len(tables)))
            tables.append(np.array([*_numbers(some, kinds), END], np.int32))
        else:
            found += some
    cases = [call.case(f"c{n}", counts[n]) for call, n in kinds.items()]
    labels = " ".join(f"i32 {n}, label %c{n}" for n in kinds.values())
    begin = "\n".join(map(field_of, sorted({n for call in kinds for n in call.fields})))
    filled = {"how": how, "begin": begin, "labels": labels, "cases": "\n".join(cases)}
    return found, ROWS.format(arguments=ARGUMENTS, **filled)


def _is_row(line: str) -> bool:
    return isinstance(line, CallLine) and line.fits


def _numbers(lines: Sequence[str], kinds: dict[CallText, int]) -> Iterator[int]:
    """Yield the rows of some calls: for each its kind and its numbers."""
    for line in lines:
        if isinstance(line, CallLine):
            yield kinds[line.call]
            yield from line.numbers


def _called(table: int) -> str:
    """Return the lines that execute the calls of a table."""
    name, arguments = f"rows{table}", f"{ARGUMENTS}, ptr @table{table}"
    return "\n".join(
        [
            f"  %{name} = call i32 @rows({arguments})",
            f"  %{name}.bad = icmp ne i32 %{name}, 0",
            f"  br i1 %{name}.bad, label %failed, label %{name}.good",
            f"{name}.good:",
        ]
    )
