"""Instructions as values: `pto.exp(t)`, `a - b`; the output, its type and the page are found.

One call is one instruction. The pages that stand behind a name are the one that is called so and
those that compute the same `f` on other shapes: a column, a row or a number with a tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from keyword import iskeyword
from typing import Any, NamedTuple, TypeAlias

from ptokit.api import eager, tensors
from ptokit.api.hostarrays import ConvTile, HostArray, Tensor, Tile
from ptokit.api.kernel.callplaces import here
from ptokit.api.kernel.pagesearch import page_called
from ptokit.api.kernel.recorded import RecordedTile
from ptokit.api.kernel.recorder import Recorder
from ptokit.api.kernel.runtimenumbers import Number, extreme, is_number
from ptokit.api.settings import current_target, recording
from ptokit.isa.formula.formulas import ABSENT, Const, Expr, Field
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.index import pages
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr, Like, Operand, Role
from ptokit.isa.model.dtypes import DType
from ptokit.isa.model.layouts import Layout
from ptokit.isa.model.targets import DEFAULT_TARGET
from ptokit.isa.model.tiles import ConvTileType, Shape, TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.usual import usual_type
from ptokit.isa.model.words import Loc

COMMUTE = {"add", "mul", "max", "min", "and", "or", "xor", "maximum", "minimum"}
NUMBERS = (Kind.SCALAR, Kind.INDEX)
TYPED = (Tile, ConvTile)
MOST = 512  # choices that a form remembers


@cache
def value_names() -> dict[str, tuple[type[Instr], ...]]:
    """Every name of a value form, and the pages behind it."""
    found: dict[str, list[type[Instr]]] = {}
    computing = [page for page in pages() if page.executes and _output(page) is not None]
    for page in computing:
        if page.value_name() != page.python():
            name = page.value_name()
            found.setdefault(f"{name}_" if iskeyword(name) else name, []).append(page)
    for several in found.values():
        alike = sorted(filter(partial(_same_work, several[0]), computing), key=_length)
        several += [page for page in alike if page not in several]
    return {name: tuple(several) for name, several in found.items()}


def _same_work(page: type[Instr], other: type[Instr]) -> bool:
    """Whether two pages compute the same of operands of other shapes."""
    function = getattr(page, "f", None)
    same = function is not None and getattr(other, "f", None) is function
    return same or (other.symbol != "" and other.symbol == page.operation())


def _length(page: type[Instr]) -> int:
    return len(page.name)


@cache
def operation_pages(symbol: str) -> tuple[type[Instr], ...]:
    """The pages behind an operator of Python's."""
    named = (several for several in value_names().values() if several[0].operation() == symbol)
    return min(named, key=lambda several: _length(several[0]), default=())  # the plain one first


def _output(page: type[Instr]) -> Operand | None:
    """Its one output, a tile; None if it has others."""
    outs = [o for o in page.operands if o.written]
    one = len(outs) == 1 and outs[0].role is Role.OUT and outs[0].kind is Kind.TILE
    return outs[0] if one else None


@cache
def sources(page: type[Instr]) -> tuple[Operand, ...]:
    """What a value form takes, in order: inputs, of optional ones where a window begins first."""
    found = (o for o in page.operands if o.role is Role.IN)
    return tuple(sorted(found, key=lambda o: not o.required and o.kind is not Kind.INDEX))


@cache
def windowed(page: type[Instr]) -> bool:
    """Whether the page takes a window that begins somewhere: its value forms say how large."""
    return any(o.kind is Kind.INDEX and not o.required for o in sources(page))


# an extent: a number, or the argument that has it, and which of its axes
Axis: TypeAlias = "int | tuple[str, int]"


class Choice(NamedTuple):
    """What stands behind a call with arguments of some types, and the type of its output."""

    page: type[Instr]
    names: tuple[str, ...]  # of the arguments
    output: str
    kind: TileType | None  # all of it valid; None: `out` must be given
    region: tuple[Axis, Axis] | None  # its valid region; None: as the page's formulas say
    held: tuple[object, ...]  # the types, so that no other object gets their ids
    words: Mapping[str, object]  # attributes that value forms have of their own


class ValueForm:
    """A function that gives a new tile, or writes into `out`."""

    def __init__(self, name: str, found: Sequence[type[Instr]]) -> None:
        self.name, self.pages = name, found
        self._choices: dict[object, Choice] = {}
        self.__name__ = self.__qualname__ = name
        self.__doc__ = "\n\n".join(eager.documentation(page) for page in found)

    def __call__(self, *args: Any, out: Tile | None = None, valid: Any = None, **names: Any) -> Any:
        """The result; behind the start of a window its extents. Any: tiles, numbers, words."""
        if self.name in ("max", "min") and len(args) == 2 and all(map(is_number, args)):
            return extreme(self.name, *args)
        key = (*map(_sort, args), *names)
        chosen = self._choices.get(key)
        if chosen is None:
            if len(self._choices) >= MOST:
                self._choices.clear()
            chosen = self._choices[key] = self._choose(args, names)
        given = dict(zip(chosen.names, args, strict=False))
        result = _made(chosen, given, valid) if out is None else out
        words = {**chosen.words, **names}
        perform(chosen.page, {chosen.output: result, **given, **words}, chosen.names)
        return result if out is not None else noted(result)

    def knows(self, args: Sequence[Any]) -> bool:
        """Whether it was called with such arguments before."""
        return (*map(_sort, args),) in self._choices

    def _choose(self, args: Sequence[Any], names: Mapping[str, Any]) -> Choice:
        """The page that takes these: by their kinds, and where several do, by its rules."""
        *inputs, size = args if args and isinstance(args[-1], tuple) else (*args, None)
        args, sized = inputs, size is not None
        fitting = [p for p in self.pages if _takes(p, args, names) and (windowed(p) or not sized)]
        if not _spread(args):
            fitting = [p for p in fitting if p.value_name() == self.pages[0].value_name()]
        if not fitting:
            raise TypeError(_what_it_takes(self.name, self.pages, args, names))
        page = fitting[0] if len(fitting) == 1 else min(fitting, key=lambda p: _broken(p, args))
        operand, fields = _output(page), tuple(o.name for o in sources(page)[: len(args)])
        assert operand is not None
        types = {n: a.type for n, a in zip(fields, args, strict=True) if isinstance(a, Tile)}
        held = tuple(a.type for a in args if isinstance(a, TYPED))
        words = {a.name: a.in_values for a in page.attrs if a.in_values is not None}
        if size is not None:
            kind = usual_type(operand.fixed_loc or held[0].loc, held[0].dtype, *size)
            return Choice(page, fields, operand.name, kind, size, held, words)
        kind, wide = _type(page, operand, {n: _whole(t) for n, t in types.items()})
        like = _like(page, operand, types)
        axes = (_axis(like.rows), _axis(like.cols)) if like is not None else (None, None)
        region = None if axes[0] is None or axes[1] is None else (axes[0], axes[1])
        region = ((wide, 0), (wide, 1)) if wide is not None else region
        return Choice(page, fields, operand.name, kind, region, held, words)


def _axis(formula: Expr) -> Axis | None:
    """An extent that is a number or that of an argument's valid region."""
    if isinstance(formula, Const):
        return formula.value
    if isinstance(formula, Field) and formula.path in (("valid", "rows"), ("valid", "cols")):
        return formula.operand, int(formula.path[1] == "cols")
    return None


def noted(made: Tile) -> Tile:
    """A result that somebody should read."""
    record = recording.get()
    if isinstance(record, Recorder) and isinstance(made, RecordedTile):
        record.unused[made.value] = here()
    return made


def _sort(given: Any) -> object:  # Any: a user's
    """What of an argument decides which page takes it."""
    if given.__class__ is tuple:
        return given
    return id(given.type) if isinstance(given, TYPED) else "number" if is_number(given) else "other"


def _takes(page: type[Instr], args: Sequence[Any], names: Mapping[str, Any]) -> bool:
    """Whether the arguments are of the kinds that a page has."""
    fields = sources(page)
    required = [o.name for o in fields if o.required]
    known = {*(o.name for o in page.operands if not o.written), *(a.name for a in page.attrs)}
    positional = fields[: len(args)]
    given = {*(o.name for o in positional), *names}
    twice = len(given) < len(positional) + len(names)
    if len(args) > len(fields) or twice or not given <= known or not {*required} <= given:
        return False
    return all(_fits(o, a) for o, a in zip(positional, args, strict=True))


def _fits(operand: Operand, given: Any) -> bool:  # Any: a user's
    if operand.kind in NUMBERS:
        return is_number(given)
    wanted = {Kind.TILE: Tile, Kind.CONV: HostArray, Kind.GLOBAL: Tensor}
    return isinstance(given, wanted.get(operand.kind, object))


def _spread(args: Sequence[Any]) -> bool:
    """Whether an instruction may spread one of the tiles over others: it has one row or column.

    32 bytes in each row are such a column too.
    """
    kinds = [a.type for a in args if isinstance(a, Tile)]
    if not all(isinstance(k, TileType) for k in kinds):  # pyright: ignore - maps are like tiles
        return True
    high = max((k.rows for k in kinds), default=0)
    narrow = (
        1 in (k.rows, k.cols, k.valid.rows) or (k.rows, k.cols * k.dtype.bits) == (high, 256)
        for k in kinds
    )
    return len(kinds) < 2 or any(narrow)


def _what_it_takes(
    name: str, found: Sequence[type[Instr]], args: Sequence[Any], names: Mapping[str, Any]
) -> str:
    """The first argument that is wrong for the first form, or how many it takes."""
    fields = sources(found[0])
    words = [a.name for page in found for a in page.attrs]
    called = f"{name}({', '.join(o.name for o in fields if o.required)})"
    operands = (o.name for p in found for o in p.operands if not o.written)
    unknown = [n for n in names if n not in {*words, *operands}]
    if unknown:
        takes = ", ".join(f"{w}=" for w in dict.fromkeys([*words, "out"]))
        return f"{called}: there is no {unknown[0]}=, but {takes}"
    for operand, given in zip(fields, args, strict=False):
        if operand.name in names:
            return f"{called}: {operand.name} is given twice, by position and by name"
        if not _fits(operand, given):
            what = "number" if operand.kind in NUMBERS else operand.kind.value
            seen = "a tile" if isinstance(given, Tile) else eager.shown(given)
            into = " (the value form makes dst itself: out= names another)" * (seen == "a tile")
            return f"{called}: {operand.name} is a {what}, not {seen}{into}"
    words = "".join(f", {w}=..." for w in dict.fromkeys(words))
    called = f"{called[:-1]}{words})"
    return f"{called}: no form takes {len(args)} arguments of these kinds by position"


def _broken(page: type[Instr], args: Sequence[Any]) -> int:
    """How many rules of the page are broken by what the types tell."""
    operand = _output(page)
    assert operand is not None
    given = dict(zip((o.name for o in sources(page)), args, strict=False))
    types = {name: _whole(a.type) for name, a in given.items() if isinstance(a, Tile)}
    result = _type(page, operand, types)[0] or ABSENT
    env = environment(page, types | {operand.name: result}, {}, DEFAULT_TARGET)
    rules = page.rules_on(DEFAULT_TARGET)
    return sum(outcome is False for _, outcome in doubtful(rules, env))


@lru_cache(maxsize=1024)
def _whole(kind: TileType) -> TileType:
    """The type with all of it valid."""
    return replace(kind, valid=Shape(kind.rows, kind.cols))


def _like(page: type[Instr], operand: Operand, given: Mapping[str, Any]) -> Like | None:
    """How the page completes its output; as the first tile, where it says nothing."""
    stated = page.elided.get(operand.name)
    if stated is not None:
        return stated
    model = next(
        (o for o in sources(page) if isinstance(given.get(o.name), (Tile, TileType))), None
    )
    return None if model is None else Like(model, model.valid.rows, model.valid.cols)


def _type(
    page: type[Instr],
    operand: Operand,
    types: Mapping[str, TileType],
    dtype: DType | None = None,
    loc: Loc | None = None,
) -> tuple[TileType | None, str | None]:
    """The type of the output for tiles of these types, and the tile whose region it has.

    A row or a column that is spread over a tile has a result like that tile.
    """
    like = _like(page, operand, types)
    if like is None or like.model is None:
        return None, None
    env = environment(page, types, {}, DEFAULT_TARGET)
    model, rows, cols = like.model.eval(env), like.rows.eval(env), like.cols.eval(env)
    wide = next((n for n, other in types.items() if _spreads(model, other)), None)
    if wide is not None:
        model = types[wide]
        rows, cols = model.rows, model.cols
    made = dtype or (like.dtype(model.dtype) if like.dtype else model.dtype)
    where = loc or like.loc or operand.fixed_loc or model.loc
    boxes = (model.layout, model.fractal) if model.boxed and model.loc is where else None
    return usual_type(where, made, rows, cols, boxes), wide


def _spreads(narrow: TileType, wide: TileType) -> bool:
    shape = narrow.rows, narrow.cols
    one_axis = shape in ((1, wide.cols), (wide.rows, 1))
    return one_axis and shape != (wide.rows, wide.cols) and narrow.loc is wide.loc


def _made(chosen: Choice, given: Mapping[str, Any], valid: Any) -> Tile:  # Any: tiles, numbers
    """A new tile for the output; its valid region follows from those of the operands."""
    kind = chosen.kind
    if kind is None:
        raise TypeError(f"{chosen.page.value_name()}: give out=, a tile that receives the result")
    if valid is not None:
        return new_tile(kind, valid)
    if chosen.region is not None:
        rows, cols = (n if isinstance(n, int) else given[n[0]].valid[n[1]] for n in chosen.region)
        return new_tile(kind, (rows, cols))
    tiles = {n: t for n, t in given.items() if isinstance(t, Tile)}
    operand = _output(chosen.page)
    assert operand is not None
    return new_tile(kind, _region(chosen.page, operand, tiles))


def _region(
    page: type[Instr], operand: Operand, tiles: Mapping[str, Tile]
) -> tuple[Number, Number]:
    """The valid region of the output, as the page says it of the operands' regions."""
    regions = {n: replace(t.type, valid=Shape(*t.valid)) for n, t in tiles.items()}
    like = _like(page, operand, regions)
    assert like is not None
    env = environment(page, regions, {}, DEFAULT_TARGET)
    return like.rows.eval(env), like.cols.eval(env)


def new_tile(kind: TileType | ConvTileType, valid: Any = None) -> Any:  # Any: numbers; a tile
    """A tile of this type, recorded or real; of a valid region, if that is not all of it."""
    record = recording.get()
    conv = isinstance(kind, ConvTileType)
    region = () if conv else valid or (kind.rows, kind.cols)
    if record is not None:
        return record.tile(kind, region)
    if conv:
        return tensors.new_conv(kind)
    return tensors.new(current_target().resolve(replace(kind, valid=Shape(*region))))


def perform(page: type[Instr], given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Record an instruction, or execute it. Any: tiles, numbers, words."""
    record = recording.get()
    if isinstance(record, Recorder):
        record.instruction(page, given, names)
        return
    defaults = {a.name: a.default for a in page.attrs if not a.required}
    eager.execute(page, {**defaults, **given})


@cache
def value_form(name: str) -> ValueForm | None:
    """The value form of that name; None if no page is called so."""
    found = value_names().get(name)
    return None if found is None else ValueForm(name, found)


@cache
def _operator(symbol: str) -> ValueForm:
    return ValueForm(symbol, operation_pages(symbol))


def operate(symbol: str, *args: Any) -> Any:  # Any: tiles and numbers; a tile
    """What an operator of Python's gives; NotImplemented where no instruction does."""
    form = _operator(symbol)
    if not form.pages or not all(isinstance(a, Tile) or is_number(a) for a in args):
        return NotImplemented
    if not form.knows(args) and not any(_takes(page, args, {}) for page in form.pages):
        if symbol in COMMUTE and len(args) == 2:
            return form(args[1], args[0])
        return NotImplemented
    return form(*args)


def converted(tile: Tile, verb: str, **how: Any) -> Tile:
    """A tile with the same elements in another type or memory: `verb` is the page's name.

    `dtype` and `loc` are those of the result; other words are the page's attributes.
    """
    page = page_called(verb)
    if page is None:
        raise TypeError(f"no instruction is called {verb}")
    operand = _output(page)
    assert operand is not None
    changes = {name: how.pop(name) for name in ("dtype", "loc") if name in how}
    if "dtype" in changes:
        changes["dtype"] = tensors.dtype_of(changes["dtype"])
    kind, _ = _type(page, operand, {sources(page)[0].name: _whole(tile.type)}, **changes)
    assert kind is not None
    layout = how.pop("layout", None)
    if layout is not None:
        kind = replace(kind, layout=tensors.word(Layout, layout, "layout"))
    made = new_tile(kind, tile.valid)
    names = ("self", *changes)
    perform(page, {operand.name: made, sources(page)[0].name: tile, **how}, names)
    return noted(made)


def moved(tile: Tile, loc: Loc | str, **how: Any) -> Tile:  # Any: words of the move
    """`tile.to(loc)`."""
    return converted(tile, "to", loc=tensors.word(Loc, loc, "location"), **how)


def cast(tile: Tile, dtype: tensors.ElementType, **how: Any) -> Tile:  # Any: rounding
    """`tile.cast(dtype)`: the tile itself if it has that type and no rounding is asked for."""
    if tensors.dtype_of(dtype) is tile.dtype and not how:
        return tile
    return converted(tile, "cast", dtype=tensors.dtype_of(dtype), **how)


def reshaped(tile: Tile) -> Tile:
    """`.T` of a row or column: the same bytes as a column or row."""
    kind, page = tile.type, page_called("reshape")
    if 1 not in (kind.rows, kind.cols):
        raise TypeError(
            "`.T` of a tile is a view of one row or one column; pto.trans transposes others"
        )
    assert page is not None
    operand = _output(page)
    assert operand is not None
    other = usual_type(kind.loc, kind.dtype, kind.cols, kind.rows)
    made = new_tile(replace(other, rows=kind.cols, cols=kind.rows), (tile.valid[1], tile.valid[0]))
    perform(page, {operand.name: made, sources(page)[0].name: tile}, ("self",))
    return made


def listed() -> list[str]:
    """The names of all value forms that are functions of ptokit's."""
    methods = {"to", "cast", "accumulate", "full", "matmul", "load", "reshape"}
    return [name for name in value_names() if name not in methods]


__all__ = ["ValueForm", "cast", "listed", "moved", "new_tile", "operate", "reshaped", "value_form"]
