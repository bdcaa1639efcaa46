"""C++ compilers of this machine: the one that is named, or the first that knows C++20."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, error

STANDARD = "-std=c++20"
# No optimisation: a return address tells the line of a call, and no multiply-add is contracted.
OPTIONS = (STANDARD, "-O0", "-g1", "-fPIC", "-w", "-pthread", "-ffp-contract=off")
OLDEST = {"g++": 12, "clang++": 15}  # that have C++20 and _Float16
VERSIONED = re.compile(r"(g\+\+|clang\+\+)-(\d+)")
CHOSEN = "PTOKIT_CXX"  # the variable that names a compiler


@dataclass(frozen=True)
class CppCompiler:
    """A C++ compiler of this machine: its path, whether it is clang, and its version's text."""

    path: str
    clang: bool
    version: str

    @property
    def options(self) -> tuple[str, ...]:
        few = "-ferror-limit=20" if self.clang else "-fmax-errors=20"
        plain = "-fno-color-diagnostics" if self.clang else "-fdiagnostics-color=never"
        own = (few, plain) if self.clang else (few, plain, "-fno-gnu-unique")
        linked = () if sys.platform == "darwin" else ("-Wl,-Bsymbolic", "-Wl,-z,defs")
        return (*OPTIONS, *own, *linked)


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a compiler to its end, with messages in English."""
    here = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", env=here)


def found_compiler(name: str | None = None) -> CppCompiler:
    """Return the compiler of this name, or the first one of this machine that knows C++20."""
    wanted = name or os.environ.get(CHOSEN)
    known = [*([wanted] if wanted else _candidates())]
    reasons: list[str] = []
    for each in known:
        path = shutil.which(each)
        found = None if path is None else _judged(path)
        if isinstance(found, CppCompiler):
            return found
        reasons.append(f"{each}: {found or 'not found'}")
    raise _missing(wanted, reasons)


def _missing(wanted: str | None, reasons: Sequence[str]) -> PtoError:
    slug = "no-compiler"
    oldest = " or ".join(f"{name} {number}" for name, number in OLDEST.items())
    install = "xcode-select --install" if sys.platform == "darwin" else "apt install g++"
    return error(
        slug,
        f"{wanted}: {CATALOGUE[slug].title}" if wanted else CATALOGUE[slug].title,
        seen="; ".join(reasons) or "neither g++ nor clang++ is in PATH",
        help=f"install {oldest}, or newer ({install}); {CHOSEN} and --compiler name another",
    )


def _candidates() -> Iterator[str]:
    """Yield the names of compilers that PATH has: plain ones, then numbered ones, newest first."""
    yield from (name for name in OLDEST if shutil.which(name))
    numbered: set[tuple[int, str]] = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        numbered |= {(int(m[2]), m[0]) for m in map(VERSIONED.fullmatch, names) if m}
    yield from (name for _, name in sorted(numbered, reverse=True))


def _judged(path: str) -> CppCompiler | str:
    """Return a compiler, or why it is none that can be used."""
    try:
        return _asked(path, os.stat(path).st_mtime_ns)
    except OSError as problem:
        return f"cannot start: {problem.strerror}"


@cache
def _asked(path: str, stamp: int) -> CppCompiler | str:
    del stamp  # an installation that has changed is asked again
    done = run([path, "--version"])
    first, number = done.stdout.partition("\n")[0], re.search(r"(\d+)\.\d+", done.stdout)
    if done.returncode or number is None:
        return "no version printed"
    clang = "clang" in done.stdout
    oldest = OLDEST["clang++" if clang else "g++"]
    if int(number[1]) < oldest:
        return f"version {number[1]} is older than {oldest}"
    return CppCompiler(path, clang, first)
