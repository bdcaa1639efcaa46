"""Names and types of values: scopes, definitions and uses, and inference of omitted types."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.ir.editing import constant, constant_page
from ptokit.ir.module import Func, Module, Op, OpaqueOp, Value
from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, MultiTileType, TileType
from ptokit.isa.model.types import (
    ELISIONS,
    INDEX,
    Elided,
    Kind,
    OpaqueType,
    PtrType,
    ScalarType,
    Type,
    kind_of_elided,
)
from ptokit.text.read.cursor import UNKNOWN, Cursor, Tokens
from ptokit.text.types.pairs import counting_elements
from ptokit.text.types.spelling import told_apart
from ptokit.text.types.typereader import in_global_memory

Named = tuple[str, int]  # a written result: its name and its token
DTYPE = ELISIONS[Kind.INDEX]
CONCRETE: dict[Kind, type] = {
    Kind.TILE: TileType,
    Kind.MULTI: MultiTileType,
    Kind.GLOBAL: GlobalType,
    Kind.CONV: ConvTileType,
    Kind.PTR: PtrType,
    Kind.INDEX: ScalarType,
}


class NameScope(NamedTuple):
    """The names of a region, or of a function outside of its regions, and its tokens.

    A name is visible from where its value is defined up to token `last`.
    """

    values: Mapping[str, Value]
    first: int
    last: int


class Reading(NamedTuple):
    """All that is known of a text: its tokens, and what could be read of the program in it.

    `problems` stand in text order. Where there are some, statements or functions are missing in the
    module and types may be unknown. `scopes` are those of functions and regions.
    """

    tokens: Tokens
    module: Module
    problems: Sequence[Diagnostic]
    scopes: Sequence[NameScope]
    aliases: Mapping[str, Type]


class Names:
    """The names visible in one function. In a flat program free names become its arguments."""

    def __init__(self, cursor: Cursor, flat: bool) -> None:
        self.cursor, self.flat = cursor, flat
        self.table: dict[str, Value] = {}
        self.scopes: list[list[str]] = []
        self.gone: dict[str, Value] = {}
        self.free: dict[str, Value] = {}
        self.hidden: dict[str, Value] = {}  # from a region that sees its arguments alone
        self.completed: dict[Value, int] = {}  # the token of an inferred type
        self.kinds: dict[Value, Operand] = {}  # the first operand that a value of omitted type is
        self.literals: dict[tuple[object, Type], Op] = {}
        self.constants: dict[Value, object] = {}  # the numbers of constants
        self.unnamed: list[Value] = []
        self.undefined: set[str] = set()  # names that were reported
        self.rebound: dict[Value, str] = {}  # the name in text of a renamed value
        self.begins = cursor.i
        self.past: list[NameScope] = []  # of regions that were left

    def open(self) -> None:
        self.scopes.append([])

    def close(self) -> None:
        """Leave a region: its names are no longer visible."""
        left = {name: self.table.pop(name) for name in self.scopes.pop()}
        self.gone |= left
        self.past.append(NameScope(left, self.begins, self.cursor.i))

    @contextmanager
    def isolated(self) -> Generator[None]:
        """Hide all names from a region, which may use them again for values of its own."""
        around, flat, depth, known = self.table, self.flat, len(self.scopes), len(self.past)
        self.table, self.flat, self.hidden = {}, False, around
        try:
            yield
        finally:
            while len(self.scopes) > depth:
                self.close()
            self.table, self.flat, self.hidden = around, flat, {}
        for scope in self.past[known:]:
            again = [value for name, value in scope.values.items() if name in around]
            self.unnamed += again
            self.rebound |= {value: value.name for value in again}

    def resolve(self, at: int) -> Value:
        """Return the value that the token `%name` at `at` names."""
        name = self.cursor.texts[at][1:]
        value = self.table.get(name)
        if value is None:
            value = self.table.get(f"{name}#0")
        if value is not None:
            return value
        if not self.flat:
            if name in self.undefined:
                return Value(name, UNKNOWN, self.cursor.span(at))
            self.undefined.add(name)
            raise self._undefined(name, at)
        value = self.free[name] = self.table[name] = Value(name, UNKNOWN, self.cursor.span(at))
        return value

    def define(self, name: str, kind: Type, at: int) -> Value:
        """Return a new value named `name`, defined by the token at `at`."""
        known = self.table.get(name)
        if known is not None:
            raise self._redefined(known, at)
        value = self.table[name] = Value(name, kind, self.cursor.span(at))
        if self.scopes:
            self.scopes[-1].append(name)
        return value

    def guess(self, name: str, at: int) -> None:
        """Define a name that a broken statement may define; its type agrees with every use."""
        if name not in self.table:
            self.define(name, UNKNOWN, at)

    def rebind(self, old: Value, kind: Type, at: int) -> Value:
        """Return a new value, which the name of `old` means from here on."""
        value = Value(old.name, kind, self.cursor.span(at))
        self.unnamed.append(value)
        self.rebound[value] = old.name
        for name, known in self.table.items():
            if known is old:
                self.table[name] = value
        return value

    def anonymous(self, kind: Type) -> Value:
        """Return a result that the text does not name."""
        value = Value("", kind)
        self.unnamed.append(value)
        return value

    def literal(self, number: float | None, kind: Type, at: int) -> Value:
        """Return the value of a number as operand: one constant at the start of the function."""
        number = self.number(number, kind, at)
        key = (repr(number), kind)
        op = self.literals.get(key)
        if op is None:
            span = self.cursor.span(at)
            where = {"": span, constant_page().attrs[0].name: span}
            value = Value("", kind, span, literal=True)
            assert number is not None
            op = self.literals[key] = constant(value, number, where)
        return op.results[0]

    def number(self, number: float | None, kind: Type, at: int) -> float | None:
        """Return the number that a literal means in a type; hexadecimal floats are bits."""
        text, help = self.cursor.texts[at], None
        if isinstance(kind, ScalarType) and kind.is_float and number is not None:
            if "x" not in text.lower():
                return float(number)
            help = f"write the {kind.bits} bits of the float in hexadecimal"
            if 0 <= number < 1 << kind.bits:
                from ptokit.values.formats import value_of  # most programs have no such number

                return value_of(int(number), kind.element)
        elif isinstance(kind, ScalarType) and not isinstance(number, float):
            return number
        message = f"{text} is not a number of type {kind}"
        raise self.cursor.wrong("type-mismatch", message, at, help=help)

    def agree(self, value: Value, written: Type, at: int) -> None:
        """Require that the type `written` for a use of `value` is the type of its definition."""
        known = value.type
        if written is known or written == known:
            return
        if isinstance(known, Elided) and fits(known, written):
            value.type = written
            self.completed[value] = at
        elif not (
            (isinstance(written, Elided) and fits(written, known))
            or (self.cursor.texts[at][:7] == "memref<" and _same_buffer(known, written))
            or (isinstance(known, GlobalType) and of_rank(written, {known.rank}) == known)
            or self._first_use_types(value, written, at)
        ):
            raise self._mismatch(value, written, at)

    def _first_use_types(self, value: Value, written: Type, at: int) -> bool:
        """Give a number the other type that its page allows, if this use is the first."""
        texts, name = self.cursor.texts, f"%{value.name}"
        uses = [i for i in range(at) if texts[i] == name][-2:]
        if len(uses) < 2 or texts[uses[0] + 1] != "=":
            return False
        allowed = {r.also for page in lookup(texts[uses[0] + 2]) for r in page.results()}
        if str(written) not in allowed:
            return False
        value.type = written
        self.completed[value] = at
        return True

    def serve(self, value: Value, operand: Operand, at: int | None = None) -> None:
        """Infer the kind of a value of omitted type from its use as `operand`."""
        if not isinstance(value.type, Elided):
            return
        self.kinds.setdefault(value, operand)
        if value.type == UNKNOWN:
            value.type = ELISIONS[operand.kind]
        elif at is not None:
            self.require(value, operand, at)

    def require(self, value: Value, operand: Operand, at: int) -> None:
        """Raise PtoError unless the value is of the operand's kind."""
        if not operand.accepts(value.type):
            message = f"%{value.name}: expected {operand.wanted}, got {value.type}"
            raise self.cursor.wrong("type-mismatch", message, at)

    def finish(self, func: Func) -> None:
        """Complete the function: infer types of numbers, place constants, and name values."""
        ops = (op for op in func.walk() if isinstance(op, Op) and _has_beside_tile(op.page))
        undecided = {v for op in ops for v in _beside_tiles(op)}
        for value, operand in self.kinds.items():
            if value.type == DTYPE and value not in undecided:
                value.type = ScalarType(operand.scalar) if operand.scalar else INDEX
        func.body.ops[:0] = self.literals.values()
        self.unnamed += counting_elements(func)
        taken = {*self.table, *self.gone}
        for op in self.literals.values():
            number = str(op.choice).replace("-", "m").replace("+", "")
            _name(op.results[0], f"c{number}", taken)
        for value in self.unnamed:
            _name(value, value.name or "v", taken)
        if self.rebound:
            for op in func.walk():
                if isinstance(op, OpaqueOp):
                    self._rename(op)
        func.args[:0] = self.free.values()

    def _rename(self, op: OpaqueOp) -> None:
        """Use the new names in the text of an opaque op."""
        for value in op.uses:
            if value in self.rebound:
                old = re.escape(self.rebound[value])
                op.text = re.sub(rf"%{old}(?![\w$.#-])", f"%{value.name}", op.text)

    def _undefined(self, name: str, at: int) -> PtoError:
        tokens = self.cursor.tokens
        notes: tuple[Note, ...] = ()
        if name in self.gone:
            notes = (Note("defined in a region that ends before the use", self.gone[name].span),)
        else:
            later = _definition_after(tokens, at)
            if later is not None:
                notes = (Note("defined here", tokens.span(later)),)
        close = did_you_mean(name, list(self.table))
        help = close.replace("mean ", "mean %") if close and not notes else None
        message = f"%{name} is used before its definition" if notes else f"%{name} is not defined"
        if name in self.hidden:
            message, notes = f"%{name} is not visible in this region", ()
            help = f"the region sees its arguments alone: pass %{name} as an operand"
        return PtoError(
            Diagnostic("undefined-name", message, tokens.span(at), help=help, notes=notes)
        )

    def _redefined(self, known: Value, at: int) -> PtoError:
        span = self.cursor.span(at)
        if self.free.get(known.name) is known:
            note = Note("defined here", span)
            message = f"%{known.name} is used before its definition"
            return PtoError(Diagnostic("undefined-name", message, known.span, notes=(note,)))
        note = Note("first defined here", known.span)
        message = f"redefinition of %{known.name}"
        return PtoError(Diagnostic("redefined-name", message, span, notes=(note,)))

    def _mismatch(self, value: Value, written: Type, at: int) -> PtoError:
        note = Note(f"%{value.name} is defined here", value.span)
        if value in self.completed:
            note = Note(
                f"type of %{value.name} inferred here", self.cursor.span(self.completed[value])
            )
        known, used = told_apart(value.type, written)
        message = f"%{value.name} is {known}, used as {used}"
        span = self.cursor.span(at)
        return PtoError(Diagnostic("type-mismatch", message, span, notes=(note,)))


@cache
def _has_beside_tile(page: type[Instr]) -> bool:
    """Return whether the page has a tile, and a number that may take its element type."""
    numbers = [o for o in page.operands if o.kind is Kind.SCALAR and o.scalar is None]
    return bool(numbers) and any(o.kind is Kind.TILE for o in page.operands)


def _beside_tiles(op: Op) -> Iterator[Value]:
    """Infer `dtype` of numbers from the op's tile; yield the numbers that have no such tile."""
    operands = [(op.page.operand(name), value) for name, value in op.values()]
    if not any(operand.kind is Kind.TILE for operand, _ in operands):
        return
    tile = next((v.type for _, v in operands if isinstance(v.type, TileType)), None)
    for operand, value in operands:
        if value.type == DTYPE and operand.kind is Kind.SCALAR and operand.scalar is None:
            if tile is None:
                yield value
            else:
                value.type = ScalarType(tile.dtype.name)


def fits(elided: Elided, other: Type) -> bool:
    """Return whether the omitted type `elided` may stand for another type."""
    if not elided.spelling:
        return True
    kind = kind_of_elided(elided.spelling)
    if isinstance(other, Elided):
        return bool(other.spelling) and kind_of_elided(other.spelling) is kind
    return isinstance(other, CONCRETE.get(kind, OpaqueType) | OpaqueType)


def of_rank(kind: Type, lengths: set[int]) -> Type:
    """Return the view with as many extents as numbers describe it, for a rank in older text."""
    if not isinstance(kind, GlobalType) or kind.partition or kind.shape == (1,):
        return kind
    is_rank = kind.rank == 1 and lengths == {*kind.shape}
    return replace(kind, shape=(None,) * max(lengths)) if is_rank else kind


def _same_buffer(known: Type, written: Type) -> bool:
    """Return whether a memref, which has no layout and valid region, may be this value's type."""
    if isinstance(written, OpaqueType):
        written = in_global_memory(written)
        if written == known:
            return True
    if isinstance(known, PtrType):
        return pointer_to(written) == known
    if not (isinstance(known, TileType) and isinstance(written, TileType)):
        return False
    return (known.loc, known.dtype, known.numel) == (written.loc, written.dtype, written.numel)


def pointer_to(kind: Type) -> Type:
    """Return the pointer to a memref's elements, where a memref is used as a pointer."""
    match kind:
        case TileType():
            return PtrType(kind.dtype, kind.loc.text)
        case GlobalType():
            return PtrType(kind.dtype)
        case _:
            return kind


def _definition_after(tokens: Tokens, at: int) -> int | None:
    """Return the next token that defines the name used at `at`."""
    text = tokens.texts[at]
    for i in range(at + 1, len(tokens.texts) - 2):
        if tokens.texts[i] == text and tokens.texts[i + 1] == "=":
            return i
    return None


def _name(value: Value, wanted: str, taken: set[str]) -> None:
    """Give the value a name that no other value of the function has."""
    name, count = wanted, 0
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name)
    value.name = name
