"""Runs of other blocks and on other numbers, if these decide what a program does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice, product
from random import Random
from typing import TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine, Step, execution
from ptokit.explore.drylaunch import DryLaunch, DryRun, DryRunCache, DryRunLimits
from ptokit.explore.limits import (
    FEW_BLOCKS,
    HELD,
    LENGTHS,
    MORE_BLOCKS,
    MOST_EXACT,
    MOST_MEMOISED,
    MOST_VARIED,
    MOST_WORK,
    NEARBY,
    PERIOD,
    STALE_RUNS,
)
from ptokit.explore.novelty import DependenceDistance, alias_pattern, shown
from ptokit.explore.pathconditions import ALONE
from ptokit.explore.pathruns import dry_runs
from ptokit.explore.programslices import (
    block_queries,
    branching,
    computed,
    decided,
    deciding,
    depending,
    depends,
    from_memory,
    is_issued,
    keeps_numbers,
    leads_to,
    loop_bounds,
    placing,
    source,
)
from ptokit.explore.samplevalues import Numbers, bounds_of, mixtures
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import FLAGS, FLOW, MACHINE
from ptokit.isa.pages.grid import launch_query
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core, whole_number
from ptokit.order.coreissue import CoreIssue, IssuedFlags
from ptokit.order.issue import Issue
from ptokit.order.waiting import PipeWork
from ptokit.values.fixpipe import CPU_READING


def varied_runs(
    launch: DryLaunch,
    given: Collection[Value],
    before: Sequence[Issue],
) -> Iterator[Issue]:
    """Yield traces of other blocks, and of other numbers, that differ from `before`.

    `given` are the arguments that hold the block number.
    """
    places = {func: placing(func) for func in launch.funcs}
    ways = {func: frozenset(branching(func)) for func in launch.funcs}
    others = [*_other_blocks(launch, _Place(given, places), before)]
    yield from others
    deciding = _address_args(places, each_iteration=False) or _deciding_arrays(ways)
    if deciding or sum(map(len, ways.values())) > 1:
        places = {func: places[func] | ways[func] for func in places}
    yield from _other_numbers(launch, _Place(given, places), [*before, *others])


@dataclass(frozen=True)
class _Place:
    """The numbers of each function that decide addresses, and the arguments of the launch."""

    given: Collection[Value]
    places: Mapping[Func, frozenset[Value]]

    @property
    def by_block(self) -> bool:
        """Return whether addresses depend on the block."""
        return any(not p.isdisjoint(_by_block(f, self.given)) for f, p in self.places.items())

    @property
    def decides_flow(self) -> bool:
        """Return whether branches or trip counts depend on the block."""
        return any(decided(func, _by_block(func, self.given)) for func in self.places)


def _other_blocks(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """Yield the traces of further blocks, each alone.

    Conflicts between blocks are not checked, since sample arguments say nothing about them.
    """
    blocks = _blocks_of_interest(launch, place, before)
    every = replace(launch, blocks=blocks, mixed=False, refused=[])
    if blocks == 1 or every.together:
        return
    patterns = {alias_pattern(issue) for issue in before}
    with suppress(PtoError):  # the run is too long, or not legal
        for issue in dry_runs(every):
            for block in range(1, blocks):
                one = issue.alone(block)
                if one is not None and (pattern := alias_pattern(one)) not in patterns:
                    patterns.add(pattern)
                    yield one


def _blocks_of_interest(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> int:
    """Return how many blocks to run: more if addresses depend on the block."""
    work = max(sum(map(len, issue.cores)) for issue in before)
    affordable = min(MOST_WORK // max(work, 1), MORE_BLOCKS)
    if affordable >= FEW_BLOCKS and place.by_block:
        return affordable
    return FEW_BLOCKS if place.decides_flow else 1


def _by_block(func: Func, given: Collection[Value]) -> frozenset[Value]:
    """Return the values that depend on the block."""
    return depends(func, frozenset((*given, *block_queries(func)))) - depends(func, frozenset())


def _other_numbers(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """Yield runs on other numbers that decide addresses, with no further choices."""
    names, arrays = (
        _address_args(place.places, each_iteration=False),
        _deciding_arrays(place.places),
    )
    steered = len(names) > 1 or _address_args(place.places, each_iteration=True) or arrays
    if not (names or arrays):
        return
    differ = place.by_block or place.decides_flow
    blocks = MORE_BLOCKS if differ and not launch.together else 1
    varied = replace(launch, blocks=blocks, mixed=False, refused=[])
    own = {name: launch.numbers[name] for name in names}
    if not steered:
        tried = _lengths(own)
    else:
        tried = mixtures(own | dict.fromkeys(arrays, 0), bounds_of(launch.funcs))
    every = MemoisedLaunch.of(varied, MOST_VARIED, arrays) if steered else None
    if every is not None:
        yield from _memoised(every, tried, arrays, before)
        return
    varied.blocks, varied.most, varied.periods = min(blocks, FEW_BLOCKS), MOST_VARIED, (PERIOD,)
    yield from _exact_runs(varied, (one[: len(own)] for one in tried), before)


def _memoised(
    launch: MemoisedLaunch, tried: Iterable[Numbers], arrays: Sequence[str], before: Sequence[Issue]
) -> Iterator[Issue]:
    """Yield new traces of the blocks on each of these numbers."""
    patterns, left = {alias_pattern(issue) for issue in before}, MOST_MEMOISED
    ways = ((), arrays) if arrays else ((),)
    for numbers, mixed, block in product(tried, ways, range(launch.blocks)):
        for found in launch.held:
            content = HeldContent(numbers, mixed, found)
            issue = launch.issue(block, dict(numbers), content)
            left -= launch.limits.used
            if issue is not None:
                break
        else:
            continue
        if (pattern := alias_pattern(issue)) not in patterns:
            patterns.add(pattern)
            issue.chosen = True  # the numbers may be inconsistent
            own = (f"%{name} = {n}" for name, n in numbers if name not in arrays)
            block_of = [f"in block {block}"] if launch.blocks > 1 else []
            issue.given = [*own, *content.given, *block_of]
            yield issue
        if left < 0:
            return


def _exact_runs(
    launch: DryLaunch, tried: Iterable[Numbers], before: Sequence[Issue]
) -> Iterator[Issue]:
    """Yield new traces for cores that run concurrently, from few runs."""
    seen = {*map(shown, before)}
    distances = set[DependenceDistance]().union(*(one.distances for one in seen))
    paths, stale = {one.path for one in seen}, 0
    for numbers in islice(tried, MOST_EXACT):
        stale += 1
        for one in _exact(launch, numbers):
            if (new := shown(one)) not in seen:
                stale = stale if new.distances <= distances and new.path in paths else 0
                distances |= new.distances
                paths.add(new.path)
                seen.add(new)
                yield one
        if stale == STALE_RUNS:
            break


def _address_args(places: Mapping[Func, frozenset[Value]], *, each_iteration: bool) -> list[str]:
    """Return the names of the arguments that decide addresses.

    `each_iteration`: only those that decide addresses within a loop, not merely by its trip count.
    """

    def dependents(func: Func, *by: Value) -> frozenset[Value]:
        return depends(func, frozenset(by), each_iteration=each_iteration)

    held = {func: dependents(func) for func in places}
    numbers = [(f, arg) for f in places for arg in f.args if whole_number(arg)]
    every = (
        arg.name
        for func, arg in numbers
        if not places[func].isdisjoint(dependents(func, arg) - held[func])
        and launch_query(arg.name) is None
    )
    return [*dict.fromkeys(every)]


def _deciding_arrays(places: Mapping[Func, frozenset[Value]]) -> list[str]:
    """Return the names of the arrays whose contents decide addresses."""
    found = dict[str, None]()
    for func, some in places.items():
        reads = defaultdict[str, set[Value]](set)
        for op in func.ops:
            if isinstance(op, Op) and from_memory(op):
                reads[source(op)].update(op.results)
        deciding = (
            name for name, values in reads.items() if not some.isdisjoint(leads_to(func, values))
        )
        found |= dict.fromkeys(deciding)
    return [*found]


def _lengths(numbers: Mapping[str, int]) -> Iterator[Numbers]:
    """Yield values for numbers that only decide trip counts."""
    yield from (tuple(dict.fromkeys(numbers, length).items()) for length in LENGTHS)


def _exact(launch: DryLaunch, numbers: Numbers) -> Iterator[Issue]:
    """Yield the trace of each block on these numbers, if they are legal."""
    one = launch.with_numbers(dict(numbers))
    with suppress(PtoError):  # the run is too long, or not legal
        for issue in one.first_legal(ALONE, frozenset()):
            issue.chosen = True  # the numbers may be inconsistent
            issue.given = [f"%{name} = {number}" for name, number in numbers]
            yield from filter(None, map(issue.alone, range(one.blocks)))


NUMBER = (int, float)
LISTED = 4  # numbers of an array that are named
Operands: TypeAlias = "tuple[object, ...]"
Cell: TypeAlias = Hashable  # a place that a number is read from
Content: TypeAlias = "Callable[[str, Cell], int]"  # the number in a cell of an array


class MemoisedRun(DryRun):
    """A dry run that is repeated; `content` gives the numbers in memory."""

    content: Content
    done: Collection[Op] = ()  # ops with the same results in all these runs

    def block(self, block: Block) -> Callable[[Env], tuple[object, ...]]:
        left = [op for op in block.ops if op not in self.done]
        return super().block(replace(block, ops=left) if self.done else block)

    def _step(self, op: AnyOp) -> Step:
        if not isinstance(op, Op) or op.regions or FLAGS in op.page.uses:
            return self._kept(op)
        if is_issued(op):
            return self._issued_once(op)
        alike = {MACHINE}.issuperset(op.page.uses) and not keeps_numbers(op)
        if alike and len(op.results) == 1:
            return _once(op, execution(op, self))
        return self._kept(op)

    def _issued_once(self, op: Op) -> Step:
        """Return a step that issues an instruction and caches its accesses by operands."""
        known: dict[Operands, tuple[PipeWork | None, bool, Operands]] = {}
        asked = tuple(value for _, value in op.values())
        name, reads = source(op), from_memory(op)
        kinds = [(v, float if getattr(v.type, "is_float", False) else int) for v in op.results]

        def work(env: Env) -> tuple[PipeWork | None, bool]:
            env.update((value, kind()) for value, kind in kinds)
            entries = self.issue.of(0).entries
            before = len(entries)
            self.issue.work(op, env, self.core)
            made = (entry for entry in entries[before:] if isinstance(entry, PipeWork))
            return next(made, None), id(op) in self.issue.reached

        def issued(env: Env) -> None:
            self.limits.before(op)
            issue = self.issue.of(0)
            issue.begin(op, env)
            operands = tuple([env.get(value) for value in asked])
            key = _key(operands)
            if key in known:
                one, reached, _ = known[key]
                (self.issue.reached if reached else self.issue.begun).add(id(op))
                if one is not None:
                    issue.work(one.queue.pipe, one.reads, one.writes, one.operands, one.drains)
            else:
                one, reached, _ = known[key] = *work(env), operands
            cell = one.reads if one is not None and reads else id(op)
            env.update((value, kind(self.content(name, cell))) for value, kind in kinds)

        return issued


def _once(op: Op, step: Step) -> Step:
    """Return a step that computes a number or handle and caches it by operands."""
    known: dict[Operands, tuple[object, Operands]] = {}
    asked, result = tuple(value for _, value in op.values()), op.results[0]

    def made(env: Env) -> None:
        operands = tuple([env[value] for value in asked])
        key = _key(operands)
        if key in known:
            env[result] = known[key][0]
        else:
            step(env)
            known[key] = env[result], operands  # these keep their identities

    return made


def _key(operands: Operands) -> Operands:
    """Return a key for operands: numbers by value, handles by identity."""
    return tuple([v if isinstance(v, NUMBER) else id(v) for v in operands])


def _same_in_all(func: Func) -> Iterator[Op]:
    """Yield the ops outside loops and branches that depend on no number and no block."""
    varying = depends(func, depending(func) | {*block_queries(func)})
    known = {value for value in func.args if value not in varying}
    for op in func.body.ops:
        if not isinstance(op, Op) or op.regions or is_issued(op) or keeps_numbers(op):
            continue
        if (
            op.results
            and {MACHINE}.issuperset(op.page.uses)
            and known.issuperset(v for _, v in op.values())
        ):
            known.update(op.results)
            yield op


class HeldContent:
    """The contents of memory in one run: a constant number for each cell.

    An array has the number of its name in each cell; a `mixed` array has nearby random numbers,
    too.
    """

    def __init__(self, numbers: Numbers, mixed: Collection[str] = (), found: int = 0) -> None:
        """Create the contents; `found` is the number in all other arrays."""
        self.numbers, self.mixed, self.found = dict(numbers), mixed, found
        self.cells, self.read = dict[Cell, int](), defaultdict[str, list[int]](list)
        self.random = Random(repr(numbers))

    def __call__(self, name: str, cell: Cell) -> int:
        if cell not in self.cells:
            number = self.numbers.get(name, self.found)
            several = (number, self.random.choice(NEARBY)) if name in self.mixed else (number,)
            self.cells[cell] = self.random.choice(several)
            self.read[name].append(self.cells[cell])
        return self.cells[cell]

    @property
    def given(self) -> list[str]:
        """Return descriptions of the array contents that the run has read."""
        read = ((name, self.read[name]) for name in self.numbers if name in self.read)
        return [f"{' then '.join(map(str, some[:LISTED]))} in %{name}" for name, some in read]


class MemoisedLaunch:
    """The blocks of a single-core function, each run alone with any numbers and contents."""

    def __init__(self, launch: DryLaunch, most: int, arrays: Collection[str]) -> None:
        """Prepare runs of up to `most` instructions; `arrays` have given contents."""
        bound = launch.bound.sole
        self.blocks, self.bound = launch.blocks, bound
        reads = (op for op in bound.func.ops if isinstance(op, Op) and from_memory(op))
        self.held = HELD if any(source(op) not in arrays for op in reads) else HELD[-1:]
        core, target = Core(launch.target, CPU_READING, 0, launch.blocks), launch.target
        self.core, self.first = core, Issue(target, launch.cache.templates)
        self.first.prepared(core, bound.func.body)
        plan, self.limits = launch.planned, DryRunLimits(most)
        how = None, core, Facts(core.target), plan, self.limits
        cache = DryRunCache(launch.cache.marks)
        self.made = MemoisedRun(self.first, ALONE, frozenset(), frozenset(), {}, True, cache, *how)
        self.env: Env = bound.shared() | bound.local(InterpretedMachine(core), plan.addresses)
        same = [*_same_in_all(bound.func)]
        self.made.block(replace(bound.func.body, ops=same))(self.env)
        self.made.done = {*same}
        self.body = self.made.block(bound.func.body)
        given = {value for value in bound.numbers if whole_number(value)}
        known = computed((op for op in bound.func.ops if isinstance(op, Op)), given)
        self.scalars = self.made.block(Block(ops=[*dict.fromkeys(known.values())]))
        self.least = _least_work(bound.func.body, self.made)

    @staticmethod
    def of(launch: DryLaunch, most: int, arrays: Collection[str]) -> MemoisedLaunch | None:
        """Return the launch, or None if the function cannot be run repeatedly.

        That is so if cores run concurrently, addresses of tiles depend on numbers, or tiles change
        their size.
        """
        ops = (op for func in launch.funcs for op in func.ops)
        resized = any(isinstance(op, Op) and op.page.resizes for op in ops)
        if resized or not launch.lasts:
            return None
        return MemoisedLaunch(launch, most, arrays)

    @gc_disabled()
    def issue(self, block: int, numbers: Mapping[str, int], content: Content) -> Issue | None:
        """Return the trace of a block on these numbers; None if too long or illegal."""
        issue, self.core.block_idx = copy(self.first), block
        one = CoreIssue(0, copy(self.core), self.first.loops, self.first.slots)
        issue.issues, issue.begun, issue.reached = {0: one}, set(), set()
        self.made.issue, self.made.content, self.limits.ran, self.limits.idle = issue, content, 0, 0
        flags = self.core.state.flags
        assert isinstance(flags, IssuedFlags)
        flags.of = one
        own = {value: numbers[value.name] for value in self.bound.numbers if value.name in numbers}
        env: Env = {**self.env, **self.bound.numbers, **own}
        if self._too_long(env):
            return None
        with suppress(PtoError):
            self.body(env)
            return issue
        return None

    def _too_long(self, env: Env) -> bool:
        """Return whether trip counts alone show that a run exceeds the limit."""
        known, limits = {**env}, self.limits
        with suppress(PtoError):
            self.scalars(known)
        limits.ran = limits.idle = 0
        if limits.most is None or self.least(known) <= limits.most:
            return False
        limits.ran = limits.most
        return True


def _least_work(block: Block, run: DryRun) -> Callable[[Env], int]:
    """Return a function that counts the instructions of a block that limits count, at least.

    Its argument has the known numbers: a loop with other bounds may have no iteration.
    """
    ops = [op for op in block.ops if isinstance(op, Op)]
    own = sum(is_issued(op) or (FLAGS in op.page.uses and run.counts(op)) for op in ops)
    inner = [_least_of(op, run) for op in ops if op.regions]
    return lambda env: own + sum(least(env) for least in inner)


def _least_of(op: Op, run: DryRun) -> Callable[[Env], int]:
    """Return the same for an op with regions."""
    regions = [_least_work(region, run) for region in op.regions]
    bounds, asked = loop_bounds(op), next(deciding(op), None)
    branches = FLOW in op.page.uses and not any(repeats(op, region) for region in op.regions)

    def least(env: Env) -> int:
        if bounds is not None and env.keys() >= {*bounds}:
            lower, upper, step = (env[value] for value in bounds)
            trips = -((lower - upper) // step) if step > 0 else 0
            return trips * max(regions[0](env), 1) if trips > 0 else 0
        if branches and asked in env:
            return sum(one(env) for one in (regions[:1] if env[asked] else regions[1:]))
        return 0

    return least
