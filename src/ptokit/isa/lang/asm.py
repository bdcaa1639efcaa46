"""How an instruction stands in text: what the readers and the writers take from a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache
from typing import NamedTuple, TypeAlias

DIALECTS = ("v0.26", "v0.57", "v0.64")  # versions of the assembler whose spellings differ
CLAUSES_SINCE = "v0.57"
OWN_SINCE = "v0.64"  # scalar operations of the dialect's own
FP, PRE_QUANT = (("fp", "fp"),), (("quant", "pre_quant"),)
TYPED_LAST, LISTED_LAST = ",", ""  # words of operands that have none: see `Asm.words`


Texts: TypeAlias = "Mapping[str, object]"  # of operands and attributes, by name


class CppOn(Enum):
    """Which compilations against the public C++ headers have the call that a page prints."""

    EVERYWHERE = "every one"
    CHIPS = "those for a chip: the CPU simulator of the headers has no such call"
    NOWHERE = "none: no public header has such a call"


EVERYWHERE, CHIPS, NOWHERE = CppOn


@dataclass(frozen=True)
class Asm:
    """The text forms of an instruction. A page says what differs from `op ins(...) outs(...)`.

    What a member of a family says replaces that part of the family's; the other parts stay.
    """

    shape: str = "op"  # of the statement: a reader of `text/read/shapes`, and its writer
    dialect: str = "pto"
    name: str = ""  # in PTO-AS, where it differs; of an op of another dialect in every form
    spellings: tuple[str, ...] = ()  # further names that are read, dots and underscores alike
    order: tuple[str, ...] = ()  # operands as text orders them, where C++ has another order
    brackets: tuple[str, ...] = ()  # operands that PTO-AS writes in brackets
    typed: tuple[str, ...] | None = None  # operands whose types are listed; None: all
    selected: tuple[str, str] | None = None  # an attribute, and its word that means this form
    uniform: bool = False  # one type may stand for all tiles in PTO-AS, results too
    # operands and attributes that stand behind `outs(...)`, `key = %a : T`
    behind: tuple[str, ...] = ()
    always: tuple[str, ...] = ()  # attributes that DPS text has though they are the default
    flag: str = ""  # an attribute that stands in `ins(...)` as a word alone, behind the operands
    attrs_inside: str = ""  # attributes stand inside `ins(...)`: what is between them and operands
    inside_with: str = ""  # only where this operand is given
    inside_until: str = ""  # only up to this version of the dialect
    outs: tuple[str, ...] = ()  # scratch that DPS text has in `outs(...)`, behind what is written
    # each operand is followed by its own type, and behind them attributes that are not in order
    each_typed: bool = False
    # words around operands, `recv(%a, %b)`; that of an operand with a key stands behind all else
    clauses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    untyped: bool = False  # DPS does not list the types of results: they follow
    # names that DPS text has from a version of the dialect on, the oldest first
    since: tuple[tuple[str, str], ...] = ()
    # before operands in newer text: `fp %f : T`; TYPED_LAST is `, %f : T`, LISTED_LAST among others
    words: tuple[tuple[str, str], ...] = ()
    deduced: bool = False  # C++ deduces the types of tiles: its template arguments are attributes
    # the call in C++ where it is not `NAME(operands in order)`: `<...>` are template arguments,
    # where an operand stands for its type; `&` takes an address; what is not given is left out
    call: str = ""
    # further calls of C++ that mean it, spelled as `call`; `a=b` is one argument for two operands
    also: tuple[str, ...] = ()
    # C++ that is no call alone; {call} is the call, {operand}, [left out unless all in it is
    # given], {name?} asks whether it is, {name|else this}. {type} is that of the result,
    # {unsigned} that of unsigned integers of its source's or its width;
    # {minus} is given for a source of one bit, {lowest} for a result of one bit, {pair} for a
    # pointer to elements of four bits. What is behind `@` is where `cpp_on` says.
    cpp_text: str | None = None
    # more words of that text, from those of the operands and attributes
    cpp_more: Callable[[Texts], Texts] | None = None
    cpp_on: CppOn = EVERYWHERE
    cpp_of_views: CppOn = EVERYWHERE  # the same where the entry of a FIFO is a view
    chips_with: tuple[str, ...] = ()  # operands that only headers for a chip take
    cpp_needs: tuple[str, ...] = ()  # optional operands that the call in C++ always has
    one_type: tuple[str, ...] = ()  # operands that in C++ have one type on the CPU simulator

    @property
    def names(self) -> tuple[str, ...]:
        """Every further name that is read."""
        return (*self.spellings, *(name for _, name in self.since))

    def name_in(self, dialect: str, name: str) -> str:
        """The name in a version of the dialect of an op that is called `name`."""
        known = [n for version, n in self.since if version <= dialect]
        return known[-1] if known else name

    def over(self, base: Asm) -> Asm:
        """These parts, and those of `base` that are default here."""
        if self is base:
            return self
        given = {f.name: v for f in fields(self) if (v := getattr(self, f.name)) != f.default}
        return replace(base, **given)


class OwnName(NamedTuple):
    """One of the dialect's own names of a scalar operation, and what tells it from others."""

    name: str
    signs: tuple[str, ...]  # the words for how it takes its operands, one of which must be given
    listed: bool  # the type of each operand and of the result stands in text
    wider: bool  # the result has more bits than the operand


@cache
def own_names(text: str) -> tuple[OwnName, ...]:
    """`divi signed`, `exp ->`, `ftof wider`; several with commas between, the first is printed."""
    found: list[OwnName] = []
    for part in text.split(",") if text else ():
        name, *words = part.split()
        signs = (w.split("|") for w in words if w not in ("->", "wider"))
        found.append(OwnName(name, tuple(next(signs, ())), "->" in words, "wider" in words))
    return tuple(found)


def in_cpp(expression: str) -> Asm:
    """C++ defines the result by an expression on the operands."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {expression};")
