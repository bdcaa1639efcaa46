"""A compiled program and its data: frames, tables, and call backs to the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.engines.native import ticks
from ptokit.engines.native.frame import (
    BLOCK,
    BLOCKS,
    CELL,
    FIRST_SLOT,
    LEAST,
    LEFT,
    TICK,
    TOO_LARGE,
    CoreRoom,
    Purpose,
)
from ptokit.engines.native.hostthreads import at_once, dealt, pays
from ptokit.engines.native.plan import Plan, Request
from ptokit.engines.native.queuewaits import QueuedCore, tried, wait_for_any
from ptokit.engines.reference.interpreter import (
    InterpretedMachine,
    Interpreter,
    OpExecution,
    Step,
    execution,
    within,
)
from ptokit.ir.module import Block, Op, Value
from ptokit.machine import cache as codes
from ptokit.machine import execute
from ptokit.machine.arguments import Bound, Env
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.execute import QUEUES, Core
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.memory import Bytes, Memory, address_of
from ptokit.machine.record.code import NotNative
from ptokit.machine.record.handles import FrameSlot, MemoryNumber, mapped
from ptokit.machine.record.trace import NOWHERE
from ptokit.machine.slotnumber import SlotNumber
from ptokit.machine.state import FLAG_MEMORY, require_registers
from ptokit.machine.tile import Matrix
from ptokit.order.fifoend import COUNTERS, reason
from ptokit.order.group import GroupedCore
from ptokit.order.schedule import Wait
from ptokit.values.scalars import wrapped


class Grown(Exception):
    """Raised if an array must grow or a fault occurs while several threads write."""


class Stopped(Exception):
    """Raised if the result of this thread is no longer needed."""


class Doubtful(NotNative):
    """Raised if careful code finds an undefined element, which exact code may not."""

    def __init__(self) -> None:
        super().__init__("data decide which elements are defined")


@dataclass
class Session:
    """A compiled program with the memories of its arguments.

    `things` are the instructions and regions that requests name. `rules`: whether rules are
    checked.
    """

    plan: Plan
    code: codes.MachineCode
    core: Core  # the first block's
    facts: Facts
    planned: Planned
    real: Env  # the reference's handles of the arguments
    things: list[Any]  # Any: ops and blocks
    shown: Sequence[Value]  # values whose handles the plan keeps
    arrays: dict[str, Memory]  # arrays of arguments, by the names of their spaces
    limits: RunLimits
    rules: bool = True
    crew: list[Worker] = field(default_factory=list["Worker"])  # all workers of the run
    failed: list[int] = field(default_factory=list[int])  # workers of later blocks are stopped
    sole: Worker | None = None  # the worker that runs all blocks
    took: float = inf  # seconds of all threads in the last run
    # workers of parallel runs, by their first block and their number
    idle: dict[tuple[int, int], list[Worker]] = field(default_factory=dict[Any, Any])
    known: dict[object, Any] = field(default_factory=dict[object, Any])  # Any: see `Logged`

    def renew(self, bound: Bound, limits: RunLimits, direct: frozenset[str] = frozenset()) -> None:
        """Reset the session for other arguments of the same types; `direct`: see `Launch`."""
        self.core.clear()
        bound.renew(self.real, direct={name: f"%{name}" in self.plan.reads for name in direct})
        if any(tile in self.real for tile in bound.tiles):
            self.real |= bound.local(InterpretedMachine(self.core), self.planned.addresses)
        self.limits = limits
        self.crew.clear()
        self.failed.clear()

    def restore(self) -> None:
        """Undo what a failed run wrote to arrays of the caller.

        Arrays that the program never reads keep what was written: to begin again it needs no copy.
        """
        for memory in self.arrays.values():
            memory.restore()

    def run(
        self, blocks: int, *, one_thread: bool = False, span: range | None = None
    ) -> tuple[Env, Counter[str]]:
        """Run all blocks; raise the error of the lowest failed block. `one_thread`: sequentially.

        `span`: run only these blocks, in order on one thread.
        """
        self.code.wait()
        growing = [m for m in self.arrays.values() if m.growable and m.shape is None]
        one_thread |= self.plan.serial or self.limits.most is not None or not pays(self.took)
        if span is not None:
            workers = [Worker(self, self.core, span.start, span.stop, blocks)]
            workers[0].run()
        elif one_thread or blocks == 1:
            workers = [self._sole(blocks)]
            workers[0].run()
        elif growing:  # the first block determines the sizes; later no array may move
            workers = [Worker(self, self.core, 0, 1, blocks)]
            workers[0].run()
            for memory in growing:
                memory.growable = False
            workers += self._in_parallel(1, blocks) if workers[0].problem is None else []
        else:
            workers = self._in_parallel(0, blocks)
        for problem, index in [worker.problem for worker in workers if worker.problem]:
            if not isinstance(problem, PtoError) or blocks == 1:
                raise problem from None
            if growing and len(workers) > 1:
                raise Grown
            raise problem.noted(f"in block {index}") from None
        self.took = sum(worker.took for worker in workers)
        first, *others = [worker.counts() for worker in workers]
        return (workers[0].final() if blocks == 1 else self.real), sum(others, first)

    @cached_property
    def begin(self) -> int:
        """The address of the function that makes a core's coroutine."""
        return self.code.address("begin")

    def done(self) -> int:
        """Return about how many blocks have ended; other threads call it during a run."""
        return sum(max(int(w.frame[BLOCK]) - w.first, 0) for w in [*self.crew])

    def _sole(self, blocks: int) -> Worker:
        """Return the worker of the last run, for all blocks on this thread."""
        if self.sole is None:
            self.sole = Worker(self, self.core, 0, blocks, blocks)
        else:
            self.sole.begin()
        return self.sole

    def _in_parallel(self, first: int, blocks: int) -> list[Worker]:
        """Run the blocks from `first` on all processors, and wait for all."""
        workers = self.workers(blocks, first)
        at_once([worker.run for worker in workers], partial(self.failed.append, -1))
        return workers

    def workers(self, blocks: int, first: int = 0) -> list[Worker]:
        """Return a worker for each processor, with equal ranges of blocks from `first` on.

        Those of the last run start again: new memories cost more than clearing them.
        """
        spans = dealt(range(first, blocks))
        count = len(spans)
        if (first, count) in self.idle:
            for worker in self.idle[first, count]:
                worker.core.clear()
                worker.begin()
            return self.idle[first, count]
        target, fixpipe = self.core.target, self.core.fixpipe
        cores = [
            self.core if blocks == 1 else Core(target, fixpipe, 0, blocks) for _ in range(count)
        ]
        for core in cores:
            core.behind = self.planned.behind
        made = [Worker(self, c, s.start, s.stop, blocks) for c, s in zip(cores, spans, strict=True)]
        self.idle[first, count] = made
        return made


def taken_warnings(workers: Iterable[Worker]) -> list[Diagnostic]:
    """Return the warnings of the cores since the last call."""
    return [found for worker in workers for found in worker.core.taken_warnings()]


@dataclass
class Worker:
    """One thread, which runs a range of blocks on one core's memories, perhaps repeatedly."""

    session: Session
    core: Core
    first: int
    last: int
    blocks: int
    problem: tuple[BaseException, int] | None = None
    asked: bool = False  # whether the reference executed an instruction
    needed: bool = False  # whether it was asked for more than the growth of an array
    took: float = 0.0  # seconds of the last run
    times: list[int] = field(default_factory=list[int])  # how often what is counted ran
    counted: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        plan = self.session.plan
        arrays = self.session.arrays
        self.memories = [arrays.get(n) or self.core.space_named(n) for n in plan.spaces]
        self.shadowed = [  # shadows of arrays are made once, for all threads
            name in plan.tracked or (name in arrays and not memory.given)
            for name, memory in self._named()
        ]
        self.room = CoreRoom(plan.slots, len(self.memories), plan.scratch)
        self.frame, self.places = self.room.frame, self.room.places
        self.pointed: list[Bytes | None] = [None] * len(self.memories)  # where they point
        self.slots = [v for v, n in self.session.real.items() if isinstance(n, SlotNumber)]
        self.callback: Any = None  # Any: a ctypes function; None before the first run
        self.begin()

    def begin(self) -> None:
        """Prepare the frame for a run."""
        self.executions: dict[int, Step] = {}
        self.problem, self.block, self.marked = None, self.first, False
        self.asked = self.needed = False
        session, frame = self.session, self.frame
        session.crew.append(self)
        frame.fill(0)
        frame[BLOCKS] = self.blocks
        frame[LEFT] = session.limits.most or 0
        frame[TICK] = session.limits.deadline is not None
        for slot, value in enumerate(self.slots, FIRST_SLOT):
            frame[slot] = session.real[value]
        self._point()

    @property
    def queued(self) -> QueuedCore:
        """Return the core with the state of its queues."""
        return QueuedCore(self.core, self.frame, self.session.plan, self.session.things)

    def _named(self) -> Iterator[tuple[str, Memory]]:
        return zip(self.session.plan.spaces, self.memories, strict=True)

    def _point(self) -> None:
        """Update the table of memories, since other or grown arrays lie elsewhere."""
        pointed, shadowed = self.pointed, self.shadowed
        for number, memory in enumerate(self.memories):  # mostly nothing has moved
            if memory.data is not pointed[number] or shadowed[number]:
                self.room.point(number, memory, shadowed[number])
                pointed[number] = memory.data

    def run(self) -> None:
        """Run the blocks; keep the fault of the program in `problem`."""
        begin = perf_counter()
        try:
            failed = self.session.code.launch(*self.places, self.start(), self.first, self.last)
        finally:
            self.stop()
        self.took = perf_counter() - begin
        assert bool(failed) == (self.problem is not None)
        if self.problem is not None:
            self.session.failed.append(self.first)
            if not isinstance(self.problem[0], PtoError | Stopped):
                raise self.problem[0] from None

    def start(self) -> int:
        """Return the address of the call back. The program may call back until `stop`."""
        if self.callback is None:
            answers = self._answers()
            next(answers)
            self.callback = codes.CALLBACK(answers.send)
            self.pointer = codes.pointer_of(self.callback)
        ticks.start(self.frame)
        return self.pointer

    def stop(self) -> None:
        """Let the program call back no more."""
        ticks.end(self.frame)
        if self.problem is not None:  # it ended the answers
            self.callback = None

    def _answers(self) -> Generator[int, int, None]:
        """Answer the call backs of a compiled program: 0, or 1 to end it.

        A generator and not a function, because a signal handler may raise at the start of a
        function, before it can catch an exception.
        """
        try:
            while True:
                number = yield 0
                if number == TOO_LARGE:
                    raise NotNative("an address or a bound of more than 64 bits")
                request = self.session.plan.requests[number]
                self._execute(request, number)
                if request.purpose is not Purpose.WAIT:  # a kernel whose arrays grow has no waits
                    self._point()
        except GeneratorExit:
            return
        except BaseException as problem:  # an interrupt too ends the compiled program
            self.problem = problem, int(self.frame[BLOCK])
        yield 1

    def counts(self) -> Counter[str]:
        """Return how many instructions of each name ran, or are counted in open blocks."""
        frame, every = self.frame.tolist(), self.session.plan.counts
        times = [frame[slot] for slot, _ in every]
        if times != self.times:  # mostly a run counts what the last one did
            self.times, self.counted = times, Counter[str]()
            for number, (_, counted) in zip(times, every, strict=True):
                self.counted.update({name: number * n for name, n in counted.items() if number})
        return self.counted

    def _mark(self) -> None:
        """Mark untracked memories as written, before the reference reads them."""
        for name, memory in self._named():
            if name not in self.session.plan.tracked and not self.marked:
                memory.initialise()
        self.marked = True

    def _limit(self, request: Request) -> None:
        """End the run if a limit is reached or the run was stopped."""
        self.frame[TICK] = 0
        session, limits = self.session, self.session.limits
        if any(first < self.first for first in session.failed):
            raise Stopped
        op = session.things[request.op]
        ran = sum(worker.counts().total() for worker in session.crew) - request.ahead
        if request.purpose is Purpose.LIMIT:
            raise self._inside(limits.counted(op, ran), request)
        if limits.late():
            raise self._inside(limits.timed_out(op, ran), request)

    def _execute(self, request: Request, number: int) -> None:
        if request.purpose in (Purpose.LOOK, Purpose.LIMIT):
            self._limit(request)
            return
        if request.purpose is Purpose.WAIT:
            self.needed = True
            self._wait(request)
            return
        room = self._room_of_outputs()
        if request.purpose not in (Purpose.REGISTERS, Purpose.WARN):
            self.asked = True
            if self.session.plan.careful:
                raise Doubtful
        self._mark()
        block = int(self.frame[BLOCK])
        if block != self.block:
            self.block = block
            self.core.state.registers.clear()
            if FLAG_MEMORY not in self.session.plan.spaces:  # else the program lowers them
                self.core.state.flags.clear()
            self.executions.clear()  # executions hold the old state
            if isinstance(self.core, GroupedCore):
                self.core.enter(block)
        self.core.block_idx = block
        op = self.session.things[request.op]
        names = [value for _, value in op.values()] if isinstance(op, Op) else []
        env = dict(zip(names, map(self.concrete, request.values), strict=True))
        self._execute_on(request, number, op, env)
        self.needed |= self._room_of_outputs() == room
        for name, memory in self._named():
            alone = not self.session.rules  # a single instruction has no successor
            if memory.undefined and not alone and name not in self.session.plan.tracked:
                raise NotNative(f"compiled code does not know what of {name} has a value")

    def _room_of_outputs(self) -> int:
        """Return the bytes of the arrays that grow."""
        return sum(memory.size for memory in self.session.arrays.values() if memory.growable)

    def _execute_on(self, request: Request, number: int, op: Any, env: Env) -> None:
        """Execute an op, or a part of it, by the reference. Any: an op or a region."""
        if request.purpose is Purpose.REGISTERS:
            self._registers(request, op, env)
        elif request.purpose is Purpose.WARN:
            self._step(request, number, env)
        elif request.purpose is Purpose.TRY:
            tried(self.queued, op, partial(self._step, request, number, env))
        elif self.session.rules:
            self._step(request, number, env)
        else:
            execute.run_op(op, env, self.core)

    def _wait(self, request: Request) -> None:
        """Let other cores run until a counter is large enough."""
        if QUEUES in self.session.plan.spaces:
            wait_for_any(self.queued)
            return
        op, core = self.session.things[request.op], self.core
        assert isinstance(core, GroupedCore)
        memory = core.shared[COUNTERS].data
        counters, least = memory.view(np.int64), int(self.frame[LEAST])
        cell = (int(self.frame[CELL]) - address_of(memory)) // counters.itemsize
        core.schedule.at(op.name, op.span)
        core.schedule.wait(Wait(lambda: bool(counters[cell] >= least), reason(core.ends[op], cell)))

    def _step(self, request: Request, number: int, env: Env) -> None:
        if number not in self.executions:
            session = self.session
            facts = Facts(self.core.target, dict(session.facts.numbers), dict(session.facts.types))
            interpreter = Interpreter(self.core, facts, session.planned, RunLimits())
            self.executions[number] = execution(session.things[request.op], interpreter)
        try:
            step = self.executions[number]
            if request.purpose is not Purpose.WARN:
                step(env)
            elif isinstance(step, OpExecution):
                step.checked(step.ready.values(env))
        except PtoError as problem:
            if QUEUES in self.session.plan.spaces:  # the issue order is known to the reference only
                raise NotNative("an instruction of a queue goes wrong") from None
            raise self._inside(problem, request) from None
        if request.result is not None:
            found = env[self.session.things[request.op].results[0]]
            code = int(found.codes[0, 0]) if isinstance(found, NumpyArray) else found
            self.frame[request.result] = wrapped(code, 64)

    def _inside(self, problem: PtoError, request: Request) -> PtoError:
        """Return the error with the enclosing iterations: 'with %k = 3'."""
        for place, arguments in reversed(request.inside):
            block: Block = self.session.things[place]
            problem = within(problem, block, tuple(map(self.concrete, arguments)))
        return problem

    def concrete(self, template: object) -> Any:  # Any: a handle or a number
        """Return the reference's handle for a value of the compiled program."""

        def number(value: Any) -> int:  # Any: a number or its slot
            return int(self.frame[value.number]) if isinstance(value, FrameSlot) else value

        def memory(place: Memory | MemoryNumber) -> Memory:
            if isinstance(place, MemoryNumber) and place.number == NOWHERE:
                return Memory.nothing()
            return self.memories[place.number] if isinstance(place, MemoryNumber) else place

        return mapped(template, number, memory)

    def _registers(self, request: Request, op: Op, env: Env) -> None:
        available = execute.given(op) | {n: env[v] for n, v in op.values()}
        try:
            require_registers(op.page, self.core.target, self.core.state, available)
        except PtoError as problem:
            raise self._inside(problem.at(op.span), request) from None

    def final(self) -> Env:
        """Return the handles of the values that are read after the run."""
        results = zip(self.session.shown, self.session.plan.results, strict=True)
        found = {v: self.concrete(template) for v, template in results if template is not None}
        env = {**self.session.real, **found}
        if any(isinstance(env.get(value), Matrix) for value in self.session.shown):
            self._mark()  # readers of a tile check which elements were written
        return env
