"""Edges between pipes: where one sets a flag that another waits for, and how they are inserted.

An edge lies in one block: a loop or a branch in it is one op. An edge from an iteration of the
loops around to the next waits before it sets: the flag is set once before the outermost of these
loops, and waited for after it. An edge from a pipe to itself is a barrier. A run of functions with
a mark in each gap shows where the entries of any edges belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple, TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.analysis.known import Facts
from ptokit.explore.openvalues import is_issued
from ptokit.ir.module import AnyOp, Block, Func, Op
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import CORES, Instr
from ptokit.isa.lang.traits import FLAGS, THREADS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import KernelKind, Pipe
from ptokit.values.enumerations import Word


class FlagPages(NamedTuple):
    """The pages of what orders pipes: set a flag, wait for one, a barrier; the words of ids."""

    up: type[Instr]
    down: type[Instr]
    barrier: type[Instr]
    ids: type[Word]


@cache
def flag_pages() -> FlagPages:
    """The pages whose pipes are words and whose ids, if any, are words too."""
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
    """`target` begins what comes after gap `wait_at` of a block when `source` has done all before
    gap `set_at`; a gap has the number of the op that it is before.

    `carried`: in the iteration before. `outer`: at gaps shared with another edge it waits first and
    sets last, so that it orders the set of that one after the wait before. `core`: whose pipes they
    are where the cores of both kinds run the block.
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
        """What its ids are of."""
        return self.core, self.source, self.target

    def covers(self, other: SyncEdge) -> bool:
        """Whether it orders all that the other one does."""
        if (self.block, *self.pipes) != (other.block, *other.pipes):
            return False
        if self.carried == other.carried:
            return self.set_at >= other.set_at and self.wait_at <= other.wait_at
        return other.carried and (self.set_at >= other.set_at or self.wait_at <= other.wait_at)

    def back(self) -> SyncEdge:
        """The edge that lets this one's flag be set again only after the wait."""
        ends = self.target, self.source, self.block, self.wait_at, self.set_at
        return SyncEdge(*ends, carried=not self.carried, outer=True, core=self.core)

    def widened(self, other: SyncEdge) -> SyncEdge | None:
        """The edge that stands for both: it sets where the later one does, and waits where the
        earlier one does; None where that is no order."""
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
    """A barrier of the pipe; of all pipes where the target may have no such one."""
    op = barrier(pipe)
    env = Facts(target).environment(op)
    if any(rule.holds(env) is False for rule in op.page.rules_on(target)):
        pipe = Pipe.ALL
    return SyncEdge(pipe, pipe, block, gap, gap, core=core)


def barrier(pipe: Pipe) -> Op:
    page = flag_pages().barrier
    return Op(page, attrs={page.attrs[0].name: pipe})


def flag(edge: SyncEdge, *, up: bool, number: int) -> Op:
    """A set of the flag of an edge, or a wait for it."""
    pages = flag_pages()
    page = pages.up if up else pages.down
    words = edge.source, edge.target, pages.ids.named(str(number))
    return Op(page, attrs={a.name: word for a, word in zip(page.attrs, words, strict=True)})


def _executes(op: AnyOp) -> bool:
    """Whether it is for a pipe, or for other cores, or has such ops inside."""
    if not isinstance(op, Op) or is_issued(op) or not CORES.isdisjoint(op.page.uses):
        return True
    return any(_executes(one) for region in op.regions for one in region.walk())


class Step(NamedTuple):
    """A place on the way to an op: the op of a block, and which of its regions leads on."""

    block: Block
    number: int
    region: Block | None

    @property
    def loops(self) -> bool:
        """Whether the region may run again after itself."""
        op = self.block.ops[self.number]
        return self.region is not None and repeats(op, self.region)


Gap: TypeAlias = tuple[Block, int]  # before the op of that number


@dataclass
class Places:
    """The way from the body of each of these functions to each op.

    `sections`: what is put in beside sections is for the cores of one kind, so in one for them.
    """

    funcs: Sequence[Func]
    sections: Mapping[KernelKind, type[Instr]]
    ways: dict[int, tuple[Step, ...]] = field(default_factory=dict[int, tuple[Step, ...]])
    around: dict[Block, tuple[Step, ...]] = field(default_factory=dict[Block, tuple[Step, ...]])
    gaps: dict[Gap, None] = field(default_factory=dict[Gap, None])  # that an edge may end at

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
                if threads:  # they are one instruction
                    inner = (inner for inner in region.walk())
                    self.ways.update((id(one), self.ways[id(op)]) for one in inner)
                else:
                    self._block(region, (*way, Step(block, number, region)))

    def outside(self, block: Block) -> bool:
        """Whether a block lies in no section."""
        steps = (step.block.ops[step.number] for step in self.around[block])
        return all(isinstance(op, Op) and op.page.core is None for op in steps)

    def outermost_loop(self, block: Block) -> Step | None:
        """The outermost loop around a block."""
        return next((step for step in self.around[block] if step.loops), None)


WAIT_FIRST, SET, WAIT, SET_LAST = range(4)  # the order of what is at one gap


class Insertion(NamedTuple):
    """What an edge puts in at a gap: a set of its flag, a wait for it, or its barrier."""

    rank: int
    edge: SyncEdge
    op: Op
    up: bool = False


def at_gaps(places: Places, numbers: Mapping[SyncEdge, int]) -> dict[Gap, list[Insertion]]:
    """What these edges put in at each gap, in order; their flags have these ids."""
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
    """The functions with these edges, whose flags have these ids."""
    ops = {
        gap: [*_of_gap([(one.edge.core, one.op) for one in some], gap, places)]
        for gap, some in at_gaps(places, numbers).items()
    }
    return [replace(func, body=_rebuilt(func.body, ops)) for func in places.funcs]


@dataclass
class MarkedFuncs:
    """Functions with a mark, which is a barrier, in each gap beside what pipes execute.

    `gaps` are those of the marks, by their identities.
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
    """The ops of a gap; beside sections in one for their kind of core."""
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
