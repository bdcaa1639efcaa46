"""Overload resolution of value forms: the page of a call, the type of its result, turned operands.

The candidates for a name are the page of that name and the pages that compute the same `f` on other
shapes: a column, a row or a number with a tile. The candidate that breaks the fewest rules on all
targets is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from keyword import iskeyword
from typing import NamedTuple, TypeAlias, TypeVar

from ptokit.analysis.inplace import elementwise
from ptokit.api.eager import chosen_word
from ptokit.api.hostarrays import ConvTile, Tensor, Tile
from ptokit.api.kernel.runtimenumbers import is_number
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Const, Expr, Field, SameStorage
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.index import page_of_class, pages, tables
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr, Like, Operand, Role
from ptokit.isa.model.targets import DEFAULT_TARGET, TARGETS, Target
from ptokit.isa.model.tiles import ConvTileType, TileType, tile_type
from ptokit.isa.model.types import INDEX, Kind, ScalarType, Type
from ptokit.isa.model.usual import flipped, usual_type
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.enumerations import VEC, Loc, PadValue
from ptokit.values.layouts import Layout, Shape

NUMBERS = (Kind.SCALAR, Kind.INDEX)
TYPED = (Tile, ConvTile)
Stored: TypeAlias = "TileType | ConvTileType"
Kind_ = TypeVar("Kind_")
UNBOXED = (Layout.ND, Layout.DN)
SAMPLE = (4, 64)  # rows and columns of the tiles that test a page


# an extent: a number, or an argument and one of its axes
Axis: TypeAlias = "int | tuple[str, int]"


@cache
def value_names() -> dict[str, tuple[type[Instr], ...]]:
    """Return the name of every value form, with its candidate pages."""
    found: dict[str, list[type[Instr]]] = {}
    computing = [page for page in pages() if page.on_tiles and output(page) is not None]
    for page in computing:
        if page.value_name() != page.python():
            name = page.value_name()
            found.setdefault(f"{name}_" if iskeyword(name) else name, []).append(page)
    for page in computing:  # a page with a verb is also found under its instruction's name
        name = page.python().removeprefix("t")
        if page.verb and name in found and page not in found[name]:
            found[name].insert(0, page)
    for several in found.values():
        alike = sorted(filter(partial(_same_work, several[0]), computing), key=_length)
        several += [page for page in alike if page not in several]
    return {name: tuple(several) for name, several in found.items()}


def _same_work(page: type[Instr], other: type[Instr]) -> bool:
    """Return whether two pages compute the same function on operands of other shapes."""
    function = getattr(page, "f", None)
    same = function is not None and getattr(other, "f", None) is function
    return same or (other.symbol != "" and other.symbol == page.operation())


def _length(page: type[Instr]) -> int:
    return len(page.name)


@cache
def operations() -> dict[str, str]:
    """Return the value form of each Python operator: the plainest one."""
    found: dict[str, str] = {}
    named = sorted(value_names().items(), key=lambda form: _length(form[1][0]))
    for name, several in named:
        if several[0].operation():
            found.setdefault(several[0].operation(), name)
    return found


def value_tables() -> dict[str, dict[str, str]]:
    """Return the classes of each value form and the form of each operator, for searches."""
    named = {n: " ".join(p.__name__ for p in several) for n, several in value_names().items()}
    return {"forms": named, "operators": operations()}


def value_pages(name: str) -> tuple[type[Instr], ...]:
    """Return the candidate pages of a value form, the first one first; none if there is no such.

    Only the files of these pages are imported, unless the tables are outdated.
    """
    if not tables():
        return value_names().get(name, ())
    return tuple(map(page_of_class, tables()["forms"].get(name, "").split()))


@cache
def operation_pages(symbol: str) -> tuple[type[Instr], ...]:
    """Return the candidate pages of a Python operator."""
    return value_pages((tables().get("operators") or operations()).get(symbol, ""))


def output(page: type[Instr]) -> Operand | None:
    """Return the only output of a page, a tile; None if the page has other outputs."""
    outs = [o for o in page.operands if o.written]
    one = len(outs) == 1 and outs[0].role is Role.OUT and outs[0].kind is Kind.TILE
    return outs[0] if one else None


@cache
def sources(page: type[Instr]) -> tuple[Operand, ...]:
    """Return the inputs of a value form in order; optional inputs only if they start a window."""
    found = (o for o in page.operands if o.role is Role.IN)
    return tuple(sorted(found, key=lambda o: not o.required and o.kind is not Kind.INDEX))


@cache
def windowed(page: type[Instr]) -> bool:
    """Return whether the page takes a window with a start, whose size value forms need."""
    return any(o.kind is Kind.INDEX and not o.required for o in sources(page))


class Changes(NamedTuple):
    """The requests of a call for the type of its result."""

    dtype: DType | None = None
    loc: Loc | None = None
    layout: Layout | None = None
    size: tuple[int, int] | None = None

    @property
    def stated(self) -> tuple[str, ...]:
        """Return the names of the requested properties."""
        return tuple(n for n, v in zip(self._fields, self, strict=True) if v is not None)


class Choice(NamedTuple):
    """The chosen page of a call with arguments of some types, and the type of its output."""

    page: type[Instr]
    names: tuple[str, ...]  # names of the arguments
    output: str
    kind: TileType | None  # None: `out` must be given
    region: tuple[Axis, Axis] | None  # its valid region; None: from the page's formulas
    turned: frozenset[str]  # operands passed as their transposed views
    broken: int  # number of broken rules on all targets
    held: tuple[object, ...]  # the types, which keeps their ids unique
    words: Mapping[str, object]  # attributes that value forms set


def choices(
    page: type[Instr],
    args: Sequence[object],
    names: Mapping[str, object],
    out: Tile | None,
    changes: Changes,
) -> Iterator[Choice]:
    """Yield each way to perform a page: the usual result first, then with turned operands."""
    operand, fields = output(page), tuple(o.name for o in sources(page)[: len(args)])
    assert operand is not None
    given = {**dict(zip(fields, args, strict=True)), **names}
    tiles = {n: t for n, t in given.items() if isinstance(t, TYPED)}
    attrs = {a.name: chosen_word(a, given[a.name]) for a in page.attrs if a.name in given}
    numbers = [n for n in given if n not in tiles and n not in attrs]
    words = {a.name: a.in_values for a in page.attrs if a.in_values is not None}
    known = {**words, **attrs, **dict.fromkeys(numbers, UNKNOWN)}
    types: dict[str, Stored] = {n: t.type for n, t in tiles.items()}
    types |= {} if out is None else {operand.name: out.type}
    held = tuple(types.values())
    for turned in _turns(types):
        views = {n: flipped(t) for n, t in types.items() if n in turned and isinstance(t, TileType)}
        seen = {**types, **views}
        single = all(_is_single(types[n]) for n in turned)
        for kind, region in _results(page, operand, seen, known, changes):
            every: frozenset[str] | None = turned
            if kind is not None and not single:
                every = _as_columns(page, operand.name, kind, types, turned, numbers)
            if every is not None:
                judged = {n: _judged(t) for n, t in seen.items()}
                broken = _broken(page, {**known, **judged, operand.name: kind or ABSENT})
                yield Choice(page, fields, operand.name, kind, region, every, broken, held, words)


def _turns(types: Mapping[str, object]) -> Iterator[frozenset[str]]:
    """Yield sets of operands to turn: none, single elements, all columns."""
    yield frozenset()
    columns = frozenset(n for n, t in types.items() if _is_column(t))
    singles = frozenset(n for n, t in types.items() if _is_single(t))
    yield from filter(None, (singles - columns, singles & columns, columns))


def _is_column(kind: object) -> bool:
    """Return whether each column of the tile is contiguous in memory."""
    return isinstance(kind, TileType) and kind.layout is Layout.DN


def _is_single(kind: object) -> bool:
    """Return whether the tile is a vector with one element: a row as well as a column."""
    if not isinstance(kind, TileType) or kind.boxed or kind.loc is not VEC:
        return False
    if kind.numel > kind.c0:
        return False  # a part of an array may have one valid element by chance
    return (1, 1) in ((kind.cols, kind.valid.rows), (kind.rows, kind.valid.cols))


def _as_columns(
    page: type[Instr],
    name: str,
    kind: TileType,
    types: Mapping[str, Stored],
    turned: frozenset[str],
    numbers: Sequence[str],
) -> frozenset[str] | None:
    """Return the operands to turn if an instruction on columns equals that on rows.

    None if it does not. It does if all operands are columns or single elements, and the page is
    elementwise, which is tested on tiles with several rows and columns.
    """
    kinds: dict[str, Stored] = {**{n: t for n, t in types.items() if n != name}, name: kind}
    kinds = {n: t for n, t in kinds.items() if page.operand(n).role is not Role.SCRATCH}
    rest = [t for n, t in kinds.items() if n not in {*turned, name}]
    if kind.layout is not Layout.ND or not all(map(_is_single, rest)):
        return None
    signature: list[tuple[str, tuple[tuple[int, Type, None]]]] = [
        (n, ((place, tile_type(t.loc, t.dtype, *SAMPLE), None),))
        for place, (n, t) in enumerate(kinds.items())
    ]
    first = next(iter(kinds.values())).dtype.name
    for place, number in enumerate(numbers, len(kinds)):
        operand = page.operand(number)
        index = operand.kind is Kind.INDEX
        scalar = INDEX if index else ScalarType(operand.scalar or first)
        signature.append((number, ((place, scalar, None),)))
    if not elementwise(page, tuple(signature), ()):
        return None
    return turned if name in types or rest else turned | {name}


def _broken(page: type[Instr], given: Mapping[str, object]) -> int:
    """Count the rules of the page that known facts break on all targets."""
    return sum(_broken_on(page, given, target) for target in TARGETS.values())


def _broken_on(page: type[Instr], given: Mapping[str, object], target: Target) -> int:
    found = doubtful(page.rules_on(target), environment(page, given, {}, target))
    return sum(outcome is False and not rule.warns for rule, outcome in found)


def another(
    page: type[Instr],
    output: str,
    kind: TileType | None,
    args: Mapping[str, object],
    targets: Sequence[Target],
) -> TileType | None:
    """Return a result type that a target accepts if none accepts `kind`; None if there is none."""
    known: dict[str, object] = {a.name: a.default for a in page.attrs}
    for name, given in args.items():
        attr = next((a for a in page.attrs if a.name == name), None)
        if attr is not None:
            known[name] = chosen_word(attr, given)
        else:
            known[name] = _judged(given.type) if isinstance(given, TYPED) else UNKNOWN
    if kind is None:
        return None

    def broken(target: Target, result: object) -> int:
        found = {**known, output: result}
        types = {n: target.resolve(t) if isinstance(t, TileType) else t for n, t in found.items()}
        return _broken_on(page, types, target)

    taking = [t for t in targets if not broken(t, UNKNOWN)]
    if any(not broken(t, kind) for t in taking):
        return None
    others = ((other, t) for other in _others(kind) for t in taking)
    return next((t.resolve(other) for other, t in others if not broken(t, other)), None)


def _others(kind: TileType) -> Iterator[TileType]:
    """Yield types with the same extents and other pad values, layouts, memories or elements."""
    rows, cols = kind.rows, kind.cols
    yield replace(kind, pad=PadValue.ZERO)
    for layout in Layout:
        for fractal in (32, 512, 1024):
            yield replace(kind, layout=layout, fractal=fractal)
    for dtype in (kind.dtype, *DTYPES):
        for loc in (kind.loc, *Loc):
            usual = usual_type(loc, dtype, rows, cols)
            yield replace(usual, valid=kind.valid)


@cache
def in_place(page: type[Instr], output: str) -> str | None:
    """Return the input that some target requires in the output's tile."""
    for same in (r.formula for r in page.all_rules if isinstance(r.formula, SameStorage)):
        if same.right.operand == output:
            return same.left.operand
    return None


def _results(
    page: type[Instr],
    operand: Operand,
    types: Mapping[str, Stored],
    known: Mapping[str, object],
    changes: Changes,
) -> Iterator[tuple[TileType | None, tuple[Axis, Axis] | None]]:
    """Yield possible result types, each with the source of its valid region's extents.

    The type is that of `out`, or the usual one and similar ones. A row or column that is broadcast
    over a tile has a result like that tile.
    """
    out = types.get(operand.name)
    if isinstance(out, TileType):
        yield _judged(out), None
        return
    if changes.size is not None:
        first = next(iter(types.values()))
        usual = usual_type(operand.fixed_loc or first.loc, first.dtype, *changes.size)
        kinds = _alike(usual, *changes.size, Shape(*changes.size))
        yield from ((kind, changes.size) for kind in kinds)
        return
    tiles = {n: t for n, t in types.items() if isinstance(t, TileType)}
    whole = {**types, **{n: _whole(t) for n, t in tiles.items()}}
    stated, like = completed(page, operand, types), completed(page, operand, whole)
    model, rows, cols = _evaluated(page, like, {**whole, **known})
    if stated is None or like is None or not isinstance(model, TileType):
        yield None, None
        return
    axes = _axis(stated.rows), _axis(stated.cols)
    region = None if axes[0] is None or axes[1] is None else (axes[0], axes[1])
    wide = next((n for n, other in tiles.items() if _spreads(model, other)), None)
    if wide is not None:
        model = _whole(tiles[wide])
        (rows, cols), region = (model.rows, model.cols), ((wide, 0), (wide, 1))
    if not isinstance(rows, int) or not isinstance(cols, int):
        yield None, None
        return
    judged = {n: _judged(t) for n, t in types.items()}
    given = {**judged, **known}
    valid = _valid(page, like, given) if wide is None else _judged(tiles[wide]).valid
    made = changes.dtype or (like.dtype(model.dtype) if like.dtype else model.dtype)
    where = changes.loc or like.loc or operand.fixed_loc or model.loc
    boxes = (model.layout, model.fractal) if model.boxed and model.loc is where else None
    if isinstance(like.cols, Const) and like.cols.value == 1:
        boxes = (Layout.DN, 512)  # a column, even with one row
    usual = usual_type(where, made, rows, cols, boxes)
    kinds = _alike(usual, rows, cols, valid)
    if changes.layout is not None:
        kinds = [replace(usual, layout=changes.layout, valid=valid)]
    yield from ((kind, region) for kind in kinds)


def _valid(page: type[Instr], like: Like, given: Mapping[str, object]) -> Shape:
    """Return the extents of an output's valid region, as far as types give them."""
    _, rows, cols = _evaluated(page, like, given)
    return Shape(*(n if isinstance(n, int) else None for n in (rows, cols)))


def _alike(usual: TileType, rows: int, cols: int, valid: Shape) -> list[TileType]:
    """Return the usual type and the same extents in other layouts, with this valid region."""
    others = [layout for layout in UNBOXED if not usual.boxed and layout is not usual.layout]
    kinds = (usual_type(usual.loc, usual.dtype, rows, cols, (n, usual.fractal)) for n in others)
    return [replace(kind, valid=valid) for kind in (usual, *kinds)]


def completed(page: type[Instr], operand: Operand, given: Mapping[str, object]) -> Like | None:
    """Return the completion of the page's output, by default the first tile."""
    stated = page.elided.get(operand.name)
    if stated is not None:
        return stated
    model = next(
        (o for o in sources(page) if isinstance(given.get(o.name), (Tile, TileType))), None
    )
    return None if model is None else Like(model, model.valid.rows, model.valid.cols)


def _evaluated(
    page: type[Instr], like: Like | None, given: Mapping[str, object]
) -> tuple[object, object, object]:
    """Return the tile that an output is like, and its extents."""
    if like is None or like.model is None:
        return None, None, None
    env = environment(page, given, {}, DEFAULT_TARGET)
    return like.model.eval(env), like.rows.eval(env), like.cols.eval(env)


def _judged(kind: Kind_) -> Kind_ | TileType:
    """Return a type as rules evaluate it: fully valid, except for a single element."""
    return _whole(kind) if isinstance(kind, TileType) and not _is_single(kind) else kind


@lru_cache(maxsize=1024)
def _whole(kind: TileType) -> TileType:
    """Return the type with a full valid region."""
    return replace(kind, valid=Shape(kind.rows, kind.cols))


def _axis(formula: Expr) -> Axis | None:
    """Return an extent as a number, or as an axis of an argument's valid region."""
    if isinstance(formula, Const):
        return formula.value
    if isinstance(formula, Field) and formula.path in (("valid", "rows"), ("valid", "cols")):
        return formula.operand, int(formula.path[1] == "cols")
    return None


def _spreads(narrow: TileType, wide: TileType) -> bool:
    shape = narrow.rows, narrow.cols
    one_axis = shape in ((1, wide.cols), (wide.rows, 1))
    return one_axis and shape != (wide.rows, wide.cols) and narrow.loc is wide.loc


def rooms(page: type[Instr]) -> Iterator[Operand]:
    """Yield the scratch operands of a page, which a call gives by name."""
    return (o for o in page.operands if o.role is Role.SCRATCH)


def takes(page: type[Instr], args: Sequence[object], names: Mapping[str, object]) -> bool:
    """Return whether the arguments are of the kinds that the page has."""
    fields = sources(page)
    required = [o.name for o in (*fields, *rooms(page)) if o.required]
    known = {*(o.name for o in page.operands if not o.written), *(a.name for a in page.attrs)}
    positional = fields[: len(args)]
    given = {*(o.name for o in positional), *names}
    twice = len(given) < len(positional) + len(names)
    if len(args) > len(fields) or twice or not given <= known or not {*required} <= given:
        return False
    return all(fits(o, a) for o, a in zip(positional, args, strict=True))


def fits(operand: Operand, given: object) -> bool:
    if operand.kind in NUMBERS:
        return is_number(given)
    kinds = {Kind.TILE: TileType, Kind.CONV: ConvTileType}
    if operand.kind in kinds:
        kind: object = given.type if isinstance(given, TYPED) else None
        return isinstance(kind, kinds[operand.kind])
    other = operand.kind is not Kind.GLOBAL or isinstance(given, Tensor)
    return other and not isinstance(given, TYPED)
