"""How a command ends that cannot do its work: one message, and the status that says whose fault."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import NoReturn, TypeVar

import click

from ptokit.diagnostics.diagnostic import CallError, PtoError, call_error
from ptokit.launch import signals
from ptokit.tools.terminal import show

F = TypeVar("F", bound=Callable[..., None])


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def usage(message: str) -> NoReturn:
    """The call is wrong: one line, status 2."""
    raise click.UsageError(message)


@contextmanager
def output_errors() -> Generator[None]:
    """Around a command, its help and its version: what standard output does not take, status 2."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in FULL:
            raise
        message = f"cannot write standard output: {os.strerror(problem.errno)}"
        found = call_error("unwritable-file", message)
        show(found)
        sys.exit(status(found))


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
    def wrapped(*args: object, **options: object) -> None:
        with signals.raising():
            try:
                shown(*args, **options)
            except signals.Ended as ended:
                click.echo(ended, err=True)
                sys.exit(ended.status)

    def shown(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except PtoError as problem:
            show(problem)
            sys.exit(status(problem))
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as problem:
            if isinstance(problem.__cause__, signals.Ended):
                raise problem.__cause__ from None  # it came while Python made a class
            code = problem.errno if isinstance(problem, OSError) else None
            if code == errno.EPIPE or code in FULL:
                raise  # it is standard output: click ends quietly where nobody reads
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
        return f"internal error in ptokit, please report:\n{text}"
    return f"internal error in ptokit, please report: {name} has the traceback"
