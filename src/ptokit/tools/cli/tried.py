"""RUN lines of programs: a command is carried out, and what comes of it is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.tools.cli.values import expectation
from ptokit.tools.expectations import ExpectedValue, RunLine, shown

if TYPE_CHECKING:
    from ptokit.tools.cli.completedrun import CompletedRun
    from ptokit.values.dtypes import DType
    from ptokit.values.host import AnyArray

FILE = re.compile(r"[\w./-]+\.(npy|bin)(:[\w:]*)?|(zeros|random)(:[\w:]*)?")


def tried(file: Path, run: RunLine, words: Sequence[str]) -> str:
    """Carry out a RUN line in the folder of its program; return what is otherwise than expected."""
    with chdir(file.parent):
        try:
            found = _checked if run.command == "check" else _ran
            return "\n\n".join(found(file.name, run, [*words]))
        except click.ClickException as problem:
            return f"error: {problem.format_message()}"


def _checked(file: str, run: RunLine, words: list[str]) -> Iterator[str]:
    from ptokit.tools.cli.check_command import check, checks_of

    context = check.make_context("check", [file, *words])
    asked = {n: v for n, v in context.params.items() if n not in ("style", "verbose")}
    if context.get_parameter_source("target") is click.core.ParameterSource.DEFAULT:
        asked["target"] = "all"
    checks = checks_of(**asked)
    wrong = "\n".join(run.judge_check(checks))
    if wrong:
        yield wrong
        every = [d for one in checks for d in one.diagnostics]
        yield shown(every) if every else "ptokit found nothing"


def _ran(file: str, run: RunLine, words: list[str]) -> Iterator[str]:
    from ptokit.tools.cli.run_command import run as command
    from ptokit.tools.cli.run_command import run_call

    context = command.make_context("run", [file, *words])
    try:
        call, arguments = run_call(**context.params)
        done = call.executed(call.prepared(*arguments, kept=True))
    except PtoError as problem:
        if wrong := "\n".join(run.judge_findings(problem.diagnostics)):
            yield from (wrong, shown(problem))
        elif run.values:
            yield from (f"{run.values[0].text}: the run has no outputs", shown(problem))
        return
    if wrong := "\n".join(run.judge_findings(done.warnings)):
        yield wrong
    yield from (str(one) for one in call.comparisons(done.result) if not one)
    for one in run.values:
        yield from _compared(one, done)


def _compared(wanted: ExpectedValue, done: CompletedRun) -> Iterator[str]:
    """The report of `diff` on an output that is otherwise than expected."""
    import numpy as np

    from ptokit.api.compare import paired
    from ptokit.tools.arraydiff import whole_report

    name, found = wanted.name, done.result.outputs.get(wanted.name)
    if found is None:
        yield f"{wanted.text}: the outputs are {', '.join(done.result.outputs) or 'none'}"
        return
    dtype = done.result.dtypes[name]
    try:
        if FILE.fullmatch(wanted.wanted):
            expected = expectation(wanted.wanted).of(name, dtype, found.shape)
        else:
            value = np.asarray(_evaluated(wanted.wanted, done))
            expected = _rounded(value, found.shape, dtype)
        pair = paired(found, expected, name, dtype)
    except (ValueError, PtoError) as problem:
        yield f"{wanted.text}: {problem}"
        return
    if not pair.compared(name, wanted.within):
        yield "\n".join((wanted.text, *whole_report(pair, name, wanted.within)))


def _evaluated(text: str, done: CompletedRun) -> object:
    """The value of an expression over `np` and the arguments; ValueError if Python raises."""
    import numpy as np

    names = {**done.result.outputs, **done.ready.given}
    try:
        with np.errstate(all="ignore"):
            return eval(text, {"np": np, "given": names, **names})
    except Exception as problem:  # a user's expression may raise anything
        raise ValueError(f"{type(problem).__name__}: {problem}") from None


def _rounded(value: AnyArray, shape: tuple[int, ...], dtype: DType) -> AnyArray:
    """The array in the element type of the output; ValueError where the extents differ."""
    import numpy as np

    from ptokit.values.host import rounded_codes, values_of

    if value.shape not in ((), shape):
        extents = ("x".join(map(str, s)) for s in (value.shape, shape))
        raise ValueError("the expression is {}, the output {}".format(*extents))
    codes = rounded_codes(value, dtype)
    return np.broadcast_to(values_of(codes, dtype), shape)
