"""The interpreter: runs a function op by op, each through its page's body.

Everything that can be known before the run is computed before it: which rules still depend on run
time values, where operands come from, what constants attributes are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ptokit.check import Facts, blamed, call, rules_for, unknown_op, violation
from ptokit.diagnostics import Diagnostic, Note, PtoError, Severity, error
from ptokit.ir import AnyOp, Block, Op, OpaqueOp, Value
from ptokit.isa.facts import environment
from ptokit.isa.formulas import UNKNOWN
from ptokit.isa.lang import Operand
from ptokit.isa.targets import SPACES, Target
from ptokit.isa.tiles import ConvTileType, TileType
from ptokit.isa.types import Kind, ScalarType
from ptokit.numerics.fixpipe import CPU_READING, FixPipe
from ptokit.place import address_errors
from ptokit.sim.memory import Memory
from ptokit.sim.reference import scalar
from ptokit.sim.tile import ConvTile, Matrix, Tile

Env: TypeAlias = "dict[Value, Any]"  # Any: handles and numbers
Step: TypeAlias = "Callable[[Env], None]"


class Machine:
    """The memories of one core, and the readings that a run was asked for."""

    def __init__(self, target: Target, fixpipe: FixPipe = CPU_READING) -> None:
        self.target = target
        self.fixpipe = replace(fixpipe, wide_vector=fixpipe.wide_vector or target.name == "a5")
        self.spaces = {
            name: Memory.blank(name, size) for name, size in target.capacity.items() if size
        }

    def tile(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        """A handle on the bytes at `address` of the memory of the type's location."""
        for problem in address_errors(kind, address, self.target, None):
            raise PtoError(problem)
        memory = self.spaces[SPACES[kind.loc]]
        if isinstance(kind, ConvTileType):
            return ConvTile(kind, memory, address)
        return Tile(kind, memory, address)

    def fresh(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        """A new tile at a planned address: its content is undefined."""
        handle = self.tile(kind, address)
        handle.memory.shadow[address : address + kind.nbytes] = 0
        return handle


@dataclass
class Count:
    """How many instructions ran, by mnemonic."""

    by_name: dict[str, int]

    def add(self, name: str) -> None:
        self.by_name[name] = self.by_name.get(name, 0) + 1


class Interpreter:
    """Compiles blocks to lists of steps and runs them."""

    def __init__(self, machine: Machine, facts: Facts, addresses: Mapping[Value, int]) -> None:
        self.machine = machine
        self.facts = facts
        self.addresses = addresses
        self.count = Count({})

    def block(self, block: Block) -> Callable[[Env], tuple[Any, ...]]:
        """A function that runs the block and returns what its terminator passes on."""
        *body, last = (*block.ops, None)
        if isinstance(body[-1] if body else None, Op) and _terminates(body[-1]):
            last = body.pop()
        steps = [self.step(op) for op in body]
        passed = last.bound("values") if isinstance(last, Op) else ()

        def run(env: Env) -> tuple[Any, ...]:
            for step in steps:
                step(env)
            return tuple(env[v] for v in passed)

        return run

    def step(self, op: AnyOp) -> Step:
        if isinstance(op, OpaqueOp):
            return _refuse(op)
        return self._step(op)

    def _step(self, op: Op) -> Step:
        page = op.page
        static = self.facts.environment(op)
        pending = [r for r in rules_for(page, self.facts.target) if r.holds(static) is UNKNOWN]
        self.facts.learn(op, static)
        fixed = self._fixed(op)
        regions = tuple(self._region(r) for r in op.regions)
        getters = [(o, op.bound(o.name)) for o in page.operands if op.bound(o.name)]
        body = _Body(page, fixed)
        refine = getattr(page, "type_of", None)
        result_name = page.results()[0].name if page.results() else ""
        plain, name = not page.handle, page.mnemonic()

        def step(env: Env) -> None:
            values = {o.name: _fetch(env, o, bound) for o, bound in getters}
            if pending or refine is not None:
                seen = environment(page, values, op.attrs)
                if result_name and result_name not in values:
                    seen[result_name] = op.results[0].type
                for rule in pending:
                    if rule.holds(seen) is False:
                        where = blamed(op, rule)
                        raise PtoError(violation(page, rule, seen, self.facts.target, where))
                if refine is not None:
                    known = {k: _plain(v) for k, v in seen.items()}
                    values[result_name] = self.facts.target.resolve_any(call(refine, known))
            if regions:
                values["regions"] = tuple(_bind(r, env) for r in regions)
            try:
                outcome = body(values)
            except ZeroDivisionError:
                raise error("division-by-zero", f"{name}: division by zero", op.span) from None
            except PtoError as problem:
                raise problem.at(op.span) from None
            if plain:
                self.count.add(name)
            if op.results:
                several = outcome if isinstance(outcome, tuple) else (outcome,)
                for result, value in zip(op.results, several, strict=True):  # pyright: ignore
                    env[result] = value
                    if isinstance(value, Matrix):
                        value.label = f"%{result.name}"

        return step

    def _fixed(self, op: Op) -> dict[str, Any]:
        """What the body gets every time: attributes, absent operands, the machine, addresses."""
        fixed: dict[str, Any] = {a.name: op.attrs.get(a.name, a.default) for a in op.page.attrs}
        for operand in op.page.operands:
            if not operand.required:
                fixed[operand.name] = operand.default
        fixed |= {"machine": self.machine, "fixpipe": self.machine.fixpipe}
        if op.results:
            results = op.page.results()
            fixed |= {r.name: v.type for r, v in zip(results, op.results, strict=False)}
            if op.page.allocates and not op.bound("addr"):
                fixed |= {"addr": self.addresses[op.results[0]], "fresh": True}
            elif op.page.allocates:
                fixed |= {"fresh": False}
        return fixed

    def _region(self, block: Block) -> Callable[..., tuple[Any, ...]]:
        run = self.block(block)

        def region(env: Env, *args: Any) -> tuple[Any, ...]:
            for arg, value in zip(block.args, args, strict=True):
                env[arg] = value
            try:
                return run(env)
            except PtoError as problem:
                raise _within(problem, block, args) from None

        return region


def _terminates(op: AnyOp | None) -> bool:
    return isinstance(op, Op) and op.page.terminator


class _Body:
    """A page's body with the arguments that never change."""

    def __init__(self, page: Any, fixed: Mapping[str, Any]) -> None:  # Any: `run` is per page
        self.names = tuple(n for n in page.body_names if n != "cls")
        self.function = page.run
        self.fixed = {n: fixed[n] for n in self.names if n in fixed}

    def __call__(self, values: Mapping[str, Any]) -> Any:  # Any: handles and numbers
        given = {n: values[n] for n in self.names if n in values}
        return self.function(**{**self.fixed, **given})


def _fetch(env: Env, operand: Operand, bound: tuple[Value, ...]) -> Any:  # Any: as in Env
    if operand.many:
        return tuple(env[v] for v in bound)
    value = env[bound[0]]
    if operand.kind is Kind.SCALAR and operand.scalar is not None and not operand.key:
        dtype = ScalarType(operand.scalar).dtype
        assert dtype is not None
        return scalar(value, dtype)
    return value


def _plain(value: Any) -> Any:  # Any: see `environment`
    from ptokit.check import none_if_unknown

    return none_if_unknown(value.type if isinstance(value, Matrix) else value)


def _bind(region: Callable[..., tuple[Any, ...]], env: Env) -> Callable[..., tuple[Any, ...]]:
    return lambda *args: region(env, *args)


def _refuse(op: OpaqueOp) -> Step:
    def step(env: Env) -> None:
        raise PtoError(replace(unknown_op(op), severity=Severity.ERROR))

    return step


def _within(problem: PtoError, block: Block, args: tuple[Any, ...]) -> PtoError:
    """Add the iteration: 'with %k = 3'."""
    numbers = [f"%{a.name} = {v}" for a, v in zip(block.args, args, strict=True) if isinstance(v, int)]
    if not numbers:
        return problem
    note = Note(f"with {', '.join(numbers)}")
    changed: list[Diagnostic] = [replace(d, notes=(*d.notes, note)) for d in problem.diagnostics]
    return PtoError(changed)
