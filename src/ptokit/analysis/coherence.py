"""Coherence of global memory, between ranks that signal each other and within a core.

Writes of pipes may be incomplete when the scalar unit signals; a fence of global memory waits for
the pipes and for the memory. Scalar loads and stores of global memory go through a cache that is
not visible to other cores or to the core's own pipes. Before another rank is told of scalar stores,
or a pipe loads them, their lines must be invalidated, which writes them back, and a fence must wait
until they are in memory. Data of another rank is visible only after its lines were invalidated.
Pages declare which instructions signal, wait, invalidate and fence.

This is a forward data-flow analysis of states that are possible on some path. Programs do not say
which arrays others read, so all findings are warnings. If a function invalidates lines by address,
an array of which it invalidates no line is considered private.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from ptokit.analysis.aliases import AliasClasses, flows
from ptokit.analysis.facts import FuncFacts
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.traits import INVALIDATES, ONE_ELEMENT, OUTSIDE, SIGNALLING
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Kind, PtrType
from ptokit.isa.model.words import Pipe


class Cached(NamedTuple):
    """Stores that may not be in memory yet, and waits after which the cache may be stale.

    Each store has a flag: its line was invalidated since, so that only the fence is missing. Writes
    of pipes are not cached and only need the fence. A finding names the first store, so later ones
    to the same arrays are left out.
    """

    stores: frozenset[tuple[Op, bool]] = frozenset()
    waits: frozenset[Op] = frozenset()
    written: frozenset[Op] = frozenset()

    def joined(self, other: Cached) -> Cached:
        stores, waits = self.stores | other.stores, self.waits | other.waits
        return Cached(stores, waits, self.written | other.written)


CLEAN = Cached()


def incoherent(facts: FuncFacts, target: Target) -> list[Diagnostic]:
    """Return warnings for signals before stores are in memory, and for stale loads.

    A function has none without an op of a trait in `legality.SHARED`. On targets without core kinds
    none has: the memory of the CPU simulator has no cache.
    """
    ops = [op for op in facts.func.ops if isinstance(op, Op)]
    walk = _Walk(facts.classes, target, ops)
    walk.block(facts.func.body, CLEAN)
    return [*walk.found.values()]


class _Walk:
    """A walk over a function with the state of the cache; findings are kept by op."""

    def __init__(self, storage: AliasClasses, target: Target, ops: Iterable[Op]) -> None:
        self.storage, self.target = storage, target
        self.found: dict[tuple[Op, str], Diagnostic] = {}
        self._pointed: dict[Op, frozenset[Value]] = {}
        invalidating = [op for op in ops if INVALIDATES in op.page.traits]
        self.shared = {array for op in invalidating for array in self._arrays(op)}
        self.careless = not invalidating

    def block(self, block: Block, cached: Cached) -> Cached:
        """Return the state after a block that starts in state `cached`."""
        for op in block.ops:
            if op.regions:
                cached = self._regions(op, cached)
            elif isinstance(op, Op) and not op.calls:
                cached = self._op(op, cached)
            else:
                cached = CLEAN  # the effects of a call are unknown
        return cached

    def _regions(self, op: AnyOp, cached: Cached) -> Cached:
        ways = [(source, target) for source, target, _ in flows(op)]
        if not ways:  # each once, in text order
            return reduce(lambda before, region: self.block(region, before), op.regions, cached)
        ends = {OUTSIDE: cached}

        def entering(place: int) -> Cached:
            before = (ends[a] for a, b in ways if b == place and a in ends)
            return reduce(Cached.joined, before, CLEAN)

        known: dict[int, Cached] = {}
        while known != ends:  # until the loop-carried state is stable
            known = dict(ends)
            for number, region in enumerate(op.regions):
                ends[number] = self.block(region, entering(number))
        return entering(OUTSIDE)

    def _op(self, op: Op, cached: Cached) -> Cached:
        stores, waits, written = cached
        if SIGNALLING in op.page.traits and op.page.outs():
            self._signal(op, stores)
            if written:
                self._unfenced(op, written)
            return Cached(waits=waits)
        if INVALIDATES in op.page.traits:
            lines = self._arrays(op)
            done = frozenset((o, done or self._of(o, lines)) for o, done in stores)
            return Cached(done, written=written)
        if op.page.orders_memory(op.attrs):
            return Cached(frozenset((o, done) for o, done in stores if not done), waits)
        if SIGNALLING in op.page.traits:
            return cached._replace(waits=frozenset((op,)))
        if ONE_ELEMENT in op.page.traits and (value := _element(op)) is not None:
            if any(value in op.bound(out.name) for out in op.page.outs()):
                arrays = self._arrays(op)
                alike = (o for o, done in stores if not done and self._arrays(o) == arrays)
                first = _first((*alike, op))
                return cached._replace(stores=stores | {(op, False)}) if first is op else cached
            if waits:
                self._load(op, value, waits)
                return cached._replace(waits=frozenset())
        if loaded := self._loaded(op, stores):
            cached = cached._replace(stores=stores - loaded)
        if not _writes_memory(op) or _first((*written, op)) is not op:
            return cached
        return cached._replace(written=written | {op})

    def _loaded(self, op: Op, stores: frozenset[tuple[Op, bool]]) -> frozenset[tuple[Op, bool]]:
        """Warn of a pipe that loads stores not yet in memory; return these stores."""
        views = {self.storage.of(value) for value in _read(op)}
        if not views:  # of most ops
            return frozenset()
        open_ = frozenset(one for one in stores if not views.isdisjoint(self._arrays(one[0])))
        if open_:
            self._unpublished(op, dict(open_), "load")
        return open_

    def _arrays(self, op: Op) -> frozenset[Value]:
        """Return the arrays that the operands of an op point to."""
        found = self._pointed.get(op)
        if found is None:
            pointers = (v for _, v in op.values() if isinstance(v.type, GlobalType | PtrType))
            found = self._pointed[op] = frozenset(map(self.storage.of, pointers))
        return found

    def _of(self, store: Op, lines: frozenset[Value]) -> bool:
        """Return whether invalidated lines may belong to a store; an empty set means all lines."""
        return not lines or not lines.isdisjoint(self._arrays(store))

    def _signal(self, op: Op, stores: frozenset[tuple[Op, bool]]) -> None:
        """Warn of a signal while stores that others may read are not in memory."""
        open_ = {o: done for o, done in stores if done or self.careless or self._of_shared(o)}
        if open_:
            self._unpublished(op, open_, "signal")

    def _unpublished(self, op: Op, open_: dict[Op, bool], what: str) -> None:
        store = _first(open_)
        array = _element(store)
        assert array is not None
        since = "no fence followed" if open_[store] else "it was not invalidated"
        self._warn(
            op,
            "unpublished-store",
            rule=f"a store is followed by a cache invalidation and a fence before the {what}",
            seen=f"%{array.name} was stored to, {since}",
            help=f"invalidate the line after the store, then fence global memory, then {what}",
            note=Note("stored here", store.span),
        )

    def _unfenced(self, op: Op, written: frozenset[Op]) -> None:
        store = _first(written)
        self._warn(
            op,
            "unfenced-store",
            rule="a fence separates writes of global memory from the signal",
            seen=f"{store.name} writes %{_written(store)[0].name}, and no fence follows",
            help=f"insert {_fence()} between them; for cores of this rank a barrier is enough",
            note=Note("stored here", store.span),
        )

    def _of_shared(self, store: Op) -> bool:
        return not self.shared.isdisjoint(self._arrays(store))

    def _load(self, op: Op, array: Value, waits: frozenset[Op]) -> None:
        self._warn(
            op,
            "stale-load",
            rule="the cache line is invalidated between a wait for another rank and a scalar load",
            seen=f"%{array.name} is read and its cache line was not invalidated after the wait",
            help="invalidate the line, or all of global memory, after the wait",
            note=Note("the wait is here", _first(waits).span),
        )

    def _warn(self, op: Op, slug: str, rule: str, seen: str, help: str, note: Note) -> None:
        self.found[op, slug] = Diagnostic(
            slug,
            f"{op.name}: {CATALOGUE[slug].title}",
            op.span,
            severity=Severity.WARNING,
            rule=rule,
            seen=seen,
            help=help,
            targets=(self.target.name,),
            notes=(note,),
        )


def _writes_memory(op: Op) -> bool:
    """Return whether a pipe writes global memory without an event for the completion."""
    apart = any(result.kind is Kind.HANDLE for result in op.page.results())
    return op.page.pipe is not Pipe.S and not apart and bool(_written(op))


def _fence() -> str:
    """Return the text form of an instruction that fences global memory."""
    fences = (page for page in walk() if page.orders_memory({}))
    words = (
        f"`{p.example.replace('NAME', p.mnemonic())}`" for p in fences if type(p.example) is str
    )
    return next(words, "a fence of global memory")


def _written(op: Op) -> list[Value]:
    """Return the views of global memory that an op writes."""
    outs = (value for out in op.page.outs() for value in op.bound(out.name))
    return [value for value in outs if isinstance(value.type, GlobalType)]


def _read(op: Op) -> list[Value]:
    """Return the views of global memory that a pipe reads."""
    if op.page.pipe is Pipe.S:
        return []
    ins = (value for operand in op.page.ins() for value in op.bound(operand.name))
    return [value for value in ins if isinstance(value.type, GlobalType)]


def _first(ops: Iterable[Op]) -> Op:
    """Return the op that is first in the text."""
    return min(ops, key=lambda op: 0 if op.span is None else op.span.start)


def _element(op: Op) -> Value | None:
    """Return the pointer to global memory through which an op accesses an element."""
    pointers = (v for _, v in op.values() if isinstance(v.type, PtrType) and v.type.space == "gm")
    return next(pointers, None)
