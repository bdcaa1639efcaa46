"""What stands after a mnemonic, in any form, before anyone knows what it means.

One grammar covers the forms: operands with brackets, keywords and literals; `ins(...) outs(...)`
groups; the generic form's parentheses; attributes; regions; types of operands and of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ptokit.ir.module import Block, Value
from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Type
from ptokit.isa.model.words import Word
from ptokit.text.read.attributes import Given, Raw, attached, dictionary, numeral, read_value
from ptokit.text.read.cursor import Cursor
from ptokit.text.read.names import Names
from ptokit.text.read.signature import keywords
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


def read_call(cursor: Cursor, names: Names, forms: Sequence[type[Instr]], at: int) -> Call:
    """Read up to the end of the op, one of `forms`: operands, attributes and types."""
    call = Call(at)
    comma = True  # at the start, or after a comma: an operand may follow
    while True:
        if cursor.texts[cursor.i] == ",":
            if comma:
                cursor.fail("expected an operand")
            cursor.i += 1
            comma = True
        elif (comma or not cursor.at_operand()) and _part(cursor, names, call, forms):
            comma = False
        else:
            break
    if comma and cursor.texts[cursor.i - 1] == ",":
        cursor.fail("expected an operand")
    read_signature(cursor, call)
    if cursor.texts[cursor.i] == "{" and call.outs is not None:
        call.attrs += dictionary(cursor)
    return call


def _part(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> bool:
    """Read an operand, a group of operands or attributes, if one begins here."""
    text, after = cursor.texts[cursor.i], cursor.texts[cursor.i + 1]
    if cursor.at_operand():
        call.items.append(read_item(cursor, names))
    elif text in ("ins", "outs") and after == "(":
        _side(cursor, names, call, forms)
    elif text == "[":
        call.index += in_brackets(cursor, names)
    elif text == "{":
        call.attrs += dictionary(cursor)
    elif text[:1] == "#":
        call.attrs.append(attached(cursor))
    elif text == "(" and not call.items and call.outs is None:
        call.items += _group(cursor, names, call, forms)
    elif text in FLAGS and after == "<":
        call.attrs.append(flags(cursor))
    elif after == "(" and text in _clauses(forms):
        _behind(cursor, names, call)
    elif after == "[" and text[:1].isalpha() and _is_keyword(cursor, forms):
        _keyword(cursor, names, call, width=1)
    elif text and after == "=" and (text[:1].isalpha() or text[:1] == "_"):
        _keyword(cursor, names, call)
        if call.outs is not None:
            _keyword_type(cursor, call, text)
    else:
        return False
    return True


def _side(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> None:
    """`ins(...)` or `outs(...)`."""
    outputs = cursor.texts[cursor.i] == "outs"
    cursor.i += 1
    group = _group(cursor, names, call, forms)
    if outputs:
        call.outs = [*(call.outs or ()), *group]
    else:
        call.items += group
        call.outs = call.outs or []


def flags(cursor: Cursor) -> Given:
    """`overflow<nsw, nuw>`: what an attribute in braces says too."""
    at, word = cursor.i, cursor.texts[cursor.i]
    cursor.i += 1
    value = Raw(f"#arith.{word}{read_value(cursor)}")
    return Given(FLAGS[word], at, value, at + 1, cursor.i - 1)


def _is_keyword(cursor: Cursor, forms: Sequence[type[Instr]]) -> bool:
    """Whether the word before a bracket belongs to this op; else it begins the next statement."""
    text = cursor.texts[cursor.i]
    if any(text in keywords(page) for page in forms):
        return True
    return not ("." in text or cursor.begins_line() or lookup(text))


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


def _keyword(cursor: Cursor, names: Names, call: Call, width: int = 2) -> None:
    """`key = %value`, `key = [%a, %b]`, `key [%a, %b]`, or an attribute outside of braces."""
    at = cursor.i
    key = cursor.texts[at]
    cursor.i += width
    text = cursor.texts[cursor.i]
    if key in call.keyed:
        raise cursor.wrong("syntax-error", f"{key} is given twice", at)
    if cursor.at_operand():
        call.keyed[key] = [read_item(cursor, names)]
    elif text == "[":
        call.keyed[key] = in_brackets(cursor, names)
    else:
        value_at = cursor.i
        value = read_value(cursor)
        call.attrs.append(Given(key, at, value, value_at, cursor.i - 1))


def _keyword_type(cursor: Cursor, call: Call, key: str) -> None:
    """The type that may stand behind an operand with a keyword: `key = %value : T`."""
    if key in call.keyed and cursor.accept(":"):
        item = call.keyed[key][0]
        item.type, item.type_at = cursor.type(), cursor.i - 1


def _clause(word: str, forms: Sequence[type[Instr]]) -> str:
    """The operand that a word before it names: `pre_quant` is short for preQuantScalar."""
    flat = word.replace("_", "")
    operands = (o for page in forms for o in page.ins())
    return next((o.name for o in operands if (o.cpp_name or "").lower().startswith(flat)), word)


def _flag(cursor: Cursor) -> Given:
    """A word alone: the attribute of that name is true."""
    at = cursor.i
    cursor.i += 1
    return Given(cursor.texts[at], at, True, at, at)


def _quoted(cursor: Cursor, forms: Sequence[type[Instr]]) -> Given:
    """`"row"`: the word alone says which attribute it is."""
    at, word = cursor.i, cursor.texts[cursor.i].strip('"')
    attrs = ((a.key, a.kind) for page in forms for a in page.attrs)
    key = next((k for k, kind in attrs if issubclass(kind, Word) and kind.named(word)), None)
    if key is None:
        cursor.fail("expected an operand or ')'")
    cursor.i += 1
    return Given(key, at, word, at, at)


def _group(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> list[Item]:
    """`(%a, %b[%r, %c], {attr = 1} : T, U)`, or a type after each operand; `fp %c : T` is named."""
    opened = cursor.i
    cursor.expect("(")
    found: list[Item] = []
    indexed = len(call.index)
    with_type = 0  # how many of `found` have their types
    for _ in cursor.elements(")", opened):
        found += _element(cursor, names, call, forms, opened)
        if cursor.texts[cursor.i] == ":":
            call.apart = call.apart or with_type > 0
            with_type = _group_types(cursor, found, call.index[indexed:], with_type)
        while _at_clause(cursor):  # behind the types no comma stands before it
            found.append(_named_item(cursor, names, call, forms))
            if cursor.texts[cursor.i] == ":":
                with_type = _group_types(cursor, found, call.index[indexed:], with_type)
    named = [item for items in call.keyed.values() for item in items]
    return [item for item in found if item not in named]


def _element(
    cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]], opened: int
) -> list[Item]:
    """What stands between two commas of a group: operands, or attributes, which go to the call."""
    text, after = cursor.texts[cursor.i], cursor.texts[cursor.i + 1]
    if text == "{":
        call.attrs += dictionary(cursor)
    elif text[:1] == "#":
        call.attrs.append(attached(cursor))
    elif text[:1].isalpha() and after == "=":
        _keyword(cursor, names, call)
        _keyword_type(cursor, call, text)
    elif after == "(" and text in _clauses(forms):
        return _inside(cursor, names, call, forms)
    elif text[:1] == '"':
        call.attrs.append(_quoted(cursor, forms))
    elif _at_clause(cursor):
        return [_named_item(cursor, names, call, forms)]
    elif not cursor.at_operand():
        cursor.fail("expected an operand or ')'", opened)
    else:
        return [_operand(cursor, names, call, forms)]
    return []


def _operand(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> Item:
    """An operand of a group with the indices, the word and the attributes behind it."""
    item = read_item(cursor, names)
    if cursor.texts[cursor.i] == "[":
        call.index += in_brackets(cursor, names)
    if cursor.texts[cursor.i] in {page.asm.flag for page in forms} - {""}:
        call.attrs.append(_flag(cursor))
    if cursor.texts[cursor.i] == "{":
        call.attrs += dictionary(cursor)
    return item


def _clauses(forms: Sequence[type[Instr]]) -> dict[str, tuple[str, ...]]:
    """The words around operands, and which operands these are."""
    return {word: operands for page in forms for word, operands in page.asm.clauses}


def _inside(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> list[Item]:
    """`recv(%a, %b)`: the items, each by the name of its operand; the last one takes the rest."""
    operands = _clauses(forms)[cursor.texts[cursor.i]]
    cursor.i += 1
    opened = cursor.i
    cursor.expect("(")
    items = [read_item(cursor, names) for _ in cursor.elements(")", opened)]
    for item, name in zip(items, operands, strict=False):
        call.keyed[name] = [item]
    call.keyed[operands[-1]] = call.keyed.get(operands[-1], []) + items[len(operands) :]
    if not call.keyed[operands[-1]]:
        del call.keyed[operands[-1]]
    return items


def _behind(cursor: Cursor, names: Names, call: Call) -> None:
    """`word(%a)` or `word(%a : T)` behind all else."""
    word, opened = cursor.texts[cursor.i], cursor.i + 1
    cursor.i += 1
    cursor.expect("(")
    item = read_item(cursor, names)
    if cursor.accept(":"):
        item.type, item.type_at = cursor.type(), cursor.i - 1
    cursor.expect(")", opened)
    call.keyed[word] = [item]


def _at_clause(cursor: Cursor) -> bool:
    return cursor.texts[cursor.i][:1].isalpha() and cursor.texts[cursor.i + 1][:1] == "%"


def _named_item(cursor: Cursor, names: Names, call: Call, forms: Sequence[type[Instr]]) -> Item:
    """`fp %c`: an operand with the word that names it."""
    word = cursor.texts[cursor.i]
    cursor.i += 1
    item = read_item(cursor, names)
    call.keyed[_clause(word, forms)] = [item]
    call.clause = True
    return item


def _group_types(cursor: Cursor, found: list[Item], index: list[Item], with_type: int) -> int:
    """Types after a colon go to the operands behind the first `with_type`, then to indices.

    How many operands have a type then: all. PtoError where their number is another one.
    """
    colon = cursor.i
    cursor.i += 1
    waiting = [*found[with_type:], *index]
    given = [(cursor.type(), cursor.i - 1)]
    while cursor.texts[cursor.i] == "," and _type_follows(cursor):
        cursor.i += 1
        given.append((cursor.type(), cursor.i - 1))
    few = len(found) - with_type
    if len(given) not in (few, len(waiting)):
        message = f"{counted(few, 'operand')}, but {counted(len(given), 'type')}"
        raise cursor.wrong("operand-count", message, colon)
    for item, (kind, at) in zip(waiting, given, strict=False):
        item.type, item.type_at = kind, at
    return len(found)


def _type_follows(cursor: Cursor) -> bool:
    cursor.i += 1
    follows = cursor.at_type()
    cursor.i -= 1
    return follows


def counted(number: int, what: str) -> str:
    """`2 types`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
