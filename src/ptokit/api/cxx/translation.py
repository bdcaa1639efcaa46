"""One C++ file as a translation unit: headers beside it, the two texts of a mixed kernel, a launch.

Headers that a host compiler does not take as they stand are rewritten in their place. Directives
keep the names and lines of the user's files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ptokit.api.cxx import cpprewriting as rewriting
from ptokit.api.cxx.headers import INCLUDE
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import call_error
from ptokit.isa.model.targets import Target

DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")[^\n]*$', re.M)
ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.M)
OPENED = re.compile(r"\bnamespace\s+pto\s*\{")
# What a vector text adds to our namespace stands in one inside of it, which lookup by arguments
# passes by: a call in the cube's text means the cube's function.
ADDED = (
    "namespace pto::ptokit_text {} namespace pto { using namespace ptokit_text; } "
    "namespace pto::ptokit_text {"
)
OURS = "pto/"  # headers below are the vendor's: any of them stands for all of ours
ALL_OF_OURS = "pto/pto-inst.hpp"
LAUNCHED = "the launch"  # the name of the text that ptokit adds
NO_HEADER = "the file includes no header of PTO"
# The text of a file: the only one, that of the cube, that of vector cores which launches both.
PLAIN, FOR_CUBE, FOR_BOTH = range(3)


@dataclass
class Unit:
    """A file of a program, as the call names it, with the user's headers that it includes."""

    path: Path
    folders: Sequence[Path]
    texts: dict[Path, str] = field(default_factory=dict[Path, str])

    def __post_init__(self) -> None:
        self._gather(self.path.resolve())

    def _gather(self, path: Path) -> None:
        if path not in self.texts:
            self.texts[path] = text = read(path)
            for _, header in self._headers(path, text):
                self._gather(header)

    def _headers(self, path: Path, text: str) -> Iterator[tuple[re.Match[str], Path]]:
        """Yield the directives of headers that belong to the user, each with its file."""
        plain = rewriting.blanked(text)
        for match in DIRECTIVE.finditer(text):
            if "include" in plain[match.start() : match.end()]:
                header = self._found(path, match)
                if header is not None:
                    yield match, header

    def _found(self, path: Path, match: re.Match[str]) -> Path | None:
        beside = [] if match[2] is None else [path.parent]
        for folder in (*beside, *self.folders):
            file = folder / (match[1] or match[2])
            if file.is_file():
                return None if INCLUDE in file.resolve().parents else file.resolve()
        return None

    def text(self, target: Target) -> str:
        """Return the text of the whole translation unit."""
        if self.is_mixed(target):
            return "\n".join(self._twice(target)) + "\n"
        every = [*self.texts.values()]
        cube, vector = rewriting.asks_for_cube(every), rewriting.asks_for_vector(every)
        kinds = [kind for kind, asked in (("CUBE", cube), ("VEC", vector)) if asked]
        return (
            "\n".join([*_defined(target, kinds), self._expanded(self.path.resolve(), set(), PLAIN)])
            + "\n"
        )

    def is_mixed(self, target: Target) -> bool:
        """True if the unit has a text for each kind of core, and the chip has both kinds."""
        one_core = target.chip and not target.kinds
        return not one_core and rewriting.is_mixed(self.texts.values())

    def launches(self) -> bool:
        """True if functions of the unit launch kernels: one that is no kernel is the host's."""
        return any("<<<" in rewriting.blanked(text) for text in self.texts.values())

    def entries(self) -> dict[str, str]:
        """Return the kernels of the unit, each with the namespaces that it is in."""
        return rewriting.entries("\n".join(self.texts.values()))

    def _twice(self, target: Target) -> Iterator[str]:
        for name in dict.fromkeys(self._systems()):
            yield f"#if __has_include({name})\n#include {name}\n#endif"
        yield from (f"#undef {name}" for name in _macros(target, "VEC"))
        yield from _defined(target, ["CUBE"])
        yield from (f'#pragma push_macro("{name}")' for name in self.own_macros())
        yield f"namespace {rewriting.CUBE_SPACE} {{"
        if any(OPENED.search(rewriting.blanked(text)) for text in self.texts.values()):
            yield "namespace pto { using namespace ::pto; }"  # names that the text adds to ours
        yield self._expanded(self.path.resolve(), set(), FOR_CUBE)
        yield f"}}  // namespace {rewriting.CUBE_SPACE}"
        yield from (f"#undef {name}" for name in _macros(target, "CUBE"))
        yield from (f'#pragma pop_macro("{name}")' for name in self.own_macros())
        yield from _defined(target, ["VEC"])
        yield self._expanded(self.path.resolve(), set(), FOR_BOTH)

    def own_macros(self) -> Iterator[str]:
        """Yield the macros that the user's texts define."""
        every = (m[1] for text in self.texts.values() for m in MACRO.finditer(text))
        yield from dict.fromkeys(every)

    def includes_ours(self) -> bool:
        """True if the unit includes headers of kernels, and all of them are ours."""
        users = (m for item in self.texts.items() for m, _ in self._headers(*item))
        theirs = any((m[1] or m[2]).startswith(OURS) for m in users)
        return not theirs and any(name[1:].startswith(OURS) for name in self._systems())

    def _systems(self) -> Iterator[str]:
        """Yield the headers that do not belong to the user, as directives name them."""
        for path, text in self.texts.items():
            users = {match.start() for match, _ in self._headers(path, text)}
            for match in DIRECTIVE.finditer(text):
                if match.start() not in users:
                    yield _named(match)

    def _expanded(self, path: Path, seen: set[Path], way: int) -> str:
        """Return a file with the headers of the user that have to be rewritten in their places."""
        text = self.texts[path]
        if ONCE.search(text):
            seen.add(path)
        users = {match.start(): header for match, header in self._headers(path, text)}
        parts, at = [_line(1, path), "\n"], 0
        for match in DIRECTIVE.finditer(text):
            header = users.get(match.start())
            if header is None:
                inside = "" if way == FOR_CUBE else f"#include {_named(match)}"
            elif header in seen:
                inside = ""
            elif way == PLAIN and not self._rewrites(header):
                inside = match[0]
            else:
                number = text.count("\n", 0, match.end()) + 2
                inside = f"{self._expanded(header, seen, way)}\n{_line(number, path)}"
            parts += [self._piece(text[at : match.start()], way), inside]
            at = match.end()
        return "".join([*parts, self._piece(text[at:], way)])

    def _piece(self, text: str, way: int) -> str:
        text = ONCE.sub("", text)
        if way == FOR_CUBE:
            return rewriting.for_cube(text)
        if way == FOR_BOTH:
            found = OPENED.finditer(rewriting.blanked(text))
            text = rewriting.edited(text, [rewriting.Edit(*m.span(), ADDED) for m in found])
        return rewriting.rewritten(text, self.entries() if way == FOR_BOTH else None)

    def _rewrites(self, header: Path, above: frozenset[Path] = frozenset()) -> bool:
        """True if a header, or one that it includes, does not compile as it stands."""
        if header in above:
            return False
        text = self.texts[header]
        inner = (found for _, found in self._headers(header, text))
        above |= {header}
        return rewriting.needs_rewriting(text) or any(self._rewrites(h, above) for h in inner)


def read(path: Path) -> str:
    """Return the text of a C++ file; a file that cannot be read is an error of the call."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").replace("\r\n", "\n")
    except OSError as problem:
        slug = "unreadable-file"
        message = f"{path}: {CATALOGUE[slug].title}: {problem.strerror}"
        raise call_error(slug, message) from None


def launching(unit: Unit, kernel: str, target: Target) -> str:
    """Return the text behind a unit that launches one kernel, `name<template arguments>`."""
    name = kernel.partition("<")[0].strip()
    entries, short = unit.entries(), name.rpartition("::")[2]
    space = "" if "::" in name else entries.get(short, "")
    shown, entry = rewriting.quoted(kernel), f"&{space}{kernel}"
    if short not in entries and unit.launches():
        body = f"ptokit::enter(words, {entry})"
    elif unit.is_mixed(target):
        twin = f"&::{rewriting.CUBE_SPACE}::{space}{kernel.removeprefix('::')}"
        body = f'ptokit::start("{shown}", blocks, words, {entry}, {twin})'
    else:
        body = f'ptokit::start("{shown}", blocks, words, {entry})'
    lines = [
        f'#line 1 "{LAUNCHED}"',
        f'#ifndef PTOKIT_ELEMENTS\n#error "{NO_HEADER}"\n#endif',
        'extern "C" __attribute__((visibility("default"))) const int64_t *ptokit_parameters() '
        f"{{ return ptokit::parameters({entry}); }}",
        'extern "C" __attribute__((visibility("default"))) int64_t ptokit_start('
        "[[maybe_unused]] int64_t blocks, const int64_t *words) "
        f"{{ return {body}; }}",
    ]
    return "\n".join(lines) + "\n"


def _macros(target: Target, kind: str) -> list[str]:
    """Return the macros that say that a text is for one kind of core."""
    return [f"__DAV_{kind}__", *([f"__DAV_{target.dav}_{kind}__"] if target.dav else [])]


def _defined(target: Target, kinds: Sequence[str]) -> Iterator[str]:
    for kind in kinds:
        yield from (f"#define {name} 1" for name in _macros(target, kind))


def _named(match: re.Match[str]) -> str:
    """Return a header as a directive names it; one of the vendor's that we lack is all of ours."""
    name = match[1] or match[2]
    if name.startswith(OURS) and not (INCLUDE / name).is_file():
        return f"<{ALL_OF_OURS}>"
    return f"<{name}>" if match[1] else f'"{name}"'


def _line(number: int, path: Path) -> str:
    return f'#line {number} "{rewriting.escaped(str(path))}"'
