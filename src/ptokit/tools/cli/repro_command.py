"""`repro`: a run as a folder that stands alone: program, arrays, what comes of them, a script."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.diagnostics.diagnostic import CallError, PtoError
from ptokit.tools.cli.failures import program_errors
from ptokit.tools.cli.run_command import run, run_call
from ptokit.tools.cli.values import TakesNumbers, is_array
from ptokit.tools.terminal import show

if TYPE_CHECKING:
    from ptokit.launch.executable import Run
    from ptokit.tools.cli.completedrun import PreparedRun
    from ptokit.tools.cli.run_command import RunCall

# parameters of `run` that the script repeats; arrays and numbers are files and words of their own
OPTIONS = (
    *("target", "types", "fixpipe", "order", "readings", "blocks", "ranks", "engine"),
    *("max_instructions", "schedule", "timeout", "strict", "func"),
)
TAKEN = ("kernel", "arguments", "seed", *OPTIONS)
SCRIPT = '''\
"""{title}"""

import shlex, subprocess, sys

words = shlex.split({words!r})
{last}
'''
SAME = "sys.exit(subprocess.call([sys.executable, *words], cwd=sys.path[0]))"
FAILS = """\
said = subprocess.run([sys.executable, *words], cwd=sys.path[0], stderr=-1, text=True).stderr
sys.exit(print(said) or {mark!r} not in said)"""


def repro_callback(output: Path, **words: Any) -> None:  # Any: click's parameters
    """Write a folder that reproduces a run of KERNEL elsewhere: `python repro.py` in it.

    It has the program as text, the arrays, made ones too, what comes of them, and a script that
    runs the program and compares, bit for bit. Where the run fails the script expects the error.
    Arguments and options are those of `run`.
    """
    from ptokit.launch.files import new_folder, require_new_folder

    require_new_folder(output)
    params = run.make_context("run", [str(words["kernel"])]).params
    call, arguments = run_call(**{**params, **words})
    ready = call.prepared(*arguments, kept=True)
    problem, result = None, None
    try:
        result = call.executed(ready).result
    except CallError:
        raise
    except PtoError as found:
        problem = found
        show(found)
    with new_folder(output) as folder:
        _write(folder, call, ready, result, problem, words)
    what = "its outputs" if result is not None else "the error above"
    click.echo(f"{output}: `python repro.py` in it expects {what}")


def _write(
    folder: Path,
    call: RunCall,
    ready: PreparedRun,
    result: Run | None,
    problem: PtoError | None,
    words: dict[str, object],
) -> None:
    from importlib.metadata import version

    text = call.kernel.suffix == ".pto"
    name = call.kernel.name if text else f"{ready.func.name}.pto"
    program = ready.program.on(ready.options.target)
    source = call.kernel.read_bytes() if text else program.text(program.form()).encode()
    (folder / name).write_bytes(source)
    command = [name, *_arguments(folder, ready), *_options(words, text)]
    if result is not None:
        command += _expected(folder, result)
        last = SAME
    else:
        assert problem is not None
        first = problem.diagnostics[0]
        last = FAILS.format(mark=f"{first.severity.value}[{first.slug}]")
    python = ".".join(map(str, sys.version_info[:3]))
    title = f"A run of {call.kernel.name} by ptokit {version('ptokit')}, Python {python}."
    line = shlex.join(["-m", "ptokit", "run", *command])
    script = SCRIPT.format(title=title, words=line, last=last)
    (folder / "repro.py").write_text(script, encoding="utf-8")


def _arguments(folder: Path, ready: PreparedRun) -> list[str]:
    """The arguments as words; arrays are written, but those of zeros that have a name for it."""
    import numpy as np

    from ptokit.forms.complete import dtype_of_array
    from ptokit.launch.files import write_arrays

    words: list[str] = []
    for name, value in ready.given.items():
        if not is_array(value):
            words.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
            continue
        dtype = dtype_of_array(value)
        if dtype is not None and value.dtype.kind in "fiu" and value.ndim and not value.any():
            words.append(f"{name}=zeros:{dtype}:{'x'.join(map(str, value.shape))}")
            continue
        words.append(f"{name}={name}.npy")
        if dtype is not None:
            write_arrays([(folder / f"{name}.npy", value, dtype)])
        else:
            np.save(folder / f"{name}.npy", value, allow_pickle=False)
    return words


def _options(words: Mapping[str, object], text: bool) -> list[str]:
    """The options that were given, as words; a kernel in Python is one function by now."""
    found: list[str] = []
    for param in run.params:
        skipped = param.name not in OPTIONS or (param.name == "func" and not text)
        if skipped or not isinstance(param, click.Option):
            continue
        given: Any = words[param.name]
        values: list[Any] = [*given] if param.multiple else [given]
        option = max(param.opts, key=len)
        if param.is_flag:
            found += [option] * bool(given)
        elif given is not None and (given != param.default or param.name == "target"):
            found += [word for one in values for word in (option, str(one))]
    return found


def _expected(folder: Path, result: Run) -> list[str]:
    from ptokit.launch.files import write_arrays

    files = {name: f"expected-{name}.npy" for name in result.outputs}
    every = [(folder / f, result.outputs[n], result.dtypes[n]) for n, f in files.items()]
    write_arrays(every)
    named = [word for name, file in files.items() for word in ("--expect", f"{name}={file}")]
    return [*named, "--ulp", "0"] if named else []


repro = TakesNumbers(
    "repro",
    callback=program_errors(repro_callback),
    params=[
        *(param for param in run.params if param.name in TAKEN),
        click.Option(
            ["-o", "--output"],
            type=click.Path(path_type=Path),
            required=True,
            metavar="DIR",
            help="The new folder.",
        ),
    ],
    help=repro_callback.__doc__,
    short_help="Write a folder that reproduces a run elsewhere.",
)
