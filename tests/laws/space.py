"""The operands an instruction may be given, as knobs: named choices that a search can make.

A knob is (operand or attribute, property). From a state, the choice for each knob, the operands are
built: tile types, global and convolution types, numbers, lists, words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeAlias, cast

from drawntypes import Moved, Placed, vector
from evaluation import Env

from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Const, Expr, Field, Many
from ptokit.isa.formula.formulas import fields as fields_of
from ptokit.isa.index import pages
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Attr, Instr, Operand, Role
from ptokit.isa.model.globaltypes import VIEW_RULES, GlobalType
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.tiles import (
    TILE_RULES,
    ConvTileType,
    MultiTileType,
    RegisterType,
    TileType,
    register,
)
from ptokit.isa.model.types import I64, ArrayType, Kind, PtrType, ScalarType, StructType
from ptokit.isa.model.words import CompactMode, GlobalLayout, Pipe
from ptokit.values.dtypes import DTYPES, DType, f16, i32
from ptokit.values.enumerations import VEC, ConvLayout, Loc, PadValue, Word
from ptokit.values.layouts import ND, Layout, Shape

Knob: TypeAlias = tuple[str, str]
SCALARS = tuple(ScalarType(d.name) for d in (f16, *(d for d in DTYPES if d is not f16)))
POINTERS = (PtrType(i32), PtrType(f16))

State: TypeAlias = "dict[Knob, Any]"  # Any: the choices are of many types

EXTENTS = (1, 2, 8, 16, 17, 20, 30, 32, 33, 48, 64, 96, 128, 160, 256, 512, 1024)
NUMBERS = (0, 1, 2, 8, 15, 16, 17, 32, 64, 128, -1)
OUTER = (1, 2, 3, 4, 8)
SETTINGS = (0, 1, 2, 3, -1, 40, 256)  # of the registers that a convolution tile carries
PLACES = (0, 32, 128, 1 << 14)
EPILOGUES = tuple(
    f"layout = {layout}, quant = {quant}, relu = {relu}"
    for layout in ("nz2nd", "other")
    for quant in ("no_convert", "qs322bf16_pre_vec", "other")
    for relu in ("no_relu", "leaky_relu")
)

# the knobs behind a property of a tile; what is not listed depends on all of them
TILE_PROPERTIES: dict[str, tuple[str, ...]] = {
    "loc": ("loc",),
    "dtype": ("dtype",),
    "size": ("dtype",),
    "c0": ("dtype",),
    "rows": ("rows",),
    "cols": ("cols",),
    "numel": ("rows", "cols"),
    "nbytes": ("rows", "cols", "dtype", "count"),
    "count": ("count",),
    "layout": ("layout",),
    "blayout": ("layout",),
    "slayout": ("layout",),
    "boxed": ("layout",),
    "box": ("layout", "fractal", "dtype"),
    "fractal": ("fractal",),
    "pad": ("pad",),
    "compact": ("compact",),
    "spelled": ("dtype", "sign", "pair"),
    "in_pairs": ("pair",),
    "lanes": ("cols", "pair"),
    "unit_bits": ("dtype", "pair"),
    "grain": ("grain",),
    "word": ("word",),
}
TILE_KNOBS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "loc": (VEC, tuple(Loc)),
    "dtype": (f16, DTYPES),
    "rows": (32, EXTENTS),
    "cols": (32, EXTENTS),
    "vrows": (32, (0, *EXTENTS)),
    "vcols": (32, (0, *EXTENTS)),
    "layout": (ND, tuple(Layout)),
    "fractal": (512, (512, 1024, 32)),
    "pad": (PadValue.NULL, tuple(PadValue)),
    "compact": (CompactMode.NULL, tuple(CompactMode)),
}
GLOBAL_KNOBS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "dtype": (f16, DTYPES),
    "layout": (GlobalLayout.ND, tuple(GlobalLayout)),
    "rank": (5, (5, 1, 2, 3, 4)),
    **{f"n{i}": (1, OUTER) for i in range(3)},
    **{f"n{i}": (32, (0, *EXTENTS)) for i in (3, 4)},
}


def _registers() -> Iterator[tuple[str, tuple[int, ...]]]:
    """The settings of a convolution tile that are tuples of numbers, with their defaults."""
    for setting in fields(ConvTileType):
        default: Any = setting.default
        if isinstance(default, tuple):
            yield setting.name, default


REGISTERS = dict(_registers())
CONV_KNOBS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "dtype": (f16, DTYPES),
    "layout": (ConvLayout.FRACTAL_Z, tuple(ConvLayout)),
    "loc": (Loc.MAT, (Loc.MAT, VEC)),
    "rank": (4, (4, 5, 6)),
    **{f"n{i}": (2, (0, *OUTER)) for i in range(4)},
    **{f"n{i}": (16, (0, 1, 2, 8, 16, 17, 32)) for i in (4, 5)},
    **{
        name: (default, (default, *((n,) * len(default) for n in SETTINGS)))
        for name, default in REGISTERS.items()
    },
}
LIST_KNOBS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "count": (5, (5, 1, 2, 3, 4, 6)),
    **{f"e{i}": (1, NUMBERS) for i in range(6)},
}
VIEWS_KNOBS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "count": (2, (2, 1, 3, 6)),
    "dtype": (f16, DTYPES),
    "length": (32, (None, 0, *EXTENTS)),
    "last": (0, (0, 1)),  # by how much the last one is longer
}
KNOBS: dict[Kind, dict[str, tuple[Any, tuple[Any, ...]]]] = {
    Kind.TILE: TILE_KNOBS,
    Kind.GLOBAL: GLOBAL_KNOBS,
    Kind.CONV: CONV_KNOBS,
    Kind.MULTI: {**TILE_KNOBS, "count": (2, (2, 1, 3, 16, 17))},
    Kind.PTR: {
        "dtype": (f16, DTYPES),
        "space": ("gm", ("gm", "vec", "mat", "left", "right", "acc", "bias", "scaling")),
        "offset": (0, (0, 1, 3, 8)),
        "by_number": (False, (False, True)),
    },
    Kind.REGISTER: {"dtype": (f16, tuple(d for d in DTYPES if not d.packed and d.bits >= 8))},
    Kind.LOGICAL: {
        "dtype": (f16, tuple(d for d in DTYPES if d.bits >= 8)),
        "cols": (32, EXTENTS),
        "sign": (False, (False, True)),
        "pair": (False, (False, True)),
        "grain": (0, (0, 8, 16, 32)),
        "word": ("vreg", ("vreg", "mask")),
    },
    Kind.ARRAY: {
        "shape": ((4,), ((4,), (1,), (8,), (2, 3), (1 << 13,))),
        "element": (I64, (I64, ScalarType("f32"))),
    },
    Kind.ENTRY: TILE_KNOBS,
    Kind.STRUCT: {
        "element": (I64, (I64, ScalarType("f32"))),
        "shape": ((4,), ((4,), (1 << 13,))),
        "fields": (1, (0, 1, 1 << 13)),
    },
}


TILES = (Kind.TILE, Kind.MULTI, Kind.ENTRY)


@cache
def operation_names() -> tuple[str, ...]:
    """Strings an attribute may be: no word, and the operations that one pipe executes."""
    return (
        "",
        "nothing",
        "%s",
        "PIPE_ALL",
        *EPILOGUES,
        *(p.cpp for p in pages() if isinstance(p.pipe, Pipe) and p.outs()),
    )


class Space:
    """The knobs of one page on one target, their domains, and how operands are built from them."""

    def __init__(self, page: type[Instr], target: Target) -> None:
        self.page, self.target = page, target
        self.operands = {o.name: o for o in page.operands}
        self.domains: dict[Knob, tuple[Any, ...]] = {}
        self.start: State = {}
        self.limits = tuple(dict.fromkeys(n for r in page.all_rules for n in limits(r.formula)))
        self.placed = tuple(
            dict.fromkeys(
                f.operand
                for r in page.all_rules
                for f in fields_of(r.formula)
                if f.path == ("address",)
            )
        )
        self.types_asked = {
            f.operand for r in page.all_rules for f in fields_of(r.formula) if f.path == ("fixed",)
        }
        for operand in page.operands:
            for knob, (first, domain) in self._knobs_of(operand).items():
                self.start[operand.name, knob] = first
                self.domains[operand.name, knob] = domain
        for attr in page.attrs:
            words = (*_words(attr), *spoken(page)) if attr.kind is str else _words(attr)
            self.start[attr.name, "value"] = words[0] if attr.required else attr.default
            self.domains[attr.name, "value"] = words
        names = dict.fromkeys(k[0] for k in self.domains)
        self.own = {n: tuple(k for k in self.domains if k[0] == n) for n in names}
        self.made: dict[tuple[object, ...], Any] = {}  # operands by their knobs

    def _knobs_of(self, operand: Operand) -> dict[str, tuple[Any, tuple[Any, ...]]]:
        if operand.many:
            knobs = VIEWS_KNOBS if operand.kind is Kind.GLOBAL else LIST_KNOBS
            first, counts = knobs["count"]
            return knobs if operand.required else {**knobs, "count": (first, (*counts, 0))}
        knobs = dict(KNOBS.get(operand.kind, {"value": (0, NUMBERS)}))
        stated = operand.role is Role.RESULT or self.page.resizes
        if operand.kind in TILES and stated:
            knobs["vrows"], knobs["vcols"] = ((32, (None, *EXTENTS)) for _ in range(2))
        if operand.kind is Kind.GLOBAL and operand.role is Role.RESULT:
            knobs["rank"] = (5, (5, 1, 2, 3, 4, 6))
            knobs["open"] = (False, (False, True))
        if operand.name in self.types_asked:
            knobs["open"] = (False, (False, True))
        if operand.name in self.placed:
            knobs["address"] = (0, PLACES)
        named = {
            o.name
            for o in self.page.types.values()
            if o.role in (Role.IN, Role.SCRATCH, Role.RESULT)
        }
        if operand.name in named and operand.kind is Kind.SCALAR:
            knobs["type"] = (SCALARS[0], SCALARS)
        if operand.name in named and operand.kind is Kind.ANY:
            knobs["type"] = (POINTERS[0], POINTERS)
        if operand.default is None:
            knobs["given"] = (False, (False, True))
        return {k: (v, self._widened(d)) for k, (v, d) in knobs.items()}

    def _widened(self, domain: tuple[Any, ...]) -> tuple[Any, ...]:
        """A domain of extents or numbers, and the large numbers that rules of the page compare."""
        return (*domain, *self.limits) if 16 in domain and 512 not in domain[:1] else domain

    def knobs(self, name: str) -> tuple[Knob, ...]:
        return self.own.get(name, ())

    def behind(self, field: Field) -> tuple[Knob, ...]:
        """The knobs that a property of an operand depends on."""
        name, path = field.operand, field.path
        name = self.page.types[name].name if name in self.page.types else name
        own, operand = self.knobs(name), self.operands.get(name)
        given = tuple(k for k in own if k[1] == "given")
        if path[:1] == ("given",) or operand is None:
            return given or own
        if operand.many or not path:
            return own
        if path[0] == "valid":
            words = {"rows": ("vrows",), "cols": ("vcols",)}.get(path[-1], ("vrows", "vcols"))
        elif operand.kind in TILES:
            words = TILE_PROPERTIES.get(path[0])
        else:
            words = {"dtype": ("dtype",), "size": ("dtype",), "layout": ("layout",)}.get(path[0])
        if words is None:
            return own
        return (*given, *((name, w) for w in words if (name, w) in self.domains))

    def two_boxes(self, view: str, state: Mapping[Knob, Any]) -> State:
        """The extents of a view of boxes that has two."""
        cols = 32 // (state[view, "dtype"].size or 1)
        extents = {"rank": 5, "n0": 1, "n1": 1, "n2": 2, "n3": 16, "n4": cols}
        return {(view, k): n for k, n in extents.items()}

    def build(self, name: str, state: Mapping[Knob, Any]) -> Any:  # Any: see Env
        """The operand or attribute as a rule sees it; None where it is absent."""
        operand = self.operands.get(name)
        if operand is None:
            return state[name, "value"]
        if not state.get((name, "given"), True):
            return None
        values = [state[knob] for knob in self.own[name]]
        key = name, *values, *[v is True for v in values]  # True is 1 to a dictionary
        if key not in self.made:
            self.made[key] = self._make(operand, {k[1]: state[k] for k in self.own[name]})
        return self.made[key]

    def _make(self, operand: Operand, own: Mapping[str, Any]) -> Any:  # Any: see Env
        if operand.many and operand.kind is Kind.GLOBAL:
            last = own["length"] and own["length"] + own["last"]
            lengths = (*(own["length"],) * (own["count"] - 1), last)
            return tuple(GlobalType(own["dtype"], (1, 1, 1, 1, n)) for n in lengths)
        if operand.many:
            return tuple(own[f"e{i}"] for i in range(own["count"]))
        make = MAKERS.get(operand.kind)
        if make is not None:
            kind = self.target.resolve_any(make(own))
            return Placed(kind, own["address"]) if "address" in own else kind
        return UNKNOWN if operand.role is Role.RESULT else own["value"]

    def built(self, state: Mapping[Knob, Any]) -> Env:
        """Every operand and attribute that is given."""
        names = dict.fromkeys(k[0] for k in self.domains)
        values = {n: self.build(n, state) for n in (*self.operands, *names)}
        return {n: v for n, v in values.items() if v is not None}

    def env(self, state: Mapping[Knob, Any]) -> Env:
        """What rules see."""
        given = self.built(state)
        attrs = {a.name: given.get(a.name) for a in self.page.attrs}
        operands = {
            o.name: given.get(o.name, ()) if o.many else given.get(o.name)
            for o in self.page.operands
        }
        operands |= {n: given.get(o.name) for n, o in self.page.types.items() if _is_array(o)}
        numbers = {n: o for n, o in self.page.types.items() if not _is_array(o)}
        operands |= {n: state.get((o.name, "type"), I64) for n, o in numbers.items()}
        operands |= {
            n: UNKNOWN for n, o in numbers.items() if state.get((o.name, "given")) is False
        }
        return environment(self.page, operands, attrs, self.target)

    def rebuilt(self, env: Env, name: str, state: Mapping[Knob, Any]) -> Env:
        """The same environment with another value of one operand or attribute."""
        value, operand = self.build(name, state), self.operands.get(name)
        if operand is not None and operand.many:
            value = Many(value)
        about = {n: o for n, o in self.page.types.items() if o.name == name}
        same = {n: value for n, o in about.items() if _is_array(o)}
        typed = {n: state[name, "type"] for n in about if (name, "type") in state}
        same |= typed if value is not None else dict.fromkeys(typed, UNKNOWN)
        return {**env, **same, name: ABSENT if value is None else value}

    def tiles(self) -> tuple[str, ...]:
        return tuple(n for n, o in self.operands.items() if o.kind in TILES)


def limits(expr: Expr) -> Iterator[int]:
    """Extents about the large constants of a formula."""
    for child in expr.children():
        yield from limits(child)
    if isinstance(expr, Const) and isinstance(expr.value, int) and expr.value > max(EXTENTS):
        above = expr.value + 1
        yield from (above, -(-above // 32) * 32, (above // 32 + 2) * 32)


@cache
def spoken(page: type[Instr]) -> tuple[str, ...]:
    """Strings that rules of a page compare."""

    def found(expr: Expr) -> Iterator[str]:
        for child in expr.children():
            yield from found(child)
        if isinstance(expr, Const) and isinstance(getattr(expr, "value", None), tuple):
            options = cast("tuple[object, ...]", getattr(expr, "value", ()))
            yield from (word for word in options if isinstance(word, str))

    rules = page.all_rules
    every = (e for r in rules for e in (r.formula, *r.conditions))
    return tuple(dict.fromkeys(word for expr in every for word in found(expr)))


def _words(attr: Attr) -> tuple[Any, ...]:
    absent = (None,) if attr.default is None else ()
    if issubclass(attr.kind, Word):
        return (*absent, *attr.kind)
    if issubclass(attr.kind, bool):
        return (*absent, False, True)
    if issubclass(attr.kind, tuple):
        return ((0,), (1, 0), (1,), (2,))
    return (*absent, *((0, 1, 2, -1, 16) if issubclass(attr.kind, int) else operation_names()))


def _tile(own: Mapping[str, Any]) -> TileType:
    return TileType(
        own["loc"],
        own["dtype"],
        own["rows"],
        own["cols"],
        Shape(own["vrows"], own["vcols"]),
        own["layout"],
        own["fractal"],
        own["pad"],
        own["compact"],
    )


def _multi_tile(own: Mapping[str, Any]) -> MultiTileType:
    one = _tile(own)
    given = {f.name: getattr(one, f.name) for f in fields(one)}
    return MultiTileType(**given, count=own["count"])


def _extents(own: Mapping[str, Any], available: int) -> tuple[int, ...]:
    every = tuple(own[f"n{i}"] for i in range(available))
    return (1,) * (own["rank"] - available) + every[max(0, available - own["rank"]) :]


def _global(own: Mapping[str, Any]) -> GlobalType:
    if own.get("open"):  # the result's type says ? for every extent
        return GlobalType(own["dtype"], (None,) * own["rank"], None, own["layout"])
    shape = _extents(own, 5)
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return GlobalType(own["dtype"], shape, tuple(strides), own["layout"])


def _conv(own: Mapping[str, Any]) -> ConvTileType:
    how = {name: own[name] for name in REGISTERS}
    return ConvTileType(own["dtype"], _extents(own, 6), own["layout"], own["loc"], **how)


def _pointer(own: Mapping[str, Any]) -> PtrType:
    return Moved(own["dtype"], own["space"], own["by_number"], offset=own["offset"])


def _is_array(operand: Operand) -> bool:
    """Whether rules see the type of such an operand as the operand has it."""
    return operand.kind in (Kind.ARRAY, Kind.STRUCT)


def _inner(element: ScalarType, shape: tuple[int, ...], fields: int, **_: Any) -> Any:
    """The fields of a struct in a struct: an array, or as many numbers."""
    return (element,) * fields or (ArrayType(element, shape),)


MAKERS: dict[Kind, Callable[[Mapping[str, Any]], Any]] = {
    Kind.TILE: _tile,
    Kind.MULTI: _multi_tile,
    Kind.ENTRY: _tile,
    Kind.GLOBAL: _global,
    Kind.CONV: _conv,
    Kind.PTR: _pointer,
    Kind.REGISTER: lambda own: register(own["dtype"]),
    Kind.LOGICAL: lambda own: vector(**own),
    Kind.ARRAY: lambda own: ArrayType(own["element"], own["shape"]),
    Kind.STRUCT: lambda own: StructType((own["element"], StructType(_inner(**own)))),
}


@cache
def broken_type_rules(
    loc: Loc,
    dtype: DType,
    shape: tuple[int, int, int | None, int | None],
    layout: Layout,
    fractal: int,
    wide4: bool,
) -> int:
    """How many rules of tile types a type breaks."""
    rows, cols, vrows, vcols = shape
    if rows <= 0 or cols <= 0:
        return len(TILE_RULES)
    kind = TileType(loc, dtype, rows, cols, Shape(vrows, vcols), layout, fractal, wide4=wide4)
    return sum(rule.holds({"tile": kind}) is False for rule in TILE_RULES)


def illegal(kind: Any) -> int:  # Any: a type of tiles or views, or an absent operand
    """How many of the rules of its type an operand breaks."""
    if isinstance(kind, GlobalType):
        return sum(rule.holds({"view": kind}) is False for rule in VIEW_RULES)
    kind = kind.kind if isinstance(kind, Placed) else kind
    if not isinstance(kind, TileType) or isinstance(kind, RegisterType):
        return 0
    shape = (kind.rows, kind.cols, kind.valid.rows, kind.valid.cols)
    return broken_type_rules(kind.loc, kind.dtype, shape, kind.layout, kind.fractal, kind.wide4)


def unwieldy(kinds: Iterable[Any], target: Target) -> int:  # Any: operands of every kind
    """How many memories the operands together do not fit in, and how many are empty maps."""
    empty = sum(isinstance(k, ConvTileType) and k.numel == 0 for k in kinds)
    need: dict[str, int] = {}
    for kind in kinds:
        kind = kind.kind if isinstance(kind, Placed) else kind
        if isinstance(kind, TileType | ConvTileType):
            space = SPACES[kind.loc]
            need[space] = need.get(space, 0) + -(-kind.nbytes // 32) * 32
    return empty + sum(n > target.capacity[s] for s, n in need.items())
