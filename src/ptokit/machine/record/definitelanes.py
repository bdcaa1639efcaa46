"""Definite initialisation lane by lane: see `definite`, and `lanefacts` for the facts.

An instruction on registers may read undefined lanes: they stay undefined, and need a proof only
where they are stored in an array of the host, or select what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ptokit.ir.module import Block, Op
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.machine.memory import WRITTEN, Codes, Elements
from ptokit.machine.record.dataflow import DataFlow, Source
from ptokit.machine.record.definite import (
    Initial,
    NamedWindow,
    Place,
    Proven,
    exactly,
    reached,
    settled,
)
from ptokit.machine.record.expressions import (
    AxisWindow,
    Recording,
    Scalar,
    Traced,
    UndefineStore,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.lanefacts import REGISTERS, BytesWritten, ElementPlaces, LaneFacts
from ptokit.machine.record.lanepatterns import (
    LeafContent,
    Mask,
    StoredElements,
    Unclear,
    spread,
    stored,
)
from ptokit.machine.record.trace import num, space_of


class DefiniteLanes(Initial):
    """The facts about memories, and those about registers in each iteration of the open loops."""

    def __init__(
        self,
        start: Callable[[str], Codes | None],
        fresh: Callable[[Op], tuple[TileType | ConvTileType, object] | None],
        spoils: Callable[[Op], Iterable[Place]],
        refused: Collection[str] = (),
        data: frozenset[Source] = frozenset(),
    ) -> None:
        super().__init__(start, fresh, spoils, refused)
        self.flow = DataFlow(data)
        self.lanes = LaneFacts()
        self.suspects: set[str] = set()  # memories of which registers get undefined elements

    @property
    def needed(self) -> set[str]:
        """Return the memories that must be tracked; with one of them all `suspects`."""
        return self.unproven | self.suspects if self.unproven else set()

    def effects(
        self, recording: Recording, counts: tuple[str, ...] | None, *, lanes: bool = False
    ) -> bool:
        """Apply an instruction; `lanes`: on registers, and never on nothing."""
        self.flow.apply(recording, lanes=lanes)
        if not lanes:
            return super().effects(recording, counts)
        self._on_registers(recording)
        return False

    def _on_registers(self, recording: Recording) -> None:
        """Apply an instruction on registers."""
        try:
            found = stored(recording.stores, self._content)
        except Unclear:
            reads = [self.read(r.cells, r.row_span, r.col_span) for r in recording.reads]
            found = [_alike(store, all(reads)) for store in recording.stores]
        for store, elements in zip(recording.stores, found, strict=True):
            if not elements.decided:
                self.unproven.add(REGISTERS)
            if self.name_of(store.cells) == REGISTERS:
                self._in_register(store, elements)
            else:
                self._in_memory(store, elements)

    def _content(self, leaf: Traced) -> LeafContent:
        """Return what is known of a number or a window, in each iteration."""
        if isinstance(leaf, Scalar):
            return self._number(leaf)
        assert isinstance(leaf, WindowRead)
        places = places_of(leaf.cells, leaf.row_span, leaf.col_span)
        if places is None:
            raise Unclear
        name = self.name_of(leaf.cells)
        if name == REGISTERS:
            return self.lanes.read(places, leaf.dtype)
        every = np.ones((1, len(places.bytes)), np.bool_)
        if self.shadow(name) is None or self._one_proof(leaf.cells, leaf.row_span, leaf.col_span):
            return LeafContent(every, None)
        found = self._covered(leaf.cells, leaf.row_span, leaf.col_span)
        self.suspects.add(name)
        return LeafContent(~every if found is None else found, None)

    def _number(self, leaf: Scalar) -> LeafContent:
        values = self.lanes.number(leaf.value)
        one = np.ones((1, 1), np.bool_)
        if values is None or not (leaf.coded or leaf.dtype.is_int):
            return LeafContent(one, None)
        return LeafContent(one, values.astype(leaf.dtype.storage)[:, None])

    def _in_register(self, store: WindowStore, elements: StoredElements) -> None:
        """Apply a store of an instruction in a register."""
        places = places_of(store.cells, store.rows, store.cols)
        if not elements.defined.all():
            self.suspects.add(REGISTERS)
        if places is None:
            self.lanes.forget(store.cells.address, store.cells.map.span * store.cells.dtype.size)
        else:
            self.lanes.write(places, elements)

    def _in_memory(self, store: WindowStore, elements: StoredElements) -> None:
        """Apply a store of an instruction on registers in a memory."""
        shadow, where = self.shadow(self.name_of(store.cells)), elements.where
        rows = max(len(elements.defined), 1 if where is None else len(where))
        safe = spread(elements.defined, rows)
        if where is not None:
            safe = safe | ~spread(where, rows)
        if safe.all():
            if shadow is not None:
                self._written(store, shadow, where)
        elif shadow is None or space_of(store.cells).memory is not None:
            self.unproven.add(REGISTERS)
        else:
            self.lose(store, shadow)

    def _written(self, store: WindowStore, shadow: Codes, where: Mask | None) -> None:
        """Prove the elements that an instruction on registers writes."""
        if not self._in_each_iteration(store, shadow, where) and store.definite:
            window = NamedWindow.of(store.cells, store.rows, store.cols)
            self.windows[window] = reached(store.cells)

    def _in_each_iteration(self, store: WindowStore, shadow: Codes, where: Mask | None) -> bool:
        """Prove the elements of a store if their place is known in each iteration."""
        growing = getattr(space_of(store.cells).memory, "growable", False)
        if where is None or growing or self.lanes.number(store.cells.address) is None:
            return False
        places = places_of(store.cells, store.rows, store.cols)
        if places is None:
            return False
        where = np.broadcast_to(where, (len(where), len(places.bytes)))
        some = self.lanes.mark(self.name_of(store.cells), places, where, shadow.size)
        if some is not None:
            self.lanes.written.append(some)
            self._settle()
        return some is not None

    def _settle(self) -> None:
        """Move what all iterations write alike from the facts of lanes to the shadows."""
        left: list[BytesWritten] = []
        for some in self.lanes.written:
            shadow = self.shadow(some.memory)
            if len(some.base) == len(some.bytes) == 1 and shadow is not None:
                start = int(some.base[0])
                shadow[start : start + some.bytes.shape[1]][some.bytes[0]] = WRITTEN
            else:
                left.append(some)
        self.lanes.written = left

    def _covered(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> Mask | None:
        """Return which elements of a window are defined, in each iteration; None: not known."""
        name = self.name_of(cells)
        shadow = self.shadow(name)
        if shadow is None or name in self.fallen or self.lanes.number(cells.address) is None:
            return None
        places = places_of(cells, rows, cols)
        return None if places is None else self.lanes.covers(name, places, shadow)

    def _one_proof(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
        """Return whether one proof serves all iterations."""
        return self.name_of(cells) not in self.fallen and super().proven(cells, rows, cols)

    # the facts of memories

    def mark(self, store: WindowStore, shadow: Codes, rows: range, cols: range) -> bool:
        if isinstance(num(store.cells.address), int):
            return super().mark(store, shadow, rows, cols)
        self._in_each_iteration(store, shadow, np.ones((1, 1), np.bool_))
        return False

    def proven(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
        if super().proven(cells, rows, cols):
            return True
        found = self._covered(cells, rows, cols)
        return found is not None and bool(found.all())

    def read(self, cells: Elements, rows: AxisWindow, cols: AxisWindow) -> bool:
        if self.name_of(cells) != REGISTERS:
            return super().read(cells, rows, cols)
        places = places_of(cells, rows, cols)
        with suppress(Unclear):
            if places is not None and self.lanes.read(places, cells.dtype).defined.all():
                return True
        self.unproven.add(REGISTERS)
        return False

    def forget(self, name: str, address: object, nbytes: int) -> None:
        if name == REGISTERS:
            self.lanes.forget(address, nbytes)
        else:
            super().forget(name, address, nbytes)

    def forget_windows(
        self, name: str, bytes: range | None, lost: NamedWindow | None = None
    ) -> None:
        self.lanes.drop(name, bytes)
        super().forget_windows(name, bytes, lost)

    def enter_loop(self, *blocks: Block) -> None:
        super().enter_loop(*blocks)
        self.lanes.open(self.refused)

    def leave_loop(self, *, runs: bool) -> None:
        for loss in self.entered[-1].lost:  # a later iteration loses what an earlier one writes
            self.lanes.drop(loss.memory, loss.bytes, inner=True)
        refused, less = self.lanes.close()
        self._settle()
        self.refused |= refused
        self.fallen |= less
        self.unproven |= less
        super().leave_loop(runs=runs)

    def copy(self) -> Proven:
        return replace(super().copy(), lanes=self.lanes.copy())

    def restore(self, proven: Proven) -> None:
        super().restore(proven)
        self.lanes.restore(proven.lanes)

    def meet(self, *ways: Proven) -> None:
        super().meet(*ways)
        self.lanes.meet(*(way.lanes for way in ways))


def places_of(cells: Elements, rows: AxisWindow, cols: AxisWindow) -> ElementPlaces | None:
    """Return the bytes of the elements of a window; None if they are not known."""
    down, across = exactly(rows), exactly(cols)
    if down is None or across is None or cells.dtype.packed or not settled(cells):
        return None
    offsets = cells.offsets(np.asarray(down, np.int64)[:, None], np.asarray(across, np.int64))
    size = cells.dtype.size
    return ElementPlaces(cells.address, offsets.reshape(-1, 1) * size + np.arange(size))


def _alike(store: WindowStore, defined: bool) -> StoredElements:
    """Return the elements of a store, all of which are defined, or maybe not."""
    places = places_of(store.cells, store.rows, store.cols)
    count = 1 if places is None else len(places.bytes)
    every = np.full((1, count), defined and not isinstance(store, UndefineStore))
    where = np.ones((1, count), np.bool_) if store.definite else None
    return StoredElements(every, None, where, True)
