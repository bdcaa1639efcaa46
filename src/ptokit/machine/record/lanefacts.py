"""Which lanes of registers, and which bytes of memory, vector functions define in each iteration.

The counters of the loops around an instruction give addresses and masks numbers. Facts are arrays
of one row for each iteration of the open loops, the innermost fastest, or for all those of some
outer loops: then the iterations inside agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.isa.model.targets import SPACES
from ptokit.machine.memory import Codes
from ptokit.machine.record.code import Num, form_of
from ptokit.machine.record.lanepatterns import (
    LeafContent,
    Mask,
    StoredElements,
    Unclear,
    spread,
)
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Loc

REGISTERS = SPACES[Loc.REGISTER]  # the name of their memory
MOST = 1 << 22  # bytes of facts about one register
MOST_JOINED = 1 << 12  # iterations whose bytes are joined one by one
Numbers: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, eq=False)
class RegisterContent:
    """The bytes of a register: which are defined, and the bytes themselves if they are known.

    `loops` are the open loops whose first iterations find this content; later ones may not.
    """

    defined: Mask
    codes: Codes | None
    loops: tuple[OpenIterations, ...] = ()


@dataclass(frozen=True, eq=False)
class BytesWritten:
    """Bytes of a memory that are written: from an address on, in each iteration."""

    memory: str
    base: Numbers
    bytes: Mask


@dataclass(eq=False)
class OpenIterations:
    """A loop whose body is compiled, of `count` iterations, or of one that stands for all.

    `entry` are the registers before it, `used` those of which the body reads that content.
    """

    entry: dict[int, RegisterContent]
    written: list[BytesWritten]
    count: int = 1
    names: tuple[str, ...] = ()  # of its counter and other numbers
    used: set[int] = field(default_factory=set[int])


class LaneState(NamedTuple):
    """The facts at a program point."""

    registers: dict[int, RegisterContent]
    written: list[BytesWritten]


NOTHING = LaneState({}, [])


class ElementPlaces(NamedTuple):
    """The bytes of elements, a row for each, from an address on."""

    address: Num
    bytes: NDArray[np.int64]


class LaneFacts:
    """The facts, the open loops and the numbers of their iterations, by the text of a number."""

    def __init__(self) -> None:
        self.registers: dict[int, RegisterContent] = {}
        self.written: list[BytesWritten] = []
        self.loops: list[OpenIterations] = []
        self.numbers: dict[str, Numbers] = {}
        self.rows = 1  # iterations of all open loops

    # numbers and iterations

    def number(self, number: Num) -> Numbers | None:
        """Return a number in each iteration; None: not known."""
        form = form_of(number)
        total = np.full(1, form.constant, np.int64)
        for term, times in form.terms.items():
            values = self.numbers.get(term)
            if values is None:
                return None
            rows = max(len(values), len(total))
            total = spread(total, rows) + times * spread(values, rows)
        return total

    def open(self, refused: Collection[str]) -> None:
        """Enter a loop, one iteration of which stands for all; forget what is `refused`."""
        kept = {a: _allowed(a, c, refused) for a, c in self.registers.items()}
        loop = OpenIterations(kept, [*self.written])
        self.loops.append(loop)
        self.registers = {a: replace(c, loops=(*c.loops, loop)) for a, c in kept.items()}

    def iterates(self, count: int, numbers: Mapping[str, Numbers]) -> None:
        """Note the iterations of the loop that was opened, and numbers in each of them."""
        if self.rows * count * 256 > MOST:
            return
        loop = self.loops[-1]
        loop.count, loop.names = count, (*numbers,)
        for name, values in numbers.items():
            self.numbers[name] = np.tile(values, self.rows)
        self.rows *= count

    def close(self) -> tuple[set[str], set[str]]:
        """Leave a loop.

        Return what must be refused, and the memories of which an iteration leaves less than the
        next one expects.
        """
        loop = self.loops.pop()
        lost = {n for a in loop.used for n in _lost(a, self.registers.get(a), loop.entry[a])}
        here = {id(w) for w in self.written}
        memories = {w.memory for w in loop.written if id(w) not in here}
        inside, self.rows = self.rows, self.rows // loop.count
        last = slice(loop.count - 1, None, loop.count)
        for address, content in self.registers.items():
            defined, codes = content.defined, content.codes
            if loop.count > 1 and len(defined) == inside:
                defined = defined[last]
            if loop.count > 1 and codes is not None and len(codes) == inside:
                codes = codes[last]
            loops = tuple(one for one in content.loops if one is not loop)
            self.registers[address] = RegisterContent(defined, codes, loops)
        if loop.count > 1:
            joined = [self._joined(w, loop.count) for w in self.written]
            self.written = [w for w in joined if w is not None]
        for name in loop.names:
            del self.numbers[name]
        return lost, memories

    def _joined(self, some: BytesWritten, count: int) -> BytesWritten | None:
        """Return what all iterations of a loop write, for each iteration outside; None: unknown."""
        inside = self.rows * count
        if max(len(some.base), len(some.bytes)) < inside:
            return some
        base = np.broadcast_to(spread(some.base, inside), inside).reshape(self.rows, count)
        low = base.min(axis=1)
        steps = base - low[:, None]
        width = int(steps.max()) + some.bytes.shape[1]
        bytes = some.bytes
        if len(bytes) == inside:
            bytes = bytes.reshape(self.rows, count, -1)
        else:
            shape = self.rows, count, bytes.shape[1]
            bytes = np.broadcast_to(spread(bytes, self.rows)[:, None], shape)
        if (steps == steps[0]).all() and (bytes == bytes[0]).all():
            steps, bytes = steps[:1], bytes[:1]
        if steps.size > MOST_JOINED or len(steps) * width > MOST:
            return None
        found = np.zeros((len(steps), width), np.bool_)
        for row, line in enumerate(steps.tolist()):
            for number, step in enumerate(line):
                found[row, step : step + bytes.shape[2]] |= bytes[row, number]
        return BytesWritten(some.memory, low, found)

    # facts at a point of the program

    def copy(self) -> LaneState:
        return LaneState(dict(self.registers), [*self.written])

    def restore(self, state: LaneState) -> None:
        self.registers, self.written = dict(state.registers), [*state.written]

    def meet(self, *ways: LaneState) -> None:
        """Keep the facts that hold on every path."""
        first, *others = ways
        self.written = [
            w for w in first.written if all(any(w is x for x in o.written) for o in others)
        ]
        self.registers = dict(first.registers)
        for way in others:
            self.registers = {
                a: _both(c, way.registers[a])
                for a, c in self.registers.items()
                if a in way.registers
            }

    def drop(self, memory: str, bytes: range | None, *, inner: bool = False) -> None:
        """Drop what is known of these bytes of a memory, or of all bytes.

        `inner`: only what differs between iterations of the innermost loop.
        """
        kept: list[BytesWritten] = []
        for some in self.written:
            low, high = int(some.base.min()), int(some.base.max()) + some.bytes.shape[1]
            apart = bytes is not None and (high <= bytes.start or bytes.stop <= low)
            alike = inner and max(len(some.base), len(some.bytes)) < self.rows
            kept += [some] if apart or alike or some.memory != memory else []
        self.written = kept

    # registers

    def forget(self, address: object, nbytes: int) -> None:
        """Make a register undefined; None as an address: all of them."""
        if not isinstance(address, int):
            self.registers = {}
            return
        nothing = np.zeros((1, nbytes), np.bool_)
        self.registers[address] = RegisterContent(nothing, None)

    def read(self, places: ElementPlaces, dtype: DType) -> LeafContent:
        """Return elements of a register."""
        content = self._register(places)
        for loop in content.loops:
            assert isinstance(places.address, int)
            loop.used.add(places.address)
        defined = np.asarray(content.defined[:, places.bytes].all(axis=2))
        codes = None if content.codes is None else content.codes[:, places.bytes]
        if codes is not None:
            codes = np.ascontiguousarray(codes).view(dtype.storage)[:, :, 0]
        return LeafContent(defined, codes)

    def _register(self, places: ElementPlaces) -> RegisterContent:
        content = self.registers.get(places.address) if isinstance(places.address, int) else None
        if content is None or places.bytes.max(initial=-1) >= content.defined.shape[1]:
            raise Unclear
        return content

    def write(self, places: ElementPlaces, found: StoredElements) -> None:
        """Store elements in a register."""
        content, (count, size) = self._register(places), places.bytes.shape
        rows = max(len(a) for a in (*found[:3], content.defined, content.codes) if a is not None)
        at = places.bytes.reshape(-1)
        whole = rows, content.defined.shape[1]
        defined = np.broadcast_to(spread(content.defined, rows), whole).copy()
        new = spread(found.defined, rows)
        keep = None if found.where is None else spread(found.where, rows)
        old = defined[:, places.bytes].all(axis=2)
        result = new & old if keep is None else np.where(keep, new, old)
        defined[:, at] = np.repeat(result, size, axis=1)
        codes: Codes | None = None
        entire = keep is not None and bool(keep.all()) and count * size == defined.shape[1]
        if found.codes is not None and keep is not None and (entire or content.codes is not None):
            before = content.codes if content.codes is not None else np.zeros((1, 1), np.uint8)
            codes = np.broadcast_to(spread(before, rows), whole).copy()
            parts = np.ascontiguousarray(spread(found.codes, rows)).view(np.uint8)
            codes[:, at] = np.where(np.repeat(keep, size, axis=1), parts, codes[:, at])
        loops = () if entire else content.loops
        assert isinstance(places.address, int)
        self.registers[places.address] = RegisterContent(defined, codes, loops)

    # memories

    def covers(self, memory: str, places: ElementPlaces, shadow: Codes) -> Mask | None:
        """Return which elements are written, in each iteration; None if their place is unknown."""
        address = self.number(places.address)
        if address is None or not places.bytes.size:
            return None
        at = places.bytes.reshape(-1)
        low, high = int(address.min()) + int(at.min()), int(address.max()) + int(at.max())
        if low < 0 or high >= shadow.size or len(address) * at.size > MOST:
            return None
        found = shadow[address[:, None] + at] == 0xFF
        for some in self.written:
            if some.memory == memory and not found.all():
                found = _with(found, address, at, some)
        return np.asarray(found.reshape(len(found), *places.bytes.shape).all(axis=2))

    def mark(
        self, memory: str, places: ElementPlaces, where: Mask, limit: int
    ) -> BytesWritten | None:
        """Note that elements of a memory are written; return the bytes if their place is known."""
        address = self.number(places.address)
        if address is None or not places.bytes.size:
            return None
        low, high = int(places.bytes.min()), int(places.bytes.max())
        if int(address.min()) + low < 0 or int(address.max()) + high >= limit:
            return None
        if len(where) * (high + 1 - low) > MOST:
            return None
        bytes = np.zeros((len(where), high + 1 - low), np.bool_)
        size = places.bytes.shape[1]
        bytes[:, places.bytes.reshape(-1) - low] = np.repeat(where, size, axis=1)
        return BytesWritten(memory, address + low, bytes)


def _lanes_of(address: int) -> str:
    """Return the name for the defined lanes of a register at the start of a loop."""
    return f"{REGISTERS} {address}"


def _codes_of(address: int) -> str:
    """Return the name for the content of a register at the start of a loop."""
    return f"codes of {REGISTERS} {address}"


def _allowed(address: int, content: RegisterContent, refused: Collection[str]) -> RegisterContent:
    """Return what may be assumed of a register at the start of each iteration.

    Only bytes 0 and 1, as masks have them, are assumed to stay: iterations change others.
    """
    if _lanes_of(address) in refused:
        return RegisterContent(np.zeros_like(content.defined[:1]), None)
    codes = content.codes
    changes = codes is not None and not (codes.any() and codes.max() == 1)
    if changes or _codes_of(address) in refused:
        return replace(content, codes=None)
    return content


def _lost(address: int, content: RegisterContent | None, entry: RegisterContent) -> Iterator[str]:
    """Yield names for what an iteration does not leave as it was before the loop."""
    if content is None:
        yield _lanes_of(address)
        return
    rows = max(len(content.defined), len(entry.defined))
    if (spread(entry.defined, rows) & ~spread(content.defined, rows)).any():
        yield _lanes_of(address)
    if entry.codes is None:
        return
    codes = entry.codes if content.codes is None else content.codes
    rows = max(len(codes), len(entry.codes))
    same = spread(entry.codes, rows) == spread(codes, rows)
    if content.codes is None or not same.all():
        yield _codes_of(address)


def _both(a: RegisterContent, b: RegisterContent) -> RegisterContent:
    """Return what holds of either content."""
    rows = max(len(a.defined), len(b.defined))
    defined = spread(a.defined, rows) & spread(b.defined, rows)
    codes: Codes | None = None
    if a.codes is not None and b.codes is not None:
        rows = max(len(a.codes), len(b.codes))
        same = spread(a.codes, rows) == spread(b.codes, rows)
        codes = a.codes if same.all() else None
    return RegisterContent(defined, codes, tuple(dict.fromkeys((*a.loops, *b.loops))))


def _with(found: Mask, address: Numbers, at: Numbers, some: BytesWritten) -> Mask:
    """Return which bytes are written, those of one more store among them."""
    rows = max(len(found), len(some.base), len(some.bytes))
    if rows * at.size > MOST:
        return found
    places = (spread(address, rows) - spread(some.base, rows))[:, None] + at
    width = some.bytes.shape[1]
    places = np.broadcast_to(places, (rows, at.size))
    inside = (places >= 0) & (places < width)
    lines = np.broadcast_to(spread(some.bytes, rows), (rows, width))
    written = np.take_along_axis(lines, np.clip(places, 0, width - 1), 1)
    return spread(found, rows) | (inside & written)
