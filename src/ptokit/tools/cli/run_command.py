"""`run`: a program on real arrays."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.options import (
    ENGINE,
    ENTRY,
    KERNEL,
    READING,
    SCHEDULER,
    SEED,
    cluster_at,
    read_program,
    require_pipes,
    target_option,
    with_readings,
)
from ptokit.tools.cli.values import (
    TakesNumbers,
    argument,
    assigned,
    expectation,
    output,
    split,
    type_from,
)

if TYPE_CHECKING:
    from ptokit.api.compare import Comparison
    from ptokit.api.program import Program
    from ptokit.launch.executable import Run
    from ptokit.order.loggedissue import LoggedIssue


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
def run(**words: Any) -> None:  # Any: click's parameters
    """Run KERNEL (a file, or - for standard input) on arrays.

    Arguments are given in the order of the function's head, or by name (a=a.npy). A value is a
    number, true or false, a .npy file, a file of raw elements, `random` or `zeros`. Element type
    and extents that the argument's type leaves open follow after colons (a=a.bin:f16:512x384).

    With several ranks `x=VALUE` is given to each, `x@0=VALUE` to rank 0 alone, and `x@0=y@1` gives
    rank 0 the array y of rank 1.

    The tolerance of --expect depends on the element type; if one of --rtol and --atol is given, the
    other one is 0. --trace, --trace-values, --break and --schedule use the reference engine.
    """
    RunCall(**words).run()


@dataclass
class RunCall:
    """The words of a call, in the names that click gives them."""

    kernel: Path
    arguments: tuple[str, ...]
    target: str
    outputs: tuple[str, ...]
    expect: tuple[str, ...]
    rtol: float | None
    atol: float | None
    types: tuple[str, ...]
    entry: str | None
    fixpipe: str
    order: str | None
    readings: tuple[str, ...]
    blocks: int
    ranks: int
    seed: int
    engine: str | None
    scheduler: str | None
    schedule: str | None
    races: bool
    max_instructions: int | None
    timeout: float | None
    trace: str | None
    trace_values: tuple[str, ...]
    breaks: tuple[str, ...]
    progress: bool | None
    strict: bool
    report: bool
    show_code: str | None

    def run(self) -> None:
        """All of the command."""
        self.target = with_readings(self.target, *self.readings, *filter(None, [self.order]))
        self._require_words()
        by_position, by_name = split(self.arguments)
        named = {n: argument(text, self.seed) for n, text in assigned(by_name, "").items()}
        placed = [argument(text, self.seed) for text in by_position]
        self.files = {n: output(text) for n, text in assigned(self.outputs, "-o ").items()}
        self.expected = {n: expectation(t) for n, t in assigned(self.expect, "--expect ").items()}
        program = read_program(self.kernel)
        how = self._how(program)
        given = self._given(program, placed, named)
        if self.show_code is not None:
            click.echo(program.code(self.show_code, given, **how), nl=False)
            return
        from ptokit.analysis.legality import without_instructions
        from ptokit.tools.cli.looking import looking

        start = time.perf_counter()
        limits = {"max_instructions": self.max_instructions, "timeout": self.timeout}
        with cluster_at(self.scheduler) as cluster, looking(self, self.func) as observers:
            issue = self._issue(program)
            every = [*observers, *filter(None, [issue])]
            how |= {"engine": self.engine, "observers": every, "cluster": cluster}
            how |= {"schedule": self.schedule, "ranks": self.ranks, "strict": self.strict}
            result = program.execute(given, **how, **limits)
        if issue is not None:
            self._say_races(program, issue)
        warnings = [*without_instructions(program.module), *_repeated(program, self.target, result)]
        for warning in (*warnings, *(result.warnings if issue is None else ())):
            click.echo(f"{warning.render()}\n", err=True)
        self._finish(result, time.perf_counter() - start)

    def _issue(self, program: Program) -> LoggedIssue | None:
        """What notes the order of the pipes, where that is asked for."""
        if not self.races:
            return None
        from ptokit.explore.pipechecks import synchronised
        from ptokit.launch.settings import target_named
        from ptokit.order.loggedissue import LoggedIssue

        given = target_named(self.target)
        return LoggedIssue(given, between_blocks=not synchronised(program))

    def _say_races(self, program: Program, issue: LoggedIssue) -> None:
        """What the order of the pipes leaves open; errors end the command."""
        from ptokit.explore.pipechecks import races_of_run

        found = races_of_run(program, program.entry_named(self.entry), issue)
        if any(d.is_error for d in found):
            raise PtoError(found)
        for warning in found:
            click.echo(f"{warning.render()}\n", err=True)

    def _require_words(self) -> None:
        """What a look at the call alone tells to be wrong."""
        from ptokit.api.compare import require_tolerance
        from ptokit.launch.executable import require_blocks
        from ptokit.launch.ranks import require_ranks
        from ptokit.launch.settings import engine_named, reading, target_named
        from ptokit.machine.limits import require_limits
        from ptokit.order.races import detector

        with call_errors():
            target_named(self.target)
            reading(self.fixpipe)
            engine_named(self.engine)
            require_blocks(self.blocks)
            detector(self.schedule)
            require_ranks(self.ranks)
            require_limits(self.max_instructions, self.timeout)
            require_tolerance("--rtol", self.rtol)
            require_tolerance("--atol", self.atol)
        self._require_options()
        if self.scheduler is not None:
            self._require_grid()
        if self.show_code is not None:
            self._require_no_run()

    @property
    def stepwise(self) -> bool:
        """Whether instructions are looked at one by one."""
        return bool(self.trace or self.trace_values or self.breaks)

    def _require_options(self) -> None:
        """What does not go together."""
        if not self.expect and (self.rtol is not None or self.atol is not None):
            usage("--rtol and --atol need --expect NAME=VALUE")
        if self.stepwise and self.engine not in (None, "reference"):
            usage(
                f"--trace, --trace-values and --break need the engine reference, not {self.engine}"
            )
        if self.races:
            require_pipes(self.target)
        if self.races and (self.scheduler is not None or self.ranks > 1):
            usage("--races checks one rank in this process: remove --scheduler and --ranks")
        if self.schedule is not None and (self.engine == "native" or self.scheduler is not None):
            usage("--schedule needs the engine reference: remove --engine and --scheduler")
        if self.breaks and str(self.kernel) == "-":
            usage("--break reads commands from standard input: give the kernel as a file")

    def _require_no_run(self) -> None:
        """What shows code."""
        if self.engine not in (None, "native"):
            generates = f"{self.engine} generates nothing"
            usage(f"--show-code shows what the engine native generates; {generates}")
        if self.ranks > 1:
            usage("--show-code prints the code of one rank: remove --ranks")
        if self.outputs or self.report or self.expect or self.stepwise:
            usage("--show-code runs nothing: remove -o, --report, --expect, --trace and --break")

    def _require_grid(self) -> None:
        """What a cluster runs."""
        if self.blocks == 1:
            usage("--scheduler distributes the blocks of a launch: give --blocks N")
        if self.engine not in (None, "native"):
            usage(f"--scheduler needs the engine native, not {self.engine}")
        if self.ranks > 1:
            usage("--scheduler runs one rank: remove --ranks")
        if self.stepwise:
            usage("--trace, --trace-values and --break need one process: remove --scheduler")

    def _how(self, program: Program) -> dict[str, Any]:  # Any: options of `Program.execute`
        types = {name: type_from(text) for name, text in assigned(self.types, "--type ").items()}
        values = {v.name for f in program.module.funcs for v in f.named()}
        for name in types:
            if name not in values:
                usage(f"--type {name}: the program has no %{name}")
        how = {"target": self.target, "func": self.entry, "fixpipe": self.fixpipe}
        return {**how, "blocks": self.blocks, "types": types}

    def _given(
        self, program: Program, placed: list[Any], named: dict[str, Any]
    ) -> dict[str, Any]:  # Any: arrays and numbers
        """All arguments by name; those of the launch are remembered for the report."""
        from ptokit.launch import bind

        self.func = program.func(self.entry)
        given = dict(bind.named_arguments(self.func, placed, named))
        self.launched = bind.launch_arguments(self.func, given)
        return given

    def _finish(self, result: Run, seconds: float) -> None:
        """Compare, save and show, in this order: what cannot be compared is saved nowhere."""
        from ptokit.launch.files import is_standard_output, write_arrays

        for name in (*self.files, *self.expected):
            if name not in result.outputs:
                made = ", ".join(result.outputs) or "none"
                usage(f"the program has no output {name!r}; it has {made}")
        compared = [self._compared(name, result) for name in self.expected]
        out = result.outputs
        write_arrays([(path, out[n], result.dtypes[n]) for n, path in self.files.items()])
        aside = any(map(is_standard_output, self.files.values()))  # no text among an array's bytes
        for name, array in out.items():
            if not (name in self.files or name in self.expected or self.report):
                shape = "x".join(map(str, array.shape))
                click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
        for comparison in compared:
            click.echo(str(comparison), err=aside)
        if self.report:
            click.echo("\n".join(self._lines(result, seconds)), err=aside)
        if not all(compared):
            sys.exit(1)

    def _compared(self, name: str, result: Run) -> Comparison:
        from ptokit.api.compare import compare

        found, dtype = result.outputs[name], result.dtypes[name]
        golden = self.expected[name].of(name, dtype, found.shape)
        try:
            return compare(found, golden, rtol=self.rtol, atol=self.atol, name=name, dtype=dtype)
        except ValueError as problem:
            usage(f"--expect {problem}")

    def _lines(self, result: Run, seconds: float) -> list[str]:
        """How many instructions ran, how many of each, where, and what the launch bound."""
        instructions = result.instructions
        total = sum(instructions.values())
        lines = [f"{total} instructions on {self.target} in {seconds * 1000:.0f} ms"]
        counts = sorted(instructions.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"  {count:>8}  {name}" for name, count in counts]
        if result.whole:
            lines.append("one worker ran all blocks: they must run in order or concurrently")
        bound = [f"%{arg.name} as {query.mnemonic()}" for arg, query in self.launched]
        return [*lines, f"bound by the launch: {', '.join(bound)}"] if bound else lines


def _repeated(program: Program, target: str, result: Run) -> Iterator[Diagnostic]:
    """What the check warns of because chips compute something else than this run did."""
    slugs = {slug for slug, entry in CATALOGUE.items() if entry.repeated}
    ops = (op for func in program.module.funcs for op in func.walk())
    pages = {page for op in ops if (page := getattr(op, "page", None))}
    if any(rule.slug in slugs for page in pages for rule in page.all_rules):
        said = {(d.slug, d.span) for d in result.warnings}
        yield from (
            d for d in program.check(target) if d.slug in slugs and (d.slug, d.span) not in said
        )
