"""Options and arguments that several commands share, and their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from ptokit.diagnostics.nearest import did_you_mean
from ptokit.isa.model.targets import ARCHES, DEFAULT_TARGET, MACHINES

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
    help="An argument of a kernel in Python or C++: x=f32:75x50, high=32.",
)


class AdvisedGroup(click.Group):
    """A group of commands that names the nearest one to a word that is none."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word, known = args[0], self.list_commands(ctx)
        if word in known or word.startswith("-"):
            return super().resolve_command(ctx, args)
        advice = did_you_mean(word, known) or "option -h lists all"
        ctx.fail(f"no command {word!r}; {advice}")


@dataclass(frozen=True)
class CppOptions:
    """The options of kernels in C++: how a file is compiled, and the kernel that is launched."""

    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    compiler: str | None = None
    launch: str | None = None

    @property
    def words(self) -> list[str]:
        """Return these options as words of the command line."""
        several = [*(("-I", one) for one in self.include), *(("-D", one) for one in self.define)]
        single = {"--compiler": self.compiler, "--launch": self.launch}
        every = [*several, *((name, value) for name, value in single.items() if value)]
        return [word for pair in every for word in pair]

    def require_cpp(self, kernels: Sequence[Path]) -> None:
        """A usage error where options of C++ are given for other files, or a launch for several."""
        from ptokit.tools.cli.failures import usage

        files = [kernel for kernel in kernels if is_cpp(kernel)]
        if not files and self != CppOptions():
            usage("-I, -D, --compiler and --launch are about kernels in C++")
        if len(files) > 1 and self.launch is not None:
            usage("--launch is about one file in C++: give the others in calls of their own")


def is_cpp(kernel: Path) -> bool:
    """Return whether the path is of a C++ file."""
    return kernel.suffix in CPP_FILES


def compiled_options(function: F) -> F:
    """Add the options for compiling files in C++."""
    for option in (
        click.option("--compiler", metavar="NAME", help="Of C++: g++, clang++ or a path."),
        click.option(
            "-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Of C++: a macro."
        ),
        click.option("-I", "include", multiple=True, metavar="DIR", help="Of C++: header folder."),
    ):
        function = option(function)
    return function


def cpp_options(function: F) -> F:
    """Add the options of kernels in C++, the fields of `CppOptions`."""
    launch = click.option("--launch", metavar="NAME<...>", help="Of C++: the kernel to launch.")
    return compiled_options(launch(function))


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
FIXPIPE = click.option(
    *("--fixpipe", "fixpipe"),
    metavar="NAME",
    default="cpu",
    show_default=True,
    help="Arithmetic of the fix-pipe: cpu or hardware.",
)
BLOCKS = click.option("--blocks", type=int, default=1, metavar="N", help="Run blocks 0 to N-1.")
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
