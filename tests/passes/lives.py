"""How long tiles live, by the text of a program alone: an oracle for placement.

A tile lives from the line that makes it to the last line that names it or a view of it, and to the
end of each loop around that line that does not hold the first. Arguments live all the time. A tile
whose handle becomes a view of something else lives on the line that makes it: what is said to live
does. What is only scratch, of instructions that do without it on the chip, does not live.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, RECEIVES, Trait
from ptokit.isa.model.targets import SPACES, Target

LOOPS = ("scf.for", "scf.while", "scf.parallel")
LINE = 32


@dataclass(frozen=True)
class Life:
    """One tile: its memory and bytes, its lines, and the pipes of its first and its last use."""

    name: str
    space: str
    start: int | None  # None: no address is written
    nbytes: int
    first: int
    last: int
    pipes: tuple[object, object] = (None, None)
    allocated: bool = False  # and no argument, of no pipe, at no computed address

    @property
    def size(self) -> int:
        return -(-self.nbytes // LINE) * LINE

    def lives_with(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last

    def shares(self, other: Life) -> bool:
        assert self.start is not None
        assert other.start is not None
        return self.start < other.start + other.nbytes and other.start < self.start + self.nbytes


class Lines:
    """The ops of a function by number, and the loops around each."""

    def __init__(self, func: Func) -> None:
        self.number: dict[AnyOp, int] = {}
        self.end: dict[AnyOp, int] = {}
        self.around: dict[AnyOp, tuple[AnyOp, ...]] = {}
        self._block(func.body.ops, ())

    def _block(self, ops: list[AnyOp], loops: tuple[AnyOp, ...]) -> None:
        for op in ops:
            self.number[op], self.around[op] = len(self.number), loops
            inside = (*loops, op) if op.name in LOOPS else loops
            for region in op.regions:
                self._block(region.ops, inside)
            self.end[op] = len(self.number) - 1

    def until(self, made: AnyOp, used: AnyOp) -> int:
        """The last line of a life that begins at `made` and has a use there."""
        outer = [op for op in self.around[used] if op not in self.around[made]]
        return self.end[outer[0]] if outer else self.end[used]


def roots(func: Func) -> dict[Value, Value | None]:
    """The tile that each view is of; None for handles that are of one tile first, then another."""
    of: dict[Value, Value | None] = {}
    seen: set[Value] = set()
    for op in func.body.walk():
        if isinstance(op, Op) and ALIASES in op.page.traits:
            (source,) = op.bound(op.page.ins()[0].name)
            (out,) = op.bound(op.page.outs()[0].name) or op.results
            of[out] = None if out in seen else of.get(source, source)
        elif isinstance(op, Op) and ALLOCATES not in op.page.traits and not op.regions:
            tiles = [v for _, v in op.values() if hasattr(v.type, "loc")]
            of |= {r: of.get(tiles[0], tiles[0]) for r in op.results if tiles}
        seen |= {v for _, v in op.values()} if isinstance(op, Op) else set()
    return of


def lives(func: Func, target: Target, addresses: Mapping[Value, int]) -> list[Life]:
    """The lives of the tiles that a function in DPS form allocates."""
    lines, of = Lines(func), roots(func)
    made = {op.results[0]: op for op in lines.number if allocates(op, ALLOCATES, RECEIVES)}
    uses: dict[Value, list[Op]] = {value: [] for value in made}
    for op in lines.number:
        if isinstance(op, Op):
            for value in {of.get(v, v) for _, v in op.values()}:
                if value in made:
                    uses[value].append(op)
    found: list[Life] = []
    for value in (*func.args, *made):
        kind: Any = target.resolve_any(value.type)  # Any: a tile
        if not hasattr(kind, "loc") or (uses.get(value) and idle(value, uses[value], target)):
            continue
        life, ends = (-1, len(lines.number)), (None, None)
        if value in made:
            until = (lines.until(made[value], op) for op in uses[value])
            life = lines.number[made[value]], max(until, default=lines.number[made[value]])
            pipes = [pipe_of(op) for op in uses[value] if op.page.executes]
            ends = (pipes[0], pipes[-1]) if pipes else ends
        where = value.name, SPACES[kind.loc], addresses.get(value), kind.nbytes
        own = value in made and allocates(made[value]) and not computed(made[value], addresses)
        found.append(Life(*where, *life, ends, own))
    return found


def idle(value: Value, uses: list[Op], target: Target) -> bool:
    """Whether a tile is only scratch that its instructions do without."""
    chips = (op.page.operand(n).idle for op in uses for n, v in op.values() if v is value)
    return all(target.follows(each) for each in chips)


def computed(op: AnyOp, addresses: Mapping[Value, int]) -> bool:
    """Whether the program gives a tile an address that only the run knows."""
    given = isinstance(op, Op) and op.bound("addr")
    return bool(given) and op.results[0] not in addresses


def allocates(op: AnyOp, *ways: Trait) -> bool:
    """Whether an op makes a tile: by itself, or in one of these ways."""
    traits = op.page.traits if isinstance(op, Op) else ()
    return any(way in traits for way in ways or (ALLOCATES,)) and hasattr(op.results[0].type, "loc")


def pipe_of(op: Op) -> object:
    """The pipe of an instruction, as its page says for the locations of its operands."""
    return op.page.pipe_of({name: value.type for name, value in op.values()})


def most_live(found: list[Life]) -> int:
    """The largest sum of bytes that live at one time, of the tiles of one memory."""
    return max(
        (sum(o.size for o in found if o.first <= t.first <= o.last) for t in found), default=0
    )


def pairs(found: list[Life]) -> Iterator[tuple[Life, Life]]:
    """Tiles of one memory at addresses, two at a time, the earlier first."""
    placed = [life for life in found if life.start is not None]
    for n, later in enumerate(placed):
        yield from ((one, later) for one in placed[:n] if one.space == later.space)


def by_memory(found: list[Life]) -> dict[str, list[Life]]:
    """The tiles of each memory."""
    return {space: [o for o in found if o.space == space] for space in {o.space for o in found}}
