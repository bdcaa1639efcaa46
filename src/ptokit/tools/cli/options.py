"""Options and arguments that several commands share, and their values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import ARCHES, DEFAULT_TARGET, MACHINES

if TYPE_CHECKING:
    from ptokit.api.program import Program

F = TypeVar("F", bound=Callable[..., None])
T = TypeVar("T")
CPP_FILES = (".cpp", ".cc", ".cxx")
ENGINE = click.option(
    *("--engine", "engine"),
    metavar="NAME",
    help="reference (defines results) or native (compiled).  [default: native]",
)
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the Dask cluster at tcp://HOST:PORT."
)
PATH = click.Path(path_type=Path, allow_dash=True)
KERNEL = click.argument("kernel", type=PATH)
KERNELS = click.argument("kernels", metavar="KERNEL...", type=PATH, nargs=-1, required=True)
ARGUMENTS = click.option(
    *("--args", "words"),
    multiple=True,
    metavar="NAME=VALUE",
    help="An argument of a kernel in Python: x=f32:75x50, high=32.",
)


class TargetChoice(click.Choice):  # type: ignore[type-arg] - older ones have no parameter
    """A target, also by the name that programs use: a3 is a2a3."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = ARCHES.get(value, value)
        return super().convert(word, param, ctx)  # pyright: ignore - click has no type for it


def target_option(*more: str) -> Callable[[F], F]:
    """Return `--target`, one of the targets or a word of `more`."""
    return click.option(
        *("--target", "target"),
        type=TargetChoice([*MACHINES, *more]),
        default=DEFAULT_TARGET.name,
        show_default=True,
        help="The target to check and run for.",
    )


def tolerance_options(function: F) -> F:
    """Add how far elements may be from what is expected, as `api.compare.Tolerance` has it."""
    for option in (
        click.option("--ulp", type=int, metavar="N", help="Units in the last place, instead."),
        click.option("--atol", type=float, metavar="X", help="Absolute tolerance of comparisons."),
        click.option("--rtol", type=float, metavar="X", help="Relative tolerance of comparisons."),
    ):
        function = option(function)
    return function


def require_pipes(*targets: str) -> None:
    """Raise a usage error for `--races` on targets that execute in order."""
    from ptokit.launch.settings import target_named
    from ptokit.tools.cli.failures import usage

    if all(target_named(name).in_order for name in targets):
        usage("--races: cpu executes instructions in order; add --target a2a3 or a5")


READING = click.option(
    *("--reading", "readings"),
    multiple=True,
    metavar="NAME",
    help="Reading where sources disagree; `explain a5` lists them.",
)
ENTRY = click.option(
    *("--entry", "--func", "func"),
    metavar="NAME",
    help="The function to run, if several.",
)
SEED = click.option(
    *("--seed", "seed"),
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Seed of `random` arguments.",
)


def with_colour(command: click.Command) -> None:
    """Add the option `--color` to a command and its subcommands."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_colour(one)
        return
    command.params.append(
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            expose_value=False,
            callback=_colour,
            help="Colours in messages.  [default: auto: on terminals without NO_COLOR]",
        )
    )


def _colour(context: click.Context, option: click.Parameter, word: str) -> None:
    context.color = {"auto": None, "always": True, "never": False}[word]


def taken(kind: type[T], words: dict[str, object]) -> T:
    """Return an object of a data class from its fields in `words`, which are removed."""
    return kind(**{name: words.pop(name) for name in kind.__annotations__})


def with_readings(target: str, *readings: str) -> str:
    """Return the name of the target under readings."""
    return f"{target}:{','.join(readings)}" if readings else target


def cluster_at(scheduler: str | None) -> AbstractContextManager[object]:
    """Return the cluster at an address, or a context of None."""
    if scheduler is None:
        return nullcontext()
    from ptokit.api.workers import connected

    return connected(scheduler)


def read_program(kernel: Path, words: tuple[str, ...] = ()) -> Program:
    """Return the only program of a file; `words` are the arguments of a kernel in Python."""
    found = read_programs(kernel, words)
    if len(found) > 1:
        from ptokit.tools.cli.failures import usage

        usage(f"{kernel} has several programs: choose one of {', '.join(found)}")
    (program,) = found.values()
    if isinstance(program, PtoError):
        raise program
    return program


def read_programs(kernel: Path, words: tuple[str, ...] = ()) -> Mapping[str, Program | PtoError]:
    """Return the programs of a file by name, a file in Python may have several; or why one is none.

    PtoError if the file cannot be read.
    """
    from ptokit.api.kernel.loading import decoded, load, loads

    if is_python(kernel):
        from ptokit.tools.cli.pythonkernels import python_programs

        return python_programs(kernel, words)
    if words:
        from ptokit.tools.cli.failures import usage

        usage(f"--args is about kernels in Python, and {kernel} is none")
    if str(kernel) == "-":
        return {"<stdin>": loads(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")}
    return {str(kernel): load(kernel)}


def is_python(kernel: Path) -> bool:
    """Return whether the path is FILE.py or FILE.py:NAME."""
    return kernel.suffix.partition(":")[0] == ".py"


def is_cpp(kernel: Path) -> bool:
    """Return whether the path is of a C++ file."""
    return kernel.suffix in CPP_FILES


def is_kernel(word: Path) -> bool:
    """True of what a kernel's file is called."""
    return is_python(word) or word.suffix == ".pto"


def kernels_of(words: tuple[str, ...]) -> tuple[list[Path], tuple[str, ...]]:
    """The kernels, which are the first word and others that end as kernels do; the arguments."""
    from ptokit.tools.cli.values import split

    by_position, _ = split(words[1:])
    others = [word for word in by_position if is_kernel(Path(word))]
    return [*map(Path, (words[0], *others))], tuple(
        word for word in words[1:] if word not in others
    )
