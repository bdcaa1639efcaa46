"""Slices: the values that are unknown before a run, and what they decide or are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.analysis.facts import facts_of
from ptokit.ir.editing import number_of
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, BY_LANE, CORE, FLAGS, FLOW, HANDLE, REGIONS
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import Kind, PtrType, ScalarType
from ptokit.machine.execute import moves, whole_number

Place: TypeAlias = "tuple[Value, ...]"  # a handle, and numbers that are added
ARRAY_SHAPE = "shape"  # the operand with the extents of an array, which is no address
SHARED = PtrType | GlobalType  # handles on memory that all cores reach
SELECT = "select"  # the shape of what is one of two values
END = "upper"  # what ends a loop, of its operands
BOUNDS = ("lower", END, "step")
SCALAR_STORAGE = {Kind.ARRAY, Kind.STRUCT}


def block_queries(func: Func) -> Iterator[Value]:
    """Yield the values that a function queries about its block."""
    for op in func.ops:
        if isinstance(op, Op) and CORE in op.page.uses and BY_LANE not in op.page.traits:
            yield from op.results


def addresses(func: Func) -> Iterator[Value]:
    """Yield the numbers from which a function computes the addresses of its tiles."""
    for op in func.ops:
        if isinstance(op, Op) and ALLOCATES in op.page.traits:
            yield from (v for name, v in op.values() if not op.page.operand(name).counts)


def from_memory(op: Op) -> bool:
    return moves(op) and any(r.kind is Kind.SCALAR for r in op.page.results())


def picking(op: Op) -> Iterator[Value]:
    """Yield the condition of a selection between two tiles or views."""
    if op.page.asm.shape == SELECT and not isinstance(op.results[0].type, ScalarType):
        yield next(value for _, value in op.values())


def undecided(func: Func) -> frozenset[Value]:
    """Return the values that only arguments, memory or the place in the launch decide.

    Loop-carried values are not included, since they take known values in turn: buffers selected by
    them rotate.
    """
    free = {arg for arg in func.args if isinstance(arg.type, ScalarType)} | {*block_queries(func)}
    turning = set[Value]()
    for op in func.ops:
        inputs = [value for _, value in op.values()] if isinstance(op, Op) else []
        if (isinstance(op, Op) and from_memory(op)) or turning.isdisjoint(inputs):
            free.update(op.results)
        else:
            turning.update(op.results)
        turning.update(arg for region in op.regions for arg in region.args)
    return frozenset(free)


def depends(
    func: Func,
    unknown: frozenset[Value],
    *,
    each_iteration: bool = False,
    given: Collection[str] = (),
) -> frozenset[Value]:
    """Return the values that may depend on `unknown`, or on memory except arrays in `given`.

    `each_iteration`: only values that depend on `unknown` in some iteration, not merely by the trip
    count.
    """
    read = (op for op in func.ops if isinstance(op, Op) and from_memory(op))
    found = {*unknown, *(v for op in read if source(op) not in given for v in op.results)}
    return _dependents(func, found, each_iteration)


def leads_to(func: Func, some: Collection[Value]) -> frozenset[Value]:
    """Return the values that may depend on `some`, apart from dependences through memory."""
    return _dependents(func, {*some}, False)


def _dependents(func: Func, found: set[Value], each_iteration: bool) -> frozenset[Value]:
    direct, left = facts_of(func).made(_Dependences), [*found]
    while left:
        value = left.pop()
        new = {*direct.on.get(value, ()), *(() if each_iteration else direct.by_end.get(value, ()))}
        new -= found
        found |= new
        left += new
    return frozenset(found)


class _Dependences:
    """The values of a function that depend directly on each value: `by_end`, by a trip count."""

    def __init__(self, func: Func) -> None:
        self.on = defaultdict[Value, list[Value]](list)
        self.by_end = defaultdict[Value, list[Value]](list)
        for op in func.ops:
            for name, value in op.values() if isinstance(op, Op) else ():
                self.on[value] += op.results
                for region in op.regions:
                    (self.by_end if name == END else self.on)[value] += region.args
            for region in op.regions:
                for value in region.outcome:
                    self.on[value] += (*region.args, *op.results)


def depending(func: Func, given: Collection[str] = ()) -> frozenset[Value]:
    """Return the values that depend on arguments or memory, except on those in `given`."""
    numbers = (arg for arg in func.args if isinstance(arg.type, ScalarType))
    return depends(func, frozenset(arg for arg in numbers if arg.name not in given), given=given)


def decided(func: Func, values: frozenset[Value]) -> bool:
    """Return whether a loop or a branch depends on one of these values."""
    return any(True for _ in open_flow(func, values))


def open_flow(func: Func, values: frozenset[Value]) -> Iterator[Op]:
    """Yield the loops and branches that depend on one of these values."""
    free = values & undecided(func)
    for op in func.ops:
        if isinstance(op, Op):
            branches = FLOW in op.page.uses
            if not (values.isdisjoint(deciding(op)) if branches else free.isdisjoint(picking(op))):
                yield op


def loop_bounds(op: Op) -> tuple[Value, Value, Value] | None:
    """Return the lower bound, upper bound and step of a counting loop; None for other ops."""
    named = dict(op.values())
    lower, upper, step = (named.get(name) for name in BOUNDS)
    return (lower, upper, step) if lower and upper and step else None


def deciding(op: Op) -> Iterator[Value]:
    """Yield the operands of an op, and the values that decide whether its regions repeat."""
    ends = (region.terminator for region in op.regions)
    yield from (value for _, value in op.values())
    for end in ends:
        yield from (v for name, v in end.values() if name != "values") if end else ()


def is_issued(op: Op) -> bool:
    """Return whether the op is issued to a queue."""
    return moves(op) and not ({ALIASES, HANDLE} & {*op.page.traits} or keeps_numbers(op))


def keeps_numbers(op: Op) -> bool:
    """Return whether the op works on scalar arrays and structs, which no pipe reaches."""
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    kinds |= {result.kind for result in op.page.results()}
    return bool(kinds & SCALAR_STORAGE) and kinds <= SCALAR_STORAGE | {Kind.SCALAR, Kind.INDEX}


def source(op: Op) -> str:
    """Return the name of the first operand of an op."""
    return next((value.name for _, value in op.values()), "")


def placing(func: Func) -> frozenset[Value]:
    """Return the numbers that decide where handles point, if other handles may overlap.

    Also the numbers that select a flag. A handle on global memory counts if its memory is written
    and reached by another handle.
    """
    handles, places = _contested(func)
    return frozenset(
        number
        for op in func.ops
        if isinstance(op, Op) and FLOW not in op.page.uses and not keeps_numbers(op)
        for number in _places(op)
        if FLAGS in op.page.uses
        or not _all_shared(op)
        or not (handles if op.results else places).isdisjoint(_handles_of(op))
    )


def branching(func: Func) -> Iterator[Value]:
    """Yield the conditions of branches around instructions that are issued or order queues."""
    for op in func.ops:
        if not isinstance(op, Op) or any(repeats(op, region) for region in op.regions):
            continue
        inner = (one for region in op.regions for one in region.walk())
        if any(isinstance(one, Op) and moves(one) for one in inner):
            yield from (value for _, value in op.values())


def _places(op: Op) -> Iterator[Value]:
    """Yield the scalar operands of an op that are addresses. Data and extents are skipped."""
    handles = any(not isinstance(value.type, ScalarType) for value in op.results)
    new = ALLOCATES in op.page.traits
    for name, value in op.values():
        operand = op.page.operand(name)
        says = operand.kind is Kind.INDEX or (handles and isinstance(value.type, ScalarType))
        extent = name == ARRAY_SHAPE or (new and operand.counts)
        if says and not extent and not from_memory(op):
            yield value


def _handles_of(op: Op) -> list[Value]:
    """Return the handles that an op makes, or else those that it uses."""
    every = [*op.results] or [value for _, value in op.values()]
    return [value for value in every if not isinstance(value.type, ScalarType)]


def _all_shared(op: Op) -> bool:
    return all(isinstance(value.type, SHARED) for value in _handles_of(op))


def _contested(func: Func) -> tuple[frozenset[Value], frozenset[Value]]:
    """Return handles on written global memory that several handles reach.

    Second: handles on written global memory that is reached in several places, perhaps by one
    handle.
    """
    classes = facts_of(func).classes
    reached, written = defaultdict[Value, set[Place]](set), set[Value]()
    for op in func.ops:
        if not isinstance(op, Op) or not moves(op):
            continue
        outs = {value for operand in op.page.outs() for value in op.bound(operand.name)}
        for _, value in op.values():
            if isinstance(value.type, SHARED):
                reached[classes.of(value)].add((value, *numbers_added(op)))
                if value in outs:
                    written.add(classes.of(value))
    inner = (region.args for op in func.ops for region in op.regions)
    made = [*chain(func.args, *inner, *(op.results for op in func.ops))]
    places = {one for one in written if len(reached[one]) > 1}
    handles = {one for one in places if len({handle for handle, *_ in reached[one]}) > 1}

    def of(some: Container[Value]) -> frozenset[Value]:
        return frozenset(value for value in made if classes.of(value) in some)

    return of(handles), of(places)


def numbers_added(op: Op) -> Iterator[Value]:
    """Yield the operands that an instruction adds to the addresses of its handles."""
    return (value for name, value in op.values() if op.page.operand(name).kind is Kind.INDEX)


def constants_of(func: Func) -> dict[Value, int]:
    """Return the integer constants of a function."""
    given = ((op, number_of(op)) for op in func.ops)
    return {op.results[0]: number for op, number in given if isinstance(number, int)}


def computed(ops: Iterable[Op], given: Container[Value]) -> dict[Value, Op]:
    """Return the ops that compute numbers from `given` ones, the block and constants."""
    found = dict[Value, Op]()
    for op in ops:
        known = (value in found or value in given for value in _taken(op))
        if op.results and _computes(op) and all(known):
            found.update(dict.fromkeys(op.results, op))
    return found


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
