"""The function of each core of a kernel: a function for both kinds of core is taken apart.

A kernel is one function with sections for both kinds, or with calls of functions for both, or a
pair of functions, one for each kind, that name each other as peers of a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ptokit.analysis.cores import core_of, kind_of
from ptokit.analysis.fifoentries import fact
from ptokit.diagnostics.diagnostic import error
from ptokit.forms.inline import calls, inlined
from ptokit.ir.editing import renamed, rewritten
from ptokit.ir.module import AnyOp, Block, Func, Module, Op, Value
from ptokit.ir.strings import symbol_name
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import THREADS, FifoRole
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind

OTHER = {CUBE: VECTOR, VECTOR: CUBE}
ONE_NAME = "arguments with the same name are one array in a launch: use one type, or two names"


def per_core(module: Module, func: Func) -> dict[KernelKind, Func]:
    """Return the functions of a kernel's cores; nothing for a kernel of one core."""
    kind = kind_of(module, func)
    if kind is not None:
        peer = peer_of(module, func)
        if peer is None:
            return {}
        mine, other = inlined(module, func), with_arguments(inlined(module, peer), func)
        return {CUBE: mine, VECTOR: other} if kind is CUBE else {CUBE: other, VECTOR: mine}
    if {*_kinds(module, func, (func.name,))} != {CUBE, VECTOR}:
        return {}
    return {kind: only(module, func, kind) for kind in (CUBE, VECTOR)}


def launched_cores(module: Module, func: Func, *, always: bool = False) -> dict[KernelKind, Func]:
    """Return the functions that are scheduled: of several cores, or of one that may wait.

    `always`: also of one core that never waits.
    """
    cores = per_core(module, func)
    if cores:
        return cores
    alone = inlined(module, func)
    ops = [op for op in alone.ops if isinstance(op, Op)]
    if all(CORES.isdisjoint(op.page.uses) for op in ops) and not always:
        return {}
    kind = kind_of(module, func) or core_alone(alone)
    both_units = any(core_of(op) is OTHER[kind] for op in ops)
    return {kind: alone if both_units else only(module, func, kind)}


def core_alone(func: Func) -> KernelKind:
    """Return the core for a function without a stated kind: that of the first op with a kind."""
    own = (core_of(op) for op in func.ops if isinstance(op, Op))
    return next((kind for kind in own if kind is not None), VECTOR)


def peer_of(module: Module, func: Func) -> Func | None:
    """Return the function for the other kind of core at the other end of a function's FIFOs.

    One of the two names the other as the peer of a buffer; or the other is the only one of its
    module with the same FIFOs.
    """
    kind = kind_of(module, func)
    if kind is None:
        return None
    found = [f for f in module.funcs if not f.declared and kind_of(module, f) is OTHER[kind]]
    beside = [f for f in found if module.owner(f) is module.owner(func)]
    seen = beside + [f for f in found if f not in beside and f.visibility != "private"]
    named = [f for f in seen if func.name in _peers(f) or f.name in _peers(func)]
    alike = [f for f in beside if not _fifos(f).isdisjoint(_fifos(func)) and not _peers(f)]
    several = named or alike
    return several[0] if named or len(alike) == 1 else None


def _fifos(func: Func) -> set[object]:
    """Return the ids of the FIFOs that a function sets up."""
    ops = (op for op in func.ops if isinstance(op, Op))
    return {fact(op, "id") for op in ops if op.page.fifo_role is FifoRole.OPENS}


def _peers(func: Func) -> set[str]:
    """Return the functions whose buffers a function imports."""
    ops = (op for op in func.ops if isinstance(op, Op))
    return {
        symbol_name(str(fact(op, "peer"))) for op in ops if op.page.fifo_role is FifoRole.IMPORTS
    }


def with_arguments(func: Func, entry: Func) -> Func:
    """Return the peer with the entry's argument names, if the types of arguments agree."""
    if [a.type for a in func.args] == [a.type for a in entry.args]:
        for mine, theirs in zip(func.args, entry.args, strict=True):
            mine.name = theirs.name
    return func


def _kinds(module: Module, func: Func, path: tuple[str, ...]) -> Iterator[KernelKind]:
    """Yield the kinds of core that have sections, or called functions, of their own."""
    yield from section_kinds(func)
    for _, name in calls(func):
        callee = module.called(module.owner(func), name)
        if callee is None or name in path:
            continue
        kind = kind_of(module, callee)
        yield from _kinds(module, callee, (*path, name)) if kind is None else (kind,)


def only(module: Module, func: Func, kind: KernelKind) -> Func:
    """Return the part of a function that one kind of core runs: sections, calls, instructions."""

    def skipped(callee: Func) -> bool:
        return kind_of(module, callee) is OTHER[kind]

    return part_of(inlined(module, func, skipped=skipped), kind)


def part_of(func: Func, kind: KernelKind) -> Func:
    """Return the part of a function without calls that one kind of core runs."""
    return replace(func, body=rewritten(func.body, lambda op: _of(op, kind)))


def section_kinds(func: Func) -> Iterator[KernelKind]:
    """Yield the kinds of core that have sections of their own."""
    for op in func.ops:
        if isinstance(op, Op) and op.page.core is not None and op.regions:
            yield op.page.core


def _of(op: AnyOp, kind: KernelKind) -> list[AnyOp]:
    """Return an instruction, the ops of a section, or nothing."""
    own = core_of(op) if isinstance(op, Op) else None
    if own is OTHER[kind]:
        return []
    if not isinstance(op, Op) or op.page.core is not kind or not op.regions or op.results:
        return [op]
    return [op] if THREADS in op.page.traits else op.regions[0].ops


def whole_kernel(module: Module, func: Func) -> Func:
    """Return the function with callees inlined; for a pair, both as one function.

    The function of a pair has the arguments of both, and views the same arrays.
    """
    if kind_of(module, func) is None or not (cores := per_core(module, func)):
        return inlined(module, func)
    args, ops = arguments_of_all(cores.values()), list[AnyOp]()
    named = {arg.name: arg for arg in args}
    for one in cores.values():
        now = {arg: named[arg.name] for arg in one.args}
        ops += [renamed(op, now) for op in one.body.ops if op is not one.body.terminator]
    return replace(inlined(module, func), body=Block(args, ops))


def arguments_of_all(cores: Iterable[Func]) -> list[Value]:
    """Return the arguments of all cores, by name; PtoError if one name has two types."""
    found: dict[str, Value] = {}
    for func in cores:
        for arg in func.args:
            first = found.setdefault(arg.name, arg)
            if type(first.type) is not type(arg.type):
                message = f"%{arg.name} of @{func.name} has another type on another core"
                seen = f"it is {arg.type} here and {first.type} there"
                raise error("type-mismatch", message, arg.span, seen=seen, help=ONE_NAME)
    return list(found.values())
