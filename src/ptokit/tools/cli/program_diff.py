"""`diff` of two programs, or of one on two targets, in two engines, or before and after passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptokit.api.compare import Tolerance
from ptokit.tools.cli.failures import call_errors, usage
from ptokit.tools.cli.kernelfiles import is_python, read_program
from ptokit.tools.cli.values import argument, assigned, split

if TYPE_CHECKING:
    from ptokit.api.compare import ArrayPair
    from ptokit.api.program import Program
    from ptokit.ir.module import Func
    from ptokit.launch.executable import Run
    from ptokit.machine.launchoptions import Options
    from ptokit.tools.rundiff import Divergence, ResultLog

EXACT = Tolerance(0.0)


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    label: str
    program: Program
    options: Options
    given: Mapping[str, object]

    @property
    def func(self) -> Func:
        """The function that runs."""
        return self.program.func(self.options.func)

    def logged(self, keep: tuple[str, int] | None = None) -> tuple[ResultLog, Run]:
        """Run it by the reference, and note each result."""
        from ptokit.tools.rundiff import ResultLog

        log = ResultLog(keep)
        run = self.program.launch(replace(self.options, engine=None), (), self.given, [log])
        return log, run

    def run(self) -> Run:
        """Run it by its own engine."""
        return self.program.launch(self.options, (), self.given)


@dataclass(frozen=True)
class SidesAsked:
    """The options of both sides of a comparison; `targets` and `engines` have at most two."""

    targets: tuple[str, ...]
    engines: tuple[str, ...]
    passes: str | None
    func: str | None
    blocks: int
    seed: int

    def sides(self, kernels: Sequence[Path], arguments: Sequence[str]) -> list[tuple[Side, ...]]:
        """Return the pairs of runs: of several passes those after one, two and so on.

        A usage error unless exactly one thing differs.
        """
        from ptokit.isa.model.targets import DEFAULT_TARGET

        ways = {
            "two kernels": len(kernels) == 2,
            "two targets": len(self.targets) == 2,
            "two engines": len(self.engines) == 2,
            "--passes": self.passes is not None,
        }
        chosen = [name for name, given in ways.items() if given]
        if len(kernels) > 2 or len(self.targets) > 2 or len(self.engines) > 2:
            usage("diff compares two: give two kernels, --target twice, or --engine twice")
        if len(self.engines) == 1:
            usage("the reference executes runs that are compared: give --engine twice, or never")
        if len(chosen) != 1:
            said = f"these are {' and '.join(chosen)}" if chosen else "there is one alone"
            usage(
                f"choose one thing that differs; {said}: give a second kernel, --target twice, "
                "--engine twice, or --passes NAME,..."
            )
        targets = [*self.targets] or [DEFAULT_TARGET.name]
        every = [self.options(t, e) for t in targets for e in self.engines or (None,)]
        first = _side(kernels[0], every[0], arguments, self.seed, None)
        if self.passes is not None:
            return [(first, side) for side in self._after_passes(first)]
        if len(kernels) == 2:
            return [(first, _side(kernels[1], every[0], arguments, self.seed, first))]
        other = replace(first, options=every[1])
        words = targets if len(targets) == 2 else [*self.engines]
        return [tuple(replace(s, label=w) for s, w in zip((first, other), words, strict=True))]

    def options(self, target: str, engine: str | None) -> Options:
        """The options of one side."""
        from ptokit.launch.settings import options_of

        with call_errors():
            return options_of(target=target, engine=engine, func=self.func, blocks=self.blocks)

    def _after_passes(self, first: Side) -> Iterator[Side]:
        from ptokit.passes.pipeline import pass_named

        names = [name.strip() for name in (self.passes or "").split(",")]
        with call_errors():
            for name in names:
                pass_named(name)
        for count in range(1, len(names) + 1):
            program = first.program.after(names[:count], first.options.target)
            yield replace(first, label=f"after {','.join(names[:count])}", program=program)


def _side(
    kernel: Path, options: Options, words: Sequence[str], seed: int, beside: Side | None
) -> Side:
    """The run of a kernel; beside another one on its arrays, by name, or in order if all differ."""
    placed, named = split(tuple(words))
    by_position = [argument(text, seed) for text in placed]
    by_name: dict[str, object] = {n: argument(t, seed) for n, t in assigned(named, "").items()}
    if is_python(kernel) and words:
        from ptokit.tools.cli.pythonkernels import python_launch

        program, by_name = python_launch(kernel, by_position, by_name)
        by_position = []
    else:
        program = read_program(kernel)
    side = Side(str(kernel), program, options, {})
    if beside is not None:
        return replace(side, given=_shared(side, beside))
    return replace(side, given=_filled(side, by_position, by_name, seed))


def _filled(
    side: Side, placed: Sequence[object], named: Mapping[str, object], seed: int
) -> Mapping[str, object]:
    """The arguments of a run as arrays; those that are not given and nothing writes are random."""
    from ptokit.analysis.facts import facts_of
    from ptokit.isa.model.types import ScalarType
    from ptokit.launch.bind import named_arguments
    from ptokit.launch.fills import Fill

    func = side.func
    given = named_arguments(func, placed, named)
    written = {arg.name for arg in facts_of(func).written_args}
    open = [a for a in func.args if a.name not in given and a.name not in written]
    made = {
        a.name: Fill(None, None, "random", seed) for a in open if not isinstance(a.type, ScalarType)
    }
    return side.program.executable(side.options).given({**made, **given})


def _shared(side: Side, beside: Side) -> Mapping[str, object]:
    mine, others = ([arg.name for arg in one.func.args] for one in (side, beside))
    if {*mine}.isdisjoint(others) and len(mine) == len(others):
        names = dict(zip(others, mine, strict=True))
        return {names[name]: value for name, value in beside.given.items()}
    return beside.given


def differences(pairs: Sequence[tuple[Side, ...]]) -> tuple[list[str], bool]:
    """Return the report on two runs, and True if they differ; of several pairs on the first."""
    if len(pairs) > 1 and not _outcome(*pairs[-1])[1]:
        return _outcome(*pairs[-1])
    for pair in pairs:
        lines, differ = _outcome(*pair)
        if differ:
            return lines, True
    return _outcome(*pairs[-1])


def _outcome(one: Side, two: Side) -> tuple[list[str], bool]:
    """The report on one pair of runs, and whether a result or an output differs."""
    from ptokit.tools.rundiff import compared_traces, trace_report

    if one.options.engine != two.options.engine:
        return _by_stores(one, two)
    (log, ran), (other_log, other) = one.logged(), two.logged()
    found = compared_traces(log.events, other_log.events)
    lines = [*trace_report(found, (one.label, two.label))]
    if found.first is not None:
        lines += _elements(one, two, found.first)
    wrong = {name: pair for name, pair in _outputs(ran, other) if not pair.compared(name, EXACT)}
    lines += ["", *(str(pair.compared(name, EXACT)) for name, pair in wrong.items())]
    if not wrong:
        lines.append("all outputs are the same")
    return lines, found.first is not None or bool(wrong)


def _elements(one: Side, two: Side, first: Divergence) -> Iterator[str]:
    """The report of `diff` on the results of the first instruction that differs: both run again."""
    from ptokit.tools.arraydiff import whole_report
    from ptokit.tools.rundiff import kept_pairs

    logs = [s.logged((first.place, n))[0] for s, n in zip((one, two), first.numbers, strict=True)]
    pairs = [*kept_pairs(*(log.kept for log in logs))]
    for name, pair in pairs:
        if not pair.compared(name, EXACT):
            yield from ("", *whole_report(pair, name, EXACT))
    if pairs and all(pair.compared(name, EXACT) for name, pair in pairs):
        yield "  all elements are equal: bits of zeros or NaN differ"


def _by_stores(one: Side, two: Side) -> tuple[list[str], bool]:
    """The report on two engines: the first store that wrote an element which differs."""
    from ptokit.tools.arraydiff import whole_report
    from ptokit.tools.rundiff import LastStores

    stores = LastStores()
    two.program.launch(replace(two.options, engine=None), (), two.given, [stores])
    lines: list[str] = []
    for name, pair in _outputs(one.run(), two.run()):
        if pair.compared(name, EXACT):
            continue
        found = stores.first(name, pair.wrong(EXACT)[0])
        if found is not None:
            lines.append(found)
        lines += whole_report(pair, name, EXACT)
    return lines or ["all outputs are the same"], bool(lines)


def _outputs(one: Run, two: Run) -> Iterator[tuple[str, ArrayPair]]:
    """The outputs of both runs, by the name that they have in the first one."""
    from ptokit.api.compare import paired

    names = [*two.outputs] if {*one.outputs}.isdisjoint(two.outputs) else [*one.outputs]
    for name, other in zip(one.outputs, names, strict=False):
        if other not in two.outputs:
            continue
        try:
            yield name, paired(one.outputs[name], two.outputs[other], name, one.dtypes[name])
        except ValueError as problem:
            usage(f"the outputs cannot be compared: {problem}")
