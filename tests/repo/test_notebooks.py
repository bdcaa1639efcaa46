"""The notebooks of examples/ run from top to bottom, and show what is kept in them.

`PTOKIT_UPDATE=1 pytest tests/repo/test_notebooks.py` writes the outputs anew: read the difference.
"""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from account.files import ROOT
from every import every

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
PATIENCE = 300  # seconds for a cell, and for a process to start, on a busy machine
FRESH = "get_ipython().reset(); get_ipython().execution_count = 1"
Json: TypeAlias = Any  # Any: JSON
nbformat: Any = import_module("nbformat.v4")  # Any: it has no types


def read(path: Path) -> Json:
    return nbformat.reads(path.read_text(encoding="utf-8"))


def plain(cell: Json, count: int) -> None:
    """A cell without times, numbered in its notebook; of an output with HTML only that."""
    cell.metadata.pop("execution", None)
    if cell.cell_type == "code":
        cell.execution_count = count
        for output in cell.outputs:
            assert output.get("execution_count", count) == count
            if "text/html" in output.get("data", {}):
                output["data"] = {"text/html": output["data"]["text/html"]}


def executed(books: dict[str, Json], folder: Path) -> None:
    """Run notebooks: one process for all of them, whose names are forgotten in between.

    It is spoken to over sockets in a folder, not over TCP, and reads no settings of the user.
    """
    parts = [[nbformat.new_code_cell(FRESH), *book.cells] for book in books.values()]
    whole = nbformat.new_notebook(cells=[cell for part in parts for cell in part])
    client = NotebookClient(
        whole,
        kernel_name="python3",
        timeout=PATIENCE,
        startup_timeout=PATIENCE,
        coalesce_streams=True,
        config=Config(KernelManager={"transport": "ipc", "ip": str(folder / "k")}),
    )
    client.execute(cwd=str(folder))
    for book in books.values():
        count = 0
        for cell in book.cells:
            count += cell.cell_type == "code"
            plain(cell, count)


def test_a_run_from_top_to_bottom_shows_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    books = {path.name: read(path) for path in NOTEBOOKS}
    with TemporaryDirectory(dir="/tmp") as short:  # names of sockets are short
        executed(books, Path(short))
    for path in NOTEBOOKS:
        text = nbformat.writes(books[path.name]) + "\n"
        if os.environ.get("PTOKIT_UPDATE"):
            path.write_text(text, encoding="utf-8")
        kept = read(path)
        assert json.loads(text) == json.loads(nbformat.writes(kept)), (
            f"{path.name} shows something else"
        )


@every("path", NOTEBOOKS, ids=NAMES)
def test_it_reads_as_a_lesson(path: Path) -> None:
    """Prose before code, short cells, pictures, and nothing of the machine it was run on."""
    assert path.stem in (path.parent / "README.md").read_text(encoding="utf-8")
    cells = read(path).cells
    assert cells[0].source.startswith("# ")
    code = [c for c in cells if c.cell_type == "code"]
    assert all(len(c.source.splitlines()) <= 26 for c in code)
    assert len(cells) - len(code) >= len(code) * 0.8
    outputs = json.dumps([c.outputs for c in code])
    assert outputs.count("<svg") + outputs.count("<img") >= 3
    assert not re.search(r"0x[0-9a-f]{6,}|/tmp|/home|/root|ipykernel_\d", outputs)
