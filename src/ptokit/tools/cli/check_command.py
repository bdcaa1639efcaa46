"""`check`: the verdict on a program before it runs, per target."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import PEDANTIC, TARGETS
from ptokit.tools.cli.failures import call_errors, program_errors, status
from ptokit.tools.cli.options import (
    KERNEL,
    READING,
    read_program,
    require_pipes,
    target_option,
    with_readings,
)


@click.command()
@KERNEL
@target_option("all")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@click.option("-v", "--verbose", is_flag=True, help="List the rules that are left to the run.")
@click.option("--allow-unknown", is_flag=True, help="An unknown op or type is no error.")
@READING
@click.option("--pedantic", is_flag=True, help="Warn of what assertions of debug builds refuse.")
@click.option("--level", type=click.IntRange(1, 3), help="Who places tiles; 3: the program does.")
@click.option("--races", is_flag=True, help="Look for hazards between the pipes of a core.")
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
    races: bool,
) -> None:
    """Check KERNEL (a file, or - for standard input) before it runs.

    The verdict is legal, refused (status 1), or undecided (status 0): something in it is not known,
    an op or type that --allow-unknown lets pass, or a number that only the running program knows.
    """
    from ptokit.analysis.legality import Outcome
    from ptokit.api.settings import target_named
    from ptokit.tools.verdicts import report, report_json

    readings = (*readings, PEDANTIC) if pedantic else readings
    words = TARGETS if target == "all" else (target,)
    names = [with_readings(word, *readings) for word in words]
    with call_errors():
        list(map(target_named, names))
    if races:
        require_pipes(*names)
    try:
        program = read_program(kernel)
    except PtoError as problem:
        if style == "json":
            click.echo(report_json([], problem.diagnostics))
            sys.exit(status(problem))
        raise
    found = program.verdicts(*names, allow_unknown=allow_unknown, level=level, races=races)
    if style == "json":
        click.echo(report_json(found))
    else:
        click.echo("\n".join(report(program.module, found, verbose=verbose)))
    if any(verdict.word is Outcome.REFUSED for verdict in found):
        sys.exit(1)
