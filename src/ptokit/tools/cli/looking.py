"""Observers of a program that `run` executes: trace, tiles as files, debugger, progress bar."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from ptokit.diagnostics.printable import counted
from ptokit.tools.cli.failures import usage

if TYPE_CHECKING:
    from ptokit.ir.module import Func
    from ptokit.machine.observer import Observer
    from ptokit.tools.tracing import Tracer

SHOWN = 8  # names in a message


@dataclass(frozen=True)
class Look:
    """The observers that a call asks for."""

    trace: str | None
    trace_values: tuple[str, ...]
    dump: Path | None
    only: tuple[str, ...]
    breaks: tuple[str, ...]
    progress: bool | None

    @property
    def only_names(self) -> list[str]:
        """The names of --only, which commas part."""
        return [name.strip() for word in self.only for name in word.split(",") if name.strip()]

    @property
    def stepwise(self) -> bool:
        """Return whether an observer stops at each instruction."""
        return bool(self.trace or self.trace_values or self.breaks or self.dump)


@contextmanager
def looking(asked: Look, kernel: Path, func: Func, blocks: int) -> Generator[list[Observer]]:
    """Inside, a program that runs with these observers is looked at as the call asks for."""
    observers: list[Observer] = []
    tracer: Tracer | None = None
    with ExitStack() as opened:
        if asked.trace is not None or asked.trace_values:
            tracer = _tracer(asked, kernel, func, opened)
            observers.append(tracer)
        if asked.dump is not None:
            observers.append(opened.enter_context(_dumping(asked, kernel, func)))
        if asked.breaks:
            observers.append(_debugger(asked, kernel, func))
        elif blocks > 1 and asked.progress is not False:
            from ptokit.tools.progress import Progress

            bar = Progress(blocks)
            opened.enter_context(bar.shown(asked.progress))
            observers.append(bar)
        yield observers
        for name in tracer.untold if tracer else ():
            _to_stderr(f"--trace-values {name}: %{name} was never written{_others(func)}")


def _others(func: Func) -> str:
    """Names that would have had content."""
    from ptokit.ir.module import Op
    from ptokit.tools.tracing import defined_or_written

    ops = [op for op in func.body.walk() if isinstance(op, Op) and op.page.executes]
    names = list(dict.fromkeys(f"%{v.name}" for op in ops for v in defined_or_written(op)))
    return f"; instructions write {', '.join(names[:SHOWN])}" if names else ""


@contextmanager
def _dumping(asked: Look, kernel: Path, func: Func) -> Generator[Observer]:
    """Inside, tiles are written to a new folder, which has its name when the run has ended."""
    from ptokit.launch.files import new_folder
    from ptokit.tools.dumping import MOST, TileDump

    assert asked.dump is not None
    names = _known_names("--only", asked.only_names, func)

    def full() -> NoReturn:
        usage(f"--dump {asked.dump}: more than {MOST} tiles; choose some, as in --only NAME,...")

    with new_folder(asked.dump) as folder:
        tiles = TileDump(folder, names, full)
        yield tiles
        count = tiles.write_index({"kernel": str(kernel), "function": func.name})
    for name in tiles.untold:
        _to_stderr(f"--only {name}: %{name} was never written{_others(func)}")
    _to_stderr(f"{asked.dump}: {counted(count, 'tile')}")


def _known_names(option: str, words: Iterable[str], func: Func) -> list[str]:
    """Names of values without their %; a usage error where the function has none of a name."""
    names = [name.removeprefix("%") for name in words]
    known = {v.name for v in func.named()}
    known |= {a.name for op in func.body.walk() for region in op.regions for a in region.args}
    for name in names:
        if name not in known:
            usage(f"{option} {name}: no %{name} in the function")
    return names


def _tracer(asked: Look, kernel: Path, func: Func, opened: ExitStack) -> Tracer:
    from ptokit.launch.files import writing
    from ptokit.tools.tracing import Tracer

    names = _known_names("--trace-values", asked.trace_values, func)
    lines, tell = asked.trace is not None, _to_stderr
    if asked.trace not in (None, "-"):
        path = Path(asked.trace)
        if path.exists() and kernel.exists() and path.samefile(kernel):
            usage(f"--trace {path}: that is the kernel itself")
        tell = opened.enter_context(writing(path))
    return Tracer(tell, names, lines=lines)


def _to_stderr(line: str) -> None:
    click.echo(line, err=True)


def _debugger(asked: Look, kernel: Path, func: Func) -> Observer:
    from ptokit.tools.debugger import Debugger, Stops

    try:
        stops = Stops(asked.breaks, func)
    except ValueError as problem:
        usage(f"--break {problem}")
    return Debugger(kernel, stops, _quit)


def _quit() -> NoReturn:
    click.echo("stopped in the debugger: nothing was written", err=True)
    raise click.exceptions.Exit(1)
