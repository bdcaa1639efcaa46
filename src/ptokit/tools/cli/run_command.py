"""`run`: a program on real arrays."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.tools.cli.completedrun import CompletedRun, PreparedRun
from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.kernelfiles import is_python, read_program
from ptokit.tools.cli.looking import Look, looking
from ptokit.tools.cli.options import (
    ARGUMENTS,
    BLOCKS,
    ENGINE,
    ENTRY,
    FIXPIPE,
    KERNEL,
    READING,
    SCHEDULER,
    SEED,
    CppOptions,
    cluster_at,
    cpp_options,
    is_cpp,
    require_pipes,
    taken,
    target_option,
    tolerance_options,
    with_readings,
)
from ptokit.tools.cli.values import (
    Golden,
    TakesNumbers,
    argument,
    assigned,
    output,
    split,
    type_from,
)
from ptokit.tools.terminal import show

if TYPE_CHECKING:
    from ptokit.api.compare import Comparison
    from ptokit.api.program import Program
    from ptokit.isa.model.types import Type
    from ptokit.launch.executable import Run
    from ptokit.machine.launchoptions import Options
    from ptokit.order.loggedissue import LoggedIssue


@click.command(cls=TakesNumbers, short_help="Run a program on arrays.")
@KERNEL
@click.argument("arguments", nargs=-1, metavar="[[NAME=]VALUE]...")
@ARGUMENTS
@target_option()
@click.option(
    *("-o", "--output", "outputs"),
    multiple=True,
    metavar="NAME=FILE",
    help="Save as .npy, or the elements alone as .bin.",
)
@click.option(
    "--expect",
    multiple=True,
    metavar="NAME=VALUE",
    help="Compare an output; status 1 if it differs.",
)
@tolerance_options
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="NAME=TYPE",
    help="Give an omitted type.",
)
@ENTRY
@FIXPIPE
@click.option("--order", metavar="NAME", help="Order of sums: cpu, recorded, left, a2a3 or a5.")
@READING
@BLOCKS
@click.option("--ranks", type=int, default=1, metavar="N", help="Run ranks 0 to N-1 at once.")
@SEED
@ENGINE
@SCHEDULER
@click.option("--max-instructions", type=int, metavar="N", help="Stop after N instructions.")
@click.option(
    *("--schedule", "schedule"),
    metavar="random:SEED",
    help="Run cores in a random order and detect data races.",
)
@click.option("--races", is_flag=True, help="Detect hazards between pipes and between blocks.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Stop after this time.")
@click.option("--trace", metavar="FILE", help="Write a line for each instruction; - is stderr.")
@click.option(
    "--trace-values", multiple=True, metavar="NAME", help="Print NAME whenever it is written."
)
@click.option(
    *("--dump", "dump"),
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write each tile that is written to a new folder, as .npy files with an index.",
)
@click.option("--only", multiple=True, metavar="NAME,...", help="Of --dump: these tiles alone.")
@click.option(
    *("--break", "breaks"),
    multiple=True,
    metavar="LINE",
    help="Stop in pdb before this line, or before %NAME is written.",
)
@click.option("--progress/--no-progress", default=None, help="Show a bar while many blocks run.")
@click.option("--strict", is_flag=True, help="Refuse to store undefined elements.")
@click.option(
    *("--golden", "golden_folder"),
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write input*.bin, golden*.bin and a manifest to a new folder, for a test on a board.",
)
@click.option("--report", is_flag=True, help="Print instruction counts and time.")
@click.option(
    "--show-code", metavar="NAME", help="Print the LLVM code of an instruction; run nothing."
)
@cpp_options
@program_errors
def run(
    arguments: tuple[str, ...],
    words: tuple[str, ...],
    types: tuple[str, ...],
    order: str | None,
    readings: tuple[str, ...],
    seed: int,
    **asked: Any,  # Any: click's parameters
) -> None:
    """Run KERNEL (a .pto, .py or .cpp file, FILE.py:NAME, or - for standard input) on arrays.

    Arguments are given in the order of the function's head, or by name (a=a.npy). A value is a
    number, true or false, a .npy file, a file of raw elements, `random` or `zeros`. Element type
    and extents that the argument's type leaves open follow after colons (a=a.bin:f16:512x384); they
    alone are short for zeros.

    Of a .cpp file --launch 'NAME<...>' is the kernel. What it changes is shown.

    With several ranks `x=VALUE` is given to each, `x@0=VALUE` to rank 0 alone, and `x@0=y@1` gives
    rank 0 the array y of rank 1.

    The tolerance of --expect depends on the element type. If one of --rtol and --atol is given, the
    other one is 0; --ulp stands alone. --trace, --trace-values, --dump, --break and
    --schedule use the reference engine.
    """
    if is_cpp(asked["kernel"]):
        from ptokit.tools.cli.cpplaunch import require_taken, run_cpp

        require_taken()
        run_cpp((*arguments, *words), seed, asked)
        return
    call, given = run_call(arguments, words, types, order, readings, seed, **asked)
    call.run(*given)


def run_call(
    arguments: tuple[str, ...],
    words: tuple[str, ...],
    types: tuple[str, ...],
    order: str | None,
    readings: tuple[str, ...],
    seed: int,
    **asked: Any,  # Any: click's parameters
) -> tuple[RunCall, RunArguments]:
    """Return what a call asks for, and its arguments; a usage error where they do not fit."""
    from ptokit.api.compare import Tolerance
    from ptokit.launch.settings import RunWords, options_of

    taken(CppOptions, asked).require_cpp([])
    asked["target"] = target = with_readings(asked["target"], *readings, *filter(None, [order]))
    how = {n: asked.pop(n) for n in RunWords.__annotations__ if n in asked}
    within, look = taken(Tolerance, asked), taken(Look, asked)
    golden = Golden(asked.pop("expect"), within)
    with call_errors():
        options = options_of(**how)
        within.require("--")
    call = RunCall(target=target, options=options, golden=golden, look=look, **asked)
    for message in call.misfits():
        usage(message)
    by_position, by_name = split((*arguments, *words))
    named = {n: argument(text, seed) for n, text in assigned(by_name, "").items()}
    return call, ([argument(text, seed) for text in by_position], named, types)


# by position, by name; types of values
RunArguments: TypeAlias = "tuple[Sequence[object], Mapping[str, object], tuple[str, ...]]"


@dataclass(frozen=True)
class RunCall:
    """The parameters of a call of `run`."""

    kernel: Path
    target: str
    options: Options
    golden: Golden
    look: Look
    outputs: tuple[str, ...]
    scheduler: str | None
    races: bool
    report: bool
    show_code: str | None
    golden_folder: Path | None

    def misfits(self) -> Iterator[str]:
        """Yield conflicts between options, with what to do."""
        engine, stepwise, golden = self.options.engine, self.look.stepwise, self.golden
        several, steps = self.options.ranks > 1, "--trace, --trace-values, --dump and --break need"
        if not golden.expect and golden.within:
            yield "--rtol, --atol and --ulp need --expect NAME=VALUE"
        if stepwise and engine not in (None, "reference"):
            yield f"{steps} the engine reference, not {engine}"
        if self.golden_folder is not None and several:
            yield "--golden writes the data of one rank: remove --ranks"
        if self.look.only and self.look.dump is None:
            yield "--only chooses what --dump DIR writes: add it"
        if self.races:
            require_pipes(self.target)
        if self.races and (self.scheduler is not None or several):
            yield "--races checks one rank in this process: remove --scheduler and --ranks"
        if self.options.schedule is not None and (engine == "native" or self.scheduler is not None):
            yield "--schedule needs the engine reference: remove --engine and --scheduler"
        if self.look.breaks and str(self.kernel) == "-":
            yield "--break reads commands from standard input: give the kernel as a file"
        if self.scheduler is not None:
            if self.options.blocks == 1:
                yield "--scheduler distributes the blocks of a launch: give --blocks N"
            if engine not in (None, "native"):
                yield f"--scheduler needs the engine native, not {engine}"
            if several:
                yield "--scheduler runs one rank: remove --ranks"
            if stepwise:
                yield f"{steps} one process: remove --scheduler"
        if self.show_code is not None:
            if engine not in (None, "native"):
                generates = f"{engine} generates nothing"
                yield f"--show-code shows what the engine native generates; {generates}"
            if several:
                yield "--show-code prints the code of one rank: remove --ranks"
            if self.outputs or self.report or golden.expect or stepwise or self.golden_folder:
                yield "--show-code runs nothing: remove -o, --report, --expect, --trace and --break"

    @cached_property
    def files(self) -> dict[str, Path]:
        """Return the files for outputs, by name."""
        return {n: output(text) for n, text in assigned(self.outputs, "-o ").items()}

    def run(
        self, placed: Sequence[object], named: Mapping[str, object], types: tuple[str, ...]
    ) -> None:
        """Run the program on these arguments, compare, save and show."""
        from ptokit.launch.files import require_new_folder

        _ = self.files, self.golden.values  # what is wrong with them is told first
        if self.golden_folder is not None:
            require_new_folder(self.golden_folder)
        if self.show_code is not None:
            ready = self.prepared(placed, named, types)
            made = ready.program.executable(replace(ready.options, engine="native"))
            click.echo(made.code(self.show_code, ready.given), nl=False)
            return
        done = self.executed(
            self.prepared(placed, named, types, kept=self.golden_folder is not None)
        )
        for warning in done.warnings:
            show(warning, end="\n\n")
        self._finish(done)

    def prepared(
        self,
        placed: Sequence[object],
        named: Mapping[str, object],
        types: tuple[str, ...],
        *,
        kept: bool = False,
    ) -> PreparedRun:
        """Read the program; with `kept`, the arguments are arrays where the call has `random`."""
        from ptokit.launch import bind
        from ptokit.machine.launchoptions import RunLimits

        if is_python(self.kernel):
            from ptokit.tools.cli.pythonkernels import python_launch

            program, named = python_launch(self.kernel, placed, named)
            placed = []
        else:
            program = read_program(self.kernel)
        options = replace(self.options, types=_types(program, types))
        func = program.func(options.func)
        given = bind.named_arguments(func, placed, named)
        if kept:
            limits = RunLimits(None, options.timeout)
            given = program.executable(options).given(given, limits)
        return PreparedRun(program, func, given, options)

    def executed(self, ready: PreparedRun) -> CompletedRun:
        """Run the program, and show what is looked at."""
        from ptokit.analysis.legality import without_instructions

        program, options = ready.program, ready.options
        start = time.perf_counter()
        look = looking(self.look, self.kernel, ready.func, options.blocks)
        with cluster_at(self.scheduler) as cluster, look as observers:
            issue = self._issue(program)
            every = [*observers, *filter(None, [issue])]
            result = program.launch(options, (), ready.given, every, cluster)
        warnings = [] if issue is None else self._races(program, issue)
        warnings += [*without_instructions(program.module)]
        warnings += _repeated(program, self.target, result)
        warnings += result.warnings if issue is None else ()
        return CompletedRun(ready, result, warnings, time.perf_counter() - start)

    def _issue(self, program: Program) -> LoggedIssue | None:
        """Return an observer of the issue trace, if `--races` is given."""
        if not self.races:
            return None
        from ptokit.explore.exploration import synchronised
        from ptokit.order.loggedissue import LoggedIssue

        return LoggedIssue(self.options.target, between_blocks=not synchronised(program))

    def _races(self, program: Program, issue: LoggedIssue) -> list[Diagnostic]:
        """Return the warnings about hazards; PtoError if a hazard is an error."""
        from ptokit.explore.exploration import races_of_run

        found = races_of_run(program, program.entry_named(self.options.func), issue)
        if any(d.is_error for d in found):
            raise PtoError(found)
        return [*found]

    def comparisons(self, result: Run) -> list[Comparison]:
        """Outputs beside what is expected; a usage error if one of those named is none."""
        for name in (*self.files, *self.golden.values):
            if name not in result.outputs:
                made = ", ".join(result.outputs) or "none"
                usage(f"the program has no output {name!r}; it has {made}")
        out, types = result.outputs, result.dtypes
        return [self.golden.compared(name, out[name], types[name]) for name in self.golden.values]

    def _finish(self, done: CompletedRun) -> None:
        """Compare, save and show, in this order: what cannot be compared is saved nowhere."""
        from ptokit.launch.files import is_standard_output, write_arrays

        golden, result = self.golden, done.result
        compared = self.comparisons(result)
        out = result.outputs
        write_arrays([(path, out[n], result.dtypes[n]) for n, path in self.files.items()])
        if self.golden_folder is not None:
            from ptokit.tools.cli.boarddata import write_board_data

            write_board_data(self.golden_folder, done, str(self.kernel), self.target)
        aside = any(map(is_standard_output, self.files.values()))  # no text among an array's bytes
        for name, array in out.items():
            quiet = self.report or self.golden_folder is not None
            if not (name in self.files or name in golden.values or quiet):
                shape = "x".join(map(str, array.shape))
                click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
        for comparison in compared:
            click.echo(str(comparison), err=aside)
        if self.report:
            click.echo("\n".join(self._lines(done)), err=aside)
        if not all(compared):
            sys.exit(1)

    def _lines(self, done: CompletedRun) -> list[str]:
        """Return the report: instruction counts, time, the part of the reference, bound values."""
        from ptokit.launch.bind import launch_arguments

        result, instructions = done.result, done.result.instructions
        total = sum(instructions.values())
        lines = [f"{total} instructions on {self.target} in {done.seconds * 1000:.0f} ms"]
        arguments = launch_arguments(done.ready.func, done.ready.given)
        bound = [f"%{arg.name} as {page.mnemonic()}" for arg, page in arguments]
        counts = sorted(instructions.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"  {count:>8}  {name}" for name, count in counts]
        for name, reason in result.interpreted:
            lines.append(f"the reference executed {name or 'the whole program'}: {reason}")
        if result.whole:
            lines.append("one worker ran all blocks: they must run in order or concurrently")
        return [*lines, f"bound by the launch: {', '.join(bound)}"] if bound else lines


def _types(program: Program, words: tuple[str, ...]) -> tuple[tuple[str, Type], ...]:
    """Return the types that `--type` gives to values of the program."""
    types = {name: type_from(text) for name, text in assigned(words, "--type ").items()}
    values = {v.name for f in program.module.funcs for v in f.named()}
    for name in types:
        if name not in values:
            usage(f"--type {name}: the program has no %{name}")
    return tuple(types.items())


def _repeated(program: Program, target: str, result: Run) -> Iterator[Diagnostic]:
    """Yield warnings of `check` about results that chips compute differently than this run."""
    slugs = {slug for slug, entry in CATALOGUE.items() if entry.repeated}
    ops = (op for func in program.module.funcs for op in func.walk())
    pages = {page for op in ops if (page := getattr(op, "page", None))}
    if any(rule.slug in slugs for page in pages for rule in page.all_rules):
        said = {(d.slug, d.span) for d in result.warnings}
        yield from (
            d for d in program.check(target) if d.slug in slugs and (d.slug, d.span) not in said
        )
