"""Random programs about storage: tiles, views, addresses, loops and branches, little arithmetic.

A program is statements (`Statement`), which `text` writes as a kernel and `Model` runs by itself.
In the model every execution of an allocation gets memory of its own, so nothing shares bytes but
what the program aliases: by a view, or by addresses of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

SPACE = 12 * 2048  # bytes of vec memory: some programs have tiles enough that they must share
ROWS, COLS = 16, 32
LINE = COLS * 4  # bytes of a row
NBYTES = ROWS * LINE
PLACES = 24  # matrices of the output array: each store has one
ITERATIONS = 3  # most iterations of a loop

Statement: TypeAlias = "tuple[Any, ...]"  # Any: a word, then names, numbers, statements
Words: TypeAlias = "NDArray[np.float32]"

HEAD = f"""!full = !pto.tile_buf<vec, {ROWS}x{COLS}xf32>
!half = !pto.tile_buf<vec, {ROWS}x{COLS}xf32, valid={ROWS // 2}x{COLS}>
!open = !pto.tile_buf<vec, {ROWS}x{COLS}xf32, valid={ROWS // 2}x?>
!global = !pto.partition_tensor_view<?x?xf32>
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %a: !full) {{
"""


@dataclass
class Generator:
    """Statements that read only what was written, as far as text order tells."""

    random: Random
    kinds: dict[str, str] = field(default_factory=lambda: {"a": "full"})
    ready: set[str] = field(default_factory=lambda: {"a"})
    reach: list[str] = field(default_factory=lambda: ["a"])  # handles in scope
    loops: list[str] = field(default_factory=list[str])
    names: int = 0
    stores: int = 0
    own: bool = True  # the program places some tiles

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def program(self) -> list[Statement]:
        self.own = self.random.random() < 0.5
        body = list(self.statements(self.random.randint(6, 14 if self.own else 24), 0))
        return [*body, *self.stored()]

    def statements(self, count: int, depth: int) -> Iterator[Statement]:
        makers = (self.alloc, self.alloc, self.add, self.load, self.view, self.view, self.store)
        for _ in range(count):
            draw = self.random.random()
            if draw < 0.22 and depth < 3:
                yield self.region(depth)
            else:
                yield from self.random.choice(makers)()

    def pick(self, kinds: Iterable[str], *, ready: bool) -> str | None:
        some = [h for h in self.reach if self.kinds[h] in kinds and (h in self.ready or not ready)]
        return self.random.choice(some) if some else None

    def address(self) -> tuple[int, int, str] | None:
        """base + step * number: of the program's own; None: placed."""
        draw = self.random.random()
        if draw < 0.6 or not self.own:
            return None
        far = self.random.random() < 0.2
        base = SPACE - NBYTES * self.random.randint(7, 12) if far else 0
        base += 512 * self.random.randint(0, 12)
        if draw < 0.75:
            return base, 0, ""
        return base, 512 * self.random.randint(0, 4), self.random.choice(["n", *self.loops])

    def alloc(self) -> Iterator[Statement]:
        """A new tile with data, now or never, or with another handle at some address."""
        name, kind = self.name("t"), self.random.choice(("full", "full", "half", "open"))
        address = self.address()
        old = self.pick(("full", "half"), ready=False)
        if address and old and self.random.random() < 0.4:
            kind = self.kinds[old]
            yield ("assign", name, old, address)
        else:
            yield ("alloc", name, kind, address)
        self.kinds[name] = kind
        self.reach.append(name)
        if self.random.random() < 0.8:
            self.ready.add(name)
            yield ("load", name, self.random.randint(0, 3))

    def load(self) -> Iterator[Statement]:
        """Into a whole tile: a load pads all of the declared shape, and a subview has less."""
        out = self.pick(("full",), ready=False)
        if out:
            self.ready.add(out)
            yield ("load", out, self.random.randint(0, 3))

    def add(self) -> Iterator[Statement]:
        kinds = self.random.choice((("full",), ("half", "open")))
        left, right = (self.pick(kinds, ready=True) for _ in range(2))
        out = self.pick(kinds, ready=False)
        if left and right and out:
            self.ready.add(out)
            yield ("add", left, right, out)

    def view(self) -> Iterator[Statement]:
        source = self.pick(("full",), ready=True)
        whole = self.random.random() < 0.4
        out = self.pick(("full",) if whole else ("half",), ready=False)
        if source is None or out in (None, "a"):
            return
        self.ready.add(out)
        if whole:
            yield ("reshape", source, out)
        else:
            row = self.random.choice([0, ROWS // 2, *self.loops[-1:]])
            yield ("subview", source, out, row)
            if self.loops and self.random.random() < 0.5:
                yield from self.store()

    def store(self) -> Iterator[Statement]:
        source = self.pick(("full", "half", "open"), ready=True)
        if source and self.stores < PLACES:
            self.stores += 1
            yield ("store", source, self.stores - 1)

    def stored(self) -> Iterator[Statement]:
        for _ in range(8):
            yield from self.store()

    def region(self, depth: int) -> Statement:
        if self.random.random() < 0.6:
            counter = self.name("i")
            self.loops.append(counter)
            count = self.random.choice((0, 1, 2, ITERATIONS, ITERATIONS))
            made = ("loop", counter, count, self.inside(depth))
            self.loops.pop()
            return made
        of, bound = self.random.choice(["n", *self.loops]), self.random.randint(0, ITERATIONS)
        ways = [self.inside(depth) for _ in range(self.random.randint(1, 2))]
        return ("branch", of, bound, *ways)

    def inside(self, depth: int) -> list[Statement]:
        before = set(self.ready), list(self.reach)
        body = list(self.statements(self.random.randint(1, 5), depth + 1))
        self.ready, self.reach = before
        return body


def hoisted(program: list[Statement]) -> list[Statement]:
    """The same with tiles that are placed made first, as front ends do.

    Not those whose handles become views: in a loop a load would pad what the view is of.
    """
    every = [*_flat(program)]
    views = {op[2] for op in every if op[0] in ("reshape", "subview")}
    made = [op for op in every if op[0] == "alloc" and op[3] is None and op[1] not in views]
    return [*made, *_without(made, program)]


def _flat(program: list[Statement]) -> Iterator[Statement]:
    for op in program:
        yield op
        for part in op:
            if isinstance(part, list):
                yield from _flat(cast("list[Statement]", part))


def _without(some: list[Statement], program: Any) -> Any:  # Any: statements, or one part of one
    if not isinstance(program, list):
        return program
    left = (op for op in cast("list[Statement]", program) if op not in some)
    return [tuple(_without(some, part) for part in op) for op in left]


# --- as text ---


def text(program: list[Statement]) -> str:
    """The kernel of a program."""
    numbers = sorted(
        {0, 1, ROWS // 2, ROWS, COLS, ITERATIONS, 2, *range(PLACES), *_numbers(program)}
    )
    lines = [f"  %c{n} = arith.constant {n} : index" for n in numbers]
    return "\n".join([HEAD, *lines, *_lines(program, Names()), "  return", "}"])


@dataclass
class Names:
    """Types by handle, and fresh names."""

    kinds: dict[str, str] = field(default_factory=lambda: {"a": "full"})
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"


def _numbers(program: list[Statement]) -> Iterator[int]:
    for op in program:
        if op[0] in ("alloc", "assign") and op[3]:
            yield from op[3][:2]
        for part in op:
            if isinstance(part, list):
                yield from _numbers(cast("list[Statement]", part))


def _lines(program: list[Statement], names: Names) -> Iterator[str]:
    for op in program:
        yield from _WRITERS[op[0]](names, *op[1:])


def _address(names: Names, address: tuple[int, int, str]) -> tuple[list[str], str]:
    base, step, number = address
    product, total, result = names.fresh(), names.fresh(), names.fresh()
    moved = [
        f"%{product} = arith.muli %{number}, %c{step} : index",
        f"%{total} = arith.addi %{product}, %c{base} : index",
    ]
    source = total if number else f"c{base}"
    cast = f"%{result} = arith.index_cast %{source} : index to i64"
    return [*(moved if number else []), cast], result


def _write_alloc(names: Names, name: str, kind: str, address: Any) -> Iterator[str]:
    names.kinds[name] = kind
    given = f"valid_col = %c{COLS}" if kind == "open" else ""
    if address is not None:
        before, result = _address(names, address)
        yield from before
        given = f"addr = %{result} {given}"
    yield f"%{name} = pto.alloc_tile {given} : !{kind}"


def _write_assign(names: Names, name: str, old: str, address: Any) -> Iterator[str]:
    kind = names.kinds[name] = names.kinds[old]
    before, result = _address(names, address)
    yield from before
    yield f"%{name} = pto.tassign %{old}, %{result} : !{kind} -> !{kind}"


def _part(names: Names, array: str, matrix: int, handle: str) -> tuple[list[str], str]:
    """A view of one matrix of an array, as large as the tile."""
    rows = ROWS if names.kinds[handle] == "full" else ROWS // 2
    view, part = names.fresh(), names.fresh()
    count = PLACES * ROWS
    return [
        f"%{part}_r = arith.constant {matrix * ROWS} : index",
        f"%{view}_h = arith.constant {count} : index",
        f"%{view} = pto.make_tensor_view %{array}, shape = [%{view}_h, %c{COLS}], "
        f"strides = [%c{COLS}, %c1] : !pto.tensor_view<?x?xf32>",
        f"%{part} = pto.partition_view %{view}, offsets = [%{part}_r, %c0], "
        f"sizes = [%c{rows}, %c{COLS}] : !pto.tensor_view<?x?xf32> -> !global",
    ], part


def _write_load(names: Names, name: str, matrix: int) -> Iterator[str]:
    before, part = _part(names, "x", matrix, name)
    yield from before
    yield f"pto.tload ins(%{part} : !global) outs(%{name} : !{names.kinds[name]})"


def _write_store(names: Names, name: str, matrix: int) -> Iterator[str]:
    before, part = _part(names, "y", matrix, name)
    yield from before
    yield f"pto.tstore ins(%{name} : !{names.kinds[name]}) outs(%{part} : !global)"


def _write_add(names: Names, left: str, right: str, out: str) -> Iterator[str]:
    kinds = [f"!{names.kinds[n]}" for n in (left, right, out)]
    yield f"pto.tadd ins(%{left}, %{right} : {kinds[0]}, {kinds[1]}) outs(%{out} : {kinds[2]})"


def _write_reshape(names: Names, source: str, out: str) -> Iterator[str]:
    yield f"pto.treshape ins(%{source} : !full) outs(%{out} : !full)"


def _write_subview(names: Names, source: str, out: str, row: int | str) -> Iterator[str]:
    index = f"c{row}"
    if isinstance(row, str):
        first, index = names.fresh(), names.fresh()
        yield f"%{first} = arith.muli %{row}, %c{ROWS // 2} : index"
        yield f"%{index} = arith.minsi %{first}, %c{ROWS // 2} : index"
    yield f"pto.subview ins(%{source}, %{index} : !full, index) outs(%{out} : !half)"


def _write_loop(names: Names, counter: str, count: int, body: list[Statement]) -> Iterator[str]:
    yield f"scf.for %{counter} = %c0 to %c{count} step %c1 {{"
    yield from _lines(body, names)
    yield "}"


def _write_branch(names: Names, of: str, bound: int, *ways: list[Statement]) -> Iterator[str]:
    condition = names.fresh()
    yield f"%{condition} = arith.cmpi slt, %{of}, %c{bound} : index"
    yield f"scf.if %{condition} {{"
    yield from _lines(ways[0], names)
    if len(ways) > 1:
        yield "} else {"
        yield from _lines(ways[1], names)
    yield "}"


_WRITERS: dict[str, Any] = {  # Any: each takes what its statement has
    "alloc": _write_alloc,
    "assign": _write_assign,
    "load": _write_load,
    "store": _write_store,
    "add": _write_add,
    "reshape": _write_reshape,
    "subview": _write_subview,
    "loop": _write_loop,
    "branch": _write_branch,
}


# --- the model ---


class Unwritten(Exception):
    """The program reads what was never written."""


@dataclass(eq=False)
class Instance:
    """The storage that one execution of an allocation made. Times count instructions."""

    END: ClassVar[int] = 1 << 62

    name: str
    words: Words
    address: int | None  # the program's own
    writes: list[tuple[int, range]] = field(default_factory=list[tuple[int, range]])  # of rows
    reads: list[tuple[int, range]] = field(default_factory=list[tuple[int, range]])

    def needed(self) -> Iterator[tuple[int, int, int]]:
        """Rows, from a write to the last read before the row is written again."""
        for row in range(ROWS):
            written = [time for time, rows in self.writes if row in rows]
            read = [time for time, rows in self.reads if row in rows]
            for start, stop in pairwise([*written, self.END]):
                last = max((time for time in read if start < time <= stop), default=start)
                yield row, start, last


def overwrites_needed(one: Instance, start: int, other: Instance, begin: int) -> bool:
    """Whether one at an address writes what the other at another address holds and is read yet.

    Of two at one address an instruction may write the one over what it reads of the other.
    """
    for row, first, last in other.needed():
        at = begin + row * LINE
        for time, rows in one.writes if first < last else ():
            low, high = start + rows.start * LINE, start + rows.stop * LINE
            before = time < last or (time == last and start != begin)
            if first < time and before and low < at + LINE and at < high:
                return True
    return False


@dataclass
class Handle:
    """Where a handle points: words of a storage."""

    of: Instance
    kind: str
    row: int = 0

    @property
    def rows(self) -> range:
        return range(self.row, self.row + (ROWS if self.kind == "full" else ROWS // 2))

    @property
    def words(self) -> Words:
        return self.of.words[self.rows.start : self.rows.stop]


class Model:
    """Runs a program; NaN stands for what was never written."""

    def __init__(self, x: Words, n: int, a: Words) -> None:
        self.x, self.y = x, np.full((PLACES * ROWS, COLS), np.nan, np.float32)
        self.memory = np.full(SPACE // 4, np.nan, np.float32)  # at addresses of the program's own
        self.numbers = {"n": n}
        self.time = 0
        first = Instance("a", a.copy(), None, [(0, range(ROWS))], [(Instance.END, range(ROWS))])
        self.instances = [first]
        self.handles = {"a": Handle(first, "full")}

    def run(self, program: list[Statement]) -> None:
        for op in program:
            self.time += 1
            getattr(self, op[0])(*op[1:])

    def alloc(self, name: str, kind: str, address: Any) -> None:
        if address is None:
            words, at = np.full((ROWS, COLS), np.nan, np.float32), None
        else:
            base, step, number = address
            at = base + step * self.numbers.get(number, 0)
            words = self.memory[at // 4 : at // 4 + ROWS * COLS].reshape(ROWS, COLS)
        self.instances.append(Instance(name, words, at))
        self.handles[name] = Handle(self.instances[-1], kind)

    def assign(self, name: str, old: str, address: Any) -> None:
        self.alloc(name, self.handles[old].kind, address)

    def get(self, name: str) -> Words:
        handle = self.handles[name]
        handle.of.reads.append((self.time, handle.rows))
        if np.isnan(handle.words).any():
            raise Unwritten
        return handle.words.copy()

    def put(self, name: str, value: Words) -> None:
        handle = self.handles[name]
        handle.words[:] = value
        handle.of.writes.append((self.time, handle.rows))

    def load(self, name: str, matrix: int) -> None:
        """The whole tile is padded."""
        rows = len(self.handles[name].words)
        self.handles[name].of.words[:] = 0
        self.handles[name].of.writes.append((self.time, range(ROWS)))
        self.put(name, self.x[matrix * ROWS : matrix * ROWS + rows])

    def store(self, name: str, matrix: int) -> None:
        value = self.get(name)
        self.y[matrix * ROWS : matrix * ROWS + len(value)] = value

    def add(self, left: str, right: str, out: str) -> None:
        self.put(out, self.get(left) + self.get(right))

    def reshape(self, source: str, out: str) -> None:
        self.handles[out] = Handle(self.handles[source].of, "full", self.handles[source].row)

    def subview(self, source: str, out: str, row: int | str) -> None:
        if isinstance(row, str):
            row = min(self.numbers[row] * (ROWS // 2), ROWS // 2)
        self.handles[out] = Handle(self.handles[source].of, "half", self.handles[source].row + row)

    def loop(self, counter: str, count: int, body: list[Statement]) -> None:
        for self.numbers[counter] in range(count):
            self.run(body)

    def branch(self, of: str, bound: int, *ways: list[Statement]) -> None:
        chosen = 0 if self.numbers[of] < bound else 1
        if chosen < len(ways):
            self.run(ways[chosen])
