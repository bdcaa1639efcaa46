"""What the cores of a program issue: in one run on arrays, or in runs on samples without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Protocol, TypeAlias

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, Severity, error
from ptokit.explore.blockconflicts import launches_of_blocks
from ptokit.explore.drylaunch import MOST_ISSUED, DryLaunch
from ptokit.explore.openvalues import decided, depending, depends
from ptokit.explore.pathconditions import ALONE, HeldNumbers
from ptokit.explore.pathruns import dry_runs
from ptokit.explore.sampling import Try, blocks_led, most_telling, samples
from ptokit.explore.trialruns import ENDLESS, trials
from ptokit.explore.variedruns import varied_runs
from ptokit.forms.percore import launched_cores, whole_kernel
from ptokit.ir.module import Func, Module, Op, Value
from ptokit.isa.lang.traits import POLLS, SIGNALS
from ptokit.isa.model.targets import Target
from ptokit.isa.pages.grid import launch_query
from ptokit.launch.bind import bind
from ptokit.launch.executable import Executable
from ptokit.launch.fills import Fill
from ptokit.machine.arguments import Given, Launch
from ptokit.machine.launchoptions import Options
from ptokit.order.issue import Issue
from ptokit.order.loggedissue import LoggedIssue
from ptokit.order.ticketleftovers import left_over


class OfFunctions(Protocol):
    """A program: its functions, and which of them a name means."""

    module: Module

    def on(self, target: Target) -> OfFunctions: ...
    def entry_named(self, name: str | None) -> Func: ...


def launch_issues(
    program: OfFunctions,
    target: Target,
    func: str | Func | None = None,
    arrays: Given | None = None,
    blocks: int = 1,
    between_blocks: bool = False,
    any_arguments: bool = False,
    judged: bool = False,
) -> Iterator[Issue]:
    """What the cores of a function issue on a target.

    With `arrays` of one run on them. Without, of runs on the first sample of its numbers (1024 or
    less) that is legal: loops over them have 0, 1, 2, 3 and 5 iterations, branches go either way,
    and a run that breaks a rule is left out. PtoError where the program is not legal, or the run
    on arrays fails. `between_blocks`: only conflicts between blocks are asked for.
    `any_arguments`: without arrays those, too, that do not depend on them. `judged`: the program
    is a record of instructions that were judged when they ran.
    """
    entry = func if isinstance(func, Func) else program.entry_named(func)
    cores = launched_cores(program.module, entry)
    options = Options(target, blocks=blocks, judged=judged)
    executable = Executable(whole_kernel(program.module, entry), options, cores)
    if arrays is None:
        yield from _sampled(executable, any_arguments)
        return
    bound = executable.bound(arrays)
    if not (bound.waits or any(decided(f, depends(f, frozenset())) for f in bound.funcs)):
        short: Issue | None = None
        with suppress(PtoError):  # longer, or wrong: the run itself tells
            short = DryLaunch(bound, target, blocks, most=FEW_ISSUED).issue()
        if short is not None:
            yield short
            return
    issue = LoggedIssue(target, between_blocks=between_blocks)
    executable.execute(arrays, observers=(issue,))
    yield issue


def _sampled(executable: Executable, any_arguments: bool) -> Iterator[Issue]:
    """The launches on the first sample of the arguments that is a legal run.

    Cores that wait for what others write to memory need an executed run, on whole arrays.
    """
    refused: list[tuple[Sample, PtoError]] = []
    for whole in (False, True) if executable.cores else (False,):
        tries = _tries(executable, whole, refused)
        if best := most_telling(tries):
            yield from best
            if isinstance(best, _DryIssues):
                yield from _further(executable, best.launch, best)
                if any_arguments and executable.options.blocks == 1:
                    yield from launches_of_blocks(best.launch)
            return
    endless = [one for one in refused if _endless(executable, one[1])]
    if endless:
        yield _ended(executable, *endless[0], legal=False)
    elif refused:
        raise refused[0][1]
    else:
        raise error("no-sample-run", CATALOGUE["no-sample-run"].title)


Sample: TypeAlias = "Given"
FEW_ISSUED = 2_000  # instructions beyond which compiled code, once it is made, is faster
MOST_EXACT = 10_000  # and of a run on exact numbers
FEW_SAMPLES = 9  # three numbers, in all places and with none in the last
FEW_TRIED = 24  # runs in which arrays hold different numbers


def _launch_arguments(executable: Executable) -> list[Value]:
    """The arguments that the launch does not give."""
    return [arg for arg in executable.every_argument() if launch_query(arg.name) is None]


def _funcs(executable: Executable) -> Sequence[Func]:
    return [*executable.cores.values()] or [executable.func]


def _endless(executable: Executable, problem: PtoError) -> bool:
    """Whether cores wait for ever, whatever is in memory and whichever signals they mean."""
    waits = problem.diagnostics[0].slug in ENDLESS
    return waits and not any(map(_waits_depend_on_data, _funcs(executable)))


def _waits_depend_on_data(func: Func) -> bool:
    """Whether it depends on arguments or memory what a core waits for."""
    open = depending(func)
    told = [op for op in func.ops if isinstance(op, Op) and SIGNALS in op.page.uses]
    numbers = (value for op in told for _, value in op.values())
    return any(POLLS in op.page.traits for op in told) or not open.isdisjoint(numbers)


def _ended(
    executable: Executable,
    sample: Sample,
    problem: PtoError,
    *,
    legal: bool,
    never: bool = False,
) -> Issue:
    """A run of cores that wait for ever; a warning where other numbers may be `legal`.

    `never`: runs on other numbers wait for ever, too, or leave something in FIFOs.
    """
    target = executable.options.target
    issue, given = Issue(target), [arg.name for arg in _launch_arguments(executable)]
    numbers = [f"%{name} = {sample[name]}" for name in given if isinstance(sample.get(name), int)]
    free = legal or any(decided(func, depending(func)) for func in _funcs(executable))
    severity = Severity.WARNING if free and not never else Severity.ERROR
    others = ", as with all other sample arguments" * never
    noted = problem.noted(f"with {', '.join(numbers)}{others}") if free and numbers else problem
    issue.ended = [replace(d, severity=severity, targets=(target.name,)) for d in noted.diagnostics]
    return issue


class _DryIssues(list[Issue]):
    """What is issued where no instruction is executed."""

    def __init__(self, executable: Executable, launch: DryLaunch) -> None:
        super().__init__(dry_runs(launch))
        self.launch = launch
        if not self and launch.refused:
            endless = [problem for problem in launch.refused if _endless(executable, problem)]
            raise (endless or launch.refused)[0]


def _tries(
    executable: Executable, whole: bool, refused: list[tuple[Sample, PtoError]]
) -> Iterator[Try]:
    """What is issued on each sample; those that no legal run is on are noted as `refused`."""
    for sample in samples(_launch_arguments(executable), whole=whole):
        try:
            if whole:
                yield _funcs(executable), _executed(executable, sample)
            else:
                launch = _dry_launch(executable, sample)
                yield launch.funcs, _DryIssues(executable, launch)
        except PtoError as problem:
            refused.append((sample, problem))


def _further(executable: Executable, launch: DryLaunch, before: Sequence[Issue]) -> Iterator[Issue]:
    """The runs of other blocks; and of cores, whose choices need not fit, runs on exact numbers."""
    endless = [problem for problem in launch.refused if _endless(executable, problem)]
    if launch.blocks == 1:
        given = {arg for arg in executable.every_argument() if launch_query(arg.name)}
        others = [*varied_runs(launch, given, before)]
        yield from others
        yield from blocks_led(launch, [*before, *others])
    if executable.cores and before[-1].chosen:  # whether what they hand on adds up, numbers tell
        exact = replace(launch, most=MOST_EXACT, periods=(None,), refused=[])
        with suppress(PtoError):  # it is too long
            yield from exact.first_legal(ALONE, frozenset())
        yield from _on_trial_numbers(executable, launch)
    if endless:
        yield from _shown_endless(executable)


def _on_trial_numbers(executable: Executable, launch: DryLaunch) -> Iterator[Issue]:
    """Runs on small numbers that wait for ever, or leave something in FIFOs: one of each.

    With trip counts that are chosen, loops whose ends differ by one iterate as often as each other.
    """
    if any(decided(func, depends(func, frozenset())) for func in launch.funcs):
        return  # numbers in memory decide, which no sample knows
    clean, left, endless = list[Issue](), list[Issue](), list[tuple[Sample, PtoError]]()
    for trial in trials(launch):
        if isinstance(trial.outcome, PtoError):
            if _endless(executable, trial.outcome):
                endless.append((trial.numbers, trial.outcome))
        elif left_over(trial.outcome.cores):
            left.append(trial.outcome)
        else:
            clean.append(trial.outcome)
    if endless:
        numbers, problem = endless[0]
        yield _ended(executable, numbers, problem, legal=bool(clean), never=not clean)
    for issue in left[:1]:
        issue.given = issue.given if clean else ()
        yield issue


def _shown_endless(executable: Executable) -> Iterator[Issue]:
    """A run without end on numbers that go together, where there is one.

    Where iterations and branches are chosen, those of two cores may not fit.
    """
    for sample in islice(samples(_launch_arguments(executable), whole=False), FEW_SAMPLES):
        with suppress(PtoError):  # not legal, or too long
            launch = _dry_launch(executable, sample)
            launch.most, launch.periods, launch.held = FEW_ISSUED, (None,), None
            _ = [*launch.first_legal(ALONE, frozenset())]
            for problem in launch.refused:
                if _endless(executable, problem):
                    yield _ended(executable, sample, problem, legal=True)
                    return


def _dry_launch(executable: Executable, sample: Sample) -> DryLaunch:
    """PtoError where the function is not legal with any numbers."""
    options, target = executable.options, executable.options.target
    if executable.cores:
        launch = executable.bound(sample)
    else:
        bound = bind(executable.func, sample, target, {})
        found = () if options.judged else facts_of(bound.func).on(target).faults()
        problems = [p for p in found if p.is_error]  # with any numbers
        if problems:
            raise PtoError(problems)
        launch = Launch.of(bound)
    held = HeldNumbers(left=FEW_TRIED)
    return DryLaunch(launch, target, options.blocks, held=held, judged=options.judged)


def _executed(executable: Executable, sample: Sample) -> Sequence[Issue]:
    """What a run on arrays issues that are as large as what the program views of them."""
    issue = LoggedIssue(executable.options.target)
    filled = {name: Fill() if value is None else value for name, value in sample.items()}
    executable.execute(filled, max_instructions=MOST_ISSUED, observers=(issue,))
    return [issue]
