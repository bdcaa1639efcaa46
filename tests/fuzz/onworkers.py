"""`make fuzz FUZZ_SCHEDULER=tcp://HOST:PORT`: random kernels on the workers of a Dask cluster.

Workers need ptokit, not its tests: they are sent the files that random kernels are made with.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from ptokit.api.workers import connected, spread

TESTS = Path(__file__).parents[1]
SLICE = 20  # kernels a call

Files: TypeAlias = "dict[str, str]"  # text by place
Found: TypeAlias = "tuple[int, str, str]"  # status and what was printed


def search() -> Callable[[Files, tuple[int, int]], Found]:
    """What a worker does: a function inside a function, so that its text is sent along."""

    def on_worker(files: Files, seeds: tuple[int, int]) -> Found:
        import os
        import subprocess
        import sys
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory() as folder:
            for place, text in files.items():
                path = Path(folder, place)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, str(Path(folder, "fuzz", "kernels.py")), *map(str, seeds)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join([f"{folder}/laws", *sys.path])},
                capture_output=True,
                text=True,
            )
        return done.returncode, done.stdout, done.stderr

    return on_worker


def searched_on(scheduler: str, first: int, count: int) -> Found:
    """The seeds from `first` on; the first status that is not 0, and all that was printed."""
    files = {
        str(path.relative_to(TESTS)): path.read_text(encoding="utf-8")
        for folder in ("fuzz", "laws")
        for path in (TESTS / folder).glob("*.py")
    }
    last = first + count
    seeds = [(n, min(SLICE, last - n)) for n in range(first, last, SLICE)]
    with connected(scheduler) as client:
        found = spread(client, search(), files, seeds)
    status = next((status for status, _, _ in found if status), 0)
    return status, "".join(out for _, out, _ in found), "".join(err for _, _, err in found)
