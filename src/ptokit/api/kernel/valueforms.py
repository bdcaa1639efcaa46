"""Instructions as values, such as `pto.exp(t)` and `a - b`: output, type and page are inferred.

One call is one instruction. If hardware needs rows, columns are computed as the rows of the same
bytes: views are passed, and a view is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache
from inspect import Parameter, Signature
from operator import index
from typing import Any, SupportsIndex, TypeAlias

from ptokit.api import eager, tensors
from ptokit.api.hostarrays import Tile
from ptokit.api.kernel.callplaces import here
from ptokit.api.kernel.choices import (
    NUMBERS,
    TYPED,
    Changes,
    Choice,
    another,
    choices,
    completed,
    fits,
    in_place,
    operation_pages,
    output,
    rooms,
    sources,
    takes,
    value_names,
    value_pages,
    windowed,
)
from ptokit.api.kernel.pagesearch import page_called
from ptokit.api.kernel.recorded import RecordedTile
from ptokit.api.kernel.recorder import Given, Recorder
from ptokit.api.kernel.runtimenumbers import Number, extreme, is_number
from ptokit.isa.index import tables
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import DEFAULT_TARGET, TARGETS, Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.usual import flipped
from ptokit.launch.settings import current_target, recording
from ptokit.values.enumerations import Loc, PadValue
from ptokit.values.layouts import Layout, Shape

COMMUTE = {"add", "mul", "max", "min", "and", "or", "xor", "maximum", "minimum"}
MOST = 512  # cached choices of a form
WORDS = (str, int, float, Enum)  # types of attribute values
Region: TypeAlias = "tuple[Number, Number]"


class ValueForm:
    """A function that returns a new tile, or writes into `out`."""

    def __init__(self, name: str, found: Sequence[type[Instr]]) -> None:
        self.name, self.pages = name, found
        self._choices: dict[object, Choice] = {}
        self.__name__ = self.__qualname__ = name
        self.__signature__ = _signature(found) if found else Signature()
        text = "\n\n".join(eager.documentation(page) for page in found)
        self.__doc__ = f"{name}{self.__signature__}\n\n{text}"  # for `help`

    def __repr__(self) -> str:
        return f"<value form {self.name}{self.__signature__}>"

    def __call__(
        self, *args: Any, out: Tile | None = None, valid: Region | None = None, **names: object
    ) -> Any:  # Any: a user's; a tile, or several
        """Return the result; the size of a window follows its start."""
        if self.name in ("max", "min") and len(args) == 2 and all(map(is_number, args)):
            return extreme(self.name, *args)
        if out is not None and not isinstance(out, Tile):  # pyright: ignore - a user's
            raise TypeError(f"{self.name}: out: expected a tile, got {eager.shown(out)}")
        return self.perform(args, names, out, valid)

    def perform(
        self,
        args: Sequence[object],
        names: Mapping[str, object],
        out: Tile | None = None,
        valid: Region | None = None,
        changes: Changes | None = None,
    ) -> Tile:
        """Perform the instruction; return the tile that it writes, with `changes` of its type."""
        words = ((n, _word(v)) for n, v in names.items())
        key: object = (*map(_sort, args), _sort(out), changes, _where(), *words)
        chosen = self._choices.get(key)
        if chosen is None:
            if len(self._choices) >= MOST:
                self._choices.clear()
            chosen = self._choices[key] = self._choose(args, names, out, changes or Changes())
        given = {**dict(zip(chosen.names, args, strict=False)), **chosen.words, **names}
        where = chosen.names if changes is None else ("self", *changes.stated)
        return _performed(chosen, given, out, valid, where)

    def knows(self, args: Sequence[object]) -> bool:
        """Return whether the form was called with such arguments before."""
        return (*map(_sort, args), _sort(None), None, _where()) in self._choices

    def _choose(
        self, args: Sequence[Any], names: Mapping[str, object], out: Tile | None, changes: Changes
    ) -> Choice:  # Any: a user's
        """Return the page and the result type that break the fewest rules."""
        *inputs, size = args if args and isinstance(args[-1], tuple) else (*args, None)
        args, sized = inputs, size is not None
        size = None if size is None else _extents(self.name, size)
        fitting = [p for p in self.pages if takes(p, args, names) and (windowed(p) or not sized)]
        if not _spread(args):
            fitting = [p for p in fitting if p.value_name() == self.pages[0].value_name()]
        if not fitting:
            raise TypeError(_what_it_takes(self.name, self.pages, args, names))
        if size is None and out is None and any(_begins(page, args) for page in fitting):
            raise TypeError(_no_size(self.name, args))
        changes = changes._replace(size=size)
        found = (c for page in fitting for c in choices(page, args, names, out, changes))
        chosen = _best(found)
        if chosen.broken and out is None and not {*changes.stated} - {"size"}:
            given = {**dict(zip(chosen.names, args, strict=False)), **names}
            if other := another(chosen.page, chosen.output, chosen.kind, given, _targets()):
                raise TypeError(_not_taken(self.name, chosen.kind, other))
        return chosen


def _best(found: Iterable[Choice]) -> Choice:
    """Return the first of the choices that break the fewest rules, without looking behind it."""
    seen: list[Choice] = []
    for choice in found:
        seen.append(choice)
        if not choice.broken:
            break
    return min(seen, key=lambda choice: choice.broken)


def _performed(
    chosen: Choice, given: Given, out: Tile | None, valid: Region | None, names: tuple[str, ...]
) -> Tile:
    """Perform the instruction; return the tile that it writes."""
    given = {n: turned(v) if n in chosen.turned else v for n, v in given.items()}
    back = chosen.output in chosen.turned
    same = in_place(chosen.page, chosen.output)
    if out is None and same is not None:
        out = given[same]
    if out is None:
        valid = valid if valid is None or not back else (valid[1], valid[0])
        made = _made(chosen, given, valid)
    else:
        made = turned(out) if back else out
    perform(chosen.page, {chosen.output: made, **given}, names)
    if out is not None:
        return out
    return noted(turned(made) if back else made)


def noted(made: Tile) -> Tile:
    """Return a result after recording that it should be read."""
    record = recording.get()
    if isinstance(record, Recorder) and isinstance(made, RecordedTile):
        record.unused[made.value] = here()
    return made


def _targets() -> list[Target]:
    """Return the targets of a call: the current one, or all while recording."""
    return list(TARGETS.values()) if recording.get() is not None else [current_target()]


def _where() -> object:
    """Return a key of the targets of a call."""
    return None if recording.get() is not None else current_target().name


def _sort(given: object) -> object:
    """Return the property of an argument that decides which page accepts it."""
    if given.__class__ is tuple:
        return given
    return id(given.type) if isinstance(given, TYPED) else "number" if is_number(given) else "other"


def _word(given: object) -> object:
    """Return the property of a keyword argument; attribute values count themselves."""
    return given if isinstance(given, WORDS) else _sort(given)


def _spread(args: Sequence[object]) -> bool:
    """Return whether an instruction may broadcast a tile, which has one row or column.

    A tile with 32 bytes in each row is such a column, too.
    """
    every: list[object] = [a.type for a in args if isinstance(a, Tile)]  # of maps, too
    kinds = [k for k in every if isinstance(k, TileType)]
    if kinds != every:
        return True
    high = max((k.rows for k in kinds), default=0)
    narrow = (
        1 in (k.rows, k.cols, k.valid.rows) or (k.rows, k.cols * k.dtype.bits) == (high, 256)
        for k in kinds
    )
    return len(kinds) < 2 or any(narrow)


def _begins(page: type[Instr], args: Sequence[object]) -> bool:
    """Return whether the start of a window is given."""
    fields = sources(page)[: len(args)]
    return any(o.kind is Kind.INDEX and not o.required for o in fields)


def _extents(name: str, given: Sequence[SupportsIndex]) -> tuple[int, int]:
    """Return the rows and columns of a window; TypeError unless they are two integers."""
    if len(given) != 2 or not all(hasattr(n, "__index__") for n in given):
        raise TypeError(f"{name}: size: expected (rows, cols), got {given}")
    rows, cols = map(index, given)
    return rows, cols


def _no_size(name: str, args: Sequence[object]) -> str:
    """Return the message for a window with a start but without a size."""
    numbers = ", ".join(str(n) for n in args if not isinstance(n, TYPED))
    help = f"write {name}(tile, {numbers}, (rows, cols)), or give out="
    return f"{name}: missing size of the window at ({numbers}): {help}"


def _not_taken(name: str, kind: object, other: TileType) -> str:
    """Return the message for an inferred result type that no target accepts."""
    seen = f"the instruction takes no result of type {kind}, which its operands have"
    pad = f" pad {other.pad}" if other.pad is not PadValue.NULL else ""
    return f"{name}: {seen}: give out=, a tile such as {other}{pad}"


def _signature(found: Sequence[type[Instr]]) -> Signature:
    """Return the signature: operands by position; scratch and optional operands by name."""
    fields = [o for o in sources(found[0]) if o.required]
    optional = [o.name for page in found for o in (*sources(page), *rooms(page))]
    optional += [a.name for page in found for a in page.attrs]
    taken = {o.name for o in fields}
    words = dict.fromkeys(n for n in (*optional, "out", "valid") if n not in taken)
    by_name = (Parameter(n, Parameter.KEYWORD_ONLY, default=None) for n in words)
    by_place = (Parameter(o.name, Parameter.POSITIONAL_OR_KEYWORD) for o in fields)
    return Signature([*by_place, *by_name])


def _what_it_takes(
    name: str, found: Sequence[type[Instr]], args: Sequence[object], names: Mapping[str, object]
) -> str:
    """Return a message about the first wrong argument, or the number of arguments."""
    fields = sources(found[0])
    words = [one.name for page in found for one in (*page.attrs, *rooms(page))]
    called = f"{name}({', '.join(o.name for o in fields if o.required)})"
    operands = (o.name for p in found for o in p.operands if not o.written)
    unknown = [n for n in names if n not in {*words, *operands}]
    if unknown:
        takes = ", ".join(f"{w}=" for w in dict.fromkeys([*words, "out"]))
        return f"{called}: unknown argument {unknown[0]}=; {takes}"
    for operand, given in zip(fields, args, strict=False):
        if operand.name in names:
            return f"{called}: {operand.name} is given by position and by name"
        if not fits(operand, given):
            what = "number" if operand.kind in NUMBERS else operand.kind.value
            seen = "a tile" if isinstance(given, Tile) else eager.shown(given)
            into = " (the value form makes dst; out= gives another)" * (seen == "a tile")
            return f"{called}: {operand.name} must be a {what}, got {seen}{into}"
    words = "".join(f", {w}=..." for w in dict.fromkeys(words))
    called = f"{called[:-1]}{words})"
    return f"{called}: no form takes these {len(args)} positional arguments"


def _made(chosen: Choice, given: Given, valid: Region | None) -> Tile:
    """Return a new tile for the output; its valid region follows from those of the operands."""
    kind = chosen.kind
    if kind is None:
        raise TypeError(f"{chosen.page.value_name()}: give out=, a tile that receives the result")
    if valid is not None:
        return new_tile(kind, valid)
    if chosen.region is not None:
        rows, cols = (n if isinstance(n, int) else given[n[0]].valid[n[1]] for n in chosen.region)
        return new_tile(kind, (rows, cols))
    return new_tile(kind, _region(chosen.page, given))


def _region(page: type[Instr], given: Mapping[str, object]) -> tuple[Number, Number]:
    """Return the valid region of the output, by the page's formulas."""
    tiles = {n: t for n, t in given.items() if isinstance(t, Tile)}
    regions = {n: replace(t.type, valid=Shape(*t.valid)) for n, t in tiles.items()}
    attrs = {a.name: eager.chosen_word(a, given[a.name]) for a in page.attrs if a.name in given}
    operand = output(page)
    assert operand is not None
    like = completed(page, operand, regions)
    assert like is not None
    env = environment(page, regions, attrs, DEFAULT_TARGET)
    return like.rows.eval(env), like.cols.eval(env)


def new_tile(kind: TileType | ConvTileType, valid: Any = None) -> Any:  # Any: numbers; a tile
    """Return a tile of this type, recorded or real, by default fully valid."""
    record = recording.get()
    conv = isinstance(kind, ConvTileType)
    region = () if conv else valid or (kind.rows, kind.cols)
    if record is not None:
        return record.tile(kind, region)
    if conv:
        return tensors.new_conv(kind)
    return tensors.new(current_target().resolve(replace(kind, valid=Shape(*region))))


def perform(page: type[Instr], given: Mapping[str, object], names: tuple[str, ...]) -> None:
    """Record an instruction, or execute it."""
    record = recording.get()
    if isinstance(record, Recorder):
        record.instruction(page, given, names)
        return
    defaults = {a.name: a.default for a in page.attrs if not a.required}
    eager.execute(page, {**defaults, **given})


@cache
def value_form(name: str) -> ValueForm | None:
    """Return the value form of that name; None if no page has the name."""
    found = value_pages(name)
    return ValueForm(name, found) if found else None


@cache
def _operator(symbol: str) -> ValueForm:
    return ValueForm(symbol, operation_pages(symbol))


def operate(symbol: str, *args: object) -> object:
    """Return the result of a Python operator; NotImplemented if no instruction computes it."""
    form = _operator(symbol)
    if not form.pages or not all(isinstance(a, Tile) or is_number(a) for a in args):
        return NotImplemented
    if not form.knows(args) and not any(takes(page, args, {}) for page in form.pages):
        if symbol in COMMUTE and len(args) == 2:
            return form(args[1], args[0])
        if symbol == "sub" and is_number(args[0]):
            help = f"write -(t - {args[0]!r}), as two operations"
            raise TypeError(f"no instruction subtracts a tile from a number: {help}")
        return NotImplemented
    return form(*args)


def converted(tile: Tile, verb: str, changes: Changes, **how: object) -> Tile:
    """Return a tile with the same elements in another type or memory, by this verb."""
    form = value_form(verb)
    if form is None:
        raise TypeError(f"no instruction is called {verb}")
    return form.perform((tile,), how, None, tile.valid, changes)


def moved(tile: Tile, loc: Loc | str, **how: Any) -> Tile:  # Any: words of the move
    """Return `tile.to(loc)`."""
    dtype, layout = how.pop("dtype", None), how.pop("layout", None)
    changes = Changes(
        None if dtype is None else tensors.dtype_of(dtype),
        tensors.word(Loc, loc, "location"),
        None if layout is None else tensors.word(Layout, layout, "layout"),
    )
    return converted(tile, "to", changes, **how)


def cast(tile: Tile, dtype: tensors.ElementType, **how: object) -> Tile:
    """Return `tile.cast(dtype)`: the tile itself for its own type without rounding."""
    if tensors.dtype_of(dtype) is tile.dtype and not how:
        return tile
    return converted(tile, "cast", Changes(tensors.dtype_of(dtype)), **how)


def reshaped(tile: Tile) -> Tile:
    """Return `.T` of a row or column: the same bytes as a column or row."""
    if 1 not in (tile.type.rows, tile.type.cols):
        raise TypeError(
            "`.T` of a tile is a view of one row or one column; pto.trans transposes others"
        )
    return turned(tile)


def turned(tile: Tile) -> Tile:
    """Return the rows of a tile as columns of the same bytes, or its columns as rows.

    During recording a tile has one such view in each block and the blocks inside.
    """
    record = recording.get()
    known = record.turned(tile) if isinstance(record, Recorder) else None
    if known is not None:
        return known
    page = page_called("reshape")
    assert page is not None
    operand = output(page)
    assert operand is not None
    make = record.view if isinstance(record, Recorder) else _new_view
    made = make(tile, flipped(tile.type), (tile.valid[1], tile.valid[0]))
    perform(page, {operand.name: made, sources(page)[0].name: tile}, ("self",))
    return made


def _new_view(_: Tile, kind: TileType, valid: tuple[Number, Number]) -> Tile:
    return new_tile(kind, valid)


def listed() -> list[str]:
    """Return the names of all value forms that are functions of ptokit."""
    methods = {"to", "cast", "accumulate", "full", "matmul", "load", "reshape"}
    return [name for name in tables().get("forms") or value_names() if name not in methods]


__all__ = ["ValueForm", "cast", "listed", "moved", "new_tile", "operate", "reshaped", "value_form"]
