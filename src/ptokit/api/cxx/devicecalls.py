"""The pages behind calls of C++ that are no intrinsics: flags, barriers, signals, single elements.

Each is found by what its page says of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from ptokit.api.cxx.callbinding import CxxCall, Value, shown
from ptokit.api.cxx.calloperands import Chosen, Given, Number, PlacedTile, PlacedView
from ptokit.api.cxx.callwords import FlagWay
from ptokit.api.cxx.headers import BUILTIN
from ptokit.diagnostics.diagnostic import error
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Attr, Instr, Role
from ptokit.isa.lang.traits import BY_SCALAR, FLAGS, ONE_ELEMENT, SIGNALS, STOPS
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import AccToVecMode, Pipe, S
from ptokit.isa.pages.bursts import burst_page, fill_page, tile_of_lines, view_of_lines
from ptokit.isa.pages.synchronisation import operation_on
from ptokit.values.dtypes import i8, i16, i32, i64, u32
from ptokit.values.enumerations import MAT, VEC, Loc, Word
from ptokit.values.layouts import ND, Shape

LINE = 32  # bytes of the smallest tile
PLACEHOLDER = re.compile(r"\{(\w+)\}")
INTEGERS = {d.size: d for d in (i8, i16, i32, i64)}


def flag(source: int, target: int, event: int, *, up: bool) -> CxxCall:
    """Return the flag between two pipes that goes up or is waited for."""
    page = _flag(up)
    ends, id = page.attrs[:2], page.attrs[2]
    attrs = {a.name: list(Pipe)[n] for a, n in zip(ends, (source, target), strict=True)}
    return CxxCall(page, {}, {**attrs, id.name: numbered(id, event)})


@cache
def _flag(up: bool) -> type[Instr]:
    fits = (p for p in pages() if FLAGS in p.uses and getattr(p, "up", None) is up)
    return next(p for p in fits if not p.operands and p.attrs[0].kind is Pipe)


def numbered(attr: Attr, number: int) -> object:
    """Return the word of an attribute that has this number; PtoError where none has."""
    assert issubclass(attr.kind, Word)
    found = attr.kind.numbered(number)
    if found is None:
        raise error("attribute", f"no event has the number {number}", help="ids are 0 to 7")
    return found


@cache
def unexecuted() -> dict[str, str]:
    """Return why they have no effect, for the functions of the device whose page says so."""
    texts = ((BUILTIN.fullmatch(p.asm.cpp_text or ""), p.unexecuted) for p in pages())
    return {match[1]: reason for match, reason in texts if match and reason}


@cache
def _executed() -> dict[str, type[Instr]]:
    """Return the pages that execute functions of the device on operations and numbers alone."""
    found: dict[str, type[Instr]] = {}
    for page in pages():
        match = BUILTIN.fullmatch(page.asm.cpp_text or "")
        named = {a.name for a in page.attrs if a.kind in (str, int)}
        if match and page.executes and not page.operands and named == {*_arguments(page)}:
            found.setdefault(match[1], page)
    return found


def _arguments(page: type[Instr]) -> list[str]:
    """Return the attributes that the C++ of a page names, in order."""
    return PLACEHOLDER.findall(page.asm.cpp_text or "")


def is_executed(name: str) -> bool:
    """True of a function of the device that is an instruction, found by its name."""
    return name in _executed()


def function(name: str, values: Sequence[Given]) -> CxxCall:
    """Return the instruction that a function of the device is."""
    page = _executed()[name]
    names, attrs = _arguments(page), dict[str, object]()
    for attr, value in zip(names, values, strict=False):
        if isinstance(value, Number):
            attrs[attr] = int(value.value)
        elif isinstance(value, Chosen):
            attrs[attr] = operation_on(value.label)
    lacking = any(a.required and a.name not in attrs for a in page.attrs)
    if lacking or len(attrs) < len(values):
        given = ", ".join(map(shown, values)) or "nothing"
        text = re.sub(r"[{};]", "", page.asm.cpp_text or "")
        message = f"{name}: unsupported arguments"
        raise error("operand-kind", message, seen=given, help=f"write {text}")
    return CxxCall(page, {}, attrs)


def barrier(pipe: int) -> CxxCall:
    """Return the barrier of a pipe."""
    page = _barrier()
    return CxxCall(page, {}, {page.attrs[0].name: list(Pipe)[pipe]})


@cache
def _barrier() -> type[Instr]:
    fits = (p for p in pages() if STOPS in p.traits and [a.kind for a in p.attrs] == [Pipe])
    return next(fits)


def signal(how: int, pipe: int, number: int, mode: int, *, up: bool) -> CxxCall:
    """Return the flag for other cores that goes up or is waited for."""
    page = _signal(FlagWay(how), up)
    attrs: dict[str, object] = {"of": list(Pipe)[pipe], "event_id": number}
    if up and how == FlagWay.FFTS:
        attrs["ffts_mode"] = mode
    return CxxCall(page, {}, attrs)


@cache
def _signal(how: FlagWay, up: bool) -> type[Instr]:
    fits = [p for p in pages() if SIGNALS in p.uses and getattr(p, "up", None) is up]
    for page in fits:
        kind = FlagWay.INTRA_BLOCK if page.of_one_core else FlagWay.FFTS
        kind = FlagWay.CROSS_BLOCK if page.grid_wide({}) else kind
        if kind is how:
            return page
    raise AssertionError(f"no page is {how.name}")


def burst(
    ends: tuple[Loc | None, Loc | None],
    places: Sequence[tuple[int, int] | int],
    lane: int,
    lines: Sequence[int],
) -> CxxCall:
    """Return the move of lines from a memory to another.

    `places` are offsets, of global memory an array and a byte of it, of the source and the target;
    `lines` their number, the bytes of each, and the steps in the source and the target.
    """
    page, (count, nbytes, *steps) = burst_page(*ends), lines
    moved: list[Value] = []
    for loc, place, step in zip(ends, places, steps, strict=True):
        step = step if count > 1 else -(-nbytes // LINE) * LINE
        if isinstance(place, tuple):
            moved.append(PlacedView(view_of_lines(count, nbytes, step), *place))
        else:
            assert loc is not None
            moved.append(PlacedTile(tile_of_lines(loc, count, nbytes, step), place))
    source, target = moved
    names = [_first(page, Role.IN), _first(page, Role.OUT, Role.INOUT)]
    second = lane == 1 and ends == (MAT, VEC)
    words = (attr.name for attr in page.attrs if second and attr.kind is AccToVecMode)
    attrs = dict.fromkeys(words, AccToVecMode.SINGLE_VEC1)
    return CxxCall(page, dict(zip(names, (source, target), strict=True)), attrs)


def fill(loc: Loc, place: int, count: int, nbytes: int, step: int, bits: int) -> CxxCall:
    """Return what fills lines with a number of 32 bits, again and again."""
    page = fill_page()
    kind = replace(
        tile_of_lines(loc, count, nbytes // 4, step // 4 if count > 1 else nbytes // 4), dtype=u32
    )
    names = [_first(page, Role.OUT), _first(page, Role.IN)]
    return CxxCall(page, dict(zip(names, (PlacedTile(kind, place), bits), strict=True)), {})


def _first(page: type[Instr], *roles: Role) -> str:
    """Return the name of the first operand of a role."""
    return next(o.name for o in page.operands if o.role in roles)


def element(loc: Loc, offset: int, nbytes: int, value: int | None) -> Iterator[CxxCall]:
    """Yield what the scalar unit does to bytes of a memory: it reads them, or writes `value`."""
    dtype = INTEGERS.get(nbytes)
    if dtype is None:
        return
    start = offset - offset % LINE
    count = LINE // dtype.size
    kind = TileType(loc, dtype, 1, count, Shape(1, count), ND)
    page = _written() if value is not None else _read()
    tile, at, *rest = (o.name for o in page.operands if o.role is not Role.RESULT)
    operands: dict[str, Value] = {tile: PlacedTile(kind, start), at: (offset - start) // dtype.size}
    if value is not None:
        operands[rest[0]] = value
    yield CxxCall(page, operands, {})


@cache
def _read() -> type[Instr]:
    traits = {BY_SCALAR, ONE_ELEMENT}
    return next(
        p for p in pages() if traits <= {*p.traits} and _kinds(p) == [Kind.TILE, Kind.INDEX]
    )


@cache
def _written() -> type[Instr]:
    wanted = [Kind.TILE, Kind.INDEX, Kind.SCALAR]
    return next(p for p in pages() if p.on_tiles and p.pipe is S and _kinds(p) == wanted)


def _kinds(page: type[Instr]) -> list[Kind]:
    return [o.kind for o in page.operands if o.role is not Role.RESULT]
