"""Options and arguments that several commands have, and what they stand for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from ptokit.isa.model.targets import ARCHES, DEFAULT_TARGET, MACHINES

F = TypeVar("F", bound=Callable[..., None])
T = TypeVar("T")
ENGINE = click.option(
    *("--engine", "engine"),
    metavar="NAME",
    help="reference (defines results) or native (compiled).  [default: native]",
)
SCHEDULER = click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the Dask cluster at tcp://HOST:PORT."
)
KERNEL = click.argument("kernel", type=click.Path(path_type=Path, allow_dash=True))


class TargetChoice(click.Choice):  # type: ignore[type-arg] - older ones have no parameter
    """One of the targets, also by what programs call it: a3 is a2a3."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:  # Any: as click has it
        word = ARCHES.get(value, value)
        return super().convert(word, param, ctx)  # pyright: ignore - click has no type for it


def target_option(*more: str) -> Callable[[F], F]:
    """`--target`, one of the targets or a word of `more`."""
    return click.option(
        *("--target", "target"),
        type=TargetChoice([*MACHINES, *more]),
        default=DEFAULT_TARGET.name,
        show_default=True,
        help="The target to check and run for.",
    )


def require_pipes(*targets: str) -> None:
    """`--races` is about targets whose pipes run at once."""
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


def taken(kind: type[T], words: dict[str, Any]) -> T:  # Any: click's parameters
    """The words of a call that are the fields of a data class, as one; they are taken out."""
    return kind(**{name: words.pop(name) for name in kind.__annotations__})


def with_readings(target: str, *readings: str) -> str:
    """The name of the target under readings."""
    return f"{target}:{','.join(readings)}" if readings else target


def cluster_at(scheduler: str | None) -> AbstractContextManager[Any]:  # Any: a Client
    """The cluster that a call asks for, or None."""
    if scheduler is None:
        return nullcontext()
    from ptokit.api.workers import connected

    return connected(scheduler)


def read_program(kernel: Path) -> Any:  # Any: Program, imported when needed
    from ptokit.api.kernel.loading import decoded, load, loads

    if str(kernel) == "-":
        return loads(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")
    return load(kernel)
