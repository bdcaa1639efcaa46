"""From a bound function, or one instruction, to a session: from the cache, or compiled now."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptokit.analysis.checker import learned
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned, plan
from ptokit.ir.module import Block, Op, Value
from ptokit.isa.model.targets import SPACES, Target
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.execute import Core
from ptokit.sim.kernels.handles import traced
from ptokit.sim.limits import RunLimits
from ptokit.sim.memory import Codes, Memory
from ptokit.sim.native import cache
from ptokit.sim.native.cachekey import described
from ptokit.sim.native.generator import Compiler, Env
from ptokit.sim.native.session import Session
from ptokit.sim.record.code import NotNative
from ptokit.sim.record.definite import Initial
from ptokit.sim.record.trace import Recorded, Span, Traced
from ptokit.sim.reference.interpreter import Machine

if TYPE_CHECKING:
    from ptokit.api.bind import Bound

MOST_TRIES = 4


def compile_program(
    bound: Bound, target: Target, fixpipe: FixPipe, blocks: int, limits: RunLimits | None = None
) -> Session:
    """A session of a function with its arguments; NotNative if it cannot be compiled."""
    things = [t for op in bound.func.body.walk() for t in (op, *op.regions)]
    job = _program(bound, target, fixpipe, blocks)
    limits = limits or RunLimits()
    job.limited = limits.most is not None
    return job.session(bound.func.body, things, limits)


def compiler_of(bound: Bound, target: Target, fixpipe: FixPipe, blocks: int) -> Compiler:
    """What `compile_program` generates, for people to look at."""
    return _program(bound, target, fixpipe, blocks).settled()[0]


def _program(bound: Bound, target: Target, fixpipe: FixPipe, blocks: int) -> Job:
    known = learned(bound.func, target, bound.numbers)
    planned = plan(bound.func, known)
    core = Core(target, fixpipe, 0, blocks)
    real: Env = bound.shared()
    if blocks == 1:
        real |= bound.local(Machine(core), planned.addresses)

    def generate(compiler: Compiler, env: Env) -> None:
        compiler.function(bound.func, env)
        for value in bound.looked_at():
            _look_at(compiler.initial, compiler.now(env.get(value)))

    return Job(core, known, bound.numbers, planned, real, bound.looked_at(), generate)


def compile_op(op: Op, env: Mapping[Value, Any], core: Core) -> Session:
    """A session of one instruction on handles, without its rules."""
    job = single(op, env, core)
    return job.session(Block(ops=[op]), [op], RunLimits(), rules=False)


def single(op: Op, env: Mapping[Value, Any], core: Core) -> Job:
    """One instruction as something to compile."""
    shown, known = [v for v in env if op.page.aliases], Facts(core.target)

    def generate(compiler: Compiler, env: Env) -> None:
        compiler.single(op, env)

    return Job(core, known, {}, Planned(), dict(env), shown, generate)


@dataclass
class Job:
    """Something to compile: `generate` does so on the compiler's handles of `real`."""

    core: Core
    known: Facts
    numbers: Mapping[Value, int]  # scalar arguments
    planned: Planned
    real: Env
    shown: list[Value]  # looked at after the run
    generate: Callable[[Compiler, Env], None]
    limited: bool = False  # see `Compiler`

    def session(
        self, body: Block, things: list[Any], limits: RunLimits, *, rules: bool = True
    ) -> Session:
        """From the cache, or compiled; `things` are instructions and regions, for requests."""

        def make() -> tuple[str, bytes]:
            compiler, text = self.settled()
            return text, pickle.dumps(compiler.plan())

        key = f"{self.limited}\n{described(body, self.core, self.real)}"
        code, kept = cache.compiled(key, make, cache.this_processor())
        given = (self.core, self.known, self.planned, self.real, things, self.shown)
        return Session(pickle.loads(kept), code, *given, self._arrays(), limits, rules)

    def settled(self) -> tuple[Compiler, str]:
        """Compiled again with more memories tracked until every read is safe."""
        tracked: set[str] = set()
        for _ in range(MOST_TRIES):
            compiler = self._compiler(tracked)
            env = {value: self._argument(compiler, value) for value in self.real}
            self.generate(compiler, env)
            text = compiler.text(env.get(v) for v in self.shown)
            if compiler.initial.unproven <= tracked:
                return compiler, text
            tracked |= compiler.initial.unproven
        raise NotNative("what is read was not settled")

    def _compiler(self, tracked: set[str]) -> Compiler:
        host, core = cache.this_processor().host, self.core
        facts = Facts(core.target, dict(self.numbers))
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
            return facts.type_of(result), self.planned.addresses[result]

        initial = Initial(start, fresh)
        compiler = Compiler(host, core, facts, self.planned, initial, set(tracked), self.limited)
        return compiler

    def _argument(self, compiler: Compiler, value: Value) -> Any:  # Any: a handle or a number
        """An argument as the compiled program sees it."""
        handle = self.real[value]
        memory = getattr(handle, "memory", None)
        if not isinstance(memory, Memory):
            return handle
        space = next((s for s in compiler.spaces if s.real is memory), None)
        if space is None:
            own = self._own(memory)
            name = memory.name if own else f"%{value.name}"
            space = compiler.new_space(name, memory.size, None if own else memory)
            space.real = memory
        return traced(handle, space)

    def _own(self, memory: Memory) -> bool:
        """Whether a memory is one of the core's."""
        return memory.name in SPACES.values() and self.core.space_named(memory.name) is memory

    def _arrays(self) -> dict[str, Memory]:
        """The memories of arguments that are not the core's, by the names of their spaces."""
        found: dict[str, Memory] = {}
        for value, handle in self.real.items():
            memory = getattr(handle, "memory", None)
            shared = any(memory is other for other in found.values())
            if isinstance(memory, Memory) and not self._own(memory) and not shared:
                found[f"%{value.name}"] = memory
        return found


def _look_at(initial: Initial, handle: Any) -> None:  # Any: a handle or a number
    """A result that is shown after the run if it was written: a tile's valid region."""
    if isinstance(handle, Recorded) and not hasattr(handle, "origin"):
        rows, cols = getattr(handle, "valid", (handle.rows, handle.cols))
        spans = (Span(0, n, limit=m) for n, m in ((rows, handle.rows), (cols, handle.cols)))
        initial.read(handle.elements, *spans)
