"""Merges functions that differ in numbers only; the numbers become arguments.

An instruction on tiles of several sizes often has the same loops with other bounds and strides. The
numbers of a function without a duplicate stay constants.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

# numbers that may be registers: loop bounds, distances, arguments of calls
NUMBER = re.compile(
    r"( = (?:add|mul|icmp s\w\w) i64 %\w+, (?=\d+\n)| = mul i64 (?=\d+, )"
    r"| = getelementptr i\d+, ptr %(?!s\d)\w+, i64 (?=\d+\n)"
    r"|, i64 (?=\d+(?:, [ip<]|\))))(\d+)"
)
NOTE = re.compile(r"\n  ;.*")
CALL = re.compile(r"(call i32 @)(op\d+)(\(.*)\)")
MOST = 6  # arguments; further ones would be reloaded in each iteration

Row: TypeAlias = tuple[int, ...]  # the numbers at one place in all merged functions
Member: TypeAlias = tuple[str, list[str]]  # a name, and pieces of text: each third is a number


class Merged(NamedTuple):
    """Merged definitions, and for each function its new name and further arguments."""

    definitions: list[str]
    calls: dict[str, tuple[str, str]]

    def called(self, text: str) -> str:
        """Return lines of the main function with updated calls."""
        return CALL.sub(self._call, text)

    def _call(self, found: re.Match[str]) -> str:
        name, more = self.calls[found[2]]
        return f"{found[1]}{name}{found[3]}{more})"


def merged(functions: Mapping[str, str]) -> Merged:
    """Merge `functions`, a map from parameters and body to the name."""
    groups: dict[tuple[str, ...], list[Member]] = {}
    for body, name in functions.items():
        pieces = NUMBER.split(NOTE.sub("", body))
        frame = (*pieces[::3], *pieces[1::3])
        groups.setdefault(frame, []).append((name, pieces))
    result = Merged([], {})
    for group in groups.values():
        _merge(group, result)
    return result


def _merge(group: list[Member], result: Merged) -> None:
    name, pieces = group[0]
    rows = list(zip(*(map(int, p[2::3]) for _, p in group), strict=True))
    bases, begin, names = _arguments(rows)
    if len(bases) > MOST:
        for member in group:
            _merge([member], result)
        return
    pieces = pieces.copy()
    pieces[2::3] = [names.get(row, number) for row, number in zip(rows, pieces[2::3], strict=True)]
    head, rest = "".join(pieces).split(")", 1)
    rest = rest.replace("\nentry:", "".join(["\nentry:", *begin]), 1)
    more = "".join(f", i64 %c{number}" for number in range(len(bases)))
    result.definitions.append(f"define internal i32 @{name}{head}{more}){rest}")
    for number, (member, _) in enumerate(group):
        result.calls[member] = name, "".join(f", i64 {row[number]}" for row in bases)


def _arguments(rows: Sequence[Row]) -> tuple[list[Row], list[str], dict[Row, str]]:
    """Return rows that become arguments, lines that compute others, and names of all rows."""
    bases: list[Row] = []
    begin: list[str] = []
    names: dict[Row, str] = {}
    for row in sorted({row for row in rows if len(set(row)) > 1}):
        found = next(((n, *fit) for n, base in enumerate(bases) if (fit := _fit(row, base))), None)
        if found is None:
            names[row] = f"%c{len(bases)}"
            bases.append(row)
        else:
            number, times, more = found
            name = names[row] = f"%d{len(names)}"
            product = f"{name}x" if more else name
            begin.append(f"\n  {product} = mul i64 %c{number}, {times}")
            begin += [f"\n  {name} = add i64 {product}, {more}"] if more else []
    return bases, begin, names


def _fit(row: Row, base: Row) -> tuple[int, int] | None:
    """Return (factor, addend) such that base * factor + addend is the row; None if impossible."""
    first, other = base[0], next(n for n, number in enumerate(base) if number != base[0])
    times = (row[other] - row[0]) // (base[other] - first)
    more = row[0] - times * first
    return (times, more) if row == tuple(times * n + more for n in base) else None
