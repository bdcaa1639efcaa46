"""What must not leave the region that declares it, and sections that must not stand in others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Block, Func, Module, Op
from ptokit.isa.lang.traits import BRANCHES, LOCAL, TERMINATOR, THREADS
from ptokit.isa.model.types import Elided, StructType
from ptokit.text.types.spelling import told_apart

OF_THREADS = "pto.simt_entry"
STAYS = "declare it in the outer region, and let the inner one change its fields"
NO_MORE = "let the threads that run already do it, or start others beside them"


CHOOSE = "choose between their fields"
FOR_THREADS = "say so of the function, or call it"
OUTSIDE = "declare it in the function that uses it, and give its fields"


def misused(module: Module) -> Iterator[Diagnostic]:
    """Storage that outlives its region, and threads that start threads, on any target."""
    for func in module.funcs:
        yield from _escaping(func)
        threads = f"@{func.name} has {OF_THREADS}" if OF_THREADS in func.attrs else ""
        for block in (func.body, *func.blocks):
            yield from _nested(block, threads)
        for op in func.walk():
            if isinstance(op, Op) and THREADS in op.page.traits and not op.regions:
                yield from _unfit(op, {other.name: other for other in module.funcs})


def _escaping(func: Func) -> Iterator[Diagnostic]:
    """What is declared in a region and passed on by what ends it; what comes from a caller."""
    for arg in (a for a in func.args if isinstance(a.type, StructType)):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        seen = f"%{arg.name} is an argument, {arg.type}"
        yield Diagnostic("scope", message, arg.span, seen=seen, help=OUTSIDE)
    ops = [op for op in func.walk() if isinstance(op, Op)]
    local = {v for op in ops if LOCAL in op.page.traits for v in op.results}
    for op in (op for op in ops if LOCAL not in op.page.traits):
        if any(isinstance(v.type, StructType) for v in op.results):
            yield _refusal(op, "", f"%{op.results[0].name} is a struct declared elsewhere", CHOOSE)
        if not {TERMINATOR, BRANCHES}.isdisjoint(op.page.traits):
            for name, value in op.values():
                if value in local:
                    yield _refusal(op, name, f"%{value.name} ends where {op.name} stands", STAYS)


def _nested(block: Block, outer: str) -> Iterator[Diagnostic]:
    """Sections of threads inside of what threads run already."""
    for op in block.ops:
        inner = outer
        if isinstance(op, Op) and THREADS in op.page.traits:
            if outer:
                yield _refusal(op, "", outer, NO_MORE)
            inner = f"it stands in another {op.name}"
        for region in op.regions:
            yield from _nested(region, inner)


def _unfit(op: Op, funcs: Mapping[str, Func]) -> Iterator[Diagnostic]:
    """A function that threads cannot run, or not on these values."""
    name = str(op.attrs[op.page.attrs[0].name])
    func, given = funcs.get(name), [v.type for v in op.bound(op.page.operands[-1].name)]
    if func is None:
        found = ", ".join(f"@{other}" for other in funcs)
        message = f"{op.name}: @{name} is not there"
        yield Diagnostic("no-such-function", message, op.span, seen=f"the module has {found}")
    elif OF_THREADS not in func.attrs:
        yield _refusal(op, "", f"@{name} lacks {OF_THREADS}", FOR_THREADS)
    elif len(given) != len(func.args):
        message = f"{op.name}: @{name} takes {len(func.args)} values, {len(given)} given"
        yield Diagnostic("operand-count", message, op.span)
    else:
        for arg, kind in zip(func.args, given, strict=True):
            if arg.type != kind and not isinstance(kind, Elided):
                taken, got = told_apart(arg.type, kind)
                message = f"{op.name}: @{name} takes {taken}, not {got}"
                yield Diagnostic("type-mismatch", message, op.span)


def _refusal(op: Op, operand: str, seen: str, help: str) -> Diagnostic:
    message = f"{op.name}: {CATALOGUE['scope'].title}"
    return Diagnostic("scope", message, op.span_of(operand), seen=seen, help=help)
