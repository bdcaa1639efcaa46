"""One instruction under both engines: the same operands in the same memories, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, TypeAlias

import numpy as np
from operands import (
    STYLES,
    Bytes,
    content,
    family,
    numbers,
    parameters,
    random_bytes,
    sample,
    varied,
)
from space import REGISTERS, Placed, Space, State
from witness import HARDEST, Walk, refusals

from fuzz.scale import sampled
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import call, environment
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES, TARGETS
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import INDEX
from ptokit.machine.execute import Core
from ptokit.machine.memory import WRITTEN, Memory
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Tile
from ptokit.values.enumerations import SCALING
from ptokit.values.fixpipe import CPU_READING, HARDWARE_READING

Given: TypeAlias = "dict[str, Any]"  # Any: types, numbers, words
Said: TypeAlias = "list[tuple[str, str, str | None]]"

PLACES = ("apart", "same", "over", "own", "part")  # where a tile lies; see `_Layout`
ARRAYS = ("packed", "padded", "short")  # how a global array is laid out
LINE = 32
SETTINGS = ("given", *REGISTERS)


@dataclass(frozen=True)
class Case:
    """An instruction: what it is given, where that lies, and what the memories hold."""

    page: type[Instr]
    target: str
    given: Mapping[str, Any]  # Any: see Given
    place: str = "apart"
    array: str = "packed"
    styles: tuple[str, ...] = ("bytes",)  # for the operands in turn
    holes: int = 0  # pieces of tiles that were never written
    seed: int = 0
    hardware: bool = False  # the reading of the fix-pipe
    registers: bool = True  # hold what the operands say

    def __str__(self) -> str:
        facts = {k: v for k, v in vars(self).items() if k not in ("page", "given")}
        operands = [f"{k}={v!s} ({v!r})" for k, v in self.given.items() if v is not None]
        return "\n  ".join([self.page.__name__, str(facts), *operands])


@dataclass
class Side:
    """A core with the operands of a case on it."""

    core: Core
    handles: Given
    arrays: dict[str, Memory]

    def memories(self) -> Iterator[tuple[str, Memory]]:
        for name in dict.fromkeys(SPACES.values()):
            yield name, self.core.space_named(name)
        yield from self.arrays.items()


class _Layout:
    """An address for each tile of a case in its memory, or a memory of its own."""

    def __init__(self, case: Case, random: Random) -> None:
        self.case, self.random = case, random
        self.capacity = TARGETS[case.target].capacity
        self.found: dict[str, tuple[str, int, Any]] = {}  # memory, address, a type around
        for name, kind in case.given.items():
            inner = kind.kind if isinstance(kind, Placed) else kind
            if isinstance(inner, TileType | ConvTileType):
                address = kind.address if isinstance(kind, Placed) else None
                self.found[name] = self._place(name, inner, address)

    def _place(
        self, name: str, kind: TileType | ConvTileType, address: int | None
    ) -> tuple[str, int, Any]:
        space, around = SPACES[kind.loc], kind
        if self.case.place == "part" and isinstance(kind, TileType) and whole_boxes(kind):
            around = surrounding(kind)
        others = [(a, k) for s, a, k in self.found.values() if s == space]
        if address is None:
            address = self._address(others)
        if self.case.place == "own" or address + around.nbytes > self.capacity[space]:
            return f"{space} for {name}", 0, around
        return space, address, around

    def _address(self, others: list[tuple[int, Any]]) -> int:
        if others and self.case.place in ("same", "over"):
            address, kind = others[-1]
            if self.case.place == "same":
                return address
            lines = -(-kind.nbytes // LINE)
            near = self.random.choice((1, 2, lines // 2, lines - 1, -1, -(lines // 2)))
            return max(0, address + near * LINE)
        end = max((a + k.nbytes for a, k in others), default=0)
        return (-(-end // LINE) + self.random.choice((0, 0, 1, 5))) * LINE


def whole_boxes(kind: TileType) -> bool:
    """Whether the tile can be a window: where its tile has boxes, it starts and ends on one."""
    rows, cols = kind.box
    return not kind.boxed or kind.rows % (rows or 1) == kind.cols % (cols or 1) == 0


def surrounding(kind: TileType) -> TileType:
    """A tile twice as large that `kind` is the last quarter of."""
    return replace(kind, rows=2 * kind.rows, cols=2 * kind.cols)


def build(case: Case, *, filled: bool = True) -> Side:
    """A core whose memories hold random bytes, and handles on it; the same each time."""
    random = Random(case.seed)
    target = TARGETS[case.target]
    core = Core(target, HARDWARE_READING if case.hardware else CPU_READING)
    side = Side(core, {}, {})
    places = _Layout(case, random).found
    for name in dict.fromkeys(SPACES.values()):
        core.space_named(name).shadow[:] = WRITTEN
    noise = np.random.default_rng(case.seed)
    for name, kind in case.given.items():
        if name in places:
            side.handles[name] = _tile(side, kind, *places[name])
        elif isinstance(kind, GlobalType):
            side.handles[name] = _view(side, name, kind, random, short=case.array == "short")
        elif kind is not None:
            side.handles[name] = kind
    if filled:
        for _, memory in side.memories():
            memory.data[:] = _piece(noise, memory.size)
        _fill(case, side, noise)
    _punch(case, side, random)
    if case.registers:
        _set_registers(case, side)
    return side


@cache
def _noise() -> Bytes:
    """Random bytes, more than memories have: to draw new ones for each case costs more than it."""
    return random_bytes(np.random.default_rng(0), 4 << 20)


def _piece(random: np.random.Generator, count: int) -> Bytes:
    spare = _noise().size - count
    if spare <= 0:
        return random_bytes(random, count)
    start = int(random.integers(0, spare))
    return _noise()[start : start + count]


def _tile(side: Side, kind: Any, where: str, address: int, around: Any) -> Matrix:
    kind = kind.kind if isinstance(kind, Placed) else kind
    if where in SPACES.values():
        memory = side.core.space_named(where)
    else:
        memory = side.arrays[where] = Memory.blank("tile", around.nbytes)
        memory.shadow[:] = WRITTEN
    if isinstance(kind, ConvTileType):
        return ConvTile(kind, memory, address)
    if around is kind:
        return Tile(kind, memory, address)
    return Tile(around, memory, address).part(kind, kind.rows, kind.cols)


def _view(side: Side, name: str, kind: GlobalType, random: Random, *, short: bool) -> GlobalView:
    """A view at some place of an array that ends behind it, or too soon."""
    origin = random.choice((0, 0, 1, 16, 37))
    assert kind.stride is not None
    steps = zip(kind.shape, kind.stride, strict=True)
    count = origin + 1 + sum(((n or 1) - 1) * (s or 0) for n, s in steps)
    count += random.choice((-1, -(count // 2)) if short else (0, 3, 64))
    memory = Memory(name, np.zeros(kind.dtype.nbytes(count), np.uint8), written=True)
    side.arrays[name] = memory
    return GlobalView(kind, memory, origin)


def _fill(case: Case, side: Side, noise: np.random.Generator) -> None:
    """What the operands hold, over the random bytes."""
    matrices = [(n, h) for n, h in side.handles.items() if isinstance(h, Matrix)]
    for number, (_, handle) in enumerate(matrices):
        style = case.styles[number % len(case.styles)]
        other = matrices[noise.integers(0, len(matrices))][1]
        below = max(1, other.extent.rows * other.extent.cols)
        memory, dtype = handle.memory, handle.dtype
        if isinstance(handle, GlobalView) or handle.memory.name == "tile":
            first, last = 0, memory.size
        else:
            first, last = handle.elements.address, handle.elements.address + handle.type.nbytes
        count = (last - first) * 8 // dtype.bits
        if handle.type.size == 8 and getattr(handle.type, "loc", None) is SCALING:
            raw = parameters(count, noise)
        else:
            raw = content(style, dtype, count, below, noise)
        memory.data[first : first + raw.size] = raw


def _punch(case: Case, side: Side, random: Random) -> None:
    """Holes: bytes of tiles that were never written."""
    tiles = [h for h in side.handles.values() if isinstance(h, Tile | ConvTile)]
    for _ in range(case.holes if tiles else 0):
        tile = random.choice(tiles)
        first, count = tile.elements.address, tile.type.nbytes
        start = random.randrange(count)
        size = random.choice((count, LINE, 1, 8))
        tile.memory.shadow[first + start : first + min(count, start + size)] = 0


def _set_registers(case: Case, side: Side) -> None:
    if case.page.needs is not None:
        side.core.state.registers |= call(case.page.needs, _available(case, side))


def _available(case: Case, side: Side) -> Given:
    page = case.page
    defaults = {f.name: f.default for f in (*page.operands, *page.attrs) if not f.required}
    return {**defaults, **side.handles}


def legal(case: Case) -> bool:
    """Whether every rule of the target holds of the operands where they lie."""
    side = build(case, filled=False)
    operands = {o.name: side.handles.get(o.name) for o in case.page.operands}
    env = environment(case.page, operands, side.handles, TARGETS[case.target])
    rules = [r for r in case.page.rules_on(TARGETS[case.target]) if r.required]
    return all(rule.holds(env) is not False for rule in rules)


def case_of(space: Space, state: State, random: Random, **how: Any) -> Case:  # Any: see Case
    """A case of operands as the search finds them, with numbers as programs give them."""
    given = space.built(state)
    for operand in space.page.operands:
        value = given.get(operand.name)
        if isinstance(value, int):
            given[operand.name] = numbers(given, random, operand.name, value, operand.scalar)
    if how.get("array") == "padded":
        given = {
            n: _padded(v, random) if isinstance(v, GlobalType) else v for n, v in given.items()
        }
    return Case(space.page, space.target.name, given, **how)


@cache
def targets(page: type[Instr]) -> list[str]:
    """The targets that have the instruction, the strictest first."""
    return [t for t in HARDEST if not refusals(page, t)]


def drawn(page: type[Instr], number: int) -> Case:
    """One of a row of cases, the same each time; where operands may not lie so, they lie apart."""
    every, random = targets(page), Random(f"{page.__name__} case {number}")
    target = every[number % len(every)]
    state = varied(page, target, number // len(every))
    case = case_of(
        *(family(page, target).space, state, random),
        place=random.choice(PLACES),
        array=random.choice(ARRAYS),
        styles=tuple(random.choices(STYLES, k=random.randint(1, 3))),
        holes=random.choice((0, 0, 0, 0, 1, 2)),
        seed=random.getrandbits(30),
        hardware=random.random() < 0.5,
        registers=random.random() < 0.7,
    )
    return case if legal(case) else replace(case, place="apart")


def worded(page: type[Instr]) -> Iterator[Case]:
    """A case for each word of an attribute, and for another value of each setting.

    On all targets; in a sample on the strictest. Random cases seldom have unusual words.
    """
    words, outs = {attr.name for attr in page.attrs}, {out.name for out in page.outs()}
    for target in sampled(targets(page), 3):
        kin, random = family(page, target), Random(f"{page.__name__} {target} words")
        for (name, word), domain in kin.space.domains.items():
            if name not in words and (name not in outs or word != "pad") and word not in SETTINGS:
                continue
            taken = 0
            for value in domain:
                walk = Walk.holding(kin.found, sample(page, target, 0), random)
                if value == walk.state[name, word] or not walk.stays({(name, word): value}):
                    continue
                how = {"styles": ("ordinary", "edges"), "seed": random.getrandbits(30)}
                case = case_of(kin.space, dict(walk.state), random, **how)
                if (name in words or not taken) and legal(case):
                    taken += 1
                    yield case


def _padded(kind: GlobalType, random: Random) -> GlobalType:
    """The same extents with gaps between them."""
    steps: list[int] = []
    step = random.choice((1, 1, 1, 2, 3))
    for extent in reversed(kind.shape):
        steps.insert(0, step)
        step = (extent or 1) * step + random.choice((0, 0, 1, 16))
    return replace(kind, stride=tuple(steps))


# --- the law ---


def instruction(case: Case, side: Side) -> tuple[Op, dict[Value, Any]]:
    """The op, and the handles and numbers of its operands."""
    op, env = Op(case.page), dict[Value, Any]()
    for operand in case.page.operands:
        handle = side.handles.get(operand.name)
        if handle is not None:
            value = Value(operand.name, getattr(handle, "type", INDEX))
            op.operands[operand.name], env[value] = value, handle
            if isinstance(handle, Matrix):
                handle.label = f"%{operand.name}"
    names = {a.name for a in case.page.attrs}
    op.attrs = {n: v for n, v in case.given.items() if n in names and v is not None}
    return op, env


@dataclass
class Outcome:
    """What an engine did: what it said, and what everything held afterwards."""

    said: Said
    side: Side


def outcome(case: Case, engine: Any) -> Outcome:  # Any: an engine's `run_op`
    side = build(case)
    op, env = instruction(case, side)
    try:
        engine(op, env, side.core)
    except PtoError as problem:
        return Outcome([(d.slug, d.message, d.seen) for d in problem.diagnostics], side)
    side.handles |= {v.name: h for v, h in env.items()}
    return Outcome([], side)


def differences(expected: Outcome, got: Outcome) -> Iterator[str]:
    """How two outcomes differ."""
    if expected.said != got.said:
        yield f"the reference says {expected.said}, the native engine {got.said}"
    if expected.said or got.said:
        return
    for (name, first), (_, second) in zip(
        expected.side.memories(), got.side.memories(), strict=True
    ):
        if not np.array_equal(first.data, second.data):
            yield f"{name}: {_bytes(first.data, second.data, expected.side)}"
    for name, handle in expected.side.handles.items():
        if isinstance(handle, Tile):
            other = got.side.handles[name].elements
            mine = handle.elements
            if (mine.address, mine.map, mine.origin) != (other.address, other.map, other.origin):
                yield f"{name} views {mine.address}, with the native engine {other.address}"


def _bytes(expected: Bytes, got: Bytes, side: Side) -> str:
    at = np.flatnonzero(expected != got)
    first = int(at[0])
    low = first - first % 4
    inside = [
        f"{name}+{first - h.elements.address}"
        for name, h in side.handles.items()
        if isinstance(h, Tile | ConvTile) and 0 <= first - h.elements.address < h.type.nbytes
    ]
    return (
        f"{at.size} bytes differ, the first at {first} ({', '.join(inside)}): the reference has "
        f"{expected[low : low + 4].tobytes().hex()}, the native engine "
        f"{got[low : low + 4].tobytes().hex()}"
    )
