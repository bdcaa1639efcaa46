"""`diff`: the worst elements of two arrays, and where the arrays differ."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.options import tolerance_options
from ptokit.tools.cli.values import expectation, stated_array


@click.command(short_help="Show how two arrays differ, and where.")
@click.argument("found")
@click.argument("expected")
@tolerance_options
@click.option("--block", metavar="RxC", help="Rows and columns of a block of the map.")
@click.option("--svg", metavar="FILE", type=click.Path(path_type=Path), help="Draw the map.")
@program_errors
def diff(
    found: str,
    expected: str,
    block: str | None,
    svg: Path | None,
    **tolerance: Any,  # Any: click's parameters
) -> None:
    """Compare FOUND with EXPECTED: .npy files, or raw files with type and extents.

    Of arrays that differ the worst elements are listed, a histogram tells how many units in the
    last place they are apart, and a map where they differ. Status 1 if they differ. Tolerances are
    those of `run --expect`.
    """
    from ptokit.api.compare import Tolerance, paired
    from ptokit.launch.files import write_files
    from ptokit.tools.arraydiff import DiffMap, report

    size = None if block is None else re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", block)
    if block is not None and size is None:
        usage(f"--block {block}: expected rows and columns, as in 16x16")
    with call_errors():
        within = Tolerance(**tolerance)
        within.require("--")
        first, dtype = stated_array(found)
        pair = paired(first, expectation(expected).of(expected, dtype, first.shape), found, dtype)
    click.echo("\n".join(report(pair, found, within)))
    wrong = pair.wrong(within)[0].reshape(pair.shape)
    if not wrong.any():
        return
    drawn = DiffMap.of(wrong, None if size is None else (int(size[1]), int(size[2])))
    click.echo("\n".join(["", *drawn.lines()]))
    if svg is not None:
        write_files([(svg, drawn.svg().encode())])
    sys.exit(1)
