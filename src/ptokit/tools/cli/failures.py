"""The end of a failing command: one message, and a status that says who has to act."""

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
    """Raise the one-line error for a wrong call, status 2."""
    raise click.UsageError(message)


@contextmanager
def output_errors() -> Generator[None]:
    """Report errors of standard output with status 2, around a command, help or version."""
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
    """Report a ValueError of the body as a mistake of the caller."""
    try:
        yield
    except ValueError as problem:
        if isinstance(problem, PtoError):
            raise
        usage(str(problem))


def program_errors(command: F) -> F:
    """Print a PtoError as diagnostics with status 1, or 2 for a wrong call.

    An internal error is one line. A signal ends the command with one line, too.
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
                raise problem.__cause__ from None  # raised while Python created a class
            code = problem.errno if isinstance(problem, OSError) else None
            if code == errno.EPIPE or code in FULL:
                raise  # a closed pipe: click ends quietly
            click.echo(fault(problem), err=True)
            sys.exit(3)

    return wrapped  # type: ignore[return-value]  # the same signature


def status(problem: PtoError) -> int:
    return 2 if isinstance(problem, CallError) else 1


def fault(problem: Exception) -> str:
    """Return one line for an unexpected exception; its traceback goes to a file."""
    from importlib.metadata import version
    from tempfile import mkstemp
    from traceback import format_exception

    head = f"ptokit {version('ptokit')}, Python {sys.version}\n{shlex.join(sys.argv)}\n"
    text = head + "".join(format_exception(problem))
    try:
        handle, name = mkstemp(".txt", "ptokit-fault-")
        with open(handle, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError:  # no file can be written: print the traceback
        return f"internal error in ptokit, please report:\n{text}"
    return f"internal error in ptokit, please report: {name} has the traceback"
