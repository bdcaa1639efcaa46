"""Compiled functions whose program order has flag waits before their sets.

The main function is the scalar unit: it puts instructions into the queues of their pipes, as
records with the current numbers of the operands. Each instruction is a function of its record,
which the queue calls. In case of a fault the reference restarts the run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from ptokit.analysis.fifoentries import entry_of
from ptokit.engines.native.compiledwaits import CompiledFifoEnd
from ptokit.engines.native.coroutines import suspend
from ptokit.engines.native.entry import ARGUMENTS
from ptokit.engines.native.flow import compiled_regions
from ptokit.engines.native.frame import CELL, LEAST, TOO_LARGE, WAITING, Purpose
from ptokit.engines.native.generator import Compiler
from ptokit.engines.native.machine import offer
from ptokit.engines.native.mainfunction import MOST_COUNTED, OVERFLOW
from ptokit.engines.native.plan import Plan
from ptokit.engines.native.queuecode import (
    ACQUIRE,
    ACQUIRED,
    HEADS,
    NOT_YET,
    OWN,
    PASSED,
    PENDING,
    RELEASE,
    SET,
    STATE,
    TAILS,
    WAIT,
    WAITS,
    QueueSpaces,
    queue_functions,
)
from ptokit.engines.native.queuedfifos import (
    IssuedFifos,
    NumberedCompiledEnd,
    ReceivingCompiledMachine,
    Rings,
    is_view,
)
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.environment import ByName, arguments, environment
from ptokit.isa.lang.traits import ALIASES, FIFO, FLAGS, MACHINE, SIGNALS, FifoRole, Resource
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.execute import moves, refined
from ptokit.machine.record.code import Code, Coded, Int, NotNative, Num, Truth, every, text
from ptokit.machine.record.expressions import Recording
from ptokit.machine.record.handles import mapped
from ptokit.machine.record.trace import Recorded, TracedTile
from ptokit.machine.state import PIPES, Queue, flag_number
from ptokit.machine.tile import Pointer

K = TypeVar("K")

ENTRY = """define internal i32 @entry{number}({arguments}, ptr %record) {{
entry:
{lines}
  ret i32 0
{overflow}:
  %large = call i32 %callback(i64 {too_large})
  br label %failed
failed:
  ret i32 1
}}"""


class QueuedWords:
    """The operations of `machine.state.Flags` as queue entries."""

    def __init__(self, main: QueueingCompiler, op: Op) -> None:
        self.main, self.place = main, main.places[id(op)]

    def set(self, source: Queue, target: Queue, event: Num) -> None:
        """Issue an entry that raises a flag."""
        if source is not target:
            self._later(source, SET, [self._flag(source, target, event)])

    def wait(self, source: Queue, target: Queue, event: Num) -> None:
        """Hold the queue of the target until the flag is up; S issues nothing meanwhile."""
        if source is target:
            return
        self._later(target, WAIT, [self._flag(source, target, event), self.place])
        if target is Pipe.S:
            self.main.recording.after.append(partial(self.main.require_empty, Pipe.S))

    @staticmethod
    def join(event: object) -> None:
        """Do nothing: values of text name no pending event."""

    def barrier(self, pipe: Queue) -> None:
        """Wait for all queues, if the barrier is of all pipes."""
        if pipe is Pipe.ALL:
            self.main.recording.after.append(self.main.require_empty)

    def acquire(self, pipe: Queue, buffer: Num, mode: int) -> None:
        """Hold the queue of the pipe until each earlier acquire of the buffer was released."""
        self.main.recording.after.append(partial(self._acquire, pipe, buffer))

    def release(self, pipe: Queue, buffer: Num, mode: int) -> None:
        """Issue an entry that releases the buffer."""
        self._later(pipe, RELEASE, [buffer])

    def _acquire(self, pipe: Queue, buffer: Num) -> None:
        main = self.main
        base = main.memory(main.queue_space().number, 0)
        index = main.code.let(f"add i64 {text(buffer)}, {ACQUIRED}")
        place = main.code.let(f"getelementptr i64, ptr {base}, i64 {index}")
        before = main.load(place, (0, MOST_COUNTED))
        after = before + 1
        main.store(place, after)
        main.put(_pipe(pipe), ACQUIRE, [buffer, self.place, before])

    @staticmethod
    def _flag(source: Queue, target: Queue, event: Num) -> Num:
        return flag_number(_pipe(source), _pipe(target), event)

    def _later(self, queue: Queue, entry: int, numbers: Sequence[Num]) -> None:
        put = partial(self.main.put, _pipe(queue), entry, numbers)
        self.main.recording.after.append(put)


def _pipe(queue: Queue) -> Pipe:
    if not isinstance(queue, Pipe):
        raise NotNative("the queue of an operation that no page has")
    return queue


@dataclass
class QueueingCompiler(Compiler):
    """The generator of a module whose pipes have queues."""

    entries: list[str] = field(default_factory=list[str])  # the functions of entries
    owners: list[int] = field(default_factory=list[int])  # the places of their instructions
    width: int = 3  # length of the longest record in words
    inner: Pipe | None = None  # the queue whose entry is being compiled
    offered: dict[Resource, object] = field(default_factory=dict[Resource, object])  # to bodies
    tries: bool = False  # the reference executes an instruction that may wait
    rings: Rings = field(default_factory=Rings)

    def function(self, func: Func, env: Env) -> None:
        """Compile a whole function, whose queues must be empty at its end."""
        self.fifos, self.first = IssuedFifos(self, func), func.body.ops[0]
        queues = self.memory(self.queue_space().number, 0)
        self.memory(self.flag_space().number, 0)
        size = f"i8 0, i64 {8 * STATE}, i1 false"
        self.variables.append(f"  call void @llvm.memset.p0.i64(ptr {queues}, {size})")
        super().function(func, env)
        self.require_empty()

    def beside(self) -> Iterable[str]:
        """Return the entries, and the functions that call them."""
        places = QueueSpaces(self.queue_space().number, self.flag_space().number)
        return *self.entries, *queue_functions(places, self.width, len(self.entries))

    # operations of the scalar unit

    def put(self, queue: Pipe, entry: int, numbers: Sequence[Num]) -> None:
        """Issue an entry with these numbers."""
        code, which = self.code, PIPES.index(queue)
        self.width = max(self.width, 1 + len(numbers))
        place = code.let(f"call ptr @room(ptr %memories, i64 {which})")
        self.leave_unless(Truth(code, code.let(f"icmp ne ptr {place}, null")))
        for offset, number in enumerate((entry, *numbers)):
            at = code.let(f"getelementptr i64, ptr {place}, i64 {offset}")
            self.store(at, number)
        result = code.let(f"call i32 @issue({PASSED}, i64 {which})")
        code.fail(code.let(f"icmp eq i32 {result}, 1"))
        if self.may_suspend:
            waits = code.let(f"icmp eq i32 {result}, {NOT_YET}")
            with code.when(waits), code.when(self._blocked()):
                self.store(self.place(LEAST), 0)  # the core may be resumed at any time
                self._suspend()
                self._retry()

    @property
    def may_suspend(self) -> bool:
        """Return whether queues may wait for other cores."""
        return self.suspends or bool(self.fifos.ends)

    def _suspend(self) -> None:
        """Let other cores run."""
        if self.suspends:
            suspend(self.code)
        else:
            self.request(self.first, Purpose.WAIT)

    def _blocked(self) -> Truth:
        """Return whether queues wait for other cores; register their counters for the core."""
        found = self.code.let(f"call i32 @blocked({PASSED})")
        return Truth(self.code, self.code.let(f"icmp ne i32 {found}, 0"))

    def _retry(self) -> None:
        """Retry the queues that wait for other cores."""
        failed = self.code.let(f"call i32 @again({PASSED})")
        self.code.fail(self.code.let(f"icmp ne i32 {failed}, 0"))

    @contextmanager
    def _until(self, met: Callable[[], Truth]) -> Generator[None]:
        """Repeat the body and suspend until the condition is met."""
        code = self.code
        head, waits, done = (code.name(n) for n in ("head", "waits", "done"))
        code.jump(head)
        code.start(head)
        code.branch(met(), done, waits)
        code.start(waits)
        yield
        with code.when(self.load(self.place(LEAST)) > 0):  # the core may have signalled itself
            self._suspend()
        self._retry()
        code.jump(head)
        code.start(done)

    def wait(self, op: AnyOp, place: str, least: Num) -> None:
        """Let the scalar unit wait for another core, while its queues go on.

        An entry of a queue returns NOT_YET, and is retried.
        """
        if self.inner is not None:
            self._hold(self.inner, place, least)
            return

        def met() -> Truth:
            return self.load(place, (0, MOST_COUNTED)) >= least

        with self._until(met):
            self._blocked()
            stays = self.load(self.place(LEAST), (0, 1))
            self.code.do(f"store ptr {place}, ptr {self.place(CELL)}")
            self.store(self.place(LEAST), stays * least)
            self.store(self.place(WAITING), self.places[id(op)] + 1)

    def _hold(self, queue: Pipe, counter: str, least: Num) -> None:
        """Leave an entry, which is retried later, if the counter is too small."""
        code, base = self.code, self.memory(self.queue_space().number, 0)
        small = self.load(counter, (0, MOST_COUNTED)) < least
        waits, goes = code.name("waits"), code.name("goes")
        code.branch(small, waits, goes)
        code.start(waits)
        first = WAITS + 3 * PIPES.index(queue)
        node, bound = (code.let(f"getelementptr i64, ptr {base}, i64 {first + n}") for n in (0, 1))
        code.do(f"store ptr {counter}, ptr {node}")
        self.store(bound, least)
        code.do(f"ret i32 {NOT_YET}")
        code.start(goes)

    def require_empty(self, queue: Pipe = Pipe.ALL) -> None:
        """Wait until one or all queues are empty; give up if they cannot become empty."""
        if not self.may_suspend:
            self.leave_unless(self._empty(queue))
            return
        with self._until(partial(self._empty, queue)):
            self.store(self.place(WAITING), 0)
            self.leave_unless(self._blocked())

    def _empty(self, queue: Pipe) -> Truth:
        base = self.memory(self.queue_space().number, 0)
        words = [0, PENDING]  # zero, and the number of entries
        if queue is not Pipe.ALL:
            words = [start + PIPES.index(queue) for start in (HEADS, TAILS)]
        places = (self.code.let(f"getelementptr i64, ptr {base}, i64 {n}") for n in words)
        first, last = (self.load(place) for place in places)
        left = last == (0 if queue is Pipe.ALL else first)
        return left

    def _arguments(self, op: Op, env: Env, values: ByName) -> ByName:
        if FLAGS not in op.page.uses and not self.offered:
            return super()._arguments(op, env, values)
        offered = {**offer(self, op, compiled_regions(self, op, env)), FLAGS: QueuedWords(self, op)}
        return arguments(op.page, values, {**offered, **self.offered})

    def compile_block(self, block: Block, env: Env) -> tuple[object, ...]:
        self.views.mutable |= self.fifos.received
        return super().compile_block(block, env)

    def _handles(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        uses = op.page.uses
        if SIGNALS in uses:
            self._signals(op, env, pending)
        elif FIFO in uses and op.page.fifo_role is not FifoRole.OPENS:
            self._at_fifo(op, env, pending)
        else:
            super()._handles(op, env, pending)

    def _signals(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Compile a signal operation of a pipe or of the scalar unit."""
        queue = self._queue_of(op)
        if FLAGS in op.page.uses:  # a barrier of all pipes with other cores
            self.require_empty()
        elif queue is None and not self.suspends:
            self._tried(op, env, pending)
            return
        if queue is None:
            super()._handles(op, env, pending)
            return
        if not (self.suspends or op.page.outs()):
            raise NotNative("queues wait for signals that the reference gives")
        values = {v: self.now(env[v]) for _, v in op.values()}
        self._put_own(op, queue, values, lambda env: Compiler._handles(self, op, env, pending))

    def _tried(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Let the reference execute the instruction repeatedly while it or a queue must wait."""
        code, head, waits, done = self.code, *(self.code.name(n) for n in ("head", "waits", "done"))
        code.jump(head)
        code.start(head)
        self._blocked()
        self.store(self.place(WAITING), 0)
        self.tries = True
        super()._handles(op, env, pending)
        self.tries = False
        code.branch(self.load(self.place(LEAST)) < 0, waits, done)
        code.start(waits)
        self._retry()
        code.jump(head)
        code.start(done)

    @contextmanager
    def _offering(self, offered: dict[Resource, object]) -> Generator[None]:
        """Offer these resources to the bodies inside."""
        self.offered = offered
        try:
            yield
        finally:
            self.offered = {}

    def _at_fifo(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Compile a push, pop or free of a tile as an entry, whose tile address is computed now."""
        role = op.page.fifo_role
        if role is FifoRole.ALLOCATES or (role is not FifoRole.FREES and is_view(entry_of(op))):
            self._numbered(op, env, pending)
            return
        queue, number = self.fifos.queue_of(op), self.fifos.announce(op)
        ring = None
        if op.page.fifo_role is FifoRole.POPS and number is not None:
            ring = self._slot(op, number)
        if op.results:
            self._define(env, op.results[0], self._promised(op, env, ring))
        elif ring is not None:
            entry = env[cast(Value, entry_of(op))]
            self.store(entry.slot, ring)
        used = (*op.results, *(v for _, v in op.values()))
        values = {v: self.now(env[v]) for v in used}

        def compiled(inner: Env) -> None:
            machine = ReceivingCompiledMachine(self, None)
            machine.promised = inner[op.results[0]] if op.results else None
            with self._offering({MACHINE: machine}):
                Compiler._handles(self, op, inner, pending)

        self._put_own(op, queue, values, compiled)

    def _numbered(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Give a view its slot now; issue the waits and signals for the other end as an entry."""
        end = NumberedCompiledEnd(fifo := self.fifos.ends[op], self, op, self.fifos)
        with self._offering({FIFO: end}):
            super()._handles(op, env, pending)
        queue = self.fifos.queue_of(op)
        of_queue = CompiledFifoEnd(fifo, self, op)

        def compiled(inner: Mapping[int, Num]) -> None:
            for n, one in enumerate(end.deferred):
                of_queue.finish(inner[2 * n], inner[2 * n + 1], waits=one.waits)

        numbers = [number for one in end.deferred for number in one[1:]]
        self._put_own(op, queue, dict(enumerate(numbers)), compiled)
        if queue is Pipe.S:  # the scalar unit issues nothing more
            self.require_empty(queue)

    def _ask(self, op: AnyOp, env: Env, purpose: Purpose = Purpose.RUN, **how: object) -> None:
        if self.offered and self.inner is None:  # the counters are not current yet
            self.leave_unless(Truth(self.code, "false"))
        else:
            super()._ask(op, env, Purpose.TRY if self.tries else purpose, **how)

    def _slot(self, op: Op, number: Int) -> Num | None:
        """Return the address of a popped tile that stays in its slot."""
        value, fifo = cast(Value, entry_of(op)), self.fifos.ends[op]
        start = self.rings.get((value, fifo))
        if start is None:
            return None
        size = cast(TileType, self.facts.type_of(value)).nbytes
        return start + (number % fifo.slots) * size

    def _promised(self, op: Op, env: Env, ring: Num | None) -> TracedTile:
        """Return the tile of a pop, before it has its content."""
        result, page = op.results[0], op.page
        name, values, target = page.results()[0].name, self._values(op, env), self.facts.target
        kind = target.resolve_any(result.type)  # of a tile
        if page.type_of is not None:
            seen = environment(page, values, op.attrs, target) | {name: kind}
            kind = refined(page.type_of, seen, target)
        assert isinstance(kind, TileType)
        address = self.planned.addresses[result] if ring is None else ring
        found = TracedTile(kind.closed, self.space(kind.loc), cast(int, address))
        found.label = f"%{result.name}"
        return found

    def _data(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Compile an instruction for the queue of its pipe, or for the scalar unit."""
        queue = self._queue_of(op) if self.inner is None else None
        if queue is None:
            super()._data(op, env, pending)
            return
        values = {v: self.now(env[v]) for _, v in op.values()}
        holds = every(g for value in values.values() for g in getattr(value, "assumed", ()))
        if holds is not True:
            self.leave_unless(holds if isinstance(holds, Truth) else Truth(self.code, "false"))

        def compiled(inner: Env) -> None:
            self._data(op, inner, pending)

        self._put_own(op, queue, values, compiled)

    def plan(self) -> Plan:
        """Return the plan for running the compiled code."""
        return replace(super().plan(), entries=tuple(self.owners), width=self.width)

    def _queue_of(self, op: Op) -> Pipe | None:
        """Return the pipe in whose queue the op waits; None: it executes at once."""
        if FLAGS in op.page.uses or not moves(op):
            return None
        pipe = op.page.pipe_of(self.facts.environment(op))
        if pipe in (None, Pipe.S):
            return None
        if ALIASES in op.page.traits:
            raise NotNative("a handle that changes when a queue comes to it")
        return pipe

    # entries

    def _put_own(
        self, op: Op, queue: Pipe, values: Mapping[K, Any], compiled: Callable[[dict[K, Any]], None]
    ) -> None:
        """Generate the function of an instruction, and issue it with the numbers of its record."""
        fields: dict[str, Int] = {}

        def note(number: Num) -> Num:
            if isinstance(number, Int):
                fields.setdefault(number.text, number)
            return number

        for value in values.values():
            _rebuilt(value, note)
        lines = self.code.lines, self.code.by_block
        number = OWN + len(self.entries)
        self.entries.append("")
        with self._apart(queue) as code:
            found: dict[str, Int] = {}
            for place, (name, old) in enumerate(fields.items()):
                at = code.let(f"getelementptr i64, ptr %record, i64 {place + 1}")
                given = code.let(f"load i64, ptr {at}")
                if name in lines[1]:
                    code.by_block.add(given)
                found[name] = Int(code, given, old.multiple, old.upper, old.limits)

            def given_now(number: Num) -> Num:
                return found[number.text] if isinstance(number, Int) else number

            inner = {v: _rebuilt(value, given_now) for v, value in values.items()}
            compiled(inner)
            body = "\n".join((*self.variables, *code.lines))
        filled = {"number": number, "arguments": ARGUMENTS, "overflow": OVERFLOW}
        self.entries[number - OWN] = ENTRY.format(lines=body, too_large=TOO_LARGE, **filled)
        self.owners.append(self.places[id(op)])
        self.put(queue, OWN + len(self.entries) - 1, [*fields.values()])

    @contextmanager
    def _apart(self, queue: Pipe) -> Generator[Code]:
        """Generate the code inside as another function."""
        before = self.code, self.variables, self.loaded, self.kept, self.inside, self.recording
        self.code, self.variables, self.loaded, self.kept = Code(), [], set(), {}
        self.inside, self.recording, self.inner = (), Recording(), queue
        try:
            yield self.code
        finally:
            self.code, self.variables, self.loaded, self.kept = before[:4]
            self.inside, self.recording = before[4:]
            self.inner = None


def _rebuilt(value: Any, number: Callable[[Num], Num]) -> Any:  # Any: a handle or a number
    """Return a value with its numbers mapped."""
    known = isinstance(value, Recorded | Pointer | Int | Coded)
    return mapped(value, number) if known else value
