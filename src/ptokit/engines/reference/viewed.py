"""The extents of arrays, from the views that the scalar part of a function makes of them."""

from __future__ import annotations

from collections.abc import Collection

from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.engine import placed
from ptokit.engines.reference.interpreter import InterpretedMachine, Interpreter, Step
from ptokit.ir.graph import inner_uses
from ptokit.ir.module import AnyOp, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import PRINTS
from ptokit.isa.model.types import Kind
from ptokit.machine.arguments import Bound, Env
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.tile import Pointer

MOST_STEPS = 300_000  # iterations, summed over all blocks


class _DataDecides(Exception):
    """Raised if control flow depends on the result of an instruction that is not executed."""


class _Known(dict[Value, object]):
    """The values known so far; a missing value raises _DataDecides."""

    def __missing__(self, value: Value) -> object:
        raise _DataDecides


class _ScalarPart(Interpreter):
    """An interpreter without machine instructions, and without loops that move no pointer."""

    def _step(self, op: AnyOp) -> Step:
        if isinstance(op, Op) and _without_effect(op):
            return _nothing
        step = super()._step(op)
        if op.regions or not isinstance(op, Op):
            return step
        needed = [value for _, value in op.values()]

        def known(env: Env) -> None:  # skip handles on a tile that was not popped
            if all(value in env for value in needed):
                step(env)

        return known


def _without_effect(op: Op) -> bool:
    """Return whether no view depends on the op."""
    inner = [o for region in op.regions for o in region.walk()]
    idle = bool(op.regions) and not op.results and not any(map(_places, inner))
    return op.page.executes or idle or not {*CORES, PRINTS}.isdisjoint(op.page.uses)


def _places(op: AnyOp) -> bool:
    """Return whether the op takes a pointer, or a scalar array that may hold an offset."""
    if isinstance(op, OpaqueOp):
        return True
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    return not op.page.executes and bool(kinds & {Kind.PTR, Kind.ARRAY})


def _nothing(env: Env) -> None:
    """Do nothing: an instruction on tiles decides no view."""


def viewed(bound: Bound, unsized: Collection[str], how: Options) -> dict[str, int]:
    """Return how many elements the views of each pointer in `unsized` reach, from its start.

    The number is 1 for an unused pointer. A pointer without a view is missing. If data decides, or
    the run takes too long, the views so far count: front ends declare views of whole arrays first.
    """
    target, env = how.target, bound.shared()
    pointers = {a.name: env[a] for a in bound.func.args if a.name in unsized}
    for pointer in pointers.values():
        pointer.memory.forget()
    limits, places, least = RunLimits(MOST_STEPS), placed(bound, target), 1
    try:
        for index in range(how.blocks):
            core = Core(target, how.fixpipe, index, how.blocks)
            part = _ScalarPart(core, Facts(target, bound.every_number), places, limits)
            local = bound.local(InterpretedMachine(core), places.addresses)
            part.block(bound.func.body)(_Known(env | local))
    except (PtoError, _DataDecides):  # the real run reports the fault, with array sizes
        least = 2  # one element may be the first of many
    found = {name: n for name, pointer in pointers.items() if (n := _elements(pointer)) >= least}
    return dict.fromkeys(_unused(bound.func) & pointers.keys(), 1) | found


def _unused(func: Func) -> set[str]:
    """Return the names of arguments without a use, such as those for the other core only."""
    used = {value for op in func.ops for _, _, value in inner_uses(op)}
    return {arg.name for arg in func.args if arg not in used}


def _elements(pointer: Pointer) -> int:
    return pointer.memory.size * 8 // pointer.dtype.bits
