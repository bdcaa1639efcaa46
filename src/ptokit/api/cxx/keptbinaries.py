"""Compiled binaries, kept by the content of everything they were made of.

It is used from a folder that this process made for itself, never from one that others can write.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ptokit.machine import codefolder


class KeptBinary(NamedTuple):
    """A compiled binary, with the hash of each header that the compiler read."""

    headers: Mapping[str, str]
    content: bytes

    def is_current(self) -> bool:
        """True if no header has changed since."""
        return all(hash_of(Path(name)) == known for name, known in self.headers.items())


def kept(name: str) -> KeptBinary | None:
    """Return what was kept under a name; None where a header has changed since."""
    raw = codefolder.read(name)
    if raw is None:
        return None
    end = 8 + int.from_bytes(raw[:8], "little")
    found = KeptBinary(json.loads(raw[8:end]), raw[end:])
    return found if found.is_current() else None


def keep(name: str, made: KeptBinary) -> None:
    """Keep what was made under a name."""
    listed = json.dumps(made.headers).encode()
    codefolder.write(name, len(listed).to_bytes(8, "little") + listed + made.content)


def read_headers(rules: Path, source: Path) -> Iterator[str]:
    """Yield the headers that the compiler's rule for Make names."""
    text = rules.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    listed = re.split(r"(?<!\\)\s+", text.partition(": ")[2].strip())
    for name in listed:
        plain = re.sub(r"\\([ #\\])", r"\1", name).replace("$$", "$")
        if plain and plain != str(source):
            yield plain


@cache
def _known_hash(name: str, stamp: tuple[int, int]) -> str:
    del stamp  # a file with another time or size is read again
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


def hash_of(path: Path) -> str:
    """Return the hash of a file's content; empty where it cannot be read."""
    try:
        found = path.stat()
        return _known_hash(str(path), (found.st_mtime_ns, found.st_size))
    except OSError:
        return ""


_places: dict[tuple[str, int], Path] = {}


def placed(content: bytes, file: str) -> Path:
    """Return a file of this name and content, in a folder that only this process uses."""
    key = f"{file}-{hashlib.sha256(content).hexdigest()}", os.getpid()
    if key not in _places or not _places[key].is_file():
        folder = Path(tempfile.mkdtemp(prefix="ptokit-"))
        atexit.register(_removed, folder, os.getpid())
        path = folder / file
        path.write_bytes(content)
        _places[key] = path
    return _places[key]


def _removed(folder: Path, owner: int) -> None:
    """Remove a folder at the end of the process that made it, not of one that it forked."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
