"""`profile`: the predicted time of a program on hardware, and where the time is spent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import MACHINES, TARGETS
from ptokit.tools.cli.failures import call_errors, program_errors, status, usage
from ptokit.tools.cli.kernelfiles import is_python, kernels_of, read_programs
from ptokit.tools.cli.options import (
    ARGUMENTS,
    BLOCKS,
    ENTRY,
    SEED,
    CppOptions,
    TargetChoice,
    cpp_options,
    is_cpp,
    taken,
)
from ptokit.tools.cli.values import argument, assigned, split
from ptokit.tools.terminal import show

if TYPE_CHECKING:
    from ptokit.api.profiling import Profile
    from ptokit.api.program import Program
    from ptokit.tools.profiletable import KernelProfile


@click.command(short_help="Predict the time of a program on hardware.")
@click.argument(
    "kernels",
    type=click.Path(allow_dash=True),
    nargs=-1,
    required=True,
    metavar="KERNEL... [[NAME=]VALUE]...",
)
@click.option(
    "--target",
    type=TargetChoice([*MACHINES, "all"]),
    help="The machine; it must have published times.  [default: a2a3]",
)
@ENTRY
@BLOCKS
@SEED
@click.option(
    *("--compare", "base"),
    metavar="BASE",
    help="Compare with an earlier version: a file, a folder, or a commit of git.",
)
@click.option(
    *("--format", "style"),
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="How times are told; markdown is a table for a pull request.",
)
@click.option("--by-line", is_flag=True, help="Also print the cost of each line.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write trace events, the JSON that Perfetto reads.",
)
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a report for a browser."
)
@ARGUMENTS
@cpp_options
@program_errors
def profile(
    kernels: tuple[str, ...],
    words: tuple[str, ...],
    base: str | None,
    style: str,
    **given: Any,  # Any: click's parameters
) -> None:
    """Predict how long each KERNEL (.pto, .py, .cpp, or - for standard input) takes on hardware.

    Arguments are those of `run`, for every kernel. Arrays may be left out: the time of most kernels
    does not depend on what is in them. The prediction counts cycles of the cores, not the launch
    itself.

    Of a .cpp file the kernel of --launch runs on its arguments, and what ran is predicted.

    With --compare a table shows the cycles of each kernel before and after. Status 1 if a kernel
    cannot be profiled; a longer time is no error.
    """
    cpp = taken(CppOptions, given)
    asked = Asked(**given, cpp=cpp)
    named, arguments = kernels_of(kernels)
    files, arguments = [*dict.fromkeys(named)], (*arguments, *words)
    cpp.require_cpp(files)
    asked.validate(files, alone=base is None and style == "text")
    found = [*asked.profiles(files, arguments)]
    if base is not None:
        _compare(found, base, style, files, [*asked.words, *arguments])
    elif style == "json":
        from ptokit.tools.profiletable import profiles_json

        click.echo(profiles_json(found))
    elif style == "markdown":
        from ptokit.tools.profiletable import markdown_table, profile_rows

        click.echo(markdown_table(profile_rows(found)))
    else:
        for number, one in enumerate(found):
            if len(found) > 1:
                click.echo(f"{chr(10) * bool(number)}{one.kernel}", err=asked.aside)
            asked.tell(one.profile)
    if problems := [one.profile for one in found if isinstance(one.profile, PtoError)]:
        sys.exit(max(map(status, problems)))


def _compare(
    found: Sequence[KernelProfile],
    base: str,
    style: str,
    kernels: Sequence[Path],
    words: Sequence[str],
) -> None:
    """Print the times beside those of the earlier version."""
    from ptokit.tools.cli.baseversions import profiled, versions
    from ptokit.tools.profiletable import (
        compared_json,
        compared_rows,
        markdown_table,
        text_table,
    )

    with versions(base, kernels) as places:
        before = profiled(places, words)
    if style == "json":
        click.echo(compared_json(found, before, base))
        return
    for problem in (one.profile for one in found if isinstance(one.profile, PtoError)):
        show(problem, end="\n\n")
    table = markdown_table if style == "markdown" else text_table
    click.echo(table(compared_rows(found, before)))


@dataclass(frozen=True)
class Asked:
    """The options that hold for every kernel."""

    target: str | None
    func: str | None
    blocks: int
    seed: int
    by_line: bool
    trace: Path | None
    html: Path | None
    cpp: CppOptions

    def validate(self, kernels: Sequence[Path], *, alone: bool) -> None:
        """End the command where words do not go together."""
        from ptokit.api.profiling import timed_target
        from ptokit.machine.launchoptions import Options

        if self.target != "all":
            with call_errors():
                _ = Options(timed_target(self.target), blocks=self.blocks)  # says what is wrong
        files = {"--trace": self.trace, "--html": self.html}
        several = len(kernels) > 1 or self.target == "all" or not alone
        for option in (name for name, file in files.items() if file is not None and several):
            usage(f"{option} is for the text about one kernel on one target")
        if self.by_line and not alone:
            usage("--by-line is for --format text: the lines are in --format json, too")
        (kernel, *_) = kernels
        for option, file in files.items():
            if file is not None and file.exists() and kernel.exists() and file.samefile(kernel):
                usage(f"{option} {file}: that is the kernel itself")
        if self.html is not None and self.html == self.trace:
            usage(f"--html {self.html}: that is the file of --trace")

    @property
    def targets(self) -> list[str | None]:
        """The targets by name; all that have times."""
        from ptokit.machine.costs.figures import has_figures

        timed = [name for name, target in TARGETS.items() if has_figures(target)]
        return [*timed] if self.target == "all" else [self.target]

    @property
    def words(self) -> list[str]:
        """Return these options as words of the command line."""
        given = {"--target": self.target, "--entry": self.func}
        named = [word for name, value in given.items() if value for word in (name, value)]
        numbers = ["--blocks", str(self.blocks), "--seed", str(self.seed)]
        return [*named, *numbers, *self.cpp.words]

    @property
    def aside(self) -> bool:
        """True where the trace is on standard output: the text goes to standard error."""
        return str(self.trace) == "-"

    def profiles(
        self, kernels: Sequence[Path], arguments: tuple[str, ...]
    ) -> Iterator[KernelProfile]:
        """Profile each kernel on each target; what a kernel lacks takes the place of its times."""
        from ptokit.api.profiling import timed_target
        from ptokit.tools.profiletable import KernelProfile

        for kernel in kernels:
            for label, profiled in self._profilers(kernel, arguments):
                for name in self.targets:
                    target = timed_target(name).name
                    try:
                        found = profiled(target)
                    except PtoError as problem:
                        found = problem
                    yield KernelProfile(label, target, found)

    def _profilers(
        self, kernel: Path, arguments: tuple[str, ...]
    ) -> Iterator[tuple[str, Callable[[str], Profile]]]:
        """The programs of a file by name, each as a function from a target to its profile."""
        if is_cpp(kernel):
            from ptokit.tools.cli.cpplaunch import CppLaunch

            if self.func is not None:
                usage("--entry is not for kernels in C++: --launch names one")
            launch = CppLaunch(kernel, self.cpp, arguments, self.seed, self.blocks)
            yield str(kernel), lambda target: launch.on(target).ran.profile()
            return
        by_position, by_name = split(arguments)
        placed = [argument(text, self.seed) for text in by_position]
        named = {n: argument(text, self.seed) for n, text in assigned(by_name, "").items()}
        for label, program, given in _programs(kernel, placed, named):
            yield label, partial(self.profiled, program, given)

    def profiled(self, program: Program | PtoError, given: _Arguments, target: str) -> Profile:
        if isinstance(program, PtoError):
            raise program
        placed, named = given
        return program.profile(*placed, target=target, func=self.func, blocks=self.blocks, **named)

    def tell(self, found: Profile | PtoError) -> None:
        """Print a profile, and write what files are asked for."""
        from ptokit.api.profiling import line_table

        if isinstance(found, PtoError):
            show(found)
            return
        if self.trace is not None:
            from ptokit.tools.tracefile import write_trace

            write_trace(found, self.trace)
        if self.html is not None:
            from ptokit.tools.report import write_report

            write_report(found, self.html)
        click.echo(str(found), err=self.aside)
        if self.by_line:
            click.echo("\n" + "\n".join(line_table(found.timeline)), err=self.aside)


_Arguments: TypeAlias = "tuple[Sequence[object], Mapping[str, object]]"  # by position, by name


def _programs(
    kernel: Path, placed: Sequence[object], named: Mapping[str, object]
) -> Iterator[tuple[str, Program | PtoError, _Arguments]]:
    """The programs of a file by name with their arguments, or why there is none."""
    try:
        if is_python(kernel) and (placed or named):
            from ptokit.tools.cli.pythonkernels import python_launch

            program, bound = python_launch(kernel, placed, named)
            yield str(kernel), program, ((), bound)
            return
        programs = read_programs(kernel)
    except PtoError as problem:
        yield str(kernel), problem, ((), {})
        return
    for label, program in programs.items():
        yield label, program, (placed, named)
