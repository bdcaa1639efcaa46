"""From a function or an instruction to machine code, and to sessions of it on given values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from ptokit.analysis.earlywaits import waits_early
from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import spoiled
from ptokit.analysis.placement import Planned
from ptokit.engines.native.blockrange import RangeResult, Sizes
from ptokit.engines.native.localregisters import LocalRegisters, largest_register
from ptokit.engines.native.plan import Plan, Unkept, described, plan_of, plan_text
from ptokit.engines.native.seenruns import PLAIN, Coding, Numbers, SeenRuns, Tracking
from ptokit.engines.native.session import Doubtful, Grown, Session, Worker, taken_warnings
from ptokit.engines.reference.engine import InterpretedFunction
from ptokit.engines.reference.interpreter import InterpretedMachine
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.lang.traits import PRINTS
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.tiles import ConvTileType, RegisterType, TileType
from ptokit.isa.model.types import Kind
from ptokit.machine import cache
from ptokit.machine.arguments import Bound, Env, Launch, Outcome
from ptokit.machine.execute import LOG, Core
from ptokit.machine.executionlog import Logged
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.memory import Codes, Memory
from ptokit.machine.observer import Observer
from ptokit.machine.record.code import NotNative
from ptokit.machine.record.dataflow import REGISTERS, Source
from ptokit.machine.record.definitelanes import DefiniteLanes, Place
from ptokit.machine.record.expressions import AxisWindow, Traced
from ptokit.machine.record.handles import traced
from ptokit.machine.record.trace import FRAME, Recorded
from ptokit.machine.slotnumber import SlotNumber
from ptokit.machine.undefinedstore import undefined_results
from ptokit.values.fixpipe import FixPipe

if TYPE_CHECKING:  # code that the cache keeps is not generated again
    from ptokit.engines.native.generator import Compiler
    from ptokit.engines.native.queuedfifos import Rings

Variant: TypeAlias = "tuple[bool, cache.Processor]"
MOST_TRIES = 12  # each attempt tracks at least one more memory


class CompiledBody:
    """A function for cores, compiled when it first runs on one."""

    @gc_disabled()
    def __init__(self, bound: Bound, target: Target, *, queued: bool = False) -> None:
        """Prepare the function; if `queued`, its pipes have queues if it has flags."""
        self.func = bound.func
        facts = facts_of(bound.func).on(target, bound.numbers)
        self.known, self.planned = facts.known, facts.placement.planned
        self.shown = bound.candidate_outputs
        self.things = [t for op in bound.func.ops for t in (op, *op.regions)]
        self.made: dict[object, Made | NotNative] = {}
        self.whole_entries = True  # as long as no run finds a smaller one
        self.queued = bound.func.orders_pipes and (queued or waits_early(bound.func))

    def job_on(self, core: Core, real: Env) -> Job:
        """Return the compilation job for a core with these arguments."""
        core.behind = self.planned.behind
        given = self.known, self.planned, real, self.shown
        job = Job(core, *given, self._generate)
        job.queued, job.ops = self.queued, self.things
        job.whole_entries = self.whole_entries and not self.queued
        if self.queued:
            from ptokit.engines.native.queuedfifos import slots_behind

            job.rings, core.behind = slots_behind(self.func, core, self.known, core.behind)
        return job

    def started(self, job: Job, limits: RunLimits, kind: object) -> Session:
        """Return a session of the code on arguments; NotNative if there is no code.

        Code compiled for one `kind` of core serves all cores of this kind.
        """
        if kind not in self.made:
            job.limited = limits.most is not None
            self.made[kind] = job.compiled(self.func.body)
        made = self.made[kind]
        if isinstance(made, NotNative):
            raise NotNative(*made.args)
        return job.session(made, self.things, limits)

    def log(self, worker: Worker) -> Logged:
        """Return a copy of the log of one thread, since the next run overwrites the log."""
        words = worker.core.log.data.view(np.int64)
        about = worker.session.plan.points, worker.session.things, self.func.body, worker.core
        return Logged(words[: words[0]].copy(), *about, worker.memories, worker.session.known)

    def _generate(self, compiler: Compiler, env: Env) -> None:
        if self.queued and (compiler.limited or compiler.logged):
            raise NotNative("an observer needs the order of queues")
        if not self.queued and not any(isinstance(v.type, RegisterType) for v in self.shown):
            compiler.registers = LocalRegisters(compiler.variables, largest_register(self.func))
        compiler.function(self.func, env)
        for value in self.shown:
            _require_initialised(compiler.initial, compiler.now(env.get(value)))


class CompiledFunction(CompiledBody):
    """A function that runs repeatedly, on arguments that differ in content only.

    It is compiled when it first runs, once with and once without a limit of instructions.
    """

    def __init__(self, launch: Launch, how: Options) -> None:
        bound = launch.sole
        super().__init__(bound, how.target)
        self.how = how
        self.prints = bound.func.takes(PRINTS)  # print output needs block order and a single run
        self.repeats = not bound.slots and not any(map(_reads_numbers, bound.func.ops))
        self.grown: dict[str, tuple[int, tuple[int, ...]]] = {}  # outputs without an array
        self.idle: dict[object, list[Session]] = {}  # by what their code does
        self.last: Session | None = None  # that ended
        self.seen = SeenRuns()

    def run(self, launch: Launch, limits: RunLimits, observers: Sequence[Observer] = ()) -> Outcome:
        """Run all blocks; the reference runs what cannot be compiled or is observed."""
        logged = any(observer.logs for observer in observers)
        numbers: Numbers = tuple(launch.sole.arrays[v.name] for v in launch.sole.slots)
        plain = not (self.queued or logged or limits.most is not None)
        coding = Coding(logged, self.seen.tracking(numbers) if plain else Tracking.EXACT)
        try:
            if any(observer.stepwise for observer in observers):
                raise NotNative("an observer sees every instruction")
            session = self._renewed(launch, limits, coding)
            try:
                done = self._finish(launch.sole, session, observers)
            except BaseException:
                session.restore()
                raise
            self.seen.ended(numbers, session)
            return self._kept(session, coding, done)
        except Doubtful:
            self.seen.doubted(numbers)
            return self.run(launch, limits, observers)
        except NotNative as reason:
            for observer in observers:
                observer.interpreted([("", str(reason))])
            reference = InterpretedFunction(launch, self.how, self.planned)
            return reference.run(launch, limits, observers)
        except Grown:
            session = self.session(launch, limits, coding)
            done = self._finish(launch.sole, session, observers, one_thread=True)
            return self._kept(session, coding, done)

    def _finish(
        self,
        bound: Bound,
        session: Session,
        observers: Sequence[Observer],
        *,
        one_thread: bool = False,
    ) -> Outcome:
        """Return outputs and counts; keep the sizes of outputs for further runs."""
        for observer in observers:
            observer.begins(session.done)
            observer.interpreted(session.plan.by_reference)
        env, count = session.run(self.how.blocks, one_thread=one_thread or self.prints)
        outputs, found = bound.outputs(env), taken_warnings(session.crew)
        if bound.computed:
            found += undefined_results(env, bound.computed)
        for observer in observers:
            observer.warned(found)
        for name, memory in session.arrays.items() if self.repeats else ():
            if memory.shape is not None:
                self.grown[name] = memory.size, memory.shape
        logged = LOG in session.plan.spaces
        for worker in session.crew if logged else ():
            log = self.log(worker)
            for observer in observers:
                observer.executed(log)
        return outputs, count

    def _kept(self, session: Session, coding: Coding, done: Outcome) -> Outcome:
        """Keep the session for further runs; return what the last one gave."""
        self.last = session
        self.idle.setdefault((coding, variant_of(session.limits)), []).append(session)
        return done

    def _renewed(self, launch: Launch, limits: RunLimits, coding: Coding) -> Session:
        """Return an idle session with these arguments, or a new one."""
        session: Session | None = None
        with suppress(LookupError):  # several threads ask
            session = self.idle[coding, variant_of(limits)].pop()
        if session is None:
            session = self.session(launch, limits, coding)
        else:
            session.renew(launch.sole, limits, launch.direct)
        for name, (size, shape) in self.grown.items():
            session.arrays[name].grow(size, shape)
        return session

    def session(
        self,
        launch: Launch,
        limits: RunLimits,
        coding: Coding,
        *,
        apart: bool = False,
        kept: frozenset[str] = frozenset(),
    ) -> Session:
        """Return a session with these arguments; NotNative if there is no code.

        `apart` and `kept`: see `Launch.apart`.
        """
        job = self.job(launch, apart=apart, kept=kept)
        job.logged, job.tracking = coding
        return self.started(job, limits, (*variant_of(limits), apart, kept, coding))

    def plans(self, launch: Launch, limits: RunLimits) -> list[Plan]:
        """Return the plan of a separate block; empty for one block, or with prints."""
        one = self.how.blocks == 1 or self.prints
        return [] if one else [self.session(launch, limits, PLAIN, apart=True).plan]

    def run_range(
        self,
        launch: Launch,
        limits: RunLimits,
        span: range,
        sizes: Sizes | None,
        kept: frozenset[str] = frozenset(),
    ) -> RangeResult:
        """Run these blocks of a `divided` launch; NotNative if only the reference can.

        `sizes` are those of outputs without an array, once the first block has determined them.
        `kept`: the arrays that blocks read and write.
        """
        coding = Coding(logged=bool(kept))
        session = self.session(launch, limits, coding, apart=True, kept=kept)
        arrays = {name.removeprefix("%"): memory for name, memory in session.arrays.items()}
        if sizes is not None:
            for memory in arrays.values():
                memory.growable = False
            for name, size in sizes.items():
                arrays[name].grow(*size)
        _, count = session.run(self.how.blocks, span=span)
        outputs = {arg.name: arrays[arg.name] for arg in launch.written}
        grown = {name: (m.size, m.shape) for name, m in outputs.items() if m.shape is not None}
        logs = [self.log(worker) for worker in session.crew] if kept else []
        warnings = taken_warnings(session.crew)
        return RangeResult.of(outputs, kept, grown, count=count, warnings=warnings, logs=logs)

    def job(
        self, launch: Launch, *, apart: bool = False, kept: frozenset[str] = frozenset()
    ) -> Job:
        """Return the compilation job, with handles on these arguments."""
        blocks = self.how.blocks
        core = Core(self.how.target, self.how.fixpipe, 0, blocks)
        core.behind = self.planned.behind
        bound, envs = launch.sole, launch.apart(kept) if apart else launch.shared()
        ((real,),) = (of_rank.values() for of_rank in envs)
        if blocks == 1 and bound.tiles:
            real |= bound.local(InterpretedMachine(core), self.planned.addresses)
        job = self.job_on(core, real)
        if apart:
            job.marked = frozenset(f"%{a.name}" for a in bound.written if a.name not in kept)
        return job


def variant_of(limits: RunLimits) -> Variant:
    """Return the key that selects the machine code of a run."""
    return limits.most is not None, cache.this_processor()


def _reads_numbers(op: AnyOp) -> bool:
    """Return whether the op reads a number from memory, so that runs may differ."""
    if not isinstance(op, Op):
        return True
    kinds = [op.page.operand(name).kind for name, _ in op.values()]
    numbers = any(o.kind in (Kind.SCALAR, Kind.INDEX) for o in op.page.results())
    return numbers and any(k in (Kind.TILE, Kind.CONV, Kind.GLOBAL, Kind.PTR) for k in kinds)


def compile_program(bound: Bound, target: Target, fixpipe: FixPipe, blocks: int) -> Session:
    """Return a session of a function with its arguments; NotNative if not compilable."""
    launch = Launch.of(bound)
    function = CompiledFunction(launch, Options(target, fixpipe, blocks))
    return function.session(launch, RunLimits(), PLAIN)


class Made(NamedTuple):
    """Machine code, and the data to run it."""

    plan: Plan
    code: cache.MachineCode
    owners: dict[str, Value]  # arguments of arrays, by the names of their spaces


@dataclass
class Job:
    """A compilation job: `generate` emits the code on symbolic handles of `real`."""

    core: Core
    known: Facts
    planned: Planned
    real: Env
    shown: Sequence[Value]  # read after the run
    generate: Callable[[Compiler, Env], None]
    limited: bool = False  # see `Compiler`
    logged: bool = False
    suspends: bool = False
    whole_entries: bool = False
    queued: bool = False  # the pipes have queues
    rings: Rings | None = None  # addresses of popped tiles, if the pipes have queues
    ops: Sequence[object] = ()  # ops and regions that define handles
    marked: frozenset[str] = frozenset()  # memories whose written bytes others see
    tracking: Tracking = Tracking.EXACT

    @gc_disabled()
    def compiled(self, body: Block) -> Made | NotNative:
        """Return cached or new code, or the reason why there is none."""
        made: list[Plan] = []

        def make() -> tuple[list[str], bytes | None]:
            compiler, texts = self.settled()
            made.append(self._plan(compiler))
            with suppress(Unkept):
                return texts, plan_text(made[0])
            return texts, None

        how = f"{self.limited} {self.logged} {self.suspends} {self.queued} {self.whole_entries}"
        how = f"{how} {sorted(self.marked)} {self.tracking.name}"
        key = f"{how}\n{described(body, self.core, self.real)}"
        try:
            code, kept = cache.compiled(key, make, cache.this_processor())
        except NotNative as reason:
            return reason
        return Made(made[0] if made else plan_of(kept), code, self._owners())

    def session(
        self, made: Made, things: list[Any], limits: RunLimits, *, rules: bool = True
    ) -> Session:
        """Return a session; `things` are the instructions and regions that requests name."""
        given = (self.core, self.known, self.planned, self.real, things, self.shown)
        arrays = {name: self.real[value].memory for name, value in made.owners.items()}
        return Session(made.plan, made.code, *given, arrays, limits, rules)

    def settled(self) -> tuple[Compiler, list[str]]:
        """Compile, if possible with copies left out."""
        from ptokit.engines.native.forwarding import Refused

        if not (self.queued or self.logged):
            with suppress(Refused):
                return self._settled(forwards=True)
        return self._settled(forwards=False)

    def _settled(self, *, forwards: bool) -> tuple[Compiler, list[str]]:
        """Compile repeatedly, tracking more memories, until every read is safe."""
        tracked = set(self.marked) | (self._unproven() if self.queued else set[str]())
        refused, data = set[str](), frozenset[Source]()
        for _ in range(MOST_TRIES):
            compiler = self._compiler(tracked, refused, data)
            compiler.forwarding.leaves_out = forwards
            env = {value: self._argument(compiler, value) for value in self.real}
            self.generate(compiler, env)
            texts = compiler.modules(env.get(v) for v in self.shown)
            found = compiler.initial
            if self.tracking is Tracking.NONE:
                return compiler, texts
            compiler.forwarding.require_proven(found.needed)
            chooses = found.flow.chooses if self._careful(compiler, found.needed) else data
            if found.needed <= tracked and found.refused <= refused and chooses <= data:
                return compiler, texts
            tracked |= found.needed
            refused |= found.refused
            data = chooses
        raise NotNative("what is read was not settled")

    def _unproven(self) -> set[str]:
        """Return the memories whose reads are not proven by the order of the text."""
        found = set[str](SPACES.values())
        for value, handle in self.real.items():
            memory = getattr(handle, "memory", None)
            if isinstance(memory, Memory) and not memory.given:
                found.add(f"%{value.name}")
        return found

    def _careful(self, compiler: Compiler, tracked: set[str]) -> bool:
        """Return whether what is defined follows from numbers, if data choose no element.

        The code tracks registers and memories of the core alone, and does all by itself.
        """
        shown = any(isinstance(v.type, TileType | ConvTileType) for v in (*self.real, *self.shown))
        own = REGISTERS in tracked and tracked <= {*SPACES.values()}
        alone = own and not shown and not compiler.by_reference
        return self.tracking is Tracking.CAREFUL and alone and not compiler.initial.flow.decides

    def _plan(self, compiler: Compiler) -> Plan:
        """Return the plan, and what it says of later runs."""
        repeatable = self._careful(compiler, compiler.tracked)
        careful = repeatable and bool(compiler.initial.flow.data)
        return replace(compiler.plan(), careful=careful, repeatable=repeatable)

    def _compiler(self, tracked: set[str], refused: set[str], data: frozenset[Source]) -> Compiler:
        from ptokit.engines.native.generator import Compiler
        from ptokit.engines.native.issuequeues import QueueingCompiler

        host, core = cache.this_processor().host, self.core
        Traced.native_half = host.half
        compiler: Compiler

        def start(name: str) -> Codes | None:
            if name == FRAME.name:
                return None
            space = next((s for s in compiler.spaces if s.name == name), None)
            given = None if space is None else space.memory
            memory: Memory = given or core.space_named(name)
            return None if memory.given else memory.shadow

        def fresh(op: Op) -> tuple[TileType | ConvTileType, object] | None:
            if op.bound("addr"):
                return None
            result = op.results[0]
            kind = cast("TileType | ConvTileType", self.known.type_of(result))
            return kind, self.planned.addresses[result]

        definitions = {v: op for op in self.ops if isinstance(op, Op) for v in op.results}

        def spoils(op: Op) -> Iterator[Place]:
            for value in (op.bound(name)[0] for name in spoiled(op, self.known)):
                kind, made = self.known.type_of(value), definitions.get(value)
                address: object = self.planned.addresses.get(value)
                if address is None and made is not None and made.bound("addr"):
                    address = self.known.numbers.get(made.bound("addr")[0])
                if isinstance(kind, TileType):
                    yield SPACES[kind.loc], address, kind.nbytes

        initial = DefiniteLanes(start, fresh, spoils, refused, data)
        made = QueueingCompiler if self.queued else Compiler
        compiler = made(host, core, self.known, self.planned, initial, set(tracked))
        if isinstance(compiler, QueueingCompiler) and self.rings is not None:
            compiler.rings = self.rings
        compiler.limited, compiler.logged = self.limited, self.logged
        compiler.suspends, compiler.whole_entries = self.suspends, self.whole_entries
        return compiler

    def _argument(self, compiler: Compiler, value: Value) -> object:
        """Return an argument as the compiled program sees it."""
        handle = self.real[value]
        memory = getattr(handle, "memory", None)
        if isinstance(handle, SlotNumber):
            return compiler.load(compiler.place(compiler.slot()), handle.limits)
        if not isinstance(memory, Memory):
            return handle
        space = next((s for s in compiler.spaces if s.real is memory), None)
        if space is None:
            name, given = (memory.name, None) if self._own(memory) else (f"%{value.name}", memory)
            space = compiler.new_space(name, memory.size, given)
            space.real = memory
        return traced(handle, space)

    def _own(self, memory: Memory) -> bool:
        """Return whether the memory belongs to the core."""
        return memory.name in SPACES.values() and self.core.space_named(memory.name) is memory

    def _owners(self) -> dict[str, Value]:
        """Return an argument for each memory that is not the core's, by the name of its space."""
        found: dict[str, Value] = {}
        for value, handle in self.real.items():
            memory = getattr(handle, "memory", None)
            shared = any(memory is self.real[other].memory for other in found.values())
            if isinstance(memory, Memory) and not self._own(memory) and not shared:
                found[f"%{value.name}"] = value
        return found


def _require_initialised(initial: DefiniteLanes, handle: object) -> None:
    """Require that a result shown after the run is written in its valid region."""
    if isinstance(handle, Recorded) and not hasattr(handle, "origin"):
        rows, cols = getattr(handle, "valid", (handle.rows, handle.cols))
        spans = (AxisWindow(0, n, limit=m) for n, m in ((rows, handle.rows), (cols, handle.cols)))
        initial.read(handle.elements, *spans)
