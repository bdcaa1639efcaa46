"""Lines of C++ behind return addresses, asked of the debug information in one go."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ptokit.api.cxx.pending import addresses, placed
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.diagnostics.source import Source, Span

OURS = "/ptokit/api/cxx/include/"
TOOLS = ("addr2line", "llvm-addr2line", "llvm-addr2line-19", "atos")


class _Info(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )


def base_of(library: ctypes.CDLL, symbol: str) -> int:
    """Return where a library lies in this process."""
    info = _Info()
    place = ctypes.cast(getattr(library, symbol), ctypes.c_void_p)
    ctypes.CDLL(None).dladdr(place, ctypes.byref(info))
    return info.base or 0


class SourceLine(NamedTuple):
    """A line of a file."""

    file: str
    number: int


def lines_of(addresses: Iterable[int], base: int, library: Path) -> Mapping[int, Span | None]:
    """Return for each return address the line that calls: the innermost that is not of a header."""
    every = sorted({a for a in addresses if a})
    tool = next((found for name in TOOLS if (found := shutil.which(name))), None)
    if not every or tool is None:
        return {}
    offsets = "\n".join(f"{a - base - 1:#x}" for a in every)  # into the call, not behind it
    if tool.endswith("atos"):
        command = [tool, "-o", str(library), "-l", "0", "-i", "-fullPath"]
    else:
        command = [tool, "-i", "-a", "-e", str(library)]
    done = subprocess.run(command, input=offsets, capture_output=True, text=True, check=False)
    chains = _chains(done.stdout)
    return {a: _span(chain) for a, chain in zip(every, chains, strict=False)}


def _chains(text: str) -> list[list[SourceLine]]:
    """Read the frames of each address, the innermost first."""
    found: list[list[SourceLine]] = []
    for line in text.splitlines():
        if line.startswith("0x"):
            found.append([])
            continue
        file, _, number = line.partition(" (")[0].rpartition(":")
        if found and number.isdigit():
            found[-1].append(SourceLine(file, int(number)))
    return found


def _span(chain: list[SourceLine]) -> Span | None:
    for line in chain:
        if OURS not in line.file and line.number:
            return span_at(line.file, line.number)
    return None


def span_at(file: str, number: int) -> Span | None:
    """Return the span of a line without its indentation."""
    source = _source(file)
    if source is None or not 0 < number <= source.text.count("\n") + 1:
        return None
    text = source.line(number)
    start = sum(len(line) + 1 for line in source.text.split("\n")[: number - 1])
    indent = len(text) - len(text.lstrip())
    return Span(source, start + indent, start + len(text.rstrip()))


@cache
def _source(file: str) -> Source | None:
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    here = Path.cwd()
    name = file
    if Path(file).is_relative_to(here):
        name = str(Path(file).relative_to(here))
    return Source(name, text)


def with_lines(found: Sequence[Diagnostic], base: int, library: Path) -> list[Diagnostic]:
    """Return diagnostics with lines of C++ in the place of addresses."""
    lines: Mapping[int, Span | None] = lines_of(addresses(found), base, library)
    return [placed(one, lines) for one in found]
