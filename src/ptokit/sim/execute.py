"""One body, executed: what the interpreter, the eager functions and the replay have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import Offer, arguments, call, none_if_unknown
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.traits import CORE, FIXPIPE, GATHERS
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import Loc
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.evaluation import scalar
from ptokit.sim.memory import Memory
from ptokit.sim.state import State, require_registers
from ptokit.sim.tile import Matrix


class Core:
    """One core: its memories by location, the readings in force, registers and flags.

    It runs block `block_idx` of the `block_num` blocks of a launch, which has no sub-blocks.
    """

    subblock_idx = 0
    subblock_num = 1

    def __init__(
        self, target: Target, fixpipe: FixPipe, block_idx: int = 0, block_num: int = 1
    ) -> None:
        self.target = target
        every_pair = fixpipe.every_pair or target.every_pair
        same = fixpipe.every_pair == every_pair
        self.fixpipe = fixpipe if same else replace(fixpipe, every_pair=every_pair)
        self.state = State()
        self.block_idx, self.block_num = block_idx, block_num
        self.spaces: dict[str, Memory] = {}  # those somebody asked for

    def space(self, loc: Loc) -> Memory:
        """The memory behind a location, blank when first asked for."""
        return self.space_named(SPACES[loc])

    def space_named(self, name: str) -> Memory:
        """The memory that hardware calls so."""
        if name not in self.spaces:
            self.spaces[name] = Memory.blank(name, self.target.capacity[name])
        return self.spaces[name]

    def offer(self) -> Offer:
        """What a body may use."""
        readings = {FIXPIPE: self.fixpipe, GATHERS: self.target.gathers}
        return {**readings, **self.state.offer(), CORE: self}


def run_body(page: type[Instr], values: Mapping[str, Any], offer: Offer) -> Any:  # Any: as given
    """Run a page's body on operands and attributes. If its output is empty, it does nothing."""
    for operand in page.operands:
        if operand.role is Role.OUT and not page.aliases:  # a handle moves nothing
            valid = getattr(values.get(operand.name), "valid", None)
            if valid is not None and not (valid.rows and valid.cols):
                return None
    core: Core = offer[CORE]
    require_registers(page, core.target, core.state, values)
    return page.run(**arguments(page, values, offer))


def given(op: Op) -> dict[str, Any]:  # Any: words, numbers, types
    """What a body gets of the text: attributes, defaults of operands, types of results."""
    page = op.page
    values: dict[str, Any] = {a.name: op.attrs.get(a.name, a.default) for a in page.attrs}
    values |= {o.name: o.default for o in page.operands if not o.required}
    return values | {r.name: v.type for r, v in zip(page.results(), op.results, strict=False)}


def refined(hook: Any, seen: Mapping[str, Any], target: Target) -> Any:  # Any: see `isa.facts`
    """The type of a result by the page's own hook, from what rules see."""
    types = {k: v.type if isinstance(v, Matrix) else v for k, v in seen.items()}
    return target.resolve_any(call(hook, {k: none_if_unknown(v) for k, v in types.items()}))


def fetch(
    page: type[Instr], operand: Operand, bound: tuple[Value, ...], env: Mapping[Value, Any]
) -> Any:  # Any: handles and numbers
    """The operand's value; a body that computes gets a scalar as a 1x1 array."""
    if operand.many:
        return tuple(env[v] for v in bound)
    value = env[bound[0]]
    dtype = None if page.handle else ScalarType(operand.scalar or "").dtype
    return value if dtype is None else scalar(value, dtype)


def run_op(op: Op, env: Mapping[Value, Any], core: Core) -> None:  # Any: as in `fetch`
    """Run one instruction on handles and numbers; no rule is checked, results are dropped."""
    page = op.page
    bound = ((o, op.bound(o.name)) for o in page.operands)
    values = {o.name: fetch(page, o, found, env) for o, found in bound if found}
    run_body(page, {**given(op), **values}, core.offer())
