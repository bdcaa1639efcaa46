"""`new`: a starting point for a kernel in Python, with its test."""

from __future__ import annotations

import sys
from keyword import iskeyword
from pathlib import Path

import click

from ptokit.tools.cli.failures import program_errors, usage
from ptokit.tools.cli.options import AdvisedGroup

KERNEL = '''\
"""{title}: y = x * scale, row by row; change it into what you need."""

import ptokit as pto


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def {name}(x: pto.In, y: pto.Out, *, scale: float = 2.0, high: int = 32) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        pto.store(pto.block(y, i * high, 0, high, width), t * scale)
'''
TEST = '''\
"""{title} computes what NumPy does, on every target and engine, for sizes around a block."""

import numpy as np
import pytest

from {name} import {name}


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 103])
def test_{name}(target: str, rows: int) -> None:
    x = np.random.default_rng(rows).random((rows, 50)).astype(np.float32)
    y = np.zeros_like(x)
    {name}.on(target)(x, y)
    np.testing.assert_allclose(y, x * 2.0, rtol=1e-6)
    {name}.on(target).verify(x, y)
'''


IMPORTED = {"np", "numpy", "pto", "ptokit", "pytest"}  # by the files that are written


@click.group(cls=AdvisedGroup)
def new() -> None:
    """Write the first files of a kernel of your own."""


@new.command(short_help="A kernel in Python and its test.")
@click.argument("name")
@click.option(
    "--folder",
    help="Folder for the files.",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
)
@program_errors
def kernel(name: str, folder: Path) -> None:
    """Write a kernel in Python, NAME.py, and its test, test_NAME.py; no file is overwritten."""
    from ptokit.launch.files import write_files

    _require_name(name)
    files = {f"{name}.py": KERNEL, f"test_{name}.py": TEST}
    taken = [str(folder / file) for file in files if (folder / file).exists()]
    if taken:
        usage(f"{taken[0]} exists: choose another name, or remove it")
    title = name.replace("_", " ").capitalize()
    made = [(folder / f, text.format(name=name, title=title).encode()) for f, text in files.items()]
    write_files(made)
    for path, _ in made:
        click.echo(f"wrote {path}")


def _require_name(name: str) -> None:
    """Raise a usage error unless the name suits a function and a module."""
    if not name.isidentifier() or iskeyword(name):
        usage(f"{name!r} is not a valid Python name")
    if name in sys.stdlib_module_names or name in IMPORTED:
        usage(f"{name}.py would hide the module {name!r} of Python: choose another name")
