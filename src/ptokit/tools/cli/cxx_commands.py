"""`cxx`: compiling C++ kernels, launching them on arrays, and running whole host programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.tools.cli.cpplaunch import TAKEN, run_cpp, stated
from ptokit.tools.cli.failures import call_errors, program_errors
from ptokit.tools.cli.options import (
    CPP_FILES,
    FIXPIPE,
    AdvisedGroup,
    compiled_options,
    require_pipes,
    target_option,
)
from ptokit.tools.cli.run_command import run
from ptokit.tools.cli.values import TakesNumbers

if TYPE_CHECKING:
    from ptokit.api.cxx.cxxkernel import CxxKernel, CxxRun
    from ptokit.api.cxx.hostprogram import HostRun
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.isa.model.targets import Target

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group(cls=AdvisedGroup, short_help="Run kernels that are written in C++.")
def cxx() -> None:
    """Compile C++ kernels against ptokit's headers and run them."""


@cxx.command("include", short_help="Print the folder of the headers.")
def cxx_include() -> None:
    """Print the folder of the headers that kernels compile against.

    A compiler takes it with -I, beside -std=c++20 and -DPTOKIT_TARGET_A5 (or another target).
    """
    from ptokit.api.cxx.headers import INCLUDE

    click.echo(INCLUDE)


@cxx.command("build", short_help="Compile kernels to a library.")
@FILES
@compiled_options
@target_option()
@FIXPIPE
@click.option(
    *("-o", "--output", "output"),
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the library to this file; without it, files are only compiled.",
)
@program_errors
def cxx_build(files: tuple[Path, ...], output: Path | None, **how: object) -> None:
    """Compile C++ FILES against ptokit's headers, into one library."""
    from ptokit.api.cxx.compiler import library
    from ptokit.launch.files import write_files

    built = library(files, _kernel(files, **how).build())
    if output is not None:
        write_files([(output, built.read_bytes())])


def run_callback(
    arguments: tuple[str, ...],
    words: tuple[str, ...],
    seed: int,
    profile: bool,
    convert: str | None,
    **asked: Any,  # Any: click's parameters
) -> None:
    """Launch a kernel of a file on arrays, as `ptokit run` does.

    Arguments are given in the order of the kernel's parameters, or by name (a=a.npy). A value is a
    number, a .npy file, a file of raw elements, `random` or `zeros`, the last three with element
    type and extents (c=zeros:f32:64x64).
    """
    ran = run_cpp((*arguments, *words), seed, asked)
    if profile:
        click.echo(str(ran.profile()))
    if convert is not None:
        _write(ran, convert)


cxx.add_command(
    TakesNumbers(
        "run",
        callback=program_errors(run_callback),
        params=[
            *(param for param in run.params if param.name in TAKEN),
            click.Option(["--profile"], is_flag=True, help="Predict the time on hardware."),
            click.Option(
                ["--convert"],
                metavar="FILE.pto",
                help="Write the executed program; - is standard output.",
            ),
        ],
        help=run_callback.__doc__,
        short_help="Launch a kernel on arrays.",
    )
)


def _kernel(files: tuple[Path, ...], **how: Any) -> CxxKernel:  # Any: click's parameters
    from ptokit.api.cxx.cxxkernel import CxxKernel

    how["fixpipe"] = how["fixpipe"] if stated("fixpipe") else None
    with call_errors():
        return CxxKernel(*files, **how)


def _write(ran: CxxRun, file: str) -> None:
    from ptokit.launch.files import write_files

    text = ran.text("cpp" if file.endswith(".cpp") else "dps")
    if file == "-":
        click.echo(text, nl=False)
    else:
        write_files([(Path(file), text.encode())])


@cxx.command("test", short_help="Run a whole host program.")
@FILES
@compiled_options
@target_option()
@FIXPIPE
@click.option("-l", "libraries", multiple=True, metavar="NAME", help="Link a library.")
@click.option("--races", is_flag=True, help="Detect hazards in each launch.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Stop a program that hangs.")
@program_errors
def cxx_test(
    files: tuple[Path, ...],
    libraries: tuple[str, ...],
    races: bool,
    timeout: float | None,
    target: str,
    **how: object,
) -> None:
    """Run a host program: C++ FILES with a main, or tests of GoogleTest.

    Words behind -- are arguments of the program. The status is the program's, or 1 where a kernel
    fails of which the program does not notice, or has a hazard that --races finds. Each finding of
    --races is one line.
    """
    from ptokit.api.cxx.childprocess import Crash
    from ptokit.api.cxx.compiler import library, linked
    from ptokit.api.cxx.hostprogram import run_host_program

    if races:
        require_pipes(target)
    sources = [file for file in files if file.suffix in SOURCES]
    kernel = _kernel(tuple(sources), target=target, **how)
    flags = linked(libraries)
    built = library(sources, kernel.build(flags))
    words = [str(file) for file in files if file.suffix not in SOURCES]
    try:
        ran = run_host_program(built, words, kernel.readings, timeout=timeout, recorded=races)
    except Crash as crash:
        raise crash.problem from None
    hazardous = _tell_races(ran, built, kernel.target) if races else False
    sys.exit(ran.status or int(hazardous))


def _tell_races(ran: HostRun, library: Path, target: Target) -> bool:
    """Print the order faults, each once; return whether there is an error."""
    from ptokit.api.cxx.recordedraces import races_of_host_program

    found = [*races_of_host_program(ran, library, target)]
    for line in dict.fromkeys(map(_in_one_line, found)):
        click.echo(line, err=True)
    return any(one.is_error for one in found)


def _in_one_line(found: Diagnostic) -> str:
    span, notes = found.span, [note.span for note in found.notes if note.span is not None]
    place = "" if span is None else f"{span.source.name}:{span.line}: "
    first = f" (with line {notes[0].line})" if notes else ""
    seen = f": {found.seen}" if found.seen else ""
    return f"{place}{found.severity.value}[{found.slug}]: {found.message}{first}{seen}"


SOURCES = (*CPP_FILES, ".c")
