"""How much of each array a function views: its scalar part runs, without any instruction."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import InterpretedMachine, Interpreter, Step
from ptokit.engines.reference.launch import placed
from ptokit.ir.graph import inner_uses
from ptokit.ir.module import AnyOp, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import PRINTS
from ptokit.isa.model.types import Kind
from ptokit.machine.arguments import Bound, Env
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.tile import Pointer

MOST_STEPS = 300_000  # iterations, of all blocks together


class _DataDecides(Exception):
    """What comes next follows from what an instruction gives, and none is executed."""


class _Known(dict[Value, Any]):  # Any: handles and numbers
    """The values so far; of others nobody knows anything."""

    def __missing__(self, value: Value) -> object:
        raise _DataDecides


class _ScalarPart(Interpreter):
    """Leaves out what the machine executes, and loops that neither move a pointer nor count."""

    def _step(self, op: AnyOp) -> Step:
        if isinstance(op, Op) and _without_effect(op):
            return _nothing
        step = super()._step(op)
        if op.regions or not isinstance(op, Op):
            return step
        needed = [value for _, value in op.values()]

        def known(env: Env) -> None:  # not the part of a tile that nobody has popped
            if all(value in env for value in needed):
                step(env)

        return known


def _without_effect(op: Op) -> bool:
    """Whether no view follows from the op."""
    inner = [o for region in op.regions for o in region.walk()]
    idle = bool(op.regions) and not op.results and not any(map(_places, inner))
    return op.page.executes or idle or not {*CORES, PRINTS}.isdisjoint(op.page.uses)


def _places(op: AnyOp) -> bool:
    """Whether the op takes a pointer, or an array of the scalar unit that tells where one goes."""
    if isinstance(op, OpaqueOp):
        return True
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    return not op.page.executes and bool(kinds & {Kind.PTR, Kind.ARRAY})


def _nothing(env: Env) -> None:
    """An instruction of tiles decides no view."""


def viewed(bound: Bound, unsized: Collection[str], how: Options) -> dict[str, int]:
    """How many elements the views of each of these pointers reach, counted from its start.

    One for a pointer that nothing uses; others without a view are missing. Where data decides, or
    it takes too long, the views before that count: front ends declare those of whole arrays first.
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
    except (PtoError, _DataDecides):  # the run itself says what is wrong, with sizes of arrays
        least = 2  # one element may be the first of many
    found = {name: n for name, pointer in pointers.items() if (n := _elements(pointer)) >= least}
    return dict.fromkeys(_unused(bound.func) & pointers.keys(), 1) | found


def _unused(func: Func) -> set[str]:
    """The names of arguments that no op uses, as those that only the other core needs."""
    used = {value for op in func.ops for _, _, value in inner_uses(op)}
    return {arg.name for arg in func.args if arg not in used}


def _elements(pointer: Pointer) -> int:
    return pointer.memory.size * 8 // pointer.dtype.bits
