"""What the cores of a program issue: of one run on arrays, or of samples where none are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from ptokit.analysis.checker import check_func
from ptokit.api.bind import bind
from ptokit.api.executable import Executable, Options
from ptokit.api.fills import Fill
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.ir.module import Func, Module
from ptokit.isa.model.targets import Target
from ptokit.isa.pages.grid import launch_query
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.passes.percore import launched_cores, whole_kernel
from ptokit.sim.arguments import Bound, BoundKernel
from ptokit.sim.pipes.dryrun import (
    FEW_ISSUED,
    MOST_ISSUED,
    DryLaunch,
    decided,
    depends,
    dry_runs,
    samples,
)
from ptokit.sim.pipes.issuing import Issue
from ptokit.sim.pipes.runissue import RunIssue


class OfFunctions(Protocol):
    """A program: its functions, and which of them a name means."""

    module: Module

    def on(self, target: Target) -> OfFunctions: ...
    def entry_named(self, name: str | None) -> Func: ...


def issued(
    program: OfFunctions,
    target: Target,
    func: str | Func | None = None,
    arrays: Mapping[str, Any] | None = None,  # Any: arrays and numbers
    blocks: int = 1,
    between_blocks: bool = False,
) -> Iterator[Issue]:
    """What the cores of a function issue on a target.

    With `arrays` of one run on them. Without, of runs on the first sample of its numbers (1024 or
    less) that is legal: loops over them have 0, 1, 2, 3 and 5 iterations, branches go either way,
    and a run that breaks a rule is left out. PtoError where the program is not legal, or the run
    on arrays fails. `between_blocks`: only conflicts between blocks are asked for.
    """
    entry = func if isinstance(func, Func) else program.entry_named(func)
    cores = launched_cores(program.module, entry)
    options = Options(target, None, CPU_READING, blocks)
    executable = Executable(whole_kernel(program.module, entry), options, cores)
    if arrays is None:
        yield from _sampled(executable, target, blocks)
        return
    bound = executable.bound(arrays)
    if isinstance(bound, Bound) and not decided(bound.func, depends(bound.func, frozenset())):
        short: Issue | None = None
        with suppress(PtoError):  # longer, or wrong: the run itself tells
            short = DryLaunch(bound, target, blocks, FEW_ISSUED).issue()
        if short is not None:
            yield short
            return
    issue = RunIssue(target, between_blocks=between_blocks)
    executable.execute(arrays, observers=(issue,))
    yield issue


def _sampled(executable: Executable, target: Target, blocks: int) -> Iterator[Issue]:
    """The launches on the first sample of the arguments that is a legal run.

    Cores that wait for what others write to memory need an executed run, on whole arrays.
    """
    refused: PtoError | None = None
    every = executable.every_argument()
    asked = [arg for arg in every if launch_query(arg.name) is None]  # the launch gives the others
    ways = ((_dry, False), (_executed, True)) if executable.cores else ((_dry, False),)
    for how, whole in ways:
        for sample in samples(asked, whole=whole):
            try:
                found = [*how(executable, sample, target, blocks)]
            except PtoError as problem:
                refused = refused or problem
                continue
            if found:
                yield from found
                return
    raise refused or error("no-sample-run", CATALOGUE["no-sample-run"].title)


Sample: TypeAlias = "Mapping[str, Any]"  # Any: arrays and numbers


def _dry(executable: Executable, sample: Sample, target: Target, blocks: int) -> Iterator[Issue]:
    """What is issued where no instruction is executed."""
    if executable.cores:
        bound = executable.bound(sample)
        assert isinstance(bound, BoundKernel)
    else:
        bound = bind(executable.func, sample, target, {})
        problems = [p for p in check_func(bound.func, target) if p.is_error]  # with any numbers
        if problems:
            raise PtoError(problems)
    yield from dry_runs(bound, target, blocks)


def _executed(
    executable: Executable, sample: Sample, target: Target, blocks: int
) -> Iterator[Issue]:
    """What a run on arrays issues that are as large as what the program views of them."""
    issue = RunIssue(target)
    filled = {name: Fill() if value is None else value for name, value in sample.items()}
    executable.execute(filled, max_instructions=MOST_ISSUED, observers=(issue,))
    yield issue
