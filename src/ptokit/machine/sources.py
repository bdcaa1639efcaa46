"""The sources of ptokit: what it keeps on disk holds as long as they do not change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from os import scandir
from pathlib import Path


@cache
def fingerprint_without(folders: frozenset[str] = frozenset()) -> str:
    """Return the name, size and time of every source file, without those in some top folders."""
    base = Path(__file__).parents[1]
    kept = (f for f in base.iterdir() if f.is_dir() and f.name not in folders)
    return "\n".join(sorted(line for f in kept for line in _sources(str(f), f"{f.name}/")))


def _sources(folder: str, name: str) -> Iterator[str]:
    """Yield a line for each source file in a folder; `pathlib` takes seven times as long."""
    with scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                stat = entry.stat()
                yield f"{name}{entry.name} {stat.st_size} {stat.st_mtime_ns}"
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path, f"{name}{entry.name}/")
