"""`check`: the verdict on a program before it runs, per target."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptokit.diagnostics.diagnostic import Judge, PtoError
from ptokit.isa.model.targets import ARCHES, PEDANTIC, TARGETS
from ptokit.tools.cli.failures import call_errors, program_errors, status, usage
from ptokit.tools.cli.options import (
    KERNEL,
    READING,
    read_program,
    require_pipes,
    target_option,
    with_readings,
)

if TYPE_CHECKING:
    from ptokit.analysis.memorymap import MemoryMap
    from ptokit.api.program import Program

ARCH = "pto.target_arch"  # an attribute of modules


@click.command(short_help="Check on which targets a program is legal.")
@KERNEL
@target_option("all")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
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
@click.option("--memory", metavar="FILE.svg", help="Draw the memory map of tiles; -: table only.")
@program_errors
def check(
    kernel: Path,
    target: str,
    style: str,
    verbose: bool,
    allow_unknown: bool,
    readings: tuple[str, ...],
    pedantic: bool,
    level: int | None,
    judge: str | None,
    races: bool,
    memory: str | None,
) -> None:
    """Check KERNEL (a file, or - for standard input) before it runs.

    The verdict is legal, refused (status 1) or undecided (status 0). Undecided means that something
    is not known before the run: an op or type that --allow-unknown lets pass, or a number. With
    --memory a table tells how full each memory is, at which line, and with which tiles; FILE gets a
    picture of it.
    """
    from ptokit.analysis.legality import Outcome
    from ptokit.tools.verdicts import report, report_json

    words = TARGETS if target == "all" else (target,)
    names = _with_readings(words, (*readings, PEDANTIC) if pedantic else readings)
    if memory is not None and memory != "-" and not memory.endswith(".svg"):
        usage(f"--memory {memory}: expected FILE.svg, or - for the table only")
    if races:
        require_pipes(*names)
    program = _read(kernel, style)
    found = program.verdicts(
        *names, allow_unknown=allow_unknown, level=level, judge=judge, races=races
    )
    maps = [] if memory is None else _maps(program, names)
    if style == "json":
        click.echo(report_json(found, maps=maps))
    else:
        click.echo("\n".join(report(program.module, found, verbose=verbose)))
        _hint_target(program, words)
    if memory is not None:
        _show(maps, memory, style)
    if any(verdict.word is Outcome.REFUSED for verdict in found):
        sys.exit(1)


def _with_readings(words: Iterable[str], readings: Iterable[str]) -> list[str]:
    """The names of targets under readings; a usage error where there is no such reading."""
    from ptokit.launch.settings import target_named

    names = [with_readings(word, *readings) for word in words]
    with call_errors():
        for name in names:
            target_named(name)
    return names


def _read(kernel: Path, style: str) -> Program:
    """The program; what cannot be read is told in the style of verdicts, and ends the command."""
    from ptokit.tools.verdicts import report_json

    try:
        return read_program(kernel)
    except PtoError as problem:
        if style != "json":
            raise
        click.echo(report_json([], problem.diagnostics))
        sys.exit(status(problem))


def _hint_target(program: Program, checked: Iterable[str]) -> None:
    """A program that says which target it is for was checked for another one by default."""
    source = click.get_current_context().get_parameter_source("target")
    arch = program.module.attrs.get(ARCH)
    made_for = ARCHES.get(str(arch))
    if source is click.core.ParameterSource.DEFAULT and made_for not in (None, *checked):
        click.echo(f"the program is for {arch}: use --target {made_for}")


def _maps(program: Program, names: Iterable[str]) -> list[MemoryMap]:
    """The memories on each target that has a form of the program to place."""
    found: list[MemoryMap] = []
    for name in names:
        with suppress(PtoError):  # what is wrong is among the verdicts
            found += program.memory(name)
    return found


def _show(maps: list[MemoryMap], path: str, style: str) -> None:
    from ptokit.launch.files import write_files
    from ptokit.tools.memorypicture import memory_svg, memory_table

    if style == "text":
        click.echo("\n".join(["", *memory_table(maps)] if maps else ["", "no tile to place"]))
    if path != "-":
        write_files([(Path(path), memory_svg(maps).encode())])
