"""What stands after a mnemonic, before anyone knows what it means; and what all forms share."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptokit.ir.module import Block, Raw, Value
from ptokit.isa.model.types import Type
from ptokit.text.read.attributes import Given, numeral, read_value
from ptokit.text.read.cursor import Cursor
from ptokit.text.read.names import Names
from ptokit.text.types.parts import DIGITS

FLAGS = {"overflow": "overflowFlags", "fastmath": "fastmath"}  # what arith says before its types


class Item:
    """An operand as written: a value or a number, its token, and the type written for it."""

    __slots__ = ("at", "number", "type", "type_at", "value")

    def __init__(self, at: int, value: Value | None, number: float | None) -> None:
        self.at, self.value, self.number = at, value, number
        self.type: Type | None = None
        self.type_at = at


@dataclass(slots=True)
class Call:
    """Everything written after the mnemonic at token `at`."""

    at: int
    items: list[Item] = field(default_factory=list[Item])
    index: list[Item] = field(default_factory=list[Item])  # in brackets after an operand
    keyed: dict[str, list[Item]] = field(default_factory=dict[str, list[Item]])
    outs: list[Item] | None = None  # the outs(...) group; None in the other forms
    attrs: list[Given] = field(default_factory=list[Given])
    types: list[tuple[Type, int]] | None = None
    results: list[tuple[Type, int]] | None = None
    regions: list[Block] = field(default_factory=list[Block])
    generic: bool = False
    apart: bool = False  # each operand has its type behind it
    clause: bool = False  # an operand stands behind the types with a word: `fp %f : T`


def flags(cursor: Cursor) -> Given:
    """`overflow<nsw, nuw>`: what an attribute in braces says too."""
    at, word = cursor.i, cursor.texts[cursor.i]
    cursor.i += 1
    value = Raw(f"#arith.{word}{read_value(cursor)}")
    return Given(FLAGS[word], at, value, at + 1, cursor.i - 1)


def read_signature(cursor: Cursor, call: Call) -> None:
    """`: (T, U) -> V`, `: T, U -> V`, `: T`, `-> V`, or nothing."""
    if cursor.accept(":"):
        call.types = cursor.listed_types()
    if cursor.accept("->"):
        call.results = cursor.listed_types()


def read_item(cursor: Cursor, names: Names) -> Item:
    """A value, a number, or an address `@tile(0x1000)`."""
    at = cursor.i
    text = cursor.texts[at]
    cursor.i += 1
    if text[:1] == "%":
        if len(text) == 1:
            cursor.i = at
            cursor.fail("expected a name after '%'")
        return Item(at, names.resolve(at), None)
    if text[:1] == "@":
        cursor.expect("(")
        number = numeral(cursor.texts[cursor.i])
        if number is None:
            cursor.fail("expected an address")
        cursor.i += 1
        cursor.expect(")", at + 1)
        return Item(at, None, number)
    number = numeral(text)
    if number is None:
        cursor.i = at
        big = text[:1] in DIGITS or text[:1] == "-"
        cursor.fail("expected a number of at most 64 bits" if big else "expected an operand")
    return Item(at, None, number)


def typed(names: Names, item: Item, kind: Type, at: int) -> Value:
    """The value of an item whose type stands at token `at`: a number is one of that type."""
    if item.value is None:
        return names.literal(item.number, kind, item.at)
    names.agree(item.value, kind, at)
    return item.value


def in_brackets(cursor: Cursor, names: Names) -> list[Item]:
    """`[%a, 4]`."""
    opened = cursor.i
    cursor.expect("[")
    return [read_item(cursor, names) for _ in cursor.elements("]", opened)]


def in_angles(cursor: Cursor, names: Names) -> list[Item]:
    """`<<<%x, %y, 4>>>`."""
    for _ in range(3):
        cursor.expect("<")
    items = [read_item(cursor, names)]
    while cursor.accept(","):
        items.append(read_item(cursor, names))
    for _ in range(3):
        cursor.expect(">")
    return items
