"""Many runs of one function on known numbers, in which each op executes once per set of operands.

Runs on other numbers, or of another block, differ in few instructions. The results of ops and the
regions of instructions are cached by operands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from random import Random
from typing import TypeAlias

from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine, Step, execution
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.dryrun import DryRun, DryRunCache, DryRunLimits
from ptokit.explore.openvalues import (
    block_queries,
    depending,
    depends,
    from_memory,
    is_issued,
    keeps_numbers,
    source,
)
from ptokit.explore.pathconditions import ALONE, HELD
from ptokit.explore.samplenumbers import NEARBY, Numbers
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Block, Func, Op
from ptokit.isa.lang.traits import FLAGS, MACHINE, RESIZES
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.order.entries import PipeWork
from ptokit.order.issue import CoreIssue, Issue, IssuedFlags
from ptokit.values.fixpipe import CPU_READING

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

    @staticmethod
    def of(launch: DryLaunch, most: int, arrays: Collection[str]) -> MemoisedLaunch | None:
        """Return the launch, or None if the function cannot be run repeatedly.

        That is so if cores run concurrently, addresses of tiles depend on numbers, or tiles change
        their size.
        """
        ops = (op for func in launch.funcs for op in func.ops)
        resized = any(isinstance(op, Op) and RESIZES in op.page.traits for op in ops)
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
        with suppress(PtoError):
            self.body({**self.env, **self.bound.numbers, **own})
            return issue
        return None
