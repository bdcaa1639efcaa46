"""`profile`: the predicted time of a program on hardware, and where the time is spent."""

from __future__ import annotations

from pathlib import Path

import click

from ptokit.isa.model.targets import MACHINES
from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.options import ENTRY, KERNEL, SEED, TargetChoice, is_python, read_program
from ptokit.tools.cli.values import argument, assigned, split


@click.command(short_help="Predict the time of a program on hardware.")
@KERNEL
@click.argument("arguments", nargs=-1, metavar="[[NAME=]VALUE]...")
@click.option(
    "--target",
    type=TargetChoice([*MACHINES]),
    help="The machine; it must have published times.  [default: a2a3]",
)
@ENTRY
@click.option("--blocks", type=int, default=1, metavar="N", help="Launch blocks 0 to N-1.")
@SEED
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
@program_errors
def profile(
    kernel: Path,
    arguments: tuple[str, ...],
    target: str | None,
    func: str | None,
    blocks: int,
    seed: int,
    by_line: bool,
    trace: Path | None,
    html: Path | None,
) -> None:
    """Predict how long KERNEL (.pto, .py, or - for standard input) takes on hardware.

    Arguments are those of `run`. Arrays may be left out: the time of most kernels does not depend
    on what is in them. The prediction counts cycles of the cores, not the launch itself.
    """
    from ptokit.api.profiling import line_table, timed_target
    from ptokit.machine.launchoptions import Options

    with call_errors():
        _ = Options(timed_target(target), blocks=blocks)  # reports invalid options
    placed, named = split(arguments)
    by_name = {name: argument(text, seed) for name, text in assigned(named, "").items()}
    by_position = [argument(text, seed) for text in placed]
    for option, file in (("--trace", trace), ("--html", html)):
        if file is not None and file.exists() and kernel.exists() and file.samefile(kernel):
            usage(f"{option} {file}: that is the kernel itself")
    if html is not None and html == trace:
        usage(f"--html {html}: that is the file of --trace")
    if is_python(kernel) and arguments:
        from ptokit.tools.cli.pythonkernels import python_launch

        program, by_name = python_launch(kernel, by_position, by_name)
        by_position = []
    else:
        program = read_program(kernel)
    found = program.profile(*by_position, target=target, func=func, blocks=blocks, **by_name)
    if trace is not None:
        from ptokit.tools.tracefile import write_trace

        write_trace(found, trace)
    if html is not None:
        from ptokit.tools.report import write_report

        write_report(found, html)
    click.echo(str(found), err=str(trace) == "-")
    if by_line:
        click.echo("\n" + "\n".join(line_table(found.timeline)), err=str(trace) == "-")
