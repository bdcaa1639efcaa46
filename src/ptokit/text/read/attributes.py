"""Attributes: the syntax of every family, and the values of a page's attributes.

A value that no page interprets is `Raw`: text that is printed back as it stands. A string attribute
is a plain `str`, a number an `int` or `float`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptokit.diagnostics.diagnostic import error
from ptokit.diagnostics.nearest import did_you_mean, nearest
from ptokit.ir.module import Op, Raw
from ptokit.ir.strings import unquoted
from ptokit.isa.lang.instr import Attr, Instr
from ptokit.isa.model.types import Type
from ptokit.text.read.cursor import Cursor
from ptokit.text.types.parts import DIGITS
from ptokit.values.enumerations import Word

FAMILY = r"#pto(?:\.(\w+)<|<\s*(\w+)\s+)\s*\"?([\w.]+)\"?\s*>$"
NUMBERS = r"(?:\[|array<i64:)((?:\s*-?[0-9]{1,18}\s*,)*\s*-?[0-9]{1,18}\s*)[\]>]"


UNIT = Raw("unit")


class FunctionType(Raw):
    """The function type `(T, U) -> V`, with its types."""

    taken: tuple[Type, ...] = ()
    results: tuple[Type, ...] = ()


@dataclass(frozen=True)
class Given:
    """An attribute of an op as written: the tokens of its key and value, and the value."""

    key: str
    at: int
    value: object
    value_at: int
    end: int  # the last token of the value


def dictionary(cursor: Cursor) -> list[Given]:
    """Read `{key = value, flag, "quoted.key" = value}`."""
    opened = cursor.i
    cursor.expect("{")
    found: list[Given] = []
    for _ in cursor.elements("}", opened):
        at = cursor.i
        text = cursor.texts[at]
        if text[:1] == '"' and len(text) > 1:
            key = unquoted(text)
            cursor.i += 1
        elif text[:1].isalpha() or text[:1] == "_":
            key = cursor.word("an attribute")
        else:
            cursor.fail("expected an attribute name or '}'", opened)
        value: object = UNIT
        value_at = at
        if cursor.accept("="):
            value_at = cursor.i
            value = read_value(cursor)
        found.append(Given(key, at, value, value_at, cursor.i - 1))
    return found


def attached(cursor: Cursor) -> Given:
    """Read `#word=value` or `#pto.name<word>` after the operands."""
    at = cursor.i
    text = cursor.texts[at]
    cursor.i += 1
    key, equals, value = text[1:].partition("=")
    if equals and "<" not in key:
        return Given(key, at, Raw(value), at, at)
    match = re.match(FAMILY, text)
    return Given((match[1] or match[2]) if match else text, at, Raw(text), at, at)


def read_value(cursor: Cursor) -> object:
    """Read an attribute value; a trailing `: type` makes it raw text unless a page reads it."""
    cursor.no_remark("expected a value")
    at = cursor.i
    text = cursor.texts[at]
    if text[1:] in cursor.tokens.attributes and text[0] == "#":
        cursor.i += 1
        return Raw(cursor.tokens.attributes[text[1:]])
    first = text[:1]
    if first in ("[", "{") or text == "<":
        return _bracketed(cursor, at)
    if first == "(":
        return _function_type(cursor)
    if not text or text in ("}", ")", "]", ",", ":", "="):
        cursor.fail("expected a value")
    cursor.i += 1
    if first == '"':
        if len(text) < 2:
            cursor.i = at
            cursor.fail("expected a value")
        return unquoted(text)
    if text in ("true", "false"):
        return text == "true"
    if first in DIGITS or first == "-":
        return _number(cursor, text, at)
    if cursor.texts[cursor.i] == "<" and first.isalpha():
        cursor.i = at
        bare = text.rpartition(".")[2]
        cursor.fail("expected a value", help=f"write #pto.{bare}<{cursor.texts[at + 2]}>")
    if text.startswith("dense<") and cursor.accept(":"):
        cursor.i += 1
        return Raw(f"{text} : {cursor.texts[cursor.i - 1]}")
    return Raw(text)


def _bracketed(cursor: Cursor, at: int) -> object:
    """Read a list, a dictionary, or a word between angle brackets, as raw text."""
    if cursor.texts[at] == "<" and cursor.texts[at + 2] == ">":
        cursor.i += 3
        return Raw(f"<{cursor.texts[at + 1]}>")
    cursor.skip_balanced()
    return Raw(cursor.tokens.joined(at, cursor.i - 1))


def _function_type(cursor: Cursor) -> FunctionType:
    """Read `(T, U) -> V`."""
    at = cursor.i
    taken = cursor.types()
    cursor.expect("->")
    results = cursor.types()
    found = FunctionType(cursor.tokens.joined(at, cursor.i - 1))
    found.taken, found.results = (tuple(kind for kind, _ in each) for each in (taken, results))
    return found


def _number(cursor: Cursor, text: str, at: int) -> object:
    value = numeral(text)
    if value is None:
        cursor.i = at
        cursor.fail("expected a number of at most 64 bits")
    if cursor.texts[cursor.i] == ":" and cursor.texts[cursor.i + 1][:1].isalpha():
        cursor.i += 2
        return Typed(value, cursor.texts[cursor.i - 1])
    return value


@dataclass(frozen=True)
class Typed:
    """A number with its type: `5 : i32`."""

    value: int | float
    type: str


def numeral(text: str) -> int | float | None:
    """Return the number that a token spells; None if it spells none that 64 bits hold."""
    if len(text) > 64 or not text.isascii():
        return None
    try:
        number = _numeral(text)
    except ValueError:
        return None
    return None if isinstance(number, int) and not -(1 << 63) <= number < 1 << 64 else number


def _numeral(text: str) -> int | float:
    if text.lstrip("-")[:2].lower() == "0x":
        return int(text, 16)
    return float(text) if any(c in text for c in ".eE") else int(text)


def generic(given: list[Given]) -> dict[str, object]:
    """Return uninterpreted attributes: those of modules, functions and other dialects."""
    found: dict[str, object] = {}
    for item in given:
        value = item.value
        found[item.key] = (
            Raw(f"{value.value} : {value.type}") if isinstance(value, Typed) else value
        )
    return found


def bind_attributes(cursor: Cursor, op: Op, given: list[Given]) -> None:
    """Set the attributes of the op, without those equal to their default, and their spans."""
    page = op.page
    found: dict[str, object] = {}
    for item in given:
        attr = attribute_of(page, item.key)
        if attr is None:
            require_no_slip(cursor, page, item)
            if any(item.key == operand.name for operand in page.operands):
                message = f"{page.mnemonic()}: {item.key} is an operand, not an attribute"
                help = "give the operand a value: %name"
                raise cursor.wrong("unknown-attribute", message, item.at, help)
            found |= generic([item])
            op.spans[item.key] = cursor.span(item.at, item.end)
            continue
        if attr.name in found:
            raise cursor.wrong("syntax-error", f"duplicate attribute {item.key}", item.at)
        found[attr.name] = interpret(cursor, attr.kind, item)
        op.spans[attr.name] = cursor.span(item.at, item.end)
    for attr in page.attrs:
        if attr.required and attr.name not in found:
            message = f"{page.mnemonic()}: missing attribute {attr.key}"
            raise error("operand-count", message, op.span)
    defaults = {a.name: a.default for a in page.attrs}
    op.attrs = {k: v for k, v in found.items() if k not in defaults or v != defaults[k]}


def attribute_of(page: type[Instr], key: str) -> Attr | None:
    """Return the page's attribute with this text key or field name, ignoring underscores."""
    for attr in page.attrs:
        if key in (attr.key, attr.name, attr.older):
            return attr
    flat = key.replace("_", "").lower()
    for attr in page.attrs:
        names = [attr.key, attr.name, getattr(attr.kind, "mlir", "")]
        if flat in (n.replace("_", "").lower() for n in names):
            return attr
    return None


def require_no_slip(cursor: Cursor, page: type[Instr], item: Given) -> None:
    """Raise PtoError if an unknown attribute is almost one that the page has; else it is kept."""
    keys = {name: a.key for a in page.attrs for name in (a.key, a.name)}
    near = [] if "." in item.key else nearest(item.key, keys)
    help = f"did you mean {keys[near[0]]}?" if near else None
    if help is not None:
        message = f"{page.mnemonic()} has no attribute {item.key!r}"
        raise cursor.wrong("unknown-attribute", message, item.at, help)


WANTED = {"bool": "true or false", "int": "an integer", "str": "a string", "tuple": "[0, 1, ...]"}


def interpret(cursor: Cursor, kind: type[object], item: Given) -> object:
    """Return the value converted to the kind of the attribute; PtoError if it does not fit."""
    value = item.value.value if isinstance(item.value, Typed) else item.value
    if issubclass(kind, Word):
        return _word(cursor, kind, value, item)
    if kind is bool and (value in (0, 1) or value is UNIT):
        return bool(value)
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind is str and isinstance(value, str):
        return value  # raw text prints back as it stands
    if kind is tuple and (listed := re.fullmatch(NUMBERS, str(value))):
        return tuple(map(int, (listed[1] or "").split(",")))
    message = f"{item.key}: expected {WANTED.get(kind.__name__, kind.__name__)}"
    raise cursor.wrong("syntax-error", message, item.value_at, end=item.end)


def member(kind: type[Word], value: object) -> Word | None:
    """Return the member that the value spells, in any family, quoted, bare or by number."""
    if isinstance(value, int):
        return kind.numbered(value)
    return kind.named(_spelling(value))


def _spelling(value: object) -> str:
    """Return the word alone, without its family."""
    match = re.match(FAMILY, str(value))
    return match[3] if match else str(value).strip("<>")


def _word(cursor: Cursor, kind: type[Word], value: object, item: Given) -> Word:
    """Return the member that the value spells; PtoError, with the options, if there is none."""
    found = member(kind, value)
    match = re.match(FAMILY, str(value))
    family = (match[1] or match[2]) if match else kind.mlir
    if found is not None and family != item.key and _slip(family, kind.mlir):
        message = f"unknown attribute #pto.{family}"
        raise cursor.wrong(
            "unknown-word", message, item.value_at, f"write {found.spelled}", item.end
        )
    if found is None:
        word, options = _spelling(value), [w.text for w in kind]
        help = did_you_mean(word.lower(), options)
        if match is None and str(value)[:1] == "#":
            word, help = str(value), f"write {next(iter(kind)).spelled}"
        for other in Word.__subclasses__():  # of other forms of the instruction
            same = other is not kind and other.mlir == kind.mlir
            if same and member(other, value) is not None:
                message = f"{word} does not match these operands, which expect {options[0]}"
                help = f"{word}: {_meaning(other)}; {options[0]}: {_meaning(kind)}"
                raise cursor.wrong("unknown-word", message, item.value_at, help, item.end)
        message = f"unknown keyword {word!r}, expected one of: {', '.join(options)}"
        raise cursor.wrong("unknown-word", message, item.value_at, help, item.end)
    return found


def _meaning(kind: type[Word]) -> str:
    """Return the first line of an enumeration's docstring, for the middle of a sentence."""
    doc = (kind.__doc__ or "").partition("\n")[0].rstrip(".")
    return doc[:1].lower() + doc[1:]


def _slip(family: str, wanted: str) -> bool:
    """Return whether a name is almost that of an enumeration, and of no other one."""
    if family == wanted or not nearest(family, [wanted]):
        return False
    return all(family != other.mlir for other in Word.__subclasses__())
