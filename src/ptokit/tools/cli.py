"""The command line: run, check, fmt, convert, opt, explain, layout, replay.

Exit status 0: all is well; 1: the program is wrong; 2: the call is wrong; 3: ptokit is wrong.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from ptokit.api import signals
from ptokit.diagnostics.diagnostic import CallError, PtoError
from ptokit.isa.model.targets import DEFAULT_TARGET, PEDANTIC, TARGETS

F = TypeVar("F", bound=Callable[..., None])
ENGINE = click.option(
    *("--engine", "engine"),
    metavar="NAME",
    help="reference, which defines results, or native, compiled.  [default: native]",
)
KERNEL = click.argument("kernel", type=click.Path(path_type=Path, allow_dash=True))


def target_option(*more: str) -> Callable[[F], F]:
    """`--target`, one of the targets or a word of `more`."""
    return click.option(
        *("--target", "target"),
        type=click.Choice([*TARGETS, *more]),
        default=DEFAULT_TARGET.name,
        show_default=True,
        help="The machine to check and run for.",
    )


READING = click.option(
    "--reading", "readings", multiple=True, metavar="NAME", help="As `explain a5` lists them."
)


def with_readings(target: str, *readings: str) -> str:
    """The name of the target under readings."""
    return f"{target}:{','.join(readings)}" if readings else target


def usage(message: str) -> NoReturn:
    """The call is wrong: one line, status 2."""
    raise click.UsageError(message)


@contextmanager
def call_errors() -> Generator[None]:
    """Around what looks at words of the call only: its ValueErrors are the caller's mistakes."""
    try:
        yield
    except ValueError as problem:
        usage(str(problem))


def program_errors(command: F) -> F:
    """Show a PtoError as diagnostics, with status 1, or 2 for a wrong call; a fault as one line.

    A signal ends the command with one line, too.
    """

    @wraps(command)
    def wrapped(*args: Any, **options: Any) -> None:  # Any: click's parameters
        with signals.raising():
            try:
                shown(*args, **options)
            except signals.Ended as ended:
                click.echo(ended, err=True)
                sys.exit(ended.status)

    def shown(*args: Any, **options: Any) -> None:  # Any: as above
        try:
            command(*args, **options)
        except PtoError as problem:
            click.echo(str(problem), err=True)
            sys.exit(status(problem))
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as problem:
            if isinstance(problem.__cause__, signals.Ended):
                raise problem.__cause__ from None  # it came while Python made a class
            code = problem.errno if isinstance(problem, OSError) else None
            if code == errno.EPIPE:
                raise  # click ends quietly where nobody reads
            if code in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                usage(f"cannot write: {os.strerror(code)}")
            click.echo(fault(problem), err=True)
            sys.exit(3)

    return wrapped  # type: ignore[return-value]


def status(problem: PtoError) -> int:
    return 2 if isinstance(problem, CallError) else 1


def fault(problem: Exception) -> str:
    """One line on an exception that nobody expected; its traceback goes to a file."""
    from importlib.metadata import version
    from tempfile import mkstemp
    from traceback import format_exception

    head = f"ptokit {version('ptokit')}, Python {sys.version}\n{shlex.join(sys.argv)}\n"
    text = head + "".join(format_exception(problem))
    try:
        handle, name = mkstemp(".txt", "ptokit-fault-")
        with open(handle, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError:  # no room for a file: here is better than nowhere
        return f"this is a fault of ptokit, please report:\n{text}"
    return f"this is a fault of ptokit, please report: {name} holds the traceback"


def read_program(kernel: Path) -> Any:  # Any: Program, imported when needed
    from ptokit.api.program import decoded, load, loads

    if str(kernel) == "-":
        return loads(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")
    return load(kernel)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ptokit")
def main() -> None:
    """Write, check and run PTO tile kernels on a laptop."""


@main.command()
@KERNEL
@click.argument("arguments", nargs=-1, metavar="[NAME=FILE.npy | NAME=NUMBER]...")
@target_option()
@click.option("-o", "--output", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save.")
@click.option(
    "--type", "types", multiple=True, metavar="NAME=TYPE", help="Complete an elided type."
)
@click.option("--func", help="The function to run, where there are several.")
@click.option(
    "--fixpipe", default="cpu", show_default=True, help="Reading of 3.1: cpu or hardware."
)
@click.option("--order", metavar="NAME", help="Order of sums: cpu, recorded, left, a2a3 or a5.")
@READING
@click.option("--blocks", type=int, default=1, metavar="N", help="Run blocks 0 to N-1.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of NAME=random.")
@ENGINE
@click.option(
    "--max-instructions", type=int, metavar="N", help="End the run where it executes more."
)
@click.option("--timeout", type=float, metavar="SECONDS", help="End the run after this time.")
@click.option("--report", is_flag=True, help="Say what ran and how long it took.")
@click.option(
    "--show-code", metavar="NAME", help="Print the LLVM code of an instruction; run nothing."
)
@program_errors
def run(
    kernel: Path,
    arguments: tuple[str, ...],
    target: str,
    outputs: tuple[str, ...],
    types: tuple[str, ...],
    func: str | None,
    fixpipe: str,
    order: str | None,
    readings: tuple[str, ...],
    blocks: int,
    seed: int,
    engine: str | None,
    max_instructions: int | None,
    timeout: float | None,
    report: bool,
    show_code: str | None,
) -> None:
    """Run KERNEL (a file, or - for standard input) on arrays.

    An argument is a .npy file, a number, or `random` or `zeros`, with extents where its type has
    none (x=random:16x32).
    """
    from ptokit.api.executable import require_blocks
    from ptokit.api.files import is_standard_output, write_arrays
    from ptokit.api.settings import engine_named, reading, target_named
    from ptokit.sim.limits import require_limits

    target = with_readings(target, *readings, *([] if order is None else [order]))
    with call_errors():
        target_named(target)
        reading(fixpipe)
        engine_named(engine)
        require_blocks(blocks)
        require_limits(max_instructions, timeout)
    given = {name: _argument(text, seed) for name, text in _pairs(arguments, "").items()}
    wanted = _pairs(outputs, "-o ")
    completed = {name: _type(text) for name, text in _pairs(types, "--type ").items()}
    program = read_program(kernel)
    values = {v.name for f in program.module.funcs for v in f.named()}
    for name in completed:
        if name not in values:
            usage(f"--type {name}: the program has no %{name}")
    how: dict[str, Any] = {"target": target, "func": func, "fixpipe": fixpipe, "blocks": blocks}
    how["types"] = completed
    if show_code is not None:
        if engine not in (None, "native"):
            usage(f"--show-code shows what the engine native generates; {engine} generates nothing")
        if outputs or report:
            usage("--show-code runs nothing: leave out -o and --report")
        click.echo(program.code(show_code, given, **how), nl=False)
        return
    start = time.perf_counter()
    how |= {"max_instructions": max_instructions, "timeout": timeout}
    result = program.execute(given, engine=engine, **how)
    seconds = time.perf_counter() - start
    for name in wanted:
        if name not in result.outputs:
            made = ", ".join(result.outputs) or "none"
            usage(f"the program has no output {name!r}; it has {made}")
    files = {name: Path(text) for name, text in wanted.items()}
    write_arrays([(path, result.outputs[name]) for name, path in files.items()])
    aside = any(map(is_standard_output, files.values()))  # no text among the bytes of an array
    for name, array in result.outputs.items():
        if name not in wanted and not report:
            shape = "x".join(map(str, array.shape))
            click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
    if report:
        click.echo(_report(result.instructions, target, seconds), err=aside)


def _type(text: str) -> Any:  # Any: a Type
    """A type from its spelling."""
    from ptokit.text.types.parts import BadType
    from ptokit.text.types.typereader import type_named

    try:
        return type_named(text)
    except BadType as problem:
        usage(f"--type: {problem}")


def _pairs(texts: tuple[str, ...], what: str) -> dict[str, str]:
    """Values by name from words NAME=VALUE, each name once; `what` stands before them."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.removeprefix("%")
        if not equals or not name or not value:
            usage(f"{text!r} is not of the form NAME=VALUE")
        if name in found:
            usage(f"{what}{name}= is given twice: {found[name]} and {value}")
        found[name] = value
    return found


def _argument(text: str, seed: int) -> Any:  # Any: an array, a number or a Fill
    from ptokit.api.files import read_array
    from ptokit.api.fills import fill_named

    try:
        fill = fill_named(text, seed)
    except ValueError as problem:
        usage(f"{text}: {problem}")
    if fill is not None:
        return fill

    for number in (lambda: int(text, 0), lambda: float(text)):
        try:
            return number()
        except ValueError:
            continue
    return read_array(text)


def _report(instructions: dict[str, int], target: str, seconds: float) -> str:
    """How many instructions ran, and how many of each."""
    total = sum(instructions.values())
    lines = [f"{total} instructions on {target} in {seconds * 1000:.0f} ms"]
    counts = sorted(instructions.items(), key=lambda item: -item[1])
    return "\n".join([*lines, *(f"  {count:>8}  {name}" for name, count in counts)])


@main.command()
@KERNEL
@target_option("all")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@click.option("-v", "--verbose", is_flag=True, help="List the rules that are left to the run.")
@click.option("--allow-unknown", is_flag=True, help="An unknown op or type is no error.")
@READING
@click.option("--pedantic", is_flag=True, help="Warn of what assertions of debug builds refuse.")
@program_errors
def check(
    kernel: Path,
    target: str,
    style: str,
    verbose: bool,
    allow_unknown: bool,
    readings: tuple[str, ...],
    pedantic: bool,
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
    try:
        program = read_program(kernel)
    except PtoError as problem:
        if style == "json":
            click.echo(report_json([], problem.diagnostics))
            sys.exit(status(problem))
        raise
    found = program.verdicts(*names, allow_unknown=allow_unknown)
    if style == "json":
        click.echo(report_json(found))
    else:
        click.echo("\n".join(report(program.module, found, verbose=verbose)))
    if any(verdict.word is Outcome.REFUSED for verdict in found):
        sys.exit(1)


@main.command()
@KERNEL
@click.option("-i", "--in-place", is_flag=True, help="Write the file instead of standard output.")
@program_errors
def fmt(kernel: Path, in_place: bool) -> None:
    """Print KERNEL in canonical form, comments kept."""
    from ptokit.api.files import write_files

    program = read_program(kernel)
    text = program.text(program.form())
    if in_place and str(kernel) != "-":
        write_files([(kernel, text.encode())])
    else:
        click.echo(text, nl=False)


@main.command()
@KERNEL
@click.option("--to", "form", type=click.Choice(["as", "ssa", "dps", "cpp"]), required=True)
@program_errors
def convert(kernel: Path, form: str) -> None:
    """Print KERNEL in another form: PTO-AS, SSA (Level 1), DPS (Level 2) or C++ calls."""
    click.echo(read_program(kernel).text(form), nl=False)


@main.command()
@KERNEL
@click.option(
    "--passes", required=True, metavar="NAME,...", help="`ptokit explain passes` has all."
)
@target_option()
@click.option("--to", "form", type=click.Choice(["as", "ssa", "dps", "cpp"]), help="To print.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
@program_errors
def opt(kernel: Path, passes: str, target: str, form: str | None, output: Path | None) -> None:
    """Print KERNEL after passes: `ptokit opt --passes complete,place KERNEL`.

    A pass runs after those that it requires. Without --to, the form is what the passes leave.
    """
    from ptokit.api.files import write_files
    from ptokit.api.program import Program
    from ptokit.passes.pipeline import pass_named, run_passes

    names = [name.strip() for name in passes.split(",")]
    with call_errors():
        for name in names:
            pass_named(name)
    program = Program(run_passes(read_program(kernel).module, names, TARGETS[target]))
    text = program.text(form or program.form())
    if output is None:
        click.echo(text, nl=False)
    else:
        write_files([(output, text.encode())])


@main.command()
@click.argument("name", required=False)
@program_errors
def explain(name: str | None) -> None:
    """Explain an instruction, a type, a location, a diagnostic; without NAME, list all pages."""
    from ptokit.tools.manual import contents, suggestions
    from ptokit.tools.manual import explain as manual

    page = contents() if name is None else manual(name)
    if page is None:
        assert name is not None
        near = ", ".join(suggestions(name))
        where = f"near: {near}" if near else "`ptokit explain` lists everything"
        usage(f"nothing is called {name!r}; {where}")
    click.echo(page)


@main.command()
@click.argument("dtype")
@click.argument("shape")
@click.argument("layout")
@click.option("--fractal", type=int, help="512, 1024 or 32.  [default: 512]")
@click.option("--loc", default="mat", show_default=True, help="Location of the tile.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write a picture to this file.")
@click.option("--at", metavar="ROW,COL", help="Also say where this element lives.")
@program_errors
def layout(
    dtype: str,
    shape: str,
    layout: str,
    fractal: int | None,
    loc: str,
    svg: Path | None,
    at: str | None,
) -> None:
    """Draw where the elements of a tile live: `ptokit layout f16 64x256 nz`."""
    from ptokit.analysis.checker import tile_type_errors
    from ptokit.api.files import write_files
    from ptokit.api.tensors import dtype_of, word
    from ptokit.isa.model.layouts import Layout
    from ptokit.isa.model.tiles import tile_type
    from ptokit.isa.model.words import Loc
    from ptokit.tools.draw import layout_picture
    from ptokit.tools.svg import layout_svg

    rows, cols = _numbers(shape, "x", "SHAPE is ROWSxCOLS, as in 64x256")
    with call_errors():
        place, elements = word(Loc, loc, "location"), dtype_of(dtype)
        arranged = word(Layout, layout, "layout")
    kind = tile_type(place, elements, rows, cols, layout=arranged, fractal=fractal or 512)
    for problem in tile_type_errors(kind, DEFAULT_TARGET, "the tile", None):
        raise PtoError(problem)
    click.echo(layout_picture(kind, _painted))
    if svg is not None:
        write_files([(svg, layout_svg(kind).encode())])
    if at is not None:
        row, col = _numbers(at, ",", "--at takes ROW,COL, as in 3,17")
        if not (0 <= row < rows and 0 <= col < cols):
            usage(f"({row}, {col}) is outside the tile")
        offset = kind.map.offset(row, col)
        click.echo(f"({row}, {col}) is element {offset}, byte {offset * kind.dtype.bits // 8}")


DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")


def _painted(text: str, group: int) -> str:
    """Neighbouring groups in different colours; click drops them where there is no terminal."""
    colours = ("cyan", "yellow", "green", "magenta")
    return text if group < 0 else click.style(text, fg=colours[group % len(colours)])


def _numbers(text: str, separator: str, form: str) -> tuple[int, int]:
    parts = text.lower().split(separator)
    if len(parts) != 2 or not all(DIGITS.fullmatch(p) for p in parts):
        usage(f"{text!r}: {form}")
    return int(parts[0]), int(parts[1])


@main.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@ENGINE
@click.option("--disputed", is_flag=True, help="Say of skipped cases what ptokit answers, and why.")
@program_errors
def replay(directory: Path, engine: str | None, disputed: bool) -> None:
    """Replay the recorded vectors in DIRECTORY; status 1 if a case fails."""
    from ptokit.tools.replay import replay as replay_all

    tally = replay_all(directory, engine)
    if not tally.passed + tally.skipped + len(tally.failures):
        raise click.UsageError(f"no recorded cases (NAME.json, NAME.npz) in {directory}")
    for name, count in tally.unknown.items():
        click.echo(f"skipped: {name} ({count} cases): no page replays them yet")
    for skipped, count in tally.disputed.items() if disputed else ():
        click.echo("\n".join(skipped.lines(count)))
    for failure in tally.failures:
        click.echo(f"FAILED {failure}")
    click.echo(str(tally))
    if tally.failures:
        sys.exit(1)


if __name__ == "__main__":
    main()
