"""Predicted times of several kernels, alone or beside those of an earlier version: text, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ptokit.diagnostics.diagnostic import JsonObject, PtoError
from ptokit.diagnostics.printable import columns

if TYPE_CHECKING:
    from ptokit.api.profiling import Profile

NUMBERS = ("before", "after", "change", "cycles", "us")  # columns whose cells stand to the right
Base: TypeAlias = "Mapping[tuple[str, str], JsonObject]"  # by kernel and target


@dataclass(frozen=True)
class KernelProfile:
    """The predicted times of one kernel on one target, or why there are none."""

    kernel: str
    target: str
    profile: Profile | PtoError

    def to_json(self) -> dict[str, object]:
        """As in `docs/profile.schema.json`; cycles are null where diagnostics say why."""
        head: dict[str, object] = {"kernel": self.kernel, "target": self.target}
        if isinstance(self.profile, PtoError):
            found = [one.to_json() for one in self.profile.diagnostics]
            return {**head, "cycles": None, "diagnostics": found}
        return {**head, **self.profile.to_json(), "diagnostics": []}

    @property
    def busiest(self) -> str:
        """The pipe with the most work, in words, or the reason why there are no times."""
        if isinstance(self.profile, PtoError):
            return _reason(self.profile.diagnostics[0].to_json())
        found = self.profile.busiest
        return "" if found is None else f"{found[0]} {found[1]:.0%}"


def profiles_json(found: Sequence[KernelProfile]) -> str:
    """Return the profiles as `docs/profile.schema.json` describes them."""
    return json.dumps({"profiles": [one.to_json() for one in found]}, indent=2)


def profile_rows(found: Sequence[KernelProfile]) -> Iterator[tuple[str, ...]]:
    """The heads of columns, then a row for each profile."""
    yield ("kernel", "target", "cycles", "us", "busiest pipe")
    for one in found:
        times = ("-", "-")
        if not isinstance(one.profile, PtoError):
            times = (str(one.profile.cycles), f"{one.profile.microseconds:.2f}")
        yield (one.kernel, one.target, *times, one.busiest)


def compared_json(found: Sequence[KernelProfile], base: Base, name: str) -> str:
    """Return both versions side by side, as `docs/profile.schema.json` describes it."""
    rows: list[dict[str, object]] = []
    for key, before, after in _pairs(found, base):
        rows.append(
            {
                **{"kernel": key[0], "target": key[1], "before": before},
                **{"after": None if after is None else after.to_json()},
                "change": _share(before, after),
            }
        )
    return json.dumps({"base": name, "compared": rows}, indent=2)


def compared_rows(found: Sequence[KernelProfile], base: Base) -> Iterator[tuple[str, ...]]:
    """The heads of columns, then a row for each kernel and target of either version."""
    yield ("kernel", "target", "before", "after", "change", "busiest pipe")
    for key, before, after in _pairs(found, base):
        cycles = [None if before is None else before["cycles"], _cycles(after)]
        share = _share(before, after)
        if before is None:
            change = "" if cycles[1] is None else "new"
        elif after is None:
            change = "removed"
        else:
            change = "" if share is None else "same" if share == 0 else f"{share:+.1%}"
        last = "" if after is None else after.busiest
        if before is not None and before["cycles"] is None:
            reason = _reason(before["diagnostics"][0])
            words = [last, f"before: {'the same' if reason == last else reason}"]
            last = "; ".join(filter(None, words))
        yield (*key, *("-" if n is None else str(n) for n in cycles), change, last)


def _pairs(
    found: Sequence[KernelProfile], base: Base
) -> Iterator[tuple[tuple[str, str], JsonObject | None, KernelProfile | None]]:
    """Kernels in the order of the new version, then those that it has no more."""
    after = {(one.kernel, one.target): one for one in found}
    for key in (*after, *(key for key in base if key not in after)):
        yield key, base.get(key), after.get(key)


def _cycles(found: KernelProfile | None) -> int | None:
    return None if found is None or isinstance(found.profile, PtoError) else found.profile.cycles


def _share(before: JsonObject | None, after: KernelProfile | None) -> float | None:
    """By how much of the earlier cycles the later ones differ."""
    earlier, later = None if before is None else before["cycles"], _cycles(after)
    return None if not earlier or later is None else round((later - earlier) / earlier, 6)


def _reason(found: JsonObject) -> str:
    """The message of a diagnostic with its line."""
    place = f"line {found['line']}: " if "line" in found else ""
    return f"{place}{found['message']}"


def text_table(rows: Iterator[tuple[str, ...]]) -> str:
    """Columns under their heads."""
    head, *body = rows
    right = [number for number, name in enumerate(head) if name in NUMBERS]
    return "\n".join(columns([head, *body], right))


def markdown_table(rows: Iterator[tuple[str, ...]]) -> str:
    """Return the comparison as a Markdown table, for a comment in a pull request."""
    head, *body = rows
    lines = [head, ["--:" if name in NUMBERS else "---" for name in head], *body]
    return "\n".join(f"| {' | '.join(map(_markdown, line))} |" for line in lines)


def _markdown(cell: str) -> str:
    """A cell in which nothing ends the cell or begins a tag."""
    return " ".join(cell.replace("|", "\\|").replace("<", "&lt;").replace("`", "'").split())
