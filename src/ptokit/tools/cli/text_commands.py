"""`fmt`, `convert`, `opt`: printing programs as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

import click

from ptokit.isa.lang.asm import DIALECTS
from ptokit.isa.model.targets import MACHINES
from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.kernelfiles import is_python, read_program
from ptokit.tools.cli.options import (
    ARGUMENTS,
    KERNEL,
    CppOptions,
    cpp_options,
    is_cpp,
    taken,
    target_option,
)

if TYPE_CHECKING:
    from ptokit.api.program import Program


@click.command(short_help="Print a program in canonical form, comments kept.")
@KERNEL
@click.option("-i", "--in-place", is_flag=True, help="Write the file instead of standard output.")
@program_errors
def fmt(kernel: Path, in_place: bool) -> None:
    """Print KERNEL in canonical form, comments kept."""
    from ptokit.launch.files import write_files

    if is_python(kernel):
        usage(f"{kernel} is Python: `ptokit convert --to dps {kernel}` prints its program")
    if is_cpp(kernel):
        launched = f"`ptokit convert --to dps {kernel} --launch 'NAME<...>' --args ...`"
        usage(f"{kernel} is C++: {launched} prints the program of a launch")
    program = read_program(kernel)
    text = program.text(program.form())
    if in_place and str(kernel) != "-":
        write_files([(kernel, text.encode())])
    else:
        click.echo(text, nl=False)


@click.command(short_help="Print a program in another form, or as C++.")
@KERNEL
@click.option("--to", "form", type=click.Choice(["as", "ssa", "dps", "cpp"]), required=True)
@click.option("--dialect", type=click.Choice(DIALECTS), help="Assembler that reads the DPS.")
@ARGUMENTS
@target_option()
@cpp_options
@program_errors
def convert(
    kernel: Path,
    form: str,
    dialect: str | None,
    words: tuple[str, ...],
    target: str,
    **cpp: object,
) -> None:
    """Print KERNEL in another form: PTO-AS, SSA (Level 1), DPS (Level 2), C++.

    Of a .cpp file the kernel of --launch is compiled for --target and launched on --args; what ran
    is printed.

    Versions of the assembler spell some DPS ops differently: --dialect chooses one. Without it each
    op keeps the spelling that it has in KERNEL.
    """
    if dialect is not None and form != "dps":
        usage(f"--dialect needs --to dps: {form} has one spelling")
    program = read_program(kernel, words, taken(CppOptions, cpp), target)
    click.echo(_text(program, form, dialect), nl=False)


def _text(program: Program, form: str, dialect: str | None = None) -> str:
    """Return the program in a form; print what the form lacks on standard error."""
    with catch_warnings(record=True) as found:
        simplefilter("always")
        text = program.text(form, dialect=dialect)
    for one in found:
        click.echo(str(one.message), err=True)
    return text


@click.command(short_help="Print a program after passes.")
@KERNEL
@click.option(
    "--passes", required=True, metavar="NAME,...", help="`ptokit explain passes` lists them."
)
@target_option()
@click.option("--to", "form", type=click.Choice(["as", "ssa", "dps", "cpp"]), help="Form to print.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
@ARGUMENTS
@cpp_options
@program_errors
def opt(
    kernel: Path,
    passes: str,
    target: str,
    form: str | None,
    output: Path | None,
    words: tuple[str, ...],
    **cpp: object,
) -> None:
    """Print KERNEL after passes: `ptokit opt --passes complete,place KERNEL`.

    Passes that one requires run before it. Of a program that the target refuses, passes that need a
    legal one print the errors. Without --to the form is the one that the passes leave.
    """
    from ptokit.launch.files import write_files
    from ptokit.passes.pipeline import pass_named

    names = [name.strip() for name in passes.split(",")]
    with call_errors():
        for name in names:
            pass_named(name)
    with catch_warnings(record=True) as found:
        simplefilter("always")
        program = read_program(kernel, words, taken(CppOptions, cpp), target)
        program = program.after(names, MACHINES[target])
    for one in found:
        click.echo(f"warning: {one.message}", err=True)
    text = _text(program, form or program.form())
    if output is None:
        click.echo(text, nl=False)
    else:
        write_files([(output, text.encode())])
