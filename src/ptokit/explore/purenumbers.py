"""Numbers that are computed from others alone, and the periods with which they rotate in loops."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import Interpreter
from ptokit.explore.mayalias import SHARED
from ptokit.explore.openvalues import loop_bounds
from ptokit.explore.pathconditions import constants_of
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import CORE, FLAGS, FLOW, REGIONS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core, moves, whole_number
from ptokit.machine.launchoptions import RunLimits
from ptokit.values.fixpipe import CPU_READING

MOST_OPS = 1_000_000  # limit of one computation
LONGEST_ROTATION = 8  # iterations, the longest period that is found
LOOKED_AT = 3 * LONGEST_ROTATION


def computed(ops: Iterable[Op], given: Container[Value]) -> dict[Value, Op]:
    """Return the ops that compute numbers from `given` ones, the block and constants."""
    found = dict[Value, Op]()
    for op in ops:
        known = (value in found or value in given for value in _taken(op))
        if op.results and _computes(op) and all(known):
            found.update(dict.fromkeys(op.results, op))
    return found


def in_line(ops: Iterable[Op], target: Target, blocks: int = 1) -> Callable[[Env], object]:
    """Return a function that executes these ops in an environment; PtoError if an op fails."""
    core = Core(target, CPU_READING, 0, blocks)
    return Interpreter(core, Facts(target), Planned(), RunLimits(MOST_OPS)).block(Block(ops=[*ops]))


def rotation(funcs: Iterable[Func], target: Target) -> int:
    """Return the longest period in iterations after which flags, branches and tiles repeat."""
    found = 1
    for func in funcs:
        constants = constants_of(func)
        for op in func.ops:
            if isinstance(op, Op) and loop_bounds(op) is not None:
                found = max(found, *_periods(op.regions[0], constants, target), 1)
    return found


def _periods(block: Block, constants: Mapping[Value, int], target: Target) -> Iterator[int]:
    """Yield the periods of the numbers that depend on the loop counter and constants alone."""
    counter = block.args[0]
    ops = [op for op in block.walk() if isinstance(op, Op)]
    made, asked = computed(ops, {counter, *constants}), {v for op in ops for v in _asked(op)}
    turning = [v for v in made if v in asked and counter in behind((v,), made)]
    rows = list[Env]()
    if not turning:
        return
    run = in_line(dict.fromkeys(made.values()), target)
    with suppress(PtoError):
        for number in range(LOOKED_AT):
            rows.append({**constants, counter: number})
            run(rows[-1])
        for value in turning:
            yield _period([row[value] for row in rows])


def _asked(op: Op) -> Iterator[Value]:
    """Yield the operands that select a flag, a branch or a tile."""
    tiles = any(not isinstance(v.type, ScalarType | SHARED) for v in op.results)
    if op.regions or tiles or FLAGS in op.page.uses:
        yield from (value for _, value in op.values())


def _period(numbers: Sequence[int]) -> int:
    """Return the period of a sequence; 1 if there is none."""
    steps = range(1, LONGEST_ROTATION + 1)
    return next((n for n in steps if list(numbers[n:]) == list(numbers[:-n])), 1)


def behind(values: Sequence[Value | int], made: Mapping[Value, Op]) -> Iterator[Value]:
    """Yield these values, and all values that they are computed from."""
    seen, left = set[Value](), [value for value in values if isinstance(value, Value)]
    while left:
        value = left.pop()
        if value not in seen:
            seen.add(value)
            yield value
            left += _taken(made[value]) if value in made else ()


def _computes(op: Op) -> bool:
    """Return whether the op computes numbers from its operands and the place in the launch."""
    inner = (one for region in op.regions for one in region.walk())
    return all(map(whole_number, op.results)) and all(map(_pure, (op, *inner)))


def _pure(op: AnyOp) -> bool:
    return isinstance(op, Op) and {CORE, FLOW, REGIONS}.issuperset(op.page.uses) and not moves(op)


def _taken(op: Op) -> Iterator[Value]:
    """Yield the operands of an op, and the outer values that its regions use."""
    inner = [one for region in op.regions for one in region.walk() if isinstance(one, Op)]
    own = {v for one in inner for v in one.results}
    own |= {arg for one in (op, *inner) for region in one.regions for arg in region.args}
    yield from (v for one in (op, *inner) for _, v in one.values() if v not in own)
