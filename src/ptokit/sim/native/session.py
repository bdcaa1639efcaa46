"""A compiled program and the data it runs on: frames, tables, and the way to the reference."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ptokit.check import learned
from ptokit.diagnostics import PtoError
from ptokit.facts import Facts
from ptokit.ir import Block, Op, Value
from ptokit.isa.targets import SPACES, Target
from ptokit.numerics.fixpipe import FixPipe
from ptokit.place import plan
from ptokit.sim import execute
from ptokit.sim.execute import Core
from ptokit.sim.hazards import State, require_registers
from ptokit.sim.interpreter import Interpreter, Machine, execution, within
from ptokit.sim.kernels.code import NotNative
from ptokit.sim.kernels.handles import Place, Slot, mapped, traced
from ptokit.sim.kernels.initial import Initial
from ptokit.sim.kernels.trace import Recorded, Span, Traced
from ptokit.sim.memory import WRITTEN, Codes, Memory
from ptokit.sim.native import cache as codes
from ptokit.sim.native.module import Compiler
from ptokit.sim.native.plan import BLOCK, BLOCKS, Plan, Request
from ptokit.sim.native.signature import described

if TYPE_CHECKING:
    from ptokit.bind import Bound

Env = dict[Value, Any]  # Any: handles and numbers
MOST_TRIES = 4


class Grown(Exception):
    """An array would have to grow, or something is wrong, while several threads write."""


@dataclass
class Session:
    """A compiled program with the memories of its arguments.

    `things` are the instructions and regions that requests name; `rules`: they are checked.
    """

    plan: Plan
    code: codes.Code
    core: Core  # the first block's
    facts: Facts
    addresses: Mapping[Value, int]
    real: Env  # the reference's handles of the arguments
    things: list[Any]
    shown: list[Value]  # whose handles the plan keeps as results
    rules: bool = True
    arrays: dict[str, Memory] = field(default_factory=dict[str, Memory])

    def __post_init__(self) -> None:
        self.arrays = _arrays(self.real, self.core)

    def run(self, blocks: int, *, alone: bool = False) -> tuple[Env, Counter[str]]:
        """Run all blocks; the error of the lowest block that failed. `alone`: on one thread."""
        growing = [m for m in self.arrays.values() if m.growable]
        if self.plan.serial or alone or blocks == 1:
            workers = [Worker(self, self.core, 0, blocks, blocks)]
            workers[0].run()
        elif growing:  # the first block tells how large they are; nothing may move afterwards
            workers = [Worker(self, self.core, 0, 1, blocks)]
            workers[0].run()
            for memory in growing:
                memory.growable = False
            workers += self._at_once(1, blocks) if workers[0].problem is None else []
            if any(w.problem for w in workers):
                raise Grown
        else:
            workers = self._at_once(0, blocks)
        for worker in workers:
            if worker.problem is not None:
                problem, index = worker.problem
                if isinstance(problem, PtoError) and blocks > 1:
                    problem = problem.noted(f"in block {index}")
                raise problem from None
        counts = Counter[str]()
        for worker in workers:
            for slot, counted in self.plan.counts:
                times = int(worker.frame[slot])
                counts.update({name: n * times for name, n in counted.items() if times})
        return (workers[0].final() if blocks == 1 else self.real), counts

    def _at_once(self, first: int, blocks: int) -> list[Worker]:
        """Equal runs of the blocks from `first` on, one for each processor, finished."""
        workers = self.workers(blocks, first)
        rest = [_threads().submit(worker.run) for worker in workers[1:]]
        for worker in workers[:1]:
            worker.run()
        for other in rest:
            other.result()
        return workers

    def workers(self, blocks: int, first: int = 0) -> list[Worker]:
        """Equal runs of the blocks from `first` on, one for each processor."""
        count = 1 if self.plan.serial else min(blocks - first, os.cpu_count() or 1)
        edges = [first + (blocks - first) * n // count for n in range(count + 1)]
        target, fixpipe = self.core.target, self.core.fixpipe
        own = blocks == 1 or self.plan.serial
        cores = [self.core if own else Core(target, fixpipe, 0, blocks) for _ in range(count)]
        ranges = zip(cores, pairwise(edges), strict=True)
        return [Worker(self, core, *edge, blocks) for core, edge in ranges]


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads that wait for further launches."""
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "ptokit")


@dataclass
class Worker:
    """One thread: a run of blocks on one core's memories."""

    session: Session
    core: Core
    first: int
    last: int
    blocks: int
    problem: tuple[BaseException, int] | None = None

    def __post_init__(self) -> None:
        plan = self.session.plan
        self.frame = np.zeros(plan.slots, np.int64)
        self.frame[BLOCKS] = self.blocks
        self.memories = [self._memory(name) for name in plan.spaces]
        self.table = np.zeros(3 * len(self.memories) + 1, np.int64)
        self.room = np.zeros(plan.scratch + 64, np.uint8)
        self.executions: dict[int, Any] = {}  # Any: the interpreter's prepared instruction
        self.block = self.first
        self.marked = False
        self._point()

    def _memory(self, name: str) -> Memory:
        """The bytes behind a space of the program: an argument's, or this core's."""
        return self.session.arrays.get(name) or self.core.space_named(name)

    def _point(self) -> None:
        """The table of memories; arrays that grow move."""
        for number, (name, memory) in enumerate(
            zip(self.session.plan.spaces, self.memories, strict=True)
        ):
            shared = name in self.session.arrays and not memory.given  # made once, for all threads
            shadow = shared or name in self.session.plan.tracked
            row = (
                codes.address_of(memory.data),
                codes.address_of(memory.shadow) if shadow else 0,
                memory.size,
            )
            self.table[3 * number : 3 * number + 3] = row

    def run(self) -> None:
        """Run the blocks; a problem stays in `problem`."""
        callback = codes.CALLBACK(self._ask)
        scratch = -(-codes.address_of(self.room) // 64) * 64
        pointers = (codes.address_of(a) for a in (self.frame, self.table))
        entry = self.session.code.function("launch", codes.ENTRY)
        failed = entry(*pointers, scratch, codes.pointer_of(callback), self.first, self.last)
        assert bool(failed) == (self.problem is not None)

    def _ask(self, number: int, _: int) -> int:
        """Called by the compiled program: the reference runs one instruction."""
        try:
            self._execute(self.session.plan.requests[number], number)
        except BaseException as problem:  # an interrupt too ends the compiled program
            self.problem = problem, int(self.frame[BLOCK])
            return 1
        self._point()
        return 0

    def _mark(self) -> None:
        """Before the reference looks: what is not tracked is known to be written."""
        names = zip(self.session.plan.spaces, self.memories, strict=True)
        for name, memory in names:
            if name not in self.session.plan.tracked and not self.marked:
                memory.shadow[:] = WRITTEN
        self.marked = True

    def _execute(self, request: Request, number: int) -> None:
        self._mark()
        block = int(self.frame[BLOCK])
        if block != self.block:
            self.block, self.core.state = block, State()
            self.executions.clear()  # they hold the old one
        self.core.block_idx = block
        op = self.session.things[request.op]
        names = [value for _, value in op.values()] if isinstance(op, Op) else []
        env = dict(zip(names, map(self.concrete, request.values), strict=True))
        if request.only_registers:
            self._registers(request, op, env)
        elif self.session.rules:
            self._step(request, number, env)
        else:
            execute.run_op(op, env, self.core)

    def _step(self, request: Request, number: int, env: Env) -> None:
        if number not in self.executions:
            session = self.session
            facts = Facts(self.core.target, dict(session.facts.numbers), dict(session.facts.types))
            interpreter = Interpreter(Machine(self.core), facts, session.addresses)
            self.executions[number] = execution(session.things[request.op], interpreter)
        try:
            self.executions[number](env)
        except PtoError as problem:
            raise self._inside(problem, request) from None

    def _inside(self, problem: PtoError, request: Request) -> PtoError:
        """The loops around it: 'with %k = 3'."""
        for place, arguments in reversed(request.inside):
            block: Block = self.session.things[place]
            problem = within(problem, block, tuple(map(self.concrete, arguments)))
        return problem

    def concrete(self, template: Any) -> Any:  # Any: a handle or a number
        """The reference's handle of a compiled program's value."""

        def number(value: Any) -> int:
            return int(self.frame[value.number]) if isinstance(value, Slot) else value

        def memory(place: Any) -> Memory:
            return self.memories[place.number] if isinstance(place, Place) else place

        return mapped(template, number, memory)

    def _registers(self, request: Request, op: Op, env: Env) -> None:
        available: dict[str, Any] = {a.name: op.attrs.get(a.name, a.default) for a in op.page.attrs}
        available |= {n: env[v] for n, v in op.values()}
        try:
            require_registers(op.page, self.core.target, self.core.state, available)
        except PtoError as problem:
            raise self._inside(problem.at(op.span), request) from None

    def final(self) -> Env:
        """The reference's handles of what is looked at after the run."""
        self._mark()
        results = zip(self.session.shown, self.session.plan.results, strict=True)
        found = {v: self.concrete(template) for v, template in results if template is not None}
        return {**self.session.real, **found}


def compile_program(bound: Bound, target: Target, fixpipe: FixPipe, blocks: int) -> Session:
    """A session of a function with its arguments; NotNative if it cannot be compiled."""
    known = learned(bound.func, target, bound.numbers)
    addresses, _ = plan(bound.func, known)
    core = Core(target, fixpipe, 0, blocks)
    real: Env = bound.shared()
    if blocks == 1:
        real |= bound.local(Machine(core), addresses)
    key, attempt = described(bound.func.body, core, real), _attempt(bound, core, addresses, real)
    code, made = _compiled(key, attempt)
    things = [t for op in bound.func.body.walk() for t in (op, *op.regions)]
    return Session(made, code, core, known, addresses, real, things, bound.looked_at())


def compiler_of(bound: Bound, target: Target, fixpipe: FixPipe, blocks: int) -> Compiler:
    """What `compile_program` generates, for people to look at."""
    made = compile_program(bound, target, fixpipe, blocks)
    return _settled(_attempt(bound, made.core, made.addresses, made.real))[0]


def _attempt(bound: Bound, core: Core, addresses: Mapping[Value, int], real: Env) -> Any:
    """Any: a function that compiles, with the memories it is given tracked."""
    shown, target = bound.looked_at(), core.target

    def attempt(tracked: set[str]) -> tuple[Compiler, str]:
        compiler = _compiler(core, Facts(target, dict(bound.numbers)), addresses, tracked)
        env = {value: _argument(compiler, handle, value) for value, handle in real.items()}
        text = compiler.module(bound.func, env, shown)
        for value in shown:
            handle = env.get(value)
            if isinstance(handle, Recorded) and not hasattr(handle, "origin"):
                _look_at(compiler.initial, handle)
        return compiler, text

    return attempt


def compile_op(op: Op, env: Mapping[Value, Any], core: Core) -> Session:
    """A session of one instruction on handles, without its rules."""
    real = dict(env)
    shown = [v for v in real if op.page.aliases]

    def attempt(tracked: set[str]) -> tuple[Compiler, str]:
        compiler = _compiler(core, Facts(core.target), {}, tracked)
        handles = {value: _argument(compiler, handle, value) for value, handle in real.items()}
        compiler.single(op, handles)
        return compiler, compiler.text(handles[v] for v in shown)

    code, made = _compiled(described(Block(ops=[op]), core, real), attempt)
    return Session(made, code, core, Facts(core.target), {}, real, [op], shown, rules=False)


def _compiled(key: str, attempt: Any) -> tuple[codes.Code, Plan]:  # Any: a function, see above
    """From the cache, or compiled."""

    def make() -> tuple[str, bytes]:
        compiler, text = _settled(attempt)
        return text, pickle.dumps(compiler.plan())

    code, kept = codes.compiled(key, make, codes.this_processor())
    return code, pickle.loads(kept)


def _settled(attempt: Any) -> tuple[Compiler, str]:  # Any: a function, see above
    """Compiled again with more memories tracked until every read is safe."""
    tracked: set[str] = set()
    for _ in range(MOST_TRIES):
        compiler, text = attempt(tracked)
        if compiler.initial.unproven <= tracked:
            return compiler, text
        tracked |= compiler.initial.unproven
    raise NotNative("what is read was not settled")


def _look_at(initial: Initial, handle: Any) -> None:  # Any: a tile
    """A result that is shown after the run if it was written."""
    rows, cols = getattr(handle, "valid", (handle.rows, handle.cols))
    spans = (Span(0, n, limit=m) for n, m in ((rows, handle.rows), (cols, handle.cols)))
    initial.read(handle.elements, *spans)


def _compiler(
    core: Core, facts: Facts, addresses: Mapping[Value, int], tracked: set[str]
) -> Compiler:
    host = codes.this_processor().host
    Traced.native_half = host.half
    compiler: Compiler

    def start(name: str) -> Codes | None:
        space = next((s for s in compiler.spaces if s.name == name), None)
        given = None if space is None else space.memory
        memory: Memory = given or core.space_named(name)
        return None if memory.given else memory.shadow

    def fresh(op: Op) -> Any:  # Any: a type and an address
        if op.bound("addr"):
            return None
        result = op.results[0]
        return facts.type_of(result), addresses[result]

    initial = Initial(start, fresh)
    compiler = Compiler(host, core, facts, addresses, initial, set(tracked))
    return compiler


def _own(memory: Memory, core: Core) -> bool:
    """Whether a memory is one of the core's."""
    return memory.name in SPACES.values() and core.space_named(memory.name) is memory


def _arrays(real: Env, core: Core) -> dict[str, Memory]:
    """The memories of arguments that are not the core's, by the names of their spaces."""
    memories = {f"%{v.name}": getattr(handle, "memory", None) for v, handle in real.items()}
    found: dict[str, Memory] = {}
    for name, memory in memories.items():
        shared = any(memory is other for other in found.values())
        if isinstance(memory, Memory) and not _own(memory, core) and not shared:
            found[name] = memory
    return found


def _argument(compiler: Compiler, handle: Any, value: Value) -> Any:  # Any: a handle or a number
    """An argument as the compiled program sees it."""
    memory = getattr(handle, "memory", None)
    if not isinstance(memory, Memory):
        return handle
    space = next((s for s in compiler.spaces if s.real is memory), None)
    if space is None:
        own = _own(memory, compiler.core)
        name = memory.name if own else f"%{value.name}"
        space = compiler.new_space(name, memory.size, None if own else memory)
        space.real = memory
    return traced(handle, space)
