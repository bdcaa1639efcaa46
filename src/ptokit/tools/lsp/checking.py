"""The facts of a text that its analyses find: verdicts, addresses, pipes, predicted cycles.

All of this runs in one thread, that of the analyses, which no request of an editor waits for
unless it asks for such a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple

from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.analysis.legality import Outcome, Verdict, merged
from ptokit.analysis.memorymap import MemoryMap, TileLiveRange
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.ir.module import Func, Op
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Type
from ptokit.isa.model.words import Pipe
from ptokit.launch.settings import target_named
from ptokit.machine.costs.estimate import cost
from ptokit.machine.costs.figures import has_figures
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.keptverdicts import KeptVerdicts


class TilePlace(NamedTuple):
    """Where a tile lies on a target, and the lines of the text where it is live."""

    target: str
    memory: str
    tile: TileLiveRange
    first: int | None
    last: int | None


class CheckedProgram:
    """The facts of a program on the targets that were chosen."""

    def __init__(
        self, text: EditedText, program: Program, targets: tuple[str, ...], kept: KeptVerdicts
    ) -> None:
        self.text, self.program, self.kept = text, program, kept
        self.targets = {name: target_named(name) for name in targets}
        self._judged: dict[str, Verdict] = {}
        self._steps: dict[tuple[str, int], Verdict] = {}

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Return what `check` says; what several targets refuse alike is said once."""
        return self.diagnostics_on(*self.targets)

    def diagnostics_on(self, *names: str) -> list[Diagnostic]:
        """Return what `check` says of some of the targets."""
        return merged(map(self._verdict, names))

    def _verdict(self, name: str) -> Verdict:
        if name not in self._judged:
            self._judged[name] = self.kept.verdict(self.text, self.program, name)
        return self._judged[name]

    def race_steps(self) -> Iterator[Callable[[], Verdict]]:
        """Yield the steps that find hazards, on targets that take the program.

        A step takes a fraction of the time of all: an edit is told of between two.
        """
        for name, target in self.targets.items():
            if not target.in_order and self._verdict(name).word is not Outcome.REFUSED:
                steps = self.kept.race_steps(self.text, self.program, name)
                for number, step in enumerate(steps):
                    yield partial(self._raced, name, number, step)

    def _raced(self, target: str, number: int, step: Callable[[], Sequence[Diagnostic]]) -> Verdict:
        if (target, number) not in self._steps:
            found = Verdict(target, Outcome.UNDECIDED, "", tuple(step()), ())
            self._steps[target, number] = found
        return self._steps[target, number]

    @cached_property
    def races(self) -> list[Diagnostic]:
        """Return what `check --races` adds on targets that take the program."""
        known = {(d.slug, d.message, d.span) for d in self.diagnostics}
        found = merged(step() for step in self.race_steps())
        return [d for d in found if (d.slug, d.message, d.span) not in known]

    @cached_property
    def memory(self) -> Mapping[str, list[MemoryMap]]:
        """The memories on each target that has a form of the program to place."""
        found: dict[str, list[MemoryMap]] = {}
        for name in self.targets:
            with suppress(PtoError):  # what is wrong is among the diagnostics
                found[name] = self.program.memory(name)
        return found

    @cached_property
    def _placed(self) -> Mapping[tuple[str, str, int | None], list[TilePlace]]:
        found: dict[tuple[str, str, int | None], list[TilePlace]] = {}
        for target, maps in self.memory.items():
            for each in maps:
                for tile in each.tiles:
                    first, last = each.lines[tile.first], each.lines[tile.last]
                    key = each.function, tile.name, tile.line
                    one = TilePlace(target, each.space, tile, first, last)
                    found.setdefault(key, []).append(one)
        return found

    def placed(self, func: str, name: str, line: int | None) -> list[TilePlace]:
        """Where a tile lies that is defined at a line, on each target."""
        return self._placed.get((func, name, line), [])

    def pipes(self, op: Op, func: Func) -> dict[str, Pipe]:
        """The pipe of an instruction on each target that has several at work at once."""
        found: dict[str, Pipe] = {}
        for name, target in self.targets.items():
            if not target.in_order and op.page.exists_on(target):
                pipe = op.page.pipe_of(_known(func, target).environment(op))
                if isinstance(pipe, Pipe):
                    found[name] = pipe
        return found

    def cycles(self, op: Op, func: Func) -> Iterator[tuple[str, Pipe, int | None]]:
        """The pipe and the predicted cycles of an instruction; None: extents are not known."""
        for name, pipe in self.pipes(op, func).items():
            target = self.targets[name]
            if not has_figures(target) or not op.page.executes:
                continue
            known = _known(func, target)
            kinds = {operand: known.type_of(value) for operand, value in op.values()}
            for operand, value in op.named_results():
                kinds[operand] = known.type_of(value)
            yield name, pipe, _cycles(op, kinds, pipe, target)


def _known(func: Func, target: Target) -> Facts:
    return facts_of(func).on(target).proved


def _cycles(op: Op, kinds: Mapping[str, Type], pipe: Pipe, target: Target) -> int | None:
    """Return what an instruction costs, where every extent that counts is known."""
    for kind in kinds.values():
        if isinstance(kind, TileType) and None in kind.valid:
            return None
        if isinstance(kind, GlobalType) and None in kind.shape:
            return None
    return cost(op.page, op.attrs, kinds, pipe, target).cycles
