"""Tiles of a run as files: what each instruction wrote, and an index that says where."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ptokit.ir.module import AnyOp, Op
from ptokit.launch.files import write_arrays
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.observer import Observer
from ptokit.machine.tile import GlobalView, Matrix
from ptokit.tools.shown import array_of, codes_shown, place_shown
from ptokit.tools.tracing import defined_or_written
from ptokit.values.host import values_of

if TYPE_CHECKING:
    from ptokit.ir.module import Value

MOST = 10_000  # files


class TileDump(Observer):
    """Writes each tile that an instruction wrote to a folder, and what parts of arrays it stored.

    `names`: of the values that are written, or none for all. `full` is called instead of writing
    more files than anyone reads.
    """

    stepwise = True

    def __init__(self, folder: Path, names: Collection[str], full: Callable[[], object]) -> None:
        self._folder, self._names, self._full = folder, names, full
        self.untold = list(names)  # nothing of these was written yet
        self._index: list[dict[str, object]] = []
        self._times: Counter[tuple[str, int, str]] = Counter()

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """Write what an instruction wrote."""
        if not isinstance(op, Op) or not op.page.executes:
            return
        for value in defined_or_written(op):
            seen = env[value]
            if isinstance(seen, Matrix) and (not self._names or value.name in self._names):
                self._write(op, value, seen, place_shown(core))

    def _write(self, op: Op, value: Value, seen: Matrix, core: str) -> None:
        if len(self._index) == MOST:
            self._full()
        if value.name in self.untold:
            self.untold.remove(value.name)
        line = op.span.line if op.span else 0
        self._times[core, line, value.name] += 1
        codes, name = codes_shown(seen), f"{len(self._index):05}-{value.name}.npy"
        write_arrays([(self._folder / name, values_of(codes, seen.dtype), seen.dtype)])
        self._index.append(
            {
                **{"file": name, "name": value.name, "line": line, "instruction": op.name},
                **{"core": core, "execution": self._times[core, line, value.name]},
                **{"memory": "global" if isinstance(seen, GlobalView) else str(seen.type.loc)},
                **{"dtype": str(seen.dtype), "shape": list(codes.shape)},
                "undefined": int(np.ma.getmaskarray(array_of(seen)).sum()),
            }
        )

    def write_index(self, about: dict[str, object]) -> int:
        """Write the index; the number of files that it lists."""
        head, rows = json.dumps(about)[1:-1], ",\n".join(map(json.dumps, self._index))
        text = f'{{{head}, "tiles": [\n{rows}\n]}}\n'
        (self._folder / "index.json").write_text(text, encoding="utf-8")
        return len(self._index)
