"""A server of the Model Context Protocol: coding assistants check, run and explain kernels.

Each tool is a command of ptokit in a process of its own, with its diagnostics as data.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, TypeAlias

import anyio
from mcp.server import MCPServer
from pydantic import Field

from ptokit.isa.model.targets import TARGETS
from ptokit.tools.commandresult import CommandResult

INSTRUCTIONS = """\
ptokit checks and runs kernels of the PTO tile ISA (Ascend NPUs) without a board. A kernel is a
.pto file, FILE.py, FILE.py:NAME for one @pto.kernel of a file, or FILE.cpp with the name of what
is launched. Call `check` first: each
diagnostic has a file, a line, the rule, what was seen, and help. Then `run` the kernel on arrays
and compare with NumPy, and `profile` it. `explain` prints the manual page of an instruction, a
type, or the slug of a diagnostic."""

ENDED = 3  # the status of a command that did not come to its end
Target: TypeAlias = Annotated[str | None, Field(description=f"of {', '.join(TARGETS)}")]
Kernel = Annotated[str, Field(description="FILE.pto, FILE.py, FILE.py:NAME or FILE.cpp")]
Arguments = Annotated[
    list[str],
    Field(
        description="VALUE or NAME=VALUE; a value is a number, FILE.npy, random:f32:64x64, "
        "zeros:f32:64x64, or a raw file as a.bin:f16:512x384"
    ),
]
Words: TypeAlias = list[str] | None
Launch = Annotated[str | None, Field(description="of FILE.cpp: the kernel, as add<float, 32>")]
Seconds = Annotated[float, Field(description="when the command is ended", gt=0, le=3600)]
Tolerance = Annotated[float | None, Field(description="by default one of the element type")]


@dataclass(frozen=True)
class CheckResult:
    """The verdict of each kernel on each target, and what is wrong, with file and line.

    Verdicts and diagnostics are as docs/check.schema.json describes.
    """

    status: int
    message: str
    verdicts: list[dict[str, object]]
    diagnostics: list[dict[str, object]]


def server() -> MCPServer:
    """Return the server with its tools."""
    made = MCPServer("ptokit", instructions=INSTRUCTIONS, version=version("ptokit"))
    for tool in (check, run, explain, profile, diff):
        made.tool(structured_output=True)(tool)
    return made


async def check(
    kernels: list[Kernel],
    target: Annotated[Target, Field(description="by default each")] = None,
    args: Annotated[
        Words, Field(description="of a kernel in Python or C++: NAME=f32:64x64")
    ] = None,
    races: Annotated[bool, Field(description="detect hazards between pipes")] = False,
    launch: Launch = None,
    timeout: Seconds = 60,
) -> CheckResult:
    """Check on which targets kernels are legal, before they run; one verdict per target."""
    options = _options(target=target, format="json", args=args, races=races, launch=launch)
    found = await _answer(timeout, "check", *options, *_last(kernels))
    report = json.loads(found.text or "{}")
    diagnostics = [*report.get("diagnostics", ()), *found.diagnostics]
    return CheckResult(found.status, found.message, report.get("verdicts", []), diagnostics)


async def run(
    kernel: Kernel,
    arguments: Arguments,
    target: Target = None,
    blocks: int = 1,
    expect: Annotated[Words, Field(description="OUTPUT=FILE.npy to compare with")] = None,
    save: Annotated[Words, Field(description="OUTPUT=FILE.npy to write")] = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    launch: Launch = None,
    timeout: Seconds = 60,
) -> CommandResult:
    """Run a kernel on arrays; its outputs are printed, saved, or compared with what is expected."""
    compared = {"expect": expect, "rtol": rtol, "atol": atol}
    options = _options(target=target, launch=launch, blocks=blocks, output=save, **compared)
    return await _answer(timeout, "run", *options, *_last([kernel, *arguments]))


async def explain(
    name: Annotated[str, Field(description="a name; empty: all pages")] = "",
) -> CommandResult:
    """Print the manual page of an instruction, a type, a location, or the slug of a diagnostic."""
    return await _answer(60, "explain", *_last([name] if name else []))


async def profile(
    kernel: Kernel,
    arguments: Arguments | None = None,
    target: Target = None,
    blocks: int = 1,
    by_line: bool = False,
    launch: Launch = None,
    timeout: Seconds = 60,
) -> CommandResult:
    """Predict how many cycles a kernel takes on a chip, and which pipe is the bottleneck."""
    options = _options(target=target, launch=launch, blocks=blocks, by_line=by_line)
    return await _answer(timeout, "profile", *options, *_last([kernel, *(arguments or ())]))


async def diff(
    found: Annotated[str, Field(description="an array: FILE.npy, or a.bin:f16:512x384; a kernel")],
    expected: Annotated[str | None, Field(description="an array, or another kernel")] = None,
    arguments: Arguments | None = None,
    targets: Annotated[Words, Field(description="of a kernel: the target, or two")] = None,
    engines: Annotated[Words, Field(description="of a kernel: reference and native")] = None,
    passes: Annotated[str | None, Field(description="compare a kernel with itself after")] = None,
    blocks: int = 1,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    timeout: Seconds = 60,
) -> CommandResult:
    """Compare two arrays, or two runs of kernels of which exactly one thing differs.

    Arrays: the worst elements, a histogram of ulps, a map of where they differ. Runs of two
    kernels, targets or engines, or before and after passes: the first instruction whose result
    differs. Status 1 if they differ.
    """
    options = _options(target=targets, engine=engines, passes=passes, rtol=rtol, atol=atol)
    options += _options(blocks=blocks) if blocks != 1 else []
    words = [found, *([] if expected is None else [expected]), *(arguments or ())]
    return await _answer(timeout, "diff", *options, *_last(words))


def _options(**given: str | float | list[str] | None) -> list[str]:
    """Return options of a command line: a list several times, True without a value, None not."""
    words: list[str] = []
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                words.append(option if one is True else f"{option}={one}")
    return words


def _last(words: Sequence[str]) -> list[str]:
    """Return words that are no options, whatever they begin with."""
    return ["--", *words]


async def _answer(timeout: float, *words: str) -> CommandResult:
    """Run a command in a process of its own; it is killed when the time is up."""
    command = [sys.executable, "-m", "ptokit.tools.cli.asdata", *words]
    try:
        with anyio.fail_after(timeout):
            done = await anyio.run_process(command, check=False, stdin=subprocess.DEVNULL)
    except TimeoutError:
        return _ended(f"{words[0]}: did not end within {timeout:g} s")
    if done.returncode:
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else done.returncode
        return _ended(f"{words[0]}: the process ended with {how}\n{done.stderr.decode()}")
    return CommandResult(**json.loads(done.stdout))


def _ended(message: str) -> CommandResult:
    """Return the result of a command that did not come to its end."""
    return CommandResult(ENDED, message=message.strip())
