"""The interpreter for functions whose program order has flag waits before their sets.

The plain interpreter executes each instruction at once, as if each pipe were done before the next
line. Here a wait for a flag that is down blocks the queue of its pipe, and the entries behind it
execute after another queue has raised the flag.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from ptokit.analysis.earlywaits import waits_early
from ptokit.analysis.fifoentries import entry_of
from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.engines.reference.heldqueues import HeldEntry, HeldQueues, RetriedSchedule
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.engines.reference.interpreter import InterpretedMachine, Interpreter, OpExecution, Step
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.lang.environment import ByName
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import FIFO, FLAGS, MACHINE, SIGNALS, FifoRole
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.execute import moves
from ptokit.machine.memory import Elements, Memory
from ptokit.machine.state import PIPES, Flags, Queue
from ptokit.machine.tile import Matrix, Tile
from ptokit.order.group import GroupedCore

RELEASE = "each acquire needs the release of the one before, by another entry of a queue"

T = TypeVar("T")


class QueuedFlags(Flags):
    """The flags of a core with queues; `issued` is informed of sets and waits at issue."""

    def __init__(self, issued: Flags, queues: HeldQueues) -> None:
        super().__init__()
        self.issued, self.queues = issued, queues
        self.told = type(issued) is not Flags  # else nobody hears of the issue
        self.acquired, self.freed = Counter[int](), Counter[int]()  # of each buffer

    def set(self, source: Queue, target: Queue, event: int) -> None:
        if self.told:
            self.issued.set(source, target, event)
        self.queues.put(source, partial(self._raise, source, target, event))

    def wait(self, source: Queue, target: Queue, event: int) -> None:
        if self.told:
            self.issued.wait(source, target, event)
        if source is target:
            return
        lower, problem = partial(super().wait, source, target, event), None
        name, span = self.queues.at
        if not self.is_up((source, target, event)):
            try:
                lower()
            except PtoError as missing:
                problem = missing.at(span)
        ready, what = partial(self.is_up, (source, target, event)), f"{source} -> {target}"
        self.queues.issue(
            target, HeldEntry(lower, ready, name, span, problem, f"event {event} of {what}")
        )
        if target is Pipe.S:  # it issues nothing more
            self.queues.settle([target])

    def barrier(self, pipe: Queue) -> None:
        self.issued.barrier(pipe)
        if pipe is Pipe.ALL:
            self.queues.settle()

    def acquire(self, pipe: Queue, buffer: int, mode: int) -> None:
        """Hold the queue of the pipe until each earlier acquire of the buffer was released."""
        self.issued.acquire(pipe, buffer, mode)
        before, (name, span) = self.acquired[buffer], self.queues.at
        self.acquired[buffer] += 1
        never = error("deadlock", f"{name}: buffer {buffer} is never free", span, help=RELEASE)
        ready = partial(self._is_free, buffer, before)
        self.queues.issue(pipe, HeldEntry(_done, ready, name, span, never, f"buffer {buffer}"))

    def release(self, pipe: Queue, buffer: int, mode: int) -> None:
        self.issued.release(pipe, buffer, mode)
        self.queues.put(pipe, partial(self._free, buffer))

    def _is_free(self, buffer: int, times: int) -> bool:
        return self.freed[buffer] >= times

    def _free(self, buffer: int) -> None:
        self.freed[buffer] += 1
        for queue in PIPES:
            if self.queues.held(queue):
                self.queues.go_on(queue)

    def _raise(self, source: Queue, target: Queue, event: int) -> None:
        super().set(source, target, event)
        self.queues.go_on(target)


class QueuedInterpreter(Interpreter):
    """An interpreter that runs scalar ops in program order and queues the others."""

    def __init__(self, *how: Any) -> None:
        """Create the interpreter; `how` are the arguments of `Interpreter`."""
        super().__init__(*how)
        core, schedule = self.core, None
        if isinstance(core, GroupedCore):
            schedule = core.schedule
        self.queues = HeldQueues(schedule)
        if isinstance(core, GroupedCore):
            held = RetriedSchedule(core.schedule, self.queues.going, self.queues.until)
            core.schedule = held
            core.board = replace(core.board, schedule=core.schedule)
        core.state.flags = QueuedFlags(core.state.flags, self.queues)
        self.ends: Mapping[Op, Fifo] = core.ends if isinstance(core, GroupedCore) else {}
        self.counted: dict[int, int] = {}  # FIFO counters as if all issued entries were complete
        self.popped = defaultdict[Fifo, deque[Queue]](deque)  # of slots not freed yet
        # the scalar unit waits for the other core before it issues a push or pop
        self.scalar_waits = core.target.chip and not core.target.separate

    def fifo_end(self, op: Op, fifo: Fifo, core: GroupedCore) -> InterpretedFifoEnd:
        return InterpretedFifoEnd(fifo, core, self.counted)

    def execution(self, op: AnyOp) -> Step:
        """Return the step of an op, which goes to the queue of its pipe."""
        step, queues = self._step_of(op), self.queues
        if not isinstance(op, Op) or not (moves(op) or FLAGS in op.page.uses):
            return step
        name, span = op.name, op.span

        def told(env: Env) -> None:
            queues.at = name, span
            step(env)

        return told

    def _step_of(self, op: AnyOp) -> Step:
        step = super().execution(op)
        if not isinstance(op, Op) or op.page.uses == (FLAGS,):
            return step
        if {FLAGS, SIGNALS} <= {*op.page.uses}:  # a barrier of all pipes with other cores
            return self._settled(step)
        pipe = op.page.pipe_of(self.facts.environment(op)) if moves(op) else None
        if isinstance(step, OpExecution) and op in self.ends:
            return self._at_fifo(step, pipe or Pipe.S)
        if pipe in (None, Pipe.S) or op.results or op.regions:
            return step
        return self._queued(op, step, pipe)

    def _settled(self, step: Step) -> Step:
        def settled(env: Env) -> None:
            self.queues.settle()
            step(env)

        return settled

    def _queued(self, op: Op, step: Step, pipe: Queue) -> Step:
        """Return a step that queues the op, which executes as a whole when it can."""
        queues, values = self.queues, [value for _, value in op.values()]
        may_wait = not CORES.isdisjoint(op.page.uses)  # for another core
        waits = step if may_wait and isinstance(step, OpExecution) else None
        clock = self.core.clock if isinstance(self.core, GroupedCore) else None

        def queued(env: Env) -> None:
            queue, do = self._queue_of(op, pipe), partial(step, env)
            if queues.held(queue) or waits is not None:
                env = {value: _kept(env[value]) for value in values}
                do = partial(step, env)
                if waits is not None:  # such an op is retried
                    do = partial(waits.execute, waits.operands(env))
                do = partial(self._resumed, op, env, do)
            if clock is not None and SIGNALS in op.page.uses:
                do = clock.later(do)
            queues.put(queue, do)

        return queued

    def _resumed(self, op: Op, env: Env, do: Callable[[], None]) -> None:
        for observer in self.observers:
            observer.resumed(op, env, self.core)
        do()

    def _at_fifo(self, step: OpExecution, pipe: Pipe) -> Step:
        """Return the step of a FIFO op: tiles move in their queue, slots are numbered at issue."""
        op = step.op
        role, entry = op.page.fifo_role, entry_of(op)
        if role is FifoRole.OPENS:
            return step
        of_tile = entry is not None and isinstance(entry.type, TileType | ConvTileType)
        if role is FifoRole.ALLOCATES or (role is not FifoRole.FREES and not of_tile):
            return self._numbered(step, pipe)
        then = self._tile_at_fifo(step, pipe, entry)
        end, split = step.offer[FIFO], step.ready.fixed["split"]
        assert isinstance(end, InterpretedFifoEnd)

        def announced(env: Env) -> None:
            end.announce(role, split, waits=self.scalar_waits)
            then(env)

        return announced

    def _tile_at_fifo(self, step: OpExecution, pipe: Pipe, entry: Value | None) -> Step:
        op, role = step.op, step.page.fifo_role
        if role is not FifoRole.POPS or entry is None:
            return self._queued(op, step, pipe)
        if op.results:
            return self._received(step, pipe)
        queued = self._queued(op, step, pipe)

        def popped(env: Env) -> None:
            if self._keeps_slots():
                _in_another_slot(env[entry])
            queued(env)

        return popped

    def _keeps_slots(self) -> bool:
        """Return whether popped entries stay in slots that an issued op may still read."""
        return not self.core.target.releases and self.queues.waiting

    def _numbered(self, step: OpExecution, pipe: Pipe) -> Step:
        """Return a step that gives a view its slot now and queues the waits for the other end."""
        end = step.offer[FIFO]
        assert isinstance(end, InterpretedFifoEnd)

        def numbered(env: Env) -> None:
            queue, end.later = self._queue_of(step.op, pipe), deque()
            end.waits_now = self.scalar_waits
            try:
                step(env)
                left = end.later
            finally:
                end.later = None
            self.queues.put(queue, partial(self._caught_up, step.op, left))
            if queue is Pipe.S:  # it issues nothing more
                self.queues.settle([queue])

        return numbered

    def _caught_up(self, op: Op, left: deque[Callable[[], None]]) -> None:
        """Execute the remaining operations of the op in order; retried if one has to wait."""
        if isinstance(self.core, GroupedCore):
            self.core.schedule.at(op.name, op.span)
        while left:
            left[0]()
            left.popleft()

    def _received(self, step: OpExecution, pipe: Pipe) -> Step:
        """Return the step of a pop that makes its tile."""
        machine = step.offer[MACHINE]
        assert isinstance(machine, InterpretedMachine)
        step.offer = {**step.offer, MACHINE: (promising := ReceivingMachine(machine))}

        def received(env: Env) -> None:
            queue, values = self._queue_of(step.op, pipe), step.operands(env)
            made = promising.promise(values[step.ready.result or ""].closed)
            if self._keeps_slots():
                _in_another_slot(made)
            step.define(env, made)
            self.queues.put(queue, partial(self._filled, step, values, promising))

        return received

    @staticmethod
    def _filled(step: OpExecution, values: ByName, made: ReceivingMachine) -> None:
        step.execute(values)
        made.promised.popleft()

    def _queue_of(self, op: Op, pipe: Queue) -> Queue:
        """Return the queue of an op: its pipe, or for a free the pipe that popped."""
        fifo, role = self.ends.get(op), op.page.fifo_role
        if fifo is not None and role is FifoRole.POPS:
            self.popped[fifo].append(pipe)
        frees = fifo is not None and role is FifoRole.FREES and self.popped[fifo]
        return frees.popleft() if frees else pipe

    def ended(self) -> None:
        """Wait for all queues; an unset flag is now a deadlock."""
        self.queues.settle()


class ReceivingMachine(InterpretedMachine):
    """A machine that makes the tile of a pop when the pop is issued."""

    def __init__(self, of: InterpretedMachine) -> None:
        super().__init__(of.core, of.planned, of.value)
        self.promised = deque[Matrix]()

    def promise(self, kind: TileType | ConvTileType) -> Matrix:
        """Return a handle on the planned bytes of the tile, whose content is unchanged."""
        assert self.value is not None
        self.promised.append(self._handle(kind, self.planned.addresses[self.value]))
        return self.promised[-1]

    def new(self, kind: TileType | ConvTileType) -> Matrix:
        """Return the first promised tile, with undefined content."""
        found = self.promised[0]
        if self.value not in self.planned.over and isinstance(found, Tile):
            found.shadow()[:] = 0
        return found


def _in_another_slot(handle: Matrix) -> None:
    """Move a tile to new bytes, so that the entry popped before is kept."""
    if isinstance(handle, Tile):
        here = handle.elements
        memory = Memory.blank(handle.memory.name, handle.address + handle.type.nbytes)
        handle.elements = Elements(memory, here.address, here.dtype, here.map, here.origin)


def _done() -> None:
    """Do nothing: the wait is over."""


def _kept(value: T) -> T:
    """Return the operand of an issued op; handles are copied, since they may change later."""
    return copy(value) if isinstance(value, Matrix) else value


def interpreter_of(func: Func, *, queued: bool = False) -> type[Interpreter]:
    """Return the interpreter class of a function: with queues if flags are awaited early.

    `queued`: with queues if the function has flags.
    """
    held = func.orders_pipes and (queued or waits_early(func))
    return QueuedInterpreter if held else Interpreter
