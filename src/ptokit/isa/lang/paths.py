"""Paths: the locations between which a page moves data, with their pipe and rules."""

from __future__ import annotations

from ptokit.isa.formula.formulas import UNKNOWN, Env, Evaluate, Expr, Field, Missing
from ptokit.isa.formula.rules import HARDWARE, Rule, Ruled
from ptokit.isa.formula.rules import on as on_targets
from ptokit.isa.model.words import Pipe
from ptokit.records import dataclass
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
    rules: tuple[Rule, ...] = ()
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


class OneOfPaths(Expr):
    """The formula 'src.loc -> dst.loc is one of these paths'."""

    def __init__(self, source: Field, target: Field, paths: tuple[Path, ...]) -> None:
        self.source, self.target, self.paths = source, target, paths

    def children(self) -> tuple[Expr, ...]:
        return (self.source.loc, self.target.loc)

    def compile(self) -> Evaluate:
        pairs = {(p.source, p.target) for p in self.paths}
        source, target = self.source.loc.eval, self.target.loc.eval

        def one_of(env: Env) -> bool | Missing:
            pair = (source(env), target(env))
            if isinstance(pair[0], Missing) or isinstance(pair[1], Missing):
                return UNKNOWN
            return pair in pairs

        return one_of

    def __str__(self) -> str:
        rows = ", ".join(dict.fromkeys(str(p) for p in self.paths))
        return f"{self.source.loc} -> {self.target.loc} is one of: {rows}"
