"""Values that are unknown before a program runs, and the values and ops that depend on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ptokit.analysis.aliases import repeats
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, BY_LANE, CORE, FLOW, RESIZES
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.machine.execute import moves
from ptokit.order.issue import Issue

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
    before = -1
    while len(found) > before:  # until nothing is added: loops carry values back
        before = len(found)
        _depends(func.body, found, each_iteration)
    return frozenset(found)


def _depends(block: Block, found: set[Value], each_iteration: bool) -> None:
    for op in block.ops:
        named = [*op.values()] if isinstance(op, Op) else []
        inputs = [v for _, v in named]
        passed = [v for name, v in named if name != END] if each_iteration else inputs
        for region in op.regions:
            if not found.isdisjoint(passed):
                found.update(region.args)
            _depends(region, found, each_iteration)
            if not found.isdisjoint(region.outcome):
                found.update((*region.args, *op.results))
        if not found.isdisjoint(inputs):
            found.update(op.results)


def idle(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Return whether only one choice was legal, or no loop iterates: other samples may do more."""
    return (len(issues) == 1 and issues[0].chosen) or none_iterates(funcs, issues)


def none_iterates(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Return whether loops with unknown extents issue something, but not in these runs."""
    found = any(_issues(op) for func in funcs for op in open_flow(func, depending(func)))
    entries = (entry for issue in issues for core in issue.cores for entry in core)
    return found and not any(entry.iteration for entry in entries)


def _issues(op: Op) -> bool:
    """Return whether the op is a loop that contains issued instructions."""
    again = (region for region in op.regions if repeats(op, region))
    return any(isinstance(one, Op) and moves(one) for region in again for one in region.walk())


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
    return moves(op) and not ({ALIASES, RESIZES} & {*op.page.traits} or keeps_numbers(op))


def keeps_numbers(op: Op) -> bool:
    """Return whether the op works on scalar arrays and structs, which no pipe reaches."""
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    kinds |= {result.kind for result in op.page.results()}
    return bool(kinds & SCALAR_STORAGE) and kinds <= SCALAR_STORAGE | {Kind.SCALAR, Kind.INDEX}


def source(op: Op) -> str:
    """Return the name of the first operand of an op."""
    return next((value.name for _, value in op.values()), "")
