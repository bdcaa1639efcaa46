"""`run`: a run of a program on arrays.

A trace, a debugger or a progress bar is shown during the run.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from ptokit.tools.cli.failures import usage

if TYPE_CHECKING:
    from ptokit.ir.module import Func
    from ptokit.machine.observer import Observer
    from ptokit.tools.tracing import Tracer


import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.tools.cli.failures import call_errors, program_errors
from ptokit.tools.cli.options import (
    ENGINE,
    ENTRY,
    KERNEL,
    READING,
    SCHEDULER,
    SEED,
    cluster_at,
    is_python,
    read_program,
    require_pipes,
    taken,
    target_option,
    with_readings,
)
from ptokit.tools.cli.values import (
    Expectation,
    TakesNumbers,
    argument,
    assigned,
    expectation,
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

SHOWN = 8  # names in a message


@dataclass(frozen=True)
class Look:
    """The requested output during a run."""

    trace: str | None
    trace_values: tuple[str, ...]
    breaks: tuple[str, ...]
    progress: bool | None

    @property
    def stepwise(self) -> bool:
        """Return whether instructions are observed one by one."""
        return bool(self.trace or self.trace_values or self.breaks)


@contextmanager
def looking(asked: Look, kernel: Path, func: Func, blocks: int) -> Generator[list[Observer]]:
    """Yield the observers for the requested output of a run."""
    observers: list[Observer] = []
    tracer: Tracer | None = None
    with ExitStack() as opened:
        if asked.trace is not None or asked.trace_values:
            tracer = _tracer(asked, kernel, func, opened)
            observers.append(tracer)
        if asked.breaks:
            observers.append(_debugger(asked, kernel, func))
        elif blocks > 1 and asked.progress is not False:
            from ptokit.tools.progress import Progress

            bar = Progress(blocks)
            opened.enter_context(bar.shown(asked.progress))
            observers.append(bar)
        yield observers
        for name in tracer.untold if tracer else ():
            _to_stderr(f"--trace-values {name}: %{name} was never written{_others(func)}")


def _others(func: Func) -> str:
    """Return a list of names that instructions write, for a message."""
    from ptokit.ir.module import Op
    from ptokit.tools.tracing import defined_or_written

    ops = [op for op in func.body.walk() if isinstance(op, Op) and op.page.executes]
    names = list(dict.fromkeys(f"%{v.name}" for op in ops for v in defined_or_written(op)))
    return f"; instructions write {', '.join(names[:SHOWN])}" if names else ""


def _tracer(asked: Look, kernel: Path, func: Func, opened: ExitStack) -> Tracer:
    from ptokit.launch.files import writing
    from ptokit.tools.tracing import Tracer

    names = [name.removeprefix("%") for name in asked.trace_values]
    known = {v.name for v in func.named()}
    known |= {a.name for op in func.body.walk() for region in op.regions for a in region.args}
    for name in names:
        if name not in known:
            usage(f"--trace-values {name}: no %{name} in the function")
    lines, tell = asked.trace is not None, _to_stderr
    if asked.trace not in (None, "-"):
        path = Path(asked.trace)
        if path.exists() and kernel.exists() and path.samefile(kernel):
            usage(f"--trace {path}: that is the kernel itself")
        tell = opened.enter_context(writing(path))
    return Tracer(tell, names, lines=lines)


def _to_stderr(line: str) -> None:
    click.echo(line, err=True)


def _debugger(asked: Look, kernel: Path, func: Func) -> Observer:
    from ptokit.tools.debugger import Debugger, Stops

    try:
        stops = Stops(asked.breaks, func)
    except ValueError as problem:
        usage(f"--break {problem}")
    return Debugger(kernel, stops, _quit)


def _quit() -> NoReturn:
    click.echo("stopped in the debugger: nothing was written", err=True)
    raise click.exceptions.Exit(1)


@click.command(cls=TakesNumbers, short_help="Run a program on arrays.")
@KERNEL
@click.argument("arguments", nargs=-1, metavar="[[NAME=]VALUE]...")
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
@click.option("--rtol", type=float, metavar="X", help="Relative tolerance of --expect.")
@click.option("--atol", type=float, metavar="X", help="Absolute tolerance of --expect.")
@click.option(
    "--type",
    "types",
    multiple=True,
    metavar="NAME=TYPE",
    help="Give an omitted type.",
)
@ENTRY
@click.option(
    *("--fixpipe", "fixpipe"),
    metavar="NAME",
    default="cpu",
    show_default=True,
    help="Arithmetic of the fix-pipe: cpu or hardware.",
)
@click.option("--order", metavar="NAME", help="Order of sums: cpu, recorded, left, a2a3 or a5.")
@READING
@click.option("--blocks", type=int, default=1, metavar="N", help="Run blocks 0 to N-1.")
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
    *("--break", "breaks"),
    multiple=True,
    metavar="LINE",
    help="Stop in pdb before this line, or before %NAME is written.",
)
@click.option("--progress/--no-progress", default=None, help="Show a bar while many blocks run.")
@click.option("--strict", is_flag=True, help="Refuse to store undefined elements.")
@click.option("--report", is_flag=True, help="Print instruction counts and time.")
@click.option(
    "--show-code", metavar="NAME", help="Print the LLVM code of an instruction; run nothing."
)
@program_errors
def run(
    arguments: tuple[str, ...],
    types: tuple[str, ...],
    order: str | None,
    readings: tuple[str, ...],
    seed: int,
    **words: Any,  # Any: click's parameters
) -> None:
    """Run KERNEL (a .pto or .py file, FILE.py:NAME, or - for standard input) on arrays.

    Arguments are given in the order of the function's head, or by name (a=a.npy). A value is a
    number, true or false, a .npy file, a file of raw elements, `random` or `zeros`. Element type
    and extents that the argument's type leaves open follow after colons (a=a.bin:f16:512x384).

    With several ranks `x=VALUE` is given to each, `x@0=VALUE` to rank 0 alone, and `x@0=y@1` gives
    rank 0 the array y of rank 1.

    The tolerance of --expect depends on the element type; if one of --rtol and --atol is given, the
    other one is 0. --trace, --trace-values, --break and --schedule use the reference engine.
    """
    from ptokit.launch.settings import RunWords, options_of

    words["target"] = target = with_readings(words["target"], *readings, *filter(None, [order]))
    how: dict[str, Any] = {n: words.pop(n) for n in RunWords.__annotations__ if n in words}
    golden, look = taken(Golden, words), taken(Look, words)
    with call_errors():
        options = options_of(**how)
        golden.validate()
    call = RunCall(target=target, options=options, golden=golden, look=look, **words)
    for message in call.misfits():
        usage(message)
    by_position, by_name = split(arguments)
    named = {n: argument(text, seed) for n, text in assigned(by_name, "").items()}
    placed = [argument(text, seed) for text in by_position]
    call.run(placed, named, types)


@dataclass(frozen=True)
class Golden:
    """The expected outputs and the tolerance."""

    expect: tuple[str, ...]
    rtol: float | None
    atol: float | None

    def validate(self) -> None:
        """Raise ValueError for an invalid tolerance."""
        from ptokit.api.compare import require_tolerance

        require_tolerance("--rtol", self.rtol)
        require_tolerance("--atol", self.atol)

    @cached_property
    def values(self) -> dict[str, Expectation]:
        """Return the expected values, by the names of outputs."""
        return {n: expectation(t) for n, t in assigned(self.expect, "--expect ").items()}

    def compared(self, name: str, result: Run) -> Comparison:
        """Return the comparison of an output with its expected value."""
        from ptokit.api.compare import compare

        found, dtype = result.outputs[name], result.dtypes[name]
        golden = self.values[name].of(name, dtype, found.shape)
        try:
            return compare(found, golden, rtol=self.rtol, atol=self.atol, name=name, dtype=dtype)
        except ValueError as problem:
            usage(f"--expect {problem}")


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

    def misfits(self) -> Iterator[str]:
        """Yield conflicts between options, with what to do."""
        engine, stepwise, golden = self.options.engine, self.look.stepwise, self.golden
        several, steps = self.options.ranks > 1, "--trace, --trace-values and --break need"
        if not golden.expect and (golden.rtol is not None or golden.atol is not None):
            yield "--rtol and --atol need --expect NAME=VALUE"
        if stepwise and engine not in (None, "reference"):
            yield f"{steps} the engine reference, not {engine}"
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
            if self.outputs or self.report or golden.expect or stepwise:
                yield "--show-code runs nothing: remove -o, --report, --expect, --trace and --break"

    @cached_property
    def files(self) -> dict[str, Path]:
        """Return the files for outputs, by name."""
        return {n: output(text) for n, text in assigned(self.outputs, "-o ").items()}

    def run(
        self, placed: Sequence[object], named: Mapping[str, object], types: tuple[str, ...]
    ) -> None:
        """Run the program on these arguments."""
        _ = self.files, self.golden.values  # errors in them are reported first
        if is_python(self.kernel):
            from ptokit.tools.cli.pythonkernels import python_launch

            program, named = python_launch(self.kernel, placed, named)
            placed = []
        else:
            program = read_program(self.kernel)
        options = replace(self.options, types=_types(program, types))
        from ptokit.analysis.legality import without_instructions
        from ptokit.launch import bind

        func = program.func(options.func)
        given = bind.named_arguments(func, placed, named)
        if self.show_code is not None:
            made = program.executable(replace(options, engine="native"))
            click.echo(made.code(self.show_code, given), nl=False)
            return
        start = time.perf_counter()
        look = looking(self.look, self.kernel, func, options.blocks)
        with cluster_at(self.scheduler) as cluster, look as observers:
            issue = self._issue(program)
            every = [*observers, *filter(None, [issue])]
            result = program.launch(options, (), given, every, cluster)
        if issue is not None:
            self._say_races(program, issue)
        warnings = [*without_instructions(program.module), *_repeated(program, self.target, result)]
        _say([*warnings, *(result.warnings if issue is None else ())])
        seconds, bound = time.perf_counter() - start, bind.launch_arguments(func, given)
        self._finish(result, seconds, [f"%{arg.name} as {page.mnemonic()}" for arg, page in bound])

    def _issue(self, program: Program) -> LoggedIssue | None:
        """Return an observer of the issue trace, if `--races` is given."""
        if not self.races:
            return None
        from ptokit.explore.pipechecks import synchronised
        from ptokit.order.loggedissue import LoggedIssue

        return LoggedIssue(self.options.target, between_blocks=not synchronised(program))

    def _say_races(self, program: Program, issue: LoggedIssue) -> None:
        """Print the order faults; errors end the command."""
        from ptokit.explore.pipechecks import races_of_run

        found = races_of_run(program, program.entry_named(self.options.func), issue)
        if any(d.is_error for d in found):
            raise PtoError(found)
        _say(found)

    def _finish(self, result: Run, seconds: float, bound: list[str]) -> None:
        """Compare, save and show, in this order: nothing is saved if a comparison is impossible."""
        from ptokit.launch.files import is_standard_output, write_arrays

        golden = self.golden
        for name in (*self.files, *golden.values):
            if name not in result.outputs:
                made = ", ".join(result.outputs) or "none"
                usage(f"the program has no output {name!r}; it has {made}")
        compared = [golden.compared(name, result) for name in golden.values]
        out = result.outputs
        write_arrays([(path, out[n], result.dtypes[n]) for n, path in self.files.items()])
        aside = any(map(is_standard_output, self.files.values()))  # keeps text out of array bytes
        for name, array in out.items():
            if not (name in self.files or name in golden.values or self.report):
                shape = "x".join(map(str, array.shape))
                click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
        for comparison in compared:
            click.echo(str(comparison), err=aside)
        if self.report:
            click.echo("\n".join(self._lines(result, seconds, bound)), err=aside)
        if not all(compared):
            sys.exit(1)

    def _lines(self, result: Run, seconds: float, bound: list[str]) -> list[str]:
        """Return the report of a run, with counts of instructions and how they were executed."""
        instructions = result.instructions
        total = sum(instructions.values())
        lines = [f"{total} instructions on {self.target} in {seconds * 1000:.0f} ms"]
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


def _say(warnings: Iterable[Diagnostic]) -> None:
    for warning in warnings:
        show(warning, end="\n\n")


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
