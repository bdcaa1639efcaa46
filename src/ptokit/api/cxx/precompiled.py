"""Our headers, compiled once for each compiler and chip: a kernel file then compiles in a third.

To compile them takes as long as to read them four times, so the first file with certain options
reads them. Where precompiled headers could mean something else, or a compiler refuses them, a file
is compiled as if there were none.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ptokit.api.cxx.foundcompiler import CppCompiler, run
from ptokit.api.cxx.headers import INCLUDE
from ptokit.api.cxx.keptbinaries import KeptBinary, hash_of, keep, kept, placed, read_headers
from ptokit.machine import codefolder

VERSION = 1  # of what this file does
TEXT = "#include <pto/pto-inst.hpp>\n"
NAME = "ptokit.hpp"
CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|undef)\b(.*)$", re.M)
GUARD = re.compile(r"_(H|HPP|HXX|INCLUDED)_*$")
# Templates of the headers are compiled with them, and content says what has changed, not time.
OF_CLANG = ("-Xclang", "-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp")


class Precompiled(NamedTuple):
    """The options with which a compiler reads precompiled headers, and what these were made of."""

    options: tuple[str, ...] = ()
    headers: Mapping[str, str] = MappingProxyType({})
    folder: Path | None = None  # where they are


NONE = Precompiled()


@cache
def _mentioned() -> frozenset[str]:
    """Return the macros that our headers ask for, or undo."""
    texts = (path.read_text("utf-8") for path in INCLUDE.rglob("*.h*"))
    return frozenset(w for t in texts for c in CONDITION.findall(t) for w in re.findall(r"\w+", c))


def matters(macro: str) -> bool:
    """True if a macro changes our headers, or could change those of the system."""
    reserved = macro.startswith("_") and not GUARD.search(macro)
    return reserved or macro in _mentioned()


def precompiled(compiler: CppCompiler, define: Iterable[str], macros: Iterable[str]) -> Precompiled:
    """Return our headers as the compiler reads them under options that define macros.

    None of `macros`, which the file itself defines, may matter to our headers.
    """
    if codefolder.folder() is None or any(map(matters, macros)):
        return NONE
    chosen = [one for one in define if matters(one[2:].partition("=")[0])]
    options = (*compiler.options, *chosen, f"-I{INCLUDE}")
    return _ready(compiler, options, os.getpid())


_known: dict[tuple[str, int], tuple[KeptBinary, Precompiled]] = {}


def _ready(compiler: CppCompiler, options: Sequence[str], process: int) -> Precompiled:
    name = codefolder.name_of((VERSION, TEXT, compiler, options))
    if (name, process) in _known:
        made, found = _known[name, process]
        if made.is_current():
            return found
    made = kept(name)
    if made is None:
        if _is_first(name):
            return NONE
        made = _compiled(compiler, options)
        keep(name, made)
    found = _placed(compiler, made)
    _known[name, process] = KeptBinary(made.headers, b""), found
    return found


def _is_first(name: str) -> bool:
    """True if headers of this name were never asked for; from now on they were."""
    asked = codefolder.name_of((name, "asked"))
    if kept(asked) is not None:
        return False
    keep(asked, KeptBinary({}, b""))
    return True


def _placed(compiler: CppCompiler, made: KeptBinary) -> Precompiled:
    if not made.content:
        return NONE
    if compiler.clang:
        file = placed(made.content, f"{NAME}.pch")
        return Precompiled(("-include-pch", str(file)), made.headers, file.parent)
    file = placed(made.content, f"{NAME}.gch")
    header = file.with_suffix("")  # what the compiler reads where it does not take the other
    header.write_text(TEXT)
    return Precompiled(("-include", str(header)), made.headers, file.parent)


def _compiled(compiler: CppCompiler, options: Sequence[str]) -> KeptBinary:
    """Compile the headers; without content where the compiler cannot."""
    with tempfile.TemporaryDirectory(prefix="ptokit-") as made:
        source, rules, result = (Path(made) / n for n in (NAME, "rules", f"{NAME}.pch"))
        source.write_text(TEXT)
        own = OF_CLANG if compiler.clang else ()
        outputs = ["-x", "c++-header", "-c", str(source), "-o", str(result)]
        done = run([compiler.path, *options, *own, *outputs, "-MD", "-MF", str(rules)])
        if done.returncode:
            return KeptBinary({}, b"")
        headers = {name: hash_of(Path(name)) for name in read_headers(rules, source)}
        return KeptBinary(headers, result.read_bytes())
