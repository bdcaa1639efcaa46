"""Properties of whole functions: the level, the kind of core, and legal entry points.

A chip has cube cores and vector cores. A function, or a section of it, is for one kind. Without a
stated kind, the assembler puts each top-level statement of the function into a section; a loop or
branch at the top level with instructions of both kinds needs explicit sections.

Some values must not leave the region that declares them, and sections must not be nested in other
sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge
from ptokit.diagnostics.printable import counted
from ptokit.ir.module import AnyOp, Block, Func, Module, Op
from ptokit.isa.below import NO_COMPUTING, below_tiles
from ptokit.isa.formula.formulas import ABSENT
from ptokit.isa.lang.traits import (
    ALLOCATES,
    BRANCHES,
    FLAGS,
    READDRESSES,
    TERMINATOR,
    THREADS,
    FifoRole,
)
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind, StructType, Type
from ptokit.isa.model.words import CUBE, FIX, MTE1, MTE2, MTE3, VECTOR, KernelKind, M, S, V
from ptokit.values.enumerations import VEC

OF_PIPE = {M: CUBE, MTE1: CUBE, FIX: CUBE, V: VECTOR}
KIND = "pto.kernel_kind"
MIXED = "split cube and vector code: `ptokit opt --passes split`, or text(target=...) of a kernel"
NO_KIND = "neither the function nor a section gives the kind of core that sets up this end"
MOVE = "move it to a function or section of that kind"
SAID = "put the setup into a section, or give the function a pto.kernel_kind"


def level_of(module: Module) -> int | None:
    """Return the level of a program: 3 if it gives addresses to tiles or FIFO slots, else 2.

    None if addresses are given to tiles allocated without one, which no compiler accepts.
    """
    ops = [op for func in module.funcs for op in func.body.walk() if isinstance(op, Op)]
    if any(ALLOCATES in op.page.traits and op.bound("addr") for op in ops):
        return 3
    if any(op.page.fifo_role is FifoRole.RESERVES and "base" in op.attrs for op in ops):
        return 3
    return None if any(READDRESSES in op.page.traits and op.bound("addr") for op in ops) else 2


def core_of(op: Op) -> KernelKind | None:
    """Return the kind of core with the unit that executes an op; None: either, or unknown."""
    if op.page.core is not None or op.regions:
        return op.page.core
    if op.page.pipe is S:
        return None
    types = {name: value.type for name, value in (*op.named_results(), *op.values())}
    pipe = op.page.pipe_of({name: _located(kind) for name, kind in types.items()})
    locations = {kind.loc for kind in types.values() if isinstance(kind, TileType)}
    if pipe in (MTE2, MTE3):
        return VECTOR if VEC in locations else CUBE if locations else None
    if pipe is V and VEC not in locations:
        return None  # the pipe for other memories is not published
    return OF_PIPE.get(pipe) if pipe is not None else None


def _located(kind: Type) -> object:
    return kind if isinstance(kind, TileType) else ABSENT


def misplaced(module: Module) -> Iterator[Diagnostic]:
    """Yield diagnostics for instructions on the wrong kind of core, and for missing sections."""
    for func in module.funcs:
        kind = kind_of(module, func)
        if kind is not None:
            yield from _foreign(func.body, kind, f"@{func.name} is a {kind.text} function")
        else:
            for op in func.body.ops:
                if op.regions:
                    yield from _unsorted(op)
            for op in () if func.flat else _ends(func.body):
                yield _refusal(op, NO_KIND, SAID)


def _ends(block: Block) -> Iterator[Op]:
    """Yield the ops that set up an end of a FIFO outside of sections."""
    for op in block.ops:
        of_kind = isinstance(op, Op) and op.page.core is not None
        if isinstance(op, Op) and of_kind and op.page.fifo_role is FifoRole.OPENS:
            yield op
        for region in () if of_kind else op.regions:
            yield from _ends(region)


def kind_of(module: Module, func: Func) -> KernelKind | None:
    """Return the kind of core that a function declares."""
    return KernelKind.named(_word(module.attributes(func).get(KIND, "")))


def _word(value: object) -> str:
    """Return `cube` for `#pto.kernel_kind<cube>`."""
    return str(value).rpartition("<")[2].rstrip(">").strip()


def _foreign(block: Block, kind: KernelKind, why: str) -> Iterator[Diagnostic]:
    for op in block.ops:
        own = core_of(op) if isinstance(op, Op) else None
        if isinstance(op, Op) and own is not None and own is not kind:
            found = _refusal(op, f"the {own.text} core executes it, and {why}")
            found = replace(found, message=f"{op.name}: not available on the {kind.text} core")
            opens = op.page.fifo_role is FifoRole.OPENS
            yield found if opens else replace(found, by=(Judge.HARDWARE,))
            continue
        for region in op.regions:
            yield from _foreign(region, kind, why)


def _unsorted(op: AnyOp) -> Iterator[Diagnostic]:
    """Check a top-level op with regions of a function without a kind: mixed kinds need sections."""
    if isinstance(op, Op) and op.page.core is not None and op.regions:
        for region in op.regions:
            yield from _foreign(region, op.page.core, f"this is a {op.page.core.text} section")
        return
    found: dict[KernelKind, Op] = {}
    sections = list(_cores_in(op, found))
    for section in sections:
        yield from _unsorted(section)
    apart = [s for s in sections if s.page.core not in found]
    if len(found) == 2 or (found and apart):
        first, other, *_ = *found.values(), *apart
        seen = f"{op.name} contains it and {other.name}, which runs on the other core"
        yield replace(_refusal(first, seen, MIXED), by=(Judge.HARDWARE,))


def _cores_in(op: AnyOp, found: dict[KernelKind, Op]) -> Iterator[Op]:
    """Yield the sections inside an op; add the first instruction of each kind outside them."""
    if isinstance(op, Op) and (kind := core_of(op)) is not None:
        if op.regions:
            yield op
            return
        found.setdefault(kind, op)
    for region in op.regions:
        for inner in region.ops:
            yield from _cores_in(inner, found)


def _refusal(op: Op, seen: str, help: str = MOVE) -> Diagnostic:
    message = f"{op.name}: {CATALOGUE['core'].title}"
    return Diagnostic("core", message, op.span, seen=seen, help=help)


def unfit_entries(module: Module) -> Iterator[Diagnostic]:
    """Yield launched functions that have results or no body."""
    for func in module.funcs:
        if not func.launched:
            continue
        if func.results or func.declared:
            what = counted(len(func.results), "result") if func.results else "no body"
            message = f"@{func.name}: {CATALOGUE['entry'].title}"
            yield Diagnostic("entry", message, func.span, seen=f"it has {what}")


OF_THREADS = "pto.simt_entry"
BACKEND, FOR_CALLERS = "pto.backend", "pto.ptodsl.logical_name"
OF_REGISTERS = "pto.tileop.helper"  # a function on registers that implements a tile operation
STAYS = "declare the struct in the outer region, and change its fields in the inner region"
NO_MORE = "use the running threads, or start others outside"


HELPER = f"{OF_REGISTERS} functions use registers: move tiles and wait in the caller"
CHOOSE = "select between fields of the structs"
FOR_THREADS = "add the attribute to the function, or call the function"
LAUNCH = f"move it to a function with {OF_THREADS}, and launch that"
OUTSIDE = "declare the struct in the function that uses it, and pass its fields"


def misused(module: Module) -> Iterator[Diagnostic]:
    """Yield storage that outlives its region, and threads that start threads, on any target."""
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
    """Yield values that leave the region that declares them, or come from a caller."""
    for arg in (a for a in func.args if isinstance(a.type, StructType)):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        seen = f"%{arg.name} is an argument, {arg.type}"
        yield Diagnostic("scope", message, arg.span, seen=seen, help=OUTSIDE)
    if func.declared and any(isinstance(kind, StructType) for kind in func.results):
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        yield Diagnostic("scope", message, func.span, seen="it returns a struct", help=OUTSIDE)
    ops = [op for op in func.ops if isinstance(op, Op)]
    local = {v for op in ops if _declares(op) for v in op.results}
    for op in (op for op in ops if not _declares(op)):
        for value in op.results:
            if isinstance(value.type, StructType):
                name = op.results[0].name
                yield _refused(op, "", f"%{name} is a struct declared elsewhere", CHOOSE)
                break
        if local and not {TERMINATOR, BRANCHES}.isdisjoint(op.page.traits):
            for name, value in op.values():
                if value in local:
                    yield _refused(op, name, f"%{value.name} leaves its region here", STAYS)


def _declares(op: Op) -> bool:
    """Return whether an op declares a struct, which lives no longer than the region."""
    return any(result.kind is Kind.STRUCT for result in op.page.results())


def _of_one_name(module: Module) -> Iterator[Diagnostic]:
    """Yield public functions with one caller-visible name in modules for several back ends."""
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
    """Yield ops that the assembler refuses in helpers, which compute with registers only."""
    ops = func.ops
    below = (op for op in ops if not isinstance(op, Op) or op.page.below)
    foreign = [op for op in below if _moves(op.name)]
    own = [op for op in ops if isinstance(op, Op)]
    used = [o for o in own if o.page.on_tiles or ALLOCATES in o.page.traits or FLAGS in o.page.uses]
    seen = "it has results" if func.results else ""
    seen = f"it contains {(*foreign, *used)[0].name}" if foreign or used else seen
    if seen:
        message = f"@{func.name}: {CATALOGUE['scope'].title}"
        by = (Judge.ASSEMBLER,)
        yield Diagnostic("scope", message, func.span, seen=seen, help=HELPER, by=by)


def _moves(name: str) -> bool:
    return below_tiles(name) and name.removeprefix("pto.").startswith(NO_COMPUTING)


def _nested(block: Block, outer: str) -> Iterator[Diagnostic]:
    """Yield thread sections inside code that threads run already."""
    for op in block.ops:
        inner = outer
        if isinstance(op, Op) and THREADS in op.page.traits:
            if outer:
                yield _refused(op, "", outer, NO_MORE)
            inner = f"it is nested in another {op.name}"
        for region in op.regions:
            yield from _nested(region, inner)


def _unfit(op: Op, funcs: Mapping[str, Func]) -> Iterator[Diagnostic]:
    """Yield a function that threads cannot run."""
    name = str(op.choice)
    func = funcs.get(name)
    if func is not None and OF_THREADS not in func.attrs:
        yield _refused(op, "", f"@{name} lacks {OF_THREADS}", FOR_THREADS)


def outside_of_threads(op: Op) -> Diagnostic:
    """Return the diagnostic of an instruction that only a thread executes."""
    return _refused(op, "", "no launch of threads is around it", LAUNCH)


def _refused(op: Op, operand: str, seen: str, help: str) -> Diagnostic:
    message = f"{op.name}: {CATALOGUE['scope'].title}"
    return Diagnostic("scope", message, op.span_of(operand), seen=seen, help=help)
