"""The reader's position in the tokens: look ahead, accept, expect, and report syntax errors.

One regular expression that covers every character cuts the tokens; comments are set aside.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import sub
from sys import intern
from typing import NamedTuple, NoReturn

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, error
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.diagnostics.source import Source, Span
from ptokit.ir.editing import DEEPEST
from ptokit.isa.model.types import Elided, Type
from ptokit.text.types.parts import DIGITS, LEVELS, BadType, in_angles
from ptokit.text.types.spelling import spell
from ptokit.text.types.typereader import SPELLED, type_named

# the text between angle brackets: no brackets and no values; `->` is no bracket
INNER = r"(?:[^<>%]++|(?<=-)>)*+"
ANGLES = in_angles(INNER)
WORD = r"[A-Za-z_][\w$]*+(?:\.[A-Za-z_][\w$]*+)*+"
NAMED = r"\#(?:pto|[a-z]\w*\.\w+)(?:\.\w+)*+"  # an attribute, up to its bracket
BARE = r"\#(?:loc[0-9]*+\b(?!\s*=)|\w+=[\w.]+)"  # one without brackets
BUILTIN = "memref|vector|tensor|array|dense|tuple|complex|strided|affine_map|opaque"

WHOLE_TOKEN = rf"""
    (?:\A|[\ \t\r]*+\n)\s*+\#(?!pto(?:\.\w+)*+<)[^\n]*+  # a whole line: `# text`
    | \s*+ (?:
        %[\w$.]++(?:-[\w$.]++)*+(?:\#[0-9]++)?
      | (?:{BUILTIN}|!{WORD}|{NAMED}){ANGLES}
      | [!.]?{WORD}
      | [,(){{}}\[\]=:;+*?]
      | <loc=[^<>]*+>
      | ->
      | -?(?:0[xX][0-9a-fA-F]++|[0-9]++(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?)
      | "(?:[^"\\\n]|\\.)*+"
      | [@^][\w$.-]++
      | @"(?:[^"\\\n]|\\.)*+"
      | //[^\n]*+
      | {BARE}
      | ALIAS
      | \#[^\n]*+
      | \.\.\.
      | .
      | \Z
    )"""
# `#nd = #pto.layout<nd>`: an attribute alias
ALIAS = re.compile(r"#([A-Za-z_]\w*)[ \t]+=[ \t]+([^\n]*\S)")
ATTRIBUTE_ALIAS = r"#(\w+)\b(?![.<])"
LONGEST = 1 << 20  # characters in the expansion of a program's aliases
TOO_LONG = f"alias expands to more than {LONGEST:,} characters"
NESTED = "write out some of the nested aliases"
AHEAD = 4  # empty tokens at the end, so that lookahead needs no bounds check
IS_ATTRIBUTE = rf"{NAMED}{ANGLES}|{BARE}"


class Comment(NamedTuple):
    """A comment: the index of the token after it, its start, and its text with the marker."""

    before: int
    start: int
    text: str


@dataclass(frozen=True)
class Tokens:
    """The tokens of a source, followed by empty ones, with their offsets, and the comments.

    `marks` holds, for each comment, the index of the token after it. `attributes` has the
    attributes with an alias by name; the lines that define aliases stay in place, as comments do.
    """

    source: Source
    texts: list[str]
    starts: array[int]
    comments: list[Comment]
    marks: list[int]
    attributes: dict[str, str]

    def end(self, index: int) -> int:
        return self.starts[index] + len(self.texts[index])

    def span(self, first: int, last: int | None = None) -> Span:
        """Return the place of a token, or of tokens `first` to `last`."""
        at = first if last is None else last
        return Span(self.source, self.starts[first], self.starts[at] + len(self.texts[at]))

    def spans(self, first: int, places: Iterable[tuple[str, int, int]]) -> dict[str, Span]:
        """Return places by name, each from one token to another, counted from token `first`."""
        source, texts, starts = self.source, self.texts, self.starts
        spans: dict[str, Span] = {}
        for name, start, last in places:
            at = first + last
            place = source, starts[first + start], starts[at] + len(texts[at]), None
            spans[name] = Span._make(place)  # faster than a call of Span
        return spans

    def joined(self, first: int, last: int) -> str:
        """Return the text of tokens `first` to `last` on one line, without comments between."""
        pieces: list[str] = []
        for at in range(first, last + 1):
            token = self.texts[at]
            if at > first and self.starts[at] > self.end(at - 1):
                pieces.append(" ")
            pieces.append(token if '"' in token else " ".join(token.split()))
        return "".join(pieces)

    def comments_in(self, first: int, last: int) -> list[Comment]:
        """Return the comments before token `last` and not before token `first`."""
        marks = self.marks
        return self.comments[bisect_left(marks, first) : bisect_left(marks, last)] if marks else []


def tokenise(source: Source) -> Tokens:
    """Cut `source` into tokens. A character that starts no token is a token of its own."""
    named = _named(source)
    pieces: list[str] = _token(frozenset(named)).findall(source.text)
    texts = list(map(intern, map(str.lstrip, pieces)))  # most tokens are many times in a text
    starts = array("q", map(sub, accumulate(map(len, pieces)), map(len, texts)))
    for _ in range(AHEAD):
        texts.append("")
        starts.append(len(source.text))
    return _without_comments(source, texts, starts, named)


def _named(source: Source) -> dict[str, str]:
    """Return the attribute aliases of the source, with earlier aliases expanded.

    PtoError if the expansion is longer than any program.
    """
    found: dict[str, str] = {}
    grown = 0
    for m in ALIAS.finditer(source.text):
        if _begins_line(source, m.start()):
            uses = re.findall(ATTRIBUTE_ALIAS, m[2])
            grown += sum(len(found.get(name, "")) for name in uses)
            if grown > LONGEST:
                span = Span(source, m.start(1) - 1, m.end(1))
                raise error("syntax-error", TOO_LONG, span, help=NESTED)
            found[m[1]] = re.sub(ATTRIBUTE_ALIAS, lambda use: found.get(use[1], use[0]), m[2])
    return found


@lru_cache(maxsize=64)
def _token(named: frozenset[str]) -> re.Pattern[str]:
    """Return the expression for tokens, given the names of attribute aliases."""
    alias = "|".join(rf"\#{name}\b" for name in sorted(named)) or r"(?!)"
    return re.compile(WHOLE_TOKEN.replace("ALIAS", alias), re.VERBOSE | re.DOTALL)


def _without_comments(
    source: Source, texts: list[str], starts: array[int], named: dict[str, str]
) -> Tokens:
    """Separate the comments from the other tokens."""
    likely = {t for t in set(texts) if _may_be_comment(t) and t[1:] not in named}
    at: list[int] = []
    if likely:
        at = [i for i, t in enumerate(texts) if t in likely and _is_comment(source, t, starts[i])]
    comments = [Comment(i - n, starts[i], texts[i].rstrip()) for n, i in enumerate(at)]
    if at:
        drop = set(at)
        texts = [text for i, text in enumerate(texts) if i not in drop]
        starts = array("q", (start for i, start in enumerate(starts) if i not in drop))
    return Tokens(source, texts, starts, comments, [c.before for c in comments], named)


def _may_be_comment(text: str) -> bool:
    """Return whether a token is a comment, at any place or on a line of its own."""
    if text[:1] == "#":
        return not (text.startswith("#pto") and re.fullmatch(IS_ATTRIBUTE, text))
    return text[:2] == "//"


def _is_comment(source: Source, text: str, start: int) -> bool:
    if text[0] == "#" and re.fullmatch(IS_ATTRIBUTE, text):
        return _begins_line(source, start)  # `#word=word` on a line of its own
    return True


def _begins_line(source: Source, start: int) -> bool:
    line = source.text.rfind("\n", 0, start) + 1
    return not source.text[line:start].strip()


FUNC, GENERIC_FUNC = "func.func", '"func.func"'
FUNCS = (FUNC, GENERIC_FUNC)
BRACKETS = r"<|(?<!-)>"
INNER_ALIAS = r"(?s)(?<=.)![\w$]+(?![\w$.<])"
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
UNKNOWN = Elided("")  # agrees with every type
# an attribute with spaces inside, or cut short, which the tokeniser takes for a comment
SPACED = (
    r"#\s*pto\s*(?:\.\s*(\w*)\s*(?:<\s*(\w*)\s*>?)?|<\s*(\w*)\s*(\w*)\s*>?|(?![\w.<]))"
    r"|#(?=\s*(?:[}\])>,]|$))|#\s*\w+\s*(?=[<}\]])(?:<[^<>}]*>?)?"
)
BUILTIN_TYPES = ("index", "dtype", "none")


class Lost(PtoError):
    """The rest of the function cannot be read: a brace is missing, or superfluous."""


class Enough(Exception):
    """The limit of errors for one text is reached."""


UNNAMED = "<loc"  # starts a tile type without its name


class Cursor:
    """The tokens, the index `i` of the current token, and the type aliases read so far."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.texts = tokens.texts
        self.i = 0
        self.depth = 0
        self.aliases: dict[str, Type] = {}
        self.spelled = 0  # characters in the expansion of type aliases
        self.modules = 0  # modules around the cursor

    def span(self, first: int, last: int | None = None) -> Span:
        return self.tokens.span(first, last)

    def begins_line(self, index: int | None = None) -> bool:
        """Return whether the token at `index`, or the current one, is the first of its line."""
        at = self.i if index is None else index
        tokens = self.tokens
        return at == 0 or "\n" in tokens.source.text[tokens.end(at - 1) : tokens.starts[at]]

    def accept(self, text: str) -> bool:
        """Step over the token and return True if it is `text`."""
        if self.texts[self.i] == text:
            self.i += 1
            return True
        return False

    def expect(self, text: str, opened: int | None = None) -> None:
        """Step over `text`, else raise PtoError; `opened` is the bracket that `text` closes."""
        if self.texts[self.i] != text:
            self.fail(f"expected {text!r}", opened)
        self.i += 1

    def at_operand(self) -> bool:
        """Return whether a value or a number starts here."""
        text = self.texts[self.i]
        return text != "->" and (text[:1] in ("%", "@", "-") or text[:1] in DIGITS)

    def elements(self, closing: str, opened: int) -> Iterator[None]:
        """Yield once for each element of a comma-separated list, until its closing bracket."""
        while not self.accept(closing):
            yield
            if not self.accept(",") and self.texts[self.i] != closing:
                self.fail(f"expected ',' or {closing!r}", opened)

    def types(self) -> list[tuple[Type, int]]:
        """Read `(T, U)` or `T`, each with the token where it ends."""
        opened = self.i
        if not self.accept("("):
            return [(self.type(), self.i - 1)]
        return [(self.type(), self.i - 1) for _ in self.elements(")", opened)]

    def listed_types(self) -> list[tuple[Type, int]]:
        """Read `(T, U)` or `T, U`, each with the token where it ends."""
        if self.texts[self.i] == "(":
            return self.types()
        found = [(self.type(), self.i - 1)]
        while self.accept(","):
            found.append((self.type(), self.i - 1))
        return found

    def word(self, what: str) -> str:
        """Step over a token that starts with a letter and return it."""
        text = self.texts[self.i]
        if not (text[:1].isalpha() or text[:1] == "_"):
            self.fail(f"expected {what}")
        self.i += 1
        return text

    def fail(self, message: str, opened: int | None = None, help: str | None = None) -> NoReturn:
        """Raise a syntax error at the current token."""
        self.no_remark(message)
        found = self.texts[self.i]
        shown = (
            "end of text" if not found else repr(found if len(found) < 40 else found[:37] + "...")
        )
        if found == '"':
            shown = "an unterminated string"
        notes = () if opened is None else (self._opened(opened),)
        text = f"{message}, found {shown}"
        span = self.span(self.i)
        raise PtoError(Diagnostic("syntax-error", text, span, help=help, notes=notes))

    def no_remark(self, wanted: str) -> None:
        """Raise a syntax error if a comment here, `# pto . name<word>`, was meant as attribute."""
        for remark in self.tokens.comments_in(self.i, self.i + 1):
            begin = self.tokens.end(self.i - 1) if self.i else 0
            line = self.tokens.source.text[begin : remark.start]
            meant = re.match(SPACED, remark.text)
            if meant is None or "\n" in line:
                continue
            shown = meant[0].rstrip()
            span = Span(self.tokens.source, remark.start, remark.start + len(shown))
            name, word = meant[1] or meant[3], meant[2] or meant[4]
            help = f"write #pto.{name or 'NAME'}<{word or 'word'}>, without spaces"
            message = f"{wanted}, found {shown!r}, which starts a comment"
            problem = error("syntax-error", message, span, help=help)
            closes = any(bracket in remark.text[len(shown) :] for bracket in CLOSING.values())
            raise Lost(problem.diagnostics) if closes else problem

    def _opened(self, index: int) -> Note:
        return Note(f"{self.texts[index]!r} was opened here", self.span(index))

    def wrong(
        self, slug: str, message: str, at: int, help: str | None = None, end: int | None = None
    ) -> PtoError:
        """Return a diagnostic at token `at`, or at the tokens from `at` to `end`."""
        return error(slug, message, self.span(at, end), help=help)

    def give_up(self, problem: PtoError) -> NoReturn:
        """Raise `problem`, after which no further text is read."""
        raise problem

    def enter(self) -> None:
        """Go one bracket or region deeper; `Lost` beyond the limit."""
        self.depth += 1
        if self.depth > DEEPEST:
            message = f"regions or brackets nested more than {DEEPEST} deep"
            raise Lost(self.wrong("nesting-too-deep", message, self.i).diagnostics)

    def type(self) -> Type:
        """Read a type."""
        text = self.texts[self.i]
        known = SPELLED.get(text) or self.aliases.get(text)
        if known is None:
            if not text[:1].isalpha() and text[:1] not in ("!", "_") and text[:4] != UNNAMED:
                self.fail("expected a type")
            known = self._new_type(text)
        self.i += 1
        return known

    def _new_type(self, text: str) -> Type:
        if self.texts[self.i + 1] == "<" and text[:1] == "!":
            self.i += 2
            self.fail("expected the rest of the type and '>'", self.i - 1)
        return self.type_spelled(text, self.tokens.starts[self.i])

    def type_spelled(self, text: str, base: int) -> Type:
        """Return the type with this spelling, which starts at offset `base` of the source."""
        whole = self._unaliased(text)
        if whole[:4] == UNNAMED:
            whole = f"!pto.tile_buf{whole}"
        try:
            return type_named(whole)
        except BadType as bad:
            start, end = (bad.start, bad.end) if whole == text else (0, len(text))
            span = Span(self.tokens.source, base + start, base + end)
            help = bad.help
            if text[:1] == "!" and "." not in text:
                help = did_you_mean(text, list(self.aliases)) or help
                self.aliases[text] = UNKNOWN  # report it once
            raise error(bad.slug, bad.message, span, help=help) from None

    def _unaliased(self, text: str) -> str:
        """Return the spelling of a type with the aliases in it expanded."""
        if "#" in text:
            named = self.tokens.attributes
            text = re.sub(ATTRIBUTE_ALIAS, lambda m: named.get(m[1], m[0]), text)
        if "<" not in text or "!" not in text[1:]:
            return text
        names = {name for name in re.findall(INNER_ALIAS, text) if name in self.aliases}
        known = {name: spell(self.aliases[name], "dps") for name in names}
        whole = re.sub(INNER_ALIAS, lambda m: known.get(m[0], m[0]), text)
        self.spelled += len(whole) - len(text)
        if self.spelled > LONGEST:
            self.give_up(self.wrong("syntax-error", TOO_LONG, self.i, NESTED))
        self._require_shallow(whole)
        return whole

    def _require_shallow(self, spelling: str) -> None:
        """Report a type that nests deeper than the reader allows."""
        depth = deepest = 0
        for bracket in re.findall(BRACKETS, spelling):
            depth += 1 if bracket == "<" else -1
            deepest = max(deepest, depth)
        if deepest > LEVELS:
            message = f"types nested more than {LEVELS} deep"
            self.give_up(self.wrong("nesting-too-deep", message, self.i))

    def at_type(self) -> bool:
        """Return whether the current token can start a type."""
        text = self.texts[self.i]
        return (
            text[:1] == "!"
            or text[:4] == UNNAMED
            or text in SPELLED
            or text in BUILTIN_TYPES
            or _names_type(text)
        )

    def skip_balanced(self) -> None:
        """Step over the bracket at the cursor and everything inside."""
        stack = [self.i]
        self.i += 1
        while stack:
            text = self.texts[self.i]
            if not text:
                self.fail(f"expected {CLOSING[self.texts[stack[-1]]]!r}", stack[-1])
            if text in CLOSING:
                stack.append(self.i)
            elif text in CLOSING.values():
                if text != CLOSING[self.texts[stack[-1]]]:
                    self.fail(f"expected {CLOSING[self.texts[stack[-1]]]!r}", stack[-1])
                stack.pop()
            self.i += 1

    def skip_location(self) -> None:
        """Step over a trailing `loc(...)`, which has no meaning for the program."""
        if self.texts[self.i] == "loc" and self.texts[self.i + 1] == "(":
            self.i += 1
            self.skip_balanced()


def _names_type(text: str) -> bool:
    if not text[:1].isalpha():
        return False
    try:
        type_named(text)
    except BadType:
        return False
    return True
