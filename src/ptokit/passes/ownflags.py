"""Flags of the program itself: which they are, whether they may stay, and their removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ptokit.ir.editing import rewritten
from ptokit.ir.module import AnyOp, Func, Module, Op
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import FLAGS, STOPS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.order.hazards import Findings
from ptokit.order.waiting import Await, FlagChannel, Post, QueueEntry

Event = tuple[Pipe | str, Pipe | str, int]  # the pipes of a flag, and its id


class KeptFlagsWarning(UserWarning):
    """A kernel with its own flags is left unchanged, although they may order too little."""


def own_flags(funcs: Iterable[Func]) -> list[Op]:
    """Return the ops that set, wait for or join flags; barriers are complete and may need more."""
    ops = (op for func in funcs for op in func.ops if isinstance(op, Op))
    return [op for op in ops if FLAGS in op.page.uses and STOPS not in op.page.traits]


def meets(op: Op) -> bool:
    """Return whether an op waits for other cores with all pipes of its own."""
    return FLAGS in op.page.uses and not CORES.isdisjoint(op.page.uses)


def desynchronise(module: Module, target: Target) -> Module:
    """Return the module without flags, and without barriers in functions without other cores.

    In a function that signals other cores a barrier may complete the data before the signal, so it
    stays. Fences stay.
    """

    def bare(func: Func) -> Func:
        ops = (op for op in func.ops if isinstance(op, Op))
        telling = any(not CORES.isdisjoint(op.page.uses) for op in ops)
        gone = {id(op) for op in own_flags([func]) if not meets(op)}
        gone |= {id(op) for op in func.ops if _is_barrier(op) and not telling}
        return replace(func, body=rewritten(func.body, lambda op: () if id(op) in gone else (op,)))

    return module.mapped(bare)


def _is_barrier(op: AnyOp) -> bool:
    return isinstance(op, Op) and STOPS in op.page.traits and not op.page.orders_memory(op.attrs)


def events(cores: Iterable[Sequence[QueueEntry]]) -> Iterator[Event]:
    """Yield the flags that these entries set or wait for."""
    for entry in chain.from_iterable(cores):
        if isinstance(entry, Post | Await):
            for channel in _channels(entry):
                yield channel.source, channel.target, channel.event


def _channels(entry: Post | Await) -> Iterator[FlagChannel]:
    tickets = (entry.ticket,) if isinstance(entry, Post) else entry.tickets
    yield from (t.channel for t in tickets if isinstance(t.channel, FlagChannel))


def fault(found: Findings, cores: Iterable[Sequence[QueueEntry]]) -> str | None:
    """Return why no further flags fit beside those of a run, or None."""
    if found.stuck:
        return "a wait never completes"
    if found.left:
        return "a flag is set and never waited for"
    if any(hazard.inverted for hazard in found.hazards):
        return "two instructions may execute in the wrong order"
    if not all(map(_in_order, cores)):
        return "a wait precedes its set"
    return None


def _in_order(entries: Sequence[QueueEntry]) -> bool:
    """Return whether each set comes before its wait."""
    posted = set[object]()
    for entry in entries:
        if isinstance(entry, Post):
            posted.add(entry.ticket)
        elif isinstance(entry, Await):
            flags = (t for t in entry.tickets if isinstance(t.channel, FlagChannel))
            if not posted.issuperset(flags):
                return False
    return True
