"""C++ text as a host compiler takes it, with its lines: launches, words of the device, two texts.

`f<...><<<blocks, ...>>>(args)` becomes a call of `ptokit::launch`. Text for both kinds of cores
stands twice in one translation unit: first for the cube, in a namespace, then for vector cores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

CUBE_SPACE = "ptokit_cube"
# Comments and literals; the apostrophe in 1'000 begins none.
LITERAL = re.compile(
    r"//(?:[^\n\\]|\\\n|\\.)*|/\*.*?\*/"
    r'|R"([^\s()\\]{0,16})\(.*?\)\1"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-zA-Z_])'(?:[^'\\\n]|\\.)+'",
    re.S,
)
AICORE = re.compile(r"\[\s*aicore\s*\]")
ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\s*(?:volatile|__volatile__)?\s*(?=\()")
CUBE = re.compile(r"\b(?:__DAV_CUBE__|__DAV_[A-Z]\d+_CUBE__)\b")
VECTOR = re.compile(r"\b(?:__DAV_VEC__|__DAV_[A-Z]\d+_VEC__)\b")
LINKAGE = re.compile(r'\bextern\s*"( )"')
NAMESPACE = re.compile(r"\bnamespace\s+([\w:]*)\s*$|\bnamespace\s*$")
ENTRY = re.compile(r"\b__global__\b[^;{}()]*?\b(\w+)\s*\(")


class Edit(NamedTuple):
    """Text to stand in the place of `[start, end)`."""

    start: int
    end: int
    text: str


def blanked(text: str) -> str:
    """Return the text with spaces for comments and inside literals; offsets and lines stay."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        inner = re.sub(r"[^\n]", " ", found)
        return f'"{inner[1:-1]}"' if found[0] == '"' else inner

    return LITERAL.sub(blank, text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with edits, which do not overlap, made."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def is_mixed(texts: Iterable[str]) -> bool:
    """True if the texts of a program ask for both kinds of cores."""
    plain = [*map(blanked, texts)]
    return any(map(CUBE.search, plain)) and any(map(VECTOR.search, plain))


def asks_for_cube(texts: Iterable[str]) -> bool:
    """True if the texts ask for the cube's core."""
    return any(CUBE.search(blanked(text)) for text in texts)


def asks_for_vector(texts: Iterable[str]) -> bool:
    """True if the texts ask for a vector core."""
    return any(VECTOR.search(blanked(text)) for text in texts)


def needs_rewriting(text: str) -> bool:
    """True if a host compiler does not take the text as it stands."""
    plain = blanked(text)
    return "<<<" in plain or any(found.search(plain) for found in (AICORE, ASSEMBLY, CUBE, VECTOR))


def rewritten(text: str, twins: Mapping[str, str] | None = None) -> str:
    """Return the text without what only the device's compiler takes.

    `twins` are the kernels that also have a text for the cube, with the namespaces they are in.
    """
    plain = blanked(text)
    edits = [Edit(m.start(), m.end(), _spaces(m[0])) for m in AICORE.finditer(plain)]
    for match in ASSEMBLY.finditer(plain):
        end = _closing(plain, match.end())
        edits.append(Edit(match.start(), end, f"((void)0){_lines(text[match.start() : end])}"))
    edits += [_launch(text, found, twins) for found in _launches(plain)]
    return edited(text, edits)


def for_cube(text: str) -> str:
    """Return the text of a cube's core: no name in it is one of C's."""
    plain = blanked(text)
    found = [m for m in LINKAGE.finditer(plain) if text[m.start(1)] == "C"]
    text = edited(text, [Edit(m.start(1), m.end(1), "C++") for m in found])
    return rewritten(text)


def entries(text: str) -> dict[str, str]:
    """Return the namespaces, each with `::` behind it, that each kernel is in."""
    plain = blanked(text)
    return {m[1]: _enclosing(plain, m.start()) for m in ENTRY.finditer(plain)}


class _LaunchText(NamedTuple):
    """A launch by offsets: the callee, the configuration, the arguments in parentheses."""

    callee: int
    config: int
    close: int
    opened: int
    end: int


def _launches(plain: str) -> Iterator[_LaunchText]:
    at = plain.find("<<<")
    while at >= 0:
        close = plain.find(">>>", at)
        opened = plain.find("(", close)
        if close < 0 or opened < 0:
            return
        end = _closing(plain, opened)
        yield _LaunchText(_callee(plain, at), at, close, opened, end)
        at = plain.find("<<<", end)


def _launch(text: str, at: _LaunchText, twins: Mapping[str, str] | None) -> Edit:
    """Return a launch as a call, with that of the kernel's twin behind it."""
    callee, config = text[at.callee : at.config], text[at.config + 3 : at.close]
    arguments = text[at.opened : at.end]
    body, call = f"[&] {{ {callee}{arguments}; }}", "launch"
    if twins is not None:
        call = "launch_both"
        bare = callee.strip().removeprefix("::")
        name = re.match(r"\w+", bare)
        space = "" if "::" in bare.partition("<")[0] else twins.get(name[0] if name else "", "")
        body += f", [&] {{ ::{CUBE_SPACE}::{space}{_line(bare)}{_line(arguments)}; }}"
    return Edit(at.callee, at.end, f'ptokit::{call}("{quoted(callee)}", {body}, {config})')


def _callee(plain: str, end: int) -> int:
    """Return where the name that is launched starts, its template arguments included."""
    at = _before(plain, end)
    if plain[at] == ">":
        at = _before(plain, _opening(plain, at, "<", ">"))
    if plain[at] == ")":  # a macro makes the name
        at = _before(plain, _opening(plain, at, "(", ")"))
    while at >= 0 and (plain[at].isalnum() or plain[at] in "_:#"):
        at -= 1
    return at + 1


def _before(plain: str, at: int) -> int:
    """Return the offset of the last character before `at` that is no space."""
    at -= 1
    while plain[at].isspace() or plain[at] == "\\":
        at -= 1
    return at


def _opening(plain: str, at: int, start: str, end: str) -> int:
    """Return the offset of what the bracket at `at` closes, past those in parentheses."""
    depth = inner = 0
    while at >= 0:
        letter = plain[at]
        inner += (letter == ")") - (letter == "(") if end == ">" else 0
        depth += (letter == end) - (letter == start) if inner == 0 else 0
        if depth == 0:
            return at
        at -= 1
    return 0


def _closing(plain: str, at: int) -> int:
    """Return the offset behind what closes the parenthesis at `at`; the end where nothing does."""
    depth = 0
    for place in range(at, len(plain)):
        depth += (plain[place] in "([{") - (plain[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(plain)


def _enclosing(plain: str, end: int) -> str:
    """Return the named namespaces around an offset, `a::b::`."""
    found: list[str] = []
    start = 0
    for place in range(end):
        letter = plain[place]
        if letter == "{":
            match = NAMESPACE.search(plain[start:place])
            found.append(f"{match[1]}::" if match and match[1] else "")
        elif letter == "}" and found:
            found.pop()
        if letter in "{};":
            start = place + 1
    return "".join(found)


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _lines(text: str) -> str:
    """Return the line ends of a text, so that lines behind it keep their numbers."""
    return re.sub(r"[^\n]|\\\n", "", text)


def _line(text: str) -> str:
    """Return the text in one line."""
    return re.sub(r"\s*\\?\n\s*", " ", text).strip()


def quoted(text: str) -> str:
    """Return the text as it stands inside a C string: in one line, spaces between words alone."""
    return escaped(" ".join(_line(text).split()))


def escaped(text: str) -> str:
    """Return the text with escapes for what a C string of one line does not hold."""
    return re.sub(r'(["\\])', r"\\\1", text).replace("\n", "\\n")
