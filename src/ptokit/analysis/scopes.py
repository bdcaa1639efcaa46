"""What must not leave the region that declares it, and sections that must not stand in others."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Block, Func, Module, Op
from ptokit.isa.lang.traits import BRANCHES, LOCAL, TERMINATOR, THREADS
from ptokit.isa.model.types import StructType

OF_THREADS = "pto.simt_entry"
STAYS = "declare it in the outer region, and let the inner one change its fields"
NO_MORE = "let the threads that run already do it, or start others beside them"


OUTSIDE = "declare it in the function that uses it, and give its fields"


def misused(module: Module) -> Iterator[Diagnostic]:
    """Storage that outlives its region, and threads that start threads, on any target."""
    for func in module.funcs:
        yield from _escaping(func)
        threads = f"@{func.name} has {OF_THREADS}" if OF_THREADS in func.attrs else ""
        for block in (func.body, *func.blocks):
            yield from _nested(block, threads)


def _escaping(func: Func) -> Iterator[Diagnostic]:
    """What is declared in a region and passed on by what ends it; what comes from a caller."""
    for arg in (a for a in func.args if isinstance(a.type, StructType)):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        seen = f"%{arg.name} is an argument, {arg.type}"
        yield Diagnostic("scope", message, arg.span, seen=seen, help=OUTSIDE)
    ops = [op for op in func.walk() if isinstance(op, Op)]
    local = {v for op in ops if LOCAL in op.page.traits for v in op.results}
    for op in ops:
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


def _refusal(op: Op, operand: str, seen: str, help: str) -> Diagnostic:
    message = f"{op.name}: {CATALOGUE['scope'].title}"
    return Diagnostic("scope", message, op.span_of(operand), seen=seen, help=help)
