"""Edges between pipes: the places of a set and of a wait for a flag, and their insertion.

An edge lies in one block: a loop or a branch in it is one op. An edge from one iteration to the
next waits before it sets: the flag is set once before the outermost loop around the block, and
waited for after that loop. An edge from a pipe to itself is a barrier. A run of functions with a
mark in each gap shows where the entries of any edges belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple, TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.analysis.known import Facts
from ptokit.explore.programslices import is_issued
from ptokit.ir.module import AnyOp, Block, Func, Op
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import CORES, Instr
from ptokit.isa.lang.traits import FLAGS, THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import KernelKind, Pipe
from ptokit.values.enumerations import Word


class FlagPages(NamedTuple):
    """The pages of ops that order pipes (set, wait, barrier), and the enumeration of event ids."""

    up: type[Instr]
    down: type[Instr]
    barrier: type[Instr]
    ids: type[Word]


@cache
def flag_pages() -> FlagPages:
    """Return the pages whose pipes, and ids if any, are enumeration members."""
    found: dict[tuple[int, object], type[Instr]] = {}
    for page in walk():
        words = [a.kind for a in page.attrs if issubclass(a.kind, Word)]
        pipes = words.count(Pipe)
        if FLAGS in page.uses and pipes and not page.operands and len(words) == len(page.attrs):
            found.setdefault((len(words), getattr(page, "up", None)), page)
    up, down = found[3, True], found[3, False]
    ids = next(a.kind for a in up.attrs if a.kind is not Pipe)
    assert issubclass(ids, Word)
    return FlagPages(up, down, found[1, None], ids)


@dataclass(frozen=True)
class SyncEdge:
    """An order: `target` runs ops after gap `wait_at` once `source` has done those before `set_at`.

    A gap has the number of the op after it. `carried`: `source` of the iteration before. `outer`:
    at a gap shared with another edge this edge waits first and sets last, so that it orders the set
    of the other edge after the wait before. `core`: the kind of core that has the pipes, if the
    cores of both kinds run the block.
    """

    source: Pipe
    target: Pipe
    block: Block
    set_at: int
    wait_at: int
    carried: bool = False
    outer: bool = False
    core: KernelKind | None = None

    @property
    def barrier(self) -> bool:
        return self.source is self.target

    @property
    def pipes(self) -> tuple[KernelKind | None, Pipe, Pipe]:
        """The key of a set of event ids."""
        return self.core, self.source, self.target

    def covers(self, other: SyncEdge) -> bool:
        """Return whether this edge orders everything that the other orders."""
        if (self.block, *self.pipes) != (other.block, *other.pipes):
            return False
        if self.carried == other.carried:
            return self.set_at >= other.set_at and self.wait_at <= other.wait_at
        return other.carried and (self.set_at >= other.set_at or self.wait_at <= other.wait_at)

    def back(self) -> SyncEdge:
        """Return the edge that lets the flag be set again only after the wait."""
        ends = self.target, self.source, self.block, self.wait_at, self.set_at
        return SyncEdge(*ends, carried=not self.carried, outer=True, core=self.core)

    def widened(self, other: SyncEdge) -> SyncEdge | None:
        """Return the edge that replaces both, or None if that is no order.

        It sets where the later one sets, and waits where the earlier one waits.
        """
        alike = (self.block, self.carried, *self.pipes)
        if self.barrier or alike != (other.block, other.carried, *other.pipes):
            return None
        last, first = max(self.set_at, other.set_at), min(self.wait_at, other.wait_at)
        if last < first if self.carried else first < last:
            return None
        return replace(self, set_at=last, wait_at=first, outer=self.outer or other.outer)


def barrier_at(
    pipe: Pipe, block: Block, gap: int, target: Target, core: KernelKind | None
) -> SyncEdge:
    """Return a barrier of the pipe, or of all pipes if the target lacks that barrier."""
    op = barrier(pipe)
    env = Facts(target).environment(op)
    if any(rule.holds(env) is False for rule in op.page.rules_on(target)):
        pipe = Pipe.ALL
    return SyncEdge(pipe, pipe, block, gap, gap, core=core)


def barrier(pipe: Pipe) -> Op:
    page = flag_pages().barrier
    return Op(page, attrs={page.attrs[0].name: pipe})


def flag(edge: SyncEdge, *, up: bool, number: int) -> Op:
    """Return the set of an edge's flag, or the wait for it."""
    pages = flag_pages()
    page = pages.up if up else pages.down
    words = edge.source, edge.target, pages.ids.named(str(number))
    return Op(page, attrs={a.name: word for a, word in zip(page.attrs, words, strict=True)})


def _executes(op: AnyOp) -> bool:
    """Return whether an op, or one inside it, is for a pipe or for other cores."""
    if not isinstance(op, Op) or is_issued(op) or not CORES.isdisjoint(op.page.uses):
        return True
    return any(_executes(one) for region in op.regions for one in region.walk())


class Step(NamedTuple):
    """A step on the way to an op: an op of a block, and the region that leads on."""

    block: Block
    number: int
    region: Block | None

    @property
    def loops(self) -> bool:
        """True if the region may be followed by itself."""
        op = self.block.ops[self.number]
        return self.region is not None and repeats(op, self.region)


Gap: TypeAlias = tuple[Block, int]  # the place before the op of that number


@dataclass
class Places:
    """The way from the body of each function to each op.

    `sections`: an insertion outside of sections is for the cores of one kind, so it gets a section.
    """

    funcs: Sequence[Func]
    sections: Mapping[KernelKind, type[Instr]]
    ways: dict[int, tuple[Step, ...]] = field(default_factory=dict[int, tuple[Step, ...]])
    around: dict[Block, tuple[Step, ...]] = field(default_factory=dict[Block, tuple[Step, ...]])
    gaps: dict[Gap, None] = field(default_factory=dict[Gap, None])  # possible ends of edges

    def __post_init__(self) -> None:
        for func in self.funcs:
            self._block(func.body, ())

    def _block(self, block: Block, way: tuple[Step, ...]) -> None:
        self.around[block] = way
        for number, op in enumerate(block.ops):
            self.ways[id(op)] = (*way, Step(block, number, None))
            threads = isinstance(op, Op) and THREADS in op.page.traits
            if _executes(op):
                self.gaps |= dict.fromkeys(((block, number), (block, number + 1)))
            for region in op.regions:
                if threads:  # the region counts as one instruction
                    inner = (inner for inner in region.walk())
                    self.ways.update((id(one), self.ways[id(op)]) for one in inner)
                else:
                    self._block(region, (*way, Step(block, number, region)))

    def outside(self, block: Block) -> bool:
        """Return whether a block lies in no section."""
        steps = (step.block.ops[step.number] for step in self.around[block])
        return all(isinstance(op, Op) and op.page.core is None for op in steps)

    def outermost_loop(self, block: Block) -> Step | None:
        """Return the step of the outermost loop around a block, or None."""
        return next((step for step in self.around[block] if step.loops), None)


WAIT_FIRST, SET, WAIT, SET_LAST = range(4)  # the order of insertions at one gap


class Insertion(NamedTuple):
    """An op of an edge at a gap: a set of its flag, a wait for it, or its barrier."""

    rank: int
    edge: SyncEdge
    op: Op
    up: bool = False


def at_gaps(places: Places, numbers: Mapping[SyncEdge, int]) -> dict[Gap, list[Insertion]]:
    """Return the insertions of these edges at each gap, in order; their flags have these ids."""
    gaps: dict[Gap, list[Insertion]] = {}
    for edge, number in numbers.items():
        for gap, found in _insertions(edge, number, places):
            gaps.setdefault(gap, []).append(found)
    assert gaps.keys() <= places.gaps.keys(), "an edge ends beside what pipes execute"
    for some in gaps.values():
        some.sort(key=lambda one: one.rank)
    return gaps


def _insertions(edge: SyncEdge, number: int, places: Places) -> Iterator[tuple[Gap, Insertion]]:
    if edge.barrier:
        yield (edge.block, edge.wait_at), Insertion(WAIT, edge, barrier(edge.source))
        return

    def new(rank: int, *, up: bool) -> Insertion:
        return Insertion(rank, edge, flag(edge, up=up, number=number), up)

    first, last = (SET_LAST, WAIT_FIRST) if edge.outer else (SET, WAIT)
    yield (edge.block, edge.set_at), new(first, up=True)
    yield (edge.block, edge.wait_at), new(last, up=False)
    if edge.carried:
        loop = places.outermost_loop(edge.block)
        assert loop is not None, "only a loop has iterations"
        yield (loop.block, loop.number), new(SET, up=True)
        yield (loop.block, loop.number + 1), new(WAIT, up=False)


def insert_edges(places: Places, numbers: Mapping[SyncEdge, int]) -> list[Func]:
    """Return the functions with these edges, whose flags have these ids."""
    ops = {
        gap: [*_of_gap([(one.edge.core, one.op) for one in some], gap, places)]
        for gap, some in at_gaps(places, numbers).items()
    }
    return [replace(func, body=_rebuilt(func.body, ops)) for func in places.funcs]


@dataclass
class MarkedFuncs:
    """Functions with a mark, which is a barrier, in each gap beside ops that pipes execute.

    `gaps` has the gap of each mark by its identity.
    """

    funcs: Sequence[Func]
    gaps: dict[int, Gap]

    @classmethod
    def of(cls, places: Places) -> MarkedFuncs:
        kinds: Sequence[KernelKind | None] = [*places.sections] or [None]
        found, ops = dict[int, Gap](), dict[Gap, list[Op]]()
        for gap in places.gaps:
            marks = [(kind, barrier(Pipe.ALL)) for kind in kinds]
            if not (places.sections and places.outside(gap[0])):
                del marks[1:]
            found |= {id(mark): gap for _, mark in marks}
            ops[gap] = [*_of_gap(marks, gap, places)]
        return cls([replace(func, body=_rebuilt(func.body, ops)) for func in places.funcs], found)


def _of_gap(some: Sequence[tuple[KernelKind | None, Op]], gap: Gap, places: Places) -> Iterator[Op]:
    """Yield the ops of a gap; outside of sections, in a section for their kind of core."""
    if not places.sections or not places.outside(gap[0]):
        yield from (op for _, op in some)
        return
    for kind, section in places.sections.items():
        if own := [op for core, op in some if core is kind]:
            yield Op(section, regions=[Block(ops=[*own])])


def _rebuilt(block: Block, gaps: Mapping[Gap, list[Op]]) -> Block:
    ops: list[AnyOp] = []
    for number, op in enumerate(block.ops):
        ops += gaps.get((block, number), [])
        if op.regions:
            op = replace(op, regions=[_rebuilt(region, gaps) for region in op.regions])
        ops.append(op)
    ops += gaps.get((block, len(block.ops)), [])
    return replace(block, ops=ops)
