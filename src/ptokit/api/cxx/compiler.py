"""C++ programs as libraries: which compiler, its options, and the folder where libraries are kept.

A library is kept by the content of all that it was made of. It is loaded from a folder that this
process made for itself, never from one that other users can write.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ptokit.api.cxx.compilererrors import compile_error
from ptokit.api.cxx.headers import INCLUDE, macro
from ptokit.api.cxx.translation import Unit, launching
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.isa.model.targets import Target
from ptokit.machine import codefolder

VERSION = 1  # of what this file does with a text
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


@dataclass(frozen=True)
class Build:
    """Options of a compilation: target, folders of headers, macros, compiler."""

    target: Target
    include: tuple[Path, ...] = ()
    define: Mapping[str, str | int | None] = field(default_factory=dict[str, "str | int | None"])
    compiler: str | None = None  # a name or path; None: the first one that is found
    flags: tuple[str, ...] = ()  # further ones of the compiler, libraries included


def library(files: Sequence[Path], build: Build, launch: str | None = None) -> Path:
    """Return the library of some files, compiled or kept from before.

    With `launch`, `name<template arguments>`, the first file's kernel of that name can be started.
    """
    folders = [path.resolve() for path in build.include]
    units = [Unit(path, folders) for path in files]
    texts = [unit.text(build.target) for unit in units]
    if launch is not None:
        texts[0] += launching(units[0], launch, build.target)
    compiler = found_compiler(build.compiler)
    quotes = dict.fromkeys(header.parent for unit in units for header in unit.texts)
    options = [*compiler.options, *_options(build, [*quotes], folders)]
    name = codefolder.name_of((VERSION, compiler.version, options, build.flags, texts))
    kept = codefolder.read(name)
    if kept is None or (found := _unpacked(kept)) is None:
        found = _compiled(compiler, [*options], build.flags, texts, units)
        codefolder.write(name, _packed(*found))
    return _placed(name, found[1])


def linked(libraries: Sequence[str]) -> list[str]:
    """Return the options that link libraries, in any order; one of them may have the `main`."""
    named = [f"-l{name}" for name in libraries]
    if not named:
        return []
    if sys.platform == "darwin":
        return ["-Wl,-u,_main", *named]
    return ["-Wl,-u,main", "-Wl,--start-group", *named, "-Wl,--end-group"]


def _options(build: Build, quotes: Sequence[Path], folders: Sequence[Path]) -> Iterator[str]:
    yield f"-D{macro(build.target.name)}"
    for name, value in {**build.target.macros, **build.define}.items():
        yield f"-D{name}" if value is None else f"-D{name}={value}"
    for folder in quotes:
        yield from ("-iquote", str(folder))
    for folder in (*folders, INCLUDE):
        yield f"-I{folder}"


def _compiled(
    compiler: CppCompiler,
    options: Sequence[str],
    flags: Sequence[str],
    texts: Sequence[str],
    units: Sequence[Unit],
) -> tuple[dict[str, str], bytes]:
    """Return the hashes of the headers that were read, and the library."""
    with tempfile.TemporaryDirectory(prefix="ptokit-") as made:
        folder, headers, objects = Path(made), dict[str, str](), list[str]()
        for number, (text, unit) in enumerate(zip(texts, units, strict=True)):
            source = folder / f"unit{number}.cpp"
            source.write_text(text, encoding="utf-8", errors="surrogateescape")
            rules, made_of = folder / "rules", source.with_suffix(".o")
            outputs = ["-c", str(source), "-o", str(made_of), "-MD", "-MF", str(rules)]
            done = _run([compiler.path, *options, *outputs])
            if done.returncode:
                raise compile_error(compiler.path, done.stderr, unit.path)
            headers |= {name: _hash(Path(name)) for name in _read_headers(rules, source)}
            objects.append(str(made_of))
        result = folder / "library.so"
        linked = [*compiler.options, "-shared", *objects, "-o", str(result), *flags]
        done = _run([compiler.path, *linked])
        if done.returncode:
            raise compile_error(compiler.path, done.stderr, units[0].path)
        return headers, result.read_bytes()


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    here = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, errors="replace", env=here)


def _read_headers(rules: Path, source: Path) -> Iterator[str]:
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


def _hash(path: Path) -> str:
    """Return the hash of a file's content; empty where it cannot be read."""
    try:
        found = path.stat()
        return _known_hash(str(path), (found.st_mtime_ns, found.st_size))
    except OSError:
        return ""


def _packed(headers: Mapping[str, str], content: bytes) -> bytes:
    listed = json.dumps(headers).encode()
    return len(listed).to_bytes(8, "little") + listed + content


def _unpacked(kept: bytes) -> tuple[dict[str, str], bytes] | None:
    """Return headers and library; None where a header has changed."""
    end = 8 + int.from_bytes(kept[:8], "little")
    headers: dict[str, str] = json.loads(kept[8:end])
    same = all(_hash(Path(name)) == known for name, known in headers.items())
    return (headers, kept[end:]) if same else None


_places: dict[tuple[str, int], Path] = {}


def _placed(name: str, content: bytes) -> Path:
    """Return a file of this content in a folder that only this process uses."""
    key = f"{name}-{hashlib.sha256(content).hexdigest()[:16]}", os.getpid()
    if key not in _places or not _places[key].is_file():
        folder = Path(tempfile.mkdtemp(prefix="ptokit-"))
        atexit.register(_removed, folder, os.getpid())
        file = folder / "library.so"
        file.write_bytes(content)
        _places[key] = file
    return _places[key]


def _removed(folder: Path, owner: int) -> None:
    """Remove a folder at the end of the process that made it, not of one that it forked."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


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
    done = _run([path, "--version"])
    first, number = done.stdout.partition("\n")[0], re.search(r"(\d+)\.\d+", done.stdout)
    if done.returncode or number is None:
        return "no version printed"
    clang = "clang" in done.stdout
    oldest = OLDEST["clang++" if clang else "g++"]
    if int(number[1]) < oldest:
        return f"version {number[1]} is older than {oldest}"
    return CppCompiler(path, clang, first)
