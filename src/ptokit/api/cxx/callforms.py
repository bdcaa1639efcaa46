"""The calls of C++ that a page may be, read from the C++ that the page states.

A form has its operands in the order of the call's arguments, and the words, of templates and
arguments, that choose it or one of its attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.types import EVENT, Kind
from ptokit.values.enumerations import Word

NAME = re.compile(r"(?<![\w.:])(?:comm::)?([A-Za-z_]\w*)(?=[<(])")
OPTIONAL = re.compile(r"\[(.*?)\]")
ASKED = re.compile(r"\{\w+\?\}")  # only asks whether it is given
FIELD = re.compile(r"\{(\w+)\}")
EITHER = re.compile(r"\{(\w+)\} \? (\w+)::(\w+) : \w+::(\w+)")
TWINS = re.compile(r"\{(\w+)\}=\{(\w+)\}")  # one argument stands for both operands
CLOSES = {"(": ")", "<": ">", "[": "]", "{": "}"}


@dataclass(frozen=True)
class StatedWord:
    """A word of an enumeration that a call states: `labels` has the attributes that it sets.

    The label is matched as a whole; groups of the expression are attributes by name.
    """

    enumeration: str
    label: re.Pattern[str]
    sets: tuple[tuple[str, str, str], ...] = ()  # label, attribute and its text

    def attributes(self, label: str) -> Mapping[str, str] | None:
        """Return the attributes that a label sets, as text; None where it is another form's."""
        found = self.label.fullmatch(label)
        if found is None:
            return None
        return found.groupdict() | {name: text for said, name, text in self.sets if said == label}


@dataclass(frozen=True, eq=False)
class Form:
    """One way in which C++ calls a page."""

    page: type[Instr]
    operands: tuple[Operand, ...]  # in the order of the arguments
    choices: tuple[StatedWord, ...] = ()
    numbers: tuple[int, ...] = ()  # that the template must begin with
    reported: Operand | None = None  # the tile that C++ has as a struct of numbers
    left_out: frozenset[str] = frozenset()  # attributes that a call need not state
    twins: tuple[tuple[str, str], ...] = ()  # an operand, and another that is the same object
    stated: tuple[str, ...] = ()  # fields of the template, in its order

    @property
    def attrs(self) -> tuple[Attr, ...]:
        """The attributes that no choice of the form sets, first those of the template."""
        chosen = {n for c in self.choices for n in (*c.label.groupindex, *(s[1] for s in c.sets))}
        free = (a for a in self.page.attrs if a.name not in chosen)
        place = {name: at for at, name in enumerate(self.stated)}
        return tuple(sorted(free, key=lambda attr: place.get(attr.name, len(place))))


@cache
def forms() -> Mapping[str, Sequence[Form]]:
    """Return every form by the name that C++ calls it by, the order of pages kept."""
    found: dict[str, list[Form]] = {}
    for page in pages():
        for name, form in _of_page(page):
            found.setdefault(name, []).append(form)
    return found


def _of_page(page: type[Instr]) -> Iterator[tuple[str, Form]]:
    asm = page.asm
    made = [o for o in page.results() if o.handle is not EVENT]  # which every call returns
    defines = made and not page.derives  # C++ has objects for handles
    if asm.dialect != "pto" or page.run is None or (defines and not page.declared):
        return
    if asm.cpp_text is None and not asm.call and page.on_tiles:
        yield page.cpp, Form(page, tuple(o for o in page.operands))
    elif asm.cpp_text is not None or asm.call:
        yield from _stated(page, asm.cpp_text or "{call}", asm.call)
    for call in asm.also:
        yield from _stated(page, "{call}", call)


def _stated(page: type[Instr], text: str, call: str) -> Iterator[tuple[str, Form]]:
    """Yield the forms of a text in which `{call}` stands for a call."""
    known = {o.name for o in page.operands} | {a.name for a in page.attrs}
    stated = re.sub(r"\b(\w+)\b", lambda m: f"{{{m[1]}}}" if m[1] in known else m[1], call)
    text = text.replace("{call}", f"{stated};")
    for name, template, arguments in _calls(text):
        yield name, _form(page, template, arguments, text)


def _calls(text: str) -> Iterator[tuple[str, str, str]]:
    """Find statements that are calls: name, template arguments, arguments."""
    for found in NAME.finditer(text):
        at, template = found.end(), ""
        if text[at] == "<":
            end = _end(text, at)
            template, at = text[at + 1 : end], end + 1
        if text[at : at + 1] != "(":
            continue
        end = _end(text, at)
        if text[end + 1 : end + 2] == ";":
            yield found[1], template, text[at + 1 : end]


def _end(text: str, at: int) -> int:
    """Return where the bracket at `at` closes."""
    depth, opened, closed = 0, text[at], CLOSES[text[at]]
    for place in range(at, len(text)):
        depth += (text[place] == opened) - (text[place] == closed)
        if not depth:
            return place
    raise AssertionError(f"a bracket of {text} does not close")


def _form(page: type[Instr], template: str, arguments: str, text: str) -> Form:
    operands = {o.name: o for o in page.operands}
    given = [name for word in _split(arguments) for name in _fields(word, text)]
    order = tuple(operands[name] for name in dict.fromkeys(given) if name in operands)
    words = [*_split(template), *_split(arguments)]
    choices = tuple(c for c in (_choice(page, word) for word in words) if c is not None)
    numbers = tuple(int(word) for word in _split(template) if word.isdigit())
    named = {*FIELD.findall(text)}
    apart = named - {o.name for o in order}
    reported = (o for o in page.outs() if o.name in apart and o.kind is Kind.TILE)
    optional = (name for part in OPTIONAL.findall(text) for name in FIELD.findall(part))
    left_out, twins = frozenset(optional), tuple(TWINS.findall(arguments))
    order = tuple(o for o in order if o.name not in dict(twins).values())
    fields = tuple(FIELD.findall(template))
    return Form(page, order, choices, numbers, next(reported, None), left_out, twins, fields)


def _fields(word: str, text: str) -> list[str]:
    """Return the fields of an argument: of an array's name those that the array is made of.

    An object that is made from the data of an array stands for the array.
    """
    made = re.search(rf"\b{re.escape(word)}\((\w+)\.data\(\)", text)
    word = made[1] if made else word
    within = rf"\b{re.escape(word)}\{{\{{(.*?)\}}\}}\}}"
    array = re.search(within, text) if word.isidentifier() else None
    return FIELD.findall(f"{array[1]}}}" if array else word)


def _split(text: str) -> list[str]:
    """Split at commas outside brackets; what is optional counts as given."""
    words, depth = [""], 0
    for sign in ASKED.sub("", text).replace("[", "").replace("]", ""):
        depth += (sign in "(<{") - (sign in ")>}")
        if sign == "," and not depth:
            words.append("")
        else:
            words[-1] += sign
    return [word.strip() for word in words if word.strip()]


def _choice(page: type[Instr], word: str) -> StatedWord | None:
    """Return the choice that a word states, None where attributes alone say as much."""
    either = EITHER.fullmatch(word)
    if either is not None:
        attr, enumeration, yes, no = either.groups()
        label = re.compile(f"{yes}|{no}")
        return StatedWord(enumeration, label, ((yes, attr, "true"), (no, attr, "false")))
    enumeration, colons, label = word.rpartition("::")
    if not colons or "(" in label:
        return None
    attrs = {a.name: a for a in page.attrs}
    names = FIELD.findall(label)
    if label == f"{{{''.join(names)}}}" and _is_word(attrs.get(names[0]), enumeration):
        return None
    if any(name not in attrs for name in names):
        return None
    return StatedWord(
        enumeration.rpartition("::")[2], re.compile(FIELD.sub(r"(?P<\1>\\w+?)", label))
    )


def _is_word(attr: Attr | None, enumeration: str) -> bool:
    kind = None if attr is None else attr.kind
    return kind is not None and issubclass(kind, Word) and kind.cpp_type == enumeration
