"""Vector loads: contiguous, broadcast, strided, transposed, or from computed addresses."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from ptokit.engines.kernels.lanes import Lanes, element
from ptokit.engines.kernels.walk import Access, LanePositions, address, load_line, parted, plus
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Code, Int, NotNative, Num, text
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL
from ptokit.values.layouts import IndexMap, known


class Loads:
    """The generator of instructions that read an access at a point."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def load(self, access: Access, point: LanePositions) -> str:
        """Return the lanes of an access."""
        if access in point.transposed:
            return point.transposed[access]
        if (access, point.lanes) in point.held:
            return point.held[access, point.lanes]
        lanes = Lanes(self.code, point.lanes)
        if access.at is not None:
            offsets = self._offsets(access, point, lanes)
            if access.each > 1:
                offsets, _ = lanes.divided("i64", offsets, access.each)
            return self.fetch(access, offsets, lanes)
        if access.each > 1:
            return self._repeated(access, point, lanes)
        position, step = point.positions[access], point.steps[access]
        if not access.pointer:
            return self._count(position, step, lanes, element(access.dtype))
        kind = element(access.dtype)
        if access.dtype.packed:
            return self._nibble(access, position)
        if point.lanes == 1 or known(step, 0):
            return lanes.spread(kind, self._one(access, position))
        if known(step, 1):
            return self._line(access, position, lanes)
        if isinstance(step, int) and 1 < step <= 4 and kind != "i1":
            return self._sampled(access, position, step, lanes)
        return self._picked(access, position, step, lanes)

    def _repeated(self, access: Access, point: LanePositions, lanes: Lanes) -> str:
        """Return elements that are repeated: a few are loaded and spread over the lanes."""
        position, step, times = point.positions[access], point.steps[access], access.each
        kind, together = element(access.dtype), min(times, lanes.count)
        multiple = position if isinstance(position, int) else position.multiple
        if not known(step, 1) or multiple % together:
            places = ((position + number * step) // times for number in range(lanes.count))
            return lanes.vector(kind, (self._one(access, p) for p in places))
        few = Lanes(self.code, lanes.count // together)
        if few.count == 1:
            return lanes.spread(kind, self._one(access, position // times))
        picks = [lane // times for lane in range(lanes.count)]
        if access.dtype is not BOOL:
            part = load_line(self.code, access, position // times, few.count)
            return few.shuffle(kind, part, "poison", picks)
        part = load_line(self.code, replace(access, dtype=t.u8), position // times, few.count)
        octets = few.shuffle("i8", part, "poison", picks)
        return lanes.op("icmp ne", "i8", octets, lanes.splat("i8", "0"))

    def _line(self, access: Access, position: Num, lanes: Lanes) -> str:
        """Return contiguous elements; a truth value is stored as a byte."""
        if access.dtype is not BOOL:
            return load_line(self.code, access, position, lanes.count)
        octets = load_line(self.code, replace(access, dtype=t.u8), position, lanes.count)
        return lanes.op("icmp ne", "i8", octets, lanes.splat("i8", "0"))

    def _one(self, access: Access, position: Num) -> str:
        where = address(self.code, access, position)
        if access.dtype is BOOL:
            byte = self.code.let(f"load i8, ptr {where}")
            return self.code.let(f"icmp ne i8 {byte}, 0")
        return load_line(self.code, access, position, 1)

    def _count(self, position: Num, step: Num, lanes: Lanes, kind: str = "i64") -> str:
        if isinstance(step, int) and step in (0, 1):
            if isinstance(position, int) and step == 0:
                return lanes.splat(kind, text(position))
            begin, more = parted(position)
            first = text(begin)
            if kind != "i64":
                first = self.code.let(f"trunc i64 {first} to {kind}")
            return lanes.counted(kind, first, more, step)
        raise NotNative("row numbers that are apart")

    def _nibble(self, access: Access, position: Num) -> str:
        byte = self.code.let(f"load i8, ptr {self._byte(access, position)}")
        if isinstance(position, int):
            shift = str(4 * (position % 2))
        else:
            shift = self.code.let(f"trunc i64 {text((position % 2) * 4)} to i8")
        return self.code.let(f"and i8 {self.code.let(f'lshr i8 {byte}, {shift}')}, 15")

    def _byte(self, access: Access, position: Num) -> str:
        return self.code.let(f"getelementptr i8, ptr {access.pointer}, i64 {text(position // 2)}")

    def _picked(self, access: Access, position: Num, step: Num, lanes: Lanes) -> str:
        """Return lanes with a large stride, loaded one by one."""
        places = (position + number * step for number in range(lanes.count))
        return lanes.vector(element(access.dtype), (self._one(access, p) for p in places))

    def _sampled(self, access: Access, position: Num, step: int, lanes: Lanes) -> str:
        """Return every `step`-th element: whole vector loads, then shuffles."""
        count, kind = lanes.count, element(access.dtype)
        phases = [s.phase for s in (access.rows, access.cols) if s.phase is not None]
        whole = len(phases) == 1  # then both neighbours' samples come from the same loads
        phase, last = (phases[0], count * step - 1) if whole else (0, (count - 1) * step)
        first = plus(position, -phase)
        bases = [min(n * count, last + 1 - count) for n in range(step)]
        parts = [load_line(self.code, access, plus(first, base), count) for base in bases]
        places, result = [lane * step + phase for lane in range(count)], parts[0]
        for number in range(1, step):
            picks = [
                lane if place < number * count else count + place - bases[number]
                for lane, place in enumerate(places)
            ]
            if number == 1:
                picks = [places[p] if p < count else p for p in picks]
            picks = [p if p < 2 * count else count for p in picks]  # later parts replace it
            result = lanes.shuffle(kind, result, parts[number], picks)
        return result

    def position(self, access: Access, point: LanePositions, lanes: Lanes) -> Num:
        """Return the position of a single element, walked or computed."""
        if access.at is None:
            return point.positions[access]
        assert lanes.count == 1
        return Int(self.code, self._offsets(access, point, lanes))

    def _offsets(self, access: Access, point: LanePositions, lanes: Lanes) -> str:
        """Return the storage offsets of an irregular access, from its row and column."""
        assert access.at is not None
        total = lanes.spread("i64", text(access.offset)) if not known(access.offset, 0) else ""
        for place, stream in zip(access.at, (access.rows, access.cols), strict=True):
            index = self._count(point.positions[place], point.steps[place], lanes)
            if not known(stream.start, 0):
                constant = isinstance(stream.start, int)
                start = (lanes.splat if constant else lanes.spread)("i64", text(stream.start))
                index = lanes.op("add", "i64", index, start)
            part = self.along(stream.digits, index, lanes)
            total = lanes.op("add", "i64", total, part) if total else part
        return total

    def offsets(self, cells: Elements, over: tuple[int, int], index: str, lanes: Lanes) -> str:
        """Return the storage offsets of row-major indices into a static shape."""
        (rows, cols), where = over, cells.map
        if in_row_order(where, over):
            return index
        if rows == 1:
            return self.along(where.cols.digits, index, lanes)
        row, col = lanes.divided("i64", index, cols)
        across = self.along(where.cols.digits, col, lanes)
        return lanes.op("add", "i64", across, self.along(where.rows.digits, row, lanes))

    def along(self, digits: Any, index: str, lanes: Lanes) -> str:  # Any: of Nums
        """Return the storage offsets of indices along one axis."""
        parts: list[str] = []
        for number, (_, step) in enumerate(digits):
            width = prod(count for count, _ in digits[number + 1 :])
            digit = index
            if width > 1:
                digit, index = lanes.divided("i64", index, width)
            constant = lanes.splat("i64", text(step)) if isinstance(step, int) else None
            factor = constant or lanes.spread("i64", text(step))
            parts.append(digit if known(step, 1) else lanes.op("mul", "i64", digit, factor))
        total = parts[0]
        for part in parts[1:]:
            total = lanes.op("add", "i64", total, part)
        return total

    def fetch(self, access: Access, offsets: str, lanes: Lanes) -> str:
        """Return the elements at these offsets from the pointer of an access."""
        if access.dtype.packed:
            assert lanes.count == 1
            return self._nibble(access, Int(self.code, offsets))

        def one(number: int) -> str:
            place = offsets
            if lanes.count > 1:
                extract = f"extractelement {lanes.type('i64')} {offsets}, i64 {number}"
                place = self.code.let(extract)
            return self._one(access, Int(self.code, place))

        return lanes.vector(element(access.dtype), map(one, range(lanes.count)))


def in_row_order(where: IndexMap, over: tuple[int, int]) -> bool:
    """Return whether the row-major index of an element is its storage offset."""
    rows, cols = where.rows.digits, where.cols.digits
    return len(rows) == len(cols) == 1 and cols[0][1] == 1 and rows[0][1] == over[1]
