"""Text forms of an instruction: the declarations that readers and writers take from a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import NamedTuple, TypeAlias

DIALECTS = ("v0.26", "v0.57", "v0.64")  # versions of the assembler whose spellings differ
CLAUSES_SINCE = "v0.57"
OWN_SINCE = "v0.64"  # the dialect has scalar operations of its own
FP, PRE_QUANT = (("fp", "fp"),), (("quant", "pre_quant"),)
CASES = "cases"  # the shape of a branch with more than two regions
TYPED_LAST, LISTED_LAST = ",", ""  # words of operands that have none: see `Asm.words`

Texts: TypeAlias = "Mapping[str, object]"  # of operands and attributes, by name


class CppOn(Enum):
    """The compilations against the public C++ headers that have the call of a page."""

    EVERYWHERE = "every one"
    CHIPS = "those for a chip: the CPU simulator of the headers has no such call"
    NOWHERE = "none: no public header has such a call"


EVERYWHERE, CHIPS, NOWHERE = CppOn


@dataclass(frozen=True, eq=False)
class Asm:
    """The text forms of an instruction: fields that differ from `op ins(...) outs(...)`.

    A page of a family inherits the family's fields and overrides single ones.
    """

    shape: str = "op"  # the statement's syntax: a reader in `text/read/shapes`, and its writer
    dialect: str = "pto"
    name: str = ""  # in PTO-AS, if it differs; for an op of another dialect in every form
    spellings: tuple[str, ...] = ()  # further names that are read, dots and underscores alike
    order: tuple[str, ...] = ()  # operands as text orders them, where C++ has another order
    brackets: tuple[str, ...] = ()  # operands that PTO-AS writes in brackets
    typed: tuple[str, ...] | None = None  # operands whose types are listed; None: all
    selected: tuple[str, str] | None = None  # an attribute and its value that select this page
    uniform: bool = False  # PTO-AS may write one type for all tiles, with the results
    # operands and attributes after `outs(...)`, `key = %a : T`
    behind: tuple[str, ...] = ()
    always: tuple[str, ...] = ()  # attributes that DPS text has though they are the default
    flag: str = ""  # an attribute written as a single word after the operands in `ins(...)`
    attrs_inside: str = ""  # attributes stand inside `ins(...)`, separated by this text
    inside_with: str = ""  # only if this operand is given
    inside_until: str = ""  # up to this version of the dialect
    outs: tuple[str, ...] = ()  # scratch operands that DPS text lists in `outs(...)`, after outputs
    # each operand is followed by its own type; attributes outside `order` come last
    each_typed: bool = False
    # keywords around operands, `recv(%a, %b)`; the clause of an operand with a key comes last
    clauses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    clause_break: str = " "  # the text before a clause, below tiles
    # clauses whose types follow their word there, `word(` in parentheses; None: all but the first
    clause_types: tuple[str, ...] | None = None
    untyped: bool = False  # DPS text does not list the types of results: they are inferred
    # (version, name): names in DPS text since a version of the dialect, the oldest first
    since: tuple[tuple[str, str], ...] = ()
    # keyword of an operand in newer text: `fp %f : T`; TYPED_LAST: `, %f : T`; LISTED_LAST: listed
    words: tuple[tuple[str, str], ...] = ()
    deduced: bool = False  # C++ deduces the types of tiles; template arguments are attributes
    # the call in C++ if it is not `NAME(operands in order)`: `<...>` are template arguments,
    # in which an operand means its type; `&` takes an address; absent operands are left out
    call: str = ""
    # further C++ calls of the instruction, spelled as `call`; `a=b`: one argument for two operands
    also: tuple[str, ...] = ()
    # C++ that is more than a call; {call} is the call, {operand}, [left out unless all in it is
    # given], {name?} is true if given, {name|else this}. {type} is the type of the result,
    # {unsigned} the unsigned integer type of the source's or the result's width;
    # {minus} is given for a source of one bit, {lowest} for a result of one bit, {pair} for a
    # pointer to elements of four bits. `cpp_on` applies to the part after `@`.
    cpp_text: str | None = None
    # returns further placeholders of that text from those of the operands and attributes
    cpp_more: Callable[[Texts], Texts] | None = None
    cpp_on: CppOn = EVERYWHERE
    cpp_of_views: CppOn = EVERYWHERE  # as `cpp_on`, if the entry of a FIFO is a view
    chips_with: tuple[str, ...] = ()  # operands that only headers for a chip take
    cpp_needs: tuple[str, ...] = ()  # optional operands that the C++ call requires
    one_type: tuple[str, ...] = ()  # operands that share one C++ type on the CPU simulator

    @property
    def names(self) -> tuple[str, ...]:
        """Every further name that the reader accepts."""
        return (*self.spellings, *(name for _, name in self.since))

    def name_in(self, dialect: str, name: str) -> str:
        """Return the name in a version of the dialect, or `name` if the version has no other."""
        known = [n for version, n in self.since if version <= dialect]
        return known[-1] if known else name

    def over(self, base: Asm) -> Asm:
        """Return these fields, with `base`'s value for each field that has its default here."""
        if self is base:
            return self
        given = {name: v for name, v in vars(self).items() if v != getattr(Asm, name)}
        return replace(base, **given) if given else base


class OwnName(NamedTuple):
    """A name of a scalar operation in the newest dialect, and the conditions that select it."""

    name: str
    signs: tuple[str, ...]  # words for the signedness of operands, of which one must be given
    listed: bool  # text has the type of each operand and of the result
    wider: bool  # the result has more bits than the operand


@cache
def own_names(text: str) -> tuple[OwnName, ...]:
    """Parse `divi signed`, `exp ->`, `ftof wider`; the first of several is the one printed."""
    found: list[OwnName] = []
    for part in text.split(",") if text else ():
        name, *words = part.split()
        signs = (w.split("|") for w in words if w not in ("->", "wider"))
        found.append(OwnName(name, tuple(next(signs, ())), "->" in words, "wider" in words))
    return tuple(found)


def in_cpp(expression: str) -> Asm:
    """Return the Asm of a page whose result C++ defines by an expression on the operands."""
    return Asm(cpp_text=f"const {{type}} {{result}} = {expression};")
