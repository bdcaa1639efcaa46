"""The recorder of a kernel: calls become ops and numbers become values in the open region."""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType
from typing import Any, TypeAlias, cast

from ptokit.api.eager import chosen_word, shown
from ptokit.api.hostarrays import HostArray
from ptokit.api.kernel.callplaces import CallPlace, CallSpans, here, refused, user_frame
from ptokit.api.kernel.pagesearch import page_called, parameters_of, shaped
from ptokit.api.kernel.pythonstate import PythonState
from ptokit.api.kernel.recorded import RecordedRegister, RecordedTile, RecordedView
from ptokit.api.kernel.runtimenumbers import SIGNS, Number, RunTimeNumber, is_number, require_whole
from ptokit.api.kernel.scalarkinds import scalar_kind
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity, error
from ptokit.ir.editing import allocation, arithmetic_page, constant_page, new_op
from ptokit.ir.module import IN_TURN, Block, Op, Value
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import I1, I64, INDEX, Kind, ScalarType, Type
from ptokit.launch.settings import recording
from ptokit.values.enumerations import Word
from ptokit.values.layouts import Shape

HOOK = "__ptokit_control_flow"  # the free name of a rewritten function for the module of loops
Names = Callable[[CallPlace], str]
Given: TypeAlias = "Mapping[str, Any]"  # Any: tiles, numbers and words, by names of operands
NOTHING = ()  # an empty list of operands


class Recorder:
    """A kernel during recording; ops go into the last block of `stack`."""

    def __init__(self, names: Names, function: Callable[..., object]) -> None:
        self.names, self.function = names, function
        caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - the only way to a frame
        self.outermost = caller.f_code
        self.body, self.head = Block(), Block()
        self.stack = [self.body]
        self.buffers: list[Block] = []  # blocks for tiles of repeated bodies
        self.open: list[Any] = []  # Any: the loops that are open, the innermost last
        self.homes: dict[Value, Block] = {}
        self.known: dict[object, Value] = {}
        self.taken: dict[str, int] = {}
        self.unused: dict[Value, CallPlace] = {}  # results of value forms that were not read yet
        self.refused: Exception | None = None  # not to be hidden by an `except`
        self.gone: dict[str, CallPlace] = {}  # names that only one branch binds, and its place
        self.stored: set[str] = set()  # arrays with a store
        self.views: dict[Value, list[RecordedTile]] = {}  # transposed views of a tile
        self.made_views: list[tuple[Block, Value]] = []

    def sees(self, code: CodeType) -> bool:
        """Return whether names and branches of this code are recorded: the kernel, or inlined."""
        return code.co_name == self.function.__code__.co_name or HOOK in code.co_freevars

    def state(self, bound: frozenset[str] = frozenset()) -> PythonState:
        """Return the Python state at a loop or branch, which binds the names `bound`."""
        frames = [user_frame()]
        while (outer := frames[-1].f_back) is not None and outer.f_code is not self.outermost:
            frames.append(outer)
        return PythonState({self.function.__name__: self.function}, frames, bound)

    # values and ops

    def value(self, name: str, kind: Type, home: Block | None = None) -> Value:
        """Return a new value, by default named after the assignment that contains the call."""
        name = name or self.names(here())
        count = self.taken.get(name, -1) + 1
        self.taken[name] = count
        if count:
            name = f"{name}_{count}"
            self.taken.setdefault(name, 0)
        tile = isinstance(kind, TileType | ConvTileType)  # diagnostics on tiles need a span
        made = Value(name, kind, here().span() if tile else None)
        self.homes[made] = home or self.stack[-1]
        return made

    def emit(
        self,
        page: type[Instr],
        operands: Mapping[str, Sequence[Value]],
        attrs: Mapping[str, object] | None = None,
        results: Sequence[Value] = (),
        regions: Sequence[Block] = (),
        names: tuple[str, ...] = (),
        home: Block | None = None,
    ) -> Op:
        """Record an op at the current place in the user's Python."""
        spans = CallSpans(here(), names)
        for name, values in operands.items():
            for value in values:
                self._require_visible(value, name, spans)
        op = new_op(page, operands, attrs, results=results, regions=regions, spans=spans)
        (home or self.stack[-1]).ops.append(op)
        return op

    def _require_visible(self, value: Value, name: str, spans: CallSpans) -> None:
        if not self._sees(value):
            raise error(
                "out-of-scope",
                f"%{value.name} was defined in a loop or branch that has ended",
                spans.get(name) or spans.get(""),
                help="define the tile before the loop, and write into it inside with `out=`"
                if isinstance(value.type, TileType | ConvTileType)
                else "bind the number before the loop: a number that is rebound inside is carried",
            )

    def unused_values(self) -> list[Diagnostic]:
        """Return warnings for results that are never read."""
        return [
            Diagnostic(
                "unused-value",
                f"unused tile %{value.name}",
                place.span(),
                Severity.WARNING,
                help="store it, or write into another tile with `out=`",
            )
            for value, place in self.unused.items()
        ]

    # numbers

    def number(self, given: Number, kind: ScalarType = INDEX) -> Value:
        """Return the value of a number in this type."""
        if not isinstance(given, RunTimeNumber):
            if not kind.is_float:
                require_whole(given, f"an operand of type {kind} takes")
            try:
                known = float(given) if kind.is_float else operator.index(given)  # type: ignore[arg-type]  # an integer, as checked above
            except OverflowError:
                raise refused("operand-value", "number out of range for floats") from None
            most = 1 << (64 if kind.name == "u64" else 63)
            if isinstance(known, int) and not -(1 << 63) <= known < most:
                raise refused("operand-value", "a number must have at most 64 bits")
            return self.constant(known, kind)
        if given.kind != kind:
            return self.converted(given, kind)
        if len(given.terms) == 1 and not given.const:
            ((value, factor),) = given.terms.items()
            if factor == 1:
                return value
        return self._sum(given)

    def _sum(self, given: RunTimeNumber) -> Value:
        """Return a sum of terms, computed once for each region."""
        key = frozenset(given.terms.items()), given.const
        found = self.remembered(key)
        if found is not None:
            return found
        total: Number | None = None
        for value, factor in given.terms.items():
            term: Number = RunTimeNumber.of(value)
            if factor != 1:
                term = self.arithmetic("mul", term, factor)
            total = term if total is None else self.arithmetic("add", total, term)
        assert total is not None
        if given.const:
            total = self.arithmetic("add", total, given.const)
        assert isinstance(total, RunTimeNumber)
        (made,) = total.terms
        self.known[key, id(self.stack[-1])] = made
        return made

    def remembered(self, key: object) -> Value | None:
        """Return a number that was computed in an enclosing region."""
        for block in self.stack:
            found = self.known.get((key, id(block)))
            if found is not None:
                return found
        return None

    def constant(self, number: float, kind: ScalarType) -> Value:
        """Return the value of a constant, defined at the function's start."""
        key = repr(number), kind
        if key not in self.known:
            digits = f"{number}".replace("-", "m").replace(".", "p").replace("+", "")
            name = f"c{digits}" if kind is INDEX else f"c{digits}_{kind}"
            page = constant_page()
            self.known[key] = made = self.value(name, kind, self.head)
            attrs: dict[str, object] = {page.attrs[0].name: number}
            self.emit(page, {}, attrs, [made], home=self.head)
        return self.known[key]

    def arithmetic(self, symbol: str, a: Number, b: Number) -> Number:
        """Return the result of an operation on two numbers; equal operations are shared."""
        kind = _common(a, b)
        page = arithmetic_page(symbol, kind)
        if page is None:
            raise refused("run-time-number", f"no instruction computes {symbol} of {kind}")
        return RunTimeNumber.of(self._two(page, a, b, kind, kind), kind)

    def comparison(self, sign: str, a: Number, b: Number) -> Value:
        """Return the truth value of a comparison of two numbers."""
        kind = _common(a, b)
        page = shaped("compare", kind)
        words = page.attrs[0].kind
        assert issubclass(words, Word)
        word = next(w for w in words if w.cpp == f"{{lhs}} {sign} {{rhs}}")
        assert sign in SIGNS
        return self._two(page, a, b, kind, I1, {page.attrs[0].name: word})

    def _two(
        self,
        page: type[Instr],
        a: Number,
        b: Number,
        kind: ScalarType,
        result: ScalarType,
        attrs: Mapping[str, object] | None = None,
    ) -> Value:
        values = self.number(a, kind), self.number(b, kind)
        key = page, values, *(attrs or {}).values()
        found = self.remembered(key)
        if found is None:
            found = self.value("", result)
            names = [o.name for o in page.ins()]
            self.emit(page, {n: (v,) for n, v in zip(names, values, strict=True)}, attrs, [found])
            self.known[key, id(self.stack[-1])] = found
        return found

    def selection(self, condition: RunTimeNumber, yes: Number, no: Number) -> Number:
        """Return one of two numbers, selected by a condition."""
        kind = _common(yes, no)
        page, made = shaped("select"), self.value("", kind)
        given = (self.number(condition, I1), self.number(yes, kind), self.number(no, kind))
        names = [o.name for o in page.ins()]
        self.emit(page, {n: (v,) for n, v in zip(names, given, strict=True)}, {}, [made])
        return RunTimeNumber.of(made, kind)

    def converted(self, given: RunTimeNumber, kind: ScalarType) -> Value:
        """Return a number of the program in another type."""
        if kind.is_float:
            if given.kind is INDEX:
                given = RunTimeNumber.of(self.converted(given, I64), I64)
            return self._cast("float", given, kind)
        if INDEX not in (kind, given.kind):
            given = RunTimeNumber.of(self.converted(given, INDEX))
        return self._cast("index", given, kind)

    def _cast(self, symbol: str, given: RunTimeNumber, kind: ScalarType) -> Value:
        page, source = shaped("cast", given.kind, symbol=symbol), self.number(given, given.kind)
        found = self.remembered((page, source, kind))
        if found is None:
            found = self.value(source.name, kind)
            self.emit(page, {page.ins()[0].name: (source,)}, {}, [found])
            self.known[(page, source, kind), id(self.stack[-1])] = found
        return found

    def numbers(self, many: Sequence[Number]) -> tuple[Value, ...]:
        return tuple(self.number(n) for n in many)

    # tiles and instructions

    def tile(self, kind: TileType | ConvTileType, valid: tuple[Number, ...] = ()) -> RecordedTile:
        """Return a new tile; extents of its valid region may be run-time numbers."""
        shape = (kind.rows, kind.cols) if isinstance(kind, TileType) else kind.shape
        if any(isinstance(n, RunTimeNumber) for n in shape):
            raise _no_shape(shape)
        dynamic = any(isinstance(n, RunTimeNumber) for n in valid)
        if isinstance(kind, TileType) and self.buffers and dynamic:
            return self._resized(kind, valid)
        home = self.buffers[-1] if self.buffers else None
        return self._allocated(kind, valid, home)

    def _allocated(
        self,
        kind: TileType | ConvTileType,
        valid: tuple[Number, ...],
        home: Block | None,
        name: str = "",
    ) -> RecordedTile:
        operands: dict[str, Sequence[Value]] = {}
        if isinstance(kind, TileType):
            kind = _with_valid(kind, valid)
            for extent, number in zip(("valid_row", "valid_col"), valid, strict=True):
                if isinstance(number, RunTimeNumber):
                    operands[extent] = (self.number(number),)
        made = self.value(name, kind, home)
        page = allocation(Kind.TILE if isinstance(kind, TileType) else Kind.CONV)
        self.emit(page, operands, _in_turn(home), [made], home=home)
        return RecordedTile(made, valid)

    def _resized(self, kind: TileType, valid: tuple[Number, ...]) -> RecordedTile:
        """Return a tile allocated before the loop, with its valid region set inside."""
        page = page_called("resize", executes=False)
        assert page is not None
        made = self.value("", _valid_in(kind, Shape(None, None)), self.buffers[-1])
        whole = {
            name: (self.constant(n, INDEX),)
            for name, n in (("valid_row", kind.rows), ("valid_col", kind.cols))
        }
        home = self.buffers[-1]
        self.emit(allocation(), whole, _in_turn(home), [made], home=home)
        sizes = (made, *self.numbers(valid))
        fields = zip(page.operands, sizes, strict=True)
        self.emit(page, {o.name: (value,) for o, value in fields})
        return RecordedTile(made, valid)

    def instruction(self, page: type[Instr], given: Given, names: tuple[str, ...] = ()) -> None:
        """Record an instruction on the user's arguments."""
        operands: dict[str, Sequence[Value]] = {}
        for operand in page.operands:
            found = given.get(operand.name)
            if found is None or found is NOTHING:
                if operand.required and not operand.many:
                    what = operand.kind.value
                    raise TypeError(
                        f"{page.python()}: {operand.name} must be a {what}, got {found}"
                    )
                continue
            many = found if operand.many else (found,)
            operands[operand.name] = tuple(self._bound(page, operand, v, given) for v in many)
            if operand.written:
                self._written(many)
            else:
                for value in operands[operand.name]:
                    self.unused.pop(value, None)
        attrs = {a.name: chosen_word(a, given[a.name]) for a in page.attrs if a.name in given}
        stated = {a.name: a.default for a in page.attrs}
        chosen = {n: v for n, v in attrs.items() if v is not None and v != stated[n]}
        self.emit(page, operands, chosen, names=names or parameters_of(page))

    def turned(self, tile: Any) -> RecordedTile | None:  # Any: a recorded tile
        """Return the transposed view of a tile that an enclosing block made, if any."""
        views = self.views.get(tile.value, ())
        self.unused.pop(tile.value, None)
        return next((v for v in views if self._sees(v.value)), None)

    def _sees(self, value: Value) -> bool:
        """Return whether a value was made in an enclosing block."""
        return any(self.homes[value] is block for block in (self.head, *self.stack))

    def view(self, tile: Any, kind: TileType, valid: tuple[Number, ...]) -> RecordedTile:
        """Return a handle that the next instruction makes a view of a tile. Any: as above."""
        made = self._allocated(kind, valid, None, f"{tile.value.name}_view")
        self.views.setdefault(tile.value, []).append(made)
        self.views.setdefault(made.value, []).append(tile)
        self.made_views.append((self.stack[-1], made.value))
        return made

    def drop_unread_views(self) -> None:
        """Remove the views that no op reads or writes through."""
        values = (v for op in self.body.walk() if isinstance(op, Op) for _, v in op.values())
        uses = Counter(values)
        for home, view in reversed(self.made_views):
            if uses[view] == 1:  # used only by the instruction that makes it a view
                gone = [op for op in home.ops if isinstance(op, Op) and _concerns(op, view)]
                uses.subtract(v for op in gone for _, v in op.values())
                home.ops = [op for op in home.ops if not any(op is o for o in gone)]

    def _written(self, things: Sequence[object]) -> None:
        for thing in things:
            if isinstance(thing, RecordedView):
                thing.require_stored()
                self.stored.add(thing.name)

    def _bound(
        self, page: type[Instr], operand: Operand, given: object, others: Mapping[str, object]
    ) -> Value:
        kinds = () if isinstance(given, RecordedRegister) else (Kind.TILE, Kind.CONV, Kind.ANY)
        if isinstance(given, RecordedTile) and operand.kind in kinds:
            return given.value
        if isinstance(given, RecordedView) and operand.kind in (Kind.GLOBAL, Kind.ANY):
            return given.value
        number = operand.kind in (Kind.INDEX, Kind.SCALAR)
        if not number or isinstance(given, HostArray) or not is_number(given):
            what = "number" if number else operand.kind.value
            called = f"{page.python()}({', '.join(o.name for o in page.operands if o.required)})"
            raise TypeError(
                f"{called}: {operand.name} must be a {what}, got {shown(cast(object, given))}"
            )
        if operand.kind is Kind.INDEX:
            return self.number(given)
        recorded = {n: v.value.type for n, v in others.items() if isinstance(v, RecordedTile)}
        stored = (TileType, ConvTileType)
        tiles = {n: kind.dtype for n, kind in recorded.items() if isinstance(kind, stored)}
        return self.number(given, scalar_kind(page, operand, given, tiles))


def _concerns(op: Op, value: Value) -> bool:
    return value in op.results or any(v is value for _, v in op.values())


def _in_turn(home: Block | None) -> dict[str, object]:
    """Return the attributes of an allocation before a loop whose body is recorded repeatedly."""
    return {} if home is None else {IN_TURN: True}


def _common(a: Number, b: Number) -> ScalarType:
    """Return the type of the result of an operation on two numbers."""
    kinds = [n.kind for n in (a, b) if isinstance(n, RunTimeNumber)]
    floats = [k for k in kinds if k.is_float]
    if floats or any(isinstance(n, float) for n in (a, b)):
        return floats[0] if floats else ScalarType("f32")
    return kinds[0] if kinds and all(k is kinds[0] for k in kinds) else INDEX


_typed: dict[object, tuple[TileType, TileType]] = {}  # both types, which keeps their ids unique
_equal: dict[TileType, TileType] = {}
MOST_TYPES = 4096


def _with_valid(kind: TileType, valid: tuple[Number, ...]) -> TileType:
    """Return the type with the known extents: the same object each time."""
    known = tuple(n if isinstance(n, int) else None for n in valid)
    found = _typed.get((id(kind), known))
    if found is not None:
        return found[1]
    if len(_typed) + len(_equal) >= MOST_TYPES:
        _typed.clear()
        _equal.clear()
    made = _valid_in(kind, Shape(*known))
    made = _equal.setdefault(made, made)
    if made is not kind:
        _typed[id(kind), known] = kind, made
    return made


def _valid_in(kind: TileType, valid: Shape) -> TileType:
    return kind if kind.valid == valid else replace(kind, valid=valid)


def _no_shape(shape: tuple[int, ...]) -> PtoError:
    return refused(
        "tile-shape",
        "the shape of a tile is fixed while the kernel is recorded",
        f"give the largest extents, and valid={shape} for the part in use",
    )


@contextmanager
def at_start() -> Generator[None]:
    """Record the body at the function's start; nothing changes in `debug`."""
    record = recording.get()
    if not isinstance(record, Recorder):
        yield
        return
    before, record.stack = record.stack, [record.head]
    try:
        yield
    finally:
        record.stack = before


def recorder() -> Recorder:
    """Return the recorder of the current kernel."""
    found = recording.get()
    assert isinstance(found, Recorder), "a run-time number outside of a kernel"
    return found
