"""`explain` and `layout`: pages of the manual, and pictures of layouts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import DEFAULT_TARGET
from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.terminal import drawing


@click.command(short_help="Print the manual page of an instruction, type or diagnostic.")
@click.argument("name", required=False)
@click.option(
    "--lang",
    type=click.Choice(("en", "zh")),
    default="en",
    show_default=True,
    help="Language of the summaries and titles of instructions.",
)
@program_errors
def explain(name: str | None, lang: str) -> None:
    """Explain an instruction, a type, a location, a diagnostic; without NAME, list all pages."""
    from ptokit.tools.manual import contents, suggestions
    from ptokit.tools.manual import explain as manual

    page = contents(lang) if name is None else manual(name, lang)
    if page is None:
        assert name is not None
        near = ", ".join(suggestions(name))
        where = f"near: {near}" if near else "`ptokit explain` lists everything"
        usage(f"no page {name!r}; {where}")
    click.echo(page)


@click.command(short_help="Draw the memory layout of a tile.")
@click.argument("dtype")
@click.argument("shape")
@click.argument("layout")
@click.option("--fractal", type=int, help="512, 1024 or 32.  [default: 512]")
@click.option("--loc", default="mat", show_default=True, help="Location of the tile.")
@click.option("--svg", type=click.Path(path_type=Path), help="Write a picture to this file.")
@click.option("--at", metavar="ROW,COL", help="Also print the offset of this element.")
@program_errors
def layout(
    dtype: str,
    shape: str,
    layout: str,
    fractal: int | None,
    loc: str,
    svg: Path | None,
    at: str | None,
) -> None:
    """Draw where the elements of a tile live: `ptokit layout f16 64x256 nz`."""
    from ptokit.analysis.checker import type_errors
    from ptokit.api.tensors import dtype_of, word
    from ptokit.isa.model.tiles import tile_type
    from ptokit.launch.files import write_files
    from ptokit.tools.draw import layout_picture
    from ptokit.tools.svg import layout_svg
    from ptokit.values.enumerations import Loc
    from ptokit.values.layouts import Layout

    rows, cols = _numbers(shape, "x", "SHAPE: expected ROWSxCOLS, such as 64x256")
    position = None if at is None else _numbers(at, ",", "--at: expected ROW,COL, such as 3,17")
    if position is not None and not (position[0] < rows and position[1] < cols):
        usage(f"--at {at}: the tile has {rows} rows and {cols} columns, counted from 0")
    with call_errors():
        place, elements = word(Loc, loc, "location"), dtype_of(dtype)
        arranged = word(Layout, layout, "layout")
    kind = tile_type(place, elements, rows, cols, layout=arranged, fractal=fractal or 512)
    for problem in type_errors(kind, DEFAULT_TARGET, "the tile", None):
        raise PtoError(problem)
    click.echo(layout_picture(kind, _painted), drawing(sys.stdout))
    if svg is not None:
        write_files([(svg, layout_svg(kind).encode())])
    if position is not None:
        offset = kind.map.offset(*position)
        click.echo(f"{position} is element {offset}, byte {offset * kind.dtype.bits // 8}")


DIGITS = re.compile(r"\s*[0-9]{1,18}\s*")


def _painted(text: str, group: int) -> str:
    """Return text in a colour of its group; click removes colours outside of terminals."""
    colours = ("cyan", "yellow", "green", "magenta")
    return text if group < 0 else click.style(text, fg=colours[group % len(colours)])


def _numbers(text: str, separator: str, form: str) -> tuple[int, int]:
    parts = text.lower().split(separator)
    if len(parts) != 2 or not all(DIGITS.fullmatch(p) for p in parts):
        usage(f"{text!r}: {form}")
    return int(parts[0]), int(parts[1])
