"""Launches of kernels in C++: of `run` and `cxx run`, and as programs for the other commands."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.tools.cli.failures import call_errors, usage
from ptokit.tools.cli.options import CppOptions, require_pipes, taken
from ptokit.tools.cli.values import Golden, argument, assigned, is_array, output, split
from ptokit.tools.terminal import show

if TYPE_CHECKING:
    from ptokit.api.compare import Comparison
    from ptokit.api.cxx.cxxkernel import CxxKernel, CxxRun
    from ptokit.values.host import AnyArray

NEEDS_LAUNCH = "a kernel in C++ needs --launch 'NAME<...>' and its arguments"
# parameters of `run` that a kernel in C++ takes, too
TAKEN = {
    *("kernel", "arguments", "words", "target", "outputs", "expect", "rtol", "atol", "ulp"),
    *("fixpipe", "blocks", "seed", "races", "timeout", "strict", "report"),
    *CppOptions.__annotations__,
}


@dataclass(frozen=True)
class CppLaunch:
    """A launch of a kernel of a file on arguments of the command line."""

    file: Path
    options: CppOptions
    words: tuple[str, ...]
    seed: int = 0
    blocks: int = 1

    def kernel(self, target: str, fixpipe: str | None = None) -> CxxKernel:
        from ptokit.api.cxx.cxxkernel import CxxKernel

        include, define = self.options.include, self.options.define
        how = {"target": target, "fixpipe": fixpipe, "compiler": self.options.compiler}
        with call_errors():
            return CxxKernel(self.file, include=include, define=define, **how)

    def on(
        self, target: str, fixpipe: str | None = None, *, strict: bool = False, **limit: float
    ) -> LaunchedCpp:
        """Compile the file for a target and launch the kernel; PtoError where either fails.

        `strict`, and `timeout` as a `limit`: see `CxxKernel.launch`.
        """
        from ptokit.api.cxx.parameternames import parameter_names

        name, kernel = self.options.launch, self.kernel(target, fixpipe)
        if name is None:
            usage(NEEDS_LAUNCH)
        names = parameter_names([self.file], name)
        given = launch_arguments(self.words, names, self.seed)
        before = [array.copy() if is_array(array) else None for array in given]
        start = time.perf_counter()
        ran = kernel.launch(name, *given, blocks=self.blocks, strict=strict, **limit)
        seconds = time.perf_counter() - start
        places = names if len({*names}) == len(given) else [*map(str, range(len(given)))]
        arrays = {n: a for n, a in zip(places, given, strict=True) if is_array(a)}
        old = dict(zip(places, before, strict=True))
        changed = {n: a for n, a in arrays.items() if _bytes(a) != _bytes(old[n])}
        return LaunchedCpp(ran, target, arrays, changed, seconds)


def _bytes(array: AnyArray | None) -> bytes:
    return b"" if array is None else array.tobytes()


@dataclass(frozen=True)
class LaunchedCpp:
    """A launch that has ended, with all arrays and those that it changed by name."""

    ran: CxxRun
    target: str
    arrays: Mapping[str, AnyArray]
    changed: Mapping[str, AnyArray]
    seconds: float

    def report(self) -> str:
        """Return the instruction counts and the time."""
        count = Counter(self.ran.instructions())
        said = f"{count.total()} instructions on {self.target} in {self.seconds * 1000:.0f} ms"
        listed = sorted(count.items(), key=lambda item: (-item[1], item[0]))
        return "\n".join([said, *(f"  {number:>8}  {name}" for name, number in listed)])


@dataclass(frozen=True)
class CppRunCall:
    """The parameters of a call of `run` or `cxx run` for a kernel in C++."""

    launch: CppLaunch
    target: str
    fixpipe: str | None
    outputs: tuple[str, ...]
    golden: Golden
    races: bool
    report: bool
    strict: bool
    timeout: float | None

    def run(self) -> CxxRun:
        """Launch the kernel, show warnings and hazards, compare, save and show what it changed."""
        if self.races:
            require_pipes(self.target)
        files = {name: output(text) for name, text in assigned(self.outputs, "-o ").items()}
        _ = self.golden.values  # what is wrong with them is told first
        limit = {} if self.timeout is None else {"timeout": self.timeout}
        done = self.launch.on(self.target, self.fixpipe, strict=self.strict, **limit)
        click.echo(done.ran.printed, nl=False)
        hazards = done.ran.races() if self.races else []
        for one in (*done.ran.warnings, *hazards):
            show(one, end="\n\n")
        if any(one.is_error for one in hazards):
            sys.exit(1)
        self._finish(done, files)
        return done.ran

    def _finish(self, done: LaunchedCpp, files: Mapping[str, Path]) -> None:
        """Compare, save and show, in this order: what cannot be compared is saved nowhere."""
        from ptokit.forms.complete import dtype_of_array
        from ptokit.launch.files import is_standard_output, write_arrays

        for name in (*files, *self.golden.values):
            if name not in done.arrays:
                usage(f"unknown array {name!r}; the kernel has {_listed([*done.arrays])}")
        compared = [self._compared(name, done.arrays[name]) for name in self.golden.values]
        every = [(path, done.arrays[name]) for name, path in files.items()]
        write_arrays([(path, a, dtype) for path, a in every if (dtype := dtype_of_array(a))])
        aside = any(map(is_standard_output, files.values()))  # no text among an array's bytes
        for name, array in done.changed.items():
            if not (name in files or name in self.golden.values or self.report):
                shape = "x".join(map(str, array.shape))
                click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
        for comparison in compared:
            click.echo(str(comparison), err=aside)
        if self.report:
            click.echo(done.report(), err=aside)
        if not all(compared):
            sys.exit(1)

    def _compared(self, name: str, array: AnyArray) -> Comparison:
        from ptokit.forms.complete import dtype_of_array

        dtype = dtype_of_array(array)
        if dtype is None:
            usage(f"--expect {name}: unsupported element type {array.dtype}")
        return self.golden.compared(name, array, dtype)


def require_taken() -> None:
    """Raise a usage error for options of `run` that are given, and not for kernels in C++."""
    for param in click.get_current_context().command.params:
        if str(param.name) not in TAKEN and stated(str(param.name)):
            usage(f"{param.opts[-1]} is not for kernels in C++")


def stated(name: str) -> bool:
    """Return whether a parameter stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def run_cpp(arguments: tuple[str, ...], seed: int, words: dict[str, Any]) -> CxxRun:
    """Run a kernel in C++ as `run` asks for."""
    from ptokit.api.compare import Tolerance

    within, options = taken(Tolerance, words), taken(CppOptions, words)
    golden = Golden(words["expect"], within)
    with call_errors():
        within.require("--")
    if not golden.expect and within:
        usage("--rtol, --atol and --ulp need --expect NAME=VALUE")
    launch = CppLaunch(words["kernel"], options, arguments, seed, words["blocks"])
    return CppRunCall(
        launch,
        words["target"],
        words["fixpipe"] if stated("fixpipe") else None,
        words["outputs"],
        golden,
        *(words[name] for name in ("races", "report", "strict", "timeout")),
    ).run()


def launch_arguments(words: tuple[str, ...], names: list[str], seed: int) -> list[object]:
    """Return the arguments in order; a usage error where one is missing or unknown."""
    by_position, by_name = split(words)
    given = dict(zip(names, by_position, strict=False))
    named = assigned(by_name, "")
    if not names and named:
        usage("the parameter names of the kernel are unknown; give arguments in order")
    if not names:
        return [_value(str(n), text, seed) for n, text in enumerate(by_position)]
    if len(by_position) > len(names):
        usage(f"expected {_listed(names)}, got {len(by_position)} arguments")
    for name in named:
        if name not in names:
            usage(f"unknown parameter {name}; the kernel has {_listed(names)}")
        if name in given:
            usage(f"{name} is given twice")
    given |= named
    for name in names:
        if name not in given:
            usage(f"missing argument {name}; expected {_listed(names)}")
    return [_value(name, given[name], seed) for name in names]


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _value(name: str, text: str, seed: int) -> object:
    from ptokit.ir.module import Value
    from ptokit.isa.model.types import PtrType
    from ptokit.launch.fills import Completed

    value = argument(text, seed)
    if not isinstance(value, Completed):
        return value
    if value.dtype is None or value.shape is None:
        usage(f"{name}={text}: add element type and extents, as in {text}:f32:64x64")
    return value.array(Value(name, PtrType(value.dtype)))
