"""Paths: the locations between which a page moves data, with their pipe and rules."""

from __future__ import annotations

from dataclasses import dataclass

from ptokit.isa.formula.formulas import UNKNOWN, Computed, Expr, Field, Missing
from ptokit.isa.formula.rules import HARDWARE, Ruled, Rules
from ptokit.isa.formula.rules import on as on_targets
from ptokit.isa.model.words import Pipe
from ptokit.values.enumerations import Loc


@dataclass(frozen=True, eq=False)
class Path:
    """A move from a source location to a destination location, with its pipe and rules.

    `event` is the pipe in the table of events, if it is another pipe.
    """

    source: Loc
    target: Loc
    pipe: Pipe
    on: tuple[str, ...] = HARDWARE
    rules: Rules = ()
    event: Pipe | None = None

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


def path(
    source: Loc,
    target: Loc,
    pipe: Pipe,
    *rules: Ruled,
    on: str | tuple[str, ...] = HARDWARE,
    event: Pipe | None = None,
) -> Path:
    """Return a row of a page's table of paths."""
    targets = (on,) if isinstance(on, str) else on
    return Path(source, target, pipe, targets, on_targets(targets, rules), event)


def one_of_paths(source: Field, target: Field, paths: tuple[Path, ...]) -> Expr:
    """Return the formula 'src.loc -> dst.loc is one of these paths'."""
    pairs = {(p.source, p.target) for p in paths}

    def one_of(source: Loc | Missing, target: Loc | Missing) -> bool | Missing:
        if isinstance(source, Missing) or isinstance(target, Missing):
            return UNKNOWN
        return (source, target) in pairs

    rows = ", ".join(dict.fromkeys(map(str, paths)))
    return Computed(f"{{0}} -> {{1}} is one of: {rows}", one_of, source.loc, target.loc)
