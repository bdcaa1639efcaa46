"""Runs a case in both engines and compares every byte with what the oracle says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from engines import Case, Outcome, Side, build, differences, outcome, surrounding, whole_boxes

from oracles import storage
from oracles.formats import Array, bits_of, codes_in
from oracles.registry import MEANINGS, ULPS, Given, InStorage, Refused, Result, Seen, Undefined
from ptokit.engines import native
from ptokit.isa.lang.instr import Role
from ptokit.isa.lang.traits import ALIASES
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.machine import execute
from ptokit.machine.tile import Matrix
from ptokit.values.enumerations import Word

# what a case may be refused for because of how it was made
MADE_SO: dict[str, Callable[[Case], bool]] = {
    "uninitialised-read": lambda case: case.holes > 0,
    "global-out-of-bounds": lambda case: case.array == "short",
    "register-not-set": lambda case: not case.registers,
}
# the documents do not say as what an element without a value counts
COUNTING = ("THistogram",)


def layout_of(kind: TileType) -> storage.Index:
    layout = kind.layout.name.lower()
    c0 = 64 if kind.wide4 else storage.lines(kind.dtype.name)
    return storage.offsets(layout, kind.fractal, kind.rows, kind.cols, c0)


class Scene:
    """The operands of a case as an oracle sees them, and where their elements are."""

    def __init__(self, case: Case) -> None:
        self.case, self.side = case, build(case)
        self.names = {id(m): n for n, m in self.side.memories()}
        self.memories = {n: m.data.copy() for n, m in self.side.memories()}
        self.places = {
            n: self._place(h) for n, h in self.side.handles.items() if isinstance(h, Matrix)
        }

    def _place(self, handle: Any) -> storage.Place:  # Any: a handle
        """The elements by row and column, or by extents."""
        kind, memory = handle.type, self.names[id(handle.memory)]
        dtype = kind.dtype.name
        if isinstance(kind, GlobalType):
            assert kind.stride is not None
            layout = "nd" if kind.layout is None else kind.layout.name.lower()
            index = storage.global_offsets(layout, kind.shape, kind.stride)  # type: ignore[arg-type]
            return storage.Place(memory, dtype, index + handle.origin)
        first = handle.elements.address * 8 // bits_of(dtype)
        if isinstance(kind, ConvTileType):
            return storage.Place(memory, dtype, first + np.arange(kind.numel).reshape(kind.shape))
        if self.case.place != "part" or not whole_boxes(kind):
            return storage.Place(memory, dtype, first + layout_of(kind))
        index = layout_of(surrounding(kind))[kind.rows :, kind.cols :]
        return storage.Place(memory, dtype, first + index - index[0, 0])

    def seen(self, name: str) -> Seen:
        place, kind = self.places[name], self.side.handles[name].type
        reach = storage.elements(self.memories[place.memory], place.dtype)
        codes = reach[place.at.clip(0, reach.size - 1)]
        valid = getattr(kind, "valid", None)
        region = codes.shape[:2] if valid is None else (valid.rows, valid.cols)
        count, first = codes.size, int(place.at.min()) if codes.size else 0
        together = count == 0 or int(place.at.max()) - first == count - 1
        return Seen(place.dtype, codes, region, kind, reach[first : first + count], together)

    def given(self) -> Given:
        """What an oracle may name."""
        page, core = self.case.page, self.side.core
        found: Given = {f.name: f.default for f in (*page.operands, *page.attrs) if not f.required}
        for name, value in self.case.given.items():
            found[name] = value.name if isinstance(value, Word) else value
        for attr in page.attrs:
            value = found.get(attr.name)
            found[attr.name] = value.name if isinstance(value, Word) else value
        found |= {n: self.seen(n) for n in self.places}
        inputs = {o.name: found[o.name] for o in page.operands if o.role is Role.IN}
        addresses = {n: self.side.handles[n].elements.address for n in self.places}
        names = {"target": core.target.name, "fixpipe": core.fixpipe, "address": addresses}
        names["order"] = core.target.order.value
        return {**found, **names, "inputs": inputs}


def complaints(case: Case, *, compiled: bool) -> list[str] | None:
    """How the reference differs from the oracle, and the native engine from the reference.

    None: nothing was compared with the oracle, because the case is one that engines must refuse or
    the documents say nothing of it.
    """
    expected = outcome(case, execute.run_op)
    found: list[str] = []
    if compiled:
        got = outcome(case, native.run_op)
        found += differences(expected, got)
        states = [side.core.state.registers for side in (expected.side, got.side)]
        if states[0] != states[1]:
            found.append(f"registers: the reference has {states[0]}, the native engine {states[1]}")
    try:
        against = wrong(case, expected)
    except Undefined:
        against = None
    return found + (against or []) if found or against is not None else None


def wrong(case: Case, got: Outcome) -> list[str] | None:
    """How an engine differs from the oracle; None: it must refuse this case."""
    if case.holes and case.page.__name__ in COUNTING:
        return None
    scene = Scene(case)
    slugs = {slug for slug, _, _ in got.said}
    if slugs and all(s in MADE_SO and MADE_SO[s](case) for s in slugs):
        return None
    try:
        result = _result(case, scene)
    except Refused as refusal:
        right = slugs == {str(refusal)}
        return [] if right else [f"the oracle refuses with {refusal}, the engines say {got.said}"]
    if slugs:
        return [f"the oracle has a result, the engines say {got.said}"]
    return list(_compared(case, scene, got.side, result))


def _compared(case: Case, scene: Scene, got: Side, result: Result) -> Iterator[str]:
    if ALIASES in case.page.traits:
        yield from _views(case, scene, got, result)
        result = None
    held = got.core.state.registers
    wanted = _apply(case, scene, got, result)
    for name in wanted if case.page.needs else {**wanted, **held}:
        if held.get(name) != wanted.get(name):
            yield f"register {name} is {held.get(name)}, the oracle says {wanted.get(name)}"
    yield from _bytes(scene, got)


def _result(case: Case, scene: Scene) -> Result:
    """What the oracle says; an instruction whose output is empty does nothing."""
    for operand in case.page.operands:
        valid = getattr(case.given.get(operand.name), "valid", None)
        empty = valid is not None and 0 in (valid.rows, valid.cols)
        if operand.role is Role.OUT and empty and ALIASES not in case.page.traits:
            return None
    oracle: Any = MEANINGS[case.page.__name__]
    return oracle(scene.given())


def _apply(case: Case, scene: Scene, got: Side, result: Result) -> dict[str, int]:
    """The outputs in the scene's memories; returns what registers must hold."""
    if result is None:
        return {}
    outs = [o.name for o in case.page.outs()]
    results: Mapping[str, Any] = result if isinstance(result, Mapping) else {outs[0]: result}
    for name in outs:
        if name in results:
            _write(scene, got, name, results[name], ULPS.get(case.page.__name__, 0))
    return {n: v for n, v in results.items() if n not in outs}


def _write(scene: Scene, got: Side, name: str, value: Array | InStorage, ulps: int) -> None:
    place = scene.places[name]
    if isinstance(value, InStorage):
        first = int(place.at.min())
        line = first + np.arange(value.values.size)
        place._replace(at=line).write(scene.memories, codes_in(value.values, place.dtype))
        return
    codes = codes_in(value, place.dtype)
    if ulps:
        memories = {n: m.data for n, m in got.memories()}
        window = tuple(map(slice, codes.shape))
        found = place.read(memories)[window]
        codes = np.where(_near(codes, found, value, ulps), found, codes)
    place.write(scene.memories, codes)


def _near(wanted: Array, found: Array, values: Array, ulps: int) -> Array:
    """Where two codes of floats of one sign are so many steps apart; NaN only where it must be."""
    distance = np.abs(wanted.astype(np.int64) - found.astype(np.int64))
    return (distance <= ulps) & ~np.isnan(values)


def _views(case: Case, scene: Scene, got: Side, result: Result) -> Iterator[str]:
    """An output that becomes a view: what is seen through it."""
    (out,) = case.page.outs()
    assert isinstance(result, np.ndarray)
    handle: Any = got.handles[out.name]
    rows, cols = (range(n) for n in handle.valid)
    wanted, found = codes_in(result, handle.dtype.name), handle.elements.read(rows, cols)
    if not np.array_equal(wanted, found):
        yield f"through {out.name} one sees {found.tolist()}, not {wanted.tolist()}"


def _bytes(scene: Scene, got: Side) -> Iterator[str]:
    for name, memory in got.memories():
        wanted = scene.memories[name]
        at = np.flatnonzero(wanted != memory.data)
        if at.size:
            spot = _first(scene, got, name, at)
            yield f"{name}: {at.size} bytes are not what the oracle says. {spot}"


def _first(scene: Scene, got: Side, name: str, at: Array) -> str:
    """The first wrong element, by operand, row and column."""
    after = {n: m.data for n, m in got.memories()}
    for operand, place in scene.places.items():
        if place.memory != name or not place.at.size:
            continue
        wanted, found = place.read(scene.memories), place.read(after)
        where = np.argwhere(wanted != found)
        if where.size:
            spot = tuple(int(n) for n in where[0])
            return (
                f"{operand}{list(spot)} ({place.dtype}) is {int(found[spot]):#x}, "
                f"the oracle says {int(wanted[spot]):#x} ({len(where)} elements differ)"
            )
    return f"the first is byte {int(at[0])}, outside every operand"
