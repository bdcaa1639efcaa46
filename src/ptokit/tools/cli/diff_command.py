"""`diff`: two arrays, the worst of their elements, and where they differ; two runs; two traces."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.kernelfiles import is_kernel, kernels_of
from ptokit.tools.cli.options import BLOCKS, ENTRY, SEED, taken, tolerance_options
from ptokit.tools.cli.values import expectation, stated_array

TRACE = re.compile(rb"(\[[^\]\n]*\])?\s*\d+  .{8}\S+\s")


@click.command(short_help="Show how two arrays, runs or traces differ, and where.")
@click.argument(
    "words",
    type=click.Path(allow_dash=True),
    nargs=-1,
    required=True,
    metavar="A [B] [[NAME=]VALUE]...",
)
@tolerance_options
@click.option("--block", metavar="RxC", help="Rows and columns of a block of the map.")
@click.option("--svg", metavar="FILE", type=click.Path(path_type=Path), help="Draw the map.")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Of runs: one, or two.")
@click.option("--engine", "engines", multiple=True, metavar="NAME", help="Of runs: one, or two.")
@click.option("--passes", metavar="NAME,...", help="Compare A with itself after these passes.")
@ENTRY
@BLOCKS
@SEED
@program_errors
def diff(words: tuple[str, ...], **asked: Any) -> None:  # Any: click's parameters
    """Compare two arrays, two runs of programs, or two traces. Status 1 if they differ.

    Arrays: A and B are .npy files, or raw files with type and extents. The worst elements are
    listed, a histogram tells how many units in the last place they are apart, and a map where they
    differ. Tolerances are those of `run --expect`.

    Runs: A is a kernel, with the arguments of `run`; arrays that are not given are random. Exactly
    one thing differs: a second kernel B, two of --target, two of --engine, or --passes. The first
    instruction whose result differs is named, by the digests that `run --trace` writes, and of
    several passes the first that changes a result. Of two engines the outputs are compared, and the
    first store of an element that differs is named.

    Traces: A and B are files that `run --trace` wrote.
    """
    from ptokit.tools.cli.program_diff import SidesAsked, differences

    given = taken(SidesAsked, asked)
    if is_kernel(Path(words[0])):
        if len(asked) != sum(value is None for value in asked.values()):
            usage(
                "results of runs are compared bit for bit: remove the tolerance, --block and --svg"
            )
        kernels, arguments = kernels_of(words)
        lines, differ = differences(given.sides(kernels, arguments))
        click.echo("\n".join(lines))
        sys.exit(int(differ))
    if given != SidesAsked((), (), None, None, 1, 0):
        usage("--target, --engine, --passes, --entry, --blocks and --seed are about kernels")
    if len(words) != 2:
        usage(f"expected two arrays, two traces, or a kernel first; got {' '.join(words)}")
    if all(map(is_trace, words)):
        _traces(*words)
    else:
        _arrays(*words, **asked)


def is_trace(name: str) -> bool:
    """True of a file that begins as the text of a trace does."""
    from ptokit.launch.files import CHUNK

    path = Path(name)
    if path.suffix in (".npy", ".bin") or not path.is_file():
        return False
    with path.open("rb") as file:
        return TRACE.match(file.read(CHUNK)) is not None


def _traces(found: str, expected: str) -> None:
    from ptokit.tools.rundiff import compared_traces, read_trace, trace_report

    sides = [
        read_trace(Path(name).read_text(encoding="utf-8", errors="replace").splitlines())
        for name in (found, expected)
    ]
    outcome = compared_traces(*sides)
    click.echo("\n".join(trace_report(outcome, (found, expected))))
    sys.exit(int(outcome.first is not None or any(outcome.alone)))


def _arrays(
    found: str,
    expected: str,
    block: str | None,
    svg: Path | None,
    **tolerance: object,
) -> None:
    from ptokit.api.compare import Tolerance, paired
    from ptokit.launch.files import write_files
    from ptokit.tools.arraydiff import DiffMap, report

    size = None if block is None else re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", block)
    if block is not None and size is None:
        usage(f"--block {block}: expected rows and columns, as in 16x16")
    with call_errors():
        within = taken(Tolerance, tolerance)
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
