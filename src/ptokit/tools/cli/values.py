"""Parsing of values on the command line: arguments by position and by name, outputs, types."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import click

from ptokit.tools.cli.failures import usage

if TYPE_CHECKING:
    from ptokit.api.compare import Comparison, Tolerance
    from ptokit.isa.model.types import Type
    from ptokit.launch.fills import Completed
    from ptokit.values.dtypes import DType
    from ptokit.values.host import AnyArray

NAMED = r"(?s)%?([\w.$-]+(?:@\w+)?)=(.+)"
TRUTH = {"true": True, "false": False}
NEGATIVE = r"-\.?\d"
OF_RANK = r"[\w.$-]+@\d+(?:\+\d+)?"  # an argument of a rank, instead of an array


class TakesNumbers(click.Command):
    """A command that explains how to give a negative number, which looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            sign = problem.option_name
            word = next((w for w in words if w.startswith(sign) and re.match(NEGATIVE, w)), None)
            if word is None:
                raise
            usage(f"unknown option {word}: give a negative number by name, as in n={word}")


def split(texts: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Split arguments into those by position and those NAME=VALUE; names have no slash."""
    by_name = [text for text in texts if "=" in text and "/" not in text.partition("=")[0]]
    return [text for text in texts if text not in by_name], by_name


def assigned(texts: tuple[str, ...] | list[str], what: str) -> dict[str, str]:
    """Return values by name from words NAME=VALUE, each name once; `what` is a message prefix."""
    found: dict[str, str] = {}
    for text in texts:
        match = re.fullmatch(NAMED, text)
        if match is None:
            usage(f"{what}{text!r} is not of the form NAME=VALUE")
        name, value = match.groups()
        if name in found:
            usage(f"{what}duplicate {name}=: {found[name]} and {value}")
        found[name] = value
    return found


def output(text: str) -> Path:
    """Return the file of an output."""
    from ptokit.launch.fills import path_and_details

    path, details = path_and_details(text)
    if details:
        usage(f"-o {text}: an output keeps its element type and extents; write -o {path}")
    if Path(text).suffix not in ("", ".npy", ".bin"):
        usage(f"-o {text}: expected a .npy or .bin file")
    return Path(text)


def argument(text: str, seed: int) -> AnyArray | float | str | Completed:
    """Return the value of a word; .npy files are read, the name of a rank's array is kept."""
    from ptokit.launch.files import read_array
    from ptokit.launch.fills import completed

    try:
        value = completed(text, seed)
    except ValueError as problem:
        usage(f"{text}: {problem}")
    if value is not None:
        return value
    if re.fullmatch(OF_RANK, text):
        return text
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    for number in (lambda: int(text, 0), lambda: float(text)):
        try:
            return number()
        except ValueError:
            continue
    return read_array(text)


def is_array(value: object) -> TypeGuard[AnyArray]:
    """True of an argument that is an array, not a number or a name."""
    import numpy as np

    return isinstance(value, np.ndarray)


def expectation(text: str) -> Expectation:
    """Return the expected value of an output: a file, `zeros` or `random`."""
    from ptokit.launch.files import require_readable
    from ptokit.launch.fills import RawFile

    value = argument(text, 0)
    if isinstance(value, int | float | str):
        usage(f"--expect {text}: name a file, as in --expect c=golden.npy")
    if isinstance(value, RawFile):
        require_readable(value.path)
    return Expectation(value)


def stated_array(text: str) -> tuple[AnyArray, DType]:
    """Return an array and its element type, from a .npy file or a.bin:f16:16x32."""
    from ptokit.forms.complete import dtype_of_array
    from ptokit.launch.fills import Completed

    given = expectation(text)
    if isinstance(given.value, Completed):
        dtype, shape = given.value.dtype, given.value.shape
        if dtype is None or shape is None:
            usage(f"{text}: give element type and extents, as in {given.value.written}:f16:16x32")
        return given.of(text, dtype, shape), dtype
    dtype = dtype_of_array(given.value)
    if dtype is None:
        usage(f"{text}: unsupported element type {given.value.dtype}")
    return given.value, dtype


@dataclass(frozen=True)
class Expectation:
    """An array, or a value that becomes an array once the output is known."""

    value: AnyArray | Completed

    def of(self, name: str, dtype: DType, shape: tuple[int, ...]) -> AnyArray:
        """Return the expected array for an output with these extents."""
        import numpy as np

        from ptokit.ir.module import Value
        from ptokit.isa.model.types import PtrType
        from ptokit.launch.fills import Completed

        if not isinstance(self.value, Completed):
            return self.value
        stated = replace(self.value, shape=self.value.shape or shape)
        return np.asarray(stated.array(Value(name, PtrType(dtype))))


@dataclass(frozen=True)
class Golden:
    """The expected outputs and the tolerance."""

    expect: tuple[str, ...]
    within: Tolerance

    @cached_property
    def values(self) -> dict[str, Expectation]:
        """Return the expected values, by the names of outputs."""
        return {n: expectation(t) for n, t in assigned(self.expect, "--expect ").items()}

    def compared(self, name: str, found: AnyArray, dtype: DType) -> Comparison:
        """An output beside what is expected."""
        from ptokit.api.compare import paired

        golden = self.values[name].of(name, dtype, found.shape)
        try:
            return paired(found, golden, name, dtype).compared(name, self.within)
        except ValueError as problem:
            usage(f"--expect {problem}")


def type_from(text: str) -> Type:
    """Return the type with this spelling."""
    from ptokit.text.types.parts import BadType
    from ptokit.text.types.typereader import type_named

    try:
        return type_named(text)
    except BadType as problem:
        usage(f"--type: {problem}")
