"""What must not leave the region that declares it, and sections that must not stand in others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptokit.analysis.cores import KIND
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge
from ptokit.diagnostics.printable import counted
from ptokit.ir.module import Block, Func, Module, Op
from ptokit.isa.below import NO_COMPUTING, below_tiles
from ptokit.isa.lang.traits import ALLOCATES, BRANCHES, FLAGS, LOCAL, TERMINATOR, THREADS
from ptokit.isa.model.types import Elided, StructType
from ptokit.text.types.spelling import told_apart

OF_THREADS = "pto.simt_entry"
BACKEND, FOR_CALLERS = "pto.backend", "pto.ptodsl.logical_name"
OF_REGISTERS = "pto.tileop.helper"  # a function that computes with registers, for a tile
STAYS = "declare the struct in the outer region, and change its fields in the inner region"
NO_MORE = "use the running threads, or start others outside"


HELPER = f"{OF_REGISTERS} functions use registers: move tiles and wait in the caller"
CHOOSE = "select between fields of the structs"
FOR_THREADS = "add the attribute to the function, or call the function"
OUTSIDE = "declare the struct in the function that uses it, and pass its fields"


def misused(module: Module) -> Iterator[Diagnostic]:
    """Storage that outlives its region, and threads that start threads, on any target."""
    yield from _of_one_name(module)
    for func in module.funcs:
        yield from _escaping(func)
        if OF_REGISTERS in func.attrs:
            yield from _no_helper(func)
        threads = f"@{func.name} has {OF_THREADS}" if OF_THREADS in func.attrs else ""
        for block in (func.body, *func.blocks):
            yield from _nested(block, threads)
        for op in func.ops:
            if isinstance(op, Op) and THREADS in op.page.traits and not op.regions:
                yield from _unfit(op, {other.name: other for other in module.funcs})


def _escaping(func: Func) -> Iterator[Diagnostic]:
    """What is declared in a region and passed on by what ends it; what comes from a caller."""
    for arg in (a for a in func.args if isinstance(a.type, StructType)):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        seen = f"%{arg.name} is an argument, {arg.type}"
        yield Diagnostic("scope", message, arg.span, seen=seen, help=OUTSIDE)
    if func.declared and any(isinstance(kind, StructType) for kind in func.results):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        yield Diagnostic("scope", message, func.span, seen="it returns a struct", help=OUTSIDE)
    ops = [op for op in func.ops if isinstance(op, Op)]
    local = {v for op in ops if LOCAL in op.page.traits for v in op.results}
    for op in (op for op in ops if LOCAL not in op.page.traits):
        if any(isinstance(v.type, StructType) for v in op.results):
            yield _refusal(op, "", f"%{op.results[0].name} is a struct declared elsewhere", CHOOSE)
        if not {TERMINATOR, BRANCHES}.isdisjoint(op.page.traits):
            for name, value in op.values():
                if value in local:
                    yield _refusal(op, name, f"%{value.name} leaves its region here", STAYS)


def _of_one_name(module: Module) -> Iterator[Diagnostic]:
    """Where parts of a module have several back ends, a name for callers means one function."""
    parts = [part for part in module.modules() if BACKEND in part.attrs]
    if len({str(part.attrs[BACKEND]) for part in parts}) < 2:
        return
    for part in parts:
        first: dict[str, Func] = {}
        for func in (f for f in part.parts if isinstance(f, Func) and f.visibility == "public"):
            name = str(func.attrs.get(FOR_CALLERS, func.name)).strip('"')
            if first.setdefault(name, func) is not func and KIND not in func.attrs:
                message = f"@{func.name}: {CATALOGUE['redefined-name'].title}"
                seen = f"@{first[name].name} has the same name for callers, {name!r}"
                by = (Judge.ASSEMBLER,)
                yield Diagnostic("redefined-name", message, func.span, seen=seen, by=by)


def _no_helper(func: Func) -> Iterator[Diagnostic]:
    """What the assembler does not take in helpers: they compute with registers alone."""
    ops = func.ops
    foreign = [op for op in ops if not isinstance(op, Op) and _moves(op.name)]
    tiles = [
        op
        for op in ops
        if isinstance(op, Op)
        and (op.page.executes or ALLOCATES in op.page.traits or FLAGS in op.page.uses)
    ]
    seen = "it has results" if func.results else ""
    seen = f"it contains {(*foreign, *tiles)[0].name}" if foreign or tiles else seen
    if seen:
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        by = (Judge.ASSEMBLER,)
        yield Diagnostic("scope", message, func.span, seen=seen, help=HELPER, by=by)


def _moves(name: str) -> bool:
    return below_tiles(name) and name.removeprefix("pto.").startswith(NO_COMPUTING)


def _nested(block: Block, outer: str) -> Iterator[Diagnostic]:
    """Sections of threads inside of what threads run already."""
    for op in block.ops:
        inner = outer
        if isinstance(op, Op) and THREADS in op.page.traits:
            if outer:
                yield _refusal(op, "", outer, NO_MORE)
            inner = f"it is nested in another {op.name}"
        for region in op.regions:
            yield from _nested(region, inner)


def _unfit(op: Op, funcs: Mapping[str, Func]) -> Iterator[Diagnostic]:
    """A function that threads cannot run, or not on these values."""
    name = str(op.attrs[op.page.attrs[0].name])
    func, given = funcs.get(name), [v.type for v in op.bound(op.page.operands[-1].name)]
    if func is None:
        found = ", ".join(f"@{other}" for other in funcs)
        message = f"{op.name}: no function @{name}"
        yield Diagnostic("no-such-function", message, op.span, seen=f"the module has {found}")
    elif OF_THREADS not in func.attrs:
        yield _refusal(op, "", f"@{name} lacks {OF_THREADS}", FOR_THREADS)
    elif len(given) != len(func.args):
        message = (
            f"{op.name}: @{name}: expected {counted(len(func.args), 'operand')}, got {len(given)}"
        )
        yield Diagnostic("operand-count", message, op.span)
    else:
        for arg, kind in zip(func.args, given, strict=True):
            if arg.type != kind and not isinstance(kind, Elided):
                taken, got = told_apart(arg.type, kind)
                message = f"{op.name}: @{name}: expected {taken}, got {got}"
                yield Diagnostic("type-mismatch", message, op.span)


def _refusal(op: Op, operand: str, seen: str, help: str) -> Diagnostic:
    message = f"{op.name}: {CATALOGUE['scope'].title}"
    return Diagnostic("scope", message, op.span_of(operand), seen=seen, help=help)
