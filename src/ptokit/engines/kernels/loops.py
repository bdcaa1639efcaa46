"""From index maps to loops: walks over a window of several operands without divisions.

Each operand (access) moves along an axis by the digits of its layout. `rectangles` cuts the axis
into parts in which every access is affine in a few loops. `nest` orders the loops of a part by the
storage of the destination and joins loops that are contiguous for all accesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from ptokit.machine.record.code import NotNative, Num
from ptokit.machine.record.trace import num
from ptokit.values.layouts import Digits, known


class Irregular(Exception):
    """Raised if the access with this number cannot be walked in loops."""

    def __init__(self, access: int) -> None:
        super().__init__(access)
        self.access = access


@dataclass(frozen=True)
class Stream:
    """The movement of an access along one axis: the digits of an index, and its first index.

    `phase`: of every n-th index, which one it is, if the axis holds all indices around them.
    """

    digits: Digits
    start: Num = 0
    phase: int | None = None

    @property
    def width(self) -> int:
        """Return the number of indices in one step of the outermost digit."""
        return prod(count for count, _ in self.digits[1:])

    @property
    def step(self) -> int:
        return self.digits[0][1]

    def at(self, start: Num) -> Stream:
        return Stream(self.digits, start)


def placed(digits: Digits, start: Num, step: int) -> tuple[Stream, Num] | None:
    """Return a stream over every `step`-th index from `start`, and the offset of its base.

    None if the boxes of the layout do not hold whole steps.
    """
    counts = [num(count) for count, _ in digits[1:]]
    if not all(isinstance(count, int) for count in counts):
        raise NotNative("a view of several extents that only the running program knows")
    if step == 1:
        return Stream(digits, start), 0
    *outer, (count, stride) = digits
    phase = _phase(num(count), start, step)
    if not outer:
        return Stream(((count, stride * step),), 0, phase), start * stride
    if isinstance(start, int) and count % step == 0:
        first, rest = divmod(start, step)
        return Stream((*outer, (count // step, stride * step)), first, phase), rest * stride
    return None


def _phase(count: Num, start: Num, step: int) -> int | None:
    """Return which one of every `step` indices a window takes; None if the axis ends between."""
    whole = isinstance(count, int) and isinstance(start, int) and count % step == 0
    return start % step if whole and isinstance(start, int) else None


@dataclass(frozen=True)
class Loop:
    """A number of iterations, and the step of each access per iteration in elements."""

    count: Num
    steps: tuple[Num, ...]


@dataclass(frozen=True)
class Rectangle:
    """A part of an axis: loops from outside in, and the first offset of each access."""

    loops: tuple[Loop, ...]
    offsets: tuple[Num, ...]


Streams: TypeAlias = "Sequence[Stream]"


def rectangles(count: Num, streams: Streams) -> list[Rectangle]:
    """Cut `count` indices into rectangles; raise Irregular for an access with an unknown start.

    The rectangles visit every index once, in ascending order unless accesses start at different
    positions in their boxes.
    """
    offsets: list[Num] = []
    placed: list[Stream] = []
    for number, s in enumerate(streams):
        if isinstance(s.start, int) and isinstance(count, int):
            offsets.append(0)
            placed.append(s)
        elif known(s.start % s.width, 0):
            offsets.append((s.start // s.width) * s.step)
            placed.append(s.at(0))
        else:
            raise Irregular(number)
    parts = _static(count, placed) if isinstance(count, int) else _dynamic(count, placed)
    return [_moved(p, offsets) for p in parts]


def _moved(part: Rectangle, offsets: Sequence[Num]) -> Rectangle:
    return Rectangle(part.loops, tuple(a + b for a, b in zip(part.offsets, offsets, strict=True)))


def _widest(streams: Streams) -> int:
    """Return the period of the boxes, which every other width divides."""
    widest = max(s.width for s in streams)
    for number, s in enumerate(streams):
        if widest % s.width:
            raise Irregular(number)
    return widest


def _periods(streams: Streams, period: int) -> tuple[int, ...]:
    """Return the step of each access per period."""
    return tuple(period // s.width * s.step for s in streams)


def _dynamic(count: Num, streams: Streams) -> list[Rectangle]:
    """Return the parts of a run-time count; every access starts at a box boundary."""
    period = _widest(streams)
    nothing = (0,) * len(streams)
    if period == 1:
        return [Rectangle((Loop(count, tuple(s.step for s in streams)),), nothing)]
    full, steps = count // period, _periods(streams, period)
    inner = [Stream(s.digits[1:]) if s.width == period else s for s in streams]
    parts = [Rectangle((Loop(full, steps), *p.loops), p.offsets) for p in _static(period, inner)]
    rest = count % period
    if known(rest, 0):
        return parts
    tail = _dynamic(rest, inner)
    return parts + [_moved(p, [full * step for step in steps]) for p in tail]


def _static(count: int, streams: Streams) -> list[Rectangle]:
    offsets: list[int] = []
    inner: list[Stream] = []
    for s in streams:  # an access that stays in one box walks that box only
        offset, start = 0, s.start
        assert isinstance(start, int)
        while len(s.digits) > 1 and start // s.width == (start + count - 1) // s.width:
            offset += start // s.width * s.step
            start %= s.width
            s = Stream(s.digits[1:])
        offsets.append(offset)
        inner.append(s.at(start))
    return [_moved(p, offsets) for p in _cut(count, inner)]


def _cut(count: int, streams: Streams) -> list[Rectangle]:
    """Cut at box boundaries into a head, whole periods and a tail."""
    if count == 0:
        return []
    period = _widest(streams)
    starts = [_fixed(s) for s in streams]
    if period == 1:
        loop = Loop(count, tuple(s.step for s in streams))
        return [Rectangle((loop,), tuple(a * s.step for a, s in zip(starts, streams, strict=True)))]
    lead = next(a for a, s in zip(starts, streams, strict=True) if s.width == period)
    head = min(-lead % period, count)
    if head:
        return _static(head, streams) + _static(count - head, _shifted(streams, head))
    parts: list[Rectangle] = []
    full, rest = divmod(count, period)
    if full:
        outer = Loop(full, _periods(streams, period))
        parts = [Rectangle((outer, *p.loops), p.offsets) for p in _static(period, streams)]
    return parts + (_static(rest, _shifted(streams, full * period)) if rest else [])


def _fixed(stream: Stream) -> int:
    assert isinstance(stream.start, int)
    return stream.start


def _shifted(streams: Streams, by: int) -> list[Stream]:
    return [s.at(s.start + by) for s in streams]


def nest(rows: Rectangle, cols: Rectangle, order: int | None = 0) -> Rectangle:
    """Return the loops of both axes, sorted by decreasing step of access `order`; None: unsorted.

    Adjacent loops that are contiguous for every access become one loop.
    """
    loops = [x for x in (*rows.loops, *cols.loops) if not known(x.count, 1)]
    if order is not None:
        loops.sort(key=lambda x: _distance(x.steps[order]), reverse=True)
    joined: list[Loop] = []
    for loop in loops:
        if joined and _contiguous(joined[-1], loop):
            joined[-1] = Loop(joined[-1].count * loop.count, loop.steps)
        else:
            joined.append(loop)
    offsets = tuple(a + b for a, b in zip(rows.offsets, cols.offsets, strict=True))
    return Rectangle(tuple(joined), offsets)


def _distance(step: Num) -> float:
    return step if isinstance(step, int) else float("inf")


def _contiguous(outer: Loop, inner: Loop) -> bool:
    if not isinstance(inner.count, int):
        return False
    pairs = zip(outer.steps, inner.steps, strict=True)
    return all(isinstance(a, int) and isinstance(b, int) and a == b * inner.count for a, b in pairs)
