"""C++ programs as libraries: the options of a compilation, and what is compiled with which."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ptokit.api.cxx.compilererrors import compile_error
from ptokit.api.cxx.foundcompiler import CppCompiler, found_compiler, run
from ptokit.api.cxx.headers import INCLUDE, macro
from ptokit.api.cxx.keptbinaries import KeptBinary, hash_of, keep, kept, placed, read_headers
from ptokit.api.cxx.precompiled import NONE, precompiled
from ptokit.api.cxx.translation import Unit, launching
from ptokit.isa.model.targets import Target
from ptokit.machine import codefolder

VERSION = 1  # of what this file does with a text


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
    define = [*_defined(build)]
    options = [*compiler.options, *define, *_folders([*quotes], folders)]
    name = codefolder.name_of((VERSION, compiler.version, options, build.flags, texts))
    found = kept(name)
    if found is None:
        compilation = Compilation(compiler, define, options)
        found = _linked(compilation, build.flags, texts, units)
        keep(name, found)
    return placed(found.content, "library.so")


def linked(libraries: Sequence[str]) -> list[str]:
    """Return the options that link libraries, in any order; one of them may have the `main`."""
    named = [f"-l{name}" for name in libraries]
    if not named:
        return []
    if sys.platform == "darwin":
        return ["-Wl,-u,_main", *named]
    return ["-Wl,-u,main", "-Wl,--start-group", *named, "-Wl,--end-group"]


def _defined(build: Build) -> Iterator[str]:
    yield f"-D{macro(build.target.name)}"
    for name, value in {**build.target.macros, **build.define}.items():
        yield f"-D{name}" if value is None else f"-D{name}={value}"


def _folders(quotes: Sequence[Path], folders: Sequence[Path]) -> Iterator[str]:
    for folder in quotes:
        yield from ("-iquote", str(folder))
    for folder in (*folders, INCLUDE):
        yield f"-I{folder}"


class Compilation(NamedTuple):
    """A compiler and its options: those that define macros, and all of them."""

    compiler: CppCompiler
    define: Sequence[str]
    options: Sequence[str]

    def compile(self, unit: Unit, source: Path, result: Path) -> Mapping[str, str]:
        """Compile a unit's text; return the hash of each header that was read."""
        ours = NONE
        if unit.includes_ours():
            ours = precompiled(self.compiler, self.define, unit.own_macros())
        rules = source.with_name("rules")
        outputs = ["-c", str(source), "-o", str(result), "-MD", "-MF", str(rules)]
        done = run([self.compiler.path, *self.options, *ours.options, *outputs])
        if done.returncode and ours.options:  # what is told is told of the file as it is
            ours = NONE
            done = run([self.compiler.path, *self.options, *outputs])
        if done.returncode:
            raise compile_error(self.compiler.path, done.stderr, unit.path)
        names = (n for n in read_headers(rules, source) if Path(n).parent != ours.folder)
        return {**ours.headers, **{name: hash_of(Path(name)) for name in names}}


def _linked(
    how: Compilation, flags: Sequence[str], texts: Sequence[str], units: Sequence[Unit]
) -> KeptBinary:
    """Return the library of some units."""
    with tempfile.TemporaryDirectory(prefix="ptokit-") as made:
        folder, headers, objects = Path(made), dict[str, str](), list[str]()
        for number, (text, unit) in enumerate(zip(texts, units, strict=True)):
            source = folder / f"unit{number}.cpp"
            source.write_text(text, encoding="utf-8", errors="surrogateescape")
            headers |= how.compile(unit, source, source.with_suffix(".o"))
            objects.append(str(source.with_suffix(".o")))
        result = folder / "library.so"
        linked = [*how.compiler.options, "-shared", *objects, "-o", str(result), *flags]
        done = run([how.compiler.path, *linked])
        if done.returncode:
            raise compile_error(how.compiler.path, done.stderr, units[0].path)
        return KeptBinary(headers, result.read_bytes())
