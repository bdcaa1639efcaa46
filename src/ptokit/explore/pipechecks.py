"""Races of a program: hazards between the pipes of its cores, and between its cores."""

from __future__ import annotations

from dataclasses import replace

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, Severity, titled
from ptokit.explore.launchissues import OfFunctions, launch_issues
from ptokit.explore.novelty import none_iterates
from ptokit.explore.pathruns import asks_for_block
from ptokit.forms.inline import entries
from ptokit.forms.percore import launched_cores, peer_of
from ptokit.ir.module import Func, Op
from ptokit.isa.lang.traits import FIFO, FLAGS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Given
from ptokit.order.issue import Issue
from ptokit.order.racereports import races
from ptokit.order.redundant import Pair, redundant

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
