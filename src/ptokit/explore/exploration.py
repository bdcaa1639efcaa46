"""The driver of exploration: the issue traces of a program, and the races in them.

Traces come from one run on arrays, or from sample runs without arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Protocol

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, Severity, error, titled
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.limits import (
    ENOUGH_TRIALS,
    FEW_HELD,
    FEW_ISSUED,
    FEW_SAMPLES,
    MOST_CERTAIN,
    MOST_ISSUED,
    MOST_TRIED,
)
from ptokit.explore.novelty import none_iterates
from ptokit.explore.pathconditions import ALONE, HeldNumbers
from ptokit.explore.pathruns import (
    Refused,
    Sample,
    Try,
    asks_for_block,
    further_blocks,
    launches_of_blocks,
    most_telling,
    tries,
)
from ptokit.explore.programslices import decided, depending, depends
from ptokit.explore.samplevalues import samples, trial_numbers
from ptokit.explore.variedruns import varied_runs
from ptokit.forms.inline import entries
from ptokit.forms.percore import launched_cores, peer_of, whole_kernel
from ptokit.ir.module import Func, Module, Op, Value
from ptokit.isa.lang.traits import FIFO, FLAGS, SIGNALLING, SIGNALS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.isa.pages.grid import launch_query
from ptokit.launch.bind import bind
from ptokit.launch.executable import Executable
from ptokit.launch.fills import Fill
from ptokit.machine.arguments import Given, Launch
from ptokit.machine.launchoptions import Options
from ptokit.order.issue import Issue
from ptokit.order.loggedissue import LoggedIssue
from ptokit.order.programorder import left_over
from ptokit.order.racereports import races
from ptokit.order.redundant import Pair, redundant
from ptokit.order.waiting import OF_ONE_CORE, Post

ENDLESS = {"deadlock", "fifo-mismatch", "signal-overflow"}  # errors between cores


class OfFunctions(Protocol):
    """A program: its functions, and the function that a name denotes."""

    @property
    def module(self) -> Module: ...
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
    """Yield the issue traces of a function's cores on a target.

    With `arrays`, there is one run on these. Otherwise runs use the first legal sample of the
    numeric arguments (1024 or less): loops whose bounds depend on samples have 0, 1, 2, 3 and 5
    iterations, branches go either way, and illegal runs are skipped. PtoError if the program is not
    legal or the run on arrays fails.

    `between_blocks`: only conflicts between blocks matter. `any_arguments`: without arrays, also
    traces for conflicts that exist on all arguments. `judged`: the program records instructions
    that were checked when they ran.
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
        with suppress(PtoError):  # too long, or illegal: the real run reports it
            short = DryLaunch(bound, target, blocks, most=FEW_ISSUED).issue()
        if short is not None:
            yield short
            return
    issue = LoggedIssue(target, between_blocks=between_blocks)
    executable.execute(arrays, observers=(issue,))
    yield issue


def _sampled(executable: Executable, any_arguments: bool) -> Iterator[Issue]:
    """Yield the launches on the first sample of the arguments that is legal.

    Cores that wait for numbers in memory need an executed run, on whole arrays.
    """
    refused: list[Refused] = []
    for whole in (False, True) if executable.cores else (False,):
        some = samples(_launch_arguments(executable), whole=whole)
        dry = tries(some, partial(_dry_launch, executable), refused)
        if best := most_telling(_executions(executable, some, refused) if whole else dry):
            yield from best.issues
            if best.launch is not None:
                yield from _further(executable, best.launch, best.issues)
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


def _launch_arguments(executable: Executable) -> list[Value]:
    """Return the arguments that the launch does not supply."""
    return [arg for arg in executable.every_argument() if launch_query(arg.name) is None]


def _funcs(executable: Executable) -> Sequence[Func]:
    return [*executable.cores.values()] or [executable.func]


def _endless(executable: Executable, problem: PtoError) -> bool:
    """Return whether the cores deadlock whatever memory and arguments contain."""
    waits = problem.diagnostics[0].slug in ENDLESS
    return waits and not any(map(_waits_depend_on_data, _funcs(executable)))


def _waits_depend_on_data(func: Func) -> bool:
    """Return whether arguments or memory decide what a core waits for."""
    open = depending(func)
    told = [op for op in func.ops if isinstance(op, Op) and SIGNALS in op.page.uses]
    numbers = (value for op in told for _, value in op.values())
    polls = any(SIGNALLING in op.page.traits and not op.page.outs() for op in told)
    return polls or not open.isdisjoint(numbers)


def _ended(
    executable: Executable,
    sample: Sample,
    problem: PtoError,
    *,
    legal: bool,
    never: bool = False,
) -> Issue:
    """Return the trace of a deadlock; a warning if other numbers may be `legal`.

    `never`: runs on other numbers deadlock or leave entries in FIFOs, too.
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


def _further(executable: Executable, launch: DryLaunch, before: Sequence[Issue]) -> Iterator[Issue]:
    """Yield runs of other blocks, and for several cores runs on exact numbers."""
    endless = [problem for problem in launch.refused if _endless(executable, problem)]
    if launch.blocks == 1:
        given = {arg for arg in executable.every_argument() if launch_query(arg.name)}
        others = [*varied_runs(launch, given, before)]
        yield from others
        yield from further_blocks(launch, [*before, *others])
    if executable.cores and before[-1].chosen:  # exact numbers show whether signals match
        exact = replace(launch, most=MOST_CERTAIN, periods=(None,), refused=[])
        with suppress(PtoError):  # the run is too long
            yield from exact.first_legal(ALONE, frozenset())
        yield from _on_trial_numbers(executable, launch)
    if endless:
        yield from _shown_endless(executable)


def _on_trial_numbers(executable: Executable, launch: DryLaunch) -> Iterator[Issue]:
    """Yield one run on small exact numbers that deadlocks, and one with leftovers in FIFOs.

    With chosen trip counts, loops whose bounds differ by one have equal trip counts; numbers show
    the difference. Runs count in which cores exchange something or deadlock.
    """
    if any(decided(func, depends(func, frozenset())) for func in launch.funcs):
        return  # numbers in memory decide, and samples of them are arbitrary
    clean, left, endless, counted = False, list[Issue](), list[Refused](), 0
    for numbers in trial_numbers(launch.numbers, launch.funcs):
        one = replace(launch.with_numbers(numbers), most=MOST_TRIED, mixed=False, held=None)
        try:
            issue = one.issue(ALONE, checks=True)
        except PtoError as problem:
            counted += problem.diagnostics[0].slug in ENDLESS
            endless += [(numbers, problem)] * _endless(executable, problem)
        else:
            if _exchanges(issue):
                counted += 1
                leaves = any(True for _ in left_over(issue.cores))
                left += [issue] * leaves
                clean |= not leaves
        if counted == ENOUGH_TRIALS:
            break
    if endless:
        yield _ended(executable, *endless[0], legal=clean, never=not clean)
    for issue in left[:1]:
        issue.given = issue.given if clean else ()
        yield issue


def _exchanges(issue: Issue) -> bool:
    """Return True if a core signals another core."""
    posts = (entry for entry in chain.from_iterable(issue.cores) if isinstance(entry, Post))
    return any(not isinstance(post.ticket.channel, OF_ONE_CORE) for post in posts)


def _shown_endless(executable: Executable) -> Iterator[Issue]:
    """Yield a deadlock on consistent numbers, if one is found.

    If trip counts and branches are chosen, those of two cores may be inconsistent.
    """
    for sample in islice(samples(_launch_arguments(executable), whole=False), FEW_SAMPLES):
        with suppress(PtoError):  # the run is not legal, or too long
            launch = _dry_launch(executable, sample)
            launch.most, launch.periods, launch.held = FEW_ISSUED, (None,), None
            _ = [*launch.first_legal(ALONE, frozenset())]
            for problem in launch.refused:
                if _endless(executable, problem):
                    yield _ended(executable, sample, problem, legal=True)
                    return


def _dry_launch(executable: Executable, sample: Sample) -> DryLaunch:
    """Return the dry launch on a sample; PtoError if the function is never legal."""
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
    held = HeldNumbers(left=FEW_HELD)
    return DryLaunch(launch, target, options.blocks, held=held, judged=options.judged)


def _executions(
    executable: Executable, some: Iterable[Sample], refused: list[Refused]
) -> Iterator[Try]:
    """Yield runs on arrays that are as large as the views of the program."""
    for sample in some:
        issue = LoggedIssue(executable.options.target)
        filled = {name: Fill() if value is None else value for name, value in sample.items()}
        try:
            executable.execute(filled, max_instructions=MOST_ISSUED, observers=(issue,))
        except PtoError as problem:
            refused.append((sample, problem))
        else:
            yield Try(_funcs(executable), [issue])


GIVE_ARGUMENTS = "`ptokit run --races` checks a run with real arguments"


def races_of(
    program: OfFunctions,
    target: Target,
    func: Func,
    arrays: Given | None,
    blocks: int,
    *,
    judged: bool = False,
) -> list[Diagnostic]:
    """Return the hazards between the pipes; none if a compiler has yet to insert the flags.

    `judged`: each instruction was judged when it ran; legality is not asked for again.
    """
    if target.in_order:
        return []
    ordered = synchronised(program) or _in_turn(program)
    if arrays is not None:
        (issue,) = launch_issues(program, target, func, arrays, blocks, between_blocks=not ordered)
        return races_of_run(program, func, issue)
    left = [] if ordered else [_unsynchronised(func, target)]
    alone = blocks == 1 and not asks_for_block(func)
    if left and alone and not launched_cores(program.module, func):
        return left
    try:
        how = {"any_arguments": True, "judged": judged}
        issues = [*launch_issues(program, target, func, None, blocks, **how)]
    except PtoError as problem:
        return left if left and blocks == 1 else [_no_sample(func, problem, target), *left]
    if left:
        return [*races(issues, target, blocks_only=True), *left]
    cores, of_one = launched_cores(program.module, func), [i for i in issues if not i.certain]
    if none_iterates([*cores.values()] or [func], of_one):
        return [*races(issues, target), _empty_sample(func, target)]
    return [*races(issues, target), *(_hint(pair, target) for pair in redundant(of_one, target))]


def races_of_run(program: OfFunctions, func: Func, issue: Issue) -> list[Diagnostic]:
    """Return the races in one issue trace, without hints on redundant synchronisation."""
    target = issue.target
    if target.in_order:
        return []
    cut = [_cut(func, target)] if issue.cut else []
    if synchronised(program) or _in_turn(program):
        return [*races([issue], target), *cut]
    # a compiler orders the pipes of a core, but not the blocks of a launch
    return [*races([issue], target, blocks_only=True), _unsynchronised(func, target), *cut]


def kernels(program: OfFunctions) -> list[Func]:
    """Return the functions that a launch may start; for a pair that is one kernel, the first."""
    found: list[Func] = []
    for func in entries(program.module):
        if not func.declared and func in program.module.funcs:
            found += [func] if peer_of(program.module, func) not in found else []
    return found


def synchronised(program: OfFunctions) -> bool:
    """Return whether the program orders its pipes itself, with flags or barriers."""
    ops = (op for func in program.module.funcs for op in func.ops)
    return any(isinstance(op, Op) and FLAGS in op.page.uses for op in ops)


def _in_turn(program: OfFunctions) -> bool:
    """Return whether only the scalar unit is used, so that no pipe needs synchronisation."""
    ops = (op for func in program.module.funcs for op in func.ops)
    return all(isinstance(op, Op) and _scalar(op) for op in ops)


def _scalar(op: Op) -> bool:
    return not op.page.executes or (op.page.pipe is Pipe.S and FIFO not in op.page.uses)


def _hint(pair: Pair, target: Target) -> Diagnostic:
    """Return the hint on a redundant flag or barrier."""
    rest = tuple(Note("it pairs with this", op.span) for op in pair[1:])
    return titled(
        "redundant-synchronisation",
        pair[0].name,
        pair[0].span,
        severity=Severity.HINT,
        help="remove it" + (", and what pairs with it" if rest else ""),
        targets=(target.name,),
        notes=rest,
    )


def _no_sample(func: Func, problem: PtoError, target: Target) -> Diagnostic:
    """Return the warning that no legal sample run was found."""
    slug, why = "no-sample-run", problem.diagnostics[0]
    notes = () if why.slug == slug else (Note(f"the first run ends: {why.message}", why.span),)
    return replace(_warning(func, target, slug, CATALOGUE[slug].title, GIVE_ARGUMENTS), notes=notes)


def _empty_sample(func: Func, target: Target) -> Diagnostic:
    """Return the warning that the loops of the function were not checked."""
    what = "no legal sample run enters its loops"
    return _warning(func, target, "no-sample-run", what, GIVE_ARGUMENTS)


def _cut(func: Func, target: Target) -> Diagnostic:
    """Return the warning that the trace of the run is incomplete."""
    what = "the last instructions of the run were not checked"
    help = "use fewer blocks or iterations"
    return _warning(func, target, "instruction-limit", what, help)


def _unsynchronised(func: Func, target: Target) -> Diagnostic:
    what = "no synchronisation between pipes"
    help = "`ptokit opt --passes synchronise` inserts them, as compilers do"
    found = _warning(func, target, "not-synchronised", what, help)
    return replace(found, seen="the program has no flags, events or barriers")


def _warning(func: Func, target: Target, slug: str, what: str, help: str) -> Diagnostic:
    """Return a warning about a part of the checks that was skipped for a function."""
    severity, targets = Severity.WARNING, (target.name,)
    return Diagnostic(slug, f"@{func.name}: {what}", None, severity, help=help, targets=targets)
