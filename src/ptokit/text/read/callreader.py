"""The syntax after a mnemonic, for all forms of text.

One grammar covers the forms: operands with brackets, keywords and literals; `ins(...) outs(...)`
groups; the generic form's parentheses; attributes; regions; types of operands and of results. A
Call holds the parts before they are bound to a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ptokit.diagnostics.printable import counted
from ptokit.ir.module import Block, Raw, Value
from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Type
from ptokit.text.read.attributes import Given, attached, dictionary, numeral, read_value
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import keywords
from ptokit.text.types.parts import DIGITS
from ptokit.values.enumerations import Word

FLAGS = {"overflow": "overflowFlags", "fastmath": "fastmath"}  # flags of arith before the types


class Item:
    """A written operand: a value or a number, its token, and the type written for it."""

    __slots__ = ("at", "number", "type", "type_at", "value")

    def __init__(self, at: int, value: Value | None, number: float | None) -> None:
        self.at, self.value, self.number = at, value, number
        self.type: Type | None = None
        self.type_at = at


@dataclass(slots=True)
class Call:
    """The parts written after the mnemonic at token `at`."""

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
    apart: bool = False  # each operand is followed by its type
    clause: bool = False  # an operand with a keyword follows the types: `fp %f : T`


def flags(p: Parser) -> Given:
    """Read `overflow<nsw, nuw>`, the short spelling of an attribute."""
    at, word = p.i, p.texts[p.i]
    p.i += 1
    value = Raw(f"#arith.{word}{read_value(p)}")
    return Given(FLAGS[word], at, value, at + 1, p.i - 1)


def read_signature(p: Parser, call: Call) -> None:
    """Read `: (T, U) -> V`, `: T, U -> V`, `: T`, `-> V`, or nothing."""
    if p.accept(":"):
        call.types = p.listed_types()
    if p.accept("->"):
        call.results = p.listed_types()


def read_item(p: Parser) -> Item:
    """Read a value, a number, or an address `@tile(0x1000)`."""
    at = p.i
    text = p.texts[at]
    p.i += 1
    if text[:1] == "%":
        if len(text) == 1:
            p.i = at
            p.fail("expected a name after '%'")
        return Item(at, p.names.resolve(at), None)
    if text[:1] == "@":
        p.expect("(")
        number = numeral(p.texts[p.i])
        if number is None:
            p.fail("expected an address")
        p.i += 1
        p.expect(")", at + 1)
        return Item(at, None, number)
    number = numeral(text)
    if number is None:
        p.i = at
        big = text[:1] in DIGITS or text[:1] == "-"
        p.fail("expected a number of at most 64 bits" if big else "expected an operand")
    return Item(at, None, number)


def typed(p: Parser, item: Item, kind: Type, at: int) -> Value:
    """Return the value of an item whose type stands at token `at`; a number becomes a constant."""
    if item.value is None:
        return p.names.literal(item.number, kind, item.at)
    p.names.agree(item.value, kind, at)
    return item.value


def in_brackets(p: Parser) -> list[Item]:
    """Read `[%a, 4]`."""
    opened = p.i
    p.expect("[")
    return [read_item(p) for _ in p.elements("]", opened)]


def in_angles(p: Parser) -> list[Item]:
    """Read `<<<%x, %y, 4>>>`."""
    for _ in range(3):
        p.expect("<")
    items = [read_item(p)]
    while p.accept(","):
        items.append(read_item(p))
    for _ in range(3):
        p.expect(">")
    return items


def read_call(p: Parser, forms: Sequence[type[Instr]], at: int) -> Call:
    """Read the parts of an op of one of `forms`: operands, attributes and types."""
    reader = CallReader(p, forms, at)
    reader.read()
    return reader.call


class CallReader:
    """The reader of one call, whose mnemonic at token `at` means one of `forms`."""

    __slots__ = ("call", "cursor", "forms")

    def __init__(self, p: Parser, forms: Sequence[type[Instr]], at: int) -> None:
        self.cursor, self.forms, self.call = p, forms, Call(at)

    def read(self) -> None:
        """Read all parts, with commas between operands, then the types."""
        cursor = self.cursor
        comma = True  # at the start, or after a comma: an operand may follow
        while True:
            if cursor.texts[cursor.i] == ",":
                if comma:
                    cursor.fail("expected an operand")
                cursor.i += 1
                comma = True
            elif (comma or not cursor.at_operand()) and self._part():
                comma = False
            else:
                break
        if comma and cursor.texts[cursor.i - 1] == ",":
            cursor.fail("expected an operand")
        read_signature(cursor, self.call)
        if cursor.texts[cursor.i] == "{" and self.call.outs is not None:
            self.call.attrs += dictionary(cursor)

    def _part(self) -> bool:
        """Read an operand, a group of operands or attributes, if one starts here."""
        cursor, call = self.cursor, self.call
        text, after = cursor.texts[cursor.i], cursor.texts[cursor.i + 1]
        if cursor.at_operand():
            call.items.append(self._item())
        elif text in ("ins", "outs") and after == "(":
            self._side()
        elif text == "[":
            call.index += in_brackets(cursor)
        elif text == "{":
            call.attrs += dictionary(cursor)
        elif text[:1] == "#":
            call.attrs.append(attached(cursor))
        elif text == "(" and not call.items and call.outs is None:
            call.items += self._group()
        elif text in FLAGS and after == "<":
            call.attrs.append(flags(cursor))
        elif after == "(" and text in self._clauses():
            self._behind()
        elif after == "[" and text[:1].isalpha() and self._at_keyword():
            self._keyword(width=1)
        elif text and after == "=" and (text[:1].isalpha() or text[:1] == "_"):
            self._keyword()
            if call.outs is not None:
                self._keyword_type(text)
        else:
            return False
        return True

    def _item(self) -> Item:
        return read_item(self.cursor)

    def _side(self) -> None:
        """Read `ins(...)` or `outs(...)`."""
        cursor, call = self.cursor, self.call
        outputs = cursor.texts[cursor.i] == "outs"
        cursor.i += 1
        group = self._group()
        if outputs:
            call.outs = [*(call.outs or ()), *group]
        else:
            call.items += group
            call.outs = call.outs or []

    def _at_keyword(self) -> bool:
        """Return whether the word before a bracket belongs to this op, not to the next one."""
        text = self.cursor.texts[self.cursor.i]
        if any(text in keywords(page) for page in self.forms):
            return True
        return not ("." in text or self.cursor.begins_line() or lookup(text))

    def _keyword(self, width: int = 2) -> None:
        """Read `key = %value`, `key = [%a, %b]`, `key [%a, %b]`, or an attribute without braces."""
        cursor, at = self.cursor, self.cursor.i
        key = cursor.texts[at]
        cursor.i += width
        text = cursor.texts[cursor.i]
        if key in self.call.keyed:
            raise cursor.wrong("syntax-error", f"{key} is given twice", at)
        if cursor.at_operand():
            self.call.keyed[key] = [self._item()]
        elif text == "[":
            self.call.keyed[key] = in_brackets(cursor)
        else:
            value_at = cursor.i
            value = read_value(cursor)
            self.call.attrs.append(Given(key, at, value, value_at, cursor.i - 1))

    def _keyword_type(self, key: str) -> None:
        """Read the optional type after an operand with a keyword: `key = %value : T`."""
        items = self.call.keyed.get(key)
        if items and self.cursor.accept(":"):
            self._type_of(items[0])

    def _type_of(self, item: Item) -> None:
        item.type, item.type_at = self.cursor.type(), self.cursor.i - 1

    def _group(self) -> list[Item]:
        """Read `(%a, %b[%r, %c], {attr = 1} : T, U)`, or a type after each operand."""
        cursor, call = self.cursor, self.call
        opened = cursor.i
        cursor.expect("(")
        found: list[Item] = []
        indexed = len(call.index)
        with_type = 0  # items of `found` that have their types
        for _ in cursor.elements(")", opened):
            found += self._element(opened)
            if cursor.texts[cursor.i] == ":":
                call.apart = call.apart or with_type > 0
                with_type = self._group_types(found, call.index[indexed:], with_type)
            while self._at_clause():  # no comma separates a clause from types
                found.append(self._named_item())
                if cursor.texts[cursor.i] == ":":
                    with_type = self._group_types(found, call.index[indexed:], with_type)
        named = [item for items in call.keyed.values() for item in items]
        return [item for item in found if item not in named]

    def _element(self, opened: int) -> list[Item]:
        """Read one element of a group; attributes and keywords go to the call."""
        cursor, call = self.cursor, self.call
        text, after = cursor.texts[cursor.i], cursor.texts[cursor.i + 1]
        if text == "{":
            call.attrs += dictionary(cursor)
        elif text[:1] == "#":
            call.attrs.append(attached(cursor))
        elif text[:1].isalpha() and after == "=":
            self._keyword()
            self._keyword_type(text)
        elif after == "(" and text in self._clauses():
            return self._inside()
        elif text[:1] == '"':
            call.attrs.append(self._quoted())
        elif self._at_clause():
            return [self._named_item()]
        elif not cursor.at_operand():
            cursor.fail("expected an operand or ')'", opened)
        else:
            return [self._operand()]
        return []

    def _operand(self) -> Item:
        """Read an operand of a group with its indices, its flag and its attributes."""
        cursor, call, item = self.cursor, self.call, self._item()
        if cursor.texts[cursor.i] == "[":
            call.index += in_brackets(cursor)
        if cursor.texts[cursor.i] in {page.asm.flag for page in self.forms} - {""}:
            call.attrs.append(self._flag())
        if cursor.texts[cursor.i] == "{":
            call.attrs += dictionary(cursor)
        return item

    def _flag(self) -> Given:
        """Read a single word: the attribute of that name is true."""
        at = self.cursor.i
        self.cursor.i += 1
        return Given(self.cursor.texts[at], at, True, at, at)

    def _quoted(self) -> Given:
        """Read `"row"`, a member that only one attribute has."""
        at, word = self.cursor.i, self.cursor.texts[self.cursor.i].strip('"')
        attrs = ((a.key, a.kind) for page in self.forms for a in page.attrs)
        key = next((k for k, kind in attrs if issubclass(kind, Word) and kind.named(word)), None)
        if key is None:
            self.cursor.fail("expected an operand or ')'")
        self.cursor.i += 1
        return Given(key, at, word, at, at)

    def _clauses(self) -> dict[str, tuple[str, ...]]:
        """Return the keywords of clauses, each with the operands inside."""
        return {word: operands for page in self.forms for word, operands in page.asm.clauses}

    def _inside(self) -> list[Item]:
        """Read `recv(%a, %b)` into keyed operands; the last operand takes the rest."""
        cursor, keyed = self.cursor, self.call.keyed
        operands = self._clauses()[cursor.texts[cursor.i]]
        cursor.i += 1
        opened = cursor.i
        cursor.expect("(")
        items = [self._item() for _ in cursor.elements(")", opened)]
        for item, name in zip(items, operands, strict=False):
            keyed[name] = [item]
        keyed[operands[-1]] = keyed.get(operands[-1], []) + items[len(operands) :]
        if not keyed[operands[-1]]:
            del keyed[operands[-1]]
        return items

    def _behind(self) -> None:
        """Read `word(%a)` or `word(%a : T)` at the end."""
        cursor = self.cursor
        word, opened = cursor.texts[cursor.i], cursor.i + 1
        cursor.i += 1
        cursor.expect("(")
        item = self._item()
        if cursor.accept(":"):
            self._type_of(item)
        cursor.expect(")", opened)
        self.call.keyed[word] = [item]

    def _at_clause(self) -> bool:
        texts, i = self.cursor.texts, self.cursor.i
        return texts[i][:1].isalpha() and texts[i + 1][:1] == "%"

    def _named_item(self) -> Item:
        """Read `fp %c`: an operand with its keyword."""
        word = self.cursor.texts[self.cursor.i]
        self.cursor.i += 1
        item = self._item()
        self.call.keyed[self._named_by(word)] = [item]
        self.call.clause = True
        return item

    def _named_by(self, word: str) -> str:
        """Return the operand of a keyword: `pre_quant` is short for preQuantScalar."""
        flat = word.replace("_", "")
        operands = (o for page in self.forms for o in page.ins())
        named = (o.name for o in operands if (o.cpp_name or "").lower().startswith(flat))
        return next(named, word)

    def _group_types(self, found: list[Item], index: list[Item], with_type: int) -> int:
        """Read types for the operands after the first `with_type`, then for indices.

        Return the number of operands that have a type then. PtoError if the numbers do not match.
        """
        cursor, colon = self.cursor, self.cursor.i
        cursor.i += 1
        waiting = [*found[with_type:], *index]
        given = [(cursor.type(), cursor.i - 1)]
        while cursor.texts[cursor.i] == "," and self._type_follows():
            cursor.i += 1
            given.append((cursor.type(), cursor.i - 1))
        few = len(found) - with_type
        if len(given) not in (few, len(waiting)):
            message = f"{counted(few, 'operand')}, but {counted(len(given), 'type')}"
            raise cursor.wrong("operand-count", message, colon)
        for item, (kind, at) in zip(waiting, given, strict=False):
            item.type, item.type_at = kind, at
        return len(found)

    def _type_follows(self) -> bool:
        self.cursor.i += 1
        follows = self.cursor.at_type()
        self.cursor.i -= 1
        return follows
