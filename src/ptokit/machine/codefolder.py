"""The folder of compiled code, by the hash of everything that the code depends on.

A file is written next to its place and moved there. Its head is the hash of its name and content.
ptokit runs code from the folder, so it reads only files and folders that belong to the user and
that no other user may write.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
import warnings
from contextlib import suppress
from pathlib import Path

KEEP = 2000  # files, plus about PRUNE_EVERY; the oldest are removed first
PRUNE_EVERY = 64  # of so many writes, one lists the folder
NAME = re.compile(r"[0-9a-f]{64}\.o")
OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNFINISHED, AN_HOUR = ".ptokit-", 3600  # files that a killed process leaves behind


class CacheWarning(UserWarning):
    """The folder of compiled code, or a file in it, may be written by other users."""


def name_of(parts: object) -> str:
    """Return the name of the code that depends on `parts` alone."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def folder() -> Path | None:
    """Return the folder of code: PTOKIT_CACHE, or the user's cache folder; None if unusable."""
    given = os.environ.get("PTOKIT_CACHE")
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        place = Path(given) if given else base / "ptokit"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not given and _is_mine(place.stat()):
            place.chmod(0o700)
        mine = _trusted(place, place.stat())
    except (OSError, RuntimeError):  # the home folder is unknown
        return None
    return place if mine else None


def _is_mine(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid()


def _trusted(path: Path, found: os.stat_result) -> bool:
    """Return whether only this user can write a file or folder; else warn, once for a folder."""
    if _is_mine(found) and not found.st_mode & OTHERS:
        return True
    place = path.parent if path.suffix == ".o" else path
    if place not in _warned:
        _warned.add(place)
        why = "may be written by other users" if _is_mine(found) else "belongs to another user"
        help = "give PTOKIT_CACHE a folder of your own (chmod 700), or unset it"
        message = f"{path} {why}, so ptokit does not run code from it: {help}"
        warnings.warn_explicit(message, CacheWarning, str(place), 1)
    return False


_warned: set[Path] = set()


def read(name: str) -> bytes | None:
    """Return the content that was written under this name, if the user's own file has it."""
    here = folder()
    if here is None:
        return None
    path = here / f"{name}.o"
    try:  # no link and no pipe, which may belong to another user
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or not _trusted(path, found):
                return None
            raw = file.read()
    except OSError:
        return None
    start = raw[: len(_start(name, b""))]
    content = raw[len(start) :]
    return content if start == _start(name, content) else None


def _start(name: str, content: bytes) -> bytes:
    """Return the head of a file, which proves that the rest is complete and of this name."""
    return hashlib.sha256(name.encode() + content).digest()


def write(name: str, content: bytes) -> None:
    """Store a content under a name. Best effort: a full or read-only disk only costs time."""
    here, made = folder(), None
    if here is None:
        return
    import tempfile  # most processes find everything

    try:
        with tempfile.NamedTemporaryFile(dir=here, prefix=UNFINISHED, delete=False) as file:
            made = Path(file.name)
            file.write(_start(name, content) + content)
        made.replace(here / f"{name}.o")
        made = None
        if int(name, 16) % PRUNE_EVERY == 0:  # names are hashes: most processes list nothing
            _prune(here)
    except OSError:
        pass
    finally:
        if made is not None:
            with suppress(OSError):
                made.unlink()


def _prune(place: Path) -> None:
    """Remove the oldest files and unfinished ones; leave all other files."""
    with os.scandir(place) as entries:  # OSError if another process removes one meanwhile
        every = [(entry.name, entry.stat(follow_symlinks=False).st_mtime) for entry in entries]
    files = sorted((at, name) for name, at in every if NAME.fullmatch(name))
    old = [name for _, name in files[: max(0, len(files) - KEEP)]]
    late = time.time() - AN_HOUR
    for name in (*old, *(n for n, at in every if n.startswith(UNFINISHED) and at < late)):
        (place / name).unlink(missing_ok=True)
