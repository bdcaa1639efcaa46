"""The interpreter of functions that await flags above the lines which raise them.

The reference executes what is issued at once, as if each pipe were done before the next line. Here
a wait for a flag that is down holds up the queue of its pipe: what this pipe gets is executed when
another one, whose queue goes on, has raised the flag.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from ptokit.analysis.earlywaits import waits_early
from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.lang.traits import FIFO, FLAGS, MACHINE, FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import Pipe
from ptokit.sim.arguments import Env
from ptokit.sim.cores.group import GroupedCore
from ptokit.sim.execute import moves
from ptokit.sim.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.sim.reference.interpreter import (
    InterpretedMachine,
    Interpreter,
    OpExecution,
    Step,
)
from ptokit.sim.reference.queuedfifo import QueuedFifoEnd, ReceivingMachine, in_another_slot
from ptokit.sim.state import Flags, Queue
from ptokit.sim.tile import Matrix


class _Entry(NamedTuple):
    """What a queue takes when it is `ready`: a wait, if it has a `problem` where it never is."""

    act: Callable[[], None]
    ready: Callable[[], bool]
    problem: PtoError | None = None


class QueuedFlags(Flags):
    """The flags of a core whose queues hold entries up; `issued` are told of sets and waits."""

    def __init__(self, issued: Flags) -> None:
        super().__init__()
        self.issued = None if type(issued) is Flags else issued
        self.span: Span | None = None  # of the instruction
        self.queues = defaultdict[Queue, deque[_Entry]](deque)
        self.going = deque[Queue]()  # the queues that go on, the first one now

    def held(self, queue: Queue) -> bool:
        """Whether the queue of a pipe waits."""
        return bool(self.queues[queue])

    def put(self, queue: Queue, act: Callable[[], None]) -> None:
        """Do it when the queue comes to it."""
        self._issue(queue, _Entry(act, lambda: True))

    def set(self, source: Queue, target: Queue, event: int) -> None:
        if self.issued is not None:
            self.issued.set(source, target, event)
        self.put(source, partial(self._raise, source, target, event))

    def wait(self, source: Queue, target: Queue, event: int) -> None:
        if self.issued is not None:
            self.issued.wait(source, target, event)
        if source is target:
            return
        lower, problem = partial(super().wait, source, target, event), None
        if not self.is_up((source, target, event)):
            try:
                lower()
            except PtoError as missing:
                problem = missing.at(self.span)
        ready = partial(self.is_up, (source, target, event))
        self._issue(target, _Entry(lower, ready, problem))
        if target is Pipe.S:  # it issues nothing more
            self.settled([target])

    def barrier(self, pipe: Queue) -> None:
        if self.issued is not None:
            self.issued.barrier(pipe)
        if pipe is Pipe.ALL:
            self.settled([*self.queues])

    def settled(self, queues: Sequence[Queue]) -> None:
        """Whoever waits for these queues waits for ever if one of them does."""
        for queue in queues:
            problem = next((e.problem for e in self.queues[queue] if e.problem is not None), None)
            if problem is not None:
                raise problem

    def _raise(self, source: Queue, target: Queue, event: int) -> None:
        super().set(source, target, event)
        self._go_on(target)

    def _issue(self, queue: Queue, entry: _Entry) -> None:
        self.queues[queue].append(entry)
        if len(self.queues[queue]) == 1:
            self._go_on(queue)

    def _go_on(self, queue: Queue) -> None:
        """Execute what the queue holds up to the next wait, then what that lets go on."""
        if queue in self.going:
            return
        self.going.append(queue)
        if len(self.going) > 1:
            return
        while self.going:
            entries = self.queues[self.going[0]]
            while entries and entries[0].ready():
                entries.popleft().act()
            self.going.popleft()


class QueuedInterpreter(Interpreter):
    """Executes what the scalar unit does in the order of the text, and the rest as queues go on."""

    def __init__(self, *how: Any) -> None:
        """Any: as `Interpreter` takes it."""
        super().__init__(*how)
        core = self.core
        self.flags = core.state.flags = QueuedFlags(core.state.flags)
        self.ends: Mapping[Op, Fifo] = core.ends if isinstance(core, GroupedCore) else {}
        self.counted: dict[int, int] = {}  # the counters of FIFOs, when all issued is done
        self.popped = defaultdict[Fifo, deque[Queue]](deque)  # whose slots are not given back yet

    def fifo_end(self, fifo: Fifo, core: GroupedCore) -> InterpretedFifoEnd:
        return QueuedFifoEnd(fifo, core, self.counted)

    def execution(self, op: AnyOp) -> Step:
        """One op made ready, for the queue of its pipe."""
        step, flags = super().execution(op), self.flags
        if not isinstance(op, Op):
            return step
        if FLAGS in op.page.uses:

            def told(env: Env) -> None:
                flags.span = op.span
                step(env)

            return told
        pipe = op.page.pipe_of(self.facts.environment(op)) if moves(op) else None
        if isinstance(step, OpExecution) and op in self.ends:
            return self._at_fifo(step, pipe or Pipe.S)
        if pipe in (None, Pipe.S) or op.results or op.regions:
            return step
        return self._queued(op, step, pipe)

    def _queued(self, op: Op, step: Step, pipe: Queue) -> Step:
        """The op, when its queue comes to it."""
        flags, values = self.flags, [value for _, value in op.values()]

        def queued(env: Env) -> None:
            queue = self._queue_of(op, pipe)
            if flags.held(queue):
                env = {value: _kept(env[value]) for value in values}
                flags.put(queue, partial(self._resumed, op, env, step))
            else:
                flags.put(queue, partial(step, env))

        return queued

    def _resumed(self, op: Op, env: Env, step: Step) -> None:
        for observer in self.observers:
            observer.resumed(op, env, self.core)
        step(env)

    def _at_fifo(self, step: OpExecution, pipe: Pipe) -> Step:
        """What is done at one end of a FIFO: tiles move in their queue, slots get a number now."""
        op = step.op
        role, entry = op.page.fifo_role, next(_entries(op), None)
        if role is FifoRole.OPENS:
            return step
        of_tile = entry is not None and isinstance(entry.type, TileType | ConvTileType)
        if role is FifoRole.ALLOCATES or (role is not FifoRole.FREES and not of_tile):
            return self._numbered(step, pipe)
        if role is not FifoRole.POPS or entry is None:
            return self._queued(op, step, pipe)
        if op.results:
            return self._received(step, pipe)
        queued = self._queued(op, step, pipe)

        def popped(env: Env) -> None:
            if self._keeps_slots():
                in_another_slot(env[entry])
            queued(env)

        return popped

    def _keeps_slots(self) -> bool:
        """Whether a pop leaves entries in their slots, which something issued may still read."""
        return not self.core.target.releases and any(self.flags.queues.values())

    def _numbered(self, step: OpExecution, pipe: Pipe) -> Step:
        """A view becomes a slot at once; its queue waits for the other end."""
        end = step.offer[FIFO]
        assert isinstance(end, QueuedFifoEnd)

        def numbered(env: Env) -> None:
            queue, end.later = self._queue_of(step.op, pipe), []
            try:
                step(env)
                left = end.later
            finally:
                end.later = None
            self.flags.put(queue, partial(self._caught_up, step.op, left))

        return numbered

    def _caught_up(self, op: Op, left: Sequence[Callable[[], None]]) -> None:
        if isinstance(self.core, GroupedCore):
            self.core.schedule.at(op.name, op.span)
        for act in left:
            act()

    def _received(self, step: OpExecution, pipe: Pipe) -> Step:
        """A pop that makes its tile."""
        machine = step.offer[MACHINE]
        assert isinstance(machine, InterpretedMachine)
        step.offer = {**step.offer, MACHINE: (promising := ReceivingMachine(machine))}

        def received(env: Env) -> None:
            queue, values = self._queue_of(step.op, pipe), step.operands(env)
            made = promising.promise(values[step.ready.result or ""].closed)
            if self._keeps_slots():
                in_another_slot(made)
            step.define(env, made)
            self.flags.put(queue, partial(step.execute, values))

        return received

    def _queue_of(self, op: Op, pipe: Queue) -> Queue:
        """Its pipe; the pipe that popped gives the slot back."""
        fifo, role = self.ends.get(op), op.page.fifo_role
        if fifo is not None and role is FifoRole.POPS:
            self.popped[fifo].append(pipe)
        frees = fifo is not None and role is FifoRole.FREES and self.popped[fifo]
        return frees.popleft() if frees else pipe

    def ended(self) -> None:
        """Nothing raises a flag any more."""
        self.flags.settled([*self.flags.queues])


def _kept(value: Any) -> Any:  # Any: a handle or a number
    """What an instruction gets when it is issued: a handle may name other bytes later."""
    return copy(value) if isinstance(value, Matrix) else value


def _entries(op: Op) -> Iterator[Value]:
    """What is pushed or popped: the tiles and views among results and operands."""
    every = (*op.results, *(value for _, value in op.values()))
    return (v for v in every if isinstance(v.type, TileType | ConvTileType | GlobalType))


def interpreter_of(func: Func) -> type[Interpreter]:
    """What executes a function: in the order of the text, if flags are raised in that order."""
    return QueuedInterpreter if waits_early(func) else Interpreter
