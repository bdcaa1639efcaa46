"""The gallery: the notebooks of examples/ with the outputs that are kept in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

from account.site.guides import ROOT
from account.site.markdown import Page, code

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


class Output(TypedDict, total=False):
    """What a cell shows: representations of a value, or printed text."""

    data: dict[str, str | Sequence[str]]
    text: Sequence[str]


class Cell(TypedDict):
    """A cell of a notebook; `outputs` only of code."""

    cell_type: str
    source: str | Sequence[str]
    outputs: list[Output]


def notebook_pages() -> Iterator[Page]:
    """A page for each notebook."""
    for path in NOTEBOOKS:
        yield f"gallery/{path.stem}.md", partial(notebook, path)


def notebook(path: Path) -> str:
    """The cells of a notebook, each with its outputs."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _shown(cell)) + "\n"


def _shown(cell: Cell) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield text
        return
    yield code(text, "python")
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text/html" in data:  # of one line: a blank one would end the HTML
            page = "".join(data["text/html"])
            yield f'<div class="output">{_one_line(page)}</div>'
        elif "text/plain" in data:
            yield code("".join(data["text/plain"]))
        else:
            yield code("".join(output.get("text", ())))


def _one_line(page: str) -> str:
    return page.replace("\n", "&#10;") if "<pre" in page else page.replace("\n", " ")
