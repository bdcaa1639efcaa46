"""`cxx`: compiling C++ kernels, launching them on arrays, and running whole host programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ptokit.tools.cli.failures import call_errors, program_errors
from ptokit.tools.cli.options import (
    CPP_FILES,
    SEED,
    CppOptions,
    require_pipes,
    taken,
    target_option,
)
from ptokit.tools.cli.values import Golden, TakesNumbers

if TYPE_CHECKING:
    from ptokit.api.cxx.cxxkernel import CxxKernel, CxxRun
    from ptokit.api.cxx.hostprogram import HostRun
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.isa.model.targets import Target

F = TypeVar("F", bound=Callable[..., None])
FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group(short_help="Run kernels that are written in C++.")
def cxx() -> None:
    """Compile C++ kernels against ptokit's headers and run them."""


def compiled_options(function: F) -> F:
    """Add the options for compiling files."""
    every = (
        click.option("-I", "include", multiple=True, metavar="DIR", help="Folder of headers."),
        click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
        click.option("--compiler", metavar="NAME", help="g++, clang++ or a path."),
        target_option(),
        click.option(
            "--fixpipe", metavar="NAME", help="Arithmetic of the fix-pipe: cpu or hardware."
        ),
    )
    for option in reversed(every):
        function = option(function)
    return function


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


@cxx.command("run", cls=TakesNumbers, short_help="Launch a kernel on arrays.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, metavar="[[NAME=]VALUE]...")
@click.option("--launch", required=True, metavar="NAME<...>", help="The kernel to launch.")
@click.option("--blocks", type=int, default=1, metavar="N", help="Launch blocks 0 to N-1.")
@click.option(
    *("-o", "--output", "outputs"),
    multiple=True,
    metavar="NAME=FILE",
    help="Save as .npy, or the elements alone as .bin.",
)
@compiled_options
@SEED
@click.option("--races", is_flag=True, help="Detect hazards between pipes and between blocks.")
@click.option("--profile", is_flag=True, help="Predict the time on hardware.")
@click.option("--report", is_flag=True, help="Print instruction counts and time.")
@click.option(
    "--convert", metavar="FILE.pto", help="Write the executed program; - is standard output."
)
@click.option("--strict", is_flag=True, help="Refuse to store undefined elements.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Stop a kernel that hangs.")
@program_errors
def cxx_run(
    file: Path,
    arguments: tuple[str, ...],
    launch: str,
    blocks: int,
    outputs: tuple[str, ...],
    seed: int,
    races: bool,
    profile: bool,
    report: bool,
    convert: str | None,
    strict: bool,
    timeout: float | None,
    target: str,
    fixpipe: str,
    **how: object,
) -> None:
    """Launch a kernel of FILE on arrays, as `ptokit run` does.

    Arguments are given in the order of the kernel's parameters, or by name (a=a.npy). A value is a
    number, a .npy file, a file of raw elements, `random` or `zeros`, the last three with element
    type and extents (c=zeros:f32:64x64).
    """
    from ptokit.api.compare import Tolerance
    from ptokit.tools.cli.cpplaunch import CppLaunch, CppRunCall

    options = taken(CppOptions, {**how, "launch": launch})
    call = CppLaunch(file, options, arguments, seed, blocks)
    golden = Golden((), Tolerance())
    ran = CppRunCall(call, target, fixpipe, outputs, golden, races, report, strict, timeout).run()
    if profile:
        click.echo(str(ran.profile()))
    if convert is not None:
        _write(ran, convert)


def _kernel(files: tuple[Path, ...], **how: Any) -> CxxKernel:  # Any: see `compiled_options`
    from ptokit.api.cxx.cxxkernel import CxxKernel

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
