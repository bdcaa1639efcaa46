"""`check`: the verdict on a program before it runs, per target."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.diagnostics.diagnostic import Judge, PtoError
from ptokit.isa.model.targets import ARCHES, PEDANTIC, TARGETS
from ptokit.tools.cli.failures import call_errors, program_errors, status, usage
from ptokit.tools.cli.kernelfiles import read_programs
from ptokit.tools.cli.options import (
    ARGUMENTS,
    KERNELS,
    READING,
    CppOptions,
    cpp_options,
    is_cpp,
    require_pipes,
    taken,
    target_option,
    with_readings,
)
from ptokit.tools.terminal import show

if TYPE_CHECKING:
    from ptokit.analysis.memorymap import MemoryMap
    from ptokit.api.program import Program
    from ptokit.tools.verdicts import KernelVerdicts

ARCH = "pto.target_arch"  # an attribute of modules


@click.command(short_help="Check on which targets a program is legal.")
@KERNELS
@ARGUMENTS
@target_option("all")
@click.option(
    *("--format", "style"),
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="How findings are told: sarif and github for places that show them beside the code.",
)
@click.option("-v", "--verbose", is_flag=True, help="List the rules that are deferred to run time.")
@click.option("--allow-unknown", is_flag=True, help="Only warn of unknown ops and types.")
@READING
@click.option("--pedantic", is_flag=True, help="Warn where assertions of debug builds fail.")
@click.option("--level", type=click.IntRange(1, 3), help="Level of the program; 3: with addresses.")
@click.option(
    *("--as", "judge"),
    type=click.Choice([j.value for j in Judge]),
    help="Source whose verdict decides.  [default: the strictest that is certain]",
)
@click.option("--races", is_flag=True, help="Detect hazards between the pipes of a core.")
@cpp_options
@click.option("--memory", metavar="FILE.svg", help="Draw the memory map of tiles; -: table only.")
@program_errors
def check(style: str, verbose: bool, **asked: Any) -> None:  # Any: click's parameters
    """Check each KERNEL before it runs: a .pto, .py or .cpp file, or - for standard input.

    The verdict is legal, refused (status 1) or undecided (status 0). Undecided means that something
    is not known before the run: an op or type that --allow-unknown lets pass, or a number. With
    --memory a table tells how full each memory is, at which line, and with which tiles; FILE gets a
    picture of it.

    A .py file is imported. Its kernels are checked for the arguments that it calls them with, that
    its tests without parameters do, or for those of --args. FILE.py:NAME is one of them.

    A .cpp file is compiled against ptokit's headers for each target, which decides nothing but what
    the compiler refuses. With --launch 'NAME<...>' that kernel runs on zeros of the types that
    --args gives, and what it did is checked.
    """
    checks = checks_of(**asked)
    _tell(checks, style, verbose, _targets(asked["target"]))
    if asked["memory"] is not None:
        _show([one for check in checks for one in check.maps], asked["memory"], style)
    if worst := max(map(_status, checks)):
        sys.exit(worst)


def _targets(target: str) -> tuple[str, ...]:
    return tuple(TARGETS) if target == "all" else (target,)


def checks_of(
    kernels: tuple[Path, ...],
    words: tuple[str, ...],
    target: str,
    allow_unknown: bool,
    readings: tuple[str, ...],
    pedantic: bool,
    level: int | None,
    judge: str | None,
    races: bool,
    memory: str | None,
    **cpp: object,
) -> list[KernelVerdicts]:
    """Return the verdicts on each kernel, as the parameters of `check` ask for them."""
    names = _with_readings(_targets(target), (*readings, PEDANTIC) if pedantic else readings)
    if memory is not None and memory != "-" and not memory.endswith(".svg"):
        usage(f"--memory {memory}: expected FILE.svg, or - for the table only")
    if races:
        require_pipes(*names)
    of_cpp = taken(CppOptions, cpp)
    of_cpp.require_cpp(kernels)

    def checked(label: str, program: Program | PtoError) -> KernelVerdicts:
        if isinstance(program, PtoError):
            return KernelVerdicts(label, None, unread=program)
        found = program.verdicts(
            *names, allow_unknown=allow_unknown, level=level, judge=judge, races=races
        )
        maps = [] if memory is None else _maps(program, names)
        return KernelVerdicts(label, program.module, found, maps)

    from ptokit.tools.verdicts import KernelVerdicts

    checks: list[KernelVerdicts] = []
    for kernel in kernels:
        if is_cpp(kernel):
            from ptokit.tools.cli.cppkernels import CppCheck

            checks.append(CppCheck(of_cpp).verdicts(kernel, words, names, races=races))
            continue
        try:
            checks += [checked(*one) for one in read_programs(kernel, words).items()]
        except PtoError as problem:
            checks.append(KernelVerdicts(str(kernel), None, unread=problem))
    return checks


def _status(check: KernelVerdicts) -> int:
    """Return the exit status: 1 if a target refuses the program, or it cannot be read."""
    from ptokit.analysis.legality import Outcome

    if check.unread is not None:
        return status(check.unread)
    return int(any(verdict.word is Outcome.REFUSED for verdict in check.verdicts))


def _tell(
    checks: Sequence[KernelVerdicts], style: str, verbose: bool, targets: Iterable[str]
) -> None:
    """Print the verdicts in the requested style."""
    every = [one for check in checks for one in check.diagnostics]
    if style == "json":
        from ptokit.tools.verdicts import report_json

        click.echo(report_json(checks))
    elif style == "sarif":
        from ptokit.tools.annotations import sarif

        click.echo(sarif(every))
    elif style == "github":
        from ptokit.tools.annotations import github

        click.echo("".join(f"{line}\n" for line in github(every)), nl=False)
    else:
        for number, check in enumerate(checks):
            if len(checks) > 1:
                click.echo(f"{chr(10) * bool(number)}{check.label}")
            _report(check, verbose, targets)


def _report(check: KernelVerdicts, verbose: bool, targets: Iterable[str]) -> None:
    """Print the verdicts on one kernel as text, read errors on standard error."""
    from ptokit.tools.verdicts import report

    if check.unread is not None:
        show(check.unread)
        return
    for one in check.diagnostics:
        show(one, err=False, end="\n\n")
    click.echo("\n".join(report(check, verbose=verbose)))
    _hint_target(check, targets)


def _with_readings(words: Iterable[str], readings: Iterable[str]) -> list[str]:
    """Return the names of targets under readings; a usage error for an unknown reading."""
    from ptokit.launch.settings import target_named

    names = [with_readings(word, *readings) for word in words]
    with call_errors():
        for name in names:
            target_named(name)
    return names


def _hint_target(check: KernelVerdicts, checked: Iterable[str]) -> None:
    """Print a hint if a program for one target was checked for another by default."""
    source = click.get_current_context().get_parameter_source("target")
    arch = None if check.module is None else check.module.attrs.get(ARCH)
    made_for = ARCHES.get(str(arch))
    if source is click.core.ParameterSource.DEFAULT and made_for not in (None, *checked):
        click.echo(f"the program is for {arch}: use --target {made_for}")


def _maps(program: Program, names: Iterable[str]) -> list[MemoryMap]:
    """Return the memory maps on each target for which the program has a placeable form."""
    found: list[MemoryMap] = []
    for name in names:
        with suppress(PtoError):  # the error is among the verdicts
            found += program.memory(name)
    return found


def _show(maps: list[MemoryMap], path: str, style: str) -> None:
    from ptokit.launch.files import write_files
    from ptokit.tools.memorypicture import memory_svg, memory_table

    if style == "text":
        click.echo("\n".join(["", *memory_table(maps)] if maps else ["", "no tile to place"]))
    if path != "-":
        write_files([(Path(path), memory_svg(maps).encode())])
