"""`run --golden`: the arrays of a run as raw files, named as device test suites name them.

The public suites have a folder for each case with `input.bin`, or `input1.bin` and so on, and
`golden.bin`; the program on the board writes `output.bin` beside them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptokit.diagnostics.printable import counted
from ptokit.forms.complete import dtype_of_array
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import PtrType
from ptokit.launch.files import new_folder, write_arrays
from ptokit.tools.cli.values import is_array

if TYPE_CHECKING:
    from ptokit.tools.cli.completedrun import CompletedRun
    from ptokit.values.dtypes import DType
    from ptokit.values.host import AnyArray

ARRAYS = (PtrType, GlobalType, TileType, ConvTileType)


def write_board_data(folder: Path, done: CompletedRun, kernel: str, target: str) -> None:
    """Write the arrays that a run was given and gave, elements alone, and a manifest."""
    ready, outputs = done.ready, done.result.outputs
    given = [(arg.name, ready.given.get(arg.name)) for arg in ready.func.args]
    inputs = {n: a for n, a in given if is_array(a) and (n not in outputs or a.any())}
    stated = {a.name: a.type.dtype for a in ready.func.args if isinstance(a.type, ARRAYS)}
    found = {n: dtype for n, a in inputs.items() if (dtype := dtype_of_array(a)) is not None}
    dtypes = found | stated | dict(done.result.dtypes)
    numbers = {n: a for n, a in given if isinstance(a, int | float)}
    with new_folder(folder) as partial:
        manifest: dict[str, object] = {
            **{"ptokit": version("ptokit"), "kernel": kernel, "function": ready.func.name},
            **{"target": target, "blocks": ready.options.blocks, "numbers": numbers},
            "inputs": _written(partial, "input", inputs, dtypes),
            "outputs": _written(partial, "golden", outputs, dtypes),
        }
        text = json.dumps(manifest, indent=1)
        (partial / "manifest.json").write_text(text + "\n", encoding="utf-8")
    what = f"{counted(len(inputs), 'input')}, {counted(len(outputs), 'output')}"
    click.echo(f"{folder}: {what}", err=True)


def _written(
    folder: Path, stem: str, arrays: dict[str, AnyArray], dtypes: Mapping[str, DType]
) -> list[dict[str, object]]:
    """Write arrays; what the manifest says of each."""
    rows: list[dict[str, object]] = []
    for number, (name, array) in enumerate(arrays.items(), 1):
        mark = number if len(arrays) > 1 else ""
        file, dtype = folder / f"{stem}{mark}.bin", dtypes[name]
        write_arrays([(file, array, dtype)])
        row: dict[str, object] = {"name": name, "file": file.name, "dtype": str(dtype)}
        row |= {"shape": list(array.shape), "bytes": file.stat().st_size}
        rows.append(row | ({"board": f"output{mark}.bin"} if stem == "golden" else {}))
    return rows
