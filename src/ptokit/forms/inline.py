"""Inlining: calls replaced by the bodies of their callees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache

from ptokit.analysis.cores import OF_THREADS, kind_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, error
from ptokit.diagnostics.printable import counted
from ptokit.diagnostics.source import Span
from ptokit.forms.structure import structured
from ptokit.ir.editing import FreshNames, number_of, replaced
from ptokit.ir.module import AnyOp, Block, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import CALLS, EXTENTS, THREADS, FifoRole
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Elided, Type
from ptokit.isa.model.words import KernelKind, Pipe
from ptokit.text.types.spelling import told_apart

MOST_CALLS = 2048  # inlined calls in one function
DEEPEST = 100  # nested calls


def calls(func: Func) -> Iterator[tuple[Op, str]]:
    """Yield the calls of a function with the names of their callees."""
    for op in func.ops if func.has(CALLS) else ():
        if isinstance(op, Op) and _runs_another(op):
            yield op, str(op.choice)


def _runs_another(op: Op) -> bool:
    """Return whether an op calls a function, or launches threads that run one."""
    return CALLS in op.page.traits and not op.regions


def entries(module: Module) -> list[Func]:
    """Return the functions that no other function calls."""
    found: list[Func] = []
    called: set[Func | None] = set()
    for inner in module.modules():
        own = _own(inner)
        named = {name for func in own for _, name in calls(func) if name != func.name}
        called |= {module.called(inner, name) for name in named}
        found += [func for func in own if func.name not in named]
    return [func for func in found if func not in called]


def _own(module: Module) -> list[Func]:
    """Return the functions of a module without those of inner modules."""
    return [part for part in module.parts if isinstance(part, Func)]


def inlined(
    module: Module,
    func: Func,
    *,
    external: bool = False,
    skipped: Callable[[Func], bool] = lambda callee: False,
    sections: bool = False,
) -> Func:
    """Return the function as one block, with calls replaced by the bodies of their callees.

    PtoError if a callee is recursive, undefined, or does not match the call. Calls of declared
    functions stay if `external`; calls of `skipped` functions are removed. With `sections`, the
    body of a callee for one kind of core becomes a section, but calls of functions that reserve or
    import named buffers stay: each end of their FIFOs is in a function of its own. So do launches
    of threads whose extents are known at run time only.
    """
    whole = structured(func)
    if not any(True for _ in calls(whole)):
        return whole
    found = _Inlining(module, module.owner(func), FreshNames(whole), external, skipped)
    own, found.for_text = _own(found.owner) if sections else [], sections
    found.kinds = {f: kind_of(module, f) for f in own}
    return replace(whole, body=found.block(whole.body, {}, (func,)))


Names = dict[Value, Value]  # values replaced by inlining


class _Inlining:
    """The inlining into one function; copied values get new names."""

    def __init__(
        self,
        module: Module,
        owner: Module,
        names: FreshNames,
        external: bool,
        skipped: Callable[[Func], bool],
    ) -> None:
        self.module, self.owner = module, owner  # `owner`: the module of the current body
        self.external, self.skipped = external, skipped
        self.names = names
        self.kinds: Mapping[Func, KernelKind | None] = {}  # of functions that become sections
        self.inside = False  # True in a section
        self.for_text = False  # True if launches keep their functions where text needs those
        self.numbers: dict[Value, object] = {}  # constants
        self.extents: Op | None = None  # of launches of threads that do not state theirs
        self.count = 0  # inlined calls

    def block(self, block: Block, now: Names, path: tuple[Func, ...]) -> Block:
        """Return the block; `path` are the functions around it."""
        new = Block(block.args, trailing=block.trailing)
        for op in block.ops:
            if isinstance(op, Op) and _runs_another(op):
                new.ops += self._called(op, now, path)
                continue
            new.ops.append(made := self._op(op, now, path))
            if (number := number_of(op)) is not None:
                self.numbers[op.results[0]] = number
            if isinstance(made, Op) and EXTENTS in made.page.changes:
                self.extents = made
        return new

    def _op(self, op: AnyOp, now: Names, path: tuple[Func, ...]) -> AnyOp:
        around, extents = self.inside, self.extents
        self.inside = around or (isinstance(op, Op) and op.page.core is not None)
        regions = list[Block]()
        for region in op.regions:
            regions.append(self.block(region, now, path))
            self.extents = extents
        self.inside = around
        if isinstance(op, OpaqueOp):
            return replace(op, uses=[now.get(v, v) for v in op.uses], regions=regions)
        operands = {name: replaced(bound, now) for name, bound in op.operands.items()}
        return replace(op, operands=operands, regions=regions)

    def _called(self, op: Op, now: Names, path: tuple[Func, ...]) -> list[AnyOp]:
        """Return the ops of the callee's body."""
        name = str(op.choice)
        given = tuple(now.get(v, v) for v in op.bound(op.page.operands[-1].name))
        func = self._callee(op, name, given, path)
        kind = self.kinds.get(func)
        lonely = op.results or self.inside or any(self.kinds.get(f) for f in path)
        section = None if kind is None or lonely else _section(kind)
        peered = {FifoRole.RESERVES, FifoRole.IMPORTS} & {p.fifo_role for p in func.pages}
        if func.declared or (section is not None and peered) or self._is_kept(op, now):
            return [self._op(op, now, path)]
        if self.skipped(func) and not op.results:
            return []
        self._require_few(op, path)
        launch = self._launch(op, func, now, given)
        callee = _called_from(op.span, structured(deepcopy(func)))
        inner: Names = dict(zip(callee.args, given, strict=True))
        for value in callee.named():
            if value not in inner:
                value.name = self.names.name(value.name)
        around, self.owner = self.owner, self.module.owner(func)
        body = self.block(callee.body, inner, (*path, func))
        self.owner = around
        returned = body.outcome
        if body.terminator is not None:
            body.ops.pop()
        if launch is not None:
            return [self._section_of_threads(replace(launch, regions=[Block(ops=body.ops)]))]
        now |= dict(zip(op.results, returned, strict=True))
        return body.ops if section is None else [Op(section, regions=[Block(ops=body.ops)])]

    def _launch(self, op: Op, func: Func, now: Names, given: tuple[Value, ...]) -> Op | None:
        """Return the launch of threads that run a function; None for a call."""
        if THREADS in op.page.traits:
            return replace(op, operands={n: replaced(b, now) for n, b in op.operands.items()})
        if OF_THREADS not in func.attrs:
            return None
        if self.extents is None:
            message = f"{op.name}: @{func.name} is for threads, whose number is not set"
            raise error("scope", message, op.span, help="set the extents of the launch before it")
        page = next(p for p in walk() if {THREADS, CALLS} <= {*p.traits})
        numbers, last = page.operands[:-1], page.operands[-1]
        extents = {o.name: self.extents.bound(o.name)[0] for o in numbers}
        attrs = {page.attrs[0].name: func.name}
        return Op(page, {**extents, last.name: given}, dict[str, object](attrs), spans=op.spans)

    def _is_kept(self, op: Op, now: Names) -> bool:
        """Return whether text needs the function of a launch, whose extents are not known."""
        if not self.for_text or THREADS not in op.page.traits:
            return False
        given = (op.bound(o.name)[0] for o in op.page.operands[:-1])
        return any(now.get(value, value) not in self.numbers for value in given)

    def _section_of_threads(self, launch: Op) -> Op:
        """Return a launch as a section, which needs no function, if its extents are known."""
        page = next(p for p in walk() if THREADS in p.traits and p.asm.shape == "section")
        found = {a.name: self.numbers.get(launch.bound(a.name)[0]) for a in page.attrs}
        if None in found.values():
            return launch
        return Op(page, attrs={**found}, regions=launch.regions, spans=launch.spans)

    def _require_few(self, op: Op, path: tuple[Func, ...]) -> None:
        """Raise PtoError for more, or deeper nested, calls than a kernel has."""
        self.count += 1
        if self.count > MOST_CALLS:
            message = f"more than {MOST_CALLS:,} calls to inline in one kernel"
            seen = f"@{op.choice} is called by functions that are called many times"
            raise error("too-many-calls", message, op.span, seen=seen)
        if len(path) > DEEPEST:
            message = f"calls nested more than {DEEPEST} deep"
            seen = f"@{op.choice} is called by @{path[-1].name}, which @{path[-2].name} calls"
            raise error("too-many-calls", message, op.span, seen=seen)

    def _callee(self, op: Op, name: str, given: tuple[Value, ...], path: tuple[Func, ...]) -> Func:
        """Return the callee; PtoError if its head does not match the call."""
        func = self.module.called(self.owner, name)
        if func is None or (func.declared and not self.external):
            found = ", ".join(f"@{f.name}" for f in _own(self.owner) if not f.declared)
            why = "has no body" if func else "is not defined"
            seen = f"the module has {found}"
            raise error("no-such-function", f"{op.name}: @{name} {why}", op.span, seen=seen)
        if func in path:
            way = " -> ".join(f"@{f.name}" for f in (*path[path.index(func) :], func))
            title = CATALOGUE["recursion"].title
            raise error("recursion", f"{op.name}: {title}", op.span, seen=f"the calls are {way}")
        self._fits(op, "takes", [a.type for a in func.args], [v.type for v in given])
        self._fits(op, "returns", list(func.results), [r.type for r in op.results])
        return func

    def _fits(self, op: Op, verb: str, wanted: list[Type], given: list[Type]) -> None:
        name = op.choice
        if len(wanted) != len(given):
            message = f"@{name} {verb} {counted(len(wanted), 'value')}, got {len(given)}"
            raise error("operand-count", message, op.span)
        for one, other in zip(wanted, given, strict=True):
            elided = isinstance(other, Elided) or isinstance(one, Elided)
            if one != other and not elided and not _buffer_of(one, other):
                taken, got = told_apart(one, other)
                message = f"@{name} {verb} {taken}, got {got}"
                raise error("type-mismatch", message, op.span)


def _buffer_of(memref: Type, kind: Type) -> bool:
    """Return whether a memref, which has no layout and valid region, may be a tile of this type."""
    if not (isinstance(memref, TileType) and isinstance(kind, TileType)):
        return False
    if not memref.written.startswith("memref<"):
        return False
    said = (memref.loc, memref.dtype, memref.rows, memref.cols)
    return said == (kind.loc, kind.dtype, kind.rows, kind.cols)


@cache
def _section(kind: KernelKind) -> type[Instr]:
    """Return the page of a section for the cores of a kind.

    A section, unlike a scope of registers, has instructions of all pipes.
    """
    pages = (page for page in walk() if page.core is kind and page.routes and page.pipe is Pipe.S)
    return next(p for p in pages if THREADS not in p.traits and not p.unexecuted)


def _called_from(call: Span | None, callee: Func) -> Func:
    """Return the function with the call noted on the spans of its ops."""
    for op in callee.body.walk():
        if isinstance(op, Op):
            op.spans = {name: span._replace(caller=call) for name, span in op.spans.items()}
        else:
            op.span = op.span._replace(caller=call)
    return callee


def checked(module: Module) -> tuple[Module, list[Diagnostic]]:
    """Return the functions that represent the module in a check, and errors of calls."""
    chosen, problems = {*entries(module), *_cyclic(module)}, list[Diagnostic]()

    def judged(func: Func) -> Func | None:
        if func not in chosen:
            return None
        try:
            return inlined(module, func, external=True)
        except PtoError as problem:
            problems.extend(problem.diagnostics)
            return None

    judgeable = module.mapped(judged)
    once = {(d.slug, str(d.span)): d for d in reversed(problems)}
    return judgeable, list(reversed(once.values()))


def _cyclic(module: Module) -> set[Func]:
    """Return the functions that call themselves, directly or not."""
    called: dict[Func, set[Func]] = {}
    for func in module.funcs:
        found = (module.called(module.owner(func), name) for _, name in calls(func))
        called[func] = {f for f in found if f is not None}
    while ends := [func for func, others in called.items() if called.keys().isdisjoint(others)]:
        for func in ends:
            del called[func]
    return {func for func in called if func in _reached(called, func)}


def _reached(called: Mapping[Func, set[Func]], func: Func) -> set[Func]:
    """Return the functions that a function calls, directly or not, according to `called`."""
    reached, new = set[Func](), {func}
    while new:
        new = {f for one in new for f in called.get(one, ())} - reached
        reached |= new
    return reached
